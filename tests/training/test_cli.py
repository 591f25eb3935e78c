"""The command `prial`: every command in process, and a few as users start them, with encodings and widths that hurt."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from messages import without_compiling
from prial.agents import agent_names
from prial.agents.percentile_table import find_table
from prial.envs.cards import parse_cards
from prial.envs.crash.arrangement import Arrangement
from prial.envs.crash.partitions import undominated
from prial.envs.crash.rules import CrashRules
from prial.training.cli import app
from prial.training.console import CommandError, require_extra

TESTS = Path(__file__).parents[1]
HAND = "3c 3h 4h 6c 6h 7d 7h 9h Th Ts Qh Kh Ah"
SIX = "2h 3h 4h 5s 6d Tc"


def prial(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, list(words), input=stdin, prog_name="prial")


def start(*words: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command as users do."""
    plain = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "FORCE_COLOR", "NO_COLOR"}}
    return subprocess.run(
        [sys.executable, "-c", "from prial.training.cli import main; main()", *words],
        input=stdin,
        capture_output=True,
        env={**plain, "PYTHONPATH": str(TESTS), "PYTHONUTF8": "0", **environment},
        timeout=120,
        check=False,
    )


def is_refused(result: Result, message: str, code: int = 2) -> None:
    """One line that says what is wrong, no traceback, nothing on standard output."""
    assert result.exit_code == code, result.output
    assert re.search(message, result.stderr), result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that takes nothing")
@pytest.mark.parametrize("words", [("agents",), ("agents", "--json"), ("--help",), ("rules", "online")])
def test_output_that_cannot_be_written_is_said_in_a_line(words: tuple[str, ...]) -> None:
    with FULL.open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from prial.training.cli import main; main()", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
    assert (done.returncode, done.stderr.decode()) == (1, "Error: No space left on device\n")


SAYING_MUCH = [
    ("--help",),
    ("agents",),
    ("agents", "--json"),
    ("rules", "online"),
    ("arrangements", HAND, "--rules", "online", "--json"),
    ("arena", "greedy", "random", "--games", "12", "--jobs", "1"),
    ("play", "--seed", "1"),
]


def in_a_shell(script: str, *words: str, folder: Path) -> tuple[int, str, str]:
    """Run a script in which $PRIAL is the command; return its exit status, standard output and standard error."""
    command = shlex.join([sys.executable, "-c", "from prial.training.cli import main; main()", *words])
    line = ["/bin/sh", "-c", script.replace("$PRIAL", command)]
    done = subprocess.run(line, capture_output=True, encoding="utf-8", cwd=folder, timeout=120, check=False)
    return done.returncode, done.stdout, without_compiling(done.stderr)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("words", SAYING_MUCH, ids=" ".join)
def test_output_that_is_closed_is_said_in_a_line(words: tuple[str, ...], tmp_path: Path) -> None:
    status, out, messages = in_a_shell("$PRIAL </dev/null >&-", *words, folder=tmp_path)
    assert (status, out) == (1, "")
    assert re.fullmatch(r"Error: (standard output: )?Bad file descriptor", messages)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("words", SAYING_MUCH, ids=" ".join)
def test_a_reader_that_has_seen_enough_ends_a_command_silently(words: tuple[str, ...], tmp_path: Path) -> None:
    _, out, messages = in_a_shell("($PRIAL </dev/null; echo $? >&2) | true", *words, folder=tmp_path)
    assert (out, messages) in (("", "1"), ("", "0"))  # 0: all was written before the reader left


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_closed_input_is_at_its_end_and_closed_messages_are_lost(tmp_path: Path) -> None:
    status, out, messages = in_a_shell("$PRIAL <&-", "play", "--seed", "1", folder=tmp_path)
    assert (status, messages) == (0, "")
    assert out.endswith("prial play --resume crash.record\n")
    assert in_a_shell("$PRIAL 2>&-", "nonsense", folder=tmp_path) == (2, "", "")
    assert in_a_shell("$PRIAL <&- >&- 2>&-", "play", folder=tmp_path) == (1, "", "")


