"""`prial train`: learners. What trains is imported only when it is asked for; it needs the extra `train`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import CommandError, require_extra, show_json
from .card import card
from .compare import compare
from .options import JsonOption
from .selfplay import selfplay, ship
from .train_settings import read_settings

if TYPE_CHECKING:
    from ..ppo import PPOProgress
    from ..ppo_config import PPOConfig

__all__ = ["app", "following"]

app = typer.Typer(no_args_is_help=True, help="Train agents (needs the extra 'train').")

_LINE_SECONDS = 10.0


@app.callback()
def _group() -> None:
    """Train agents (needs the extra 'train')."""


app.command()(selfplay)
app.command()(ship)
app.command()(card)
app.command()(compare)


@app.command()
def ppo(
    config: Annotated[
        str, typer.Option("--config", metavar="CONFIG", help="A configuration that ships, or a YAML file.")
    ] = "ppo-online",
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Folder of the run; runs/NAME-HASH-sSEED if not given."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a key of the configuration, such as seed=2. Repeatable."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, metavar="N", help="Short for --set seed=N.", show_default=False)
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="FOLDER", help="Go on with the run in this folder, with its configuration."),
    ] = None,
    show_keys: Annotated[bool, typer.Option("--keys", help="List every key of a configuration, and exit.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Train with MaskablePPO, one seat among opponents that include past versions of itself.

    A run that was stopped or killed goes on with --resume. Watch it with: tensorboard --logdir runs
    """
    require_extra("prial train ppo", "train", "torch", "stable_baselines3", "sb3_contrib", "tensorboard", "safetensors")
    from ..ppo_config import PPOConfig, config_of, load_ppo_config

    if show_keys:
        for key, field in PPOConfig.model_fields.items():
            default = field.get_default(call_default_factory=True)
            typer.echo(f"{key}: {field.description} (default {default!r})")
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
    """Show a run's progress on standard error: a live bar in a terminal, else a line now and then."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f}%"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("starting", total=config.total_steps)
        said_at = 0.0

        def report(progress: PPOProgress) -> None:
            nonlocal said_at
            text = describe(progress)
            bar.update(task, completed=progress.step, description=text)
            now = time.monotonic()
            if not console.is_terminal and (now - said_at >= _LINE_SECONDS or progress.step >= progress.total):
                said_at = now
                left = (progress.total - progress.step) / max(progress.steps_per_second, 1e-9)
                typer.echo(f"{text}, about {max(left, 0):.0f} s left", err=True)

        yield report


def describe(progress: PPOProgress) -> str:
    """Return a run's progress as a line."""
    share = ""
    if progress.win_share is not None:
        share = f", won {progress.win_share:.1%} against {progress.opponent} at {progress.evaluated_at:,}"
    return f"{progress.step:,}/{progress.total:,} decisions, {progress.steps_per_second:,.0f}/s{share}"
