"""What foreign engines forfeit is counted and named by the ladder and the benchmark, and the rest is played."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from prial.training.forfeited import AgentForfeits, joined
from prial.training.ladder import run_ladder
from prial.training.ladder_config import LadderConfig
from prial.training.ladder_page import ladder_page
from prial.training.ladder_report import headlines, standing_dict
from prial.training.ladder_results import read_results
from prial.training.ladder_standing import standing_of
from prial.training.suite import Suite, SuiteTable, run_suite
from prial.training.suite_card import card_dict, card_page, read_card

BAD = Path(__file__).parents[1] / "bad_engine.py"


def bad(kind: str, number: int) -> str:
    return f"engine,deadline=60,start=60:{shlex.join([sys.executable, str(BAD), kind, str(number)])}"


def test_a_ladder_names_what_an_engine_forfeited(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    theirs = {"name": "theirs", "agent": bad("errors", 3)}
    config = LadderConfig(
        agents=["greedy", theirs], players=2, games=8, chunk_boards=2, rule_options={"cards_dealt": 6, "target": 3}
    )
    path = tmp_path / "results.jsonl"
    played = standing_of(config, run_ladder(config, path, jobs=1), resamples=20)
    standing = standing_of(config, read_results(path, config), resamples=20)
    (told,) = standing.forfeits
    assert (told.agent, set(told.causes)) == ("theirs", {"refused"})
    assert told.decisions >= told.games == len(told.first) > 2
    assert played.forfeits == standing.forfeits
    assert f"theirs forfeited {told.decisions} decisions in {told.games} games: {told.decisions} refused" in headlines(
        standing
    )
    assert standing_dict(standing)["forfeits"] == [told.to_dict()]
    assert "theirs forfeited" in ladder_page(standing, None)
    assert {one.where["board"] for one in told.first} <= {0, 1, 2, 3}
    assert len({one.where["board"] // 2 for one in told.first}) == 2  # of both chunks


def test_a_score_card_names_what_an_engine_forfeited(tmp_path: Path) -> None:
    table = SuiteTable(rules="online", players=2, seed=1, rule_options={"cards_dealt": 6, "target": 3})
    suite = Suite(version=9, opponents=["greedy", "random"], games=6, quick_games=6, tables=[table])
    name = bad("foreign-card", 4)
    card = run_suite(suite, name, jobs=1)
    for cell in card.cells:
        assert cell.forfeits is not None
        assert cell.forfeits.agent == name
        assert cell.forfeits.causes == {"illegal": cell.forfeits.decisions}
    page = card_page(card)
    assert "## Forfeited" in page
    assert page.count(" illegal; first in the arrange phase (board ") == 2
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card_dict(card)), encoding="utf-8")
    again = read_card(path)
    assert again.cells == card.cells
    assert card_page(again) == page
    assert run_suite(suite, "greedy", jobs=1).cells[0].forfeits is None


def test_cards_from_before_forfeits_were_counted_are_read(tmp_path: Path) -> None:
    table = SuiteTable(rules="online", players=2, seed=1, rule_options={"cards_dealt": 6, "target": 3})
    suite = Suite(version=9, opponents=["random"], games=6, quick_games=6, tables=[table])
    told = card_dict(run_suite(suite, "greedy", jobs=1))
    del told["cells"][0]["forfeits"]
    path = tmp_path / "card.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    assert read_card(path).cells[0].forfeits is None


def test_parts_are_joined_by_agent() -> None:
    where = {"board": 2, "seating": ["a", "b"], "round": 1, "seat": 0, "phase": "arrange"}
    first = [{**where, "cause": "late", "detail": "no answer within 5 s"}]
    part = {"agent": "a", "decisions": 2, "games": 1, "causes": {"late": 1, "died": 1}, "first_of_games": first}
    other = {**part, "agent": "b", "causes": {"late": 2}}
    parts = [AgentForfeits.from_dict(one, number=number) for number, one in enumerate((part, other, part))]
    a, b = joined(parts)
    assert (a.agent, a.decisions, a.games, a.causes, len(a.first)) == ("a", 4, 2, {"late": 2, "died": 2}, 2)
    assert b == parts[1]
    assert b.to_dict() == other
