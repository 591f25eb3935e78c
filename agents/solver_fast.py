"""`solver-fast`: the arrangement with the best chance to win the game, in closed form.

For each undominated arrangement the chance of every outcome of the round is worked out from what opponents lay: for each
position the distribution of the strongest of their hands, conditioned on the score, on what was said in the exchange, and
on the cards that one knows and they cannot hold. Positions depend on each other. Every outcome is settled by the rules and
valued by the winning chances at the scores that it leads to. Crashes are called, and hands exchanged (`solver_exchange`),
where that value is higher.

`prial.agents.solver_table` says where the figures come from.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt

from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import CandidateBatch, laid_many
from ..envs.crash.rules import CrashRules
from ..envs.threads import split_rows
from .by_rules import ByRules
from .protocol import Actions, BaseAgent, Choices
from .solver_contexts import Contexts, Objective
from .solver_exchange import Exchanging
from .solver_table import SolverTable, find_solver_table, joint_marks

__all__ = ["SolverFast", "SolverFastPolicy", "for_points"]

Floats = npt.NDArray[np.float64]


class SolverFastPolicy(BaseAgent):
    """The policy by one table, for one set of rules.

    Args:
        rules: the rules.
        table: the table.
        objective: `win` or `points`.
        threads: how many at most; it changes no decision.
    """

    name = "solver-fast"

    def __init__(
        self, rules: CrashRules, table: SolverTable, *, objective: Objective = "win", threads: int = 1
    ) -> None:
        self.rules = rules
        self.table = table
        self._contexts = Contexts(rules, table, objective=objective)
        self._threads = threads
        self._exchanging = (
            Exchanging(rules, table, self.values, self.places, objective=objective) if rules.has_exchange else None
        )

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:  # noqa: ARG002 (no chance)
        """Return the arrangement worth most, the first of equals: int32 (n,)."""
        found = views.undominated()
        values = self.values(views, found).max(axis=0)
        return found.partitions[found.best_rows(values)]

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002
        """Exchange where it is worth more: bool (n,)."""
        assert self._exchanging is not None
        return self._exchanging.choose(views)

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002
        """Call where it is worth more: bool (n,)."""
        passing, calling = self.call_values(views)
        better: Choices = calling > passing
        return better

    def call_values(self, views: ViewBatch) -> Floats:
        """Return what passing and calling are worth, after what those asked before have said: float64 (2, n).

        Args:
            views: whose calls.
        """
        laid, rows = laid_many(views.laid, views.cards, views.rules), np.arange(len(views))
        likely = self.joint(views, self.chances(views, laid)) * self._contexts.heard(views)
        likely /= likely.sum(axis=1, keepdims=True)
        worth = self.outcomes(views)
        worth = worth[rows, :, np.minimum(laid.quads, worth.shape[2] - 1)]
        found: Floats = np.einsum("rl,rol->or", likely, worth.astype(np.float64))
        return found

    def values(self, views: ViewBatch, found: CandidateBatch, *, places: Floats | None = None) -> Floats:
        """Return what arrangements are worth: float64 (options, m); two options, pass and call, where crashes are called.

        Args:
            views: whose decisions.
            found: arrangements of each view's cards.
            places: what `places` returns for the views, if it is known already.
        """
        from . import _kernels_solver as kernels

        faced, stakes = self._contexts.rows_of(views)
        all_below, alone = self._contexts.opponents.columns
        (leaves,) = self._contexts.stakes.columns
        values = np.empty((leaves.shape[1], len(found.partitions)))
        arguments = (
            found.offsets,
            found.strengths,
            found.quads,
            faced,
            stakes,
            self.places(views) if places is None else places,
            all_below,
            alone,
            self.table.card_basis,
            self._contexts.joint_rows(views),
            self.table.joint_below,
            joint_marks(self.rules.hands),
            self.table.pair_same,
            leaves,
            self.rules.hands,
            values,
        )
        split_rows(kernels.arrangement_values, len(views), self._threads, *arguments)
        return values

    def exchange_values(self, views: ViewBatch) -> tuple[Floats, Floats]:
        """Return what keeping and exchanging are worth, where there is an exchange: float64 (n,) both."""
        assert self._exchanging is not None
        return self._exchanging.keeping(views), self._exchanging.exchanging(views)

    def chances(self, views: ViewBatch, found: CandidateBatch) -> Floats:
        """Return who wins each comparison: float64 (m, hands, players + 1), own seat first, then clockwise, nobody last.

        Args:
            views: whose decisions.
            found: arrangements of each view's cards.
        """
        from . import _kernels_solver as kernels

        faced, _ = self._contexts.rows_of(views)
        chances = np.empty((len(found.partitions), self.rules.hands, self.rules.players + 1))
        arguments = (
            found.offsets,
            found.strengths,
            faced,
            self.places(views),
            *self._contexts.opponents.columns,
            self.table.card_basis,
            chances,
        )
        split_rows(kernels.arrangement_chances, len(views), self._threads, *arguments)
        return chances

    def joint(self, views: ViewBatch, chances: Floats) -> Floats:
        """Return the chance of every outcome of the comparisons, by the winners: float64 (n, (players + 1) ** hands).

        Args:
            views: whose decisions, one for each row of `chances`.
            chances: who wins each comparison, as `chances` returns them, float64 (n, hands, players + 1).

        Returns:
            By the winner of each comparison, Hand 1 the most significant digit, seats numbered as in `chances`.
        """
        from . import _kernels_solver as kernels

        rows, hands, base = chances.shape
        found = np.empty((rows, base**hands))
        arguments = (self.table.joint_below, joint_marks(hands), self.table.pair_same, found)
        kernels.outcome_chances(chances, self._contexts.joint_rows(views), *arguments, 0, rows)
        return found

    def outcomes(self, views: ViewBatch) -> npt.NDArray[np.float32]:
        """Return what every outcome of the comparisons is worth: float32 (n, options, quads, (players + 1) ** hands).

        Outcomes as in `joint`.
        """
        _, stakes = self._contexts.rows_of(views)
        (leaves,) = self._contexts.stakes.columns
        worth: npt.NDArray[np.float32] = leaves[stakes]
        return worth

    def places(self, views: ViewBatch) -> Floats:
        """Return where the known cards lie among the directions of the table: float64 (n, k).

        They depend on the cards and on what was said in the exchange, not on the score.
        """
        from . import _kernels_solver_cards as kernels

        table, size, threads = self.table, len(views), self._threads
        situations = self._contexts.situations(views)
        features = np.empty((size, table.card_means.shape[1]))
        terms = np.empty((size, table.card_weights.shape[1]))
        places = np.empty((size, table.card_weights.shape[2]))
        split_rows(kernels.card_features, size, threads, views.cards, views.given_up, features)
        split_rows(kernels.card_terms, size, threads, features, situations, table.card_means, table.card_axes, terms)
        split_rows(kernels.card_places, size, threads, terms, situations, table.card_weights, places)
        return places


class SolverFast(ByRules[SolverFastPolicy]):
    """`SolverFastPolicy` with the table that fits the rules of the views.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> game = Game(CrashRules.preset("online"), seed=7)
    >>> game.is_legal(SolverFast().act(view_of(game, 0), np.random.default_rng(0)), 0)
    True

    Args:
        objective: `win`, the chance to win the game, or `points`, the round's margin.
        table: path of a table's file; the one that ships and fits if None.
        threads: how many at most; it changes no decision.

    Raises:
        ValueError: an objective that there is not.
        SolverTableError: when it is to act and no table fits the rules.
    """

    name = "solver-fast"

    def __init__(self, *, objective: Objective = "win", table: str | Path | None = None, threads: int = 1) -> None:
        if objective not in get_args(Objective):
            raise ValueError(f"objective={objective!r}: expected {' or '.join(map(repr, get_args(Objective)))}")
        super().__init__()
        self._objective: Objective = objective
        self._path = table
        self._threads = threads

    def make_policy(self, rules: CrashRules) -> SolverFastPolicy:
        """Return the policy for some rules.

        Raises:
            SolverTableError: no table fits; names the tables that there are.
        """
        table = find_solver_table(rules, path=self._path)
        return SolverFastPolicy(rules, table, objective=self._objective, threads=self._threads)


def for_points() -> SolverFast:
    """Return the agent that plays for the round's margin, whatever the score; to be named where an agent is asked for.

    >>> from .registry import make
    >>> make("prial.agents.solver_fast:for_points").name
    'solver-fast'
    """
    return SolverFast(objective="points")
