"""Game records: text and JSON there and back, replay, resume, what is refused, rescoring by an independent program."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import record_rescorer
from play import play_on, random_action, rule_variants, state_of
from prial.envs import crash_v0
from prial.envs.crash.events import Arrange, Deal, Event
from prial.envs.crash.game import Game
from prial.envs.crash.record import (
    GameRecord,
    RecordError,
    check_record,
    from_json,
    parse_record,
    read_records,
    record_of,
    rescore,
    shown_rounds,
    write_records,
)
from prial.envs.crash.render import format_round
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.starts import drawn_deal
from tables import TABLES

RULES = {
    **TABLES,
    **{f"{r.name}-{r.players}-{r.crash_call}-{r.finish}": r for r in rule_variants()},
    "crash-wins-at-the-end": CrashRules.preset("online", finish="round_end", target=3),
    "bonus-and-penalty": CrashRules.preset(
        "traditional", players=2, crash_call="optional", crash_call_bonus=3, crash_call_penalty=2, quads_bonus=2
    ),
}
GOLDEN = sorted((Path(__file__).parents[1] / "data" / "records").glob("*.txt"))


def played(rules: CrashRules, seed: int, *, steps: int = 10**9, **options: Any) -> Game:
    """A game played at random, the seats of a phase in any order."""
    game = Game(rules, seed=seed, **options)
    play_on(game, np.random.default_rng(seed), steps=steps)
    return game


def in_turn(events: tuple[Event, ...], rules: CrashRules) -> list[Event]:
    """The events as they are when simultaneous decisions come in turn order."""
    out: list[Event] = []
    for event in events:
        if isinstance(event, Deal):
            dealer = event.dealer
        out.append(event)
        place = len(out) - 1
        kind = type(event)
        if kind is Arrange or (kind.__name__ == "Exchange" and rules.players == 2):
            while place and type(out[place - 1]) is kind and _turn(out[place - 1], dealer) > _turn(out[place], dealer):
                out[place - 1], out[place] = out[place], out[place - 1]
                place -= 1
    return out


def _turn(event: Any, dealer: int) -> int:
    return int((event.seat - dealer - 1) % 10)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_text_and_json_are_read_back_and_replay(rules: CrashRules) -> None:
    for seed in range(2):
        game = played(rules, seed, table=3, first_deal=5)
        record = record_of(game, agents=[f'the "{seat}" é' for seat in range(rules.players)], date="2026-11-30")
        text = str(record)
        assert text.isascii()
        assert max(map(len, text.splitlines())) <= 100
        assert parse_record(text) == record
        assert parse_record(text).rules.name == rules.name
        assert str(parse_record(text)) == text
        assert from_json(record.to_json()) == record
        assert record.to_json().isascii()
        again = record.replay()
        assert again.result == game.result
        assert list(again.events) == in_turn(game.events, rules)
        rescored = rescore(record)
        assert rescored.rounds == record.rounds
        assert (rescored.result, rescored.unchecked) == (game.result, ())
        told = "\n".join(format_round(events, rules=rules) for events in shown_rounds(record))
        assert told.count("Scores: ") == len(record.rounds)


@given(st.data())
def test_games_left_in_the_middle_resume_exactly(data: st.DataObject) -> None:
    rules = data.draw(st.sampled_from(list(RULES.values())))
    seed, steps = data.draw(st.integers(0, 2**64)), data.draw(st.integers(0, 30))
    game = played(rules, seed, steps=steps, table=data.draw(st.integers(0, 2**64 - 1)), first_deal=7)
    record = record_of(game)
    assert parse_record(str(record)) == from_json(record.to_json()) == record
    if game.is_over:
        with pytest.raises(RecordError, match="the game is over; there is nothing to resume"):
            record.resume()
        return
    resumed = parse_record(str(record)).resume()
    for _ in range(40):
        skip = ("_events", "_explicit")
        assert {k: v for k, v in state_of(resumed).items() if k not in skip} == {
            k: v for k, v in state_of(game).items() if k not in skip
        }
        if game.is_over:
            break
        seat = game.pending[-1]
        action = random_action(game, seat, np.random.default_rng(seed))
        game.step(action, seat)
        resumed.step(action, seat)
    assert record_of(resumed) == record_of(game)


def test_games_from_explicit_deals() -> None:
    """Deals that are given stand in the record; a game that still has some cannot name where the next comes from."""
    rules = CrashRules.preset("bga", players=2, target=3)
    source = Game(rules, seed=5)
    assert source.stream is not None
    deals = []
    for number in range(2):
        hands, spares = drawn_deal(rules, source.stream, number, (0, 1))
        deals.append(Deal(round_number=number, dealer=1, scores=(), hands=hands, spares=spares))
    record = record_of(Game(rules, deals=deals))
    assert record.seed is None
    assert "seed" not in str(record)
    assert parse_record(str(record)) == record
    with pytest.raises(RecordError, match="the record names no seed"):
        record.resume()
    hands = [format_hand(hand) for hand in source.hands]
    game = Game.from_deal(rules, hands, spares=[format_hand(s) for s in source.spares], scores=[1, 2], seed=9)
    record = record_of(game)
    assert (record.seed, record.first_deal, record.start_scores) == (9, 0, (1, 2))
    play_on(game, np.random.default_rng(0))
    assert parse_record(str(record_of(game))).replay().result == game.result


def format_hand(ids: tuple[int, ...]) -> str:
    return " ".join(record_rescorer.RANKS[card // 4] + "cdhs"[card % 4] for card in ids)


def test_an_independent_rescorer_agrees() -> None:
    """Written from the document alone; it sees the text of whole and of redacted records."""
    games = 0
    for name, rules in RULES.items():
        for seed in range(4):
            record = record_of(played(rules, 1000 + seed))
            texts = [str(record), str(record.redacted()), str(record.redacted(seed % rules.players))]
            for text in texts:
                (game,) = record_rescorer.games_of(text)
                assert record_rescorer.rescore(game) == record_rescorer.stated(game), (name, seed)
            games += 1
    assert games > 250


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_files_are_read_and_written_unchanged(path: Path) -> None:
    text = path.read_text(encoding="ascii")
    records = list(read_records(io.StringIO(text)))
    out = io.StringIO()
    assert write_records(records, out) == len(records) > 0
    assert out.getvalue() == text


def test_the_golden_json_lines_say_the_same() -> None:
    texts = [record for path in _in_file_order() for record in read_records(path.read_text("ascii").splitlines())]
    lines = (GOLDEN[0].parent / "all.jsonl").read_text(encoding="ascii")
    assert list(read_records(lines.splitlines())) == texts
    out = io.StringIO()
    write_records(texts, out, as_json=True)
    assert out.getvalue() == lines


def _in_file_order() -> Iterator[Path]:
    for name in (
        *("traditional", "traditional-redacted", "online", "bga-five-players", "two-players-required"),
        *("short-pack", "one-round", "cut-off", "unfinished"),
    ):
        yield GOLDEN[0].parent / f"{name}.txt"


def test_files_hold_many_games_in_both_forms() -> None:
    one, two = (record_of(played(CrashRules.preset("online"), seed)) for seed in (1, 2))
    mixed = f"\ufeff# two games\r\n\r\n{one}\n{two.to_json()}\n\n# between\n{two}".replace("\n", "\r\n")
    assert list(read_records(io.StringIO(mixed))) == [one, two, two]
    assert list(read_records(io.StringIO(mixed), skip=2)) == [two]
    assert list(read_records([])) == []
    with pytest.raises(RecordError, match="expected one game, got 2"):
        parse_record(f"{one}{two}")


def test_reading_is_a_stream() -> None:
    text = str(record_of(played(CrashRules.preset("online"), 1)))

    def lines() -> Iterator[str]:
        yield from text.splitlines()
        yield from text.splitlines()[:1]
        raise AssertionError("read too far")

    assert str(next(read_records(lines()))) == text


def test_header_lines_may_come_in_any_order_and_cards_in_any_form() -> None:
    record = record_of(played(CrashRules.preset("online", players=2), 3))
    header, rounds = str(record).split("\n\n", maxsplit=1)
    first, *rest = header.splitlines()
    assert parse_record("\n".join([first, *rest[::-1], "", rounds])) == record


def test_environments_write_records() -> None:
    env = crash_v0.env("bga", target=2)
    with pytest.raises(RuntimeError, match="reset"):
        env.unwrapped.record()
    for seed in (4, None):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            env.step(None if terminated or truncated else int(np.flatnonzero(observation["action_mask"])[0]))
            assert agent
    record = env.unwrapped.record(agents=["a", "b", "c"], date="2026-11-30T10:00:00Z")
    assert record.agents == ("a", "b", "c")
    assert (record.seed, record.first_deal) == (4, env.unwrapped.game.deal_number - len(record.rounds))
    assert record.first_deal
    assert record.replay().events == env.unwrapped.game.events
    assert record.result == env.unwrapped.game.result
    parallel = crash_v0.parallel_env("online", players=2)
    parallel.reset(seed=1)
    assert parallel.record().resume().hands == parallel.game.hands


def test_records_of_wrong_names_are_refused() -> None:
    game = Game(CrashRules.preset("online"))
    with pytest.raises(RecordError, match="agents: expected 3 names, one a seat, got 2"):
        record_of(game, agents=["a", "b"])
    with pytest.raises(RecordError, match=r"date '30\.11\.2026': expected such as 2026-11-30"):
        record_of(game, date="30.11.2026")


def test_records_are_values() -> None:
    one, two = (record_of(played(TABLES["bga-3"], 1)) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert isinstance(one, GameRecord)
    assert json.loads(one.to_json()) == one.to_dict()
    check_record(one)
