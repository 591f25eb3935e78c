"""Cards as two-character strings: the pack, ids, a reader of card text (RULES section 1)."""

RANKS = "23456789TJQKA"
SUITS = "cdhs"
PACK = [rank + suit for rank in RANKS for suit in SUITS]

_SYMBOLS = {"♣": "c", "♦": "d", "♥": "h", "♠": "s"}
_VARIATION_SELECTORS = "\ufe0e\ufe0f"


def pack(ranks: str = RANKS) -> list[str]:
    """The pack shortened to some ranks, lowest first."""
    return [card for card in PACK if card[0] in ranks]


def card_id(card: str) -> int:
    """`4 * rank + suit`: rank 0..12 for 2..A, suit 0..3 for clubs, diamonds, hearts, spades."""
    return 4 * RANKS.index(card[0]) + SUITS.index(card[1])


def read_cards(text: str) -> list[str]:
    """Read cards as people write them; a ValueError quotes the first piece that is no card."""
    cards: list[str] = []
    rest = text
    for selector in _VARIATION_SELECTORS:
        rest = rest.replace(selector, "")
    while rest:
        if rest[0].isspace() or rest[0] == ",":
            rest = rest[1:]
            continue
        width = 2 if rest.startswith("10") else 1
        rank = "T" if width == 2 else rest[0].upper()
        suit = rest[width : width + 1]
        suit = _SYMBOLS.get(suit, suit.lower())
        # A lone letter is asked for: `"" in SUITS` would be true.
        if rank not in RANKS or len(suit) != 1 or suit not in SUITS:
            raise ValueError(f"no card: {rest[: width + 1]!r}")
        if rank + suit in cards:
            raise ValueError(f"repeated card: {rank + suit!r}")
        cards.append(rank + suit)
        rest = rest[width + 1 :]
    return cards
