"""Making tables for `percentile`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prial.agents.percentile import Percentile
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import ViewBatch, view_of
from prial.envs.crash.rules import CrashRules
from prial.training.percentile_tables import (
    TOLERANCE,
    make_table,
    make_tables,
    standard_tables,
    table_command,
    write_table,
)
from prial.training.percentile_weights import compare_weights

ONLINE = CrashRules.preset("online")


def test_the_same_seed_makes_the_same_table() -> None:
    first = make_table(ONLINE, deals=300, iterations=4, seed=5)
    assert first == make_table(ONLINE, deals=300, iterations=4, seed=5)
    assert first == make_table(ONLINE, deals=300, iterations=4, seed=5, threads=1)
    assert first == make_table(ONLINE, deals=300, iterations=4, seed=5, threads=3)
    assert first != make_table(ONLINE, deals=300, iterations=4, seed=6)


def test_it_settles_and_says_so() -> None:
    made = make_table(ONLINE, deals=3_000, iterations=30)["made"]
    assert made["settled"]
    assert made["iterations"] == len(made["changes"]) < 30
    assert made["changes"][-1] <= TOLERANCE < min(made["changes"][:-1])
    stopped = make_table(ONLINE, deals=3_000, iterations=2)["made"]
    assert not stopped["settled"]
    assert stopped["iterations"] == 2


def test_progress_counts_up_to_the_end() -> None:
    seen: list[tuple[int, int, str]] = []
    made = make_table(ONLINE, deals=8_000, iterations=3, progress=lambda *step: seen.append(step))
    assert [done for done, _, _ in seen] == list(range(1, 6))  # two chunks of hands, three iterations
    assert {total for _, total, _ in seen} == {5}
    assert seen[-1][2] == f"iteration 3: change {made['made']['changes'][-1]:.5f}"


@pytest.mark.parametrize("option", ["deals", "iterations"])
def test_numbers_out_of_range_are_refused(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option}=0: expected 1 or more"):
        make_table(ONLINE, **{option: 0})


@pytest.mark.parametrize(
    ("rules", "weight", "words"),
    [
        (ONLINE, None, "--rules online"),
        (ONLINE.replace(quads_bonus=0), 2.5, "--rules online --set quads_bonus=0"),
        (CrashRules.preset("bga", players=2), None, "--rules bga --set players=2"),
    ],
)
def test_the_command(rules: CrashRules, weight: float | None, words: str) -> None:
    rest = "--deals 10 --iterations 20 --seed 3" + ("" if weight is None else f" --weight {weight}")
    command = table_command(rules, deals=10, iterations=20, seed=3, weight=weight)
    assert command == f"prial tables percentile {words} {rest}"


@pytest.mark.parametrize("players", [2, 3])
def test_with_an_exchange_it_counts_what_games_of_the_agent_lay(players: int, tmp_path: Path) -> None:
    """An independent count: whole rounds in `Game`, all seats played by the agent with that table."""
    rules = CrashRules.preset("bga", players=players)
    content = make_table(rules, deals=4_000, seed=3)
    path = tmp_path / "table.json"
    write_table(content, path)
    agent = Percentile(table=path)
    rng = np.random.default_rng(0)
    counts = {kind: np.zeros((4, 742)) for kind in ("fresh", "kept")}
    games = [Game(rules, seed=9, first_deal=deal, episode="round") for deal in range(1500)]
    while any(game.phase is Phase.EXCHANGE for game in games):
        asked = [game for game in games if game.phase is Phase.EXCHANGE]
        seats = [game.pending[0] for game in asked]
        views = ViewBatch.of(view_of(game, seat) for game, seat in zip(asked, seats, strict=True))
        for game, seat, action in zip(asked, seats, agent.act_many(views, rng).tolist(), strict=True):
            game.step(action, seat)
    views = ViewBatch.of(view_of(game, seat) for game in games for seat in range(players))
    found = views.undominated()
    chosen = agent.act_many(views, rng)
    for deal in range(len(found)):
        candidates = found[deal]
        row = candidates.partitions.tolist().index(chosen[deal])
        kind = "kept" if views.exchanges[deal, views.seat[deal]] == 0 else "fresh"
        counts[kind][np.arange(4), candidates.strengths[row]] += 1
    for kind, ours in counts.items():
        theirs = np.array(content["counts"][kind])
        apart = np.cumsum(ours / ours[0].sum() - theirs / theirs[0].sum(), axis=1)
        assert np.abs(apart).max() < 5 * 0.5 * np.sqrt(1 / ours[0].sum() + 1 / theirs[0].sum())


def test_tables_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = make_table(ONLINE, deals=50, iterations=1)
    path = tmp_path / "table.json"
    write_table(content, path)
    before = path.read_text(encoding="utf-8")
    sized = {**content, "made": {**content["made"], "bytes": len(before)}}
    assert json.loads(before) == sized
    assert len(before.splitlines()) < 20

    def full(self: Path, target: Path) -> Any:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="disk full"):
        write_table({**content, "weight": 1.0}, path)
    assert path.read_text(encoding="utf-8") == before
    assert [p.name for p in tmp_path.iterdir()] == ["table.json"]


def test_weights_are_compared_on_the_same_deals() -> None:
    scores = compare_weights(ONLINE, [3, 3, 40], boards=40, seed=2)
    assert [score.weight for score in scores] == [3, 3, 40]
    assert scores[1].difference == scores[1].error == 0
    assert scores[0].win_share == scores[1].win_share != scores[2].win_share


def test_tables_of_many_rules_are_made_once_each_and_the_same_with_any_number_of_jobs(tmp_path: Path) -> None:
    tables = {name: rules for name, rules in standard_tables().items() if name in ("bga-5", "bga-2-9-cards")}
    numbers = {"deals": 200, "iterations": 4}
    assert make_tables(tables, tmp_path / "two", jobs=2, **numbers) == list(tables)
    assert make_tables(dict([*tables.items()][:1]), tmp_path / "one", **numbers) == ["bga-5"]
    half = (tmp_path / "one" / "bga-5.json").stat().st_mtime_ns
    (tmp_path / "one" / "bga-2-9-cards.json").write_text("half a file")
    seen: list[tuple[int, int]] = []
    made = make_tables(tables, tmp_path / "one", progress=lambda *step: seen.append(step), **numbers)
    assert made == ["bga-2-9-cards"]
    assert seen[-1] == (1, 1)
    assert (tmp_path / "one" / "bga-5.json").stat().st_mtime_ns == half
    for name in tables:
        assert (tmp_path / "one" / f"{name}.json").read_bytes() == (tmp_path / "two" / f"{name}.json").read_bytes()
    assert make_tables(tables, tmp_path / "one", **numbers) == []
    assert make_tables(tables, tmp_path / "one", deals=100, iterations=4) == list(tables)


def test_the_tables_that_ship_fit_every_rule_set_and_differ() -> None:
    tables = standard_tables()
    assert len(tables) == 29
    assert all(rules.name and name.startswith(f"{rules.name}-{rules.players}") for name, rules in tables.items())
    assert tables["bga-2-9-cards-high-card"] == CrashRules.preset(
        "bga", players=2, cards_dealt=9, lowest_hand="high_card"
    )
