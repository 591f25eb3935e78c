"""`SingleSeat`: what the seat sees, gets and may do, whoever plays the others."""

from __future__ import annotations

import copy
import logging
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from decisions import RULE_SETS, rules_id
from prial import agents
from prial.agents import SingleSeat
from prial.agents.heuristics import Greedy, RandomUndominated
from prial.agents.protocol import Actions
from prial.envs.crash.coders import CandidateCoder
from prial.envs.crash.events import Deal, RoundEnd
from prial.envs.crash.game import Game, IllegalActionError
from prial.envs.crash.observation import ViewBatch, encode, view_of
from prial.envs.crash.rules import CrashRules, RulesError
from prial.envs.crash.scoring import margins

ONLINE = CrashRules.preset("online")

Step = tuple[dict[str, Any], float, bool, bool, dict[str, Any]]


def choose(env: SingleSeat, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(env.action_masks())))


def play(
    env: SingleSeat, steps: int, *, seed: int | None = None, chance: int = 0, noise: Callable[[], None] | None = None
) -> Any:
    """Everything that so many random steps return, episodes one after the other."""
    rng = np.random.default_rng(chance)
    log: list[Any] = [env.reset(seed=seed)]
    for _ in range(steps):
        if noise is not None:
            noise()
        done = env.step(choose(env, rng))
        log.append(done)
        if done[2] or done[3]:
            log.append(env.reset())
    log.append(env.np_random.bit_generator.state)
    return log


def assert_same(first: Any, second: Any) -> None:
    assert type(first) is type(second)
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        for key in first:
            assert_same(first[key], second[key])
    elif isinstance(first, list | tuple):
        assert len(first) == len(second)
        for a, b in zip(first, second, strict=True):
            assert_same(a, b)
    elif isinstance(first, np.ndarray):
        assert first.dtype == second.dtype
        assert np.array_equal(first, second)
    else:
        assert first == second


# ---- what it is -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", RULE_SETS, ids=rules_id)
def test_gymnasiums_checker(rules: CrashRules, caplog: pytest.LogCaptureFixture) -> None:
    check_env(SingleSeat(rules, opponents=["greedy"]), skip_render_check=True)
    assert all("SingleSeat" not in record.message for record in caplog.records)


# Pictures and vectors are what it expects; a matrix of candidates is for a policy that scores rows.
@pytest.mark.filterwarnings("ignore:Your observation candidates has an unconventional shape")
@pytest.mark.parametrize("rules", RULE_SETS[:4], ids=rules_id)
def test_stable_baselines3s_checker(rules: CrashRules) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(SingleSeat(rules), warn=True)
    checker.check_env(SingleSeat(rules, reward="points", episode="round", k=4), warn=True)


def test_it_is_registered() -> None:
    for name in ("prial/Crash-v0", "prial.agents:prial/Crash-v0"):
        env = gymnasium.make(name, rules="bga", opponents="random", k=16, target=10)
        inner = env.unwrapped
        assert isinstance(inner, SingleSeat)
        assert inner.rules == CrashRules.preset("bga", target=10)
        observation, _ = env.reset(seed=0)
        assert observation["candidates"].shape[0] == 16
        masks = env.get_wrapper_attr("action_masks")()
        env.step(int(np.flatnonzero(masks)[0]))
        env.close()


def test_it_is_registered_by_gymnasium_alone() -> None:
    program = "import gymnasium; print(gymnasium.make('prial.agents:prial/Crash-v0').unwrapped.rules.name)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["online"]
    assert done.stderr == ""


@pytest.mark.parametrize("rules", RULE_SETS, ids=rules_id)
@pytest.mark.parametrize("reward", ["win", "points"])
def test_every_observation_lies_in_its_space(rules: CrashRules, reward: Any) -> None:
    env = SingleSeat(rules, opponents=["random-legal"], k=6, reward=reward)
    for one in play(env, 60, seed=1):
        if isinstance(one, tuple):
            assert env.observation_space.contains(one[0])


