"""Compiled random play, hand by hand: many decisions at a table before the next one's turn. Private; see `vector.py`.

The same game, draws and decisions as `sample_picks` and `take_picks` by turns; what makes it faster is that a seat's hands
are looked up once. What it may pick is kept as one bit a triple of slots and thinned out as it picks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernels_deals import high_product
from ..kernel_cache import kernel
from ._kernels import partition_index_of
from ._kernels_acting import colex_of, depth_shift
from ._kernels_lanes import at_most, bit_count, disjoint, lowest_bit, nonzero
from ._kernels_rounds import ARRANGE, EXCHANGE, advance, decide, make_room, quads_within, to_act
from ._kernels_search import MASK, ONE, TRIPLE_MASKS, ZERO, look_up

_WORDS = 5
_ROOM = 64 * _WORDS
_MASKS = np.zeros(_ROOM, np.uint16)
_MASKS[: len(TRIPLE_MASKS)] = TRIPLE_MASKS
_VALUE_SHIFT = np.array([12, 24, 36, 48], np.uint64)  # of Hand 4 to Hand 1 in a packed value
_TILE = 8  # tables whose words share a cache line


@kernel(nogil=True, makes_arrays=False)
def _thin_out(bits: Any, looked_up: Any, triple: Any) -> Any:
    """Leave what may follow a pick: disjoint, and weaker or as strong and of higher index; return how many."""
    mask, strength = _MASKS[triple], looked_up[triple]
    word_of_pick = np.int64(triple >> 6)
    after = ~((np.uint64(2) << np.uint64(triple & 63)) - ONE)
    count = ZERO
    for word in range(_WORDS):
        start = 64 * word
        later = ~ZERO if word > word_of_pick else (after if word == word_of_pick else ZERO)
        weaker = at_most(looked_up, start, np.uint16(strength - 1))
        equal = at_most(looked_up, start, strength) & later
        bits[word] &= disjoint(_MASKS, start, mask) & (weaker | equal)
        count += bit_count(bits[word])
    return np.int64(count)


@kernel(nogil=True, makes_arrays=False)
def _look(cards: Any, strength: Any, picks: Any, looked_up: Any, bits: Any) -> Any:
    """Write which triples may follow some picks; return how many, and the value of the picks."""
    look_up(cards, strength, looked_up)
    count, value = ZERO, ZERO
    for word in range(_WORDS):
        bits[word] = nonzero(looked_up, 64 * word)
        count += bit_count(bits[word])
    left = np.int64(count)
    for hand in range(4):
        mask = picks >> np.uint64(39 - 13 * hand) & MASK
        if mask == ZERO:
            break
        triple = colex_of(mask)
        value |= np.uint64(looked_up[triple]) << np.uint64(48 - 12 * hand)
        left = _thin_out(bits, looked_up, triple)
    return left, value


@kernel(nogil=True, makes_arrays=False)
def _nth(bits: Any, n: Any) -> Any:
    """The triple of the n-th bit, from 0."""
    word = 0
    inside = np.int64(bit_count(bits[0]))
    while n >= inside:
        n -= inside
        word += 1
        inside = np.int64(bit_count(bits[word]))
    rest = bits[word]
    for _ in range(n):
        rest &= rest - ONE
    return 64 * word + np.int64(lowest_bit(rest))


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
    table_room = make_room(r.players)
    looked_up, bits = np.empty(_ROOM, np.uint16), np.empty(_WORDS, np.uint64)
    looked_up[:] = 0
    decisions = len(words)
    tile = np.empty((_TILE, decisions), np.uint64)
    for first in range(start, stop, _TILE):
        last = min(first + _TILE, stop)
        for step in range(decisions):
            for t in range(first, last):
                tile[t - first, step] = words[step, t]
        for t in range(first, last):
            _play_table(
                s, r, key, pack, strength, triples, tile[t - first], out, rounds, games, t, table_room, looked_up, bits
            )


@kernel(nogil=True, makes_arrays=False)
def _play_table(
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
    t: Any,
    room: Any,
    looked_up: Any,
    bits: Any,
) -> None:
    """Make as many draws at one table as there are words."""
    step = 0
    while step < len(words):
        seat = to_act(s, r, t)
        if seat < 0:
            break
        if s.phase[t] == ARRANGE:
            cards, picks = s.cards[t, seat], s.picks[t, seat]
            shift = depth_shift(picks)
            count, value = _look(cards, strength, picks, looked_up, bits)
            is_laid = False
            while step < len(words) and not is_laid:
                may_end = count > 0 or picks == ZERO
                chosen = np.int64(high_product(words[step], np.uint64(count + may_end)))
                step += 1
                is_laid = True
                if chosen < count:
                    triple = _nth(bits, chosen)
                    picks |= TRIPLE_MASKS[triple] << np.uint64(shift)
                    value |= np.uint64(looked_up[triple]) << _VALUE_SHIFT[shift // 13]
                    if shift > 0:
                        count = _thin_out(bits, looked_up, triple)
                        is_laid = count == 0
                    shift -= 13
            s.picks[t, seat] = picks
            if not is_laid:
                break
            used = (picks >> np.uint64(39) | picks >> np.uint64(26) | picks >> np.uint64(13) | picks) & MASK
            s.laid[t, seat] = partition_index_of(r.cards_dealt, picks)
            s.values[t, seat] = value | quads_within(cards, used)
        else:
            choice = np.int64(words[step] >> np.uint64(63))
            step += 1
            action = r.first_choice + (0 if s.phase[t] == EXCHANGE else 2) + choice
            decide(s, r, strength, triples, t, seat, action)
        out.round_ended[t] = out.game_ended[t] = False
        advance(s, r, key, pack, t, out, room)
        rounds[t] += out.round_ended[t]
        games[t] += out.game_ended[t]
