"""Compiled rounds at many tables: deal, decide, reveal, score, next round or next game. Private; see `vector.py`.

The same state machine as `game.py` and `scoring.py`, one row a table. What is laid is kept as a value: five packed 12-bit
fields, Hand 1 to Hand 4 and quads, as in `_kernels_search.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._kernels_deals import drawn_dealer, shuffle_front
from ..kernel_cache import kernel
from ._kernels_search import FIELD, ONE, TRIPLE_MASKS, TRIPLE_SLOTS, ZERO, lowest_bit
from ._kernels_settling import BY_MAX_ROUNDS, BY_ROUND, comparison_winners, mark_highest, settle_winners
from ._kernels_settling import NO_REASON as NO_REASON  # noqa: PLC0414 (other kernels take it from here)

EXCHANGE, ARRANGE, CALL, OVER = 0, 1, 2, 3
_ROOM = 64


class State(NamedTuple):
    """Tables, one row each; `vector.py` says what the columns hold."""

    table: Any
    deal_number: Any
    phase: Any
    dealer: Any
    rounds_played: Any
    scores: Any
    cards: Any
    spares: Any
    given_up: Any
    exchanges: Any
    calls: Any
    laid: Any
    values: Any
    picks: Any
    start_scores: Any
    start_dealer: Any
    start_rounds: Any


class Outcome(NamedTuple):
    """What a step came to, one row a table; `vector.py` says what the columns hold."""

    round_ended: Any
    game_ended: Any
    reason: Any
    crasher: Any
    rounds: Any
    points: Any
    scores: Any
    winners: Any
    win_shares: Any


class Room(NamedTuple):
    """Where a thread works."""

    words: Any
    pack: Any
    winners: Any
    quads: Any
    played_out: Any
    now: Any


@kernel(nogil=True)
def make_room(players: Any) -> Any:
    """Return room for one thread."""
    return Room(
        np.empty(_ROOM, np.uint64),
        np.empty(_ROOM, np.int8),
        np.empty(4, np.int64),
        np.empty(players, np.int64),
        np.empty(players, np.int64),
        np.empty(players, np.int64),
    )


@kernel(nogil=True, makes_arrays=False)
def _write_sorted(cards: Any, start: Any, count: Any, out: Any) -> None:
    """Write `count` card ids from `start` on in ascending order."""
    held = ZERO
    for i in range(start, start + count):
        held |= ONE << np.uint64(cards[i])
    for i in range(count):
        out[i] = np.int8(lowest_bit(held))
        held &= held - ONE


@kernel(nogil=True, makes_arrays=False)
def _deal(s: Any, r: Any, key: Any, pack: Any, t: Any, room: Any) -> None:
    """Deal the next round of a table."""
    n, size = r.players, r.cards_dealt
    count = size * (n + r.num_spares)
    shuffle_front(key, s.deal_number[t], s.table[t], pack, room.pack, count, room.words)
    for place in range(n):
        _write_sorted(room.pack, place * size, size, s.cards[t, (s.dealer[t] + 1 + place) % n])
    for spare in range(r.num_spares):
        _write_sorted(room.pack, (n + spare) * size, size, s.spares[t, spare])
    s.deal_number[t] += ONE
    for seat in range(n):
        s.exchanges[t, seat] = s.calls[t, seat] = s.laid[t, seat] = -1
        s.values[t, seat] = s.picks[t, seat] = ZERO
    if r.num_spares > 0:  # otherwise nothing is ever given up
        s.given_up[t, :, :] = -1
    s.phase[t] = EXCHANGE if r.num_spares > 0 else ARRANGE


@kernel(nogil=True, makes_arrays=False)
def start_game(s: Any, r: Any, key: Any, pack: Any, t: Any, room: Any) -> None:
    """Start a game at a table from where its games start, with the next deal."""
    for seat in range(r.players):
        s.scores[t, seat] = s.start_scores[t, seat]
    s.rounds_played[t] = s.start_rounds[t]
    dealer = np.int64(s.start_dealer[t])
    s.dealer[t] = dealer if dealer >= 0 else drawn_dealer(key, s.deal_number[t], s.table[t], r.players, room.words)
    _deal(s, r, key, pack, t, room)


@kernel(nogil=True, makes_arrays=False)
def to_act(s: Any, r: Any, t: Any) -> Any:
    """First seat in turn order that must act, -1 if none."""
    phase = s.phase[t]
    for place in range(r.players):
        seat = (s.dealer[t] + 1 + place) % r.players
        if phase == ARRANGE:
            if s.laid[t, seat] < 0:
                return seat
        elif phase == EXCHANGE:
            if s.exchanges[t, seat] < 0:
                return seat
        elif phase == CALL and s.calls[t, seat] < 0:
            return seat
    return -1


@kernel(nogil=True, makes_arrays=False)
def is_pending(s: Any, r: Any, t: Any, seat: Any) -> Any:
    """Whether a seat must act: all who have not laid, both of two who exchange, else the first in turn order."""
    if s.phase[t] == ARRANGE:
        return s.laid[t, seat] < 0
    if s.phase[t] == EXCHANGE and r.players == 2:
        return s.exchanges[t, seat] < 0
    return to_act(s, r, t) == seat


@kernel(nogil=True, makes_arrays=False)
def triple_strength_at(cards: Any, strength: Any, triple: Any) -> Any:
    """Strength of a triple of slots by its colex index."""
    a = np.int64(cards[TRIPLE_SLOTS[triple, 0]])
    b = np.int64(cards[TRIPLE_SLOTS[triple, 1]])
    c = np.int64(cards[TRIPLE_SLOTS[triple, 2]])
    return np.int64(strength[c * (c - 1) * (c - 2) // 6 + b * (b - 1) // 2 + a])


@kernel(nogil=True, makes_arrays=False)
def quads_within(cards: Any, used: Any) -> Any:
    """How many four of a kind lie whole within the slots of a mask. Ids of a rank are neighbours."""
    count = ZERO
    for slot in range(len(cards) - 3):
        if cards[slot] & 3 == 0 and cards[slot + 3] == cards[slot] + 3:
            four = np.uint64(15) << np.uint64(slot)
            if used & four == four:
                count += ONE
    return count


@kernel(nogil=True, makes_arrays=False)
def value_of_partition(cards: Any, strength: Any, triples: Any) -> Any:
    """Value of an arrangement given as colex indices of slots (-1 for none); all bits set if one is no hand."""
    first, second, third, fourth = 0, 0, 0, 0
    used = ZERO
    for hand in range(4):
        triple = np.int64(triples[hand])
        if triple < 0:
            break
        s = triple_strength_at(cards, strength, triple)
        if s == 0:
            return ~ZERO
        used |= TRIPLE_MASKS[triple]
        if s > first:
            first, second, third, fourth = s, first, second, third
        elif s > second:
            second, third, fourth = s, second, third
        elif s > third:
            third, fourth = s, third
        else:
            fourth = s
    value = np.uint64(first) << np.uint64(48) | np.uint64(second) << np.uint64(36)
    value |= np.uint64(third) << np.uint64(24) | np.uint64(fourth) << np.uint64(12)
    return value | quads_within(cards, used)


@kernel(nogil=True, makes_arrays=False)
def settle_table(s: Any, r: Any, t: Any, out: Any, room: Any) -> Any:
    """Score the round of a table into `out` and `room.now`; return how the game ended (`NO_REASON` if it goes on)."""
    for seat in range(r.players):
        room.quads[seat] = np.int64(s.values[t, seat] & FIELD)
    comparison_winners(s.values[t], r.hands, room.winners)
    reason, crasher = settle_winners(
        r,
        room.winners,
        room.quads,
        s.calls[t],
        s.scores[t],
        np.int64(s.dealer[t]),
        room.played_out,
        room.now,
        out.winners[t],
    )
    out.crasher[t] = crasher
    for seat in range(r.players):
        out.points[t, seat] = room.played_out[seat] - s.scores[t, seat]
    return reason


@kernel(nogil=True, makes_arrays=False)
def _reveal(s: Any, r: Any, key: Any, pack: Any, t: Any, out: Any, room: Any) -> None:
    """Score the round; go on with the next round or, where tables are reset in place, the next game."""
    reason = settle_table(s, r, t, out, room)
    for seat in range(r.players):
        s.scores[t, seat] = out.scores[t, seat] = room.now[seat]
    out.round_ended[t] = True
    out.rounds[t] = s.rounds_played[t] + 1
    if reason == NO_REASON:
        s.rounds_played[t] += 1
        if s.rounds_played[t] >= r.max_rounds:
            mark_highest(room.now, out.winners[t])
            reason = BY_MAX_ROUNDS
        elif r.one_round:
            reason = BY_ROUND
    if reason == NO_REASON:
        s.dealer[t] = (s.dealer[t] + 1) % r.players
        _deal(s, r, key, pack, t, room)
        return
    out.game_ended[t] = True
    out.reason[t] = reason
    winners = 0
    for seat in range(r.players):
        winners += out.winners[t, seat]
    for seat in range(r.players):
        out.win_shares[t, seat] = out.winners[t, seat] / winners if winners > 0 else 0.0
    s.phase[t] = OVER
    if r.autoreset:
        start_game(s, r, key, pack, t, room)


@kernel(nogil=True, makes_arrays=False)
def decide(s: Any, r: Any, strength: Any, triples: Any, t: Any, seat: Any, action: Any) -> Any:  # noqa: PLR0911
    """Write down one seat's decision; return whether it may be taken (if not, nothing changes)."""
    phase = s.phase[t]
    if phase == ARRANGE:
        if not 0 <= action < r.first_choice:
            return False
        value = value_of_partition(s.cards[t, seat], strength, triples[action])
        if value == ~ZERO:
            return False
        s.laid[t, seat] = action
        s.values[t, seat] = value
        return True
    if phase == EXCHANGE:
        choice = action - r.first_choice
        if not 0 <= choice <= 1:
            return False
        s.exchanges[t, seat] = choice
        if choice == 1:
            spare = (seat - s.dealer[t] - 1) % r.players if r.players == 2 else 0
            for slot in range(r.cards_dealt):
                s.given_up[t, seat, slot] = s.cards[t, seat, slot]
                s.cards[t, seat, slot] = s.spares[t, spare, slot]
        return True
    choice = action - r.first_choice - 2
    if phase != CALL or not 0 <= choice <= 1:
        return False
    s.calls[t, seat] = choice
    return True


