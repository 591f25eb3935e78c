"""A record is checked when it is made, whoever makes it: every part that does not fit the others is named with its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prial.envs.crash.events import Award, AwardReason, GameResult, Termination
from prial.envs.crash.game import Game
from prial.envs.crash.record import GameRecord, RecordError, from_json, parse_record, record_of
from prial.envs.crash.rules import CrashRules

TEXT = (Path(__file__).parents[1] / "data" / "records" / "traditional.txt").read_text(encoding="ascii")
RECORD = parse_record(TEXT)
FIRST = RECORD.rounds[0]
LAID = FIRST.arrangements[0]
assert LAID is not None


def header(**parts: Any) -> Callable[[], GameRecord]:
    return lambda: replace(RECORD, **parts)


def first_round(**parts: Any) -> Callable[[], GameRecord]:
    return lambda: replace(RECORD, rounds=(replace(FIRST, **parts), *RECORD.rounds[1:]))


def first_laid(**parts: Any) -> Callable[[], GameRecord]:
    assert LAID is not None
    return first_round(arrangements=(replace(LAID, **parts), *FIRST.arrangements[1:]))


FAULTS = {
    "names": (header(agents=("greedy",)), ("agents",), "agents: expected 3 names, one a seat, got 1"),
    "no rounds": (header(rounds=()), ("rounds",), "no round; a game starts with a deal"),
    "one round only": (header(episode="round"), ("rounds", 1), "a second round, but the episode is 'round'"),
    "seed alone": (header(table=None), ("table",), "seed, table and first_deal go together"),
    "episode": (header(episode="match"), ("episode",), "episode 'match': expected 'game' or 'round'"),
    "too many rounds": (header(rounds_played=200), ("rounds_played",), "rounds_played 200: expected 0 to 199"),
    "winner": (
        header(result=GameResult(winners=(5,), reason=Termination.TARGET)),
        ("result",),
        "winners (5,): expected seats from 0 to 2",
    ),
    "hands": (first_round(hands=FIRST.hands[:2]), ("rounds", 0, "hands"), "hands: expected 3, one a seat, got 2"),
    "spares": (first_round(spares=()), ("rounds", 0, "spares"), "0 spare hands, expected 1"),
    "reveal": (first_round(winners=(None, 2, 2, 7)), ("rounds", 0, "winners"), "reveal: expected up to 4 seats"),
    "no reveal": (first_round(winners=()), ("rounds", 0, "scores"), "has a reveal and scores"),
    "scores": (first_round(scores=(0, 0)), ("rounds", 0, "scores"), "scores: expected 3, one a seat, got 2"),
    "award": (
        first_round(awards=(Award(seat=7, reason=AwardReason.QUADS, points=1, score=1),)),
        ("rounds", 0, "awards"),
        "award: expected a seat from 0 to 2",
    ),
    "no such card": (
        first_round(hands=((99, *FIRST.hands[0][1:]), *FIRST.hands[1:])),  # type: ignore[index]
        ("rounds", 0, "hands", 0),
        "99",
    ),
    "order of cards": (
        first_round(hands=(FIRST.hands[0][::-1], *FIRST.hands[1:])),  # type: ignore[index]
        ("rounds", 0, "hands", 0),
        "expected ascending ids, got",
    ),
    "five hands": (
        first_laid(hands=(*LAID.hands, LAID.hands[0])),
        ("rounds", 0, "arrangements", 0),
        "5 hands, expected at most 4",
    ),
    "hidden rest": (
        first_laid(rest=None),
        ("rounds", 0, "arrangements", 0),
        "hidden cards (??) where nothing is hidden",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_parts_that_do_not_fit_are_named_with_their_place(name: str) -> None:
    make, path, said = FAULTS[name]
    with pytest.raises(RecordError) as raised:
        make()
    assert said in str(raised.value)
    assert raised.value.path[: len(path)] == path


def test_an_award_before_the_reveal() -> None:
    last = replace(
        FIRST,
        arrangements=(None,) * 3,
        calls=(None,) * 3,
        winners=(),
        scores=None,
        awards=(Award(seat=0, reason=AwardReason.QUADS, points=1, score=1),),
    )
    with pytest.raises(RecordError, match="an award before the reveal"):
        replace(RECORD, rounds=(last,), result=None)


def test_a_card_that_is_not_in_the_pack() -> None:
    record = record_of(Game(CrashRules(players=2, cards_dealt=6), seed=1))
    with pytest.raises(RecordError, match=r"is not in the pack \(ranks=9TJQKA\)"):
        replace(record, rules=record.rules.replace(ranks="9TJQKA"))


def test_the_json_form_names_every_option_and_hides_no_laid_hand() -> None:
    data = RECORD.to_dict()
    del data["rules"]["target"]
    with pytest.raises(RecordError, match="rules: no target; a record names every option"):
        from_json(_json(data))
    data = RECORD.to_dict()
    data["rounds"][0]["arrangements"][0]["hands"][0] = "?? ?? ??"
    with pytest.raises(RecordError, match="a hand is named or left out, never hidden"):
        from_json(_json(data))
    data = RECORD.to_dict()
    data["view"] = "seat one"
    with pytest.raises(RecordError, match="view 'seat one': expected 'all', 'spectator' or such as 'seat 0'"):
        from_json(_json(data))


def test_rounds_after_the_end_are_refused() -> None:
    game = Game(CrashRules(players=2, cards_dealt=6, target=1), seed=1)
    while not game.is_over:
        seat = game.pending[0]
        game.step(int(game.undominated(seat).partitions[0]), seat)
    data = record_of(game).to_dict()
    last = data["rounds"][-1]
    again = {**last, "number": last["number"] + 1, "dealer": 1 - last["dealer"]}
    with pytest.raises(RecordError, match="the game was over before it"):
        from_json(_json({**data, "rounds": [*data["rounds"], again]}))


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data)
