"""The part of a one-file bot that values arrangements, the exchange and the call, as ONNX nodes.

The same numbers as `prial.agents.value_inputs` and `prial.agents.value_network` make of a view. What is the same in every
decision (the rules, seats that are not there, hands that cannot be laid) is multiplied out beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..agents.value_inputs import CONTEXT_SIZE, MOST_HANDS, MOST_PLAYERS, contexts_of
from ..agents.value_network import ValueNetwork
from ..envs.crash.game import Game
from ..envs.crash.observation import ViewBatch, view_of
from ..envs.crash.rules import CrashRules
from .onnx_graph import GraphWriter

__all__ = ["Inputs", "NetworkNodes"]

Floats = npt.NDArray[np.float32]
# Where the pieces of a context lie.
_MOST_NEED, _NEED = 15, 10
_DEALER = MOST_PLAYERS * _NEED
_SAID = _DEALER + MOST_PLAYERS  # kept, exchanged, passed, called: as many columns each as there can be players
_GAVE = _SAID + 4 * MOST_PLAYERS
_KNOWN = _GAVE + 1
_THROWN = _KNOWN + 44
_OPTIONS = _THROWN + 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Names of what a decision stands in: own seat first, then clockwise; int32.

    Attributes:
        cards, given_up: (n, cards); given up -1 where nothing was.
        scores, exchanges, calls: (n, players).
        target, dealer: (n,).
    """

    cards: str
    given_up: str
    scores: str
    target: str
    dealer: str
    exchanges: str
    calls: str


