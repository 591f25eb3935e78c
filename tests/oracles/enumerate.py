"""All arrangements of a deal by plain recursion, and which are undominated, by the definition.

Slow: for 13 cards `lowest_hand = high_card` is out of reach of `undominated_values`; the module
`enumerate_np` does the same in another way, and fast.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from . import ranking
from .cards import PACK

Hand = tuple[str, str, str]
# Per position the strength (1..741, 0 where no hand is laid), then the quads bonus.
Value = tuple[int, ...]


def partitions(cards: tuple[str, ...], hands: int, after: Hand | None = None) -> Iterator[tuple[Hand, ...]]:
    """Every set of at most `hands` disjoint triples of the sorted cards, each set once.

    The triples of a set are taken in rising order, each after the one before it.
    """
    yield ()
    if hands == 0:
        return
    for triple in combinations(cards, 3):
        if after is None or triple > after:
            rest = tuple(card for card in cards if card not in triple)
            yield from ((triple, *others) for others in partitions(rest, hands - 1, triple))


def partition_counts(cards_dealt: int) -> list[int]:
    """How many partitions have 0, 1, ... hands, before validity."""
    hands = min(4, cards_dealt // 3)
    counts = [0] * (hands + 1)
    for partition in partitions(tuple(PACK[:cards_dealt]), hands):
        counts[len(partition)] += 1
    return counts


def arrangements(cards: Sequence[str], *, lowest_hand: str, flush_high: str) -> Iterator[tuple[Hand, ...]]:
    """Every arrangement that can be laid, its hands strongest first."""
    order = sorted(cards)
    is_hand = {triple: ranking.is_hand(triple, lowest_hand=lowest_hand) for triple in combinations(order, 3)}
    key = {triple: ranking.key(triple, flush_high=flush_high) for triple in is_hand}
    for partition in partitions(tuple(order), min(4, len(cards) // 3)):
        if all(is_hand[triple] for triple in partition):
            yield tuple(sorted(partition, key=key.__getitem__, reverse=True))


def value(laid: Sequence[Sequence[str]], *, hands: int, flush_high: str, quads_bonus: int) -> Value:
    """What counts of an arrangement: strengths by position, and the quads bonus."""
    strengths = [ranking.strength(hand, flush_high=flush_high) for hand in laid]
    missing = [0] * (hands - len(laid))
    ranks = [card[0] for hand in laid for card in hand]
    quads = sum(ranks.count(rank) == 4 for rank in set(ranks))
    return (*strengths, *missing, quads * quads_bonus)


def dominates(first: Value, second: Value) -> bool:
    """RULES section 6: at least as good everywhere and better somewhere."""
    return first != second and all(a >= b for a, b in zip(first, second, strict=True))


def values(cards: Sequence[str], *, lowest_hand: str, flush_high: str, quads_bonus: int) -> set[Value]:
    """The values of all arrangements of a deal."""
    hands = min(4, len(cards) // 3)
    return {
        value(laid, hands=hands, flush_high=flush_high, quads_bonus=quads_bonus)
        for laid in arrangements(cards, lowest_hand=lowest_hand, flush_high=flush_high)
    }


def undominated_values(cards: Sequence[str], *, lowest_hand: str, flush_high: str, quads_bonus: int) -> set[Value]:
    """The values that no arrangement's value dominates."""
    every = values(cards, lowest_hand=lowest_hand, flush_high=flush_high, quads_bonus=quads_bonus)
    return {one for one in every if not any(dominates(other, one) for other in every)}
