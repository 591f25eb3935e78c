"""Courses of the exchange in a batch of self-play: how likely each is, and what keeping and exchanging came to."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import CandidateBatch
from .selfplay_deals import Deals

__all__ = ["Choosing", "reach_of", "said_before"]

Floats = npt.NDArray[np.float64]
_LEAST = 0.05  # what an own choice that is hardly made still counts, so that its consequences are learned


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Choosing:
    """The decisions of the exchange.

    Attributes:
        views: of each table's seats in turn order.
        kept: the same as if they had kept: where their best arrangement is looked for.
        found: arrangements of each.
    """

    views: ViewBatch
    kept: ViewBatch
    found: CandidateBatch

    @classmethod
    def of(cls, deals: Deals) -> Choosing:
        """Return the decisions of dealt tables; the rules have an exchange."""
        assert deals.choosers is not None
        assert deals.choosers_found is not None
        exchanges = deals.choosers.exchanges.copy()
        exchanges[np.arange(len(deals.choosers)), deals.choosers.seat] = 0
        kept = replace(deals.choosers, exchanges=exchanges)
        return cls(views=deals.choosers, kept=kept, found=deals.choosers_found)


def reach_of(deals: Deals, chance: Floats, got: Floats) -> tuple[Floats, Floats, Floats]:
    """Return how likely everything is, and what exchanging came to more than keeping.

    Args:
        deals: dealt tables.
        chance: of exchanging, by table and place in turn order, flat: (tables * players,).
        got: what each seat of each round got, (rounds * players,).

    Returns:
        Weight of each seat of each round: how likely the others' choices are, times the own choice, which counts at least a
        twentieth. Likewise of each decision of the exchange, and its gain, both as `chance`.

    >>> from ..envs.crash.rules import CrashRules
    >>> from .selfplay_deals import Dealer
    >>> rules = CrashRules.preset("bga", players=2)
    >>> dealer = Dealer(rules, seed=1, from_any_score=0.5, from_nil=0.5, objective="points")
    >>> deals = dealer.deal(batch=0, total=1, tables=range(1))
    >>> reach_of(deals, np.array([0.5, 0.5]), np.ones(8))[2].tolist()
    [0.0, 0.0]
    """
    n, courses = deals.rules.players, deals.courses
    tables = len(chance) // n
    exchange = chance.reshape(tables, 1, n)
    # Of each place's choice in each course: (tables, courses, players), in turn order.
    choice = np.where(courses == 1, exchange, np.where(courses == 0, 1 - exchange, 1.0))
    others = np.stack([np.prod(np.delete(choice, place, axis=2), axis=2) for place in range(n)], axis=2)
    by_turn = others * np.maximum(choice, _LEAST)
    seats = deals.turn[:, None, :]
    values = np.take_along_axis(got.reshape(tables, len(courses), n), seats, axis=2)
    asked, gain = np.empty((tables, n)), np.empty((tables, n))
    for place in range(n):
        took, kept = courses[:, place] == 1, courses[:, place] == 0
        reach = others[:, took, place].sum(axis=1)
        mean_took, mean_kept = (
            (others[:, rows, place] * values[:, rows, place]).sum(axis=1) / others[:, rows, place].sum(axis=1)
            for rows in (took, kept)
        )
        asked[:, place], gain[:, place] = reach, mean_took - mean_kept
    weights = np.empty_like(by_turn)
    np.put_along_axis(weights, np.broadcast_to(seats, by_turn.shape), by_turn, axis=2)
    return weights.reshape(-1), asked.reshape(-1), gain.reshape(-1)


def said_before(deals: Deals, calls: npt.NDArray[np.int8], rows: npt.NDArray[np.int64]) -> ViewBatch:
    """Return the views of some decisions, with the calls so far.

    Args:
        deals: dealt tables.
        calls: by round and seat, (rounds, players), -1 for not yet.
        rows: which views, (m,).
    """
    views = deals.views.select(rows)
    return replace(views, calls=calls[rows // deals.rules.players])
