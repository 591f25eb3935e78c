"""`SingleSeatVector` plays at each table the game that `SingleSeat` plays there, and Gymnasium's vector rules."""

from __future__ import annotations

import logging
import re
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.vector import AutoresetMode

from decisions import RULE_SETS, rules_id
from prial.agents import SingleSeat, SingleSeatVector
from prial.agents.answers import AnswerError
from prial.agents.heuristics import Greedy
from prial.agents.protocol import Actions
from prial.envs.crash.game import IllegalActionError
from prial.envs.crash.observation import ViewBatch
from prial.envs.crash.rules import CrashRules

RULES = [
    *RULE_SETS,
    CrashRules.preset("traditional"),
    CrashRules.preset("bga", max_rounds=2),
    CrashRules.preset("bga", crash_call="required", crash_reward="game", quads_bonus=2),
]


class Strong(Greedy):
    """Another that draws nothing: exchanges always, never calls."""

    name = "strong"

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        return np.ones(len(views), np.bool_)

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        return np.zeros(len(views), np.bool_)


def assert_row(stacked: dict[str, Any], row: int, alone: dict[str, Any]) -> None:
    assert list(stacked) == list(alone)
    for name, value in alone.items():
        assert stacked[name].dtype == value.dtype
        np.testing.assert_array_equal(stacked[name][row], value, err_msg=name)


def play_both(n: int, steps: int, *, wrong: float = 0.0, **options: Any) -> int:
    """Step both with the same decisions, now and then an illegal one; return how many games ended."""
    many = SingleSeatVector(n, **options)
    single = [SingleSeat(table=table, **options) for table in range(n)]
    seen, info = many.reset(seed=3)
    for row, env in enumerate(single):
        alone, told = env.reset(seed=3)
        assert_row(seen, row, alone)
        assert info["seat"][row] == told["seat"]
    rng, ended = np.random.default_rng(1), 0
    for _ in range(steps):
        masks = many.action_masks()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        slips = np.flatnonzero(rng.random(n) < wrong)
        actions[slips] = rng.choice(np.flatnonzero(~masks[0]), len(slips))
        seen, rewards, terminated, truncated, info = many.step(actions)
        for row, env in enumerate(single):
            np.testing.assert_array_equal(masks[row], env.action_masks())
            alone, reward, over, cut, told = env.step(int(actions[row]))
            assert (rewards[row], terminated[row], truncated[row]) == (reward, over, cut)
            done = over or cut
            assert done == info.get("_final_obs", np.zeros(n, bool))[row]
            if done:
                ended += 1
                last, said = info["final_obs"][row], info["final_info"]
                assert_row({name: value[None] for name, value in last.items()}, 0, alone)
                for name, fact in told.items():
                    assert said[f"_{name}"][row]
                    got = said[name][row]
                    assert (tuple(got) if name == "scores" else got) == fact, name
                alone, told = env.reset()
            assert_row(seen, row, alone)
            assert info["seat"][row] == told["seat"]
    return ended


@pytest.mark.parametrize("rules", RULES, ids=rules_id)
@pytest.mark.parametrize(("actions", "reward"), [("candidates", "win"), ("candidates", "points"), ("hands", "win")])
def test_the_same_games_as_one_table_after_the_other(rules: CrashRules, actions: str, reward: str) -> None:
    steps = 30 if actions == "candidates" else 60
    assert play_both(
        5, steps, rules=rules, opponents=["greedy", Strong()][: rules.players - 1], actions=actions, k=6, reward=reward
    )


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES, ids=rules_id)
@pytest.mark.parametrize("actions", ["candidates", "hands"])
def test_the_same_over_many_games(rules: CrashRules, actions: str) -> None:
    assert play_both(32, 400, rules=rules, opponents=["greedy", Strong()][: rules.players - 1], actions=actions) > 100


