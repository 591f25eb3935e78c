"""What decisions are worth, for people: arrangements ranked, with the chances and the differences that a ranking comes from.

Figures are those of `solver-fast` (`prial.agents.solver_fast`): win shares of the game, and points, the round's margin (own
points minus the mean of the others').

What sets two arrangements apart is divided among the hands by Shapley's rule: each hand's part is what changing it from one
to the other brings, averaged over all orders in which the hands can be changed. The parts add up to the difference.

Source: Shapley, "A value for n-person games", 1953.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..agents.solver_contexts import Objective
from ..agents.solver_fast import SolverFastPolicy
from ..agents.solver_table import find_solver_table
from ..envs.cards import Card
from ..envs.crash.arrangement import Arrangement
from ..envs.crash.game import Phase
from ..envs.crash.observation import PlayerView, ViewBatch
from ..envs.crash.partitions import CandidateBatch, laid_many
from ..envs.crash.rules import CrashRules
from .analysis_exchange import Exchange, exchange_of, is_asked

__all__ = ["Analyst", "Ranking", "Rated", "plain_view", "shapley"]

Floats = npt.NDArray[np.float64]
_OBJECTIVES: tuple[Objective, Objective] = ("win", "points")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """One arrangement and what it is worth; with a call to come, as if the better of calling and passing follows.

    Attributes:
        partition: its index.
        arrangement: its hands.
        strengths: of each position, 0 for no hand.
        quads: four of a kind laid whole, where they pay.
        outcomes: who wins each comparison, by position: own seat first, then clockwise, nobody last.
        crash: the chance to win them all; 0 for a single hand, which is no crash.
        win_share: of the game.
        points: the round's margin.
        gives_up_win_share, gives_up_points: what the best by that measure has more; 0 for itself.
        call_gain: what calling has more than passing, in win share; None where crashes are not called.
    """

    partition: int
    arrangement: Arrangement
    strengths: tuple[int, ...]
    quads: int
    outcomes: tuple[tuple[float, ...], ...]
    crash: float
    win_share: float
    points: float
    gives_up_win_share: float
    gives_up_points: float
    call_gain: float | None

    @property
    def chances(self) -> tuple[float, ...]:
        """The chance to win each comparison."""
        return tuple(row[0] for row in self.outcomes)

    def worth(self, objective: Objective) -> float:
        """Return the win share or the points."""
        return self.win_share if objective == "win" else self.points


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What one hand can lay, best first.

    Attributes:
        view: what its owner knows.
        objective: what it is ranked by.
        rated: every undominated arrangement.
        hand_worth: what winning each hand, against not winning it, is worth in win share; the others as the best lays them.
        exchange: whether to exchange; None if there is nothing to decide.
    """

    view: PlayerView
    objective: Objective
    rated: tuple[Rated, ...]
    hand_worth: tuple[float, ...]
    exchange: Exchange | None


def plain_view(
    rules: CrashRules,
    cards: Sequence[int],
    *,
    scores: Sequence[int] | None = None,
    dealer: int | None = None,
    exchanges: Sequence[bool | None] | None = None,
    given_up: Sequence[int] = (),
) -> PlayerView:
    """Return the view of seat 0 that is to lay its hands.

    Args:
        rules: the rules.
        cards: card ids.
        scores: own score first, then clockwise; zeros if None.
        dealer: 0 for the seat itself; the last seat if None, so that seat 0 is the first in turn.
        exchanges: what is known of each seat's exchange; nothing if None.
        given_up: own card ids given up.

    >>> plain_view(CrashRules.preset("online"), range(13), scores=[3, 5, 2]).scores
    (3, 5, 2)
    """
    n = rules.players
    return PlayerView(
        rules=rules,
        seat=0,
        phase=Phase.ARRANGE,
        to_act=True,
        dealer=n - 1 if dealer is None else dealer,
        rounds_played=0,
        scores=(0,) * n if scores is None else tuple(scores),
        cards=tuple(sorted(cards)),
        given_up=tuple(sorted(given_up)),
        exchanges=(None,) * n if exchanges is None else tuple(exchanges),
        calls=(None,) * n,
        laid=None,
    )


