"""The solver's iteration on small games, where what it leaves to win is known exactly.

`prial.training.solver_tables` plays `solver-fast` against what was laid so far, averages (fictitious play), and goes on.
Here each response is worked out from all deals instead of sampled ones, by one of three reckonings, which differ by one
approximation of `solver-fast` each:

- `deals`: against every hand that the other may hold; nothing is approximated;
- `hands`: the chance to win each comparison is exact, own cards known; the comparisons are taken as independent;
- `fit`: the same, with these chances fitted by least squares on the figures that `solver-fast` takes of known cards.

Two strategies come out of each iteration: the last response, and the average of all of them, which is what converges to an
equilibrium of a game of two (Robinson, "An iterative method of solving a game", 1951).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from ..agents.solver_table import NUM_FEATURES
from .small_game import Floats, SmallGame, SmallGameError

__all__ = ["Iteration", "Reckoning", "iterate"]

Reckoning = Literal["deals", "hands", "fit"]
Ints = npt.NDArray[np.int64]

_ROOM = 4_000_000  # pairs of classes looked at at once
_SAME = 1e-6  # of the largest spread: features that tell nothing apart


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Iteration:
    """What one iteration comes to.

    Attributes:
        number: which, from 1.
        chances: of the undominated arrangements in the last response, float64 (m,).
        last: what a best responder gains against others who all play that, in points a round.
        average: the same against the average of all responses so far.
        explained: share of what own cards change in the chances that the fit explains; 1 where nothing is fitted.
    """

    number: int
    chances: Floats
    last: float
    average: float
    explained: float


def iterate(
    game: SmallGame,
    *,
    iterations: int,
    reckoning: Reckoning = "deals",
    progress: Callable[[int, int], None] | None = None,
) -> list[Iteration]:
    """Return what each iteration comes to, the first one a response to all undominated arrangements alike.

    Args:
        game: the small game.
        iterations: how many.
        reckoning: what responses take into account.
        progress: called with iterations done and iterations in all.

    Raises:
        SmallGameError: no iteration, a reckoning that there is not, or three players by another than `deals`.

    >>> from ..envs.crash.rules import CrashRules
    >>> found = iterate(SmallGame.of(CrashRules(players=2, ranks="JQKA", cards_dealt=6)), iterations=16)
    >>> found[0].average > 0.005, found[-1].average < 0.0005
    (True, True)
    """
    if iterations < 1 or reckoning not in get_args(Reckoning):
        raise SmallGameError(f"iterations={iterations!r}, reckoning={reckoning!r}: expected 1 or more and a reckoning")
    if reckoning != "deals" and game.rules.players != 2:
        raise SmallGameError(f"reckoning={reckoning!r}, players={game.rules.players}: expected 2 players")
    reckoned = _Hands(game, fitted=reckoning == "fit") if reckoning != "deals" else None
    average = game.uniform()
    margins = game.margins(game.mixture(average))
    found: list[Iteration] = []
    for number in range(1, iterations + 1):
        values = margins if reckoned is None else reckoned.values(average)
        response = np.zeros(len(game.owner))
        response[game.arrangements.best_rows(values)] = 1.0
        average = response if number == 1 else average + (response - average) / number
        margins = game.margins(game.mixture(average))
        found.append(
            Iteration(
                number=number,
                chances=response,
                last=game.best_margin(game.mixture(response)),
                average=game.mean(np.maximum.reduceat(margins, game.arrangements.offsets[:-1])),
                explained=1.0 if reckoned is None else reckoned.explained,
            )
        )
        if progress is not None:
            progress(number, iterations)
    return found


class _Hands:
    """Values of arrangements from the chance to win each comparison, the comparisons being independent.

    Args:
        game: of two players.
        fitted: whether the chances are fitted.
    """

    def __init__(self, game: SmallGame, *, fitted: bool) -> None:
        self.game = game
        self.explained = 1.0
        hands = range(game.rules.hands)
        self._found = [np.unique(game.arrangements.strengths[:, hand], return_inverse=True) for hand in hands]
        self._white = _white_features(game) if fitted else None

    def values(self, against: Floats) -> Floats:
        """Return the margin of each arrangement, the quads of the other aside: float64 (m,).

        Args:
            against: what the other lays, as chances of the undominated arrangements.
        """
        game = self.game
        rules, found = game.rules, game.arrangements
        win, lose = np.empty((2, rules.hands, len(game.owner)))
        spread = left = 0.0
        for hand, (strengths, place) in enumerate(self._found):
            # below[i, s]: that the other's hand is less than the s-th strength, own cards being those of class i.
            cells = game.owner * len(strengths) + place
            laid: Floats = np.bincount(cells, against, game.num_classes * len(strengths)).astype(np.float64)
            met = self._met(laid.reshape(game.num_classes, -1))
            below = np.pad(met.cumsum(axis=1), ((0, 0), (1, 0)))
            if self._white is not None:
                below, most, rest = self._fit(below)
                spread, left = spread + most, left + rest
            less, at_most = below[game.owner, place], below[game.owner, place + 1]
            less = np.clip(less, 0.0, 1.0)
            win[hand] = np.where(strengths[place] > 0, less, 0.0)  # no hand wins nothing
            lose[hand] = 1.0 - np.clip(at_most, less, 1.0)
        self.explained = 1.0 - left / max(spread, 1e-30)
        crash = float(rules.crash_points) if rules.hands > 1 else 0.0
        values: Floats = (win - lose).sum(axis=0) + crash * (win.prod(axis=0) - lose.prod(axis=0))
        return values + rules.quads_bonus * found.quads

    def _met(self, laid: Floats) -> Floats:
        """Return the mean of the rows of the classes that each class meets: float64 (classes, k), like `laid`."""
        game = self.game
        met = np.empty_like(laid)
        step = max(1, _ROOM // game.num_classes)
        for start in range(0, game.num_classes, step):
            stop = min(start + step, game.num_classes)
            some = slice(game.starts[start], game.starts[stop])
            counts = np.zeros((stop - start, game.num_classes))
            rows = np.repeat(np.arange(stop - start), np.diff(game.starts[start : stop + 1]))
            counts[rows, game.others[some]] = game.counts[some]
            met[start:stop] = counts @ laid / counts.sum(axis=1, keepdims=True)
        return met

    def _fit(self, below: Floats) -> tuple[Floats, float, float]:
        """Return the chances as fitted, their spread over hands, and what the fit leaves of it."""
        assert self._white is not None
        weights = self.game.weights / self.game.weights.sum()
        mean = weights @ below
        fitted: Floats = mean + self._white @ (self._white.T @ (weights[:, None] * below))
        return (
            fitted,
            float(weights @ ((below - mean) ** 2).sum(axis=1)),
            float(weights @ ((below - fitted) ** 2).sum(axis=1)),
        )


def _white_features(game: SmallGame) -> Floats:
    """What `solver-fast` takes of each class's cards, on average 0 and uncorrelated with spread 1: float64 (classes, k)."""
    from ..agents import _kernels_solver as kernels

    features = np.empty((game.num_classes, NUM_FEATURES))
    kernels.card_features(game.cards, np.full_like(game.cards, -1), features, 0, game.num_classes)
    weights = game.weights / game.weights.sum()
    features -= weights @ features
    sizes, directions = np.linalg.eigh((features * weights[:, None]).T @ features)
    usable = sizes > _SAME * sizes.max()
    white: Floats = features @ (directions[:, usable] / np.sqrt(sizes[usable]))
    return white
