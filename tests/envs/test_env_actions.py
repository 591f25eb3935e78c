"""Masks and illegal input: who may do what in each phase, and what is said about the rest."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils.env_logger import EnvLogger

from prial.envs import crash_v0
from prial.envs.crash.arrangement import Arrangement
from prial.envs.crash.game import Game, IllegalActionError, Phase
from prial.envs.crash.partitions import legal_partitions
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.wrappers import CandidateActions
from tables import TABLES, step_random

LAYOUT = crash_v0.raw_env().layout


def _allowed(observation: dict[str, Any]) -> list[int]:
    return np.flatnonzero(observation["action_mask"]).tolist()


def _raw(rules: Any = "online", **options: Any) -> crash_v0.raw_env:
    env = crash_v0.raw_env(rules, **options)
    env.reset(seed=0)
    return env


def _parallel(rules: Any = "online", **options: Any) -> Any:
    env = crash_v0.parallel_env(rules, **options)
    env.reset(seed=0)
    return env


# ---- masks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("mask", ["undominated", "legal"])
def test_the_mask_of_each_agent_in_each_phase(rules: CrashRules, mask: Any) -> None:
    env = _raw(rules, mask=mask, reward="points")
    rng = np.random.default_rng(0)
    layout, seen = env.layout, set()
    for _ in range(30):
        if not env.agents or any(env.terminations.values()) or any(env.truncations.values()):
            break
        phase, game = env.game.phase, env.game
        seen.add(phase)
        for agent in env.possible_agents:
            allowed = _allowed(env.observe(agent))
            seat = env.seat_of(agent)
            if agent != env.agent_selection:
                assert allowed == []
            elif phase is Phase.EXCHANGE:
                assert allowed == [layout.keep, layout.exchange]
            elif phase is Phase.CALL:
                assert allowed == [layout.pass_, layout.call]
            elif mask == "undominated":
                assert allowed == sorted(game.undominated(seat).partitions.tolist())
            else:
                assert allowed == np.flatnonzero(legal_partitions(game.hands[seat], rules)).tolist()
        step_random(env, rng)
    expected = {Phase.ARRANGE}
    expected |= {Phase.EXCHANGE} if rules.has_exchange else set()
    expected |= {Phase.CALL} if rules.has_calls else set()
    assert seen == expected


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_agents_that_are_not_to_act_have_noop_alone_in_the_parallel_api(rules: CrashRules) -> None:
    env = crash_v0.parallel_env(rules, reward="points")
    observations, _ = env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(12):
        for agent, observation in observations.items():
            idle = env.seat_of(agent) not in env.pending
            assert (_allowed(observation) == [env.layout.noop]) == idle
            assert len(_allowed(observation)) >= 1
        if not env.agents:
            break
        observations, *_ = env.step({a: int(rng.choice(_allowed(o))) for a, o in observations.items()})


def test_two_players_choose_their_exchange_at_once_and_in_secret() -> None:
    env = _parallel("bga", players=2)
    first, second = (env.possible_agents[seat] for seat in env.game.turn_order)
    env.step({first: LAYOUT.exchange, second: LAYOUT.keep})
    assert env.game.phase is Phase.ARRANGE
    assert env.view(second).exchanges[env.seat_of(first)] is True
    aec = _raw("bga", players=2)
    before = aec.observe(second)["observation"]
    aec.step(LAYOUT.exchange)
    assert aec.agent_selection == second
    np.testing.assert_array_equal(aec.observe(second)["observation"], before)
    assert _allowed(aec.observe(second)) == [LAYOUT.keep, LAYOUT.exchange]


def test_of_three_players_the_first_to_exchange_ends_it() -> None:
    env = _raw("bga")
    first, second, third = (env.possible_agents[seat] for seat in env.game.turn_order)
    env.step(LAYOUT.keep)
    assert env.agent_selection == second
    assert env.view(second).exchanges[env.seat_of(first)] is False
    env.step(LAYOUT.exchange)
    assert env.game.phase is Phase.ARRANGE
    assert env.view(third).exchanges[env.seat_of(second)] is True
    assert env.game.exchanges[env.seat_of(third)] is None
    parallel = _parallel("bga")
    observations, *_ = parallel.step({first: LAYOUT.exchange, second: LAYOUT.noop, third: LAYOUT.noop})
    assert all(LAYOUT.keep not in _allowed(o) and LAYOUT.exchange not in _allowed(o) for o in observations.values())


def test_given_up_cards_are_their_owners_alone_and_do_not_come_back() -> None:
    env = _raw("bga")
    owner = env.agent_selection
    given_up = set(env.view(owner).cards)
    env.step(LAYOUT.exchange)
    assert set(env.view(owner).given_up) == given_up
    for agent in env.possible_agents:
        others_see = env.observe(agent)["observation"][52:104]
        assert (others_see.sum() == 13) == (agent == owner)
        assert not given_up & set(env.view(agent).cards)


@pytest.mark.parametrize(("players", "cards"), [(4, 13), (5, 9)])
def test_four_and_five_players_do_not_exchange(players: int, cards: int) -> None:
    env = _raw("bga", players=players)
    assert env.rules.cards_dealt == cards
    assert env.game.phase is Phase.ARRANGE


# ---- illegal input: the bare environment --------------------------------------------------------------------------


def _unchanged(env: Any, action: Any, match: str) -> None:
    before = copy.deepcopy(env)
    with pytest.raises(IllegalActionError, match=match):
        env.step(action)
    assert env.agent_selection == before.agent_selection
    assert env.game.events == before.game.events
    assert env.rewards == before.rewards
    assert env._cumulative_rewards == before._cumulative_rewards
    assert env.terminations == before.terminations
    np.testing.assert_array_equal(env.state(), before.state())


@pytest.mark.parametrize("action", [LAYOUT.keep, LAYOUT.call, LAYOUT.noop, -1, 10**9])
def test_what_is_no_arrangement_is_refused_by_name(action: int) -> None:
    env = _raw()
    _unchanged(env, action, rf"player_1 \(arrange phase\): action {action}")


@pytest.mark.parametrize("action", [None, "0", 1.5, True, np.zeros(2), [1]])
def test_what_is_no_number_is_refused(action: Any) -> None:
    env = _raw()
    _unchanged(env, action, r"player_1 \(arrange phase\)")


@pytest.mark.parametrize("action", [0, LAYOUT.pass_, LAYOUT.noop])
def test_an_exchange_takes_keep_or_exchange(action: int) -> None:
    env = _raw("bga")
    _unchanged(
        env, action, rf"player_1 \(exchange phase\): action {action} .*expected keep \(417847\) or exchange \(417848\)"
    )


def test_a_call_takes_pass_or_call() -> None:
    env = _raw(TABLES["optional-call-4"])
    rng = np.random.default_rng(0)
    while env.game.phase is not Phase.CALL:
        step_random(env, rng)
    _unchanged(env, 5, r"\(call phase\): action 5 .*expected pass \(417849\) or call \(417850\)")


def test_a_triple_that_is_no_hand_is_refused_with_its_cards() -> None:
    env = _raw()
    game = env.game
    bad = int(np.flatnonzero(legal_partitions(game.hands[1], env.rules) == 0)[0])
    _unchanged(env, bad, r"is no hand \(lowest_hand is pair\)")


def _online_deal(**options: Any) -> crash_v0.raw_env:
    """The deal of a table where player_0 is to act and holds three aces, and pairs below."""
    rules = CrashRules.preset("online", players=2, **options)
    hands = ["As Ad Ac Ah Ks Kd 9c 7h 5d 4s 4h 2c 2d", "3s 3d 6c 6h 8s 8d 9h Th Jd Js Qh Qc 5c"]
    env = _raw(rules)
    env._game = Game.from_deal(rules, hands, dealer=1)
    env._select()
    return env


def test_a_dominated_arrangement_is_refused_and_the_way_out_is_named() -> None:
    env = _online_deal()
    assert env.agent_selection == "player_0"
    weak = Arrangement.parse("4s 4h 9c").index(env.game.hands[0], env.rules)
    _unchanged(
        env, weak, rf"player_0 \(arrange phase\): action {weak} .* is dominated by arrangement \d+.*mask='legal'"
    )
    env.mask = "legal"
    env.step(weak)
    assert env.game.laid[0] == weak


def test_what_is_equal_to_the_representative_is_refused_naming_it() -> None:
    rules = CrashRules.preset("online", players=2, cards_dealt=6, quads_bonus=0)
    env = _raw(rules)
    env._game = Game.from_deal(rules, ["Ks Kd Kh Kc 2c 2d", "3s 3d 6c 6h 8s 8d"], dealer=1)
    env._select()
    kept = int(env.game.undominated(0).partitions[0])
    equal = [Arrangement.of([f"K{a} K{b} K{c}", f"K{d} 2c 2d"], "Ks Kd Kh Kc 2c 2d") for a, b, c, d in ("sdhc", "cdhs")]
    for index in {laid.index(env.game.hands[0], rules) for laid in equal} - {kept}:
        _unchanged(env, index, rf"action {index} .* is no better than arrangement {kept}")


def test_nothing_laid_is_legal_but_dominated() -> None:
    env = _raw()
    _unchanged(env, 0, r"is dominated by arrangement")
    env = _raw(mask="legal")
    env.step(0)
    assert str(env.game.arrangement(1)).startswith(" / ") or env.game.laid[1] == 0


@pytest.mark.parametrize("action", [np.int64(7), np.int32(7), np.array(7), np.uint8(7)])
def test_numpy_integers_are_actions(action: Any) -> None:
    env = _raw(TABLES["six-cards-5"], mask="legal")
    agent = env.agent_selection
    env.step(type(action)(0) if not isinstance(action, np.ndarray) else np.array(0))
    assert env.game.laid[env.seat_of(agent)] == 0


def test_calls_out_of_order() -> None:
    env = crash_v0.raw_env()
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), env.state, lambda: env.game):
        with pytest.raises(RuntimeError, match=r"call reset\(\)"):
            call()
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    while not any(env.terminations.values()):
        step_random(env, rng)
    with pytest.raises(ValueError, match="only valid action is None"):
        env.step(0)
    while env.agents:
        env.step(None)
    with pytest.raises(RuntimeError, match=r"the game is over: call reset\(\)"):
        env.step(0)
    assert env.observe("player_0")["action_mask"].sum() == 0


def test_unknown_agents_are_named() -> None:
    env = _raw()
    for call in (env.observe, env.view, env.action_space, env.observation_space):
        with pytest.raises(ValueError, match=r"no agent 'player_3'; expected one of player_0, player_1, player_2"):
            call("player_3")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"reward": "score"}, r"reward='score': expected 'win' or 'points'"),
        ({"episode": "hand"}, r"episode='hand': expected 'game' or 'round'"),
        ({"mask": "none"}, r"mask='none': expected 'undominated' or 'legal'"),
        ({"render_mode": "svg"}, r"render_mode='svg': expected None or 'ansi' or 'human' or 'rgb_array'"),
        ({"scores": [0, 0]}, r"scores=\(0, 0\): expected 3 whole numbers from 0 to 6"),
        ({"scores": [0, 0, 7]}, r"below the target"),
        ({"dealer": 3}, r"dealer=3: expected a seat from 0 to 2"),
        ({"player": 2}, r"unknown option 'player'; did you mean 'players'"),
        ({"stakes": 1}, r"house rule 'stakes' is not played"),
        ({"players": 5}, r"players=5 with cards_dealt=13"),
        ({"rules": "onlin"}, r"did you mean 'online'"),
        ({"rules": 7}, r"rules=7: expected"),
    ],
)
@pytest.mark.parametrize("make", [crash_v0.raw_env, crash_v0.env, crash_v0.parallel_env])
def test_options_that_do_not_fit_are_refused(make: Any, options: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        make(**options)


def test_illegal_must_be_lose_or_raise() -> None:
    with pytest.raises(ValueError, match=r"illegal='ignore': expected 'lose' or 'raise'"):
        crash_v0.parallel_env(illegal="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [crash_v0.raw_env, crash_v0.parallel_env])
def test_unknown_reset_options_are_refused(make: Any) -> None:
    with pytest.raises(ValueError, match=r"unknown reset options \['target'\]; expected 'scores' or 'dealer'"):
        make().reset(seed=0, options={"target": 3})


# ---- illegal input: env() -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [lambda env: env, lambda env: CandidateActions(env, k=32)], ids=["full", "candidates"])
def test_an_illegal_action_ends_the_game_of_env(wrap: Any) -> None:
    env = wrap(crash_v0.env("online"))
    env.reset(seed=0)
    EnvLogger.suppress_output()
    EnvLogger.flush()
    offender = env.agent_selection
    env.step(int(env.action_space(offender).n) - 1)
    assert len(EnvLogger.mqueue) == 1
    EnvLogger.flush()
    paid = {}
    while env.agents:
        agent = env.agent_selection
        observation, reward, terminated, _, _ = env.last()
        assert terminated
        assert observation["action_mask"].sum() == 0
        paid[agent] = reward
        env.step(None)
    assert paid == {agent: -1 if agent == offender else 0 for agent in env.possible_agents}
    env.reset()
    observation, *_ = env.last()
    env.step(_allowed(observation)[0])
    assert not any(env.terminations.values())


@pytest.mark.parametrize("wrap", [lambda env: env, CandidateActions], ids=["full", "candidates"])
def test_what_is_no_action_is_a_value_error_of_env(wrap: Any) -> None:
    env = wrap(crash_v0.env("online"))
    env.reset(seed=0)
    for action in (None, -1, env.action_space("player_0").n, 0.5, "keep"):
        with pytest.raises(IllegalActionError, match=r"player_1 \(arrange phase\)"):
            env.step(action)
    assert not any(env.terminations.values())


def test_calls_out_of_order_are_runtime_errors_of_env() -> None:
    env = crash_v0.env("online")
    for call in (
        lambda: env.step(0),
        lambda: env.observe("player_0"),
        env.state,
        env.render,
        lambda: list(env.agent_iter()),
    ):
        with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
            call()
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    while env.agents:
        observation, _, terminated, truncated, _ = env.last()
        dead = terminated or truncated
        if dead:
            with pytest.raises(IllegalActionError, match="takes None, not 3"):
                env.step(3)
        env.step(None if dead else int(rng.choice(_allowed(observation))))
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        env.step(None)


# ---- illegal input: parallel_env() --------------------------------------------------------------------------------


def _first_legal(env: Any) -> dict[str, int]:
    observations = env._observations(env.agents)
    return {agent: _allowed(observation)[0] for agent, observation in observations.items()}


@pytest.mark.parametrize(
    ("at_fault", "paid"),
    [
        (["player_0"], [-1, 0.5, 0.5]),
        (["player_1", "player_2"], [2, -1, -1]),
        (["player_0", "player_1", "player_2"], [0, 0, 0]),
    ],
)
@pytest.mark.parametrize("reward", ["win", "points"])
def test_losers_pay_one_and_the_others_share_it(at_fault: list[str], paid: list[float], reward: Any) -> None:
    env = _parallel(reward=reward)
    actions = _first_legal(env) | dict.fromkeys(at_fault, LAYOUT.keep)
    with pytest.warns(crash_v0.IllegalActionWarning, match=rf"lost by {', '.join(at_fault)}: .*\(arrange phase\)"):
        observations, rewards, terminations, truncations, _ = env.step(actions)
    assert list(rewards.values()) == paid
    assert all(terminations.values())
    assert not any(truncations.values())
    assert env.agents == []
    assert all(_allowed(observation) == [LAYOUT.noop] for observation in observations.values())
    with pytest.raises(RuntimeError, match=r"the game is over: call reset\(\)"):
        env.step({})


@pytest.mark.parametrize("fault", [LAYOUT.keep, LAYOUT.noop, -1, None, 0])
def test_raise_changes_nothing(fault: Any) -> None:
    env = _parallel(illegal="raise")
    before = env.state()
    with pytest.raises(IllegalActionError, match=r"player_2 \(arrange phase\)"):
        env.step(_first_legal(env) | {"player_2": fault})
    np.testing.assert_array_equal(env.state(), before)
    assert env.agents == env.possible_agents
    env.step(_first_legal(env))


def test_who_is_not_to_act_may_be_left_out_but_not_act() -> None:
    env = _parallel("bga", illegal="raise")
    first, second, _ = (env.possible_agents[seat] for seat in env.game.turn_order)
    with pytest.raises(
        IllegalActionError, match=rf"{second} \(exchange phase\): .*not to act, expected noop \(417851\)"
    ):
        env.step({first: LAYOUT.keep, second: LAYOUT.keep})
    env.step({first: LAYOUT.keep})
    assert env.pending == (env.seat_of(second),)


def test_missing_and_foreign_actions_are_errors_whatever_illegal_says() -> None:
    env = _parallel()
    with pytest.raises(ValueError, match=r"no action of player_2, .*arrange phase"):
        env.step({"player_0": 0, "player_1": 0})
    with pytest.raises(ValueError, match=r"actions of \['player_7'\]; the agents are player_0, player_1, player_2"):
        env.step({"player_7": 0})
    assert env.agents == env.possible_agents
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        crash_v0.parallel_env().step({})


def test_sampling_blindly_loses_with_a_warning_not_a_traceback() -> None:
    for wrap in (lambda env: env, CandidateActions):
        env = wrap(crash_v0.parallel_env("online"))
        env.reset(seed=0)
        for agent in env.agents:
            env.action_space(agent).seed(1)
        with pytest.warns(crash_v0.IllegalActionWarning):
            env.step({agent: env.action_space(agent).sample() for agent in env.agents})
        assert env.agents == []


# ---- what only looks like a number ------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", [True, -1, 1.0, np.array([1, 2]), "1"], ids=str)
@pytest.mark.parametrize(
    "made",
    [
        crash_v0.raw_env,
        crash_v0.env,
        lambda: CandidateActions(crash_v0.raw_env()),
        lambda: CandidateActions(crash_v0.env()),
    ],
)
def test_what_is_no_action_number_is_refused_alike(made: Any, action: Any) -> None:
    env = made()
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match=r"player_. \(arrange phase\): "):
        env.step(action)
    assert not any(env.terminations.values())


@pytest.mark.parametrize("noop", [float(LAYOUT.noop), np.array([LAYOUT.noop] * 2), np.zeros(0), True, None], ids=str)
def test_a_noop_that_is_no_whole_number_is_illegal(noop: Any) -> None:
    for illegal in ("raise", "lose"):
        env = crash_v0.parallel_env("traditional", illegal=illegal, players=3)
        env.reset(seed=0)
        first = env.game.pending[0]
        assert len(env.game.pending) == 1
        actions = {agent: noop for agent in env.agents if env.seat_of(agent) != first}
        actions[f"player_{first}"] = env.layout.keep
        if illegal == "raise":
            with pytest.raises(IllegalActionError, match="not to act, expected noop"):
                env.step(actions)
        else:
            with pytest.warns(crash_v0.IllegalActionWarning, match="not to act, expected noop"):
                _, rewards, *_ = env.step(actions)
            assert [rewards[agent] for agent in actions] == [-1, -1, 2]


@pytest.mark.parametrize("made", [crash_v0.raw_env, crash_v0.env])
def test_nothing_is_seen_before_reset(made: Any) -> None:
    env = made()
    for call in (env.last, lambda: env.observe("player_0")):
        with pytest.raises(RuntimeError, match=r"call reset\(\)"):
            call()


@pytest.mark.parametrize("made", [crash_v0.raw_env, crash_v0.env, crash_v0.parallel_env])
def test_seeds_and_scores_that_are_none_are_refused(made: Any) -> None:
    for seed in (True, -1, 1.5):
        with pytest.raises(ValueError, match=f"seed={seed}: expected a whole number from 0"):
            made().reset(seed=seed)
    with pytest.raises(ValueError, match="scores=5: expected 3 whole numbers"):
        made(scores=5)
    with pytest.raises(ValueError, match="scores=5: expected 3 whole numbers"):
        made().reset(options={"scores": 5})


@pytest.mark.parametrize("first_deal", [-1, True, 0.5])
def test_a_first_deal_that_is_no_number_is_refused(first_deal: Any) -> None:
    with pytest.raises(ValueError, match=f"first_deal={first_deal}: expected a whole number from 0"):
        Game(CrashRules.preset("online"), first_deal=first_deal)
