"""The benchmark suite: fixed and versioned, its cards, and which of them can be compared."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prial import agents
from prial.envs.crash.presets import preset_names, read_preset
from prial.envs.crash.rules import CrashRules
from prial.training.arena import run_arena
from prial.training.cli import app
from prial.training.config_files import ConfigFileError
from prial.training.statistics import Estimate
from prial.training.suite import Card, Cell, Suite, SuiteTable, load_suite, run_suite
from prial.training.suite_card import CardError, beside, card_dict, card_page, read_card

SMALL = Suite(
    version=7,
    opponents=["greedy", "balanced"],
    beside=["solver-fast"],
    games=12,
    quick_games=6,
    tables=[
        SuiteTable(rules="online", players=3, seed=1),
        SuiteTable(rules="online", players=2, seed=2, rule_options={"target": 3, "ranks": "789TJQKA"}),
    ],
)


@pytest.fixture(scope="module")
def card() -> Card:
    return run_suite(SMALL, "random", quick=True, jobs=1)


def test_the_suite_plays_every_rule_set_with_every_number_of_players() -> None:
    suite = load_suite("v1")
    assert [(table.rules, table.players) for table in suite.tables] == [
        (name, players)
        for name in ("online", "bga", "traditional")
        for players in read_preset(name)["in_use"]["players"]
    ]
    assert {table.rules for table in suite.tables} == set(preset_names())
    assert len({table.seed for table in suite.tables}) == len(suite.tables)
    for table in suite.tables:
        for opponent in suite.opponents:
            agents.make(opponent).check_rules(table.made_rules())


def test_version_1_is_what_it_was() -> None:
    """A suite never changes: one that is to differ gets a file and a version of its own."""
    plain = json.dumps(load_suite("v1").model_dump(mode="json"), sort_keys=True)
    tables = "".join(f"{table.title} {table.seed};" for table in load_suite("v1").tables)
    assert tables == (
        "online, 2 players 101;online, 3 players 102;online, 4 players 103;bga, 2 players 104;bga, 3 players 105;"
        "bga, 4 players 106;bga, 5 players 107;traditional, 2 players 108;traditional, 3 players 109;"
        "traditional, 4 players 110;"
    )
    assert '"games": 6000' in plain
    assert '"opponents": ["greedy", "balanced", "percentile"]' in plain
    assert '"quick_games": 120' in plain
    assert '"version": 1' in plain


def test_a_cell_is_an_arena_of_one_seat_against_all_others(card: Card) -> None:
    arena = run_arena(["random", "greedy"], rules=CrashRules.preset("online", players=3), games=6, seed=1)
    cell = card.cells[0]
    assert (cell.table, cell.opponent, cell.games) == ("online, 3 players", "greedy", 6)
    assert cell.win_share == arena.agents[0].win_share
    assert cell.margin_per_round == arena.agents[0].margin_per_round
    assert cell.lead.value == pytest.approx(arena.agents[0].win_share.value - 1 / 3)


def test_an_opponent_without_a_table_is_left_out_and_named(card: Card) -> None:
    short_pack = "online, 2 players, target=3, ranks=789TJQKA"
    assert [cell.opponent for cell in card.cells if cell.table == short_pack] == ["greedy", "balanced"]
    assert len(card.left_out) == 1
    assert card.left_out[0].startswith(f"{short_pack}, against solver-fast: no solver table")
    assert card.is_whole


def test_an_agent_that_refuses_a_table_has_no_whole_card() -> None:
    suite = SMALL.model_copy(update={"opponents": ["greedy"], "beside": []})
    found = run_suite(suite, "solver-fast", quick=True, jobs=1)
    assert [cell.table for cell in found.cells] == ["online, 3 players"]
    assert not found.is_whole
    assert "not whole" in card_page(found)


def cell(table: str, opponent: str, lead: float, half: float, *, counts: bool = True) -> Cell:
    share = Estimate(value=0.5 + lead, low=0.5 + lead - half, high=0.5 + lead + half)
    return Cell(
        table=table, opponent=opponent, counts=counts, games=1, even=0.5, win_share=share, margin_per_round=share
    )


def test_the_score_is_the_mean_lead_and_its_interval_that_of_independent_tables(card: Card) -> None:
    cells = (
        cell("a", "greedy", 0.1, 0.03),
        cell("a", "balanced", 0.2, 0.05),
        cell("b", "greedy", 0.0, 0.02),
        cell("b", "balanced", 0.1, 0.04),
        cell("b", "solver-fast", -0.4, 0.04, counts=False),
    )
    score = replace(card, cells=cells).score
    assert score is not None
    assert score.value == pytest.approx(0.1)
    assert score.half_width == pytest.approx((0.04**2 + 0.03**2) ** 0.5 / 2)
    assert replace(card, cells=()).score is None
    assert "Nothing was played" in card_page(replace(card, cells=()))


def test_a_card_is_read_as_it_was_written(card: Card, tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card_dict(card)), encoding="utf-8")
    assert read_card(path) == card
    for content in ("[]", "{", '{"score_card": 2}', "\xff"):
        path.write_text(content, encoding="latin-1")
        with pytest.raises(CardError, match="is no score card"):
            read_card(path)


def test_the_field_holds_all_but_the_agent(card: Card) -> None:
    assert run_suite(SMALL, "greedy", name="mine", quick=True, jobs=1).field == card.field
    assert SMALL.field(quick=False) != card.field
    assert SMALL.model_copy(update={"version": 8}).field(quick=True) != card.field


def test_cards_stand_beside_each_other_the_best_first_if_their_field_is_one(card: Card) -> None:
    better = replace(card, agent="better", cells=tuple(replace(c, even=c.even - 0.2) for c in card.cells))
    lines = beside([card, better]).splitlines()
    assert lines[0] == "| lead in percentage points | better, prial 0.1.0 | random, prial 0.1.0 |"
    assert len(lines) == 3 + len(SMALL.tables)
    with pytest.raises(CardError, match="cannot be compared"):
        beside([card, replace(card, field="other")])


def test_the_version_of_an_agent_is_its_own_or_that_of_what_it_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_versioned_bot.py").write_text(
        "from scripted_agents import Lays\nclass Bot(Lays):\n    version = 3\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    one = SMALL.model_copy(update={"tables": SMALL.tables[:1], "opponents": ["greedy"], "beside": []})
    assert run_suite(one, "my_versioned_bot:Bot", quick=True, jobs=1).agent_version == "3"
    assert run_suite(one, "scripted_agents:Lays", quick=True, jobs=1).agent_version == "unknown"
    assert run_suite(one, "greedy", quick=True, jobs=1).agent_version.startswith("prial ")


def test_the_command_writes_the_card_and_compares_it(tmp_path: Path) -> None:
    small = "prial.training.suite.load_suite"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small, lambda name: SMALL)
        words = ["benchmark", "greedy", "--quick", "--jobs", "1", "--out", str(tmp_path)]
        first = CliRunner().invoke(app, words)
        assert first.exit_code == 0, first.output
        page = (tmp_path / "card.md").read_text(encoding="utf-8")
        assert first.stdout == page
        assert page.startswith("# Score card: greedy\n")
        words = ["benchmark", "random", "--quick", "--jobs", "1", "--beside", str(tmp_path / "card.json")]
        second = CliRunner().invoke(app, words)
        assert "## Beside others" in second.stdout
        whole = CliRunner().invoke(app, ["benchmark", "random", "--beside", str(tmp_path / "card.json")])
        assert (whole.exit_code, whole.stderr.count("\n")) == (2, 1)
        assert "cannot be compared" in whole.stderr
        as_json = CliRunner().invoke(app, [*words[:-2], "--json", "--name", "mine"])
        assert json.loads(as_json.stdout)["agent"] == "mine"


def test_a_suite_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigFileError, match=r"no configuration 'v0'. Known: v1"):
        load_suite("v0")
    assert CliRunner().invoke(app, ["benchmark", "greedy", "--suite", "v0"]).exit_code == 2
