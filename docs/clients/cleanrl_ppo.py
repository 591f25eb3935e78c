"""A single file in the manner of CleanRL: masked PPO in self-play, one hand at a time.

All seats of `HandByHand(crash_v0.parallel_env(...))` share one network. It scores each pick that the mask allows, by the
hands that would lie on the table if the seat went on with the strongest hand left.

pip install "prial[clients]", then: python docs/clients/cleanrl_ppo.py
"""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from prial.agents import SingleSeat
from prial.envs import crash_v0
from prial.envs.brag import NUM_STRENGTHS, strength_table, weaker_share
from prial.envs.crash.observation import piece_slice
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.wrappers import HandByHand

RULES = CrashRules.preset("online")
CARDS, LAID = piece_slice(RULES, "cards"), piece_slice(RULES, "laid")
# Triples of slots in colex order: what the action numbers mean.
TRIPLES = np.array(sorted(combinations(range(RULES.cards_dealt), 3), key=lambda slots: slots[::-1]))
MEMBERS = (TRIPLES[:, :, None] == np.arange(RULES.cards_dealt)).any(axis=1).astype(np.float32)
DISJOINT = MEMBERS @ MEMBERS.T == 0
STRENGTHS = strength_table(RULES.flush_order, RULES.lowest_class)
# Raised to these powers, the share of weaker triples is about the chance of winning a comparison at Hand 1 to 4.
SHARES, POWERS = weaker_share(RULES.flush_order), np.array([240, 45, 17, 8])
EXTRAS = 6  # done, keep, exchange, pass, call, noop
FEATURES = 3 * RULES.hands + EXTRAS


