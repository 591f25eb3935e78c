"""`prial train selfplay`, and `prial train ship`, which makes an agent's file of a run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import CommandError, require_extra, show_json
from .options import JsonOption
from .train_settings import read_settings

if TYPE_CHECKING:
    from ..selfplay import SelfPlayProgress

__all__ = ["selfplay", "ship"]

_LINE_SECONDS = 10.0


def selfplay(
    config: Annotated[
        str, typer.Option("--config", metavar="CONFIG", help="A configuration that ships, or a YAML file.")
    ] = "online",
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
    """Train a value network by self-play, with the worth of every arrangement of every seat as its signal.

    A run that was stopped or killed goes on with --resume. Watch it with: tensorboard --logdir runs

    Several processes share a batch: torchrun --nproc-per-node 2 --no-python prial train selfplay --out FOLDER
    """
    require_extra("prial train selfplay", "train", "torch", "tensorboard", "safetensors")
    from ..selfplay_config import SelfPlayConfig, load_selfplay_config

    if show_keys:
        for key, field in SelfPlayConfig.model_fields.items():
            default = field.get_default(call_default_factory=True)
            typer.echo(f"{key}: {field.description} (default {default!r})")
        return
    from ..run_folder import RunFolder
    from ..trained_files import config_of_run

    overrides = read_settings(settings, seed)
    if resume is not None:
        if out is not None or overrides:
            raise CommandError("--resume goes on with the run as it is: leave out --out, --set and --seed")
        made, folder = config_of_run(RunFolder(resume)), resume
    else:
        made = load_selfplay_config(config, overrides)
        folder = out or Path("runs") / f"{Path(config).stem}-{made.key}-s{made.seed}"
    first = os.environ.get("RANK", "0") == "0"
    if resume is not None and RunFolder(resume).about().get("status") == "finished":
        typer.echo(f"{resume} is finished already: nothing to go on with.", err=True)
    else:
        from ..selfplay import train_selfplay

        with _following(made.iterations) as report:
            train_selfplay(made, folder, resume=resume is not None, progress=report)
    if not first:
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


@contextmanager
def _following(total: int) -> Iterator[Callable[[SelfPlayProgress], None]]:
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
        task = bar.add_task("starting", total=total)
        said_at = 0.0

        def report(progress: SelfPlayProgress) -> None:
            nonlocal said_at
            text = describe(progress)
            bar.update(task, completed=progress.batch, description=text)
            now = time.monotonic()
            if not console.is_terminal and (now - said_at >= _LINE_SECONDS or progress.batch == progress.total):
                said_at = now
                typer.echo(f"{text}, about {progress.seconds_left:.0f} s left", err=True)

        yield report


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
