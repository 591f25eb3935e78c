"""Levels of the trained agents: weaker in order, wrong as people are, the same by seed and whatever the batch."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from prial import agents
from prial.agents.check import check_agent
from prial.agents.levels import LEVELS, Level, calibration_command, level, level_data
from prial.envs.crash.game import Phase
from prial.envs.crash.presets import read_preset
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.vector import CrashVectorEnv

RULE_SETS = ("online", "bga", "traditional")
CALLS = CrashRules.preset("traditional", players=3, crash_call="optional")


def arranging(rules: CrashRules, tables: int = 200, seed: int = 5):
    """Views of seats that are to arrange, at various scores; nobody exchanges."""
    scores = np.arange(tables * rules.players).reshape(tables, -1) % 7
    env = CrashVectorEnv(tables, rules, seed=seed, scores=scores)
    greedy = agents.make("greedy")
    while (env.column("phase") != Phase.ARRANGE).any():
        _, _, views = env.views()
        waiting = env.pending & (env.column("phase") == Phase.EXCHANGE)[:, None]
        actions = np.full(env.pending.shape, -1, np.int64)
        actions[env.pending] = greedy.act_many(views, np.random.default_rng(0))
        env.step(np.where(waiting, actions, -1))
    return env.views()[2]


@cache
def agreement(rule_set: str) -> list[float]:
    """How often each level, and the network at last, lays what the network lays, where there is a choice."""
    views = arranging(CrashRules.preset(rule_set, players=3))
    several = views.undominated().counts > 1
    best = agents.make(rule_set).arrange_many(views, np.random.default_rng(0))
    shares = []
    for name in (*LEVELS, "expert"):
        laid = agents.make(f"{rule_set}:{name}").arrange_many(views, np.random.default_rng(1))
        shares.append(float((laid == best)[several].mean()))
    return shares


@pytest.mark.parametrize("rule_set", RULE_SETS)
@pytest.mark.parametrize("name", LEVELS)
def test_levels_conform_with_every_number_of_players(rule_set: str, name: str) -> None:
    agent = agents.make(f"{rule_set}:{name}")
    assert agent.name == f"{rule_set}:{name}"
    for players in read_preset(rule_set)["in_use"]["players"]:
        check_agent(agent, rules=CrashRules.preset(rule_set, players=players), games=2)


def test_levels_call_crashes() -> None:
    check_agent(level("traditional", "medium"), rules=CALLS, games=4)


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_what_is_laid_is_undominated_and_alone_where_there_is_one(rule_set: str) -> None:
    views = arranging(CrashRules.preset(rule_set, players=3))
    found = views.undominated()
    agent = Level(agents.make(rule_set), slips=50)
    laid = agent.arrange_many(views, np.random.default_rng(0))
    for row in range(len(views)):
        assert laid[row] in found[row].partitions
    assert (found.counts == 1).sum() > 20


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_a_stronger_level_lays_more_often_what_the_network_lays(rule_set: str) -> None:
    shares = agreement(rule_set)
    assert shares[-1] == 1
    assert all(later - earlier > 0.03 for earlier, later in pairwise(shares)), shares


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_without_slips_it_is_the_network(rule_set: str) -> None:
    base = agents.make(rule_set)
    rules = CrashRules.preset(rule_set, players=3)
    none = Level(base, slips=0)
    env = CrashVectorEnv(30, rules, seed=8)
    for _ in range(6):
        _, _, views = env.views()
        rng = np.random.default_rng(0)
        assert np.array_equal(none.act_many(views, rng), base.act_many(views, rng))
        env.act_many([base], [rng])


def test_errors_are_rarer_where_more_is_at_stake() -> None:
    views = arranging(CrashRules.preset("online"), tables=600)
    found = views.undominated()
    agent = level("online", "medium")
    values = agent.base.values(views)
    ranked = [np.sort(values[found.offsets[row] : found.offsets[row + 1]]) for row in range(len(views))]
    gap = np.array([worth[-1] - worth[-2] if len(worth) > 1 else np.nan for worth in ranked])
    laid = agent.arrange_many(views, np.random.default_rng(2))
    right = laid == agent.base.arrange_many(views, np.random.default_rng(2))
    close, plain = gap < np.nanquantile(gap, 0.3), gap > np.nanquantile(gap, 0.7)
    assert right[plain].mean() - right[close].mean() > 0.1


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_weaker_levels_win_less(rule_set: str) -> None:
    """Every level in one seat against two of the network, from each seat of the same deals."""
    base = agents.make(rule_set)
    rules = CrashRules.preset(rule_set, players=3)
    won = []
    for name in ("easy", "hard"):
        team, total = [base, level(rule_set, name)], 0.0
        for seat in range(3):
            env = CrashVectorEnv(400, rules, seed=21, autoreset=False)
            rngs = [np.random.default_rng(0), np.random.default_rng(seat)]
            while env.pending.any():
                outcome = env.act_many(team, rngs, seating=(np.arange(3) == seat).astype(np.int64))
                total += outcome.win_shares[:, seat].sum()
        won.append(total / 1200)
    assert 0.17 < won[0] < won[1] < 0.35
    assert won[1] - won[0] > 0.03


def test_a_row_is_a_function_of_its_number_alone() -> None:
    for rules in (CrashRules.preset("online"), CrashRules.preset("bga")):
        views = arranging(rules, tables=20)
        agent = level(rules.name, "easy")
        whole = agent.act_many(views, np.random.default_rng(3))
        assert np.array_equal(whole, agent.act_many(views, np.random.default_rng(3)))
        assert np.array_equal(agent.act_many(views.select(np.arange(7)), np.random.default_rng(3)), whole[:7])
        rng = np.random.default_rng(3)
        assert [agent.act(view, rng) for view in views] == whole.tolist()
        assert not np.array_equal(whole, agent.act_many(views, np.random.default_rng(4)))


def test_suits_do_not_matter() -> None:
    views = arranging(CrashRules.preset("online"))
    moved = np.sort(views.cards // 4 * 4 + np.array([3, 2, 0, 1], np.int8)[views.cards % 4], axis=1).astype(np.int8)
    other = replace(views, cards=moved, _found=[])
    agent = level("online", "medium")
    ours, theirs = (agent.arrange_many(some, np.random.default_rng(6)) for some in (views, other))
    for row in range(len(views)):
        one, two = views.undominated()[row], other.undominated()[row]
        own = one.strengths[one.partitions == ours[row]][0]
        assert np.array_equal(own, two.strengths[two.partitions == theirs[row]][0])


def test_the_score_is_sometimes_forgotten() -> None:
    views = arranging(CrashRules.preset("online"), tables=400)
    agent = Level(agents.make("online"), slips=1)
    laid = agent.arrange_many(views, np.random.default_rng(1))
    started = agent.arrange_many(replace(views, scores=np.zeros_like(views.scores)), np.random.default_rng(1))
    assert 0 < (laid != started).mean() < 0.5


def test_the_amounts_fall_with_the_level() -> None:
    for slips in level_data().values():
        assert slips["easy"] > slips["medium"] > slips["hard"] > 0
    assert calibration_command().startswith("prial levels --calibrate agents/data/levels.json")


def test_amounts_are_checked() -> None:
    for wrong in (-1.0, float("nan"), float("inf"), True, "few"):
        with pytest.raises(ValueError, match="slips="):
            level("online", "easy", slips=wrong)  # type: ignore[arg-type]
