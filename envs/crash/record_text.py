"""The text form of a game record: lines to and from the plain values of its JSON form. `docs/records.md` is the standard.

This room knows the grammar and nothing of the rules; what the values mean is checked by those above.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

from .rules import CrashRules

__all__ = ["FORMAT", "HIDDEN", "VERSION", "Path", "RecordError", "format_text", "parse_text", "split_games"]

FORMAT = "crash-record"
VERSION = 1
HIDDEN = "??"

Path: TypeAlias = tuple[str | int, ...]
"""Where something stands in the JSON form, such as ``("rounds", 2, "scores")``."""

Lines: TypeAlias = dict[Path, int]
"""Line numbers of what a text said."""

_OPTIONS = tuple(f.name for f in fields(CrashRules) if f.name != "name")
_WHOLE = {f.name for f in fields(CrashRules) if "int" in str(f.type)}
_NOBODY = "-"
_NOTHING = "-"
_UNFINISHED = "*"


class RecordError(ValueError):
    """A record that cannot be read, or that does not agree with the rules.

    Attributes:
        path: where in the JSON form.
        line: of the text, None where there is none.
    """

    def __init__(self, message: str, *, path: Path = (), line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.message = message
        self.path = path
        self.line = line

    def at(self, lines: Mapping[Path, int]) -> RecordError:
        """Return the same error with the line of the innermost part that has one."""
        path = self.path
        while path and path not in lines:
            path = path[:-1]
        return RecordError(self.message, path=self.path, line=lines.get(path))


def _error(message: str, line: int) -> RecordError:
    return RecordError(message, line=line)


# ---- writing ----------------------------------------------------------------------------------------------------------


def format_text(data: Mapping[str, Any]) -> str:
    """Return the text of a record from its JSON form; ends with a line end."""
    rules = data["rules"]
    lines = [f"{FORMAT}: {data['version']}", f"rules: {_quoted(rules['name'])}"]
    lines += [f"{option}: {rules[option]}" for option in _OPTIONS]
    lines += [f"agent {seat}: {_quoted(name)}" for seat, name in enumerate(data["agents"]) if name]
    lines += [f"player {seat}: {_quoted(name)}" for seat, name in enumerate(data["players"]) if name]
    lines += [f"{key}: {data[key]}" for key in ("date", "seed", "table", "first_deal") if data[key] is not None]
    lines += [f"{key}: {data[key]}" for key in ("view", "episode")]
    lines += [f"start_scores: {_numbers(data['start_scores'])}", f"rounds_played: {data['rounds_played']}"]
    result = data["result"]
    told = _UNFINISHED if result is None else " ".join([result["reason"], *map(str, result["winners"])])
    lines.append(f"result: {told}")
    for one in data["rounds"]:
        lines += ["", *_round_lines(one)]
    return "\n".join(lines) + "\n"


def _round_lines(one: Mapping[str, Any]) -> Iterator[str]:
    players = len(one["hands"])
    order = [(one["dealer"] + 1 + i) % players for i in range(players)]
    yield f"round {one['number']}: dealer {one['dealer']}"
    for seat in range(players):
        yield f"deal {seat}: {one['hands'][seat]}"
    for number, spare in enumerate(one["spares"], start=1):
        yield f"spare {number}: {spare}"
    for key, word in _CHOICES.items():
        for seat in order:
            if key == "arrangements":
                laid = one[key][seat]
                if laid is not None:
                    hands = " | ".join(laid["hands"]) or _NOTHING
                    yield f"{word} {seat}: {hands} / {laid['rest']}" if laid["rest"] else f"{word} {seat}: {hands}"
            elif one[key][seat] is not None:
                yield f"{word} {seat}: {one[key][seat]}"
    if one["winners"]:
        yield "reveal: " + " ".join(_NOBODY if winner is None else str(winner) for winner in one["winners"])
    for award in one["awards"]:
        yield f"award: {award['seat']} {award['reason']} {award['points']:+d} = {award['score']}"
    if one["scores"] is not None:
        yield f"scores: {_numbers(one['scores'])}"


_CHOICES = {"exchanges": "exchange", "arrangements": "arrange", "calls": "call"}


def _quoted(text: str) -> str:
    return json.dumps(text)


def _numbers(values: Iterable[int]) -> str:
    return " ".join(map(str, values))


# ---- reading ----------------------------------------------------------------------------------------------------------


def split_games(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield each game of a text: the number of its first line, and its lines without their ends.

    A line that begins like a JSON object is a game by itself.

    Raises:
        RecordError: something before the first game, or after a JSON object.

    >>> list(split_games(['{"format": "prial-record"}', '{"format": "prial-record"}']))
    [(1, ['{"format": "prial-record"}']), (2, ['{"format": "prial-record"}'])]
    """
    first, game = 1, list[str]()
    for number, raw in enumerate(lines, start=1):
        line = raw.rstrip("\r\n")
        if number == 1:
            line = line.removeprefix("\ufeff")
        starts = line.startswith((f"{FORMAT}:", "{"))
        if starts and game:
            yield first, game
            game = []
        if starts:
            first, game = number, [line]
        elif game and game[0].startswith("{"):
            if _says_something(line):
                raise _error(f"expected one JSON object a line, or '{FORMAT}:' to begin a text", number)
        elif game:
            game.append(line)
        elif _says_something(line):
            raise _error(f"expected '{FORMAT}: {VERSION}' or a JSON object, got {_shown(line)}", number)
    if game:
        yield first, game


