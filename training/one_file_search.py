"""The part of a one-file bot that finds the undominated arrangements of a deal, as ONNX nodes.

A partition into as many hands as may be laid stands for every arrangement: its triples that are no hand count as spare. What
is left of an arrangement with fewer hands can be split in many ways; only those are looked at whose true spare cards lie
above all cards of the triples that are no hand, a tenth or less of them.

1. Every partition gets a cheap score: the sum over its hands of a number that grows with their strength, and a bonus for
   each four of a kind. It is exact (whole numbers below 2^24 in float32), so whatever dominates scores more, and the best
   so many contain with each arrangement all that dominate it.
2. Step by step, the best so many are taken, and what one of the very best matches everywhere is dropped (`STEPS`).
3. In the last step all are compared with all. What remains is undominated, one of each value.

An arrangement is lost only where more partitions than a step takes score higher.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.brag import NUM_STRENGTHS, strength_table
from ..envs.crash.partitions import slot_triples
from ..envs.crash.rules import MAX_HANDS, CrashRules
from .onnx_graph import GraphWriter

__all__ = ["STEPS", "Found", "Search", "Step", "find", "laid_fields"]

_NO_HAND = 22_152 - 22_100  # indices that only repeated cards reach
_WHOLE_BITS = 512  # three digits of 0 to 4 in base 8, one for each four of a kind held
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the search: of the best `most` partitions, drop what one of the best `few` matches everywhere."""

    most: int
    few: int


STEPS = (Step(16_384, 32), Step(6_144, 128), Step(3_072, 512), Step(1_536, 1_024), Step(800, 800))
"""The steps; in the last all are compared with all, so that what remains is undominated.

They have room for the deals with the most undominated arrangements that are known (676 and 736; docs/combinatorics.md).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Names of values: the arrangements that are ranked, best score first; n decisions, k arrangements each.

    Attributes:
        cards: the own cards, ascending, int32 (n, cards).
        triples: colex index of each hand's slots, in no order, int32 (n, k) for each hand.
        triple_strengths: strength of each triple of slots, 0 for no hand, float32 (n, triples).
        strengths: strongest first, 0 for no hand, float32 (n, k) for each hand.
        quads: four of a kind laid whole, float32 (n, k); 0 where they do not count.
        there: bool (n, k), false where there are fewer than k.
        rows: the number of each partition, int64 (n, k).
    """

    cards: str
    triples: list[str]
    triple_strengths: str
    strengths: list[str]
    quads: str
    there: str
    rows: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Level:
    """How sets of 3m slots split: the lowest slot picks its two partners, and the rest splits as its own set does.

    Attributes:
        picks: how many ways there are to pick.
        splits: how many ways to split the whole set.
        first: colex index of the triple picked, by set and pick, int32 (sets * picks,).
        rest: which set of the level below is left, likewise.
    """

    picks: int
    splits: int
    first: npt.NDArray[np.int32]
    rest: npt.NDArray[np.int32]


def _levels(num_cards: int, hands: int) -> list[_Level]:
    """The levels from one hand to all; partitions into all hands in canonical order (`prial.envs.crash.partitions`)."""
    index = {slots: number for number, slots in enumerate(slot_triples(num_cards))}
    sets = sorted(combinations(range(num_cards), 3 * hands), key=lambda slots: sum(1 << slot for slot in slots))
    levels = []
    for m in range(hands, 0, -1):
        below: dict[tuple[int, ...], int] = {}
        first, rest = [], []
        for lowest, *others in sets:
            for pair in combinations(others, 2):
                first.append(index[lowest, pair[0], pair[1]])
                left = tuple(slot for slot in others if slot not in pair)
                rest.append(below.setdefault(left, len(below)))
        picks = comb(3 * m - 1, 2)
        levels.append((picks, np.array(first, np.int32), np.array(rest, np.int32)))
        sets = list(below)
    made: list[_Level] = []
    for picks, first_triples, left_sets in reversed(levels):
        splits = picks * (made[-1].splits if made else 1)
        made.append(_Level(picks=picks, splits=splits, first=first_triples, rest=left_sets))
    return made


