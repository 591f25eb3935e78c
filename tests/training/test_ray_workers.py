"""Pieces on Ray: figures to the bit, workers that are killed, machines that differ, clusters that are not there."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from prial.envs.crash.rules import CrashRules
from prial.training.arena import ArenaError, run_arena
from prial.training.console import CommandError
from prial.training.equity import solve_equity
from prial.training.exploit import run_exploit
from prial.training.ladder import run_ladder
from prial.training.ladder_config import LadderConfig
from prial.training.ray_workers import ClusterError, RayWorkers, differences, ray_workers, what_runs

NEEDS_RAY = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs ray (the extra cluster)")
ONLINE = CrashRules.preset("online")
SHORT = CrashRules.preset("online", players=2, cards_dealt=6)
# Ray leaves sockets to the garbage collector, which pytest would call errors.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def flag(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file that `scripted_agents:DiesOnce` leaves; workers have the environment that Ray was started with."""
    path = tmp_path_factory.mktemp("ray") / "died"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIES_ONCE", str(path))
        yield path


@pytest.fixture(scope="module")
def two(flag: Path) -> Iterator[RayWorkers]:
    with ray_workers("local", jobs=2) as workers:
        yield workers


@NEEDS_RAY
def test_an_arena_has_the_figures_and_records_of_one_process(two: RayWorkers, tmp_path: Path) -> None:
    files = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    reports: list[tuple[int, int]] = []
    asked = {"rules": ONLINE, "games": 900, "seed": 4}
    one = run_arena(["percentile", "random", "greedy"], **asked, jobs=1, records=files[0])
    spread = run_arena(
        ["percentile", "random", "greedy"],
        **asked,
        workers=two.spread,
        records=files[1],
        progress=lambda played, total: reports.append((played, total)),
    )
    assert spread == one
    assert files[1].read_bytes() == files[0].read_bytes()
    assert (len(reports), reports[-1]) == (4, (900, 900))
    assert two.deaths == 0


@NEEDS_RAY
def test_a_ladder_and_exploitability_have_the_figures_of_one_process(two: RayWorkers, tmp_path: Path) -> None:
    config = LadderConfig(agents=["greedy", "random"], players=2, games=24, chunk_boards=2, seed=5)
    known = run_ladder(config, tmp_path / "one.jsonl", jobs=1).chunks
    spread = run_ladder(config, tmp_path / "two.jsonl", workers=two.spread).chunks
    assert {key: chunk.to_dict() for key, chunk in spread.items()} == {k: c.to_dict() for k, c in known.items()}
    asked = {"deals": 160, "games": 20, "worlds": 48}
    one = run_exploit("random", SHORT, **asked, equity=solve_equity("random", SHORT, rounds_per_state=20))
    equity = solve_equity("random", SHORT, rounds_per_state=20, workers=two.spread)
    assert run_exploit("random", SHORT, **asked, equity=equity, workers=two.spread) == one


@NEEDS_RAY
def test_what_a_killed_worker_had_begun_is_done_by_another(two: RayWorkers, flag: Path) -> None:
    before = two.deaths
    agents = ["scripted_agents:DiesOnce", "random"]
    spread = run_arena(agents, rules=SHORT, games=1000, seed=2, workers=two.spread)
    assert flag.exists()
    assert two.deaths == before + 1
    assert spread == run_arena(agents, rules=SHORT, games=1000, seed=2, jobs=1)


@NEEDS_RAY
def test_a_piece_that_kills_every_worker_is_given_up(two: RayWorkers) -> None:
    with pytest.raises(ArenaError, match="4 worker processes died of the same piece"):
        run_arena(["random", "scripted_agents:Dies"], rules=SHORT, games=4, workers=two.spread)


@NEEDS_RAY
def test_an_agent_that_fails_is_named_as_in_one_process(two: RayWorkers) -> None:
    with pytest.raises(ArenaError, match=r"^agent 'scripted_agents:Raises' failed in the arrange phase .*KeyError"):
        run_arena(["random", "scripted_agents:Raises"], rules=SHORT, games=900, workers=two.spread)
    assert run_arena(["random", "greedy"], rules=SHORT, games=4, workers=two.spread).games == 4


@NEEDS_RAY
def test_workers_that_run_something_else_are_refused(two: RayWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    there = what_runs()
    monkeypatch.setattr("prial.training.ray_workers.what_runs", lambda: there | {"prial": "0.0.9 (0123)"})
    with pytest.raises(ClusterError, match=r"runs something else, so figures could differ: prial .* there, 0\.0\.9"):
        run_arena(["random", "greedy"], rules=SHORT, games=4, workers=RayWorkers(elsewhere=True).spread)


def test_differences_are_told() -> None:
    here = {"prial": "1", "numpy": "2"}
    assert differences(here, {"numpy": "2", "prial": "1"}) == ""
    assert differences(here, {"numpy": "3"}) == "prial missing there, 1 here, numpy 3 there, 2 here"


@pytest.mark.parametrize("address", ["here", "ray://host:10001", "host:", ":6379", "host:port"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ClusterError, match="expected HOST:PORT"), ray_workers(address):
        pass


def test_a_cluster_that_is_not_there_is_told_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with (
        pytest.raises(ClusterError, match=f"no Ray cluster answers at 127.0.0.1:{port}"),
        ray_workers(f"127.0.0.1:{port}"),
    ):
        pass


@NEEDS_RAY
def test_whoever_answers_but_is_no_cluster_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prial.training.ray_workers._PATIENCE", 3.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"no Ray cluster answers at {address}"), ray_workers(address):
            pass


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from prial.training.commands.options import workers_from

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with (
        pytest.raises(CommandError, match=r'--ray needs the extra \'cluster\' .*pip install "prial\[cluster\]"'),
        workers_from("local", 2),
    ):
        pass


def _started(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from prial.training.cli import main; main()", *words]
    tests = Path(__file__).parents[1]
    return subprocess.Popen(
        command, cwd=tests, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True
    )


def _ends(group: int) -> bool:
    """Return whether a group of processes ends within some seconds."""
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.2)
    return False


@NEEDS_RAY
@pytest.mark.slow
def test_the_command_gives_the_same_output_and_says_who_died(tmp_path: Path) -> None:
    words = ("arena", "scripted_agents:DiesOnce", "random", "--games", "1000", "--json", "--set", "cards_dealt=6")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIES_ONCE", str(tmp_path / "died"))
        with _started(*words, "--ray", "local", "--jobs", "2") as on_ray:
            output, errors = on_ray.communicate(timeout=120)
        with _started(*words, "--jobs", "1") as alone:
            expected, _ = alone.communicate(timeout=120)
    assert errors == "1 worker died; what they had begun was done again.\n"
    assert json.loads(output) == json.loads(expected)


@NEEDS_RAY
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
@pytest.mark.parametrize("after", [4.0, 12.0])  # while Ray starts, and while its workers play
def test_ctrl_c_ends_the_cluster_too(after: float) -> None:
    with _started("arena", "greedy", "random", "--games", "10000000", "--ray", "local", "--jobs", "2") as running:
        time.sleep(after)
        os.killpg(running.pid, signal.SIGINT)
        output, errors = running.communicate(timeout=60)
    assert (running.returncode, output, errors) == (130, "", "Stopped.\n")
    assert _ends(running.pid)
