"""Options of the rules: what is refused, and why (RULES sections 5 and 7)."""

from __future__ import annotations

import dataclasses
import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.rulesets import num_hands, rules_faults, spare_hands
from prial.envs.brag import BragClass, FlushHigh
from prial.envs.crash.rules import HOUSE_RULES, CrashRules, RulesError

OPTIONS = [f.name for f in dataclasses.fields(CrashRules) if f.name != "name"]

BAD_VALUES: list[tuple[str, Any, str]] = [
    *(("players", bad, "from 2 to 5") for bad in (0, 1, 6, -2, 3.0, "3", None, True)),
    *(("cards_dealt", bad, "from 3 to 13") for bad in (0, 2, 14, 52, 9.0, "9", None, True)),
    *(("lowest_hand", bad, "'high_card' or 'pair' or 'flush'") for bad in ("run", "PAIR", "", None, 1)),
    *(("flush_high", bad, "'ace' or 'three'") for bad in ("king", "Ace", "", None, 3)),
    *(("exchange", bad, "'none' or 'spare'") for bad in ("both", None, False, 1)),
    *(("finish", bad, "'immediate' or 'round_end'") for bad in ("round", None, True)),
    *(("crash_call", bad, "'none' or 'optional' or 'required'") for bad in ("yes", None, True)),
    *(("crash_reward", bad, "from 0 to 1000000 or 'game'") for bad in (-1, 1.5, "win", None, True, 1_000_001)),
    *(("target", bad, "from 1 to 1000000") for bad in (0, -7, 7.0, "7", None, True, 1_000_001)),
    *(
        (option, bad, "from 0 to 1000000")
        for option in ("crash_call_bonus", "crash_call_penalty", "quads_bonus")
        for bad in (-1, 0.5, "1", None, True, 1_000_001)
    ),
    *(("max_rounds", bad, "from 1 to 1000000") for bad in (0, -1, 2.0, "9", None, True, 1_000_001)),
    *(("ranks", bad, "expected") for bad in ("", "99", "9TT", "1", "9X", "JQKA1", None, 9, ["9", "T"])),
    ("name", None, "expected a text"),
]


@pytest.mark.parametrize(("option", "value", "reason"), BAD_VALUES, ids=repr)
def test_a_bad_value_is_refused_with_option_value_and_reason(option: str, value: object, reason: str) -> None:
    with pytest.raises(RulesError, match=reason) as caught:
        CrashRules(**{option: value})
    assert str(caught.value).startswith(f"{option}={value!r}: ")
    if option != "name":
        with pytest.raises(RulesError, match=f"{option}="):
            CrashRules.preset("traditional", **{option: value})
    with pytest.raises(RulesError, match=f"{option}="):
        CrashRules().replace(**{option: value})


def test_every_option_has_bad_values_here() -> None:
    assert {option for option, _, _ in BAD_VALUES} == {*OPTIONS, "name"}


GOOD_VALUES: dict[str, list[Any]] = {
    "players": [2, 3, 4],
    "cards_dealt": list(range(3, 14)),
    "lowest_hand": ["high_card", "pair", "flush"],
    "flush_high": ["ace", "three"],
    "exchange": ["none", "spare"],
    "target": [1, 7, 10, 11, 13, 15, 21],
    "finish": ["immediate", "round_end"],
    "crash_reward": ["game", 0, 1, 3],
    "crash_call": ["none", "optional", "required"],
    "crash_call_bonus": [0, 1, 3],
    "crash_call_penalty": [0, 1, 3],
    "quads_bonus": [0, 1, 2],
    "max_rounds": [1, 2, 200],
    "ranks": ["23456789TJQKA"],
}


