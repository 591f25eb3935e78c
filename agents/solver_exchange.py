"""Keep or exchange, by the chance to win the game: what `solver-fast` compares.

**Keeping** is worth the best arrangement of the hand, on average over what those may still do who are asked later: each
keeps as often as the policy itself does from the same scores with as many kept before it. **Exchanging** is worth the best
arrangement of a hand that is not known yet. At even scores the table says what that is on average, by the hand that one
gives up, which neither the new hand nor the others can hold; at other scores it is nearly a line in that, which a few sample
hands give, valued as arrangements are at both. The exchange is taken where it is worth more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..envs.crash.game import Phase
from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import CandidateBatch
from ..envs.crash.rules import CrashRules
from ..envs.crash.vector import CrashVectorEnv
from .percentile import crash_weight
from .percentile_table import arrangement_values, find_table
from .protocol import Choices
from .solver_contexts import Objective
from .solver_situations import clockwise, situations_of
from .solver_table import NUM_FEATURES, SolverTable, needs_states

__all__ = ["Exchanging", "ValuesAtPlaces", "best_of", "best_values", "placed", "sample_hands"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Values = Callable[[ViewBatch, CandidateBatch], Floats]


class ValuesAtPlaces(Protocol):
    """Values of arrangements, as `SolverFastPolicy.values`."""

    def __call__(self, views: ViewBatch, found: CandidateBatch, *, places: Floats | None = None) -> Floats:
        """Return them: float64 (options, m)."""
        ...


_DEALT, _SAMPLE = 6144, 192
_KEPT, _EXCHANGED, _UNKNOWN = 0, 1, -1


class Exchanging:
    """The decisions under some rules.

    Args:
        rules: the rules; they have an exchange.
        table: what is known of them.
        values: of arrangements.
        places: of known cards, as `SolverFastPolicy.places`.
        objective: what these values are.

    Raises:
        TableError: there is no percentile table for the rules.

    >>> from .solver_fast import SolverFastPolicy
    >>> from .solver_table import find_solver_table
    >>> rules = CrashRules.preset("bga")
    >>> table = find_solver_table(rules)
    >>> policy = SolverFastPolicy(rules, table)
    >>> exchanging = Exchanging(rules, table, policy.values, policy.places)
    >>> views = exchanging.samples.select(np.arange(3))
    >>> exchanging.exchanging(views).shape
    (3,)

    Attributes:
        samples: views of sample hands, at even scores.
        given_up: hands that might have been given up for them, int8 (n, cards).
    """

    def __init__(
        self,
        rules: CrashRules,
        table: SolverTable,
        values: ValuesAtPlaces,
        places: Callable[[ViewBatch], Floats],
        *,
        objective: Objective = "win",
    ) -> None:
        self.rules = rules
        self._values = values
        self._places_of = places
        self._keeps = table.keeps
        self._cap = table.cap
        self._weights = table.exchange_win if objective == "win" else table.exchange_points
        self._lines: dict[tuple[int, ...], tuple[float, float]] = {}
        self._at_even: dict[tuple[int, ...], Floats] = {}
        self._places: dict[tuple[int, ...], Floats] = {}
        counts, (views, given_up) = find_table(rules), sample_hands(rules, _DEALT)
        found = views.undominated()
        plain = arrangement_values(found, counts.win_chances(), rules=rules, weight=crash_weight(rules))
        best = np.maximum.reduceat(plain, found.offsets[:-1])
        # Evenly spaced by what they are worth to `percentile`: few stand for many.
        some = np.argsort(best, kind="stable")[_DEALT // _SAMPLE // 2 :: _DEALT // _SAMPLE]
        self.samples, self.given_up = views.select(some), given_up[some]
        self._found = self.samples.undominated()

    def choose(self, views: ViewBatch) -> Choices:
        """Return whether to exchange: bool (n,)."""
        better: Choices = self.exchanging(views) > self.keeping(views)
        return better

    def keeping(self, views: ViewBatch) -> Floats:
        """Return what keeping is worth: float64 (n,)."""
        views.undominated()  # once for all continuations
        total = np.zeros(len(views))
        for chance, exchanges in self._continuations(views, own=_KEPT):
            total += chance * best_values(replace(views, exchanges=exchanges), self._values)
        return total

    def exchanging(self, views: ViewBatch) -> Floats:
        """Return what exchanging is worth: float64 (n,)."""
        from . import _kernels_solver_cards as kernels

        rules, n, size = self.rules, self.rules.players, len(views)
        features = np.empty((size, NUM_FEATURES))
        kernels.card_features(views.cards, np.full_like(views.cards, _UNKNOWN), features, 0, size)
        turn = clockwise(views.seat, n)
        dealer = (views.dealer.astype(np.int64) - views.seat) % n
        scores = np.take_along_axis(views.scores, turn, axis=1)
        total = np.zeros(size)
        for chance, exchanges in self._continuations(views, own=_EXCHANGED):
            said = np.take_along_axis(exchanges, turn, axis=1)
            keys = np.column_stack([dealer, scores, said]).astype(np.int64)
            different, inverse = np.unique(keys, axis=0, return_inverse=True)
            lines = np.array([self._line(tuple(key)) for key in different.tolist()])[inverse.reshape(-1)]
            weights = self._weights[situations_of(rules, exchanges, views.dealer, views.seat)]
            at_even = weights[:, 0] + (features * weights[:, 1:]).sum(axis=1)
            total += chance * (lines[:, 0] + lines[:, 1] * at_even)
        return total

    def keep_chances(self, views: ViewBatch, seats: Ints, before: Ints) -> Floats:
        """Return how often others keep their hand, from the scores of views: float64 (n,).

        Args:
            views: any.
            seats: who is asked, (n,).
            before: how many will have kept theirs before, (n,).
        """
        n = self.rules.players
        turn = clockwise(seats, n)
        needs = np.minimum(self.rules.target - np.take_along_axis(views.scores, turn, axis=1), self._cap)
        keys = np.column_stack([needs[:, 0], np.sort(needs[:, 1:], axis=1)])
        different, inverse = np.unique(keys, axis=0, return_inverse=True)
        numbers = needs_states(self._cap, n)
        states = np.array([numbers[tuple(key)] for key in different.tolist()], np.int64)[inverse.reshape(-1)]
        chances: Floats = self._keeps[before, states]
        return chances

    def _continuations(self, views: ViewBatch, *, own: int) -> list[tuple[Floats, npt.NDArray[np.int8]]]:
        """What will have been said once all have spoken, with the chance of each: float64 (n,), int8 (n, players)."""
        n, rows = self.rules.players, np.arange(len(views))
        said = views.exchanges.copy()
        said[rows, views.seat] = own
        if n == 2:
            other = 1 - views.seat.astype(np.int64)
            keeps = self.keep_chances(views, other, np.zeros_like(other))
            choices = []
            for choice, chance in ((_KEPT, keeps), (_EXCHANGED, 1 - keeps)):
                both = said.copy()
                both[rows, other] = choice
                choices.append((chance, both))
            return choices
        if own == _EXCHANGED:
            return [(np.ones(len(views)), said)]  # nobody is asked after it
        # Three players: those after the seat in turn order are asked until one exchanges.
        place = (views.seat.astype(np.int64) - views.dealer - 1) % n
        found: list[tuple[Floats, npt.NDArray[np.int8]]] = []
        alive, so_far = np.ones(len(views)), said
        for later in range(1, n):
            asked = place + later < n
            seat = (views.dealer.astype(np.int64) + 1 + np.minimum(place + later, n - 1)) % n
            keeps = self.keep_chances(views, seat, np.minimum(place + later, n - 1))
            taken = so_far.copy()
            taken[rows[asked], seat[asked]] = _EXCHANGED
            found.append((np.where(asked, alive * (1 - keeps), 0.0), taken))
            alive = np.where(asked, alive * keeps, alive)
            so_far = so_far.copy()
            so_far[rows[asked], seat[asked]] = _KEPT
        return [*found, (alive, so_far)]

    def _line(self, key: tuple[int, ...]) -> tuple[float, float]:
        """What a hand after an exchange is worth, as a line in what it is worth at even scores: its place, and its slope.

        The key: dealer, scores and what was said, by seats relative to the one that exchanges.
        """
        known = self._lines.get(key)
        if known is None:
            n = self.rules.players
            dealer, scores, said = key[0], key[1 : 1 + n], key[1 + n :]
            usual = self._at_even.get((dealer, *said))
            if usual is None:
                usual = self._at_even[(dealer, *said)] = self._knowing(dealer, (0,) * n, said)
            if not any(scores):
                known = 0.0, 1.0
            else:
                here, away = self._knowing(dealer, scores, said), usual - usual.mean()
                slope = float((here * away).sum() / (away**2).sum())
                known = float(here.mean() - slope * usual.mean()), slope
            self._lines[key] = known
        return known

    def _knowing(self, dealer: int, scores: tuple[int, ...], said: tuple[int, ...]) -> Floats:
        """Value of each sample hand where another was given up for it: float64 (n,)."""
        views, found = replace(placed(self.samples, dealer, scores, said), given_up=self.given_up), self._found
        places = self._places.get((dealer, *said))
        if places is None:
            places = self._places[(dealer, *said)] = self._places_of(views)
        return best_of(found, self._values(views, found, places=places))


def best_values(views: ViewBatch, values: Values) -> Floats:
    """Return what the best arrangement of each view's cards is worth: float64 (n,).

    Args:
        views: any.
        values: of arrangements, (options, m), as `SolverFastPolicy.values`.
    """
    found = views.undominated()
    return best_of(found, values(views, found))


def best_of(found: CandidateBatch, values: Floats) -> Floats:
    """Return the highest value of each view's arrangements: float64 (n,).

    Args:
        found: the arrangements.
        values: of them, float64 (options, m).
    """
    best: Floats = np.maximum.reduceat(values.max(axis=0), found.offsets[:-1])
    return best


def placed(hands: ViewBatch, dealer: int, scores: tuple[int, ...], said: tuple[int, ...]) -> ViewBatch:
    """Return the same hands of seat 0 with this dealer, at these scores, after this was said."""
    size = len(hands)
    return replace(
        hands,
        dealer=np.full(size, dealer, np.int8),
        scores=np.tile(np.array(scores, np.int32), (size, 1)),
        exchanges=np.tile(np.array(said, np.int8), (size, 1)),
    )


def sample_hands(rules: CrashRules, count: int) -> tuple[ViewBatch, npt.NDArray[np.int8]]:
    """Return views of hands of seat 0, and hands given up for them: the first two of the first deals of tables 0, 1, ...

    >>> views, given_up = sample_hands(CrashRules.preset("bga"), 2)
    >>> len(views), given_up.shape
    (2, (2, 13))
    """
    dealt = CrashVectorEnv(count, rules, seed=0, episode="round", autoreset=False, threads=1).column("cards")
    cards, given_up = np.ascontiguousarray(dealt[:, 0]), np.ascontiguousarray(dealt[:, 1])
    nobody = np.full((count, rules.players), _UNKNOWN, np.int8)
    views = ViewBatch(
        rules=rules,
        seat=np.zeros(count, np.int8),
        phase=np.full(count, Phase.ARRANGE, np.int8),
        dealer=np.zeros(count, np.int8),
        to_act=np.ones(count, np.int8),
        rounds_played=np.zeros(count, np.int32),
        scores=np.zeros((count, rules.players), np.int32),
        cards=cards,
        given_up=np.full_like(cards, _UNKNOWN),
        exchanges=nobody,
        calls=nobody.copy(),
        laid=np.full(count, _UNKNOWN, np.int32),
    )
    return views, given_up
