"""The part of a one-file bot that errs as a level does (`prial.agents.level_errors`), as ONNX nodes.

A level's chance is a function of one number of 64 bits a decision; here that number is the seed, without its sign. The
function's whole numbers of 64 bits are reckoned as bits and as digits of 16 bits in float32, which holds them exactly: no
operator on whole numbers has to wrap round, and so no runtime can do it otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ..agents import level_errors as err
from ..agents.heuristics import Balanced
from ..agents.level_errors import Purpose
from ..agents.levels import Level
from ..envs.brag import NUM_STRENGTHS, BragClass, class_of_strength
from ..envs.crash.rules import CrashRules
from .one_file_search import Found, laid_fields
from .onnx_graph import GraphWriter

__all__ = ["LevelNodes"]

Floats = npt.NDArray[np.float32]
_STRENGTHS = NUM_STRENGTHS + 1
_DIGIT = 1 << 16


class LevelNodes:
    """The nodes of a level in a graph.

    Args:
        graph: which.
        level: how much it slips.
        rules: the rules.
        seed: name of the seed of each decision, int32 (n,).

    >>> from ..agents.levels import level
    >>> graph = GraphWriter()
    >>> nodes = LevelNodes(graph, level("online", "easy"), CrashRules(), seed=graph.input("seed", np.int32, ["n"]))
    >>> scores = graph.input("scores", np.int32, ["n", 3])
    >>> graph.output("remembered", nodes.remembered(scores), np.int32, ["n", 3])
    >>> graph.model("scores").graph.output[0].name
    'remembered'
    """

    def __init__(self, graph: GraphWriter, level: Level, rules: CrashRules, *, seed: str) -> None:
        self.graph, self.rules = graph, rules
        self._slips = level.slips
        strengths, classes = np.arange(_STRENGTHS), np.arange(1 + max(BragClass))
        places = err.POSITION * np.arange(rules.hands)[:, None]
        once = np.zeros(1, np.int64)
        asked = {
            Purpose.SCORE: once,
            Purpose.FEELING: once,
            Purpose.WORTH: once,
            Purpose.SEEING: strengths,
            Purpose.JUDGING_CLASS: (classes + places).ravel(),
            Purpose.JUDGING_HAND: (strengths + places).ravel(),
        }
        uniform = _uniform(graph, seed, asked)
        parts = graph.many("Split", uniform, graph.whole(*map(len, asked.values())), results=len(asked), axis=1)
        self._drawn = dict(zip(asked, parts, strict=True))

    def remembered(self, scores: str) -> str:
        """Return the scores, nil all where they are forgotten: int32 (n, players)."""
        g = self.graph
        return g.op("Where", self._happens(Purpose.SCORE, err.FORGETS), 0, scores)

    def looks(self, found: Found, values: str) -> str:
        """Return what each arrangement looks worth: float32 (n, k).

        Args:
            found: the arrangements.
            values: what they are worth, float32 (n, k).
        """
        g = self.graph
        first = self._first(found)
        columns = [g.cast(strength, np.int32) for strength in found.strengths]
        unseen = self._by_position(self._overlooked(first), g.join(*columns, axis=1))
        moved = [g.op("Add", column, _STRENGTHS * hand) for hand, column in enumerate(columns)]
        better = self._by_position(self._misjudged(), g.join(*moved, axis=1))
        same = [g.cast(g.op("Equal", own, one), np.float32) for own, one in zip(found.strengths, first, strict=True)]
        liked = g.op("Mul", same[0], err.LIKES_FIRST * self._likes)
        liked = g.op("Add", liked, g.op("Mul", g.total("Mul", *same), err.LIKES_GREEDY * self._likes))
        looks = g.op("Add", values, g.op("Add", better, liked))
        return g.op("Where", g.op("Equal", unseen, 0.0), looks, -1e20)

    def chosen(self, worth: str, feeling: str) -> str:
        """Return whether it exchanges or calls: bool (n,).

        Args:
            worth: what that is worth more than not, float32 (n,).
            feeling: what it feels like, bool (n,).
        """
        g = self.graph
        wrong = g.op("Mul", self._error(Purpose.WORTH), self._slips * err.MISJUDGES_EXCHANGE)
        seems = g.op("Greater", g.op("Add", worth, g.op("Squeeze", wrong, g.whole(1))), 0.0)
        feels = g.op("Squeeze", self._happens(Purpose.FEELING, err.FEELS), g.whole(1))
        return g.op("Or", g.op("And", feels, feeling), g.op("And", g.op("Not", feels), seems))

    def feels_exchange(self, found: Found) -> str:
        """Return whether it feels like exchanging: bool (n,)."""
        g, hands = self.graph, self.rules.hands
        last_first = list(reversed(found.strengths))[: min(3, hands)]
        there, best = found.there, ""
        for strength in last_first:  # the strongest last hand, then the hand before it, and so on
            key = g.op("Where", there, strength, -1.0)
            best = g.op("ReduceMax", key, axes=[1], keepdims=1)
            there = g.op("Equal", key, best)
        return g.op("Less", g.op("Squeeze", best, g.whole(1)), float(Balanced.EXCHANGE_BELOW))

    def feels_call(self, laid: str) -> str:
        """Return whether it feels like calling, of hands laid as card ids: bool (n,)."""
        g, hands = self.graph, self.rules.hands
        fields, _ = laid_fields(g, self.rules, laid)
        third = g.op("GreaterOrEqual", fields[max(0, hands - 3)], float(Balanced.CALL_THIRD_LAST))
        last = g.op("GreaterOrEqual", fields[hands - 1], float(Balanced.CALL_LAST))
        return g.op("Squeeze", g.op("And", third, last), g.whole(1))

    # ---- inside -------------------------------------------------------------------------------------------------------

    @property
    def _likes(self) -> float:
        return min(self._slips, 1.0)

    def _happens(self, purpose: Purpose, chance: float) -> str:
        """Return whether something happens that has a chance at one slip: bool (n, 1)."""
        limit = np.array(min(self._slips * chance, err.SURELY), np.float64)
        return self.graph.op("Less", self._drawn[purpose], limit)

    def _error(self, purpose: Purpose) -> str:
        """Return errors of a logistic distribution with a standard deviation of 1: float32 (n, numbers)."""
        g, drawn = self.graph, self._drawn[purpose]
        odds = g.op("Div", drawn, g.op("Sub", np.array(1.0), drawn))
        return g.cast(g.op("Mul", g.op("Log", odds), np.array(math.sqrt(3) / math.pi)), np.float32)

    def _first(self, found: Found) -> list[str]:
        """Return the strengths of what `greedy` lays, strongest first: float32 (n, 1) each."""
        g, there, first = self.graph, found.there, list[str]()
        for strength in found.strengths:
            key = g.op("Where", there, strength, -1.0)
            best = g.op("ReduceMax", key, axes=[1], keepdims=1)
            there = g.op("Equal", key, best)
            first.append(best)
        return first

    def _overlooked(self, first: list[str]) -> str:
        """Return 1 for each strength that goes unseen, 0 for the others: float32 (n, strengths)."""
        g = self.graph
        limits = np.minimum(self._slips * err.overlooked(), err.SURELY)
        unseen = g.cast(g.op("Less", self._drawn[Purpose.SEEING], limits), np.float32)
        plain = g.cast(g.join(*first, axis=1), np.int64)
        return g.op("ScatterElements", unseen, plain, g.cast(g.op("Mul", plain, g.whole(0)), np.float32), axis=1)

    def _misjudged(self) -> str:
        """Return how much better than it is each hand at each position looks: float32 (n, hands * strengths)."""
        g, hands = self.graph, self.rules.hands
        kinds = np.array([BragClass.HIGH_CARD, *map(class_of_strength, range(1, _STRENGTHS))], np.int32)
        number = 1 + max(BragClass)
        own = (kinds + number * np.arange(hands, dtype=np.int32)[:, None]).ravel()
        errors = g.op("Gather", self._error(Purpose.JUDGING_CLASS), own, axis=1)
        errors = g.op("Add", errors, self._error(Purpose.JUDGING_HAND))
        errors = g.op("Mul", errors, self._slips * err.MISJUDGES * math.sqrt(0.5))
        liked = (kinds == BragClass.FLUSH) * np.float32(err.LIKES_FLUSH * self._likes)
        return g.op("Add", errors, np.tile(liked, hands).astype(np.float32))

    def _by_position(self, table: str, places: str) -> str:
        """Sum a table's numbers at each hand's place: float32 (n, k), of (n, numbers) and int32 (n, hands * k)."""
        g = self.graph
        each = g.op("Reshape", g.op("GatherElements", table, places, axis=1), g.whole(0, self.rules.hands, -1))
        return g.op("ReduceSum", each, g.whole(1), keepdims=0)


def _uniform(g: GraphWriter, seed: str, asked: Mapping[Purpose, npt.NDArray[np.integer]]) -> str:
    """Return the numbers between 0 and 1 that levels draw, by purpose and what they are about: float64 (n, numbers)."""
    purposes = np.repeat(np.array(list(asked), np.uint64), [len(about) for about in asked.values()])
    about = np.concatenate(list(asked.values())).astype(np.uint64)
    salt = about * np.uint64(err.MIX_STEP) + (purposes << np.uint64(56))
    whole = g.op("Mod", g.cast(seed, np.int64), np.array(1 << 32, np.int64))
    low = g.cast(g.op("Mod", whole, np.array(_DIGIT, np.int64)), np.float32)
    high = g.cast(g.op("Div", whole, np.array(_DIGIT, np.int64)), np.float32)
    key = g.op("Pad", g.join(g.at(low, 1), g.at(high, 1), axis=1), g.whole(0, 0, 0, 2), 0.0)
    digits = _mixed(g, g.op("Add", g.at(key, 1), _digits(salt)))
    digits = _mixed(g, g.op("Add", digits, _digits(purposes)))
    shown = g.cast(g.op("Floor", g.op("Mul", digits, np.array([2.0**-12, 1, 1, 1], np.float32))), np.float64)
    number = g.op("MatMul", shown, np.array([1.0, 2.0**4, 2.0**20, 2.0**36])[:, None])
    number = g.op("Mul", g.op("Add", number, np.array(0.5)), np.array(2.0**-52))
    return g.op("Squeeze", number, g.whole(2))


def _mixed(g: GraphWriter, digits: str) -> str:
    """Mix as `prial.agents.level_errors` does (splitmix64's finaliser): digits, lowest first, float32 (n, numbers, 4)."""
    bits = _shifted(g, _bits(g, _carried(g, digits)), 30)
    bits = _shifted(g, _bits(g, _carried(g, g.op("MatMul", bits, _product(err.MIX_FIRST)))), 27)
    bits = _shifted(g, _bits(g, _carried(g, g.op("MatMul", bits, _product(err.MIX_SECOND)))), 31)
    return g.op("MatMul", bits, _product(1))


def _digits(numbers: npt.NDArray[np.uint64]) -> Floats:
    """Return digits of 16 bits, lowest first: float32 (numbers, 4)."""
    places = np.array([0, 16, 32, 48], np.uint64)
    return ((numbers[:, None] >> places) & np.uint64(_DIGIT - 1)).astype(np.float32)


def _product(factor: int) -> Floats:
    """Return what each bit of a number adds to the digits of its product, modulo 2^64: float32 (64, 4)."""
    return _digits(np.array([(factor << bit) % (1 << 64) for bit in range(64)], np.uint64))


def _carried(g: GraphWriter, digits: str) -> str:
    """Carry what is too much for a digit, of sums below 2^24, modulo 2^64."""
    moves = (_DIGIT * np.eye(4) - np.eye(4, k=1)).astype(np.float32)
    for _ in range(4):
        over = g.op("Floor", g.op("Mul", digits, 1 / _DIGIT))
        digits = g.op("Sub", digits, g.op("MatMul", over, moves))
    return digits


def _bits(g: GraphWriter, digits: str) -> str:
    """Return the bits of digits, lowest first: float32 (n, numbers, 64)."""
    whole = g.op("Floor", g.op("Mul", g.at(digits, 3), (0.5 ** np.arange(16)).astype(np.float32)))
    odd = g.op("Sub", whole, g.op("Mul", g.op("Floor", g.op("Mul", whole, 0.5)), 2.0))
    return g.op("Reshape", odd, g.whole(0, 0, 64))


def _shifted(g: GraphWriter, bits: str, by: int) -> str:
    """Combine bits with themselves, shifted to lower places: one or the other, but not both."""
    high = g.op("Slice", bits, g.whole(by), g.whole(64), g.whole(2))
    return g.op("Abs", g.op("Sub", bits, g.op("Pad", high, g.whole(0, 0, 0, 0, 0, by), 0.0)))
