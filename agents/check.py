"""`check_agent`: does an agent keep the contract of `prial.agents.Agent`? For authors of bots, and for our own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.game import Game, IllegalActionError, Phase
from ..envs.crash.observation import ViewBatch, view_of
from ..envs.crash.presets import load_rules
from ..envs.crash.rules import CrashRules
from .heuristics import RandomLegal, RandomUndominated
from .protocol import Agent

__all__ = ["AgentCheckError", "check_agent"]


class AgentCheckError(ValueError):
    """An agent that does not keep the contract; the message says what it did and what was expected."""


_Decision = tuple[Game, int]


def check_agent(
    agent: Agent,
    *,
    rules: str | CrashRules | Iterable[str | CrashRules] = "online",
    seed: int = 0,
    games: int = 20,
    deterministic: bool | None = None,
) -> None:
    """Check an agent on many decisions of every phase; returns nothing if all is well.

    The decisions come from random games (own arrangements included that the agent would not lay), so that it meets scores,
    exchanges and calls of every kind. Checked are: `name`; type, shape and legality of what `act_many` returns; that it
    leaves views alone; that the same views and the same `rng` give the same actions, whatever it was asked before; that
    `act` is the single case of `act_many`; and, for an agent that draws no chance, that no row depends on the others. A
    view holds nothing hidden, so an agent that passes needs nothing hidden.

    Args:
        agent: what to check.
        rules: rules or names of rule sets that it claims to play.
        seed: of the games and of its chance.
        games: how many games to draw decisions from, for each rules.
        deterministic: whether it draws no chance; found out if None.

    Raises:
        AgentCheckError: names agent, rules and what failed.
        ValueError: unknown rules.

    >>> from prial import agents
    >>> check_agent(agents.make("greedy"), rules=["online", "bga"], games=2)
    """
    name = getattr(agent, "name", None)
    if not isinstance(name, str) or not name:
        raise AgentCheckError(f"{agent!r}: `name` is {name!r}, expected a text")
    for one in [rules] if isinstance(rules, str | CrashRules) else rules:
        known = load_rules(one) if isinstance(one, str) else one
        by_phase: dict[Phase, list[_Decision]] = {}
        for game, seat in _decisions(known, seed, games):
            by_phase.setdefault(game.phase, []).append((game, seat))
        check = _Check(agent, f"agent {name!r} under {known.name or 'the rules'} (players={known.players})", seed)
        mixed = [decision for decisions in by_phase.values() for decision in decisions]
        for decisions in [*by_phase.values(), mixed]:
            check.answers(decisions)
            check.repeats(decisions)
            check.single(decisions)
            drawn = check.draws_chance(decisions) if deterministic is None else not deterministic
            if not drawn:
                check.rows_apart(decisions)


def _decisions(rules: CrashRules, seed: int, games: int) -> Iterator[_Decision]:
    """Yield games in which a seat is to act (copies), from games played at random."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))
    players = (RandomLegal(), RandomUndominated())
    for table in range(games):
        game = Game(rules, seed=seed, table=table)
        while not game.is_over:
            for seat in game.pending:
                yield game.copy(), seat
            seat = game.pending[0]
            game.step(players[rng.integers(2)].act(view_of(game, seat), rng), seat)
            if game.rounds_played >= 8:  # enough of a long game
                break


class _Check:
    def __init__(self, agent: Agent, about: str, seed: int) -> None:
        self.agent = agent
        self.about = about
        self.seed = seed

    def fail(self, what: str) -> AgentCheckError:
        return AgentCheckError(f"{self.about}: {what}")

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(3,)))

    def ask(self, decisions: Sequence[_Decision]) -> npt.NDArray[Any]:
        """Return what `act_many` answers, with a fresh generator."""
        return np.asarray(self.agent.act_many(_batch(decisions), self.rng()))

    def answers(self, decisions: Sequence[_Decision]) -> None:
        """Type, shape and legality; views left alone."""
        views = _batch(decisions)
        before = {name: array.copy() for name, array in _arrays(views)}
        found: object = self.agent.act_many(views, self.rng())
        n = len(decisions)
        if not isinstance(found, np.ndarray):
            raise self.fail(f"act_many returned {type(found).__name__}, expected an array of int32 ({n},)")
        if found.dtype != np.int32 or found.shape != (n,):
            raise self.fail(f"act_many returned {found.dtype} {found.shape}, expected int32 ({n},)")
        for name, array in _arrays(views):
            if not np.array_equal(array, before[name]):
                raise self.fail(f"act_many changed the views: `{name}` is not what it was")
        for (game, seat), action in zip(decisions, found.tolist(), strict=True):
            try:
                game.check(action, seat)
            except IllegalActionError as error:
                raise self.fail(f"{error}; its cards are {view_of(game, seat).cards}") from error

    def repeats(self, decisions: Sequence[_Decision]) -> None:
        """The same views and chance give the same actions."""
        first = self.ask(decisions)
        for in_between in (False, True):
            if in_between:
                self.ask(decisions[::-1])
            again = self.ask(decisions)
            if not np.array_equal(first, again):
                row = int(np.flatnonzero(first != again)[0])
                raise self.fail(
                    f"the same views with the same rng gave {first[row]}, then {again[row]} (row {row}); chance comes from "
                    "rng alone, and nothing is remembered between calls"
                )

    def single(self, decisions: Sequence[_Decision]) -> None:
        """`act` is `act_many` for a batch of one."""
        for decision in decisions[:: max(1, len(decisions) // 20)]:
            view = view_of(*decision)
            alone = self.agent.act(view, self.rng())
            if isinstance(alone, bool | np.bool_) or not isinstance(alone, int | np.integer):
                raise self.fail(f"act returned {alone!r} ({type(alone).__name__}), expected an int")
            many = self.ask([decision])
            if int(alone) != int(many[0]):
                raise self.fail(
                    f"act chose {alone}, act_many with the same view and rng {many[0]} ({view.phase.label} phase)"
                )

    def draws_chance(self, decisions: Sequence[_Decision]) -> bool:
        """Whether `act_many` draws from its generator."""
        rng = self.rng()
        self.agent.act_many(_batch(decisions), rng)
        return rng.bit_generator.state != self.rng().bit_generator.state

    def rows_apart(self, decisions: Sequence[_Decision]) -> None:
        """Without chance, a row's action does not depend on the others."""
        whole = self.ask(decisions)
        backwards = self.ask(decisions[::-1])[::-1]
        some = np.arange(0, len(decisions), max(1, len(decisions) // 20))
        alone = np.concatenate([self.ask([decisions[row]]) for row in some.tolist()])
        if not np.array_equal(whole, backwards) or not np.array_equal(whole[some], alone):
            raise self.fail("an action depends on the other rows of the batch, or on their order")


def _batch(decisions: Sequence[_Decision]) -> ViewBatch:
    return ViewBatch.of(view_of(game, seat) for game, seat in decisions)


def _arrays(views: ViewBatch) -> list[tuple[str, npt.NDArray[Any]]]:
    values = [(f.name, getattr(views, f.name)) for f in fields(views)]
    return [(name, value) for name, value in values if isinstance(value, np.ndarray)]
