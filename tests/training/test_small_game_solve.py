"""Equilibria of small games: the certificate, the linear program, and both against each other."""

from __future__ import annotations

import numpy as np
import pytest

from prial.envs.crash.rules import CrashRules
from prial.training.small_game import SmallGame, SmallGameError
from prial.training.small_game_solve import GAP, payoff_matrix, solve, solve_by_lp

SIX = CrashRules(players=2, ranks="JQKA", cards_dealt=6)
GAMES = [
    SIX,
    SIX.replace(lowest_hand="high_card"),
    SIX.replace(lowest_hand="flush"),
    SIX.replace(quads_bonus=0),
    SIX.replace(crash_reward=4),
    SIX.replace(cards_dealt=7),
    SIX.replace(ranks="23KA", flush_high="three"),
]


@pytest.mark.parametrize("rules", GAMES, ids=range(len(GAMES)))
def test_it_is_solved_to_the_gap_asked_for(rules: CrashRules) -> None:
    game = SmallGame.of(rules)
    solution = solve(game)
    assert 0 <= solution.gap <= GAP
    assert (solution.chances >= 0).all()
    np.testing.assert_allclose(np.add.reduceat(solution.chances, game.arrangements.offsets[:-1]), 1)
    # Both sides, and by the matrix rather than the kernel: nobody gains more than the gap against it.
    matrix, first = payoff_matrix(game), game.arrangements.offsets[:-1]
    for gains in (matrix @ solution.chances, -solution.chances @ matrix):
        assert np.maximum.reduceat(gains, first).sum() == pytest.approx(solution.gap, abs=1e-12)
    assert solution.chances @ matrix @ solution.chances == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("rules", GAMES, ids=range(len(GAMES)))
def test_the_linear_program_says_the_same(rules: CrashRules) -> None:
    pytest.importorskip("scipy")
    game = SmallGame.of(rules)
    value, chances = solve_by_lp(game)
    assert value == pytest.approx(0, abs=1e-9)
    assert game.best_margin(game.mixture(chances)) == pytest.approx(0, abs=1e-8)
    # Two equilibria of a zero-sum game earn the value against each other.
    solution = solve(game)
    assert abs(game.margin(solution.mixture, game.mixture(chances))) <= GAP


def test_there_is_something_to_solve() -> None:
    """An equilibrium mixes, and what does not think about it loses."""
    game = SmallGame.of(SIX)
    solution = solve(game)
    mixed = (solution.chances > 0.01) & (solution.chances < 0.99)
    assert mixed.sum() >= 4
    assert game.best_margin(game.mixture(game.uniform())) == pytest.approx(0.2729461015, abs=1e-9)
    assert game.margin(solution.mixture, game.mixture(game.uniform())) > 0.26


def test_more_iterations_come_nearer() -> None:
    game = SmallGame.of(SIX)
    seen: list[tuple[int, float]] = []
    rough = solve(game, gap=0, max_iterations=10, progress=lambda done, gap: seen.append((done, gap)))
    fine = solve(game, gap=1e-11)
    assert fine.gap <= 1e-11 < rough.gap
    assert rough.iterations == 10 < fine.iterations
    assert [done for done, _ in seen] == list(range(1, 11))
    gaps = [gap for _, gap in seen]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] == rough.gap


def test_it_is_the_same_each_time() -> None:
    game = SmallGame.of(SIX)
    assert np.array_equal(solve(game).chances, solve(game).chances)


@pytest.mark.parametrize(("gap", "iterations"), [(-1e-9, 10), (float("nan"), 10), (1e-6, 0)])
def test_nonsense_is_refused(gap: float, iterations: int) -> None:
    with pytest.raises(SmallGameError, match="expected"):
        solve(SmallGame.of(SIX.replace(ranks="QKA")), gap=gap, max_iterations=iterations)


def test_a_large_linear_program_is_refused() -> None:
    game = SmallGame.of(SIX.replace(ranks="TJQKA", cards_dealt=9))
    with pytest.raises(SmallGameError, match="25,964 arrangements"):
        solve_by_lp(game)


def test_a_matrix_is_for_two() -> None:
    game = SmallGame.of(SIX.replace(players=3, ranks="QKA", cards_dealt=4))
    for door in (payoff_matrix, solve_by_lp):
        with pytest.raises(SmallGameError, match="players=3"):
            door(game)


def test_three_players() -> None:
    """One hand each and no choice but of that hand: solved at once."""
    assert solve(SmallGame.of(SIX.replace(players=3, cards_dealt=5))).gap == pytest.approx(0, abs=1e-15)


@pytest.mark.slow
def test_three_players_with_choices() -> None:
    solution = solve(SmallGame.of(SIX.replace(players=3, ranks="TJQKA")), gap=5e-4)
    assert solution.gap <= 5e-4


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "cards", "gap"), [("TJQKA", 6, 1e-6), ("TJQKA", 9, 1e-5)])
def test_larger_games(ranks: str, cards: int, gap: float) -> None:
    solution = solve(SmallGame.of(SIX.replace(ranks=ranks, cards_dealt=cards)), gap=gap)
    assert solution.gap <= gap
