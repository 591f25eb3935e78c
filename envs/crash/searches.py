"""Searches shared: a deal that comes again, at another table or in the next phase, is looked up instead of searched anew."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .partitions import CandidateBatch, undominated_many
from .rules import CrashRules

__all__ = ["Searches"]

_DEALS = 2048  # kept at most, some 2 MB; a batch with more new ones is still searched at once


class Searches:
    """The undominated arrangements of the deals asked for lately.

    Tables that play the same deals (every seating of a board in the arena) and hands that are kept in the exchange are
    searched once. What comes out is the same as from `undominated_many`.

    Args:
        rules: of all deals.
        threads: how many search, at most.

    >>> searches = Searches(CrashRules.preset("online"))
    >>> deal = list(range(13))
    >>> searches.find(np.array([deal, deal], np.int8)).counts.tolist()
    [2, 2]
    """

    def __init__(self, rules: CrashRules, *, threads: int = 1) -> None:
        self.rules = rules
        self.threads = threads
        self._places: dict[int, int] = {}  # of the cards as a bit mask: number of the deal in `_found`
        self._found = undominated_many(np.zeros((0, rules.cards_dealt), np.int8), rules)

    def find(self, deals: npt.NDArray[np.int8]) -> CandidateBatch:
        """Return the undominated arrangements of deals.

        Args:
            deals: card ids ascending in each row, int8 (n, cards a deal).

        Raises:
            ValueError: no such deals.
        """
        masks = np.bitwise_or.reduce(np.uint64(1) << deals.astype(np.uint64), axis=1).tolist()
        new = {mask: row for row, mask in enumerate(masks) if mask not in self._places}
        if len(self._places) + len(new) > _DEALS:
            self._places.clear()
            self._found = undominated_many(deals[:0], self.rules)
            new = {mask: row for row, mask in enumerate(masks)}
        if new:
            rows = np.fromiter(new.values(), np.int64, len(new))
            found = undominated_many(deals[rows], self.rules, threads=self.threads)
            self._found = _joined(self._found, found)
            self._places.update(zip(new, range(len(self._places), len(self._places) + len(new)), strict=True))
        places = self._places
        return _taken(self._found, np.fromiter([places[mask] for mask in masks], np.int64, len(masks)))


def _joined(first: CandidateBatch, second: CandidateBatch) -> CandidateBatch:
    return CandidateBatch(
        offsets=np.concatenate([first.offsets, second.offsets[1:] + first.offsets[-1]]),
        partitions=np.concatenate([first.partitions, second.partitions]),
        strengths=np.concatenate([first.strengths, second.strengths]),
        quads=np.concatenate([first.quads, second.quads]),
    )


def _taken(found: CandidateBatch, deals: npt.NDArray[np.int64]) -> CandidateBatch:
    """Return the arrangements of some deals, by their numbers, which may repeat."""
    starts = found.offsets[deals]
    counts = found.offsets[deals + 1] - starts
    offsets = np.concatenate([[0], np.cumsum(counts)])
    rows = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], counts)
    return CandidateBatch(
        offsets=offsets, partitions=found.partitions[rows], strengths=found.strengths[rows], quads=found.quads[rows]
    )
