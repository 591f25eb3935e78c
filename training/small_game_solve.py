"""Equilibria of small games: by regret matching to any accuracy asked for, and by linear programming.

`solve` is predictive regret matching plus (Farina, Kroer and Sandholm, "Faster Game Solving via Predictive Blackwell
Approachability", 2021), two sides in turn, each against one or two of the other, the average weighted by the square of the
iteration. Each class of hands is one
information set that the deal reaches whatever is laid, so regrets are those of its expected margins. Of the averages and the
current strategies the one that a best response gains least against is kept; that gain is the certificate.

`solve_by_lp` shares nothing with it but the margins of pairs of arrangements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .small_game import Floats, Mixture, SmallGame, SmallGameError

__all__ = ["GAP", "Solution", "payoff_matrix", "solve", "solve_by_lp"]

GAP = 1e-6
_FIRST_CHECK, _CHECKS_GROW = 8, 1.5

SolveProgress = Callable[[int, float], None]
"""Called with the iterations done and the smallest gap so far."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Solution:
    """A strategy for all seats of a small game.

    Attributes:
        game: the game.
        chances: of its undominated arrangements, float64 (m,).
        gap: what a best response gains against others who play it, in points a round. With two players the value is 0,
            by symmetry, and the strategy earns at least minus the gap against anyone.
        iterations: it took.
    """

    game: SmallGame
    chances: Floats
    gap: float
    iterations: int

    @property
    def mixture(self) -> Mixture:
        """The strategy as a mixture."""
        return self.game.mixture(self.chances)


def solve(
    game: SmallGame, *, gap: float = GAP, max_iterations: int = 100_000, progress: SolveProgress | None = None
) -> Solution:
    """Return an equilibrium, as near as asked for: with two players always, with three where it gets there.

    Args:
        game: what to solve.
        gap: stop once a best response gains no more than this, in points a round.
        max_iterations: stop after so many whatever the gap.
        progress: called after each iteration.

    Raises:
        SmallGameError: a gap below 0 or no iteration.

    >>> from ..envs.crash.rules import CrashRules
    >>> solution = solve(SmallGame.of(CrashRules(players=2, ranks="QKA", cards_dealt=6)))
    >>> solution.gap <= GAP, len(solution.chances)
    (True, 87)
    """
    if not gap >= 0 or max_iterations < 1:
        raise SmallGameError(f"gap={gap!r}, max_iterations={max_iterations!r}: expected 0 or more, and 1 or more")
    search = _Search(game)
    check = _FIRST_CHECK
    for iteration in range(1, max_iterations + 1):
        search.step(iteration)
        if iteration >= check or iteration == max_iterations:
            search.look_at_average()
            check = int(check * _CHECKS_GROW)
        if progress is not None:
            progress(iteration, search.gap)
        if search.gap <= gap:
            break
    return Solution(game=game, chances=search.best, gap=max(search.gap, 0.0), iterations=iteration)


class _Search:
    """Regrets, current strategies and their average; the best found so far."""

    def __init__(self, game: SmallGame) -> None:
        self.game = game
        self.firsts = game.arrangements.offsets[:-1]
        self.regrets = np.zeros((2, len(game.owner)))
        self.current = [game.uniform(), game.uniform()]
        self.average = np.zeros(len(game.owner))
        self.best = self.current[0]
        self.gap = np.inf

    def step(self, iteration: int) -> None:
        for side in (0, 1):
            other = self.current[1 - side]
            margins = self.game.margins(self.game.mixture(other))
            self._keep(other, self.game.mean(np.maximum.reduceat(margins, self.firsts)))
            earned = np.add.reduceat(margins * self.current[side], self.firsts)
            regrets = margins - earned[self.game.owner]
            self.regrets[side] = np.maximum(self.regrets[side] + regrets, 0.0)
            self.current[side] = self._matched(np.maximum(self.regrets[side] + regrets, 0.0))
            self.average += iteration**2 * self.current[side]

    def look_at_average(self) -> None:
        chances = self._matched(self.average)
        self._keep(chances, self.game.best_margin(self.game.mixture(chances)))

    def _keep(self, chances: Floats, gap: float) -> None:
        if gap < self.gap:
            self.best, self.gap = chances, gap

    def _matched(self, weights: Floats) -> Floats:
        """Return weights as shares of their class, equal shares where there are none."""
        sums = np.add.reduceat(weights, self.firsts)[self.game.owner]
        return np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), self.game.uniform())


def payoff_matrix(game: SmallGame) -> Floats:
    """Return the game of two in sequence form: float64 (m, m), for the smallest only.

    Entry (a, b) is the chance of a deal with the classes of rows `a` and `b`, times the margin of `a` against `b`: what the
    whole game pays is this matrix between the chances of both sides.

    Raises:
        SmallGameError: more than two players.
    """
    if game.rules.players != 2:
        raise SmallGameError(f"players={game.rules.players}: a matrix is a game of 2")
    rows, classes = len(game.owner), game.num_classes
    met = np.zeros((classes, classes))
    met[np.repeat(np.arange(classes), np.diff(game.starts)), game.others] = game.counts
    met *= (game.weights / game.weights.sum() / met.sum(axis=1))[:, None]
    hands, found = game.rules.hands, game.arrangements
    laid = found.strengths[:, :hands].astype(np.int32)
    signs = np.sign(laid[:, None] - laid[None])  # (m, m, hands)
    margins = signs.sum(axis=2).astype(np.float64)
    if hands > 1:
        margins += game.rules.crash_points * ((signs == 1).all(axis=2).astype(int) - (signs == -1).all(axis=2))
    bonus = game.rules.quads_bonus * found.quads.astype(np.float64)
    margins += bonus[:, None] - bonus[None]
    matrix: Floats = margins * met[np.ix_(game.owner, game.owner)]
    assert matrix.shape == (rows, rows)
    return matrix


def solve_by_lp(game: SmallGame) -> tuple[float, Floats]:
    """Return the value and an equilibrium strategy by linear programming (SciPy's HiGHS; extra `solve`).

    The program is that of the sequence form: choose what to lay so that the sum, over the opponent's classes, of what its
    best arrangement earns is least.

    Args:
        game: of at most 5,000 undominated arrangements.

    Returns:
        The opponent's best margin, and chances of the undominated arrangements, float64 (m,).

    Raises:
        SmallGameError: more than two players, a game too large, or a solver that gives up.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    rows, classes = len(game.owner), game.num_classes
    if rows > 5000:
        raise SmallGameError(f"{rows:,} arrangements; a linear program of more than 5,000 is too large")
    belongs = csr_array((np.ones(rows), (np.arange(rows), game.owner)), shape=(rows, classes))
    result = linprog(
        c=np.concatenate([np.zeros(rows), np.ones(classes)]),
        A_ub=hstack([csr_array(payoff_matrix(game)), -belongs]),
        b_ub=np.zeros(rows),
        A_eq=hstack([belongs.T, csr_array((classes, classes))]),
        b_eq=np.ones(classes),
        bounds=[(0, None)] * rows + [(None, None)] * classes,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if not result.success:
        raise SmallGameError(f"the linear program was not solved: {result.message}")
    chances: Floats = np.maximum(result.x[:rows], 0.0)
    return float(result.fun), chances / np.add.reduceat(chances, game.arrangements.offsets[:-1])[game.owner]
