"""`CrashVectorEnv`: many tables of Crash at once, the same game as `Game`, compiled and spread over the cores.

Tables are independent games; each has its own stream of deals, ``(seed, table, number of the deal)``, so a table plays the
same whatever the other tables, their number and the number of threads. Finished games start anew in place.

Three ways to act:

- **Whole decisions**, `step`: actions of `action_layout`, for the seat to act of each table, or for all seats that must act.
  `views` gives what those seats know as the `ViewBatch` that agents take; `act_many` asks agents and steps.
- **Candidates**, `offers`: the undominated arrangements of each seat to act, ragged (offsets and one flat array), padded on
  request; `sample` draws one for each.
- **Hand by hand**, `pick_masks`, `sample_picks` and `pick`: one three-card hand at a time, as `HandByHand` has it.

What is handed out is the caller's: no array changes after it was returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, get_args

import numpy as np
import numpy.typing as npt

from ..deals import fresh_seed, stream_key
from ..threads import usable_threads
from ..whole_arrays import random_words, whole_array
from ..whole_numbers import whole_number
from .actions import ActionLayout, action_layout
from .game import Episode, Game, IllegalActionError, Phase
from .observation import ViewBatch, observation_size, observation_starts
from .partitions import undominated_many
from .rules import CrashRules
from .starts import check_seed
from .table import Mask, check_choice, read_rules
from .tables import (
    Offers,
    StepOutcome,
    game_of,
    handed_out,
    new_outcome,
    set_starts,
    table_numbers,
    views_of,
)
from .vector_base import VectorBase

__all__ = ["CrashVectorEnv", "Offers", "StepOutcome"]

Ints = npt.NDArray[np.integer]
_WORDS_AT_ONCE = 1 << 20


class Decides(Protocol):
    """What `CrashVectorEnv.act_many` asks; `prial.agents.protocol.Agent` is one."""

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> npt.NDArray[np.int32]:
        """Return one action a view: int32 (n,)."""


class CrashVectorEnv(VectorBase):
    """Many tables of Crash.

    Args:
        num_envs: how many tables.
        rules: name of a rule set, path of a YAML file, or `CrashRules`.
        seed: of the deals; a fresh one if None.
        tables: number of each table in the stream of deals, so that ``Game(rules, seed=seed, table=tables[i])`` plays the
            same deals; 0, 1, ... if None. Numbers may repeat.
        episode: `game`, or `round` to end after one round.
        mask: for picks hand by hand: `legal`, everything that may be laid, or `undominated`.
        scores: where games start, (players,) or (num_envs, players); zeros if None.
        dealer: first dealer of games, one seat or one a table; drawn if None.
        rounds_played: rounds already played when games start, one number or one a table.
        autoreset: start the next game in place; otherwise a table whose game is over stays so.
        threads: how many at most; one a core if None. It changes no result.
        overrides: options of `CrashRules` to set otherwise.

    Raises:
        ValueError: an option that is unknown or out of range.

    >>> env = CrashVectorEnv(4, "online", seed=7)
    >>> outcome = env.step(env.sample(np.random.default_rng(0)))
    >>> outcome.round_ended.any(), env.acting.shape
    (np.False_, (4,))
    """

    def __init__(
        self,
        num_envs: int,
        rules: str | Path | CrashRules = "online",
        *,
        seed: int | None = None,
        tables: npt.ArrayLike | None = None,
        episode: Episode = "game",
        mask: Mask = "legal",
        scores: npt.ArrayLike | None = None,
        dealer: npt.ArrayLike | None = None,
        rounds_played: npt.ArrayLike = 0,
        autoreset: bool = True,
        threads: int | None = None,
        **overrides: Any,
    ) -> None:
        count = whole_number(num_envs)
        if count is None or count < 1:
            raise ValueError(f"num_envs={num_envs!r}: expected a whole number from 1")
        check_choice("episode", episode, get_args(Episode))
        check_choice("mask", mask, get_args(Mask))
        super().__init__(
            table_numbers(tables, count),
            read_rules(rules, overrides),
            one_round=episode == "round",
            autoreset=bool(autoreset),
            threads=usable_threads(threads),
        )
        self.episode: Episode = episode
        self.mask: Mask = mask
        self.autoreset = bool(autoreset)
        set_starts(self._state, self.rules, scores=scores, dealer=dealer, rounds_played=rounds_played)
        self.reset(seed=seed)

    def reset(self, *, seed: int | None = None, which: npt.ArrayLike | None = None) -> None:
        """Start a new game at every table, or at some; a game that is under way there is given up.

        Args:
            seed: starts the streams of deals anew, from deal 0; None goes on with them (the first time, with a fresh seed).
            which: bool (num_envs,), where; everywhere if None. A seed is for all tables.

        Raises:
            ValueError: a seed that is no whole number from 0; another shape or dtype of `which`, or both.
        """
        chosen = np.ones(self.num_envs, np.bool_) if which is None else np.array(which)
        if chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_ or (which is not None and seed is not None):
            wrong = f"{chosen.dtype} {chosen.shape}" + ("" if seed is None else " and a seed, which is for all tables")
            raise ValueError(f"which: expected bool ({self.num_envs},), got {wrong}")
        anew = None if seed is None and hasattr(self, "seed") else fresh_seed() if seed is None else check_seed(seed)
        with self._changes():
            if anew is not None:
                self.seed = anew
                self._key = stream_key(anew)
                self._state.deal_number[:] = 0
            self._run(self._rounds.start_tables, self._state, self._numbers, self._key, self._pack, chosen)

    # ---- what there is to see -------------------------------------------------------------------------------------

    @property
    def layout(self) -> ActionLayout:
        """The numbering of decisions."""
        return action_layout(self.rules)

    @property
    def num_triples(self) -> int:
        """How many triples of slots there are: picks below it are hands, then done, keep, exchange, pass, call."""
        return self.rules.cards_dealt * (self.rules.cards_dealt - 1) * (self.rules.cards_dealt - 2) // 6

    @property
    def acting(self) -> npt.NDArray[np.int8]:
        """First seat in turn order that must act, -1 where the game is over: int8 (num_envs,)."""
        return self._acting.copy()

    @property
    def pending(self) -> npt.NDArray[np.bool_]:
        """Who must act, several where the phase is simultaneous: bool (num_envs, players)."""
        return self._pending.copy()

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a copy of a column of the state, by its name in `tables.py`, such as `scores` or `cards`.

        Raises:
            ValueError: no such column.
        """
        if name not in self._state._fields:
            raise ValueError(f"no column {name!r}; expected one of {', '.join(self._state._fields)}")
        values: npt.NDArray[Any] = getattr(self._state, name).copy()
        return values

    @property
    def scores(self) -> npt.NDArray[np.int32]:
        """Points of each seat before this round: int32 (num_envs, players)."""
        return self.column("scores")

    @property
    def phase(self) -> npt.NDArray[np.int8]:
        """Where each round stands, as numbered by `Phase`: int8 (num_envs,)."""
        return self.column("phase")

    def views(
        self, who: npt.NDArray[np.bool_] | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], ViewBatch]:
        """Return what seats know: the tables, the seats, and one view a row, ordered by table, then seat.

        Args:
            who: bool (num_envs, players); those that must act if None.

        Raises:
            ValueError: another shape or dtype.
        """
        wanted = self._pending if who is None else np.asarray(who)
        if wanted.shape != self._pending.shape or wanted.dtype != np.bool_:
            raise ValueError(f"who: expected bool {self._pending.shape}, got {wanted.dtype} {wanted.shape}")
        tables, seats = np.nonzero(wanted)
        return tables, seats, views_of(self._state, self.rules, self._pending, tables, seats)

    def views_at(self, tables: npt.ArrayLike, seats: npt.ArrayLike) -> ViewBatch:
        """Return what seats know, one view a row, in the order given.

        Args:
            tables: row of each in the batch, (n,).
            seats: at them, (n,).

        Raises:
            ValueError: no whole numbers, not as many of one as of the other, or such a table or seat is not there.
        """
        rows = whole_array(tables, (np.size(tables),), name="tables")
        places = whole_array(seats, rows.shape, name="seats")
        for name, given, stop in (("tables", rows, self.num_envs), ("seats", places, self.rules.players)):
            if given.min(initial=0) < 0 or given.max(initial=0) >= stop:
                raise ValueError(f"{name}: expected numbers from 0 to {stop - 1}, got {given.min()} to {given.max()}")
        return views_of(self._state, self.rules, self._pending, rows, places)

    def observations(self, seats: npt.ArrayLike | None = None) -> npt.NDArray[np.float32]:
        """Return observations laid out as `observation_layout` says: float32 (num_envs, size).

        Args:
            seats: whose, one a table, (num_envs,); the seats to act if None. A row of zeros where it is below 0.

        Raises:
            ValueError: no such seats, or not one a table.
        """
        given = self._acting if seats is None else whole_array(seats, (self.num_envs,), name="seats")
        if given.max() >= self.rules.players:
            raise ValueError(f"seats: expected seats below {self.rules.players}, got {given.max()}")
        whose = np.maximum(given.astype(np.int64), -1).astype(np.int8)
        out = np.zeros((self.num_envs, observation_size(self.rules)), np.float32)
        rows = np.arange(self.num_envs)
        starts = np.array(observation_starts(self.rules))
        arguments = (self._state, self._numbers, self._strength, self._triples, starts, rows, whose, out)
        self._run(self._acts.encode_seats, *arguments)
        return out

    def game(self, table: int) -> Game:
        """Return a `Game` that stands where a table stands and goes on with the same deals.

        Picks hand by hand that are not laid yet are not in it.

        Raises:
            IndexError: no such table.
            RuntimeError: its game is over.
        """
        try:
            row = range(self.num_envs)[table]
        except IndexError:
            raise IndexError(f"table {table}: there are {self.num_envs}, from 0 on") from None
        if self._state.phase[row] == Phase.OVER:
            raise RuntimeError(f"the game at table {row} is over")
        return game_of(self._state, row, self.rules, seed=self.seed, episode=self.episode)

    # ---- whole decisions ------------------------------------------------------------------------------------------

    def step(self, actions: npt.ArrayLike) -> StepOutcome:
        """Take decisions; tables whose round ends go on to the next round, or the next game.

        Args:
            actions: ints of `layout`: (num_envs,), for the seat to act of each table, or (num_envs, players), for all that
                must act. -1 decides nothing yet.

        A seat that has picked some hands may lay any arrangement: its picks are dropped.

        Raises:
            IllegalActionError: names table, player, action and phase; nothing has changed at any table.
            ValueError: another shape or dtype.
            RuntimeError: the tables are being changed already, by another thread or around an agent that `act_many` asks.
        """
        with self._changes():
            given = whole_array(actions, self._acting.shape, self._pending.shape, name="actions")
            return self._decide(given)

    def act_many(
        self,
        agents: Decides | Sequence[Decides],
        rngs: np.random.Generator | Sequence[np.random.Generator],
        *,
        seating: npt.ArrayLike | None = None,
    ) -> StepOutcome:
        """Let agents decide everything that waits, each in one call of its `act_many`, and step.

        Args:
            agents: one, or several by number.
            rngs: the chance of each.
            seating: number of the agent on each seat, (players,) or (num_envs, players); all 0 if None.

        Raises:
            ValueError: numbers that do not fit, or an agent's answer that is not one whole number a view.
            IllegalActionError, RuntimeError: as for `step`.
        """
        team = [agents] if not isinstance(agents, Sequence) else list(agents)
        chance = [rngs] if isinstance(rngs, np.random.Generator) else list(rngs)
        shape = (self.num_envs, self.rules.players)
        given = np.zeros(shape[1:], np.int64) if seating is None else seating
        seats = np.broadcast_to(whole_array(given, shape[1:], shape, name="seating"), shape)
        if len(chance) != len(team) or seats.min() < 0 or seats.max() >= len(team):
            raise ValueError(f"{len(team)} agents with {len(chance)} generators, seated by numbers {np.unique(seats)}")
        with self._changes():
            decisions = np.full(shape, -1, np.int64)
            for number, (agent, rng) in enumerate(zip(team, chance, strict=True)):
                tables, places, views = self.views(self._pending & (seats == number))
                if len(tables):
                    answer = agent.act_many(views, rng)
                    name = f"act_many of agent {number}"
                    decisions[tables, places] = whole_array(answer, tables.shape, name=name)
            # In `step` -1 decides nothing; from an agent it is a wrong answer.
            return self._decide(decisions, needed=self._pending)

    # ---- candidates -----------------------------------------------------------------------------------------------

    def offers(self) -> Offers:
        """Return what each seat to act may do, undominated arrangements only."""
        state, layout = self._state, self.layout
        arranging = np.flatnonzero(self._state.phase == Phase.ARRANGE)
        choosing = np.flatnonzero((state.phase == Phase.EXCHANGE) | (state.phase == Phase.CALL))
        found = undominated_many(state.cards[arranging, self._acting[arranging]], self.rules, threads=self.threads)
        counts = np.zeros(self.num_envs, np.int64)
        counts[arranging], counts[choosing] = found.counts, 2
        offsets = np.concatenate(([0], np.cumsum(counts)))
        total = int(offsets[-1])
        actions, quads = np.empty(total, np.int32), np.zeros(total, np.int8)
        strengths = np.zeros((total, found.strengths.shape[1]), np.int16)
        arranged = np.repeat(state.phase == Phase.ARRANGE, counts)
        actions[arranged], strengths[arranged], quads[arranged] = found.partitions, found.strengths, found.quads
        first = np.where(state.phase[choosing] == Phase.EXCHANGE, layout.keep, layout.pass_)
        actions[~arranged] = (first[:, None] + np.arange(2)).ravel()
        return Offers(offsets=offsets, actions=actions, strengths=strengths, quads=quads)

    def sample(self, rng: np.random.Generator) -> npt.NDArray[np.int32]:
        """Return an even draw from the `offers` of each table, -1 where nobody is to act: int32 (num_envs,).

        Draws one 64-bit word a table, `w`, and takes entry ``floor(w * count / 2**64)``.
        """
        actions = np.empty(self.num_envs, np.int32)
        words = random_words(rng, self.num_envs)
        self._run(self._acts.sample_candidates, self._state, self._numbers, self._strength, words, actions)
        return actions

    # ---- hand by hand ---------------------------------------------------------------------------------------------

    def pick_masks(self) -> npt.NDArray[np.int8]:
        """Return what each seat to act may pick: int8 (num_envs, num_triples + 5), numbered as `HandByHand` has it."""
        masks = np.zeros((self.num_envs, self.num_triples + 5), np.int8)
        self._run(self._acts.pick_masks, self._state, self._numbers, self._strength, self.mask == "legal", masks)
        return masks

    def sample_picks(self, rng: np.random.Generator) -> npt.NDArray[np.int32]:
        """Return an even draw from each row of `pick_masks`, -1 where nobody is to act: int32 (num_envs,).

        Draws one 64-bit word a table, `w`, and takes the entry ``floor(w * count / 2**64)`` of those allowed.
        """
        picks = np.empty(self.num_envs, np.int32)
        legal, words = self.mask == "legal", random_words(rng, self.num_envs)
        head = (self._state, self._numbers, self._strength, legal, self.num_triples)
        self._run(self._acts.sample_picks, *head, words, picks)
        return picks

    def play_random(self, decisions: int, rng: np.random.Generator) -> tuple[int, int]:
        """Make even draws hand by hand, so many at every table, and return how many rounds and games ended.

        The same as ``pick(sample_picks(rng))`` so many times, without handing out what happens in between.

        Args:
            decisions: at every table.
            rng: draws one 64-bit word a decision, those of all tables before the next decision's.

        Raises:
            ValueError: `decisions` is no whole number from 0, or the mask is not `legal`.
        """
        count = whole_number(decisions)
        if count is None or count < 0:
            raise ValueError(f"decisions={decisions!r}: expected a whole number from 0")
        if self.mask != "legal":
            raise ValueError(f"mask={self.mask!r}: random play draws from all that may be laid (mask='legal')")
        from ._kernels_play import play_picks

        rounds, games = np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs, np.int64)
        out = new_outcome(self.num_envs, self.rules.players)
        head = (self._state, self._numbers, self._key, self._pack, self._strength, self._triples)
        at_once = max(1, _WORDS_AT_ONCE // self.num_envs)
        with self._changes():
            while count > 0:
                part = min(count, at_once)
                self._run(play_picks, *head, random_words(rng, part, self.num_envs), out, rounds, games)
                count -= part
        return int(rounds.sum()), int(games.sum())

    def pick(self, picks: npt.ArrayLike) -> StepOutcome:
        """Make the pick of the seat to act at each table; a seat keeps on picking until what it picked is laid.

        Args:
            picks: (num_envs,), numbered as in `pick_masks`; -1 picks nothing yet.

        Raises:
            IllegalActionError: names table, player and pick; nothing has changed at any table.
            ValueError: another shape or dtype.
        """
        with self._changes():
            told = whole_array(picks, self._acting.shape, name="picks")
            given, legal, done = _as_int32(told), self.mask == "legal", self.num_triples
            arguments = (self._state, self._numbers, self._strength, legal, done, given)
            bad = [found for found in self._run(self._acts.check_picks, *arguments) if found >= 0]
            if bad:
                t = int(bad[0])
                self._refuse_over(t)
                who = f"player_{int(self._acting[t])} ({Phase(int(self._state.phase[t])).label} phase)"
                raise IllegalActionError(f"table {t}, {who}: pick {told[t]} is not among those that pick_masks allows")
            out = new_outcome(self.num_envs, self.rules.players)
            head = (self._state, self._numbers, self._key, self._pack, self._strength, self._triples, legal, done)
            self._run(self._acts.take_picks, *head, given, out)
            return handed_out(out)

    # ---- inside ---------------------------------------------------------------------------------------------------

    def _decide(self, told: Ints, *, needed: npt.NDArray[np.bool_] | None = None) -> StepOutcome:
        """Take decisions, (num_envs,) or (num_envs, players); -1 decides nothing but where one is needed."""
        given = _as_int32(told)
        if told.ndim == 1:
            given = np.full(self._pending.shape, -1, np.int32)
            given[np.arange(self.num_envs), self._acting] = _as_int32(told)
        if needed is not None:
            given = np.where(needed & (given < 0), np.int32(-2), given)
        arguments = (self._state, self._numbers, self._strength, self._triples, given)
        bad = [found for found in self._run(self._rounds.check_decisions, *arguments) if found >= 0]
        if bad:
            table, seat = divmod(int(bad[0]), self.rules.players)
            self._refuse(table, seat, int(told[table] if told.ndim == 1 else told[table, seat]))
        out = new_outcome(self.num_envs, self.rules.players)
        head = (self._state, self._numbers, self._key, self._pack, self._strength, self._triples)
        self._run(self._rounds.take_decisions, *head, given, out)
        return handed_out(out)

    def _refuse(self, table: int, seat: int, action: int) -> None:
        self._refuse_over(table)
        try:
            self.game(table).check(action, seat)
        except IllegalActionError as error:
            raise IllegalActionError(f"table {table}, {error}") from None
        raise AssertionError(f"table {table}: action {action} of seat {seat} was refused without reason")

    def _refuse_over(self, table: int) -> None:
        if self._state.phase[table] == Phase.OVER:
            raise IllegalActionError(f"table {table}: its game is over; nobody is to act")


def _as_int32(values: Ints) -> npt.NDArray[np.int32]:
    """The values as int32, in an array that kernels are compiled for; what does not fit becomes what no rule allows."""
    clipped = np.clip(values, -2, np.iinfo(np.int32).max) if values.dtype != np.int32 else values
    return np.array(clipped, np.int32, order="C")
