"""Compiled search for the undominated arrangements of a deal. Private; see `partitions.py`, and docs/search.md for why so.

Conventions: a deal is `n` ascending card ids; a *slot* is a position in it; a triple of slots has a colex index 0..285 like
three cards have (`brag.triple_index`). Values of an arrangement are packed into one word of five 12-bit fields: Hand 1,
Hand 2, Hand 3, Hand 4 (strengths, 0 for no hand) and quads, from the top, so that ordinary order of words is the order
"strongest Hand 1 first".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernel_cache import kernel
from ._kernels_lanes import (
    GUARDS,
    LINE,
    all_1,
    all_2,
    all_5,
    bit_count,
    covered,
    covering,
    disjoint,
    drop_1,
    drop_2,
    drop_5,
    first_1,
    first_2,
    first_5,
    larger,
    meet_1,
    meet_2,
    meet_5,
    nonzero,
    some_1,
    some_2,
    some_5,
)
from ._kernels_lanes import lowest_bit as lowest_bit  # noqa: PLC0414 (other kernels take it from here)

_GUARDS = np.uint64(GUARDS)
FIELD = np.uint64(0xFFF)
_H1, _H2, _H3, _H4 = (np.uint64(shift) for shift in (48, 36, 24, 12))
# Which fields arrangements of at most 0 to 4 hands fill, quads included.
REACH = np.array([sum(0xFFF << 12 * field for field in (0, *range(5 - hands, 5))) for hands in range(5)], np.uint64)
# The hands that are laid are packed too: four masks of 13 slots, Hand 1 on top, 0 for no hand.
M1, M2, M3 = np.uint64(39), np.uint64(26), np.uint64(13)
MASK = np.uint64((1 << 13) - 1)
ONE = np.uint64(1)
ZERO = np.uint64(0)
_WORDS = 5
_MAX_TRIPLES = 64 * _WORDS  # 286, and room for whole words
_LANES = 8  # values compared at once
_BLOCK = 32  # keys compared at once
SLOTS = 13
TRIPLE_SLOTS = np.array([(i, j, k) for k in range(SLOTS) for j in range(k) for i in range(j)], np.int64)
TRIPLE_MASKS = (np.uint64(1) << TRIPLE_SLOTS.astype(np.uint64)).sum(axis=1)
# What the third and the second of three ascending card ids add to the colex index (`brag.triple_index`).
_THIRD = np.array([c * (c - 1) * (c - 2) // 6 for c in range(64)], np.uint64)
_SECOND = np.array([b * (b - 1) // 2 for b in range(64)], np.uint64)
# A key of a triple: strength, 511 - colex index, slots; the best, then the first, is the largest.
_STRENGTH = np.uint32(22)
_REST_OF_KEY = ((511 - np.arange(len(TRIPLE_MASKS))) << 13 | TRIPLE_MASKS.astype(np.int64)).astype(np.uint32)


@kernel(makes_arrays=False)
def look_up(cards: Any, strength: Any, looked_up: Any) -> Any:
    """Write the strength of every triple, by index, and zeros to the end of the last 64; return how many triples.

    Args:
        cards, strength: as in `search_deal`.
        looked_up: room for uint16 (320,).
    """
    index = ZERO
    for k in range(2, len(cards)):
        third = _THIRD[np.uint64(cards[np.uint64(k)])]
        for j in range(1, k):
            second = third + _SECOND[np.uint64(cards[np.uint64(j)])]
            # A plain loop: LLVM makes `for` into vector gathers, which take nearly twice as long for so few numbers.
            i = ZERO
            while i < np.uint64(j):
                looked_up[index] = strength[second + np.uint64(cards[i])]
                index += ONE
                i += ONE
    triples = np.int64(index)
    for rest in range(triples, (triples + 63) // 64 * 64):
        looked_up[rest] = 0
    return triples


@kernel(makes_arrays=False)
def look_up_keys(cards: Any, strength: Any, looked_up: Any, keys: Any) -> Any:
    """Write one key a valid triple, by index, and zeros to the end of the last block; return how many.

    Args:
        cards, strength: as in `search_deal`.
        looked_up: room for all strengths, uint16 (320,).
        keys: uint32 (320,).
    """
    triples = look_up(cards, strength, looked_up)
    # Three in four are no hands. Their bits are skipped; a branch at each triple would be guessed wrong too often.
    count = ZERO
    for start in range(0, triples, 64):
        bits = nonzero(looked_up, start)
        while bits != ZERO:
            index = np.uint64(start) + lowest_bit(bits)
            bits &= bits - ONE
            keys[count] = np.uint32(looked_up[index]) << _STRENGTH | _REST_OF_KEY[index]
            count += ONE
    valid = np.int64(count)
    for i in range(valid, (valid + _BLOCK - 1) // _BLOCK * _BLOCK):
        keys[i] = 0
    return valid


@kernel(makes_arrays=False)
def sort_triples(keys: Any, count: Any, slots: Any, strong: Any) -> None:
    """Write slots (uint16) and strengths (uint64) of the triples, best first.

    Keys differ, so the place of each is how many are larger.
    """
    for i in range(count):
        key = keys[np.uint64(i)]
        place = ZERO
        for start in range(0, count, _BLOCK):
            place += bit_count(larger(keys, start, key))
        slots[place] = np.uint16(key & np.uint32(MASK))
        strong[place] = np.uint64(key >> _STRENGTH)


@kernel(makes_arrays=False)
def disjoint_rows(slots: Any, count: Any, words: Any, rows: Any) -> None:
    """For each triple all that share no card with it, `words` words each; bits from `count` on mean nothing."""
    for t in range(count):
        mask = slots[np.uint64(t)]
        for word in range(words):
            rows[np.uint64(words * t + word)] = disjoint(slots, 64 * word, mask)


@kernel(makes_arrays=False)
def _covers(large: Any, small: Any) -> Any:
    """Whether a value is at least another in every field."""
    return ((large | _GUARDS) - small) & _GUARDS == _GUARDS


@kernel(makes_arrays=False)
def _covering(found: Any, count: Any, value: Any) -> Any:
    """Place of a value found so far that is at least `value` in every field, -1 if there is none."""
    bits = covering(found, 0, value)
    if bits != ZERO:
        return np.int64(lowest_bit(bits))
    for start in range(_LANES, count, _LANES):
        bits = covering(found, start, value)
        if bits != ZERO:
            return start + np.int64(lowest_bit(bits))
    return -1


@kernel(makes_arrays=False)
def _replace(found: Any, laid: Any, count: Any, value: Any, masks: Any) -> Any:
    """Drop what a new value covers and add it; return how many there are."""
    kept = 0
    for i in range(count):
        if not _covers(value, found[i]):
            found[kept] = found[i]
            laid[kept] = laid[i]
            kept += 1
    found[kept] = value
    laid[kept] = masks
    for i in range(kept + 1, count + 1):
        found[i] = ZERO
    return kept + 1


@kernel(makes_arrays=False)
def _insert(found: Any, laid: Any, count: Any, value: Any, masks: Any) -> Any:
    """Add an arrangement that nothing found covers, drop those it covers; return how many there are.

    Values are compared by eights, so zeros, which cover nothing, follow them to the end of an eight.
    """
    some = ZERO
    for start in range(0, count, _LANES):
        some |= covered(found, start, value) & ((ONE << np.uint64(min(_LANES, count - start))) - ONE)
    if some != ZERO:
        return _replace(found, laid, count, value, masks)
    found[count] = value
    laid[count] = masks
    count += 1
    if count % _LANES == 0:
        for i in range(count, count + _LANES):
            found[i] = ZERO
    return count


@kernel(makes_arrays=False)
def _quads_laid(quads: Any, num_quads: Any, mask: Any) -> Any:
    """How many four of a kind lie whole within the slots of `mask`."""
    laid = ZERO
    for q in range(num_quads):
        if mask & quads[q] == quads[q]:
            laid += ONE
    return laid


@kernel(makes_arrays=False)
def _find_quads(cards: Any, quads: Any) -> Any:
    """Write the slot masks of the deal's four of a kind; return how many. Ids of a rank are neighbours."""
    count = 0
    for slot in range(len(cards) - 3):
        if cards[slot] & 3 == 0 and cards[slot + 3] == cards[slot] + 3:
            quads[count] = np.uint64(15) << np.uint64(slot)
            count += 1
    return count


