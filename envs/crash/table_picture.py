"""The table as it stands as a picture: what `ansi` says, drawn. Everything is shown, hidden cards too.

Above: each player's cards, as they are laid once they are laid. Below: the last round that was compared. All pictures of
a table have one size, which depends on the rules alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..card_picture import SuitColours, card_face, card_height
from ..cards import Card
from ..hands_picture import FELT, MUTED, PALE
from ..picture import Box, Outline, Picture, Shape, Text, polygon
from .game import Game
from .render import choices, heading, last_round, seat_names
from .round_picture import (
    CARD,
    GOLD,
    INDENT,
    MARGIN,
    PITCH,
    ROW_GAP,
    TRAY,
    Grid,
    empty_round,
    name_cell,
    round_height,
    round_shapes,
)
from .rules import CrashRules

__all__ = ["table_picture", "table_size"]

_HEAD = 52
_ROW = card_height(CARD) + 12
_SMALL = 30
_SPARE_ROW = card_height(_SMALL) + 8
_BETWEEN = 24
_ARROW = (polygon((0.0, 0.0), (0.85, 0.5), (0.0, 1.0)),)
_CHOICES = {"exchange": "exchanges", "keep": "keeps", "call": "calls a crash", "pass": "passes"}
_VIDEO_BLOCK = 16  # video encoders want both sides to be multiples of this


def table_picture(game: Game, *, colours: SuitColours = "two") -> Picture:
    """Return a picture of the table.

    Args:
        game: what to show.
        colours: `two`, or `four` with green clubs and blue diamonds.
    """
    rules, grid = game.rules, _grid(game.rules)
    width, height = table_size(rules)
    name, standing = heading(game)
    shapes: list[Shape] = [
        Box(x=0, y=0, width=width, height=height, fill=FELT),
        Text(text=name, x=MARGIN, y=MARGIN + 15, size=20, fill=PALE, bold=True),
        Text(text=standing, x=MARGIN, y=MARGIN + 36, size=15, fill=MUTED),
    ]
    y = MARGIN + _HEAD
    for seat in range(rules.players):
        shapes += _seat(game, seat, y, grid=grid, colours=colours)
        y += _ROW + ROW_GAP
    for number in range(rules.num_spares):
        shapes += _spare(game, number, y, grid=grid, colours=colours)
        y += _SPARE_ROW + ROW_GAP
    y += _BETWEEN
    shapes.append(Box(x=MARGIN, y=y - _BETWEEN // 2 - 2, width=grid.width, height=1, fill=MUTED))
    last = last_round(game)
    if last:
        shapes += round_shapes(last, y, rules=rules, grid=grid, colours=colours)
    else:
        shapes += empty_round(y, rules=rules, grid=grid)
    return Picture(width=width, height=height, title=f"{name}: {standing}", shapes=tuple(shapes))


def table_size(rules: CrashRules) -> tuple[int, int]:
    """Return width and height of the pictures of a table, in pixels.

    >>> [side % 16 for side in table_size(CrashRules.preset("bga"))]  # video encoders ask for that
    [0, 0]
    """
    rows = rules.players * (_ROW + ROW_GAP) + rules.num_spares * (_SPARE_ROW + ROW_GAP)
    sides = (_grid(rules).width + 2 * MARGIN, 2 * MARGIN + _HEAD + rows + _BETWEEN + round_height(rules))
    wide, high = (math.ceil(side / _VIDEO_BLOCK) * _VIDEO_BLOCK for side in sides)
    return wide, high


def _grid(rules: CrashRules) -> Grid:
    return Grid(hands=rules.hands, loose=rules.cards_dealt - 3 * rules.hands)


def _seat(game: Game, seat: int, y: int, *, grid: Grid, colours: SuitColours) -> list[Shape]:
    acting = seat in game.pending
    shapes: list[Shape] = [grid.row(y, _ROW, edge=GOLD if acting else None)]
    notes = [
        *(["dealer"] if seat == game.dealer else []),
        *(["to act"] if acting else []),
        *(_CHOICES[choice] for choice in choices(game, seat)),
    ]
    if acting:
        shapes.append(Outline(contours=_ARROW, x=MARGIN + 10, y=y + 14, size=12, fill=GOLD))
    shapes += name_cell(seat_names(game.rules.players)[seat], notes, y + 25)
    top = y + (_ROW - card_height(CARD)) // 2
    laid = game.arrangement(seat)
    if laid is None:
        cards = [Card(i) for i in sorted(game.hands[seat], reverse=True)]
        shapes += _cards(cards, [grid.card_x(0) + i * PITCH for i in range(len(cards))], top, colours=colours)
    else:
        hands = [card for hand in laid.hands for card in hand]
        places = [grid.card_x(slot) for slot in range(len(hands) + len(laid.spare))]
        shapes += [grid.cell(position, y + 3, _ROW - 6, fill=TRAY) for position in range(len(laid.hands))]
        shapes += _cards(hands, places, top, colours=colours)
        shapes += _cards(laid.spare, places[len(hands) :], top, dimmed=True, colours=colours)
    return shapes + grid.score(y, _ROW, game.scores[seat], f"of {game.rules.target}")


def _spare(game: Game, number: int, y: int, *, grid: Grid, colours: SuitColours) -> list[Shape]:
    """A spare hand, or what was given up for it."""
    names = seat_names(game.rules.players)
    seats = (game.turn_order[number],) if game.rules.players == 2 else game.turn_order
    owner = next((seat for seat in seats if game.given_up[seat]), None)
    if owner is None:
        label = f"spare, for {names[seats[0]]}" if len(seats) == 1 else "spare hand"
        cards = game.spares[number]
    else:
        label = f"given up by {names[owner]}"
        cards = game.given_up[owner] or ()
    held = [Card(i) for i in sorted(cards, reverse=True)]
    places = [grid.card_x(0) + i * (_SMALL + 3) for i in range(len(held))]
    base = y + _SPARE_ROW / 2 + 5
    return [
        Text(text=label, x=MARGIN + INDENT, y=base, size=13, fill=MUTED),
        *_cards(held, places, y + 4, width=_SMALL, dimmed=owner is not None, colours=colours),
    ]


def _cards(
    cards: Sequence[Card],
    places: Sequence[int],
    y: int,
    *,
    width: int = CARD,
    dimmed: bool = False,
    colours: SuitColours,
) -> list[Shape]:
    return [
        card_face(card, x, y, width=width, dimmed=dimmed, colours=colours)
        for card, x in zip(cards, places, strict=False)
    ]
