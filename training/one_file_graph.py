"""A whole one-file bot as an ONNX graph: inputs checked, search, network, decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import onnx

from ..agents.levels import Level
from ..agents.one_file_agent import ONE_FILE_INPUTS, ONE_FILE_OUTPUTS
from ..agents.percentile_table import TableError, find_table
from ..agents.trained import Trained
from ..envs.brag import NUM_STRENGTHS
from ..envs.crash.rules import MAX_HANDS, CrashRules
from .one_file_level import LevelNodes
from .one_file_network import Inputs, NetworkNodes
from .one_file_search import STEPS, Found, Search, Step, find, laid_fields
from .onnx_graph import GraphWriter

__all__ = ["one_file_model"]

_PRIME = 2**31 - 1
_FINEST = 1 << 23
_NOT_THERE = -1e30
_HOTTEST = 1e6
_ABSENT = 99  # above every card id


def one_file_model(agent: Trained | Level, rules: CrashRules, *, steps: Sequence[Step] = STEPS) -> onnx.ModelProto:
    """Return the model, without a description.

    Args:
        agent: whose network, and how it errs.
        rules: the rules.
        steps: of the search.

    Raises:
        TrainedError: the agent was not trained for the rules.

    >>> from ..agents.trained import online
    >>> model = one_file_model(online(), CrashRules())
    >>> [value.name for value in model.graph.input][:3], len(model.graph.output)
    (['cards', 'given_up', 'scores'], 11)
    """
    agent.check_rules(rules)
    return _Bot(agent, rules, steps).model()


def chances_of(agent: Trained, rules: CrashRules) -> npt.NDArray[np.float32]:
    """Return the chance that a hand wins its comparison: float32 (numbers of others that kept or 1, 4, 742).

    By the table of what `percentile` lays, where one fits the rules, else by where the strength stands among undominated
    arrangements. Opponents count as independent.
    """
    try:
        return find_table(rules).win_chances().astype(np.float32)
    except TableError:
        places = agent.network.weights["places"][:, : NUM_STRENGTHS + 1] ** (rules.players - 1)
        places[:, 0] = 0
        return places[None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extra:
    """Further inputs."""

    laid: str
    temperature: str
    seed: str


class _Bot:
    def __init__(self, agent: Trained | Level, rules: CrashRules, steps: Sequence[Step]) -> None:
        self.rules, self.steps = rules, steps
        self.graph = GraphWriter()
        self.level = agent if isinstance(agent, Level) else None
        base = agent.base if isinstance(agent, Level) else agent
        self.chances = chances_of(base, rules)
        most_need = max(made.target for made in base.rules)
        self.network = NetworkNodes(self.graph, base.network, rules, most_need=most_need)

    def model(self) -> onnx.ModelProto:
        g, rules = self.graph, self.rules
        given, extra = self._inputs()
        ok = self._ok(given, extra)
        given, laid = self._in_range(given, extra.laid)
        slips = None if self.level is None else LevelNodes(g, self.level, rules, seed=extra.seed)
        if slips is not None:
            given = replace(given, scores=slips.remembered(given.scores))
        # So even that the last undominated arrangement stands among the first few thousand in nearly every deal; by the mean
        # chance to win alone, which is small for all weak hands, tens of thousands would stand before it.
        search = Search(rules, (np.linspace(0, 1, NUM_STRENGTHS + 1) + self.chances[0, 0]) / 2)
        found = find(g, search, given.cards, self.steps)
        now = self.network.context(given)
        kept = self.network.context(self._as_kept(given)) if rules.has_exchange else now
        hands = self.network.hands(found.strengths, found.quads)
        values = g.op("Where", found.there, self.network.values(hands, kept), _NOT_THERE)
        looks = values if slips is None else slips.looks(found, values)
        noisy = g.op("Add", looks, g.op("Mul", g.at(extra.temperature, 1), self._gumbel(found, extra.seed)))
        noisy = g.op("Where", found.there, noisy, _NOT_THERE)
        choice = g.op("ArgMax", noisy, axis=1, keepdims=1)
        made = self._laid(search, found, choice, ok)
        made |= {"ok": g.cast(ok, np.int32)}
        made |= {"chances": self._chances_output(made["strengths"], given)}
        made |= {"lead": self._lead(values, choice)}
        made |= self._exchange(found, hands, values, now, slips, ok) | self._call(laid, now, slips, ok)
        made |= {"candidates": g.op("ReduceSum", g.cast(found.there, np.int32), g.whole(1), keepdims=0)}
        shapes: dict[str, list[int | str]] = {"hands": [MAX_HANDS, 3], "spare": [rules.cards_dealt]}
        shapes |= {"strengths": [MAX_HANDS], "chances": [MAX_HANDS]}
        for name, meaning in ONE_FILE_OUTPUTS.items():
            dtype = np.float32 if name in ("chances", "lead", "exchange_gain", "call_gain") else np.int32
            g.output(name, made[name], dtype, ["n", *shapes.get(name, [])], meaning=meaning)
        return g.model("crash")

    def _inputs(self) -> tuple[Inputs, _Extra]:
        rules = self.rules
        cards, players = [rules.cards_dealt], [rules.players]
        shapes: dict[str, list[int]] = {"cards": cards, "given_up": cards, "laid": [MAX_HANDS, 3]}
        shapes |= {"scores": players, "exchanges": players, "calls": players}
        names = {}
        for name, meaning in ONE_FILE_INPUTS.items():
            dtype = np.float32 if name == "temperature" else np.int32
            names[name] = self.graph.input(name, dtype, ["n", *shapes.get(name, [])], meaning=meaning)
        extra = _Extra(**{name: names.pop(name) for name in ("laid", "temperature", "seed")})
        return Inputs(**names), extra

    def _ok(self, given: Inputs, extra: _Extra) -> str:
        """Whether every input is in range: bool (n,)."""
        g, rules = self.graph, self.rules
        ids = g.op("Gather", np.isin(np.arange(52), rules.pack).astype(np.int32), g.op("Clip", given.cards, 0, 51))
        apart = g.op("Equal", g.at(given.cards, 2), g.at(given.cards, 1))
        number = g.op("ReduceSum", g.cast(apart, np.int32), g.whole(1, 2), keepdims=0)
        checks = [
            g.op("Equal", g.op("ReduceMin", ids, axes=[1], keepdims=0), 1),
            g.op("Equal", number, rules.cards_dealt),  # each card equals itself alone
            g.op("GreaterOrEqual", g.op("ReduceMin", given.scores, axes=[1], keepdims=0), 0),
            g.op("GreaterOrEqual", given.target, 1),
            g.op("GreaterOrEqual", extra.temperature, 0.0),
            g.op("LessOrEqual", extra.temperature, _HOTTEST),
        ]
        laid = g.op("Reshape", extra.laid, g.whole(0, MAX_HANDS * 3))
        for value, low, high in (
            (given.cards, 0, 51),
            (given.given_up, -1, 51),
            (laid, -1, 51),
            (g.at(given.dealer, 1), 0, rules.players - 1),
            (given.exchanges, -1, 1),
            (given.calls, -1, 1),
        ):
            least = g.op("ReduceMin", value, axes=[1], keepdims=0)
            largest = g.op("ReduceMax", value, axes=[1], keepdims=0)
            checks += [g.op("GreaterOrEqual", least, low), g.op("LessOrEqual", largest, high)]
        return g.total("And", *checks)

    def _in_range(self, given: Inputs, laid: str) -> tuple[Inputs, str]:
        """The inputs as numbers that no table is too short for."""
        g = self.graph
        cards = g.op("Clip", given.cards, 0, 51)
        gone = g.op("Clip", given.given_up, -1, 51)
        return replace(given, cards=cards, given_up=gone), g.op("Clip", laid, -1, 51)

    def _as_kept(self, given: Inputs) -> Inputs:
        """While it is asked whether to exchange, arrangements are valued as if the hand were kept.

        That is while the own choice is open and nobody has exchanged: with three players, whoever comes after the one who
        took the spare hand is not asked, and lays with the choice left open.
        """
        g, players = self.graph, self.rules.players
        own, others = g.many("Split", given.exchanges, g.whole(1, players - 1), results=2, axis=1)
        taken = g.op("Equal", g.op("ReduceMax", others, axes=[1], keepdims=1), 1)
        asked = g.op("And", g.op("Equal", own, -1), g.op("Not", taken))
        exchanges = g.join(g.op("Where", asked, 0, own), others, axis=1)
        return replace(given, exchanges=exchanges)

    def _gumbel(self, found: Found, seed: str) -> str:
        """Noise of a Gumbel distribution, a hash of the seed and the partition: float32 (n, k).

        Squares and products modulo a prime, in 64-bit whole numbers: the same on every machine.
        """
        g = self.graph

        def mixed(value: str, factor: int, plus: str | npt.NDArray[np.int64]) -> str:
            product = g.op("Add", g.op("Mul", value, np.array(factor, np.int64)), plus)
            once = g.op("Mod", product, np.array(_PRIME, np.int64))
            squared = g.op("Add", g.op("Mul", once, once), np.array(7, np.int64))
            return g.op("Mod", squared, np.array(_PRIME, np.int64))

        start = g.op("Mod", g.cast(g.at(seed, 1), np.int64), np.array(_PRIME, np.int64))
        start = mixed(mixed(start, 48_271, np.array(12_345, np.int64)), 69_621, np.array(40_692, np.int64))
        hashed = mixed(mixed(found.rows, 40_014, start), 16_807, start)
        low = g.cast(g.op("Mod", hashed, np.array(_FINEST, np.int64)), np.float32)
        uniform = g.op("Mul", g.op("Add", low, 0.5), 1 / _FINEST)
        return g.op("Neg", g.op("Log", g.op("Neg", g.op("Log", uniform))))

    def _laid(self, search: Search, found: Found, choice: str, ok: str) -> dict[str, str]:
        """The hands of the chosen row, strongest first, and the cards left."""
        g, rules = self.graph, self.rules
        triples = g.join(*(g.op("GatherElements", triple, choice, axis=1) for triple in found.triples), axis=1)
        strength = g.op("GatherElements", found.triple_strengths, triples, axis=1)
        # Of equal hands the one with the lower colex index comes first, as everywhere in prial.
        key = g.op("Sub", g.op("Mul", strength, 512.0), g.cast(triples, np.float32))
        order = g.many("TopK", key, g.whole(rules.hands), results=2, axis=1, largest=1, sorted=1)[1]
        triples = g.op("GatherElements", triples, order, axis=1)
        strength = g.op("GatherElements", strength, order, axis=1)
        there = g.op("And", g.op("Greater", strength, 0.0), g.at(ok, 1))
        slots = g.op("Gather", np.ascontiguousarray(search.slots.T), triples)  # (n, hands, 3)
        flat = g.op("Reshape", slots, g.whole(0, 3 * rules.hands))
        cards = g.op("Reshape", g.op("GatherElements", found.cards, flat, axis=1), g.whole(0, rules.hands, 3))
        cards = g.op("Where", g.at(there, 2), cards, -1)
        strengths = g.op("Where", there, g.cast(strength, np.int32), 0)
        missing = MAX_HANDS - rules.hands
        if missing:
            cards = g.op("Pad", cards, g.whole(0, 0, 0, 0, missing, 0), np.array(-1, np.int32))
            strengths = g.op("Pad", strengths, g.whole(0, 0, 0, missing), np.array(0, np.int32))
        held = g.op("Reshape", cards, g.whole(0, 1, 3 * MAX_HANDS))
        used = g.cast(g.op("Equal", g.at(found.cards, 2), held), np.int32)
        used = g.op("Greater", g.op("ReduceMax", used, axes=[2], keepdims=0), 0)
        unused = g.op("Where", g.op("Or", used, g.op("Not", g.at(ok, 1))), _ABSENT, found.cards)
        spare = g.many("TopK", unused, g.whole(rules.cards_dealt), results=2, axis=1, largest=0, sorted=1)[0]
        spare = g.op("Where", g.op("Equal", spare, _ABSENT), -1, spare)
        return {"hands": cards, "spare": spare, "strengths": strengths}

    def _chances_output(self, strengths: str, given: Inputs) -> str:
        g, table = self.graph, self.chances
        index = g.op("Add", strengths, table.shape[2] * np.arange(MAX_HANDS, dtype=np.int32))
        if len(table) > 1:
            others = g.many("Split", given.exchanges, g.whole(1, self.rules.players - 1), results=2, axis=1)[1]
            kept = g.op("ReduceSum", g.cast(g.op("Equal", others, 0), np.int32), g.whole(1), keepdims=1)
            index = g.op("Add", index, g.op("Mul", kept, MAX_HANDS * table.shape[2]))
        return g.op("Gather", table.reshape(-1), index)

    def _lead(self, values: str, choice: str) -> str:
        g = self.graph
        mine = g.op("Squeeze", g.op("GatherElements", values, choice, axis=1), g.whole(1))
        rest = g.op("ScatterElements", values, choice, g.op("Add", g.op("Mul", g.at(mine, 1), 0.0), _NOT_THERE), axis=1)
        best = g.op("ReduceMax", rest, axes=[1], keepdims=0)
        return g.op("Where", g.op("Greater", best, _NOT_THERE / 2), g.op("Sub", mine, best), 0.0)

    def _exchange(
        self, found: Found, hands: str, values: str, context: str, slips: LevelNodes | None, ok: str
    ) -> dict[str, str]:
        if not self.rules.has_exchange:
            return self._never("exchange", values)
        g = self.graph
        best = g.op("ArgMax", values, axis=1, keepdims=1)
        gain = self.network.choice("exchange", g.op("GatherND", hands, best, batch_dims=1), context)
        yes = g.op("Greater", gain, 0.0) if slips is None else slips.chosen(gain, slips.feels_exchange(found))
        return self._decided("exchange", gain, yes, ok)

    def _call(self, laid: str, context: str, slips: LevelNodes | None, ok: str) -> dict[str, str]:
        g, rules = self.graph, self.rules
        if not rules.has_calls:
            return self._never("call", context)
        hands = g.op("Squeeze", self.network.hands(*laid_fields(g, rules, laid)), g.whole(1))
        gain = self.network.choice("call", hands, context)
        yes = g.op("Greater", gain, 0.0) if slips is None else slips.chosen(gain, slips.feels_call(laid))
        return self._decided("call", gain, yes, ok)

    def _never(self, name: str, like: str) -> dict[str, str]:
        """A choice that the rules do not have."""
        g = self.graph
        zero = g.op("Mul", g.op("ReduceMin", like, axes=[1], keepdims=0), 0.0)
        return {name: g.cast(zero, np.int32), f"{name}_gain": zero}

    def _decided(self, name: str, gain: str, yes: str, ok: str) -> dict[str, str]:
        g = self.graph
        return {name: g.cast(g.op("And", yes, ok), np.int32), f"{name}_gain": gain}
