"""`prial replay`, and the records that the arena writes."""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import record_rescorer
from prial.envs.crash.events import Deal
from prial.envs.crash.game import Game
from prial.envs.crash.record import GameRecord, parse_record, read_records, record_of, rounds_not_of_seed
from prial.envs.crash.rules import CrashRules
from prial.training.arena import ArenaError, run_arena
from prial.training.cli import app
from scripted_agents import Folds, Lays, Raises

FOLDER = Path(__file__).parents[1] / "data" / "records"
RULES = CrashRules.preset("online", target=3)


def prial(*arguments: str, given: str | None = None) -> tuple[int, str, str]:
    """The exit code, output and messages of a command."""
    result = CliRunner().invoke(app, list(arguments), input=given)
    return result.exit_code, result.stdout, result.stderr


def test_a_game_is_told_round_by_round() -> None:
    code, out, err = prial("replay", str(FOLDER / "traditional.txt"))
    assert (code, err) == (0, "")
    for line in (
        "Game 1: Crash (traditional), 3 players, target 6, 2026-11-30",
        "  seat 0: Anna (greedy)",
        "  seat 1: random",
        "  seed 182, table 0, first deal 0",
        "Round 1, dealt by random, scores 0 - 0 - 0",
        "  Anna exchanges",
        "  random calls a crash",
        "           nobody scores",
        "  random: call penalty +0, now 0",
        "  Scores: Anna 0, random 0, greedy 3",
        "  greedy wins the game (target)",
        "Checked: every decision is legal, and all that is stated follows from them.",
        "The deals are those of the seed.",
    ):
        assert line in out.splitlines()
    assert out.count("Hand 4") == 1


def test_one_game_of_many_and_one_seat() -> None:
    file = str(FOLDER / "online.txt")
    _, out, _ = prial("replay", file, "--game", "2")
    assert out.startswith("Game 2: Crash (online)")
    assert out.count("Game ") == 1
    assert "percentile" in out
    _, out, _ = prial("replay", file, "--game", "1", "--seat", "1")
    assert "shows what seat 1 knows" in out
    assert "seed" not in out.replace("came from a seed", "")
    assert "Checked; what the record hides could not be:" in out
    _, out, _ = prial("replay", file, "--game", "1", "--seat", "spectator", "--json")
    record = parse_record(out)
    assert record.viewer == "spectator"
    _, out, _ = prial("replay", file, "--json")
    assert [json.loads(line)["view"] for line in out.splitlines()] == ["all", "all"]


def test_unfinished_and_redacted_games() -> None:
    code, out, _ = prial("replay", str(FOLDER / "unfinished.txt"), "--all")
    assert code == 0
    assert out.count("The game was left here.") == 3
    code, out, _ = prial("replay", str(FOLDER / "traditional-redacted.txt"))
    assert code == 0
    assert out.count("round 2: what player_0 laid after Hand 3") == 3


def three_rounds(given: int) -> GameRecord:
    """Three rounds of seed 2, the first few of them on the deals of seed 1."""
    deals = [event for event in three_rounds(0).replay().events if isinstance(event, Deal)] if given else []
    game = Game(CrashRules.preset("bga"), seed=2 if given else 1, dealer=0, deals=deals[:given])
    while game.rounds_played < 3:
        seat = game.pending[0]
        game.step(int(game.legal_actions(seat)[0]), seat)
    return record_of(game)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (0, "The deals are those of the seed."),
        (1, "Note: the deal of round 1 is not that of the seed; the cards were given."),
        (2, "Note: the deals of rounds 1, 2 are not those of the seed; the cards were given."),
    ],
)
def test_deals_are_compared_with_those_of_the_seed(given: int, said: str) -> None:
    """A note, not an error: the record of a game on given deals is as good as any."""
    record = three_rounds(given)
    assert len(record.rounds) == 4
    code, out, err = prial("replay", "-", given=str(record))
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == said
    assert rounds_not_of_seed(record) == tuple(range(1, given + 1))


def test_deals_of_another_seed_or_of_none() -> None:
    record = three_rounds(0)
    assert rounds_not_of_seed(replace(record, first_deal=record.first_deal + 1)) == (1, 2, 3, 4)
    _, out, _ = prial("replay", "-", given=str(replace(record, table=5)))
    assert out.splitlines()[-1] == "Note: no deal is that of the seed; the cards were given."
    _, out, _ = prial("replay", "-", given=str(replace(record, seed=None, table=None, first_deal=None)))
    assert out.splitlines()[-1] == "The record names no seed to compare the deals with."


