"""Drive the engine through rounds that the oracles made, and through random play."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from bridge import rules_of, texts
from oracles.scorer import must_choose
from prial.envs.crash.arrangement import Arrangement
from prial.envs.crash.events import Event
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.rules import CrashRules

STATE = [name for name in Game.__slots__ if name not in ("_undominated", "_stream", "rules", "episode")]


def drawing(seed: int | str) -> random.Random:
    """The generator that the oracles draw their rounds from."""
    return random.Random(seed)  # noqa: S311 (games, not secrets)


def state_of(game: Game) -> dict[str, Any]:
    """All that can change in a game, as plain values."""
    return {name: (list(value) if isinstance(value := getattr(game, name), list) else value) for name in STATE}


def start_round(one: dict[str, Any], **options: Any) -> Game:
    """The engine's game at the beginning of an oracle's round."""
    return Game.from_deal(
        rules_of(one["rules"]),
        ["".join(cards) for cards in one["hands"]],
        spares=["".join(cards) for cards in one["spares"]],
        dealer=one["dealer"],
        scores=one["scores"],
        rounds_played=one["rounds_played"],
        **options,
    )


def exchange_cards(game: Game, one: dict[str, Any]) -> None:
    """Make the round's choices to keep or exchange."""
    for seat in must_choose(one["rules"], one["dealer"], one["exchange"]):
        assert game.phase is Phase.EXCHANGE
        game.step(game.layout.exchange if one["exchange"][seat] else game.layout.keep, seat)


def lay(game: Game, laid: Sequence[Sequence[Sequence[str]]], order: Sequence[int] | None = None) -> None:
    """Lay every seat's row."""
    for seat in game.turn_order if order is None else order:
        assert game.phase is Phase.ARRANGE
        cards = texts(game.hands[seat])
        hands = ["".join(hand) for hand in laid[seat]]
        game.step(Arrangement.of(hands, "".join(cards)).index("".join(cards), game.rules), seat)


def call(game: Game, calls: Sequence[bool]) -> None:
    """Call or pass in turn."""
    for seat in game.turn_order:
        if game.phase is Phase.CALL:
            game.step(game.layout.call if calls[seat] else game.layout.pass_, seat)


def play_round(one: dict[str, Any], **options: Any) -> Game:
    """The engine's game at the end of an oracle's round."""
    game = start_round(one, **options)
    exchange_cards(game, one)
    lay(game, one["laid"])
    if game.rules.has_calls:
        call(game, one["calls"])
    return game


def random_action(game: Game, seat: int, rng: np.random.Generator) -> int:
    """An undominated arrangement, or any of the other choices, drawn evenly."""
    if game.phase is Phase.ARRANGE:
        partitions = game.undominated(seat).partitions
        return int(partitions[rng.integers(len(partitions))])
    return int(rng.choice(game.legal_actions(seat)))


def play_on(game: Game, rng: np.random.Generator, *, steps: int = 10**9) -> list[Event]:
    """Play at random, in any order where several are to act, for some steps or to the end."""
    events: list[Event] = []
    while steps > 0 and not game.is_over:
        seat = int(rng.choice(game.pending))
        events.extend(game.step(random_action(game, seat, rng), seat))
        steps -= 1
    return events


def rule_variants() -> list[CrashRules]:
    """Every rule set with every number of players it allows, calls on and off, both finishes."""
    variants = []
    for name, most in (("online", 4), ("bga", 5), ("traditional", 4)):
        for players in range(2, most + 1):
            for crash_call in ("none", "optional", "required"):
                for finish in ("immediate", "round_end"):
                    options = {"players": players, "crash_call": crash_call, "finish": finish}
                    variants.append(CrashRules.preset(name, **options))
    return variants
