"""Making tables for `solver-fast`: what is counted, what is fitted, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from prial import agents
from prial.agents.solver_fast import SolverFastPolicy
from prial.agents.solver_table import (
    OF_BASE,
    SolverTableError,
    find_solver_table,
    needs_states,
    read_solver_table,
    shipped_solver_tables,
)
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import ViewBatch, view_of
from prial.envs.crash.partitions import candidates_of, laid_many
from prial.envs.crash.rules import CrashRules
from prial.training.cli import app
from prial.training.joint_fit import weak_together
from prial.training.percentile_tables import table_command
from prial.training.solver_cards import curves, with_known_cards
from prial.training.solver_sizes import SHIPPED_SIZES, SolverSizes, solver_command, standard_solver_rules
from prial.training.solver_survey import Survey, survey
from prial.training.solver_tables import _late_scores, _with_scores, make_solver_table, write_solver_table
from solver_samples import moved_by_cards

# Six cards and two hands: rounds are cheap, and there is a percentile table only for what ships, so the rules are bga's.
RULES = CrashRules.preset("bga", players=5, target=3)
SIZES = SolverSizes(rounds=30, deals=1500, iterations=2)


@pytest.mark.parametrize("name", ["online", "bga"])
def test_a_survey_is_what_games_lay(name: str) -> None:
    rules = CrashRules.preset(name)
    agent, rng = agents.make("percentile"), np.random.default_rng(0)
    scores = np.array([[0, 0, 0], [1, 2, 3], [6, 6, 5]])
    seen = survey(agent, rules, scores, seed=4)
    for row, start in enumerate(scores.tolist()):
        game = Game(rules, seed=4, table=row, scores=start, episode="round")
        first = tuple(game.hands)
        while not game.is_over:
            seat = game.pending[0]
            game.step(agent.act(view_of(game, seat), rng), seat)
        assert [tuple(hand) for hand in seen.cards[row].tolist()] == list(game.hands)
        said = [-1 if choice is None else int(choice) for choice in game.exchanges]
        assert seen.exchanges[row].tolist() == said
        assert int(seen.dealers[row]) == game.dealer
        for seat in range(3):
            laid = candidates_of(int(game.laid[seat] or 0), game.hands[seat], rules)
            shifts = [48, 36, 24, 12]
            assert [int(seen.values[row, seat]) >> shift & 0xFFF for shift in shifts] == laid.strengths[0].tolist()
            given_up = list(first[seat]) if game.exchanges[seat] else [-1] * 13
            assert seen.given_up[row, seat].tolist() == given_up


def test_curves_are_cumulative_shares() -> None:
    found = curves(np.array([[3, 0], [5, 0], [5, 741], [9, 2]]))
    assert found[0, [0, 3, 4, 5, 6, 9, 10, 742]].tolist() == [0, 0, 0.25, 0.25, 0.75, 0.75, 1, 1]
    assert found[1, [0, 1, 2, 3, 741, 742]].tolist() == [0, 0.5, 0.5, 0.75, 0.75, 1]


def test_the_fits_find_what_is_there() -> None:
    """Known cards and scores shift what is laid as counted directly, where there is much to count."""
    rules = CrashRules.preset("online", players=2)
    table = make_solver_table(rules, sizes=SolverSizes(rounds=40, deals=2000, iterations=1), seed=3)
    policy = SolverFastPolicy(rules, table)
    seen = survey(policy, rules, np.zeros((20_000, 2), int), seed=9)
    fitted, told = with_known_cards(table, rules, seen, seen, 1.0)
    assert 0.5 < told["cards_explained"] <= 1
    aces = (seen.cards[:, 0] >= 48).sum(axis=1)
    strengths = (seen.values[:, 1] >> np.uint64(48) & np.uint64(0xFFF)).astype(int)
    cut = int(np.median(strengths))
    fit = (fitted.card_means, fitted.card_axes, fitted.card_weights, fitted.card_basis)
    predicted = fitted.all_below[0, 0, cut] + moved_by_cards(*fit, 0, seen.cards[:, 0])[:, 0, cut]
    for some in (aces == 0, aces >= 2):
        assert predicted[some].mean() == pytest.approx((strengths[some] < cut).mean(), abs=0.02)
    scores = np.repeat(np.array([[0, 0], [6, 6]]), 8000, axis=0)
    everywhere = survey(agents.make("greedy"), rules, scores, seed=5)
    shifted, more = _with_scores(fitted, rules, _all_states(everywhere, rules, table.cap), 1.0)
    assert more["largest_shift"] >= 0
    assert shifted.by_score.shape[:2] == (1, len(needs_states(table.cap, 2)))


def test_how_positions_hang_together_is_counted_by_stage_and_situation() -> None:
    rules = CrashRules.preset("bga", players=2)
    table, agent = find_solver_table(rules), agents.make("percentile")
    late = _late_scores(rules, table.cap, 2100)
    assert ((late == rules.target - 1).any(axis=1)).all()
    assert len(np.unique(late, axis=0)) == table.cap
    even, near_end = (survey(agent, rules, scores, seed=6) for scores in (np.zeros((1500, 2), int), late))
    found, _ = with_known_cards(table, rules, even, near_end, 1.0)
    usual = [weak_together(_others_laid(even, rules, one, None)) for one in range(4)]
    for stage in range(4):
        for situation in range(4):
            seen = _others_laid(near_end, rules, situation, stage)
            expected = weak_together(seen, usual=usual[situation]) if stage else usual[situation]
            assert found.joint[4 * stage + situation] == pytest.approx(expected)


def _others_laid(seen: Survey, rules: CrashRules, situation: int, stage: int | None) -> np.ndarray:
    """What the other laid where one of two is in a situation: own choice first, and who needs a single point."""
    rows = []
    for number, scores in enumerate(seen.scores.tolist()):
        for seat in range(2):
            own, other = (int(seen.exchanges[number, one] == 1) for one in (seat, 1 - seat))
            last = [rules.target - scores[one] == 1 for one in (seat, 1 - seat)]
            if 2 * own + other == situation and stage in (None, 2 * last[0] + last[1]):
                rows.append(seen.strengths(rules.hands)[number, 1 - seat])
    return np.array(rows).reshape(-1, rules.hands)


@pytest.mark.parametrize("scores", [(0, 0), (2, 6)])
def test_a_crash_is_as_likely_as_the_shipped_table_says(scores: tuple[int, int]) -> None:
    """Where positions are linked in pairs alone it is not: 0.106 instead of 0.092 from nil all, 0.117 from 2 : 6."""
    rules, rounds = CrashRules.preset("bga", players=2), 12_000
    policy = SolverFastPolicy(rules, find_solver_table(rules))
    seen = survey(policy, rules, np.tile(scores, (rounds, 1)), seed=8)
    nobody = np.full((rounds, 2), -1, np.int8)
    views = ViewBatch(
        rules=rules,
        seat=np.zeros(rounds, np.int8),
        phase=np.full(rounds, Phase.ARRANGE, np.int8),
        dealer=seen.dealers,
        to_act=np.ones(rounds, np.int8),
        rounds_played=np.zeros(rounds, np.int32),
        scores=seen.scores,
        cards=seen.cards[:, 0],
        given_up=seen.given_up[:, 0],
        exchanges=seen.exchanges,
        calls=nobody,
        laid=np.full(rounds, -1, np.int32),
    )
    laid = laid_many(policy.arrange_many(views, np.random.default_rng(0)), views.cards, rules)
    strengths = seen.strengths(rules.hands)
    assert (laid.strengths[:, : rules.hands] == strengths[:, 0]).all()
    crashes = (strengths[:, 0] > strengths[:, 1]).all(axis=1)
    expected = policy.joint(views, policy.chances(views, laid))[:, 0]
    assert expected.mean() == pytest.approx(crashes.mean(), abs=0.008)
    unlikely = (expected > 0.01) & (expected < 0.1)
    assert expected[unlikely].mean() == pytest.approx(crashes[unlikely].mean(), rel=0.25)


def _all_states(seen: object, rules: CrashRules, cap: int) -> object:
    """The same survey with its scores spread over all states."""
    from dataclasses import replace
    from itertools import product

    states = rules.target - np.array(list(product(range(1, cap + 1), repeat=rules.players)))
    return replace(seen, scores=states[np.arange(len(seen.scores)) % len(states)].astype(np.int32))  # type: ignore[type-var, attr-defined]


def test_the_same_seed_makes_the_same_table_on_any_number_of_threads(tmp_path: Path) -> None:
    tables = [make_solver_table(RULES, sizes=SIZES, seed=5, threads=threads) for threads in (1, 2)]
    assert tables[0].to_json() == tables[1].to_json()
    assert tables[0].fits(RULES)
    write_solver_table(tables[0], tmp_path / "five.json")
    again = read_solver_table((tmp_path / "five.json").read_text(encoding="utf-8"), "five")
    assert again.about["command"] == solver_command(RULES, sizes=SIZES, seed=5)
    agents.check_agent(agents.make("solver-fast", table=tmp_path / "five.json"), rules=RULES, games=2)


@pytest.mark.parametrize("option", ["rounds", "deals", "iterations"])
def test_numbers_out_of_range_are_refused(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option}=0: expected 1 or more"):
        make_solver_table(RULES, sizes=replace(SIZES, **{option: 0}))


@pytest.mark.parametrize("name", list(standard_solver_rules()))
def test_tables_ship_as_the_command_makes_them(name: str) -> None:
    """`prial tables solver --all` takes the sizes that the files say they were made with."""
    table = find_solver_table(standard_solver_rules()[name])
    assert table.about["command"] == solver_command(standard_solver_rules()[name], sizes=SHIPPED_SIZES[name], seed=1)


def test_a_table_on_another_takes_what_cards_say_and_counts_the_rest(tmp_path: Path) -> None:
    rules = CrashRules.preset("traditional", players=2, crash_call="optional", target=3)
    base = find_solver_table(CrashRules.preset("traditional", players=2))
    sizes = SolverSizes(rounds=20, deals=500, iterations=1, base="traditional-2")
    table = make_solver_table(rules, sizes=sizes, seed=2)
    for name in OF_BASE:
        assert (getattr(table, name) == getattr(base, name)).all()
    assert not (table.below == base.below).all()
    file = tmp_path / "calls.json"
    write_solver_table(table, file)
    assert file.stat().st_size < 60_000
    again = read_solver_table(file.read_text(encoding="utf-8"), "calls.json")
    assert again.base == "traditional-2"
    assert (again.card_weights == base.card_weights).all()
    assert again.about["command"] == solver_command(rules, sizes=sizes, seed=2)
    assert "--base traditional-2" in again.about["command"]
    agents.check_agent(agents.make("solver-fast", table=file), rules=rules, games=2)


@pytest.mark.parametrize(
    ("base", "told"),
    [("nothing", "no table 'nothing'; those that ship: bga-2"), ("online-2", "is for other hands: .*exchange")],
)
def test_a_base_that_does_not_fit_is_refused(base: str, told: str) -> None:
    rules = CrashRules.preset("traditional", players=2, target=2)
    with pytest.raises(SolverTableError, match=told):
        make_solver_table(rules, sizes=SolverSizes(rounds=5, deals=50, iterations=1, base=base))
    words = ["tables", "solver", "--rules", "traditional", "--players", "2", "--set", "target=2", "--base", base]
    result = CliRunner().invoke(app, [*words, "--rounds", "5", "--deals", "50", "--iterations", "1"])
    assert result.exit_code != 0
    assert "Traceback" not in result.output
    assert not isinstance(result.exception, SolverTableError)


def test_a_file_on_a_base_that_there_is_not_is_no_table(tmp_path: Path) -> None:
    path = shipped_solver_tables()["traditional-2-optional"]
    content = json.loads(path.read_text(encoding="utf-8"))
    for base in ("nothing", "traditional-2-optional", "traditional-2-required", 3, ["traditional-2"]):
        with pytest.raises(SolverTableError, match="no solver table"):
            read_solver_table(json.dumps({**content, "base": base}), "mine.json")


def test_the_command_makes_a_table(tmp_path: Path) -> None:
    out = tmp_path / "mine.json"
    words = [
        "tables",
        "solver",
        "--rules",
        "bga",
        "--players",
        "5",
        "--set",
        "target=2",
        "--rounds",
        "10",
        "--deals",
        "300",
        "--iterations",
        "1",
    ]
    result = CliRunner().invoke(app, [*words, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "Wrote" in result.output
    assert json.loads(out.read_text(encoding="utf-8"))["options"]["target"] == 2


def test_rules_of_ones_own_name_are_named_by_what_they_set_otherwise() -> None:
    own = CrashRules(name="mine", players=3, target=5)
    with pytest.raises(SolverTableError, match=r"no solver table for these rules \(mine, players=3, target=5\)"):
        find_solver_table(own)
    sizes = SolverSizes(rounds=10, deals=20, iterations=3)
    assert solver_command(own, sizes=sizes, seed=1) == (
        "prial tables solver --rules online --players 3 --set target=5 --rounds 10 --deals 20 --iterations 3 --seed 1"
    )
    five = CrashRules(name="mine", players=5, cards_dealt=9)
    assert "--players 5 --set cards_dealt=9 --rounds" in solver_command(five, sizes=sizes, seed=1)
    assert table_command(own, deals=50, iterations=2, seed=1, weight=None) == (
        "prial tables percentile --rules online --set target=5 --deals 50 --iterations 2 --seed 1"
    )
