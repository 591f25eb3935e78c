"""Compiled search for the undominated arrangements of a deal. Private; see `partitions.py`.

Conventions: a deal is `n` ascending card ids; a *slot* is a position in it; a triple of slots has a colex index 0..285 like
three cards have (`brag.triple_index`). Values of an arrangement are packed into one word of five 12-bit fields: Hand 1,
Hand 2, Hand 3, Hand 4 (strengths, 0 for no hand) and quads, from the top, so that ordinary order of words is the order
"strongest Hand 1 first".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..kernel_cache import kernel

# The top bit of each field is a guard: with the guards set in `a`, `a - b` keeps a guard exactly where a's field >= b's.
_GUARDS = np.uint64(sum(1 << (12 * field + 11) for field in range(5)))
FIELD = np.uint64(0xFFF)
_HAND = tuple(np.uint64(shift) for shift in (48, 36, 24, 12))
_H1, _H2, _H3, _H4 = _HAND
_STEP = np.uint64(12)
# The hands that are laid are packed too: four masks of 13 slots, Hand 1 on top, 0 for no hand.
M1, M2, M3 = np.uint64(39), np.uint64(26), np.uint64(13)
MASK = np.uint64((1 << 13) - 1)
ONE = np.uint64(1)
ZERO = np.uint64(0)
_MAX_TRIPLES = 286
_BLOCK = 32
_WORDS = 5  # of 64 triples each
SLOTS = 13
TRIPLE_SLOTS = np.array([(i, j, k) for k in range(SLOTS) for j in range(k) for i in range(j)], np.int64)
TRIPLE_MASKS = (np.uint64(1) << TRIPLE_SLOTS.astype(np.uint64)).sum(axis=1)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def lowest_bit(typing_context: Any, word: Any) -> Any:  # noqa: ARG001 (numba's signature)
    """Position of the lowest bit of a uint64 that is not zero: one machine instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@kernel()
def _sorted_triples(cards: Any, strength: Any, unsorted: Any, keys: Any) -> Any:
    """Write one key a valid triple, best first, then by index: ``strength << 9 | 511 - index``; return how many.

    `unsorted` is room for int32 (286 + 32,).
    """
    n = len(cards)
    count = 0
    index = 0
    for k in range(2, n):
        c = np.int64(cards[k])
        third = c * (c - 1) * (c - 2) // 6
        for j in range(1, k):
            b = np.int64(cards[j])
            second = third + b * (b - 1) // 2
            for i in range(j):
                s = np.int32(strength[np.uint64(second + cards[i])])
                # Written always and kept where valid: a branch would be guessed wrong too often.
                unsorted[count] = (s << 9) | (511 - index)
                count += int(s > 0)
                index += 1
    # Keys differ, so the place of each is how many are larger: compared with all of some 70, it needs no branch either.
    stop = (count + _BLOCK - 1) // _BLOCK * _BLOCK
    for i in range(count, stop):
        unsorted[i] = 0  # whole blocks are compared at once
    for i in range(count):
        key = unsorted[i]
        place = np.int32(0)
        for j in range(stop):
            place += np.int32(unsorted[j] > key)
        keys[np.uint32(place)] = key
    return count


@kernel()
def _disjoint_rows(keys: Any, count: Any, words: Any, holders: Any, rows: Any, slots: Any, strong: Any) -> None:
    """For each sorted triple: the later triples disjoint from it as a bit row, its slots as a mask, its strength.

    `holders` is room for the rows of the triples that hold each slot, and for the row of all triples: uint64 (14, 5).
    """
    for slot in range(SLOTS + 1):
        for word in range(words):
            holders[slot, word] = ZERO
    for t in range(count):
        triple = 511 - (keys[t] & 511)
        strong[t] = np.uint64(keys[t] >> 9)
        slots[t] = TRIPLE_MASKS[triple]
        bit = ONE << np.uint64(t & 63)
        holders[SLOTS, t >> 6] |= bit
        for position in range(3):
            holders[TRIPLE_SLOTS[triple, position], t >> 6] |= bit
    for t in range(count):
        triple = 511 - (keys[t] & 511)
        i, j, k = TRIPLE_SLOTS[triple, 0], TRIPLE_SLOTS[triple, 1], TRIPLE_SLOTS[triple, 2]
        for word in range(words):
            rows[t, word] = holders[SLOTS, word] & ~(holders[i, word] | holders[j, word] | holders[k, word])
        for word in range(t >> 6):
            rows[t, word] = ZERO
        rows[t, t >> 6] &= ~((ONE << np.uint64(t & 63)) - ONE)


@kernel()
def _covers(large: Any, small: Any) -> Any:
    """Whether a value is at least another in every field."""
    return ((large | _GUARDS) - small) & _GUARDS == _GUARDS


@kernel()
def _covered(found: Any, count: Any, value: Any) -> Any:
    """Whether some value found so far is at least `value` in every field; the newest, the likeliest, is asked first."""
    for back in range(count):  # noqa: SIM110 (numba takes no generators)
        if _covers(found[count - 1 - back], value):
            return True
    return False


