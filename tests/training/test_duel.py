"""Two agents against each other, as closely as asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from prial.envs.crash.rules import CrashRules
from prial.training.arena import ArenaSetupError, run_arena
from prial.training.cli import app
from prial.training.duel import duel_page, play_duel

SMALL = CrashRules.preset("online", players=2, cards_dealt=6, target=2)


def prial(*words: str) -> Result:
    return CliRunner().invoke(app, ["duel", *words], prog_name="prial", env={"COLUMNS": "80"})


def test_it_plays_until_the_interval_is_short_enough() -> None:
    wide = play_duel("greedy", "random", rules=SMALL, half_width=0.05, seed=3, jobs=1)
    assert wide.games == 4_000
    close = play_duel("greedy", "random", rules=SMALL, half_width=0.012, seed=3, jobs=1)
    assert close.games > 4_000
    assert 0.010 < close.pairs[0].win_share.half_width <= 0.012


def test_the_figures_are_those_of_an_arena() -> None:
    found = play_duel("greedy", "random", rules=SMALL, half_width=0.012, seed=3, jobs=1)
    same = run_arena(["greedy", "random"], rules=SMALL, games=found.games, seed=3, jobs=1)
    assert found.pairs == same.pairs
    assert found.agents == same.agents


def test_there_are_no_more_games_than_allowed() -> None:
    assert play_duel("greedy", "random", rules=SMALL, half_width=0.001, most=500, jobs=1).games == 500
    assert play_duel("greedy", "random", rules=SMALL, half_width=0.001, most=4_100, jobs=1).games == 4_100


@pytest.mark.parametrize(("half_width", "most"), [(0.0, 10), (-1.0, 10), (float("nan"), 10), (0.1, 0)])
def test_mistakes_are_told(half_width: float, most: int) -> None:
    with pytest.raises(ArenaSetupError, match="expected more than 0"):
        play_duel("greedy", "random", rules=SMALL, half_width=half_width, most=most)


def test_the_page_has_a_row_for_each_rules() -> None:
    results = [
        play_duel("greedy", "random", rules=rules, half_width=1, most=60, jobs=1)
        for rules in (CrashRules.preset("bga", players=5), CrashRules.preset("online", players=2))
    ]
    page = duel_page(results, half_width=0.002, command="prial duel greedy random", date="2024-02-29")
    assert page.startswith("# greedy against random\n")
    assert "reaches 0.2 percentage points" in page
    assert "```\nprial duel greedy random\n```" in page
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    assert [row[1].strip() for row in rows] == ["`bga`, 5 players, 9 cards", "`online`, 2 players"]
    for row, result in zip(rows, results, strict=True):
        assert int(row[2].replace(",", "")) == result.games
        shares = [float(cell) / 100 for cell in row[3:5]]
        assert shares == pytest.approx([score.win_share.value for score in result.agents], abs=1e-4)
        assert float(row[5].split()[0]) == pytest.approx(100 * result.pairs[0].win_share.value, abs=0.01)
        assert row[7].strip() == (result.pairs[0].ahead or "open")


def test_the_command_writes_the_page_or_json(tmp_path: Path) -> None:
    words = ["greedy", "random", "--rules", "online", "--players", "2", "--set", "target=2", "--half-width", "5"]
    out = tmp_path / "duel.md"
    assert prial(*words, "--date", "2024-02-29", "--out", str(out)).exit_code == 0
    page = out.read_text(encoding="utf-8")
    assert "--rules online --players 2 --set target=2 --half-width 5 --seed 1 --out" in page
    assert "2024-02-29" in page
    shown = prial(*words, "--json")
    (found,) = json.loads(shown.stdout)
    assert f"| {found['games']:,} |" in page


def test_options_that_need_rules_say_so() -> None:
    result = prial("greedy", "random", "--players", "2")
    assert result.exit_code in {1, 2}
    assert "need --rules" in result.output
