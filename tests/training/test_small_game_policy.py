"""Agents in small games: what they play, how much it loses, and an equilibrium that plays."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from prial import agents
from prial.agents.check import check_agent
from prial.agents.heuristics import Greedy
from prial.agents.protocol import BaseAgent
from prial.envs.crash.observation import ViewBatch
from prial.envs.crash.partitions import candidates_of, legal_partitions, undominated
from prial.envs.crash.rules import CrashRules
from prial.training.arena import run_arena
from prial.training.small_game import SmallGame, SmallGameError
from prial.training.small_game_policy import (
    Equilibrium,
    KnowsChances,
    SmallGamePolicy,
    exact_exploitability,
    mixture_of,
    small_views,
)
from prial.training.small_game_solve import Solution, solve

SEVEN = CrashRules(players=2, ranks="JQKA", cards_dealt=7)
SIX = CrashRules(players=2, ranks="JQKA", cards_dealt=6)


@pytest.fixture(scope="module")
def solution() -> Solution:
    return solve(SmallGame.of(SIX))


@dataclass
class BySuit(BaseAgent):
    """Lays the first or the last arrangement, by the suit of its lowest card."""

    name: str = "by-suit"

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Any:
        found = views.undominated()
        last = views.cards[:, 0] % 4 >= 2
        return found.partitions[np.where(last, found.offsets[1:] - 1, found.offsets[:-1])]

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Any:
        raise NotImplementedError

    call_many = exchange_many


@dataclass
class Tossing(BySuit):
    """Lays the first or the last arrangement at a toss, and does not say so."""

    name: str = "tossing"

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Any:
        found = views.undominated()
        return found.partitions[np.where(rng.random(len(views)) < 0.5, found.offsets[1:] - 1, found.offsets[:-1])]


@dataclass
class Telling(Tossing):
    """The same, and says so."""

    name: str = "telling"
    asked: list[int] = field(default_factory=list)

    def arrangement_chances(self, views: ViewBatch) -> Any:
        self.asked.append(len(views))
        found = views.undominated()
        chances = np.zeros(len(found.partitions))
        np.add.at(chances, found.offsets[:-1], 0.5)
        np.add.at(chances, found.offsets[1:] - 1, 0.5)
        return chances


def margin(mine: tuple[int, ...], theirs: tuple[int, ...], rules: CrashRules) -> float:
    won = sum(a > b for a, b in zip(mine[:2], theirs[:2], strict=True))
    lost = sum(a < b for a, b in zip(mine[:2], theirs[:2], strict=True))
    crash = rules.crash_points * ((won == 2) - (lost == 2))
    return won - lost + crash + rules.quads_bonus * (mine[4] - theirs[4])


def value(index: int, cards: list[int], rules: CrashRules) -> tuple[int, ...]:
    laid = candidates_of(index, cards, rules)
    return (*laid.strengths[0].tolist(), int(laid.quads[0]))


def exploited(agent: Any, rules: CrashRules) -> float:
    """The agent's exploitability by asking it about every hand, and every deal without symmetry."""
    hands = [list(hand) for hand in combinations(rules.pack, rules.cards_dealt)]
    views = small_views(rules, np.array(hands, np.int8))
    chosen = agent.act_many(views, np.random.default_rng(0)).tolist()
    laid = {frozenset(hand): value(index, hand, rules) for hand, index in zip(hands, chosen, strict=True)}
    total = deals = 0.0
    for hand in hands:
        rest = [card for card in rules.pack if card not in hand]
        met = [laid[frozenset(other)] for other in combinations(rest, rules.cards_dealt)]
        own = undominated(hand, rules)
        values = [(*s, q) for s, q in zip(own.strengths.tolist(), own.quads.tolist(), strict=True)]
        total += max(sum(margin(mine, theirs, rules) for theirs in met) for mine in values)
        deals += len(met)
    return total / deals


@pytest.mark.parametrize("agent", [Greedy(), agents.make("balanced"), BySuit()], ids=lambda agent: agent.name)
def test_exploitability_is_that_of_every_deal_without_symmetry(agent: Any) -> None:
    found = exact_exploitability(agent, SEVEN)
    assert found.points == pytest.approx(exploited(agent, SEVEN), abs=1e-12)
    assert found.asked == "every hand"
    assert found.by_suits is (agent.name == "by-suit")


def test_figures_of_the_built_in_agents() -> None:
    """They stay what they are; the tests above and the adapter of OpenSpiel say that they are right."""
    game = SmallGame.of(SIX)
    known = {"random-legal": 2.3157034213, "random": 0.2729461015, "greedy": 0.1820893392, "balanced": 0.3725952619}
    found = {name: exact_exploitability(agents.make(name), SIX, game=game).points for name in known}
    assert found == pytest.approx(known, abs=1e-9)