# ---- what the seat sees ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", RULE_SETS, ids=rules_id)
def test_it_sees_its_own_seat_only_when_it_is_to_act(rules: CrashRules) -> None:
    env = SingleSeat(rules, opponents=["random"], k=8)
    coder = CandidateCoder(rules, ["one"], k=8, noop=False)
    rng = np.random.default_rng(0)
    observation, info = env.reset(seed=3)
    for _ in range(80):
        seat = info["seat"]
        game = env.game
        assert game.is_over or seat in game.pending
        assert np.array_equal(observation["observation"], encode(ViewBatch.of([view_of(game, seat)]))[0])
        assert_same(observation, coder.observe(game, seat, acting=not game.is_over))
        if game.is_over:
            assert not observation["action_mask"].any()
            observation, info = env.reset()
            continue
        assert np.array_equal(env.action_masks(), observation["action_mask"] == 1)
        assert env.action_masks().dtype == np.bool_
        observation, _, _, _, info = env.step(choose(env, rng))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_seats_are_drawn_unless_one_is_asked_for(players: int) -> None:
    env = SingleSeat(players=players)
    seats = [env.reset(seed=0)[1]["seat"], *(env.reset()[1]["seat"] for _ in range(199))]
    assert np.bincount(seats, minlength=players).min() > 100 / players
    fixed = SingleSeat(players=players, seat=1)
    assert {fixed.reset()[1]["seat"] for _ in range(20)} == {1}


def test_a_choice_is_the_candidate_of_that_row() -> None:
    env = SingleSeat(seat=1)
    env.reset(seed=11)
    for _ in range(20):
        game = env.game
        found = game.undominated(1)
        choice = len(found) - 1
        before, hand = len(game.events), game.hands[1]
        env.step(choice)
        laid = next(e for e in game.events[before:] if type(e).__name__ == "Arrange" and e.seat == 1)
        assert laid.partition == found.partitions[choice]
        assert set(sum(laid.hands, ())) <= set(hand)
        if game.is_over:
            env.reset()


def test_calls_and_exchanges_are_the_extras() -> None:
    rules = CrashRules.preset("bga", players=2, crash_call="optional")
    env = SingleSeat(rules, seat=0, k=10)
    env.reset(seed=1)
    assert np.flatnonzero(env.action_masks()).tolist() == [10, 11]
    env.step(11)
    assert env.game.given_up[0] is not None
    env.step(0)
    assert np.flatnonzero(env.action_masks()).tolist() == [12, 13]
    first_round = env.game.rounds_played
    env.step(13)
    called = [e.called for e in env.game.events if type(e).__name__ == "Call" and e.seat == 0]
    assert called == [True]
    assert env.game.rounds_played == first_round + 1


# ---- what it gets ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", RULE_SETS, ids=rules_id)
def test_a_win_is_paid_at_the_end_and_points_after_each_round(rules: CrashRules) -> None:
    by_win = SingleSeat(rules, opponents=["random"])
    by_points = SingleSeat(rules, opponents=["random"], reward="points")
    rng = np.random.default_rng(1)
    _, info = by_win.reset(seed=5)
    by_points.reset(seed=5)
    paid: list[float] = []
    for _ in range(100):
        choice = choose(by_win, rng)
        _, win, over, cut, info = by_win.step(choice)
        _, points, *_ = by_points.step(choice)
        paid.append(points)
        seat, game = info["seat"], by_win.game
        if not (over or cut):
            assert win == 0
            assert "win_share" not in info
            continue
        assert game.result is not None
        share = game.result.win_share(seat)
        ends = [event for event in game.events if isinstance(event, RoundEnd)]
        own = [margins(event.points)[seat] for event in ends]
        assert [p for p in paid if p] == [m for m in own if m]
        assert win == rules.players * share - 1
        assert info["win_share"] == share
        assert info["rounds"] == len(ends)
        assert info["points_per_round"] == pytest.approx(np.mean([event.points[seat] for event in ends]))
        assert info["margin_per_round"] == pytest.approx(np.mean(own))
        assert info["crashes"] == sum(event.crasher == seat for event in ends)
        assert info["reason"] == game.result.reason.value
        assert info["scores"] == game.scores
        assert info["illegal"] is False
        paid.clear()
        by_win.reset()
        by_points.reset()


def test_a_game_that_is_cut_off_is_truncated() -> None:
    env = SingleSeat(max_rounds=1, target=15, crash_reward=0)
    env.reset(seed=1)
    _, reward, over, cut, info = env.step(0)
    assert (over, cut, info["reason"]) == (False, True, "max_rounds")
    assert reward == 3 * info["win_share"] - 1


def test_a_round_ends_after_one_round() -> None:
    env = SingleSeat(episode="round", reward="points")
    for _ in range(5):
        env.reset(options={"scores": [6, 0, 0], "dealer": 2})
        assert env.game.scores == (6, 0, 0)
        assert env.game.dealer == 2
        _, reward, over, cut, info = env.step(0)
        assert over
        assert not cut
        assert info["rounds"] == 1
        assert reward == info["margin_per_round"]


# ---- chance ---------------------------------------------------------------------------------------------------------


def meddle() -> None:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    play(OTHER, 1)


