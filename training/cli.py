"""The command `prial`.

A command is a function in a room of `prial.training.commands`. Its module imports what is light; what computes is imported
inside the function, so that `prial --help` answers at once. To add one: write the function, and name it below.

>>> app(["rules", "--json", "online"], prog_name="prial", standalone_mode=False)  # doctest: +ELLIPSIS
{
  ...
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .commands import (
    agents,
    analyse,
    arena,
    arrangements,
    bench,
    benchmark,
    bot,
    cache,
    duel,
    exploit,
    export,
    ladder,
    levels,
    luck,
    play,
    quickstart,
    replay,
    rules,
    soak,
    solve_small,
    standings,
    tables,
    train,
)
from .console import complain, ctrl_c_behind, let_go_of_output, never_fail_to_encode, open_missing_streams

__all__ = ["app", "main"]


class _Commands(TyperGroup):
    """Runs a command; a user's mistake ends it with one line and no traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, Exception) as error:
            if ctrl_c_behind(error):
                complain("Stopped.")
                raise typer.Exit(130) from None
            code = _exit_code(error)
            if code is None:
                raise
            complain(f"Error: {_message(error)}")
            raise typer.Exit(code) from None


def _exit_code(error: BaseException) -> int | None:
    """Return 2 for a user's mistake, 1 for a failure that has its message, None for a bug of ours.

    Our own classes of errors speak to users; a bare ValueError does not.
    """
    ours = type(error).__module__.startswith("prial.")
    if ours and isinstance(error, ValueError):
        return 2
    if ours and isinstance(error, RuntimeError):
        return 1
    if isinstance(error, OSError) and error.filename is not None:
        return 2
    if isinstance(error, MemoryError):
        return 1
    return None


def _message(error: BaseException) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"out of memory: {error}" if str(error) else "out of memory"
    return str(error)


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help and errors: no boxes, any encoding, any width
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Crash, 13-card Brag: agents, an arena that measures them, training and export.",
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"prial {version('prial')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


app.command("arena")(arena.arena)
app.command("agents")(agents.agents)
app.command("analyse")(analyse.analyse)
app.command("arrangements")(arrangements.arrangements)
app.command("bench")(bench.bench)
app.command("benchmark")(benchmark.benchmark)
app.command("bot")(bot.bot)
app.command("cache")(cache.cache)
app.command("duel")(duel.duel)
app.command("exploit")(exploit.exploit)
app.command("export")(export.export)
app.command("ladder")(ladder.ladder)
app.command("levels")(levels.levels)
app.command("luck")(luck.luck)
app.command("quickstart")(quickstart.quickstart)
app.command("rules")(rules.rules)
app.command("play")(play.play)
app.command("replay")(replay.replay)
app.command("soak")(soak.soak)
app.command("solve-small")(solve_small.solve_small)
app.command("standings")(standings.standings)
app.add_typer(tables.app, name="tables")
app.add_typer(train.app, name="train")


def _tell_first_use() -> None:
    """Pass on what the cache of compiled kernels says, so that nobody wonders what takes so long."""
    import logging

    class Telling(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            with suppress(OSError):  # nobody reads it
                complain(record.getMessage())

    log = logging.getLogger("prial.envs.kernel_cache")
    log.addHandler(Telling())
    log.setLevel(logging.INFO)


def main() -> None:
    """Run the command line."""
    open_missing_streams()
    never_fail_to_encode()
    _tell_first_use()
    if not sys.flags.safe_path:
        sys.path.append(str(Path.cwd()))  # agents named as module:factory may lie in the current folder
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) == 0:
        del os.environ["COLUMNS"]  # no width at all: as if unsaid
    try:
        # Given here, a width below 50 columns is respected as well.
        code = app(prog_name="prial", terminal_width=min(shutil.get_terminal_size().columns, 100))
    except SystemExit as end:
        code = end.code
    except OSError as error:  # a file or standard output that takes no more; those with a name have been told already
        complain(f"Error: {error.strerror or error}")
        code = 1
    try:
        sys.stdout.flush()
    except OSError as error:
        if not code and not isinstance(error, BrokenPipeError):  # whoever stops reading has seen enough
            complain(f"Error: standard output: {error.strerror or error}")
        code = code or 1
        let_go_of_output()
    sys.exit(code)
