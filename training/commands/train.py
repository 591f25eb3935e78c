"""`prial train`: learners. What trains is imported only when it is asked for; it needs the extra `train`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..console import CommandError, ends_like_ctrl_c, require_extra, show_json
from .card import card
from .compare import compare
from .options import JsonOption
from .selfplay import selfplay, ship
from .train_progress import progress_line
from .train_settings import (
    ConfigOption,
    KeysOption,
    ResumeOption,
    RunFolderOption,
    RunSeedOption,
    SettingsOption,
    read_settings,
    show_config_keys,
)

if TYPE_CHECKING:
    from ..ppo import PPOProgress
    from ..ppo_config import PPOConfig

__all__ = ["app", "following"]

app = typer.Typer(no_args_is_help=True, help="Train agents (needs the extra 'train').")


@app.callback()
def _group() -> None:
    """Train agents (needs the extra 'train')."""


app.command()(selfplay)
app.command()(ship)
app.command()(card)
app.command()(compare)


@app.command()
def ppo(
    config: ConfigOption = "ppo-online",
    *,
    out: RunFolderOption = None,
    settings: SettingsOption = None,
    seed: RunSeedOption = None,
    resume: ResumeOption = None,
    show_keys: KeysOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train with MaskablePPO, one seat among opponents that include past versions of itself.

    A run that was stopped or killed goes on with --resume. Watch it with: tensorboard --logdir runs
    """
    require_extra("prial train ppo", "train", "torch", "stable_baselines3", "sb3_contrib", "tensorboard", "safetensors")
    from ..ppo_config import PPOConfig, config_of, load_ppo_config

    if show_keys:
        show_config_keys(PPOConfig)
        return
    from ..run_folder import RunFolder

    overrides = read_settings(settings, seed)
    if resume is not None:
        if out is not None or overrides:
            raise CommandError("--resume goes on with the run as it is: leave out --out, --set and --seed")
        made, folder = config_of(RunFolder(resume)), resume
    else:
        made = load_ppo_config(config, overrides)
        folder = out or Path("runs") / f"{Path(config).stem}-{made.key}-s{made.seed}"
    if resume is not None and RunFolder(resume).about().get("status") == "finished":
        typer.echo(f"{resume} is finished already: nothing to go on with.", err=True)
    else:
        from ..ppo import train_ppo

        with following(made) as progress:
            train_ppo(made, folder, resume=resume is not None, progress=progress)
    if as_json:
        show_json({"run": str(folder), "steps": made.total_steps})
    else:
        typer.echo(f"Finished: {folder}\nNext: prial export {folder} bot.onnx && prial arena bot.onnx greedy")


@contextmanager
def following(config: PPOConfig) -> Iterator[Callable[[PPOProgress], None]]:
    """Show a run's progress on standard error: a live bar in a terminal, else a line now and then.

    A run that is told to end, or whose terminal is closed, ends as by Ctrl-C.
    """
    with ends_like_ctrl_c(), progress_line(config.total_steps) as report:

        def follow(progress: PPOProgress) -> None:
            left = (progress.total - progress.step) / max(progress.steps_per_second, 1e-9)
            report(describe(progress), progress.step, max(left, 0))

        yield follow


def describe(progress: PPOProgress) -> str:
    """Return a run's progress as a line."""
    share = ""
    if progress.win_share is not None:
        share = f", won {progress.win_share:.1%} against {progress.opponent} at {progress.evaluated_at:,}"
    return f"{progress.step:,}/{progress.total:,} decisions, {progress.steps_per_second:,.0f}/s{share}"
