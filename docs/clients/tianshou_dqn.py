"""Tianshou: its PettingZooEnv around `CandidateActions`, a masked DQN in one seat, random agents in the others.

pip install "prial[clients]", then: python docs/clients/tianshou_dqn.py
"""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from pettingzoo.utils.wrappers import BaseWrapper
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from torch import nn

from prial.envs import crash_v0
from prial.envs.crash.features import CANDIDATE_FEATURES
from prial.envs.crash.wrappers import CandidateActions

K = 16
LEARNER = "player_0"


class CandidatesInObservation(BaseWrapper):
    """Puts the candidates behind the observation: Tianshou hands on `observation` and `action_mask`, and drops the rest."""

    def observation_space(self, agent: str) -> spaces.Dict:
        space = self.env.observation_space(agent)
        low, high = (
            np.concatenate([getattr(space[part], bound).ravel() for part in ("observation", "candidates")])
            for bound in ("low", "high")
        )
        return spaces.Dict({"observation": spaces.Box(low, high), "action_mask": space["action_mask"]})

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        told = self.env.observe(agent)
        seen = np.concatenate([told["observation"], told["candidates"].ravel()])
        return {"observation": seen, "action_mask": told["action_mask"]}


def make_env() -> PettingZooEnv:
    """One round a time; each seat is asked once, so an episode has as many steps as there are players."""
    return PettingZooEnv(
        CandidatesInObservation(CandidateActions(crash_v0.raw_env(episode="round", reward="points"), k=K))
    )


class ScoreCandidates(nn.Module):
    """The same small network values every candidate; `keep`, `exchange`, `pass` and `call` have a value each."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Sequential(nn.Linear(len(CANDIDATE_FEATURES), 64), nn.ReLU(), nn.Linear(64, 1))
        self.extras = nn.Parameter(torch.zeros(4))

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:  # noqa: ARG002
        seen = torch.as_tensor(np.asarray(obs), dtype=torch.float32)
        candidates = seen[:, -K * len(CANDIDATE_FEATURES) :].reshape(len(seen), K, -1)
        return torch.cat([self.score(candidates).squeeze(-1), self.extras.expand(len(seen), 4)], dim=1), state


def margin(algorithm: MultiAgentOffPolicyAlgorithm, *, rounds: int, seed: int = 1_000) -> float:
    """The learner's mean margin a round, the best candidate chosen; an illegal action raises."""
    envs = DummyVectorEnv([make_env for _ in range(8)])
    envs.seed(seed)
    collector = Collector(algorithm, envs, exploration_noise=False)
    collector.reset()
    returns = collector.collect(n_episode=rounds).returns
    return float(returns.reshape(rounds, -1)[:, 0].mean())


def main(*, steps: int = 30_000, rounds: int = 3_000, seed: int = 0) -> dict[str, Any]:
    """Train, and compare with a random agent in the same seat; all others choose at random."""
    random.seed(seed)
    np.random.seed(seed)  # Tianshou draws from the global generators
    torch.manual_seed(seed)
    env = make_env()
    policy = DiscreteQLearningPolicy(model=ScoreCandidates(), action_space=env.action_space, eps_training=0.3)
    # An episode's only reward comes at its end, within three steps: no bootstrapping on what another seat sees next.
    learner = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, n_step_return_horizon=3)
    others = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space) for _ in env.agents[1:]]
    table = MultiAgentOffPolicyAlgorithm(algorithms=[learner, *others], env=env)
    everyone_random = MultiAgentOffPolicyAlgorithm(
        algorithms=[MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space) for _ in env.agents], env=env
    )

    envs = DummyVectorEnv([make_env for _ in range(8)])
    envs.seed(seed)
    collector = Collector(table, envs, VectorReplayBuffer(steps, len(envs)), exploration_noise=True)
    start = time.process_time()
    table.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=1,
            epoch_num_steps=steps,
            collection_step_num_env_steps=480,
            batch_size=512,
            update_step_num_gradient_steps_per_sample=0.1,
            multi_agent_return_reduction=lambda returns: returns[:, 0],
            show_progress=False,
            verbose=False,
        )
    )
    seconds = time.process_time() - start
    return {
        "steps": steps,
        "seconds": round(seconds),
        "random": margin(everyone_random, rounds=rounds),
        "trained": margin(table, rounds=rounds),
    }


if __name__ == "__main__":
    print(main())
