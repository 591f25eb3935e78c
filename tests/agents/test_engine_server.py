"""The engine that `prial bot` is, in process: every command gets its answer, and nothing that comes in ends it."""

from __future__ import annotations

import io
import os
import random
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from prial.agents import Agent, make
from prial.agents.engine_options import analysed
from prial.agents.engine_protocol import MAX_LINE, format_decision, format_position, format_rules, read_decision
from prial.agents.engine_server import EngineServer, HostGone, serve, watch_host
from prial.agents.engine_thinking import Late, Thinker
from prial.agents.heuristics import Greedy
from prial.agents.solver_fast import SolverFast
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import PlayerView, ViewBatch, view_of
from prial.envs.crash.rules import CrashRules
from scripted_agents import Answers
from solver_samples import random_table

ONLINE = CrashRules.preset("online")
SIX = "rules bga players=3 cards_dealt=6 crash_call=optional"
ARRANGE = "position arrange seat 0 dealer 2 cards As Ks Qs 2c 2d 2h"
LAYS = "decision lay 2h 2d 2c | As Ks Qs"


def said(server: EngineServer, *lines: str | bytes) -> list[str]:
    """What a server answers to some lines, all its lines together."""
    return [text for line in lines for text in server.answer(line.encode("utf-8") if isinstance(line, str) else line)]


@pytest.fixture
def greedy() -> EngineServer:
    return EngineServer(make("greedy"), version="1.2.3")


# ---- a conversation ---------------------------------------------------------------------------------------------------


def test_a_conversation(greedy: EngineServer) -> None:
    assert said(greedy, "hello") == [
        "info name prial greedy",
        "info version 1.2.3",
        "info rules online bga traditional",
        "ok hello 1",
    ]
    assert said(greedy, SIX, ARRANGE, "decide", "decide movetime 60000") == ["ok rules", "ok position", LAYS, LAYS]
    assert said(greedy, "analyse") == [
        "info values none; greedy tells its decision alone",
        "option 1 value - lay 2h 2d 2c | As Ks Qs",
        "ok analyse 1",
    ]
    assert said(greedy, "position exchange seat 0 dealer 2 cards As Ks 9s 2c 2d 3h", "decide") == [
        "ok position",
        "decision exchange",
    ]
    laid = f"{ARRANGE.replace('arrange', 'call')} exchanges kept kept kept laid 2c 2d 2h | As Ks Qs"
    assert said(greedy, laid, "decide") == ["ok position", "decision pass"]
    assert said(greedy, "seed 5", "ping a b", "ping") == ["ok seed", "ok ping a b", "ok ping"]
    assert said(greedy, "help")[-1] == "ok help"
    assert not greedy.is_over
    assert said(greedy, "quit") == ["ok quit"]
    assert greedy.is_over


@pytest.mark.parametrize(
    "line", ["ping x", "  PING \t x  ", "ping x\r\n", "\ufeffping x\n", "Ping\u00a0x", "ping x  \n"], ids=ascii
)
def test_what_tolerance_overlooks(greedy: EngineServer, line: str) -> None:
    assert said(greedy, line) == ["ok ping x"]


@pytest.mark.parametrize("line", ["", "\n", "  \r\n", "\ufeff\n", "# a comment", "   #"])
def test_what_asks_for_no_answer(greedy: EngineServer, line: str) -> None:
    assert said(greedy, line) == []


