"""The JSON form of a game record read back: its shape, and cards as values. `docs/records.md` is the standard."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ..cards import CardError, parse_cards
from .events import Award, AwardReason, GameResult, Ids, Termination
from .record_text import FORMAT, HIDDEN, VERSION, Path, RecordError
from .record_values import GameRecord, LaidHands, RoundRecord, Viewer
from .rules import CrashRules, RulesError

__all__ = ["load_json", "record_from_dict"]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Laid(_Form):
    hands: list[str]
    rest: str


class _Award(_Form):
    seat: int
    reason: Literal["crash", "call_bonus", "call_penalty", "quads"]
    points: int
    score: int


class _Result(_Form):
    reason: Literal["target", "crash", "max_rounds", "round"]
    winners: list[int]


class _Round(_Form):
    number: int
    dealer: int
    hands: list[str]
    spares: list[str]
    exchanges: list[Literal["exchange", "keep"] | None]
    arrangements: list[_Laid | None]
    calls: list[Literal["call", "pass"] | None]
    winners: list[int | None]
    awards: list[_Award]
    scores: list[int] | None


class _Record(_Form):
    format: Literal["crash-record"]
    version: int
    rules: dict[str, Any]
    agents: list[str]
    players: list[str]
    date: str | None
    seed: int | None
    table: int | None
    first_deal: int | None
    view: str
    episode: Literal["game", "round"]
    start_scores: list[int]
    rounds_played: int
    result: _Result | None
    rounds: list[_Round]


def load_json(text: str) -> Any:
    """Return what a JSON text says.

    Raises:
        RecordError: not JSON, or a key given twice.

    >>> load_json('{"version": 1, "version": 2}')
    Traceback (most recent call last):
    ...
    prial.envs.crash.record_text.RecordError: a key comes twice in ['version', 'version']
    """

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            raise RecordError(f"a key comes twice in {sorted(key for key, _ in items)}")
        return found

    try:
        return json.loads(text, object_pairs_hook=pairs)
    except (json.JSONDecodeError, RecursionError) as error:
        raise RecordError(f"not JSON: {error}") from None


def record_from_dict(data: Any) -> GameRecord:
    """Return the record of a JSON form; the inverse of `GameRecord.to_dict`. Not checked against the rules.

    Raises:
        RecordError: of another version, or a part that is missing, unknown or of the wrong kind.
    """
    if isinstance(data, dict) and data.get("format") == FORMAT and data.get("version") != VERSION:
        raise RecordError(f"version {data.get('version')!r} of the format; this reader knows {VERSION}")
    try:
        form = _Record.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"]).lstrip(".")
        raise RecordError(f"{place or 'the record'}: {first['msg']}", path=tuple(first["loc"])) from None
    result = form.result
    return GameRecord(
        rules=_rules(form.rules),
        agents=tuple(form.agents),
        players=tuple(form.players),
        date=form.date,
        seed=form.seed,
        table=form.table,
        first_deal=form.first_deal,
        viewer=_viewer(form.view),
        episode=form.episode,
        start_scores=tuple(form.start_scores),
        rounds_played=form.rounds_played,
        rounds=tuple(_round(one, ("rounds", place)) for place, one in enumerate(form.rounds)),
        result=None if result is None else GameResult(winners=tuple(result.winners), reason=Termination(result.reason)),
    )


def _rules(options: dict[str, Any]) -> CrashRules:
    missing = [name for name in CrashRules().to_dict() if name not in options]
    if missing:
        raise RecordError(f"rules: no {missing[0]}; a record names every option", path=("rules",))
    try:
        return CrashRules.from_dict(options)
    except RulesError as error:
        named = str(error).partition("=")[0]
        raise RecordError(f"rules: {error}", path=("rules", named)) from None


def _viewer(text: str) -> Viewer:
    if text == "all":
        return "all"
    if text == "spectator":
        return "spectator"
    word, _, number = text.partition(" ")
    if word != "seat" or not (number.isascii() and number.isdigit() and len(number) == 1):
        raise RecordError(f"view {text!r}: expected 'all', 'spectator' or such as 'seat 0'", path=("view",))
    return int(number)


def _round(one: _Round, path: Path) -> RoundRecord:
    def choices(values: Sequence[str | None], yes: str) -> tuple[bool | None, ...]:
        return tuple(None if value is None else value == yes for value in values)

    return RoundRecord(
        number=one.number,
        dealer=one.dealer,
        hands=tuple(_cards(text, (*path, "hands", i)) for i, text in enumerate(one.hands)),
        spares=tuple(_cards(text, (*path, "spares", i)) for i, text in enumerate(one.spares)),
        exchanges=choices(one.exchanges, "exchange"),
        arrangements=tuple(
            None if laid is None else _laid(laid, (*path, "arrangements", seat))
            for seat, laid in enumerate(one.arrangements)
        ),
        calls=choices(one.calls, "call"),
        winners=tuple(one.winners),
        awards=tuple(
            Award(seat=a.seat, reason=AwardReason[a.reason.upper()], points=a.points, score=a.score) for a in one.awards
        ),
        scores=None if one.scores is None else tuple(one.scores),
    )


def _laid(laid: _Laid, path: Path) -> LaidHands:
    hands: list[Ids] = []
    for text in laid.hands:
        cards = _cards(text, path)
        if cards is None:
            raise RecordError(f"a hand is named or left out, never hidden: {text!r}", path=path)
        hands.append(cards)
    return LaidHands(hands=tuple(hands), rest=_cards(laid.rest, path))


def _cards(text: str, path: Path) -> Ids | None:
    """Return ascending ids, None where every card is hidden."""
    parts = text.split()
    if parts and all(part == HIDDEN for part in parts):
        return None
    try:
        return tuple(sorted(card.id for card in parse_cards(text)))
    except CardError as error:
        raise RecordError(
            f"{error}; in a redacted record all cards of a pile are {HIDDEN} or none", path=path
        ) from None
