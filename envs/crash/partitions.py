"""Partitions of a deal into hands: canonical index, legality, the undominated set.

**Canonical index.** Slots 0..n-1 are the player's cards sorted by id. A partition is a set of up to ``min(4, n // 3)``
disjoint triples of slots, the rest spare. Partitions are numbered by number of hands (0 first), then by the set of used
slots (as a bit mask, ascending among sets of the same size), then by how the used slots split: the lowest used slot picks
its two partners among the others (pairs in lexicographic order), the lowest slot left picks next, and so on, the first
pick most significant. 13 cards have 417,847 partitions.

**Undominated.** An arrangement dominates another if it is at least as strong in every position (a missing hand is weaker
than any), lays at least as many four of a kind (where `quads_bonus` pays) and is better somewhere. One representative of
each undominated value is kept: with the valid triples sorted best first, then by colex index, the one whose hands come
first in lexicographic order.

Source: RULES sections 3 and 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from ..brag import BragClass, FlushHigh, strength_table, triple_index
from ..threads import split_rows
from .rules import MAX_HANDS, CrashRules

__all__ = [
    "CandidateBatch",
    "Candidates",
    "candidates_of",
    "laid_triples",
    "legal_partitions",
    "num_partitions",
    "partition_index",
    "partition_slots",
    "partition_table",
    "slot_triples",
    "triple_strengths",
    "undominated",
    "undominated_many",
    "undominated_of_dealt",
    "whole_ranks",
]

Triple = tuple[int, int, int]
_SPLITS = (1, 1, 10, 280, 15_400)  # ways to split 3m slots into m triples


def _check_cards(num_cards: int) -> None:
    if not 3 <= num_cards <= 13:
        raise ValueError(f"a deal has 3 to 13 cards, not {num_cards}")


def num_partitions(num_cards: int) -> int:
    """Return how many partitions a deal of `num_cards` cards has, nothing laid included.

    >>> [num_partitions(n) for n in (6, 7, 9, 10, 13)]
    [31, 106, 1205, 5021, 417847]
    """
    _check_cards(num_cards)
    return sum(comb(num_cards, 3 * m) * _SPLITS[m] for m in range(min(MAX_HANDS, num_cards // 3) + 1))


@cache
def _split_patterns(hands: int) -> npt.NDArray[np.int8]:
    """All splits of 3m positions into m triples in canonical order: int8 (splits, m, 3)."""

    def splits(left: tuple[int, ...]) -> Iterator[tuple[Triple, ...]]:
        if not left:
            yield ()
            return
        for p, q in combinations(left[1:], 2):
            rest = tuple(x for x in left[1:] if x not in (p, q))
            yield from (((left[0], p, q), *others) for others in splits(rest))

    return np.array(list(splits(tuple(range(3 * hands)))), np.int8).reshape(_SPLITS[hands], hands, 3)


@cache
def _used_sets(num_cards: int, hands: int) -> tuple[tuple[int, ...], ...]:
    """The sets of 3m used slots in canonical order."""
    return tuple(sorted(combinations(range(num_cards), 3 * hands), key=lambda slots: sum(1 << slot for slot in slots)))


@cache
def partition_table(num_cards: int) -> npt.NDArray[np.int16]:
    """Return every partition as colex indices of its triples of slots, in canonical order.

    Returns:
        int16 (partitions, 4), read-only; -1 for no hand; triples in order of their lowest slot.
    """
    _check_cards(num_cards)
    table = np.full((num_partitions(num_cards), MAX_HANDS), -1, np.int16)
    start = 1
    for hands in range(1, min(MAX_HANDS, num_cards // 3) + 1):
        triples = np.array(_used_sets(num_cards, hands), np.int32)[
            :, _split_patterns(hands)
        ]  # (sets, splits, hands, 3)
        first, second, third = triples[..., 0], triples[..., 1], triples[..., 2]
        index = third * (third - 1) * (third - 2) // 6 + second * (second - 1) // 2 + first
        stop = start + index.shape[0] * index.shape[1]
        table[start:stop, :hands] = index.reshape(-1, hands)
        start = stop
    table.setflags(write=False)
    return table


@cache
def slot_triples(num_cards: int) -> tuple[Triple, ...]:
    """Return the triples of slots in colex order.

    >>> slot_triples(13)[:3], len(slot_triples(13))
    (((0, 1, 2), (0, 1, 3), (0, 2, 3)), 286)
    """
    return tuple((i, j, k) for k in range(num_cards) for j in range(k) for i in range(j))


@cache
def _slot_columns(num_cards: int) -> npt.NDArray[np.intp]:
    """First, second and third slot of each triple: (3, triples)."""
    return np.array(slot_triples(num_cards), np.intp).T


@lru_cache(maxsize=4096)  # checking, laying and revealing an arrangement each ask for it
def partition_slots(index: int, num_cards: int) -> tuple[Triple, ...]:
    """Return the triples of slots of a partition, in order of their lowest slot.

    Raises:
        ValueError: no such partition.

    >>> partition_slots(417846, 13)
    ((1, 11, 12), (2, 9, 10), (3, 7, 8), (4, 5, 6))
    """
    size = num_partitions(num_cards)
    if not 0 <= index < size:
        raise ValueError(f"partition {index} of {num_cards} cards: expected 0 to {size - 1}")
    hands = 0
    while index >= comb(num_cards, 3 * hands) * _SPLITS[hands]:
        index -= comb(num_cards, 3 * hands) * _SPLITS[hands]
        hands += 1
    rank, split = divmod(index, _SPLITS[hands])
    used = _used_sets(num_cards, hands)[rank]
    return tuple((used[a], used[b], used[c]) for a, b, c in _split_patterns(hands)[split].tolist())


def partition_index(triples: Iterable[Sequence[int]], num_cards: int) -> int:
    """Return the canonical index of a partition, given as triples of slots in any order.

    Raises:
        ValueError: not up to ``min(4, num_cards // 3)`` disjoint triples of slots.

    >>> partition_index([(4, 6, 5), (3, 7, 8), (2, 9, 10), (1, 11, 12)], 13)
    417846
    """
    _check_cards(num_cards)
    hands = sorted(tuple(sorted(int(slot) for slot in triple)) for triple in triples)
    used = sorted(slot for hand in hands for slot in hand)
    limit = min(MAX_HANDS, num_cards // 3)
    if len(hands) > limit or any(len(hand) != 3 for hand in hands):
        raise ValueError(f"expected up to {limit} hands of exactly three slots, got {hands}")
    if len(set(used)) != len(used) or (used and not 0 <= used[0] <= used[-1] < num_cards):
        raise ValueError(f"expected different slots from 0 to {num_cards - 1}, got {hands}")
    index = sum(comb(num_cards, 3 * m) * _SPLITS[m] for m in range(len(hands)))
    index += sum(comb(slot, place) for place, slot in enumerate(used, start=1)) * _SPLITS[len(hands)]
    split, left = 0, used
    for hand in hands:
        others = left[1:]
        p, q = others.index(hand[1]), others.index(hand[2])
        split = split * comb(len(others), 2) + p * (2 * len(others) - p - 1) // 2 + (q - p - 1)
        left = [slot for slot in others if slot not in hand]
    return index + split


def triple_strengths(cards: Sequence[int], rules: CrashRules) -> npt.NDArray[np.int16]:
    """Return the strength of every triple of slots under `rules`: int16 (C(n, 3),), colex order, 0 for no hand.

    Args:
        cards: ascending card ids.
    """
    table = strength_table(rules.flush_order, rules.lowest_class)
    first, second, third = np.asarray(cards, np.intp)[_slot_columns(len(cards))]
    strengths: npt.NDArray[np.int16] = table[
        third * (third - 1) * (third - 2) // 6 + second * (second - 1) // 2 + first
    ]
    return strengths


def legal_partitions(cards: Sequence[int], rules: CrashRules) -> npt.NDArray[np.int8]:
    """Return which partitions may be laid: int8 (partitions,) of 0 and 1.

    Args:
        cards: ascending card ids.
    """
    from . import _kernels

    table = partition_table(len(cards))
    mask = np.zeros(len(table), np.int8)
    _kernels.legal_mask(table, triple_strengths(cards, rules) > 0, mask)
    return mask


def laid_triples(index: int, cards: Sequence[int], rules: CrashRules) -> list[tuple[int, Triple]]:
    """Return the hands of a partition as they are laid: (strength, slots), strongest first, then by colex index.

    Args:
        cards: ascending card ids.
    """
    return list(_laid_triples(index, tuple(cards), rules.flush_order, rules.lowest_class))


@lru_cache(maxsize=1024)  # laying, showing and scoring an arrangement each ask for it
def _laid_triples(
    index: int, cards: tuple[int, ...], flush_high: FlushHigh, lowest: BragClass
) -> tuple[tuple[int, Triple], ...]:
    table = strength_table(flush_high, lowest)
    hands = [
        (table.item(triple_index(int(cards[i]), int(cards[j]), int(cards[k]))), (i, j, k))
        for i, j, k in partition_slots(index, len(cards))
    ]
    hands.sort(key=lambda hand: (-hand[0], hand[1][::-1]))
    return tuple(hands)


def whole_ranks(cards: Iterable[int]) -> int:
    """Return of how many ranks all four cards are among these ids.

    >>> whole_ranks([0, 1, 2, 3, 4, 5, 6])
    1
    """
    held = set(cards)
    return sum([card + 1 in held and card + 2 in held and card + 3 in held for card in held if not card % 4])


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The undominated arrangements of one deal, strongest Hand 1 first (then Hand 2, ..., then quads).

    Attributes:
        partitions: canonical indices, int32 (m,).
        strengths: strength of each position, int16 (m, 4), 0 for no hand.
        quads: four of a kind laid whole, int8 (m,); 0 where `quads_bonus` does not pay.
    """

    partitions: npt.NDArray[np.int32]
    strengths: npt.NDArray[np.int16]
    quads: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.partitions)


