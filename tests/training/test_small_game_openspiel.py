"""Small games in OpenSpiel: its own exploitability of our policies equals ours."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from prial.envs.crash.rules import CrashRules
from prial.training.small_game import SmallGame
from prial.training.small_game_solve import solve

pyspiel: Any = pytest.importorskip("pyspiel", reason="needs the extra openspiel")
exploitability: Any = importlib.import_module("open_spiel.python.algorithms.exploitability")
adapter: Any = importlib.import_module("prial.training.small_game_openspiel")


def load(ranks: str = "QKA", cards: int = 6, **options: Any) -> Any:
    return pyspiel.load_game("prial_small", {"ranks": ranks, "cards_dealt": cards, **options})


def random_chances(small: SmallGame, seed: int) -> Any:
    weights = np.random.default_rng(seed).random(len(small.owner))
    return weights / np.add.reduceat(weights, small.arrangements.offsets[:-1])[small.owner]


@pytest.mark.parametrize(
    "options", [{}, {"lowest_hand": "high_card", "quads_bonus": 2, "crash_points": 3}, {"ranks": "KA", "cards": 3}]
)
def test_its_exploitability_of_our_policies_is_ours(options: dict[str, Any]) -> None:
    game = load(**options)
    for chances in (game.small.uniform(), random_chances(game.small, 1)):
        theirs = exploitability.exploitability(game, adapter.OpenSpielPolicy(game, chances))
        assert theirs == pytest.approx(game.small.best_margin(game.small.mixture(chances)), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("cards", [6, 7])
def test_and_of_the_game_that_the_field_speaks_of(cards: int) -> None:
    game = load("JQKA", cards)
    solution = solve(game.small)
    for chances in (solution.chances, game.small.uniform()):
        theirs = exploitability.exploitability(game, adapter.OpenSpielPolicy(game, chances))
        assert theirs == pytest.approx(game.small.best_margin(game.small.mixture(chances)), abs=1e-9)


def test_deals_are_weighted() -> None:
    game = load("JQKA", 7)
    state = game.new_initial_state()
    outcomes = state.chance_outcomes()
    assert state.is_chance_node()
    assert len(outcomes) == 17_416
    assert sum(chance for _, chance in outcomes) == pytest.approx(1)
    assert min(chance for _, chance in outcomes) < max(chance for _, chance in outcomes)


def test_a_round_is_played_by_its_rules() -> None:
    """Random playouts: what is known, what is legal, and utilities that add up to nothing."""
    game = load("JQKA", 6)
    assert game.small.rules == CrashRules(players=2, ranks="JQKA", cards_dealt=6, crash_reward=1)
    rng = np.random.default_rng(2)
    for _ in range(20):
        state = game.new_initial_state()
        state.apply_action(int(rng.integers(len(state.chance_outcomes()))))
        known = [state.information_state_string(player) for player in (0, 1)]
        for player in (0, 1):
            assert state.current_player() == player
            actions = state.legal_actions()
            assert actions == list(range(game.small.arrangements.counts[state.class_of(player)]))
            copy = state.clone()
            assert copy.information_state_string(player) == known[player]
            words = state.action_to_string(player, actions[-1])
            assert set(words.replace("|", " ").replace("/", " ").split()) == set(
                known[player].partition(": ")[2].split()
            )
            state.apply_action(actions[-1])
            assert copy.current_player() == player
            # Player 1 knows nothing more when it acts.
            assert state.information_state_string(1 - player).startswith(known[1 - player])
        assert state.is_terminal()
        mine, theirs = state.returns()
        assert mine == -theirs
        assert abs(mine) <= game.max_utility()
