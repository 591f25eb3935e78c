"""sb3-contrib: MaskablePPO plays one seat of `online` against two greedy players, a round at a time.

pip install "prial[clients]", then: python docs/clients/sb3_maskable_ppo.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

from prial.agents import SingleSeat

ROUND = {"opponents": "greedy", "episode": "round", "reward": "points", "k": 16}

Choose = Callable[[dict[str, np.ndarray]], int]


def margin(choose: Choose, *, rounds: int, seed: int = 1_000) -> tuple[float, int]:
    """Mean margin a round (own points minus the mean of the others'), and how many illegal actions were taken."""
    env = SingleSeat(**ROUND)
    total, illegal = 0.0, 0
    observation, _ = env.reset(seed=seed)
    for _ in range(rounds):
        over = False
        while not over:
            observation, reward, over, _, info = env.step(choose(observation))
            total += reward
        illegal += info["illegal"]
        observation, _ = env.reset()
    return total / rounds, illegal


def main(*, steps: int = 60_000, rounds: int = 2_000, seed: int = 0) -> dict[str, Any]:
    """Train, and compare with choosing at random on the same deals."""
    rng = np.random.default_rng(seed)
    # MaskablePPO asks `SingleSeat.action_masks()`, through whatever wrappers and vector environments lie between.
    envs = make_vec_env(lambda: SingleSeat(**ROUND), n_envs=8, seed=seed)
    model = MaskablePPO(
        "MultiInputPolicy", envs, n_steps=128, batch_size=512, learning_rate=1e-3, gamma=1.0, seed=seed, device="cpu"
    )
    start = time.process_time()
    model.learn(steps)
    seconds = time.process_time() - start

    def trained(observation: dict[str, np.ndarray]) -> int:
        return int(model.predict(observation, deterministic=True, action_masks=observation["action_mask"] == 1)[0])

    at_random, _ = margin(lambda o: int(rng.choice(np.flatnonzero(o["action_mask"]))), rounds=rounds)
    after, illegal = margin(trained, rounds=rounds)
    return {
        "steps": model.num_timesteps,
        "seconds": round(seconds),
        "random": at_random,
        "trained": after,
        "illegal": illegal,
    }


if __name__ == "__main__":
    print(main())