def search_kernel(words: int, of_all: Any, meet: Any, first: Any, drop: Any, some: Any) -> Any:
    """Return the search with rows of a fixed length, for deals with at most ``64 * words`` valid triples."""
    none = np.uint64(64 * words)

    @kernel(makes_arrays=False)
    def search(
        count: Any,
        rows: Any,
        slots: Any,
        strong: Any,
        quads: Any,
        num_quads: Any,
        reach: Any,
        found: Any,
        laid: Any,
    ) -> Any:
        """Depth-first over sorted triples; a branch ends when its best imaginable completion is covered.

        Triples come best first, so the next hands of a branch are at most as strong as the first triples still disjoint
        from it: that is the bound, of the fields in `reach`. The bound of a triple and all that come after it only falls, so
        where it is covered too, the rest of the level ends. Because Hand 1 never gets stronger along the way, of
        arrangements equal in value the one first in the order of triples is kept. `found` and `laid` must hold all of it;
        returns the count, or -1 if they are full. `rows` is room for them.
        """
        room = len(found) - _LANES
        if room < _LANES:
            return -1
        for i in range(_LANES):
            found[i] = ZERO
        disjoint_rows(slots, count, words, rows)
        strong[none] = ZERO
        all_quads = np.uint64(num_quads)
        n = 0
        witness = ZERO  # what covered last is the likeliest to cover the next
        later = of_all(count)
        for t1 in range(np.uint64(count)):
            later = drop(later)
            value1 = strong[t1] << _H1
            second = meet(later, rows, t1)
            t2 = first(second)
            left = drop(second)
            best = strong[t2] << _H2 | strong[first(left)] << _H3 | strong[first(drop(left))] << _H4
            if _covering(found, n, value1 | all_quads | best & reach) >= 0:
                left = drop(later)
                best = strong[first(later)] << _H2 | strong[first(left)] << _H3 | strong[first(drop(left))] << _H4
                if _covering(found, n, value1 | all_quads | best & reach) >= 0:
                    break
                continue
            slots1 = np.uint64(slots[t1])
            if t2 == none:
                value = value1 | _quads_laid(quads, num_quads, slots1)
                if _covering(found, n, value) < 0:
                    if n >= room:
                        return -1
                    n = _insert(found, laid, n, value, slots1 << M1)
                continue
            while some(second):
                t2 = first(second)
                second = drop(second)
                value2 = value1 | strong[t2] << _H2
                third = meet(second, rows, t2)
                t3 = first(third)
                bound = value2 | all_quads | (strong[t3] << _H3 | strong[first(drop(third))] << _H4) & reach
                hit = _covers(witness, bound)
                if not hit:
                    by = _covering(found, n, bound)
                    if by >= 0:
                        witness = found[np.uint64(by)]
                        hit = True
                if hit:
                    best = strong[first(second)] << _H3 | strong[first(drop(second))] << _H4
                    if _covers(witness, value2 | all_quads | best & reach):
                        break
                    continue
                slots2 = np.uint64(slots[t2])
                if t3 == none:
                    value = value2 | _quads_laid(quads, num_quads, slots1 | slots2)
                    if _covering(found, n, value) < 0:
                        if n >= room:
                            return -1
                        n = _insert(found, laid, n, value, slots1 << M1 | slots2 << M2)
                    continue
                best4 = np.int64(-1)  # best Hand 4 with these two hands so far; a weaker Hand 3 must beat it
                while num_quads == 0 and some(third):
                    t3 = first(third)
                    third = drop(third)
                    if np.int64(strong[first(third)]) <= best4:
                        break
                    t4 = first(meet(third, rows, t3))
                    if np.int64(strong[t4]) > best4:
                        best4 = np.int64(strong[t4])
                        value = value2 | strong[t3] << _H3 | strong[t4] << _H4
                        if _covering(found, n, value) < 0:
                            if n >= room:
                                return -1
                            slots4 = ZERO if t4 == none else np.uint64(slots[t4])
                            masks = slots1 << M1 | slots2 << M2 | np.uint64(slots[t3]) << M3 | slots4
                            n = _insert(found, laid, n, value, masks)
                while num_quads > 0 and some(third):  # with quads a weaker Hand 4 may lay them whole: all count
                    t3 = first(third)
                    third = drop(third)
                    mask3 = slots1 | slots2 | np.uint64(slots[t3])
                    fourth = meet(third, rows, t3)
                    t4 = first(fourth)
                    while True:
                        fourth = drop(fourth)
                        slots4 = ZERO if t4 == none else np.uint64(slots[t4])
                        value = value2 | strong[t3] << _H3 | strong[t4] << _H4
                        value |= _quads_laid(quads, num_quads, mask3 | slots4)
                        if _covering(found, n, value) < 0:
                            if n >= room:
                                return -1
                            masks = slots1 << M1 | slots2 << M2 | np.uint64(slots[t3]) << M3 | slots4
                            n = _insert(found, laid, n, value, masks)
                        t4 = first(fourth)
                        if t4 == none:
                            break
        if count == 0:
            n = _insert(found, laid, 0, ZERO, ZERO)
        return n

    return search


