"""Hand by hand in the batched engine: the masks, draws and results of `picking.py`."""

from __future__ import annotations

import numpy as np
import pytest

from prial.envs.crash.game import Game, IllegalActionError, Phase
from prial.envs.crash.picking import LegalPicking, Picking, UndominatedPicking
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.vector import CrashVectorEnv

RULES = [
    CrashRules.preset("online"),
    CrashRules.preset("online", players=2, quads_bonus=0),
    CrashRules.preset("bga", players=2, lowest_hand="high_card"),
    CrashRules.preset("bga", players=5),
    CrashRules.preset("traditional", crash_call="optional", lowest_hand="flush", players=3),
    CrashRules(players=2, cards_dealt=10, ranks="9TJQKA", lowest_hand="pair", quads_bonus=1),
    CrashRules(players=3, cards_dealt=3, lowest_hand="pair"),
    CrashRules(players=2, cards_dealt=13, ranks="9TJQKA2", quads_bonus=1, crash_call="required"),
]
IDS = [f"{i}-{rules.name or 'own'}-{rules.players}-{rules.cards_dealt}" for i, rules in enumerate(RULES)]


def start(game: Game, seat: int, mask: str) -> Picking:
    cards = game.hands[seat]
    if mask == "legal":
        return LegalPicking.start(cards, game.rules)
    return UndominatedPicking.start(cards, game.rules, game.undominated(seat))


@pytest.mark.parametrize("mask", ["legal", "undominated"])
@pytest.mark.parametrize("rules", RULES, ids=IDS)
def test_same_picks_as_hand_by_hand(rules: CrashRules, mask: str) -> None:
    n = 16
    env = CrashVectorEnv(n, rules, seed=6, mask=mask)  # type: ignore[arg-type]
    done = env.num_triples
    pickings: list[Picking | None] = [None] * n
    rounds = 0
    for step in range(90):
        masks, drawn = env.pick_masks(), env.sample_picks(np.random.default_rng(step))
        words = np.random.default_rng(step).bit_generator.random_raw(n).tolist()
        games = [env.game(t) for t in range(n)]
        acting = env.acting.tolist()
        for t, (game, seat) in enumerate(zip(games, acting, strict=True)):
            expected = np.zeros(done + 5, np.int8)
            if game.phase is Phase.ARRANGE:
                picking = pickings[t] = pickings[t] or start(game, seat, mask)
                expected[: done + 1] = picking.mask
            else:
                first = done + (1 if game.phase is Phase.EXCHANGE else 3)
                expected[first : first + 2] = 1
            np.testing.assert_array_equal(masks[t], expected)
            allowed = np.flatnonzero(expected)
            assert drawn[t] == allowed[words[t] * len(allowed) >> 64]
        outcome = env.pick(drawn)
        rounds += int(outcome.round_ended.sum())
        for t, (game, seat) in enumerate(zip(games, acting, strict=True)):
            picking_before = pickings[t]
            if picking_before is None:
                game.step(env.layout.keep + int(drawn[t]) - done - 1, seat)
            else:
                picking = picking_before.then(int(drawn[t]))
                pickings[t] = picking
                if picking.has_ended:
                    pickings[t] = None
                    game.step(picking.partition, seat)
            if not outcome.game_ended[t]:
                after = env.game(t)
                assert (after.scores, after.laid, after.hands) == (game.scores, game.laid, game.hands)
                assert (after.phase, after.exchanges, after.calls) == (game.phase, game.exchanges, game.calls)
    assert rounds > 0


@pytest.mark.parametrize("mask", ["legal", "undominated"])
@pytest.mark.parametrize("rules", [RULES[0], RULES[2], RULES[4]], ids=str)
def test_every_pick_that_the_mask_forbids_is_refused(rules: CrashRules, mask: str) -> None:
    env = CrashVectorEnv(1, rules, seed=3, mask=mask)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    for _ in range(12):
        allowed = env.pick_masks()[0]
        before = [env.column(name).tolist() for name in env._state._fields]
        for pick in [-2, *np.flatnonzero(allowed == 0).tolist(), len(allowed), 2**31]:
            with pytest.raises(IllegalActionError, match=r"table 0, player_\d \(.* phase\): pick"):
                env.pick([pick])
        assert [env.column(name).tolist() for name in env._state._fields] == before
        env.pick(env.sample_picks(rng))


def test_a_pick_of_minus_one_waits() -> None:
    env = CrashVectorEnv(2, "online", seed=3)
    picks = env.sample_picks(np.random.default_rng(0))
    picks[1] = -1
    env.pick(picks)
    assert (env.column("picks") != 0).sum(axis=1).tolist() == [1, 0]


def test_nothing_is_picked_once_the_game_is_over() -> None:
    env = CrashVectorEnv(1, "online", seed=3, episode="round", autoreset=False)
    while env.acting[0] >= 0:
        env.pick(env.sample_picks(np.random.default_rng(0)))
    assert not env.pick_masks().any()
    assert env.sample_picks(np.random.default_rng(0)).tolist() == [-1]
    with pytest.raises(IllegalActionError, match="table 0: its game is over"):
        env.pick([0])


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_nothing(threads: int) -> None:
    env, twin = CrashVectorEnv(900, "bga", seed=1, threads=threads), CrashVectorEnv(900, "bga", seed=1, threads=1)
    for step in range(30):
        np.testing.assert_array_equal(env.pick_masks(), twin.pick_masks())
        picks = env.sample_picks(np.random.default_rng(step))
        env.pick(picks)
        twin.pick(picks)
    for name in env._state._fields:
        np.testing.assert_array_equal(env.column(name), twin.column(name))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rules", RULES, ids=IDS)
def test_random_play_is_pick_after_pick(rules: CrashRules, threads: int) -> None:
    env = CrashVectorEnv(600, rules, seed=2, threads=threads)
    twin = CrashVectorEnv(600, rules, seed=2, threads=1)
    rng, same = np.random.default_rng(1), np.random.default_rng(1)
    for decisions in (1, 6, 0, 23):
        rounds = games = 0
        for _ in range(decisions):
            outcome = twin.pick(twin.sample_picks(same))
            rounds += int(outcome.round_ended.sum())
            games += int(outcome.game_ended.sum())
        assert env.play_random(decisions, rng) == (rounds, games)
        for name in env._state._fields:
            np.testing.assert_array_equal(env.column(name), twin.column(name), err_msg=name)
        np.testing.assert_array_equal(env.pending, twin.pending)


def test_random_play_stops_where_games_are_over() -> None:
    env = CrashVectorEnv(5, "online", seed=3, episode="round", autoreset=False)
    assert env.play_random(40, np.random.default_rng(0)) == (5, 5)
    assert not env.pending.any()


@pytest.mark.parametrize("decisions", [-1, 1.5, True])
def test_random_play_refuses_what_is_no_number_of_decisions(decisions: object) -> None:
    with pytest.raises(ValueError, match="decisions="):
        CrashVectorEnv(1, seed=0).play_random(decisions, np.random.default_rng(0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="mask='undominated'"):
        CrashVectorEnv(1, seed=0, mask="undominated").play_random(1, np.random.default_rng(0))
