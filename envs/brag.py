"""Three-card Brag hands: classes and strength tables, shared by every game that compares them.

Strength is one small integer: 1 for the weakest triple (5-3-2 high) to 741 for three threes; larger is better, equal is a
tie, suits never matter. Tables are indexed by `triple_index`, the colex rank of three ascending card ids.

Source: RULES section 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum, StrEnum
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from .cards import RANKS, Card, CardError, CardsLike, as_cards

__all__ = [
    "NUM_STRENGTHS",
    "NUM_TRIPLES",
    "BragClass",
    "FlushHigh",
    "brag_class",
    "class_of_strength",
    "describe_strength",
    "strength_table",
    "triple_index",
    "triple_strength",
    "weaker_share",
    "weakest_strength",
]

NUM_TRIPLES = 22_100
NUM_STRENGTHS = 741


class BragClass(IntEnum):
    """Classes of hands, weakest first, so that they compare like the hands do."""

    HIGH_CARD = 0
    PAIR = 1
    FLUSH = 2
    RUN = 3
    RUNNING_FLUSH = 4
    PRIAL = 5

    @property
    def label(self) -> str:
        """The class in words."""
        return self.name.lower().replace("_", " ")


class FlushHigh(StrEnum):
    """Which card tops a flush when flushes are compared."""

    ACE = "ace"
    THREE = "three"


_ACE, _THREE, _TWO = RANKS.index("A"), RANKS.index("3"), RANKS.index("2")
# Weakest first: 4-3-2 .. A-K-Q, then A-2-3, the best (named by its highest ordinary card, the three).
_RUNS: tuple[tuple[int, ...], ...] = (*((r, r - 1, r - 2) for r in range(2, 13)), (_ACE, _THREE, _TWO))
_RUN_SETS = frozenset(frozenset(run) for run in _RUNS)
_PRIALS = (*(r for r in range(13) if r != _THREE), _THREE)


def _unconnected() -> list[tuple[int, ...]]:
    """Three different ranks that are no run, each descending, in ascending order."""
    return sorted(tuple(sorted(c, reverse=True)) for c in combinations(range(13), 3) if frozenset(c) not in _RUN_SETS)


def _flushes(flush_high: FlushHigh) -> list[tuple[int, ...]]:
    if flush_high is FlushHigh.ACE:
        return _unconnected()

    def value(rank: int) -> int:
        return 13 if rank == _THREE else rank

    return sorted(_unconnected(), key=lambda ranks: sorted(map(value, ranks), reverse=True))


def _classes(flush_high: FlushHigh) -> Iterator[tuple[BragClass, tuple[int, ...]]]:
    """All 741 strength classes, weakest first: class and ranks (a pair is pair, pair, odd card)."""
    yield from ((BragClass.HIGH_CARD, ranks) for ranks in _unconnected())
    yield from ((BragClass.PAIR, (pair, pair, odd)) for pair in range(13) for odd in range(13) if odd != pair)
    yield from ((BragClass.FLUSH, ranks) for ranks in _flushes(flush_high))
    yield from ((BragClass.RUN, ranks) for ranks in _RUNS)
    yield from ((BragClass.RUNNING_FLUSH, ranks) for ranks in _RUNS)
    yield from ((BragClass.PRIAL, (rank, rank, rank)) for rank in _PRIALS)


@cache
def _entries(flush_high: FlushHigh) -> tuple[tuple[BragClass, tuple[int, ...]], ...]:
    entries = tuple(_classes(flush_high))
    assert len(entries) == NUM_STRENGTHS
    return entries


def triple_index(first: int, second: int, third: int) -> int:
    """Return the colex rank (0..22,099) of three ascending card ids.

    >>> triple_index(0, 1, 2), triple_index(49, 50, 51)
    (0, 22099)
    """
    return third * (third - 1) * (third - 2) // 6 + second * (second - 1) // 2 + first


def _shape(a: int, b: int, c: int) -> tuple[bool, tuple[int, ...]]:
    """One suit or not, and the ranks in the order that `_classes` writes them."""
    ranks = sorted((a // 4, b // 4, c // 4), reverse=True)
    if ranks[1] == ranks[2] and ranks[0] != ranks[1]:
        ranks = [ranks[1], ranks[2], ranks[0]]
    return a % 4 == b % 4 == c % 4, tuple(ranks)


@cache
def strength_table(
    flush_high: FlushHigh = FlushHigh.ACE, lowest: BragClass = BragClass.HIGH_CARD
) -> npt.NDArray[np.int16]:
    """Return the strength of every triple: int16 (22,100,), indexed by `triple_index`, read-only.

    Args:
        flush_high: which card tops a flush.
        lowest: triples of a lower class are no hand and get 0. Numbers of the others do not change.
    """
    strengths: dict[tuple[bool, tuple[int, ...]], int] = {}
    for number, (kind, ranks) in enumerate(_entries(flush_high), start=1):
        one_suit = kind in (BragClass.FLUSH, BragClass.RUNNING_FLUSH)
        strengths[one_suit, ranks] = number if kind >= lowest else 0
    table = np.zeros(NUM_TRIPLES, np.int16)
    for third in range(52):
        for second in range(third):
            for first in range(second):
                table[triple_index(first, second, third)] = strengths[_shape(first, second, third)]
    table.setflags(write=False)
    return table


def triple_strength(cards: CardsLike, *, flush_high: FlushHigh = FlushHigh.ACE) -> int:
    """Return how strong three cards are, 1..741; larger is better, equal is a tie.

    Raises:
        CardError: not exactly three different cards.

    >>> triple_strength("3s3d3c") > triple_strength("AsAdAc") > triple_strength("Ah2h3h") > triple_strength("AhKhQh")
    True
    """
    return int(strength_table(flush_high)[triple_index(*sorted(card.id for card in _three(cards)))])


def brag_class(cards: CardsLike) -> BragClass:
    """Return the best class that three cards fit.

    >>> brag_class("As2sKs").label, brag_class("8s 7d 6c").label
    ('flush', 'run')
    """
    return class_of_strength(triple_strength(cards))


def _three(cards: CardsLike) -> tuple[Card, ...]:
    triple = as_cards(cards)
    if len(triple) != 3:
        raise CardError(f"a hand is exactly three cards, got {len(triple)}: {' '.join(map(str, triple))!r}")
    return triple


def class_of_strength(strength: int) -> BragClass:
    """Return the class of a strength 1..741.

    Raises:
        ValueError: outside 1..741.

    >>> class_of_strength(1), class_of_strength(741)
    (<BragClass.HIGH_CARD: 0>, <BragClass.PRIAL: 5>)
    """
    if not 1 <= strength <= NUM_STRENGTHS:
        raise ValueError(f"a strength is between 1 and {NUM_STRENGTHS}, not {strength}")
    return _entries(FlushHigh.ACE)[strength - 1][0]


@cache
def weakest_strength(kind: BragClass) -> int:
    """Return the strength of the weakest hand of a class.

    >>> weakest_strength(BragClass.HIGH_CARD), weakest_strength(BragClass.PAIR)
    (1, 275)
    """
    return 1 + next(i for i, (k, _) in enumerate(_entries(FlushHigh.ACE)) if k is kind)


def describe_strength(strength: int, *, flush_high: FlushHigh = FlushHigh.ACE) -> str:
    """Return a strength in words, such as ``prial of 3s`` or ``pair of 9s with Q``.

    >>> describe_strength(triple_strength("9s 9h Qc")), describe_strength(triple_strength("3h2hAh")), describe_strength(0)
    ('pair of 9s with Q', 'running flush A-2-3', 'no hand')
    """
    if strength == 0:
        return "no hand"
    kind = class_of_strength(strength)
    ranks = _entries(flush_high)[strength - 1][1]
    names = ["10" if RANKS[r] == "T" else RANKS[r] for r in ranks]
    if kind is BragClass.PRIAL:
        return f"prial of {names[0]}s"
    if kind is BragClass.PAIR:
        return f"pair of {names[0]}s with {names[2]}"
    if ranks == _RUNS[-1] and kind in (BragClass.RUN, BragClass.RUNNING_FLUSH):
        names = ["A", "2", "3"]
    if kind is BragClass.FLUSH and flush_high is FlushHigh.THREE and _THREE in ranks:
        names = ["3", *(n for n in names if n != "3")]
    return f"{kind.label} {'-'.join(names)}"


@cache
def weaker_share(flush_high: FlushHigh = FlushHigh.ACE) -> npt.NDArray[np.float32]:
    """Return, for strength 0..741, which share of all 22,100 triples is weaker: float32 (742,), read-only."""
    counts = np.bincount(strength_table(flush_high), minlength=NUM_STRENGTHS + 1)
    share = ((np.cumsum(counts) - counts) / NUM_TRIPLES).astype(np.float32)
    share.setflags(write=False)
    return share
