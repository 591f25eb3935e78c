"""Strengths of what many views hold or have laid, as arrays."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from ..envs.brag import strength_table
from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import laid_many
from ..envs.crash.rules import CrashRules

__all__ = ["all_triple_strengths", "laid_strengths"]


@cache
def _slots(num_cards: int) -> npt.NDArray[np.intp]:
    """All triples of slots in colex order: (C(n, 3), 3)."""
    return np.array([(i, j, k) for k in range(num_cards) for j in range(k) for i in range(j)], np.intp)


def _strengths(triples: npt.NDArray[np.int8], rules: CrashRules) -> npt.NDArray[np.int16]:
    """Strengths of triples of ascending card ids in the last axis, 0 for no hand."""
    first, second, third = np.moveaxis(triples.astype(np.int32), -1, 0)
    index = third * (third - 1) * (third - 2) // 6 + second * (second - 1) // 2 + first
    strengths: npt.NDArray[np.int16] = strength_table(rules.flush_order, rules.lowest_class)[index]
    return strengths


def all_triple_strengths(views: ViewBatch) -> npt.NDArray[np.int16]:
    """Return the strength of every triple of slots: int16 (n, C(cards, 3)), colex order, 0 for no hand."""
    return _strengths(views.cards[:, _slots(views.rules.cards_dealt)], views.rules)


def laid_strengths(views: ViewBatch) -> npt.NDArray[np.int16]:
    """Return the strengths of what each view has laid, strongest first: int16 (n, 4), 0 for no hand.

    Raises:
        ValueError: a view that has not laid yet.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> game = Game(CrashRules(crash_call="optional"), seed=1)
    >>> for seat in game.pending:
    ...     events = game.step(0, seat)  # lays nothing
    >>> laid_strengths(ViewBatch.of([view_of(game, game.pending[0])])).tolist()
    [[0, 0, 0, 0]]
    """
    if (views.laid < 0).any():
        raise ValueError("a view has not laid its hands yet")
    return laid_many(views.laid, views.cards, views.rules).strengths
