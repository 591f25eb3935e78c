"""The arena: line-ups, seatings, hand-worked results, the same figures with any number of workers, failing agents."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from prial.agents import Agent, AgentError
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.rules import CrashRules, RulesError
from prial.training import arena as arena_module
from prial.training.arena import ArenaError, ArenaResult, ArenaSetupError, run_arena
from prial.training.arena_result import AgentScore, PairScore, _more_games
from prial.training.line_ups import labels, line_ups, seatings
from prial.training.statistics import Estimate
from scripted_agents import Answers, Folds, Lays, Paper, Raises, Recorder, Rock, Scissors

# One hand of any three cards, first to 3: whoever alone lays wins a point a round and the game after three rounds.
ONE_HAND = CrashRules(players=2, cards_dealt=3, lowest_hand="high_card", target=3)
# Two hands of any cards: whoever alone lays crashes in the first round and wins the game (2 points, and 1 for the crash).
TWO_HANDS = CrashRules(players=2, cards_dealt=6, lowest_hand="high_card", target=7)
ONLINE = CrashRules.preset("online")


def by_label(result: ArenaResult) -> dict[str, AgentScore]:
    return {score.agent: score for score in result.agents}


def pair_of(result: ArenaResult, first: str, second: str) -> PairScore:
    return next(pair for pair in result.pairs if (pair.first, pair.second) == (first, second))


def all_estimates(result: ArenaResult) -> list[tuple[float, float, float]]:
    scores = [
        estimate
        for s in result.agents
        for estimate in (s.win_share, s.points_per_round, s.margin_per_round, s.crash_rate, s.rounds_per_game)
    ]
    pairs = [estimate for p in result.pairs for estimate in (p.win_share, p.points_per_round)]
    return [(e.low, e.value, e.high) for e in scores + pairs]


# ---- line-ups and seatings --------------------------------------------------------------------------------------------


def test_missing_seats_go_to_the_last_agent() -> None:
    assert line_ups(2, 3) == ((0, 1, 1),)
    assert line_ups(2, 5) == ((0, 1, 1, 1, 1),)
    assert line_ups(3, 5) == ((0, 1, 2, 2, 2),)
    assert line_ups(3, 3) == ((0, 1, 2),)


def test_more_agents_than_seats_play_in_every_combination() -> None:
    assert line_ups(3, 2) == ((0, 1), (0, 2), (1, 2))
    assert len(line_ups(6, 3)) == math.comb(6, 3)


def test_up_to_three_players_sit_in_every_order() -> None:
    assert set(seatings((0, 1, 2))) == set(permutations((0, 1, 2)))
    assert seatings((0, 1, 1)) == ((0, 1, 1), (1, 0, 1), (1, 1, 0))
    assert seatings((0, 1)) == ((0, 1), (1, 0))


def test_more_players_sit_in_every_rotation() -> None:
    assert seatings((0, 1, 2, 3)) == ((0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2))
    assert len(seatings((0, 1, 1, 1, 1))) == 5
    assert seatings((0, 1, 0, 1)) == ((0, 1, 0, 1), (1, 0, 1, 0))


@pytest.mark.parametrize("line_up", [(0, 1), (0, 1, 1), (0, 1, 2), (0, 1, 1, 1), (0, 1, 2, 3, 4), (0, 1, 0, 1)])
def test_every_agent_sits_on_every_seat_equally_often(line_up: tuple[int, ...]) -> None:
    orders = seatings(line_up)
    for agent in set(line_up):
        counts = [sum(order[seat] == agent for order in orders) for seat in range(len(line_up))]
        assert len(set(counts)) == 1


def test_the_same_name_again_gets_a_number() -> None:
    assert labels(["a", "b", "a", "a"]) == ("a", "b", "a#2", "a#3")


# ---- worked by hand ---------------------------------------------------------------------------------------------------


def test_one_point_a_round() -> None:
    result = run_arena([Lays(), Folds()], rules=ONE_HAND, games=20, seed=5)
    lays, folds = result.agents
    assert (result.games, result.boards, result.games_per_board) == (20, 10, 2)
    assert (lays.games, lays.seats) == (20, 20)
    assert (lays.win_share.value, folds.win_share.value) == (1, 0)
    assert (lays.points_per_round.value, folds.points_per_round.value) == (1, 0)
    assert (lays.margin_per_round.value, folds.margin_per_round.value) == (1, -1)
    assert (lays.crash_rate.value, folds.crash_rate.value) == (0, 0)  # one hand is no crash
    assert (lays.rounds_per_game.value, folds.rounds_per_game.value) == (3, 3)
    pair = pair_of(result, "lays", "folds")
    assert (pair.win_share.value, pair.points_per_round.value, pair.ahead) == (1, 1, "lays")
    assert (pair.games, pair.boards, pair.more_games) == (20, 10, 0)


def test_a_crash_every_round() -> None:
    lays, folds = run_arena([Lays(), Folds()], rules=TWO_HANDS, games=10, seed=5).agents
    assert (lays.crash_rate.value, folds.crash_rate.value) == (1, 0)
    assert lays.rounds_per_game.value == 1
    assert (lays.points_per_round.value, folds.margin_per_round.value) == (3, -3)


def test_a_filled_table_counts_every_seat() -> None:
    result = run_arena([Lays(), Folds()], rules=TWO_HANDS.replace(players=3), games=12)
    lays, folds = result.agents
    assert result.line_ups == (("lays", "folds", "folds"),)
    assert (lays.seats, folds.seats, folds.games) == (12, 24, 12)
    assert (lays.win_share.value, folds.win_share.value) == (1, 0)
    assert (lays.margin_per_round.value, folds.margin_per_round.value) == (3, -1.5)
    assert pair_of(result, "lays", "folds").win_share.value == 1


def test_a_shared_win() -> None:
    # Nobody ever scores: cut off after two rounds, all share.
    rules = ONE_HAND.replace(players=3, max_rounds=2)
    result = run_arena([Folds(), Folds()], rules=rules, games=3)
    assert [score.win_share.value for score in result.agents] == pytest.approx([1 / 3, 1 / 3])
    assert [score.rounds_per_game.value for score in result.agents] == [2, 2]


def test_a_cycle_shows_in_the_pairs_and_nowhere_else() -> None:
    rules = CrashRules(players=2, cards_dealt=6, lowest_hand="high_card", exchange="spare", target=7)
    result = run_arena([Rock(), Scissors(), Paper()], rules=rules, games=60)
    assert result.line_ups == (("rock", "scissors"), ("rock", "paper"), ("scissors", "paper"))
    assert [score.win_share.value for score in result.agents] == [0.5, 0.5, 0.5]
    assert [(p.first, p.second, p.win_share.value, p.ahead) for p in result.pairs] == [
        ("rock", "scissors", 1, "rock"),
        ("rock", "paper", -1, "paper"),
        ("scissors", "paper", 1, "scissors"),
    ]
    assert [score.games for score in result.agents] == [40, 40, 40]
    assert [pair.games for pair in result.pairs] == [20, 20, 20]


def test_every_seating_of_a_board_has_the_same_deals() -> None:
    one, two = Recorder(), Recorder()
    run_arena([one, two], rules=ONLINE.replace(players=2), games=20, seed=9)
    assert (
        one.deals
        == two.deals
        == {Game(ONLINE.replace(players=2), seed=9, table=board).hands[seat] for board in range(10) for seat in (0, 1)}
    )


def test_many_decisions_come_at_once_in_every_phase() -> None:
    rules = CrashRules.preset("traditional", players=3, crash_call="optional")
    agent = Recorder()
    run_arena([agent, Lays()], rules=rules, games=120)
    assert agent.phases == {Phase.EXCHANGE, Phase.ARRANGE, Phase.CALL}
    assert agent.batches[0] > 20


# ---- honest figures ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_same_agent_twice_is_no_difference(players: int) -> None:
    rules = CrashRules.preset("bga", players=players)
    result = run_arena(["greedy", "greedy"], rules=rules, games=24, seed=3, jobs=1)
    assert [score.agent for score in result.agents] == ["greedy", "greedy#2"]
    pair = result.pairs[0]
    assert pair.win_share.value == pytest.approx(0, abs=1e-12)  # seats and deals are paired: exactly none
    assert pair.win_share.covers(0)
    assert pair.points_per_round.covers(0)
    assert (pair.ahead, pair.more_games) == (None, None)


def test_the_same_random_agent_twice_is_rarely_a_difference() -> None:
    rules = ONLINE.replace(players=2)
    pairs = [run_arena(["random", "random"], rules=rules, games=40, seed=s, jobs=1).pairs[0] for s in range(30)]
    assert sum(pair.win_share.value != 0 for pair in pairs) > 20
    assert sum(pair.win_share.covers(0) for pair in pairs) >= 27  # 95 % of 30, and two more for luck
    assert sum(pair.points_per_round.covers(0) for pair in pairs) >= 27


@pytest.mark.parametrize("agents", [("greedy", "random"), ("greedy", "greedy"), ("random-legal", "greedy")])
def test_two_games_give_finite_intervals(agents: tuple[str, str]) -> None:
    result = run_arena(agents, rules=ONLINE.replace(players=2), games=2, seed=1, jobs=1)
    assert (result.games, result.boards) == (2, 1)
    for low, value, high in all_estimates(result):
        assert math.isfinite(low)
        assert math.isfinite(high)
        assert low <= value <= high
        assert high - low > 0.1


def test_a_sweep_of_ten_games_leaves_room_for_doubt() -> None:
    result = run_arena([Lays(), Folds()], rules=TWO_HANDS, games=10)
    lays, folds = result.agents
    assert 0.3 < lays.win_share.low < 0.9
    assert lays.win_share.high == 1
    assert 0.1 < folds.win_share.high < 0.7
    assert folds.win_share.low == 0
    assert all(low < high for low, _, high in all_estimates(result))


def test_win_shares_of_a_line_up_add_up() -> None:
    result = run_arena(["greedy", "random", "random-legal"], rules=ONLINE, games=60, seed=2, jobs=1)
    assert sum(score.win_share.value for score in result.agents) == pytest.approx(1)
    assert sum(score.margin_per_round.value for score in result.agents) == pytest.approx(0)
    greedy, legal = result.agents[0], result.agents[2]
    pair = pair_of(result, "greedy", "random-legal")
    assert pair.win_share.value == pytest.approx(greedy.win_share.value - legal.win_share.value)
    assert pair.ahead == "greedy"


@pytest.mark.parametrize(
    ("value", "half_width", "more"),
    [
        (0.1, 0.2, 1800),  # half the width needs four times the 100 boards: 300 more boards of 6 games
        (-0.1, 0.2, 1800),
        (0.1, 0.105, 66),  # 110.25 boards
        (0.0, 0.2, None),
        (0.3, 0.2, 0),
    ],
)
def test_more_games_that_would_tell_apart(value: float, half_width: float, more: int | None) -> None:
    difference = Estimate(value=value, low=value - half_width, high=value + half_width)
    assert _more_games(difference, boards=100, games_per_board=6) == more


# ---- games, seeds, workers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("games", "played"), [(1, 6), (6, 6), (7, 12), (2000, 2004)])
def test_games_are_rounded_up_to_whole_boards(games: int, played: int) -> None:
    agents = [Lays(), Folds(), replace_name(Folds(), "also folds")]
    result = run_arena(agents, rules=ONE_HAND.replace(players=3, target=1), games=games)
    assert (result.games, result.games_asked) == (played, games)


def replace_name(agent: Lays, name: str) -> Lays:
    agent.name = name
    return agent


def test_figures_depend_on_the_seed_alone() -> None:
    def play(seed: int) -> ArenaResult:
        return run_arena(["greedy", "random"], rules=ONLINE, games=30, seed=seed, jobs=1)

    first = play(0)
    np.random.default_rng(0).random()
    assert play(0) == first
    assert play(1).agents != first.agents


@pytest.mark.slow
def test_figures_do_not_depend_on_the_number_of_workers() -> None:
    def play(jobs: int | None) -> tuple[ArenaResult, list[tuple[int, int]]]:
        seen: list[tuple[int, int]] = []
        result = run_arena(
            ["greedy", "random", "random-legal", "random"],
            rules=ONLINE,
            games=600,
            seed=7,
            jobs=jobs,
            progress=lambda done, total: seen.append((done, total)),
        )
        return result, seen

    alone, reports = play(1)
    assert alone.games == 600
    assert alone.boards == 25  # 4 line-ups in 6 seatings: 24 games a board, 10 boards a chunk, 3 chunks
    assert reports[-1] == (600, 600)
    assert reports == sorted(reports)
    for jobs in (2, None):
        result, reports = play(jobs)
        assert result == alone
        assert reports == sorted(reports)


@pytest.mark.parametrize(("worth", "spread_out"), [(1e9, False), (0.0, True)])
def test_processes_are_started_where_it_is_worth_their_while(
    worth: float, spread_out: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs_given = []

    def here(
        work: Callable, plan: object, pieces: int, *, make_state: Callable, jobs: int, progress: object
    ) -> Iterator:
        jobs_given.append(jobs)
        state = make_state(plan)
        return ((number, work(plan, state, number, lambda ended: None)) for number in range(pieces))

    monkeypatch.setattr(arena_module, "spread", here)
    monkeypatch.setattr(arena_module, "default_jobs", lambda: 2)
    monkeypatch.setattr(arena_module, "_WORTH_SECONDS", worth)
    rules = ONE_HAND.replace(target=1)
    played = run_arena(["greedy", "random"], rules=rules, games=500)
    assert jobs_given == ([2] if spread_out else [])
    assert played == run_arena(["greedy", "random"], rules=rules, games=500, jobs=1)


def test_progress_counts_games() -> None:
    seen: list[tuple[int, int]] = []
    run_arena([Lays(), Folds()], rules=ONE_HAND, games=500, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (500, 500)
    assert len(seen) > 2


# ---- agents that fail -------------------------------------------------------------------------------------------------


def test_an_agent_that_raises_is_named_with_phase_and_game() -> None:
    with pytest.raises(ArenaError) as caught:
        run_arena([Folds(), Raises()], rules=ONE_HAND, games=4)
    assert str(caught.value) == (
        "agent 'raises' failed in the arrange phase (board 0, seating (folds, raises), round 2, seat 1): "
        "act_many raised KeyError: 'my notes'"
    )
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            lambda views: np.full(len(views), 999_999, np.int32),
            "action 999999 .* is illegal; expected a partition index",
        ),
        (lambda views: np.full(len(views), -1, np.int32), "action -1 .* is illegal"),
        (lambda views: np.zeros(len(views)), r"act_many returned float64 \(2,\), expected int32 \(2,\)"),
        (lambda views: np.zeros(len(views), bool), "act_many returned bool"),
        (lambda views: np.zeros((len(views), 1), np.int32), r"act_many returned int32 \(2, 1\), expected int32 \(2,\)"),
        (lambda views: np.zeros(len(views) + 1, np.int32), r"act_many returned int32 \(3,\)"),
        (0, r"act_many returned int64 \(\), expected int32"),
        (None, r"act_many returned None, expected int32"),
        (lambda views: [[0], [0, 1]], "act_many returned list"),
    ],
)
def test_an_answer_that_is_no_decision_stops_the_match(answer: object, message: str) -> None:
    with pytest.raises(ArenaError, match=rf"agent 'answers' failed in the arrange phase \(board 0, .*: .*{message}"):
        run_arena([Answers(answer), Folds()], rules=ONE_HAND, games=2)


def test_integers_of_other_kinds_will_do() -> None:
    kinds: list[Callable[[object], object]] = [
        lambda views: [0] * len(views),  # type: ignore[arg-type]
        lambda views: np.zeros(len(views), np.int64),  # type: ignore[arg-type]
    ]
    for answer in kinds:
        run_arena([Answers(answer), Lays()], rules=ONE_HAND, games=2)


def test_a_seed_of_numpy_is_the_same_as_the_number() -> None:
    agents: list[Agent] = [Folds(), Lays()]
    assert run_arena(agents, rules=ONE_HAND, games=4, seed=np.int64(3)) == run_arena(  # type: ignore[arg-type]
        agents, rules=ONE_HAND, games=4, seed=3
    )


@pytest.mark.parametrize("error", [SystemExit("enough"), GeneratorExit("enough")])
def test_an_agent_that_asks_to_exit_is_named_like_any_other_that_fails(error: BaseException) -> None:
    def leaves(views: object) -> None:
        raise error

    with pytest.raises(
        ArenaError, match=f"agent 'answers' .*: act_many raised {type(error).__name__}: enough"
    ) as caught:
        run_arena([Answers(leaves), Lays()], rules=ONE_HAND, games=2)
    assert caught.value.__cause__ is error


def test_ctrl_c_in_an_agent_stops_the_arena() -> None:
    def interrupted(views: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_arena([Answers(interrupted), Lays()], rules=ONE_HAND, games=2)


def test_ctrl_c_inside_a_kernel_is_no_failure_of_the_agent() -> None:
    def interrupted(views: object) -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        run_arena([Answers(interrupted), Lays()], rules=ONE_HAND, games=2)


@pytest.mark.slow
def test_an_agent_that_fails_in_a_worker_is_named_too() -> None:
    with pytest.raises(ArenaError, match=r"agent 'scripted_agents:Raises' failed in the arrange phase .*KeyError"):
        run_arena(["scripted_agents:Folds", "scripted_agents:Raises"], rules=ONE_HAND, games=2000, jobs=2)


@pytest.mark.slow
def test_a_worker_that_dies_is_noticed() -> None:
    with pytest.raises(ArenaError, match="a worker process died"):
        run_arena(["scripted_agents:Folds", "scripted_agents:Dies"], rules=ONE_HAND, games=2000, jobs=2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"agents": ["greedy"]}, "needs two or more agents, got 1"),
        ({"games": 0}, "games=0: expected 1 or more"),
        ({"jobs": 0}, "jobs=0: expected 1 or more"),
        ({"games": 1.5}, "games=1.5: expected 1 or more"),
        ({"games": True}, "games=True: expected 1 or more"),
        ({"jobs": 1.5}, "jobs=1.5: expected 1 or more"),
        ({"seed": -1}, "seed=-1: expected a whole number from 0"),
        ({"seed": 0.5}, "seed=0.5: expected a whole number from 0"),
        ({"agents": ["greedy", 3]}, "agents: expected agents or names of agents, got 3"),
    ],
)
def test_what_cannot_be_played_is_refused(wrong: dict[str, object], message: str) -> None:
    options: dict[str, object] = {"agents": ["greedy", "random"], "rules": ONLINE, **wrong}
    with pytest.raises((ArenaSetupError, AgentError, RulesError), match=message):
        run_arena(**options)  # type: ignore[arg-type]


def test_an_unknown_agent_is_refused_before_anything_is_played() -> None:
    with pytest.raises(AgentError, match="did you mean 'greedy'"):
        run_arena(["gredy", "random"], rules=ONLINE)


def test_results_are_values() -> None:
    result = run_arena([Lays(), Folds()], rules=ONE_HAND, games=2)
    assert replace(result) == result
    assert by_label(result)["lays"].win_share.interval == (
        by_label(result)["lays"].win_share.low,
        by_label(result)["lays"].win_share.high,
    )
