"""What wrappers with action numbers of their own have in common: `CandidateActions` and `HandByHand`, AEC and parallel.

They read the game itself, so the wide masks of `crash_v0` are never built. What the numbers mean: `prial.envs.crash.coders`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.env import AECEnv, ParallelEnv
from pettingzoo.utils.wrappers import BaseParallelWrapper, BaseWrapper

from ..whole_numbers import whole_number
from .coders import Coder
from .env import CHECKING_WRAPPERS, CrashEnv, CrashParallelEnv, Last, Steps
from .game import IllegalActionError, Phase
from .table import Observation

__all__ = ["AECActionWrapper", "ParallelActionWrapper", "unwrap_aec", "unwrap_parallel"]


def unwrap_aec(env: AECEnv[str, Observation, int | None]) -> CrashEnv:
    """Return the environment under the checking wrappers.

    Raises:
        TypeError: another environment, or another wrapper in between.

    >>> from .env import env
    >>> type(unwrap_aec(env("online"))).__name__
    'CrashEnv'
    """
    inner = env
    while isinstance(inner, CHECKING_WRAPPERS):
        inner = inner.env
    if not isinstance(inner, CrashEnv):
        raise TypeError(f"expected an environment of crash_v0.env or crash_v0.raw_env, got {inner}")
    return inner


def unwrap_parallel(env: ParallelEnv[str, Observation, int]) -> CrashParallelEnv:
    """Return the environment itself.

    Raises:
        TypeError: another environment, or a wrapper.
    """
    if not isinstance(env, CrashParallelEnv):
        raise TypeError(f"expected an environment of crash_v0.parallel_env, got {env}")
    return env


class _OwnSpaces:
    """The spaces of the coder, the same objects every time."""

    action_spaces: dict[str, spaces.Discrete[np.int64]]
    observation_spaces: dict[str, spaces.Dict]

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations, the same object every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete[np.int64]:
        """Return the space of an agent's actions, the same object every time."""
        return self.action_spaces[agent]


class AECActionWrapper(_OwnSpaces, BaseWrapper[str, Observation, int | None]):  # type: ignore[misc]  # pettingzoo has no types
    """For `crash_v0.env` and `crash_v0.raw_env`; illegal actions do what the wrapped environment does.

    Args:
        env: the environment to wrap; other wrappers go around this one.
        raw: what `unwrap_aec` returns for it.
        coder: what the numbers mean.
    """

    def __init__(self, env: AECEnv[str, Observation, int | None], raw: CrashEnv, coder: Coder) -> None:
        super().__init__(env)
        self._raw = raw
        self._coder = coder
        self.action_spaces = coder.action_spaces
        self.observation_spaces = coder.observation_spaces

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal a new game; arguments and errors as for the wrapped environment."""
        self.env.reset(seed=seed, options=options)
        self._coder.forget()

    def observe(self, agent: str) -> Observation:
        """Return what an agent sees; its mask is all 0 while another is to act."""
        seat = self._raw.seat_of(agent)
        return self._coder.observe(self._raw.game, seat, acting=self._raw.is_acting(agent))

    def last(self, observe: bool = True) -> Last:  # noqa: FBT001, FBT002 (as in PettingZoo)
        """Return what the selected agent sees and has earned, as in PettingZoo; errors as for the wrapped environment."""
        _, reward, terminated, truncated, info = self.env.last(observe=False)
        seen = self.observe(self._raw.agent_selection) if observe else None
        return seen, reward, terminated, truncated, info

    def full_action(self, action: int, agent: str | None = None) -> int | None:
        """Return the wrapped environment's action that an agent's action stands for, None if it needs more to follow.

        Args:
            action: of this wrapper.
            agent: the selected agent if None.
        """
        agent = self._raw.agent_selection if agent is None else agent
        seat = self._raw.seat_of(agent)
        return self._coder.full_action(self._raw.game, seat, action, acting=self._raw.is_acting(agent))

    def step(self, action: int | None) -> None:
        """Take the selected agent's action; None for an agent whose game has ended."""
        raw = self._raw
        if not raw.agents or not raw.is_acting(raw.agent_selection):
            raw.step(action)  # a last step, or a call out of order
            return
        seat = raw.seat_of(raw.agent_selection)
        try:
            full = self._coder.full_action(raw.game, seat, action, acting=True)
        except IllegalActionError:
            number = whole_number(action)
            if self.env is raw or number is None or not 0 <= number < self.action_space(raw.agent_selection).n:
                raise
            # Any action that the phase forbids makes the wrapped environment end the game in its own way.
            self.env.step(0 if raw.game.phase is not Phase.ARRANGE else raw.layout.keep)
            return
        if full is None:
            self._coder.remember(raw.game, seat, int(action))  # type: ignore[arg-type]  # None is not legal
            raw.pass_step()
        else:
            self._coder.forget(seat)
            raw.take(full)


class ParallelActionWrapper(_OwnSpaces, BaseParallelWrapper[str, Observation, int]):  # type: ignore[misc]  # as above
    """For `crash_v0.parallel_env`; illegal actions do what that was told to do about them.

    Args:
        env: the environment to wrap; other wrappers go around this one.
        coder: what the numbers mean.
    """

    def __init__(self, env: CrashParallelEnv, coder: Coder) -> None:
        super().__init__(env)
        self._raw = env
        self._coder = coder
        self.action_spaces = coder.action_spaces
        self.observation_spaces = coder.observation_spaces

    @property
    def pending(self) -> tuple[int, ...]:
        """Seats that must act now; none once the game has ended."""
        return self._raw.pending

    def full_action(self, action: int, agent: str) -> int | None:
        """Return the wrapped environment's action that an agent's action stands for, None if it needs more to follow."""
        seat = self._raw.seat_of(agent)
        return self._coder.full_action(self._raw.game, seat, action, acting=seat in self.pending)

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Deal a new game and return observations and (empty) infos."""
        self._raw.begin(seed, options)
        self._start_round()
        return self._observations(self._raw.agents), {agent: {} for agent in self._raw.agents}

    def step(self, actions: Mapping[str, int]) -> Steps:
        """Take everybody's actions; returns and errors as for the wrapped environment."""
        raw = self._raw
        raw.check_agents(actions, self.pending)
        full: dict[str, int | None] = {}
        faults: dict[str, IllegalActionError] = {}
        for agent, action in actions.items():
            try:
                full[agent] = self.full_action(action, agent)
            except IllegalActionError as error:
                faults[agent] = error
        settled = {} if faults else self._settle(actions, full)
        if settled is None:
            agents, rewards = raw.agents, dict.fromkeys(raw.agents, 0.0)
            terminations, truncations = dict.fromkeys(agents, False), dict.fromkeys(agents, False)
        else:
            agents, rewards, terminations, truncations = raw.advance(settled, faults)
        return self._observations(agents), rewards, terminations, truncations, {agent: {} for agent in agents}

    def _start_round(self) -> None:
        """Drop what has been noted of the round before."""
        self._coder.forget()

    def _settle(self, actions: Mapping[str, int], full: Mapping[str, int | None]) -> Mapping[str, int] | None:
        """Return what the wrapped environment is to do for legal actions; None if nothing yet."""
        settled = {agent: action for agent, action in full.items() if action is not None}
        assert len(settled) == len(actions)
        return settled

    def _observations(self, agents: Sequence[str]) -> dict[str, Observation]:
        pending, game = self.pending, self._raw.game
        seats = ((agent, self._raw.seat_of(agent)) for agent in agents)
        return {agent: self._coder.observe(game, seat, acting=seat in pending) for agent, seat in seats}