@dataclass(frozen=True, slots=True, eq=False)
class CandidateBatch:
    """The undominated arrangements of many deals, one after the other (ragged).

    Attributes:
        offsets: deal `i` owns rows ``offsets[i]:offsets[i + 1]``, int64 (n + 1,).
        partitions: int32 (m,).
        strengths: int16 (m, 4).
        quads: int8 (m,).
    """

    offsets: npt.NDArray[np.int64]
    partitions: npt.NDArray[np.int32]
    strengths: npt.NDArray[np.int16]
    quads: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, deal: int) -> Candidates:
        rows = slice(int(self.offsets[deal]), int(self.offsets[deal + 1]))
        return Candidates(self.partitions[rows], self.strengths[rows], self.quads[rows])

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many arrangements each deal has: int64 (n,)."""
        return np.diff(self.offsets)

    def select(self, deals: npt.NDArray[np.integer]) -> CandidateBatch:
        """Return some deals, by number, as a batch of their own."""
        counts = self.counts[deals]
        offsets = np.concatenate(([0], np.cumsum(counts)))
        rows = np.repeat(self.offsets[deals] - offsets[:-1], counts) + np.arange(offsets[-1])
        return CandidateBatch(offsets, self.partitions[rows], self.strengths[rows], self.quads[rows])

    def best_rows(self, values: npt.NDArray[np.floating]) -> npt.NDArray[np.int64]:
        """Return, for each deal, the row with the highest value (the first of equals): int64 (n,).

        Args:
            values: one a row, (m,).
        """
        best = np.maximum.reduceat(values, self.offsets[:-1])
        hits = np.flatnonzero(values == np.repeat(best, self.counts))
        owner = np.searchsorted(self.offsets, hits, side="right") - 1
        first = np.searchsorted(owner, np.arange(len(self)))
        return hits[first]


def undominated_many(deals: npt.ArrayLike, rules: CrashRules, *, threads: int = 1) -> CandidateBatch:
    """Return the undominated arrangements of many deals.

    Args:
        deals: card ids ascending in each row, (n, cards a deal).
        threads: how many at most; it changes no result.

    Raises:
        ValueError: not a matrix of ascending card ids with 3 to 13 columns.
    """
    given = np.asarray(deals)
    if given.ndim != 2:
        raise ValueError(f"deals: expected a matrix with one deal a row, got shape {given.shape}")
    _check_cards(given.shape[1])
    # Looked at before they become int8, where 300 and 0.5 would turn into cards.
    whole = given.dtype.kind in "iu"
    if not whole or (
        len(given) and (given[:, 0].min() < 0 or given[:, -1].max() > 51 or (given[:, 1:] <= given[:, :-1]).any())
    ):
        raise ValueError("deals: expected card ids 0 to 51, ascending in each row")
    cards = np.ascontiguousarray(given, np.int8)
    return _joined(
        split_rows(lambda start, stop: CandidateBatch(*_searched(cards[start:stop], rules)), len(cards), threads)
    )


def _joined(parts: Sequence[CandidateBatch]) -> CandidateBatch:
    """The batches one after the other."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(part.partitions) for part in parts)])
    ends = [part.offsets[1:] + start for part, start in zip(parts, starts[:-1], strict=True)]
    return CandidateBatch(
        offsets=np.concatenate([[0], *ends]),
        partitions=np.concatenate([part.partitions for part in parts]),
        strengths=np.concatenate([part.strengths for part in parts]),
        quads=np.concatenate([part.quads for part in parts]),
    )


