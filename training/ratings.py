"""Ratings of many agents from games of two to five: Luce's choice model, fitted by penalised maximum likelihood.

**Model.** Every agent has a strength. A seat wins a game with the chance (its agent's strength) / (the sum of the strengths
at the table, seat by seat): Bradley-Terry with two seats, with more the first place of Plackett-Luce. A win shared by k is
1/k of a first place for each. A rating is 400 times the decimal logarithm of the strength, as Elo has it, the mean of all
agents 0: 100 points ahead is 64 % at a table of two.

**Finite after a sweep.** By plain maximum likelihood the winner of all games is infinitely strong. As in
`prial.training.statistics`, the data get added boards: for every meeting (the games among the same agents) one for each of
its agents, who wins all there is to win on it. They weigh as much as a board that was played, so they vanish like 1 / n.

**Intervals** are those of 95 % of the Bayesian bootstrap: boards, the added ones included, get random weights (exponential,
so that none is ever left out) and the model is fitted anew. A board keeps all its games together, of all meetings: they
share their deals.

One number an agent cannot show that A beats B, B beats C and C beats A: see the table of who meets whom beside it.

Source: Luce, "Individual Choice Behavior" (1959); Plackett, "The analysis of permutations", Applied Statistics 24 (1975);
Hunter, "MM algorithms for generalized Bradley-Terry models", The Annals of Statistics 32 (2004); Rubin, "The Bayesian
bootstrap", The Annals of Statistics 9 (1981).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .statistics import Estimate

__all__ = ["ELO", "Contest", "Ratings", "RatingsError", "rate"]

ELO = 400 / math.log(10)
"""Points of rating for a factor e of strength."""

Floats = npt.NDArray[np.float64]

_LONGEST_STEP = 1.0  # of Newton's method, in logarithms of strength; longer ones may lead astray
_STEPS = 200
_CLOSE = 1e-9


class RatingsError(ValueError):
    """Results that give no ratings."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Contest:
    """Results by board and line-up.

    Attributes:
        agents: names.
        line_ups: number of the agent on each seat, in any order; one agent may take several.
        games: float64 (boards, line-ups), games of each line-up on each board, 0 where it has not played.
        wins: float64 (boards, line-ups, agents), games won, shares of shared ones included.
    """

    agents: tuple[str, ...]
    line_ups: tuple[tuple[int, ...], ...]
    games: Floats
    wins: Floats

    @classmethod
    def duel(cls, first: str, second: str, wins: Sequence[float], games: Sequence[float]) -> Contest:
        """Return a contest of two from what the first won on each board, of how many games."""
        of, won = np.array(games, float), np.array(wins, float)
        return cls(
            agents=(first, second),
            line_ups=((0, 1),),
            games=of[:, None],
            wins=np.stack([won, of - won], axis=1)[:, None],
        )

    def with_added(self) -> Contest:
        """Return the contest with an added board for every agent of every meeting that took place."""
        played = self.games.sum(axis=0)
        boards = (self.games > 0).sum(axis=0)
        typical = np.divide(played, boards, out=np.zeros_like(played), where=boards > 0)
        rows = []
        for meeting in sorted({tuple(sorted(set(line_up))) for line_up in self.line_ups}):
            if len(meeting) == 1:
                continue
            columns = [k for k, line_up in enumerate(self.line_ups) if tuple(sorted(set(line_up))) == meeting]
            games = np.zeros_like(played)
            games[columns] = typical[columns]
            rows += [(games, agent) for agent in meeting if games.any()]
        wins = np.zeros((len(rows), len(self.line_ups), len(self.agents)))
        for row, (games, agent) in enumerate(rows):
            wins[row, :, agent] = games
        return Contest(
            agents=self.agents,
            line_ups=self.line_ups,
            games=np.concatenate([self.games, *(games[None] for games, _ in rows)]),
            wins=np.concatenate([self.wins, wins]),
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Ratings:
    """Ratings of agents.

    Attributes:
        agents: names.
        values: float64 (agents,), in points, of mean 0.
        samples: float64 (resamples, agents), the same from each resample.
    """

    agents: tuple[str, ...]
    values: Floats
    samples: Floats

    def of(self, agent: int) -> Estimate:
        """Return the rating of an agent against the mean of all."""
        return _estimate(float(self.values[agent]), self.samples[:, agent])

    def difference(self, first: int, second: int) -> Estimate:
        """Return by how much the first is rated above the second."""
        value = float(self.values[first] - self.values[second])
        return _estimate(value, self.samples[:, first] - self.samples[:, second])


def rate(contest: Contest, *, resamples: int = 1000, seed: int = 0) -> Ratings:
    """Return the ratings of all agents.

    Args:
        contest: the results.
        resamples: of the boards.
        seed: of the resamples.

    Raises:
        RatingsError: agents that no chain of games links, or no agents to compare.
        ModuleNotFoundError: without scipy, from the extra `ladder`.

    >>> sweep = rate(Contest.duel("a", "b", wins=[1] * 10, games=[1] * 10), resamples=200)
    >>> low, high = sweep.difference(0, 1).interval
    >>> 0 < low < high < 4000
    True
    """
    _check_linked(contest)
    added = contest.with_added()
    boards = len(added.games)
    ones = np.ones((1, boards))
    model = _Model.of(contest.line_ups, len(contest.agents))
    found = _maximum(model, *_weighted(added, ones))
    weights = np.random.default_rng(seed).standard_exponential((resamples, boards))
    weights *= boards / weights.sum(axis=1, keepdims=True)
    samples = _newton(model, *_weighted(added, weights), start=found)
    return Ratings(agents=contest.agents, values=_centred(found[None])[0], samples=_centred(samples))


def _estimate(value: float, samples: Floats) -> Estimate:
    low, high = np.quantile(samples, [0.025, 0.975])
    return Estimate(value=value, low=min(value, float(low)), high=max(value, float(high)))


def _centred(logs: Floats) -> Floats:
    """Return ratings from logarithms of strength of all agents but the first, which has 0: float64 (n, agents)."""
    full = np.concatenate([np.zeros((len(logs), 1)), logs], axis=1)
    points: Floats = ELO * (full - full.mean(axis=1, keepdims=True))
    return points


def _weighted(contest: Contest, weights: Floats) -> tuple[Floats, Floats]:
    """Return the wins of every agent, (n, agents), and the games of every line-up, (n, line-ups), by weights of boards."""
    return weights @ contest.wins.sum(axis=1), weights @ contest.games


def _check_linked(contest: Contest) -> None:
    if len(contest.agents) < 2:
        raise RatingsError(f"expected two or more agents, got {len(contest.agents)}")
    linked = {0}
    met = [
        set(line_up) for line_up, games in zip(contest.line_ups, contest.games.sum(axis=0), strict=True) if games > 0
    ]
    while grown := [table for table in met if linked & table and not table <= linked]:
        linked.update(*grown)
    if apart := [name for number, name in enumerate(contest.agents) if number not in linked]:
        raise RatingsError(f"no games link {contest.agents[0]!r} with {', '.join(map(repr, apart))} yet")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Model:
    """The log-likelihood of wins; parameters are logarithms of strength of all agents but the first, which has 0.

    Attributes:
        seats: float64 (line-ups, agents), how many seats each agent takes.
    """

    seats: Floats

    @classmethod
    def of(cls, line_ups: Sequence[Sequence[int]], agents: int) -> _Model:
        seats = np.zeros((len(line_ups), agents))
        for row, line_up in enumerate(line_ups):
            np.add.at(seats[row], list(line_up), 1)
        return cls(seats=seats)

    def shares(self, logs: Floats) -> tuple[Floats, Floats]:
        """Return each agent's chance at each line-up, (n, line-ups, agents), and the logarithms of the line-ups' sums."""
        full = np.concatenate([np.zeros((len(logs), 1)), logs], axis=1)
        top = full.max(axis=1, keepdims=True)
        parts = self.seats * np.exp(full - top)[:, None]
        sums = parts.sum(axis=2)
        return parts / sums[..., None], np.log(sums) + top

    def slopes(self, logs: Floats, wins: Floats, games: Floats) -> tuple[Floats, Floats]:
        """Return gradient, (n, agents - 1), and Hessian, (n, agents - 1, agents - 1), of minus the log-likelihood."""
        shares, _ = self.shares(logs)
        expected = (games[..., None] * shares).sum(axis=1)
        hessian = -np.einsum("nl,nli,nlj->nij", games, shares, shares, optimize=True)
        diagonal = np.arange(shares.shape[2])
        hessian[:, diagonal, diagonal] += expected
        return (expected - wins)[:, 1:], hessian[:, 1:, 1:]

    def loss(self, logs: Floats, wins: Floats, games: Floats) -> Floats:
        """Return minus the log-likelihood: float64 (n,)."""
        _, sums = self.shares(logs)
        loss: Floats = (games * sums).sum(axis=1) - (wins[:, 1:] * logs).sum(axis=1)
        return loss


def _maximum(model: _Model, wins: Floats, games: Floats) -> Floats:
    """Return the parameters of the greatest likelihood, from nothing: float64 (agents - 1,)."""
    from scipy.optimize import minimize

    scale = games.sum()
    found = minimize(
        lambda logs: model.loss(logs[None], wins, games)[0] / scale,
        np.zeros(wins.shape[1] - 1),
        jac=lambda logs: model.slopes(logs[None], wins, games)[0][0] / scale,
        hess=lambda logs: model.slopes(logs[None], wins, games)[1][0] / scale,
        method="trust-exact",
        options={"gtol": 1e-10},
    )
    logs: Floats = found.x
    return logs


def _newton(model: _Model, wins: Floats, games: Floats, *, start: Floats) -> Floats:
    """Return the parameters of the greatest likelihood for many data, from a point nearby: float64 (n, agents - 1)."""
    logs = np.tile(start, (len(wins), 1))
    for _ in range(_STEPS):
        gradient, hessian = model.slopes(logs, wins, games)
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        logs -= step * np.minimum(1, _LONGEST_STEP / np.maximum(longest, _CLOSE))
        if longest.max() < _CLOSE:
            break
    return logs