search_one = search_kernel(1, all_1, meet_1, first_1, drop_1, some_1)
search_few = search_kernel(2, all_2, meet_2, first_2, drop_2, some_2)
search_many = search_kernel(_WORDS, all_5, meet_5, first_5, drop_5, some_5)


@kernel(makes_arrays=False)
def sort_found(found: Any, laid: Any, count: Any) -> Any:
    """Insertion sort, strongest Hand 1 first (then Hand 2, ..., then quads): nearly sorted as found."""
    for i in range(1, count):
        value = found[i]
        masks = laid[i]
        j = i - 1
        while j >= 0 and found[j] < value:
            found[j + 1] = found[j]
            laid[j + 1] = laid[j]
            j -= 1
        found[j + 1] = value
        laid[j + 1] = masks


class Scratch(NamedTuple):
    """Room for one search after another; what is found comes back beside it, since it may need more room."""

    looked_up: Any
    keys: Any
    slots: Any
    strong: Any
    rows: Any
    quads: Any


@kernel()
def _on_line(room: Any) -> Any:
    """An array from its first number on that begins a cache line."""
    return room[(-np.int64(room.ctypes.data)) % LINE // room.itemsize :]


@kernel(nogil=True)
def make_scratch() -> Any:
    """Return room for searches of any deal."""
    return Scratch(
        _on_line(np.empty(_MAX_TRIPLES + LINE, np.uint16)),
        _on_line(np.empty(_MAX_TRIPLES + LINE, np.uint32)),
        _on_line(np.empty(_MAX_TRIPLES + LINE, np.uint16)),
        np.empty(_MAX_TRIPLES + 1, np.uint64),
        np.empty(_WORDS * _MAX_TRIPLES, np.uint64),
        np.empty(3, np.uint64),
    )


@kernel(nogil=True)
def search_deal(cards: Any, strength: Any, count_quads: Any, scratch: Any, found: Any, laid: Any) -> Any:
    """Undominated arrangements of one deal, in order.

    Args:
        cards: int8 (n,), ascending card ids.
        strength: int16 (22100,), 0 for no hand.
        count_quads: whether laying four of a kind whole pays.
        scratch: of `make_scratch`.
        found, laid: uint64 (room,), where values and packed masks of slots may be written.

    Returns:
        How many, and the arrays with them: those given, from a place in the first on, or larger ones.
    """
    slots, strong, rows, quads = scratch.slots, scratch.strong, scratch.rows, scratch.quads
    count = look_up_keys(cards, strength, scratch.looked_up, scratch.keys)
    sort_triples(scratch.keys, count, slots, strong)
    num_quads = _find_quads(cards, quads) if count_quads else 0
    reach = REACH[len(cards) // 3]
    found = _on_line(found)
    n_found = np.int64(-1)
    while True:
        if count <= 64:  # nearly all deals of 9 cards where the lowest hand is a pair, one in three of 13
            n_found = search_one(count, rows, slots, strong, quads, num_quads, reach, found, laid)
        elif count <= 128:  # nearly all others of 13
            n_found = search_few(count, rows, slots, strong, quads, num_quads, reach, found, laid)
        else:
            n_found = search_many(count, rows, slots, strong, quads, num_quads, reach, found, laid)
        if n_found >= 0:
            break
        laid = np.empty(2 * len(laid) + LINE, np.uint64)
        found = _on_line(np.empty(len(laid), np.uint64))
    sort_found(found, laid, n_found)
    return n_found, found, laid
