"""`prial play`: a game in the terminal against agents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import CommandError, ends_like_ctrl_c, output, shows_symbols
from .options import GivenRulesOption, PlayersOption, SetOption, rules_from

if TYPE_CHECKING:
    from ..table_game import PlayedGame
    from ..table_style import Style

__all__ = ["play"]


def play(
    *,
    rules: GivenRulesOption = None,
    players: PlayersOption = None,
    settings: SetOption = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="AGENT...",
            help="Opponents, clockwise from your left; the last one fills the seats that are left. "
            "If not given: the medium level of the network for the rules, such as online:medium.",
        ),
    ] = None,
    more_opponents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[AGENT]...", help="More opponents, as in --against greedy percentile.", show_default=False
        ),
    ] = None,
    seat: Annotated[
        int | None,
        typer.Option("--seat", min=0, metavar="S", help="Your seat, from 0; drawn by the seed if not given."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, metavar="N", help="The same seed gives the same deals; a new one if not given."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FILE", help="Keep the record of the game here, after every decision of yours."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="FILE", help="Go on with a game that was left, and keep it there."),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Show a reveal at once, without waiting for Enter.")] = False,
    four_colours: Annotated[bool, typer.Option("--four-colours", help="A colour for each suit.")] = False,
) -> None:
    """Play a game in the terminal against agents.

    Hands are typed, or picked from suggestions; help lists what can be typed, quit leaves the game and saves it. A saved
    game is a game record: prial replay shows it.
    """
    from ..table_session import Session

    opponents = [*(against or ()), *(more_opponents or ())]
    if more_opponents and not against:
        raise CommandError(f"{more_opponents[0]!r}: opponents go behind --against, as in --against greedy percentile")
    if save is not None and save != resume and save.exists():
        raise CommandError(f"--save {save}: there is such a file; --resume goes on with a game, or choose another name")
    if resume is None:
        played = _new(rules or "online", players, settings, opponents, seat=seat, seed=seed)
    else:
        given = {"--rules": rules, "--players": players, "--set": settings, "--seat": seat, "--seed": seed}
        told = [name for name, value in {**given, "--against": against}.items() if value is not None]
        if told:
            raise CommandError(f"--resume goes on with the game as it was; it does not go with {', '.join(told)}")
        from ..table_game import read_saved

        played = read_saved(resume)
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    if interactive:
        _edit_lines()
    terminal = _Terminal(waits=interactive and not fast)
    session = Session(played, terminal, style=_style(four_colours=four_colours), path=save or resume)
    with ends_like_ctrl_c():
        left = session.run()
    if left:
        raise typer.Exit(130)


def _new(
    rules: str,
    players: int | None,
    settings: list[str] | None,
    opponents: list[str],
    *,
    seat: int | None,
    seed: int | None,
) -> PlayedGame:
    asked = rules_from(rules, players, settings)
    from ..table_game import PlayedGame, some_seed
    from ..table_hints import default_opponent

    return PlayedGame.new(
        asked, opponents or [default_opponent(asked)], seed=some_seed() if seed is None else seed, seat=seat
    )


def _style(*, four_colours: bool) -> Style:
    from ..table_style import Style

    console = output()
    coloured = (
        console.is_terminal and console.color_system is not None and not (console.no_color or console.legacy_windows)
    )
    return Style(
        width=console.width,
        symbols=shows_symbols(),
        colours="none" if not coloured else "four" if four_colours else "two",
    )


def _edit_lines() -> None:
    """Let typed lines be edited and recalled, where Python can."""
    try:
        import readline  # noqa: F401 (importing it is enough)
    except ImportError:
        return


class _Terminal:
    """Standard input and output.

    Args:
        waits: whether `pause` waits for Enter.
    """

    def __init__(self, *, waits: bool) -> None:
        self._waits = waits

    def read(self, prompt: str) -> str:
        """Return a typed line; one that comes from elsewhere than a keyboard is shown."""
        line = input(prompt)
        if not sys.stdin.isatty():
            self.write(line)
        return line

    def write(self, text: str) -> None:
        """Show a text and end the line."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def pause(self) -> bool:
        """Wait for Enter; return False for q."""
        return not self._waits or input("[Enter] ").strip().lower() not in ("q", "quit", "exit")
