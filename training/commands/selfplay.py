"""`prial train selfplay`, and `prial train ship`, which makes an agent's file of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import CommandError, ends_like_ctrl_c, require_extra, show_json
from .options import JsonOption
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
    from ..selfplay import SelfPlayProgress

__all__ = ["selfplay", "ship"]


def selfplay(
    config: ConfigOption = "online",
    *,
    out: RunFolderOption = None,
    settings: SettingsOption = None,
    seed: RunSeedOption = None,
    resume: ResumeOption = None,
    show_keys: KeysOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train a value network by self-play, with the worth of every arrangement of every seat as its signal.

    A run that was stopped or killed goes on with --resume. Watch it with: tensorboard --logdir runs

    Several processes share a batch: torchrun --nproc-per-node 2 --no-python prial train selfplay --out FOLDER
    """
    require_extra("prial train selfplay", "train", "torch", "tensorboard", "safetensors")
    from ..selfplay_config import SelfPlayConfig, load_selfplay_config

    if show_keys:
        show_config_keys(SelfPlayConfig)
        return
    from ..run_folder import RunFolder
    from ..torch_state import place_among_processes
    from ..trained_files import config_of_run

    overrides = read_settings(settings, seed)
    if resume is not None:
        if out is not None or overrides:
            raise CommandError("--resume goes on with the run as it is: leave out --out, --set and --seed")
        made, folder = config_of_run(RunFolder(resume)), resume
    else:
        made = load_selfplay_config(config, overrides)
        folder = out or Path("runs") / f"{Path(config).stem}-{made.key}-s{made.seed}"
    if resume is not None and RunFolder(resume).about().get("status") == "finished":
        typer.echo(f"{resume} is finished already: nothing to go on with.", err=True)
    else:
        from ..selfplay import train_selfplay

        with ends_like_ctrl_c(), progress_line(made.iterations) as report:
            train_selfplay(
                made,
                folder,
                resume=resume is not None,
                progress=lambda now: report(describe(now), now.batch, now.seconds_left),
            )
    if place_among_processes()[0] > 0:
        return
    if as_json:
        show_json({"run": str(folder), "batches": made.iterations})
    else:
        typer.echo(
            f"Finished: {folder}\nNext: prial train ship {folder} bot.safetensors && prial arena bot.safetensors greedy"
        )


def ship(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a self-play run.", show_default=False)],
    out: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)],
    *,
    last: Annotated[bool, typer.Option("--last", help="The last network, not the average of past ones.")] = False,
) -> None:
    """Write the network of a self-play run as an agent's file, which is played without torch."""
    require_extra("prial train ship", "train", "torch", "safetensors")
    if out.suffix != ".safetensors":
        raise CommandError(f"{str(out)!r}: expected a name that ends in .safetensors")
    from ..trained_files import write_trained

    batches = write_trained(run, out, last=last)
    typer.echo(f"{out}: after {batches:,} batches, {out.stat().st_size:,} bytes")


def describe(progress: SelfPlayProgress) -> str:
    """Return a run's progress as a line.

    >>> from ..selfplay import SelfPlayProgress
    >>> now = SelfPlayProgress(batch=1, total=9, seconds=2.0, seconds_left=16.0, decisions_per_second=5e4, said="")
    >>> describe(now)
    '1/9 batches, 50,000 decisions a second'
    """
    said = f", {progress.said}" if progress.said else ""
    return (
        f"{progress.batch:,}/{progress.total:,} batches, {progress.decisions_per_second:,.0f} decisions a second{said}"
    )