@kernel()
def _covering(found: Any, count: Any, value: Any) -> Any:
    """Place of the newest value found so far that is at least `value` in every field, -1 if there is none."""
    for back in range(count):
        if _covers(found[count - 1 - back], value):
            return count - 1 - back
    return -1


@kernel()
def _insert(found: Any, laid: Any, count: Any, value: Any, masks: Any) -> Any:
    """Add an arrangement that nothing found covers, drop those it covers; return how many there are."""
    kept = 0
    for i in range(count):
        if not _covers(value, found[i]):
            if kept != i:
                found[kept] = found[i]
                laid[kept] = laid[i]
            kept += 1
    found[kept] = value
    laid[kept] = masks
    return kept + 1


@kernel()
def _quads_laid(quads: Any, num_quads: Any, mask: Any) -> Any:
    """How many four of a kind lie whole within the slots of `mask`."""
    laid = ZERO
    for q in range(num_quads):
        if mask & quads[q] == quads[q]:
            laid += ONE
    return laid


@kernel()
def _find_quads(cards: Any, quads: Any) -> Any:
    """Write the slot masks of the deal's four of a kind; return how many. Ids of a rank are neighbours."""
    count = 0
    for slot in range(len(cards) - 3):
        if cards[slot] & 3 == 0 and cards[slot + 3] == cards[slot] + 3:
            quads[count] = np.uint64(15) << np.uint64(slot)
            count += 1
    return count


def _search_kernel(words: int) -> Any:
    """Return the search for deals with at most ``64 * words`` valid triples; a fixed length of rows makes it faster."""

    @kernel()
    def search(
        count: Any,
        rows: Any,
        slots: Any,
        strong: Any,
        quads: Any,
        num_quads: Any,
        second: Any,
        third: Any,
        found: Any,
        laid: Any,
    ) -> Any:
        """Depth-first over sorted triples; a branch ends when its best imaginable completion is covered.

        Triples come best first, so the next hands of a branch are at most as strong as the first triples still disjoint
        from it: that is the bound. The bound of a triple and all that come after it only falls, so where it is covered
        too, the rest of the level ends. Because Hand 1 never gets stronger along the way, of arrangements equal in value
        the one first in the order of triples is kept. `second` and `third` are room for a row each. `found` and `laid`
        must hold all of it; returns the count, or -1 if they are full.
        """
        room = len(found) - 1
        all_quads = np.uint64(num_quads)
        n = 0
        for t1 in range(count):
            value1 = strong[t1] << _H1
            bound = value1 | all_quads
            shift = _H2
            for word in range(words):
                bits = rows[t1, word]
                second[word] = bits
                while bits != ZERO and shift > ZERO:
                    bound |= strong[np.uint64(word << 6) + lowest_bit(bits)] << shift
                    shift -= _STEP
                    bits &= bits - ONE
            by = _covering(found, n, bound)
            if by >= 0:
                rest = value1 | all_quads
                shift = _H2
                for t in range(t1 + 1, min(t1 + 4, count)):
                    rest |= strong[t] << shift
                    shift -= _STEP
                if _covers(found[by], rest):
                    break
                continue
            if n > room - 1:
                return -1
            if shift == _H2:
                value = value1 | _quads_laid(quads, num_quads, slots[t1])
                if not _covered(found, n, value):
                    n = _insert(found, laid, n, value, slots[t1] << M1)
                continue
            ended = False
            for word2 in range(words):
                if ended:
                    break
                bits2 = second[word2]
                while bits2 != ZERO:
                    t2 = np.uint64(word2 << 6) + lowest_bit(bits2)
                    bits2 &= bits2 - ONE
                    value2 = value1 | (strong[t2] << _H2)
                    bound = value2 | all_quads
                    shift = _H3
                    for word in range(words):
                        bits = second[word] & rows[t2, word]
                        third[word] = bits
                        while bits != ZERO and shift > ZERO:
                            bound |= strong[np.uint64(word << 6) + lowest_bit(bits)] << shift
                            shift -= _STEP
                            bits &= bits - ONE
                    by = _covering(found, n, bound)
                    if by >= 0:
                        rest = value2 | all_quads
                        shift = _H3
                        for word in range(word2, words):
                            bits = bits2 if word == word2 else second[word]
                            while bits != ZERO and shift > ZERO:
                                rest |= strong[np.uint64(word << 6) + lowest_bit(bits)] << shift
                                shift -= _STEP
                                bits &= bits - ONE
                            if shift == ZERO:
                                break
                        if _covers(found[by], rest):
                            ended = True
                            break
                        continue
                    if n > room - 1:
                        return -1
                    if shift == _H3:
                        value = value2 | _quads_laid(quads, num_quads, slots[t1] | slots[t2])
                        if not _covered(found, n, value):
                            n = _insert(found, laid, n, value, slots[t1] << M1 | slots[t2] << M2)
                        continue
                    best4 = np.int64(-1)  # best Hand 4 with these two hands so far; a weaker Hand 3 must beat it
                    for word3 in range(words):
                        bits3 = third[word3]
                        while bits3 != ZERO:
                            t3 = np.uint64(word3 << 6) + lowest_bit(bits3)
                            bits3 &= bits3 - ONE
                            if num_quads == 0 and np.int64(strong[t3]) <= best4:
                                break
                            value3 = value2 | (strong[t3] << _H3)
                            mask3 = slots[t1] | slots[t2] | slots[t3]
                            masks3 = slots[t1] << M1 | slots[t2] << M2 | slots[t3] << M3
                            full = False
                            for word in range(words):
                                bits = third[word] & rows[t3, word]
                                while bits != ZERO:
                                    t4 = np.uint64(word << 6) + lowest_bit(bits)
                                    bits &= bits - ONE
                                    full = True
                                    # Without quads only the best Hand 4 counts; with them a weaker one may lay them whole.
                                    if num_quads == 0:
                                        bits = ZERO
                                        if np.int64(strong[t4]) <= best4:
                                            continue
                                        best4 = np.int64(strong[t4])
                                    value = value3 | (strong[t4] << _H4)
                                    value |= _quads_laid(quads, num_quads, mask3 | slots[t4])
                                    if not _covered(found, n, value):
                                        if n > room - 1:
                                            return -1
                                        n = _insert(found, laid, n, value, masks3 | slots[t4])
                                if full and num_quads == 0:
                                    break
                            if not full and best4 < 0:
                                if num_quads == 0:
                                    best4 = np.int64(0)
                                value = value3 | _quads_laid(quads, num_quads, mask3)
                                if not _covered(found, n, value):
                                    if n > room - 1:
                                        return -1
                                    n = _insert(found, laid, n, value, masks3)
        if count == 0:
            n = _insert(found, laid, 0, ZERO, ZERO)
        return n

    return search


