"""Choosing by sampled worlds: which option is worth most, in worlds that fit what a seat knows.

All options of a decision are compared in the same worlds (common random numbers), against the first one, which is what is
done without looking. Worlds go to decisions that are in doubt: twice as many in all each time, options that fall behind are
dropped, and a decision is settled when one is left. The first option is left only where another is better by a number of
standard errors: otherwise one would pick by luck among options that are nearly equal, and lose by it.

What is known of the options without looking may be given (`Options.known`). It counts as so many worlds that have been seen
already: the fewer worlds are looked at, the more it weighs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..envs.crash.actions import action_layout
from ..envs.crash.game import Phase
from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import CandidateBatch, laid_many
from .world_tables import Asks, Floats, Ints, SetTables, Worth
from .worlds import Worlds, has_history, sample_worlds, worlds_a_deal

__all__ = ["FEW_DEALS", "Chooser", "Options", "Seen", "Sums", "alike", "options_of", "pairs_of"]

FEW_DEALS = 12
"""Deals of the unseen cards, below which nothing is chosen."""

_FIRST = 48  # worlds in the first look
_BEHIND, _AHEAD = 2.5, 3.5  # standard errors by which an option is dropped, and by which the only other one is taken
_AT_ONCE = 24_000  # tables


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Options:
    """What may be decided in some views: ragged, what is done without looking first in each row.

    Attributes:
        offsets: where each row begins, then the end of the last: int64 (n + 1,).
        actions: int32 (m,).
        values: arrangements as packed values too, uint64 (m,); 0 for other decisions.
        known: by how much each is thought to be worth more than the first, float64 (m,); 0 where nothing is known.
        known_worlds: how many worlds that is as good as.
    """

    offsets: Ints
    actions: npt.NDArray[np.int32]
    values: npt.NDArray[np.uint64]
    known: Floats
    known_worlds: float = 0.0

    @property
    def counts(self) -> Ints:
        """How many options each row has: int64 (n,)."""
        counts: Ints = np.diff(self.offsets)
        return counts

    @property
    def owners(self) -> Ints:
        """The row of each option: int64 (m,)."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.counts)

    def some(self, keep: npt.NDArray[np.bool_], rows: Ints) -> tuple[Options, Ints]:
        """Return those of some rows that are kept, and where they lie among all of these."""
        owner = self.owners
        place = np.full(len(self.offsets) - 1, -1)
        place[rows] = np.arange(len(rows))
        where = np.flatnonzero(keep & (place[owner] >= 0))
        where = where[np.argsort(place[owner[where]], kind="stable")]
        counts = np.bincount(place[owner[where]], minlength=len(rows))
        part = Options(
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            actions=self.actions[where],
            values=self.values[where],
            known=self.known[where],
            known_worlds=self.known_worlds,
        )
        return part, where


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Seen:
    """What options were worth in some worlds.

    Attributes:
        rows: which rows were looked at, int64 (r,).
        options: of these rows.
        places: where these lie among all options.
        worlds: of these rows, numbered anew from 0.
        starts: where each world's figures begin, then their number.
        figures: what each option is worth in each world, the options of a row together, float64.
    """

    rows: Ints
    options: Options
    places: Ints
    worlds: Worlds
    starts: Ints
    figures: Floats

    def by_deal(self) -> tuple[Floats, Floats, Ints]:
        """Return the differences to the first option summed over the worlds of each deal.

        Returns:
            The sums, the options of a deal together; the worlds of each deal; and its row.
        """
        counts = np.diff(self.starts)
        world = np.repeat(np.arange(len(counts)), counts)
        option = np.arange(len(self.figures)) - self.starts[world]
        differences = self.figures - self.figures[self.starts[:-1]][world]
        rows, deals = self.worlds.rows, self.worlds.deals
        deal, group = np.unique(rows * (int(deals.max()) + 1) + deals, return_inverse=True)
        row_of = np.zeros(len(deal), np.int64)
        row_of[group] = rows
        begin = np.concatenate([[0], np.cumsum(self.options.counts[row_of])])
        sums: Floats = np.bincount(begin[group[world]] + option, differences, begin[-1]).astype(np.float64)
        worlds: Floats = np.bincount(group, minlength=len(deal)).astype(np.float64)
        return sums, worlds, row_of


