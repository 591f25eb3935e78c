"""`docs/records.md` tells the truth: its examples are read, and its code runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import record_rescorer
from prial.envs.crash.record import parse_record
from prial.envs.crash.record_text import VERSION
from prial.envs.crash.rules import CrashRules

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "records.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_the_example_is_a_record() -> None:
    (example,) = [text for text in _blocks("text") if text.startswith("crash-record:")]
    record = parse_record(example)
    assert str(record) == example == (ROOT / "tests/data/records/traditional.txt").read_text("ascii")[:-1]
    (game,) = record_rescorer.games_of(example)
    assert record_rescorer.rescore(game) == record_rescorer.stated(game)
    (redacted,) = [text for text in _blocks("text") if text.startswith("round 1:")]
    assert redacted in str(record.redacted(1))


def test_every_option_and_line_is_explained() -> None:
    told = {
        word for cell in re.findall(r"^\| (.*?) \|", PAGE, flags=re.MULTILINE) for word in re.findall(r"`(.*?)`", cell)
    }
    options = {name for name in CrashRules().to_dict() if name != "name"}
    assert options <= told
    example = _blocks("text")[0]
    keys = {line.partition(":")[0] for line in example.splitlines() if line}
    words = {re.sub(r" \d+$", "", key) for key in keys}
    assert words <= {re.match(r"[a-z_-]+", entry)[0] for entry in told if re.match(r"[a-z_-]+", entry)}  # type: ignore[index]
    assert f"**version {VERSION}**" in PAGE


@pytest.mark.parametrize("code", _blocks("python"))
def test_the_code_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/records.md", "exec"), {"__name__": "__main__"})  # noqa: S102
