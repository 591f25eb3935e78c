"""Compiled random play, hand by hand: many decisions at a table before the next one's turn. Private; see `vector.py`.

The same game, draws and decisions as `sample_picks` and `take_picks` by turns; what makes it faster is that a seat's hands
are looked up once and then only thinned out as it picks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernels_deals import high_product
from ..kernel_cache import kernel
from ._kernels import partition_index_of
from ._kernels_acting import depth_shift, legal_picks, make_pick_room
from ._kernels_rounds import ARRANGE, EXCHANGE, advance, decide, make_room, quads_within, to_act, triple_strength_at
from ._kernels_search import TRIPLE_MASKS, ZERO

_MOST = 286
# What may be picked, packed into 32 bits: strength, 511 - colex index, slots. Picks come in falling order of these words.
_STRENGTH, _INDEX = np.uint32(22), np.uint32(13)
_SLOTS = np.uint32((1 << 13) - 1)
_VALUE_SHIFT = np.array([12, 24, 36, 48], np.uint64)  # of Hand 4 to Hand 1 in a packed value


@kernel(nogil=True)
def _look_up(cards: Any, strength: Any, hands: Any) -> Any:
    """Write every hand of a deal, ascending by colex index; return how many."""
    count = np.uint64(0)
    index = np.uint32(511) << _INDEX
    one = np.uint32(1)
    for k in range(2, len(cards)):
        c = np.int64(cards[np.uint64(k)])
        third = c * (c - 1) * (c - 2) // 6
        last = one << np.uint32(k)
        for j in range(1, k):
            b = np.int64(cards[np.uint64(j)])
            second = third + b * (b - 1) // 2
            both = last | one << np.uint32(j)
            for i in range(j):
                s = np.uint32(strength[np.uint64(second + cards[np.uint64(i)])])
                hands[count] = s << _STRENGTH | index | both | one << np.uint32(i)
                # Counted without a branch, which would be guessed wrong too often.
                count += np.uint64(s > 0)
                index -= one << _INDEX
    return np.int64(count)


@kernel(nogil=True)
def _look_up_rest(cards: Any, strength: Any, picks: Any, room: Any, hands: Any) -> Any:
    """Write all that may follow some picks; return how many."""
    count = legal_picks(cards, strength, picks, _MOST, room)
    for i in range(count):
        triple = np.int64(room.offered[i])
        s = np.uint32(triple_strength_at(cards, strength, triple))
        hands[i] = s << _STRENGTH | np.uint32(511 - triple) << _INDEX | np.uint32(TRIPLE_MASKS[triple])
    return count


@kernel(nogil=True)
def _thin_out(hands: Any, count: Any, pick: Any) -> Any:
    """Leave what may follow a pick: disjoint, and later in the order of picking; return how many."""
    left = np.uint64(0)
    for i in range(np.uint64(count)):
        hand = hands[i]
        hands[left] = hand
        left += np.uint64(hand < pick) & np.uint64(hand & pick & _SLOTS == 0)
    return np.int64(left)


@kernel(nogil=True)
def _lay(s: Any, r: Any, t: Any, seat: Any, value: Any) -> None:
    """Lay what a seat has picked, worth `value`, quads aside."""
    picks = s.picks[t, seat]
    used = (picks >> np.uint64(39) | picks >> np.uint64(26) | picks >> np.uint64(13) | picks) & np.uint64(_SLOTS)
    s.laid[t, seat] = partition_index_of(r.cards_dealt, picks)
    s.values[t, seat] = value | quads_within(s.cards[t, seat], used)


@kernel(nogil=True)
def play_picks(
    s: Any,
    r: Any,
    key: Any,
    pack: Any,
    strength: Any,
    triples: Any,
    words: Any,
    out: Any,
    rounds: Any,
    games: Any,
    start: Any,
    stop: Any,
) -> None:
    """Make one even draw after the other at each table, one word each; nothing where the game is over.

    Args:
        words: uint64 (decisions, tables).
        out: room for an `Outcome`.
        rounds, games: int64 (tables,), how many ended, added to.
    """
    room, table_room = make_pick_room(), make_room(r.players)
    hands = np.empty(_MOST + 1, np.uint32)
    for t in range(start, stop):
        known = -1  # seat whose hands were looked up
        count, value, is_whole = 0, ZERO, False
        for step in range(len(words)):
            seat = to_act(s, r, t)
            if seat < 0:
                break
            if s.phase[t] == ARRANGE:
                picks = s.picks[t, seat]
                if known != seat:
                    known, value, is_whole = seat, ZERO, picks == ZERO
                    if is_whole:
                        count = _look_up(s.cards[t, seat], strength, hands)
                    else:
                        count = _look_up_rest(s.cards[t, seat], strength, picks, room, hands)
                may_end = count > 0 or picks == ZERO
                chosen = np.int64(high_product(words[step, t], np.uint64(count + may_end)))
                if chosen < count:
                    pick = hands[chosen]
                    shift = depth_shift(picks)
                    picks |= np.uint64(pick & _SLOTS) << np.uint64(shift)
                    s.picks[t, seat] = picks
                    value |= np.uint64(pick >> _STRENGTH) << np.uint64(_VALUE_SHIFT[shift // 13])
                    count = _thin_out(hands, count, pick)
                    if shift > 0 and count > 0:
                        continue
                known = -1
                if is_whole:
                    _lay(s, r, t, seat, value)
                else:
                    decide(s, r, strength, triples, t, seat, np.int64(partition_index_of(r.cards_dealt, picks)))
            else:
                choice = np.int64(words[step, t] >> np.uint64(63))
                action = r.first_choice + (0 if s.phase[t] == EXCHANGE else 2) + choice
                decide(s, r, strength, triples, t, seat, action)
            out.round_ended[t] = out.game_ended[t] = False
            advance(s, r, key, pack, t, out, table_room)
            rounds[t] += out.round_ended[t]
            games[t] += out.game_ended[t]
