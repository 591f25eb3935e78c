"""The soak in small: it plays everything, counts the same with any number of workers, and notices faults."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from prial.envs.crash.game import Game
from prial.envs.crash.rules import CrashRules
from prial.training import soak
from prial.training.cli import app
from prial.training.soak import SoakError, run_soak, soak_rules


def test_every_rule_set_option_and_number_of_players_is_played() -> None:
    rules = soak_rules()
    assert {(r.name, r.players) for r in rules} == {
        *(("online", n) for n in (2, 3, 4)),
        *(("bga", n) for n in (2, 3, 4, 5)),
        *(("traditional", n) for n in (2, 3, 4)),
    }
    for option, values in {
        "crash_call": {"none", "optional", "required"},
        "finish": {"immediate", "round_end"},
        "lowest_hand": {"high_card", "pair", "flush"},
        "quads_bonus": {0, 1},
        "exchange": {"none", "spare"},
        "crash_reward": {"game", 1, 2},
    }.items():
        assert {getattr(r, option) for r in rules} == values
    assert len(set(rules)) == len(rules)


@pytest.mark.parametrize("part", range(4))
def test_a_little_of_every_rule(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "CHUNK", 8)
    rules = soak_rules()[part::4]
    ticks: list[tuple[int, int]] = []
    rounds = 8 * len(rules)
    result = run_soak(
        rounds=rounds, seed=part, jobs=1, rules=rules, progress=lambda done, total: ticks.append((done, total))
    )
    assert result.rounds >= rounds
    assert result.games > 20
    assert ticks[-1] == (result.rounds, rounds)
    assert result.counts["comparison"] > rounds
    assert {"crash", "target", "quads", "call bonus", "call penalty", "max_rounds"} <= set(result.counts)


def test_workers_play_the_same_rounds() -> None:
    rules = [CrashRules.preset("online"), CrashRules.preset("bga", players=2)]
    alone = run_soak(rounds=1000, seed=3, jobs=1, rules=rules)
    spread = run_soak(rounds=1000, seed=3, jobs=2, rules=rules)
    assert (alone.rounds, alone.games, alone.counts) == (spread.rounds, spread.games, spread.counts)
    assert run_soak(rounds=1000, seed=4, jobs=1, rules=rules).counts != alone.counts


def _leaky(game: Game, seat: int, rng: np.random.Generator) -> Game:
    return Game(game.rules, seed=99)


FAULTS: dict[str, tuple[Any, str, str]] = {
    "margins": (soak, "margins", "margins do not add up to 0"),
    "worlds": (soak, "sample_world", "a seat sees what it cannot know"),
    "replay": (soak, "replay", "the events do not replay the game"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed_and_told_with_seed_table_and_rules(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, message = FAULTS[fault]
    broken: dict[str, Any] = {
        "margins": lambda points: [1.0],
        "worlds": _leaky,
        "replay": lambda rules, events: Game(rules, seed=98),
    }
    monkeypatch.setattr(where, name, broken[fault])
    with pytest.raises(SoakError, match=f"{message} .seed=1, table=[0-9]+, rules=CrashRules"):
        run_soak(rounds=500, seed=1, jobs=1, rules=[CrashRules.preset("bga")])


def prial(*words: str) -> Result:
    return CliRunner().invoke(app, ["soak", *words], prog_name="prial")


def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "CHUNK", 20)
    result = prial("bga", "online", "--rounds", "60", "--deep", "40", "--jobs", "1")
    assert result.exit_code == 0
    told = result.stdout.splitlines()
    assert [line.split(" rounds")[0] for line in told[::2]] == [
        "bga, many tables at once: 60",
        "bga, step by step: 40",
        "online, many tables at once: 60",
        "online, step by step: 40",
    ]
    assert all("no fault" in line for line in told[::2])
    asked = json.loads(prial("--rounds", "30", "--deep", "20", "--jobs", "1", "--json").stdout)
    assert list(asked) == ["online", "bga", "traditional"]
    assert all((result["rounds"], result["deep"]["rounds"]) == (30, 20) for result in asked.values())
    assert "deep" not in json.loads(prial("bga", "--rounds", "9", "--deep", "0", "--json").stdout)["bga"]

    def broken(points: Sequence[int]) -> tuple[float, ...]:
        raise ZeroDivisionError("margins")

    monkeypatch.setattr(soak, "margins", broken)
    result = prial("--rounds", "10", "--deep", "40", "--jobs", "1")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: margins (seed=1, table=")


def test_rules_that_do_not_ship_are_refused() -> None:
    result = prial("onlin", "--rounds", "1")
    assert result.exit_code == 2
    assert "'onlin' is no rule set that ships: there are online, bga, traditional" in result.stderr
