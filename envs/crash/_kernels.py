"""Compiled batches of searches, canonical indices, and legality of every partition. Private; see `partitions.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel_cache import kernel
from ._kernels_search import FIELD, M1, M2, M3, MASK, ONE, SLOTS, make_scratch, search_deal

_PASCAL = np.zeros((SLOTS + 1, SLOTS + 2), np.int64)
for _row in range(SLOTS + 1):
    _PASCAL[_row, 0] = 1
    for _column in range(1, _row + 1):
        _PASCAL[_row, _column] = _PASCAL[_row - 1, _column - 1] + _PASCAL[_row - 1, _column]
# Of each set of slots as a bit mask: its size, and its place among the sets of that size, ascending.
_BITS = np.array([mask.bit_count() for mask in range(1 << SLOTS)], np.int64)
_SET_RANK = np.zeros(1 << SLOTS, np.int64)
for _size in range(SLOTS + 1):
    _SET_RANK[_size == _BITS] = np.arange(np.count_nonzero(_size == _BITS))
# Ways to split 3m slots into m triples, m = 0..4.
_SPLITS = np.array([1, 1, 10, 280, 15400], np.int64)


@kernel(makes_arrays=False)
def partition_index_of(n: Any, masks: Any) -> Any:
    """Canonical index of the partition of `n` slots into hands, four packed masks of slots (0 for none, in any order)."""
    used = (masks >> M1 | masks >> M2 | masks >> M3 | masks) & MASK
    hands = _BITS[used] // 3
    start = 0
    for fewer in range(hands):
        start += _PASCAL[n, 3 * fewer] * _SPLITS[fewer]
    split = 0
    left = used
    size = 3 * hands
    while size > 3:
        lowest = left & (~left + ONE)
        mask = masks & MASK
        for shift in (M3, M2, M1):
            if masks >> shift & lowest:
                mask = masks >> shift & MASK
        partners = mask & ~lowest
        first = partners & (~partners + ONE)
        # Places of the two partners among the other slots that are left.
        p = _BITS[left & (first - ONE)] - 1
        q = _BITS[left & ((partners ^ first) - ONE)] - 1
        others = size - 1
        pair = p * (2 * others - p - 1) // 2 + (q - p - 1)
        size -= 3
        split = split * (others * (others - 1) // 2) + pair
        left &= ~mask
    return start + _SET_RANK[used] * _SPLITS[hands] + split


@kernel(nogil=True)
def undominated_batch(deals: Any, strength: Any, count_quads: Any) -> Any:
    """Undominated arrangements of many deals.

    Args:
        deals: int8 (d, n), ascending card ids a row.
        strength: int16 (22100,), 0 for no hand.
        count_quads: whether laying four of a kind whole pays.

    Returns:
        offsets int64 (d + 1,), partitions int32 (m,), strengths int16 (m, 4), quads int8 (m,).
    """
    num_deals, n = deals.shape
    scratch = make_scratch()
    found = np.empty(1024, np.uint64)
    laid = np.empty(1024, np.uint64)
    offsets = np.zeros(num_deals + 1, np.int64)
    partitions = np.empty(64 + 8 * num_deals, np.int32)
    strengths = np.empty((64 + 8 * num_deals, 4), np.int16)
    quads_laid = np.empty(64 + 8 * num_deals, np.int8)
    total = 0
    for d in range(num_deals):
        n_found, found, laid = search_deal(deals[d], strength, count_quads, scratch, found, laid)
        if total + n_found > len(partitions):
            size = 2 * (total + n_found)
            more_partitions = np.empty(size, np.int32)
            more_strengths = np.empty((size, 4), np.int16)
            more_quads = np.empty(size, np.int8)
            more_partitions[:total] = partitions[:total]
            more_strengths[:total] = strengths[:total]
            more_quads[:total] = quads_laid[:total]
            partitions, strengths, quads_laid = more_partitions, more_strengths, more_quads
        for i in range(n_found):
            partitions[total] = partition_index_of(n, laid[i])
            value = found[i]
            for hand in range(4):
                strengths[total, hand] = np.int16(value >> np.uint64(48 - 12 * hand) & FIELD)
            quads_laid[total] = np.int8(value & FIELD)
            total += 1
        offsets[d + 1] = total
    return offsets, partitions[:total].copy(), strengths[:total].copy(), quads_laid[:total].copy()


@kernel(makes_arrays=False)
def legal_mask(table: Any, valid: Any, mask: Any) -> Any:
    """Mark in `mask` (int8, zeros) the partitions of `table` (int16 (p, 4), -1 for none) whose triples are all `valid`."""
    for index in range(len(table)):
        legal = True
        for hand in range(4):
            triple = table[index, hand]
            if triple < 0:
                break
            if not valid[triple]:
                legal = False
                break
        if legal:
            mask[index] = 1
