"""`CandidateActions`: what its numbers mean, the largest deals, speed, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pettingzoo.utils.wrappers import BaseWrapper

from prial.envs import crash_v0
from prial.envs.brag import strength_table
from prial.envs.cards import parse_cards
from prial.envs.crash.candidates_view import best_candidates
from prial.envs.crash.features import CANDIDATE_FEATURES, candidate_features
from prial.envs.crash.game import Game, IllegalActionError, Phase
from prial.envs.crash.partitions import CandidateBatch, Candidates, undominated, undominated_many
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.table import CrashTable
from prial.envs.crash.wrappers import CandidateActions
from tables import TABLES, play_aec

# RULES section 6.
LARGE_DEALS = {"3c 3h 4h 6c 6h 7d 7h 9h Th Ts Qh Kh Ah": 676, "2c 2h 4h 5h 5s 7h 8h Tc Th Jh Kh Ah As": 736}
ONLINE = CrashRules.preset("online")


def _env(rules: CrashRules | str = "online", *, k: int = 128, **options: Any) -> Any:
    env = CandidateActions(crash_v0.raw_env(rules, **options), k=k)
    env.reset(seed=0)
    return env


def _parallel(rules: CrashRules | str = "online", *, k: int = 128, **options: Any) -> Any:
    env = CandidateActions(crash_v0.parallel_env(rules, **options), k=k)
    env.reset(seed=0)
    return env


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_candidates_are_the_undominated_arrangements_in_order(rules: CrashRules) -> None:
    env = _env(rules)
    layout = env.layout
    for agent, observation, _, terminated, truncated in play_aec(env):
        game, seat = env.unwrapped.game, env.unwrapped.seat_of(agent)
        assert env.observation_space(agent).contains(observation)
        if terminated or truncated:
            assert observation["action_mask"].sum() == 0
            continue
        found = game.undominated(seat)
        allowed = np.flatnonzero(observation["action_mask"]).tolist()
        full = [env.full_action(action) for action in allowed]
        rows = observation["candidates"]
        if game.phase is Phase.CALL:
            # The one arrangement that lies on the table.
            assert full == [layout.pass_, layout.call]
            assert rows[:, 0].sum() == 1
            continue
        assert len(found) <= 128
        np.testing.assert_array_equal(rows[: len(found)], candidate_features(found, rules))
        assert not rows[len(found) :].any()
        if game.phase is Phase.EXCHANGE:
            assert (allowed, full) == ([128, 129], [layout.keep, layout.exchange])
        else:
            assert allowed == list(range(len(found)))
            assert full == found.partitions.tolist()


def test_candidate_zero_is_what_greedy_lays() -> None:
    rng = np.random.default_rng(0)
    table = strength_table(ONLINE.flush_order, ONLINE.lowest_class)
    for _ in range(50):
        deal = np.sort(rng.permutation(52)[:13]).tolist()
        found = undominated(deal, ONLINE)
        rows = [tuple(row) for row in found.strengths.tolist()]
        assert rows[0] == max(rows)
        assert rows[0][0] == max(
            table[c * (c - 1) * (c - 2) // 6 + b * (b - 1) // 2 + a]
            for a in deal
            for b in deal
            for c in deal
            if a < b < c
        )


def test_the_wrapped_environment_plays_the_full_action() -> None:
    env, plain = _env("bga"), crash_v0.raw_env("bga")
    plain.reset(seed=0)
    rng = np.random.default_rng(0)
    while not any(env.terminations.values()):
        observation, *_ = env.last()
        action = int(rng.choice(np.flatnonzero(observation["action_mask"])))
        plain.step(env.full_action(action))
        env.step(action)
        assert env.unwrapped.game.events == plain.game.events
    assert env.unwrapped._cumulative_rewards == plain._cumulative_rewards


def test_parallel_numbers_are_the_same_and_noop_comes_last() -> None:
    env = _parallel("bga", k=16)
    assert env.action_space("player_0").n == 21
    first, *others = (env.possible_agents[seat] for seat in env.unwrapped.game.turn_order)
    assert env.full_action(16, first) == env.layout.keep
    assert env.full_action(17, first) == env.layout.exchange
    observations, _ = env.reset(seed=0)
    for agent in others:
        assert np.flatnonzero(observations[agent]["action_mask"]).tolist() == [20]
        assert env.full_action(20, agent) == env.layout.noop
    env.step({first: 17} | dict.fromkeys(others, 20))
    assert env.unwrapped.game.phase is Phase.ARRANGE


# ---- more than k --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "count"), LARGE_DEALS.items())
@pytest.mark.parametrize("k", [1, 32, 128, 675])
def test_the_largest_deals_keep_k_in_order(text: str, count: int, k: int) -> None:
    found = undominated([card.id for card in sorted(parse_cards(text))], ONLINE)
    assert len(found) == count
    kept = best_candidates(found, ONLINE, k)
    assert len(kept) == k
    places = [int(np.flatnonzero(found.partitions == index)[0]) for index in kept.partitions]
    assert places == sorted(places)
    assert places[0] == 0
    np.testing.assert_array_equal(kept.strengths, found.strengths[places])


@pytest.mark.parametrize("text", LARGE_DEALS)
def test_the_environment_takes_the_largest_deals(text: str) -> None:
    rest = [card for card in range(52) if card not in {c.id for c in parse_cards(text)}]
    for k in (8, 1000):
        env = _env(CrashRules.preset("online", players=2), k=k)
        env.unwrapped._game = Game.from_deal(env.rules, [text, rest[:13]], dealer=1)
        env.unwrapped._select()
        observation = env.observe("player_0")
        assert observation["action_mask"].sum() == min(k, LARGE_DEALS[text])
        assert env.observation_space("player_0").contains(observation)
        last = int(np.flatnonzero(observation["action_mask"])[-1])
        full = env.full_action(last)
        env.step(last)
        assert env.unwrapped.game.laid[0] == full


def _percentiles(batch: CandidateBatch) -> np.ndarray:
    """How often a hand of each strength beats another player's at each position, both laying what `greedy` lays."""
    first = batch.strengths[batch.offsets[:-1]]
    counts = np.stack([np.bincount(first[:, position], minlength=742) for position in range(4)])
    return (np.cumsum(counts, axis=1) - counts / 2) / len(first)


