"""Hands in the order they are laid as a picture: each with its class, then the spare cards, dimmed."""

from __future__ import annotations

from collections.abc import Sequence

from .brag import brag_class
from .card_picture import SuitColours, card_face, card_height
from .cards import Card, format_cards
from .picture import Box, Picture, Shape, Text

__all__ = ["FELT", "MUTED", "PALE", "hands_picture"]

FELT, PALE, MUTED = "#1f5a49", "#f5f8f4", "#c3dad0"

_MARGIN, _CARD, _PITCH, _GAP = 14, 44, 47, 20


def hands_picture(
    hands: Sequence[Sequence[Card]], spare: Sequence[Card] = (), *, colours: SuitColours = "two"
) -> Picture:
    """Return a picture of hands side by side, Hand 1 first, and the cards that are in none.

    Args:
        hands: of any number of cards; three cards are labelled with their class.
        spare: cards in no hand.
        colours: `two`, or `four` with green clubs and blue diamonds.

    >>> from .cards import parse_cards
    >>> hands_picture([parse_cards("As Ad Ac")], parse_cards("2h")).title
    'As Ad Ac / 2h'
    """
    shapes: list[Shape] = []
    x, top = _MARGIN, _MARGIN + 20
    base = top + card_height(_CARD) + 18
    piles = [(f"Hand {n}", brag_class(hand).label if len(hand) == 3 else "", hand) for n, hand in enumerate(hands, 1)]
    for head, label, cards in [*piles, *([("Spare", "", spare)] if spare else [])]:
        dimmed = head == "Spare"
        shapes.append(Text(text=head, x=x, y=_MARGIN + 12, size=14, fill=MUTED if dimmed else PALE, bold=not dimmed))
        shapes += [
            card_face(card, x + i * _PITCH, top, width=_CARD, dimmed=dimmed, colours=colours)
            for i, card in enumerate(cards)
        ]
        if label:
            shapes.append(Text(text=label, x=x, y=base, size=13, fill=PALE))
        x += max(len(cards) * _PITCH, 60) - (_PITCH - _CARD) + _GAP
    if not shapes:
        shapes.append(Text(text="nothing laid", x=x, y=_MARGIN + 12, size=14, fill=MUTED))
        x += 90 + _GAP
    width, height = x - _GAP + _MARGIN, base + _MARGIN - 4
    title = " | ".join(format_cards(hand) for hand in hands) + (f" / {format_cards(spare)}" if spare else "")
    felt = Box(x=0, y=0, width=width, height=height, radius=8, fill=FELT)
    return Picture(width=width, height=height, title=title or "nothing laid", shapes=(felt, *shapes))
