"""Compiled scoring of a round, from who won each comparison to who won the game. Private; see `scoring.py`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernel_cache import kernel
from ._kernels_search import FIELD, ZERO

NO_REASON, BY_TARGET, BY_CRASH, BY_MAX_ROUNDS, BY_ROUND = 0, 1, 2, 3, 4


class Numbers(NamedTuple):
    """The rules as numbers (`crash_call`: 0 none, 1 optional, 2 required), and how the tables are run."""

    players: int
    cards_dealt: int
    hands: int
    num_spares: int
    target: int
    immediate: bool
    crash_wins: bool
    crash_points: int
    crash_call: int
    call_bonus: int
    call_penalty: int
    quads_bonus: int
    max_rounds: int
    one_round: bool
    autoreset: bool
    first_choice: int  # keep, then exchange, pass, call


@kernel(nogil=True, makes_arrays=False)
def comparison_winners(values: Any, hands: Any, winners: Any) -> None:
    """Write who alone laid the strongest hand at each position, -1 for nobody; `values` one a seat."""
    for hand in range(hands):
        shift = np.uint64(48 - 12 * hand)
        best, winner = ZERO, -1
        for seat in range(len(values)):
            laid = values[seat] >> shift & FIELD
            if laid > best:
                best, winner = laid, seat
            elif laid == best:
                winner = -1
        winners[hand] = winner


@kernel(nogil=True, makes_arrays=False)
def settle_winners(  # noqa: PLR0911
    r: Any, winners: Any, quads: Any, calls: Any, scores: Any, dealer: Any, played: Any, now: Any, won: Any
) -> Any:
    """Score a round from the winners of its comparisons.

    Args:
        r: the rules, `Numbers`.
        winners: (hands,), a seat or -1.
        quads: (players,), four of a kind laid whole.
        calls: (players,), 1 where a crash was called.
        scores: (players,), before the round.
        dealer: seat of the dealer.
        played, now: room for int64 (players,): the scores had it been played to its end, and as it is settled.
        won: room for int8 (players,): 1 for who wins the game.

    Returns:
        How the game ended (`NO_REASON` if it goes on), and who crashed (-1 for nobody, or where it was not reached).
    """
    n = r.players
    crasher: Any = np.int64(-1)
    if r.hands >= 2:
        crasher = np.int64(winners[0])
        for hand in range(1, r.hands):
            if winners[hand] != crasher:
                crasher = -1
    crash_pays = crasher >= 0 and (r.crash_call != 2 or calls[crasher] == 1)

    # Played to its end whatever the finish: the round's points.
    for seat in range(n):
        played[seat] = now[seat] = scores[seat]
        won[seat] = 0
    for hand in range(r.hands):
        if winners[hand] >= 0:
            played[winners[hand]] += 1
    if crash_pays:
        played[crasher] += r.crash_points
    for seat in range(n):
        played[seat] = max(0, played[seat] + _call_points(r, calls[seat], seat == crasher))
        played[seat] += r.quads_bonus * np.int64(quads[seat])

    # As it is settled: with `immediate` the first to reach the target ends it.
    reason = NO_REASON
    for hand in range(r.hands):
        winner = winners[hand]
        if winner >= 0:
            now[winner] += 1
            if r.immediate and now[winner] >= r.target:
                won[winner] = 1
                return BY_TARGET, (crasher if hand == r.hands - 1 else np.int64(-1))
    if crash_pays:
        if r.crash_wins:
            won[crasher] = 1
            reason = BY_CRASH
            if r.immediate:
                return reason, crasher
        else:
            now[crasher] += r.crash_points
            if r.immediate and now[crasher] >= r.target:
                won[crasher] = 1
                return BY_TARGET, crasher
    for place in range(n):
        seat = (dealer + 1 + place) % n
        if calls[seat] == 1:
            now[seat] = max(0, now[seat] + _call_points(r, calls[seat], seat == crasher))
            if r.immediate and now[seat] >= r.target:
                won[seat] = 1
                return BY_TARGET, crasher
    for place in range(n):
        seat = (dealer + 1 + place) % n
        now[seat] += r.quads_bonus * np.int64(quads[seat])
        if r.immediate and now[seat] >= r.target:
            won[seat] = 1
            return BY_TARGET, crasher
    if reason == NO_REASON and not r.immediate and _highest(now) >= r.target:
        mark_highest(now, won)
        return BY_TARGET, crasher
    return reason, crasher


@kernel(nogil=True, makes_arrays=False)
def _call_points(r: Any, call: Any, has_crashed: Any) -> Any:
    """What a seat's call earns (or costs, below 0)."""
    if call != 1:
        return 0
    if has_crashed:
        return 0 if r.crash_wins else r.call_bonus
    return -r.call_penalty


@kernel(nogil=True, makes_arrays=False)
def _highest(scores: Any) -> Any:
    best = scores[0]
    for seat in range(1, len(scores)):
        best = max(best, scores[seat])
    return best


@kernel(nogil=True, makes_arrays=False)
def mark_highest(scores: Any, winners: Any) -> None:
    """Write 1 for each seat with the highest score, 0 for the others."""
    best = _highest(scores)
    for seat in range(len(scores)):
        winners[seat] = scores[seat] == best
