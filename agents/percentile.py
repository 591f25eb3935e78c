"""`percentile`: the most expected points, with chances from a table of what players lay.

An arrangement is worth the sum, over positions, of the chance to win the comparison, plus a weight times the chance to win
them all (a crash), plus the quads bonus. The table is that policy's own, iterated to a fixed point: `percentile_table.py`.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import undominated_many
from ..envs.crash.rules import CrashRules
from ..envs.deals import DealStream
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
    """The policy against given chances to win each comparison, for one set of rules.

    It exchanges a hand worth less than the mean hand. It calls a crash where that gains points on average, going by the
    table: the bonus (and, where only called crashes count, the crash itself) against the penalty.

    Args:
        rules: the rules.
        chances: as `percentile_table.win_chances` gives them.
        weight: what a crash is worth, in points.
    """

    name = "percentile"

    MEAN_DEALS = 2000

    def __init__(self, rules: CrashRules, chances: npt.NDArray[np.float64], *, weight: float) -> None:
        self.rules = rules
        self.weight = weight
        self._chances = chances
        self._mean: float | None = None

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:  # noqa: ARG002 (no chance)
        """Return the arrangement worth most, the first of equals: int32 (n,)."""
        found = views.undominated()
        return found.partitions[found.best_rows(self._values(views))]

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002
        """Exchange what is worth less than the mean hand: bool (n,)."""
        best = np.maximum.reduceat(self._values(views), views.undominated().offsets[:-1])
        return best < self.mean_value()

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002
        """Call where it gains points on average: bool (n,)."""
        rules = self.rules
        strengths = laid_strengths(views)
        crash = np.full(len(views), 1.0 if rules.hands > 1 else 0.0)
        for position in range(rules.hands):
            crash *= self._chances[position][strengths[:, position]]
        gain = 0.0 if rules.crash_reward == "game" else float(rules.crash_call_bonus)
        if rules.crash_call == "required":
            gain += self.weight
        return crash * gain > (1 - crash) * rules.crash_call_penalty

    def mean_value(self) -> float:
        """Return what a hand is worth on average: over the first `MEAN_DEALS` hands of the deals of seed 0."""
        if self._mean is None:
            found = undominated_many(_mean_deals(self.rules, self.MEAN_DEALS), self.rules)
            values = arrangement_values(found, self._chances, rules=self.rules, weight=self.weight)
            self._mean = float(np.maximum.reduceat(values, found.offsets[:-1]).mean())
        return self._mean

    def _values(self, views: ViewBatch) -> npt.NDArray[np.float64]:
        return arrangement_values(views.undominated(), self._chances, rules=self.rules, weight=self.weight)


@cache
def _mean_deals(rules: CrashRules, count: int) -> npt.NDArray[np.int8]:
    stream = DealStream(seed=0)
    size = rules.cards_dealt
    return np.array([sorted(stream.shuffle(rules.pack, deal=deal, count=size)) for deal in range(count)], np.int8)


class Percentile(BaseAgent):
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
        self._weight = weight
        self._path = table
        self._policies: dict[CrashRules, PercentilePolicy] = {}

    def policy(self, rules: CrashRules) -> PercentilePolicy:
        """Return the policy for some rules.

        Raises:
            TableError: no table fits.
        """
        found = self._policies.get(rules)
        if found is None:
            table: PercentileTable = find_table(rules, path=self._path)
            weight = crash_weight(rules) if self._weight is None else self._weight
            found = self._policies[rules] = PercentilePolicy(rules, table.win_chances(), weight=weight)
        return found

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return the arrangement worth most: int32 (n,)."""
        return self.policy(views.rules).arrange_many(views, rng)

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Exchange what is worth less than the mean hand: bool (n,)."""
        return self.policy(views.rules).exchange_many(views, rng)

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Call where it gains points on average: bool (n,)."""
        return self.policy(views.rules).call_many(views, rng)