OTHER = SingleSeat(opponents=["random"])


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("rules", [RULE_SETS[0], RULE_SETS[2]], ids=rules_id)
def test_a_seed_fixes_everything(rules: CrashRules, seed: int) -> None:
    first = play(SingleSeat(rules, opponents=["random"]), 150, seed=seed)
    again = SingleSeat(rules, opponents=["random"])
    play(again, 7, seed=99)
    assert_same(first, play(again, 150, seed=seed, noise=meddle))


def test_another_seed_is_another_game() -> None:
    a, b = (SingleSeat(seat=0).reset(seed=seed)[0]["observation"] for seed in (0, 1))
    assert not np.array_equal(a, b)


def test_without_a_seed_it_goes_on() -> None:
    env = SingleSeat(opponents=["random"])
    env.reset(seed=0)
    deals: list[Deal] = []
    for _ in range(3):
        while not env.game.is_over:
            env.step(int(np.flatnonzero(env.action_masks())[0]))
        deals += [event for event in env.game.events if isinstance(event, Deal)]
        env.reset()
    for number, deal in enumerate(deals):
        assert list(deal.hands) == Game(ONLINE, seed=0, first_deal=number, dealer=deal.dealer).hands
    fresh = [SingleSeat(seat=0).reset()[0]["observation"] for _ in range(2)]
    assert not np.array_equal(*fresh)


def test_what_opponents_draw_does_not_change_deals_or_seats() -> None:
    def hands_and_seats(opponent: str) -> list[Any]:
        env = SingleSeat(opponents=[opponent], episode="round", reward="points")
        found = [env.reset(seed=4)[1]["seat"], env.game.hands]
        for _ in range(10):
            env.step(0)
            found += [env.reset()[1]["seat"], env.game.hands]
        return found

    assert hands_and_seats("greedy") == hands_and_seats("random-legal")


def through_pickle(env: SingleSeat) -> SingleSeat:
    return pickle.loads(pickle.dumps(env))  # type: ignore[no-any-return]  # noqa: S301 (our own)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, through_pickle])
def test_a_copy_plays_on_the_same_way(duplicate: Callable[[SingleSeat], SingleSeat]) -> None:
    env = SingleSeat("bga", opponents=["random", "greedy"])
    play(env, 13, seed=2)
    other = duplicate(env)
    rng = [np.random.default_rng(6), np.random.default_rng(6)]
    for _ in range(40):
        assert_same(*(e.step(choose(e, r)) for e, r in zip((env, other), rng, strict=True)))
        if env.game.is_over:
            assert_same(env.reset(), other.reset())


# ---- the others -----------------------------------------------------------------------------------------------------