def parse_text(lines: Sequence[str], *, first: int = 1) -> tuple[dict[str, Any], Lines]:
    """Return the JSON form of one game, and the line of each part.

    Args:
        lines: of the game, without line ends.
        first: number of its first line.

    Raises:
        RecordError: a line that is none of the grammar, comes twice, or is missing.
    """
    reader = _Reader()
    for number, line in enumerate(lines, start=first):
        if _says_something(line):
            reader.read(line, number)
    return reader.finished(first)


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _shown(text: str) -> str:
    """Quote a text, cut short where it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _whole(text: str, line: int) -> int:
    if not re.fullmatch(r"-?[0-9]{1,30}", text):
        raise _error(f"expected a whole number, got {_shown(text)}", line)
    return int(text)


def _wholes(text: str, line: int) -> list[int]:
    return [_whole(part, line) for part in text.split()]


def _name(text: str, line: int) -> str:
    try:
        name = json.loads(text)
    except ValueError:
        name = None
    if not isinstance(name, str):
        raise _error(f'expected a text in double quotes, such as "greedy", got {_shown(text)}', line)
    return name


def _result(text: str, line: int) -> dict[str, Any] | None:
    reason, *winners = text.split() or [""]
    if reason == _UNFINISHED and not winners:
        return None
    return {"reason": reason, "winners": [_whole(winner, line) for winner in winners]}


def _plain(text: str, line: int) -> str:  # noqa: ARG001 (one of several readers)
    return text


_HEADER: dict[str, Callable[[str, int], Any]] = {
    "date": _plain,
    "seed": _whole,
    "table": _whole,
    "first_deal": _whole,
    "view": _plain,
    "episode": _plain,
    "start_scores": _wholes,
    "rounds_played": _whole,
    "result": _result,
}
_MAY_BE_MISSING = ("date", "seed", "table", "first_deal")
_AWARD = re.compile(r"(\S+) (\S+) ([+-][0-9]{1,9}) = ([0-9]{1,9})")
_KEY = re.compile(r"([A-Za-z_-]+)(?: ([0-9]{1,9}))?:(?: (.*))?")
_SEATS = range(10)


class _Reader:
    """Builds the JSON form line by line."""

    def __init__(self) -> None:
        self._data: dict[str, Any] = {"format": FORMAT, "rules": {}, "agents": {}, "players": {}, "rounds": []}
        self._lines: Lines = {}

    def read(self, line: str, number: int) -> None:
        match = _KEY.fullmatch(line.rstrip())
        if match is None:
            raise _error(f"expected 'key: value', got {_shown(line)}", number)
        key, index, value = match[1], None if match[2] is None else int(match[2]), (match[3] or "").strip()
        rounds = self._data["rounds"]
        if key == "round" and index is not None:
            self._begin_round(index, value, number)
        elif rounds:
            self._read_in_round(key, index, value, number)
        else:
            self._read_in_header(key, index, value, number)

    def finished(self, first: int) -> tuple[dict[str, Any], Lines]:
        """Return what was read; whatever must be there is."""
        data, lines = self._data, self._lines
        for key in ("version", *(key for key in _HEADER if key not in _MAY_BE_MISSING)):
            if key not in data:
                raise _error(f"the header has no '{FORMAT if key == 'version' else key}:' line", first)
        for key in _MAY_BE_MISSING:
            data.setdefault(key, None)
        for option in ("name", *_OPTIONS):
            if option not in data["rules"]:
                raise _error(f"the header has no '{'rules' if option == 'name' else option}:' line", first)
        players = data["rules"]["players"]
        if players not in _SEATS:
            raise _error(f"players: expected 2 to 5, got {players}", lines["rules", "players"])
        for key in ("agents", "players"):
            data[key] = self._by_seat(data[key], (key,), players, missing="")
        for place, one in enumerate(data["rounds"]):
            here: Path = ("rounds", place)
            for key in ("hands", *_CHOICES):
                one[key] = self._by_seat(one[key], (*here, key), players, missing=None)
            if None in one["hands"]:
                raise _error(f"no 'deal {one['hands'].index(None)}:' line in this round", lines[here])
            one["spares"] = [spare for _, spare in sorted(one["spares"].items())]
        # Errors about what has no line of its own show where the game begins.
        lines[()] = first
        return data, lines

    def _by_seat(self, given: dict[int, Any], path: Path, players: int, *, missing: Any) -> list[Any]:
        for seat in given:
            if seat >= players:
                raise _error(f"there is no seat {seat}; expected 0 to {players - 1}", self._lines[(*path, seat)])
        return [given.get(seat, missing) for seat in range(players)]

    def _put(self, where: dict[Any, Any], key: str | int, value: Any, path: Path, number: int) -> None:
        if key in where:
            raise _error(f"said before, in line {self._lines[path]}", number)
        where[key] = value
        self._lines[path] = number

    def _read_in_header(self, key: str, index: int | None, value: str, number: int) -> None:
        data = self._data
        if index is not None:
            if key not in ("agent", "player"):
                raise _error(f"{_shown(f'{key} {index}')} is no part of the header", number)
            self._put(data[f"{key}s"], index, _name(value, number), (f"{key}s", index), number)
        elif key == FORMAT:
            self._put(data, "version", _whole(value, number), ("version",), number)
            if data["version"] != VERSION:
                raise _error(f"version {data['version']} of the format; this reader knows {VERSION}", number)
        elif key == "rules":
            self._put(data["rules"], "name", _name(value, number), ("rules", "name"), number)
        elif key in _OPTIONS:
            whole = key in _WHOLE and value != "game"
            self._put(data["rules"], key, _whole(value, number) if whole else value, ("rules", key), number)
        elif key in _HEADER:
            self._put(data, key, _HEADER[key](value, number), (key,), number)
        else:
            raise _error(f"{_shown(key)} is no part of the header of version {VERSION}", number)

    def _begin_round(self, index: int, value: str, number: int) -> None:
        rounds = self._data["rounds"]
        match = re.fullmatch(r"dealer ([0-9])", value)
        if match is None:
            raise _error(f"expected 'dealer' and a seat, got {_shown(value)}", number)
        keys = ("hands", "spares", *_CHOICES)
        rounds.append({"number": index, "dealer": int(match[1]), **{key: {} for key in keys}})
        rounds[-1].update(winners=[], awards=[], scores=None)
        self._lines["rounds", len(rounds) - 1] = number

    def _read_in_round(self, key: str, index: int | None, value: str, number: int) -> None:
        one = self._data["rounds"][-1]
        here: Path = ("rounds", len(self._data["rounds"]) - 1)
        by_index = {"deal": "hands", "spare": "spares", **{word: name for name, word in _CHOICES.items()}}
        if index is not None and key in by_index:
            name = by_index[key]
            said: Any = _arrangement(value) if key == "arrange" else value
            place = index - 1 if key == "spare" else index
            if key == "spare" and index != len(one["spares"]) + 1:
                raise _error(f"expected 'spare {len(one['spares']) + 1}:' here", number)
            self._put(one[name], place, said, (*here, name, place), number)
        elif index is None and key == "reveal":
            winners = [None if part == _NOBODY else _whole(part, number) for part in value.split()]
            self._once(here, "winners", number)
            one["winners"] = winners
        elif index is None and key == "scores":
            self._once(here, "scores", number)
            one["scores"] = _wholes(value, number)
        elif index is None and key == "award":
            self._lines[(*here, "awards", len(one["awards"]))] = number
            one["awards"].append(_award(value, number))
        else:
            raise _error(f"{_shown(key if index is None else f'{key} {index}')} is no part of a round", number)

    def _once(self, here: Path, key: str, number: int) -> None:
        if (*here, key) in self._lines:
            raise _error(f"said before, in line {self._lines[(*here, key)]}", number)
        self._lines[(*here, key)] = number


def _arrangement(text: str) -> dict[str, Any]:
    laid, _, rest = text.partition("/")
    laid = laid.strip()
    hands = [] if laid == _NOTHING else [hand.strip() for hand in laid.split("|")]
    return {"hands": hands, "rest": rest.strip()}


def _award(text: str, line: int) -> dict[str, Any]:
    match = _AWARD.fullmatch(text)
    if match is None:
        raise _error(f"expected such as '1 quads +1 = 5', got {_shown(text)}", line)
    return {
        "seat": _whole(match[1], line),
        "reason": match[2],
        "points": int(match[3]),
        "score": int(match[4]),
    }
