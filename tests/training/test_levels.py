"""`prial levels`: the calibration reads amounts off a measured line; the page and the file say how they were made."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from prial.agents.levels import LEVELS, level, level_data
from prial.envs.crash.rules import CrashRules
from prial.training.cli import app
from prial.training.levels import AIMS, calibrated, examples, slipping
from prial.training.table_hints import best_known_agent, default_opponent

ONLINE = CrashRules.preset("online")


def run(*words: str):
    return CliRunner().invoke(app, words, prog_name="prial", env={"COLUMNS": "200", "NO_COLOR": "1"})


def test_amounts_are_read_off_the_measured_line() -> None:
    ticks: list[tuple[int, int]] = []
    found = calibrated(["online"], games=600, grid=(1.0, 8.0, 30.0), progress=lambda *at: ticks.append(at))
    slips, shares = found["online"]
    assert ticks == [(1, 3), (2, 3), (3, 3)]
    assert 0 < slips["hard"] < slips["medium"] < slips["easy"] <= 30
    lines = np.minimum.accumulate([1 / 3, *shares.values()])
    for name, aim in AIMS.items():
        if aim > lines[-1]:
            assert np.interp(slips[name], [0.0, *shares], lines) == pytest.approx(aim, abs=0.001)


def test_the_calibration_is_written_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prial.training.levels.GRID", (1.0, 8.0))
    path = tmp_path / "levels.json"
    done = run("levels", "--rules", "online", "--calibrate", str(path), "--games", "30", "--seed", "4")
    assert done.exit_code == 0, done.output
    made = json.loads(path.read_text())
    assert made["command"] == f"prial levels --rules online --calibrate {path.as_posix()} --games 30 --seed 4"
    assert list(made["slips"]["online"]) == list(LEVELS)


def test_what_ships_was_made_for_these_aims() -> None:
    made = json.loads((Path(__file__).parents[2] / "agents" / "data" / "levels.json").read_text())
    assert made["aims"] == dict(AIMS)
    assert made["slips"] == level_data()
    for rule_set, slips in made["slips"].items():
        shares = {float(at): share for at, share in made["measured"][rule_set].items()}
        for name, aim in AIMS.items():
            below = np.minimum.accumulate([1 / 3, *shares.values()])
            assert np.interp(slips[name], [0.0, *shares], below) == pytest.approx(aim, abs=0.002)


def test_levels_are_measured_and_shown(tmp_path: Path) -> None:
    words = ("levels", "--rules", "online", "--players", "3", "--games", "30", "--jobs", "1", "--seed", "5")
    page = tmp_path / "levels.md"
    done = run(*words, "--out", str(page), "--date", "2024-02-29", "--json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    assert [row["level"] for row in rows] == list(LEVELS)
    assert all(0 < row["slipping"]["agrees"] < 1 for row in rows)
    text = page.read_text()
    assert f"prial levels --rules online --players 3 --games 30 --seed 5 --out {page.as_posix()}" in text
    assert "2024-02-29" in text
    assert text.count("`online`, 3 players") == 3
    assert not any(word in text for word in ("TABLE", "EXAMPLES", "COMMAND", "CALIBRATION", "AIMS"))


def test_mistakes_are_told() -> None:
    for words, told in [(("--rules", "onlin"), "expected online, bga, traditional"), (("--players", "9"), "players")]:
        done = run("levels", *words, "--games", "3")
        assert done.exit_code != 0
        assert told in done.output + str(done.exception)


def test_errors_cost_less_with_a_stronger_level() -> None:
    found = [slipping(level("online", name), ONLINE, tables=100, steps=4) for name in LEVELS]
    assert all(one.exchanges is None for one in found)
    lost = [(1 - one.agrees) * one.cost for one in found]
    assert lost[0] > lost[1] > lost[2] > 0


@pytest.mark.parametrize("rule_set", ["online", "bga"])
def test_examples_lay_something_else_at_a_cost(rule_set: str) -> None:
    found = examples(rule_set, "medium", number=2)
    assert len(found) == 2
    for one in found:
        assert one.laid != one.best
        assert one.cost >= 0
        assert "gives up" in one.why


def test_people_play_against_the_medium_level_where_a_network_fits() -> None:
    for name in ("online", "bga", "traditional"):
        assert default_opponent(CrashRules.preset(name)) == f"{name}:medium"
    for rules in (CrashRules.preset("online", cards_dealt=9), CrashRules.preset("online", quads_bonus=0)):
        assert default_opponent(rules) == best_known_agent(rules)
