"""Worlds that a seat has to reckon with: hidden cards drawn from the unseen ones, fitting what was said in public.

The unseen cards are dealt out in piles, as many as there are, and piles make worlds that share none: what chance gives to
one it takes from the next. (With two players and 13 cards each the 39 unseen cards make three worlds of one opponent. More
worlds from the same piles, in every rotation, were tried: with three players they vary together so much that three of them
are worth 1.7, which the time they take eats up.) Where somebody has spoken, a world fits if the agent, asked with the cards
that it has there, says the same (rejection); then each deal makes one world, so that those that fit are independent draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..envs.crash.actions import action_layout
from ..envs.crash.game import Phase
from ..envs.crash.observation import ViewBatch
from .world_tables import Asks, Ints, SetTables

__all__ = ["Worlds", "has_history", "sample_worlds", "worlds_a_deal"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Worlds:
    """Tables that look to a seat as its view does, where it is to decide.

    Attributes:
        tables: one world each (any, where none fits), in the phase of the views; only those before the seat have decided
            in it.
        rows: of the views, int64 (n,).
        deals: number of the deal of the piles among those of its view, int64 (n,).
        seats: whose decision, int64 (n,).
    """

    tables: SetTables
    rows: Ints
    deals: Ints
    seats: Ints


def has_history(views: ViewBatch) -> npt.NDArray[np.bool_]:
    """Return whether others have said something in public: bool (n,)."""
    said = np.maximum(views.exchanges, views.calls)
    said[np.arange(len(views)), views.seat] = -1
    return np.asarray(said.max(axis=1) >= 0, np.bool_)


def worlds_a_deal(views: ViewBatch) -> int:
    """Return how many worlds one deal of the unseen cards makes; of views that are alike (`sample_worlds`)."""
    if has_history(views).any():
        return 1
    rules, swapped = views.rules, int(views.given_up[0, 0] >= 0)
    unseen = len(rules.pack) - rules.cards_dealt * (1 + swapped)
    return unseen // rules.cards_dealt // (rules.players - 1 + rules.num_spares - swapped)


def sample_worlds(views: ViewBatch, deals: int, asks: Asks, rng: np.random.Generator) -> Worlds:
    """Return the worlds that fit, of so many deals of the unseen cards for each view.

    Args:
        views: alike: of one phase, all with something said by others or none, all with a hand given up or none.
        deals: of the unseen cards, for each view.
        asks: the agent of the others.
        rng: deals.

    >>> from .heuristics import Greedy
    >>> from ..envs.crash.vector import CrashVectorEnv
    >>> views = CrashVectorEnv(1, "online", seed=1).views_at(np.array([0]), np.array([2]))
    >>> asks = Asks(Greedy(), np.random.default_rng(1))
    >>> worlds = sample_worlds(views, 10, asks, np.random.default_rng(2))
    >>> len(worlds.rows), bool((worlds.tables.column("cards")[:, 2] == views.cards).all())
    (10, True)
    """
    rules, m, n = views.rules, len(views), views.rules.players
    each_deal, swapped = worlds_a_deal(views), bool(views.given_up[0, 0] >= 0)
    rows = np.repeat(np.arange(m), deals * each_deal)
    seats, dealer = views.seat[rows].astype(np.int64), views.dealer[rows].astype(np.int64)
    hidden = n - 1 + rules.num_spares - swapped
    piles = _piles(views, deals, rng)[:, : each_deal * hidden].reshape(len(rows), hidden, rules.cards_dealt)
    from_deal = np.arange(len(rows)) // each_deal
    hands = np.empty((len(rows), n, rules.cards_dealt), np.int8)
    spares = np.empty((len(rows), rules.num_spares, rules.cards_dealt), np.int8)
    each = np.arange(len(rows))
    hands[each, seats] = (views.given_up if swapped else views.cards)[rows]
    for other in range(n - 1):
        hands[each, (seats + 1 + other) % n] = piles[:, other]
    if swapped:
        own_spare = (seats - dealer - 1) % n if n == 2 else np.zeros(len(rows), np.int64)
        spares[each, own_spare] = views.cards[rows]
        for spare in range(1, rules.num_spares):
            spares[each, (own_spare + spare) % rules.num_spares] = piles[:, n - 2 + spare]
    else:
        spares[:] = piles[:, n - 1 :]
    tables = SetTables(
        rules,
        hands,
        spares,
        scores=views.scores[rows],
        dealer=dealer,
        rounds_played=views.rounds_played[rows],
    )
    fits = _replay(tables, views, rows, seats, asks)
    if not fits.all():
        kept = np.flatnonzero(fits)
        rows, seats, from_deal = rows[kept], seats[kept], from_deal[kept]
        tables = tables.some(kept) if len(kept) else tables
    return Worlds(tables=tables, rows=rows, deals=from_deal % deals, seats=seats)


def _piles(views: ViewBatch, deals: int, rng: np.random.Generator) -> npt.NDArray[np.int8]:
    """Return the unseen cards in piles: int8 (views * deals, piles, cards), each ascending."""
    rules, m = views.rules, len(views)
    hidden = np.zeros((m, 52), np.bool_)
    hidden[:, list(rules.pack)] = True
    hidden[np.arange(m)[:, None], views.cards] = False
    if views.given_up[0, 0] >= 0:
        hidden[np.arange(m)[:, None], views.given_up] = False
    count = int(hidden[0].sum())
    unseen = np.nonzero(hidden)[1].reshape(m, count).astype(np.int8)
    shuffled = rng.permuted(np.repeat(unseen, deals, axis=0), axis=1)
    size = rules.cards_dealt
    return np.sort(shuffled[:, : count // size * size].reshape(m * deals, -1, size), axis=2)


def _replay(tables: SetTables, views: ViewBatch, rows: Ints, seats: Ints, asks: Asks) -> npt.NDArray[np.bool_]:
    """Play to where the views stand; return which worlds fit what was said: bool (n,)."""
    n, phase, layout = views.rules.players, int(views.phase[0]), action_layout(views.rules)
    own = np.zeros((len(rows), n), np.bool_)
    own[np.arange(len(rows)), seats] = True
    exchanged, called = views.exchanges[rows].astype(np.int32), views.calls[rows].astype(np.int32)
    fits = np.ones(len(rows), np.bool_)
    while True:
        pending, phases = tables.pending, tables.phase
        waiting = fits & ~((phases == phase) & (pending & own).any(axis=1))
        if not waiting.any():
            return fits
        forced = np.full((len(rows), n), -1, np.int32)
        for number, known in (
            (Phase.EXCHANGE, layout.keep + exchanged),
            (Phase.ARRANGE, np.repeat(views.laid[rows][:, None], n, axis=1)),
        ):
            now = pending & own & (waiting & (phases == number))[:, None]
            forced[now] = known[now]
        taken = tables.act(asks, pending & ~own & waiting[:, None], forced)
        for number, first, said in ((Phase.EXCHANGE, layout.keep, exchanged), (Phase.CALL, layout.pass_, called)):
            spoke = (taken >= 0) & ~own & (phases == number)[:, None]
            fits &= ~(spoke & (taken - first != said)).any(axis=1)
