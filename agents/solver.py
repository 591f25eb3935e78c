"""`solver`: `solver-fast` with a look at what the others may really hold.

`solver-fast` knows what opponents lay on average, each for itself. `solver` starts from its choice and deals the hidden
cards anew, many times: from the cards that the seat has not seen (cards given up included), so that others keep or exchanged
or called as they did in public. There everybody else plays `solver-fast`, and all options are compared in the same deals
(`prial.agents.sampled_choice`). What the closed form says counts as some hundred deals (`_KNOWN`), and another option is
taken only where both together say that it is better.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np

from ..envs.crash.actions import action_layout
from ..envs.crash.game import Phase
from ..envs.crash.observation import ViewBatch
from ..envs.crash.rules import CrashRules
from .by_rules import ByRules
from .protocol import Actions, BaseAgent, Choices
from .sampled_choice import Chooser, alike, options_of
from .solver_contexts import Objective
from .solver_fast import SolverFastPolicy
from .solver_table import find_solver_table
from .world_tables import Asks, Floats, Worth
from .worlds import has_history

__all__ = ["DEFAULT_WORLDS", "Solver", "SolverPolicy", "for_points"]

DEFAULT_WORLDS = 384
"""Deals looked at before a decision in doubt, at most."""

_RESOLVE = 0.0  # what is known already is caution enough
_APART = 2.0  # standard errors that settle a decision
_KNOWN, _KNOWN_HISTORY, _KNOWN_SWAPPED = 1200.0, 700.0, 220.0
_KNOWN_EXCHANGE, _KNOWN_EXCHANGE_HISTORY = 1200.0, 400.0
"""How many deals the closed form is as good as: measured as the ratio of the variance of a deal's difference to that of the
closed form's errors, over decisions of every rule set (`docs/solver.md`); less where others have spoken, least for a hand
that was taken in an exchange."""

_SWING: dict[Objective, float] = {"win": 1.0, "points": 5.0}
"""Two options that differ by d on average differ by some ``sqrt(swing * d)`` in a deal, or less (measured). Those that the
closed form puts further behind than `_APART` errors by this are not looked at."""


class SolverPolicy(BaseAgent):
    """The policy for one set of rules.

    Args:
        fast: what the seat would do without looking, and what everybody else does.
        worth: what counts; what `fast` counts, too.
        swing: `_SWING` of that.
        worlds: dealt for a decision, at most.
    """

    name = "solver"

    def __init__(
        self, fast: SolverFastPolicy, worth: Worth, *, swing: float = 1.0, worlds: int = DEFAULT_WORLDS
    ) -> None:
        self.rules = fast.rules
        self.fast = fast
        self._worth = worth
        self._swing = swing
        self._worlds = worlds

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return the arrangement worth most: int32 (n,)."""
        actions = np.empty(len(views), np.int32)
        views.undominated()  # at once for all kinds
        for rows in alike(views):
            some = views.select(rows)
            found = some.undominated()
            values = self.fast.values(some, found).max(axis=0)
            best = found.best_rows(values)
            known = values - np.repeat(values[best], found.counts)
            actions[rows] = self._chosen(some, found.partitions[best], known, rng)
        return actions

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Exchange where it is worth more: bool (n,)."""
        return self._either(views, *self.fast.exchange_values(views), action_layout(self.rules).keep, rng)

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Call where it is worth more: bool (n,)."""
        passing, calling = self.fast.call_values(views)
        return self._either(views, passing, calling, action_layout(self.rules).pass_, rng)

    def _either(self, views: ViewBatch, no: Floats, yes: Floats, first: int, rng: np.random.Generator) -> Choices:
        """Return whether to do what is worth `yes` rather than `no`, as far as is known; actions `first` + 1 and `first`."""
        actions = (first + (yes > no)).astype(np.int32)
        known = -np.abs(yes - no)
        for rows in alike(views):
            actions[rows] = self._chosen(views.select(rows), actions[rows], known[rows], rng)
        return np.asarray(actions > first, np.bool_)

    def _chosen(self, views: ViewBatch, own: Actions, known: Floats, rng: np.random.Generator) -> Actions:
        """Return what is chosen instead of `own` in views of one kind, or `own`: int32 (n,)."""
        seen = _known_worlds(views)
        every = options_of(views, own, known=known, known_worlds=seen)
        near = every.known >= -(_APART**2) * self._swing / seen
        options, _ = every.some(near, np.arange(len(views)))
        asks = Asks(self.fast, rng)
        chooser = Chooser(asks, self._worth, rng, worlds=self._worlds, resolve=_RESOLVE, apart=_APART)
        number, _ = chooser.choose(views, options)
        chosen: Actions = options.actions[options.offsets[:-1] + number]
        return chosen


def _known_worlds(views: ViewBatch) -> float:
    """Return how many deals the closed form is as good as in views of one kind."""
    heard = bool(has_history(views).any())
    if views.phase[0] == Phase.EXCHANGE:
        return _KNOWN_EXCHANGE_HISTORY if heard else _KNOWN_EXCHANGE
    if views.given_up[0, 0] >= 0:
        return _KNOWN_SWAPPED
    return _KNOWN_HISTORY if heard else _KNOWN


class Solver(ByRules[SolverPolicy]):
    """`SolverPolicy` with the table that fits the rules of the views.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> game = Game(CrashRules.preset("online"), seed=7)
    >>> game.is_legal(Solver(worlds=48).act(view_of(game, 0), np.random.default_rng(0)), 0)
    True

    Args:
        objective: `win`, the chance to win the game, or `points`, the round's margin; the others are taken to play for the
            same.
        worlds: deals of the hidden cards looked at before a decision in doubt, at most; 0 plays as `solver-fast`.
        table: path of a table's file; the one that ships and fits if None.

    Raises:
        ValueError: an objective that there is not, or fewer than no worlds.
        SolverTableError: when it is to act and no table fits the rules.
    """

    name = "solver"

    def __init__(
        self, *, objective: Objective = "win", worlds: int = DEFAULT_WORLDS, table: str | Path | None = None
    ) -> None:
        if objective not in get_args(Objective):
            raise ValueError(f"objective={objective!r}: expected {' or '.join(map(repr, get_args(Objective)))}")
        if worlds < 0:
            raise ValueError(f"worlds={worlds!r}: expected 0 or more")
        super().__init__()
        self._objective: Objective = objective
        self._worlds = worlds
        self._path = table

    def make_policy(self, rules: CrashRules) -> SolverPolicy:
        """Return the policy for some rules.

        Raises:
            SolverTableError: no table fits; names the tables that there are.
        """
        table, objective = find_solver_table(rules, path=self._path), self._objective
        fast = SolverFastPolicy(rules, table, objective=objective)
        worth = Worth(equity=table.equity if objective == "win" else None)
        return SolverPolicy(fast, worth, swing=_SWING[objective], worlds=self._worlds)


def for_points() -> Solver:
    """Return the agent that plays for the round's margin, whatever the score; to be named where an agent is asked for.

    >>> from .registry import make
    >>> make("prial.agents.solver:for_points").name
    'solver'
    """
    return Solver(objective="points")
