"""`prial bot` as front ends start it, and arenas with engines that fail."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

import pytest
from typer.testing import CliRunner, Result

from messages import without_compiling
from prial.envs.crash.rules import CrashRules
from prial.training.arena import ArenaError, run_arena
from prial.training.arena_report import as_dict
from prial.training.cli import app
from record_rescorer import games_of, rescore

TESTS = Path(__file__).parents[1]
PRIAL = [sys.executable, "-W", "always", "-c", "from prial.training.cli import main; main()"]
ARRANGE = "position arrange seat 0 dealer 2 cards As Ks Qs 2c 2d 2h"
LAYS = "decision lay 2h 2d 2c | As Ks Qs"


def start(*words: str, **streams: Any) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "bufsize": 0, **streams}
    # A test run in the background ignores SIGINT, and its children would too.
    heeding = None if os.name == "nt" else lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen([*PRIAL, "bot", *words], env=environment, preexec_fn=heeding, **pipes)  # noqa: PLW1509


def talk(data: bytes, *words: str) -> tuple[int, list[str], str]:
    """Say all at once and close; return exit status, answers, and what was said on standard error."""
    with start(*words) as running:
        out, errors = running.communicate(data, timeout=300)
    return running.returncode, out.decode("ascii").splitlines(), without_compiling(errors.decode())


def test_a_front_end_of_another_system_talks_to_it() -> None:
    data = (
        f"\ufeffHELLO 1\r\n\r\n# bga\r\nRules BGA Cards_Dealt=6\r\n{ARRANGE}\r\n  DECIDE\tMovetime 60000 \r\nquit\r\n"
    )
    status, answers, errors = talk(data.encode(), "--agent", "greedy")
    assert (status, errors) == (0, "")
    assert answers[-5:] == ["ok hello 1", "ok rules", "ok position", LAYS, "ok quit"]


@pytest.mark.parametrize("agent", ["engine_agents:Shouts", "scripted_agents:Prints"])
def test_standard_output_carries_the_protocol_alone(agent: str) -> None:
    data = f"rules cards_dealt=6\n{ARRANGE}\ndecide\n".encode()
    status, answers, errors = talk(data, "--agent", agent)
    assert (status, answers) == (0, ["ok rules", "ok position", LAYS])
    assert "hm, let me see" in errors


def test_it_answers_at_once_and_ends_with_its_input() -> None:
    with start("--agent", "greedy") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for line, answer in (("ping 1", "ok ping 1"), ("rules cards_dealt=6", "ok rules"), ("pi", ""), ("ng 2\n", "")):
            running.stdin.write(line.encode() + b"\n" * bool(answer))
            running.stdin.flush()
            if answer:
                assert running.stdout.readline().decode() == f"{answer}\n"
        assert running.stdout.readline() == b"ok ping 2\n"  # a command in two writes
        running.stdin.close()
        assert running.wait(60) == 0
        assert running.stderr is not None
        assert without_compiling(running.stderr.read().decode()) == ""


def test_a_host_that_reads_no_more_ends_it_without_a_word() -> None:
    with start("--agent", "greedy") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write(b"ping\n")
        running.stdin.flush()
        running.stdout.readline()
        running.stdout.close()
        write_until_closed(running.stdin)
        assert running.wait(60) == 0
        assert running.stderr.read() == b""


def write_until_closed(stream: IO[bytes]) -> None:
    for _ in range(1000):
        try:
            stream.write(b"ping\n" * 100)
            stream.flush()
        except BrokenPipeError:
            return


@pytest.mark.skipif(os.name != "posix", reason="only there it can be told that nobody reads")
@pytest.mark.parametrize("leaves", ["output", "both"])
def test_a_slow_thought_ends_with_its_host(leaves: str) -> None:
    with start("--agent", "engine_agents:Dreams") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(f"rules cards_dealt=6\n{ARRANGE}\nping\ndecide\n".encode())
        running.stdin.flush()
        assert [running.stdout.readline() for _ in range(3)] == [b"ok rules\n", b"ok position\n", b"ok ping\n"]
        time.sleep(0.3)  # it thinks
        running.stdout.close()
        if leaves == "both":
            running.stdin.close()
        assert running.wait(60) == 0


def test_a_slow_agent_answers_in_time_and_the_process_ends() -> None:
    data = f"rules cards_dealt=6\n{ARRANGE}\ndecide movetime 50\n".encode()
    status, answers, _ = talk(data, "--agent", "engine_agents:Dreams")
    assert status == 0
    assert answers[2:] == ["info late: dreams was not done in 50 ms; greedy decides", LAYS]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGINT to send")
def test_ctrl_c_leaves_one_word() -> None:
    with start("--agent", "greedy") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(b"ping\n")
        running.stdin.flush()
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        out, errors = running.communicate(timeout=60)
    assert (running.returncode, out, errors) == (130, b"", b"Stopped.\n")


def test_an_agent_that_there_is_not() -> None:
    status, answers, errors = talk(b"hello\n", "--agent", "gredy")
    assert (status, answers) == (2, [])
    assert errors.startswith("Error: no agent 'gredy'; did you mean 'greedy'?")
    assert "engine:COMMAND" in errors


# ---- arenas -----------------------------------------------------------------------------------------------------------


def bad(kind: str, number: int = 1, *, deadline: float = 60) -> str:
    words = [sys.executable, str(TESTS / "bad_engine.py"), kind, str(number)]
    return f"engine,deadline={deadline:g},start=60:{shlex.join(words)}"


def arena(*words: str) -> Result:
    return CliRunner().invoke(app, ["arena", *words], prog_name="prial", env={"COLUMNS": "100"})


def test_an_engine_plays_in_an_arena_as_its_like() -> None:
    """Laying nothing, in another process, is what the scripted agent does in this one."""
    rules = CrashRules.preset("bga", players=2, target=3)
    results = [
        as_dict(run_arena([agent, "greedy"], rules=rules, games=12, seed=2, jobs=1))
        for agent in (bad("nothing"), "scripted_agents:Folds")
    ]
    for result in results:
        assert result["forfeits"] == []
        for score in (*result["agents"], *result["pairs"], result):
            for name in ("agent", "agents", "line_ups", "ahead"):
                score.pop(name, None)
    assert results[0] == results[1]


def test_what_an_engine_forfeits_is_counted_and_named() -> None:
    name = bad("foreign-card", 4)
    words = (name, "greedy", "--games", "6", "--jobs", "1", "--players", "2")
    result = arena(*words, "--json")
    assert result.exit_code == 0, result.output
    (told,) = json.loads(result.stdout)["forfeits"]
    assert told["agent"] == name
    assert told["causes"] == {"illegal": told["decisions"]}
    assert told["games"] == len(told["first_of_games"]) > 0
    first = told["first_of_games"][0]
    assert (first["board"], first["phase"], first["cause"]) == (0, "arrange", "illegal")
    assert first["seating"][first["seat"]] == name
    assert "is not among the player's cards" in first["detail"]
    text = arena(*words)
    assert text.exit_code == 0
    lines = text.stdout.splitlines()
    games = f"{told['games']} game{'s'[: told['games'] != 1]}"
    assert f"{name} forfeited {told['decisions']} decisions in {games}: {told['decisions']} illegal" in lines
    assert lines[-1].startswith("first in the arrange phase (board 0, seating (")


def test_forfeited_decisions_lay_nothing_and_keep(tmp_path: Path) -> None:
    record = tmp_path / "games.txt"
    name = bad("hangs", deadline=0.2)
    words = ("--rules", "bga", "--players", "2", "--games", "2", "--jobs", "1", "--records", str(record))
    result = arena(name, "greedy", *words)
    assert result.exit_code == 0, result.output
    assert " given up, 3 late" in result.stdout
    for game in games_of(record.read_text(encoding="ascii")):
        (seat,) = [key.split()[1] for key, value in game if key.startswith("agent ") and json.loads(value) == name]
        laid = [value for key, value in game if key == f"arrange {seat}"]
        assert laid
        assert all(value.startswith("- / ") for value in laid)
        assert {value for key, value in game if key == f"exchange {seat}"} == {"keep"}
        assert rescore(game)[1].split()[1:] == [str(1 - int(seat))]  # the other wins


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("silent", "hello: no answer within 1 s"),
        ("no-rules", "error rules: not with me"),
    ],
)
def test_an_engine_that_does_not_begin_stops_the_arena_before_it_plays(kind: str, message: str) -> None:
    name = bad(kind).replace("start=60", "start=1" if kind == "silent" else "start=60")
    result = arena(name, "greedy", "--games", "6", "--jobs", "1")
    assert result.exit_code == 2
    assert result.stderr == f"Error: agent {name!r}: {message}\n"


def test_where_forfeits_are_not_shown_they_stop_what_is_played() -> None:
    name = bad("errors", 3)
    with pytest.raises(ArenaError) as caught:
        run_arena([name, "greedy"], rules=CrashRules(cards_dealt=6), games=6, seed=1, jobs=1)
    message = str(caught.value)
    assert message.startswith(f"agent {name!r} failed in the arrange phase (board 0, seating (")
    assert "error I do not feel like it" in message


def test_a_program_that_there_is_not_stops_the_arena() -> None:
    result = arena("engine:./no-such-bot", "greedy")
    assert result.exit_code == 2
    assert "there is no program './no-such-bot' that can be run" in result.stderr


@pytest.mark.slow
def test_figures_and_forfeits_do_not_depend_on_the_number_of_processes() -> None:
    agents, rules = [bad("draws"), bad("dies-at-aces"), "greedy"], CrashRules(cards_dealt=6, target=3)
    results = [
        as_dict(run_arena(agents, rules=rules, games=700, seed=3, jobs=jobs, count_forfeits=True)) for jobs in (1, 2)
    ]
    assert results[0] == results[1]
    (forfeits,) = results[0]["forfeits"]
    assert forfeits["agent"] == agents[1]
    assert set(forfeits["causes"]) <= {"died", "given up"}
    assert len(forfeits["first_of_games"]) == min(100, forfeits["games"]) > 20
    assert [one["board"] for one in forfeits["first_of_games"]] == sorted(
        one["board"] for one in forfeits["first_of_games"]
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_workers_end_their_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAD_ENGINE_PIDS", str(tmp_path / "pids"))
    run_arena([bad("ignores-quit"), "greedy"], rules=CrashRules(cards_dealt=6, target=2), games=600, seed=3, jobs=2)
    pids = (tmp_path / "pids").read_text(encoding="ascii").split()
    assert len(pids) >= 4  # of this process, and of one worker or two
    for _ in range(200):
        alive = [pid for pid in pids if Path(f"/proc/{pid}").exists()]
        if not alive:
            break
        time.sleep(0.05)
    assert alive == []
