"""Playing cards: ids, text in and out, packs.

A card is an integer id ``4 * rank + suit`` inside the engine (rank 0..12 for 2..A, suit 0..3 for clubs, diamonds,
hearts, spades) and a frozen :class:`Card` for people. `as_cards` is the one lenient gate; everything behind it is strict.

Source: RULES section 1.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import total_ordering
from typing import TypeAlias

__all__ = [
    "NUM_CARDS",
    "RANKS",
    "SUITS",
    "SUIT_SYMBOLS",
    "Card",
    "CardError",
    "CardsLike",
    "as_cards",
    "format_cards",
    "pack_ids",
    "parse_cards",
    "rank_index",
]

NUM_CARDS = 52
RANKS = "23456789TJQKA"
SUITS = "cdhs"
SUIT_SYMBOLS = "♣♦♥♠"
_SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
# The outlined suits are what some keyboards and fonts produce.
_SUIT_OF = {**{s: i for i, s in enumerate(SUITS)}, **{s: i for i, s in enumerate(SUIT_SYMBOLS)}}
_SUIT_OF.update({s: i for i, s in enumerate("♧♢♡♤")})
_RANK_OF = {**{r: i for i, r in enumerate(RANKS)}, "10": RANKS.index("T")}

# Emoji and text variation selectors follow a suit symbol without changing it; some editors add zero-width marks.
_INVISIBLE = dict.fromkeys(map(ord, "\ufe0e\ufe0f\u200b\u200d\u2060\ufeff"))
# ASCII: without it, ignoring case also takes the Kelvin sign for K and the long s for s.
_CARD = re.compile(r"(10|[2-9TJQKA])([CDHS♣♦♥♠♧♢♡♤])", re.IGNORECASE | re.ASCII)
_GAP = re.compile(r"[\s,;]*")


class CardError(ValueError):
    """Text or numbers that are not the cards that were expected."""


@total_ordering
@dataclass(frozen=True, slots=True)
class Card:
    """One card, ordered by its id.

    >>> Card.from_text("As").id, str(Card(51)), Card(51).symbol
    (51, 'As', 'A♠')
    """

    id: int

    def __post_init__(self) -> None:
        if isinstance(self.id, bool) or not isinstance(self.id, int):
            raise CardError(f"a card id is an int from 0 to {NUM_CARDS - 1}, not {self.id!r}")
        if not 0 <= self.id < NUM_CARDS:
            raise CardError(f"card id {self.id} is not between 0 and {NUM_CARDS - 1}")

    @classmethod
    def from_text(cls, text: str) -> Card:
        """Read one card such as ``As``, ``10d`` or ``A♠``.

        Raises:
            CardError: no card, or more than one.

        >>> Card.from_text("10d")
        Card.from_text('Td')
        """
        cards = parse_cards(text)
        if len(cards) != 1:
            raise CardError(f"expected one card, got {len(cards)} in {text!r}")
        return cards[0]

    @property
    def rank(self) -> int:
        """Rank 0..12 for 2..A."""
        return self.id // 4

    @property
    def suit(self) -> int:
        """Suit 0..3 for clubs, diamonds, hearts, spades."""
        return self.id % 4

    @property
    def suit_name(self) -> str:
        """The suit in words, for screen readers and messages."""
        return _SUIT_NAMES[self.suit]

    @property
    def symbol(self) -> str:
        """The card for people: ``A♠``, ``10♦``."""
        rank = RANKS[self.rank]
        return ("10" if rank == "T" else rank) + SUIT_SYMBOLS[self.suit]

    def __str__(self) -> str:
        return RANKS[self.rank] + SUITS[self.suit]

    def __repr__(self) -> str:
        return f"Card.from_text({str(self)!r})"

    def __lt__(self, other: object) -> bool:
        return self.id < other.id if isinstance(other, Card) else NotImplemented


CardsLike: TypeAlias = "str | Iterable[Card | int | str]"


def rank_index(text: str) -> int:
    """Return 0..12 for a rank written as ``2``..``9``, ``T`` or ``10``, ``J``, ``Q``, ``K``, ``A``, in either case.

    Raises:
        CardError: not a rank.

    >>> rank_index("T"), rank_index("10"), rank_index("a")
    (8, 8, 12)
    """
    rank = _RANK_OF.get(text.upper())
    if rank is None:
        raise CardError(f"{text!r} is not a rank; expected one of {' '.join(RANKS)}")
    return rank


def _describe(piece: str) -> str:
    """Quote a piece of text; name the code point of anything outside ASCII, since look-alike letters look right."""
    odd = [c for c in piece if not c.isascii() and c not in _SUIT_OF]
    if not odd:
        return repr(piece)
    names = ", ".join(f"U+{ord(c):04X} {unicodedata.name(c, 'unnamed')}" for c in odd)
    return f"{piece!r} ({names})"


def parse_cards(text: str) -> tuple[Card, ...]:
    """Read cards from text, in the order written; repeats are an error.

    Reads ``As Td 2c``, ``10d``, either case, suit symbols with or without a variation selector, and any of space, comma,
    semicolon, line end or nothing between cards.

    Raises:
        CardError: a piece that is no card (it is quoted, look-alike letters by code point) or a card given twice.

    >>> format_cards(parse_cards("10s9s8s, A♠ td"))
    'Ts 9s 8s As Td'
    """
    if not isinstance(text, str):
        raise CardError(f"expected text, got {type(text).__name__}")
    clean = text.translate(_INVISIBLE)
    cards: list[Card] = []
    seen: set[int] = set()
    at = _gap_end(clean, 0)
    while at < len(clean):
        match = _CARD.match(clean, at)
        if match is None:
            piece = re.split(r"[\s,;]", clean[at:], maxsplit=1)[0]
            raise CardError(
                f"{_describe(piece)} is not a card in {text!r}; expected a rank ({RANKS[:8]} T or 10, J Q K A) "
                f"and a suit ({' '.join(SUITS)} or {' '.join(SUIT_SYMBOLS)}), such as As or 10d"
            )
        rank, suit = match.groups()
        card = Card(4 * _RANK_OF[rank.upper()] + _SUIT_OF[suit.lower()])
        if card.id in seen:
            raise CardError(f"{card} is given twice in {text!r}; each card exists once")
        seen.add(card.id)
        cards.append(card)
        at = _gap_end(clean, match.end())
    return tuple(cards)


def _gap_end(text: str, start: int) -> int:
    match = _GAP.match(text, start)
    return match.end() if match else start


def as_cards(cards: CardsLike, *, count: int | None = None) -> tuple[Card, ...]:
    """Turn whatever a caller has (text, `Card` values, ids, card texts) into cards, keeping the order.

    Args:
        cards: text, or an iterable of `Card`, id or card text (numpy integers too).
        count: how many there must be; None for any number.

    Raises:
        CardError: unreadable, repeated, or a wrong number.

    >>> as_cards([51, "Td", Card(0)])
    (Card.from_text('As'), Card.from_text('Td'), Card.from_text('2c'))
    """
    if isinstance(cards, str):
        result = parse_cards(cards)
    else:
        try:
            items = list(cards)
        except TypeError:
            raise CardError(f"expected cards, got {type(cards).__name__} {cards!r}") from None
        result = tuple(_as_card(item) for item in items)
        if len({card.id for card in result}) != len(result):
            twice = next(c for i, c in enumerate(result) if c in result[:i])
            raise CardError(f"{twice} is given twice in {format_cards(result)!r}; each card exists once")
    if count is not None and len(result) != count:
        raise CardError(f"expected {count} cards, got {len(result)}: {format_cards(result)!r}")
    return result


def _as_card(item: object) -> Card:
    if isinstance(item, Card):
        return item
    if isinstance(item, str):
        return Card.from_text(item)
    index = getattr(item, "__index__", None)
    if index is None or isinstance(item, bool):
        raise CardError(f"expected a card, an id or a card text, got {item!r}")
    return Card(index())


def format_cards(cards: Iterable[Card | int], *, symbols: bool = False, separator: str = " ") -> str:
    """Write cards as text that `parse_cards` reads back.

    >>> format_cards([51, 33]), format_cards([51, 33], symbols=True)
    ('As Td', 'A♠ 10♦')
    """
    values = [card if isinstance(card, Card) else Card(int(card)) for card in cards]
    return separator.join(card.symbol if symbols else str(card) for card in values)


def pack_ids(ranks: Sequence[int] = tuple(range(13))) -> tuple[int, ...]:
    """Return the card ids of a pack with the given ranks (0..12), ascending.

    >>> len(pack_ids()), len(pack_ids([9, 10, 11, 12]))
    (52, 16)
    """
    return tuple(4 * rank + suit for rank in sorted(set(ranks)) for suit in range(4))
