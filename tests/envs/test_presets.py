"""Rule sets from files (RULES section 5, spelled out)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prial.envs.crash.presets import load_rules, preset_names, read_preset
from prial.envs.crash.rules import CrashRules, RulesError

TABLE: dict[str, dict[str, Any]] = {
    "online": {
        "players": 3,
        "cards_dealt": 13,
        "lowest_hand": "pair",
        "flush_high": "ace",
        "exchange": "none",
        "target": 7,
        "finish": "immediate",
        "crash_reward": "game",
        "crash_call": "none",
        "quads_bonus": 1,
    },
    "bga": {
        "players": 3,
        "cards_dealt": 13,
        "lowest_hand": "pair",
        "flush_high": "three",
        "exchange": "spare",
        "target": 7,
        "finish": "round_end",
        "crash_reward": 1,
        "crash_call": "none",
        "quads_bonus": 0,
    },
    "traditional": {
        "players": 4,
        "cards_dealt": 13,
        "lowest_hand": "pair",
        "flush_high": "ace",
        "exchange": "spare",
        "target": 15,
        "finish": "immediate",
        "crash_reward": 1,
        "crash_call": "none",
        "quads_bonus": 0,
    },
}
COMMON = {"crash_call_bonus": 1, "crash_call_penalty": 1, "max_rounds": 200, "ranks": "23456789TJQKA"}


@pytest.mark.parametrize("name", TABLE)
def test_rules_section_5(name: str) -> None:
    assert CrashRules.preset(name).to_dict() == {**TABLE[name], **COMMON, "name": name}
    assert load_rules(name) == CrashRules.preset(name)


def test_the_rule_sets_are_these() -> None:
    assert preset_names() == ("online", "bga", "traditional")
    assert CrashRules() == CrashRules.preset("online")


@pytest.mark.parametrize("name", TABLE)
def test_every_value_in_use_can_be_played(name: str) -> None:
    content = read_preset(name)
    assert content["summary"]
    for option, values in content["in_use"].items():
        for value in values:
            assert getattr(CrashRules.preset(name, **{option: value}), option) == value


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_rule_sets_take_two_to_four_players(name: str, players: int) -> None:
    rules = CrashRules.preset(name, players=players)
    assert rules == CrashRules.preset(name).replace(players=players)


def test_bga_with_five_players_deals_nine_cards_unless_told_otherwise() -> None:
    assert CrashRules.preset("bga", players=5) == CrashRules.preset("bga").replace(players=5, cards_dealt=9)
    assert CrashRules.preset("bga", players=5, cards_dealt=10).cards_dealt == 10
    with pytest.raises(RulesError, match=r"players=5 with cards_dealt=13 needs 65 cards"):
        CrashRules.preset("bga", players=5, cards_dealt=13)
    for name in ("online", "traditional"):
        with pytest.raises(RulesError, match=r"players=5 with cards_dealt=13"):
            CrashRules.preset(name, players=5)
    # What was made for three stays what it was: nothing is changed silently afterwards.
    with pytest.raises(RulesError, match=r"players=5 with cards_dealt=13"):
        CrashRules.preset("bga").replace(players=5)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("onlin", "did you mean 'online'"),
        ("Online", "did you mean 'online'"),
        ("tradition", "'traditional'"),
        ("x", "Known"),
    ],
)
def test_an_unknown_rule_set_names_the_known_ones(name: str, hint: str) -> None:
    with pytest.raises(RulesError, match=hint) as caught:
        CrashRules.preset(name)
    assert "Known: online, bga, traditional" in str(caught.value)


def _file(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = _file(tmp_path, "# house\nplayers: 2\ntarget: 21\ncrash_reward: game\nranks: 9TJQKA\ncards_dealt: 6\n")
    expected = CrashRules(players=2, target=21, ranks="9TJQKA", cards_dealt=6)
    for source in (path, str(path)):
        rules = load_rules(source)
        assert rules == expected
        assert rules.name == "mine"
    assert load_rules(path, target=3, name="other").to_dict() == {**expected.to_dict(), "target": 3, "name": "other"}


def test_defaults_by_number_of_players(tmp_path: Path) -> None:
    path = _file(tmp_path, "players_defaults:\n  4: {cards_dealt: 9, target: 3}\n")
    assert load_rules(path) == CrashRules()
    assert load_rules(path, players=4) == CrashRules(players=4, cards_dealt=9, target=3)
    assert load_rules(path, players=4, target=5) == CrashRules(players=4, cards_dealt=9, target=5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("players: [", "is not YAML"),
        ("just words", "expected options, one a line"),
        ("- players", "expected options"),
        ("", "expected options"),
        ("1: 2", "expected options"),
        ("targets: 7", "unknown option 'targets'; did you mean 'target'"),
        ("flush_pips: true", "house rule 'flush_pips' is not played"),
        ("target: seven", "target='seven'"),
        ("target: 7.0", "target=7.0"),
        ("exchange: no", "exchange=False"),
        ("players: 5", "players=5 with cards_dealt=13"),
        ("players_defaults: 9", "players_defaults in 'mine'"),
        ("players_defaults: {3: 9}", "players_defaults in 'mine'"),
        ("players_defaults: {3: {card: 9}}", "unknown option 'card'"),
    ],
)
def test_a_bad_file_is_refused_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RulesError, match=message):
        load_rules(_file(tmp_path, text))


def test_a_missing_or_unreadable_file(tmp_path: Path) -> None:
    with pytest.raises(RulesError, match=r"cannot read rules from .*none\.yml"):
        load_rules(tmp_path / "none.yml")
    with pytest.raises(RulesError, match="cannot read rules"):
        load_rules("none.yaml")
    path = tmp_path / "bytes.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RulesError, match="cannot read rules"):
        load_rules(path)
    with pytest.raises(RulesError, match="cannot read rules"):
        load_rules(tmp_path)


def test_a_bad_override_is_refused_whatever_the_file_says() -> None:
    with pytest.raises(RulesError, match="unknown option 'cards'"):
        load_rules("online", cards=9)
    with pytest.raises(RulesError, match="unknown option 'summary'"):
        load_rules("online", summary="mine")
    with pytest.raises(RulesError, match="unknown option 'players_defaults'"):
        load_rules("online", players_defaults={})
    with pytest.raises(RulesError, match="players="):
        load_rules("bga", players="5")