@dataclass(slots=True)
class Sums:
    """Sums over deals of the unseen cards, of the differences to the first option: ratio estimates of their means."""

    size: int
    rows: int
    differences: Floats = field(init=False)
    squares: Floats = field(init=False)
    products: Floats = field(init=False)
    worlds: Floats = field(init=False)
    worlds_squared: Floats = field(init=False)
    deals: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.differences, self.squares, self.products = (np.zeros(self.size) for _ in range(3))
        self.worlds, self.worlds_squared, self.deals = (np.zeros(self.rows) for _ in range(3))

    def means(self, owner: Ints) -> tuple[Floats, Floats]:
        """Return the mean difference of each option, and its standard error (infinite where too few deals fit)."""
        worlds, deals = np.maximum(self.worlds, 1)[owner], self.deals[owner]
        mean = self.differences / worlds
        squares = self.squares - 2 * mean * self.products + mean**2 * self.worlds_squared[owner]
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.sqrt(np.maximum(squares, 0) * deals / (deals - 1)) / worlds
        return mean, np.where(deals >= FEW_DEALS, error, np.inf)

    def believed(self, options: Options) -> tuple[Floats, Floats]:
        """Return what `means` does, with what was known before counted in."""
        owner = options.owners
        mean, error = self.means(owner)
        if not options.known_worlds:
            return mean, error
        seen = self.worlds[owner]
        share = seen / (seen + options.known_worlds)
        enough = np.isfinite(error)
        error[enough] *= np.sqrt(share[enough])
        return share * mean + (1 - share) * options.known, error

    def see(self, seen: Seen) -> None:
        """Add what was seen."""
        by_deal, worlds_of, row_of = seen.by_deal()
        sizes = seen.options.counts[row_of]
        begin = np.cumsum(sizes) - sizes
        owner = np.repeat(np.arange(len(row_of)), sizes)
        to = seen.places[seen.options.offsets[row_of[owner]] + np.arange(len(by_deal)) - begin[owner]]
        self.differences += np.bincount(to, by_deal, self.size)
        self.squares += np.bincount(to, by_deal**2, self.size)
        self.products += np.bincount(to, by_deal * worlds_of[owner], self.size)
        self.worlds += np.bincount(seen.rows[row_of], worlds_of, self.rows)
        self.worlds_squared += np.bincount(seen.rows[row_of], worlds_of**2, self.rows)
        self.deals += np.bincount(seen.rows[row_of], minlength=self.rows)

    def add(self, other: Sums, options: Ints, rows: Ints) -> None:
        """Add sums of some of the options and rows."""
        for name in ("differences", "squares", "products"):
            getattr(self, name)[options] += getattr(other, name)
        for name in ("worlds", "worlds_squared", "deals"):
            getattr(self, name)[rows] += getattr(other, name)