def _value(found: Candidates, table: np.ndarray, *, opponents: int, all_four: float) -> np.ndarray:
    chances = np.where(found.strengths > 0, table[np.arange(4), found.strengths] ** opponents, 0)
    return chances.sum(axis=1) + all_four * chances.prod(axis=1) + found.quads


def _lost(rng: np.random.Generator, *, deals: int, k: int) -> tuple[int, list[float]]:
    """Deal hands; returns how many had more than k candidates, and for each of those the value lost by the cut."""
    batches = [np.sort(np.argsort(rng.random((50_000, 52)), axis=1)[:, :13], axis=1) for _ in range(deals // 50_000)]
    table, losses, large = None, [], 0
    for batch in batches:
        found = undominated_many(batch.astype(np.int8), ONLINE)
        table = _percentiles(found) if table is None else table
        for deal in np.flatnonzero(found.counts > k):
            large += 1
            kept = best_candidates(found[deal], ONLINE, k)
            for opponents, all_four in ((1, 1.0), (2, 1.0), (2, 0.0), (3, 1.0)):
                options = {"opponents": opponents, "all_four": all_four}
                losses.append(_value(found[deal], table, **options).max() - _value(kept, table, **options).max())
    return large, losses


def test_the_cut_keeps_what_a_percentile_player_would_lay() -> None:
    large, losses = _lost(np.random.default_rng(0), deals=100_000, k=32)
    assert large > 100
    assert np.mean(np.array(losses) > 0) < 0.08
    assert max(losses) < 0.3


@pytest.mark.slow
def test_the_documented_bound_of_the_cut() -> None:
    large, losses = _lost(np.random.default_rng(1), deals=1_500_000, k=128)
    print(
        f"{large} of 1,500,000 deals have more than 128 candidates; {np.mean(np.array(losses) > 0):.4f} lost the best"
    )
    assert 20 < large < 100
    assert np.mean(np.array(losses) > 0) < 0.02
    assert max(losses) < 0.05


# ---- no wide mask, and speed --------------------------------------------------------------------------------------


def test_the_wide_mask_is_never_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the wide mask was built")

    monkeypatch.setattr(CrashTable, "full_mask", refuse)
    monkeypatch.setattr("prial.envs.crash.game.legal_partitions", refuse)
    for make in (crash_v0.raw_env, crash_v0.env):
        env = CandidateActions(make("bga"))
        env.reset(seed=0)
        for _ in play_aec(env):
            pass
    parallel = _parallel("bga")
    observations, _ = parallel.reset(seed=0)
    while parallel.agents:
        actions = {a: int(np.flatnonzero(o["action_mask"])[0]) for a, o in observations.items()}
        observations, *_ = parallel.step(actions)


# ---- what it refuses ----------------------------------------------------------------------------------------------


def test_illegal_candidates_are_refused_by_name() -> None:
    env = _env()
    agent, shown = env.agent_selection, len(env.unwrapped.game.undominated(1))
    said = {shown: f"candidate {shown}", 128: "keep", 131: "call", 132: "no action", -1: "no action"}
    for action, words in said.items():
        with pytest.raises(
            IllegalActionError, match=rf"{agent} \(arrange phase\): .*{words}.*expected 0 to {shown - 1}"
        ):
            env.step(action)
    for action in (None, 1.5, "0", True, np.zeros(2)):
        with pytest.raises(IllegalActionError, match="no action"):
            env.step(action)
    assert env.unwrapped.game.laid == [None, None, None]
    exchange = _env("bga")
    with pytest.raises(IllegalActionError, match=r"expected keep \(128\) or exchange \(129\)"):
        exchange.step(0)
    with pytest.raises(IllegalActionError, match="another seat is to act"):
        env.full_action(0, "player_0")


def test_parallel_faults_lose_or_raise() -> None:
    with pytest.warns(crash_v0.IllegalActionWarning, match=r"lost by player_1: .*action 130 \(pass\)"):
        _, rewards, terminations, _, _ = _parallel().step({"player_0": 0, "player_1": 130, "player_2": 0})
    assert rewards == {"player_0": 0.5, "player_1": -1, "player_2": 0.5}
    assert all(terminations.values())
    env = _parallel(illegal="raise")
    with pytest.raises(IllegalActionError, match=r"player_2 \(arrange phase\)"):
        env.step({"player_0": 0, "player_1": 0, "player_2": 132})
    assert env.unwrapped.game.laid == [None, None, None]


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "128"])
def test_k_is_a_whole_number(k: Any) -> None:
    with pytest.raises(ValueError, match="expected a whole number from 1"):
        CandidateActions(crash_v0.raw_env(), k=k)


