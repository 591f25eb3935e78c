"""The example engines of docs/engines, in languages of their own: they play, agree with each other, and check themselves."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest

from languages import c_program, node_program
from prial.agents import check_agent, make
from prial.envs.crash.arrangement import Arrangement
from prial.envs.crash.game import Game
from prial.envs.crash.observation import ViewBatch, view_of
from prial.envs.crash.rules import CrashRules
from prial.training.arena import run_arena
from prial.training.arena_report import as_dict
from prial.training.vectors import vectors
from project.source_tree import ROOT

ENGINES = ROOT / "docs" / "engines"


@pytest.fixture(scope="module")
def vectors_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "vectors.jsonl"
    path.write_text("".join(f"{line}\n" for line in vectors(deals=2)), encoding="ascii")
    return path


@pytest.fixture(scope="module", params=["javascript", "c"])
def command(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "javascript":
        return shlex.join(node_program(ENGINES / "greedy.mjs"))
    return shlex.join(c_program(ENGINES / "greedy.c", tmp_path_factory.mktemp("engine")))


def test_it_keeps_the_contract_of_agents(command: str) -> None:
    agent = make(f"engine,start=60,deadline=60:{command}")
    variants = [
        CrashRules.preset("bga", players=2),
        CrashRules.preset("traditional", players=3, crash_call="optional"),
        CrashRules(cards_dealt=7, lowest_hand="flush", flush_high="three"),
        CrashRules(cards_dealt=9, lowest_hand="high_card"),
    ]
    check_agent(agent, rules=["online", *variants], games=2)


def test_it_plays_against_greedy(command: str) -> None:
    rules = CrashRules.preset("online")
    result = as_dict(run_arena([f"engine,deadline=60:{command}", "greedy"], rules=rules, games=30, seed=1, jobs=1))
    assert result["forfeits"] == []
    assert result["agents"][0]["seats"] == 30
    assert result["agents"][0]["win_share"] > 0.05  # it plays: laying nothing wins nothing


def test_it_lays_the_strongest_first_hand(command: str) -> None:
    agent = make(f"engine,deadline=60:{command}")
    for rules in (CrashRules.preset("online"), CrashRules.preset("bga", players=2, exchange="none")):
        games = [Game(rules, seed=9, table=table) for table in range(40)]
        views = ViewBatch.of([view_of(game, 0) for game in games])
        for view, action in zip(views, agent.act_many(views, np.random.default_rng(0)), strict=True):
            found = ViewBatch.of([view]).undominated()
            laid = Arrangement.from_index(int(action), list(view.cards), rules)
            assert laid.strengths(rules)[0] == found.strengths[0, 0]


def test_it_is_as_tolerant_as_it_should_be(command: str) -> None:
    lines = (
        b"\xef\xbb\xbfHELLO 1\r\n\r\ndecide\r\nposition arrange\nrules Online CARDS_DEALT=6\r\n"
        b"position arrange seat 0\nPosition ARRANGE Seat 0 dealer 2 Cards as kS Qs 2c 2d 2h scores 0 0 0 \n"
        b"  Decide movetime 500\t\nnonsense\nping a b\n\xff\xfe\nseed 7\nquit\nping\n"
    )
    done = subprocess.run(shlex.split(command), input=lines, capture_output=True, timeout=60, check=True)
    answers = [line.split()[0:2] for line in done.stdout.decode("ascii", "replace").splitlines()]
    kinds = [" ".join(words) if words[0] == "ok" else words[0] for words in answers]
    expected = "info, ok hello, error, error, ok rules, error, ok position, decision, error, ok ping, error, ok seed"
    assert ", ".join(kinds) == f"{expected}, ok quit"
    assert done.stderr == b""


def test_it_ends_with_its_input_and_its_host(command: str) -> None:
    done = subprocess.run(shlex.split(command), input=b"hello", capture_output=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == b"ok hello 1"  # a last line without its end is one
    with subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        running.stdin.write(b"quit\n")
        running.stdin.flush()
        assert running.wait(60) == 0  # though its input is still open


def test_the_engine_in_javascript_checks_itself(vectors_file: Path, tmp_path: Path) -> None:
    check = [*node_program(ENGINES / "greedy.mjs"), "--check"]
    done = subprocess.run([*check, str(vectors_file)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "741 hands, 30 positions, 0 faults\n")
    # It would notice: a hand of another class, and two strengths exchanged.
    lines = [json.loads(line) for line in vectors_file.read_text(encoding="ascii").splitlines()]
    hands = [line for line in lines if line["kind"] == "hand"]
    hands[0]["class"] = "pair"
    hands[400]["strength"], hands[500]["strength"] = hands[500]["strength"], hands[400]["strength"]
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="ascii")
    done = subprocess.run([*check, str(wrong)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "3c" in done.stdout or "expected a pair" in done.stdout
