"""Compiled parts of the solver: features of known cards, outcomes of a round, values of arrangements. Private.

Seats are relative here: 0 is the seat that decides, the others follow clockwise. A *leaf* says who wins each comparison:
digits in base ``players + 1``, Hand 1 the most significant, the digit `players` for nobody.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.crash._kernels_settling import NO_REASON, settle_winners
from ..envs.kernel_cache import kernel
from .solver_table import NUM_RANKS, NUM_SUITS

_CUTS = 743  # chances of less than 0, 1, ..., 742
_MOST_HANDS = 4


@kernel(nogil=True)
def _features(cards: Any, given_up: Any, counts: Any, suits: Any, out: Any) -> None:
    """Write what is known of the pack; whoever gave up a hand knows twice the cards.

    That is: cards of each rank, whether two and three of it, sizes of the suits in order; and, with room for it, whether all
    four of a rank, and for each three ranks in a row how many runs the unknown cards could make of them, as a share.
    """
    counts[:] = 0
    suits[:] = 0
    for i in range(len(cards)):
        counts[cards[i] >> 2] += 1
        suits[cards[i] & 3] += 1
        if given_up[i] >= 0:
            counts[given_up[i] >> 2] += 1
            suits[given_up[i] & 3] += 1
    suits.sort()
    for rank in range(NUM_RANKS):
        out[rank] = counts[rank]
        out[NUM_RANKS + rank] = counts[rank] >= 2
        out[2 * NUM_RANKS + rank] = counts[rank] >= 3
    at = 3 * NUM_RANKS
    for suit in range(NUM_SUITS):
        out[at + suit] = suits[suit]
    out[at + NUM_SUITS] = suits[3] * suits[3]
    at += NUM_SUITS + 1
    if len(out) == at:
        return
    for rank in range(NUM_RANKS):
        out[at + rank] = counts[rank] == NUM_SUITS
    at += NUM_RANKS
    for low in range(NUM_RANKS - 1):  # 2-3-4 to Q-K-A, then A-2-3
        first = low if low < NUM_RANKS - 2 else NUM_RANKS - 1
        second, third = (first + 1) % NUM_RANKS, (first + 2) % NUM_RANKS
        unknown = (NUM_SUITS - counts[first]) * (NUM_SUITS - counts[second]) * (NUM_SUITS - counts[third])
        out[at + low] = unknown / NUM_SUITS**3


@kernel(nogil=True)
def card_features(cards: Any, given_up: Any, out: Any, start: Any, stop: Any) -> None:
    """Write the features of many seats: float64 (rows, NUM_FEATURES), or (rows, 44) for the first of them.

    Args:
        cards, given_up: int8 (rows, n), -1 where nothing was given up.
    """
    counts, suits = np.empty(NUM_RANKS, np.int64), np.empty(NUM_SUITS, np.int64)
    for row in range(start, stop):
        _features(cards[row], given_up[row], counts, suits, out[row])


@kernel(nogil=True)
def settle_leaves(r: Any, quads: Any, calls: Any, scores: Any, dealer: Any, points: Any, after: Any, won: Any) -> None:
    """Settle every leaf: a round's points int64 (leaves, players), scores after it, and who wins the game (0 or 1).

    Args:
        r: the rules, `Numbers`.
        quads, calls, scores: (players,), relative seats.
        dealer: relative seat.
    """
    base = r.players + 1
    winners = np.empty(_MOST_HANDS, np.int64)
    played, now, wins = np.empty(r.players, np.int64), np.empty(r.players, np.int64), np.empty(r.players, np.int8)
    for leaf in range(len(points)):
        rest = leaf
        for hand in range(r.hands - 1, -1, -1):
            digit = rest % base
            winners[hand] = -1 if digit == r.players else digit
            rest //= base
        reason, _ = settle_winners(r, winners, quads, calls, scores, dealer, played, now, wins)
        for seat in range(r.players):
            points[leaf, seat] = played[seat] - scores[seat]
            after[leaf, seat] = now[seat]
            won[leaf, seat] = 0 if reason == NO_REASON else wins[seat]


@kernel(nogil=True, makes_arrays=False)
def _chances(strength: Any, all_below: Any, alone: Any, basis: Any, place: Any, chances: Any) -> None:
    """Write who wins one comparison, given the own strength: float64 (players + 1,), nobody last.

    Args:
        all_below: (743,). alone: (others, 743). basis: (743, k). place: (k,).
    """
    others = len(alone)
    less, at_most = float(all_below[strength]), float(all_below[strength + 1])
    for k in range(len(place)):
        less += basis[strength, k] * place[k]
        at_most += basis[strength + 1, k] * place[k]
    less = min(max(less, 0.0), 1.0)
    more = 1.0 - min(max(at_most, less), 1.0)
    chances[0] = less if strength > 0 else 0.0
    left = 1.0 - chances[0]
    for j in range(others):
        chances[j + 1] = min(more * alone[j, strength], left)
        left -= chances[j + 1]
    chances[others + 1] = left


@kernel(nogil=True, makes_arrays=False)
def _expected(leaves: Any, chances: Any, hands: Any, room: Any) -> Any:
    """Mean of the leaves, the comparisons being independent."""
    base = chances.shape[1]
    size = len(leaves) // base
    for i in range(size):
        total = 0.0
        for digit in range(base):
            total += chances[hands - 1, digit] * leaves[i * base + digit]
        room[i] = total
    for hand in range(hands - 2, -1, -1):
        size //= base
        for i in range(size):
            total = 0.0
            for digit in range(base):
                total += chances[hand, digit] * room[i * base + digit]
            room[i] = total
    return room[0]


@kernel(nogil=True)
def arrangement_values(
    offsets: Any,
    strengths: Any,
    quads: Any,
    opponents: Any,
    stakes: Any,
    places: Any,
    all_below: Any,
    alone: Any,
    basis: Any,
    leaves: Any,
    hands: Any,
    values: Any,
    start: Any,
    stop: Any,
) -> None:
    """Write the value of each arrangement of many seats, by whether its owner calls a crash: float64 (options, m).

    Args:
        offsets, strengths, quads: a `CandidateBatch`.
        opponents, stakes: int64 (rows,), which row of the arrays below is each seat's.
        places: float64 (rows, k), where the known cards lie among the directions of `basis`.
        all_below: float32 (opponents, hands, 743), chance that all opponents lay less than each strength.
        alone: float32 (opponents, others, hands, 743), that one lays most alone, given that somebody lays more.
        basis: float64 (hands, 743, k), what known cards change about `all_below`.
        leaves: float32 (stakes, options, quads, leaves), value of every leaf.
    """
    base = alone.shape[1] + 2
    chances = np.empty((_MOST_HANDS, base))
    room = np.empty(max(1, leaves.shape[3] // base))
    for row in range(start, stop):
        faced, stake = opponents[row], stakes[row]
        for i in range(offsets[row], offsets[row + 1]):
            for hand in range(hands):
                strength = np.int64(strengths[i, hand])
                _chances(
                    strength, all_below[faced, hand], alone[faced, :, hand], basis[hand], places[row], chances[hand]
                )
            laid = min(np.int64(quads[i]), leaves.shape[2] - 1)
            for option in range(leaves.shape[1]):
                values[option, i] = _expected(leaves[stake, option, laid], chances, hands, room)


@kernel(nogil=True)
def arrangement_chances(
    offsets: Any,
    strengths: Any,
    opponents: Any,
    places: Any,
    all_below: Any,
    alone: Any,
    basis: Any,
    chances: Any,
    start: Any,
    stop: Any,
) -> None:
    """Write who wins each comparison with each arrangement of many seats: float64 (m, hands, players + 1), nobody last.

    Args:
        offsets, strengths, opponents, places, all_below, alone, basis: as `arrangement_values` takes them.
    """
    for row in range(start, stop):
        faced = opponents[row]
        for i in range(offsets[row], offsets[row + 1]):
            for hand in range(chances.shape[1]):
                strength = np.int64(strengths[i, hand])
                _chances(
                    strength, all_below[faced, hand], alone[faced, :, hand], basis[hand], places[row], chances[i, hand]
                )


@kernel(nogil=True)
def add_to_fit(features: Any, values: Any, hands: Any, moments: Any, sums: Any) -> None:
    """Add samples to a linear fit of what opponents lay on what is known of the pack.

    Args:
        features: float64 (rows, d), the first column 1.
        values: uint64 (rows, others), packed values of what the opponents laid.
        hands: how many.
        moments: float64 (d, d), sums of products of features.
        sums: float64 (hands, 742, d), sums of features by strength laid.
    """
    d = features.shape[1]
    for row in range(len(features)):
        for i in range(d):
            if features[row, i] != 0.0:
                for j in range(d):
                    moments[i, j] += features[row, i] * features[row, j] * values.shape[1]
        for other in range(values.shape[1]):
            for hand in range(hands):
                laid = np.int64(values[row, other] >> np.uint64(48 - 12 * hand) & np.uint64(0xFFF))
                for i in range(d):
                    sums[hand, laid, i] += features[row, i]
