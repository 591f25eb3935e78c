"""What exchanging is worth, by the hand that one gives up: for the tables of `solver-fast`.

Two things make the estimate. Many hands are dealt, with another given up for each, and valued in closed form: a linear fit
on the features of the hand given up (`_kernels_solver_cards.card_features`) says what that leads to on average. The best of
several arrangements is one that the closed form thinks too well of more often than not, so that the fit is too high; what
the policy's own rounds really brought after an exchange moves it by a constant and in proportion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..agents.solver_contexts import Objective
from ..agents.solver_exchange import best_values, placed, sample_hands
from ..agents.solver_fast import SolverFastPolicy
from ..agents.solver_situations import keepers, situations_of
from ..agents.solver_table import NUM_FEATURES, SolverTable
from ..envs.crash.rules import CrashRules

__all__ = ["ExchangeSample", "exchange_situations", "exchange_worth"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_FEW = 1000  # samples at which a slope is as much noise as signal
_PENALTY = 300.0  # rounds' worth of a weight of 0 for every feature, in deviations


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExchangeSample:
    """What exchanging really brought in one situation, at even scores.

    Attributes:
        given_up: int8 (m, cards).
        brought: share of the win, or points, float64 (m,).
    """

    given_up: npt.NDArray[np.int8]
    brought: Floats


def exchange_situations(rules: CrashRules) -> list[int]:
    """Return the situations of those who have exchanged.

    >>> exchange_situations(CrashRules.preset("bga", players=2)), exchange_situations(CrashRules.preset("bga"))
    ([2, 3], [0, 4, 8])
    """
    return [number for number in range(len(keepers(rules))) if _said(rules, number) is not None]


def _said(rules: CrashRules, situation: int) -> tuple[int, tuple[int, ...]] | None:
    """A dealer, and what was said by seats clockwise from 0, for seat 0 to be in the situation; None if it has kept."""
    n = rules.players
    if not rules.has_exchange:
        return None
    kept = keepers(rules)[situation]
    for dealer in range(n):
        others = [0 if keeps else (1 if n == 2 else -1) for keeps in kept[1:]]
        said = (1, *others)
        found = situations_of(rules, np.array([said], np.int8), np.array([dealer]), np.array([0]))
        if found[0] == situation:
            return dealer, said
    return None


def exchange_worth(
    rules: CrashRules,
    table: SolverTable,
    *,
    objective: Objective,
    samples: dict[int, ExchangeSample],
    dealt: int,
    threads: int = 1,
) -> Floats:
    """Return what exchanging is worth at even scores: float64 (situations, 1 + features), as `SolverTable` has it.

    Args:
        rules: the rules.
        table: what the policy knows, its figures for the exchange aside.
        objective: which of the two figures.
        samples: by situation; none where nothing has been played yet.
        dealt: hands to be valued.
        threads: how many at most; it changes nothing.
    """
    found = np.zeros((len(keepers(rules)), 1 + NUM_FEATURES))
    if not rules.has_exchange:
        return found
    policy = SolverFastPolicy(rules, table, objective=objective, threads=threads)
    hands, given_up = sample_hands(rules, dealt)
    hands.undominated()  # once for all situations
    features = _features(given_up)
    for situation in exchange_situations(rules):
        said = _said(rules, situation)
        assert said is not None
        dealer, words = said
        scores = (0,) * rules.players
        values = best_values(replace(placed(hands, dealer, scores, words), given_up=given_up), policy.values)
        weights = _line(features, values)
        if situation in samples:
            sample = samples[situation]
            expected = weights[0] + _features(sample.given_up) @ weights[1:]
            weights = _corrected(weights, expected, sample.brought)
        found[situation] = weights
    return found


def _features(cards: npt.NDArray[np.int8]) -> Floats:
    from ..agents import _kernels_solver_cards as kernels

    found = np.empty((len(cards), NUM_FEATURES))
    kernels.card_features(np.ascontiguousarray(cards), np.full_like(cards, -1), found, 0, len(cards))
    return found


def _line(features: Floats, values: Floats) -> Floats:
    """Least squares, with a small penalty: a constant, and the weight of each feature."""
    means, scale = features.mean(axis=0), features.std(axis=0)
    there = scale > 1e-9
    white = (features[:, there] - means[there]) / scale[there]
    moments = white.T @ white + _PENALTY * np.eye(int(there.sum()))
    slopes = np.linalg.solve(moments, white.T @ (values - values.mean())) / scale[there]
    weights = np.zeros(1 + features.shape[1])
    weights[1:][there] = slopes
    weights[0] = values.mean() - means[there] @ slopes
    return weights


def _corrected(weights: Floats, expected: Floats, brought: Floats) -> Floats:
    """Weights moved by how much more than expected was brought, on average and in proportion to what was expected."""
    count = len(brought)
    if not count:
        return weights
    more, away = brought - expected, expected - expected.mean()
    slope = float((more * away).sum() / max(float((away**2).sum()), 1e-30)) * count / (count + _FEW)
    moved = weights * (1.0 + slope)
    moved[0] += float(more.mean()) * count / (count + _FEW) - slope * float(expected.mean())
    return moved