@pytest.mark.parametrize("name", ["online", "bga"])
def test_the_same_against_percentile_in_single_rounds_and_from_a_fixed_seat(name: str) -> None:
    options = {"rules": name, "opponents": ["percentile", "greedy"], "k": 32}
    assert play_both(4, 30, **options)
    assert play_both(4, 20, episode="round", reward="points", **options) >= 80 - 4 * 20 * (name == "bga")
    assert play_both(4, 20, seat=1, **options)


@pytest.mark.parametrize("actions", ["candidates", "hands"])
@pytest.mark.parametrize("rules", [RULE_SETS[0], RULE_SETS[2], RULE_SETS[4]], ids=rules_id)
def test_the_same_where_illegal_actions_lose(rules: CrashRules, actions: str) -> None:
    assert play_both(4, 40, wrong=0.2, rules=rules, actions=actions, k=5) > 20


# ---- what it is -----------------------------------------------------------------------------------------------------


def legal(env: SingleSeatVector, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    masks = env.action_masks()
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def test_gymnasium_makes_it() -> None:
    for mode in (None, "vector_entry_point"):
        env = gymnasium.make_vec("prial/Crash-v0", num_envs=8, vectorization_mode=mode, rules="bga", k=16)
        assert isinstance(env.unwrapped, SingleSeatVector)
        assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
        env.reset(seed=1)
        env.step(env.action_space.sample())
        env.close()
    assert SingleSeatVector.__init__.__kwdefaults__["opponents"] == SingleSeat.__init__.__kwdefaults__["opponents"]


@pytest.mark.parametrize("actions", ["candidates", "hands"])
@pytest.mark.parametrize("rules", RULE_SETS, ids=rules_id)
def test_everything_lies_in_its_space(rules: CrashRules, actions: Any) -> None:
    env = SingleSeatVector(6, rules, opponents="random", actions=actions, k=9)
    single = SingleSeat(rules, opponents="random", actions=actions, k=9)
    assert env.single_observation_space == single.observation_space
    assert env.single_action_space == single.action_space
    assert env.action_space.shape == (6,)
    seen, _ = env.reset(seed=2)
    rng = np.random.default_rng(0)
    for _ in range(40):
        assert env.observation_space.contains(seen)
        np.testing.assert_array_equal(seen["action_mask"] == 1, env.action_masks())
        seen, *_, info = env.step(legal(env, rng))
        for last in info.get("final_obs", []):
            assert last is None or (env.single_observation_space.contains(last) and not last["action_mask"].any())


def test_gymnasiums_vector_wrappers_understand_its_autoreset() -> None:
    env = SingleSeatVector(5, "online", k=16)
    counted = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    counted.reset(seed=4)
    rng, ended = np.random.default_rng(0), 0
    for _ in range(60):
        _, rewards, terminated, truncated, info = counted.step(legal(env, rng))
        for row in np.flatnonzero(terminated | truncated):
            ended += 1
            assert info["episode"]["r"][row] == rewards[row]
            assert info["episode"]["l"][row] == info["final_info"]["rounds"][row]
    assert ended > 30


# ---- chance ---------------------------------------------------------------------------------------------------------


def played(env: SingleSeatVector, seed: int | None, steps: int = 30) -> list[Any]:
    log: list[Any] = [env.reset(seed=seed)[0]["observation"]]
    for step in range(steps):
        seen, rewards, *_, info = env.step(legal(env, np.random.default_rng(step)))
        log += [seen["observation"], seen["candidates"], rewards, info["seat"]]
    return log


def same(first: list[Any], second: list[Any]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_a_seed_fixes_everything_and_threads_nothing() -> None:
    env = SingleSeatVector(600, "bga", opponents=["random", "percentile"], threads=1)
    first = played(env, 5, steps=8)
    played(env, None, steps=2)
    assert same(first, played(env, 5, steps=8))
    assert same(first, played(SingleSeatVector(600, "bga", opponents=["random", "percentile"], threads=3), 5, steps=8))
    assert not same(first, played(env, 6, steps=8))


def test_tables_play_the_same_in_any_company() -> None:
    few = SingleSeatVector(2, tables=[7, 3], k=20)
    many = SingleSeatVector(9, k=20)
    seen, _ = few.reset(seed=1)
    whole, _ = many.reset(seed=1)
    for _ in range(40):
        for name, column in seen.items():
            np.testing.assert_array_equal(column, whole[name][[7, 3]])
        seen, *_ = few.step(few.action_masks().argmax(axis=1))
        whole, *_ = many.step(many.action_masks().argmax(axis=1))


def test_reset_without_a_seed_goes_on() -> None:
    env = SingleSeatVector(3, "online")
    one = SingleSeat("online", table=2)
    env.reset(seed=9)
    one.reset(seed=9)
    for _ in range(10):
        for _ in range(2):  # given up in the middle
            _, _, over, _, _ = one.step(0)
            env.step([0, 0, 0])
            if over:
                one.reset()
        assert_row(env.reset()[0], 2, one.reset()[0])
    fresh = [SingleSeatVector(2).reset()[0]["observation"] for _ in range(2)]
    assert not np.array_equal(*fresh)


# ---- the others -----------------------------------------------------------------------------------------------------


class Counter(Greedy):
    """Greedy that keeps how many views it got in each call."""

    def __init__(self) -> None:
        self.name = "counter"
        self.asked: list[int] = []

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        self.asked.append(len(views))
        return super().act_many(views, rng)


def test_opponents_are_asked_in_one_batch_and_tables_may_have_their_own() -> None:
    both, one = Counter(), Counter()
    env = SingleSeatVector(10, "online", opponents=both)
    env.reset(seed=0)
    env.step(np.zeros(10, np.int64))
    assert both.asked == [20]
    env.set_opponents([one, "random"], tables=[1, 4])
    assert [[agent.name for agent in agents] for agents in env.opponents][:2] == [
        ["counter"] * 2,
        ["counter", "random"],
    ]
    env.step(np.zeros(10, np.int64))
    assert (both.asked, one.asked) == ([20, 16], [2])


class Answers(Greedy):
    """Greedy that answers something else at last."""

    name = "wrong"
    answer: Any = -1

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        found = super().arrange_many(views, rng)
        if isinstance(self.answer, int):
            found[-1] = self.answer
            return found
        return self.answer  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (-1, IllegalActionError, r"opponent 'wrong' failed in the arrange phase: table 3, player_\d .* -1"),
        (417_846, IllegalActionError, "opponent 'wrong' failed in the arrange phase: table 3, "),
        (None, AnswerError, "opponent 'wrong' failed in the arrange phase: act_many returned None"),
        (np.zeros(2), AnswerError, "opponent 'wrong' failed"),
    ],
)
def test_an_opponent_that_answers_wrongly_is_named(answer: Any, error: type[Exception], message: str) -> None:
    agent = Answers()
    agent.answer = answer
    env = SingleSeatVector(4, "online", opponents=agent)
    env.reset(seed=0)
    with pytest.raises(error, match=message):
        env.step([0, 0, 0, 0])