class Recorder(Greedy):
    """Greedy that keeps who was asked, in one call each."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked: list[list[int]] = []

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        assert views.to_act.all()
        self.asked.append(views.seat.tolist())
        return super().act_many(views, rng)


def test_opponents_sit_clockwise_from_the_left_and_the_last_fills() -> None:
    rules = CrashRules.preset("traditional")
    for seat in range(4):
        first, second = Recorder("first"), Recorder("second")
        env = SingleSeat(rules, opponents=[first, second], seat=seat)
        env.reset(seed=0)
        env.step(0)
        assert first.asked == [[(seat + 1) % 4]]
        assert [sorted(asked) for asked in second.asked] == [sorted([(seat + 2) % 4, (seat + 3) % 4])]


def test_one_name_is_one_agent_asked_in_one_batch() -> None:
    env = SingleSeat(CrashRules.preset("traditional"), opponents="greedy")
    assert len({id(agent) for agent in env.opponents}) == 1
    assert len(env.opponents) == 3


def test_opponents_can_be_replaced_in_mid_game() -> None:
    env = SingleSeat(opponents="random", target=50)
    env.reset(seed=0)
    env.step(0)
    recorder = Recorder("new")
    env.set_opponents(recorder)
    assert recorder.asked == []
    env.step(0)
    assert len(recorder.asked) == 1
    env.set_opponents(["greedy", RandomUndominated()])
    assert [agent.name for agent in env.opponents] == ["greedy", "random"]
    env.step(0)
    assert len(recorder.asked) == 1


def test_they_play_through_whole_games_of_percentile() -> None:
    env = SingleSeat(opponents="percentile")
    shares = []
    env.reset(seed=0)
    while len(shares) < 300:
        _, _, over, cut, info = env.step(0)  # greedy
        if over or cut:
            shares.append(info["win_share"])
            env.reset()
    assert 0.15 < np.mean(shares) < 0.33


# ---- faults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", [127, 128, 131, 132, -1])
def test_an_illegal_action_loses(choice: int, caplog: pytest.LogCaptureFixture) -> None:
    env = SingleSeat()
    env.reset(seed=0)
    before = env.game.copy()
    with caplog.at_level(logging.WARNING):
        observation, reward, over, cut, info = env.step(choice)
    assert (reward, over, cut) == (-1.0, True, False)
    assert info["illegal"]
    assert info["win_share"] == 0
    assert info["reason"] == "illegal"
    assert not observation["action_mask"].any()
    assert env.observation_space.contains(observation)
    assert f"action {choice}" in caplog.text
    assert "loses" in caplog.text
    assert env.game.laid == before.laid
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)
    with pytest.raises(RuntimeError, match="reset"):
        env.action_masks()
    env.reset()
    assert env.action_masks().any()


@pytest.mark.parametrize("choice", [127, 128, 132, -1])
def test_or_an_illegal_action_is_refused(choice: int) -> None:
    env = SingleSeat(illegal="raise", seat=2)
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match=rf"player_2 \(arrange phase\): action {choice} .* is illegal"):
        env.step(choice)
    env.step(0)


def test_calls_out_of_order_are_refused() -> None:
    env = SingleSeat()
    for call in (env.action_masks, lambda: env.step(0), lambda: env.game):
        with pytest.raises(RuntimeError, match=r"reset\(\)"):
            call()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reward": "money"}, "reward='money': expected 'win' or 'points'"),
        ({"episode": "day"}, "episode='day': expected 'game' or 'round'"),
        ({"episode": "round"}, "reward='win' with episode='round'"),
        ({"illegal": "ignore"}, "illegal='ignore': expected 'lose' or 'raise'"),
        ({"render_mode": "svg"}, "render_mode='svg': expected None or 'ansi' or 'human' or 'rgb_array'"),
        ({"seat": 3}, "seat=3: expected a seat from 0 to 2"),
        ({"seat": True}, "seat=True"),
        ({"k": 0}, "k=0: expected a whole number from 1"),
        ({"opponents": []}, "opponents: expected 1 to 2 for players=3, got 0"),
        ({"opponents": ["greedy"] * 3}, "opponents: expected 1 to 2 for players=3, got 3"),
        ({"opponents": "gredy"}, "did you mean 'greedy'"),
        ({"rules": "onlin"}, "did you mean 'online'"),
        ({"taget": 7}, "did you mean 'target'"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SingleSeat(**options)


def test_options_of_reset_that_do_not_fit_are_refused() -> None:
    env = SingleSeat()
    with pytest.raises(ValueError, match="expected 'scores' or 'dealer', got 'score'"):
        env.reset(options={"score": [1, 2, 3]})
    with pytest.raises(RulesError, match="scores="):
        env.reset(options={"scores": [1, 2]})


# ---- wrappers and vector environments -------------------------------------------------------------------------------


def monitored(rank: int) -> Callable[[], Any]:
    def make() -> Any:
        from stable_baselines3.common.monitor import Monitor

        return Monitor(SingleSeat(opponents=["greedy"], k=32), info_keywords=("win_share", "rounds"))

    return make


@pytest.mark.parametrize("kind", ["DummyVecEnv", "SubprocVecEnv"])
def test_masks_reach_learners_through_monitor_and_vector_environments(kind: str) -> None:
    vec_env = pytest.importorskip("stable_baselines3.common.vec_env")
    masking = pytest.importorskip("sb3_contrib.common.maskable.utils")
    env = getattr(vec_env, kind)([monitored(rank) for rank in range(2)])
    try:
        env.seed(3)
        observation = env.reset()
        alone = [SingleSeat(k=32).reset(seed=3 + rank)[0] for rank in range(2)]
        for rank in range(2):
            assert_same({key: value[rank] for key, value in observation.items()}, alone[rank])
        ends: list[dict[str, Any]] = []
        for _ in range(60):
            masks = masking.get_action_masks(env)
            assert masking.is_masking_supported(env)
            assert np.array_equal(masks, observation["action_mask"] == 1)
            observation, _, dones, infos = env.step(masks.argmax(axis=1))
            ends += [info["episode"] for info, done in zip(infos, dones, strict=True) if done]
        assert len(ends) > 10
        assert all(end["r"] == 3 * end["win_share"] - 1 for end in ends)
        env.env_method("set_opponents", ["random", agents.make("greedy")])
        names = [[agent.name for agent in opponents] for opponents in env.get_attr("opponents")]
        assert names == [["random", "greedy"]] * 2
    finally:
        env.close()
