"""The PettingZoo environments: `CrashEnv` (AEC, one agent at a time) and `CrashParallelEnv`, both on `Game` itself.

`prial.envs.crash_v0` is their public door and manual page.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from pettingzoo.utils.env import AECEnv, ParallelEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from ..whole_numbers import whole_number
from .actions import action_layout
from .game import Episode, Game, IllegalActionError
from .rules import CrashRules
from .table import CrashTable, Mask, Observation, Rendered, RenderMode, Reward, check_choice, read_rules

__all__ = ["CrashEnv", "CrashParallelEnv", "Illegal", "IllegalActionWarning", "env"]

Illegal = Literal["lose", "raise"]
_METADATA: dict[str, Any] = {
    "name": "crash_v0",
    "render_modes": list(get_args(RenderMode)),
    "is_parallelizable": False,
    "render_fps": 1,
}
Steps = tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]
Last = tuple[Observation | None, float, bool, bool, dict[str, Any]]
Outcome = tuple[list[str], dict[str, float], dict[str, bool], dict[str, bool]]


class IllegalActionWarning(UserWarning):
    """A parallel environment ended because an agent took an illegal action."""


class CrashEnv(CrashTable, AECEnv[str, Observation, int | None]):  # type: ignore[misc]  # pettingzoo has no types
    """Crash, one agent at a time, without checking wrappers: `crash_v0.raw_env`.

    Where a phase is simultaneous, agents are asked in turn order; nobody sees what those before them chose.

    Args:
        rules: name of a rule set, path of a YAML file, or `CrashRules`.
        reward: `win` (at the end, players times the share of the win, minus 1) or `points` (each round's margin).
        episode: `game`, or `round` for a single round paid in points.
        mask: `undominated` leaves one arrangement of each undominated value, `legal` every one that may be laid.
        render_mode: None, `ansi`, `human` or `rgb_array`.
        scores: scores that each game starts from; zeros if None.
        dealer: seat of the first dealer; drawn if None.
        overrides: options of `CrashRules` to set otherwise, such as ``players=2`` or ``target=10``.

    Raises:
        ValueError: an option that is unknown or out of range, or options that do not go together.

    >>> env = CrashEnv("online", players=2, target=3)
    >>> env.reset(seed=0)
    >>> env.agents, env.action_space("player_0").n
    (['player_0', 'player_1'], np.int64(417851))
    """

    metadata: ClassVar[dict[str, Any]] = _METADATA

    def __init__(
        self,
        rules: str | Path | CrashRules = "online",
        *,
        reward: Reward = "win",
        episode: Episode = "game",
        mask: Mask = "undominated",
        render_mode: RenderMode | None = None,
        scores: Sequence[int] | None = None,
        dealer: int | None = None,
        **overrides: Any,
    ) -> None:
        CrashTable.__init__(
            self,
            rules,
            num_actions=None,
            reward=reward,
            episode=episode,
            mask=mask,
            render_mode=render_mode,
            scores=scores,
            dealer=dealer,
            overrides=overrides,
        )
        self.agents: list[str] = []

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: starts the stream of deals anew; None continues it (the first time, with a fresh seed).
            options: `scores` and `dealer` of this game.

        Raises:
            ValueError: a negative seed, an unknown option, or values that do not fit; nothing has changed.
        """
        self.start_game(seed, options)
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self._select()
        if self.render_mode == "human":
            self.render()

    def is_acting(self, agent: str) -> bool:
        """Whether this agent is the one to act now; nobody is once the game has ended, by an illegal action too."""
        if agent not in self.agents or agent != self.agent_selection:
            return False
        return not (self.terminations[agent] or self.truncations[agent])

    def observe(self, agent: str) -> Observation:
        """Return what an agent sees; its mask is all 0 while another is to act, and after the end."""
        return self.observe_seat(self.seat_of(agent), acting=self.is_acting(agent))

    def last(self, observe: bool = True) -> Last:  # noqa: FBT001, FBT002 (as in PettingZoo)
        """Return what the selected agent sees and has earned, as in PettingZoo.

        Raises:
            RuntimeError: before `reset`.
        """
        if self._game is None:
            raise RuntimeError("no game yet: call reset()")
        told: Last = super().last(observe)
        return told

    def step(self, action: int | None) -> None:
        """Take the selected agent's action; None for an agent whose game has ended.

        Raises:
            IllegalActionError: names agent, action and phase; nothing has changed.
            RuntimeError: before `reset`, or after everybody's last step.
        """
        if not self.agents:
            raise RuntimeError("the game is over: call reset()" if self._game else "no game yet: call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.check_action(action, self.seat_of(agent))  # type: ignore[arg-type]  # None is refused like anything else
        self.take(action)  # type: ignore[arg-type]

    def take(self, action: int) -> None:
        """Take an action of the selected agent that the mask is known to allow: for wrappers that have looked."""
        agent = self.agent_selection
        game = self.game
        events = game.step(action, self.seat_of(agent))
        self._cumulative_rewards[agent] = 0.0
        earned = self.rewards_of(events)
        self.rewards = dict(zip(self.agents, earned, strict=True))
        if game.is_over:
            ended = self.truncations if game.is_truncated else self.terminations
            ended.update(dict.fromkeys(self.agents, True))
        if any(earned):
            self._accumulate_rewards()
        self._select()
        if self.render_mode == "human":
            self.render()

    def pass_step(self) -> None:
        """Count a step in which the selected agent has not decided yet: nothing happens, nothing is paid."""
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)

    def _select(self) -> None:
        pending = self.game.pending
        self.agent_selection = self.possible_agents[pending[0]] if pending else self.agents[0]


class _CheckedBounds(AssertOutOfBoundsWrapper):  # type: ignore[misc]  # pettingzoo has no types
    """Refuses what is no action at all, as a ValueError that names agent, action and phase."""

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        dead = self.terminations[agent] or self.truncations[agent]
        if dead and action is not None:
            raise IllegalActionError(f"{agent}: its game has ended, so its last step takes None, not {action!r}")
        number, n = whole_number(action), self.action_space(agent).n
        if not dead and (number is None or not 0 <= number < n):
            phase = self.unwrapped.game.phase.label
            raise IllegalActionError(f"{agent} ({phase} phase): {action!r} is no action; expected 0 to {n - 1}")
        self.env.step(number)


class _CheckedOrder(OrderEnforcingWrapper):  # type: ignore[misc]  # pettingzoo has no types
    """Refuses calls before `reset` and steps after the end, as a RuntimeError."""

    def _need_reset(self, call: str) -> None:
        if not self._has_reset:
            raise RuntimeError(f"{call}() before reset(): call reset() first")

    def render(self) -> Rendered | None:
        self._need_reset("render")
        shown: Rendered | None = super().render()
        return shown

    def step(self, action: int | None) -> None:
        self._need_reset("step")
        if not self.agents:
            raise RuntimeError("step() after every agent's last step: call reset() first")
        super().step(action)

    def observe(self, agent: str) -> Observation:
        self._need_reset("observe")
        observation: Observation = super().observe(agent)
        return observation

    def last(self, observe: bool = True) -> Last:  # noqa: FBT001, FBT002 (as in PettingZoo)
        self._need_reset("last")
        told: Last = super().last(observe)
        return told

    def state(self) -> Any:
        self._need_reset("state")
        return super().state()

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        self._need_reset("agent_iter")
        return super().agent_iter(max_iter)

    def __str__(self) -> str:
        return str(self.env)


CHECKING_WRAPPERS = (TerminateIllegalWrapper, _CheckedBounds, _CheckedOrder)


def env(rules: str | Path | CrashRules = "online", **options: Any) -> AECEnv[str, Observation, int | None]:
    """Return `CrashEnv` in PettingZoo's usual wrappers: an illegal action ends the game with -1 for that agent.

    Args:
        rules: as for `CrashEnv`.
        options: as for `CrashEnv`.
    """
    wrapped: AECEnv[str, Observation, int | None] = CrashEnv(rules, **options)
    wrapped = TerminateIllegalWrapper(wrapped, illegal_reward=-1)
    wrapped = _CheckedBounds(wrapped)
    return _CheckedOrder(wrapped)


class CrashParallelEnv(CrashTable, ParallelEnv[str, Observation, int]):  # type: ignore[misc]  # pettingzoo has no types
    """Crash with all agents at once: `crash_v0.parallel_env`.

    Every agent gives an action in every step; those that are not to act give `noop` (or are left out).

    Args:
        rules: name of a rule set, path of a YAML file, or `CrashRules`.
        illegal: `lose` (an illegal action ends the game: -1 for that seat, the others share the gain) or `raise`.
        reward: as for `CrashEnv`.
        episode: as for `CrashEnv`.
        mask: as for `CrashEnv`.
        render_mode: as for `CrashEnv`.
        scores: as for `CrashEnv`.
        dealer: as for `CrashEnv`.
        overrides: as for `CrashEnv`.

    Raises:
        ValueError: an option that is unknown or out of range, or options that do not go together.
    """

    metadata: ClassVar[dict[str, Any]] = {**_METADATA, "is_parallelizable": True}

    def __init__(
        self,
        rules: str | Path | CrashRules = "online",
        *,
        illegal: Illegal = "lose",
        reward: Reward = "win",
        episode: Episode = "game",
        mask: Mask = "undominated",
        render_mode: RenderMode | None = None,
        scores: Sequence[int] | None = None,
        dealer: int | None = None,
        **overrides: Any,
    ) -> None:
        check_choice("illegal", illegal, get_args(Illegal))
        read = read_rules(rules, overrides)
        CrashTable.__init__(
            self,
            read,
            num_actions=action_layout(read).size + 1,
            reward=reward,
            episode=episode,
            mask=mask,
            render_mode=render_mode,
            scores=scores,
            dealer=dealer,
            overrides={},
        )
        self.illegal = illegal
        self.agents: list[str] = []

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Deal a new game and return observations and (empty) infos; arguments and errors as for `CrashEnv.reset`."""
        self.begin(seed, options)
        return self._observations(self.agents), {agent: {} for agent in self.agents}

    @property
    def pending(self) -> tuple[int, ...]:
        """Seats that must act now; none once the game has ended, by an illegal action too."""
        return self.game.pending if self.agents else ()

    def begin(self, seed: int | None, options: Mapping[str, Any] | None) -> Game:
        """Deal a new game without building observations: what `reset` does, for wrappers with their own."""
        game = self.start_game(seed, options)
        self.agents = self.possible_agents.copy()
        if self.render_mode == "human":
            self.render()
        return game

    def step(self, actions: Mapping[str, int]) -> Steps:
        """Take everybody's actions.

        Returns:
            observations, rewards, terminations, truncations and (empty) infos of the agents that were alive.

        Raises:
            ValueError: an action is missing, or belongs to no agent of the game; nothing has changed.
            IllegalActionError: with ``illegal="raise"``: names agent, action and phase; nothing has changed.
            RuntimeError: before `reset`, or after the end.
        """
        self.check_agents(actions, self.pending)
        faults: dict[str, IllegalActionError] = {}
        for agent, action in actions.items():
            try:
                self._check_one(agent, action)
            except IllegalActionError as error:
                faults[agent] = error
        agents, rewards, terminations, truncations = self.advance(actions, faults)
        return self._observations(agents), rewards, terminations, truncations, {agent: {} for agent in agents}

    def check_agents(self, actions: Mapping[str, int], pending: Iterable[int]) -> None:
        """Refuse actions of nobody, and missing ones of seats that are to act."""
        if not self.agents:
            raise RuntimeError("the game is over: call reset()" if self._game else "no game yet: call reset()")
        strangers = [agent for agent in actions if agent not in self.agents]
        if strangers:
            raise ValueError(f"actions of {strangers!r}; the agents are {', '.join(self.agents)}")
        missing = [self.possible_agents[seat] for seat in pending if self.possible_agents[seat] not in actions]
        if missing:
            raise ValueError(f"no action of {', '.join(missing)}, to act in the {self.game.phase.label} phase")

    def _check_one(self, agent: str, action: int) -> None:
        seat = self.seat_of(agent)
        if seat in self.pending:
            self.check_action(action, seat)
        elif whole_number(action) != self.layout.noop:
            raise IllegalActionError(
                f"{agent} ({self.game.phase.label} phase): action {action!r} is illegal; "
                f"not to act, expected noop ({self.layout.noop})"
            )

    def advance(self, actions: Mapping[str, int], faults: Mapping[str, IllegalActionError]) -> Outcome:
        """Take checked actions without building observations: what `step` does, for wrappers with their own.

        Returns:
            the agents that were alive; rewards, terminations and truncations of each.
        """
        agents = self.agents
        if faults:
            if self.illegal == "raise":
                raise next(iter(faults.values()))
            earned = self._lose(faults)
        else:
            events = [
                event for seat in self.pending for event in self.game.step(actions[self.possible_agents[seat]], seat)
            ]
            earned = self.rewards_of(events)
        truncated = not faults and self.game.is_truncated
        terminated = bool(faults) or (self.game.is_over and not truncated)
        if terminated or truncated:
            self.agents = []
        if self.render_mode == "human":
            self.render()
        rewards = dict(zip(agents, earned, strict=True))
        return agents, rewards, dict.fromkeys(agents, terminated), dict.fromkeys(agents, truncated)

    def _lose(self, faults: Mapping[str, IllegalActionError]) -> list[float]:
        """End the game: -1 for each seat at fault, the others share what they lose."""
        losers, n = len(faults), self.rules.players
        text = "; ".join(str(error) for error in faults.values())
        warnings.warn(f"the game ends, lost by {', '.join(faults)}: {text}", IllegalActionWarning, stacklevel=4)
        if losers == n:
            return [0.0] * n
        return [-1.0 if agent in faults else losers / (n - losers) for agent in self.possible_agents]

    def _observations(self, agents: Sequence[str]) -> dict[str, Observation]:
        pending = self.pending
        seats = ((agent, self.seat_of(agent)) for agent in agents)
        return {agent: self.observe_seat(seat, acting=seat in pending) for agent, seat in seats}