def test_any_legal_arrangement_counts_for_random_legal() -> None:
    game = SmallGame.of(SIX)
    _, mixture, asked = mixture_of(agents.make("random-legal"), game)
    assert asked == "chances"
    for number in range(0, game.num_classes, 31):
        cards = game.cards[number].tolist()
        legal = np.flatnonzero(legal_partitions(cards, SIX)).tolist()
        values = [value(index, cards, SIX) for index in legal]
        rows = slice(int(mixture.offsets[number]), int(mixture.offsets[number + 1]))
        shown = {
            (*s, q): c
            for s, q, c in zip(
                mixture.strengths[rows].tolist(),
                mixture.quads[rows].tolist(),
                mixture.chances[rows].tolist(),
                strict=True,
            )
        }
        assert shown == pytest.approx({one: values.count(one) / len(values) for one in values})


def test_chances_that_are_told_need_no_samples() -> None:
    agent = Telling()
    assert isinstance(agent, KnowsChances)
    told = exact_exploitability(agent, SIX)
    assert told.asked == "chances"
    assert agent.asked == [468]
    # Sampled, a best response fits the sample too: somewhat above, and nearer with more samples.
    few, many = (exact_exploitability(Tossing(), SIX, samples=samples) for samples in (1, 100))
    assert few.asked == "samples"
    assert told.points < many.points < few.points < told.points + 0.05
    assert many.points == pytest.approx(told.points, abs=0.001)


def test_the_solution_is_not_exploitable_and_beats_the_others(solution: Solution) -> None:
    policy = SmallGamePolicy.of(solution)
    assert exact_exploitability(policy, SIX).points == pytest.approx(solution.gap, abs=1e-12)
    for name in ("random-legal", "random", "greedy", "balanced"):
        game, mixture, _ = mixture_of(agents.make(name), solution.game)
        assert 0.1 < game.margin(solution.mixture, mixture) <= game.best_margin(mixture)


def test_it_draws_what_it_says(solution: Solution) -> None:
    policy = SmallGamePolicy.of(solution)
    counts = solution.game.arrangements.counts
    mixed = [n for n in range(len(counts)) if 0.2 < solution.chances[solution.game.arrangements.offsets[n]] < 0.8]
    assert mixed
    rng = np.random.default_rng(3)
    for number in [*mixed[:3], int(counts.argmax())]:
        views = small_views(SIX, np.repeat(solution.game.cards[number][None], 20_000, axis=0))
        found = solution.game.arrangements[number]
        drawn = policy.act_many(views, rng)
        shares = [np.mean(drawn == index) for index in found.partitions]
        rows = slice(
            int(solution.game.arrangements.offsets[number]), int(solution.game.arrangements.offsets[number + 1])
        )
        assert shares == pytest.approx(solution.chances[rows].tolist(), abs=0.015)  # four standard errors


def test_it_keeps_the_contract_of_agents(solution: Solution) -> None:
    check_agent(SmallGamePolicy.of(solution), rules=SIX, games=3)
    check_agent(agents.make("prial.training.small_game_policy:Equilibrium"), rules=[SIX, SEVEN], games=2)


def test_it_earns_in_the_arena_what_it_is_said_to_earn(solution: Solution) -> None:
    """Thousands of rounds of whole games, played by the engine."""
    names = ["prial.training.small_game_policy:Equilibrium", "balanced"]
    result = run_arena(names, rules=SIX.replace(target=15, crash_reward=1), games=1000, seed=4, jobs=1)
    earned = next(score.margin_per_round for score in result.agents if score.agent != "balanced")
    game, mixture, _ = mixture_of(agents.make("balanced"), solution.game)
    assert abs(earned.value - game.margin(solution.mixture, mixture)) <= 1.5 * earned.half_width
    assert earned.low > 0.2


def test_other_rules_are_refused(solution: Solution) -> None:
    policy = SmallGamePolicy.of(solution)
    policy.check_rules(SIX.replace(target=3))
    with pytest.raises(SmallGameError, match="cards_dealt=6"):
        policy.check_rules(SEVEN)
    with pytest.raises(SmallGameError, match="cards_dealt=6"):
        policy.act_many(small_views(SEVEN, np.array([SEVEN.pack[:7]])), np.random.default_rng(0))
    with pytest.raises(SmallGameError, match="players=3"):
        Equilibrium().check_rules(CrashRules())
    with pytest.raises(SmallGameError, match="players=2"):
        policy.check_rules(SIX.replace(players=3, ranks="TJQKA"))
    for ask in (policy.exchange_many, policy.call_many, Equilibrium().exchange_many, Equilibrium().call_many):
        with pytest.raises(SmallGameError, match="small games have no"):
            ask(small_views(SIX, solution.game.cards[:1]), np.random.default_rng(0))


def test_chances_that_do_not_fit_are_refused(solution: Solution) -> None:
    for chances in (solution.chances[1:], -solution.chances, solution.chances / 2, solution.chances * np.nan):
        with pytest.raises(SmallGameError, match="chances"):
            SmallGamePolicy(solution.game, chances)