@pytest.mark.parametrize(("option", "value"), [(k, v) for k, values in GOOD_VALUES.items() for v in values])
@pytest.mark.parametrize("preset", ["online", "bga", "traditional"])
def test_overrides_are_taken_and_nothing_else_changes(preset: str, option: str, value: object) -> None:
    before = CrashRules.preset(preset)
    after = CrashRules.preset(preset, **{option: value})
    assert after == before.replace(**{option: value})
    assert after.to_dict() == {**before.to_dict(), option: value}
    assert after.name == preset


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"players": 5, "cards_dealt": 13}, ["players=5", "cards_dealt=13", "65", "52"]),
        ({"players": 5, "cards_dealt": 11}, ["players=5", "cards_dealt=11", "55"]),
        ({"players": 4, "exchange": "spare", "ranks": "9TJQKA"}, ["players=4", "cards_dealt=13", "ranks=9TJQKA", "24"]),
        (
            {"players": 2, "cards_dealt": 7, "exchange": "spare", "ranks": "9TJQKA"},
            ["exchange=spare", "spare hands", "14"],
        ),
        (
            {"players": 3, "cards_dealt": 7, "exchange": "spare", "ranks": "9TJQKA"},
            ["exchange=spare", "spare hand on", "7"],
        ),
        ({"players": 2, "cards_dealt": 13, "ranks": "2345QK"}, ["ranks=2345QK", "players=2", "cards_dealt=13"]),
    ],
)
def test_what_does_not_fit_the_pack_names_every_option_at_fault(options: dict[str, Any], named: list[str]) -> None:
    with pytest.raises(RulesError) as caught:
        CrashRules(**options)
    assert all(text in str(caught.value) for text in named), str(caught.value)


@pytest.mark.parametrize(
    ("players", "cards_dealt", "exchange", "spares"),
    [(2, 13, "spare", 2), (3, 13, "spare", 1), (4, 13, "spare", 0), (5, 10, "spare", 0), (3, 13, "none", 0)],
)
def test_spare_hands_by_number_of_players(players: int, cards_dealt: int, exchange: Any, spares: int) -> None:
    rules = CrashRules(players=players, cards_dealt=cards_dealt, exchange=exchange)
    assert (rules.num_spares, rules.has_exchange) == (spares, spares > 0)


@pytest.mark.parametrize("ranks", ["23456789TJQKA", "9TJQKA", "23456789", "2345A"])
def test_what_fits_is_what_the_oracle_says_fits(ranks: str) -> None:
    for players, cards_dealt, exchange in product(range(2, 6), range(3, 14), ("none", "spare")):
        options: dict[str, Any] = {"players": players, "cards_dealt": cards_dealt, "exchange": exchange, "ranks": ranks}
        faults = rules_faults({**CrashRules().to_dict(), **options})
        if faults:
            with pytest.raises(RulesError) as caught:
                CrashRules(**options)
            if players * cards_dealt > 4 * len(ranks):
                faults = [option for option in faults if option != "exchange"]  # too many cards even without it
            assert all(f"{option}={options[option]}" in str(caught.value) for option in faults)
        else:
            rules = CrashRules(**options)
            assert rules.hands == num_hands(options)
            assert rules.num_spares == spare_hands(options)
            assert len(rules.pack) == 4 * len(ranks)


@pytest.mark.parametrize(
    ("given_", "kept"),
    [("AKQJT9", "9TJQKA"), ("910jqka", "9TJQKA"), ("akqjt9", "9TJQKA"), ("A23456789TJQK", "23456789TJQKA")],
)
def test_ranks_are_read_in_any_order_and_kept_in_one(given_: str, kept: str) -> None:
    rules = CrashRules(players=2, cards_dealt=6, ranks=given_)
    assert rules.ranks == kept
    assert rules == CrashRules(players=2, cards_dealt=6, ranks=kept)


