"""Foreign engines as agents: what they do wrong is told, or forfeited by the rule, and never waited for."""

from __future__ import annotations

import gc
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from prial.agents import AgentError, check_agent, make
from prial.agents.engine_client import EngineAgent, EngineError
from prial.agents.engine_process import EngineFailure
from prial.agents.forfeits import CAUSES, MayForfeit, forfeited_action
from prial.envs.crash.game import Game
from prial.envs.crash.observation import ViewBatch, view_of
from prial.envs.crash.rules import CrashRules

BAD = Path(__file__).parents[1] / "bad_engine.py"
ONLINE = CrashRules.preset("online")


def engine(kind: str, number: int = 1, **options: float) -> EngineAgent:
    words = shlex.join([sys.executable, str(BAD), kind, str(number)])
    agent = make(f"engine:{words}", **{"start": 60.0, **options})
    assert isinstance(agent, EngineAgent)
    return agent


def some_views(count: int, rules: CrashRules = ONLINE) -> ViewBatch:
    games = [Game(rules, seed=4, table=table) for table in range(count)]
    return ViewBatch.of([view_of(game, game.pending[0]) for game in games])


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be reaped by others does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ended(pids: list[int]) -> bool:
    """Wait for the end of processes: it takes the system a moment."""
    for _ in range(200):
        if not any(is_alive(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


# ---- engines that play ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["fine", "chatters", "split-write", "no-seed", "garbage"])
def test_an_engine_keeps_the_contract_of_agents(kind: str) -> None:
    agent = engine(kind)
    assert isinstance(agent, MayForfeit)
    check_agent(agent, rules=["online", CrashRules.preset("traditional", players=3, crash_call="optional")], games=1)
    agent.close()


def test_an_engine_that_draws_is_repeated_by_its_seed() -> None:
    views = some_views(30)
    answers = [engine("draws").act_many(views, rng(seed)) for seed in (1, 1, 2)]
    assert (answers[0] == answers[1]).all()
    assert (answers[0] != answers[2]).any()


def test_composed_agents_may_ask_it_phase_by_phase() -> None:
    agent, bga = engine("fine"), CrashRules.preset("bga")
    assert not agent.exchange_many(some_views(3, bga), rng()).any()
    assert (agent.arrange_many(some_views(3), rng()) > 0).all()
    calls = CrashRules.preset("online", crash_call="optional")
    game = Game(calls, seed=1)
    while game.phase.label == "arrange":
        game.step(int(game.undominated(game.pending[0]).partitions[0]))
    assert not agent.call_many(ViewBatch.of([view_of(game, game.pending[0])]), rng()).any()


def test_an_agent_of_ours_behind_the_protocol_decides_the_same() -> None:
    program = "from prial.training.cli import main; main()"
    command = shlex.join([sys.executable, "-c", program, "bot", "--agent", "greedy"])
    agent, ours = make(f"engine,start=300:{command}"), make("greedy")
    for name in ("online", "bga"):
        views = some_views(20, CrashRules.preset(name))
        assert (agent.act_many(views, rng()) == ours.act_many(views, rng())).all()


# ---- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("engine:", "expected a program after the colon, as in engine:./their-bot"),
        ("engine:./no-such-bot --flag", "there is no program './no-such-bot' that can be run"),
        (f"engine:{BAD}", "that can be run"),
        ("engine:'./bot", "No closing quotation"),
        ("engine,speed=9:./bot", "no option 'speed'; expected deadline or start, in seconds"),
        ("engine,deadline=soon:./bot", "deadline=soon: expected seconds, from 0.01 to 86400"),
        ("engine,deadline=inf:./bot", "deadline=inf: expected seconds"),
        ("engine,start=0:./bot", "start=0: expected seconds"),
    ],
)
def test_names_that_are_refused(name: str, message: str) -> None:
    with pytest.raises(AgentError) as caught:
        make(name)
    assert message in str(caught.value)


def test_what_a_name_says_goes_before_options() -> None:
    agent = make(f"engine,deadline=0.2:{shlex.join([sys.executable, str(BAD), 'hangs'])}", deadline=3600, start=60)
    with pytest.raises(EngineFailure, match=r"no answer within 0.2 s"):
        agent.act_many(some_views(1), rng())


