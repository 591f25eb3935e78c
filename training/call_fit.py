"""How often others call a crash, by the positions that they then win: what the tables of `solver-fast` know of calls.

Whoever calls is likely to win all positions, and whoever passes is not: what others say of a crash moves the chances of
every outcome of the round. Counted in rounds of the policy itself, apart for each situation and stage.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..agents.solver_situations import NUM_STAGES, clockwise, num_situations, stages_of
from ..envs.crash.rules import CrashRules
from .solver_survey import Survey

__all__ = ["call_chances", "positions_won"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_USUAL = 200.0  # answers as usual that count beside those given


def positions_won(strengths: Ints) -> Ints:
    """Return how many positions each player wins: int64 (rounds, players).

    Args:
        strengths: laid, (rounds, players, hands); 0 for no hand.

    >>> positions_won(np.array([[[9, 5, 0], [7, 5, 3]]])).tolist()
    [[1, 1]]
    """
    best = strengths.max(axis=1, keepdims=True)
    highest = (strengths == best) & (best > 0)
    alone = highest.sum(axis=1, keepdims=True) == 1
    won: Ints = (highest & alone).sum(axis=2)
    return won


def call_chances(rules: CrashRules, surveys: Sequence[Survey]) -> Floats:
    """Return how often others call: float64 (stages * situations, others, hands + 1), as `SolverTable.calls`.

    Args:
        rules: the rules.
        surveys: what was played.
    """
    n, outcomes = rules.players, rules.hands + 1
    shape = NUM_STAGES * num_situations(rules), n - 1, outcomes
    asked, called = np.zeros((2, *shape))
    if not rules.has_calls:
        return asked
    for seen in surveys:
        won, situations = positions_won(seen.strengths(rules.hands)), seen.situations(rules)
        for seat in range(n):
            turn = clockwise(np.full(len(won), seat), n)
            stages = stages_of(rules.target - np.take_along_axis(seen.scores, turn, axis=1))
            rows = stages * num_situations(rules) + situations[:, seat]
            for other in range(1, n):
                said = seen.calls[:, turn[0, other]]
                cells = np.ravel_multi_index((rows, np.full_like(rows, other - 1), won[:, turn[0, other]]), shape)
                asked += np.bincount(cells[said >= 0], minlength=asked.size).reshape(shape)
                called += np.bincount(cells[said == 1], minlength=called.size).reshape(shape)
    # Where few were asked: as those elsewhere who win as many.
    usual = called.sum(axis=(0, 1)) / np.maximum(asked.sum(axis=(0, 1)), 1.0)
    found: Floats = (called + _USUAL * usual) / (asked + _USUAL)
    return found
