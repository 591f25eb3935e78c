"""Luck taken out of an arena's win shares: what is left of it after every deal was played in every seating.

A game's *luck* for a seat is the sum, over its rounds, of the luck of the cards dealt (`prial.training.luck`, a margin in
points) times what a point is worth at the scores before the deal (the gain in win share that the winning chances of
`solver-fast` show for it). A board's is the sum over the seats that the agent took in all its games.

**Unbiased.** The luck of a deal has mean 0 whatever came before it, and its weight is known before the deal, so a board's
luck has mean 0. A multiple of it is taken away. The multiple that leaves the least spread is fitted, by least squares, for
each half of the boards (even and odd) on the other half, and so does not depend on the luck that it multiplies: the mean of
what is taken away is exactly 0.

Source: control variates, as in AIVAT (Burch and others, 2018); fits on the other half are cross-fitting (Chernozhukov and
others, "Double/debiased machine learning", 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.solver_table import find_solver_table
from ..envs.crash.rules import CrashRules
from ..envs.crash.vector import CrashVectorEnv
from .luck import DealWorth
from .statistics import Estimate, ratio_estimate

__all__ = ["AdjustedShare", "BoardLuck", "adjusted_share"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_FEW = 10  # boards in a half; with fewer the fit would add more than it takes away


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedShare:
    """An agent's win share with the luck of the cards taken out.

    Attributes:
        win_share: with its interval.
        taken: the win share that was taken away as luck; its mean over arenas is 0.
        gain: as how many times as many games the adjusted share counts, by the intervals.
    """

    win_share: Estimate
    taken: float
    gain: float


@lru_cache(maxsize=4)
def _worth_of(rules: CrashRules) -> DealWorth:
    return DealWorth(rules)


class BoardLuck:
    """Takes note of the deals of games while they are played, and sums up their luck.

    Args:
        rules: of all games.

    Raises:
        SolverTableError: no table of `solver-fast` fits the rules.
    """

    def __init__(self, rules: CrashRules) -> None:
        self._rules = rules
        self._worth = _worth_of(rules)
        self._equity = find_solver_table(rules).equity
        self._games: list[Ints] = []
        self._rounds: list[Ints] = []
        self._weights: list[Floats] = []
        self._hands: list[npt.NDArray[np.int8]] = []
        self._spares: list[npt.NDArray[np.int8]] = []

    def begun(self, env: CrashVectorEnv, games: Ints) -> None:
        """Take note of rounds that have just been dealt.

        Args:
            env: whose tables are the games.
            games: in which a round begins.
        """
        self._games.append(games)
        self._rounds.append(env.column("rounds_played")[games].astype(np.int64))
        self._weights.append(self._worth_of_a_point(env.column("scores")[games], env.column("dealer")[games]))
        self._hands.append(env.column("cards")[games])
        self._spares.append(env.column("spares")[games])

    def _worth_of_a_point(self, scores: npt.NDArray[np.int32], dealers: npt.NDArray[Any]) -> Floats:
        """Return what one more point is worth to each seat, in win share: float64 (m, players)."""
        dealers = dealers.astype(np.int64)
        before = self._equity.shares_at(scores, dealers)
        worth = np.empty_like(before)
        for seat in range(self._rules.players):
            more = scores.copy()
            more[:, seat] += 1
            there = more[:, seat] >= self._rules.target
            more[there, seat] -= 1
            worth[:, seat] = np.where(there, 1.0, self._equity.shares_at(more, dealers)[:, seat]) - before[:, seat]
        return worth

    def sums(self, seatings: Sequence[Sequence[int]], *, agents: int) -> Floats:
        """Return the luck of every agent on each board: float64 (boards, agents).

        Args:
            seatings: of each board, in which the games were played board by board.
            agents: how many.
        """
        games, rounds = np.concatenate(self._games), np.concatenate(self._rounds)
        # The games of a board have the same deals.
        _, first, which = np.unique(
            games // len(seatings) * (rounds.max() + 1) + rounds, return_index=True, return_inverse=True
        )
        luck = self._worth.luck(np.concatenate(self._hands)[first], np.concatenate(self._spares)[first])[which]
        by_seat = luck * np.concatenate(self._weights)
        seats = np.array(seatings, np.int64)[games % len(seatings)]
        boards = int(games.max()) // len(seatings) + 1
        cells = (games // len(seatings))[:, None] * agents + seats
        total = np.bincount(cells.reshape(-1), by_seat.reshape(-1), boards * agents).astype(np.float64)
        return total.reshape(boards, agents)


def adjusted_share(wins: Floats, seats: Floats, luck: Floats, *, plain: Estimate) -> AdjustedShare:
    """Return a win share with the luck taken out.

    Args:
        wins, seats, luck: of one agent on each board, (boards,).
        plain: the win share as it was.

    >>> rng = np.random.default_rng(1)
    >>> luck = rng.normal(size=1000)
    >>> wins = 0.5 + 0.1 * luck + rng.normal(size=1000) / 20
    >>> plain = ratio_estimate(wins, np.ones(1000), ends=(0, 1), weight=1)
    >>> share = adjusted_share(wins, np.ones(1000), luck, plain=plain)
    >>> share.gain > 3, round(share.win_share.value, 2)
    (True, 0.5)
    """
    half = np.arange(len(luck)) % 2
    times = np.zeros(2)
    if min(np.bincount(half, minlength=2)) >= _FEW:
        for own in range(2):
            other = half != own
            squares = float(np.square(luck[other]).sum())
            # Around the mean of the same half, so that nothing comes from the half that is adjusted.
            apart = wins[other] - wins[other].sum() / seats[other].sum() * seats[other]
            times[own] = float(apart @ luck[other]) / squares if squares > 0 else 0.0
    taken = times[half] * luck
    share = ratio_estimate(wins - taken, seats, ends=(0, 1), weight=float(seats[0]))
    return AdjustedShare(
        win_share=share, taken=float(taken.sum() / seats.sum()), gain=(plain.half_width / share.half_width) ** 2
    )
