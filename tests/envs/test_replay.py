"""Copies, pickles and replays of games: they go on, or come out, the same."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import generate
from play import drawing, play_on, play_round, rule_variants, state_of
from prial.envs.crash import events as event_types
from prial.envs.crash.events import Arrange, Award, Call, Deal, Event, Exchange
from prial.envs.crash.game import Game, IllegalActionError, replay
from prial.envs.crash.rules import CrashRules

VARIANTS = rule_variants()
NINE = CrashRules(players=2, cards_dealt=3)


def _name(rules: CrashRules) -> str:
    return f"{rules.name}-{rules.players}-{rules.crash_call}-{rules.finish}"


@pytest.mark.parametrize("rules", VARIANTS[::3], ids=_name)
def test_copies_are_independent_and_play_on_the_same_way(rules: CrashRules) -> None:
    for steps in (0, 1, 2, 4, 7, 11):
        game = Game(rules, seed=steps)
        play_on(game, np.random.default_rng(steps), steps=steps)
        if game.is_over:
            continue
        before = state_of(game)
        copies = [game.copy(), copy.copy(game), copy.deepcopy(game), pickle.loads(pickle.dumps(game))]  # noqa: S301
        assert all(state_of(other) == before for other in copies)
        ends = []
        for other in copies:
            play_on(other, np.random.default_rng(99))
            ends.append((other.scores, other.result, other.events))
            assert state_of(game) == before
        assert ends.count(ends[0]) == len(ends)
        play_on(game, np.random.default_rng(99))
        assert (game.scores, game.result, game.events) == ends[0]


def plain(event: Event) -> dict[str, Any]:
    """An event as plain JSON values."""

    def value(x: Any) -> Any:
        if isinstance(x, Enum):
            return x.value
        return {f.name: value(getattr(x, f.name)) for f in fields(x)} if is_dataclass(x) else x

    return {"event": type(event).__name__, **{f.name: value(getattr(event, f.name)) for f in fields(event)}}


def unplain(one: dict[str, Any]) -> Event:
    """The deal or decision of plain JSON values."""

    def frozen(x: Any) -> Any:
        return tuple(frozen(y) for y in x) if isinstance(x, list) else x

    kind = getattr(event_types, one.pop("event"))
    event: Event = kind(**{name: frozen(x) for name, x in one.items()})
    return event


@pytest.mark.parametrize("rules", VARIANTS[::2], ids=_name)
def test_events_suffice_to_replay_a_game(rules: CrashRules) -> None:
    game = Game(rules, seed=21, table=4)
    told = list(game.events)
    told += play_on(game, np.random.default_rng(5))
    assert tuple(told) == game.events
    again = replay(rules, told)
    assert again.events == game.events
    assert (again.scores, again.result, again.dealer) == (game.scores, game.result, game.dealer)
    # Deals and decisions alone are enough, and survive JSON.
    decisions = [e for e in told if isinstance(e, (Deal, Exchange, Arrange, Call))]
    text = json.dumps([plain(event) for event in decisions])
    assert replay(rules, [unplain(one) for one in json.loads(text)]).events == game.events
    assert json.loads(json.dumps([plain(event) for event in told]))


@given(st.integers(0, 2**32), st.integers(0, len(VARIANTS) - 1), st.integers(0, 25))
def test_a_game_broken_off_anywhere_can_be_replayed(seed: int, variant: int, steps: int) -> None:
    game = Game(VARIANTS[variant], seed=seed)
    play_on(game, np.random.default_rng(seed), steps=steps)
    again = replay(VARIANTS[variant], game.events)
    skip = ("_deal_number", "_explicit")
    assert {k: v for k, v in state_of(again).items() if k not in skip} == {
        k: v for k, v in state_of(game).items() if k not in skip
    }


def test_rounds_of_the_generator_can_be_replayed() -> None:
    rng = drawing(31)
    for _ in range(300):
        one = generate.random_round(rng, generate.random_rules(rng))
        game = play_round(one, episode="round")
        assert replay(game.rules, game.events, episode="round").events == game.events


def test_replaying_nonsense_is_refused() -> None:
    rules = CrashRules.preset("online")
    with pytest.raises(ValueError, match="no deal among the events"):
        replay(rules, [])
    game = Game(rules, seed=1)
    play_on(game, np.random.default_rng(1))
    with pytest.raises(ValueError, match="hands: expected 3"):
        replay(rules.replace(players=3, cards_dealt=13, exchange="spare"), [Game(NINE).events[0]])
    with pytest.raises(IllegalActionError, match="to act"):
        replay(rules, [game.events[0], game.events[1], game.events[1]])


def test_events_are_frozen_values() -> None:
    event = Award(seat=0, reason=event_types.AwardReason.QUADS, points=1, score=1)
    with pytest.raises(AttributeError):
        event.seat = 1  # type: ignore[misc]
    assert event == Award(seat=0, reason=event_types.AwardReason.QUADS, points=1, score=1)
