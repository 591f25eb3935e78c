"""What a decision stands in, as arrays for the solver's kernels: scores, turn order, history, and what follows from them.

Cards apart, the value of an arrangement depends on whom one faces (what all players still need, and what they said in the
exchange) and on the stakes (the scores, the dealer, and who has called or may still). Few of either are ever met
(a game of three to 7 points has 343 scores), so each is worked out once and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..envs.crash.observation import ViewBatch
from ..envs.crash.rules import CrashRules
from ..envs.crash.tables import rules_numbers
from .solver_situations import clockwise, situations_of, stages_of
from .solver_table import SolverTable, needs_states

__all__ = ["Contexts", "Kept", "Objective"]

Objective = Literal["win", "points"]
Floats = npt.NDArray[np.float64]
_MOST_OPPONENTS = 2_000
_STAKES_MEMORY = 1 << 26  # bytes
_RARE = 1e-6  # no call, and no pass, is out of the question


class Kept:
    """Rows of arrays by key, worked out when first asked for; forgotten all together when there are too many.

    Args:
        make: what a key comes to, arrays of the same shapes for every key.
        most: how many rows are kept.
    """

    def __init__(self, make: Callable[[tuple[int, ...]], tuple[npt.NDArray[Any], ...]], *, most: int) -> None:
        self._make = make
        self._most = most
        self._rows: dict[tuple[int, ...], int] = {}
        # Twice as long whenever full, so that few rows are copied.
        self._kept: tuple[npt.NDArray[Any], ...] = ()

    @property
    def columns(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays, a row for each key."""
        return tuple(column[: len(self._rows)] for column in self._kept)

    def rows_of(self, keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the row of each key in `columns`: int64 (n,), for keys (n, length)."""
        different, inverse = np.unique(keys, axis=0, return_inverse=True)
        wanted = [tuple(key) for key in different.tolist()]
        new = [key for key in wanted if key not in self._rows]
        if len(self._rows) + len(new) > self._most:
            self._rows, new = {}, wanted
        for key in new:
            self._add(key)
        found: npt.NDArray[np.int64] = np.array([self._rows[key] for key in wanted], np.int64)[inverse.reshape(-1)]
        return found

    def _add(self, key: tuple[int, ...]) -> None:
        made, row = self._make(key), len(self._rows)
        if not self._kept:
            self._kept = tuple(np.empty((1, *one.shape), one.dtype) for one in made)
        if row == len(self._kept[0]):
            self._kept = tuple(np.concatenate([column, np.empty_like(column)]) for column in self._kept)
        for column, one in zip(self._kept, made, strict=True):
            column[row] = one
        self._rows[key] = row


class Contexts:
    """What decisions stand in under some rules.

    Args:
        rules: the rules.
        table: what opponents lay, and winning chances.
        objective: `win`, the share of the win, or `points`, the round's margin.

    >>> from .solver_table import find_solver_table
    >>> rules = CrashRules.preset("online")
    >>> contexts = Contexts(rules, find_solver_table(rules), objective="points")
    >>> contexts.stakes.rows_of(np.array([[0, 0, 0, 1, -1, -1, 0]])), contexts.stakes.columns[0].shape
    (array([0]), (1, 1, 4, 256))

    Attributes:
        opponents: rows of `all_below` and `alone`, as `_kernels_solver.arrangement_values` takes them.
        stakes: rows of `leaves`; two options (pass, call) where crashes are called, one otherwise.
    """

    def __init__(self, rules: CrashRules, table: SolverTable, *, objective: Objective) -> None:
        self.rules = rules
        self._table = table
        self._objective = objective
        self._numbers = rules_numbers(rules, one_round=False, autoreset=False)
        self._shares = table.equity.dense().reshape(-1)
        self._won = _positions_won(rules)
        self._most_quads = (3 * rules.hands) // 4 if rules.quads_bonus else 0
        in_order = table.equity.ordered or rules.has_calls or (rules.finish == "immediate" and rules.quads_bonus > 0)
        self._dealer_counts = in_order
        self.opponents = Kept(self._faced, most=_MOST_OPPONENTS)
        row = np.dtype(np.float32).itemsize * (1 + rules.has_calls) * (1 + self._most_quads) * self._won.shape[1]
        self.stakes = Kept(self._stakes, most=_STAKES_MEMORY // row)

    def situations(self, views: ViewBatch) -> npt.NDArray[np.int64]:
        """Return each view's situation: int64 (n,)."""
        return situations_of(self.rules, views.exchanges, views.dealer, views.seat)

    def joint_rows(self, views: ViewBatch) -> npt.NDArray[np.int64]:
        """Return each view's row of how positions hang together: int64 (n,)."""
        needs = self.rules.target - np.take_along_axis(views.scores, clockwise(views.seat, self.rules.players), axis=1)
        rows: npt.NDArray[np.int64] = stages_of(needs) * len(self._table.below) + self.situations(views)
        return rows

    def rows_of(self, views: ViewBatch) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return each view's row of `opponents` and of `stakes`: int64 (n,) both."""
        rules, n = self.rules, self.rules.players
        turn = clockwise(views.seat, n)
        scores = np.take_along_axis(views.scores, turn, axis=1)
        needs = np.minimum(rules.target - scores, self._table.cap)
        heard = np.take_along_axis(views.calls, turn[:, 1:], axis=1)
        rows = self.joint_rows(views) * rules.has_calls
        dealer = (views.dealer.astype(np.int64) - views.seat) % n * self._dealer_counts
        faced = self.opponents.rows_of(np.column_stack([needs, self.situations(views)]).astype(np.int64))
        stakes = self.stakes.rows_of(np.column_stack([scores, dealer, heard, rows]).astype(np.int64))
        return faced, stakes

    def heard(self, views: ViewBatch) -> Floats:
        """Return how likely others would have called and passed as they did, had each outcome come: float64 (n, leaves)."""
        rules, rows = self.rules, self.joint_rows(views)
        likely = np.ones((len(views), self._won.shape[1]))
        said = np.take_along_axis(views.calls, clockwise(views.seat, rules.players)[:, 1:], axis=1)
        for other, won in enumerate(self._won):
            (some,) = np.nonzero(said[:, other] >= 0)
            calls = np.clip(self._table.calls[rows[some], other], _RARE, 1.0 - _RARE)[:, won]
            likely[some] *= np.where(said[some, other, None] == 1, calls, 1.0 - calls)
        return likely

    def _faced(self, key: tuple[int, ...]) -> tuple[npt.NDArray[Any], ...]:
        n = self.rules.players
        needs, situation = key[:n], key[n]
        numbers = needs_states(self._table.cap, n)
        states = []
        for seat in range(1, n):
            others = sorted(need for other, need in enumerate(needs) if other != seat)
            states.append(numbers[(needs[seat], *others)])
        curves = np.stack([self._table.laid_below(situation, j, state) for j, state in enumerate(states)])
        all_below = self._table.all_laid_below(situation, states)
        return all_below.astype(np.float32), _alone(curves).astype(np.float32)

    def _stakes(self, key: tuple[int, ...]) -> tuple[npt.NDArray[Any], ...]:
        n = self.rules.players
        scores, dealer, heard, row = key[:n], key[n], key[n + 1 : -1], key[-1]
        if not self.rules.has_calls:
            return (self._leaves(scores, dealer, np.zeros(n, np.int8))[None].astype(np.float32),)
        options = []
        for own in (0, 1):
            calls = np.array([own, *(one == 1 for one in heard)], np.int8)
            usual = worth = self._leaves(scores, dealer, calls)
            # Those still to be asked: each may call, alone. Two are hardly ever sure of the same crash.
            for other, won in enumerate(self._won):
                if heard[other] < 0:
                    calling = calls.copy()
                    calling[other + 1] = 1
                    chances = self._table.calls[row, other, won]
                    worth = worth + chances * (self._leaves(scores, dealer, calling) - usual)
            options.append(worth)
        return (np.array(options, np.float32),)

    def _leaves(self, scores: Sequence[int], dealer: int, calls: npt.NDArray[np.int8]) -> Floats:
        """Value of every leaf after such calls, by own quads: float64 (quads, leaves)."""
        from . import _kernels_solver as kernels

        worths = np.empty((1 + self._most_quads, self._won.shape[1]))
        before, ordered = np.array(scores, np.int64), self._table.equity.ordered
        for own_quads, worth in enumerate(worths):
            quads = np.array([own_quads] + [0] * (self.rules.players - 1), np.int64)
            valued = self._shares, ordered, self._objective == "points"
            kernels.leaf_worths(self._numbers, quads, calls, before, dealer, *valued, worth)
        return worths


def _positions_won(rules: CrashRules) -> npt.NDArray[np.int64]:
    """How many positions each of the others wins in every leaf: int64 (others, leaves)."""
    digits = np.indices((rules.players + 1,) * rules.hands).reshape(rules.hands, -1)
    won: npt.NDArray[np.int64] = (digits == np.arange(1, rules.players)[:, None, None]).sum(axis=1)
    return won


def _alone(below: Floats) -> Floats:
    """Chance that each opponent lays more than all other opponents, given that somebody lays more than each strength.

    Args:
        below: (others, hands, 743).

    Returns:
        float64, likewise.
    """
    exactly = np.diff(below, axis=2)  # (others, hands, 742)
    alone = np.zeros_like(below)
    for j in range(len(below)):
        rest = np.prod(np.delete(below, j, axis=0)[:, :, :-1], axis=0)
        wins = exactly[j] * rest
        wins[:, 0] = 0  # no hand wins nothing
        above = wins[:, ::-1].cumsum(axis=1)[:, ::-1]
        alone[j, :, :-2] = above[:, 1:]
    somebody = 1.0 - np.prod(below[:, :, 1:], axis=0)  # more than 0, 1, ..., 741
    alone[:, :, :-1] /= np.maximum(somebody, 1e-9)
    return alone
