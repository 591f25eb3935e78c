"""Simple agents: `random-legal`, `random`, `greedy` and `balanced`.

Chance: a random choice among `m` options in row `i` is ``floor(u_i * m)``, where ``u = rng.random(n)`` is drawn once for the
views of a phase, in their order; phases come in the order exchange, arrange, call. `random-legal` arranges by rejection and
draws more.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..envs.brag import NUM_STRENGTHS, BragClass, triple_strength, weakest_strength
from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import legal_partitions, partition_table
from .protocol import Actions, BaseAgent, Choices
from .strengths import all_triple_strengths, laid_strengths

__all__ = ["Balanced", "Greedy", "RandomLegal", "RandomUndominated"]


def _coins(views: ViewBatch, rng: np.random.Generator) -> Choices:
    """Toss a fair coin a view: bool (n,)."""
    return rng.random(len(views)) < 0.5


class RandomLegal(BaseAgent):
    """Takes any legal action, each equally likely: any valid partition, nothing laid too; exchanges and calls at a toss."""

    name = "random-legal"

    _DRAWS = 64  # partitions tried at once, a row; about one in a hundred is valid (13 cards, `lowest_hand = pair`)
    _ROUNDS = 64  # before a row's valid partitions are listed and drawn from instead

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return any valid partition, each equally likely: int32 (n,)."""
        table = partition_table(views.rules.cards_dealt)
        # One column more, for the -1 of no hand: always valid.
        valid = np.pad(all_triple_strengths(views) > 0, ((0, 0), (0, 1)), constant_values=True)
        chosen = np.full(len(views), -1, np.int32)
        for _ in range(self._ROUNDS):
            rows = np.flatnonzero(chosen < 0)
            if not len(rows):
                return chosen
            tried = rng.integers(len(table), size=(len(rows), self._DRAWS), dtype=np.int32)
            fits: npt.NDArray[np.bool_] = np.all(valid[rows[:, None, None], table[tried]], axis=2)
            some = np.flatnonzero(fits.any(axis=1))
            chosen[rows[some]] = tried[some, fits[some].argmax(axis=1)]
        for row in np.flatnonzero(chosen < 0):
            legal = np.flatnonzero(legal_partitions(views.cards[row].tolist(), views.rules))
            chosen[row] = legal[rng.integers(len(legal))]
        return chosen

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Exchange at the toss of a coin: bool (n,)."""
        return _coins(views, rng)

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Call at the toss of a coin: bool (n,)."""
        return _coins(views, rng)