# ---- refused before anything is played --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("silent", "hello: no answer within 1 s"),
        ("no-hello", "error hello: not with me"),
        ("version-2", "it speaks version 2 of the protocol; expected 1"),
        ("no-rules", "error rules: not with me"),
    ],
)
def test_an_engine_that_does_not_begin_is_refused(kind: str, message: str) -> None:
    agent = engine(kind, start=1.0 if kind == "silent" else 60.0)
    with pytest.raises(EngineError) as caught:
        agent.check_rules(ONLINE)
    assert str(caught.value) == f"agent {agent.name!r}: {message}"


@pytest.mark.parametrize("program", ["true", "cat"])
def test_a_program_that_is_no_engine_is_refused(program: str) -> None:
    agent = make(f"engine,start=1:{program}")
    assert isinstance(agent, EngineAgent)
    expected = {"true": "hello: it ended with exit status 0", "cat": "hello: no answer within 1 s; it wrote 'hello 1'"}
    with pytest.raises(EngineError) as caught:
        agent.check_rules(ONLINE)
    assert str(caught.value).endswith(expected[program])


# ---- what is forfeited ------------------------------------------------------------------------------------------------

FAILS = [
    ("hangs", "late", r"no answer within 0\.5 s"),
    ("nonsense", "illegal", r"expected lay and the hands, strongest first, got 'of mine' \(its cards: "),
    ("foreign-card", "illegal", r"which is not among the player's cards.* \(its cards: "),
    ("errors", "refused", r"error I do not feel like it"),
    ("no-position", "refused", r"error position: not with me"),
    ("dies", "died", r"it ended with exit status 3"),
    ("killed", "died", r"it ended by signal 9"),
    ("closes-output", "died", r"it closed its output"),
    ("floods", "flooded", r"more than 5,000 lines and no answer among them"),
    ("one-endless-line", "flooded", r"more than [\d,]+ bytes and no answer among them"),
]


@pytest.mark.parametrize(("kind", "cause", "detail"), FAILS)
def test_what_goes_wrong_is_forfeited_by_its_cause_and_the_rest_is_played(kind: str, cause: str, detail: str) -> None:
    number = 1 if kind == "no-position" else 3
    agent = engine(kind, number, deadline=0.5 if kind == "hangs" else 60.0)
    views = some_views(4)
    actions, forfeits = agent.act_or_forfeit(views, rng())
    lost = {"no-position": [0, 1, 2, 3], "nonsense": [2, 3], "foreign-card": [2, 3], "errors": [2, 3]}.get(kind, [2])
    assert [forfeit.row for forfeit in forfeits] == lost
    assert {forfeit.cause for forfeit in forfeits} == {cause} <= set(CAUSES)
    assert all(re.search(detail, forfeit.detail) for forfeit in forfeits), forfeits
    whole = engine("fine").act_many(views, rng())
    assert actions.tolist() == [0 if row in lost else whole[row] for row in range(4)]
    # Outside of arenas nothing is played in its place.
    with pytest.raises(EngineFailure, match=detail):
        engine(kind, 1, deadline=0.5 if kind == "hangs" else 60.0).act_many(views, rng())
    agent.close()


def test_an_answer_of_an_earlier_position_is_illegal_where_it_does_not_fit() -> None:
    _, forfeits = engine("repeats", 2).act_or_forfeit(some_views(5), rng())
    assert [(forfeit.row, forfeit.cause) for forfeit in forfeits] == [(row, "illegal") for row in range(1, 5)]


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next() -> None:
    agent, views = engine("slow", deadline=0.2), some_views(3)
    expected = engine("fine").act_many(views, rng())
    actions, forfeits = agent.act_or_forfeit(views.select(np.array([0])), rng())
    assert (actions.tolist(), [forfeit.cause for forfeit in forfeits]) == ([0], ["late"])
    time.sleep(0.5)  # now the answer would be there
    patient = engine("slow", deadline=60)
    assert patient.act_many(views, rng()).tolist() == expected.tolist()
    _, forfeits = agent.act_or_forfeit(views.select(np.array([1, 2])), rng())
    assert [forfeit.cause for forfeit in forfeits] == ["late", "late"]


