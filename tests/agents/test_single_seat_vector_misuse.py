"""`SingleSeatVector` after opponents that raise, with wrong tables, and copied."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from prial.agents import SingleSeatVector
from prial.agents.heuristics import Greedy
from prial.agents.protocol import Actions
from prial.envs.crash.observation import ViewBatch


class Breaks(Greedy):
    name = "breaks"

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        raise KeyError("broken")


def test_after_an_opponent_broke_off_a_step_only_reset_goes_on() -> None:
    env = SingleSeatVector(3, "online", opponents="greedy")
    env.reset(seed=0)
    env.set_opponents(Breaks())
    with pytest.raises(KeyError, match="broken"):
        env.step(env.action_masks().argmax(axis=1))
    env.set_opponents("greedy")
    for call in (env.action_masks, lambda: env.step([0, 0, 0])):
        with pytest.raises(RuntimeError, match=r"broke off half-way; call reset\(\)"):
            call()
    env.reset()
    env.step(env.action_masks().argmax(axis=1))


@pytest.mark.parametrize("tables", [[0, 9], [-1], [0.0], [True, False, True], [None], np.array([9, 0])])
def test_opponents_of_tables_that_are_not_there_are_refused(tables: Any) -> None:
    env = SingleSeatVector(3, "online", opponents="greedy")
    before = env.opponents
    with pytest.raises(ValueError, match="tables: expected numbers from 0 to 2"):
        env.set_opponents("random", tables)
    assert env.opponents == before
    env.set_opponents("random", [])
    assert env.opponents == before


@pytest.mark.parametrize("actions", ["candidates", "hands"])
def test_a_copy_goes_on_alike_and_apart(actions: Any) -> None:
    env = SingleSeatVector(3, "bga", opponents=("random", "percentile"), actions=actions)
    env.reset(seed=4)
    env.step(env.action_masks().argmax(axis=1))
    other = copy.deepcopy(env)
    for _ in range(12):
        choice = env.action_masks().argmax(axis=1)
        np.testing.assert_array_equal(choice, other.action_masks().argmax(axis=1))
        (seen, *rest), (again, *others) = env.step(choice), other.step(choice)
        for name, column in seen.items():
            np.testing.assert_array_equal(column, again[name])
        np.testing.assert_array_equal(rest[0], others[0])