WRONG = [
    (
        "dance",
        r"error 'dance': no such command; expected hello, rules, position, decide, analyse, seed, ping, help, quit",
    ),
    ("decision lay", "error 'decision': no such command"),
    ("hello 2", "error hello: version of the protocol: expected a whole number from 1 to 1, got '2'"),
    ("hello 1 2", "error hello: version of the protocol: .* got '1 2'"),
    ("rules onlin", "error rules: no rule set 'onlin'; did you mean online"),
    ("position arrange", "error position: seat is missing|error position: cards is missing"),
    ("decide now", "error decide: expected movetime N, got 'now'"),
    ("decide movetime", "error decide: movetime: expected a whole number from 1 to 86400000, got ''"),
    ("decide movetime 0", "error decide: movetime: expected"),
    ("decide movetime 1e3", "error decide: movetime: expected"),
    ("analyse top -1", "error analyse: top: expected"),
    ("analyse all", "error analyse: expected top N or movetime N, got 'all'"),
    ("decide movetime 500 movetime 900", "error decide: movetime is given twice"),
    ("analyse top 3 movetime 500 Top 3", "error analyse: top is given twice"),
    ("seed", "error seed: expected one number, got ''"),
    ("seed -1", "error seed: seed: expected a whole number from 0"),
    ("seed 99999999999999999999999", "error seed: seed: expected a whole number"),
    ("help me", "error help: expected nothing after it, got 'me'"),
    ("quit 1", "error quit: expected nothing after it, got '1'"),
    (b"\xff\xfe", "error byte 0 of the line is no UTF-8; expected ASCII text"),
    (b"de\x00cide", "error a null byte in "),
    (b"ping " + b"x" * MAX_LINE, f"error a line of more than {MAX_LINE} bytes"),
    ("pïng", r"error 'p\\xefng': no such command"),
    ("x" * 500, "error 'x{57}...': no such command"),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_a_wrong_line_gets_one_error_line_and_the_engine_lives_on(
    greedy: EngineServer, line: str | bytes, message: str
) -> None:
    said(greedy, SIX, ARRANGE)
    (answer,) = said(greedy, line)
    assert re.match(message, answer), answer
    assert said(greedy, "ping") == ["ok ping"]


def test_commands_in_a_wrong_order(greedy: EngineServer) -> None:
    no_position = "no position yet; expected position ... first"
    assert said(greedy, "decide", "analyse") == [f"error decide: {no_position}", f"error analyse: {no_position}"]
    assert said(greedy, ARRANGE) == ["error position: no rules yet; expected rules ... first"]
    assert said(greedy, SIX, ARRANGE, SIX, "decide") == [
        "ok rules",
        "ok position",
        "ok rules",
        f"error decide: {no_position}",
    ]
    # What was refused leaves nothing behind that could be taken for it.
    assert said(greedy, ARRANGE, "position arrange seat 9", "decide")[-1] == f"error decide: {no_position}"
    assert said(greedy, "rules players=9", ARRANGE)[-1] == "error position: no rules yet; expected rules ... first"


def test_duplicate_cards_and_mistakes_leave_the_engine_as_it_was(greedy: EngineServer) -> None:
    said(greedy, SIX)
    assert said(greedy, ARRANGE.replace("2h", "As")) == [
        "error position: cards: As is given twice in 'As Ks Qs 2c 2d As'; each card exists once"
    ]
    assert said(greedy, ARRANGE, "decide") == ["ok position", LAYS]


def test_random_lines_get_one_final_line_each() -> None:
    rng = random.Random(11)  # noqa: S311 (no secret)
    server = EngineServer(make("greedy"))
    good = [SIX, ARRANGE, "decide", "seed 4", "ping", "hello", "analyse top 2", "decide movetime 1000"]
    for _ in range(1500):
        line = bytearray(rng.choice(good).encode())
        for _ in range(rng.randrange(4)):
            place, kind = rng.randrange(len(line) + 1), rng.randrange(3)
            line[place : place + (kind > 0)] = bytes([rng.randrange(256)]) if kind < 2 else b""
        answer = said(server, bytes(line).replace(b"\n", b" "))
        final = [text for text in answer if not text.startswith(("info ", "option "))]
        assert len(final) == bool(answer), (line, answer)
        assert answer == [] or final[0] == answer[-1]
        assert all(text.isascii() and text.isprintable() and len(text) <= 800 for text in answer)
    assert said(server, SIX, ARRANGE, "decide")[-1] == LAYS


# ---- decisions --------------------------------------------------------------------------------------------------------


def views(rules: CrashRules, games: int) -> Iterator[PlayerView]:
    player, rng = make("random"), np.random.default_rng(3)
    for table in range(games):
        game = Game(rules, seed=8, table=table, episode="round")
        while not game.is_over:
            view = view_of(game, game.pending[0])
            yield view
            game.step(player.act(view, rng), view.seat)


@pytest.mark.parametrize(
    ("agent", "preset"),
    [
        *((agent, preset) for agent in ("greedy", "solver-fast", "percentile") for preset in ("online", "bga")),
        *(("online", "online"), ("bga", "bga")),
    ],
)
def test_it_decides_as_the_agent_does(agent: str, preset: str) -> None:
    rules, playing, rng = CrashRules.preset(preset), make(agent), np.random.default_rng(0)
    server = EngineServer(make(agent))
    assert said(server, format_rules(rules)) == ["ok rules"]
    for view in views(rules, 6):
        placed, decision = said(server, format_position(view), "decide")
        assert (placed, decision) == ("ok position", f"decision {format_decision(playing.act(view, rng), view)}")
        about, *options, _ = said(server, "analyse")
        values = [option.split()[3] for option in options]
        assert about.startswith("info values ")
        if agent == "greedy":
            assert values == ["-"]
            assert "decision alone" in about
        else:
            assert [float(value) for value in values] == sorted(map(float, values), reverse=True)
            assert f"decision {options[0].split(maxsplit=4)[4]}" == decision
            assert len(options) == len(analysed(playing, view, rng).options)
            found = ViewBatch.of([view]).undominated()
            assert len(options) == (len(found.partitions) if view.phase is Phase.ARRANGE else 2)
        for option in options:
            read_decision(option.split()[4:], view)


def test_what_solver_decides_comes_first_and_what_it_knew_before_is_told() -> None:
    agent, moved = make("solver[worlds=96]"), 0
    for view in views(CrashRules.preset("bga"), 4):
        found = analysed(agent, view, np.random.default_rng(5))
        assert found.options[0].action == agent.act(view, np.random.default_rng(5))
        known = analysed(make("solver-fast"), view, np.random.default_rng(5))
        assert sorted(found.options, key=lambda option: option.action) == sorted(
            known.options, key=lambda option: option.action
        )
        moved += found.options[0] != known.options[0]
        assert "before hidden cards are dealt" in found.values
    assert moved < 6


def test_a_level_tells_its_decision_alone() -> None:
    server = EngineServer(make("bga:easy"))
    said(server, "rules bga")
    for view in views(CrashRules.preset("bga"), 2):
        about, option, final = said(server, format_position(view), "analyse")[1:]
        assert about == "info values none; bga:easy tells its decision alone"
        assert option.startswith("option 1 value - ")
        assert final == "ok analyse 1"


def test_the_gains_of_a_one_file_bot_are_told() -> None:
    pytest.importorskip("onnx")
    from small_bots import bot_of, tiny_agent

    rules = CrashRules.preset("traditional", players=2, cards_dealt=6, crash_call="optional")
    base = tiny_agent(rules)
    bot, seen = bot_of(base, rules), set()
    for view in views(rules, 3):
        found, expected = (analysed(agent, view, np.random.default_rng(0)) for agent in (bot, base))
        seen.add(view.phase)
        if view.phase is Phase.ARRANGE:
            assert [option.value for option in found.options] == [None]
            continue
        assert [option.action for option in found.options] == [option.action for option in expected.options]
        values = [[option.value for option in one.options] for one in (found, expected)]
        assert np.allclose(*np.array(values, float), atol=1e-4)
    assert len(seen) == 3


def test_calls_are_valued_too(tmp_path: Path) -> None:
    rules = CrashRules.preset(
        "traditional", players=2, target=5, crash_call="required", exchange="none", crash_reward=3
    )
    table = tmp_path / "table.json"
    table.write_text(random_table(rules).to_json(), encoding="utf-8")
    playing, rng = SolverFast(table=table), np.random.default_rng(0)
    server = EngineServer(SolverFast(table=table))
    assert said(server, format_rules(rules)) == ["ok rules"]
    decided = set()
    for view in views(rules, 30):
        _, decision, _, *options, final = said(server, format_position(view), "decide", "analyse")
        assert decision == f"decision {format_decision(playing.act(view, rng), view)}"
        if view.phase is Phase.CALL:
            assert final == "ok analyse 2"
            assert {option.split()[4] for option in options} == {"pass", "call"}
            assert options[0].split()[4] == decision.split()[1]
            decided.add(decision)
    assert len(decided) == 2


def test_chance_follows_the_seed() -> None:
    server = EngineServer(make("random"))
    said(server, "rules", format_position(next(views(ONLINE, 1))))
    drawn = [said(server, "seed 1", *["decide"] * 12)[1:] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 1
    assert said(server, "seed 2", *["decide"] * 12)[1:] != drawn[0]


class Thinks(Greedy):
    """Waits to be let go on, from its third decision on: the first are made when the rules are set."""

    name = "thinks"

    def __init__(self) -> None:
        self.gate, self.seen = threading.Event(), 0

    def act(self, view: PlayerView, rng: np.random.Generator) -> int:
        self.seen += 1
        if self.seen > 1:
            self.gate.wait(60)
        return super().act(view, rng)


def test_a_slow_agent_is_answered_for_when_its_time_is_up() -> None:
    agent = Thinks()
    server = EngineServer(agent)
    said(server, "rules cards_dealt=6", ARRANGE)
    late = "info late: thinks was not done in 20 ms; greedy decides"
    assert said(server, "decide movetime 20") == [late, LAYS]
    assert server.is_busy
    assert said(server, "decide movetime 20") == [late, LAYS]  # it still thinks about the first
    assert said(server, "analyse movetime 20") == ["error analyse: thinks was not done in 20 ms"]
    assert said(server, "ping") == ["ok ping"]
    agent.gate.set()
    assert said(server, "decide movetime 60000") == [LAYS]
    assert not server.is_busy
    assert agent.seen == 3  # what nobody waited for any more was not begun


class Fails(Greedy):
    """Fails in the way it was told to, but for the decisions when the rules are set."""

    def __init__(self, error: BaseException) -> None:
        self.error, self.seen = error, 0

    def act(self, view: PlayerView, rng: np.random.Generator) -> int:
        self.seen += 1
        if self.seen > 1:
            raise self.error
        return super().act(view, rng)


@pytest.mark.parametrize("error", [KeyError("notes"), SystemExit(3), MemoryError(), RecursionError("too\ndeep")])
def test_an_agent_that_fails_is_an_error_line(error: BaseException) -> None:
    server = EngineServer(Fails(error))
    said(server, "rules cards_dealt=6", ARRANGE)
    (answer,) = said(server, "decide")
    assert answer.startswith(f"error decide: greedy failed: {type(error).__name__}")
    assert said(server, "ping") == ["ok ping"]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (5, "answers decided 'lay .*', which is not legal: cannot lay"),
        (10**6, "answers decided 'no action"),
        (-1, "answers decided 'no action"),
        (31, "answers decided 'keep', which is not legal: expected lay and the hands"),
    ],
)
def test_an_illegal_decision_is_an_error_line(action: int, message: str) -> None:
    agent: Agent = Answers(lambda views: np.full(len(views), action, np.int32))
    server = EngineServer(agent)
    (answer,) = said(server, "rules cards_dealt=6 lowest_hand=flush")
    assert re.match(f"error rules: {message}", answer), answer


