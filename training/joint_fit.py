"""How the comparisons of a round hang together: what the tables of `solver-fast` know of all positions at once.

Thirteen cards that make weak hands at some positions make strong ones at others. Two things are counted, in each situation:
how often the strongest of the others' hands lie in each cell of a grid, by how weak they are at each position; and how often
the same opponent wins two neighbouring positions, where somebody else does.

Source: Sklar's theorem (Nelsen, "An Introduction to Copulas", 2006, section 2.3; ties spread evenly, as for the checkerboard
copula).
"""

from __future__ import annotations

from functools import reduce
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ..agents.solver_table import joint_marks

__all__ = ["independent", "same_winner", "weak_together"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_STRENGTHS = 742
_FEW = 20.0  # added to every count of winners, so that few rounds say little
_UNKNOWN, _USUAL = 100.0, 1000.0  # rounds without dependence, and rounds as usual, that count beside those played
_AT_ONCE = 100_000  # rounds


def independent(hands: int) -> Floats:
    """Return the cells if positions do not hang together: float64 (parts, ..., parts).

    >>> independent(4).shape, bool(abs(independent(4).sum() - 1) < 1e-12)
    ((8, 8, 8, 8), True)
    """
    widths = np.diff(joint_marks(hands))
    cells: Floats = reduce(np.multiply.outer, [widths] * hands)
    return cells


def weak_together(strongest: Ints, *, usual: Floats | None = None) -> Floats:
    """Return how often all positions lie in each cell of the grid of `joint_marks`, by how weak they are.

    A strength that lies in several cells is spread over them evenly, each position for itself.

    Args:
        strongest: of the others' hands at each position, (m, hands).
        usual: cells as they are if there are few rounds; `independent` if None.

    Returns:
        float64 (parts, ..., parts), an axis for each hand, adding up to 1.

    >>> same = np.repeat(np.arange(1, 741)[:, None], 2, axis=1)
    >>> found = weak_together(same)
    >>> found.shape, bool(found[0, 0] > 100 * found[0, -1])
    ((24, 24), True)
    """
    count, hands = strongest.shape
    marks = joint_marks(hands)
    parts = len(marks) - 1
    spread = [_spread(strongest[:, hand], marks) for hand in range(hands)]
    found = (_UNKNOWN * independent(hands) if usual is None else _USUAL * usual).reshape(-1)
    for start in range(0, count, _AT_ONCE):
        some = strongest[start : start + _AT_ONCE]
        rows, cells, weights = np.arange(len(some)), np.zeros(len(some), np.int64), np.ones(len(some))
        for hand in range(hands):
            shares = spread[hand][some[rows, hand]]
            which, cell = np.nonzero(shares)
            cells, weights, rows = cells[which] * parts + cell, weights[which] * shares[which, cell], rows[which]
        found += np.bincount(cells, weights, len(found))
    joint: Floats = (found / found.sum()).reshape((parts,) * hands)
    return joint


def _spread(strengths: Ints, marks: Floats) -> Floats:
    """Which share of each strength lies between which marks: float64 (742, parts)."""
    chances = np.bincount(strengths, minlength=_STRENGTHS) / max(1, len(strengths))
    before = np.cumsum(chances) - chances
    shares: Floats = np.diff(np.clip((marks - before[:, None]) / np.maximum(chances, 1e-12)[:, None], 0.0, 1.0))
    shares[chances == 0] = 0.0
    return shares


def same_winner(own: Ints, others: Ints) -> Floats:
    """Return how much likelier it is that an opponent wins two neighbouring positions than that two share them.

    Args:
        own: strengths laid, (m, hands).
        others: those of the others, (m, others, hands).

    Returns:
        float64 (hands - 1,): the square root of the odds ratio, over all pairs of opponents; 1 for a single one.

    >>> own, others = np.zeros((90, 2), int), np.array([[[5, 4], [3, 2]], [[3, 2], [5, 4]], [[5, 2], [3, 4]]] * 30)
    >>> bool(same_winner(own, others)[0] > 1.2)
    True
    """
    count, hands = others.shape[1], own.shape[1]
    winner = np.full(own.shape, -1)
    best = others.max(axis=1, initial=0)
    alone = (others == best[:, None]).sum(axis=1) == 1
    won = (best > own) & alone
    winner[won] = others.argmax(axis=1)[won] if count else -1
    found = np.ones(hands - 1)
    for hand in range(hands - 1):
        both = (winner[:, hand] >= 0) & (winner[:, hand + 1] >= 0)
        pairs = np.bincount(winner[both, hand] * count + winner[both, hand + 1], minlength=count * count)
        met = pairs.reshape(count, count) + _FEW
        ratios = [np.log(met[i, i] * met[j, j] / (met[i, j] * met[j, i])) for i, j in combinations(range(count), 2)]
        if ratios:
            found[hand] = np.exp(np.mean(ratios) / 2)
    return found
