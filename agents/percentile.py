"""`percentile`: the most expected points, with chances from a table of what players lay.

An arrangement is worth the sum, over positions, of the chance to win the comparison, plus a weight times the chance to win
them all (a crash), plus the quads bonus. The chances depend on how many opponents are known to have kept their hands in the
exchange. The table is that policy's own, iterated to a fixed point: `percentile_table.py`.

A hand worth less than a threshold of the table is exchanged. The threshold is where keeping and exchanging come out even,
in the round's margin, in rounds that are really dealt and in which all others follow the same policy: what the spare hand is
worth without the cards held, that others see the choice, and that with three players no one is asked after an exchange, are
all in it. With three players it depends on how many have kept so far.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..envs.crash.observation import ViewBatch
from ..envs.crash.rules import CrashRules
from .by_rules import ByRules
from .percentile_table import PercentileTable, arrangement_values, find_table
from .protocol import Actions, BaseAgent, Choices
from .strengths import laid_strengths

__all__ = ["GAME_WEIGHT", "Percentile", "PercentilePolicy", "crash_weight"]

GAME_WEIGHT = 3.0
"""What the chance of a crash that wins the game is worth, in points.

Measured on `online` with `prial.training.percentile_weights` (its docstring has the figures): it hardly matters.
"""


def crash_weight(rules: CrashRules) -> float:
    """Return what a crash is worth beyond its comparisons, in points: `crash_reward`, `GAME_WEIGHT` where it is the game.

    >>> crash_weight(CrashRules.preset("online")), crash_weight(CrashRules.preset("bga"))
    (3.0, 1.0)
    """
    return GAME_WEIGHT if rules.crash_reward == "game" else float(rules.crash_points)


class PercentilePolicy(BaseAgent):
    """The policy by one table, for one set of rules.

    It exchanges a hand worth less than the table's threshold. It calls a crash where that gains points on average, going by
    the table: the bonus (and, where only called crashes count, the crash itself) against the penalty.

    Args:
        rules: the rules.
        table: the table.
        weight: what a crash is worth, in points.
    """

    name = "percentile"

    def __init__(self, rules: CrashRules, table: PercentileTable, *, weight: float) -> None:
        self.rules = rules
        self.weight = weight
        self._exchange_below = np.array(table.exchange_below)
        self._chances = table.win_chances()

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:  # noqa: ARG002 (no chance)
        """Return the arrangement worth most, the first of equals: int32 (n,)."""
        found = views.undominated()
        return found.partitions[found.best_rows(self.values(views))]

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002
        """Exchange what is worth less than the threshold: bool (n,)."""
        keeping, exchanging = self.exchange_values(views)
        below: Choices = keeping < exchanging
        return below

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002
        """Call where it gains points on average: bool (n,)."""
        better: Choices = self.call_gains(views) > 0
        return better

    def values(self, views: ViewBatch) -> npt.NDArray[np.float64]:
        """Return the points that the undominated arrangements of each view gain on average: float64 (m,)."""
        return self._values(views, np.repeat(_others_kept(views), views.undominated().counts))

    def exchange_values(self, views: ViewBatch) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return what keeping is worth, in points, and what it has to be worth: float64 (n,) both."""
        best = np.maximum.reduceat(self._values(views, 0), views.undominated().offsets[:-1])
        return best, self._exchange_below[_others_kept(views)]

    def call_gains(self, views: ViewBatch) -> npt.NDArray[np.float64]:
        """Return the points that calling gains on average: float64 (n,)."""
        rules = self.rules
        strengths, kept = laid_strengths(views), _others_kept(views)
        crash = np.full(len(views), 1.0 if rules.hands > 1 else 0.0)
        for position in range(rules.hands):
            crash *= self._chances[kept, position, strengths[:, position]]
        gain = 0.0 if rules.crash_reward == "game" else float(rules.crash_call_bonus)
        if rules.crash_call == "required":
            gain += self.weight
        gains: npt.NDArray[np.float64] = crash * gain - (1 - crash) * rules.crash_call_penalty
        return gains

    def _values(self, views: ViewBatch, kept: int | npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
        return arrangement_values(views.undominated(), self._chances, rules=self.rules, weight=self.weight, kept=kept)


def _others_kept(views: ViewBatch) -> npt.NDArray[np.int64]:
    """Return how many others are known to have kept their hands: int64 (n,)."""
    kept = views.exchanges == 0
    kept[np.arange(len(views)), views.seat] = False
    number: npt.NDArray[np.int64] = kept.sum(axis=1)
    return number


class Percentile(ByRules[PercentilePolicy]):
    """`PercentilePolicy` with the table that fits the rules of the views.

    Args:
        weight: what a crash is worth, in points; by `crash_weight` if None.
        table: path of a table's file; the one that ships and fits if None.

    Raises:
        ValueError: a weight that is no number from 0 up.
        TableError: when it is to act and no table fits the rules.
    """

    name = "percentile"

    def __init__(self, *, weight: float | None = None, table: str | Path | None = None) -> None:
        if weight is not None and (isinstance(weight, bool | str) or not (math.isfinite(weight) and weight >= 0)):
            raise ValueError(f"weight={weight!r}: expected a number from 0 up")
        super().__init__()
        self._weight = weight
        self._path = table

    def make_policy(self, rules: CrashRules) -> PercentilePolicy:
        """Return the policy for some rules.

        Raises:
            TableError: no table fits; names the tables that there are.
        """
        table: PercentileTable = find_table(rules, path=self._path)
        weight = crash_weight(rules) if self._weight is None else self._weight
        return PercentilePolicy(rules, table, weight=weight)
