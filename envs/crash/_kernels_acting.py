"""Compiled ways to act at many tables: picks hand by hand, sampled decisions, observations. Private; see `vector.py`.

A seat's picks are four packed masks of slots, Hand 1 on top, as the search packs what it finds; the search lists the hands
of an arrangement in the order of picks, so that a prefix of picks is a prefix of the packed word.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._kernels_deals import high_product
from ..kernel_cache import kernel
from ._kernels import partition_index_of
from ._kernels_rounds import ARRANGE, EXCHANGE, OVER, advance, decide, make_room, to_act, triple_strength_at
from ._kernels_search import MASK, ONE, TRIPLE_MASKS, TRIPLE_SLOTS, ZERO, lowest_bit, make_scratch, search_deal

_TOP = np.int64(39)  # shift of Hand 1
_NEXT = np.int64(13)
_MOST = 286
_SLOTS = 13
_FOUND = 1024


class PickRoom(NamedTuple):
    """Where a thread finds out what may be picked."""

    search: Any
    seen: Any
    offered: Any
    free: Any
    held: Any


@kernel(nogil=True)
def make_pick_room() -> Any:
    return PickRoom(
        make_scratch(),
        np.empty(_MOST, np.bool_),
        np.empty(_MOST + 1, np.int32),
        np.empty(_SLOTS, np.int32),
        np.empty(_SLOTS, np.int32),
    )


@kernel(nogil=True, makes_arrays=False)
def colex_of(mask: Any) -> Any:
    """Colex index of a triple of slots given as a mask."""
    a = np.int64(lowest_bit(mask))
    mask &= mask - ONE
    b = np.int64(lowest_bit(mask))
    mask &= mask - ONE
    c = np.int64(lowest_bit(mask))
    return c * (c - 1) * (c - 2) // 6 + b * (b - 1) // 2 + a


@kernel(nogil=True, makes_arrays=False)
def depth_shift(picks: Any) -> Any:
    """Shift of the next pick, below 0 if there is room for none."""
    shift = _TOP
    while shift >= 0 and picks >> np.uint64(shift) & MASK:
        shift -= _NEXT
    return shift


@kernel(nogil=True, makes_arrays=False)
def legal_picks(cards: Any, strength: Any, picks: Any, most: Any, room: Any) -> Any:
    """Write the triples that may follow the picks by the rules alone, ascending; return how many, `most` if more."""
    used = (picks >> np.uint64(39) | picks >> np.uint64(26) | picks >> np.uint64(13) | picks) & MASK
    shift = depth_shift(picks)
    # Picks come in falling order of these keys; those below `lowest` are no hands.
    lowest, last = np.int32(1 << 9), np.int32(1 << 30)
    if shift < _TOP:
        triple = colex_of(picks >> np.uint64(shift + _NEXT) & MASK)
        last = np.int32(triple_strength_at(cards, strength, triple) << 9 | (511 - triple))
    free, held, offered = room.free, room.held, room.offered
    count_free = np.uint64(0)
    for slot in range(len(cards)):
        free[count_free] = slot
        held[count_free] = cards[slot]
        count_free += (used >> np.uint64(slot) & ONE) ^ ONE
    # Unsigned indices spare the look for negative ones.
    count = np.uint64(0)
    for z in range(2, np.int64(count_free)):
        k, c = free[np.uint64(z)], held[np.uint64(z)]
        third = c * (c - 1) * (c - 2) // 6
        for y in range(1, z):
            j, b = free[np.uint64(y)], held[np.uint64(y)]
            second = third + b * (b - 1) // 2
            base = np.int32(k * (k - 1) * (k - 2) // 6 + j * (j - 1) // 2)
            for x in range(y):
                triple = base + free[np.uint64(x)]
                key = np.int32(strength[np.uint64(second + held[np.uint64(x)])]) << 9 | (511 - triple)
                offered[count] = triple
                # Counted without a branch, which would be guessed wrong too often.
                count += np.uint64(lowest <= key) & np.uint64(key < last)
            if count >= most:
                return np.int64(most)
    return np.int64(count)


@kernel(nogil=True, makes_arrays=False)
def _undominated_picks(found: Any, count_found: Any, picks: Any, room: Any) -> Any:
    """Write the triples that lead on to one of the arrangements found, ascending; return how many."""
    shift = depth_shift(picks)
    if shift < 0:
        return 0
    prefix = np.uint64(shift + _NEXT)
    seen, offered = room.seen, room.offered
    seen[:] = False
    for i in range(count_found):
        mask = found[i] >> np.uint64(shift) & MASK
        if mask and found[i] >> prefix == picks >> prefix:
            seen[colex_of(mask)] = True
    count = np.int64(0)
    for triple in range(_MOST):
        offered[count] = triple
        count += np.int64(seen[triple])
    return count


@kernel(nogil=True)
def _offered_picks(cards: Any, strength: Any, picks: Any, legal: Any, count_quads: Any, room: Any) -> Any:
    """Write the triples that may follow; return how many, and whether `done` is offered too."""
    if legal:
        count = legal_picks(cards, strength, picks, _MOST, room)
        return count, count > 0 or picks == ZERO
    n_found, _, laid = search_deal(
        cards, strength, count_quads, room.search, np.empty(_FOUND, np.uint64), np.empty(_FOUND, np.uint64)
    )
    count = _undominated_picks(laid, n_found, picks, room)
    return count, count == 0 and picks == ZERO


@kernel(nogil=True)
def _can_go_on(cards: Any, strength: Any, picks: Any, legal: Any, count_quads: Any, room: Any) -> Any:
    """Whether a pick may follow."""
    if legal:
        return legal_picks(cards, strength, picks, 1, room) > 0
    count, _ = _offered_picks(cards, strength, picks, legal, count_quads, room)
    return count > 0


@kernel(nogil=True)
def pick_masks(s: Any, r: Any, strength: Any, legal: Any, masks: Any, start: Any, stop: Any) -> None:
    """Write what each seat to act may pick: int8 (tables, triples + 5), zeros before; the other choices last."""
    room = make_pick_room()
    done = masks.shape[1] - 5
    for t in range(start, stop):
        seat = to_act(s, r, t)
        if seat < 0:
            continue
        if s.phase[t] == ARRANGE:
            count, may_end = _offered_picks(
                s.cards[t, seat], strength, s.picks[t, seat], legal, r.quads_bonus > 0, room
            )
            for i in range(count):
                masks[t, room.offered[i]] = 1
            masks[t, done] = may_end
        else:
            first = done + 1 if s.phase[t] == EXCHANGE else done + 3
            masks[t, first] = masks[t, first + 1] = 1


@kernel(nogil=True)
def sample_picks(
    s: Any, r: Any, strength: Any, legal: Any, done: Any, words: Any, picks: Any, start: Any, stop: Any
) -> None:
    """Write an even choice among what the mask of each seat to act allows, from one word a table; -1 where none acts."""
    room = make_pick_room()
    for t in range(start, stop):
        seat = to_act(s, r, t)
        picks[t] = -1
        if seat < 0:
            continue
        if s.phase[t] == ARRANGE:
            count, may_end = _offered_picks(
                s.cards[t, seat], strength, s.picks[t, seat], legal, r.quads_bonus > 0, room
            )
            if may_end:
                room.offered[count] = done
                count += 1
            picks[t] = room.offered[np.int64(high_product(words[t], np.uint64(count)))]
        else:
            choice = np.int64(words[t] >> np.uint64(63))
            picks[t] = done + (1 if s.phase[t] == EXCHANGE else 3) + choice


@kernel(nogil=True)
def check_picks(s: Any, r: Any, strength: Any, legal: Any, done: Any, picks: Any, start: Any, stop: Any) -> Any:
    """Return the first table whose pick may not be made, -1 if there is none. Tables with nobody to act are left out."""
    room = make_pick_room()
    for t in range(start, stop):
        pick = np.int64(picks[t])
        seat = to_act(s, r, t)
        if pick == -1:
            continue
        if seat < 0:
            return t
        if s.phase[t] != ARRANGE:
            choice = pick - done - (1 if s.phase[t] == EXCHANGE else 3)
            if not 0 <= choice <= 1:
                return t
            continue
        if not 0 <= pick <= done:
            return t
        cards, before = s.cards[t, seat], s.picks[t, seat]
        if legal and pick < done:
            # The same as being offered, without looking at the others.
            laid = (before >> np.uint64(39) | before >> np.uint64(26) | before >> np.uint64(13) | before) & MASK
            value = triple_strength_at(cards, strength, pick)
            shift = depth_shift(before)
            fits = value > 0 and TRIPLE_MASKS[pick] & laid == ZERO
            if fits and shift < _TOP:
                last = colex_of(before >> np.uint64(shift + _NEXT) & MASK)
                last_value = triple_strength_at(cards, strength, last)
                fits = value < last_value or (value == last_value and pick > last)
            if not fits:
                return t
            continue
        count, may_end = _offered_picks(cards, strength, before, legal, r.quads_bonus > 0, room)
        fits = pick == done and may_end
        for i in range(count):
            fits |= room.offered[i] == pick
        if not fits:
            return t
    return -1


@kernel(nogil=True)
def take_picks(
    s: Any,
    r: Any,
    key: Any,
    pack: Any,
    strength: Any,
    triples: Any,
    legal: Any,
    done: Any,
    picks: Any,
    out: Any,
    start: Any,
    stop: Any,
) -> None:
    """Make picks that `check_picks` allows; lay what can go on no further, and move the tables on."""
    room, table_room = make_pick_room(), make_room(r.players)
    for t in range(start, stop):
        pick = np.int64(picks[t])
        seat = to_act(s, r, t)
        if pick == -1 or seat < 0:
            continue
        if s.phase[t] == ARRANGE:
            cards = s.cards[t, seat]
            if pick < done:
                shift = depth_shift(s.picks[t, seat])
                s.picks[t, seat] |= TRIPLE_MASKS[pick] << np.uint64(shift)
                if shift > 0 and _can_go_on(cards, strength, s.picks[t, seat], legal, r.quads_bonus > 0, room):
                    continue
            action = np.int64(partition_index_of(r.cards_dealt, s.picks[t, seat]))
        else:
            action = r.first_choice + pick - done - 1
        if decide(s, r, strength, triples, t, seat, action):
            advance(s, r, key, pack, t, out, table_room)


@kernel(nogil=True)
def sample_candidates(s: Any, r: Any, strength: Any, words: Any, actions: Any, start: Any, stop: Any) -> None:
    """Write an even choice among the undominated arrangements (or two choices) of each seat to act, -1 for none."""
    scratch = make_scratch()
    found, laid = np.empty(_FOUND, np.uint64), np.empty(_FOUND, np.uint64)
    for t in range(start, stop):
        seat = to_act(s, r, t)
        actions[t] = -1
        if seat < 0:
            continue
        if s.phase[t] == ARRANGE:
            count, found, laid = search_deal(s.cards[t, seat], strength, r.quads_bonus > 0, scratch, found, laid)
            chosen = np.int64(high_product(words[t], np.uint64(count)))
            actions[t] = partition_index_of(r.cards_dealt, laid[chosen])
        else:
            choice = np.int64(words[t] >> np.uint64(63))
            actions[t] = r.first_choice + (0 if s.phase[t] == EXCHANGE else 2) + choice


@kernel(nogil=True)
def encode_seats(
    s: Any, r: Any, strength: Any, triples: Any, starts: Any, tables: Any, seats: Any, out: Any, start: Any, stop: Any
) -> None:
    """Write the observation of a seat in each row, laid out as `observation.py` says: float32 (rows, size), zeros before.

    Args:
        starts: where each piece of the layout starts, in its order.
        tables, seats: whose; a seat below 0 is left out.
    """
    n = r.players
    keys = np.empty(4, np.int64)
    for row in range(start, stop):
        t, seat = tables[row], np.int64(seats[row])
        if seat < 0:
            continue
        cards = s.cards[t, seat]
        for slot in range(r.cards_dealt):
            out[row, starts[0] + cards[slot]] = 1
            if s.given_up[t, seat, slot] >= 0:
                out[row, starts[1] + s.given_up[t, seat, slot]] = 1
        laid = s.laid[t, seat]
        if laid >= 0:
            hands = 0
            for hand in range(4):
                triple = np.int64(triples[laid, hand])
                if triple >= 0:  # strongest first, then by colex index
                    keys[hands] = (1000 - triple_strength_at(cards, strength, triple)) * 512 + triple
                    hands += 1
            keys[:hands].sort()
            for hand in range(hands):
                for place in range(3):
                    out[row, starts[2] + 52 * hand + cards[TRIPLE_SLOTS[keys[hand] & 511, place]]] = 1
        phase = s.phase[t]
        out[row, starts[3] + phase] = 1
        if phase == ARRANGE:
            out[row, starts[4]] = s.laid[t, seat] < 0
        elif phase == EXCHANGE and n == 2:
            out[row, starts[4]] = s.exchanges[t, seat] < 0
        elif phase != OVER:
            out[row, starts[4]] = to_act(s, r, t) == seat
        out[row, starts[6]] = s.rounds_played[t]
        out[row, starts[7] + (s.dealer[t] - seat) % n] = 1
        for place in range(n):
            other = (seat + place) % n
            out[row, starts[5] + place] = s.scores[t, other]
            # Two who exchange choose without knowing the other's choice.
            hidden = n == 2 and phase == EXCHANGE and place > 0
            if s.exchanges[t, other] >= 0 and not hidden:
                out[row, starts[8 + s.exchanges[t, other]] + place] = 1
            if s.calls[t, other] >= 0:
                out[row, starts[10 + s.calls[t, other]] + place] = 1
