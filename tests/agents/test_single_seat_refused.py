"""`SingleSeat`: opponents that are none or answer wrongly, seeds and options that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from prial.agents import SingleSeat
from prial.agents.heuristics import Greedy
from prial.agents.protocol import Actions
from prial.envs.crash.observation import ViewBatch


@pytest.mark.parametrize("opponents", [None, [3], {"greedy"}, [None, "greedy"]])
def test_opponents_that_are_no_agents_are_refused(opponents: Any) -> None:
    with pytest.raises(ValueError, match="opponents: expected agents or names of agents, got "):
        SingleSeat(opponents=opponents)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: None, r"act_many returned None, expected int32 \(\d,\)"),
        (lambda n: [[0], [0, 1]], "act_many returned list, expected"),
        (lambda n: np.zeros(n + 1, np.int32), r"act_many returned int32 \(\d,\), expected"),
        (np.zeros, r"act_many returned float64 \(\d,\), expected"),
        (lambda n: np.zeros(n, object), r"act_many returned object \(\d,\), expected"),
        (lambda n: np.full(n, -7), "player_1 .*action -7"),
    ],
)
def test_an_opponent_that_answers_wrongly_is_named(answer: Callable[[int], Any], message: str) -> None:
    class Mumbles(Greedy):
        name = "mumbles"

        def act_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
            answered: Actions = answer(len(views))
            return answered

    env = SingleSeat(opponents=Mumbles(), seat=0)

    def start_and_lay() -> None:  # asked in `reset` or in `step`, as the dealer sits
        env.reset(seed=0)
        env.step(0)

    with pytest.raises(ValueError, match=f"opponent 'mumbles' failed in the arrange phase: .*{message}"):
        start_and_lay()


@pytest.mark.parametrize("options", [{1: 2, "x": 3}, {"dealer": 0, 1: 2}])
def test_reset_options_of_any_kind_are_refused_by_name(options: Any) -> None:
    with pytest.raises(ValueError, match=r"options: expected 'scores' or 'dealer', got .*1"):
        SingleSeat().reset(options=options)


@pytest.mark.parametrize("seed", [True, -1, 1.5])
def test_a_seed_that_is_no_whole_number_is_refused(seed: Any) -> None:
    with pytest.raises(ValueError, match=f"seed={seed}: expected a whole number from 0"):
        SingleSeat().reset(seed=seed)