@pytest.mark.parametrize("words", [("agents",), ("rules", "online"), ("--help",)])
def test_a_width_of_no_columns_is_as_if_unsaid(words: tuple[str, ...]) -> None:
    done = start(*words, COLUMNS="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == start(*words).stdout


# ---- the command itself -----------------------------------------------------------------------------------------------


def test_version() -> None:
    result = prial("--version")
    assert (result.exit_code, result.stdout) == (0, f"prial {version('prial')}\n")


def test_help_lists_the_commands() -> None:
    result = prial("--help")
    assert result.exit_code == 0
    for command in ("arena", "agents", "arrangements", "standings", "tables"):
        assert re.search(rf"^  {command} ", result.stdout, re.MULTILINE)


def test_every_command_explains_itself() -> None:
    for words in (("arena",), ("agents",), ("arrangements",), ("standings",), ("tables",), ("tables", "percentile")):
        result = prial(*words, "--help")
        assert result.exit_code == 0
        assert "Usage:" in result.stdout


def test_help_imports_nothing_that_computes() -> None:
    program = (
        "import sys\nfrom prial.training import cli\n"
        "heavy = ('numpy', 'numba', 'torch', 'gymnasium', 'pettingzoo', 'onnxruntime', 'pydantic', 'rich.table')\n"
        "print(*[name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_an_unknown_command_or_option_is_a_line() -> None:
    is_refused(prial("arean"), "No such command 'arean'")
    is_refused(prial("arena", "greedy", "random", "--game", "5"), "No such option: --game")


def test_a_missing_extra_is_one_line_that_names_it() -> None:
    require_extra("prial arena", "train", "json")
    with pytest.raises(CommandError) as caught:
        require_extra("prial train", "train", "json", "no_such_module")
    assert str(caught.value) == (
        "prial train needs the extra 'train' (no module 'no_such_module' here): pip install \"prial[train]\""
    )


# ---- agents -----------------------------------------------------------------------------------------------------------


def test_agents() -> None:
    result = prial("agents")
    assert result.exit_code == 0
    assert all(re.search(rf"^{name} ", result.stdout, re.MULTILINE) for name in agent_names())
    listed = json.loads(prial("agents", "--json").stdout)
    assert {entry["agent"]: entry["summary"] for entry in listed} == dict(agent_names())


# ---- arrangements -----------------------------------------------------------------------------------------------------


def test_arrangements_as_json() -> None:
    result = prial("arrangements", HAND, "--rules", "online", "--json")
    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    assert set(answer) == {"cards", "arrangements"}
    assert answer["cards"] == HAND.split()
    assert len(answer["arrangements"]) == 676  # RULES section 6
    rules = CrashRules.preset("online")
    held = parse_cards(HAND)
    indices = undominated(sorted(card.id for card in held), rules).partitions.tolist()
    for laid, index in zip(answer["arrangements"], indices, strict=True):
        assert set(laid) == {"hands", "spare"}
        assert Arrangement.of(laid["hands"], HAND).index(HAND, rules) == index
        assert sorted([*chain(*laid["hands"]), *laid["spare"]]) == sorted(HAND.split())


def test_arrangements_of_many_hands() -> None:
    lines = f"# hands of six\n\n{SIX}\n  10c 10d 10h As Ad Ah  \r\n"
    result = prial("arrangements", "-", "--set", "cards_dealt=6", "--json", stdin=lines)
    assert result.exit_code == 0
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    assert first == {
        "cards": SIX.split(),
        "arrangements": [{"hands": [["4h", "3h", "2h"]], "spare": ["Tc", "6d", "5s"]}],
    }
    assert second["arrangements"] == [{"hands": [["As", "Ah", "Ad"], ["Th", "Td", "Tc"]], "spare": []}]


def test_arrangements_as_text() -> None:
    result = prial("arrangements", SIX, "--set", "cards_dealt=6", "--set", "lowest_hand=high_card")
    assert result.exit_code == 0
    assert "1 undominated arrangement\n" in result.stdout
    assert "4♥ 3♥ 2♥ | 10♣ 6♦ 5♠" in result.stdout
    assert "running flush 4-3-2, high card 10-6-5" in result.stdout


def test_cards_need_no_quotes() -> None:
    assert prial("arrangements", *SIX.split(), "--set", "cards_dealt=6").exit_code == 0


def test_nothing_to_lay_is_an_arrangement() -> None:
    result = prial("arrangements", "2c 4d 6h", "--set", "cards_dealt=3", "--json")
    assert json.loads(result.stdout)["arrangements"] == [{"hands": [], "spare": ["6h", "4d", "2c"]}]
    assert "nothing laid" in prial("arrangements", "2c 4d 6h", "--set", "cards_dealt=3").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("As Ks",), "expected 13 cards .*got 2 in 'As Ks'"),
        ((f"{HAND[:-2]}1O",), "'1O' is not a card"),
        (("As As",), "As is given twice"),
        ((SIX, "--set", "cards_dealt=6", "--set", "ranks=9TJQKA"), "2h 3h 4h 5s 6d in .*not in the pack"),
        ((HAND, "--rules", "onlin"), "'onlin'.*'online'"),
        ((HAND, "--rules", "no.yaml"), "no.yaml"),
        ((HAND, "--set", "cards_dealt"), "expected OPTION=VALUE"),
        ((HAND, "--set", "card_dealt=6"), "unknown option 'card_dealt'; did you mean 'cards_dealt'"),
        ((HAND, "--set", "cards_dealt=six"), "cards_dealt='six': expected a whole number from 3 to 13"),
        ((HAND, "--set", "target=7", "--set", "target=8"), "target is set already, to 7"),
        ((HAND, "--players", "5"), "players=5 with cards_dealt=13 needs 65 cards"),
        ((HAND, "--set", "stakes=1"), "house rule 'stakes' is not played"),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], message: str) -> None:
    is_refused(prial("arrangements", *words), message)