@pytest.mark.parametrize("name", sorted(HOUSE_RULES))
def test_house_rules_are_refused_by_name_with_what_is_there_instead(name: str) -> None:
    for make in (
        lambda: CrashRules.preset("online", **{name: True}),
        lambda: CrashRules.from_dict({name: True}),
        lambda: CrashRules().replace(**{name: True}),
    ):
        with pytest.raises(RulesError, match=f"house rule '{name}' is not played: .*: here "):
            make()


def test_every_house_rule_of_rules_section_7_has_a_name() -> None:
    words = " ".join(HOUSE_RULES.values())
    for said in (
        "cancel",
        "pips",
        "A-K-Q above A-2-3",
        "two cards",
        "wrong order",
        "money stakes",
        "announced",
        "four threes",
    ):
        assert said in words
    with pytest.raises(RulesError, match="flushes valued by pips: here"):
        CrashRules(flush_high="pips")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "near"), [("player", "players"), ("cards", "cards_dealt"), ("quad_bonus", "quads_bonus")]
)
def test_unknown_options_name_the_nearest(wrong: str, near: str) -> None:
    for make in (
        lambda: CrashRules.preset("online", **{wrong: 1}),
        lambda: CrashRules.from_dict({wrong: 1}),
        lambda: CrashRules().replace(**{wrong: 1}),
    ):
        with pytest.raises(RulesError, match=f"unknown option '{wrong}'; did you mean '{near}'.*max_rounds"):
            make()


@st.composite
def any_rules(draw: st.DrawFn) -> CrashRules:
    players = draw(st.integers(2, 5))
    exchange = draw(st.sampled_from(["none", "spare"]))
    hands = players + ({2: 2, 3: 1}.get(players, 0) if exchange == "spare" else 0)
    cards_dealt = draw(st.integers(3, min(13, 52 // hands)))
    ranks = draw(st.permutations("23456789TJQKA"))
    size = draw(st.integers(-(-cards_dealt * hands // 4), 13))
    return CrashRules(
        players=players,
        cards_dealt=cards_dealt,
        exchange=exchange,
        ranks="".join(ranks[:size]),
        target=draw(st.integers(1, 30)),
        **{
            option: draw(st.sampled_from(GOOD_VALUES[option]))
            for option in OPTIONS
            if option not in ("players", "cards_dealt", "exchange", "ranks", "target")
        },
        name=draw(st.sampled_from(["", "mine"])),
    )


@given(any_rules())
def test_rules_survive_json(rules: CrashRules) -> None:
    again = CrashRules.from_dict(json.loads(json.dumps(rules.to_dict())))
    assert again == rules
    assert again.to_dict() == rules.to_dict()
    assert hash(again) == hash(rules)
    assert eval(repr(rules)) == rules  # noqa: S307 (repr is code that rebuilds the value)
    assert rules.replace() == rules


def test_the_name_is_not_part_of_the_comparison() -> None:
    assert CrashRules(name="mine") == CrashRules() == CrashRules.preset("online")
    assert hash(CrashRules(name="mine")) == hash(CrashRules())
    assert CrashRules(target=8) != CrashRules()


def test_rules_are_frozen_and_by_keyword() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        CrashRules().target = 8  # type: ignore[misc]
    with pytest.raises(TypeError):
        CrashRules(3)  # type: ignore[call-arg, misc]


@pytest.mark.parametrize(("cards_dealt", "hands"), [(3, 1), (5, 1), (6, 2), (8, 2), (9, 3), (11, 3), (12, 4), (13, 4)])
def test_hands_that_may_be_laid(cards_dealt: int, hands: int) -> None:
    assert CrashRules(cards_dealt=cards_dealt).hands == hands


def test_derived_values() -> None:
    rules = CrashRules(lowest_hand="flush", flush_high="three", crash_call="required", crash_reward=3)
    assert (rules.lowest_class, rules.flush_order) == (BragClass.FLUSH, FlushHigh.THREE)
    assert (rules.has_calls, rules.crash_points) == (True, 3)
    assert (CrashRules().has_calls, CrashRules().crash_points) == (False, 1)
