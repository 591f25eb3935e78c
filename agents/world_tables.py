"""Tables with given cards, for worlds that a player has to reckon with: the batched engine, dealt by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.observation import ViewBatch
from ..envs.crash.rules import CrashRules
from ..envs.crash.searches import Searches
from ..envs.crash.tables import StepOutcome, new_outcome
from ..envs.crash.vector import CrashVectorEnv
from ..envs.threads import split_rows
from .answers import ask
from .equity_table import EquityTable
from .protocol import Agent

__all__ = ["Asks", "SetTables", "Worth"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Worth:
    """What a round is worth to a seat: its margin, or the win share by a table of winning chances.

    Attributes:
        equity: the table; None for the margin, in points.
    """

    equity: EquityTable | None = None

    def of(self, outcome: StepOutcome, rows: Ints, seats: Ints, dealers: Ints) -> Floats:
        """Return what ended rounds are worth: float64 (m,).

        Args:
            outcome: of all tables.
            rows: tables whose round ended, (m,).
            seats: whose worth, (m,).
            dealers: of the rounds that ended, (m,).
        """
        if self.equity is None:
            margins: Floats = outcome.margins[rows, seats]
            return margins
        worth: Floats = outcome.win_shares[rows, seats]
        on = np.flatnonzero(outcome.win_shares[rows].sum(axis=1) == 0)
        scores = outcome.scores[rows[on]]
        shares = self.equity.shares_at(scores, (dealers[on] + 1) % scores.shape[1])
        worth[on] = shares[np.arange(len(on)), seats[on]]
        return worth


class Asks:
    """An agent that is asked about many views at once.

    Args:
        agent: who decides.
        rng: its chance.
    """

    def __init__(self, agent: Agent, rng: np.random.Generator) -> None:
        self.agent = agent
        self.rng = rng

    def __call__(self, views: ViewBatch) -> npt.NDArray[np.int32]:
        """Return one action a view: int32 (n,)."""
        return ask(self.agent, views, self.rng).astype(np.int32)


class SetTables(CrashVectorEnv):
    """Single rounds with given cards.

    Args:
        rules: the rules.
        hands: ascending card ids, int8 (n, players, cards).
        spares: the spare hands in turn order, int8 (n, spare hands, cards).
        scores: (n, players).
        dealer: (n,).
        rounds_played: (n,).

    >>> rules = CrashRules(players=2, cards_dealt=3)
    >>> hands = np.array([[[0, 1, 2], [4, 5, 9]]], np.int8)
    >>> tables = SetTables(rules, hands, hands[:, :0], scores=np.zeros((1, 2)), dealer=np.array([1]))
    >>> tables.step([[1, 1]]).points.tolist()
    [[1, 0]]
    """

    def __init__(
        self,
        rules: CrashRules,
        hands: npt.NDArray[np.int8],
        spares: npt.NDArray[np.int8],
        *,
        scores: npt.NDArray[Any],
        dealer: npt.NDArray[Any],
        rounds_played: npt.NDArray[Any] | int = 0,
    ) -> None:
        super().__init__(len(hands), rules, seed=0, episode="round", autoreset=False, threads=1)
        for column, values in (
            (self._state.cards, hands),
            (self._state.spares, spares),
            (self._state.scores, scores),
            (self._state.dealer, dealer),
            (self._state.rounds_played, rounds_played),
        ):
            column[:] = values
        self._look()

    def some(self, rows: Ints) -> SetTables:
        """Return tables that stand where some of these stand, which may repeat."""
        state = self._state
        tables = SetTables(
            self.rules,
            state.cards[rows],
            state.spares[rows],
            scores=state.scores[rows],
            dealer=state.dealer[rows],
            rounds_played=state.rounds_played[rows],
        )
        for name in state._fields:
            getattr(tables._state, name)[:] = getattr(state, name)[rows]
        tables._look()
        return tables

    def act(self, asks: Asks, who: npt.NDArray[np.bool_], actions: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Let an agent decide for some seats; return all decisions, (n, players), once they are taken.

        Args:
            asks: the agent.
            who: for which of the seats that must act, bool (n, players).
            actions: decisions of other seats, -1 for none, int32 (n, players).
        """
        taken = actions.copy()
        tables, seats = np.nonzero(self._pending & who)
        if len(tables):
            taken[tables, seats] = asks(self.views_at(tables, seats))
        self.step(taken)
        return taken

    def play_on(self, asks: Asks, seats: Ints, worth: Worth) -> Floats:
        """Let an agent play the rounds to their end; return what they are worth to a seat of each, float64 (n,)."""
        found = np.zeros(self.num_envs)
        dealers = self._state.dealer.astype(np.int64)
        searches = Searches(self.rules)  # the same cards come again, in other copies of the same world
        while self._pending.any():
            tables, places = np.nonzero(self._pending)
            actions = np.full(self._pending.shape, -1, np.int32)
            actions[tables, places] = asks(self.views_at(tables, places).sharing(searches))
            found += self.ended(self.step(actions), seats, dealers, worth)
        return found

    def ended(self, outcome: StepOutcome, seats: Ints, dealers: Ints, worth: Worth) -> Floats:
        """Return what the rounds that ended in a step are worth, 0 for the others: float64 (n,)."""
        found = np.zeros(self.num_envs)
        rows = np.flatnonzero(outcome.round_ended)
        found[rows] = worth.of(outcome, rows, seats[rows], dealers[rows])
        return found

    def arrangements_worth(
        self, seats: Ints, rows: Ints, offsets: Ints, values: npt.NDArray[np.uint64], worth: Worth
    ) -> tuple[Ints, Floats]:
        """Return what arrangements of a seat are worth where all others have laid theirs and nobody calls.

        Args:
            seats: at each table, (n,).
            rows: number of the set of arrangements at each table, (n,).
            offsets: where each set begins, then the end of the last, (sets + 1,).
            values: the arrangements of all sets, packed.
            worth: what counts.

        Returns:
            Where each table's figures begin, then their number: int64 (n + 1,); and the figures.
        """
        from . import _kernels_worlds as kernels

        starts = np.concatenate([[0], np.cumsum((offsets[1:] - offsets[:-1])[rows])])
        figures = np.empty(starts[-1])
        dense, ordered = np.zeros(0), False
        if worth.equity is not None:
            dense, ordered = worth.equity.dense().reshape(-1), worth.equity.ordered
        loop: Callable[..., None] = kernels.value_arrangements
        room = new_outcome(self.num_envs, self.rules.players)
        arguments = (self._state, self._numbers, room, seats, rows, offsets, values, starts, dense, ordered, figures)
        split_rows(loop, self.num_envs, 1, *arguments)
        return starts, figures