def test_after_three_failures_in_a_row_it_is_given_up_until_told_otherwise() -> None:
    agent, views = engine("dies"), some_views(5)
    causes = ["died", "died", "died", "given up", "given up"]
    assert [forfeit.cause for forfeit in agent.act_or_forfeit(views, rng())[1]] == causes
    agent.start_over()
    assert [forfeit.cause for forfeit in agent.act_or_forfeit(views, rng())[1]] == causes
    # One that answers in between is not given up.
    agent = engine("dies", 2)
    causes = [forfeit.cause for forfeit in agent.act_or_forfeit(some_views(10), rng())[1]]
    assert causes == ["died"] * 5


def test_what_stands_in_asks_nothing_of_anyone() -> None:
    game = Game(CrashRules.preset("traditional", players=3, crash_call="optional"), seed=1)
    said = []
    while not game.is_over and game.rounds_played == 0:
        view = view_of(game, game.pending[0])
        action = forfeited_action(view)
        said.append(game.layout.describe(action))
        game.step(action, view.seat)
    assert said == ["keep"] * 3 + ["arrangement 0"] * 3 + ["pass"] * 3


def test_ctrl_c_leaves_no_answer_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    agent, views = engine("fine"), some_views(3)
    expected = agent.act_many(views, rng())
    with monkeypatch.context() as patch:
        patch.setattr("prial.agents.engine_process.EngineProcess.final", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            agent.act_many(views, rng())
    assert (agent.act_many(views.select(np.array([1])), rng()) == expected[1:2]).all()


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.skipif(os.name != "posix", reason="elsewhere files are no programs by a mark of theirs")
def test_what_cannot_be_started_is_a_program_that_died(tmp_path: Path) -> None:
    program = tmp_path / "bot"
    program.write_bytes(b"\x7fELF no program")
    program.chmod(0o755)
    agent = make(f"engine:{program}")
    assert isinstance(agent, EngineAgent)
    with pytest.raises(EngineError, match="it cannot be started: Exec format error"):
        agent.check_rules(ONLINE)
    (forfeit,) = agent.act_or_forfeit(some_views(1), rng())[1]
    assert (forfeit.cause, forfeit.detail) == ("died", "it cannot be started: Exec format error")


# ---- processes --------------------------------------------------------------------------------------------------------

LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")


@LINUX
@pytest.mark.parametrize("kind", ["has-a-child", "ignores-quit"])
@pytest.mark.parametrize("how", ["closed", "forgotten"])
def test_an_engine_is_ended_with_what_it_started(
    kind: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD_ENGINE_PIDS", str(tmp_path / "pids"))
    agent = engine(kind)
    agent.act_many(some_views(1), rng())
    pids = [int(pid) for pid in (tmp_path / "pids").read_text(encoding="ascii").split()]
    assert len(pids) == 2
    assert all(map(is_alive, pids))
    if how == "closed":
        agent.close()
        agent.close()
    else:
        del agent
        gc.collect()
    assert ended(pids)


@LINUX
@pytest.mark.parametrize("way", ["ends", "is killed"])
def test_an_engine_ends_with_its_host(way: str, tmp_path: Path) -> None:
    program = (
        "import sys, numpy as np\n"
        "from prial.agents import make\n"
        "from prial.envs.crash.game import Game\n"
        "from prial.envs.crash.observation import view_of\n"
        "from prial.envs.crash.rules import CrashRules\n"
        "agent = make(sys.argv[1])\n"
        "agent.act(view_of(Game(CrashRules()), 0), np.random.default_rng())\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    pids_file = tmp_path / "pids"
    command = [sys.executable, "-c", program, engine("ignores-quit").name]
    environment = {**os.environ, "BAD_ENGINE_PIDS": str(pids_file)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        assert host.stdout.readline() == b"ready\n"
        pids = [int(pid) for pid in pids_file.read_text(encoding="ascii").split()]
        assert all(map(is_alive, pids))
        if way == "is killed":
            host.kill()
        host.stdin.close()
        host.wait(60)
    assert ended(pids)