@kernel(nogil=True, makes_arrays=False)
def advance(s: Any, r: Any, key: Any, pack: Any, t: Any, out: Any, room: Any) -> None:
    """Move a table on once nobody is to act in its phase (or the only spare hand is taken)."""
    phase = s.phase[t]
    if phase == EXCHANGE:
        taken = False
        if r.players == 3:
            for seat in range(r.players):
                taken |= s.exchanges[t, seat] == 1
        if taken or to_act(s, r, t) < 0:
            s.phase[t] = ARRANGE
    elif to_act(s, r, t) < 0:
        if phase == ARRANGE and r.crash_call > 0:
            s.phase[t] = CALL
        else:
            _reveal(s, r, key, pack, t, out, room)


@kernel(nogil=True)
def start_tables(s: Any, r: Any, key: Any, pack: Any, which: Any, start: Any, stop: Any) -> None:
    """Start a game at each of the tables that `which`, bool (tables,), marks."""
    room = make_room(r.players)
    for t in range(start, stop):
        if which[t]:
            start_game(s, r, key, pack, t, room)


@kernel(nogil=True, makes_arrays=False)
def pending_seats(s: Any, r: Any, pending: Any, acting: Any, start: Any, stop: Any) -> None:
    """Write who must act, bool (tables, players), and the first of them, int8 (tables,)."""
    for t in range(start, stop):
        acting[t] = to_act(s, r, t)
        for seat in range(r.players):
            pending[t, seat] = acting[t] >= 0 and is_pending(s, r, t, seat)