def features(observations: np.ndarray, masks: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
    """Return a row for each allowed action, and which observation and which action it belongs to."""
    cards = np.nonzero(observations[:, CARDS])[1].reshape(len(observations), -1)
    laid = observations[:, LAID].reshape(len(cards), RULES.hands, 52)
    laid = np.take_along_axis(laid, np.broadcast_to(cards[:, None], (*laid.shape[:2], cards.shape[1])), axis=2)
    first, second, third = np.moveaxis(cards[:, TRIPLES], 2, 0)
    strengths = STRENGTHS[third * (third - 1) * (third - 2) // 6 + second * (second - 1) // 2 + first]
    picked = laid @ MEMBERS.T == 3
    free = laid.sum(axis=1) @ MEMBERS.T == 0

    owner, action = np.nonzero(masks)
    hands = (picked * strengths[:, None]).max(axis=2)[owner]
    position = picked.any(axis=2).sum(axis=1)[owner]
    rows = np.zeros((len(owner), FEATURES), np.float32)
    picks = np.flatnonzero(action < len(TRIPLES))
    pick, seat, place = action[picks], owner[picks], position[picks]
    strength = strengths[seat, pick]
    hands[picks, place] = strength
    rows[picks, 2 * RULES.hands + place] = 1
    open_ = free[seat] & DISJOINT[pick] & (strengths[seat] <= strength[:, None])
    for _ in range(RULES.hands - 1):
        place = place + 1
        following = (open_ * strengths[seat]).argmax(axis=1)
        strength = (open_ * strengths[seat]).max(axis=1)
        inside = place < RULES.hands
        hands[picks[inside], place[inside]] = strength[inside]
        open_ &= DISJOINT[following]
    rows[:, : RULES.hands] = hands / NUM_STRENGTHS
    rows[:, RULES.hands : 2 * RULES.hands] = SHARES[hands] ** POWERS[: RULES.hands]
    others = np.flatnonzero(action >= len(TRIPLES))
    rows[others, 3 * RULES.hands + action[others] - len(TRIPLES)] = 1
    return torch.from_numpy(rows), torch.from_numpy(owner), torch.from_numpy(action)


class Network(nn.Module):
    """Scores picks; values what a seat sees."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Sequential(nn.Linear(FEATURES, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
        self.value = nn.Sequential(nn.Linear(CARDS.stop + LAID.stop - LAID.start, 128), nn.ReLU(), nn.Linear(128, 1))
        nn.init.zeros_(self.score[-1].weight)

    def forward(self, observations: np.ndarray, masks: np.ndarray) -> tuple[Tensor, Tensor]:
        """Return log-probabilities of all actions, minus infinity where the mask forbids one, and values."""
        rows, owner, action = features(observations, masks)
        logits = torch.full(masks.shape, -torch.inf)
        logits[owner, action] = self.score(rows).squeeze(-1)
        seen = np.concatenate([observations[:, CARDS], observations[:, LAID]], axis=1)
        return torch.log_softmax(logits, dim=1), self.value(torch.from_numpy(seen)).squeeze(-1)


def stacked(told: list[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of all seats of all tables, one row each."""
    seats = [one[agent] for one in told for agent in sorted(one)]
    return np.stack([seat["observation"] for seat in seats]), np.stack([seat["action_mask"] for seat in seats])


def margin(network: Network | None, *, rounds: int, opponents: str = "greedy", seed: int = 1_000) -> tuple[float, int]:
    """Mean margin a round against two others, choosing at random without a network; and illegal actions taken."""
    env = SingleSeat(RULES, actions="hands", opponents=opponents, episode="round", reward="points")
    rng = np.random.default_rng(seed)
    total, illegal = 0.0, 0
    told, _ = env.reset(seed=seed)
    for _ in range(rounds):
        over = False
        while not over:
            if network is None:
                action = int(rng.choice(np.flatnonzero(told["action_mask"])))
            else:
                mask = np.append(told["action_mask"], np.int8(0))  # no `noop` here
                with torch.no_grad():
                    action = int(network(told["observation"][None], mask[None])[0].argmax())
            told, reward, over, _, info = env.step(action)
            total += reward
        illegal += info["illegal"]
        told, _ = env.reset()
    return total / rounds, illegal


def main(
    *, updates: int = 200, tables: int = 64, epochs: int = 4, rounds: int = 2_000, seed: int = 0
) -> dict[str, Any]:
    """Train in self-play, and compare with choosing at random on the same deals, both against two greedy players."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    envs = [
        HandByHand(crash_v0.parallel_env(RULES, episode="round", reward="points", illegal="raise"))
        for _ in range(tables)
    ]
    told = [env.reset(seed=seed * tables + number)[0] for number, env in enumerate(envs)]
    start, picks = time.process_time(), 0
    for _ in range(updates):
        # One round at every table: as many steps as there are hands, the reward in the last of them.
        steps = []
        for _ in range(RULES.hands):
            observations, masks = stacked(told)
            with torch.no_grad():
                log_probs, values = network(observations, masks)
            actions = torch.multinomial(log_probs.exp(), 1).squeeze(1)
            picks += int((masks[:, -1] == 0).sum())
            rewards, told = np.zeros(len(actions), np.float32), []
            by_seat = actions.view(tables, RULES.players).tolist()
            for number, env in enumerate(envs):
                result = env.step(dict(zip(env.possible_agents, by_seat[number], strict=True)))
                rewards[number * RULES.players : (number + 1) * RULES.players] = [
                    result[1][a] for a in env.possible_agents
                ]
                told.append(result[0] if env.agents else env.reset()[0])
            steps.append((observations, masks, actions, log_probs.gather(1, actions[:, None]).squeeze(1), values))
        returns = torch.from_numpy(rewards).repeat(RULES.hands)  # the whole reward comes at the end of the round
        observations, masks = (np.concatenate([step[part] for step in steps]) for part in (0, 1))
        actions, old, values = (torch.cat([step[part] for step in steps]) for part in (2, 3, 4))
        choosing = np.flatnonzero(masks.sum(axis=1) > 1)  # where there is something to choose
        with torch.no_grad():  # masked alike when acting and when learning: all ratios start at 1
            again, _ = network(observations, masks)
        assert torch.allclose(again.gather(1, actions[:, None]).squeeze(1), old, atol=1e-4)
        advantages = returns - values
        advantages = (advantages - advantages[choosing].mean()) / advantages[choosing].std()
        for _ in range(epochs):
            for rows in np.array_split(rng.permutation(choosing), 4):
                log_probs, values = network(observations[rows], masks[rows])
                ratio = (log_probs.gather(1, actions[rows, None]).squeeze(1) - old[rows]).exp()
                gain = torch.min(ratio * advantages[rows], ratio.clamp(0.8, 1.2) * advantages[rows]).mean()
                entropy = -(log_probs.exp() * log_probs.nan_to_num(neginf=0.0)).sum(dim=1).mean()
                loss = -gain + 0.5 * (returns[rows] - values).square().mean() - 0.003 * entropy
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
    seconds = time.process_time() - start
    at_random, _ = margin(None, rounds=rounds)
    after, illegal = margin(network, rounds=rounds)
    return {"picks": picks, "seconds": round(seconds), "random": at_random, "trained": after, "illegal": illegal}


if __name__ == "__main__":
    print(main())
