"""Compiled parts of the solver: features of known cards, and fits on them. Private."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.kernel_cache import kernel
from .solver_table import NUM_RANKS, NUM_RUNS, NUM_SUITS

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
