"""The README's Python examples run as they stand, each on its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from markdown_examples import python_blocks, run_block
from project.source_tree import ROOT

README = ROOT / "README.md"


def test_there_are_examples() -> None:
    assert python_blocks(README)


@pytest.mark.parametrize(
    ("line", "code"), [pytest.param(line, code, id=f"line{line}") for line, code in python_blocks(README)]
)
def test_example(line: int, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_block(README, line, code)
