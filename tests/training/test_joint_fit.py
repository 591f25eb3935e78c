"""How positions hang together: counted from samples whose dependence is known."""

from __future__ import annotations

import numpy as np
import pytest

from prial.agents.solver_table import joint_marks
from prial.training.joint_fit import independent, same_winner, weak_together


def ranked(values: np.ndarray) -> np.ndarray:
    """Strengths 1 to 741 that stand as the values do."""
    places = np.argsort(np.argsort(values)) / len(values)
    return 1 + (741 * places).astype(np.int64)


def below_of(cells: np.ndarray, *places: int) -> float:
    """How often all positions are weaker than these marks."""
    return float(cells[tuple(slice(place) for place in places)].sum())


@pytest.mark.parametrize("likeness", [-0.6, 0.0, 0.8])
def test_the_grid_is_the_copula_of_what_is_laid(likeness: float) -> None:
    rng = np.random.default_rng(1)
    first = rng.normal(size=60_000)
    second = likeness * first + np.sqrt(1 - likeness**2) * rng.normal(size=60_000)
    found = weak_together(np.stack([ranked(first), ranked(np.exp(second))], axis=1))  # any rising scale will do
    marks = joint_marks(2)
    assert found.shape == (24, 24)
    for i, j in ((6, 6), (12, 12), (18, 6), (3, 20)):
        u, v = marks[i], marks[j]
        both = ((first < np.quantile(first, u)) & (second < np.quantile(second, v))).mean()
        assert below_of(found, i, j) == pytest.approx(both, abs=0.004)
    if likeness:
        assert np.sign(below_of(found, 12, 12) - 0.25) == np.sign(likeness)


def test_what_no_two_positions_show_is_in_the_grid() -> None:
    """Of four positions an even number is weak: any two, and any three, are independent."""
    rng = np.random.default_rng(2)
    weak = rng.integers(0, 2, (80_000, 4))
    weak[:, 3] = weak[:, :3].sum(axis=1) % 2
    found = weak_together(np.where(weak == 1, rng.integers(1, 300, weak.shape), rng.integers(300, 742, weak.shape)))
    half = len(found) // 2
    assert below_of(found, half, half, half, len(found)) == pytest.approx(1 / 8, abs=0.005)
    assert below_of(found, half, half, half, half) == pytest.approx(0.125, abs=0.005)  # 1/16 if independent
    assert below_of(found, half, half, half, half) > 1.8 / 16


def test_equal_strengths_are_spread_evenly() -> None:
    """Where all lay the same, nothing is known of who is weaker."""
    assert weak_together(np.full((500, 3), 7)) == pytest.approx(independent(3))
    half = weak_together(np.repeat([[5, 5], [600, 600]], 50_000, axis=0))
    assert below_of(half, 12, 12) == pytest.approx(0.5, abs=0.004)
    quarter = joint_marks(2)[8]  # within the weaker half as if independent
    assert below_of(half, 8, 8) == pytest.approx(0.5 * (2 * quarter) ** 2, abs=0.004)


def test_no_rounds_know_nothing() -> None:
    assert weak_together(np.empty((0, 4), np.int64)) == pytest.approx(independent(4))
    assert same_winner(np.empty((0, 4), np.int64), np.empty((0, 2, 4), np.int64)).tolist() == [1, 1, 1]


@pytest.mark.parametrize("players", [3, 4])
def test_the_same_winner_is_found_likelier(players: int) -> None:
    """Opponents who win a position with chance 0.6 if they won the one before share an odds ratio."""
    rng = np.random.default_rng(2)
    count, rounds = players - 1, 200_000
    first = rng.integers(0, count, rounds)
    stays = rng.random(rounds) < 0.6
    second = np.where(stays, first, (first + rng.integers(1, count, rounds) if count > 1 else first) % count)
    others = rng.integers(100, 200, (rounds, count, 2))
    others[np.arange(rounds), first, 0] = 300
    others[np.arange(rounds), second, 1] = 300
    away = 0.4 / (count - 1)
    found = same_winner(np.full((rounds, 2), 50), others)
    assert found[0] == pytest.approx(0.6 / away, rel=0.02)
    # Positions that oneself wins, or that nobody wins alone, are not looked at.
    own = np.where(stays[:, None], 50, [50, 400])
    assert same_winner(own, others)[0] > 5 * found[0]
    others[:, :, 1] = 300
    assert same_winner(np.full((rounds, 2), 50), others)[0] == 1


def test_one_opponent_is_always_the_same() -> None:
    rng = np.random.default_rng(3)
    assert same_winner(rng.integers(0, 741, (300, 3)), rng.integers(0, 741, (300, 1, 3))).tolist() == [1, 1]
