"""All seats of many tables as environments of SB3's own: what single games say of each seat."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from prial.agents.solver_table import find_solver_table
from prial.envs.crash.candidates_view import offered_candidates, padded_features
from prial.envs.crash.game import Game
from prial.envs.crash.observation import encode_seat
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.scoring import margins
from prial.training.ppo_tables import AllSeatsVecEnv

RULES = CrashRules.preset("online")
TABLES, SEATS = 2, 3


def drawn(env: AllSeatsVecEnv, rng: np.random.Generator) -> np.ndarray:
    masks = get_action_masks(env)
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def chances(game: Game) -> np.ndarray:
    """On the scale of the reward, by seat."""
    return 3 * find_solver_table(RULES).equity.shares_at(np.array([game.scores]), np.array([game.dealer]))[0] - 1


@pytest.mark.parametrize("reward", ["win", "points", "chances"])
def test_seats_see_and_get_what_games_say(reward: Any) -> None:
    equity = find_solver_table(RULES).equity if reward == "chances" else None
    env = AllSeatsVecEnv(TABLES, RULES, k=8, reward="points" if reward == "points" else "win", equity=equity)
    env.seed(5)
    seen: Any = env.reset()
    rng, ended, going = np.random.default_rng(1), 0, 0
    for _ in range(30):
        actions, games = drawn(env, rng), [env.engine.game(table) for table in range(TABLES)]
        before = [chances(game) for game in games]
        for row, action in enumerate(actions.tolist()):
            game, seat = games[row // SEATS], row % SEATS
            offered = offered_candidates(game, seat, 8)
            np.testing.assert_array_equal(seen["observation"][row], encode_seat(game, seat))
            np.testing.assert_array_equal(seen["candidates"][row], padded_features(offered, RULES, 8))
            np.testing.assert_array_equal(np.flatnonzero(seen["action_mask"][row]), np.arange(len(offered)))
            game.step(int(offered.partitions[action]), seat)
        seen, rewards, dones, infos = env.step(actions)
        for table, game in enumerate(games):
            rows = slice(SEATS * table, SEATS * (table + 1))
            won = np.zeros(SEATS)
            if game.result is not None:
                won[list(game.result.winners)] = SEATS / len(game.result.winners)
            if reward == "points":
                expected = np.array(margins(game.round_points))
            elif reward == "win":
                expected = np.zeros(SEATS) if game.result is None else won - 1
            else:
                expected = (chances(game) if game.result is None else won - 1) - before[table]
            np.testing.assert_allclose(rewards[rows], expected, atol=1e-6)
            assert dones[rows].tolist() == [game.result is not None] * SEATS
            assert ["episode" in info for info in infos[rows]] == dones[rows].tolist()
            ended, going = ended + (game.result is not None), going + (game.result is None)
    assert ended > 2
    assert going > 2


def test_episodes_add_up_what_was_paid() -> None:
    env, rng = AllSeatsVecEnv(TABLES, RULES, k=8, reward="points"), np.random.default_rng(2)
    env.seed(3)
    env.reset()
    returns, lengths, found = np.zeros(6), np.zeros(6), 0
    while found < 12:
        _, rewards, dones, infos = env.step(drawn(env, rng))
        returns += rewards
        lengths += 1
        for row in np.flatnonzero(dones).tolist():
            assert infos[row]["episode"]["r"] == pytest.approx(returns[row], abs=1e-5)
            assert infos[row]["episode"]["l"] == lengths[row]
            returns[row], lengths[row], found = 0, 0, found + 1


def test_the_same_seed_deals_the_same() -> None:
    env = AllSeatsVecEnv(TABLES, RULES, k=8)
    env.seed(7)
    first: Any = env.reset()
    env.step(drawn(env, np.random.default_rng(0)))
    env.seed(7)
    again: Any = env.reset()
    np.testing.assert_array_equal(first["observation"], again["observation"])
    other: Any = env.reset()  # goes on
    assert (other["observation"] != again["observation"]).any()


def test_what_it_refuses() -> None:
    for rules in (CrashRules.preset("bga"), CrashRules.preset("online", crash_call="optional")):
        with pytest.raises(ValueError, match="do not decide at once"):
            AllSeatsVecEnv(2, rules, k=8)
    env = AllSeatsVecEnv(TABLES, RULES, k=8)
    assert is_masking_supported(env)
    env.reset()
    actions = drawn(env, np.random.default_rng(0))
    actions[4] = 8  # to keep, where there is no exchange
    with pytest.raises(ValueError, match="its mask rules out"):
        env.step(actions)
    with pytest.raises(AttributeError, match="no 'set_opponents'"):
        env.env_method("set_opponents", "greedy")
    with pytest.raises(AttributeError, match="no 'opponents'"):
        env.get_attr("opponents")
    with pytest.raises(AttributeError, match="cannot be set"):
        env.set_attr("k", 4)
