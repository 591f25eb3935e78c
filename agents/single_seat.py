"""`SingleSeat`: one seat of a table of Crash as a Gymnasium environment, the others played by agents.

Registered as ``prial/Crash-v0``. The seat's observation and reward are returned by every step, whoever acts between.

| `actions`      | Action space        | Actions                                                                   |
|----------------|---------------------|---------------------------------------------------------------------------|
| `"candidates"` | `Discrete(k + 4)`   | candidates 0 .. k - 1 as in `CandidateActions`, keep, exchange, pass, call |
| `"hands"`      | `Discrete(C + 5)`   | a hand at a time as in `HandByHand`, done, keep, exchange, pass, call      |

(C is the number of triples of cards: 286 for 13 cards.) The observation is a `Dict`:

- `observation`: float32, laid out as `prial.envs.crash.observation.observation_layout` says.
- `candidates` (with ``actions="candidates"``): float32 (k, features), one row a candidate arrangement as
  `CANDIDATE_FEATURES` says, zeros below them.
- `action_mask`: int8 (actions,); `action_masks()` gives it as bool, also through wrappers and vector environments.

**Rewards.** ``reward="win"``: at the end of the game, ``players * win share - 1``. ``reward="points"``: after each round,
its margin (own points minus the mean of the others').

**Randomness.** ``reset(seed=s)`` fixes everything: the deals are those of ``Game(rules, seed=s)``, counted on from game to
game; the seat is drawn from the same stream (`DealStream.learner_seat`); the agents draw from a generator spawned from the
seed. ``reset()`` goes on with all three.

The `info` of the last step holds what is public at the end: `win_share`, `reason`, `rounds`, `points_per_round`,
`margin_per_round`, `crashes` (own), `illegal`, and `scores` by seat; the `info` of every step holds the `seat`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import gymnasium
import numpy as np
import numpy.typing as npt

from ..envs.crash.coders import CandidateCoder, Coder, HandCoder
from ..envs.crash.events import RoundEnd
from ..envs.crash.game import Episode, Game, IllegalActionError
from ..envs.crash.observation import ViewBatch, view_of
from ..envs.crash.render import Rendered, RenderMode, render_game
from ..envs.crash.rules import CrashRules
from ..envs.crash.scoring import margins
from ..envs.crash.starts import check_seed
from ..envs.deals import DealStream, fresh_seed
from .answers import AnswerError, ask
from .protocol import Agent
from .seat_options import Actions, Illegal, Opponents, Reward, check_choice, check_options, rules_of, seated_opponents

if TYPE_CHECKING:
    from ..envs.crash.record_values import GameRecord

__all__ = ["ENV_ID", "SingleSeat"]

ENV_ID = "prial/Crash-v0"
_LEARNER = "learner"

Observation: TypeAlias = dict[str, npt.NDArray[Any]]

_log = logging.getLogger(__name__)


class SingleSeat(gymnasium.Env[Observation, int]):
    """One seat; the others are played by agents.

    Args:
        rules: a rule set's name, the path of a YAML file, or rules.
        opponents: agents or names of agents (see `prial.agents.make`), the first to the left of the seat, and so on
            clockwise; if there are fewer than seats, the last fills the rest.
        seat: which seat; drawn anew for each episode if None.
        actions: `candidates` to choose an arrangement, `hands` to pick one hand after the other.
        k: how many candidates are offered at most.
        reward: `win` or `points`.
        episode: `game`, or `round` to stop after one round (paid in points).
        illegal: what an illegal action does: `lose` (the game ends, the reward is -1, a warning is logged) or `raise`.
        table: which table of the seed's deals it plays.
        render_mode: None, `ansi`, `human` or `rgb_array`; as for `prial.envs.crash_v0`, so hidden cards are shown too.
        overrides: options of the rules.

    Raises:
        ValueError: an option out of range, unknown agents or rules.

    >>> env = SingleSeat(opponents="greedy", target=10)
    >>> observation, info = env.reset(seed=1)
    >>> sorted(observation), env.action_masks().shape
    (['action_mask', 'candidates', 'observation'], (132,))
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as in Gymnasium)
        "render_modes": list(get_args(RenderMode)),
        "render_fps": 1,
        "name": "crash_v0",
    }
    render_mode: RenderMode | None

    def __init__(
        self,
        rules: str | Path | CrashRules = "online",
        *,
        opponents: Opponents = ("greedy",),
        seat: int | None = None,
        actions: Actions = "candidates",
        k: int = 128,
        reward: Reward = "win",
        episode: Episode = "game",
        illegal: Illegal = "lose",
        table: int = 0,
        render_mode: RenderMode | None = None,
        **overrides: Any,
    ) -> None:
        self.rules = rules_of(rules, overrides)
        check_options(self.rules, seat=seat, actions=actions, reward=reward, episode=episode, illegal=illegal)
        check_choice("render_mode", render_mode, (None, *get_args(RenderMode)))
        self.render_mode = render_mode
        self._reward: Reward = reward
        self._episode: Episode = episode
        self._illegal: Illegal = illegal
        self._fixed_seat = seat
        self._table = DealStream(0, table).table
        self.set_opponents(opponents)
        self._coder: Coder
        if actions == "candidates":
            self._coder = CandidateCoder(self.rules, [_LEARNER], k=k, noop=False)
        else:
            self._coder = HandCoder(self.rules, [_LEARNER], mask="undominated", noop=False)
        self.action_space = self._coder.action_spaces[_LEARNER]  # type: ignore[assignment]  # numpy's int64 is an int
        self.observation_space = self._coder.observation_spaces[_LEARNER]  # type: ignore[assignment]  # Dict is invariant
        self._seed: int | None = None
        self._game: Game | None = None
        self._mask: npt.NDArray[np.int8]
        self._lost = False

    def set_opponents(self, opponents: Opponents) -> None:
        """Let other agents play the other seats, from their next decision on.

        Args:
            opponents: as for the class.

        Raises:
            ValueError: unknown names, what is no agent, none at all, or more agents than seats.
        """
        self._opponents = seated_opponents(opponents, self.rules.players)

    @property
    def opponents(self) -> tuple[Agent, ...]:
        """The agents on the other seats, the first to the left of the learner's."""
        return self._opponents

    @property
    def game(self) -> Game:
        """The game in progress, hidden cards included; not for what plays in it.

        Raises:
            RuntimeError: before the first `reset`.
        """
        if self._game is None:
            raise RuntimeError("call reset() first")
        return self._game

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode and return what the seat sees when it is first to act.

        Args:
            seed: fixes deals, seats and agents from here on; None goes on from before.
            options: `scores` (by seat) and `dealer` to start from.

        Raises:
            ValueError: a seed that is no whole number from 0, unknown options, or scores or a dealer that do not fit the
                rules; or an opponent's answer that is no action.
        """
        seed = None if seed is None else check_seed(seed)
        unknown = set(options or ()) - {"scores", "dealer"}
        if unknown:
            raise ValueError(f"options: expected 'scores' or 'dealer', got {', '.join(sorted(map(repr, unknown)))}")
        first_deal = 0
        if seed is None and self._seed is None:
            seed = fresh_seed()
        elif seed is None and self._game is not None:
            first_deal = self._game.deal_number
        super().reset(seed=seed)
        if seed is not None:
            self._seed = seed
            # A branch of its own, so that what the agents draw has nothing to do with seats and deals.
            self._agents_rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(1,)))
        assert self._seed is not None
        stream = DealStream(self._seed, self._table)
        self._game = Game(
            self.rules,
            seed=self._seed,
            table=self._table,
            first_deal=first_deal,
            episode=self._episode,
            **(options or {}),
        )
        drawn = stream.learner_seat(self.rules.players, deal=first_deal)
        self._seat = drawn if self._fixed_seat is None else self._fixed_seat
        self._points: list[float] = []
        self._margins: list[float] = []
        self._crashes = 0
        self._lost = False
        self._coder.forget()
        self._play_others()
        self._show()
        return self._observe(), {"seat": self._seat}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take an action, let the others play until the seat is to act again, and return what it sees.

        Raises:
            RuntimeError: before `reset`, or after the end of the episode.
            IllegalActionError: an action that the mask rules out, with ``illegal="raise"``; an opponent's illegal action.
            AnswerError: an opponent's answer that is no action; it is named.
        """
        game = self.game
        if game.is_over or self._lost:
            raise RuntimeError("the episode is over; call reset()")
        try:
            taken = self._coder.full_action(game, self._seat, action, acting=True)
        except IllegalActionError as error:
            return self._refuse(error)
        if taken is None:
            self._coder.remember(game, self._seat, int(action))
            return self._observe(), 0.0, False, False, self._info()
        self._coder.forget()
        scored = len(self._margins)
        self._note(game.step(taken, self._seat))
        self._play_others()
        self._show()
        over = game.is_over
        if self._reward == "points":
            reward = self._margins[-1] if len(self._margins) > scored else 0.0
        else:
            reward = self.rules.players * self._win_share() - 1.0 if over else 0.0
        return self._observe(), reward, over and not game.is_truncated, game.is_truncated, self._info()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are legal now: bool (actions,); the name that sb3-contrib asks for.

        Raises:
            RuntimeError: before `reset`, or after the end of the episode.
        """
        if self.game.is_over or self._lost:
            raise RuntimeError("the episode is over, no action is legal; call reset()")
        return self._mask.astype(np.bool_)

    def render(self) -> Rendered | None:
        """Return the table as text (`ansi`) or pixels (`rgb_array`), or print it (`human`).

        Raises:
            RuntimeError: before the first `reset`.
            ModuleNotFoundError: `rgb_array` without Pillow; the message names the extra.
        """
        return render_game(self.game, self.render_mode)

    def record(self, *, name: str = "", date: str | None = None) -> GameRecord:
        """Return the game so far as a record, hidden cards included (`GameRecord.redacted` hides them).

        Args:
            name: what decides at the learner's seat.
            date: such as ``2026-11-30``.

        Raises:
            RuntimeError: before the first `reset`.
        """
        from ..envs.crash.record import record_of  # loads on demand

        game = self.game
        agents = [name if seat == self._seat else self._agent_of(seat).name for seat in range(self.rules.players)]
        return record_of(game, agents=agents, date=date)

    # ---- inside ---------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _play_others(self) -> None:
        game = self.game
        while not game.is_over and self._seat not in (pending := game.pending):
            asked: dict[int, list[int]] = {}
            for seat in pending:
                asked.setdefault(id(self._agent_of(seat)), []).append(seat)
            for seats in asked.values():
                agent = self._agent_of(seats[0])
                views = ViewBatch.of([view_of(game, seat) for seat in seats])
                who = f"opponent {agent.name!r} failed in the {game.phase.label} phase"
                try:
                    actions = ask(agent, views, self._agents_rng).tolist()
                except AnswerError as error:
                    raise AnswerError(f"{who}: {error}") from error
                for seat, action in zip(seats, actions, strict=True):
                    try:
                        events = game.step(action, seat)
                    except IllegalActionError as error:
                        raise IllegalActionError(f"{who}: {error}") from error
                    self._note(events)

    def _agent_of(self, seat: int) -> Agent:
        return self._opponents[(seat - self._seat - 1) % self.rules.players]

    def _note(self, events: Sequence[object]) -> None:
        for event in events:
            if isinstance(event, RoundEnd):
                self._points.append(event.points[self._seat])
                self._margins.append(margins(event.points)[self._seat])
                self._crashes += event.crasher == self._seat

    def _observe(self) -> Observation:
        acting = not self.game.is_over and not self._lost
        observation = self._coder.observe(self.game, self._seat, acting=acting)
        self._mask = observation["action_mask"].copy()
        return observation

    def _win_share(self) -> float:
        result = self.game.result
        return 0.0 if result is None else result.win_share(self._seat)

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"seat": self._seat}
        result = self.game.result
        if result is not None or self._lost:
            rounds = len(self._points)
            info["win_share"] = self._win_share()
            info["reason"] = "illegal" if result is None else result.reason.value
            info["rounds"] = rounds
            info["points_per_round"] = sum(self._points) / max(rounds, 1)
            info["margin_per_round"] = sum(self._margins) / max(rounds, 1)
            info["crashes"] = self._crashes
            info["illegal"] = self._lost
            info["scores"] = self.game.scores
        return info

    def _refuse(self, error: IllegalActionError) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        if self._illegal == "raise":
            raise error
        _log.warning("%s. The game ends and the seat loses.", error)
        self._lost = True
        return self._observe(), -1.0, True, False, self._info()
