"""YAML that says what it looks like, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from prial.envs.crash.presets import load_rules
from prial.envs.crash.rules import RulesError
from prial.envs.yaml_text import YamlError, read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("-3", -3),
        ("1e-3", 0.001),
        ("0.5", 0.5),
        ("3.", 3.0),
        ("010", "010"),  # not 8
        ("1:30", "1:30"),  # not 90
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("'7'", "7"),
        ("9TJQKA", "9TJQKA"),
        ("[1, two, null, true]", [1, "two", None, True]),
    ],
)
def test_values(text: str, value: object) -> None:
    assert read_yaml(text) == value
    assert type(read_yaml(text)) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2", r"'a' is given twice \(line 2\)"),
        ("a: {b: 1, b: 1}", "'b' is given twice"),
        ("[" * 3000, "nested too deeply|expected"),
        ("a: [", "expected"),
        ("!!python/object/apply:os.system ['true']", "could not determine a constructor"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(YamlError, match=message):
        read_yaml(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("target: 7\ntarget: 10", "'target' is given twice"),
        ("target: 010", "target='010': expected a whole number"),
        ("target: " + "9" * 5000, "expected a whole number"),
        ("players_defaults: {'5': {cards_dealt: 9}}", "expected options for each number of players"),
        ("players_defaults: {5: {cards: 9}}", "unknown option 'cards'"),
    ],
)
def test_files_of_rules(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(RulesError, match=message):
        load_rules(file)
    with pytest.raises(RulesError, match="cannot read rules"):
        load_rules("a\0.yaml")
