"""The solver's iteration on small games, where what it leaves to win is known exactly.

`prial.training.solver_tables` plays `solver-fast` against what was laid so far, averages (fictitious play), and goes on.
Here each response is worked out from all deals instead of sampled ones, by one of three reckonings, which differ by one
approximation of a closed form each:

- `deals`: against every hand that the other may hold; nothing is approximated;
- `hands`: the chance to win each comparison is exact, own cards known; the comparisons are taken as independent;
- `fit`: the same, with these chances fitted by least squares, of the second order, on the figures that `solver-fast` takes
  of known cards.

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
_SAME = 1e-5  # of the largest spread: columns that tell nothing apart
_AXES = 16  # of a linear fit, that make products; as many do in the tables of `solver-fast`


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
        self._features = _white(_features(game), game.weights) if fitted else None

    def values(self, against: Floats) -> Floats:
        """Return the margin of each arrangement, the quads of the other aside: float64 (m,).

        Args:
            against: what the other lays, as chances of the undominated arrangements.
        """
        game = self.game
        rules, found = game.rules, game.arrangements
        # Of each hand, below[i, s]: that the other's is less than the s-th strength, own cards being those of class i.
        curves = [self._below(len(strengths), place, against) for strengths, place in self._found]
        if self._features is not None:
            curves = self._fit(curves)
        win, lose = np.empty((2, rules.hands, len(game.owner)))
        for hand, ((strengths, place), below) in enumerate(zip(self._found, curves, strict=True)):
            less, at_most = below[game.owner, place], below[game.owner, place + 1]
            less = np.clip(less, 0.0, 1.0)
            win[hand] = np.where(strengths[place] > 0, less, 0.0)  # no hand wins nothing
            lose[hand] = 1.0 - np.clip(at_most, less, 1.0)
        crash = float(rules.crash_points) if rules.hands > 1 else 0.0
        values: Floats = (win - lose).sum(axis=0) + crash * (win.prod(axis=0) - lose.prod(axis=0))
        return values + rules.quads_bonus * found.quads

    def _below(self, strengths: int, place: Ints, against: Floats) -> Floats:
        """Return the chance of less than each of some strengths, by class: float64 (classes, strengths + 1).

        Args:
            strengths: how many.
            place: of each arrangement's hand among them, (m,).
            against: as for `values`.
        """
        game = self.game
        counted = np.bincount(game.owner * strengths + place, against, game.num_classes * strengths)
        laid = counted.astype(np.float64).reshape(game.num_classes, strengths)
        met = np.empty_like(laid)
        step = max(1, _ROOM // game.num_classes)
        for start in range(0, game.num_classes, step):
            stop = min(start + step, game.num_classes)
            some = slice(game.starts[start], game.starts[stop])
            counts = np.zeros((stop - start, game.num_classes))
            rows = np.repeat(np.arange(stop - start), np.diff(game.starts[start : stop + 1]))
            counts[rows, game.others[some]] = game.counts[some]
            met[start:stop] = counts @ laid / counts.sum(axis=1, keepdims=True)
        return np.pad(met.cumsum(axis=1), ((0, 0), (1, 0)))

    def _fit(self, curves: list[Floats]) -> list[Floats]:
        """Return the chances as fitted: on the strongest axes of a linear fit, and on the products of any two of them."""
        assert self._features is not None
        weights = self.game.weights / self.game.weights.sum()
        joined = np.concatenate(curves, axis=1)
        mean = weights @ joined
        away = weights[:, None] * (joined - mean)
        across, _, _ = np.linalg.svd(self._features.T @ away, full_matrices=False)
        places = self._features @ across[:, :_AXES]
        first, second = np.triu_indices(places.shape[1])
        terms = _white(np.concatenate([places, places[:, first] * places[:, second]], axis=1), self.game.weights)
        fitted = mean + terms @ (terms.T @ away)
        spread, left = (float(weights @ ((joined - to) ** 2).sum(axis=1)) for to in (mean, fitted))
        self.explained = 1.0 - left / max(spread, 1e-30)
        return np.split(fitted, np.cumsum([curve.shape[1] for curve in curves])[:-1], axis=1)


def _features(game: SmallGame) -> Floats:
    """What `solver-fast` takes of each class's cards: float64 (classes, features)."""
    from ..agents import _kernels_solver_cards as kernels

    features = np.empty((game.num_classes, NUM_FEATURES))
    kernels.card_features(game.cards, np.full_like(game.cards, -1), features, 0, game.num_classes)
    return features


def _white(columns: Floats, hands: Ints) -> Floats:
    """Return columns that span the same, on average 0 over all hands and uncorrelated with spread 1: float64 (classes, k).

    Args:
        columns: by class, (classes, d).
        hands: in each class, (classes,).
    """
    weights = hands / hands.sum()
    away = columns - weights @ columns
    deviations = np.sqrt(weights @ away**2)
    away = away[:, deviations > _SAME] / deviations[deviations > _SAME]
    sizes, directions = np.linalg.eigh((away * weights[:, None]).T @ away)
    usable = sizes > _SAME * sizes.max()
    white: Floats = away @ (directions[:, usable] / np.sqrt(sizes[usable]))
    return white
