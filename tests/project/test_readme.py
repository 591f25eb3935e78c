"""The README's Python examples run as they stand, each on its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from project.source_tree import ROOT

README = ROOT / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def _blocks() -> list[tuple[int, str]]:
    """Return the blocks with the lines on which their code begins."""
    if not README.is_file():
        return []
    text = README.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start(1)) + 1, m[1]) for m in BLOCK.finditer(text)]


def test_there_are_examples() -> None:
    assert README.is_file()
    assert _blocks()


@pytest.mark.parametrize(("line", "code"), [pytest.param(line, code, id=f"line{line}") for line, code in _blocks()])
def test_example(line: int, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Blank lines in front make tracebacks name the README's own lines.
    exec(compile("\n" * (line - 1) + code, str(README), "exec"), {"__name__": "__main__"})  # noqa: S102
