"""One round as a picture: the hands of all players compared position by position, who won each, points and scores.

What was not compared stays face down, as at the table. A won hand has an edge, a bold name and ``+1``, the hands of a tie
have ``=``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..brag import describe_strength
from ..card_picture import SuitColours, card_back, card_face, card_height
from ..cards import Card
from ..hands_picture import FELT, MUTED, PALE
from ..picture import Box, Picture, Shape, Text, mixed
from .events import Award, AwardReason, Call, Deal, Event, Exchange, GameEnd, GameResult, Reveal, RoundEnd
from .render import ending, seat_names
from .rules import CrashRules

__all__ = ["Grid", "empty_round", "name_cell", "round_height", "round_picture", "round_shapes"]

MARGIN, CARD, PITCH = 16, 40, 42
GOLD, DARK, ROW, TRAY = "#f5c84b", "#1b2a24", "#2a6b58", "#3d7f6a"
ROW_GAP = 4
INDENT = 28

_NAMES, _SCORES = 186, 76
_PAD, _GAP = 7, 8
_CELL = 2 * PITCH + CARD + 2 * _PAD
_ROW_HEIGHT = card_height(CARD) + 32
_HEAD = 66
_LEAST_WIDTH = 600
_NOTE_LENGTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The columns that rounds and tables share: names, the hands, loose cards, scores.

    Attributes:
        hands: number of hands.
        loose: cards that fit in no hand however many are laid.
    """

    hands: int
    loose: int = 0

    @property
    def width(self) -> int:
        """Width in pixels, without margins."""
        return max(_LEAST_WIDTH, _NAMES + self.hands * (_CELL + _GAP) + self.loose * PITCH + _SCORES)

    def hand_x(self, position: int) -> int:
        """Return the left edge of a hand's cell."""
        return MARGIN + _NAMES + position * (_CELL + _GAP)

    def card_x(self, slot: int) -> int:
        """Return the left edge of a card, three to a hand."""
        return self.hand_x(slot // 3) + _PAD + slot % 3 * PITCH

    def cell(self, position: int, y: int, height: int, *, fill: str, edge: str | None = None) -> Box:
        """Return the ground of a hand."""
        return Box(
            x=self.hand_x(position), y=y, width=_CELL, height=height, radius=6, fill=fill, edge=edge, edge_width=2
        )

    def row(self, y: int, height: int, *, edge: str | None = None) -> Box:
        """Return the ground of a player's row."""
        return Box(x=MARGIN, y=y, width=self.width, height=height, radius=6, fill=ROW, edge=edge, edge_width=2)

    def score(self, y: int, height: int, score: int, note: str) -> list[Shape]:
        """Return a score and the words below it, at the right end of a row."""
        middle, base = MARGIN + self.width - _SCORES / 2, y + height / 2
        return [
            Text(text=str(score), x=middle, y=base + 3, size=26, fill=PALE, bold=True, anchor="middle"),
            Text(text=note, x=middle, y=base + 20, size=13, fill=MUTED, anchor="middle"),
        ]


@dataclass(slots=True, kw_only=True)
class _Told:
    """What a picture needs of a round's events."""

    number: int
    before: tuple[int, ...]
    scores: list[int]
    notes: list[list[str]]
    reveals: dict[int, Reveal] = field(default_factory=dict)
    result: GameResult | None = None


def round_picture(
    events: Iterable[Event],
    *,
    rules: CrashRules,
    names: Sequence[str] | None = None,
    colours: SuitColours = "two",
) -> Picture:
    """Return a picture of one round.

    Args:
        events: of one round, as `split_rounds` gives them; hands not yet revealed are face down.
        rules: the rules.
        names: what the seats are called; `player_0`, `player_1`, ... if None.
        colours: `two`, or `four` with green clubs and blue diamonds.

    Raises:
        ValueError: not the events of one round from its deal on, or not as many names as players.

    >>> from .game import Game
    >>> game = Game(CrashRules.preset("online"), seed=7)
    >>> round_picture(game.events, rules=game.rules).title
    'Round 1; player_0 0; player_1 0; player_2 0'
    """
    grid = Grid(hands=rules.hands)
    called = seat_names(rules.players) if names is None else list(names)
    if len(called) != rules.players:
        raise ValueError(f"expected {rules.players} names, one a seat, got {len(called)}: {called!r}")
    told = _told(tuple(events), rules)
    width, height = grid.width + 2 * MARGIN, round_height(rules) + 2 * MARGIN
    shapes = _shapes(told, MARGIN, rules=rules, names=called, grid=grid, colours=colours)
    title = "; ".join([f"Round {told.number}", *(f"{n} {s}" for n, s in zip(called, told.scores, strict=True))])
    felt = Box(x=0, y=0, width=width, height=height, radius=8, fill=FELT)
    return Picture(width=width, height=height, title=title, shapes=(felt, *shapes))


def round_shapes(
    events: Iterable[Event], y: int, *, rules: CrashRules, grid: Grid, colours: SuitColours
) -> list[Shape]:
    """Return a round as part of a picture, `round_height` high; arguments as for `round_picture`."""
    names = seat_names(rules.players)
    return _shapes(_told(tuple(events), rules), y, rules=rules, names=names, grid=grid, colours=colours)


def empty_round(y: int, *, rules: CrashRules, grid: Grid) -> list[Shape]:
    """Return the place of a round that is yet to come as part of a picture, `round_height` high."""
    shapes: list[Shape] = [Text(text="No round has been compared yet", x=MARGIN, y=y + 17, size=15, fill=MUTED)]
    ground = mixed(FELT, ROW, 0.5)
    for seat in range(rules.players):
        top = y + _HEAD + seat * (_ROW_HEIGHT + ROW_GAP)
        shapes.append(Box(x=MARGIN, y=top, width=grid.width, height=_ROW_HEIGHT, radius=6, fill=ground))
        shapes += [grid.cell(position, top + 2, _ROW_HEIGHT - 4, fill=FELT) for position in range(rules.hands)]
    return shapes


def round_height(rules: CrashRules) -> int:
    """Return how high a round is, without margins."""
    return _HEAD + rules.players * (_ROW_HEIGHT + ROW_GAP) - ROW_GAP


def name_cell(name: str, notes: Sequence[str], y: int) -> list[Shape]:
    """Return a player's name and, below it, up to three lines of notes."""
    x = MARGIN + INDENT
    lines: list[str] = []
    for note in notes:
        if lines and len(lines[-1]) + len(note) + 2 <= _NOTE_LENGTH:
            lines[-1] += f", {note}"
        else:
            lines.append(note)
    texts = [Text(text=line, x=x, y=y + 19 + 16 * i, size=13, fill=MUTED) for i, line in enumerate(lines)]
    return [Text(text=_cut(name, 18), x=x, y=y, size=15, fill=PALE, bold=True), *texts]


def _told(events: Sequence[Event], rules: CrashRules) -> _Told:
    deals = [event for event in events if isinstance(event, Deal)]
    if len(deals) != 1 or events[0] != deals[0]:
        raise ValueError(f"expected the events of one round, its deal first; got {len(events)} with {len(deals)} deals")
    start = deals[0]
    told = _Told(
        number=start.round_number + 1,
        before=start.scores,
        scores=list(start.scores),
        notes=[["dealer"] if seat == start.dealer else [] for seat in range(rules.players)],
    )
    for event in events:
        if isinstance(event, Exchange):
            told.notes[event.seat].append("exchanges" if event.exchanged else "keeps")
        elif isinstance(event, Call):
            told.notes[event.seat].append("calls a crash" if event.called else "passes")
        elif isinstance(event, Reveal):
            told.reveals[event.position] = event
        elif isinstance(event, Award):
            told.scores[event.seat] = event.score
            if event.reason is not AwardReason.COMPARISON:
                points = f" {event.points:+d}" if event.points else ""
                told.notes[event.seat].append(event.reason.value + points)
        elif isinstance(event, RoundEnd):
            told.scores = list(event.scores)
        elif isinstance(event, GameEnd):
            told.result = event.result
    return told


def _shapes(
    told: _Told, y: int, *, rules: CrashRules, names: Sequence[str], grid: Grid, colours: SuitColours
) -> list[Shape]:
    shapes: list[Shape] = [Text(text=f"Round {told.number}", x=MARGIN, y=y + 17, size=18, fill=PALE, bold=True)]
    winners = () if told.result is None else told.result.winners
    if told.result is not None:
        words = _cut(ending(told.result, names), (grid.width - 110) // 7)
        shapes.append(Text(text=words, x=MARGIN + grid.width, y=y + 17, size=15, fill=GOLD, bold=True, anchor="end"))
    for position in range(rules.hands):
        shapes += _column_head(told, position, grid.hand_x(position) + _PAD, y + _HEAD - 12)
    middle = MARGIN + grid.width - _SCORES / 2
    shapes.append(Text(text="Score", x=middle, y=y + _HEAD - 12, size=14, fill=PALE, bold=True, anchor="middle"))
    for seat, name in enumerate(names):
        top = y + _HEAD + seat * (_ROW_HEIGHT + ROW_GAP)
        gained = told.scores[seat] - told.before[seat]
        shapes.append(grid.row(top, _ROW_HEIGHT, edge=GOLD if seat in winners else None))
        shapes += name_cell(name, told.notes[seat], top + 26)
        for position in range(rules.hands):
            shapes += _hand(told.reveals.get(position), seat, position, top, rules=rules, grid=grid, colours=colours)
        shapes += grid.score(top, _ROW_HEIGHT, told.scores[seat], f"{gained:+d}")
    return shapes


def _column_head(told: _Told, position: int, x: int, y: int) -> list[Shape]:
    event = told.reveals.get(position)
    if event is None:
        note = "not compared"
    elif event.winner is None:
        note = "tie" if any(event.strengths) else "not laid"
    else:
        note = ""
    return [
        Text(text=f"Hand {position + 1}", x=x, y=y, size=14, fill=PALE, bold=True),
        *([Text(text=note, x=x + 52, y=y, size=12, fill=MUTED)] if note else []),
    ]


def _hand(
    event: Reveal | None, seat: int, position: int, y: int, *, rules: CrashRules, grid: Grid, colours: SuitColours
) -> list[Shape]:
    """One player's hand in one comparison."""
    x, top, base = grid.hand_x(position) + _PAD, y + 8, y + _ROW_HEIGHT - 9
    if event is None:
        return [card_back(x + i * PITCH, top, width=CARD) for i in range(3)]
    cards = sorted((Card(i) for i in event.hands[seat]), reverse=True)
    if not cards:
        return [Text(text="nothing laid", x=x, y=base, size=13, fill=MUTED)]
    won, tied = event.winner == seat, event.winner is None and event.strengths[seat] == max(event.strengths)
    words = describe_strength(event.strengths[seat], flush_high=rules.flush_order)
    return [
        *([grid.cell(position, y + 2, _ROW_HEIGHT - 4, fill=TRAY, edge=GOLD)] if won else []),
        *(card_face(card, x + i * PITCH, top, width=CARD, colours=colours) for i, card in enumerate(cards)),
        Text(text=words, x=x, y=base, size=13, fill=PALE if won else MUTED, bold=won),
        *(_badge("+1", x, y, fill=GOLD) if won else _badge("=", x, y, fill=MUTED) if tied else []),
    ]


def _badge(text: str, x: int, y: int, *, fill: str) -> list[Shape]:
    """A mark on the upper right corner of a hand whose first card is at `x`."""
    right = x + _CELL - _PAD
    return [
        Box(x=right - 22, y=y - 2, width=28, height=19, radius=9, fill=fill),
        Text(text=text, x=right - 8, y=y + 12, size=13, fill=DARK, bold=True, anchor="middle"),
    ]


def _cut(text: str, length: int) -> str:
    """Return text of at most so many characters."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