class Analyst:
    """Rates decisions under some rules.

    Args:
        rules: the rules.
        table: path of a solver's table; the one that ships and fits if None.

    Raises:
        SolverTableError: no table fits.

    >>> from ..envs.cards import parse_cards
    >>> analyst = Analyst(CrashRules.preset("online"))
    >>> held = [card.id for card in parse_cards("As Ks Qs Kd Kc 9h 9d 8s 7h 5c 5d 4h 2c")]
    >>> best = analyst.ranked(plain_view(analyst.rules, held)).rated[0]
    >>> best.gives_up_win_share, len(best.chances)
    (0.0, 4)
    """

    def __init__(self, rules: CrashRules, *, table: str | Path | None = None) -> None:
        found = find_solver_table(rules, path=table)
        self.rules = rules
        self.table = found
        self._policies = {of: SolverFastPolicy(rules, found, objective=of) for of in _OBJECTIVES}

    def values(self, views: ViewBatch, found: CandidateBatch, objective: Objective) -> Floats:
        """Return what arrangements are worth: float64 (options, m), as `SolverFastPolicy.values`."""
        return self._policies[objective].values(views, found)

    def call_values(self, views: ViewBatch, objective: Objective) -> Floats:
        """Return what passing and calling are worth: float64 (2, n), as `SolverFastPolicy.call_values`."""
        return self._policies[objective].call_values(views)

    def chances(self, views: ViewBatch, found: CandidateBatch) -> Floats:
        """Return who wins each comparison: float64 (m, hands, players + 1), as `SolverFastPolicy.chances`."""
        return self._policies["win"].chances(views, found)

    def crashes(self, views: ViewBatch, outcomes: Floats) -> Floats:
        """Return the chance to win every comparison; 0 for single hands, which are no crash: float64 (n,).

        Args:
            views: whose hands.
            outcomes: who wins each comparison with what is laid, float64 (n, hands, players + 1).
        """
        if outcomes.shape[1] == 1:
            return np.zeros(len(outcomes))
        return self._joint(views, outcomes)[:, 0]

    def ranked(self, view: PlayerView, objective: Objective = "win") -> Ranking:
        """Return the undominated arrangements, best first; of equals the one with the stronger Hand 1."""
        batch = ViewBatch.of([view])
        found = batch.undominated()
        rated = self._rated(view, found)
        order = np.argsort([-one.worth(objective) for one in rated], kind="stable")
        best = [rated[place] for place in order]
        return Ranking(
            view=view,
            objective=objective,
            rated=tuple(best),
            hand_worth=tuple(
                self.hand_worths(batch, np.array([best[0].outcomes]), np.array([best[0].quads]))[0].tolist()
            ),
            exchange=self.exchange(view),
        )

    def rated(self, view: PlayerView, partition: int) -> Rated:
        """Return one arrangement of a view's cards, undominated or not, with what it is worth."""
        return self._rated(view, laid_many(np.array([partition], np.int32), ViewBatch.of([view]).cards, self.rules))[0]

    def _rated(self, view: PlayerView, asked: CandidateBatch) -> list[Rated]:
        """What arrangements are worth, in their order; a batch of one deal."""
        batch = ViewBatch.of([view])
        best = [float(self.values(batch, batch.undominated(), of).max()) for of in _OBJECTIVES]
        by_win, by_points = (self.values(batch, asked, of) for of in _OBJECTIVES)
        win, points = by_win.max(axis=0), by_points.max(axis=0)
        outcomes = self.chances(batch, asked)
        crashes = self.crashes(batch.select(np.zeros(len(outcomes), np.int64)), outcomes)
        held = [Card(card) for card in view.cards]
        return [
            Rated(
                partition=int(partition),
                arrangement=Arrangement.from_index(int(partition), held, self.rules),
                strengths=tuple(int(strength) for strength in asked.strengths[row, : self.rules.hands]),
                quads=int(asked.quads[row]),
                outcomes=tuple(tuple(chances) for chances in outcomes[row].tolist()),
                crash=float(crashes[row]),
                win_share=float(win[row]),
                points=float(points[row]),
                gives_up_win_share=max(0.0, best[0] - float(win[row])),
                gives_up_points=max(0.0, best[1] - float(points[row])),
                call_gain=float(by_win[1, row] - by_win[0, row]) if len(by_win) > 1 else None,
            )
            for row, partition in enumerate(asked.partitions)
        ]

    def exchange(self, view: PlayerView) -> Exchange | None:
        """Return whether to exchange; None if the seat is not asked."""
        return exchange_of(view, self._policies) if is_asked(view) else None

    def exchange_values(self, views: ViewBatch) -> tuple[Floats, Floats]:
        """Return what keeping and exchanging are worth in win share, as `SolverFastPolicy.exchange_values`: (n,) both."""
        return self._policies["win"].exchange_values(views)

    def parts(self, view: PlayerView, better: Rated, worse: Rated, objective: Objective = "win") -> tuple[float, ...]:
        """Return what each hand has to do with the difference of two arrangements, and last the extras (quads and call).

        They add up to ``better.worth(objective) - worse.worth(objective)``.
        """
        batch = ViewBatch.of([view])
        worth = self._policies[objective].outcomes(batch)[0]
        hands = self.rules.hands
        sides = [worse, better]
        leaves = [self._leaves(batch, worth, one) for one in sides]

        def value(changed: frozenset[int]) -> float:
            rows = [sides[hand in changed].outcomes[hand] for hand in range(hands)]
            likely = self._joint(batch, np.array([rows]))[0]
            return float(likely @ leaves[hands in changed])

        return shapley(value, hands + 1)

    def _leaves(self, batch: ViewBatch, worth: npt.NDArray[np.float32], one: Rated) -> Floats:
        """Value of every outcome for one arrangement, by the better of calling and passing: float64 (leaves,)."""
        options: Floats = worth[:, min(one.quads, worth.shape[1] - 1)].astype(np.float64)
        best: Floats = options[(options @ self._joint(batch, np.array([one.outcomes]))[0]).argmax()]
        return best

    def _joint(self, views: ViewBatch, outcomes: Floats) -> Floats:
        """Chance of every outcome of the comparisons: float64 (n, leaves)."""
        return self._policies["win"].joint(views, outcomes)

    def hand_worths(self, views: ViewBatch, outcomes: Floats, quads: npt.NDArray[np.integer]) -> Floats:
        """Return what winning each hand, against not winning it, is worth in win share: float64 (n, hands).

        Args:
            views: whose hands.
            outcomes: who wins each comparison with what is laid, float64 (n, hands, players + 1).
            quads: four of a kind laid whole, (n,).
        """
        worth = self._policies["win"].outcomes(views).astype(np.float64)
        rows = np.arange(len(views))
        options = worth[rows, :, np.minimum(quads, worth.shape[2] - 1)]  # (n, options, leaves)
        likely = self._joint(views, outcomes)
        leaves = options[rows, np.einsum("nol,nl->no", options, likely).argmax(axis=1)]
        worths = np.empty(outcomes.shape[:2])
        for hand in range(outcomes.shape[1]):
            won, lost = outcomes.copy(), outcomes.copy()
            won[:, hand] = np.eye(outcomes.shape[2])[0]
            lost[:, hand, 0] = 0.0
            rest = lost[:, hand].sum(axis=1, keepdims=True)
            evenly = np.full(outcomes.shape[2], 1 / (outcomes.shape[2] - 1)) * (np.arange(outcomes.shape[2]) > 0)
            lost[:, hand] = np.where(rest > 0, lost[:, hand] / np.maximum(rest, 1e-300), evenly)
            worths[:, hand] = ((self._joint(views, won) - self._joint(views, lost)) * leaves).sum(axis=1)
        return worths


def shapley(value: Callable[[frozenset[int]], float], players: int) -> tuple[float, ...]:
    """Return each player's part of ``value(all) - value(none)``, averaged over all orders of joining.

    >>> shapley(lambda joined: float(len(joined) == 2), 2)
    (0.5, 0.5)
    """
    known = {joined: value(joined) for joined in _subsets(players)}
    weights = [factorial(size) * factorial(players - size - 1) / factorial(players) for size in range(players)]
    return tuple(
        sum(
            weights[len(joined)] * (known[joined | {one}] - worth)
            for joined, worth in known.items()
            if one not in joined
        )
        for one in range(players)
    )


def _subsets(players: int) -> Iterator[frozenset[int]]:
    for size in range(players + 1):
        for chosen in combinations(range(players), size):
            yield frozenset(chosen)