class Search:
    """Constants of the search under some rules.

    Args:
        rules: the rules.
        growth: numbers that grow with strength, float (742,), 0 to 1: how much a hand is worth, roughly.

    >>> search = Search(CrashRules(cards_dealt=9), np.linspace(0, 1, 742))
    >>> search.partitions, [level.splits for level in search.levels], float(search.worth[0])
    (280, [1, 10, 280], 0.0)
    """

    def __init__(self, rules: CrashRules, growth: npt.NDArray[np.floating[Any]]) -> None:
        self.rules = rules
        self.slots = np.array(slot_triples(rules.cards_dealt), np.int32).T
        self.levels = _levels(rules.cards_dealt, rules.hands)
        sets = comb(rules.cards_dealt, 3 * rules.hands)
        self.partitions = sets * self.levels[-1].splits
        self.masks = (1 << self.slots).sum(axis=0).astype(np.float32)
        used = sorted(
            sum(1 << slot for slot in slots) for slots in combinations(range(rules.cards_dealt), 3 * rules.hands)
        )
        # The lowest spare slot of each set of used ones; where none is spare, above all.
        free = [(1 << rules.cards_dealt) - 1 - mask for mask in used]
        self.lowest_spare = np.array([13 if mask == 0 else (mask & -mask).bit_length() - 1 for mask in free])
        scale = (1 << 21) // MAX_HANDS
        worth = np.round(np.asarray(growth) * scale) + np.arange(NUM_STRENGTHS + 1)
        worth[0] = 0
        self.worth = worth.astype(np.float32)
        self.quads_worth = float(scale // 2)


def find(graph: GraphWriter, search: Search, cards: str, steps: Sequence[Step] = STEPS) -> Found:
    """Add the search to a graph.

    Args:
        graph: which.
        search: constants.
        cards: name of the own card ids, each from 0 to 51, in any order, int32 (n, cards).
        steps: of the search.
    """
    rules, g = search.rules, graph
    cards = g.many("TopK", cards, g.whole(rules.cards_dealt), results=2, axis=1, largest=0, sorted=1)[0]
    strength = _triple_strengths(g, search, cards)
    digits = _quad_digits(g, search, cards, strength) if rules.quads_bonus else None
    score, rows, fields = _scores(g, search, strength, digits), "", list[str]()
    for step in steps:
        most = min(step.most, search.partitions)
        score, chosen = g.many("TopK", score, g.whole(most), results=2, axis=1, largest=1, sorted=1)
        rows = g.op("GatherElements", rows, chosen, axis=1) if rows else chosen
        if fields:
            fields = [g.op("GatherElements", field, chosen, axis=1) for field in fields]
        else:
            fields = _fields(g, search, strength, digits, rows)
        score = g.op("Where", _matched(g, fields, min(step.few, most), most), -1.0, score)
    quads = fields[rules.hands] if rules.quads_bonus else g.op("Mul", fields[0], 0.0)
    return Found(
        cards=cards,
        triples=_triples(g, search, rows),
        triple_strengths=strength,
        strengths=fields[: rules.hands],
        quads=quads,
        there=g.op("GreaterOrEqual", score, 0.0),
        rows=rows,
    )


def laid_fields(graph: GraphWriter, rules: CrashRules, laid: str) -> tuple[list[str], str]:
    """Return strengths and four of a kind of hands that have been laid, as `Found` has them, k = 1.

    Args:
        graph: which.
        rules: the rules.
        laid: card ids, -1 for none, int32 (n, 4, 3).
    """
    g = graph
    held = g.many("TopK", laid, g.whole(3), results=2, axis=2, largest=0, sorted=1)[0]
    cards = [g.op("Squeeze", part, g.whole(2)) for part in g.many("Split", held, g.whole(1, 1, 1), results=3, axis=2)]
    there = g.op("GreaterOrEqual", cards[0], 0)
    strength = _strength(g, rules, [g.op("Max", card, 0) for card in cards])
    strength = g.op("Where", there, strength, 0.0)
    ordered = g.many("TopK", strength, g.whole(rules.hands), results=2, axis=1, largest=1, sorted=1)[0]
    fields = g.many("Split", ordered, g.whole(*[1] * rules.hands), results=rules.hands, axis=1)
    if not rules.quads_bonus:
        return fields, g.op("Mul", fields[0], 0.0)
    ranks = np.zeros((53, 13), np.float32)  # of each card, -1 first
    ranks[1 + np.arange(52), np.arange(52) // 4] = 1
    counts = g.op("ReduceSum", g.op("Gather", ranks, g.op("Add", laid, 1)), g.whole(1, 2), keepdims=0)
    return fields, g.op("ReduceSum", g.cast(g.op("Equal", counts, 4.0), np.float32), g.whole(1), keepdims=1)


def _triple_strengths(g: GraphWriter, search: Search, cards: str) -> str:
    return _strength(g, search.rules, [g.op("Gather", cards, slots, axis=1) for slots in search.slots])


def _strength(g: GraphWriter, rules: CrashRules, cards: list[str]) -> str:
    """Strength of triples of ascending cards, float32."""
    table = np.concatenate([strength_table(rules.flush_order, rules.lowest_class), np.zeros(_NO_HAND, np.int16)])
    first, second, third = cards
    seconds = np.array([comb(card, 2) for card in range(52)], np.int32)
    thirds = np.array([comb(card, 3) for card in range(52)], np.int32)
    index = g.op("Add", g.op("Gather", thirds, third), g.op("Add", g.op("Gather", seconds, second), first))
    return g.op("Gather", g.cast(table.astype(np.uint16), np.float32), index)


def _quad_digits(g: GraphWriter, search: Search, cards: str, strength: str) -> str:
    """Return how many cards of each four of a kind held are in each hand, as digits in base 8: float32 (n, triples)."""
    rank = g.op("Div", cards, 4)
    same = g.cast(g.op("Equal", g.at(rank, 2), np.arange(13, dtype=np.int32)), np.float32)
    held = g.op("ReduceSum", same, g.whole(1), keepdims=0)
    whole = g.cast(g.op("Equal", held, 4.0), np.float32)
    place = g.cast(g.op("CumSum", whole, np.array(1, np.int32)), np.int32)
    digit = g.op("Mul", whole, g.op("Gather", np.array([0, 1, 8, 64], np.float32), place))
    card_digit = g.op("GatherElements", digit, rank, axis=1)
    parts = [g.op("Gather", card_digit, slots, axis=1) for slots in search.slots]
    return g.op("Where", g.op("Greater", strength, 0.0), g.total("Add", *parts), 0.0)


def _whole_table() -> Floats:
    """How many digits of a number are 4: float32 (512,)."""
    digits = np.arange(_WHOLE_BITS)[:, None] >> np.array([0, 3, 6]) & 7
    fours: Floats = (digits == 4).sum(axis=1).astype(np.float32)
    return fours


def _scores(g: GraphWriter, search: Search, strength: str, digits: str | None) -> str:
    """Score every partition, -1 for those not looked at: float32 (n, partitions)."""
    worth = g.op("Gather", search.worth, g.cast(strength, np.int32))
    outside = g.op("Where", g.op("Greater", strength, 0.0), 0.0, search.masks * np.float32(_WHOLE_BITS))
    if digits is not None:
        outside = g.op("Add", outside, digits)
    score, outside = _summed(g, search, worth), _summed(g, search, outside)
    if digits is not None:
        high = g.op("Floor", g.op("Mul", outside, 1 / _WHOLE_BITS))
        low = g.cast(g.op("Sub", outside, g.op("Mul", high, float(_WHOLE_BITS))), np.int32)
        score = g.op("Add", score, g.op("Gather", _whole_table() * np.float32(search.quads_worth), low))
    # All cards of triples that are no hand have to lie below the lowest spare one.
    bound = (_WHOLE_BITS * 2.0**search.lowest_spare).astype(np.float32)
    score = g.op("Where", g.op("Less", outside, bound[:, None]), score, -1.0)
    return g.op("Reshape", score, g.whole(0, search.partitions))


def _summed(g: GraphWriter, search: Search, values: str) -> str:
    """Sum the values of the triples of each partition: float32 (n, sets of used slots, splits).

    Level by level, so that blocks of sums are taken over whole.
    """
    sums = ""
    for level in search.levels:
        first = g.op("Gather", values, level.first, axis=1)
        if not sums:
            sums = g.at(first, 2)
            continue
        sums = g.op("Add", g.at(first, 2), g.op("Gather", sums, level.rest, axis=1))
        sums = g.op("Reshape", sums, g.whole(0, len(level.first) // level.picks, level.splits))
    return sums


def _triples(g: GraphWriter, search: Search, rows: str) -> list[str]:
    """Colex indices of the triples of some partitions: int32 (n, k) each."""
    top, *lower = reversed(search.levels)
    found = []
    rows = g.cast(rows, np.int32)
    one, split = g.op("Div", rows, top.splits), g.op("Mod", rows, top.splits)
    for level, below in zip([top, *lower], [*(level.splits for level in lower), 1], strict=True):
        entry = g.op("Add", g.op("Mul", one, level.picks), g.op("Div", split, below))
        found.append(g.op("Gather", level.first, entry))
        one, split = g.op("Gather", level.rest, entry), g.op("Mod", split, below)
    return found


def _fields(g: GraphWriter, search: Search, strength: str, digits: str | None, rows: str) -> list[str]:
    """Strengths, strongest first, and four of a kind where they count, of some partitions: float32 (n, k) each."""
    triples = _triples(g, search, rows)
    fields = [g.op("GatherElements", strength, triple, axis=1) for triple in triples]
    for last in range(len(fields) - 1, 0, -1):
        for here in range(last):
            pair = fields[here : here + 2]
            fields[here : here + 2] = [g.op("Max", *pair), g.op("Min", *pair)]
    if digits is not None:
        parts = [g.op("GatherElements", digits, triple, axis=1) for triple in triples]
        fields.append(g.op("Gather", _whole_table(), g.cast(g.total("Add", *parts), np.int32)))
    return fields


def _matched(g: GraphWriter, fields: list[str], few: int, many: int) -> str:
    """Whether one before it among the first `few` is at least as good in every field: bool (n, many)."""
    front = [g.op("Slice", field, g.whole(0), g.whole(few), g.whole(1)) if few < many else field for field in fields]
    before = g.op("Less", np.arange(few, dtype=np.int32)[:, None], g.op("Range", 0, many, 1))
    least = g.total(
        "And",
        before,
        *(g.op("GreaterOrEqual", g.at(ahead, 2), g.at(behind, 1)) for ahead, behind in zip(front, fields, strict=True)),
    )
    # A product with ones sums the columns, many times faster than a reduction does.
    number = g.op("MatMul", np.ones((1, few), np.float32), g.cast(least, np.float32))
    return g.op("Greater", g.op("Squeeze", number, g.whole(1)), 0.0)
