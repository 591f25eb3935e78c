"""Intervals from clusters: known values, shape, and how often they hold the truth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from prial.training.statistics import Estimate, ratio_estimate, t_quantile

Draw = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]


# From printed tables of Student's t (two-sided 5 %).
@pytest.mark.parametrize(
    ("degrees", "expected"),
    [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (4, 2.776),
        (5, 2.571),
        (9, 2.262),
        (30, 2.042),
        (120, 1.980),
        (10**6, 1.960),
    ],
)
def test_quantiles_of_t(degrees: int, expected: float) -> None:
    assert t_quantile(degrees) == pytest.approx(expected, abs=1e-3)


def test_quantiles_of_t_refuse_no_degrees() -> None:
    with pytest.raises(ValueError, match="1 or more degrees of freedom, got 0"):
        t_quantile(0)


def share(values: npt.ArrayLike) -> Estimate:
    values = np.asarray(values, float)
    return ratio_estimate(values, np.ones(len(values)), ends=(0, 1), weight=1, limits=(0, 1))


def test_worked_by_hand() -> None:
    # Boards 0 and 1; with 0 and 1 added: mean 1/2, squares 4 * 1/4 = 1, times 4/3, error sqrt(4/3) / 4, t(3) = 3.182.
    estimate = share([0, 1])
    assert estimate.value == 0.5
    assert (estimate.low, estimate.high) == (0, 1)  # 0.5 +- 0.919, cut
    # A ratio: totals 3 and 1, sizes 2 and 2: 1. Added at -1 and 3 with weight 1: 4 + 2 over 6, still 1.
    estimate = ratio_estimate([3, 1], [2, 2], ends=(-1, 3), weight=1)
    squares = (3 - 2) ** 2 + (1 - 2) ** 2 + (-1 - 1) ** 2 + (3 - 1) ** 2
    reach = 3.1824 * math.sqrt(squares * 4 / 3) / 6
    assert estimate == Estimate(value=1, low=pytest.approx(1 - reach), high=pytest.approx(1 + reach))


def test_a_ratio_weighs_clusters_by_size() -> None:
    assert ratio_estimate([10, 0], [1, 9], ends=(0, 10), weight=1).value == 1


@pytest.mark.parametrize("boards", [1, 2, 5, 10, 334])
@pytest.mark.parametrize("value", [0.0, 1 / 3, 1.0])
def test_a_sweep_or_no_spread_at_all_is_never_plus_minus_nothing(boards: int, value: float) -> None:
    estimate = share([value] * boards)
    assert estimate.half_width > 0.4 / boards
    assert estimate.covers(value)
    assert all(math.isfinite(edge) for edge in estimate.interval)
    assert 0 <= estimate.low < estimate.high <= 1


def test_more_boards_narrow_the_interval() -> None:
    rng = np.random.default_rng(1)
    values = rng.random(4096)
    widths = [share(values[:n]).half_width for n in (2, 8, 32, 128, 512, 4096)]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(("boards", "within"), [(334, 0.06), (3340, 0.01)])
def test_many_boards_come_near_the_plain_interval(boards: int, within: float) -> None:
    rng = np.random.default_rng(2)
    values = rng.binomial(6, 0.4, boards) / 6
    plain = 1.96 * values.std(ddof=1) / math.sqrt(boards)
    estimate = share(values)
    assert estimate.half_width == pytest.approx(plain, rel=within)
    assert (estimate.low + estimate.high) / 2 == pytest.approx(values.mean(), abs=0.1 * plain)


def all_or_nothing(p: float) -> Draw:
    return lambda rng, n: (rng.random(n) < p).astype(float)


def six_games(p: float) -> Draw:
    return lambda rng, n: rng.binomial(6, p, n) / 6


def skewed(rng: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
    return rng.beta(0.2, 1.8, n)


COVERAGE = 2000


@pytest.mark.parametrize("boards", [1, 2, 3, 5, 8, 12, 20, 40, 100])
@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        pytest.param(all_or_nothing(0.5), 0.5, id="all or nothing, 1/2"),
        pytest.param(all_or_nothing(1 / 3), 1 / 3, id="all or nothing, 1/3"),
        pytest.param(all_or_nothing(0.1), 0.1, id="all or nothing, 1/10"),
        pytest.param(all_or_nothing(0.03), 0.03, id="all or nothing, 3/100"),
        pytest.param(six_games(0.4), 0.4, id="six games, 0.4"),
        pytest.param(six_games(0.95), 0.95, id="six games, 0.95"),
        pytest.param(skewed, 0.1, id="skewed"),
    ],
)
def test_the_interval_of_a_mean_holds_the_truth_often_enough(draw: Draw, truth: float, boards: int) -> None:
    rng = np.random.default_rng(3)
    held = sum(share(draw(rng, boards)).covers(truth) for _ in range(COVERAGE))
    assert held / COVERAGE > 0.93


@pytest.mark.parametrize("boards", [2, 5, 20, 100])
@pytest.mark.parametrize("games", [2, 6])
def test_the_interval_of_a_ratio_holds_the_truth_often_enough(boards: int, games: int) -> None:
    """Rounds whose points hang on the deal, shared by all games of a board, and games of different length."""
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(COVERAGE // 2):
        rounds = rng.integers(1, 7, (boards, games))
        deal = rng.exponential(1.0, (boards, 6)).clip(max=5)
        points = np.zeros(boards)
        for game in range(games):
            played = np.arange(6) < rounds[:, game, None]
            points += ((deal + rng.normal(0, 0.3, deal.shape)) * played).sum(axis=1)
        estimate = ratio_estimate(points, rounds.sum(axis=1), ends=(0, 5), weight=games)
        held += estimate.covers(1 - math.exp(-5))
    assert held / (COVERAGE // 2) > 0.92


def test_faults_are_refused() -> None:
    with pytest.raises(ValueError, match="one total and one size a cluster"):
        ratio_estimate([1, 2], [1], ends=(0, 1), weight=1)
    with pytest.raises(ValueError, match="one total and one size a cluster"):
        ratio_estimate([], [], ends=(0, 1), weight=1)
    with pytest.raises(ValueError, match="above 0"):
        ratio_estimate([1], [0], ends=(0, 1), weight=1)
    with pytest.raises(ValueError, match="ascending order"):
        ratio_estimate([1], [1], ends=(1, 1), weight=1)
