"""The example programs of docs/bots: a one-file bot in Python, JavaScript and C#, without prial."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnx")

from languages import BOTS, csharp_program, node_program
from prial.agents.registry import make
from prial.envs.crash.rules import CrashRules
from prial.training.one_file import export_bot
from prial.training.vectors import vectors
from project.source_tree import ROOT

EXAMPLES = ROOT / "docs" / "bots"
CARDS = "3c 3d 3s 8h 9h Th Jd Qs Kc 4d 4h 2s As"
MADE_OF = {"online": "online", "bga": "bga", "easy": "online:easy"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bots")
    for name, agent in MADE_OF.items():
        rules = CrashRules.preset(agent.partition(":")[0])
        export_bot(make(agent), rules, folder / f"{name}.onnx", decisions=5)
    export_bot(make("bga"), CrashRules.preset("bga", players=5, target=11), folder / "five.onnx", decisions=5)
    lines = vectors(deals=2, agents=["greedy", "online", "bga"])
    (folder / "vectors.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    return folder


@pytest.fixture(scope="module", params=["python", "javascript", "csharp"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    if request.param == "python":
        return [sys.executable, str(EXAMPLES / "bot.py")]
    if request.param == "javascript":
        return node_program(EXAMPLES / "bot.mjs", packages=True)
    return csharp_program(EXAMPLES / "Bot.cs", tmp_path_factory.mktemp("csharp"))


def _run(program: list[str], *words: str) -> subprocess.CompletedProcess[str]:
    folder = BOTS / "javascript"
    return subprocess.run([*program, *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_it_lays_what_the_page_shows(program: list[str], files: Path) -> None:
    done = _run(program, str(files / "online.onnx"), CARDS, "5", "6", "2")
    assert (done.returncode, done.stderr) == (0, "")
    page = (ROOT / "docs" / "one-file-bot.md").read_text(encoding="utf-8")
    assert done.stdout.startswith("lay 3c 3d 3s | ")
    assert f'"{CARDS}" 5 6 2\n{done.stdout}```' in page


@pytest.mark.parametrize("name", MADE_OF)
def test_it_checks_itself_with_vectors(program: list[str], files: Path, name: str) -> None:
    agent = MADE_OF[name]
    words = ["--check", str(files / "vectors.jsonl"), f"{agent.partition(':')[0]}-3"]
    done = _run(program, str(files / f"{name}.onnx"), *words)
    assert done.returncode == 0, done.stdout + done.stderr
    number = 4 if name == "bga" else 2  # exchanges too
    assert done.stdout == f"{number} positions, {number} decisions compared, 0 faults\n"


def test_other_decisions_would_be_noticed(program: list[str], files: Path, tmp_path: Path) -> None:
    text = (files / "vectors.jsonl").read_text(encoding="ascii")
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(re.sub('"bga": "(keep|exchange)"', '"bga": "fold"', text), encoding="ascii")
    done = _run(program, str(files / "bga.onnx"), "--check", str(wrong), "bga-3")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "expected fold" in done.stdout


def test_it_would_notice(program: list[str], files: Path, tmp_path: Path) -> None:
    text = (files / "vectors.jsonl").read_text(encoding="ascii")
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(text.replace('"strengths": [', '"strengths": [1'), encoding="ascii")
    done = _run(program, str(files / "online.onnx"), "--check", str(wrong), "online-3")
    assert done.returncode == 1, done.stdout + done.stderr
    assert ", 0 faults" not in done.stdout


def test_a_card_twice_is_told(program: list[str], files: Path) -> None:
    done = _run(program, str(files / "online.onnx"), CARDS.replace("As", "3c"), "0", "0", "0")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].strip() == "lay"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["bot.onnx"],
        ["bot.onnx", "--check", "vectors.jsonl"],
        ["bot.onnx", "--check", "vectors.jsonl", "online-3", "online"],
        ["bot.onnx", "--players", "4", CARDS],
    ],
    ids=" ".join,
)
def test_wrong_words_are_told_how(program: list[str], words: list[str]) -> None:
    done = _run(program, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.match(r"A one-file bot played from (Python|JavaScript|C#): ", done.stderr), done.stderr
    assert all(option in done.stderr for option in ("--check", "--time"))
    assert "Traceback" not in done.stderr


NINE_CARDS = " ".join(CARDS.split()[:9])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{online}", NINE_CARDS], "cards: expected 13, got 9"),
        (["{online}", CARDS.replace("Th", "10h")], "cards: no card '10h'; expected rank and suit, such as As Td 2c"),
        (["{online}", CARDS, "5", "6"], "scores: expected 3, got 2"),
        (["{online}", CARDS, "5", "6", "-2"], "scores: expected a whole number from 0, got '-2'"),
        (["{five}", NINE_CARDS, "1", "2", "3"], "scores: expected 5, got 3"),
        (["{online}", "--time", "0", CARDS], "--time: expected a whole number from 1, got '0'"),
        (["{online}", "--check", "{vectors}", "online-9"], "{vectors}: no rules 'online-9'"),
        (["{online}", "--check", "{vectors}", "bga-3"], "bga-3: not the rules that the bot was made for"),
        (["{online}", "--check", "missing.jsonl", "online-3"], "missing.jsonl: no such file"),
        (["missing.onnx", CARDS], "missing.onnx: no such file"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ",
)
def test_what_cannot_be_is_one_line(program: list[str], files: Path, words: list[str], message: str) -> None:
    paths = {name: str(files / f"{name}.onnx") for name in ("online", "five")} | {
        "vectors": str(files / "vectors.jsonl")
    }
    done = _run(program, *(word.format(**paths) for word in words))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", message.format(**paths) + "\n")


def test_players_and_target_are_those_of_the_file(program: list[str], files: Path) -> None:
    """Five players, nine cards; what is laid here with 6 points is another at a target of 7 than of 11."""
    bot, cards = str(files / "five.onnx"), "2d 2s 3d 3h 3s 4s 5h 6s Ah"
    said = [_run(program, bot, cards, *scores) for scores in ("60500", "")]
    assert [(done.returncode, done.stderr) for done in said] == [(0, ""), (0, "")]
    assert said[0].stdout.startswith("lay 2d 3d Ah | 3h 4s 5h | 2s 3s 6s\n")  # not 3d 3h 3s | 4s 5h 6s | 2d 2s Ah
    assert said[1].stdout.startswith("lay ")
    done = _run(program, bot, "--time", "3", cards)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"median [0-9.]+ ms, fastest [0-9.]+ ms of 3\n", done.stdout)


def test_the_examples_need_nothing_of_prial() -> None:
    for name in ("bot.py", "bot.mjs", "Bot.cs"):
        text = (EXAMPLES / name).read_text(encoding="utf-8")
        assert "from prial" not in text
        assert "import prial" not in text
