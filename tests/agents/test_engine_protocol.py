"""The words of the engine protocol: what is written is read back, and what is wrong is named."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prial.agents.engine_protocol import (
    MAX_LINE,
    ProtocolError,
    ascii_line,
    format_decision,
    format_position,
    format_rules,
    read_decision,
    read_line,
    read_position,
    read_rules,
)
from prial.agents.heuristics import RandomLegal
from prial.envs.crash.game import Game
from prial.envs.crash.observation import PlayerView, view_of
from prial.envs.crash.rules import CrashRules

RULES = {
    "online-3": CrashRules.preset("online"),
    "bga-2": CrashRules.preset("bga", players=2),
    "bga-3": CrashRules.preset("bga"),
    "bga-5": CrashRules.preset("bga", players=5),
    "traditional-3-calls": CrashRules.preset("traditional", players=3, crash_call="required"),
    "traditional-2-calls": CrashRules.preset("traditional", players=2, crash_call="optional", crash_reward="game"),
    "study": CrashRules(players=2, cards_dealt=6, ranks="9TJQKA", lowest_hand="high_card", max_rounds=3),
}


def decisions(rules: CrashRules, games: int = 4) -> Iterator[tuple[PlayerView, int]]:
    """Views of random games, and what was decided."""
    rng, player = np.random.default_rng(5), RandomLegal()
    for table in range(games):
        game = Game(rules, seed=2, table=table)
        while not game.is_over and game.rounds_played < 4:
            for seat in game.pending:
                view = view_of(game, seat)
                yield view, player.act(view, rng)
            seat = game.pending[0]
            game.step(player.act(view_of(game, seat), rng), seat)


@pytest.mark.parametrize("name", RULES)
def test_what_is_written_is_read_back(name: str) -> None:
    rules = RULES[name]
    assert read_rules(format_rules(rules).split()[1:]) == rules
    phases = set()
    for view, action in decisions(rules):
        line = format_position(view)
        assert read_line(line.encode("ascii")) == line
        assert read_position(line.split()[1:], rules) == view
        words = format_decision(action, view).split()
        assert read_decision(words, view) == action
        assert read_decision([word.lower() for word in words], view) == action
        phases.add(view.phase)
    assert len(phases) == 1 + rules.has_exchange + rules.has_calls


# ---- rules ------------------------------------------------------------------------------------------------------------


def test_rules_as_people_type_them() -> None:
    assert read_rules([]) == CrashRules.preset("online")
    assert read_rules(["Bga", "PLAYERS=5"]) == CrashRules.preset("bga", players=5)
    assert read_rules(["target=10", "Crash_Reward=GAME"]).target == 10
    assert read_rules(["cards_dealt=6", "ranks=9tjqka"]).ranks == "9TJQKA"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("onlin", "no rule set 'onlin'; did you mean online"),
        ("my.yaml", "no rule set 'my.yaml'"),
        ("online target", "expected option=value, such as target=10, got 'target'"),
        ("online target=", "expected option=value"),
        ("online target=7 target=8", "target is set twice"),
        ("online targt=7", "unknown option 'targt'; did you mean 'target'"),
        ("online target=-3", "target=-3: expected a whole number from 1"),
        ("online target=seven", "target='seven': expected a whole number"),
        ("online target=999999999999999999999999999999", "target='999999999999999999999999999999': expected a whole"),
        ("online players=5", "players=5 with cards_dealt=13 needs 65 cards"),
        ("online name=mine", "expected option=value"),
        ("online stakes=1", "house rule 'stakes' is not played"),
    ],
)
def test_rules_that_are_refused(words: str, message: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_rules(words.split())
    assert message in str(caught.value)


# ---- positions --------------------------------------------------------------------------------------------------------

SIX = CrashRules.preset("traditional", players=3, cards_dealt=6, crash_call="optional")
CARDS = "cards As Ks Qs 2c 2d 2h"


def test_fields_stand_in_any_order_and_may_be_left_out() -> None:
    view = read_position(f"ARRANGE Dealer 2 {CARDS} SEAT 0".split(), SIX)
    assert (view.scores, view.rounds_played, view.exchanges) == ((0, 0, 0), 0, (None, None, None))
    more = "arrange seat 0 cards As,Ks;Qs 2c2d2♥ scores 1 2 3 round 4 dealer 2 exchanges kept kept kept"
    view = read_position(more.split(), SIX)
    assert (view.scores, view.rounds_played, view.exchanges) == ((1, 2, 3), 3, (False, False, False))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "expected a phase (exchange, arrange, call) first, got nothing"),
        ("lay", "expected a phase (exchange, arrange, call) first, got 'lay'"),
        (f"arrange 7 seat 0 dealer 0 {CARDS}", "expected a field (seat, dealer, round"),
        (f"arrange dealer 0 {CARDS}", "seat is missing"),
        ("arrange seat 0 dealer 0", "cards is missing"),
        (f"arrange seat 0 seat 1 dealer 0 {CARDS}", "seat is given twice"),
        (f"arrange seat 3 dealer 0 {CARDS}", "seat: expected a whole number from 0 to 2, got '3'"),
        (f"arrange seat -1 dealer 0 {CARDS}", "seat: expected a whole number from 0 to 2, got '-1'"),
        (f"arrange seat 0 dealer ² {CARDS}", "dealer: expected a whole number from 0 to 2"),
        (f"arrange seat 0 dealer {'9' * 400} {CARDS}", "dealer: expected a whole number from 0 to 2, got '99"),
        (f"arrange seat 0 1 dealer 0 {CARDS}", "seat: expected 1 whole number, got '0 1'"),
        (f"arrange seat 0 dealer 0 round 0 {CARDS}", "round: expected a whole number from 1 to 200"),
        (f"arrange seat 0 dealer 0 scores 1 2 {CARDS}", "scores: expected 3 whole numbers, got '1 2'"),
        (f"arrange seat 0 dealer 0 scores 1 2 15 {CARDS}", "scores: expected a whole number from 0 to 14, got '15'"),
        ("arrange seat 0 dealer 0 cards As Ks", "cards: expected 6 cards (cards_dealt), got 2"),
        ("arrange seat 0 dealer 0 cards As Ks Qs 2c 2d As", "cards: As is given twice"),
        ("arrange seat 0 dealer 0 cards As Ks Qs 2c 2d 1h", "cards: '1h' is not a card"),
        (f"arrange seat 0 dealer 2 {CARDS} exchanges kept kept", "exchanges: expected one of exchanged, kept, -"),
        (f"arrange seat 0 dealer 2 {CARDS} exchanges kept kept maybe", "exchanges: expected one of exchanged, kept, -"),
        (f"arrange seat 0 dealer 2 {CARDS} exchanges kept - kept", "exchanges: kept - kept cannot be in the arrange"),
        (f"arrange seat 0 dealer 2 {CARDS} exchanges kept kept -", "exchanges: kept kept - cannot be in the arrange"),
        (f"arrange seat 0 dealer 2 {CARDS} exchanges kept exchanged kept", "exchanges: kept exchanged kept cannot be"),
        (f"arrange seat 0 dealer 2 {CARDS} exchanges exchanged - -", "givenup: expected where seat 0 has exchanged"),
        (f"arrange seat 0 dealer 2 {CARDS} givenup 3c 3d 3h 4c 4d 4h", "givenup: expected where seat 0 has exchanged"),
        (
            f"arrange seat 0 dealer 2 {CARDS} exchanges exchanged - - givenup 3c 3d 3h 4c 4d 2h",
            "givenup: 2h is among cards as well",
        ),
        (f"exchange seat 1 dealer 2 {CARDS} exchanges - - -", "exchanges: - - - cannot be in the exchange phase"),
        (f"exchange seat 0 dealer 2 {CARDS} exchanges kept - -", "exchanges: kept - - cannot be in the exchange phase"),
        (
            f"arrange seat 0 dealer 2 {CARDS} calls called - -",
            "calls: expected called or passed for the seats before 0",
        ),
        (f"call seat 1 dealer 2 {CARDS} calls - - - laid 2c 2d 2h", "calls: expected called or passed for the seats"),
        (f"call seat 0 dealer 2 {CARDS}", "laid: expected in the call phase, and only there"),
        (f"arrange seat 0 dealer 2 {CARDS} laid 2c 2d 2h", "laid: expected in the call phase, and only there"),
        (f"call seat 0 dealer 2 {CARDS} laid As Ks Qs | 2c 2d 2h", "laid: cannot lay"),
    ],
)
def test_positions_that_are_refused(words: str, message: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_position(words.split(), SIX)
    assert message in str(caught.value)


def test_phases_that_the_rules_do_not_have() -> None:
    online = CrashRules.preset("online")
    with pytest.raises(ProtocolError, match="no exchange phase with exchange=none and players=3"):
        read_position(["exchange"], online)
    with pytest.raises(ProtocolError, match="no call phase with crash_call=none and players=3"):
        read_position(["call"], online)
    short, words = (
        CrashRules(players=2, cards_dealt=6, ranks="TJQKA"),
        "arrange seat 0 dealer 0 cards 9c Tc Jc Qc Kc Ac",
    )
    with pytest.raises(ProtocolError, match=r"9c is not in the pack \(ranks=TJQKA\)"):
        read_position(words.split(), short)


# ---- decisions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "words", "message"),
    [
        ("exchange", "", "expected keep or exchange, got ''"),
        ("exchange", "lay", "expected keep or exchange, got 'lay'"),
        ("exchange", "keep it", "expected keep or exchange, got 'keep it'"),
        ("arrange", "keep", "expected lay and the hands, strongest first, got 'keep'"),
        ("arrange", "lay As Ks Qs | 2c 2d 2h", "is stronger than Hand 1"),
        ("arrange", "lay 2c 2d 2h | As Ks Qh", "Hand 2 (As Ks Qh) has Qh, which is not among the player's cards"),
        ("arrange", "lay 2c 2d 2h | 2c Ks Qs", "2c is in Hand 1 and in Hand 2"),
        ("arrange", "lay 2c 2d | As Ks Qs", "Hand 1 (2d 2c) has 2 cards, expected exactly three"),
        ("arrange", "lay 2c 2d Ks", None),
        ("arrange", "lay As Ks 2h", "is no hand; expected pair or better"),
        ("arrange", "lay | 2c 2d 2h", "empty hand"),
        ("call", "called", "expected pass or call, got 'called'"),
    ],
)
def test_decisions_that_are_refused(phase: str, words: str, message: str | None) -> None:
    laid = " laid 2c 2d 2h" if phase == "call" else ""
    view = read_position(f"{phase} seat 0 dealer 2 {CARDS}{laid}".split(), SIX)
    if message is None:
        assert read_decision(words.split(), view) > 0
        return
    with pytest.raises(ProtocolError) as caught:
        read_decision(words.split(), view)
    assert message in str(caught.value)


# ---- lines ------------------------------------------------------------------------------------------------------------


def test_lines_that_are_refused() -> None:
    assert read_line(b"x" * MAX_LINE + b"\r\n") == "x" * MAX_LINE
    with pytest.raises(ProtocolError, match=f"more than {MAX_LINE} bytes"):
        read_line(b"x" * (MAX_LINE + 1) + b"\n")
    with pytest.raises(ProtocolError, match="a null byte"):
        read_line("decide\n".encode("utf-16-le"))
    with pytest.raises(ProtocolError, match="byte 3 of the line is no UTF-8"):
        read_line(b"abc\xff\n")


WORDS = (
    "arrange exchange call seat dealer round scores cards givenup exchanges calls laid 0 1 2 -1 As Ks Qs 2c 2d 2h - kept "
    "exchanged called passed | / lay keep online bga target=7 players=9 = \x00 ♠ 99999999999999999999"
)


@given(st.lists(st.sampled_from(WORDS.split()) | st.text(max_size=8), max_size=30))
def test_nothing_that_is_typed_does_more_than_be_refused(words: list[str]) -> None:
    view = read_position(f"arrange seat 0 dealer 2 {CARDS}".split(), SIX)
    for read in (read_rules, lambda words: read_position(words, SIX), lambda words: read_decision(words, view)):
        try:
            read(words)
        except ProtocolError as error:
            assert ascii_line(str(error)).isprintable()  # noqa: PT017 (the message is what is tested)


@given(st.binary(max_size=200))
def test_no_bytes_do_more_than_be_refused(data: bytes) -> None:
    try:
        text = read_line(data)
    except ProtocolError as error:
        text = str(error)
    line = ascii_line(text)
    assert line.isascii()
    assert "\n" not in line
    assert "\r" not in line
