"""The solver's iteration on small games: it converges, and each approximation is what it says."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from prial.agents import _kernels_solver_cards as kernels
from prial.envs.crash.rules import CrashRules
from prial.training import small_game_iteration
from prial.training.small_game import SmallGame, SmallGameError
from prial.training.small_game_iteration import iterate
from prial.training.small_game_solve import solve

SIX = CrashRules(players=2, ranks="JQKA", cards_dealt=6)


def test_it_comes_within_a_two_thousandth_of_the_exact_value() -> None:
    game = SmallGame.of(SIX)
    steps = iterate(game, iterations=16)
    assert [one.number for one in steps] == list(range(1, 17))
    assert steps[0].last > 0.005
    assert all(0 <= one.last < 0.0005 for one in steps[1:])
    # The average goes on falling; what a best responder gains bounds what the equilibrium does.
    gains = [one.average for one in steps]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] < 0.0005
    earned = game.margin(solve(game).mixture, game.mixture(steps[-1].chances))
    assert -1e-6 < earned <= steps[-1].last


def test_the_average_converges_where_responses_go_round() -> None:
    """With eight of sixteen cards each an equilibrium has to mix: a response alone stays far off."""
    steps = iterate(SmallGame.of(SIX.replace(cards_dealt=8)), iterations=600)
    assert min(one.last for one in steps) > 0.005
    assert steps[-1].average < 0.0005


def test_three_players() -> None:
    game = SmallGame.of(SIX.replace(players=3, ranks="QKA", cards_dealt=4))
    steps = iterate(game, iterations=3)
    for one in steps:
        assert one.last == pytest.approx(game.best_margin(game.mixture(one.chances)))
    with pytest.raises(SmallGameError, match="expected 2 players"):
        iterate(game, iterations=1, reckoning="hands")


def test_one_comparison_is_exact_by_itself() -> None:
    """With a single hand there is nothing that the comparisons could have to do with each other."""
    game = SmallGame.of(SIX.replace(cards_dealt=5))
    against = game.uniform()
    reckoned = small_game_iteration._Hands(game, fitted=False).values(against)
    np.testing.assert_allclose(reckoned, game.margins(game.mixture(against)), atol=1e-12)


@pytest.mark.parametrize("rules", [SIX, SIX.replace(quads_bonus=0, crash_reward=4)], ids=range(2))
def test_two_comparisons_differ_by_the_crash_alone(rules: CrashRules) -> None:
    """Hand by hand against plain loops over every deal of one hand."""
    game = SmallGame.of(rules)
    against = np.random.default_rng(3).random(len(game.owner))
    against /= np.add.reduceat(against, game.arrangements.offsets[:-1])[game.owner]
    reckoned = small_game_iteration._Hands(game, fitted=False).values(against)
    found = game.arrangements
    for one in (5, 200, 467):
        left = sorted(set(rules.pack) - set(game.cards[one].tolist()))
        others = game.classes_of(np.array(list(combinations(left, 6)))).tolist()
        for row in range(found.offsets[one], found.offsets[one + 1]):
            win, lose = np.zeros(2), np.zeros(2)
            for other in others:
                for theirs in range(found.offsets[other], found.offsets[other + 1]):
                    for place in range(2):
                        mine, yours = found.strengths[row, place], found.strengths[theirs, place]
                        win[place] += against[theirs] * (mine > yours)
                        lose[place] += against[theirs] * (mine < yours)
            win, lose = win / len(others), lose / len(others)
            wanted = (win - lose).sum() + rules.crash_points * (win.prod() - lose.prod())
            assert reckoned[row] == pytest.approx(wanted + rules.quads_bonus * found.quads[row])


def test_the_fit_is_of_the_second_order_in_what_the_solver_knows_of_cards() -> None:
    game = SmallGame.of(SIX)
    features = small_game_iteration._features(game)
    direct = np.empty_like(features)
    kernels.card_features(game.cards, np.full_like(game.cards, -1), direct, 0, game.num_classes)
    np.testing.assert_array_equal(features, direct)
    reckoned = small_game_iteration._Hands(game, fitted=True)
    axis = features[:, 9] + 2 * features[:, 12]  # jacks, and aces twice
    near = [np.column_stack([axis, axis**2]), np.exp(axis / 4)[:, None]]
    fitted = reckoned._fit(near)
    np.testing.assert_allclose(fitted[0], near[0], atol=1e-6)
    assert [curve.shape for curve in fitted] == [(468, 2), (468, 1)]
    assert 0.9 < reckoned.explained < 1
    # What is left has nothing to do with what was fitted, and not with the mean.
    left = (near[1] - fitted[1])[:, 0]
    weights = game.weights / game.weights.sum()
    assert abs(weights @ left) < 1e-9
    assert abs(weights @ (left * axis)) < 1e-6
    reckoned._fit([np.random.default_rng(4).random((468, 3))])
    assert 0 < reckoned.explained < 0.7


def test_what_the_fit_leaves_is_said() -> None:
    steps = iterate(SmallGame.of(SIX), iterations=2, reckoning="fit")
    assert all(0.9 < one.explained < 0.9999 for one in steps)
    assert iterate(SmallGame.of(SIX), iterations=1, reckoning="hands")[0].explained == 1


@pytest.mark.parametrize(("number", "reckoning"), [(0, "deals"), (1, "guess")])
def test_mistakes_are_told(number: int, reckoning: str) -> None:
    with pytest.raises(SmallGameError, match="expected 1 or more and a reckoning"):
        iterate(SmallGame.of(SIX.replace(cards_dealt=3)), iterations=number, reckoning=reckoning)  # type: ignore[arg-type]
