"""Luck taken out: no bias by construction, less spread, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from prial.agents.solver_table import SolverTableError
from prial.envs.crash.game import Game
from prial.envs.crash.record import read_records, record_of, write_records
from prial.envs.crash.rules import CrashRules
from prial.training.arena import run_arena
from prial.training.cli import app
from prial.training.luck import DealWorth, LuckError, luck_by_round, luck_of

ONLINE = CrashRules.preset("online", players=3)


def dealt(rules: CrashRules, number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Hands and one spare hand, dealt by chance."""
    rng = np.random.default_rng(seed)
    packs = np.array([rng.permutation(52) for _ in range(number)])
    cards = np.sort(packs[:, : (rules.players + 1) * 13].reshape(number, -1, 13), axis=2)
    spares = cards[:, rules.players :] if rules.has_exchange else cards[:, :0]
    return cards[:, : rules.players], spares


def test_luck_treats_seats_alike_so_its_mean_is_0() -> None:
    """Luck goes with the cards, whoever sits where; all orders are equally likely, and luck adds up to 0."""
    hands, spares = dealt(ONLINE, 40, seed=1)
    worth = DealWorth(ONLINE)
    luck = worth.luck(hands, spares)
    assert luck.sum(axis=1) == pytest.approx(np.zeros(40), abs=1e-9)
    for order in ([1, 2, 0], [2, 0, 1], [1, 0, 2]):
        assert worth.luck(hands[:, order], spares) == pytest.approx(luck[:, order])
    assert luck.std() > 0.5


def test_turn_order_of_exchanges_gives_nobody_luck() -> None:
    rules = CrashRules.preset("bga", players=3)
    hands, spares = dealt(rules, 25, seed=2)
    worth = DealWorth(rules)
    luck = worth.luck(hands, spares)
    assert luck.sum(axis=1) == pytest.approx(np.zeros(25), abs=1e-9)
    for order in ([1, 2, 0], [2, 0, 1]):  # rotations: who acts before whom stays
        assert worth.luck(hands[:, order], spares) == pytest.approx(luck[:, order])


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "games.jsonl"
    run_arena(["percentile", "greedy", "random"], rules=ONLINE, games=360, seed=3, records=path, jobs=1)
    return path


def test_short_matches_are_nearer_the_truth_and_not_shifted(records: Path) -> None:
    """Sixty single games on sixty boards, as six matches of ten; the truth is that of many more games on other boards."""
    games = list(read_records(records.read_text(encoding="utf-8").splitlines(), check=False))
    arena = run_arena(["percentile", "greedy", "random"], rules=ONLINE, games=6000, seed=4, jobs=1)
    truth = {score.agent: score.margin_per_round.value for score in arena.agents}
    single = [games[6 * board + board % 6] for board in range(60)]
    errors = [
        (one.scored.value - truth[one.player], one.adjusted.value - truth[one.player])
        for match in range(6)
        for one in luck_of(single[10 * match : 10 * match + 10]).players
    ]
    scored, adjusted = np.square(errors).sum(axis=0)
    assert adjusted < 0.6 * scored
    together = luck_of(single)
    assert (together.games, together.deals) == (60, 60)
    for one in together.players:
        assert one.gain > 1.5
        assert one.adjusted.value == pytest.approx(one.scored.value - one.luck.value)
        assert one.adjusted.covers(truth[one.player])
        assert one.luck.covers(0)


def test_scored_is_what_the_arena_says(records: Path) -> None:
    games = list(read_records(records.read_text(encoding="utf-8").splitlines(), check=False))
    arena = run_arena(["percentile", "greedy", "random"], rules=ONLINE, games=360, seed=3)
    told = luck_of(games)
    assert (told.games, told.deals) == (360, 60)
    found = {one.player: one for one in told.players}
    for score in arena.agents:
        assert found[score.agent].scored.value == pytest.approx(score.margin_per_round.value)
        assert found[score.agent].games == score.games


def test_one_game_has_a_figure_too(records: Path) -> None:
    result = CliRunner().invoke(app, ["luck", str(records), "--game", "2"], env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert "3 players: 1 game\n" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    as_json = json.loads(CliRunner().invoke(app, ["luck", str(records), "--game", "2", "--json"]).stdout)
    assert sum(one["adjusted"] for one in as_json["players"]) == pytest.approx(0)
    assert as_json["players"][0]["rounds"] == as_json["players"][1]["rounds"] > 0


def test_games_whose_luck_cannot_be_told_are_refused(records: Path, tmp_path: Path) -> None:
    game = next(read_records(records.read_text(encoding="utf-8").splitlines()))
    with pytest.raises(LuckError, match="redacted"):
        luck_of([game.redacted(0)])
    with pytest.raises(LuckError, match="no finished round"):
        luck_of([record_of(Game(ONLINE, seed=1))])
    with pytest.raises(LuckError, match="game 2 has other rules"):
        luck_of([game, record_of(Game(CrashRules.preset("online", players=2), seed=1))])
    with pytest.raises(SolverTableError):
        luck_of([game], table=records)
    path = tmp_path / "games.txt"
    with path.open("w", encoding="utf-8") as file:
        write_records([game.redacted(0)], file)
    for words in ([str(path)], [str(path), "--game", "2"], [str(tmp_path / "none.txt")]):
        result = CliRunner().invoke(app, ["luck", *words])
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_a_replay_tells_the_luck_of_each_round(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    run_arena(["greedy", "random"], rules=ONLINE.replace(players=2), games=2, seed=1, jobs=1, records=path)
    with path.open() as lines:
        record = next(iter(read_records(lines)))
    scored, luck = luck_by_round(record, DealWorth(record.rules))
    whole = {one.player: one for one in luck_of([record]).players}
    assert luck.mean(axis=0) == pytest.approx([whole[name].luck.value for name in ("greedy", "random")])
    assert scored.mean(axis=0) == pytest.approx([whole[name].scored.value for name in ("greedy", "random")])
    result = CliRunner().invoke(app, ["replay", str(path), "--game", "1", "--all", "--luck"])
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.partition("Margins")[2].splitlines()[2:]]
    assert [row[0] for row in rows] == [*map(str, range(1, len(luck) + 1)), "all", "adjusted"]
    assert rows[0][1:4] == [f"{scored[0, 0]:+.2f},", "luck", f"{luck[0, 0]:+.2f}"]
    assert rows[0][4:] == [f"{scored[0, 1]:+.2f},", "luck", f"{luck[0, 1]:+.2f}"]
    assert rows[-1][1:] == [f"{value:+.2f}" for value in scored.sum(axis=0) - luck.sum(axis=0)]
    for words, reason in ((["--json"], "prial luck has one"), (["--seat", "0"], "it needs all cards")):
        refused = CliRunner().invoke(app, ["replay", str(path), "--luck", *words])
        assert refused.exit_code == 2
        assert reason in refused.stderr
    with pytest.raises(LuckError, match="hides cards"):
        luck_by_round(record.redacted(0), DealWorth(record.rules))
