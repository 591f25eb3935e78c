"""SB3's `VecEnv` on the batched engine: what `DummyVecEnv` with a `Monitor` around each table gives, and MaskablePPO."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
vec_env = pytest.importorskip("stable_baselines3.common.vec_env")
sb3_contrib = pytest.importorskip("sb3_contrib")

from sb3_contrib.common.maskable.evaluation import evaluate_policy  # noqa: E402
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported  # noqa: E402
from stable_baselines3.common.monitor import Monitor  # noqa: E402

from prial.agents import SingleSeat, SingleSeatVector  # noqa: E402
from prial.agents.solver_table import find_solver_table  # noqa: E402
from prial.envs.crash.rules import CrashRules  # noqa: E402
from prial.training.single_seat_vec_env import SingleSeatVecEnv  # noqa: E402

CUT_OFF = CrashRules.preset("bga", max_rounds=2)


class SameSeed(vec_env.DummyVecEnv):
    """Gives every table the same seed: they differ by their number."""

    def seed(self, seed: int | None = None) -> Any:
        self._seeds = [seed] * self.num_envs
        return self._seeds


def both(n: int, **options: Any) -> tuple[SingleSeatVecEnv, Any]:
    tables = [lambda table=table: Monitor(SingleSeat(table=table, **options)) for table in range(n)]
    return SingleSeatVecEnv(SingleSeatVector(n, **options)), SameSeed(tables)


@pytest.mark.parametrize("options", [{"k": 16}, {"rules": CUT_OFF, "actions": "hands"}], ids=["online", "cut-off"])
def test_it_gives_what_single_tables_in_monitors_give(options: dict[str, Any]) -> None:
    fast, slow = both(4, opponents="greedy", **options)
    for env in (fast, slow):
        env.seed(6)
    seen, expected = fast.reset(), slow.reset()
    rng, cut = np.random.default_rng(0), set()
    for _ in range(60):
        assert seen.keys() == expected.keys()
        for name in seen:
            np.testing.assert_array_equal(seen[name], expected[name])
        assert fast.reset_infos == slow.reset_infos
        masks = get_action_masks(fast)
        np.testing.assert_array_equal(masks, get_action_masks(slow))
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        seen, rewards, dones, infos = fast.step(actions)
        expected, paid, ended, told = slow.step(actions)
        np.testing.assert_array_equal(rewards, paid)
        assert rewards.dtype == paid.dtype
        np.testing.assert_array_equal(dones, ended)
        for info, other in zip(infos, told, strict=True):
            assert info.keys() == other.keys()
            for name, value in other.items():
                if name == "terminal_observation":
                    for part in value:
                        np.testing.assert_array_equal(info[name][part], value[part])
                elif name == "episode":
                    assert {**info[name], "t": 0} == {**value, "t": 0}
                else:
                    assert (tuple(info[name]) if name == "scores" else info[name]) == value
            if "episode" in info:
                cut.add(info["TimeLimit.truncated"])
    assert (True in cut) == (options.get("rules") is CUT_OFF)
    assert False in cut


def test_sb3_finds_masks_opponents_and_spaces() -> None:
    env = SingleSeatVecEnv(SingleSeatVector(3, "online", k=8))
    assert is_masking_supported(env)
    assert env.render_mode is None
    env.seed(1)
    first = env.reset()["observation"]
    assert get_action_masks(env).shape == (3, 12)
    assert [mask.tolist() for mask in env.env_method("action_masks", indices=[2])] == [env.action_masks()[2].tolist()]
    env.env_method("set_opponents", "random", indices=1)
    names = [[agent.name for agent in agents] for agents in env.get_attr("opponents")]
    assert names == [["greedy"] * 2, ["random"] * 2, ["greedy"] * 2]
    assert env.get_attr("action_masks", 0)[0]().shape == (12,)
    assert not np.array_equal(env.reset()["observation"], first)
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(vec_env.VecEnvWrapper) == [False] * 3
    assert not env.has_attr("game")
    with pytest.raises(AttributeError, match="tables have no 'step'"):
        env.env_method("step", 0)
    with pytest.raises(AttributeError, match="'rules' cannot be set"):
        env.set_attr("rules", None)
    env.set_options({"dealer": 1})
    with pytest.raises(ValueError, match="options: expected none"):
        env.reset()
    env.reset()  # options are for one reset
    env.close()


def test_seeds() -> None:
    env, other = (SingleSeatVecEnv(SingleSeatVector(3, "online", k=8)) for _ in range(2))
    assert env.seed(5) == [5, 5, 5]
    assert other.seed(None) != other.seed(None)
    other.seed(5)
    np.testing.assert_array_equal(env.reset()["observation"], other.reset()["observation"])
    fresh = env.seed()
    np.random.seed(0)  # noqa: NPY002  # shows that it does not matter
    assert fresh != env.seed()
    assert env.seed(np.int64(3)) == [3, 3, 3]  # type: ignore[arg-type]
    for wrong in (-1, 1.5):
        with pytest.raises(ValueError, match="seed="):
            env.seed(wrong)  # type: ignore[arg-type]


def test_maskable_ppo_trains_on_it_and_is_evaluated() -> None:
    env = SingleSeatVecEnv(SingleSeatVector(16, "online", opponents="random", k=8, reward="points", episode="round"))
    model = sb3_contrib.MaskablePPO("MultiInputPolicy", env, n_steps=32, batch_size=128, seed=1, learning_rate=3e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # evaluation warns where no Monitor reports
        before, _ = evaluate_policy(model, env, n_eval_episodes=400)
        model.learn(4096)
        after, _ = evaluate_policy(model, env, n_eval_episodes=400)
    assert len(model.ep_info_buffer) > 90
    assert {info["l"] for info in model.ep_info_buffer} == {1}
    assert after > before


@pytest.mark.parametrize("rule_set", ["online", "bga"])
def test_with_winning_chances_each_round_is_paid_what_it_changed(rule_set: str) -> None:
    """Of a game all in all: the win share less the chance that the seat began with."""
    rules = CrashRules.preset(rule_set)
    n = rules.players
    equity = find_solver_table(rules).equity
    plain = SingleSeatVecEnv(SingleSeatVector(6, rules, k=16))
    env = SingleSeatVecEnv(SingleSeatVector(6, rules, k=16), equity=equity)
    for each in (plain, env):
        each.seed(4)
        each.reset()
    engine = env.tables.engine

    def chances(seats: list[int]) -> list[float]:
        found = [equity.shares_at(engine.scores[[row]], engine.column("dealer")[[row]])[0] for row in range(6)]
        return [n * found[row][seat] - 1 for row, seat in enumerate(seats)]

    began = chances([info["seat"] for info in env.reset_infos])
    before = list(began)
    paid, games, changed = np.zeros(6), 0, 0
    for _ in range(60):
        actions = env.action_masks().argmax(axis=1)
        _, won, _, _ = plain.step(actions)
        _, rewards, dones, infos = env.step(actions)
        paid += rewards
        now = chances([info["seat"] for info in env.reset_infos])
        for row in range(6):
            if dones[row]:
                games += 1
                assert won[row] == pytest.approx(n * infos[row]["win_share"] - 1, abs=1e-6)
                assert paid[row] == pytest.approx(won[row] - began[row], abs=1e-5)
                assert infos[row]["episode"]["r"] == pytest.approx(paid[row], abs=1e-5)
                paid[row], began[row] = 0, now[row]
            else:
                changed += abs(rewards[row]) > 0.01
                assert rewards[row] == pytest.approx(now[row] - before[row], abs=1e-6)
        before = now
    assert games > 5
    assert changed > 50
