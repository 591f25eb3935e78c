"""The game record: a game of Crash as text and as JSON, read back and checked. `docs/records.md` is the standard.

>>> from .game import Game
>>> from .rules import CrashRules
>>> record = record_of(Game(CrashRules.preset("online"), seed=7), agents=["greedy", "percentile", "greedy"])
>>> parse_record(str(record)) == record == from_json(record.to_json())
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TextIO

from .record_check import Rescored, check_record, rescore, rounds_not_of_seed
from .record_events import record_of, shown_rounds
from .record_json import load_json, record_from_dict
from .record_text import Path, RecordError, parse_text, split_games
from .record_values import GameRecord, LaidHands, RoundRecord, Viewer

__all__ = [
    "GameRecord",
    "LaidHands",
    "RecordError",
    "Rescored",
    "RoundRecord",
    "Viewer",
    "check_record",
    "from_json",
    "parse_record",
    "read_records",
    "record_of",
    "rescore",
    "rounds_not_of_seed",
    "shown_rounds",
    "write_records",
]


def parse_record(text: str, *, check: bool = True) -> GameRecord:
    """Return the one game of a text; the inverse of `str`.

    Args:
        text: one record in the text form (or in the JSON form, on one line).
        check: play it again and compare all that it states with the rules.

    Raises:
        RecordError: unreadable, or at odds with the rules; names the line.
    """
    found = list(read_records(text.splitlines(), check=check))
    if len(found) != 1:
        raise RecordError(f"expected one game, got {len(found)}")
    return found[0]


def from_json(text: str, *, check: bool = True) -> GameRecord:
    """Return the game of a JSON text; the inverse of `GameRecord.to_json`.

    Args:
        text: one JSON object, on any number of lines.
        check: as for `parse_record`.

    Raises:
        RecordError: unreadable, or at odds with the rules; names the place.
    """
    record = record_from_dict(load_json(text))
    if check:
        check_record(record)
    return record


def read_records(lines: Iterable[str], *, check: bool = True, skip: int = 0) -> Iterator[GameRecord]:
    """Yield the games of an open file (or any lines) one by one; text and JSON lines may be mixed.

    Args:
        lines: such as a file opened with ``encoding="utf-8"``.
        check: as for `parse_record`.
        skip: so many games are passed over unread.

    Raises:
        RecordError: unreadable, or at odds with the rules; names the line of the file.
    """
    for first, game in islice(split_games(lines), skip, None):
        where: Mapping[Path, int] = {(): first}
        try:
            if game[0].startswith("{"):
                data = load_json(game[0])
            else:
                data, where = parse_text(game, first=first)
            record = record_from_dict(data)
            if check:
                check_record(record)
        except RecordError as error:
            raise (error if error.line is not None else error.at(where)) from None
        yield record


def write_records(records: Iterable[GameRecord], file: TextIO, *, as_json: bool = False) -> int:
    """Write games to an open file, one after the other, and return how many.

    Args:
        records: what to write.
        file: opened for text; the forms are ASCII.
        as_json: one JSON object a line instead of text.
    """
    count = 0
    for record in records:
        file.write(record.to_json() + "\n" if as_json else f"{record}\n")
        count += 1
    return count
