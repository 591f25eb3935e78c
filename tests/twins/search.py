"""Twin of the search for undominated arrangements: every set of hands in order, the definition of dominance, no pruning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from twins.partitions import Triple, colex

Value = tuple[int, int, int, int, int]


class Laid(NamedTuple):
    """One undominated value (four strengths, quads laid) and the triples of slots that stand for it."""

    value: Value
    triples: tuple[Triple, ...]


def _sets(
    ordered: Sequence[tuple[int, Triple]], hands: int, start: int = 0, used: frozenset[int] = frozenset()
) -> Iterator[tuple[tuple[int, Triple], ...]]:
    """Sets of disjoint hands in lexicographic order of `ordered`, each set after all that it begins."""
    yield ()
    if hands == 0:
        return
    for place in range(start, len(ordered)):
        if used.isdisjoint(ordered[place][1]):
            for more in _sets(ordered, hands - 1, place + 1, used.union(ordered[place][1])):
                yield (ordered[place], *more)


def undominated(cards: Sequence[int], strengths: Sequence[int], *, count_quads: bool) -> list[Laid]:
    """Undominated arrangements, strongest Hand 1 first; of equal values the first in order stands for all.

    Args:
        cards: ascending ids.
        strengths: of every triple of slots, colex order, 0 for no hand.
        count_quads: whether four of a kind laid whole count.
    """
    triples = list(combinations(range(len(cards)), 3))
    hands = [(strengths[colex(triple)], triple) for triple in triples if strengths[colex(triple)] > 0]
    ordered = sorted(hands, key=lambda hand: (-hand[0], colex(hand[1])))
    ranks = [card // 4 for card in cards]
    fours = [frozenset(s for s, r in enumerate(ranks) if r == rank) for rank in set(ranks) if ranks.count(rank) == 4]
    first: dict[Value, tuple[Triple, ...]] = {}
    for laid in _sets(ordered, min(4, len(cards) // 3)):
        used = {slot for _, triple in laid for slot in triple}
        quads = sum(four <= used for four in fours) if count_quads else 0
        s1, s2, s3, s4 = (*(strength for strength, _ in laid), 0, 0, 0, 0)[:4]
        first.setdefault((s1, s2, s3, s4, quads), tuple(triple for _, triple in laid))
    best: list[Value] = []
    for value in sorted(first, reverse=True):  # what dominates comes earlier in this order
        if not any(all(a >= b for a, b in zip(other, value, strict=True)) for other in best):
            best.append(value)
    return [Laid(value, first[value]) for value in best]