def test_only_our_environments_can_be_wrapped() -> None:
    for env in (BaseWrapper(crash_v0.raw_env()), _env(), _parallel(), "online"):
        with pytest.raises(TypeError, match="expected"):
            CandidateActions(env)


@pytest.mark.parametrize("make", [_env, _parallel])
def test_spaces_are_the_wrappers_own_and_the_wide_ones_are_never_made(make: Any) -> None:
    env = make(k=16)
    for agent in env.possible_agents:
        assert env.action_spaces[agent] is env.action_space(agent)
        assert env.observation_spaces[agent] is env.observation_space(agent)
        assert env.action_space(agent).n == env.observation_space(agent)["action_mask"].shape[0]
    assert "observation_spaces" not in vars(env.unwrapped)


def test_features_have_names_and_bounds() -> None:
    env = _env()
    space = env.observation_space("player_0")
    assert space["candidates"].shape == (128, len(CANDIDATE_FEATURES))
    assert env.observation_space("player_0") is space
    assert env.action_space("player_0") is not env.action_space("player_1")
    quads = "As Ad Ah Ac Ks Kd Kh Kc Qs Qd Qh Qc 2c"
    rest = [card for card in range(52) if card not in {c.id for c in parse_cards(quads)}]
    env = _env(CrashRules.preset("online", players=2))
    env.unwrapped._game = Game.from_deal(env.rules, [quads, rest[:13]], dealer=1)
    assert env.observe("player_0")["candidates"].max() == space["candidates"].high.max() == 3
