"""`SingleSeatVecEnv`: `SingleSeatVector` as a Stable-Baselines3 `VecEnv`, for MaskablePPO and others of that family.

All tables are stepped at once by the batched engine, in this process: there is no worker to wait for, and masks cost nothing
to ask for. It reports episodes as SB3's `Monitor` does (``info["episode"]`` with `r`, `l` and `t`), and needs none around.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from ..agents.equity_table import EquityTable
from ..agents.seat_options import Opponents
from ..agents.single_seat_vector import SingleSeatVector
from ..envs.crash.starts import check_seed

__all__ = ["SeededVecEnv", "SingleSeatVecEnv"]


class SeededVecEnv(VecEnv):
    """What environments on many tables share: a seed for the next reset, and actions noted until they are played."""

    _next_seed: int | None = None
    _actions: npt.NDArray[Any]

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Fix what is played from the next `reset` on; table `i` plays table `i` of the seed.

        Args:
            seed: a fresh one, if None.

        Raises:
            ValueError: no whole number from 0.
        """
        self._next_seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else check_seed(seed)
        return [self._next_seed] * self.num_envs

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Take note of an action an environment; `step_wait` plays."""
        self._actions = actions


class SingleSeatVecEnv(SeededVecEnv):
    """Many tables as SB3 wants them.

    The `info` of a table's last step holds `terminal_observation`, `TimeLimit.truncated` (a game cut off by `max_rounds`),
    `episode`, and what `SingleSeat` says at the end (`win_share`, `rounds`, ...); that of every step the `seat`.
    ``seed(s)`` and the next `reset()` give each table `i` the games of ``SingleSeat(table=i)`` with seed `s`.

    Args:
        tables: the tables; they are this environment's own from now on.
        equity: winning chances of the rules. Then each round is paid by what it changed in them, in place of the game at
            its end: the same in all, with less luck in it. The tables pay `win`.

    >>> env = SingleSeatVecEnv(SingleSeatVector(4, "online", k=16))
    >>> env.seed(1)
    [1, 1, 1, 1]
    >>> observations = env.reset()
    >>> masks = np.stack(env.env_method("action_masks"))
    >>> observations, rewards, dones, infos = env.step(masks.argmax(axis=1))
    >>> observations["candidates"].shape, rewards.dtype, len(infos)
    ((4, 16, 34), dtype('float32'), 4)
    """

    def __init__(self, tables: SingleSeatVector, *, equity: EquityTable | None = None) -> None:
        self.tables = tables
        self._equity = equity
        self._chances = np.zeros(tables.num_envs)
        super().__init__(tables.num_envs, tables.single_observation_space, tables.single_action_space)
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.int64)
        self._began = time.time()

    def set_opponents(self, opponents: Opponents, tables: Sequence[int] | None = None) -> None:
        """Let other agents play the other seats, as `SingleSeatVector.set_opponents` does."""
        self.tables.set_opponents(opponents, tables)

    # ---- SB3 ------------------------------------------------------------------------------------------------------

    def reset(self) -> VecEnvObs:
        """Start a game at every table, from the seed that was given last, else going on."""
        options = next(filter(None, self._options), None)
        self._reset_options()  # they are for one reset, refused or not
        if options:
            raise ValueError(f"options: expected none, got {options}")
        observations, info = self.tables.reset(seed=self._next_seed)
        self._next_seed = None
        self._returns[:] = 0
        self._lengths[:] = 0
        self.reset_infos = [{"seat": seat} for seat in info["seat"].tolist()]
        self._chances = self._chances_of(info["seat"])
        return observations

    def step_wait(self) -> VecEnvStepReturn:
        """Step all tables."""
        observations, rewards, terminated, truncated, info = self.tables.step(self._actions)
        dones = terminated | truncated
        chances = self._chances_of(info["seat"])
        rewards = rewards + np.where(dones, 0.0, chances) - self._chances
        self._chances = chances
        self._returns += rewards
        self._lengths += 1
        # An episode's seat, before another is drawn for the next.
        infos: list[dict[str, Any]] = [{**told, "TimeLimit.truncated": False} for told in self.reset_infos]
        for row in np.flatnonzero(dones).tolist():
            infos[row] |= {
                "TimeLimit.truncated": bool(truncated[row]),
                "terminal_observation": info["final_obs"][row],
                "episode": self._episode(row),
                **_said(info["final_info"], row),
            }
            self.reset_infos[row] = {"seat": int(info["seat"][row])}
        self._returns[dones] = 0
        self._lengths[dones] = 0
        return observations, rewards.astype(np.float32), dones, infos

    def _chances_of(self, seats: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """What the games are worth to the seats where they stand, on the scale of the reward: float64 (num_envs,)."""
        if self._equity is None:
            return np.zeros(self.num_envs)
        engine = self.tables.engine
        shares = self._equity.shares_at(engine.scores, engine.column("dealer"))
        return self.tables.rules.players * shares[np.arange(self.num_envs), seats] - 1.0

    def _episode(self, row: int) -> dict[str, Any]:
        """What `Monitor` says of an episode: return, length, seconds since the beginning."""
        passed = round(time.time() - self._began, 6)
        return {"r": round(float(self._returns[row]), 6), "l": int(self._lengths[row]), "t": passed}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are legal now: bool (num_envs, actions)."""
        return self.tables.action_masks()

    def close(self) -> None:
        """Close the tables."""
        self.tables.close()

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call `action_masks` or `set_opponents` of tables.

        Raises:
            AttributeError: another method.
        """
        rows = list(self._get_indices(indices))
        if method_name == "action_masks":
            masks = self.action_masks()
            return [masks[row] for row in rows]
        return [method(*method_args, **method_kwargs) for method in self.get_attr(method_name, rows)]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return `action_masks`, `set_opponents`, `opponents`, `rules`, the spaces or `render_mode` of tables.

        Raises:
            AttributeError: anything else.
        """
        tables = self.tables
        readers: dict[str, Callable[[int], Any]] = {
            "action_masks": lambda row: lambda: self.action_masks()[row],
            "set_opponents": lambda row: partial(tables.set_opponents, tables=[row]),
            "opponents": lambda row: tables.opponents[row],
            "rules": lambda _: tables.rules,
            "observation_space": lambda _: tables.single_observation_space,
            "action_space": lambda _: tables.single_action_space,
            "render_mode": lambda _: None,
        }
        if attr_name not in readers:
            raise AttributeError(f"tables have no {attr_name!r}; there are {', '.join(readers)}")
        return [readers[attr_name](row) for row in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:  # noqa: ARG002
        """Refuse: nothing of a table is set from outside but its opponents.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"{attr_name!r} cannot be set; opponents are, by set_opponents")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Return whether tables report as a wrapper does: as `Monitor`, nothing else."""
        return [issubclass(wrapper_class, Monitor) for _ in self._get_indices(indices)]


def _said(facts: dict[str, npt.NDArray[Any]], row: int) -> dict[str, Any]:
    """One table's part of ``final_info``, as plain values."""
    return {
        name: column[row].tolist() if name != "reason" else column[row]
        for name, column in facts.items()
        if name[0] != "_"
    }
