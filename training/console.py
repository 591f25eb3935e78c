"""What every command shares: its two consoles, suit symbols where the terminal can show them, and users' mistakes."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

__all__ = [
    "CommandError",
    "complain",
    "ctrl_c_behind",
    "ends_like_ctrl_c",
    "let_go_of_output",
    "never_fail_to_encode",
    "open_missing_streams",
    "output",
    "progress_bar",
    "require_extra",
    "show_json",
    "shows_symbols",
]

_SUITS = "♣♦♥♠"


class CommandError(ValueError):
    """A user's mistake, in one line that says what to do; the command ends with it and exit code 2."""


def never_fail_to_encode() -> None:
    """Read and write what a stream cannot encode as escapes instead of raising."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def open_missing_streams() -> None:
    """Put something in the place of standard streams that were closed before the start.

    Input ends at once, messages are lost, and output refuses to be written, as for other programs: what a command has to say
    is not lost without a word. Without this a file opened later would get the number of a standard stream.
    """
    for name, mode, flags in (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))


def let_go_of_output() -> None:
    """Drop what standard output would not take, so that the end of the program does not stumble over it again."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def complain(text: str) -> None:
    """Write a line on standard error."""
    sys.stderr.write(text + "\n")


def output() -> Console:
    """Return a console for results, on standard output; colours come from styles alone, never from the text."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def shows_symbols() -> bool:
    """Return whether standard output can show suit symbols."""
    try:
        _SUITS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def show_json(value: Any, *, indent: int | None = None) -> None:
    r"""Write a value as JSON in pure ASCII on standard output.

    >>> show_json({"suit": "♠"})
    {"suit": "\u2660"}
    """
    sys.stdout.write(json.dumps(value, indent=indent, allow_nan=False) + "\n")


def ctrl_c_behind(error: BaseException) -> bool:
    """Return whether an error is Ctrl-C, or was made of it: compiled kernels pass it on as errors, several deep.

    >>> ctrl_c_behind(KeyboardInterrupt()), ctrl_c_behind(SystemError("of another kind"))
    (True, False)
    """
    found: BaseException | None = error
    while found is not None and not isinstance(found, KeyboardInterrupt):
        found = found.__cause__
    return found is not None


@contextmanager
def ends_like_ctrl_c() -> Iterator[None]:
    """Leave and save as Ctrl-C does when the terminal is closed, or the process is told to end.

    What is ignored stays so: under `nohup` a terminal may be closed.
    """

    def leave(_signal: int, _frame: object) -> None:
        for number in signals:
            signal.signal(number, signal.SIG_IGN)  # once is enough, and saving takes a moment
        raise KeyboardInterrupt

    there = threading.current_thread() is threading.main_thread()
    every = [getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if there and hasattr(signal, name)]
    signals = [number for number in every if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, leave) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error while the body runs, nothing where that is no terminal.

    Yields:
        A function to call with what is done and what there is in all.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def require_extra(command: str, extra: str, *modules: str) -> None:
    """Refuse a command whose extra is not installed.

    Args:
        command: as typed, such as ``prial train``.
        extra: the extra of the package, such as ``train``.
        modules: top-level modules that it brings.

    Raises:
        CommandError: a module is missing; the line names the extra.
    """
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise CommandError(
            f'{command} needs the extra {extra!r} (no module {missing[0]!r} here): pip install "prial[{extra}]"'
        )