def test_standard_input() -> None:
    text = (FOLDER / "short-pack.txt").read_text(encoding="ascii")
    code, out, _ = prial("replay", "-", given=text)
    assert (code, out.splitlines()[0]) == (0, "Game 1: Crash (online), 2 players, target 3")


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (["nowhere.txt"], None, "Error: nowhere.txt: No such file or directory"),
        (["-", "--game", "2"], (FOLDER / "cut-off.txt").read_text("ascii"), "Error: -: no game 2"),
        (["-"], "", "Error: -: no game in it"),
        (["-"], "hello", "Error: -: line 1: expected 'crash-record: 1' or a JSON object, got 'hello'"),
        (["-"], "\x00\xff", "Error: -: line 1: expected"),
        (["-", "--seat", "x"], "", "Error: --seat 'x': expected a seat such as 0, or spectator"),
        (["-", "--seat", "9"], (FOLDER / "cut-off.txt").read_text("ascii"), "Error: seat 9: expected 0 to 2"),
    ],
)
def test_mistakes_end_with_one_line(
    arguments: list[str], given: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = prial("replay", *arguments, given=given)
    assert (code, out) == (2, "")
    assert err.startswith(said)
    assert err.count("\n") == 1


def test_a_tampered_record_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "games.txt"
    file.write_text((FOLDER / "traditional.txt").read_text("ascii").replace("scores: 0 0 3", "scores: 0 0 4"), "ascii")
    code, _, err = prial("replay", str(file))
    assert code == 2
    assert err == f"Error: {file}: line 46: round 1: scores: the record says 0 0 4, the rules say 0 0 3\n"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "seen", "unseen"),
    [("\n" * 40, "Checked", "Hand 5"), ("\n\n\nq\n", "Hand 2", "Hand 3 "), ("", "seat 0: Anna", "Round 1")],
)
def test_enter_shows_the_next_hand(typed: str, seen: str, unseen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from prial.training.commands.replay import replay

    out = _Terminal()
    monkeypatch.setattr(sys, "stdin", _Terminal(typed))
    monkeypatch.setattr(sys, "stdout", out)
    replay(FOLDER / "traditional.txt", game=None, seat=None, everything=False, as_json=False)
    assert seen in out.getvalue()
    assert unseen not in out.getvalue()
    assert "[Enter] " in out.getvalue()


def test_the_arena_records_every_game(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "games.txt"
    result = run_arena([Lays(), Folds()], rules=RULES, games=30, seed=5, records=file)
    text = file.read_text(encoding="ascii")
    records = list(read_records(text.splitlines()))
    assert len(records) == result.games == 30
    assert [(r.seed, r.table, r.first_deal) for r in records] == [
        (5, board, 0) for board in range(10) for _ in range(3)
    ]
    names = result.agents[0].agent, result.agents[1].agent
    assert Counter(name for r in records for name in r.agents) == {names[0]: 30, names[1]: 60}
    wins = sum(r.result.win_share(s) for r in records if r.result for s in range(3) if r.agents[s] == names[0])
    assert wins / 30 == pytest.approx(result.agents[0].win_share.value)
    for game in record_rescorer.games_of(text):
        assert record_rescorer.rescore(game) == record_rescorer.stated(game)
    lines = tmp_path / "games.jsonl"
    run_arena([Lays(), Folds()], rules=RULES, games=30, seed=5, records=lines)
    assert list(read_records(lines.read_text("ascii").splitlines())) == records


def test_records_are_the_same_with_any_number_of_jobs(tmp_path: Path) -> None:
    files = [tmp_path / f"{jobs}.txt" for jobs in (1, 2)]
    for jobs, file in enumerate(files, start=1):
        code, _, _ = prial(
            *("arena", "greedy", "random", "--set", "target=2", "--games", "600", "--jobs", str(jobs)),
            *("--records", str(file), "--json"),
        )
        assert code == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes().count(b"crash-record: 1\n") == 600


def test_an_arena_that_stops_leaves_no_file(tmp_path: Path) -> None:
    file = tmp_path / "games.txt"
    file.write_text("old", encoding="ascii")
    with pytest.raises(ArenaError):
        run_arena([Folds(), Raises()], rules=RULES, games=4, records=file)
    assert file.read_text(encoding="ascii") == "old"
    assert list(tmp_path.iterdir()) == [file]
    code, _, err = prial("arena", "greedy", "random", "--games", "3", "--records", str(tmp_path))
    assert code == 2
    assert err.startswith(f"Error: {tmp_path}: Is a directory")
