"""What agents are paid, and how games end (RULES section 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from prial.envs import crash_v0
from prial.envs.crash.events import RoundEnd, Termination
from prial.envs.crash.game import Game
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.scoring import margins
from prial.envs.crash.wrappers import CandidateActions
from tables import TABLES, play_aec, play_parallel, totals_aec, totals_parallel

SEEDS = range(4)
QUICK = {"mask": "undominated"}


def _options(rules: CrashRules, reward: str, episode: str) -> dict[str, Any]:
    return {"rules": rules, "reward": reward, "episode": episode}


KINDS_OF_PAY = [("win", "game"), ("points", "game"), ("points", "round")]


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize(("reward", "episode"), KINDS_OF_PAY)
def test_aec_and_parallel_pay_the_same_for_the_same_decisions(rules: CrashRules, reward: str, episode: str) -> None:
    options = _options(rules, reward, episode)
    aec, parallel = CandidateActions(crash_v0.env(**options)), CandidateActions(crash_v0.parallel_env(**options))
    for seed in SEEDS:
        one, other = totals_aec(aec, seed=seed), totals_parallel(parallel, seed=seed)
        assert one == pytest.approx(other)
        assert aec.unwrapped.game.scores == parallel.unwrapped.game.scores
        assert aec.unwrapped.game.result == parallel.unwrapped.game.result
        assert sum(one.values()) == pytest.approx(0)


@pytest.mark.parametrize("name", ["online-3", "bga-2", "optional-call-3"])
def test_the_full_action_space_pays_the_same_too(name: str) -> None:
    rules = TABLES[name]
    assert totals_aec(crash_v0.env(rules), seed=0) == totals_parallel(crash_v0.parallel_env(rules), seed=0)
    assert totals_aec(crash_v0.raw_env(rules, mask="legal"), seed=0) == totals_parallel(
        crash_v0.parallel_env(rules, mask="legal"), seed=0
    )


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_win_pays_players_times_the_share_minus_one(rules: CrashRules) -> None:
    env = CandidateActions(crash_v0.raw_env(rules))
    for seed in SEEDS:
        totals = totals_aec(env, seed=seed)
        result = env.unwrapped.game.result
        assert result is not None
        for seat, agent in enumerate(env.possible_agents):
            assert totals[agent] == rules.players * result.win_share(seat) - 1


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_points_pay_each_margin_in_the_step_that_ends_the_round(rules: CrashRules) -> None:
    env = CandidateActions(crash_v0.parallel_env(rules, reward="points"))
    observations, _ = env.reset(seed=1)
    game: Game = env.unwrapped.game
    told = len(game.events)
    for _, rewards, *_ in play_parallel(env, observations):
        new, told = game.events[told:], len(game.events)
        ends = [event for event in new if isinstance(event, RoundEnd)]
        expected = margins(ends[0].points) if ends else (0.0,) * rules.players
        assert tuple(rewards.values()) == pytest.approx(expected)
        assert sum(rewards.values()) == pytest.approx(0)


def test_a_win_shared_by_two_of_three_pays_half_to_each() -> None:
    """bga at 6-6: both score 2 in the round."""
    rules = CrashRules.preset("bga", players=3, cards_dealt=6, lowest_hand="high_card", exchange="none", target=7)
    hands = ["As Ad Ac 2s 2d 4c", "Ks Kd Kc 3s 3d 5c", "7h 8d 9c Ts Jd 4h"]
    env = crash_v0.raw_env(rules)
    env.reset(seed=0, options={"scores": [6, 6, 0]})
    env._game = Game.from_deal(rules, hands, dealer=2, scores=[6, 6, 0])
    env._select()
    paid = dict.fromkeys(env.possible_agents, 0.0)
    for agent, _, reward, _, _ in play_aec(env, choose=lambda _, mask: int(np.flatnonzero(mask)[0])):
        paid[agent] += reward
    result = env.game.result
    assert result is not None
    assert result.reason is Termination.TARGET
    share = rules.players / len(result.winners)
    assert [paid[agent] for agent in env.possible_agents] == [
        (share if seat in result.winners else 0) - 1 for seat in range(3)
    ]


@pytest.mark.parametrize("make", [crash_v0.raw_env, crash_v0.env], ids=["raw", "env"])
@pytest.mark.parametrize("name", ["online-3", "bga-5", "cut-off-3"])
def test_all_agents_end_together_in_the_aec_api(make: Any, name: str) -> None:
    env = CandidateActions(make(TABLES[name]))
    env.reset(seed=2)
    ended = []
    for agent, _, _, terminated, truncated in play_aec(env):
        if ended:
            assert terminated or truncated
        if terminated or truncated:
            ended.append(agent)
            assert terminated != truncated
            assert truncated == env.unwrapped.game.is_truncated
    assert sorted(ended) == env.possible_agents
    assert env.agents == []


@pytest.mark.parametrize("name", ["online-3", "bga-5", "cut-off-3"])
def test_all_agents_end_together_in_the_parallel_api(name: str) -> None:
    env = CandidateActions(crash_v0.parallel_env(TABLES[name]))
    observations, _ = env.reset(seed=2)
    for _, rewards, terminations, truncations, infos in play_parallel(env, observations):
        assert list(rewards) == list(terminations) == list(truncations) == list(infos) == env.possible_agents
        assert len(set(terminations.values())) == len(set(truncations.values())) == 1
        over = terminations["player_0"] or truncations["player_0"]
        assert (env.agents == []) == over
        assert truncations["player_0"] == env.unwrapped.game.is_truncated


def test_a_game_cut_off_is_truncated_and_the_highest_score_wins() -> None:
    env = crash_v0.parallel_env(TABLES["cut-off-3"], scores=[50, 20, 50])
    observations, _ = env.reset(seed=0)
    *_, last = play_parallel(env, observations)
    _, rewards, terminations, truncations, _ = last
    game = env.game
    assert game.rounds_played == 2
    assert not any(terminations.values())
    assert all(truncations.values())
    best = max(game.scores)
    winners = [seat for seat, score in enumerate(game.scores) if score == best]
    assert list(rewards.values()) == [3 / len(winners) - 1 if seat in winners else -1 for seat in range(3)]


def test_a_round_starts_from_given_scores_and_dealer() -> None:
    env = crash_v0.parallel_env("online", reward="points", episode="round", scores=[1, 2, 3], dealer=2)
    for options, scores, dealer in (({}, (1, 2, 3), 2), ({"scores": (6, 0, 0), "dealer": 0}, (6, 0, 0), 0)):
        env.reset(seed=5, options=options)
        assert (env.game.scores, env.game.dealer) == (scores, dealer)
    observations, _ = env.reset()
    steps = list(play_parallel(env, observations))
    assert len(steps) == 1
    assert all(steps[-1][2].values())
    assert env.game.scores != (1, 2, 3)


@pytest.mark.parametrize("make", [crash_v0.raw_env, crash_v0.env, crash_v0.parallel_env])
def test_win_for_a_single_round_is_refused_naming_both(make: Any) -> None:
    with pytest.raises(ValueError, match=r"reward='win' with episode='round'.*reward='points'"):
        make("online", episode="round")