# ---- faults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("actions", ["candidates", "hands"])
def test_an_illegal_action_is_refused_in_the_words_of_one_table(actions: Any) -> None:
    rules = CrashRules.preset("bga", players=2, crash_call="optional")
    env = SingleSeatVector(3, rules, actions=actions, seat=0, illegal="raise")
    env.reset(seed=0)
    one = SingleSeat(rules, actions=actions, seat=0, table=1, illegal="raise")
    one.reset(seed=0)
    phases = set()
    for _ in range(12):
        phases.add(one.game.phase)
        numbers = env.action_masks().argmax(axis=1)
        for choice in (*np.flatnonzero(~one.action_masks())[[0, -1]].tolist(), -3):
            with pytest.raises(IllegalActionError) as alone:
                one.step(choice)
            with pytest.raises(IllegalActionError) as among:
                env.step([numbers[0], choice, -3])
            assert str(among.value) == f"table 1, {alone.value}"
        _, _, over, cut, _ = one.step(int(numbers[1]))
        env.step(numbers)
        if over or cut:
            one.reset()
    assert len(phases) == 3


def test_or_it_loses_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    env = SingleSeatVector(3, "online")
    env.reset(seed=0)
    with caplog.at_level(logging.WARNING):
        _, rewards, over, cut, info = env.step([0, 131, -3])
    assert re.search(r"table 1, player_\d .*\. The game ends and the seat loses \(as do 1 others\)\.", caplog.text)
    assert (rewards.tolist(), over.tolist(), cut.any()) == ([0, -1, -1], [False, True, True], False)
    assert info["final_info"]["reason"].tolist() == [None, "illegal", "illegal"]


