"""`HandByHand`: one sequence of picks for each arrangement, its own secrets, its own clock, and what it refuses."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.utils.wrappers import BaseWrapper

from prial.agents import SingleSeat
from prial.envs import crash_v0
from prial.envs.cards import parse_cards
from prial.envs.crash.coders import HandCoder
from prial.envs.crash.game import Game, IllegalActionError, Phase
from prial.envs.crash.observation import observation_layout, piece_slice
from prial.envs.crash.partitions import (
    laid_triples,
    slot_triples,
)
from prial.envs.crash.picking import num_triples
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.table import CrashTable, state_slice
from prial.envs.crash.worlds import sample_world
from prial.envs.crash.wrappers import HandByHand
from tables import TABLES, freeze, play_aec, play_parallel, totals_aec, totals_parallel

ONLINE = CrashRules.preset("online")
LARGE_DEALS = {"3c 3h 4h 6c 6h 7d 7h 9h Th Ts Qh Kh Ah": 676, "2c 2h 4h 5h 5s 7h 8h Tc Th Jh Kh Ah As": 736}
DONE = 286  # with 13 cards
NOOP = 291


def _aec(rules: CrashRules | str = "online", *, seed: int = 0, **options: Any) -> Any:
    env = HandByHand(crash_v0.raw_env(rules, **options))
    env.reset(seed=seed)
    return env


def _parallel(rules: CrashRules | str = "online", *, seed: int = 0, **options: Any) -> tuple[Any, Any]:
    env = HandByHand(crash_v0.parallel_env(rules, **options))
    return env, env.reset(seed=seed)[0]


# ---- the environments ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", ["undominated", "legal"])
@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_an_agent_picks_all_its_hands_in_a_row_and_sees_them(rules: CrashRules, mask: Any) -> None:
    env = _aec(rules, mask=mask)
    triples = num_triples(rules)
    laid_piece = piece_slice(rules, "laid")
    last: tuple[Any, ...] = ()
    for agent, observation, reward, terminated, truncated in play_aec(env):
        game, seat = env.unwrapped.game, env.unwrapped.seat_of(agent)
        assert env.observation_space(agent).contains(observation)
        if terminated or truncated:
            assert not observation["action_mask"].any()
            continue
        allowed = np.flatnonzero(observation["action_mask"])
        laid = observation["observation"][laid_piece].reshape(-1, 52)
        state = env.state()[state_slice(rules, "laid")].reshape(rules.players, -1, 52)
        np.testing.assert_array_equal(state[seat], laid)
        assert observation["observation"][piece_slice(rules, "to_act")] == 1
        if game.phase is Phase.ARRANGE:
            assert allowed[-1] <= triples
            picked = int(laid.sum()) // 3
            if picked:
                assert (agent, seat, game.deal_number) == last[:3]
                assert reward == 0
                assert set(env.rewards.values()) == {0}
                assert picked == last[3] + 1
            last = (agent, seat, game.deal_number, picked)
        else:
            assert (allowed - triples - 1).tolist() == ([0, 1] if game.phase is Phase.EXCHANGE else [2, 3])
            assert bool(laid.any()) <= (game.phase is Phase.CALL)


@pytest.mark.parametrize("name", ["online-3", "bga-2", "required-call-3", "flush-9-cards-2"])
def test_the_wrapped_environment_plays_what_was_picked(name: str) -> None:
    env, plain = _aec(TABLES[name]), crash_v0.raw_env(TABLES[name])
    plain.reset(seed=0)
    rng = np.random.default_rng(0)
    while not any(env.terminations.values()):
        observation, *_ = env.last()
        action = int(rng.choice(np.flatnonzero(observation["action_mask"])))
        full = env.full_action(action)
        if full is not None:
            plain.step(full)
        env.step(action)
        assert env.unwrapped.game.events == plain.game.events
    assert env.unwrapped._cumulative_rewards == plain._cumulative_rewards


@pytest.mark.parametrize("name", ["online-3", "bga-2", "bga-5", "required-call-3", "three-cards-2"])
@pytest.mark.parametrize("reward", ["win", "points"])
def test_both_apis_pay_the_same(name: str, reward: Any) -> None:
    rules = TABLES[name]
    for seed in range(4):
        aec, parallel = HandByHand(crash_v0.env(rules, reward=reward)), _parallel(rules, reward=reward)[0]
        assert totals_aec(aec, seed=seed) == totals_parallel(parallel, seed=seed)


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_in_parallel_the_arrange_phase_takes_a_step_a_hand_whatever_is_laid(rules: CrashRules) -> None:
    env, observations = _parallel(rules, mask="legal")
    triples, steps, shown = num_triples(rules), 0, Counter[int]()
    before = env.unwrapped.game.phase
    rng = np.random.default_rng(3)
    for _ in range(60):
        game = env.unwrapped.game
        for agent, told in observations.items():
            assert env.observation_space(agent).contains(told)
            allowed = np.flatnonzero(told["action_mask"])
            waiting = env.unwrapped.seat_of(agent) not in env.pending
            assert (allowed.tolist() == [triples + 5]) == waiting
            if game.phase is Phase.ARRANGE:
                assert told["observation"][piece_slice(rules, "to_act")] == (not waiting)
                shown[int(told["observation"][piece_slice(rules, "laid")].sum()) // 3] += 1
        actions = {a: int(rng.choice(np.flatnonzero(o["action_mask"]))) for a, o in observations.items()}
        # Whoever waits may be left out.
        actions = {a: act for a, act in actions.items() if act != triples + 5 or rng.random() < 0.5}
        deal, before = game.deal_number, game.phase
        observations, rewards, *_ = env.step(actions)
        steps += before is Phase.ARRANGE
        moved = env.unwrapped.game.phase is not before or env.unwrapped.game.deal_number != deal
        if before is Phase.ARRANGE:
            assert moved == (steps == rules.hands)
            if moved:
                steps = 0
            else:
                assert set(rewards.values()) == {0}
        if not env.agents:
            observations, _ = env.reset()
    assert set(shown) >= set(range(rules.hands))


def test_picks_of_a_round_do_not_reach_the_next_deal_even_of_the_same_cards() -> None:
    for env in (_aec(), _parallel()[0]):
        deal = env.unwrapped.game.hands
        for _ in range(2):
            env.reset(seed=0)
            assert env.unwrapped.game.hands == deal
            agent = f"player_{env.unwrapped.game.turn_order[0]}"
            told = env.observe(agent) if hasattr(env, "observe") else env._observations([agent])[agent]
            assert not told["observation"][piece_slice(ONLINE, "laid")].any()
            pick = int(told["action_mask"].argmax())
            if hasattr(env, "agent_iter"):
                env.step(pick)
            else:
                masks = env._observations(env.agents)
                env.step({a: int(masks[a]["action_mask"].argmax()) for a in env.agents})


@pytest.mark.parametrize("text", LARGE_DEALS)
def test_the_largest_deals(text: str) -> None:
    rest = [card for card in range(52) if card not in {c.id for c in parse_cards(text)}]
    env = _aec(CrashRules.preset("online", players=2))
    env.unwrapped._game = Game.from_deal(env.rules, [text, rest[:13]], dealer=1)
    env.unwrapped._select()
    chosen = int(env.unwrapped.game.undominated(0).partitions[-1])
    order = [slots for _, slots in laid_triples(chosen, env.unwrapped.game.hands[0], env.rules)]
    for slots in order:
        env.step(slot_triples(13).index(slots))
    assert env.unwrapped.game.laid[0] == chosen


def test_a_seat_that_can_lay_nothing_has_done_alone() -> None:
    rules = ONLINE.replace(players=2, lowest_hand="flush", cards_dealt=6)
    for mask in ("legal", "undominated"):
        env = _aec(rules, mask=mask)
        env.unwrapped._game = Game.from_deal(rules, ["2c 2d 7h 7s Kc Kd", "3c 4c 5c 6c 7c 8c"], dealer=1)
        env.unwrapped._select()
        assert np.flatnonzero(env.observe("player_0")["action_mask"]).tolist() == [20]
        env.step(20)
        assert env.unwrapped.game.laid == [0, None]


def test_the_wide_mask_is_never_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the wide mask was built")

    monkeypatch.setattr(CrashTable, "full_mask", refuse)
    monkeypatch.setattr("prial.envs.crash.game.legal_partitions", refuse)
    for make in (crash_v0.raw_env, crash_v0.env):
        env = HandByHand(make("bga"))
        env.reset(seed=0)
        for _ in play_aec(env):
            pass
        assert "observation_spaces" not in vars(env.unwrapped)
    parallel, observations = _parallel("bga")
    for _ in play_parallel(parallel, observations):
        pass


# ---- secrets ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_a_seat_is_told_the_same_whatever_is_hidden_and_whatever_others_picked(rules: CrashRules) -> None:
    """Worlds that a seat cannot tell apart, with any picks of the others, in both interfaces."""
    rng = np.random.default_rng(1)
    env, observations = _parallel(rules, mask="legal")
    different = 0
    for _ in range(12):
        game = env.unwrapped.game
        for seat, agent in enumerate(env.possible_agents):
            other = copy.deepcopy(env)
            other.unwrapped._game = world = sample_world(game, seat, rng)
            different += world.hands != game.hands
            told = other._observations([agent])[agent]
            assert freeze(told) == freeze(observations[agent])
            assert other.possible_agents == env.possible_agents
        actions = {a: int(rng.choice(np.flatnonzero(o["action_mask"]))) for a, o in observations.items()}
        observations, *_ = env.step(actions)
        if not env.agents:
            observations, _ = env.reset()
    assert different > 10


def test_what_others_pick_and_how_many_changes_nothing_that_a_seat_is_told() -> None:
    """The same deal, one seat playing the same, the others laying nothing or all they can."""
    rules = CrashRules.preset("traditional", players=3, exchange="none", crash_call="optional")
    logs = []
    for lay_nothing in (True, False):
        env, observations = _parallel(rules, mask="legal")
        log = [freeze(observations["player_0"])]
        while env.unwrapped.game.phase is Phase.ARRANGE:
            actions = {}
            for agent, told in observations.items():
                allowed = np.flatnonzero(told["action_mask"])
                nothing = lay_nothing and agent != "player_0" and allowed[-1] == DONE
                actions[agent] = DONE if nothing else int(allowed[0])
            observations, rewards, *_ = env.step(actions)
            log.append([freeze(observations["player_0"]), rewards["player_0"]])
        logs.append(log)
        assert [laid == 0 for laid in env.unwrapped.game.laid] == [False, lay_nothing, lay_nothing]
    assert logs[0] == logs[1]


# ---- copies, determinism ------------------------------------------------------------------------------------------


def _pickled(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))  # noqa: S301  # our own


@pytest.mark.parametrize("clone", [copy.deepcopy, _pickled], ids=["copy", "pickle"])
@pytest.mark.parametrize("mask", ["undominated", "legal"])
def test_copies_in_mid_arrangement_go_on_by_themselves(clone: Any, mask: Any) -> None:
    env = _aec(mask=mask)
    agent = env.agent_selection
    env.step(int(env.observe(agent)["action_mask"].argmax()))
    other = clone(env)
    assert freeze(other.observe(agent)) == freeze(env.observe(agent))
    rest = [freeze(list(play_aec(e))) for e in (env, other)]
    assert rest[0] == rest[1]
    assert len(rest[0]) > 9

    parallel, observations = _parallel(mask=mask)
    observations, *_ = parallel.step({a: int(o["action_mask"].argmax()) for a, o in observations.items()})
    other = clone(parallel)
    rest = [freeze(list(play_parallel(e, observations))) for e in (parallel, other)]
    assert rest[0] == rest[1]


# ---- what it refuses ----------------------------------------------------------------------------------------------


def test_illegal_picks_are_refused_with_the_reason() -> None:
    rules = ONLINE.replace(players=2)
    cards = "2c 2d 2h 3c 3d 5c 5d 8h 8s Jc Kd Kh As"

    def table(mask: Any) -> Any:
        env = _aec(rules, mask=mask)
        rest = [card for card in range(52) if card not in {c.id for c in parse_cards(cards)}]
        env.unwrapped._game = Game.from_deal(rules, [cards, rest[:13]], dealer=1)
        env.unwrapped._select()
        return env

    def number(text: str) -> int:
        slots = {card: slot for slot, card in enumerate(cards.split())}
        return slot_triples(13).index(tuple(slots[card] for card in text.split()))

    env = table("legal")
    env.step(number("8h 8s Jc"))
    said = {
        number("2c 3d Kh"): "2c 3d Kh, no hand: lowest_hand is pair",
        number("5c 5d 8h"): "with 8h picked before",
        number("Kd Kh As"): r"stronger than 8h 8s Jc: hands are picked strongest first",
        DONE + 1: "keep",
        DONE + 4: "call",
        DONE + 5: "no action, 0 to 290 are",
        -1: "no action, 0 to 290 are",
    }
    for action, words in said.items():
        match = (
            rf"player_0 \(arrange phase\): action {action} \(.*{words}\) is illegal; expected \d+, .* or done \(286\)"
        )
        with pytest.raises(IllegalActionError, match=match):
            env.step(action)
    for action in (None, 1.5, "0", True, np.zeros(2)):
        with pytest.raises(IllegalActionError, match="no action"):
            env.step(action)
    env = table("undominated")
    with pytest.raises(
        IllegalActionError, match=r"2c 2d 3c, which leads to no arrangement that mask='undominated' leaves"
    ):
        env.step(number("2c 2d 3c"))
    with pytest.raises(IllegalActionError, match=r"\(done\) is illegal"):
        env.step(DONE)
    with pytest.raises(IllegalActionError, match="another seat is to act"):
        env.full_action(0, "player_1")
    cards = "2c 2d 3c 3d 5c 7d 7s 8h 8s 9d 9h Kd Kh"
    env = table("legal")
    env.step(number("7s 8h 9h"))
    with pytest.raises(IllegalActionError, match="7d 8s 9d, as strong as 7s 8h 9h, and numbered before it"):
        env.step(number("7d 8s 9d"))
    exchange = _aec("bga")
    with pytest.raises(IllegalActionError, match=r"expected keep \(287\) or exchange \(288\)"):
        exchange.step(0)


def test_env_ends_the_game_and_raw_env_changes_nothing() -> None:
    env = HandByHand(crash_v0.env())
    env.reset(seed=0)
    agent = env.agent_selection
    env.step(int(env.observe(agent)["action_mask"].argmax()))
    env.step(DONE)
    assert env.rewards == {a: -1 if a == agent else 0 for a in env.agents}
    assert all(env.terminations.values())
    while env.agents:
        observation, *_ = env.last()
        assert env.observation_space(env.agent_selection).contains(observation)
        env.step(None)
    raw = _aec()
    before = freeze(raw.observe(agent))
    with pytest.raises(IllegalActionError):
        raw.step(DONE)
    assert freeze(raw.observe(agent)) == before


def test_parallel_faults_lose_or_raise() -> None:
    env, told = _parallel()
    picks = {a: int(o["action_mask"].argmax()) for a, o in told.items()}
    with pytest.warns(crash_v0.IllegalActionWarning, match=r"lost by player_1: .*action 286 \(done\)") as caught:
        told, rewards, terminations, _, _ = env.step(picks | {"player_1": DONE})
    assert caught[0].filename == __file__
    assert rewards == {"player_0": 0.5, "player_1": -1, "player_2": 0.5}
    assert all(terminations.values())
    assert all(env.observation_space(agent).contains(one) for agent, one in told.items())
    env, told = _parallel(illegal="raise")
    with pytest.raises(IllegalActionError, match=r"player_2 \(arrange phase\): action 291 \(noop\) is illegal"):
        env.step(picks | {"player_2": NOOP})
    assert freeze(env._observations(env.agents)) == freeze(told)
    with pytest.raises(ValueError, match="no action of player_1"):
        env.step({"player_0": 0, "player_2": 0})


def test_only_our_environments_can_be_wrapped() -> None:
    for env in (BaseWrapper(crash_v0.raw_env()), _aec(), _parallel()[0], "online"):
        with pytest.raises(TypeError, match="expected"):
            HandByHand(env)


# ---- one seat ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["online-3", "bga-2", "required-call-3", "six-cards-5"])
def test_single_seat_plays_hand_by_hand(name: str) -> None:
    env = SingleSeat(TABLES[name], actions="hands", opponents="random", reward="points")
    check_env(env, skip_render_check=True)
    rng = np.random.default_rng(0)
    coder = HandCoder(env.rules, ["one"], mask="undominated", noop=False)
    assert env.action_space == coder.action_spaces["one"]
    told, info = env.reset(seed=0)
    paid, laid = 0.0, 0
    for _ in range(150):
        assert env.observation_space.contains(told)
        assert (env.action_masks() == told["action_mask"]).all()
        seat, before = info["seat"], len(env.game.events)
        told, reward, over, cut, info = env.step(int(rng.choice(np.flatnonzero(told["action_mask"]))))
        paid += reward
        laid += any(getattr(e, "partition", None) is not None and e.seat == seat for e in env.game.events[before:])
        if over or cut:
            assert paid == pytest.approx(info["margin_per_round"] * info["rounds"])
            told, info = env.reset()
            paid = 0.0
    assert laid > 20


def test_single_seat_names_layout_pieces() -> None:
    names = [piece.name for piece in observation_layout(ONLINE)]
    assert [piece_slice(ONLINE, name).start for name in names] == sorted(
        piece_slice(ONLINE, name).start for name in names
    )
    with pytest.raises(ValueError, match="no piece 'card'; expected one of cards"):
        piece_slice(ONLINE, "card")
    with pytest.raises(ValueError, match="no piece 'card' in the state"):
        state_slice(ONLINE, "card")
