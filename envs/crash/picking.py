"""An arrangement as a sequence of picks: one hand at a time, strongest first.

A pick is a triple of slots by its colex index, a slot being a place among the seat's cards sorted by id, as in
`prial.envs.crash.partitions`. Picks are ordered by strength (strongest first), then by colex index; a pick must be a hand
under the rules, share no card with the picks before it and come after the last one. So every arrangement has exactly one
sequence. The sequence ends with `done`, or by itself once nothing can follow.

What is offered: ``legal`` every pick that the rules allow, and `done` always; ``undominated`` only what leads to one of the
undominated representatives, and `done` where one ends. No representative goes on where another ends, since it would dominate
that, so `done` is left to seats that can lay nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from math import comb

import numpy as np
import numpy.typing as npt

from .partitions import Candidates, partition_index, partition_table, slot_triples, triple_strengths
from .rules import CrashRules

__all__ = ["LegalPicking", "Picking", "UndominatedPicking", "num_triples"]


def num_triples(rules: CrashRules) -> int:
    """Return how many triples of slots there are.

    >>> num_triples(CrashRules.preset("online"))
    286
    """
    return comb(rules.cards_dealt, 3)


class Picking(ABC):
    """What one seat has picked, and what it may pick next; a value, `then` returns the next one.

    Attributes:
        cards: the seat's ascending card ids.
        picks: colex indices, strongest first.
        mask: what may follow: read-only int8 (C(n, 3) + 1,), `done` last; all 0 once the sequence has ended.
    """

    __slots__ = ("cards", "mask", "picks")

    def __init__(self, cards: Sequence[int], picks: tuple[int, ...], mask: npt.NDArray[np.int8]) -> None:
        mask.setflags(write=False)
        self.cards = tuple(cards)
        self.picks = picks
        self.mask = mask

    @property
    def has_ended(self) -> bool:
        """Whether nothing is left to pick, and `partition` is to be laid."""
        return not self.mask.any()

    @property
    def hands(self) -> tuple[tuple[int, ...], ...]:
        """Card ids of each pick."""
        triples = slot_triples(len(self.cards))
        return tuple(tuple(self.cards[slot] for slot in triples[pick]) for pick in self.picks)

    @property
    def partition(self) -> int:
        """Canonical index of the picks as an arrangement."""
        triples = slot_triples(len(self.cards))
        return partition_index([triples[pick] for pick in self.picks], len(self.cards))

    def then(self, pick: int) -> Picking:
        """Return what follows a pick, or `done`, the number behind the last triple.

        Raises:
            ValueError: the mask forbids it.
        """
        if not 0 <= pick < len(self.mask) or not self.mask[pick]:
            raise ValueError(f"pick {pick!r} cannot follow {self.picks}; expected one of {np.flatnonzero(self.mask)}")
        return self._after(int(pick))

    @abstractmethod
    def _after(self, pick: int) -> Picking:
        """Return what follows a pick that the mask allows."""


class LegalPicking(Picking):
    """Every arrangement that may be laid.

    >>> rules = CrashRules.preset("online")
    >>> start = LegalPicking.start(range(13), rules)
    >>> start.mask.sum(), start.then(0).then(start.then(0).mask.size - 1).partition
    (np.int64(257), 1)
    """

    __slots__ = ("_ranks",)

    def __init__(
        self, cards: Sequence[int], picks: tuple[int, ...], mask: npt.NDArray[np.int8], ranks: npt.NDArray[np.intp]
    ) -> None:
        super().__init__(cards, picks, mask)
        self._ranks = ranks

    @classmethod
    def start(cls, cards: Sequence[int], rules: CrashRules) -> LegalPicking:
        """Return the picking with nothing picked.

        Args:
            cards: ascending card ids.
        """
        strengths = triple_strengths(cards, rules)
        return cls(cards, (), np.append(strengths > 0, True).astype(np.int8), _ranks(strengths))

    def _after(self, pick: int) -> LegalPicking:
        mask = np.zeros_like(self.mask)
        if pick < len(self._ranks):
            picks = (*self.picks, pick)
            np.logical_and(self.mask[:-1], _disjoint(len(self.cards))[pick], out=mask[:-1])
            mask[:-1] &= self._ranks > self._ranks[pick]
            mask[-1] = mask.any()
        else:
            picks = self.picks
        return LegalPicking(self.cards, picks, mask, self._ranks)


class UndominatedPicking(Picking):
    """The undominated representatives alone.

    >>> from .partitions import undominated
    >>> rules = CrashRules.preset("online")
    >>> picking = UndominatedPicking.start(range(13), rules, undominated(range(13), rules))
    >>> while not picking.has_ended:
    ...     picking = picking.then(picking.mask.argmax())
    >>> picking.partition in undominated(range(13), rules).partitions
    True
    """

    __slots__ = ("_partitions", "_sequences")

    def __init__(
        self,
        cards: Sequence[int],
        picks: tuple[int, ...],
        mask: npt.NDArray[np.int8],
        sequences: npt.NDArray[np.int16],
        partitions: npt.NDArray[np.int32],
    ) -> None:
        super().__init__(cards, picks, mask)
        self._sequences = sequences
        self._partitions = partitions

    @classmethod
    def start(cls, cards: Sequence[int], rules: CrashRules, found: Candidates) -> UndominatedPicking:
        """Return the picking with nothing picked.

        Args:
            cards: ascending card ids.
            found: their undominated arrangements.
        """
        triples = partition_table(len(cards))[found.partitions]
        # A missing hand, -1, reads the last rank, which is put behind all others.
        ranks = np.append(_ranks(triple_strengths(cards, rules)), comb(len(cards), 3))
        order = np.argsort(ranks[triples], axis=1, kind="stable")
        sequences = np.take_along_axis(triples, order, axis=1)
        return cls(cards, (), _first(sequences, 0, len(ranks)), sequences, found.partitions)

    @property
    def partition(self) -> int:
        """Canonical index of the picks as an arrangement."""
        return int(self._partitions[0]) if self.has_ended else super().partition

    def _after(self, pick: int) -> UndominatedPicking:
        depth, size = len(self.picks), len(self.mask)
        if pick == size - 1:
            picks, left = self.picks, self._sequences[:, depth] < 0
            mask = np.zeros(size, np.int8)
        else:
            picks, left = (*self.picks, pick), self._sequences[:, depth] == pick
            mask = _first(self._sequences[left], depth + 1, size)
        return UndominatedPicking(self.cards, picks, mask, self._sequences[left], self._partitions[left])


def _first(sequences: npt.NDArray[np.int16], depth: int, size: int) -> npt.NDArray[np.int8]:
    """Return the mask of what the sequences go on with at some depth; all 0 where there is nothing but their end."""
    mask = np.zeros(size, np.int8)
    if depth < sequences.shape[1]:
        mask[sequences[:, depth]] = 1  # the end, -1, is the last place
        if depth > 0 and not mask[:-1].any():
            mask[-1] = 0
    return mask


def _ranks(strengths: npt.NDArray[np.int16]) -> npt.NDArray[np.intp]:
    """Return the place of each triple in the order of picks."""
    ranks = np.empty(len(strengths), np.intp)
    ranks[np.argsort(-strengths, kind="stable")] = np.arange(len(strengths))
    return ranks


@cache
def _disjoint(num_cards: int) -> npt.NDArray[np.bool_]:
    """Return which triples of slots share no slot: bool (triples, triples)."""
    used = np.zeros((comb(num_cards, 3), num_cards), np.int8)
    for triple, slots in enumerate(slot_triples(num_cards)):
        used[triple, list(slots)] = 1
    disjoint: npt.NDArray[np.bool_] = used @ used.T == 0
    return disjoint