def _searched(deals: npt.NDArray[np.int8], rules: CrashRules) -> Any:
    """The arrays of a `CandidateBatch`, for deals that are known to be such."""
    from . import _kernels

    table = strength_table(rules.flush_order, rules.lowest_class)
    return _kernels.undominated_batch(deals, table, rules.quads_bonus > 0)


def candidates_of(index: int, cards: Sequence[int], rules: CrashRules) -> Candidates:
    """Return one arrangement, undominated or not, in the form of a set of candidates.

    Args:
        index: its partition index; every triple a hand under `rules`.
        cards: ascending card ids.
    """
    laid = laid_triples(index, cards, rules)
    strengths = [strength for strength, _ in laid] + [0] * (MAX_HANDS - len(laid))
    quads = whole_ranks([int(cards[slot]) for _, slots in laid for slot in slots]) if rules.quads_bonus else 0
    return Candidates(np.array([index], np.int32), np.array([strengths], np.int16), np.array([quads], np.int8))


def laid_many(indices: npt.NDArray[np.int32], cards: npt.NDArray[np.int8], rules: CrashRules) -> CandidateBatch:
    """Return `candidates_of` of many: one arrangement of each deal.

    Args:
        indices: partition indices, (n,); every triple a hand under `rules`.
        cards: ascending card ids, (n, cards a deal).

    Raises:
        ValueError: an index below 0, as of a view that has not laid yet.
    """
    if indices.min(initial=0) < 0:
        raise ValueError(f"partition {indices.min()}: expected 0 or more; a view has not laid its hands yet")
    n, size = cards.shape
    triples = partition_table(size)[indices]
    there = triples >= 0
    held = cards.astype(np.intp)[np.arange(n)[:, None], _slot_columns(size)[:, triples]]  # (3, n, 4)
    first, second, third = held
    table = strength_table(rules.flush_order, rules.lowest_class)
    found = table[third * (third - 1) * (third - 2) // 6 + second * (second - 1) // 2 + first]
    strengths: npt.NDArray[np.int16] = -np.sort(-np.where(there, found, 0), axis=1)
    quads = np.zeros(n, np.int8)
    if rules.quads_bonus:
        used = np.zeros((n, 52), np.bool_)
        rows, places = np.nonzero(there)
        used[rows, held[:, rows, places]] = True
        quads[:] = used.reshape(n, 13, 4).all(axis=2).sum(axis=1)
    return CandidateBatch(np.arange(n + 1), indices.astype(np.int32), strengths, quads)


def undominated(cards: Sequence[int], rules: CrashRules) -> Candidates:
    """Return the undominated arrangements of one deal.

    Args:
        cards: ascending card ids.

    >>> from ..cards import parse_cards
    >>> from .rules import CrashRules
    >>> deal = sorted(card.id for card in parse_cards("3c 3h 4h 6c 6h 7d 7h 9h Th Ts Qh Kh Ah"))
    >>> len(undominated(deal, CrashRules.preset("online")))
    676
    """
    _check_cards(len(cards))
    before = -1
    for card in cards:  # by hand: for one deal, arrays of comparisons cost as much as the search
        if not isinstance(card, int | np.integer) or not before < card < 52:
            raise ValueError(f"cards: expected card ids 0 to 51, ascending, got {list(cards)}")
        before = card
    return undominated_of_dealt(cards, rules)


def undominated_of_dealt(cards: Sequence[int], rules: CrashRules) -> Candidates:
    """Return `undominated` of cards that are known to be 3 to 13 ascending ids: what a game dealt."""
    _, *columns = _searched(np.array([cards], np.int8), rules)
    return Candidates(*columns)
