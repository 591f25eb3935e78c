"""How a game looks in the terminal: cards with or without colours and suit symbols, lines that fit its width."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypeAlias

from ..envs.brag import describe_strength
from ..envs.cards import RANKS, SUIT_SYMBOLS, SUITS, Card, as_cards
from ..envs.crash.rules import CrashRules

__all__ = ["Colours", "Style", "visible_length"]

Colours: TypeAlias = Literal["none", "two", "four"]

_RED, _GREEN, _BLUE, _BOLD, _DIM, _PLAIN = "\x1b[91m", "\x1b[92m", "\x1b[94m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
# Black would not be seen on a dark screen: black suits have the colour of the text.
_SUIT_COLOURS: dict[Colours, tuple[str, str, str, str]] = {
    "none": ("", "", "", ""),
    "two": ("", _RED, _RED, ""),
    "four": (_GREEN, _BLUE, _RED, ""),
}
_ESCAPE = re.compile(r"\x1b\[\d+m")


def visible_length(text: str) -> int:
    r"""Return how many columns a text takes.

    >>> visible_length("\x1b[91mA♥\x1b[0m")
    2
    """
    return len(_ESCAPE.sub("", text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """What a terminal can show.

    Attributes:
        width: columns.
        symbols: suits as ♣ ♦ ♥ ♠; otherwise everything is ASCII.
        colours: `two` has red and black suits, `four` one colour a suit; `none` has no escape codes at all.
    """

    width: int = 80
    symbols: bool = False
    colours: Colours = "none"

    # ---- pieces ---------------------------------------------------------------------------------------------------

    def card(self, card: Card) -> str:
        """Return a card, in the colour of its suit."""
        return self._painted(card.symbol if self.symbols else str(card), _SUIT_COLOURS[self.colours][card.suit])

    def cards(self, cards: Iterable[Card | int]) -> str:
        """Return cards on one line, high to low."""
        return " ".join(self.card(card) for card in sorted(as_cards(cards), reverse=True))

    def strong(self, text: str) -> str:
        """Return a text that stands out."""
        return self._painted(text, "" if self.colours == "none" else _BOLD)

    def faint(self, text: str) -> str:
        """Return a text that stands back."""
        return self._painted(text, "" if self.colours == "none" else _DIM)

    def words(self, strength: int, rules: CrashRules) -> str:
        """Return a hand's class in words."""
        return describe_strength(strength, flush_high=rules.flush_order)

    def padded(self, text: str, width: int) -> str:
        """Return a text filled with spaces to a number of columns."""
        return text + " " * max(0, width - visible_length(text))

    @staticmethod
    def _painted(text: str, code: str) -> str:
        return f"{code}{text}{_PLAIN}" if code else text

    # ---- lines ----------------------------------------------------------------------------------------------------

    def prose(self, text: str, indent: str = "", hanging: str | None = None) -> str:
        """Return sentences without colours, wrapped."""
        following = indent if hanging is None else hanging
        width = max(20, min(self.width, 100))
        return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=following, break_on_hyphens=False)

    def flow(self, pieces: Sequence[str], *, indent: str = "", gap: str = "  ") -> str:
        """Return pieces side by side, each whole, in as many lines as they need."""
        lines = [""]
        for piece in pieces:
            longer = f"{lines[-1]}{gap}{piece}" if lines[-1] else piece
            if lines[-1] and len(indent) + visible_length(longer) > self.width:
                lines.append(piece)
            else:
                lines[-1] = longer
        return "\n".join(indent + line for line in lines)

    def by_rank(self, cards: Iterable[Card | int]) -> str:
        """Return cards high to low, those of a rank together."""
        held = sorted(as_cards(cards), reverse=True)
        return self.flow([self.cards(same) for _, same in groupby(held, key=lambda card: card.rank)], indent="  ")

    def by_suit(self, cards: Iterable[Card | int]) -> str:
        """Return one line a suit, high to low; no line for a suit not held."""
        held = sorted(as_cards(cards), reverse=True)
        lines = []
        for suit in reversed(range(4)):
            ranks = [("10" if self.symbols and RANKS[c.rank] == "T" else RANKS[c.rank]) for c in held if c.suit == suit]
            if ranks:
                name = SUIT_SYMBOLS[suit] if self.symbols else SUITS[suit]
                lines.append("  " + self._painted(f"{name}  {' '.join(ranks)}", _SUIT_COLOURS[self.colours][suit]))
        return "\n".join(lines)

    def hands(
        self, rows: Sequence[tuple[str, Iterable[Card | int], str]], *, indent: str = "  ", last: bool = False
    ) -> str:
        """Return rows of a label, cards and words, in columns; the words go below the cards where lines are short.

        Args:
            rows: label (may have colours), cards (none is a dash), words.
            indent: of every line.
            last: whether short lines put the words at the end of the line all the same.
        """
        told = [(label, self.cards(cards) or "-", words) for label, cards, words in rows]
        first = max(visible_length(label) for label, _, _ in told)
        second = max(visible_length(cards) for _, cards, _ in told)
        gap = "  " if first else ""
        one_line = [
            f"{indent}{self.padded(label, first)}{gap}{self.padded(cards, second)}  {words}".rstrip()
            for label, cards, words in told
        ]
        if last or max(map(visible_length, one_line)) <= self.width:
            return "\n".join(one_line)
        return "\n".join(
            f"{indent}{self.padded(label, first)}{gap}{cards}" + (f"\n{indent}    {words}" if words else "")
            for label, cards, words in told
        )
