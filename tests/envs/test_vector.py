"""The batched engine plays the same game as `Game`: every field, for every rule set and option."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from prial.envs.crash.events import GameEnd, RoundEnd
from prial.envs.crash.game import Game, IllegalActionError, Phase
from prial.envs.crash.observation import ViewBatch, encode, view_of
from prial.envs.crash.partitions import legal_partitions, undominated
from prial.envs.crash.rules import CrashRules, RulesError
from prial.envs.crash.vector import CrashVectorEnv, StepOutcome

RULES = [
    *(CrashRules.preset("online", players=players) for players in (2, 3, 4)),
    *(CrashRules.preset("bga", players=players) for players in (2, 3, 4, 5)),
    *(CrashRules.preset("traditional", players=players) for players in (2, 3, 4)),
    CrashRules.preset("traditional", crash_call="optional", quads_bonus=1, target=7),
    CrashRules.preset("traditional", crash_call="required", players=3, crash_reward=2, finish="round_end"),
    CrashRules(players=2, crash_call="required", crash_call_bonus=3, crash_call_penalty=4, target=11),
    CrashRules(players=3, crash_call="optional", crash_reward="game", finish="round_end", exchange="spare"),
    CrashRules(players=3, cards_dealt=9, lowest_hand="flush", flush_high="three", exchange="spare", target=5),
    CrashRules(
        players=2, cards_dealt=10, lowest_hand="high_card", exchange="spare", crash_call="optional", max_rounds=3
    ),
    CrashRules(players=5, cards_dealt=6, lowest_hand="high_card", crash_reward=0, target=3, max_rounds=4),
    CrashRules(players=4, cards_dealt=7, lowest_hand="pair", crash_call="required", quads_bonus=2, target=9),
    CrashRules(players=2, cards_dealt=3, lowest_hand="pair", target=2),
    CrashRules(players=2, cards_dealt=6, ranks="JQKA", lowest_hand="high_card", quads_bonus=5, target=30),
    CrashRules(players=3, cards_dealt=13, lowest_hand="high_card", quads_bonus=1, target=1),
]
IDS = [f"{i}-{rules.name or 'own'}-{rules.players}-{rules.cards_dealt}" for i, rules in enumerate(RULES)]
QUIET = {"points": 0, "scores": 0, "rounds": 0, "crasher": -1}


def twins(env: CrashVectorEnv) -> list[Game]:
    tables = env.column("table").tolist()
    return [Game(env.rules, seed=env.seed, table=table, episode=env.episode) for table in tables]


def assert_same(env: CrashVectorEnv, games: list[Game]) -> None:
    """Compare every field of every table, and what every seat knows."""
    n, players = env.num_envs, env.rules.players
    columns = {name: env.column(name).tolist() for name in ("cards", "spares", "given_up", "scores", "dealer", "phase")}
    columns |= {
        name: env.column(name).tolist() for name in ("exchanges", "calls", "laid", "deal_number", "rounds_played")
    }
    pending, acting = env.pending, env.acting.tolist()
    for t, game in enumerate(games):
        assert columns["phase"][t] == game.phase
        assert columns["scores"][t] == list(game.scores)
        assert columns["dealer"][t] == game.dealer
        assert columns["rounds_played"][t] == game.rounds_played
        assert columns["deal_number"][t] == game.deal_number
        assert [tuple(hand) for hand in columns["cards"][t]] == list(game.hands)
        assert [tuple(hand) for hand in columns["spares"][t]] == list(game.spares)
        nothing = [-1] * env.rules.cards_dealt
        assert columns["given_up"][t] == [list(hand or nothing) for hand in game.given_up]
        assert columns["exchanges"][t] == [-1 if choice is None else choice for choice in game.exchanges]
        assert columns["calls"][t] == [-1 if choice is None else choice for choice in game.calls]
        assert columns["laid"][t] == [-1 if index is None else index for index in game.laid]
        assert np.flatnonzero(pending[t]).tolist() == sorted(game.pending)
        assert acting[t] == (game.pending[0] if game.pending else -1)
    expected = ViewBatch.of([view_of(game, seat) for game in games for seat in range(players)])
    tables, seats, views = env.views(np.ones((n, players), bool))
    assert (tables == np.repeat(np.arange(n), players)).all()
    assert (seats == np.tile(np.arange(players), n)).all()
    for field in dataclasses.fields(ViewBatch):
        if field.name != "rules" and not field.name.startswith("_"):
            np.testing.assert_array_equal(getattr(views, field.name), getattr(expected, field.name), err_msg=field.name)
    observed = encode(expected).reshape(n, players, -1)
    for seat in range(players):
        np.testing.assert_array_equal(env.observations(np.full(n, seat)), observed[:, seat])


def assert_outcome(outcome: StepOutcome, row: int, game: Game, before: int) -> None:
    """Compare what a step came to with the events of `Game` since `before`."""
    events = game.events[before:]
    ended = next((event for event in events if isinstance(event, RoundEnd)), None)
    assert outcome.round_ended[row] == (ended is not None)
    if ended is None:
        for name, value in QUIET.items():
            assert (getattr(outcome, name)[row] == value).all()
        assert outcome.result(row) is None
        return
    assert outcome.points[row].tolist() == list(ended.points)
    assert outcome.scores[row].tolist() == list(ended.scores)
    assert outcome.crasher[row] == (-1 if ended.crasher is None else ended.crasher)
    assert outcome.rounds[row] == ended.round_number + 1
    over = next((event.result for event in events if isinstance(event, GameEnd)), None)
    assert outcome.result(row) == over
    assert outcome.game_ended[row] == (over is not None)
    shares = [over.win_share(seat) if over else 0.0 for seat in range(game.rules.players)]
    assert outcome.win_shares[row].tolist() == shares


def play_both(env: CrashVectorEnv, rounds: int, rng: np.random.Generator, choose: Callable[..., int]) -> None:
    """Play until `rounds` rounds have ended, deciding for one seat or for all at once by chance."""
    games, players, ended = twins(env), env.rules.players, 0
    assert_same(env, games)
    while ended < rounds:
        actions = np.full((env.num_envs, players), -1, np.int32)
        starts = [len(game.events) for game in games]
        for t, game in enumerate(games):
            all_at_once = rng.random() < 0.5
            for seat in game.pending if all_at_once else game.pending[:1]:
                actions[t, seat] = choose(game, seat, rng)
        outcome = env.step(actions)
        for t, game in enumerate(games):
            order = game.turn_order
            for seat in order:
                if actions[t, seat] >= 0:
                    game.step(int(actions[t, seat]), seat)
            assert_outcome(outcome, t, game, starts[t])
            if game.is_over and env.autoreset:
                games[t] = Game(
                    env.rules,
                    seed=env.seed,
                    table=game.stream.table if game.stream else 0,
                    first_deal=game.deal_number,
                    episode=env.episode,
                )
        ended += int(outcome.round_ended.sum())
        assert_same(env, games)


def any_action(game: Game, seat: int, rng: np.random.Generator) -> int:
    """Mostly an undominated arrangement, at times any legal one; an even choice otherwise."""
    if game.phase is not Phase.ARRANGE:
        return int(rng.choice(game.legal_actions(seat)))
    if rng.random() < 0.1:
        return int(rng.choice(np.flatnonzero(legal_partitions(game.hands[seat], game.rules))))
    return int(rng.choice(game.undominated(seat).partitions))


@pytest.mark.parametrize("rules", RULES, ids=IDS)
def test_same_game_as_the_state_machine(rules: CrashRules) -> None:
    env = CrashVectorEnv(12, rules, seed=3, tables=np.arange(12) + 5)
    play_both(env, 60, np.random.default_rng(1), any_action)


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES, ids=IDS)
def test_same_game_over_thousands_of_rounds(rules: CrashRules) -> None:
    env = CrashVectorEnv(64, rules, seed=4)
    play_both(env, 3000, np.random.default_rng(2), any_action)


@pytest.mark.parametrize("rules", [RULES[0], RULES[4], RULES[10]], ids=str)
def test_single_rounds_from_given_scores(rules: CrashRules) -> None:
    scores = np.arange(4 * rules.players).reshape(4, rules.players) % rules.target
    env = CrashVectorEnv(4, rules, seed=2, episode="round", scores=scores, dealer=1, rounds_played=[0, 1, 2, 3])
    rng = np.random.default_rng(0)
    for round_number in range(3):
        games = [env.game(t) for t in range(4)]
        for t, game in enumerate(games):
            assert game.scores == tuple(scores[t].tolist())
            assert (game.dealer, game.rounds_played, game.deal_number) == (1, t, round_number + 1)
        ended = np.zeros(4, bool)
        while not ended.all():
            actions = env.sample(rng)
            actions[ended] = -1
            outcome = env.step(actions)
            for t in np.flatnonzero(actions >= 0):
                before = len(games[t].events)
                games[t].step(int(actions[t]))
                assert_outcome(outcome, t, games[t], before)
            ended |= outcome.game_ended


@pytest.mark.parametrize("rules", RULES, ids=IDS)
def test_offers_and_samples_are_the_undominated_arrangements(rules: CrashRules) -> None:
    env = CrashVectorEnv(30, rules, seed=9)
    for step in range(25):
        offers, padded = env.offers(), env.offers().padded(7)
        drawn = env.sample(np.random.default_rng(step))
        words = np.random.default_rng(step).bit_generator.random_raw(30).tolist()
        for t, seat in enumerate(env.acting.tolist()):
            game = env.game(t)
            rows = slice(offers.offsets[t], offers.offsets[t + 1])
            actions = offers.actions[rows].tolist()
            if game.phase is Phase.ARRANGE:
                found = undominated(game.hands[seat], rules)
                assert actions == found.partitions.tolist()
                np.testing.assert_array_equal(offers.strengths[rows], found.strengths)
                np.testing.assert_array_equal(offers.quads[rows], found.quads)
            else:
                assert actions == game.legal_actions(seat).tolist()
                assert not offers.strengths[rows].any()
            assert padded[t].tolist() == (actions + [-1] * 7)[:7]
            assert drawn[t] == actions[words[t] * len(actions) >> 64]
        env.step(drawn)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("name", ["online", "bga"])
def test_a_table_plays_the_same_whatever_the_batch_and_the_threads(name: str, threads: int) -> None:
    many = CrashVectorEnv(1000, name, seed=5, threads=threads)
    few = CrashVectorEnv(3, name, seed=5, tables=[999, 17, 17], threads=1)
    for step in range(40):
        actions = many.sample(np.random.default_rng(step))
        whole, part = many.step(actions), few.step(actions[[999, 17, 17]])
        for field in dataclasses.fields(StepOutcome):
            np.testing.assert_array_equal(getattr(whole, field.name)[[999, 17, 17]], getattr(part, field.name))
        for column in few._state._fields:
            np.testing.assert_array_equal(many.column(column)[[999, 17, 17]], few.column(column))


def test_agents_decide_all_that_waits() -> None:
    class First:
        def __init__(self) -> None:
            self.seen = 0

        def act_many(self, views: ViewBatch, rng: np.random.Generator) -> npt.NDArray[np.int32]:
            self.seen += len(views)
            found = views.undominated()
            return found.partitions[found.offsets[:-1]]

    agents, rngs = [First(), First()], [np.random.default_rng(number) for number in range(2)]
    env = CrashVectorEnv(10, "online", seed=1)
    outcome = env.act_many(agents, rngs, seating=[0, 1, 1])
    assert outcome.round_ended.all()
    assert [agent.seen for agent in agents] == [10, 20]
    with pytest.raises(ValueError, match="2 agents with 1 generators"):
        env.act_many(agents, rngs[:1])


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 417847, 0], r"table 1, player_\d \(arrange phase\)"),
        ([0, 0, -2], "table 2, .*expected a partition index"),
        ([0, 0, 417_846], "table 2, .* is no hand"),
        ([2**40, 0, 0], "table 0, .*expected a partition index"),
    ],
)
def test_a_refused_step_changes_nothing(actions: list[int], message: str) -> None:
    env = CrashVectorEnv(3, "online", seed=8)
    before = [env.column(name) for name in env._state._fields]
    with pytest.raises(IllegalActionError, match=message):
        env.step(actions)
    for name, column in zip(env._state._fields, before, strict=True):
        np.testing.assert_array_equal(env.column(name), column)


def test_out_of_turn_and_over_are_refused() -> None:
    env = CrashVectorEnv(1, "bga", seed=1, autoreset=False, episode="round")
    late = next(seat for seat in range(3) if seat != env.acting[0])
    actions = np.full((1, 3), -1)
    actions[0, late] = env.layout.keep
    with pytest.raises(IllegalActionError, match="to act: player"):
        env.step(actions)
    while env.acting[0] >= 0:
        env.step(env.sample(np.random.default_rng(0)))
    assert not env.pending.any()
    assert env.phase.tolist() == [Phase.OVER]
    assert env.sample(np.random.default_rng(0)).tolist() == [-1]
    with pytest.raises(IllegalActionError, match="table 0: its game is over"):
        env.step([[0, 0, 0]])
    with pytest.raises(RuntimeError, match="over"):
        env.game(0)
    assert not env.step([-1]).round_ended.any()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"num_envs": 0}, ValueError, "num_envs=0"),
        ({"threads": 0}, ValueError, "threads=0"),
        ({"tables": [1, 2]}, ValueError, r"tables: expected whole numbers \(3,\)"),
        ({"tables": [1, -2, 3]}, ValueError, r"tables: expected whole numbers \(3,\)"),
        ({"scores": [7, 0, 0]}, RulesError, "below the target"),
        ({"scores": [1.5, 0, 0]}, RulesError, "scores"),
        ({"dealer": 3}, RulesError, "dealer=3"),
        ({"dealer": [0, 1]}, RulesError, "dealer="),
        ({"rounds_played": 200}, RulesError, "rounds_played=200"),
        ({"seed": -1}, RulesError, "seed=-1"),
        ({"mask": "all"}, ValueError, "mask"),
        ({"episode": "match"}, ValueError, "episode"),
        ({"colour": "red"}, RulesError, "unknown option 'colour'"),
    ],
)
def test_wrong_options_are_named(options: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        CrashVectorEnv(**{"num_envs": 3, "seed": 1, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("actions", [[0, 0], [[0, 0, 0]], [0.0, 0.0, 0.0], [[[0]]], "abc"])
def test_wrong_shapes_are_refused(actions: object) -> None:
    env = CrashVectorEnv(3, "online", seed=8)
    with pytest.raises(ValueError, match="expected"):
        env.step(actions)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected"):
        env.pick(actions)  # type: ignore[arg-type]


def test_what_is_handed_out_is_the_callers() -> None:
    env, rng = CrashVectorEnv(5, "online", seed=8), np.random.default_rng(0)
    outcome = env.step(env.sample(rng))
    handed = [getattr(outcome, field.name) for field in dataclasses.fields(outcome)]
    handed += [
        env.acting,
        env.pending,
        env.scores,
        env.phase,
        env.observations(),
        env.pick_masks(),
        env.offers().actions,
    ]
    _, _, views = env.views()
    handed += [
        getattr(views, field.name)
        for field in dataclasses.fields(views)
        if field.name != "rules" and not field.name.startswith("_")
    ]
    kept = [array.copy() for array in handed]
    for _ in range(20):
        env.step(env.sample(rng))
    for array, copy in zip(handed, kept, strict=True):
        np.testing.assert_array_equal(array, copy)
    state = [env.column(name) for name in env._state._fields]
    for array in handed:
        array[...] = 1
    for name, column in zip(env._state._fields, state, strict=True):
        np.testing.assert_array_equal(env.column(name), column)


def test_reset_goes_on_or_starts_anew() -> None:
    env = CrashVectorEnv(4, "online", seed=8)
    first = env.column("cards")
    env.reset()
    assert (env.column("cards") != first).any()
    assert env.column("deal_number").tolist() == [2] * 4
    env.reset(seed=8)
    np.testing.assert_array_equal(env.column("cards"), first)
    assert CrashVectorEnv(1).seed != CrashVectorEnv(1).seed


def test_some_tables_start_anew_and_the_others_go_on() -> None:
    env = CrashVectorEnv(4, "bga", seed=8)
    env.step(env.sample(np.random.default_rng(0)))
    before = {name: env.column(name) for name in env._state._fields}
    which = np.array([False, True, False, True])
    env.reset(which=which)
    after = {name: env.column(name) for name in env._state._fields}
    for name, column in before.items():
        np.testing.assert_array_equal(column[~which], after[name][~which])
    games = [Game(env.rules, seed=8, table=table, first_deal=1) for table in range(4)]
    for t in np.flatnonzero(which):
        assert [tuple(hand) for hand in after["cards"][t].tolist()] == games[t].hands
        assert (after["dealer"][t], after["deal_number"][t], after["phase"][t]) == (games[t].dealer, 2, 0)
        assert env.acting[t] == games[t].pending[0]


@pytest.mark.parametrize(
    ("which", "seed"), [([True], None), ([1, 1, 1], None), ([[True] * 3], None), ([True] * 3, 1)], ids=str
)
def test_what_does_not_say_which_tables_is_refused(which: object, seed: int | None) -> None:
    env = CrashVectorEnv(3, "online", seed=8)
    before = env.column("cards")
    with pytest.raises(ValueError, match=r"which: expected bool \(3,\), got"):
        env.reset(which=which, seed=seed)  # type: ignore[arg-type]
    np.testing.assert_array_equal(env.column("cards"), before)
