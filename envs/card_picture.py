"""Playing cards as pictures. Suits are drawn as outlines, each of its own shape, so no font needs to have them.

Any size, one design: the rank above, one large suit below it. With ``colours="four"`` clubs are green and diamonds blue.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from .cards import RANKS, Card, CardsLike, as_cards
from .picture import Box, Contour, Group, Outline, Picture, Text, circle, mixed, polygon

__all__ = ["SUIT_OUTLINES", "SuitColours", "card_back", "card_face", "card_height", "card_picture"]

SuitColours: TypeAlias = Literal["two", "four"]

# All clockwise: where contours of opposite directions overlap, SVG leaves a hole.
_STEM: Contour = (
    ((0.5, 0.5),),
    ((0.5, 0.78), (0.57, 0.92), (0.7, 0.98)),
    ((0.3, 0.98),),
    ((0.43, 0.92), (0.5, 0.78), (0.5, 0.5)),
)
_CLUB: tuple[Contour, ...] = (
    circle(0.5, 0.24, 0.22),
    circle(0.24, 0.58, 0.22),
    circle(0.76, 0.58, 0.22),
    polygon((0.5, 0.3), (0.64, 0.56), (0.36, 0.56)),
    _STEM,
)
_DIAMOND: tuple[Contour, ...] = (
    (
        ((0.5, 0.01),),
        ((0.6, 0.19), (0.73, 0.37), (0.88, 0.5)),
        ((0.73, 0.63), (0.6, 0.81), (0.5, 0.99)),
        ((0.4, 0.81), (0.27, 0.63), (0.12, 0.5)),
        ((0.27, 0.37), (0.4, 0.19), (0.5, 0.01)),
    ),
)
_HEART: tuple[Contour, ...] = (
    (
        ((0.5, 0.97),),
        ((0.38, 0.82), (0.03, 0.6), (0.03, 0.32)),
        ((0.03, 0.15), (0.14, 0.05), (0.27, 0.05)),
        ((0.38, 0.05), (0.46, 0.12), (0.5, 0.23)),
        ((0.54, 0.12), (0.62, 0.05), (0.73, 0.05)),
        ((0.86, 0.05), (0.97, 0.15), (0.97, 0.32)),
        ((0.97, 0.6), (0.62, 0.82), (0.5, 0.97)),
    ),
)
_SPADE: tuple[Contour, ...] = (
    (
        ((0.5, 0.02),),
        ((0.6, 0.17), (0.96, 0.38), (0.96, 0.62)),
        ((0.96, 0.76), (0.85, 0.83), (0.75, 0.83)),
        ((0.64, 0.83), (0.56, 0.78), (0.5, 0.67)),
        ((0.44, 0.78), (0.36, 0.83), (0.25, 0.83)),
        ((0.15, 0.83), (0.04, 0.76), (0.04, 0.62)),
        ((0.04, 0.38), (0.4, 0.17), (0.5, 0.02)),
    ),
    _STEM,
)
SUIT_OUTLINES = (_CLUB, _DIAMOND, _HEART, _SPADE)
"""Clubs, diamonds, hearts, spades in a unit square."""

_BLACK, _RED = "#16181d", "#c4122f"
_SUIT_INKS: dict[SuitColours, tuple[str, str, str, str]] = {
    "two": (_BLACK, _RED, _RED, _BLACK),
    "four": ("#0b7a3b", "#1b5fc1", _RED, _BLACK),
}
_FACE, _EDGE, _DIM, _BACK, _BACK_INK = "#ffffff", "#8b9690", "#9fb3a9", "#34558b", "#8fa9d3"


def card_height(width: int) -> int:
    """Return how high a card of some width is."""
    return round(1.4 * width)


def card_face(
    card: Card, x: float, y: float, *, width: int, dimmed: bool = False, colours: SuitColours = "two"
) -> Group:
    """Return a card as part of a picture.

    Args:
        card: which.
        x: left edge.
        y: top edge.
        width: in pixels; `card_height` follows.
        dimmed: for cards that do not take part.
        colours: `two`, or `four` with green clubs and blue diamonds.
    """
    height = card_height(width)
    ink, face, edge = _SUIT_INKS[colours][card.suit], _FACE, _EDGE
    if dimmed:
        ink, face, edge = mixed(ink, _DIM, 0.55), mixed(face, _DIM, 0.75), mixed(edge, _DIM, 0.4)
    rank = RANKS[card.rank].replace("T", "10")
    suit = round(0.52 * width)
    inset = round(0.09 * width)
    # The space between the digits of a ten would make it run out of its corner.
    digits = [(rank, 0.0)] if len(rank) == 1 else [("1", 0.0), ("0", 0.23 * width)]
    return Group(
        title=str(card),
        shapes=(
            Box(x=x, y=y, width=width, height=height, radius=round(0.11 * width), fill=face, edge=edge),
            *(
                Text(text=text, x=x + inset + shift, y=y + 0.49 * width, size=round(0.5 * width), fill=ink, bold=True)
                for text, shift in digits
            ),
            Outline(
                contours=SUIT_OUTLINES[card.suit],
                x=x + width - inset - suit,
                y=y + height - inset - suit,
                size=suit,
                fill=ink,
            ),
        ),
    )


def card_back(x: float, y: float, *, width: int) -> Group:
    """Return a card that lies face down as part of a picture."""
    height, inset, mark = card_height(width), round(0.1 * width), round(0.4 * width)
    return Group(
        title="face down",
        shapes=(
            Box(x=x, y=y, width=width, height=height, radius=round(0.11 * width), fill=_FACE, edge=_EDGE),
            Box(
                x=x + inset,
                y=y + inset,
                width=width - 2 * inset,
                height=height - 2 * inset,
                radius=round(0.06 * width),
                fill=_BACK,
            ),
            Outline(contours=_DIAMOND, x=x + (width - mark) / 2, y=y + (height - mark) / 2, size=mark, fill=_BACK_INK),
        ),
    )


def card_picture(card: CardsLike | Card, *, width: int = 80, colours: SuitColours = "two") -> Picture:
    """Return a picture of one card.

    Args:
        card: text such as ``"As"``, or a `Card`.
        width: in pixels, from 20.
        colours: `two`, or `four` with green clubs and blue diamonds.

    Raises:
        CardError: not exactly one card.
        ValueError: too narrow to read.

    >>> card_picture("As").title, card_picture("As").height
    ('As', 112)
    """
    if width < 20:
        raise ValueError(f"width={width!r}: expected at least 20 pixels")
    (one,) = as_cards([card] if isinstance(card, Card) else card, count=1)
    face = card_face(one, 0, 0, width=width, colours=colours)
    return Picture(width=width, height=card_height(width), title=face.title, shapes=face.shapes)
