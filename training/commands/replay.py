"""`prial replay`: games from a file of records, told round by round."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from ..console import CommandError, output, shows_symbols
from .options import JsonOption

if TYPE_CHECKING:
    from ...envs.crash.events import Event
    from ...envs.crash.record import GameRecord
    from ...envs.crash.rules import CrashRules
    from ..luck import DealWorth

__all__ = ["chosen_games", "opened_records", "replay", "seat_names"]


def replay(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A file of game records, text or JSON lines; - reads standard input."),
    ],
    *,
    game: Annotated[
        int | None, typer.Option("--game", min=1, metavar="N", help="Only the Nth game of the file; all if not given.")
    ] = None,
    seat: Annotated[
        str | None,
        typer.Option("--seat", metavar="SEAT", help="Show only what one seat knows (0, 1, ...), or a spectator."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show all at once; without it, Enter shows the next hand in a terminal.")
    ] = False,
    luck: Annotated[
        bool, typer.Option("--luck", help="After each game say what the cards let expect, round by round.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Step through recorded games, hand by hand, and check them against the rules.

    Decisions are played again; reveals, scores and the result must be what follows from them. A redacted record is checked
    as far as it shows cards, and what cannot be checked is listed. Whether the cards are those of the seed is said, but
    not demanded: a game may be played on given deals. With --json, one record a line. With --luck, margins (own points minus
    the mean of the others') beside the luck in them, as prial luck finds it for whole matches.
    """
    if luck and (as_json or seat is not None):
        other = "--json (prial luck has one)" if as_json else "--seat: it needs all cards"
        raise CommandError(f"--luck goes without {other}")
    viewer = _seat(seat)
    steps = not (everything or as_json) and file != Path("-") and sys.stdin.isatty() and sys.stdout.isatty()
    shown = 0
    with opened_records(file) as lines:
        for number, record in chosen_games(lines, file, game):
            seen = record if seat is None else record.redacted(viewer)
            if as_json:
                sys.stdout.write(seen.to_json() + "\n")
            elif not _tell(seen, number, steps=steps, first=shown == 0):
                return
            elif luck:
                _tell_luck(seen)
            shown += 1
    if not shown:
        raise CommandError(f"{file}: no game {game}" if game is not None else f"{file}: no game in it")


def _seat(text: str | None) -> int | None:
    if text is None or text == "spectator":
        return None
    if not (text.isascii() and text.isdigit()):
        raise CommandError(f"--seat {text!r}: expected a seat such as 0, or spectator")
    return int(text)


@contextmanager
def opened_records(file: Path) -> Iterator[TextIO]:
    """Open a file of records; ``-`` is standard input."""
    if file == Path("-"):
        yield sys.stdin
    else:
        with file.open(encoding="utf-8", errors="backslashreplace") as lines:
            yield lines


def chosen_games(lines: TextIO, file: Path, game: int | None) -> Iterator[tuple[int, GameRecord]]:
    """Yield the games asked for, checked, with their numbers; those before them are passed over."""
    from ...envs.crash.record import RecordError, read_records

    first = 1 if game is None else game
    try:
        for number, record in enumerate(read_records(lines, skip=first - 1), start=first):
            yield number, record
            if number == game:
                return
    except RecordError as error:
        raise CommandError(f"{file}: {error}") from error


def _tell(record: GameRecord, number: int, *, steps: bool, first: bool) -> bool:
    """Write one game; return whether to go on."""
    from ...envs.crash.record import rescore, shown_rounds

    texts = [_heading(record, number)]
    names = seat_names(record)
    for events in shown_rounds(record):
        texts += _pieces(events, record.rules, names)
    if record.result is None:
        texts.append("  The game was left here.")
    unchecked = rescore(record).unchecked
    if unchecked:
        texts.append("\n".join(["Checked; what the record hides could not be:", *(f"  {line}" for line in unchecked)]))
    else:
        told = "Checked: every decision is legal, and all that is stated follows from them."
        texts.append(f"{told}\n{_about_the_deals(record)}")
    if not first:
        sys.stdout.write("\n")
    for place, text in enumerate(texts):
        sys.stdout.write(text + "\n")
        last = place == len(texts) - 1
        if steps and not last and not _enter():
            return False
    return True


