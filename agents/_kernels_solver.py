"""Compiled parts of the solver: features of known cards, outcomes of a round, values of arrangements. Private.

Seats are relative here: 0 is the seat that decides, the others follow clockwise. A *leaf* says who wins each comparison:
digits in base ``players + 1``, Hand 1 the most significant, the digit `players` for nobody.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.crash._kernels_settling import NO_REASON, settle_winners
from ..envs.kernel_cache import kernel

NUM_RANKS, NUM_SUITS = 13, 4
NUM_FEATURES = 3 * NUM_RANKS + NUM_SUITS + 1
_CUTS = 743  # chances of less than 0, 1, ..., 742
_MOST_HANDS = 4


@kernel(nogil=True)
def _features(cards: Any, given_up: Any, counts: Any, suits: Any, out: Any) -> None:
    """Write what is known of the pack: cards of each rank, whether two and three of it, sizes of the suits in order.

    Whoever gave up a hand knows twice the cards; with room for it, that goes to a block of its own, and so is fitted apart.
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
    out[:] = 0.0
    at = NUM_FEATURES if given_up[0] >= 0 and len(out) > NUM_FEATURES else 0
    for rank in range(NUM_RANKS):
        out[at + rank] = counts[rank]
        out[at + NUM_RANKS + rank] = counts[rank] >= 2
        out[at + 2 * NUM_RANKS + rank] = counts[rank] >= 3
    for suit in range(NUM_SUITS):
        out[at + 3 * NUM_RANKS + suit] = suits[suit]
    out[at + NUM_FEATURES - 1] = suits[3] * suits[3]


@kernel(nogil=True)
def card_features(cards: Any, given_up: Any, out: Any, start: Any, stop: Any) -> None:
    """Write the features of many seats: float64 (rows, NUM_FEATURES), or twice as many where hands may be given up.

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


@kernel(nogil=True)
def _chances(
    strength: Any, below: Any, alone: Any, kinds: Any, basis: Any, hand: Any, place: Any, chances: Any
) -> None:
    """Write who wins one comparison, given the own strength: float64 (players + 1,), nobody last."""
    others = len(below)
    less, at_most, at_most_before, alone_before = 1.0, 1.0, 1.0, 0.0
    for j in range(others):
        rows = basis[kinds[j], hand]
        low, high = below[j, hand, strength], below[j, hand, strength + 1]
        at_most_before *= high
        for k in range(len(place)):
            low += rows[strength, k] * place[k]
            high += rows[strength + 1, k] * place[k]
        low = min(max(low, 0.0), 1.0)
        less *= low
        at_most *= min(max(high, low), 1.0)
        alone_before += alone[j, hand, strength]
    scale = (1.0 - at_most) / (1.0 - at_most_before) if at_most_before < 1.0 - 1e-9 else 0.0
    chances[0] = less if strength > 0 else 0.0
    left = 1.0 - chances[0]
    for j in range(others):
        chances[j + 1] = min(alone[j, hand, strength] * scale, left)
        left -= chances[j + 1]
    chances[others + 1] = left


@kernel(nogil=True)
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
    below: Any,
    alone: Any,
    kinds: Any,
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
        below: float32 (opponents, others, hands, 743), chance that an opponent lays less than each strength.
        alone: float32 (opponents, others, hands, 743), that it lays more, alone.
        kinds: int64 (opponents, others), row of `basis` that fits each opponent.
        basis: float64 (kinds, hands, 743, k), what known cards change about `below`.
        leaves: float32 (stakes, options, quads, leaves), value of every leaf.
    """
    base = below.shape[1] + 2
    chances = np.empty((_MOST_HANDS, base))
    room = np.empty(max(1, leaves.shape[3] // base))
    for row in range(start, stop):
        faced, stake = opponents[row], stakes[row]
        for i in range(offsets[row], offsets[row + 1]):
            for hand in range(hands):
                _chances(
                    np.int64(strengths[i, hand]),
                    below[faced],
                    alone[faced],
                    kinds[faced],
                    basis,
                    hand,
                    places[row],
                    chances[hand],
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
    below: Any,
    alone: Any,
    kinds: Any,
    basis: Any,
    chances: Any,
    start: Any,
    stop: Any,
) -> None:
    """Write who wins each comparison with each arrangement of many seats: float64 (m, hands, players + 1), nobody last.

    Args:
        offsets, strengths, opponents, places, below, alone, kinds, basis: as `arrangement_values` takes them.
    """
    for row in range(start, stop):
        faced = opponents[row]
        for i in range(offsets[row], offsets[row + 1]):
            for hand in range(chances.shape[1]):
                strength = np.int64(strengths[i, hand])
                _chances(strength, below[faced], alone[faced], kinds[faced], basis, hand, places[row], chances[i, hand])


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
