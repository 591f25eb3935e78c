"""How the comparisons of a round hang together: what the tables of `solver-fast` know of neighbouring positions.

Hands are laid strongest first, so that whoever is behind at one position is likely to be behind at the next. Two things are
counted, in each situation: how often the strongest of the others' hands is weak at two neighbouring positions at once, by
how weak it is at either (a copula on a grid); and how often the same opponent wins both, where somebody else does.

Source: Sklar's theorem (Nelsen, "An Introduction to Copulas", 2006, section 2.3; ties spread evenly, as for the checkerboard
copula).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from ..agents.solver_table import PAIR_GRID

__all__ = ["same_winner", "weak_together"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_STRENGTHS = 742
_FEW = 20.0  # added to every count of winners, so that few rounds say little


def weak_together(strongest: Ints) -> Floats:
    """Return by how much two neighbouring positions are weak together more often than if they were independent.

    Args:
        strongest: of the others' hands at each position, (m, hands).

    Returns:
        float64 (hands - 1, PAIR_GRID + 1, PAIR_GRID + 1): at ``[h, i, j]`` the chance that position h is among the weakest
        ``i / PAIR_GRID`` and h + 1 among the weakest ``j / PAIR_GRID``, less the product of these.

    >>> same = np.repeat(np.arange(1, 741)[:, None], 2, axis=1)
    >>> found = weak_together(same)
    >>> bool(abs(found[0, 12, 12] - (0.5 - 0.25)) < 1e-3), float(found[0, 0].max())
    (True, 0.0)
    """
    hands = strongest.shape[1]
    marks = np.arange(PAIR_GRID + 1) / PAIR_GRID
    shares = [_below_marks(strongest[:, hand], marks) for hand in range(hands)]
    found = np.zeros((hands - 1, PAIR_GRID + 1, PAIR_GRID + 1))
    for hand in range(hands - 1 if len(strongest) else 0):
        both = np.bincount(strongest[:, hand] * _STRENGTHS + strongest[:, hand + 1], minlength=_STRENGTHS**2)
        together = shares[hand] @ both.reshape(_STRENGTHS, _STRENGTHS) @ shares[hand + 1].T / len(strongest)
        found[hand] = together - np.outer(marks, marks)
    found[:, [0, -1]] = 0.0
    found[:, :, [0, -1]] = 0.0
    return found


def _below_marks(strengths: Ints, marks: Floats) -> Floats:
    """Which share of each strength is among the weakest, up to each mark: float64 (marks, 742)."""
    chances = np.bincount(strengths, minlength=_STRENGTHS) / max(1, len(strengths))
    before = np.cumsum(chances) - chances
    found: Floats = np.clip((marks[:, None] - before) / np.maximum(chances, 1e-12), 0.0, 1.0)
    return found


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