class RandomUndominated(BaseAgent):
    """Lays any undominated arrangement, each equally likely; exchanges and calls at the toss of a coin."""

    name = "random"

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return any undominated partition, each equally likely: int32 (n,)."""
        found = views.undominated()
        picks = (rng.random(len(views)) * found.counts).astype(np.int64)
        chosen: Actions = found.partitions[found.offsets[:-1] + picks]
        return chosen

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Exchange at the toss of a coin: bool (n,)."""
        return _coins(views, rng)

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Call at the toss of a coin: bool (n,)."""
        return _coins(views, rng)


class Greedy(BaseAgent):
    """Lays the strongest Hand 1, then the strongest Hand 2, and so on: what card sites call auto-sort.

    It exchanges a hand that does not lay every position or has a Hand 1 below a running flush: near the best such rule with
    13 cards (`bga` and `traditional`, two and three players; against others who do the same, win shares of 45 % without the
    threshold and 50 % with it at two players, 29.0 % and 33.3 % at three).

    It calls a crash with a Hand 1 of a prial of nines or better, a Hand 2 of a running flush or better and no hand below a
    run. Where a call that succeeds gains as much as one that fails costs, that is worth a little at two players, nothing
    either way at three and a little less than nothing at four; where only called crashes count, half of what can be had.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> from ..envs.crash.rules import CrashRules
    >>> game = Game(CrashRules.preset("online"), seed=1)
    >>> Greedy().act(view_of(game, 0), np.random.default_rng(0)) == game.undominated(0).partitions[0]
    np.True_
    """

    name = "greedy"

    EXCHANGE_BELOW = weakest_strength(BragClass.RUNNING_FLUSH)
    CALL_FIRST = triple_strength("9c 9d 9h")
    CALL_SECOND = weakest_strength(BragClass.RUNNING_FLUSH)
    CALL_LAST = weakest_strength(BragClass.RUN)

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:  # noqa: ARG002 (no chance)
        """Return the first undominated partition, which is sorted so: int32 (n,)."""
        found = views.undominated()
        return found.partitions[found.offsets[:-1]]

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002
        """Exchange a hand that cannot lay everything or has a weak Hand 1: bool (n,)."""
        found = views.undominated()
        strengths: npt.NDArray[np.int16] = found.strengths[found.offsets[:-1]]
        weak: Choices = strengths[:, 0] < self.EXCHANGE_BELOW
        short: Choices = strengths[:, views.rules.hands - 1] == 0
        return np.logical_or(weak, short)

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002
        """Call with strong hands throughout: bool (n,)."""
        strengths = laid_strengths(views)
        last = views.rules.hands - 1
        least = (self.CALL_FIRST, self.CALL_SECOND) if last else (self.CALL_FIRST,)
        strong: Choices = np.all(strengths[:, : len(least)] >= least, axis=1)
        return strong & (strengths[:, last] >= self.CALL_LAST)


class Balanced(BaseAgent):
    """Lays the strongest weakest hand: the strongest last hand, then the strongest hand before it, and so on.

    A hand not laid is weaker than any, so it lays as many as it can. Arrangements alike in every hand differ in four of a
    kind at most, and those with fewer are dominated: there is one best value, and of the partitions that have it the one
    that represents it (`prial.envs.crash.partitions`) is laid.

    It goes by the hand that is third from last, Hand 2 of 4 and Hand 1 of 3 (or Hand 1, of fewer). It exchanges where that
    is below a run of 9-8-7: near the best threshold on any one hand with 9 and 13 cards, two and three players, and worth
    some nine tenths of what a threshold on all four hands together gains (with two players and 13 cards 0.82 points of
    margin a round over always exchanging; one on Hand 1 0.73, on Hand 4 0.70).

    It calls a crash where that hand is a running flush or better and the last a flush of A-4-2 or better. Where a call that
    succeeds gains as much as one that fails costs, that is worth, in points a round, 0.017 +- 0.001 with two players, 0.004
    +- 0.001 with three and 0.001 +- 0.001 with four (13 cards); 72 %, 57 % and 52 % of such calls succeed.
    """

    name = "balanced"

    EXCHANGE_BELOW = triple_strength("9c 8d 7h")
    CALL_THIRD_LAST = weakest_strength(BragClass.RUNNING_FLUSH)
    CALL_LAST = triple_strength("As 4s 2s")

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:  # noqa: ARG002 (no chance)
        """Return the partition with the strongest weakest hand: int32 (n,)."""
        return views.undominated().partitions[self._rows(views)]

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002
        """Exchange a hand that lays a weak third hand from last: bool (n,)."""
        strengths = views.undominated().strengths[self._rows(views)]
        weak: Choices = strengths[:, _third_last(views)] < self.EXCHANGE_BELOW
        return weak

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002
        """Call with a strong hand third from last and no weak one: bool (n,)."""
        strengths = laid_strengths(views)
        strong: Choices = strengths[:, _third_last(views)] >= self.CALL_THIRD_LAST
        return strong & (strengths[:, views.rules.hands - 1] >= self.CALL_LAST)

    def _rows(self, views: ViewBatch) -> npt.NDArray[np.int64]:
        """Return the row of what is laid: int64 (n,)."""
        found = views.undominated()
        values = np.zeros(len(found.partitions), np.float64)
        for position in reversed(range(views.rules.hands)):  # below 2**53: exact
            values = values * (NUM_STRENGTHS + 1) + found.strengths[:, position]
        return found.best_rows(values)


def _third_last(views: ViewBatch) -> int:
    """Return the position of the hand third from last, of the first if there are fewer."""
    return max(0, views.rules.hands - 3)