def test_rules_that_the_agent_does_not_play() -> None:
    server = EngineServer(make("solver-fast"))
    (answer,) = said(server, "rules online target=12")
    assert answer.startswith("error rules: solver-fast does not play them: no solver table for these rules (online, ")
    assert said(server, "rules online") == ["ok rules"]


# ---- the loop ---------------------------------------------------------------------------------------------------------


def served(server: EngineServer, data: bytes) -> list[str]:
    answers = io.BytesIO()
    serve(server, io.BytesIO(data), answers)
    return answers.getvalue().decode("ascii").splitlines()


def test_it_ends_with_its_input_or_when_told(greedy: EngineServer) -> None:
    assert served(greedy, b"ping 1\n\nping 2") == ["ok ping 1", "ok ping 2"]
    assert not greedy.is_over
    assert served(greedy, b"quit\nping\n") == ["ok quit"]


def test_an_endless_line_is_one_error_and_takes_no_memory(greedy: EngineServer) -> None:
    long = b"x" * 3_000_000
    error = f"error a line of more than {MAX_LINE} bytes"
    assert served(greedy, long + b"\nping\n" + long) == [error, "ok ping", error]


def test_it_ends_when_nobody_reads_any_more(greedy: EngineServer) -> None:
    there, here = os.pipe()
    with os.fdopen(here, "wb", buffering=0) as answers:
        watch = watch_host(answers)
        watch()
        os.close(there)
        serve(greedy, io.BytesIO(b"ping\n" * 100), answers)
        assert greedy.is_over
        if os.name == "posix":
            with pytest.raises(HostGone):
                watch()


def test_a_thought_ends_with_its_host() -> None:
    agent, looks = Thinks(), []

    def watch() -> None:
        looks.append(time.monotonic())
        if len(looks) == 2:
            raise HostGone

    server = EngineServer(agent, watch=watch)
    said(server, "rules cards_dealt=6", ARRANGE)
    assert served(server, b"decide\nping\n") == []
    assert server.is_over
    assert server.is_busy
    agent.gate.set()


def test_thoughts_come_one_after_the_other() -> None:
    thinker, gate = Thinker(), threading.Event()
    with pytest.raises(Late):
        thinker.ask(lambda: gate.wait(60), seconds=0.01)
    assert thinker.is_busy
    gate.set()
    assert thinker.ask(threading.get_ident, seconds=60) != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        thinker.ask(lambda: 1 // 0, seconds=None)
