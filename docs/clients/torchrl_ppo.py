"""TorchRL: its PettingZooWrapper around the parallel `CandidateActions`, masked PPO in self-play, all seats one network.

pip install "prial[clients]", then: python docs/clients/torchrl_ppo.py
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import torch
from tensordict import TensorDict
from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule
from torch import Tensor, nn
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import MaskedCategorical

from prial.agents import SingleSeat
from prial.envs import crash_v0
from prial.envs.crash.features import CANDIDATE_FEATURES
from prial.envs.crash.wrappers import CandidateActions

K = 16
EXTRAS = 5  # keep, exchange, pass, call, noop
GROUP = "player"  # TorchRL stacks player_0, player_1, ... under the name they share


def make_env(seed: int) -> PettingZooWrapper:
    """One round an episode: everybody lays at once, so an episode is a single step."""
    env = CandidateActions(crash_v0.parallel_env(episode="round", reward="points", illegal="raise"), k=K)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PettingZoo in TorchRL is tested using version == 1.24.3")
        return PettingZooWrapper(env, categorical_actions=True, seed=seed)


class ScoreCandidates(nn.Module):
    """The same small network scores every candidate; what is no arrangement has a score of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Sequential(nn.Linear(len(CANDIDATE_FEATURES), 64), nn.ReLU(), nn.Linear(64, 1))
        self.extras = nn.Parameter(torch.zeros(EXTRAS))

    def forward(self, candidates: Tensor) -> Tensor:
        scores = self.score(candidates).squeeze(-1)
        return torch.cat([scores, self.extras.expand(*scores.shape[:-1], EXTRAS)], dim=-1)


def make_policy() -> ProbabilisticTensorDictSequential:
    """The mask goes into the distribution, when acting and when learning."""
    return ProbabilisticTensorDictSequential(
        TensorDictModule(
            ScoreCandidates(), in_keys=[(GROUP, "observation", "candidates")], out_keys=[(GROUP, "logits")]
        ),
        ProbabilisticTensorDictModule(
            in_keys={"logits": (GROUP, "logits"), "mask": (GROUP, "action_mask")},
            out_keys=[(GROUP, "action")],
            distribution_class=MaskedCategorical,
            return_log_prob=True,
            log_prob_key=(GROUP, "log_prob"),
        ),
    )


def margin(policy: ProbabilisticTensorDictSequential | None, *, rounds: int, seed: int = 1_000) -> float:
    """Mean margin a round of one seat against two greedy players, choosing at random without a policy."""
    env = SingleSeat(opponents="greedy", episode="round", reward="points", k=K, illegal="raise")
    generator = torch.Generator().manual_seed(seed)
    total = 0.0
    told, _ = env.reset(seed=seed)
    for _ in range(rounds):
        over = False
        while not over:
            mask = torch.from_numpy(told["action_mask"]) == 1
            if policy is None:
                action = int(torch.multinomial(mask.float(), 1, generator=generator))
            else:
                seat = TensorDict(
                    {
                        "observation": {"candidates": torch.from_numpy(told["candidates"])},
                        "action_mask": torch.cat([mask, torch.tensor([False])]),  # no `noop` here
                    }
                )
                with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
                    action = int(policy(TensorDict({GROUP: seat}))[GROUP, "action"])
            told, reward, over, _, _ = env.step(action)
            total += reward
        told, _ = env.reset()
    return total / rounds


def main(*, updates: int = 60, batch: int = 192, epochs: int = 3, rounds: int = 2_000, seed: int = 0) -> dict[str, Any]:
    """Train in self-play, and compare with choosing at random on the same deals, both against two greedy players."""
    torch.manual_seed(seed)
    env, policy = make_env(seed), make_policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    start = time.process_time()
    for _ in range(updates):
        with torch.no_grad():
            data = env.rollout(batch, policy, break_when_any_done=False)
        group, rewards = data[GROUP], data["next", GROUP, "reward"].squeeze(-1)
        actions, old = group["action"], group["log_prob"]
        advantages = (rewards - rewards.mean()) / rewards.std()
        for _ in range(epochs):
            distribution = policy.get_dist(data)
            ratio = (distribution.log_prob(actions) - old).exp()
            gain = torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
            loss = -gain - 0.003 * distribution.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    seconds = time.process_time() - start
    return {
        "decisions": updates * batch * 3,
        "seconds": round(seconds),
        "random": margin(None, rounds=rounds),
        "trained": margin(policy, rounds=rounds),
    }


if __name__ == "__main__":
    print(main())
