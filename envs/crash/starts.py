"""What a round starts from: deals drawn from the stream, given deals and given scores checked against the rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ..cards import CardError, format_cards
from ..deals import DealStream
from .events import Ids
from .rules import CrashRules, RulesError

__all__ = ["check_deal", "check_scores", "drawn_deal", "turn_order"]


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
    values = tuple(scores)
    fits = all(not isinstance(s, bool) and hasattr(s, "__index__") and 0 <= s < rules.target for s in values)
    if len(values) != rules.players or not fits:
        raise RulesError(
            f"scores={values!r}: expected {rules.players} whole numbers from 0 to {rules.target - 1} (below the target)"
        )
    return tuple(int(score) for score in values)


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