_FEW = 2  # words that nearly all deals need where the lowest hand is a pair
_search_few = _search_kernel(_FEW)
_search_many = _search_kernel(_WORDS)


@kernel()
def _search(
    count: Any,
    rows: Any,
    slots: Any,
    strong: Any,
    quads: Any,
    num_quads: Any,
    second: Any,
    third: Any,
    found: Any,
    laid: Any,
) -> Any:
    """Search with rows as long as the number of triples asks for."""
    if count <= 64 * _FEW:
        return _search_few(count, rows, slots, strong, quads, num_quads, second, third, found, laid)
    return _search_many(count, rows, slots, strong, quads, num_quads, second, third, found, laid)


@kernel()
def _sort_found(found: Any, laid: Any, count: Any) -> Any:
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

    unsorted: Any
    keys: Any
    holders: Any
    rows: Any
    slots: Any
    strong: Any
    quads: Any
    second: Any
    third: Any


@kernel(nogil=True)
def make_scratch() -> Any:
    """Return room for searches of any deal."""
    return Scratch(
        np.empty(_MAX_TRIPLES + _BLOCK, np.int32),
        np.empty(_MAX_TRIPLES, np.int64),
        np.empty((SLOTS + 1, _WORDS), np.uint64),
        np.empty((_MAX_TRIPLES, _WORDS), np.uint64),
        np.empty(_MAX_TRIPLES, np.uint64),
        np.empty(_MAX_TRIPLES, np.uint64),
        np.empty(3, np.uint64),
        np.empty(_WORDS, np.uint64),
        np.empty(_WORDS, np.uint64),
    )


@kernel(nogil=True)
def search_deal(cards: Any, strength: Any, count_quads: Any, scratch: Any, found: Any, laid: Any) -> Any:
    """Undominated arrangements of one deal, in order.

    Args:
        cards: int8 (n,), ascending card ids.
        strength: int16 (22100,), 0 for no hand.
        count_quads: whether laying four of a kind whole pays.
        scratch: of `make_scratch`.
        found, laid: uint64 (room,), where values and packed masks of slots are written.

    Returns:
        How many; `found` and `laid`, larger ones where those given did not suffice.
    """
    count = _sorted_triples(cards, strength, scratch.unsorted, scratch.keys)
    words = _FEW if count <= 64 * _FEW else _WORDS
    _disjoint_rows(scratch.keys, count, words, scratch.holders, scratch.rows, scratch.slots, scratch.strong)
    num_quads = _find_quads(cards, scratch.quads) if count_quads else 0
    n_found = np.int64(-1)
    while True:
        n_found = _search(
            count,
            scratch.rows,
            scratch.slots,
            scratch.strong,
            scratch.quads,
            num_quads,
            scratch.second,
            scratch.third,
            found,
            laid,
        )
        if n_found >= 0:
            break
        found = np.empty(2 * len(found), np.uint64)
        laid = np.empty(len(found), np.uint64)
    _sort_found(found, laid, n_found)
    return n_found, found, laid
