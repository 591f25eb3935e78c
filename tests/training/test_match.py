"""Games played in step by the batched engine: to the last bit what they are game by game, and who is named for a failure."""

from __future__ import annotations

import numpy as np
import pytest

from prial.agents import Agent, make
from prial.envs.crash.game import Game
from prial.envs.crash.observation import ViewBatch
from prial.envs.crash.rules import CrashRules
from prial.training.arena_result import BoardSums
from prial.training.line_ups import line_ups, seatings
from prial.training.match import ArenaError, Interrupted, Tallies, play_games
from scripted_agents import Answers, Folds, Lays, Raises
from twins import match as twin

RULES = [
    CrashRules.preset("online"),
    CrashRules.preset("online", players=2),
    CrashRules.preset("bga", players=2),
    CrashRules.preset("bga", players=3),
    CrashRules.preset("bga", players=5),
    CrashRules.preset("traditional", players=4),
    CrashRules.preset("traditional", players=3, crash_call="optional", quads_bonus=1),
    CrashRules.preset("traditional", players=2, crash_call="required", crash_reward=2, finish="round_end"),
    CrashRules(players=3, cards_dealt=9, lowest_hand="high_card", exchange="spare", max_rounds=3),
]
IDS = [f"{rules.name or 'own'}-{rules.players}-{rules.crash_call}" for rules in RULES]
ONE_HAND = CrashRules(players=2, cards_dealt=3, lowest_hand="high_card", target=3)


class Keeps:
    """Remembers everything that an agent is shown, and asks the agent."""

    def __init__(self, agent: Agent) -> None:
        self.name, self._agent = agent.name, agent
        self.seen: list[list[object]] = []

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> np.ndarray:
        self.seen.append(list(views))
        return self._agent.act_many(views, rng)

    def act(self, view: object, rng: np.random.Generator) -> int:
        raise NotImplementedError


def keepers(*names: str) -> list[Keeps]:
    return [Keeps(make(name)) for name in names]


def rngs(agents: int) -> list[np.random.Generator]:
    return [np.random.default_rng(number) for number in range(agents)]


def play(agents: list[Agent], *, rules: CrashRules = ONE_HAND, boards: int = 2) -> Tallies:
    tables = [seating for line_up in line_ups(len(agents), rules.players) for seating in seatings(line_up)]
    games = [(board, seating) for board in range(boards) for seating in tables]
    names = [agent.name for agent in agents]
    return play_games(rules, games, agents, names=names, seed=5, rngs=rngs(len(agents)), tick=lambda ended: None)


@pytest.mark.parametrize("rules", RULES, ids=IDS)
def test_the_same_games_as_one_by_one(rules: CrashRules) -> None:
    names = ("greedy", "random", "random-legal") if rules.players > 2 else ("greedy", "random")
    tables = [seating for line_up in line_ups(len(names), rules.players) for seating in seatings(line_up)]
    games = [(board, seating) for board in range(6) for seating in tables]
    ended: list[tuple[Game, tuple[int, ...]]] = []
    ticks: list[int] = []
    agents, others = keepers(*names), keepers(*names)
    tallies = play_games(
        rules,
        games,
        agents,
        names=names,
        seed=11,
        rngs=rngs(len(names)),
        tick=ticks.append,
        ended=lambda game, seating: ended.append((game, tuple(seating))),
    )
    expected = twin.play_games(rules, games, others, seed=11, rngs=rngs(len(names)))
    for agent, other in zip(agents, others, strict=True):
        assert agent.seen == other.seen  # the same views in the same batches: also for what draws its chance by row
    for name in ("rounds", "points", "margins", "crashes", "win_shares"):
        assert getattr(tallies, name).tolist() == [getattr(tally, name) for tally in expected], name
    assert [seating for _, seating in ended] == [tuple(seating) for _, seating in games]
    for (game, _), tally in zip(ended, expected, strict=True):
        assert game.events == tally.game.events
    assert sum(ticks) == len(games)

    sums = BoardSums.of(tallies, tables, agents=len(names))
    of_agents, of_pairs = twin.board_sums(expected, tables, agents=len(names))
    assert sums.agents.tolist() == of_agents
    assert sums.pairs.tolist() == of_pairs


def test_play_stops_when_told_to() -> None:
    def tick(ended: int) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        play_games(ONE_HAND, [(0, (0, 0))], [Lays()], names=["a"], seed=1, rngs=rngs(1), tick=tick)


def test_the_first_illegal_decision_is_named() -> None:
    def from_the_second_on(views: ViewBatch) -> np.ndarray:
        return np.where(np.arange(len(views)) >= 1, 2**40, 0)

    wrong = r"agent 'answers' failed in the arrange phase \(board 0, seating \(answers, folds\), round 1, seat 0\): "
    with pytest.raises(ArenaError, match=wrong + rf".*action {2**40} .* is illegal"):
        play([Folds(), Answers(from_the_second_on)])


def test_an_illegal_decision_comes_before_what_the_next_agent_raises() -> None:
    def in_round_two(views: ViewBatch) -> np.ndarray:
        return np.where(views.rounds_played == 1, -1, 0)

    with pytest.raises(ArenaError, match=r"agent 'answers' failed .* action -1"):
        play([Answers(in_round_two), Raises()])


def test_who_fails_alone_is_named() -> None:
    with pytest.raises(ArenaError, match=r"board 0, seating \(folds, raises\), round 2, seat 1\): act_many raised"):
        play([Folds(), Raises()])