@lru_cache(maxsize=4)
def _worth_of(rules: CrashRules) -> DealWorth:
    from ..luck import DealWorth

    return DealWorth(rules)


def _tell_luck(record: GameRecord) -> None:
    """Write what each seat scored in each round, and how much of it was luck."""
    from rich.table import Table

    from ..luck import luck_by_round

    scored, luck = luck_by_round(record, _worth_of(record.rules))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("round", *seat_names(record)):
        table.add_column(title, justify="right", no_wrap=title == "round", overflow="fold")
    rows = [*zip(map(str, range(1, len(scored) + 1)), scored, luck, strict=True), ("all", scored.sum(0), luck.sum(0))]
    for name, margins, shares in rows:
        table.add_row(name, *(f"{a:+.2f}, luck {b:+.2f}" for a, b in zip(margins, shares, strict=True)))
    table.add_row("adjusted", *(f"{value:+.2f}" for value in scored.sum(0) - luck.sum(0)))
    console = output()
    console.print("Margins, and the luck in them by what solver-fast expects of such cards:", soft_wrap=True)
    console.print(table)


def _about_the_deals(record: GameRecord) -> str:
    """Say whether the cards are those of the seed that a whole record names."""
    from ...envs.crash.record import rounds_not_of_seed

    others = rounds_not_of_seed(record)
    if others is None:
        return "The record names no seed to compare the deals with."
    if not others:
        return "The deals are those of the seed."
    if len(others) == len(record.rounds):
        return "Note: no deal is that of the seed; the cards were given."
    numbers = ", ".join(map(str, others))
    told = f"deal of round {numbers} is not that" if len(others) == 1 else f"deals of rounds {numbers} are not those"
    return f"Note: the {told} of the seed; the cards were given."


def _enter() -> bool:
    """Wait for Enter; return whether to go on (q and the end of input leave)."""
    sys.stdout.write("[Enter] ")
    sys.stdout.flush()
    answer = sys.stdin.readline()
    return bool(answer) and answer.strip().lower() not in ("q", "quit", "exit")


def seat_names(record: GameRecord) -> list[str]:
    """Return what to call the seats: who sat there, else what decided, with the seat where two are alike."""
    names = [
        player or agent or f"player_{seat}"
        for seat, (player, agent) in enumerate(zip(record.players, record.agents, strict=True))
    ]
    return [f"{name} ({seat})" if names.count(name) > 1 else name for seat, name in enumerate(names)]


def _heading(record: GameRecord, number: int) -> str:
    rules = record.rules
    lines = [f"Game {number}: Crash ({rules.name or 'own rules'}), {rules.players} players, target {rules.target}"]
    if record.date is not None:
        lines[0] += f", {record.date}"
    for seat, (player, agent) in enumerate(zip(record.players, record.agents, strict=True)):
        told = " ".join(part for part in (player, f"({agent})" if player and agent else agent) if part)
        lines.append(f"  seat {seat}: {told or 'not named'}")
    if record.seed is not None:
        lines.append(f"  seed {record.seed}, table {record.table}, first deal {record.first_deal}")
    if record.is_redacted:
        whose = "a spectator" if record.viewer == "spectator" else f"seat {record.viewer}"
        lines.append(f"  shows what {whose} knows")
    return "\n".join(lines)


def _pieces(events: Sequence[Event], rules: CrashRules, names: Sequence[str]) -> Iterator[str]:
    """Yield a round in pieces: up to the reveal, each comparison, the rest."""
    from ...envs.crash.events import Reveal
    from ...envs.crash.render import format_round

    symbols = shows_symbols()
    piece = 0

    def place(event: Event) -> int:
        nonlocal piece
        if isinstance(event, Reveal):
            piece = event.position + 1
        elif piece:
            piece = rules.hands + 1
        return piece

    for _, some in groupby(events, key=place):
        yield format_round(list(some), rules=rules, names=names, symbols=symbols)
