"""`prial cache`, and what the command says while kernels are compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prial.envs import kernel_store
from prial.training import cli

KEY = "0.0.9-0123456789abcdef"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PRIAL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernel_store.tempfile, "tempdir", str(tmp_path))
    kernel_store.kernel_store.cache_clear()
    yield tmp_path / "kernels"
    kernel_store.kernel_store.cache_clear()


def prial(*words: str) -> str:
    result = CliRunner().invoke(cli.app, list(words), prog_name="prial")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def test_where_kernels_are_and_how_many(place: Path) -> None:
    (place / KEY).mkdir(parents=True)
    store = kernel_store.kernel_store()
    store.save("a.kernel", bytes(1_200_000))
    assert prial("cache") == f"{store.write}\n1 kernels, 1.2 MB; versions kept: 2\n"
    told = json.loads(prial("cache", "--json"))
    assert told.pop("bytes") > 1_200_000
    assert told == {"folder": str(store.write), "why": None, "kernels": 1, "versions": 2}


def test_nowhere(place: Path) -> None:
    place.write_text("", encoding="utf-8")
    name = "prial" if sys.platform == "win32" else f"prial-{os.geteuid()}"
    (place.parent / name).write_text("", encoding="utf-8")
    lines = prial("cache").splitlines()
    assert lines[0] == "Nothing can be kept."
    assert lines[1].startswith(f"Not in the user's cache folder: {place}")
    assert json.loads(prial("cache", "--json"))["folder"] is None


def test_they_are_removed(place: Path) -> None:
    (place / KEY).mkdir(parents=True)
    (place / KEY / "a.kernel").write_bytes(bytes(2_000_000))
    (place / "notes.txt").write_text("the user's", encoding="utf-8")
    assert prial("cache", "--clear") == "Removed 2.0 MB.\n"
    assert prial("cache", "--clear", "--json") == '{"removed_bytes": 0}\n'
    assert [path.name for path in place.iterdir()] == ["notes.txt"]


def test_the_command_tells_of_the_first_use(tmp_path: Path) -> None:
    """The command's own log handler, on what the cache says; standard output stays the command's."""
    code = """
import logging
from prial.training.cli import _tell_first_use
_tell_first_use()
log = logging.getLogger("prial.envs.kernel_cache")
log.info("compiling %d kernels", 3)
log.debug("more")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "compiling 3 kernels\n")
