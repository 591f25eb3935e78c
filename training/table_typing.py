"""Hands as people type them: cards with suits, or ranks alone where the cards that are held say the rest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from ..envs.cards import RANKS, Card, CardError, parse_cards

__all__ = ["Hands", "read_hands", "read_ranks", "with_suits"]

Hands: TypeAlias = tuple[tuple[Card, ...], ...]
Ranks: TypeAlias = tuple[int, ...]

_RANK = re.compile(r"10|[2-9TJQKA]", re.IGNORECASE | re.ASCII)
_RANKS_ALONE = re.compile(rf"(?:{_RANK.pattern}|[\s,;|])+", re.IGNORECASE | re.ASCII)


def read_hands(line: str, *, hands: int, cards_dealt: int) -> tuple[Hands, tuple[Card, ...]]:
    """Return the hands of a typed line, and its spare cards (after a slash).

    Hands are told apart by ``|``. Without it the cards are taken three by three; what is over after the last hand of a whole
    deal is spare.

    Raises:
        CardError: unreadable, or nothing between two ``|``.

    >>> [len(hand) for hand in read_hands("AsAdAc 10d9d8d", hands=4, cards_dealt=13)[0]]
    [3, 3]
    """
    laid, slash, rest = line.partition("/")
    laid = laid.strip().strip("|")
    spare = _cards(rest) if slash else ()
    parts = laid.split("|")
    if len(parts) > 1:
        if not all(part.strip() for part in parts):
            raise CardError("there is nothing between two '|'; expected three cards")
        return tuple(_cards(part) for part in parts), spare
    cards = _cards(laid)
    if len(cards) == cards_dealt and not spare:
        cards, spare = cards[: 3 * hands], cards[3 * hands :]
    if len(cards) % 3:
        return (cards,), spare
    return tuple(cards[start : start + 3] for start in range(0, len(cards), 3)), spare


def _cards(text: str) -> tuple[Card, ...]:
    """Read cards; what is wrong is said without the whole line, which the person sees anyway."""
    try:
        return parse_cards(text)
    except CardError as error:
        said, cut, _ = str(error).partition(f" in {text!r}")
        what_is = "; a card is a rank and a suit, such as As or 10d" if cut and said.endswith("is not a card") else ""
        raise CardError(said + what_is) from None


def read_ranks(line: str) -> tuple[Ranks, ...] | None:
    """Return the hands of a line of ranks alone, as ranks 0 (2) to 12 (ace); None if there is anything else in it.

    >>> read_ranks("AAA 10 9 8"), read_ranks("AsAdAc")
    (((12, 12, 12), (8, 7, 6)), None)
    """
    if not _RANKS_ALONE.fullmatch(line):
        return None
    parts = [_ranks(part) for part in line.strip().strip("|").split("|")]
    if len(parts) > 1:
        return tuple(parts)
    ranks = parts[0]
    return tuple(ranks[start : start + 3] for start in range(0, len(ranks), 3)) or None


def _ranks(text: str) -> Ranks:
    names = (match[0].upper() for match in _RANK.finditer(text))
    return tuple(RANKS.index("T" if name == "10" else name) for name in names)


def with_suits(hands: Sequence[Ranks], held: Sequence[Card], *, strength: Callable[[tuple[Card, ...]], int]) -> Hands:
    """Return held cards of these ranks: those that make the strongest first hand, then the strongest second, and so on.

    Args:
        hands: ranks of each.
        held: the cards to take from.
        strength: of three cards.

    Raises:
        CardError: a rank is not held so often.

    >>> from ..envs.cards import format_cards
    >>> cards = parse_cards("As Ks Qd Qs 9d 4d")
    >>> hands = with_suits([(12, 11, 10), (10, 7, 2)], cards, strength=lambda hand: len({card.suit for card in hand}) == 1)
    >>> [format_cards(hand) for hand in hands]
    ['As Ks Qs', 'Qd 9d 4d']
    """
    there, wanted = Counter(card.rank for card in held), Counter(rank for hand in hands for rank in hand)
    for rank, count in wanted.items():
        if count > there[rank]:
            name = "10" if RANKS[rank] == "T" else RANKS[rank]
            have = f"{there[rank]} of rank {name}" if there[rank] else f"no {name}"
            raise CardError(f"there {'are' if there[rank] > 1 else 'is'} {have} to take, and {count} would be needed")
    return max(_choices(hands, tuple(held)), key=lambda chosen: [strength(hand) for hand in chosen])


def _choices(hands: Sequence[Ranks], held: tuple[Card, ...]) -> Iterator[Hands]:
    """Yield every way to take cards of these ranks."""
    if not hands:
        yield ()
        return
    for first in _takes(Counter(hands[0]), held):
        left = tuple(card for card in held if card not in first)
        for others in _choices(hands[1:], left):
            yield (first, *others)


def _takes(ranks: Counter[int], held: tuple[Card, ...]) -> Iterator[tuple[Card, ...]]:
    """Yield every set of cards of these ranks, high to low."""
    if not ranks:
        yield ()
        return
    rank = max(ranks)
    others = Counter({other: count for other, count in ranks.items() if other != rank})
    for some in combinations([card for card in held if card.rank == rank], ranks[rank]):
        for rest in _takes(others, held):
            yield (*some, *rest)
