"""`check_agent` passes our agents under every rule set, and names what is wrong with others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from decisions import RULE_SETS, rules_id
from prial import agents
from prial.agents.heuristics import Greedy, RandomUndominated
from prial.envs.crash.observation import PlayerView, ViewBatch
from prial.envs.crash.rules import CrashRules, RulesError


@pytest.mark.parametrize("rules", RULE_SETS, ids=rules_id)
@pytest.mark.parametrize("name", ["random-legal", "random", "greedy", "balanced"])
def test_our_agents_keep_the_contract(name: str, rules: CrashRules) -> None:
    agents.check_agent(agents.make(name), rules=rules, games=6)


@pytest.mark.parametrize(
    "options", [{}, {"finish": "round_end", "target": 15}, {"crash_call": "required", "crash_reward": 2}]
)
def test_percentile_keeps_the_contract(options: dict[str, Any]) -> None:
    agents.check_agent(agents.make("percentile"), rules=CrashRules.preset("online", **options), games=10)


class Broken(Greedy):
    """Greedy, with one fault."""

    name = "broken"

    def __init__(self, fault: Callable[..., Any]) -> None:
        self.fault = fault

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> Any:
        return self.fault(super().act_many(views, rng), views, rng)


def changed(actions: np.ndarray, views: ViewBatch, rng: np.random.Generator) -> np.ndarray:
    views.scores[0, 0] += 1
    return actions


def remembers() -> Callable[..., Any]:
    calls = []

    def fault(actions: np.ndarray, views: ViewBatch, rng: np.random.Generator) -> np.ndarray:
        calls.append(1)
        found = views.undominated()
        return actions if len(calls) % 2 else found.partitions[found.offsets[1:] - 1]

    return fault


def follows_the_first(actions: np.ndarray, views: ViewBatch, rng: np.random.Generator) -> np.ndarray:
    found = views.undominated()
    last = found.partitions[found.offsets[1:] - 1]
    return last if views.cards[0, 0] % 2 else actions


def global_chance(actions: np.ndarray, views: ViewBatch, rng: np.random.Generator) -> np.ndarray:
    found = views.undominated()
    own = np.random.default_rng()
    return found.partitions[found.offsets[:-1] + (own.random(len(views)) * found.counts).astype(int)]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda actions, views, rng: actions.tolist(), "act_many returned list, expected an array of int32"),
        (lambda actions, views, rng: actions.astype(np.int64), "returned int64 .*, expected int32"),
        (lambda actions, views, rng: actions[:, None], r"returned int32 \(\d+, 1\), expected int32"),
        (lambda actions, views, rng: actions[:-1], r"returned int32 \(\d+,\), expected int32"),
        (lambda actions, views, rng: np.full_like(actions, 417_846), "player_.* is illegal"),
        (lambda actions, views, rng: np.full_like(actions, -1), "player_.* action -1 .* is illegal"),
        (changed, "changed the views: `scores`"),
        (remembers(), "the same views with the same rng gave"),
        (global_chance, "the same views with the same rng gave"),
        (follows_the_first, "depends on the other rows"),
    ],
)
def test_what_is_wrong_is_named(fault: Callable[..., Any], message: str) -> None:
    with pytest.raises(agents.AgentCheckError, match=f"(?s)agent 'broken' under online.*{message}"):
        agents.check_agent(Broken(fault))


def test_an_act_that_is_not_the_single_case_is_named() -> None:
    class Two(Greedy):
        def act(self, view: PlayerView, rng: np.random.Generator) -> int:
            return 0

    with pytest.raises(ValueError, match="act chose 0, act_many with the same view and rng"):
        agents.check_agent(Two())


@pytest.mark.parametrize("answer", [True, 1.0, None])
def test_an_act_that_returns_no_int_is_named(answer: Any) -> None:
    class Odd(Greedy):
        def act(self, view: PlayerView, rng: np.random.Generator) -> int:
            return answer  # type: ignore[no-any-return]

    with pytest.raises(ValueError, match=f"act returned {answer!r}.*expected an int"):
        agents.check_agent(Odd())


def test_a_name_that_is_no_text_is_named() -> None:
    class Nameless(Greedy):
        name = ""

    with pytest.raises(ValueError, match="`name` is '', expected a text"):
        agents.check_agent(Nameless())


def test_an_agent_that_claims_to_draw_no_chance_is_held_to_it() -> None:
    agents.check_agent(RandomUndominated(), games=3)
    with pytest.raises(ValueError, match="depends on the other rows"):
        agents.check_agent(RandomUndominated(), games=3, deterministic=True)


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(RulesError, match="onlin"):
        agents.check_agent(Greedy(), rules="onlin")
