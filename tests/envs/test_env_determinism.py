"""The same seed gives the same games: every value, several episodes, whatever else draws random numbers meanwhile.

PettingZoo's seed tests stop at the first end of an episode (the parallel one after one step), so these go on.
"""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from prial.envs import crash_v0
from prial.envs.cards import format_cards
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.wrappers import CandidateActions
from prial.envs.deals import DealStream
from tables import KINDS, TABLES, choose_by_view, digest, freeze, play_aec, play_parallel, trace


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["online-3", "bga-2", "bga-3", "optional-call-2", "cut-off-3"])
@pytest.mark.parametrize("seed", [0, 2**40])
def test_two_interleaved_environments_give_the_same(kind: str, name: str, seed: int) -> None:
    make = KINDS[kind]
    first, second, stranger = (make(TABLES[name]) for _ in range(3))
    stranger.reset(seed=99)
    steps = 0
    traces = zip(trace(first, seed), trace(second, seed), strict=True)
    for steps, (one, other) in enumerate(traces, start=1):
        assert one == other
        random.seed(steps)
        np.random.seed(steps)  # noqa: NPY002  # others do, and nothing may come of it
        first.unwrapped.action_space("player_0").sample()
        if steps % 5 == 0:
            stranger.reset()
    assert steps > 6


@pytest.mark.parametrize("kind", ["raw", "parallel-candidates"])
def test_seeds_differ_and_none_is_remembered(kind: str) -> None:
    env = KINDS[kind](TABLES["online-3"])
    traces = [list(trace(env, seed, episodes=1)) for seed in (0, 1, 0)]
    assert traces[0] == traces[2]
    assert traces[0] != traces[1]


def test_five_hundred_rounds_from_seed_zero() -> None:
    rules = CrashRules.preset("online", target=1000, max_rounds=500, crash_reward=1)
    first, second = (CandidateActions(crash_v0.raw_env(rules)) for _ in range(2))
    for one, other in zip(trace(first, 0, episodes=1), trace(second, 0, episodes=1), strict=True):
        assert one == other
    assert first.unwrapped.game.rounds_played == 500


@pytest.mark.parametrize("make", [crash_v0.raw_env, crash_v0.parallel_env])
def test_reset_without_a_seed_goes_on_with_the_next_deal(make: Any) -> None:
    env = make("online", players=2)
    env.reset(seed=7)
    deals = [env.game.hands]
    for _ in range(20):
        env.reset()
        deals.append(env.game.hands)
    assert len({tuple(hands) for hands in deals}) == 21
    for number, hands in enumerate(deals):
        shuffled = DealStream(7).shuffle(env.rules.pack, deal=number, count=26)
        assert {card for hand in hands for card in hand} == set(shuffled)
    env.reset(seed=7)
    assert env.game.hands == deals[0]


def test_a_game_uses_up_the_deals_of_its_rounds() -> None:
    env = crash_v0.raw_env("online")
    env.reset(seed=3)
    for _ in play_aec(env):
        pass
    played = env.game.deal_number
    assert played > 1
    env.reset()
    assert env.game.deal_number == played + 1


@pytest.mark.parametrize("make", [crash_v0.raw_env, crash_v0.parallel_env])
def test_without_any_seed_every_environment_deals_afresh(make: Any) -> None:
    hands = []
    for _ in range(4):
        env = make("online")
        env.reset()
        hands.append(tuple(env.game.hands))
    assert len(set(hands)) == 4


def test_a_refused_reset_changes_nothing() -> None:
    env = crash_v0.raw_env("online")
    env.reset(seed=1)
    before = list(trace(copy.deepcopy(env), None, episodes=1))
    for seed, options in ((-1, None), (2, {"scores": [9, 9, 9]}), (2, {"dealer": 3}), (2, {"score": [0, 0, 0]})):
        with pytest.raises(ValueError, match=r"seed|scores|dealer|score"):
            env.reset(seed=seed, options=options)
    assert list(trace(env, None, episodes=1)) == before


def test_another_process_gives_the_same(pytestconfig: pytest.Config) -> None:
    tests = str(pytestconfig.rootpath / "tests")
    program = f"import sys; sys.path.insert(0, {tests!r})\nfrom tables import digest\nprint(digest())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest()


def test_another_day_gives_the_same() -> None:
    env = crash_v0.raw_env("online")
    env.reset(seed=0)
    assert env.game.dealer == 0
    assert [format_cards(hand) for hand in env.game.hands] == [
        "2s 3d 3h 4c 6h 8h 9s Jd Jh Qd Qs Kd Kh",
        "2c 3c 3s 4d 4s 5h 5s 6d 8d 9d Qh Ad Ah",
        "4h 5c 5d 6c 6s 7c 7d 7h 8c 8s 9c Th Kc",
    ]


def _pickled(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))  # noqa: S301  # our own


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["online-3", "bga-2", "optional-call-3"])
@pytest.mark.parametrize("clone", [copy.deepcopy, _pickled], ids=["copy", "pickle"])
def test_copies_and_pickles_go_on_with_the_same_game(kind: str, name: str, clone: Any) -> None:
    env = KINDS[kind](TABLES[name])
    start = env.reset(seed=11)
    if hasattr(env, "agent_iter"):
        for _ in zip(range(4), play_aec(env), strict=False):
            pass
        other = clone(env)
        one, two = (freeze(list(play_aec(e))) for e in (env, other))
    else:
        first = next(play_parallel(env, start[0]))
        other = clone(env)
        one, two = (freeze(list(play_parallel(e, first[0]))) for e in (env, other))
    assert one == two
    assert len(one) > 2
    # The stream of deals goes on too, and the two are independent.
    env.reset()
    other.reset()
    assert env.unwrapped.game.hands == other.unwrapped.game.hands
    env.reset()
    assert env.unwrapped.game.hands != other.unwrapped.game.hands


def test_action_spaces_keep_their_own_generators() -> None:
    env = crash_v0.raw_env("online")
    env.reset(seed=0)
    for seat, agent in enumerate(env.agents):
        env.action_space(agent).seed(seat)
    first = [env.action_space(agent).sample() for agent in env.agents]
    env.reset(seed=1)
    for seat, agent in enumerate(env.agents):
        env.action_space(agent).seed(seat)
    assert [env.action_space(agent).sample() for agent in env.agents] == first
    assert len(set(first)) == 3


def test_the_choice_of_these_tests_depends_on_the_view_alone() -> None:
    env = crash_v0.raw_env("online")
    env.reset(seed=0)
    agent = env.agent_selection
    mask = env.observe(agent)["action_mask"]
    assert choose_by_view(env.view(agent), mask) == choose_by_view(env.view(agent), mask)
