"""`CandidateActions`: choose among the undominated arrangements instead of 417,847 partitions.

**Actions.** ``0 .. k-1`` lay a candidate, then `keep` (k), `exchange` (k+1), `pass` (k+2), `call` (k+3), and in the parallel
API `noop` (k+4). Candidates are the seat's undominated arrangements, strongest Hand 1 first: 0 is what `greedy` lays.

**Observations.** `observation` as in `crash_v0`, `candidates` with one row of features each (`prial.envs.crash.features`), 0
in unused rows, and `action_mask`. In the exchange the candidates of the present hand are shown; once a seat has laid its
hands, the one arrangement that it laid.

Which are kept where there are more than k: `prial.envs.crash.candidates_view`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.env import AECEnv, ParallelEnv
from pettingzoo.utils.wrappers import BaseParallelWrapper, BaseWrapper

from .actions import action_number
from .candidates_view import NUM_EXTRAS, candidate_view
from .env import CHECKING_WRAPPERS, CrashEnv, CrashParallelEnv, Steps
from .features import CANDIDATE_FEATURES
from .game import Game, IllegalActionError, Phase
from .observation import encode_view, view_of
from .rules import CrashRules
from .table import Observation, observation_box

__all__ = ["AECCandidateActions", "CandidateActions", "ParallelCandidateActions", "candidate_space"]

_EXTRAS = ("keep", "exchange", "pass", "call", "noop")


def candidate_space(rules: CrashRules, *, k: int, num_actions: int) -> spaces.Dict:
    """Return a new observation space with candidates: `observation`, `candidates` and `action_mask`."""
    most = np.ones((k, len(CANDIDATE_FEATURES)), np.float32)
    most[:, CANDIDATE_FEATURES.index("quads")] = 3
    return spaces.Dict(
        {
            "observation": observation_box(rules),
            "candidates": spaces.Box(np.zeros_like(most), most, dtype=np.float32),
            "action_mask": spaces.Box(0, 1, (num_actions,), np.int8),
        }
    )


class _Coder:
    """Both directions between a game and candidate actions, shared by both wrappers; `noop` only in the parallel API."""

    def __init__(self, rules: CrashRules, agents: list[str], *, k: int, noop: bool) -> None:
        _check_k(k)
        self.k = k
        self.num_actions = k + NUM_EXTRAS + noop
        self.action_spaces = {agent: spaces.Discrete(self.num_actions) for agent in agents}
        self.observation_spaces = {agent: candidate_space(rules, k=k, num_actions=self.num_actions) for agent in agents}

    def observe(self, game: Game, seat: int, *, acting: bool) -> Observation:
        """Return a seat's observation, candidates and mask; the mask is all 0 (but `noop`) unless it is to act."""
        view = candidate_view(game, seat, self.k)
        mask = np.zeros(self.num_actions, np.int8)
        if acting:
            mask[: self.k + NUM_EXTRAS] = view.mask
        else:
            mask[self.k + NUM_EXTRAS :] = 1
        return {"observation": encode_view(view_of(game, seat)), "candidates": view.features, "action_mask": mask}

    def full_action(self, game: Game, seat: int, action: int, *, acting: bool) -> int:
        """Return the action of `game.layout` that a candidate action stands for.

        Raises:
            IllegalActionError: the mask forbids it; names agent, action and phase.
        """
        whole = action_number(action)
        number = -1 if whole is None else whole
        if not acting and number == self.k + NUM_EXTRAS < self.num_actions:
            return game.layout.noop
        view = candidate_view(game, seat, self.k)
        if acting and 0 <= number < self.k + NUM_EXTRAS and view.mask[number]:
            full = view.action(number, game)
            assert full is not None  # the mask allows only what stands for something
            return full
        if not acting:
            expected = "noop" if self.num_actions > self.k + NUM_EXTRAS else "nothing: another seat is to act"
        elif game.phase is Phase.ARRANGE:
            expected = f"0 to {len(view.partitions) - 1}"
        else:
            expected = " or ".join(f"{self._describe(i)} ({i})" for i in np.flatnonzero(view.mask).tolist())
        raise IllegalActionError(
            f"player_{seat} ({game.phase.label} phase): candidate action {action!r} ({self._describe(number)}) is illegal; "
            f"expected {expected}"
        )

    def _describe(self, action: int) -> str:
        if 0 <= action < self.k:
            return f"candidate {action}"
        if self.k <= action < self.num_actions:
            return _EXTRAS[action - self.k]
        return f"no action, 0 to {self.num_actions - 1} are"


def _check_k(k: object) -> None:
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"k={k!r}: expected a whole number from 1, the most candidates to choose from")


