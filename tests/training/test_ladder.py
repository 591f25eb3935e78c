"""The ladder: results that only grow, runs that are killed, circles, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from prial.agents.registry import make
from prial.envs.crash.rules import CrashRules
from prial.training.arena import run_arena
from prial.training.ladder import run_ladder
from prial.training.ladder_config import LadderConfig, load_ladder
from prial.training.ladder_page import ladder_page
from prial.training.ladder_report import headlines
from prial.training.ladder_results import LadderFileError, read_results
from prial.training.ladder_standing import circles_among, standing_of

pytest.importorskip("scipy")

SMALL = LadderConfig(agents=["greedy", "random"], players=2, games=12, chunk_boards=2, seed=5)
CIRCLE = LadderConfig(
    agents=[{"name": n, "agent": f"scripted_agents:{n.title()}"} for n in ("rock", "paper", "scissors")],
    rules="bga",
    players=2,
    games=40,
    chunk_boards=5,
)


def whole_lines(path: Path) -> list[bytes]:
    return [line for line in path.read_bytes().split(b"\n")[:-1] if line]


def test_a_ladder_of_two_is_an_arena(tmp_path: Path) -> None:
    """The same boards and seatings, so greedy against itself in another's place has the arena's figures."""
    config = LadderConfig(agents=["greedy", "balanced"], players=2, games=40, chunk_boards=5, seed=3)
    standing = standing_of(config, run_ladder(config, tmp_path / "results.jsonl"), resamples=20)
    arena = run_arena(["greedy", "balanced"], rules=CrashRules.preset("online", players=2), games=40, seed=3)
    assert standing.agents == arena.agents
    assert standing.pairs == arena.pairs
    assert (standing.games, standing.boards) == (40, 20)


def test_every_two_meet_with_each_alone_against_the_other() -> None:
    config = LadderConfig(agents=["greedy", "random", "balanced"], players=4)
    assert config.line_ups[:2] == ((2, 0, 0, 0), (2, 2, 2, 0))  # in the order of their names
    assert len(config.line_ups) == 6
    assert config.chunks((2, 0, 0, 0)) == -(-1200 // (8 * 60))
    tables = LadderConfig(agents=["greedy", "random", "balanced"], players=2, meetings="tables")
    assert tables.line_ups == ((2, 0), (2, 1), (0, 1))


def test_a_ladder_of_tables_is_an_arena_of_all_line_ups(tmp_path: Path) -> None:
    names = ["percentile", "greedy", "balanced", "solver-fast"]
    config = LadderConfig(agents=names, players=3, meetings="tables", games=60, chunk_boards=5, seed=3)
    standing = standing_of(config, run_ladder(config, tmp_path / "results.jsonl", jobs=1), resamples=20)
    arena = run_arena(names, rules=config.made_rules(), games=240, seed=3, jobs=1)
    assert standing.games == arena.games
    for own, other in zip((*standing.agents, *standing.pairs), (*arena.agents, *arena.pairs), strict=True):
        assert own.games == other.games
        for measure in ("win_share", "points_per_round"):
            assert getattr(own, measure).interval == pytest.approx(getattr(other, measure).interval)
    assert [pair.first for pair in standing.pairs] == [pair.first for pair in arena.pairs]


def test_processes_order_and_company_change_no_result(tmp_path: Path) -> None:
    run_ladder(SMALL, tmp_path / "one.jsonl", jobs=1)
    run_ladder(SMALL, tmp_path / "two.jsonl", jobs=2)
    assert sorted(whole_lines(tmp_path / "one.jsonl")) == sorted(whole_lines(tmp_path / "two.jsonl"))
    more = SMALL.model_copy(update={"agents": LadderConfig(agents=["random", "balanced", "greedy"], players=2).agents})
    alone, in_company = (read_results(tmp_path / "one.jsonl", SMALL), run_ladder(more, tmp_path / "more.jsonl", jobs=1))
    for key, chunk in alone.chunks.items():
        assert chunk.to_dict() == in_company.chunks[key].to_dict()


def test_an_agent_that_joins_plays_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    run_ladder(SMALL, path)
    before = path.read_bytes()
    more = SMALL.model_copy(
        update={"agents": LadderConfig(agents=["greedy", "random", "balanced"]).agents, "games": 16}
    )
    results = run_ladder(more, path)
    assert path.read_bytes().startswith(before)
    assert len(results.chunks) == 3 * 4
    assert len(standing_of(more, results, resamples=10).pairs) == 3
    again = path.read_bytes()
    run_ladder(more, path)
    assert path.read_bytes() == again


def test_three_bots_in_a_circle_show(tmp_path: Path) -> None:
    standing = standing_of(CIRCLE, run_ladder(CIRCLE, tmp_path / "results.jsonl", jobs=1), resamples=100)
    assert [pair.ahead for pair in standing.pairs] == ["paper", "rock", "scissors"]
    assert standing.circles == (("paper", "rock", "scissors"),)
    line = "in a circle: paper beats rock beats scissors beats paper"
    assert line in headlines(standing)
    assert line in ladder_page(standing, None)
    assert standing.ratings is not None
    assert standing.ratings.values == pytest.approx([0, 0, 0], abs=60)  # one number hides it


def test_circles_are_the_shortest_and_every_agent_in_one_is_named() -> None:
    assert circles_among([("a", "b"), ("b", "c"), ("a", "c")]) == ()
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("c", "a"), ("x", "y"), ("y", "x")]
    assert circles_among(edges) == (("a", "b", "c"), ("d", "a", "b", "c"), ("x", "y"))


def test_one_bot_under_two_names_is_not_ahead(tmp_path: Path) -> None:
    twin = {"name": "greedy again", "agent": "greedy"}
    config = LadderConfig(agents=["greedy", twin], players=3, games=30, chunk_boards=5)
    standing = standing_of(config, run_ladder(config, tmp_path / "r.jsonl"), resamples=200)
    assert standing.pairs[0].win_share.value == pytest.approx(0)
    assert standing.pairs[0].win_share.covers(0)
    assert standing.ratings is not None
    assert standing.ratings.difference(0, 1).covers(0)


def test_a_torn_line_is_passed_over_and_its_chunk_played_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    run_ladder(SMALL, path, jobs=1)
    whole = path.read_bytes()
    for kept in (5, whole.index(b"\n") + 20, len(whole) - 40):
        path.write_bytes(whole[:kept])
        results = run_ladder(SMALL, path, jobs=1)
        assert path.read_bytes().startswith(whole[:kept])
        again = read_results(path, SMALL)
        assert again.torn == 1
        assert sorted(set(whole_lines(path)) & set(whole_lines_of(whole))) == sorted(whole_lines_of(whole))
        assert {key: chunk.to_dict() for key, chunk in again.chunks.items()} == {
            key: chunk.to_dict() for key, chunk in results.chunks.items()
        }


def whole_lines_of(content: bytes) -> list[bytes]:
    return [line for line in content.split(b"\n") if line]


def test_a_chunk_that_comes_twice_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    once = standing_of(SMALL, run_ladder(SMALL, path), resamples=10)
    with path.open("ab") as file:
        file.write(whole_lines(path)[-1] + b"\n")
    twice = standing_of(SMALL, read_results(path, SMALL), resamples=10)
    assert (twice.games, twice.agents) == (once.games, once.agents)


def test_a_killed_run_loses_nothing(tmp_path: Path) -> None:
    """The run waits for ever in its third chunk; killed there, it is resumed and comes to what one run comes to."""
    gate = tmp_path / "gate"
    gate.touch()
    config = tmp_path / "ladder.yaml"
    config.write_text(
        "agents: [greedy, {name: waits, agent: 'scripted_agents:Waits'}]\n"
        "players: 2\ngames: 20\nchunk_boards: 2\nseed: 4\n",
        encoding="utf-8",
    )
    path = tmp_path / "out" / "results.jsonl"
    tests = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": tests, "PRIAL_TEST_GATE": str(gate)}
    command = [
        sys.executable,
        "-m",
        "prial.training.cli",
        "ladder",
        str(config),
        "--out",
        str(path.parent),
        "--jobs",
        "1",
    ]
    command[1:3] = ["-c", "from prial.training.cli import main; main()"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while not path.exists() or path.read_bytes().count(b'{"chunk"') < 2:
            assert process.poll() is None, process.stderr and process.stderr.read().decode()
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        process.communicate()
    before = path.read_bytes()
    gate.unlink()
    resumed = run_ladder(load_ladder(config), path, jobs=1)
    assert path.read_bytes().startswith(before)
    assert before.count(b'{"chunk"') == 2
    through = run_ladder(load_ladder(config), tmp_path / "through.jsonl", jobs=1)
    assert {k: c.to_dict() for k, c in resumed.chunks.items()} == {k: c.to_dict() for k, c in through.chunks.items()}
    assert len(through.chunks) == 5


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 6}, "seed differs"),
        ({"players": 3}, r"rules \(players\) differs"),
        ({"chunk_boards": 3}, "chunk_boards differs"),
    ],
)
def test_results_of_another_ladder_are_refused(tmp_path: Path, change: dict[str, int], named: str) -> None:
    path = tmp_path / "results.jsonl"
    run_ladder(SMALL, path)
    before = path.read_bytes()
    with pytest.raises(LadderFileError, match=named):
        run_ladder(SMALL.model_copy(update=change), path)
    assert path.read_bytes() == before


def test_an_agent_that_became_another_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    run_ladder(SMALL, path)
    other = LadderConfig(agents=[{"name": "greedy", "agent": "balanced"}, "random"])
    with pytest.raises(LadderFileError, match="give it another name"):
        run_ladder(SMALL.model_copy(update={"agents": other.agents}), path)


@pytest.mark.parametrize("content", ["notes\n", '{"chunk": 1}\n', "[1, 2]\n"])
def test_a_file_that_is_none_is_refused_and_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(LadderFileError, match="no file of a ladder"):
        run_ladder(SMALL, path)
    assert path.read_text(encoding="utf-8") == content


def test_a_chunk_of_another_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    run_ladder(SMALL, path)
    lines = whole_lines(path)
    chunk = json.loads(lines[-1])
    chunk["agents"] = chunk["agents"][:1]
    path.write_bytes(b"\n".join([*lines[:-1], json.dumps(chunk).encode(), b""]))
    with pytest.raises(LadderFileError, match="is no chunk of a ladder"):
        read_results(path, SMALL)


def test_agents_take_options() -> None:
    config = LadderConfig(agents=["greedy", {"name": "twin", "agent": "greedy", "options": {}}])
    assert [type(a.made(config.made_rules())) for a in config.agents] == [type(make("greedy"))] * 2
    assert np.array(config.line_ups).shape == (2, 3)
