"""`AllSeatsVecEnv`: every seat of many tables as an environment of Stable-Baselines3's own, all played by the learner.

For rules without an exchange and without calls: then all seats of a table decide at once, each once a round, and every
decision of a round is one to learn from.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from ..agents.equity_table import EquityTable
from ..agents.seat_options import Reward
from ..envs.crash.candidates_view import NUM_EXTRAS, offered_many, padded_many
from ..envs.crash.coders_many import CandidateCoders
from ..envs.crash.game import Episode
from ..envs.crash.observation import encode
from ..envs.crash.rules import CrashRules
from ..envs.crash.vector import CrashVectorEnv
from .single_seat_vec_env import SeededVecEnv

__all__ = ["AllSeatsVecEnv"]


class AllSeatsVecEnv(SeededVecEnv):
    """Seat `s` of table `t` is environment ``t * players + s``; observations, masks and rewards are `SingleSeat`'s.

    A game that `max_rounds` ends pays what the rules say and counts as ended, not as cut off. The `info` of a game's last
    step holds `episode`, as SB3's `Monitor` gives it.

    Args:
        tables: how many.
        rules: the rules.
        k: how many candidates are offered at most.
        reward: `win` or `points`.
        episode: `game`, or `round` to stop after one round (paid in points).
        equity: winning chances of the rules. Then each round is paid by what it changed in them, in place of the game at
            its end. The tables pay `win`.
        threads: how many at most.

    Raises:
        ValueError: rules with an exchange or with calls.

    >>> env = AllSeatsVecEnv(4, CrashRules.preset("online"), k=16)
    >>> env.seed(1)[:2]
    [1, 1]
    >>> observations = env.reset()
    >>> observations, rewards, dones, infos = env.step(env.action_masks().argmax(axis=1))
    >>> observations["candidates"].shape, rewards.dtype, len(infos)
    ((12, 16, 34), dtype('float32'), 12)
    """

    def __init__(
        self,
        tables: int,
        rules: CrashRules,
        *,
        k: int,
        reward: Reward = "win",
        episode: Episode = "game",
        equity: EquityTable | None = None,
        threads: int | None = None,
    ) -> None:
        if rules.has_exchange or rules.has_calls:
            raise ValueError("rules with an exchange or with calls: seats do not decide at once")
        self.rules = rules
        self.engine = CrashVectorEnv(tables, rules, seed=0, episode=episode, threads=threads)
        coders = CandidateCoders(self.engine, k=k)
        super().__init__(tables * rules.players, coders.observation_space, coders.action_space)
        self._k = k
        self._reward: Reward = reward
        self._equity = equity
        self._began = time.time()

    def reset(self) -> VecEnvObs:
        """Start a game at every table, from the seed that was given last, else going on."""
        self.engine.reset(seed=self._next_seed)
        self._next_seed = None
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.int64)
        self._chances = self._chances_now()
        return self._look()

    def step_wait(self) -> VecEnvStepReturn:
        """Play a round at every table.

        Raises:
            ValueError: an action that a mask rules out.
        """
        if not self._masks[np.arange(self.num_envs), self._actions].all():
            raise ValueError("an action that its mask rules out")
        laid = self._found.partitions[self._found.offsets[:-1] + self._actions]
        outcome = self.engine.step(laid.reshape(-1, self.rules.players))
        dones = np.repeat(outcome.game_ended, self.rules.players)
        if self._reward == "points":
            paid = outcome.margins
        else:
            paid = np.where(outcome.game_ended[:, None], self.rules.players * outcome.win_shares - 1.0, 0.0)
        chances = self._chances_now()
        rewards = paid.reshape(-1) + np.where(dones, 0.0, chances) - self._chances
        self._chances = chances
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(self.num_envs)]
        passed = round(time.time() - self._began, 6)
        for row in np.flatnonzero(dones).tolist():
            infos[row]["episode"] = {"r": float(self._returns[row]), "l": int(self._lengths[row]), "t": passed}
        self._returns[dones] = 0
        self._lengths[dones] = 0
        return self._look(), rewards.astype(np.float32), dones, infos

    def _chances_now(self) -> npt.NDArray[np.float64]:
        """What the games are worth to the seats where they stand, on the scale of the reward: float64 (num_envs,)."""
        if self._equity is None:
            return np.zeros(self.num_envs)
        shares = self._equity.shares_at(self.engine.scores, self.engine.column("dealer"))
        return self.rules.players * shares.reshape(-1) - 1.0

    def _look(self) -> dict[str, npt.NDArray[Any]]:
        """What every seat sees."""
        _, _, views = self.engine.views(self.engine.pending)
        self._found = offered_many(views, self._k)
        self._masks = np.arange(self._k + NUM_EXTRAS) < self._found.counts[:, None]
        return {
            "observation": encode(views),
            "candidates": padded_many(self._found, self.rules, self._k),
            "action_mask": self._masks.astype(np.int8),
        }

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are legal now: bool (num_envs, actions)."""
        return self._masks.copy()

    def close(self) -> None:
        """Nothing is held open."""

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call `action_masks`, all that there is.

        Raises:
            AttributeError: another method.
        """
        if method_name != "action_masks" or method_args or method_kwargs:
            raise AttributeError(f"seats have no {method_name!r}; there is action_masks")
        masks = self.action_masks()
        return [masks[row] for row in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return `action_masks` or `render_mode` of seats.

        Raises:
            AttributeError: anything else.
        """
        readers: dict[str, Callable[[int], Any]] = {
            "action_masks": lambda row: lambda: self.action_masks()[row],
            "render_mode": lambda _: None,
        }
        if attr_name not in readers:
            raise AttributeError(f"seats have no {attr_name!r}; there are {', '.join(readers)}")
        return [readers[attr_name](row) for row in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:  # noqa: ARG002
        """Refuse.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"{attr_name!r} cannot be set")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:  # noqa: ARG002
        """Return False for all."""
        return [False for _ in self._get_indices(indices)]
