"""Stable-Baselines3: steps a second of 8 tables, each in a Monitor, with DummyVecEnv and SubprocVecEnv; and batched.

`SingleSeatVecEnv` steps all tables at once and needs no Monitor; with 8 tables as the others, and with 128.

pip install "prial[train]", then: python docs/clients/vec_env_speed.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv

from prial.agents import SingleSeat, SingleSeatVector
from prial.training.single_seat_vec_env import SingleSeatVecEnv

ACTIONS: dict[str, dict[str, Any]] = {
    "candidates, k=128": {"k": 128},
    "candidates, k=16": {"k": 16},
    "hands": {"actions": "hands"},
}


def make(options: dict[str, Any]) -> Callable[[], Monitor]:
    return lambda: Monitor(SingleSeat(opponents="greedy", **options))


def steps_a_second(envs: VecEnv, *, ask: bool, steps: int, rng: np.random.Generator) -> float:
    """Random legal play; masks asked of the environments, as sb3-contrib does, or taken from the observation."""
    envs.seed(0)
    told = envs.reset()
    start = time.perf_counter()
    for _ in range(steps // envs.num_envs):
        masks = get_action_masks(envs) if ask else told["action_mask"]
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        told, _, _, _ = envs.step(actions)
    return steps / (time.perf_counter() - start)


def kinds(options: dict[str, Any], workers: int) -> dict[str, Callable[[], VecEnv]]:
    """The vector environments to compare, by what they are called."""
    made: dict[str, Callable[[], VecEnv]] = {
        "DummyVecEnv": lambda: DummyVecEnv([make(options) for _ in range(workers)]),
        "SubprocVecEnv": lambda: SubprocVecEnv([make(options) for _ in range(workers)]),
    }
    for tables in (workers, 16 * workers):
        made[f"SingleSeatVecEnv, {tables} tables"] = lambda tables=tables: SingleSeatVecEnv(  # type: ignore[misc]
            SingleSeatVector(tables, opponents="greedy", **options)
        )
    return made


def main(*, workers: int = 8, steps: int = 4_000, repeats: int = 3) -> list[dict[str, Any]]:
    """Return the best of some runs of each kind."""
    rng = np.random.default_rng(0)
    rows = []
    for name, options in ACTIONS.items():
        for kind, start in kinds(options, workers).items():
            envs = start()
            try:
                for ask in (True, False):
                    rounds = max(steps, 10 * envs.num_envs)
                    best = max(steps_a_second(envs, ask=ask, steps=rounds, rng=rng) for _ in range(repeats))
                    masks = "action_masks()" if ask else "observation"
                    rows.append({"actions": name, "vec_env": kind, "masks": masks, "steps_a_second": round(best)})
            finally:
                envs.close()
    return rows


if __name__ == "__main__":
    for row in main():
        print(row)
