"""What a round starts from: deals drawn from the stream, given deals and given scores checked against the rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from ..cards import CardError, format_cards
from ..deals import DealStream
from ..whole_numbers import whole_number
from .events import Ids
from .rules import CrashRules, RulesError

__all__ = ["check_deal", "check_scores", "check_seed", "drawn_deal", "turn_order"]


@cache
def turn_order(dealer: int, players: int) -> tuple[int, ...]:
    """Return the seats clockwise from the dealer's left, the dealer last.

    >>> turn_order(1, 4)
    (2, 3, 0, 1)
    """
    return tuple((dealer + 1 + i) % players for i in range(players))


def drawn_deal(
    rules: CrashRules, stream: DealStream, number: int, order: Sequence[int]
) -> tuple[tuple[Ids, ...], tuple[Ids, ...]]:
    """Return deal `number` of the stream: each seat's ascending ids, and the spare hands; dealt in turn order."""
    size = rules.cards_dealt
    count = size * (rules.players + rules.num_spares)
    cards = stream.shuffle(rules.pack, deal=number, count=count)
    piles = [tuple(sorted(cards[i : i + size])) for i in range(0, count, size)]
    return tuple(piles[order.index(seat)] for seat in range(rules.players)), tuple(piles[rules.players :])


def check_scores(rules: CrashRules, scores: Sequence[int] | None) -> tuple[int, ...]:
    """Return the scores to start from; zeros if None.

    Raises:
        RulesError: not one score below the target for each player.
    """
    if scores is None:
        return (0,) * rules.players
    given: object = scores
    values = tuple(given) if isinstance(given, Iterable) else ()
    numbers = [
        number for value in values if (number := whole_number(value)) is not None and number in range(rules.target)
    ]
    if not len(numbers) == len(values) == rules.players:
        raise RulesError(
            f"scores={values or scores!r}: expected {rules.players} whole numbers from 0 to {rules.target - 1} "
            "(below the target)"
        )
    return tuple(numbers)


def check_seed(seed: object, *, option: str = "seed") -> int:
    """Return a seed as a plain int, whatever whole number it came as.

    Raises:
        RulesError: no whole number from 0.
    """
    number = whole_number(seed)
    if number is None or number < 0:
        raise RulesError(f"{option}={seed!r}: expected a whole number from 0")
    return number


def check_deal(rules: CrashRules, hands: Sequence[Ids], spares: Sequence[Ids]) -> None:
    """Refuse what is no deal under the rules.

    Raises:
        RulesError, CardError: a wrong number of hands or cards, a card dealt twice or not in the pack.
    """
    for name, piles, count in (("hands", hands, rules.players), ("spares", spares, rules.num_spares)):
        if len(piles) != count:
            raise RulesError(f"{name}: expected {count} for players={rules.players}, got {len(piles)}")
        for number, pile in enumerate(piles):
            if len(pile) != rules.cards_dealt:
                raise CardError(
                    f"{name}[{number}] has {len(pile)} cards ({format_cards(pile)!r}), expected {rules.cards_dealt}"
                )
            if list(pile) != sorted(pile):
                raise CardError(f"{name}[{number}]: expected ascending ids, got {list(pile)}")
    seen: set[int] = set()
    for card in (card for pile in (*hands, *spares) for card in pile):
        if card in seen:
            raise CardError(f"{format_cards([card])} is dealt twice")
        if card not in rules.pack:
            raise CardError(f"{format_cards([card])} is not in the pack (ranks={rules.ranks})")
        seen.add(card)