@kernel(nogil=True, makes_arrays=False)
def check_decisions(s: Any, r: Any, strength: Any, triples: Any, actions: Any, start: Any, stop: Any) -> Any:
    """Return the first decision that may not be taken, as ``table * players + seat``, -1 if there is none.

    Args:
        actions: int32 (tables, players), -1 for no decision.
    """
    for t in range(start, stop):
        for seat in range(r.players):
            action = np.int64(actions[t, seat])
            if action == -1:
                continue
            allowed = s.phase[t] != OVER and is_pending(s, r, t, seat)
            if allowed and s.phase[t] == ARRANGE:
                allowed = 0 <= action < r.first_choice
                if allowed:
                    allowed = value_of_partition(s.cards[t, seat], strength, triples[action]) != ~ZERO
            elif allowed:
                choice = action - r.first_choice - (2 if s.phase[t] == CALL else 0)
                allowed = 0 <= choice <= 1
            if not allowed:
                return t * r.players + seat
    return -1


@kernel(nogil=True)
def take_decisions(
    s: Any,
    r: Any,
    key: Any,
    pack: Any,
    strength: Any,
    triples: Any,
    actions: Any,
    out: Any,
    start: Any,
    stop: Any,
) -> None:
    """Take decisions that `check_decisions` allows, in turn order, and move the tables on."""
    room = make_room(r.players)
    for t in range(start, stop):
        decided = False
        dealer = s.dealer[t]
        for place in range(r.players):
            seat = (dealer + 1 + place) % r.players
            if actions[t, seat] != -1:
                decided |= decide(s, r, strength, triples, t, seat, np.int64(actions[t, seat]))
        if decided:
            advance(s, r, key, pack, t, out, room)
