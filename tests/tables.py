"""What the tests of the environments share: every kind of table, and ways to play one to the end."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from prial.envs import crash_v0
from prial.envs.crash.observation import PlayerView
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.wrappers import CandidateActions, HandByHand

# Every rule set with every number of players that it is played with.
RULE_SETS: dict[str, CrashRules] = {
    f"{name}-{players}": CrashRules.preset(name, players=players)
    for name, most in (("online", 4), ("bga", 5), ("traditional", 4))
    for players in range(2, most + 1)
}
# Options that change phases, masks or scoring.
VARIANTS: dict[str, CrashRules] = {
    **{
        f"{call}-call-{players}": CrashRules.preset(
            "traditional", players=players, crash_call=call, quads_bonus=1, target=7
        )
        for call in ("optional", "required")
        for players in (2, 3, 4)
    },
    "crash-points-3": CrashRules.preset("online", crash_reward=3, finish="round_end"),
    "six-cards-5": CrashRules.preset("bga", players=5, cards_dealt=6, lowest_hand="high_card"),
    "flush-9-cards-2": CrashRules.preset("online", players=2, cards_dealt=9, lowest_hand="flush", exchange="spare"),
    "short-pack-2": CrashRules.preset("online", players=2, cards_dealt=6, ranks="9TJQKA", crash_call="optional"),
    "three-cards-2": CrashRules.preset("online", players=2, cards_dealt=3, target=2),
    "cut-off-3": CrashRules.preset("online", max_rounds=2, target=100, crash_reward=0),
}
TABLES: dict[str, CrashRules] = {**RULE_SETS, **VARIANTS}

Choose = Callable[[PlayerView, npt.NDArray[np.int8]], int]


def choose_by_view(view: PlayerView, mask: npt.NDArray[np.int8]) -> int:
    """Choose a legal action that depends on nothing but the view, and differs from view to view."""
    known = (view.seat, view.phase, view.rounds_played, view.scores, view.cards, view.given_up, view.calls)
    legal = np.flatnonzero(mask)
    return int(legal[zlib.crc32(repr(known).encode()) % len(legal)])


def play_aec(env: Any, *, choose: Choose = choose_by_view) -> Iterator[tuple[str, Any, float, bool, bool]]:
    """Play an AEC environment on from where it is; yields what each agent is told, dead steps included."""
    while env.agents:
        agent = env.agent_selection
        observation, reward, terminated, truncated, _ = env.last()
        yield agent, observation, reward, terminated, truncated
        dead = terminated or truncated
        env.step(None if dead else choose(env.unwrapped.view(agent), observation["action_mask"]))


def play_parallel(env: Any, observations: Any, *, choose: Choose = choose_by_view) -> Iterator[tuple[Any, ...]]:
    """Play a parallel environment on from where it is; yields what each step returns."""
    while env.agents:
        actions = {a: choose(env.unwrapped.view(a), observations[a]["action_mask"]) for a in env.agents}
        result = env.step(actions)
        observations = result[0]
        yield result


def totals_aec(env: Any, *, seed: int | None) -> dict[str, float]:
    """Play one game and return what each agent was paid in all, summed from `last()`."""
    env.reset(seed=seed)
    totals = dict.fromkeys(env.possible_agents, 0.0)
    for agent, _, reward, _, _ in play_aec(env):
        totals[agent] += reward
    return totals


def totals_parallel(env: Any, *, seed: int | None) -> dict[str, float]:
    """Play one game and return what each agent was paid in all."""
    observations, _ = env.reset(seed=seed)
    totals = dict.fromkeys(env.possible_agents, 0.0)
    for _, rewards, *_ in play_parallel(env, observations):
        for agent, reward in rewards.items():
            totals[agent] += reward
    return totals


def step_random(env: crash_v0.raw_env, rng: np.random.Generator) -> None:
    """Let the selected agent of a raw environment take any action that its mask allows."""
    mask = env.observe(env.agent_selection)["action_mask"]
    env.step(int(rng.choice(np.flatnonzero(mask))))


KINDS: dict[str, Callable[[CrashRules], Any]] = {
    "raw": crash_v0.raw_env,
    "env": crash_v0.env,
    "parallel": crash_v0.parallel_env,
    "candidates": lambda rules: CandidateActions(crash_v0.env(rules)),
    "parallel-candidates": lambda rules: CandidateActions(crash_v0.parallel_env(rules)),
    "hands": lambda rules: HandByHand(crash_v0.env(rules)),
    "parallel-hands": lambda rules: HandByHand(crash_v0.parallel_env(rules)),
}


def freeze(value: Any) -> Any:
    """Everything in a value, as bytes and plain values that compare."""
    if isinstance(value, dict):
        return {key: freeze(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [freeze(item) for item in value]
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest())
    return value


def trace(env: Any, seed: int | None, episodes: int = 3) -> Iterator[Any]:
    """Play some games, the first from a seed, and tell everything that can be observed on the way."""
    for episode in range(episodes):
        given = seed if episode == 0 else None
        if hasattr(env, "agent_iter"):
            env.reset(seed=given)
            for told in play_aec(env):
                yield freeze([told, env.rewards, env.terminations, env.truncations, env.infos, env.state()])
        else:
            start = env.reset(seed=given)
            yield freeze(start)
            for told in play_parallel(env, start[0]):
                yield freeze([told, env.agents, env.state()])


def digest() -> str:
    """Return a fingerprint of some games of every kind of environment."""
    text = [
        list(trace(make(TABLES[name]), seed=5, episodes=2))
        for make in KINDS.values()
        for name in ("online-3", "bga-2", "required-call-3")
    ]
    return hashlib.sha256(repr(text).encode()).hexdigest()
