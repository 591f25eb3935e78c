"""Decisions of every phase, from games played at random."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import ViewBatch, view_of
from prial.envs.crash.rules import CrashRules

RULE_SETS = [
    CrashRules.preset("online"),
    CrashRules.preset("bga"),
    CrashRules.preset("bga", players=2, crash_call="optional"),
    CrashRules.preset("bga", players=5),
    CrashRules.preset("traditional", crash_call="required", crash_reward="game", lowest_hand="flush"),
    CrashRules(players=2, cards_dealt=6, ranks="JQKA", lowest_hand="high_card", crash_call="optional"),
    CrashRules(players=3, cards_dealt=3, crash_call="required"),
]


def rules_id(rules: CrashRules) -> str:
    return f"{rules.name or 'own'}-{rules.players}x{rules.cards_dealt}-{rules.crash_call}"


def decisions(rules: CrashRules, *, games: int = 5, seed: int = 0) -> Iterator[tuple[Game, int]]:
    """Games (copies) with a seat that is to act; at most six rounds of each game."""
    rng = np.random.default_rng(seed)
    for table in range(games):
        game = Game(rules, seed=seed, table=table)
        while not game.is_over and game.rounds_played < 6:
            for seat in game.pending:
                yield game.copy(), seat
            seat = int(rng.choice(game.pending))
            if game.phase is Phase.ARRANGE and rng.random() < 0.8:
                actions = game.undominated(seat).partitions
            else:
                actions = game.legal_actions(seat)
            game.step(int(rng.choice(actions)), seat)


def decision_views(rules: CrashRules, *, games: int = 5, seed: int = 0) -> ViewBatch:
    """The views of `decisions`, phases mixed."""
    return ViewBatch.of(view_of(game, seat) for game, seat in decisions(rules, games=games, seed=seed))
