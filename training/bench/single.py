"""Section `single`: one table from Python, one process on one core, random undominated play of `online`.

A decision is read and taken as a user would: observation, mask and candidates are built at every step, and NumPy draws among
what the mask allows. Steps of ended games (the last ones of PettingZoo, and `reset`) take time and do not count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...envs import crash_v0
from ...envs.crash.game import Game, Phase
from ...envs.crash.rules import CrashRules
from ...envs.crash.wrappers import CandidateActions, HandByHand
from .core import Plan, Run, Section, by_turns, figure
from .search import random_deals

__all__ = ["TARGET_CANDIDATES", "candidate_run", "env_run", "measure_single"]

TARGET_CANDIDATES = 10_000.0
"""Decisions a second of `CandidateActions`."""


def game_run(seed: int) -> Run:
    """Return random undominated play of `Game` itself."""
    rules = CrashRules.preset("online")

    def run(steps: int) -> int:
        rng, game = np.random.default_rng(seed), Game(rules, seed=seed)
        for step in range(steps):
            seat = game.pending[0]
            assert game.phase is Phase.ARRANGE  # there is nothing else to decide
            partitions = game.undominated(seat).partitions
            game.step(int(partitions[rng.integers(len(partitions))]), seat)
            if game.is_over:
                game = Game(rules, seed=seed, table=step)
        return steps

    return run


def env_run(make: Callable[[], Any], seed: int) -> Run:
    """Return random play of a PettingZoo environment whose observations have an `action_mask`.

    >>> env_run(lambda: CandidateActions(crash_v0.raw_env("online")), 1)(5)
    5
    """
    rng, env = np.random.default_rng(seed), make()
    env.reset(seed=seed)

    def run(steps: int) -> int:
        taken = 0
        while taken < steps:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            allowed = np.flatnonzero(observation["action_mask"])
            env.step(allowed[rng.integers(len(allowed))])
            taken += 1
        return taken

    return run


def candidate_run(seed: int) -> Run:
    """Return random play of `CandidateActions` around the bare environment."""
    return env_run(lambda: CandidateActions(crash_v0.raw_env("online")), seed)


def measure_single(plan: Plan) -> Section:
    """Measure the environments for one table, each in turn."""

    def deals(steps: int) -> int:
        random_deals(plan.seed + 2, steps)
        return steps

    unit = "decisions a second"
    named: list[tuple[str, str, Run, float | None]] = [
        ("CandidateActions(raw_env())", unit, candidate_run(plan.seed), TARGET_CANDIDATES),
        ("HandByHand(raw_env())", unit, env_run(lambda: HandByHand(crash_v0.raw_env("online")), plan.seed), None),
        ("raw_env(), masks of 417,851 actions", unit, env_run(lambda: crash_v0.raw_env("online"), plan.seed), None),
        ("Game, without observations", unit, game_run(plan.seed), None),
        ("deals of 13 cards", "a second", deals, None),
    ]
    rates = by_turns(plan, *(run for _, _, run, _ in named))
    figures = [
        figure(name, unit, values, target=target) for (name, unit, _, target), values in zip(named, rates, strict=True)
    ]
    return Section(name="single", title="One table from Python, one core, random play", figures=tuple(figures))