class Chooser:
    """Chooses for a seat among others who all follow an agent, as the seat itself does afterwards.

    Args:
        asks: the agent.
        worth: what counts.
        rng: deals the unseen cards.
        worlds: looked at before a decision, at most.
        resolve: by how many standard errors an option must be better than the first before it is chosen.
        apart: by how many it must be worse, or the only other one better, to end the looking; a careful choice if None.

    >>> from .heuristics import RandomLegal
    >>> from ..envs.crash.vector import CrashVectorEnv
    >>> views = CrashVectorEnv(20, "online", seed=1).views_at(np.arange(20), np.arange(20) % 3)
    >>> asks = Asks(RandomLegal(), np.random.default_rng(1))
    >>> chooser = Chooser(asks, Worth(), np.random.default_rng(2), worlds=48, resolve=1.0)
    >>> chosen, worlds = chooser.choose(views, options_of(views, asks(views)))
    >>> bool((chosen > 0).mean() > 0.5), int(worlds.max())
    (True, 48)
    """

    def __init__(
        self,
        asks: Asks,
        worth: Worth,
        rng: np.random.Generator,
        *,
        worlds: int,
        resolve: float,
        apart: float | None = None,
    ) -> None:
        self.asks, self.worth, self.rng = asks, worth, rng
        self.worlds, self.resolve = worlds, resolve
        self._behind, self._ahead = (_BEHIND, _AHEAD) if apart is None else (apart, apart)

    def choose(self, views: ViewBatch, options: Options) -> tuple[Ints, Ints]:
        """Return the number of the option chosen in each row, and how many worlds were dealt for it: int64 (n,) both.

        Args:
            views: `alike`.
            options: of each view.
        """
        owner, first = options.owners, options.offsets[:-1]
        chosen, looked = np.zeros(len(views), np.int64), np.zeros(len(views), np.int64)
        keep = np.ones(len(owner), np.bool_)
        sums = Sums(size=len(owner), rows=len(views))
        open_rows = np.flatnonzero(options.counts > 1)
        total, step = 0, _FIRST
        while len(open_rows) and total < self.worlds:
            step = min(step, self.worlds - total)
            some, part = views.select(open_rows), options.some(keep, open_rows)
            found = Sums(size=len(part[1]), rows=len(open_rows))
            deals = -(-step // worlds_a_deal(some))
            for seen in self.look(some, part[0], deals):
                found.see(seen)
            sums.add(found, part[1], open_rows)
            looked[open_rows] += deals * worlds_a_deal(some)
            total += step
            step = total  # twice as many in all each time
            mean, error = sums.believed(options)
            best = np.full(len(views), -np.inf)
            np.maximum.at(best, owner[keep], np.where(np.isfinite(error), mean - 2 * error, -np.inf)[keep])
            dropped = (mean + self._behind * error < 0) | (mean + 2 * error < best[owner])
            dropped[first] = False
            keep &= ~dropped
            left = np.bincount(owner[keep], minlength=len(views))
            clear = np.zeros(len(views), np.bool_)
            np.logical_or.at(clear, owner[keep], (mean - self._ahead * error > 0)[keep])
            open_rows = open_rows[(left[open_rows] > 1) & ~((left == 2) & clear)[open_rows]]
        mean, error = sums.believed(options)
        enough = np.isfinite(error)
        good = keep & enough & (mean > self.resolve * np.where(enough, error, 0))
        good[first] = False
        for row in np.unique(owner[good]):
            numbers = np.flatnonzero(good & (owner == row))
            chosen[row] = numbers[mean[numbers].argmax()] - first[row]
        return chosen, looked

    def look(self, views: ViewBatch, options: Options, deals: int) -> Iterator[Seen]:
        """Value options in so many new deals of each view, as many rows and deals at a time as memory allows."""
        tables = worlds_a_deal(views) * (1 if _is_plain(views) else int(options.counts.max()))
        at_once = max(1, _AT_ONCE // tables)
        rows_at_once = max(1, at_once // deals)
        for start in range(0, len(views), rows_at_once):
            rows = np.arange(start, min(start + rows_at_once, len(views)))
            part, places = options.some(np.ones(len(options.actions), np.bool_), rows)
            some = views.select(rows)
            for done in range(0, deals, at_once):
                worlds = sample_worlds(some, min(at_once, deals - done), self.asks, self.rng)
                if len(worlds.rows):
                    starts, figures = self.worth_of(some, part, worlds)
                    yield Seen(rows=rows, options=part, places=places, worlds=worlds, starts=starts, figures=figures)

    def worth_of(self, views: ViewBatch, options: Options, worlds: Worlds) -> tuple[Ints, Floats]:
        """Return what every option is worth in every world: where each world's figures begin, and the figures."""
        tables, rows, seats = worlds.tables, worlds.rows, worlds.seats
        own = np.zeros(tables.pending.shape, np.bool_)
        own[np.arange(len(rows)), seats] = True
        nothing = np.full(own.shape, -1, np.int32)
        if int(views.phase[0]) == Phase.ARRANGE:
            tables.act(self.asks, ~own, nothing)
            if _is_plain(views):
                return tables.arrangements_worth(seats, rows, options.offsets, options.values, self.worth)
        counts = options.counts[rows]
        starts = np.concatenate([[0], np.cumsum(counts)])
        which = np.repeat(np.arange(len(rows)), counts)
        number = np.arange(starts[-1]) - starts[which]
        every, its_seat = tables.some(which), seats[which]
        forced = np.full((len(which), views.rules.players), -1, np.int32)
        forced[np.arange(len(which)), its_seat] = options.actions[options.offsets[rows[which]] + number]
        return starts, _forced_worth(every, forced, its_seat, self.asks, self.worth)


def alike(views: ViewBatch) -> list[Ints]:
    """Return the rows of views that are of one kind, as `sample_worlds` wants them, kind by kind."""
    kinds = np.stack([views.phase, has_history(views), views.given_up[:, 0] >= 0], axis=1)
    return [np.flatnonzero((kinds == kind).all(axis=1)) for kind in np.unique(kinds, axis=0)]


def _forced_worth(tables: SetTables, forced: npt.NDArray[np.int32], seats: Ints, asks: Asks, worth: Worth) -> Floats:
    """Return what is worth where some decide as they are told, and the agent decides all the rest."""
    dealers = tables.column("dealer").astype(np.int64)
    outcome = tables.step(forced)
    return tables.ended(outcome, seats, dealers, worth) + tables.play_on(asks, seats, worth)


def _is_plain(views: ViewBatch) -> bool:
    """Whether the round is over once the hands that are asked for are laid."""
    return int(views.phase[0]) == Phase.ARRANGE and not views.rules.has_calls


def options_of(
    views: ViewBatch, own: npt.NDArray[np.int32], *, known: Floats | None = None, known_worlds: float = 0.0
) -> Options:
    """Return what may be decided in views of one phase.

    Args:
        views: of one phase.
        own: what is done without looking: first in each row.
        known: by how much the others are thought to be worth more: of the rows of ``views.undominated()``, or of the other
            choice in each view, float64.
        known_worlds: how many worlds that is as good as.
    """
    phase, layout, n = int(views.phase[0]), action_layout(views.rules), len(views)
    if phase != Phase.ARRANGE:
        first = layout.keep if phase == Phase.EXCHANGE else layout.pass_
        both = np.stack([own, 2 * first + 1 - own], axis=1).astype(np.int32)
        other = np.zeros(n) if known is None else known
        return Options(
            offsets=2 * np.arange(n + 1),
            actions=both.reshape(-1),
            values=np.zeros(2 * n, np.uint64),
            known=np.stack([np.zeros(n), other], axis=1).reshape(-1),
            known_worlds=known_worlds,
        )
    found, mine = views.undominated(), laid_many(own, views.cards, views.rules)
    owner = np.repeat(np.arange(n), found.counts)
    mine_packed, packed = _packed(mine), _packed(found)
    others = packed != mine_packed[owner]
    order = np.argsort(np.concatenate([np.arange(n), owner[others]]), kind="stable")
    counts = 1 + np.bincount(owner[others], minlength=n)
    theirs = np.zeros(len(packed)) if known is None else known
    return Options(
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        actions=np.concatenate([own, found.partitions[others]])[order],
        values=np.concatenate([mine_packed, packed[others]])[order],
        known=np.concatenate([np.zeros(n), theirs[others]])[order],
        known_worlds=known_worlds,
    )


def pairs_of(views: ViewBatch, own: npt.NDArray[np.int32], other: npt.NDArray[np.int32]) -> Options:
    """Return two actions for each view of one phase as its options.

    Args:
        views: of one phase.
        own: what is done without looking.
        other: instead.
    """
    n = len(views)
    values = np.zeros((n, 2), np.uint64)
    if int(views.phase[0]) == Phase.ARRANGE:
        for column, laid in enumerate((own, other)):
            values[:, column] = _packed(laid_many(laid, views.cards, views.rules))
    return Options(
        offsets=2 * np.arange(n + 1),
        actions=np.stack([own, other], axis=1).astype(np.int32).reshape(-1),
        values=values.reshape(-1),
        known=np.zeros(2 * n),
    )


def _packed(found: CandidateBatch) -> npt.NDArray[np.uint64]:
    """Return arrangements as values: 12 bits each for Hand 1 to 4 and quads, from the top."""
    values = found.quads.astype(np.uint64)
    for hand in range(4):
        values |= found.strengths[:, hand].astype(np.uint64) << np.uint64(48 - 12 * hand)
    return values
