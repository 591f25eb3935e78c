"""How far a training run is, on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

__all__ = ["progress_line"]

_LINE_SECONDS = 10.0


@contextmanager
def progress_line(total: int) -> Iterator[Callable[[str, int, float], None]]:
    """Show a run's progress: a live bar in a terminal, else a line now and then.

    Args:
        total: steps in all.

    Yields:
        To be called with a description, the steps done, and the seconds that are left.

    >>> with progress_line(2) as report:
    ...     report("2/2 batches", 2, 0.0)
    """
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

        def report(text: str, done: int, seconds_left: float) -> None:
            nonlocal said_at
            bar.update(task, completed=done, description=text)
            now = time.monotonic()
            if not console.is_terminal and (now - said_at >= _LINE_SECONDS or done >= total):
                said_at = now
                typer.echo(f"{text}, about {seconds_left:.0f} s left", err=True)

        yield report