def test_an_illegal_action_that_is_refused_changes_nothing() -> None:
    env = SingleSeatVector(3, "online", illegal="raise")
    env.reset(seed=0)
    before = {name: env.engine.column(name) for name in ("cards", "laid", "scores", "deal_number")}
    with pytest.raises(
        IllegalActionError, match=r"table 2, player_\d \(arrange phase\): action 131 \(call\) is illegal"
    ):
        env.step([0, 0, 131])
    for name, column in before.items():
        np.testing.assert_array_equal(env.engine.column(name), column)
    env.step([0, 0, 0])


def test_calls_out_of_order_and_wrong_shapes_are_refused() -> None:
    env = SingleSeatVector(2)
    for call in (env.action_masks, lambda: env.step([0, 0])):
        with pytest.raises(RuntimeError, match=r"reset\(\)"):
            call()
    with pytest.raises(ValueError, match="options: expected none, got 'scores'"):
        env.reset(options={"scores": [0, 0, 0]})
    env.reset(seed=0)
    for actions in ([0], [[0, 0]], [0.0, 1.0], 0):
        with pytest.raises(ValueError, match=r"actions: expected whole numbers \(2,\)"):
            env.step(actions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs=0"),
        ({"reward": "money"}, "reward='money'"),
        ({"episode": "round"}, "reward='win' with episode='round'"),
        ({"seat": 3}, "seat=3: expected a seat from 0 to 2"),
        ({"k": 0}, "k=0: expected a whole number from 1"),
        ({"opponents": []}, "opponents: expected 1 to 2 for players=3, got 0"),
        ({"opponents": "gredy"}, "did you mean 'greedy'"),
        ({"tables": [1]}, r"tables: expected whole numbers \(4,\)"),
        ({"threads": 0}, "threads=0"),
        ({"render_mode": "ansi"}, "render_mode='ansi'"),
        ({"taget": 7}, "did you mean 'target'"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SingleSeatVector(**{"num_envs": 4, **options})


# ---- learning -------------------------------------------------------------------------------------------------------


def test_a_policy_gradient_learns_on_it() -> None:
    """A few lines of torch: rounds paid by their margin, one linear score a candidate, against random arrangements."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    env = SingleSeatVector(512, "online", opponents="random", k=16, reward="points", episode="round", target=50)
    score = torch.nn.Linear(env.single_observation_space["candidates"].shape[1], 1)
    optimizer = torch.optim.Adam(score.parameters(), lr=0.03)
    seen, _ = env.reset(seed=1)
    paid = []
    for _ in range(60):
        logits = score(torch.as_tensor(seen["candidates"])).squeeze(-1)
        logits = logits.masked_fill(torch.as_tensor(seen["action_mask"][:, :16] == 0), -1e9)
        policy = torch.distributions.Categorical(logits=logits)
        chosen = policy.sample()
        seen, rewards, terminated, _, _ = env.step(chosen.numpy())
        assert terminated.all()
        paid.append(rewards.mean())
        advantage = torch.as_tensor((rewards - rewards.mean()) / rewards.std(), dtype=torch.float32)
        loss = -(policy.log_prob(chosen) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert abs(np.mean(paid[:5])) < 0.2  # as the others
    assert np.mean(paid[-10:]) > 0.3