def test_a_bad_line_is_named() -> None:
    result = prial("arrangements", "-", "--set", "cards_dealt=6", "--json", stdin=f"{SIX}\n\n2h 3h\n{SIX}\n")
    assert result.exit_code == 2
    assert result.stderr == "Error: line 3: expected 6 cards (cards_dealt), got 2 in '2h 3h'\n"
    assert len(result.stdout.splitlines()) == 1


# ---- arena ------------------------------------------------------------------------------------------------------------


def arena_json(*words: str) -> dict[str, Any]:
    result = prial("arena", *words, "--json", "--jobs", "1")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_arena_as_json() -> None:
    answer = arena_json("greedy", "random", "--rules", "online", "--games", "10", "--seed", "1")
    assert answer["rules"] == CrashRules.preset("online").to_dict()
    assert (answer["games"], answer["games_asked"], answer["boards"], answer["games_per_board"]) == (12, 10, 4, 3)
    assert (answer["seed"], answer["line_ups"]) == (1, [["greedy", "random", "random"]])
    assert [entry["agent"] for entry in answer["agents"]] == ["greedy", "random"]
    for entry in answer["agents"]:
        for key in ("win_share", "points_per_round", "margin_per_round", "crash_rate", "rounds_per_game"):
            low, high = entry[f"{key}_ci"]
            assert low <= entry[key] <= high
    (pair,) = answer["pairs"]
    assert pair["agents"] == ["greedy", "random"]
    low, high = pair["win_share_difference_ci"]
    assert low <= pair["win_share_difference"] <= high
    assert {"points_per_round_difference", "ahead", "games", "boards", "more_games"} <= set(pair)
    assert answer["versions"]["prial"] == version("prial")


def test_arena_takes_rules_from_options_and_files(tmp_path: Path) -> None:
    path = tmp_path / "short.yaml"
    path.write_text("cards_dealt: 6\nplayers: 2\nlowest_hand: high_card\n", encoding="utf-8")
    answer = arena_json(
        "greedy", "random", "--rules", str(path), "--set", "target=3", "--set", "crash_reward=2", "--games", "4"
    )
    rules = answer["rules"]
    assert (rules["name"], rules["players"], rules["cards_dealt"], rules["target"]) == ("short", 2, 6, 3)
    assert rules["crash_reward"] == 2
    assert (
        arena_json("greedy", "random", "--rules", "bga", "--players", "5", "--games", "5")["rules"]["cards_dealt"] == 9
    )


def test_arena_as_text() -> None:
    result = prial("arena", "greedy", "random", "random-legal", "--games", "12", "--jobs", "1")
    assert result.exit_code == 0
    assert result.stderr == ""
    for text in ("online, 3 players, seed 1", "12 games: 2 boards", "only 2 boards", "greedy - random-legal"):
        assert text in result.stdout
    assert "±0.0" not in result.stdout


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (("greedy",), "two or more agents, got only 'greedy'", 2),
        (("greedy", "gredy"), "no agent 'gredy'; did you mean 'greedy'", 2),
        (("greedy", "no.module:agent"), "no module 'no.module'", 2),
        (("greedy", "random", "--games", "0"), "--games", 2),
        (("greedy", "random", "--seed", "-1"), "--seed", 2),
        (("greedy", "random", "--players", "6"), "players=6: expected a whole number from 2 to 5", 2),
        (
            ("greedy", "scripted_agents:Raises", "--games", "6", "--jobs", "1"),
            "agent 'scripted_agents:Raises' failed in",
            1,
        ),
    ],
)
def test_what_an_arena_refuses(words: tuple[str, ...], message: str, code: int) -> None:
    is_refused(prial("arena", *words), message, code)


# ---- as users start it ------------------------------------------------------------------------------------------------

