"""Compiled parts of the solver: features of known cards, outcomes of a round, values of arrangements. Private.

Seats are relative here: 0 is the seat that decides, the others follow clockwise. A *leaf* says who wins each comparison:
digits in base ``players + 1``, Hand 1 the most significant, the digit `players` for nobody.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.crash._kernels_settling import NO_REASON, settle_winners
from ..envs.kernel_cache import kernel
from .solver_table import NUM_RANKS, NUM_RUNS, NUM_SUITS

_CUTS = 743  # chances of less than 0, 1, ..., 742
_MOST_HANDS = 4
_SCALINGS = 4  # until both keep their shares to about a hundredth
_FLUSHES = 100.0  # scales their numbers to the size of the other features


@kernel(nogil=True)
def _features(known: Any, counts: Any, suits: Any, out: Any) -> None:
    """Write what is known of the pack, `known` being bool (13 ranks, 4 suits).

    That is: cards of each rank, whether two and three of it, sizes of the suits in order; and, with room for it, whether all
    four of a rank; of the unknown cards the runs that they could make of each three ranks in a row, as a share, the running
    flushes among these, the flushes under each rank as their highest card, and all flushes of each suit, in order.
    """
    counts[:] = 0
    suits[:] = 0
    for rank in range(NUM_RANKS):
        for suit in range(NUM_SUITS):
            counts[rank] += known[rank, suit]
            suits[suit] += known[rank, suit]
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
    for low in range(NUM_RUNS):  # 2-3-4 to Q-K-A, then A-2-3
        first = low if low < NUM_RUNS - 1 else NUM_RANKS - 1
        second, third = (first + 1) % NUM_RANKS, (first + 2) % NUM_RANKS
        unknown = (NUM_SUITS - counts[first]) * (NUM_SUITS - counts[second]) * (NUM_SUITS - counts[third])
        out[at + low] = unknown / NUM_SUITS**3
        running = 0
        for suit in range(NUM_SUITS):
            running += not (known[first, suit] or known[second, suit] or known[third, suit])
        out[at + NUM_RUNS + low] = running
    at += 2 * NUM_RUNS
    out[at : at + NUM_RANKS + NUM_SUITS] = 0.0
    for suit in range(NUM_SUITS):
        lower = 0  # unknown cards of the suit below the rank
        for rank in range(NUM_RANKS):
            if not known[rank, suit]:
                out[at + rank] += lower * (lower - 1) / _FLUSHES
                lower += 1
        unknown = NUM_RANKS - suits[suit]
        out[at + NUM_RANKS + suit] = unknown * (unknown - 1) * (unknown - 2) / _FLUSHES


@kernel(nogil=True)
def card_features(cards: Any, given_up: Any, out: Any, start: Any, stop: Any) -> None:
    """Write the features of many seats: float64 (rows, NUM_FEATURES), or (rows, 44) for the first of them.

    Whoever gave up a hand knows twice the cards.

    Args:
        cards, given_up: int8 (rows, n), -1 where nothing was given up.
    """
    known = np.empty((NUM_RANKS, NUM_SUITS), np.bool_)
    counts, suits = np.empty(NUM_RANKS, np.int64), np.empty(NUM_SUITS, np.int64)
    for row in range(start, stop):
        known[:] = False
        for i in range(cards.shape[1]):
            known[cards[row, i] >> 2, cards[row, i] & 3] = True
            if given_up[row, i] >= 0:
                known[given_up[row, i] >> 2, given_up[row, i] & 3] = True
        _features(known, counts, suits, out[row])


@kernel(nogil=True)
def card_terms(features: Any, situations: Any, means: Any, axes: Any, terms: Any, start: Any, stop: Any) -> None:
    """Write what the fit on known cards is linear in: 1, the place on each axis, and products of two of the first places.

    Args:
        features: float64 (rows, d). situations: int64 (rows,).
        means: float64 (situations, d). axes: float64 (situations, d, a).
        terms: float64 (rows, 1 + a + p (p + 1) / 2), to be written, of the first p axes the products.
    """
    a, paired = axes.shape[2], 0
    while 1 + a + paired * (paired + 1) // 2 < terms.shape[1]:
        paired += 1
    for row in range(start, stop):
        mean, axis = means[situations[row]], axes[situations[row]]
        term = terms[row]
        term[0] = 1.0
        term[1 : 1 + a] = 0.0
        for i in range(features.shape[1]):
            away = features[row, i] - mean[i]
            if away != 0.0:
                for j in range(a):
                    term[1 + j] += away * axis[i, j]
        at = 1 + a
        for i in range(paired):
            for j in range(i, paired):
                term[at] = term[1 + i] * term[1 + j]
                at += 1


@kernel(nogil=True)
def card_places(terms: Any, situations: Any, weights: Any, places: Any, start: Any, stop: Any) -> None:
    """Write where known cards lie among the directions of the fit: float64 (rows, k).

    Args:
        terms: as `card_terms` gives them. weights: float64 (situations, terms, k).
    """
    for row in range(start, stop):
        weight = weights[situations[row]]
        places[row] = 0.0
        for i in range(terms.shape[1]):
            for j in range(places.shape[1]):
                places[row, j] += terms[row, i] * weight[i, j]


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
def _link(first: Any, second: Any, weak: Any, same: Any, shares: Any, link: Any) -> None:
    """Write who wins a position, given who wins the one before it: float64 (players + 1, players + 1).

    Both keep their chances. That oneself wins both is a copula; among the others, the same winner is likelier.

    Args:
        first, second: who wins each, float64 (players + 1,), nobody last.
        weak: float64 (grid + 1, grid + 1). same: how much likelier.
        shares: room, float64 (2, players).
    """
    rest = len(first) - 1
    own, own_next = first[0], second[0]
    grid = len(weak) - 1
    x, y = own * grid, own_next * grid
    i, j = min(int(x), grid - 1), min(int(y), grid - 1)
    x -= i
    y -= j
    both = own * own_next
    both += (1.0 - x) * ((1.0 - y) * weak[i, j] + y * weak[i, j + 1])
    both += x * ((1.0 - y) * weak[i + 1, j] + y * weak[i + 1, j + 1])
    both = min(max(both, own + own_next - 1.0, 0.0), own, own_next)
    # Shares of the others where oneself does not win, before and after; of whom is not told apart, even ones.
    for k in range(rest):
        shares[0, k] = first[1 + k] / (1.0 - own) if own < 1.0 else 1.0 / rest
        shares[1, k] = second[1 + k] / (1.0 - own_next) if own_next < 1.0 else 1.0 / rest
    kept = both / own if own > 0.0 else own_next
    caught = (own_next - both) / (1.0 - own) if own < 1.0 else own_next
    # Rows and columns are scaled in turn until both keep their shares (Sinkhorn); the factors lie where `link` is empty yet.
    for m in range(rest):
        link[0, 1 + m] = shares[1, m]
    for _ in range(_SCALINGS if same != 1.0 else 0):
        for k in range(rest):
            total = 0.0
            for m in range(rest):
                total += link[0, 1 + m] * (same if m == k and k < rest - 1 else 1.0)
            link[1 + k, 0] = shares[0, k] / total if total > 0.0 else 0.0
        for m in range(rest):
            total = 0.0
            for k in range(rest):
                total += link[1 + k, 0] * (same if m == k and k < rest - 1 else 1.0)
            link[0, 1 + m] = shares[1, m] / total if total > 0.0 else 0.0
    for k in range(rest):
        total = 0.0
        for m in range(rest):
            link[1 + k, 1 + m] = link[0, 1 + m] * (same if m == k and k < rest - 1 else 1.0)
            total += link[1 + k, 1 + m]
        for m in range(rest):
            link[1 + k, 1 + m] = (1.0 - caught) * (link[1 + k, 1 + m] / total if total > 0.0 else 1.0 / rest)
        link[1 + k, 0] = caught
    link[0, 0] = kept
    for m in range(rest):
        link[0, 1 + m] = (1.0 - kept) * shares[1, m]


@kernel(nogil=True, makes_arrays=False)
def _expected(leaves: Any, chances: Any, links: Any, hands: Any, room: Any) -> Any:
    """Mean of the leaves, each comparison depending on the one before it."""
    base = chances.shape[1]
    size = len(leaves) // base
    for i in range(size):
        room[i] = 0.0
        for digit in range(base):
            chance = chances[0, digit] if hands == 1 else links[hands - 2, i % base, digit]
            room[i] += chance * leaves[i * base + digit]
    for hand in range(hands - 2, -1, -1):
        size //= base
        for i in range(size):
            total = 0.0
            for digit in range(base):
                chance = chances[0, digit] if hand == 0 else links[hand - 1, i % base, digit]
                total += chance * room[i * base + digit]
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
    situations: Any,
    weak: Any,
    same: Any,
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
        situations: int64 (rows,), which row of the two arrays below is each seat's.
        weak, same: how neighbouring positions hang together, as `SolverTable` has it.
        leaves: float32 (stakes, options, quads, leaves), value of every leaf.
    """
    base = alone.shape[1] + 2
    chances = np.empty((_MOST_HANDS, base))
    links, shares = np.empty((_MOST_HANDS, base, base)), np.empty((2, base))
    room = np.empty(max(1, leaves.shape[3] // base))
    for row in range(start, stop):
        faced, stake, situation = opponents[row], stakes[row], situations[row]
        for i in range(offsets[row], offsets[row + 1]):
            for hand in range(hands):
                strength = np.int64(strengths[i, hand])
                _chances(
                    strength, all_below[faced, hand], alone[faced, :, hand], basis[hand], places[row], chances[hand]
                )
            for hand in range(hands - 1):
                _link(
                    chances[hand],
                    chances[hand + 1],
                    weak[situation, hand],
                    same[situation, hand],
                    shares,
                    links[hand],
                )
            laid = min(np.int64(quads[i]), leaves.shape[2] - 1)
            for option in range(leaves.shape[1]):
                values[option, i] = _expected(leaves[stake, option, laid], chances, links, hands, room)


@kernel(nogil=True)
def comparison_links(chances: Any, situations: Any, weak: Any, same: Any, links: Any, start: Any, stop: Any) -> None:
    """Write who wins each comparison but the first, given who wins the one before.

    Args:
        chances: who wins each, float64 (rows, hands, players + 1).
        links: float64 (rows, hands - 1, players + 1, players + 1), to be written.
        situations, weak, same: as `arrangement_values` takes them.
    """
    shares = np.empty((2, chances.shape[2]))
    for row in range(start, stop):
        situation = situations[row]
        for hand in range(chances.shape[1] - 1):
            _link(
                chances[row, hand],
                chances[row, hand + 1],
                weak[situation, hand],
                same[situation, hand],
                shares,
                links[row, hand],
            )


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


@kernel(nogil=True, makes_arrays=False)
def add_to_fit(terms: Any, laid: Any, sums: Any) -> None:
    """Add samples to sums of terms by strength laid.

    Args:
        terms: float64 (rows, d).
        laid: int64 (rows, hands).
        sums: float64 (hands, 742, d).
    """
    for row in range(len(terms)):
        for hand in range(laid.shape[1]):
            strength = laid[row, hand]
            for i in range(terms.shape[1]):
                sums[hand, strength, i] += terms[row, i]
