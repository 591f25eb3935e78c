"""Keep or exchange, by the chance to win the game: what `solver-fast` compares.

**Keeping** is worth the best arrangement of the hand, on average over what those may still do who are asked later: each
keeps as often as the policy itself does with as many kept before it. **Exchanging** is worth the best arrangement of a
hand that is not known yet: the mean over sample hands at these scores and with this history, moved by the ranks that one
gives up, which neither the new hand nor the others can hold (two linear fits over the sample). Both are valued as
arrangements are; the exchange is taken where it is worth more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..envs.crash.game import Phase
from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import CandidateBatch
from ..envs.crash.rules import CrashRules
from ..envs.deals import DealStream
from .percentile import crash_weight
from .percentile_table import arrangement_values, find_table
from .protocol import Choices

__all__ = ["Exchanging"]

Floats = npt.NDArray[np.float64]
Values = Callable[[ViewBatch, CandidateBatch], Floats]
_DEALT, _SAMPLE = 6144, 192
_KEPT, _EXCHANGED, _UNKNOWN = 0, 1, -1
_NUM_RANKS = 13


class Exchanging:
    """The decisions under some rules.

    Args:
        rules: the rules; they have an exchange.
        keeps: float64 (players,), how often a hand is kept, by how many others have kept theirs before.
        values: of arrangements, (options, m), as `SolverFastPolicy.values`.

    Raises:
        TableError: there is no percentile table for the rules.

    >>> from .solver_fast import SolverFastPolicy
    >>> from .solver_table import find_solver_table
    >>> rules = CrashRules.preset("bga")
    >>> table = find_solver_table(rules)
    >>> exchanging = Exchanging(rules, table.keeps, SolverFastPolicy(rules, table).values)
    >>> [0.2 < share < 0.6 for share in exchanging.keeps]
    [True, True, True]
    """

    def __init__(self, rules: CrashRules, keeps: Floats, values: Values) -> None:
        self.rules = rules
        self._values = values
        self._worth: dict[tuple[int, ...], tuple[float, Floats]] = {}
        self._at_even: dict[tuple[int, ...], tuple[Floats, float, Floats]] = {}
        table, (views, given_up) = find_table(rules), _sample_hands(rules)
        found = views.undominated()
        plain = arrangement_values(found, table.win_chances(), rules=rules, weight=crash_weight(rules))
        best = np.maximum.reduceat(plain, found.offsets[:-1])
        # Evenly spaced by what they are worth to `percentile`: few stand for many.
        self._some = np.argsort(best, kind="stable")[_DEALT // _SAMPLE // 2 :: _DEALT // _SAMPLE]
        self._hands, self._given_up = views, given_up
        self._few = views.select(self._some)
        self.keeps: tuple[float, ...] = tuple(keeps.tolist())

    def choose(self, views: ViewBatch) -> Choices:
        """Return whether to exchange: bool (n,)."""
        better: Choices = self.exchanging(views) > self.keeping(views)
        return better

    def keeping(self, views: ViewBatch) -> Floats:
        """Return what keeping is worth: float64 (n,)."""
        views.undominated()  # once for all continuations
        total = np.zeros(len(views))
        for chance, exchanges in self._continuations(views, own=_KEPT):
            total += chance * self._best(replace(views, exchanges=exchanges))
        return total

    def exchanging(self, views: ViewBatch) -> Floats:
        """Return what exchanging is worth: float64 (n,)."""
        ranks = np.zeros((len(views), _NUM_RANKS))
        np.add.at(ranks, (np.arange(len(views))[:, None], views.cards // 4), 1.0)
        total = np.zeros(len(views))
        n = self.rules.players
        turn = (views.seat[:, None].astype(np.int64) + np.arange(n)) % n  # own seat first, then clockwise
        dealer = (views.dealer.astype(np.int64) - views.seat) % n
        scores = np.take_along_axis(views.scores, turn, axis=1)
        for chance, exchanges in self._continuations(views, own=_EXCHANGED):
            said = np.take_along_axis(exchanges, turn, axis=1)
            keys = np.column_stack([dealer, scores, said]).astype(np.int64)
            different, inverse = np.unique(keys, axis=0, return_inverse=True)
            known = [self._worth_of(tuple(key)) for key in different.tolist()]
            means = np.array([mean for mean, _ in known])[inverse.reshape(-1)]
            slopes = np.array([slope for _, slope in known])[inverse.reshape(-1)]
            total += chance * (means + (ranks * slopes).sum(axis=1))
        return total

    def _continuations(self, views: ViewBatch, *, own: int) -> list[tuple[Floats, npt.NDArray[np.int8]]]:
        """What will have been said once all have spoken, with the chance of each: float64 (n,), int8 (n, players)."""
        n, rows = self.rules.players, np.arange(len(views))
        said = views.exchanges.copy()
        said[rows, views.seat] = own
        if n == 2:
            other, keeps = 1 - views.seat.astype(np.int64), self.keeps[0]
            choices = []
            for choice, chance in ((_KEPT, keeps), (_EXCHANGED, 1 - keeps)):
                both = said.copy()
                both[rows, other] = choice
                choices.append((np.full(len(views), chance), both))
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
            keeps = np.array(self.keeps)[np.minimum(place + later, n - 1)]
            taken = so_far.copy()
            taken[rows[asked], seat[asked]] = _EXCHANGED
            found.append((np.where(asked, alive * (1 - keeps), 0.0), taken))
            alive = np.where(asked, alive * keeps, alive)
            so_far = so_far.copy()
            so_far[rows[asked], seat[asked]] = _KEPT
        return [*found, (alive, so_far)]

    def _worth_of(self, key: tuple[int, ...]) -> tuple[float, Floats]:
        """Mean value of a hand after an exchange, and how it moves with each card given up, by rank (0 on average).

        The key: dealer, scores and what was said, by seats relative to the one that exchanges. At even scores all sample
        hands are valued; elsewhere few, whose values are nearly a line in those at even scores, and the rest follows it.
        """
        known = self._worth.get(key)
        if known is None:
            n = self.rules.players
            dealer, scores, said = key[0], key[1 : 1 + n], key[1 + n :]
            usual, mean, slopes = self._worth_at_even(dealer, said)
            few = self._knowing(self._few, self._given_up[self._some], dealer, scores, said)
            away = usual[self._some] - usual[self._some].mean()
            line = float((few * away).sum() / (away**2).sum())
            known = float(few.mean() + line * (mean - usual[self._some].mean())), line * slopes
            self._worth[key] = known
        return known

    def _worth_at_even(self, dealer: int, said: tuple[int, ...]) -> tuple[Floats, float, Floats]:
        """Values of all sample hands at even scores, their mean, and how it moves with each card given up."""
        known = self._at_even.get((dealer, *said))
        if known is None:
            rules, scores = self.rules, (0,) * self.rules.players
            knowing = self._knowing(self._hands, self._given_up, dealer, scores, said)
            best = self._best(_placed(self._hands, dealer, scores, said))
            # A card that is not given up is in the new hand with this chance; one that is, is not.
            chance_held = rules.cards_dealt / (len(rules.pack) - rules.cards_dealt)
            slopes = self._slopes(self._given_up, knowing - best) - chance_held * self._slopes(self._hands.cards, best)
            known = self._at_even[(dealer, *said)] = (knowing, float(knowing.mean()), slopes)
        return known

    def _knowing(
        self,
        hands: ViewBatch,
        given_up: npt.NDArray[np.int8],
        dealer: int,
        scores: tuple[int, ...],
        said: tuple[int, ...],
    ) -> Floats:
        """Value of each hand where another was given up for it: float64 (n,)."""
        return self._best(replace(_placed(hands, dealer, scores, said), given_up=given_up))

    def _best(self, views: ViewBatch) -> Floats:
        found = views.undominated()
        best: Floats = np.maximum.reduceat(self._values(views, found).max(axis=0), found.offsets[:-1])
        return best

    def _slopes(self, cards: npt.NDArray[np.int8], values: Floats) -> Floats:
        """Least squares of values on how many cards of each rank there are, 0 on average over the pack."""
        held = np.zeros((len(cards), _NUM_RANKS))
        np.add.at(held, (np.arange(len(cards))[:, None], cards // 4), 1.0)
        slopes = np.linalg.lstsq(held - held.mean(axis=0), values - values.mean(), rcond=None)[0]
        in_pack = np.isin(np.arange(_NUM_RANKS), np.array(self.rules.pack) // 4)
        centred: Floats = np.where(in_pack, slopes - slopes[in_pack].mean(), 0.0)
        return centred


def _placed(hands: ViewBatch, dealer: int, scores: tuple[int, ...], said: tuple[int, ...]) -> ViewBatch:
    """The same hands with this dealer, at these scores, after this was said."""
    size = len(hands)
    return replace(
        hands,
        dealer=np.full(size, dealer, np.int8),
        scores=np.tile(np.array(scores, np.int32), (size, 1)),
        exchanges=np.tile(np.array(said, np.int8), (size, 1)),
    )


def _sample_hands(rules: CrashRules) -> tuple[ViewBatch, npt.NDArray[np.int8]]:
    """Views of hands, and hands given up for them: the first two of deals 0, 1, ... of seed 0."""
    stream = DealStream(0)
    size = rules.cards_dealt
    dealt = [stream.shuffle(rules.pack, deal=deal, count=2 * size) for deal in range(_DEALT)]
    cards, given_up = np.sort(np.array(dealt, np.int8).reshape(_DEALT, 2, size), axis=2).transpose(1, 0, 2)
    cards = np.ascontiguousarray(cards)
    nobody = np.full((_DEALT, rules.players), _UNKNOWN, np.int8)
    views = ViewBatch(
        rules=rules,
        seat=np.zeros(_DEALT, np.int8),
        phase=np.full(_DEALT, Phase.ARRANGE, np.int8),
        dealer=np.zeros(_DEALT, np.int8),
        to_act=np.ones(_DEALT, np.int8),
        rounds_played=np.zeros(_DEALT, np.int32),
        scores=np.zeros((_DEALT, rules.players), np.int32),
        cards=cards,
        given_up=np.full_like(cards, _UNKNOWN),
        exchanges=nobody,
        calls=nobody.copy(),
        laid=np.full(_DEALT, _UNKNOWN, np.int32),
    )
    return views, np.ascontiguousarray(given_up)
