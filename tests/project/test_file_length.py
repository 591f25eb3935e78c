"""One room, one subject: a file over some 400 lines wants splitting, one over 500 fails here."""

from __future__ import annotations

from pathlib import Path

import pytest

from project.source_tree import ROOT, files

LIMIT = 500
# Files that may be longer, each with its reason.
LONGER: dict[str, str] = {}


def _sources() -> list[Path]:
    return [*files(".py"), *sorted((ROOT / "tests").rglob("*.py"))]


def _length(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("path", _sources(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_files_are_short(path: Path) -> None:
    if path.relative_to(ROOT).as_posix() not in LONGER:
        assert _length(path) <= LIMIT


def test_files_listed_as_longer_are() -> None:
    for name, reason in LONGER.items():
        assert reason
        assert _length(ROOT / name) > LIMIT, f"take {name} off the list"
