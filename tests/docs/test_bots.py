"""The example programs of docs/bots: a one-file bot in Python and JavaScript, without prial."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnx")

from prial.agents.registry import make
from prial.envs.crash.rules import CrashRules
from prial.training.one_file import export_bot
from prial.training.vectors import vectors
from project.source_tree import ROOT

BOTS = ROOT / "docs" / "bots"
NODE = shutil.which("node")
# Where `npm install onnxruntime-web` was done.
NODE_FOLDER = Path(os.environ.get("PRIAL_NODE_FOLDER", str(ROOT)))
CARDS = "3c 3d 3s 8h 9h Th Jd Qs Kc 4d 4h 2s As"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bots")
    for name in ("online", "bga"):
        export_bot(make(name), CrashRules.preset(name), folder / f"{name}.onnx", decisions=5)
    lines = vectors(deals=2, agents=["greedy", "online"])
    (folder / "vectors.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    return folder


@pytest.fixture(params=["python", "javascript"])
def program(request: pytest.FixtureRequest) -> list[str]:
    if request.param == "python":
        return [sys.executable, str(BOTS / "bot.py")]
    if NODE is None:
        pytest.skip("needs Node.js")
    modules = NODE_FOLDER / "node_modules"
    if not any((modules / name).is_dir() for name in ("onnxruntime-web", "onnxruntime-node")):
        pytest.skip("needs onnxruntime-web: npm install it in a folder and set PRIAL_NODE_FOLDER to that")
    return [NODE, str(BOTS / "bot.mjs")]


def _run(program: list[str], *words: str) -> subprocess.CompletedProcess[str]:
    folder = NODE_FOLDER if NODE_FOLDER.is_dir() else ROOT
    return subprocess.run([*program, *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_it_lays_what_the_page_shows(program: list[str], files: Path) -> None:
    done = _run(program, str(files / "online.onnx"), CARDS, "5", "6", "2")
    assert (done.returncode, done.stderr) == (0, "")
    page = (ROOT / "docs" / "one-file-bot.md").read_text(encoding="utf-8")
    assert done.stdout.startswith("lay 3c 3d 3s | ")
    assert f'"{CARDS}" 5 6 2\n{done.stdout}```' in page


def test_it_checks_itself_with_vectors(program: list[str], files: Path) -> None:
    for name in ("online", "bga"):
        done = _run(program, str(files / f"{name}.onnx"), "--check", str(files / "vectors.jsonl"), f"{name}-3")
        assert done.returncode == 0, done.stdout + done.stderr
        compared = ", 2 decisions compared" if name == "online" else ", 0 decisions compared"
        assert done.stdout == f"2 positions{compared if program[0] == sys.executable else ''}, 0 faults\n"


def test_it_would_notice(program: list[str], files: Path, tmp_path: Path) -> None:
    text = (files / "vectors.jsonl").read_text(encoding="ascii")
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(text.replace('"strengths": [', '"strengths": [1'), encoding="ascii")
    done = _run(program, str(files / "online.onnx"), "--check", str(wrong), "online-3")
    assert done.returncode == 1
    assert ", 0 faults" not in done.stdout


def test_a_card_twice_is_told(program: list[str], files: Path) -> None:
    done = _run(program, str(files / "online.onnx"), CARDS.replace("As", "3c"), "0", "0", "0")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].strip() == "lay"


def test_the_examples_need_nothing_of_prial() -> None:
    for name in ("bot.py", "bot.mjs"):
        text = (BOTS / name).read_text(encoding="utf-8")
        assert "from prial" not in text
        assert "import prial" not in text