SHORT = ("--set", "cards_dealt=6")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("agents",),
        ("arrangements", SIX, *SHORT),
        ("arena", "greedy", "random", "--games", "6", "--jobs", "1", *SHORT),
        ("arena", "--help"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_text_for_old_consoles(words: tuple[str, ...], encoding: str) -> None:
    done = start(*words, PYTHONIOENCODING=encoding, NO_COLOR="1", COLUMNS="40")
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    text = done.stdout.decode(encoding)
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if len(line) > 40] == []
    if words[0] == "arrangements":
        assert ("4♥ 3♥ 2♥" if encoding == "utf-8" else "4h 3h 2h") in text


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-16"])
def test_json_for_old_consoles(encoding: str) -> None:
    done = start("arrangements", SIX, *SHORT, "--json", PYTHONIOENCODING=encoding)
    text = done.stdout.decode(encoding)
    assert text.isascii()
    assert json.loads(text)["cards"] == SIX.split()


def test_a_mistake_that_the_console_cannot_show() -> None:
    done = start("arrangements", "A♠ 6с", PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"U+0441 CYRILLIC SMALL LETTER ES" in done.stderr
    assert b"Traceback" not in done.stderr
    done = start("arrangements", "-", stdin="A♠ K♠".encode(), PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert b"line 1" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_reader_that_has_seen_enough() -> None:
    hands = f"{HAND}\n" * 50
    command = [sys.executable, "-c", "from prial.training.cli import main; main()", "arrangements", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write(hands.encode())
        running.stdin.close()
        running.stdout.readline()
        running.stdout.close()
        assert b"Traceback" not in running.stderr.read()


@pytest.mark.slow
def test_an_agent_that_fails_in_a_worker_leaves_one_line() -> None:
    done = start("arena", "greedy", "scripted_agents:Raises", "--games", "600", "--jobs", "2")
    assert done.returncode == 1
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("Error: agent 'scripted_agents:Raises' failed in the arrange phase (board ")


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_agent_that_prints_does_not_spoil_the_output(jobs: str) -> None:
    done = start("arena", "greedy", "scripted_agents:Prints", "--games", "300", "--jobs", jobs, "--json", *SHORT)
    assert done.returncode == 0
    assert json.loads(done.stdout)["games"] == 300
    assert b"hm, let me see" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("after", [2.0, 4.0])
def test_ctrl_c_leaves_one_word(jobs: str, after: float) -> None:
    program = "from prial.training.cli import main; main()"
    words = ("arena", "greedy", "random", "--games", "1000000", "--jobs", jobs)
    command = [sys.executable, "-c", program, *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True
    ) as running:
        time.sleep(after)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to all processes of the command
        output, errors = running.communicate(timeout=60)
    assert (running.returncode, output, errors) == (130, "", "Stopped.\n")


# ---- tables -----------------------------------------------------------------------------------------------------------


def test_a_table_is_made_and_can_be_used(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    small = ("--players", "2", *SHORT, "--deals", "200", "--iterations", "2", "--seed", "3")
    result = prial("tables", "percentile", "--out", str(path), *small)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert f"Wrote {path}: " in result.stdout
    table = find_table(CrashRules.preset("online", players=2, cards_dealt=6), path=path)
    assert table.options["cards_dealt"] == 6


def test_all_tables_are_made_into_a_folder_and_those_there_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "prial.training.percentile_tables.standard_tables", lambda: {"short": CrashRules(cards_dealt=6)}
    )
    words = ("tables", "percentile", "--all", "--out", str(tmp_path), "--deals", "200", "--iterations", "2")
    for made, there in ((1, 0), (0, 1)):
        result = prial(*words)
        assert result.exit_code == 0, result.output
        size = (tmp_path / "short.json").stat().st_size
        assert f"1 tables in {tmp_path}, {size:,} bytes: {made} made, {there} there already" in result.stdout
    is_refused(prial(*words, "--rules", "bga"), "--all makes the tables of all rules")


def test_a_table_for_rules_that_there_are_not(tmp_path: Path) -> None:
    is_refused(prial("tables", "percentile", "--rules", "onlin", "--out", str(tmp_path / "x.json")), "'onlin'")
    assert list(tmp_path.iterdir()) == []


# ---- standings --------------------------------------------------------------------------------------------------------


def test_standings_are_shown_or_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prial.training.standings.standings_rules", lambda: (CrashRules.preset("bga", players=5),))
    path = tmp_path / "docs" / "strength.md"
    words = ("standings", "--boards", "1", "--seed", "3", "--date", "2024-02-29")
    shown = prial(*words)
    assert (shown.exit_code, shown.stderr) == (0, "")
    written = prial(*words, "--out", str(path))
    assert (written.exit_code, written.stdout) == (0, "")
    command = "prial standings --boards 1 --seed 3"
    assert path.read_text(encoding="utf-8") == shown.stdout.replace(command, f"{command} --out {path.as_posix()}")
    values = json.loads(prial(*words, "--json").stdout)
    assert [value["rules"]["players"] for value in values] == [5]
