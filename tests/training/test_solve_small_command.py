"""`prial solve-small`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from prial.training.cli import app


def prial(*words: str) -> Result:
    return CliRunner().invoke(app, ["solve-small", *words], prog_name="prial", env={"COLUMNS": "80"})


def as_json(*words: str) -> Any:
    result = prial(*words, "--json")
    assert result.exit_code == 0, result.output
    assert result.stdout.isascii()
    return json.loads(result.stdout)


def test_it_says_what_was_solved_and_who_loses_what() -> None:
    result = prial("--agent", "greedy", "--agent", "random")
    assert result.exit_code == 0, result.output
    for words in (
        "Two players, 6 of 16 cards each (JQKA), 2 hands, pair or better",
        "1,681,680 deals, 73,814 up to suits",
        "8,008 hands, 468 up to suits, with 778 undominated arrangements",
        "a best response gains at most 1e-06",
    ):
        assert words in result.stdout
    rows = [line.split() for line in result.stdout.splitlines()]
    assert [row[0] for row in rows[-2:]] == ["greedy", "random"]
    assert [row[1] for row in rows[-2:]] == ["0.182089", "0.272946"]


def test_json_has_it_all() -> None:
    found = as_json(
        "--ranks",
        "23KA",
        "--cards",
        "7",  # with six, balanced is an equilibrium
        "--lowest-hand",
        "flush",
        "--rules",
        "bga",
        "--set",
        "exchange=none",
        "--agent",
        "balanced",
    )
    assert found["rules"]["flush_high"] == "three"
    assert found["rules"]["lowest_hand"] == "flush"
    assert found["value"] == 0
    assert 0 <= found["gap"] <= 1e-6
    assert found["solved"] is True
    (agent,) = found["agents"]
    assert agent["agent"] == "balanced"
    assert agent["asked"] == "every hand"
    assert 0 < agent["margin_of_solution"] <= agent["exploitability"]


def test_the_table_of_percentile_can_be_given(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    words = ["tables", "percentile", "--players", "2", "--deals", "2000", "--iterations", "5", "--out", str(table)]
    words += ["--set", "ranks=JQKA", "--set", "cards_dealt=6"]
    assert CliRunner().invoke(app, words).exit_code == 0
    (agent,) = as_json("--agent", "percentile", "--table", str(table))["agents"]
    assert 0 < agent["exploitability"] < 0.1
    result = prial("--agent", "percentile")
    assert result.exit_code != 0
    assert "no percentile table" in " ".join(result.output.split())


def test_what_is_left_is_said() -> None:
    result = prial("--iterations", "3", "--gap", "1e-9")
    assert result.exit_code == 0
    assert "after 3 iterations a best response gains 0.0" in " ".join(result.stdout.split())
    assert as_json("--iterations", "3", "--gap", "1e-9")["solved"] is False


def test_iterations_of_the_solver_are_shown() -> None:
    result = prial("--iterate", "9")
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert [row[0] for row in rows[-5:]] == ["1", "2", "3", "5", "8"]
    found = as_json("--iterate", "9")["iterated"]
    assert list(found) == ["deals", "hands", "fit"]
    assert [len(steps) for steps in found.values()] == [9, 9, 9]
    last = found["deals"][7]
    assert rows[-1][1:3] == [f"{last['last']:.6f}", f"{last['average']:.6f}"]
    assert last["last"] < min(found["hands"][7]["last"], found["fit"][7]["last"])
    assert last["explained"] == 1 > found["fit"][7]["explained"]
    # With three players the approximations are not taken apart.
    words = ["--players", "3", "--ranks", "QKA", "--cards", "4", "--iterate", "2"]
    assert list(as_json(*words)["iterated"]) == ["deals"]
    rows = [line.split() for line in prial(*words).stdout.splitlines()]
    assert [len(row) for row in rows[-2:]] == [3, 3]


def test_a_sampled_agent_is_marked() -> None:
    result = prial("--agent", "training.test_small_game_policy:Tossing", "--samples", "2")
    assert "tossing: sampled, so somewhat too high" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--players", "3"], "needs 18 cards"),
        (["--rules", "traditional"], "exchange=spare"),
        (["--ranks", "23456789TJQKA"], "at most"),
        (["--ranks", "JQX"], "'X' is not a rank"),
        (["--set", "ranks=JQKA"], "ranks is set already"),
        (["--agent", "gready"], "did you mean 'greedy'"),
        (["--cards", "9"], "needs 18 cards"),
    ],
)
def test_mistakes_are_told(words: list[str], message: str) -> None:
    result = prial(*words)
    assert result.exit_code != 0
    assert message in " ".join(result.output.split())
