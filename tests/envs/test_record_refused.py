"""Records that are not what the rules make of them are refused, with the line and what differs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prial.envs.crash.game import Game
from prial.envs.crash.record import RecordError, from_json, parse_record, read_records, record_of
from prial.envs.crash.rules import CrashRules

FOLDER = Path(__file__).parents[1] / "data" / "records"
TEXT = (FOLDER / "traditional.txt").read_text(encoding="ascii")
LINES = TEXT.splitlines()
REDACTED = (FOLDER / "traditional-redacted.txt").read_text(encoding="ascii")


def swapped(old: str, new: str, text: str = TEXT) -> tuple[str, int]:
    """The text with one line changed, and the number of that line."""
    assert text.count(old) >= 1, old
    return text.replace(old, new, 1), text[: text.index(old)].count("\n") + 1


# One line of the example, what it is changed to, and what is said of it.
CHANGED = {
    "version": ("crash-record: 1", "crash-record: 2", "version 2 of the format; this reader knows 1"),
    "unknown tag": ("view: all", "mood: all", "'mood' is no part of the header of version 1"),
    "twice": ("view: all", "seed: 5", "said before, in line 22"),
    "no key": ("view: all", "view all", "expected 'key: value', got 'view all'"),
    "name": ('agent 0: "greedy"', "agent 0: greedy", 'expected a text in double quotes, such as "greedy", got'),
    "number": ("target: 6", "target: six", "expected a whole number, got 'six'"),
    "rules": ("target: 6", "target: 0", "rules: target=0: expected a whole number from 1 to 1000"),
    "choice": ("finish: immediate", "finish: soon", "rules: finish='soon': expected 'immediate' or 'round_end'"),
    "seat": ('agent 2: "greedy"', 'agent 3: "greedy"', "there is no seat 3; expected 0 to 2"),
    "date": ("date: 2026-11-30", "date: today", "date 'today': expected such as 2026-11-30"),
    "view": ("view: all", "view: seat 7", "view 7: expected 'all', 'spectator' or 'seat' and a number below 3"),
    "seed": ("seed: 182", "seed: -1", "seed -1: expected a whole number from 0"),
    "start": ("start_scores: 0 0 0", "start_scores: 0 6 0", "start_scores=(0, 6, 0): expected 3 whole numbers from 0 to 5"),
    "rounds played": ("rounds_played: 0", "rounds_played: 1", "round 1: expected round 2"),
    "result": ("result: target 2", "result: target 0", "result: the record says target 0, the rules say target 2"),
    "shared": ("result: target 2", "result: target 1 2", "result: the record says target 1 2, the rules say target 2"),
    "unfinished": ("result: target 2", "result: *", "result: the record says '*' (the game goes on), the rules say"),
    "reason": ("result: target 2", "result: luck 2", "result.reason: "),
    "dealer": ("round 2: dealer 2", "round 2: dealer 1", "round 2: dealer 1, expected 2 of 0 to 2"),
    "round": ("round 2: dealer 2", "round 3: dealer 2", "round 3: expected round 2"),
    "no dealer": ("round 2: dealer 2", "round 2: 2", "expected 'dealer' and a seat, got '2'"),
    "no card": ("deal 1: Ad Ac Kc", "deal 1: Ad Ac Kx", "'Kx' is not a card"),
    "one card less": ("deal 1: Ad Ac Kc", "deal 1: Ad Ac", "12 cards"),
    "card twice": ("deal 1: Ad Ac Kc", "deal 1: Ad Ac Kh", "Kh is in two places"),
    "hidden": (next(line for line in LINES if line.startswith("deal 1")), "deal 1:" + " ??" * 13, "hidden cards (??)"),
    "half hidden": ("deal 1: Ad Ac Kc", "deal 1: ?? ?? ??", "all cards of a pile are ?? or none"),
    "choice of nobody": ("exchange 0: exchange", "exchange 0: steal", "exchanges[0]: Input should be"),
    "no choice": ("exchange 0: exchange", "exchange 0: keep", "round 1: seat 0 does not hold"),
    "not held": ("arrange 1: Tc 9c 8c |", "arrange 1: Tc 9c As |", "round 1: seat 1 does not hold As"),
    "no hand": ("| 6s 2h 2c / 5c", "| 6s 5c 2c / 2h", "Hand 4 (6s 5c 2c) is no hand"),
    "order": ("Tc 9c 8c | Kc Qh Js |", "Kc Qh Js | Tc 9c 8c |", "the strongest goes first"),
    "rest": ("| 6s 2h 2c / 5c", "| 6s 2h 2c", "0 cards (), expected 1"),
    "call": ("call 1: call", "call 1: shout", "calls[1]: Input should be 'call' or 'pass'"),
    "winner": ("reveal: - 2 2 2", "reveal: 0 2 2 2", "round 1: winner of Hand 1: the record says seat 0, the rules"),
    "nobody": ("reveal: - 2 2 2", "reveal: - 2 2 -", "round 1: winner of Hand 4: the record says nobody, the rules"),
    "too few": ("reveal: - 2 2 2", "reveal: - 2 2", "round 1: comparisons revealed: the record says 3, the rules say 4"),
    "too many": ("reveal: 2 2 2", "reveal: 2 2 2 2", "round 2: comparisons revealed: the record says 4, the rules say 3"),
    "no seat": ("reveal: - 2 2 2", "reveal: - 2 2 3", "round 1: reveal: expected up to 4 seats from 0 to 2 (- for nobody)"),
    "award": ("award: 1 call_penalty +0 = 0", "award: 1 quads +1 = 1", "award: the record says quads +1 to seat 1, making"),
    "award text": ("award: 1 call_penalty +0 = 0", "award: one", "expected such as '1 quads +1 = 5', got 'one'"),
    "scores": ("scores: 0 0 3", "scores: 0 1 3", "round 1: scores: the record says 0 1 3, the rules say 0 0 3"),
    "no part": ("scores: 0 0 3", "points: 0 0 3", "'points' is no part of a round"),
    "spare": ("spare 1:", "spare 2:", "expected 'spare 1:' here"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_line_is_named(name: str) -> None:
    old, new, said = CHANGED[name]
    text, line = swapped(old, new)
    with pytest.raises(RecordError) as raised:
        parse_record(text)
    assert said in str(raised.value)
    if name == "rounds played":  # then the first round has the wrong number
        line = text[: text.index("round 1")].count("\n") + 1
    if name == "no choice":  # then the cards are others
        line = text[: text.index("arrange 0")].count("\n") + 1
    assert str(raised.value).startswith(f"line {line}: ")
    assert raised.value.line == line


@pytest.mark.parametrize("place", range(len(LINES)), ids=lambda place: LINES[place].partition(":")[0] or "empty")
def test_a_line_left_out_is_missed(place: int) -> None:
    """Every line counts, but for names, the date, the seed (all of it or none), and empty lines."""
    text = "\n".join(LINES[:place] + LINES[place + 1 :])
    if not LINES[place] or re.match("agent|player |date", LINES[place]):
        parse_record(text)
    else:
        with pytest.raises(RecordError, match=r"line \d+: "):
            parse_record(text)


def test_the_file_line_is_named() -> None:
    text, line = swapped("scores: 0 0 3", "scores: 0 1 3")
    with pytest.raises(RecordError, match=rf"line {line + len(LINES) + 1}: round 1: scores"):
        list(read_records(f"{TEXT}\n{text}".splitlines()))
    lines = [json.dumps(json.loads(parse_record(TEXT).to_json())) for _ in range(3)]
    lines[2] = lines[2].replace('"scores": [0, 0, 3]', '"scores": [0, 1, 3]')
    with pytest.raises(RecordError, match="line 3: round 1: scores"):
        list(read_records(lines))
    with pytest.raises(RecordError, match="line 2: expected 'crash-record: 1' or a JSON object, got 'nonsense'"):
        list(read_records(["", "nonsense"]))
    with pytest.raises(RecordError, match="line 1: not JSON"):
        list(read_records(["{"]))
    with pytest.raises(RecordError, match="line 2: expected one JSON object a line"):
        list(read_records([lines[0], '"more"']))


def test_redacted_records_are_checked_as_far_as_they_go() -> None:
    games = ["crash-record: 1\n" + text for text in REDACTED.split("crash-record: 1\n")[1:]]
    for text in games:
        for old, new, said in (
            ("reveal: - 2 2 2", "reveal: 1 2 2 2", "winner of Hand 1: the record says seat 1, the rules say nobody"),
            ("reveal: 2 2 2", "reveal: 2 2", "comparisons revealed: the record says 2, the rules say 4"),
            ("scores: 0 0 6", "scores: 0 0 5", "scores: the record says 0 0 5, the rules say 0 0 6"),
            ("result: target 2", "result: crash 2", "result: the record says crash 2, the rules say target 2"),
            ("call 1: call", "call 1: pass", "awards: the record says 1, the rules say 0"),
            ("Ts 9s 8s | Kd Qc Jd", "Ts 9s 8s | Tc Qc Jd", "Tc"),
            ("Ts 9s 8s | Kd Qc Jd", "Kd Qc Jd | Ts 9s 8s", "the strongest goes first"),
        ):
            changed, _ = swapped(old, new, text)
            with pytest.raises(RecordError, match=re.escape(said)):
                parse_record(changed)
    changed, line = swapped("view: spectator", "view: spectator\nseed: 1\ntable: 0\nfirst_deal: 0", games[0])
    with pytest.raises(RecordError, match=f"line {line + 1}: seed: a redacted record names none"):
        parse_record(changed)


def _parts(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(part for key, item in inside for part in _parts(item, (*path, key)))]


DATA = parse_record(TEXT).to_dict()


@given(st.sampled_from(_parts(DATA)[1:]), st.sampled_from([None, -1, 99, 0.5, True, "x", [], {}, "2c", 10**30]))
def test_json_of_any_shape_is_read_or_refused(path: tuple[Any, ...], value: object) -> None:
    """Never anything but `RecordError`; what is read is written back the same."""
    data = json.loads(json.dumps(DATA))
    inside = data
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    text = json.dumps(data)
    try:
        record = from_json(text)
    except RecordError:
        return
    assert record.to_json() == text


@given(st.integers(0, len(TEXT) - 1), st.text(max_size=3), st.integers(0, 3))
def test_text_with_any_damage_is_read_or_refused(place: int, new: str, gone: int) -> None:
    text = TEXT[:place] + new + TEXT[place + gone :]
    try:
        record = parse_record(text)
    except RecordError:
        return
    assert parse_record(str(record)) == record


@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_any_lines_are_read_or_refused(lines: list[str]) -> None:
    try:
        parse_record("\n".join(lines))
    except RecordError:
        return


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "the record: Input should be a valid dictionary"),
        ("{}", "format: Field required"),
        ('{"a": 1, "a": 2}', "a key comes twice in"),
        ("nope", "not JSON"),
        ('{"format": "crash-record", "version": 9}', "version 9 of the format; this reader knows 1"),
    ],
)
def test_json_that_is_no_record(text: str, said: str) -> None:
    with pytest.raises(RecordError, match=said):
        from_json(text)


def test_unchecked_reading_takes_what_is_well_formed() -> None:
    text, _ = swapped("scores: 0 0 3", "scores: 0 1 3")
    record = parse_record(text, check=False)
    assert record.rounds[0].scores == (0, 1, 3)
    assert from_json(record.to_json(), check=False) == record
    assert record.replay().scores == (0, 0, 6)


def test_rounds_after_the_end_are_refused() -> None:
    rules = CrashRules.preset("online", players=2, target=1)
    game = Game(rules, seed=1)
    while not game.is_over:
        seat = game.pending[0]
        game.step(int(game.undominated(seat).partitions[0]), seat)
    record = record_of(game)
    more = (
        str(record)
        .split("\n\n")[-1]
        .replace("round 1", "round 2")
        .replace(f"dealer {record.rounds[0].dealer}", f"dealer {1 - record.rounds[0].dealer}")
    )
    if len(record.rounds) == 1:
        with pytest.raises(RecordError, match="round 2: the game was over before it"):
            parse_record(f"{record}\n{more}")
