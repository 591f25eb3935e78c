"""What keeping and exchanging are worth: the arrangements that follow valued by `solver-fast`, spare hands sampled.

After a choice the round goes on in one of a few ways: with three players those behind keep or exchange in turn until one has
exchanged, with two the other has kept or exchanged. How likely each is comes from what `percentile` would do with hands
sampled from the cards that are not one's own; a spare hand is sampled likewise.

Source: the rules of the exchange are RULES section 3.2; the estimate is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from ..agents.percentile import crash_weight
from ..agents.percentile_table import arrangement_values, find_table
from ..agents.solver_contexts import Objective
from ..agents.solver_fast import SolverFastPolicy
from ..envs.crash.game import Phase
from ..envs.crash.observation import PlayerView, ViewBatch
from ..envs.crash.partitions import CandidateBatch
from ..envs.crash.rules import CrashRules
from ..envs.crash.starts import turn_order

__all__ = ["Exchange", "Side", "exchange_of", "is_asked"]

Floats = npt.NDArray[np.float64]
_SAMPLES = 400  # spare hands; a win share is then known to about 0.7 percentage points
_SEED = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one choice is worth by one measure.

    Attributes:
        keep: keeping.
        exchange: exchanging.
        error: standard error of `exchange`, which is sampled.
    """

    keep: float
    exchange: float
    error: float

    @property
    def gain(self) -> float:
        """What exchanging has more."""
        return self.exchange - self.keep

    def lost(self, *, exchanged: bool) -> float:
        """Return what a choice gives up; 0 if the difference is within two standard errors.

        >>> Side(keep=0.3, exchange=0.35, error=0.01).lost(exchanged=False) > 0.04
        True
        """
        lost = -self.gain if exchanged else self.gain
        return lost if lost > 2 * self.error else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Whether to exchange.

    Attributes:
        worth: points that the hand can make at best against hands like any other, a crash included.
        threshold: below it `percentile` exchanges.
        win_share: of keeping and exchanging.
        points: likewise, the round's margin.
    """

    worth: float
    threshold: float
    win_share: Side
    points: Side

    @property
    def exchanges(self) -> bool:
        """Whether `percentile` exchanges."""
        return self.worth < self.threshold


def is_asked(view: PlayerView) -> bool:
    """Return whether a seat has an exchange to decide, by what it knows.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> game = Game(CrashRules.preset("bga"), seed=1)
    >>> is_asked(view_of(game, game.turn_order[0]))
    True
    """
    rules = view.rules
    if not rules.has_exchange or view.given_up or view.exchanges[view.seat] is not None:
        return False
    order = turn_order(view.dealer, rules.players)
    behind = order[order.index(view.seat) + 1 :]
    return True not in view.exchanges and all(view.exchanges[seat] is None for seat in behind)


def exchange_of(view: PlayerView, policies: dict[Objective, SolverFastPolicy]) -> Exchange:
    """Return whether to exchange.

    Args:
        view: of a seat that is asked.
        policies: of the solver, by what they play for.
    """
    rules = view.rules
    table = find_table(rules)
    kept = sum(choice is False for choice in view.exchanges)
    worth = float(_worth(rules, ViewBatch.of([view]).undominated())[0])
    unseen = np.array([card for card in rules.pack if card not in view.cards], np.int8)
    rng = np.random.default_rng(_SEED)
    hands = np.sort(rng.permuted(np.tile(unseen, (_SAMPLES, 1)), axis=1)[:, : rules.cards_dealt], axis=1)
    plain = replace(view, phase=Phase.ARRANGE)
    spares = [replace(plain, cards=tuple(hand), given_up=view.cards) for hand in hands.tolist()]
    batch = ViewBatch.of(spares)
    others = _worth(rules, batch.undominated())
    below = tuple(float((others < threshold).mean()) for threshold in table.exchange_below)
    return Exchange(
        worth=worth,
        threshold=table.exchange_below[min(kept, len(table.exchange_below) - 1)],
        win_share=_side(plain, spares, batch, below, policies["win"]),
        points=_side(plain, spares, batch, below, policies["points"]),
    )


def _worth(rules: CrashRules, found: CandidateBatch) -> Floats:
    """What hands can make at best against hands like any other, in points: float64 (deals,)."""
    values = arrangement_values(found, _chances(rules), rules=rules, weight=crash_weight(rules))
    best: Floats = np.maximum.reduceat(values, found.offsets[:-1])
    return best


@cache
def _chances(rules: CrashRules) -> Floats:
    return find_table(rules).win_chances()


def _side(
    view: PlayerView,
    spares: list[PlayerView],
    batch: ViewBatch,
    below: tuple[float, ...],
    policy: SolverFastPolicy,
) -> Side:
    keep = 0.0
    for chance, known in _courses(view, below, exchanged=False):
        keep += chance * float(_best(ViewBatch.of([replace(view, exchanges=known)]), policy)[0])
    drawn = np.zeros(len(spares))
    for chance, known in _courses(view, below, exchanged=True):
        exchanges = np.array([-1 if choice is None else int(choice) for choice in known], np.int8)
        drawn += chance * _best(replace(batch, exchanges=np.tile(exchanges, (len(spares), 1))), policy)
    return Side(keep=keep, exchange=float(drawn.mean()), error=float(drawn.std(ddof=1) / np.sqrt(len(drawn))))


def _best(views: ViewBatch, policy: SolverFastPolicy) -> Floats:
    """Value of the best arrangement of each view: float64 (n,)."""
    found = views.undominated()
    best: Floats = np.maximum.reduceat(policy.values(views, found).max(axis=0), found.offsets[:-1])
    return best


def _courses(
    view: PlayerView, below: tuple[float, ...], *, exchanged: bool
) -> Iterator[tuple[float, tuple[bool | None, ...]]]:
    """Yield how the exchange can go on after a seat's choice, with the chance of each.

    Args:
        view: of the seat.
        below: how likely another exchanges, by how many have kept.
        exchanged: the seat's choice.
    """
    n = view.rules.players
    known = [*view.exchanges]
    known[view.seat] = exchanged
    if n == 2:
        for other, chance in ((True, below[0]), (False, 1 - below[0])):
            both = [other, other]
            both[view.seat] = exchanged
            yield chance, tuple(both)
        return
    order = turn_order(view.dealer, n)
    behind = () if exchanged else order[order.index(view.seat) + 1 :]
    likely = 1.0
    for seat in behind:
        chance = below[min(sum(choice is False for choice in known), len(below) - 1)]
        yield likely * chance, tuple(True if other == seat else choice for other, choice in enumerate(known))
        likely *= 1 - chance
        known[seat] = False
    yield likely, tuple(known)
