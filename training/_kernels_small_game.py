"""Compiled enumeration of small games: hands up to suits, pairs of disjoint hands, expected margins. Private.

Conventions: a pack of `n` cards is positions 0..n-1, four suits a rank; a hand is a bit mask of positions; its *rank* is
its place among the masks of its size in ascending order, which is their colex order: the sum of C(position, i) over its
positions, ascending, i = 1, 2, ...
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.kernel_cache import kernel

_SUITS = 4


@kernel()
def hand_classes(num_hands: Any, size: Any, binomials: Any, suits: Any) -> Any:
    """Sort all hands into classes of those that a permutation of suits turns into each other.

    Args:
        num_hands: C(pack, size).
        size: cards a hand.
        binomials: int64 (pack + 1, size + 1), C(position, i).
        suits: int64 (p, 16), the permutations of suits allowed (a group), as what they do to four bits.

    Returns:
        class_of int32 (num_hands,), the class of each hand by its rank; masks int64 (classes,), the smallest mask of each;
        weights int64 (classes,), how many hands it has.
    """
    class_of = np.empty(num_hands, np.int32)
    masks = np.empty(num_hands, np.int64)
    weights = np.zeros(num_hands, np.int64)
    found = 0
    mask = (np.int64(1) << size) - 1
    for rank in range(num_hands):
        smallest = mask
        for p in range(len(suits)):
            turned, shift, left = np.int64(0), 0, mask
            while left:
                turned |= suits[p, left & 15] << shift
                left >>= _SUITS
                shift += _SUITS
            smallest = min(smallest, turned)
        if smallest == mask:
            class_of[rank] = found
            masks[found] = mask
            weights[found] = 1
            found += 1
        else:
            where, position, place, left = 0, 0, 0, smallest
            while left:
                if left & 1:
                    place += 1
                    where += binomials[position, place]
                left >>= 1
                position += 1
            class_of[rank] = class_of[where]
            weights[class_of[rank]] += 1
        low = mask & -mask  # the next mask with as many bits
        carried = mask + low
        mask = carried | (((mask ^ carried) // low) >> 2)
    return class_of, masks[:found].copy(), weights[:found].copy()


@kernel()
def _next_choice(chosen: Any, size: Any, left: Any) -> Any:
    """Advance a choice of `size` out of `left` places; return the first place changed, -1 after the last choice."""
    c = size - 1
    while c >= 0 and chosen[c] == left - size + c:
        c -= 1
    if c >= 0:
        chosen[c] += 1
        for d in range(c + 1, size):
            chosen[d] = chosen[d - 1] + 1
    return c


@kernel()
def opponents(masks: Any, num_cards: Any, size: Any, binomials: Any, class_of: Any, num_classes: Any) -> Any:
    """Count, for each class, the hands of each class that its first hand leaves possible.

    Args:
        masks: int64 (classes,), one hand of each class.
        num_cards: of the pack.
        size: cards a hand.
        binomials: int64 (pack + 1, size + 1).
        class_of: int32 (hands,).
        num_classes: how many there are.

    Returns:
        starts int64 (classes + 1,), others int32 (m,), counts int32 (m,): class `i` meets the classes
        ``others[starts[i]:starts[i + 1]]``, ascending, each in as many hands as `counts` says.
    """
    rest = num_cards - size
    left = np.empty(rest, np.int64)
    chosen = np.empty(size, np.int64)
    ranks = np.zeros(size + 1, np.int64)
    seen = np.zeros(num_classes, np.int32)
    touched = np.empty(num_classes, np.int32)
    starts = np.zeros(len(masks) + 1, np.int64)
    others = np.empty(max(1024, 16 * len(masks)), np.int32)
    counts = np.empty(len(others), np.int32)
    total = 0
    for i in range(len(masks)):
        at = 0
        for position in range(num_cards):
            if not masks[i] >> position & 1:
                left[at] = position
                at += 1
        num_touched = 0
        for c in range(size):
            chosen[c] = c
            ranks[c + 1] = ranks[c] + binomials[left[c], c + 1]
        while True:
            other = class_of[ranks[size]]
            if seen[other] == 0:
                touched[num_touched] = other
                num_touched += 1
            seen[other] += 1
            c = _next_choice(chosen, size, rest)
            if c < 0:
                break
            for d in range(c, size):
                ranks[d + 1] = ranks[d] + binomials[left[chosen[d]], d + 1]
        if total + num_touched > len(others):
            room = 2 * (total + num_touched)
            more_others, more_counts = np.empty(room, np.int32), np.empty(room, np.int32)
            more_others[:total], more_counts[:total] = others[:total], counts[:total]
            others, counts = more_others, more_counts
        met = np.sort(touched[:num_touched])
        for t in range(num_touched):
            others[total + t] = met[t]
            counts[total + t] = seen[met[t]]
            seen[met[t]] = 0
        total += num_touched
        starts[i + 1] = total
    return starts, others[:total].copy(), counts[:total].copy()


@kernel()
def expected_margins(
    starts: Any,
    others: Any,
    counts: Any,
    own_offsets: Any,
    own_strengths: Any,
    own_bonus: Any,
    offsets: Any,
    strengths: Any,
    bonus: Any,
    chances: Any,
    hands: Any,
    crash: Any,
    margins: Any,
) -> None:
    """Write what each arrangement earns on average against an opponent who mixes, the own class given.

    Args:
        starts, others, counts: as `opponents` returns them.
        own_offsets: int64 (classes + 1,), class `i` may lay rows ``own_offsets[i]:own_offsets[i + 1]``.
        own_strengths: int16 (m, 4), 0 for no hand.
        own_bonus: float64 (m,), points beside the comparisons.
        offsets, strengths, bonus: of the opponent likewise, int64 (classes + 1,), int16 (k, 4), float64 (k,).
        chances: float64 (k,), how likely the opponent lays each row of its class.
        hands: how many positions are compared.
        crash: points for winning all of them.
        margins: float64 (m,), the result.
    """
    for i in range(len(starts) - 1):
        first, last = own_offsets[i], own_offsets[i + 1]
        for a in range(first, last):
            margins[a] = 0.0
        number = 0
        for p in range(starts[i], starts[i + 1]):
            number += counts[p]
            for b in range(offsets[others[p]], offsets[others[p] + 1]):
                if chances[b] == 0.0:
                    continue
                weight = counts[p] * chances[b]
                for a in range(first, last):
                    won = lost = 0
                    for hand in range(hands):
                        if own_strengths[a, hand] > strengths[b, hand]:
                            won += 1
                        elif own_strengths[a, hand] < strengths[b, hand]:
                            lost += 1
                    margin = won - lost + own_bonus[a] - bonus[b]
                    if won == hands:
                        margin += crash
                    elif lost == hands:
                        margin -= crash
                    margins[a] += weight * margin
        for a in range(first, last):
            margins[a] /= number


@kernel()
def expected_margins_of_three(
    masks: Any,
    num_cards: Any,
    size: Any,
    binomials: Any,
    class_of: Any,
    own_offsets: Any,
    own_strengths: Any,
    own_bonus: Any,
    offsets: Any,
    strengths: Any,
    bonus: Any,
    chances: Any,
    hands: Any,
    crash: Any,
    margins: Any,
) -> None:
    """Write what each arrangement earns on average against two opponents who mix alike: see `expected_margins`.

    Args:
        masks: int64 (classes,), one hand of each class.
        num_cards: of the pack.
        size: cards a hand.
        binomials: int64 (pack + 1, size + 1).
        class_of: int32 (hands,).
        own_offsets, own_strengths, own_bonus, offsets, strengths, bonus, chances, hands, crash, margins: as there.
    """
    rest = num_cards - size
    left = np.empty(rest, np.int64)
    chosen = np.empty(size, np.int64)
    ranks = np.zeros(size + 1, np.int64)
    others = np.empty(rest, np.int64)
    other_chosen = np.empty(size, np.int64)
    other_ranks = np.zeros(size + 1, np.int64)
    taken = np.zeros(rest, np.bool_)
    for i in range(len(masks)):
        first, last = own_offsets[i], own_offsets[i + 1]
        for a in range(first, last):
            margins[a] = 0.0
        at = 0
        for position in range(num_cards):
            if not masks[i] >> position & 1:
                left[at] = position
                at += 1
        number = 0
        c = 0
        for d in range(size):
            chosen[d] = d
        while c >= 0:
            for d in range(c, size):
                ranks[d + 1] = ranks[d] + binomials[left[chosen[d]], d + 1]
            one = class_of[ranks[size]]
            # The other opponent has a higher lowest card: each pair of opponents' hands once.
            for d in range(size):
                taken[chosen[d]] = True
            num_others = 0
            for place in range(chosen[0] + 1, rest):
                if not taken[place]:
                    others[num_others] = left[place]
                    num_others += 1
            for d in range(size):
                taken[chosen[d]] = False
            e = 0 if num_others >= size else -1
            for d in range(size):
                other_chosen[d] = d
            while e >= 0:
                for d in range(e, size):
                    other_ranks[d + 1] = other_ranks[d] + binomials[others[other_chosen[d]], d + 1]
                two = class_of[other_ranks[size]]
                number += 1
                for b in range(offsets[one], offsets[one + 1]):
                    if chances[b] == 0.0:
                        continue
                    for t in range(offsets[two], offsets[two + 1]):
                        if chances[t] == 0.0:
                            continue
                        weight = chances[b] * chances[t]
                        for a in range(first, last):
                            won = 0
                            won_b = 0
                            won_t = 0
                            for hand in range(hands):
                                mine, s, z = own_strengths[a, hand], strengths[b, hand], strengths[t, hand]
                                if mine > s and mine > z:
                                    won += 1
                                elif s > mine and s > z:
                                    won_b += 1
                                elif z > mine and z > s:
                                    won_t += 1
                            margin = won + own_bonus[a] - 0.5 * (won_b + won_t + bonus[b] + bonus[t])
                            if won == hands:
                                margin += crash
                            elif hands in (won_b, won_t):
                                margin -= 0.5 * crash
                            margins[a] += weight * margin
                e = _next_choice(other_chosen, size, num_others)
            c = _next_choice(chosen, size, rest)
        for a in range(first, last):
            margins[a] /= number
