"""What comes of the games of one seat at each of many tables, counted up as rounds end."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.events import Termination
from ..envs.crash.tables import REASONS, StepOutcome

__all__ = ["SeatTally"]

_NAMES = np.array([None if reason is None else reason.value for reason in REASONS], object)
_CUT_OFF = REASONS.index(Termination.MAX_ROUNDS)


class SeatTally:
    """Rounds, points, margins and crashes of games so far, and how they ended.

    Args:
        num_envs: how many tables.

    Attributes:
        win_shares: of the last games that ended, float64 (num_envs,); 0 while a game goes on.

    >>> from ..envs.crash.vector import CrashVectorEnv
    >>> env, tally = CrashVectorEnv(2, "online", seed=1), SeatTally(2)
    >>> while env.scores.sum() == 0:
    ...     tally.add(env.step(env.sample(np.random.default_rng(0))), np.array([0, 1]))
    >>> tally.facts()["rounds"]
    array([1, 1])
    """

    def __init__(self, num_envs: int) -> None:
        self._rows = np.arange(num_envs)
        self._rounds, self._crashes = np.zeros(num_envs, np.int64), np.zeros(num_envs, np.int64)
        self._points, self._margins, self._untaken = np.zeros(num_envs), np.zeros(num_envs), np.zeros(num_envs)
        self._reasons = np.zeros(num_envs, np.int8)
        self.win_shares = np.zeros(num_envs)

    def add(self, outcome: StepOutcome, seats: npt.NDArray[np.int64]) -> None:
        """Count what a step came to, for one seat a table."""
        if not outcome.round_ended.any():
            return
        margins = outcome.margins[self._rows, seats]
        self._rounds += outcome.round_ended
        self._points += outcome.points[self._rows, seats]
        self._margins += margins
        self._untaken += margins
        self._crashes += outcome.crasher == seats
        self._reasons = np.where(outcome.game_ended, outcome.reason, self._reasons)
        self.win_shares = np.where(outcome.game_ended, outcome.win_shares[self._rows, seats], self.win_shares)

    def clear(self, rows: npt.NDArray[np.int64]) -> None:
        """Begin new games at some tables."""
        columns = (self._rounds, self._crashes, self._points, self._margins, self._reasons, self.win_shares)
        for column in columns:
            column[rows] = 0

    def take_margins(self) -> npt.NDArray[np.float64]:
        """Return the margins of the rounds that have ended since they were last taken: float64 (num_envs,)."""
        margins, self._untaken = self._untaken, np.zeros(len(self._rows))
        return margins

    @property
    def truncated(self) -> npt.NDArray[np.bool_]:
        """Games that were cut off by `max_rounds`: bool (num_envs,)."""
        cut: npt.NDArray[np.bool_] = self._reasons == _CUT_OFF
        return cut

    def facts(self) -> dict[str, npt.NDArray[Any]]:
        """Return what there is to say of each game, by name; the arrays are the caller's."""
        rounds = np.maximum(self._rounds, 1)
        return {
            "win_share": self.win_shares.copy(),
            "reason": _NAMES[self._reasons],
            "rounds": self._rounds.copy(),
            "points_per_round": self._points / rounds,
            "margin_per_round": self._margins / rounds,
            "crashes": self._crashes.copy(),
        }
