"""What a batch of self-play is made of: rounds dealt afresh, and every decision that can come up in them.

With an exchange, a deal is followed into every course that the exchange can take (`courses_of`): since the spare hands are
known once the deal is, what keeping and exchanging lead to is known as well. Each course of each deal is a *round* here, and
each seat of a round a *decision*: which arrangement to lay.

Everything is a function of (seed, batch, number of the table), so that processes that share a batch deal the same as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.equity_table import EquityTable
from ..agents.percentile import Percentile
from ..agents.solver_table import SolverTableError, find_solver_table
from ..envs.crash.game import Phase
from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import CandidateBatch, undominated_many
from ..envs.crash.rules import CrashRules
from ..envs.crash.tables import rules_numbers
from ..envs.crash.vector import CrashVectorEnv
from ..envs.threads import split_rows

__all__ = ["Dealer", "Deals", "courses_of", "draw_rows"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_NOBODY = -1
_SEEN_GAMES = 600
_SHIFTS = (48, 36, 24, 12)


def courses_of(rules: CrashRules) -> npt.NDArray[np.int8]:
    """Return every course of the exchange: int8 (courses, players), in turn order; 1 exchanged, 0 kept, -1 not asked.

    >>> courses_of(CrashRules.preset("bga")).tolist()
    [[1, -1, -1], [0, 1, -1], [0, 0, 1], [0, 0, 0]]
    """
    if not rules.has_exchange:
        return np.full((1, rules.players), _NOBODY, np.int8)
    if rules.players == 2:
        return np.array([[1, 1], [1, 0], [0, 1], [0, 0]], np.int8)
    first = [[0] * place + [1] + [-1] * (rules.players - place - 1) for place in range(rules.players)]
    return np.array([*first, [0] * rules.players], np.int8)


@dataclass(frozen=True, eq=False, kw_only=True)
class Deals:
    """Dealt tables, and the rounds that they can lead to.

    Attributes:
        rules: the rules.
        courses: as `courses_of` gives them.
        views: of every seat of every round, ordered by table, course, seat: before arranging.
        found: arrangements of each view.
        choosers: views of the exchange, ordered by table, then place in turn order; None without one.
        choosers_found: arrangements of each of them.
    """

    rules: CrashRules
    courses: npt.NDArray[np.int8]
    views: ViewBatch
    found: CandidateBatch
    choosers: ViewBatch | None
    choosers_found: CandidateBatch | None

    @property
    def rounds(self) -> int:
        """How many rounds: tables times courses."""
        return len(self.views) // self.rules.players

    @cached_property
    def packed(self) -> npt.NDArray[np.uint64]:
        """The arrangements as the engine packs them: uint64 (m,)."""
        words = self.found.quads.astype(np.uint64)
        for hand, shift in enumerate(_SHIFTS):
            words |= self.found.strengths[:, hand].astype(np.uint64) << np.uint64(shift)
        return words

    @cached_property
    def turn(self) -> Ints:
        """Seats of each table in turn order: int64 (tables, players)."""
        n = self.rules.players
        dealer = self.views.dealer[:: n * len(self.courses)].astype(np.int64)
        return (dealer[:, None] + 1 + np.arange(n)) % n


class Dealer:
    """Deals batches under some rules.

    Args:
        rules: the rules.
        seed: of everything.
        from_any_score, from_nil: shares of the rounds that start at scores drawn from all, and at nil all.
        objective: `win` or `points`: what arrangements are worth.
        base: rules whose scores in play, and winning chances, stand in for those of the rules; the rules if None.
        threads: of the engine.

    Raises:
        SolverTableError: `win`, and no table of winning chances fits.

    >>> dealer = Dealer(CrashRules.preset("online"), seed=1, from_any_score=0.5, from_nil=0.5, objective="points")
    >>> deals = dealer.deal(batch=0, total=4, tables=range(2))
    >>> deals.rounds, len(deals.views)
    (2, 6)
    """

    def __init__(
        self,
        rules: CrashRules,
        *,
        seed: int,
        from_any_score: float,
        from_nil: float,
        objective: str,
        base: CrashRules | None = None,
        threads: int = 1,
    ) -> None:
        self.rules = rules
        self._seed = seed
        self._any, self._nil = from_any_score, from_nil
        self._threads = threads
        self._courses = courses_of(rules)
        self._numbers = rules_numbers(rules, one_round=True, autoreset=False)
        like = rules if base is None else base
        self.equity: EquityTable | None = find_solver_table(like).equity if objective == "win" else None
        if self.equity is not None and self.equity.target != rules.target:
            raise SolverTableError(
                f"target={rules.target}: winning chances are known to {self.equity.target} points; leave the target as is "
                "(needs above it count as the largest), or learn for points (objective: points)"
            )
        self._seen = _scores_in_play(like)

    @property
    def decisions_a_table(self) -> int:
        """How many arrangements are laid at a table, over all courses of the exchange."""
        return len(self._courses) * self.rules.players

    def deal(self, *, batch: int, total: int, tables: range) -> Deals:
        """Return some tables of a batch.

        Args:
            batch: its number.
            total: tables of the whole batch.
            tables: which of them are dealt here.
        """
        rules, n = self.rules, self.rules.players
        rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(n, batch)))
        scores = self._scores(rng, total)[tables.start : tables.stop]
        dealer = rng.integers(n, size=total)[tables.start : tables.stop]
        env = CrashVectorEnv(
            len(tables),
            rules,
            seed=int(rng.integers(1 << 62)),
            tables=np.arange(tables.start, tables.stop),
            episode="round",
            scores=scores,
            dealer=dealer,
            autoreset=False,
            threads=self._threads,
        )
        cards, spares = env.column("cards"), env.column("spares")
        hands = np.concatenate([cards, spares], axis=1)
        searched = undominated_many(hands.reshape(-1, rules.cards_dealt), rules, threads=self._threads)
        courses, places = len(self._courses), (np.arange(n) - dealer[:, None] - 1) % n
        exchanges = np.moveaxis(self._courses[:, places], 0, 1)  # (tables, courses, seats)
        number = np.arange(hands.shape[1]) + np.zeros((len(tables), 1), np.int64)
        held = np.broadcast_to(number[:, None, :n], exchanges.shape).copy()
        gave = exchanges == 1
        spare = n + (places if n == 2 else np.zeros_like(places))
        held[gave] = np.broadcast_to(spare[:, None, :], held.shape)[gave]
        rows = np.repeat(np.arange(len(tables)), courses * n)
        held_flat = held.reshape(-1)
        given_up = np.full((len(rows), rules.cards_dealt), _NOBODY, np.int8)
        flat, seat = gave.reshape(-1), np.tile(np.arange(n), len(tables) * courses)
        given_up[flat] = cards[rows[flat], seat[flat]]
        views = _views(
            rules,
            phase=Phase.ARRANGE,
            seat=seat,
            dealer=dealer[rows],
            scores=scores[rows],
            cards=hands[rows, held_flat],
            given_up=given_up,
            exchanges=np.repeat(exchanges.reshape(-1, n), n, axis=0),
        )
        plain = courses == 1
        found = searched if plain else searched.select(rows * hands.shape[1] + held_flat)
        choosers, choosers_found = None, None
        if rules.has_exchange:
            choosers = self._choosers(cards, scores, dealer)
            asked = np.repeat(np.arange(len(tables)), n) * hands.shape[1] + choosers.seat
            choosers_found = searched.select(asked)
        return Deals(
            rules=rules,
            courses=self._courses,
            views=views,
            found=found,
            choosers=choosers,
            choosers_found=choosers_found,
        )

    def worth(
        self, deals: Deals, drawn: Ints, calls: npt.NDArray[np.int8] | None = None, *, own_call: int = -1
    ) -> Floats:
        """Return what every arrangement is worth to its seat, given what the others drew: float64 (m,), in points.

        Win shares count tenfold, which makes them about as large.

        Args:
            deals: as `deal` returned them.
            drawn: row of the arrangement that each decision drew, (decisions,).
            calls: what each seat says of a crash, (rounds, players); nobody calls if None.
            own_call: what the seat itself says instead; -1 for the same.
        """
        from . import _kernels_selfplay as kernels

        n = self.rules.players
        worth = np.empty(len(deals.packed))
        dense = np.zeros(0) if self.equity is None else self.equity.dense().reshape(-1)
        said = np.zeros((deals.rounds, n), np.int8) if calls is None else calls
        arguments = (
            self._numbers,
            np.ascontiguousarray(deals.views.scores[::n]),
            np.ascontiguousarray(deals.views.dealer[::n]),
            said,
            own_call,
            deals.found.offsets,
            deals.packed,
            drawn,
            dense,
            self.equity is not None and self.equity.ordered,
            worth,
        )
        split_rows(kernels.value_candidates, deals.rounds, self._threads, *arguments)
        return worth if self.equity is None else worth * 10.0

    def _scores(self, rng: np.random.Generator, total: int) -> Ints:
        n = self.rules.players
        kind = rng.random(total)
        seen = self._seen[rng.integers(len(self._seen), size=total)]
        drawn = rng.integers(self.rules.target, size=(total, n))
        scores = np.where((kind < self._any)[:, None], drawn, seen)
        scores[kind >= 1 - self._nil] = 0
        return scores

    def _choosers(self, cards: npt.NDArray[np.int8], scores: Ints, dealer: Ints) -> ViewBatch:
        """Views of every seat when it is asked, all before it having kept."""
        n = self.rules.players
        rows = np.repeat(np.arange(len(cards)), n)
        turn = (dealer[:, None] + 1 + np.arange(n)) % n
        exchanges = np.full((len(cards), n, n), _NOBODY, np.int8)
        if n > 2:
            for place in range(n):
                for before in range(place):
                    exchanges[np.arange(len(cards)), place, turn[:, before]] = 0
        held = cards[rows, turn.reshape(-1)]
        return _views(
            self.rules,
            phase=Phase.EXCHANGE,
            seat=turn.reshape(-1),
            dealer=dealer[rows],
            scores=scores[rows],
            cards=held,
            given_up=np.full_like(held, _NOBODY),
            exchanges=exchanges.reshape(-1, n),
        )


def _views(
    rules: CrashRules,
    *,
    phase: Phase,
    seat: Ints,
    dealer: Ints,
    scores: Ints,
    cards: npt.NDArray[np.int8],
    given_up: npt.NDArray[np.int8],
    exchanges: npt.NDArray[np.int8],
) -> ViewBatch:
    rows = len(seat)
    return ViewBatch(
        rules=rules,
        seat=seat.astype(np.int8),
        phase=np.full(rows, phase, np.int8),
        dealer=dealer.astype(np.int8),
        to_act=np.ones(rows, np.int8),
        rounds_played=np.zeros(rows, np.int32),
        scores=scores.astype(np.int32),
        cards=np.ascontiguousarray(cards),
        given_up=given_up,
        exchanges=exchanges,
        calls=np.full((rows, rules.players), _NOBODY, np.int8),
        laid=np.full(rows, _NOBODY, np.int32),
    )


@cache
def _scores_in_play(rules: CrashRules) -> Ints:
    """Scores at which rounds start when `percentile` plays whole games, by seat: (m, players)."""
    env = CrashVectorEnv(_SEEN_GAMES, rules, seed=0, autoreset=False, threads=1)
    rng, agent = np.random.default_rng(0), Percentile()
    seen: list[npt.NDArray[Any]] = [env.scores]
    while env.pending.any():
        on = env.act_many(agent, rng)
        seen.append(on.scores[on.round_ended & ~on.game_ended])
    return np.concatenate(seen).astype(np.int64)


def draw_rows(logits: Floats, offsets: Ints, uniform: Floats) -> tuple[Ints, Floats]:
    """Return a draw from the softmax of each decision's logits, as a row of all, and all probabilities.

    Args:
        logits: of all arrangements, (m,).
        offsets: where each decision's begin, then the end of the last, (n + 1,).
        uniform: one number from 0 to 1 a decision, (n,).

    >>> draw_rows(np.array([0.0, 50.0, 0.0]), np.array([0, 2, 3]), np.array([0.5, 0.9]))[0]
    array([1, 2])
    """
    counts = np.diff(offsets)
    starts = offsets[:-1]
    raised = np.exp(logits - np.repeat(np.maximum.reduceat(logits, starts), counts))
    chances = raised / np.repeat(np.add.reduceat(raised, starts), counts)
    ends = np.cumsum(chances)
    before = np.concatenate([[0.0], ends])[starts]
    rows = np.searchsorted(ends, before + uniform * (ends[offsets[1:] - 1] - before), side="right")
    return np.clip(rows, starts, offsets[1:] - 1), chances
