"""`prial luck`: recorded games with the luck of the cards taken out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..console import CommandError, output, show_json
from .options import JsonOption

if TYPE_CHECKING:
    from ..luck import MatchLuck
    from ..statistics import Estimate

__all__ = ["luck"]


def luck(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of game records, text or JSON lines.")],
    *,
    game: Annotated[
        int | None, typer.Option("--game", min=1, metavar="N", help="Only the Nth game of the file; all if not given.")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--table", metavar="FILE", help="A table of prial tables solver; the one that ships if not given."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what players of recorded games scored, what their cards let expect, and the difference.

    All figures are margins a round: own points minus the mean of the others'. What is expected is what the agent
    solver-fast makes of the same deals. The adjusted margin has the same mean as the plain one and less spread, so that a
    short match says more.
    """
    from ...envs.crash.record import RecordError, read_records
    from ..luck import luck_of

    with file.open(encoding="utf-8", errors="backslashreplace") as lines:
        try:
            records = list(read_records(lines, skip=0 if game is None else game - 1))
        except RecordError as error:
            raise CommandError(f"{file}: {error}") from error
    if game is not None:
        records = records[:1]
    if not records:
        raise CommandError(f"{file}: no game{'' if game is None else f' {game}'} in it")
    found = luck_of(records, table=table)
    if as_json:
        show_json(_content(found), indent=2)
    else:
        _show(found)


def _content(found: MatchLuck) -> dict[str, Any]:
    def figure(name: str, estimate: Estimate) -> dict[str, Any]:
        return {name: estimate.value, f"{name}_ci": list(estimate.interval)}

    return {
        "rules": found.rules.to_dict(),
        "games": found.games,
        "deals": found.deals,
        "players": [
            {
                "player": one.player,
                "games": one.games,
                "rounds": one.rounds,
                **figure("scored", one.scored),
                **figure("luck", one.luck),
                **figure("adjusted", one.adjusted),
                "counts_as_times_as_many_games": one.gain,
            }
            for one in found.players
        ],
    }


def _show(found: MatchLuck) -> None:
    from rich.table import Table

    rules, console = found.rules, output()
    many = "" if found.games == 1 else "s"
    console.print(f"{rules.name or 'own rules'}, {rules.players} players: {found.games} game{many}", soft_wrap=True)
    console.print("margins a round, with 95 % intervals; adjusted: scored minus luck")
    console.print()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, title in enumerate(("player", "rounds", "scored", "", "luck", "adjusted", "")):
        table.add_column(title, no_wrap=number > 0, justify="left" if number in {0, 3, 6} else "right", overflow="fold")
    for one in found.players:
        table.add_row(
            one.player,
            f"{one.rounds:,}",
            f"{one.scored.value:+.2f}",
            f"{one.scored.low:+.2f} to {one.scored.high:+.2f}",
            f"{one.luck.value:+.2f}",
            f"{one.adjusted.value:+.2f}",
            f"{one.adjusted.low:+.2f} to {one.adjusted.high:+.2f}",
        )
    console.print(table)
