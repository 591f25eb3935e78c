"""`prial rules`: every option of every rule set explained, with values and words that are those of the rules."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from prial.envs.brag import BragClass, triple_strength
from prial.envs.cards import parse_cards
from prial.envs.crash.presets import preset_names, read_preset
from prial.envs.crash.rules import HOUSE_RULES, CrashRules, RulesError
from prial.training.cli import app
from prial.training.rules_explained import explain, explain_option, how_ranked, option_names

TABLES = [
    *((name, players) for name in ("online", "bga", "traditional") for players in (2, 3, 4)),
    ("bga", 5),
]


def prial(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), prog_name="prial")


def as_json(*words: str) -> Any:
    result = prial("rules", *words, "--json")
    assert result.exit_code == 0, result.output
    assert result.stdout.isascii()
    return json.loads(result.stdout)


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_the_rule_sets_are_listed_with_their_summaries() -> None:
    text = squeezed(prial("rules").stdout)
    for name in preset_names():
        assert f"{name} {read_preset(name)['summary']}" in text
    assert as_json() == [{"rule_set": name, "summary": read_preset(name)["summary"]} for name in preset_names()]


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_every_option_is_there_with_its_value(name: str, players: int) -> None:
    rules = CrashRules.preset(name, players=players)
    result = prial("rules", name, "--players", str(players))
    assert result.exit_code == 0
    shown = dict(re.findall(r"^  (\w+) = (\S+)$", result.stdout, re.MULTILINE))
    wanted = {key: value for key, value in rules.to_dict().items() if key != "name"}
    assert shown == {key: str(value) for key, value in wanted.items()}
    answer = as_json(name, "--players", str(players))
    assert answer["rules"] == rules.to_dict()
    assert {entry["option"]: entry["value"] for entry in answer["options"]} == wanted
    for entry in answer["options"]:
        assert len(entry["meaning"]) > 15
        assert squeezed(entry["meaning"]) in squeezed(result.stdout)
        played = read_preset(name)["in_use"].get(entry["option"], [])
        assert entry["also_played"] == [value for value in played if value != entry["value"]]
        assert entry["rule_set_value"] == getattr(CrashRules.preset(name), entry["option"])


def test_what_differs_from_the_rule_set_is_said() -> None:
    text = squeezed(prial("rules", "bga", "--players", "5", "--set", "target=10").stdout)
    assert (
        "cards_dealt = 9 Cards to each player: enough for 3 hands of three. 7 of 52 stay undealt. bga itself: 13."
        in text
    )
    assert "target = 10 Points to reach: the game is to 10. bga itself: 7. Also played: 7, 15." in text


# Source: RULES sections 2 to 5.
@pytest.mark.parametrize(
    ("option", "options", "words"),
    [
        ("players", {"players": 2}, "2 at the table"),
        ("cards_dealt", {"cards_dealt": 10}, "3 hands of three and 1 to spare. 22 of 52"),
        ("cards_dealt", {"cards_dealt": 3}, "1 hand of three. 43 of 52"),
        ("lowest_hand", {"lowest_hand": "high_card"}, "Any three cards"),
        ("lowest_hand", {"lowest_hand": "pair"}, "pair or better"),
        ("lowest_hand", {"lowest_hand": "flush"}, "flush or better; pairs and high cards cannot"),
        ("flush_high", {"flush_high": "ace"}, "the ace is the highest"),
        ("flush_high", {"flush_high": "three"}, "the three is the highest"),
        ("exchange", {"exchange": "none"}, "hand that was dealt"),
        ("exchange", {"exchange": "spare", "players": 2}, "Each has a spare hand"),
        ("exchange", {"exchange": "spare", "players": 3}, "one spare hand. In turn"),
        ("exchange", {"exchange": "spare", "players": 4}, "Nobody exchanges"),
        ("target", {"target": 21}, "21"),
        ("finish", {"finish": "immediate"}, "at once"),
        ("finish", {"finish": "round_end"}, "played out; then the highest score wins, equal ones share"),
        ("crash_reward", {"crash_reward": "game"}, "winning all 4 hands of a round\\) wins the game"),
        ("crash_reward", {"crash_reward": 2}, "2 extra points"),
        ("crash_reward", {"crash_reward": 1, "crash_call": "required"}, "A called crash .* 1 extra point\\."),
        ("crash_reward", {"crash_reward": 0}, "nothing extra"),
        ("crash_reward", {"cards_dealt": 5}, "no crash with a single hand"),
        ("crash_call", {"crash_call": "none"}, "Nobody calls"),
        ("crash_call", {"crash_call": "optional"}, "not called counts as well"),
        ("crash_call", {"crash_call": "required"}, "only a crash that was called"),
        ("crash_call", {"crash_call": "required", "cards_dealt": 5}, "every call fails"),
        ("crash_call_bonus", {"crash_call": "none"}, "Not used"),
        ("crash_call_bonus", {"crash_call": "optional", "crash_reward": "game"}, "Of no matter"),
        ("crash_call_bonus", {"crash_call": "optional", "crash_reward": 1, "crash_call_bonus": 3}, "3 points on top"),
        ("crash_call_penalty", {"crash_call": "none"}, "Not used"),
        ("crash_call_penalty", {"crash_call": "optional", "crash_call_penalty": 2}, "2 points; no score falls below 0"),
        ("quads_bonus", {"quads_bonus": 0}, "nothing extra"),
        ("quads_bonus", {"quads_bonus": 1}, "all four cards of a rank inside the hands earns 1 extra point for each"),
        ("quads_bonus", {"quads_bonus": 1, "cards_dealt": 5}, "never earned"),
        ("max_rounds", {"max_rounds": 1}, "After 1 round without"),
        ("ranks", {}, "full pack of 52"),
        ("ranks", {"ranks": "9TJQKA", "cards_dealt": 6}, "24 cards.*Gaps are not closed"),
    ],
)
def test_the_words_follow_the_value(option: str, options: dict[str, Any], words: str) -> None:
    assert re.search(words, explain_option(option, CrashRules(**options)))


def test_every_option_has_a_meaning() -> None:
    assert option_names() == tuple(CrashRules().to_dict())[:-1]
    for option in option_names():
        assert explain_option(option, CrashRules())


# ---- which hand is better ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["online", "bga", "traditional"])
def test_disputed_hands_are_settled_with_the_reason(name: str) -> None:
    rules = CrashRules.preset(name)
    found = {(c["better"], c["worse"]): c for c in as_json(name)["comparisons"]}
    for better, worse in found:
        first, second = (triple_strength(hand, flush_high=rules.flush_order) for hand in (better, worse))
        assert first == second if found[better, worse]["tie"] else first > second
    assert "A-2-3 is the best run" in found["As 2h 3d", "Ac Kd Qh"]["reason"]
    assert "run beats flush" in found["Ac Kd Qh", "9s 5s 2s"]["reason"]
    assert "K-A-2 is no run" in found["9s 5s 2s", "Kc Ad 2h"]["reason"]
    pips = ("Jh 8h 3h", "Qs 7s 2s") if rules.flush_high == "three" else ("Qs 7s 2s", "Jh 8h 3h")
    assert f"the {rules.flush_high} on top; never by pips" in found[pips]["reason"]
    text = squeezed(prial("rules", name).stdout)
    for comparison in found.values():
        assert squeezed(comparison["reason"]) in text


@pytest.mark.parametrize("lowest", ["high_card", "pair", "flush"])
def test_hands_are_ranked_down_to_the_lowest_that_counts(lowest: str) -> None:
    ranked = [entry["class"] for entry in as_json("online", "--set", f"lowest_hand={lowest}")["hands"]]
    order = ["prial", "running flush", "run", "flush", "pair", "high card"]
    assert ranked == order[: order.index(lowest.replace("_", " ")) + 1]


def test_the_order_within_flushes_is_that_of_the_rules() -> None:
    assert "aces high" in how_ranked(BragClass.FLUSH, CrashRules())
    assert "3 A K Q" in how_ranked(BragClass.FLUSH, CrashRules(flush_high="three"))


def test_a_short_pack_shows_only_its_cards() -> None:
    rules = CrashRules(players=2, cards_dealt=6, ranks="9TJQKA")
    found = explain("online", rules).comparisons
    assert [comparison.better for comparison in found] == ["Kc Qd Jh"]
    assert all(card.id in rules.pack for c in found for card in parse_cards(f"{c.better} {c.worse}"))


# ---- the round and the end --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "steps", "exchange"),
    [
        (("online",), ["Deal", "Arrange", "Reveal", "Extras"], ""),
        (("bga", "--players", "2"), ["Deal", "Exchange", "Arrange", "Reveal", "Extras"], "without knowing the other's"),
        (("bga",), ["Deal", "Exchange", "Arrange", "Reveal", "Extras"], "The first to exchange takes it"),
        (("bga", "--players", "4"), ["Deal", "Arrange", "Reveal", "Extras"], ""),
        (("bga", "--players", "5"), ["Deal", "Arrange", "Reveal", "Extras"], ""),
        (("online", "--set", "crash_call=optional"), ["Deal", "Arrange", "Call", "Reveal", "Extras"], ""),
        (("online", "--set", "cards_dealt=3"), ["Deal", "Arrange", "Reveal"], ""),
    ],
)
def test_a_round_has_the_steps_of_the_table(words: tuple[str, ...], steps: list[str], exchange: str) -> None:
    found = {entry["step"]: entry["text"] for entry in as_json(*words)["round"]}
    assert list(found) == steps
    assert exchange in found.get("Exchange", "")


def test_the_order_of_extras_is_that_of_section_4() -> None:
    rules = CrashRules(crash_call="optional", crash_reward=1)
    extras = explain("online", rules).round["Extras"]
    assert extras.index("crash") < extras.index("calls") < extras.index("four of a kind")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ["7 points wins at once", "A crash wins the game, once all hands are compared", "After 200"]),
        (
            {"finish": "round_end"},
            ["highest score wins; equal", "A crash wins the game, alone and whatever the scores"],
        ),
        ({"crash_call": "required"}, ["A crash that was called wins the game"]),
    ],
)
def test_the_end_of_the_game(options: dict[str, Any], words: list[str]) -> None:
    text = " ".join(explain("online", CrashRules(**options)).end).replace("after", "After")
    assert [word for word in words if word not in text] == []


def test_no_crash_no_word_of_it_at_the_end() -> None:
    assert "crash" not in " ".join(explain("online", CrashRules(crash_reward=1)).end)


def test_house_rules_are_named() -> None:
    text = squeezed(prial("rules", "online").stdout)
    for name, meaning in HOUSE_RULES.items():
        assert f"{name} {meaning}" in text
    assert as_json("online")["house_rules_not_played"] == HOUSE_RULES


# ---- files, mistakes, consoles ----------------------------------------------------------------------------------------


def test_a_file_of_rules_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "pub.yaml"
    path.write_text("summary: Ours.\ntarget: 11\nin_use: {target: [11, 21]}\n", encoding="utf-8")
    answer = as_json(str(path))
    assert (answer["rule_set"], answer["summary"]) == ("pub", "Ours.")
    (target,) = [entry for entry in answer["options"] if entry["option"] == "target"]
    assert (target["value"], target["also_played"]) == (11, [21])
    path.write_text("target: 11\n", encoding="utf-8")
    assert prial("rules", str(path)).stdout.startswith("pub\n")
    path.write_text("in_use: 3\n", encoding="utf-8")
    with pytest.raises(RulesError, match=r"in_use in .*expected a list of values"):
        explain(path, CrashRules())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("onlin",), "no rule set 'onlin'; did you mean 'online'"),
        (("--players", "2"), "need a rule set, as in: prial rules online --players 2"),
        (("--set", "target=9"), "need a rule set"),
        (("online", "--players", "5"), "players=5 with cards_dealt=13"),
        (("online", "--set", "top_run=akq"), "house rule 'top_run' is not played: A-K-Q above A-2-3"),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], message: str) -> None:
    result = prial("rules", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.search(message, result.stderr)
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("words", "encoding"), [((), "ascii"), (("bga",), "ascii"), (("bga",), "utf-8")], ids=["all", "one", "symbols"]
)
def test_at_forty_columns_on_old_consoles(words: tuple[str, ...], encoding: str) -> None:
    plain = {key: value for key, value in os.environ.items() if key != "FORCE_COLOR"}
    done = subprocess.run(
        [sys.executable, "-c", "from prial.training.cli import main; main()", "rules", *words],
        capture_output=True,
        env={**plain, "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding, "NO_COLOR": "1", "COLUMNS": "40"},
        timeout=120,
        check=True,
    )
    text = done.stdout.decode(encoding)
    assert done.stderr == b""
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if len(line) > 40] == []
    assert not any(one == two == "" for one, two in pairwise(text.splitlines()))
    if words:
        assert ("A♠ 2♥ 3♦ > A♣ K♦ Q♥" if encoding == "utf-8" else "As 2h 3d > Ac Kd Qh") in text
