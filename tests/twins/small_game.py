"""Twin of the enumeration and the margins of small games: hands as sets of cards, deals one by one, no ranks or masks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, permutations

Hand = tuple[int, ...]
Value = tuple[int, ...]
"""Strengths by position, then bonus points."""


def turned(hand: Hand, suits: Sequence[int]) -> Hand:
    """Return a hand with its suits permuted."""
    return tuple(sorted(4 * (card // 4) + suits[card % 4] for card in hand))


def classes(pack: Sequence[int], size: int) -> dict[Hand, Hand]:
    """Return, for each hand, the one that stands for all that differ in suits only."""
    orders = list(permutations(range(4)))
    return {hand: min(turned(hand, order) for order in orders) for hand in combinations(sorted(pack), size)}


def opponents(hand: Hand, pack: Sequence[int], standing: Mapping[Hand, Hand]) -> Counter[Hand]:
    """Return how many hands of each class a hand leaves possible."""
    rest = [card for card in sorted(pack) if card not in hand]
    return Counter(standing[other] for other in combinations(rest, len(hand)))


def margin(mine: Value, theirs: Value, crash: int) -> int:
    """Return own points minus the other's."""
    won = sum(a > b for a, b in zip(mine[:-1], theirs[:-1], strict=True))
    lost = sum(a < b for a, b in zip(mine[:-1], theirs[:-1], strict=True))
    hands = len(mine) - 1
    extra = crash * ((won == hands) - (lost == hands)) if hands > 1 else 0
    return won - lost + mine[-1] - theirs[-1] + extra


def expected_margin(
    mine: Value, met: Mapping[Hand, int], mixture: Mapping[Hand, Mapping[Value, float]], crash: int
) -> float:
    """Return what an arrangement earns on average against a mixture, the hands that may be met counted."""
    earned = sum(
        number * chance * margin(mine, theirs, crash)
        for other, number in met.items()
        for theirs, chance in mixture[other].items()
    )
    return earned / sum(met.values())