class NetworkNodes:
    """The nodes of a network in a graph.

    Args:
        graph: which.
        network: whose weights.
        rules: the rules.
        most_need: larger needs count as this.

    >>> from ..agents.trained import online
    >>> graph = GraphWriter()
    >>> nodes = NetworkNodes(graph, online().network, CrashRules(), most_need=7)
    >>> strength = graph.input("strength", np.float32, ["n", "k"])
    >>> rows = nodes.hands([strength] * 4, strength)  # 17 numbers a hand, and quads
    >>> graph.output("rows", rows, np.float32, ["n", "k", 69])
    >>> graph.model("rows").graph.name
    'rows'
    """

    def __init__(self, graph: GraphWriter, network: ValueNetwork, rules: CrashRules, *, most_need: int) -> None:
        self.graph, self.network, self.rules = graph, network, rules
        self._most_need = min(most_need, _MOST_NEED)
        self._width = network.hats + 1
        self._live_context, self._fixed_context = _context_columns(rules)
        self._thrown = _thrown_columns(rules) if rules.has_exchange else np.zeros((0, CONTEXT_SIZE), np.float32)
        live = np.ones(4 * self._width + 1, bool)
        live[rules.hands * self._width : -1] = False
        self._live_hands = np.flatnonzero(live)
        self._fixed_hands = np.zeros(len(live), np.float32)
        for hand in range(rules.hands, MOST_HANDS):
            self._fixed_hands[hand * self._width] = 1  # no hand is laid there

    def context(self, given: Inputs) -> str:
        """Return the numbers of a context that are not always the same: float32 (n, numbers)."""
        g, rules = self.graph, self.rules
        pieces = [self._needs(given), self._equal(g.at(given.dealer, 1), np.arange(rules.players))]
        said = [given.exchanges] * rules.has_exchange + [given.calls] * rules.has_calls
        pieces += [self._equal(choices, choice) for choices in said for choice in (0, 1)]
        pieces += self._pack(given)
        return g.join(*pieces, axis=1)

    def _needs(self, given: Inputs) -> str:
        g, rules = self.graph, self.rules
        needs = g.op("Clip", g.op("Sub", g.at(given.target, 1), given.scores), 1, self._most_need)
        rows = g.op("Gather", _need_features(rules), needs)
        return g.op("Reshape", rows, g.whole(0, rules.players * _NEED))

    def _equal(self, value: str, to: int | npt.NDArray[np.integer]) -> str:
        return self.graph.cast(self.graph.op("Equal", value, np.asarray(to, np.int32)), np.float32)

    def _pack(self, given: Inputs) -> list[str]:
        """What was given up, and what is known of the pack."""
        g, has_exchange = self.graph, self.rules.has_exchange
        table = np.zeros((53, 17), np.float32)  # of each card, -1 first: its rank and its suit
        ids = np.arange(52)
        table[1 + ids, ids // 4] = table[1 + ids, 13 + ids % 4] = 1
        counts = g.op("ReduceSum", g.op("Gather", table, g.op("Add", given.cards, 1)), g.whole(1), keepdims=0)
        thrown = ""
        if has_exchange:
            rows = g.op("Gather", table, g.op("Add", given.given_up, 1))
            thrown = g.op("ReduceSum", rows, g.whole(1), keepdims=0)
            counts = g.op("Add", counts, thrown)
        ranks, suits = g.many("Split", counts, g.whole(13, 4), results=2, axis=1)
        suits = g.many("TopK", suits, g.whole(4), results=2, axis=1, largest=0, sorted=1)[0]
        largest = g.op("ReduceMax", suits, axes=[1], keepdims=1)
        known = [g.op("Mul", ranks, 0.5)]
        known += [g.cast(g.op("GreaterOrEqual", ranks, float(count)), np.float32) for count in (2, 3)]
        known += [g.op("Mul", suits, 0.2), g.op("Mul", g.op("Mul", largest, largest), 0.02)]
        if not has_exchange:
            return known
        gave = g.cast(g.op("Greater", g.op("ReduceSum", thrown, g.whole(1), keepdims=1), 0.0), np.float32)
        return [gave, *known, g.many("Split", thrown, g.whole(13, 4), results=2, axis=1)[0]]

    def hands(self, strengths: list[str], quads: str) -> str:
        """Return the numbers of arrangements: float32 (n, k, numbers).

        Args:
            strengths: strongest first, float32 (n, k) each.
            quads: four of a kind laid whole, float32 (n, k).
        """
        g, hats = self.graph, self.network.hats
        stacked = g.join(*(g.at(strength, 2) for strength in strengths), axis=2)
        places = self.network.weights["places"]
        offsets = places.shape[1] * np.arange(len(strengths), dtype=np.int32)
        place = g.op("Gather", places.reshape(-1), g.op("Add", g.cast(stacked, np.int32), offsets))
        away = g.op("Sub", g.op("Mul", g.at(place, 3), float(hats - 1)), np.arange(hats, dtype=np.float32))
        hat = g.op("Clip", g.op("Sub", 1.0, g.op("Abs", away)), 0.0, 1.0)
        none = g.cast(g.op("Equal", g.at(stacked, 3), 0.0), np.float32)
        rows = g.join(none, g.op("Mul", hat, g.op("Sub", 1.0, none)), axis=3)
        flat = g.op("Reshape", rows, g.whole(0, 0, len(strengths) * self._width))
        return g.join(flat, g.at(quads, 2), axis=2)

    def values(self, hands: str, context: str) -> str:
        """Return the value of each arrangement, in points, up to a number of each decision: float32 (n, k)."""
        g, weights = self.graph, self.network.weights
        into = weights["hands.weight"]
        seen = g.op("Relu", self._context_linear("context", context))
        first, shift, read = (self._linear(name, seen) for name in ("first", "shift", "read"))
        first = g.op("Add", first, into @ self._fixed_hands)
        hidden = g.op("MatMul", hands, np.ascontiguousarray(into[:, self._live_hands].T))
        hidden = g.op("Relu", g.op("Add", hidden, g.at(first, 1)))
        hidden = g.op("MatMul", hidden, np.ascontiguousarray(weights["second.weight"].T))
        hidden = g.op("Relu", g.op("Add", hidden, g.at(shift, 1)))
        return g.op("ReduceSum", g.op("Mul", hidden, g.at(read, 1)), g.whole(2), keepdims=0)

    def choice(self, head: str, hands: str, context: str) -> str:
        """Return what the `exchange` or the `call` is worth more than not, in points: float32 (n,).

        Args:
            head: which.
            hands: numbers of one arrangement each, (n, numbers).
            context: as `context` gives it.
        """
        g = self.graph
        weight, bias = (self.network.weights[f"{head}.0.{part}"] for part in ("weight", "bias"))
        size = len(self._fixed_hands)
        fixed = np.concatenate([self._fixed_hands, self._fixed_context])
        into = np.concatenate([weight[:, self._live_hands], self._context_weight(weight[:, size:])], axis=1)
        hidden = g.op("MatMul", g.join(hands, context, axis=1), np.ascontiguousarray(into.T))
        hidden = g.op("Relu", g.op("Add", hidden, bias + weight @ fixed))
        hidden = g.op("Relu", self._linear(f"{head}.2", hidden))
        return g.op("Squeeze", self._linear(f"{head}.4", hidden), g.whole(1))

    def _context_linear(self, name: str, context: str) -> str:
        g, weight = self.graph, self.network.weights[f"{name}.weight"]
        product = g.op("MatMul", context, np.ascontiguousarray(self._context_weight(weight).T))
        return g.op("Add", product, self.network.weights[f"{name}.bias"] + weight @ self._fixed_context)

    def _context_weight(self, weight: Floats) -> Floats:
        """The weights of the numbers that `context` makes."""
        return np.concatenate([weight[:, self._live_context], weight @ self._thrown.T], axis=1)

    def _linear(self, name: str, value: str) -> str:
        g, weights = self.graph, self.network.weights
        product = g.op("MatMul", value, np.ascontiguousarray(weights[f"{name}.weight"].T))
        return g.op("Add", product, weights[f"{name}.bias"])


def _context_columns(rules: CrashRules) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return which columns of a context change, in the order in which they are made, and the values of all others."""
    there = np.arange(rules.players)
    said = [0, 1] * rules.has_exchange + [2, 3] * rules.has_calls
    live = [np.arange(rules.players * _NEED), _DEALER + there]
    live += [_SAID + MOST_PLAYERS * which + there for which in said]
    live += [np.arange(_GAVE if rules.has_exchange else _KNOWN, _THROWN)]
    columns = np.concatenate(live)
    fixed = _context(rules)[0].copy()
    fixed[:_OPTIONS] = 0
    return columns, fixed


def _context(rules: CrashRules) -> Floats:
    game = Game(rules, seed=0, episode="round")
    return contexts_of(ViewBatch.of([view_of(game, 0)]))


def _thrown_columns(rules: CrashRules) -> Floats:
    """Return what a card given up adds to a context, by its rank, beside what is known of the pack: float32 (13, size).

    Asked of `contexts_of`, wherever it puts it.
    """
    views = ViewBatch.of([view_of(Game(rules, seed=0, episode="round"), 0)] * 14)
    given_up = np.full((14, rules.cards_dealt), -1, np.int8)
    given_up[1:, 0] = 4 * np.arange(13)
    context = contexts_of(replace(views, given_up=given_up))
    added: Floats = context[1:] - context[0]
    added[:, _GAVE:_THROWN] = 0
    return added


def _need_features(rules: CrashRules) -> Floats:
    """Return the numbers of each need, 0 to 15: float32 (16, 10); asked of `contexts_of`, so that there is one source."""
    long = rules.replace(target=_MOST_NEED)
    game = Game(long, seed=0, episode="round")
    views = ViewBatch.of([view_of(game, 0)] * _MOST_NEED)
    scores = np.zeros((_MOST_NEED, rules.players), np.int32)
    scores[:, 0] = np.arange(_MOST_NEED)[::-1]
    table = np.zeros((_MOST_NEED + 1, _NEED), np.float32)
    table[1:] = contexts_of(replace(views, seat=np.zeros(_MOST_NEED, np.int8), scores=scores))[:, :_NEED]
    return table


assert _OPTIONS < CONTEXT_SIZE
