"""`SingleSeatVector`: one seat at each of many tables, as a Gymnasium vector environment on the batched engine.

The batched sibling of `SingleSeat`: the same spaces, observations, masks, rewards and games, the others played by agents
that are asked in batches. ``gymnasium.make_vec("prial/Crash-v0", num_envs=8)`` makes one.

- **Autoreset** is `AutoresetMode.SAME_STEP` (``metadata["autoreset_mode"]``): when a game ends the next one starts in the
  same step. The observation returned is the new game's; that of the end is in ``info["final_obs"]`` (an object array, None
  where no game ended, as `SyncVectorEnv` has it) and what was to say about it in ``info["final_info"]``, each with a mask
  (``info["_final_obs"]``). No step is lost, and nothing has to be ignored.
- **Randomness.** ``reset(seed=s)`` fixes everything. Table `i` plays what ``SingleSeat(..., table=i)`` plays after
  ``reset(seed=s)``, seats included, however many tables there are; what agents draw comes from one generator for all tables.
  ``reset()`` gives up the games under way and goes on with the stream of deals.
- **Masks**: in the observation as `action_mask`, and `action_masks()` gives them as bool (num_envs, actions).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from ..envs.crash.coders_many import CandidateCoders, Coders, HandCoders
from ..envs.crash.game import Episode, IllegalActionError, Phase
from ..envs.crash.rules import CrashRules
from ..envs.crash.starts import check_seed
from ..envs.crash.vector import CrashVectorEnv
from ..envs.deals import fresh_seed, learner_seats
from ..envs.whole_numbers import whole_number
from .answers import AnswerError, ask
from .protocol import Agent
from .seat_options import Actions, Illegal, Opponents, Reward, check_options, rules_of, seated_opponents
from .seat_tally import SeatTally

__all__ = ["SingleSeatVector"]

Observations: TypeAlias = dict[str, npt.NDArray[Any]]
Step: TypeAlias = tuple[
    Observations, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]
]

_log = logging.getLogger(__name__)


class SingleSeatVector(gymnasium.vector.VectorEnv[Observations, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """One seat at each of many tables; the others are played by agents.

    Args:
        num_envs: how many tables.
        rules: a rule set's name, the path of a YAML file, or rules.
        opponents: of every table, as for `SingleSeat`; `set_opponents` gives tables others.
        seat: which seat; drawn anew for each game if None.
        actions: `candidates` to choose an arrangement, `hands` to pick one hand after the other.
        k: how many candidates are offered at most.
        reward: `win` or `points`.
        episode: `game`, or `round` to stop after one round (paid in points).
        illegal: what an illegal action does: `lose` (the game ends, the reward is -1, a warning is logged) or `raise`.
        tables: number of each table in the stream of deals; 0, 1, ... if None.
        threads: how many at most; one a core if None. It changes no result.
        render_mode: None; there is nothing to see of many tables (``env.engine.game(i)`` is a game to draw).
        overrides: options of the rules.

    Raises:
        ValueError: an option out of range, unknown agents or rules.

    >>> env = SingleSeatVector(8, opponents="greedy", target=10)
    >>> observations, info = env.reset(seed=1)
    >>> observations["candidates"].shape, env.action_masks().shape
    ((8, 128, 34), (8, 132))
    >>> observations, rewards, terminated, truncated, info = env.step(env.action_masks().argmax(axis=1))
    >>> rewards.shape, info["seat"].shape
    ((8,), (8,))
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as in Gymnasium)
        "render_modes": [],
        "name": "crash_v0",
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        rules: str | Path | CrashRules = "online",
        *,
        opponents: Opponents = ("greedy",),
        seat: int | None = None,
        actions: Actions = "candidates",
        k: int = 128,
        reward: Reward = "win",
        episode: Episode = "game",
        illegal: Illegal = "lose",
        tables: npt.ArrayLike | None = None,
        threads: int | None = None,
        render_mode: None = None,
        **overrides: Any,
    ) -> None:
        self.rules = rules_of(rules, overrides)
        check_options(self.rules, seat=seat, actions=actions, reward=reward, episode=episode, illegal=illegal)
        if render_mode is not None:
            raise ValueError(f"render_mode={render_mode!r}: many tables are not drawn; `SingleSeat` is")
        # Games that are over are looked at once more, so they are started anew here and not by the engine.
        self._engine = CrashVectorEnv(
            num_envs, self.rules, seed=0, tables=tables, episode=episode, autoreset=False, threads=threads
        )
        self.num_envs = self._engine.num_envs
        self._tables = self._engine.column("table")
        self._coders: Coders
        if actions == "candidates":
            self._coders = CandidateCoders(self._engine, k=k)
        else:
            self._coders = HandCoders(self._engine)
        self.single_action_space = self._coders.action_space
        self.single_observation_space = self._coders.observation_space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._reward: Reward = reward
        self._illegal: Illegal = illegal
        self._fixed_seat = seat
        self._seed: int | None = None
        self._stands = False  # not before `reset`, nor when something broke off between two decisions of the learner's
        self._rows = np.arange(self.num_envs)
        self._opponents: list[tuple[Agent, ...]] = [()] * self.num_envs
        self.set_opponents(opponents)

    # ---- the others -----------------------------------------------------------------------------------------------

    def set_opponents(self, opponents: Opponents, tables: Sequence[int] | None = None) -> None:
        """Let other agents play the other seats, from their next decision on.

        Args:
            opponents: as for `SingleSeat`. An agent that sits at several tables is asked in one batch.
            tables: at which tables (0 to num_envs - 1); at all if None.

        Raises:
            ValueError: unknown names, what is no agent, none at all, or more agents than seats; tables that are not there.
                Then all opponents stay.
        """
        agents = seated_opponents(opponents, self.rules.players)
        rows = []
        for table in self._rows if tables is None else tables:
            row = whole_number(table)
            if row is None or not 0 <= row < self.num_envs:
                raise ValueError(f"tables: expected numbers from 0 to {self.num_envs - 1}, got {table!r}")
            rows.append(row)
        for row in rows:
            self._opponents[row] = agents
        self._team: list[Agent] | None = None

    @property
    def opponents(self) -> tuple[tuple[Agent, ...], ...]:
        """The agents of each table, the first to the left of the learner's seat."""
        return tuple(self._opponents)

    def _seated(self) -> tuple[list[Agent], npt.NDArray[np.int64]]:
        """The agents, each once, and their numbers by table and place to the left of the learner's seat."""
        if self._team is None:
            found: dict[int, int] = {}
            self._team = []
            numbers = []
            for agents in self._opponents:
                for agent in agents:
                    if id(agent) not in found:
                        found[id(agent)] = len(self._team)
                        self._team.append(agent)
                numbers.append([found[id(agent)] for agent in agents])
            self._numbers = np.array(numbers)
        return self._team, self._numbers

    # ---- Gymnasium ------------------------------------------------------------------------------------------------

    @property
    def engine(self) -> CrashVectorEnv:
        """The tables, hidden cards included; to look at, not to act on."""
        return self._engine

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Start a game at every table and return what the seats see when they are first to act.

        Args:
            seed: fixes deals, seats and agents from here on; None goes on from before.
            options: there are none.

        Raises:
            ValueError: a seed that is no whole number from 0, any option; or an opponent's answer that is no action.
        """
        if options:
            raise ValueError(f"options: expected none, got {', '.join(sorted(map(repr, options)))}")
        if seed is None and self._seed is None:
            seed = fresh_seed()
        if seed is not None:
            self._seed = check_seed(seed)
            # As in `SingleSeat`: a branch of its own for what the agents draw.
            self._agents_rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(1,)))
        super().reset(seed=None if seed is None else self._seed)
        self._stands = False
        self._engine.reset(seed=None if seed is None else self._seed)
        n = self.num_envs
        self._seats = np.zeros(n, np.int64)
        self._tally = SeatTally(n)
        self._begin(np.ones(n, np.bool_))
        seen = self._coders.look(self._seats)
        self._stands = True
        return seen, self._info()

    def step(self, actions: npt.ArrayLike) -> Step:
        """Take an action at every table, and let the others play until the seats are to act again.

        Args:
            actions: whole numbers, (num_envs,).

        Returns:
            Observations, rewards, terminations and truncations, one row a table; games that ended have been followed by new
            ones, see ``final_obs`` and ``final_info`` in the last value.

        Raises:
            RuntimeError: before `reset`, or after a step that an opponent's error (or Ctrl-C) broke off.
            ValueError: no whole numbers (num_envs,).
            IllegalActionError: an action that a mask rules out, with ``illegal="raise"`` (nothing has changed at any table);
                an opponent's illegal action.
            AnswerError: an opponent's answer that is no action; it is named.
        """
        self._check_stands()
        numbers, legal = self._checked(actions)
        self._stands = False
        played = np.flatnonzero(legal)
        decisions = np.full((self.num_envs, self.rules.players), -1, np.int64)
        decisions[played, self._seats[played]] = self._coders.full_actions(numbers[played], played)
        self._tally.add(self._engine.step(decisions), self._seats)
        self._play_others(legal)
        over = self._engine.phase == Phase.OVER
        rewards = self._tally.take_margins()
        if self._reward == "win":
            rewards = np.where(over, self.rules.players * self._tally.win_shares - 1.0, 0.0)
        rewards[~legal] = -1.0
        truncated = over & self._tally.truncated
        done = over | ~legal
        final: dict[str, Any] = {}
        if done.any():
            final = self._final(done, illegal=~legal)
            self._engine.reset(which=done)
            self._begin(done)
        seen = self._coders.look(self._seats)
        self._stands = True
        return seen, rewards, done & ~truncated, truncated, {**self._info(), **final}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are legal now: bool (num_envs, actions).

        Raises:
            RuntimeError: before `reset`, or after a step that broke off.
        """
        self._check_stands()
        return self._coders.masks.astype(np.bool_)

    # ---- inside ---------------------------------------------------------------------------------------------------

    def _check_stands(self) -> None:
        if self._seed is None:
            raise RuntimeError("call reset() first")
        if not self._stands:
            raise RuntimeError("the last reset or step broke off half-way; call reset()")

    def _begin(self, which: npt.NDArray[np.bool_]) -> None:
        """Seat the learners of games that have just begun, and let the others play until these are to act."""
        rows = np.flatnonzero(which)
        if self._fixed_seat is None:
            assert self._seed is not None
            deals = self._engine.column("deal_number")[rows] - np.uint64(1)
            self._seats[rows] = learner_seats(self._seed, self._tables[rows], deals, players=self.rules.players)
        else:
            self._seats[rows] = self._fixed_seat
        self._tally.clear(rows)
        self._coders.forget(rows)
        self._play_others(which)

    def _play_others(self, which: npt.NDArray[np.bool_]) -> None:
        """Let the others decide at these tables until the learner is to act or the game is over."""
        team, numbers = self._seated()
        players = self.rules.players
        # The number of the agent on each seat, -1 on the learner's.
        places = (np.arange(players) - self._seats[:, None] - 1) % players
        seating = np.take_along_axis(np.pad(numbers, ((0, 0), (0, 1)), constant_values=-1), places, axis=1)
        while True:
            pending = self._engine.pending
            waiting = which & ~pending[self._rows, self._seats]
            asked = np.where(pending & waiting[:, None], seating, -1)
            if not (asked >= 0).any():
                return
            decisions = np.full(asked.shape, -1, np.int64)
            for number in np.unique(asked[asked >= 0]).tolist():
                tables, seats, views = self._engine.views(asked == number)
                try:
                    decisions[tables, seats] = ask(team[number], views, self._agents_rng)
                except AnswerError as error:
                    phase = Phase(int(views.phase[0])).label
                    raise AnswerError(f"opponent {team[number].name!r} failed in the {phase} phase: {error}") from error
            try:
                # To the engine -1 is no decision; from an agent it is a wrong one.
                outcome = self._engine.step(np.where((asked >= 0) & (decisions < 0), -2, decisions))
            except IllegalActionError as error:
                raise self._blame(team, asked, decisions) from error
            self._tally.add(outcome, self._seats)

    def _blame(
        self, team: Sequence[Agent], asked: npt.NDArray[np.int64], decisions: npt.NDArray[np.int64]
    ) -> IllegalActionError:
        """Find the first opponent whose action is illegal."""
        for table, seat in np.argwhere(asked >= 0).tolist():
            game = self._engine.game(table)
            try:
                game.check(int(decisions[table, seat]), seat)
            except IllegalActionError as error:
                who = f"opponent {team[asked[table, seat]].name!r} failed in the {game.phase.label} phase"
                return IllegalActionError(f"{who}: table {table}, {error}")
        raise AssertionError("the engine refused what every game allows")

    def _checked(self, actions: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return the numbers, and where the masks allow them."""
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ValueError(f"actions: expected whole numbers ({self.num_envs},), got {given.dtype} {given.shape}")
        masks = self._coders.masks
        inside = (given >= 0) & (given < masks.shape[1])
        numbers = np.where(inside, given, 0).astype(np.int64)
        legal = inside & (masks[self._rows, numbers] == 1)
        wrong = np.flatnonzero(~legal)
        if len(wrong):
            first = int(wrong[0])
            message = self._coders.refusal(first, int(self._seats[first]), int(given[first]))
            if self._illegal == "raise":
                raise IllegalActionError(message)
            others = f" (as do {len(wrong) - 1} others)" if len(wrong) > 1 else ""
            _log.warning("%s. The game ends and the seat loses%s.", message, others)
        return numbers, legal

    def _info(self) -> dict[str, Any]:
        return {"seat": self._seats.copy(), "_seat": np.ones(self.num_envs, np.bool_)}

    def _final(self, done: npt.NDArray[np.bool_], *, illegal: npt.NDArray[np.bool_]) -> dict[str, Any]:
        """Return what there is to see and to say of games that have just ended, as Gymnasium packs it."""
        rows = np.flatnonzero(done)
        seen = self._coders.look_back(self._seats, rows)
        observations = np.full(self.num_envs, None, object)
        for place, row in enumerate(rows.tolist()):
            observations[row] = {name: column[place] for name, column in seen.items()}
        facts = {
            "seat": self._seats.copy(),
            **self._tally.facts(),
            "illegal": illegal,
            "scores": self._engine.scores,
        }
        facts["reason"][illegal] = "illegal"
        for column in facts.values():
            column[~done] = None if column.dtype == object else 0
        said = {**facts, **{f"_{name}": done.copy() for name in facts}}
        return {"final_obs": observations, "_final_obs": done.copy(), "final_info": said, "_final_info": done.copy()}