class AECCandidateActions(BaseWrapper[str, Observation, int | None]):  # type: ignore[misc]  # pettingzoo has no types
    """`CandidateActions` for `crash_v0.env` and `crash_v0.raw_env`.

    It reads the game itself, so the wide mask is never built. Illegal actions do what the wrapped environment does: `env`
    ends the game, `raw_env` raises `IllegalActionError`.

    Args:
        env: from `crash_v0.env` or `crash_v0.raw_env`; other wrappers go around this one.
        k: the most candidates offered.

    Raises:
        TypeError: another environment, or another wrapper in between.
    """

    def __init__(self, env: AECEnv[str, Observation, int | None], *, k: int = 128) -> None:
        super().__init__(env)
        inner = env
        while isinstance(inner, CHECKING_WRAPPERS):
            inner = inner.env
        if not isinstance(inner, CrashEnv):
            raise TypeError(f"expected an environment of crash_v0.env or crash_v0.raw_env, got {inner}")
        self._raw = inner
        self._coder = _Coder(inner.rules, inner.possible_agents, k=k, noop=False)
        self.action_spaces = self._coder.action_spaces
        self.observation_spaces = self._coder.observation_spaces

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of `observe`, the same object every time."""
        self._raw.seat_of(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete[np.int64]:
        """Return the space of candidate actions, the same object every time."""
        self._raw.seat_of(agent)
        return self.action_spaces[agent]

    def observe(self, agent: str) -> Observation:
        """Return what an agent sees and its candidates; its mask is all 0 while another is to act."""
        seat = self._raw.seat_of(agent)
        return self._coder.observe(self._raw.game, seat, acting=self._raw.is_acting(agent))

    def full_action(self, action: int, agent: str | None = None) -> int:
        """Return the action of the wrapped environment that an agent's candidate action stands for.

        Args:
            action: a candidate action.
            agent: the selected agent if None.
        """
        agent = self._raw.agent_selection if agent is None else agent
        seat = self._raw.seat_of(agent)
        return self._coder.full_action(self._raw.game, seat, action, acting=self._raw.is_acting(agent))

    def step(self, action: int | None) -> None:
        """Take the selected agent's candidate action; None for an agent whose game has ended."""
        raw = self._raw
        if not raw.agents or not raw.is_acting(raw.agent_selection):
            raw.step(action)  # a last step, or a call out of order
            return
        seat = raw.seat_of(raw.agent_selection)
        try:
            full = self._coder.full_action(raw.game, seat, action, acting=True)  # type: ignore[arg-type]  # None is refused too
        except IllegalActionError:
            if self.env is raw or not self.action_space(raw.agent_selection).contains(action):
                raise
            layout = raw.layout
            # Any action that the phase forbids makes the wrapped environment end the game in its own way.
            self.env.step(0 if raw.game.phase is not Phase.ARRANGE else layout.keep)
            return
        raw.step(full)


class ParallelCandidateActions(BaseParallelWrapper[str, Observation, int]):  # type: ignore[misc]  # as above
    """`CandidateActions` for `crash_v0.parallel_env`; illegal actions do what it was told to do about them.

    Args:
        env: from `crash_v0.parallel_env`; other wrappers go around this one.
        k: the most candidates offered.

    Raises:
        TypeError: another environment.
    """

    def __init__(self, env: ParallelEnv[str, Observation, int], *, k: int = 128) -> None:
        if not isinstance(env, CrashParallelEnv):
            raise TypeError(f"expected an environment of crash_v0.parallel_env, got {env}")
        super().__init__(env)
        self._raw: CrashParallelEnv = env
        self._coder = _Coder(env.rules, env.possible_agents, k=k, noop=True)
        self.action_spaces = self._coder.action_spaces
        self.observation_spaces = self._coder.observation_spaces

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations, the same object every time."""
        self._raw.seat_of(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete[np.int64]:
        """Return the space of candidate actions, the same object every time."""
        self._raw.seat_of(agent)
        return self.action_spaces[agent]

    def full_action(self, action: int, agent: str) -> int:
        """Return the action of the wrapped environment that an agent's candidate action stands for."""
        seat = self._raw.seat_of(agent)
        return self._coder.full_action(self._raw.game, seat, action, acting=seat in self._raw.pending)

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Deal a new game and return observations and (empty) infos."""
        self._raw.begin(seed, options)
        return self._observations(self._raw.agents), {agent: {} for agent in self._raw.agents}

    def step(self, actions: Mapping[str, int]) -> Steps:
        """Take everybody's candidate actions; returns and errors as for the wrapped environment."""
        raw = self._raw
        raw.check_agents(actions)
        full: dict[str, int] = {}
        faults: dict[str, IllegalActionError] = {}
        for agent, action in actions.items():
            try:
                full[agent] = self.full_action(action, agent)
            except IllegalActionError as error:
                faults[agent] = error
        agents, rewards, terminations, truncations = raw.advance(full, faults)
        return self._observations(agents), rewards, terminations, truncations, {agent: {} for agent in agents}

    def _observations(self, agents: list[str]) -> dict[str, Observation]:
        pending, game = self._raw.pending, self._raw.game
        seats = ((agent, self._raw.seat_of(agent)) for agent in agents)
        return {agent: self._coder.observe(game, seat, acting=seat in pending) for agent, seat in seats}


@overload
def CandidateActions(env: CrashParallelEnv, *, k: int = ...) -> ParallelCandidateActions: ...
@overload
def CandidateActions(env: AECEnv[str, Any, Any], *, k: int = ...) -> AECCandidateActions: ...
def CandidateActions(  # noqa: N802  # it makes a wrapper, and is named like one
    env: AECEnv[str, Any, Any] | CrashParallelEnv, *, k: int = 128
) -> AECCandidateActions | ParallelCandidateActions:
    """Return an environment of `crash_v0` in which each arrangement is one of at most k candidates.

    Args:
        env: from `crash_v0.env`, `crash_v0.raw_env` or `crash_v0.parallel_env`.
        k: the most candidates offered; for deals with more see `best_candidates`.

    Raises:
        TypeError: another environment.
        ValueError: k is no whole number from 1.

    >>> from .env import CrashEnv
    >>> env = CandidateActions(CrashEnv("online"), k=64)
    >>> env.reset(seed=0)
    >>> env.action_space("player_0").n, env.observe("player_0")["candidates"].shape[0]
    (np.int64(68), 64)
    """
    if isinstance(env, ParallelEnv):
        return ParallelCandidateActions(env, k=k)
    if isinstance(env, AECEnv):
        return AECCandidateActions(env, k=k)
    raise TypeError(f"expected a PettingZoo environment of crash_v0, got {env!r}")
