"""`prial analyse` on game records: every decision graded, whole and redacted records, all phases."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from prial.agents.solver_fast import SolverFastPolicy
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import view_of
from prial.envs.crash.record import GameRecord, record_of
from prial.envs.crash.rules import CrashRules
from prial.training.analysis import Analyst
from prial.training.analysis_record import grade_record
from prial.training.cli import app
from solver_samples import random_table

ONLINE = CrashRules.preset("online")
RULES = [
    CrashRules.preset("bga", players=3, target=3, crash_call="optional"),
    CrashRules.preset("bga", players=2, target=3),
    CrashRules.preset("traditional", players=4, target=4, crash_call="required"),
]


def prial(*words: str, given: str | None = None) -> Result:
    return CliRunner().invoke(app, ["analyse", *words], prog_name="prial", input=given, env={"COLUMNS": "100"})


def played(rules: CrashRules, seed: int = 3) -> tuple[Game, list[tuple[int, int, object]]]:
    """A game of random legal decisions that are not too wild, and (seat, action, view) of each decision."""
    rng = np.random.default_rng(seed)
    game = Game(rules, seed=seed)
    made = []
    while not game.is_over:
        seat = game.pending[0]
        actions = game.legal_actions(seat)
        if game.phase is Phase.ARRANGE:
            actions = np.append(game.undominated(seat).partitions, [0])
        action = int(rng.choice(actions))
        made.append((seat, action, view_of(game, seat)))
        game.step(action, seat)
    return game, made


@pytest.mark.parametrize("rules", RULES, ids=range(len(RULES)))
def test_every_decision_is_graded_from_what_its_seat_knew(rules: CrashRules, tmp_path: Path) -> None:
    game, made = played(rules)
    file = tmp_path / "table.json"
    file.write_text(random_table(rules).to_json(), encoding="utf-8")
    analyst = Analyst(rules, table=file)
    grades = grade_record(record_of(game), analyst)
    assert grades.hidden == 0
    # Arrangements are secret: what their order is does not matter, so they are compared sorted.
    key = lambda view: (view.rounds_played, view.phase, view.seat)  # noqa: E731
    expected = sorted(made, key=lambda one: key(one[2]))
    found = sorted(grades.decisions, key=lambda one: key(one.view))
    assert [one.view for one in found] == [view for _, _, view in expected]
    policy = SolverFastPolicy(rules, analyst.table)
    for one, (_, action, view) in zip(found, expected, strict=True):
        layout = game.layout
        rng = np.random.default_rng(0)
        if view.phase is Phase.ARRANGE:
            assert (one.chosen, one.best) == (action, policy.act(view, rng))
            assert one.is_best == (one.gives_up_win_share < 1e-9)
        elif view.phase is Phase.EXCHANGE:
            assert one.chosen == (action == layout.exchange)
            advice = analyst.exchange(view)
            assert advice is not None
            sides = (advice.win_share.keep, advice.win_share.exchange)
            lost = sides[1 - one.chosen] - sides[one.chosen]
            lost = lost if lost > 2 * advice.win_share.error else 0.0
            assert one.win_share == sides[one.chosen]
            assert one.gives_up_win_share == pytest.approx(lost)
            assert (one.chosen == one.best) == one.is_best
        else:
            assert one.chosen == (action == layout.call)
            assert one.best == (policy.act(view, rng) == layout.call)
            assert one.is_best or one.chosen != one.best  # both may be worth the same
    assert sorted({one.view.phase for one in found}) == sorted({view.phase for _, _, view in made})


def solver_game(seed: int) -> GameRecord:
    """A game on `online`: seat 0 plays the solver's best, seat 1 the strongest Hand 1, seat 2 lays nothing."""
    game = Game(ONLINE, seed=seed)
    policy = SolverFastPolicy(ONLINE, Analyst(ONLINE).table)
    while not game.is_over:
        seat = game.pending[0]
        best = policy.act(view_of(game, seat), np.random.default_rng(0))
        strongest = int(game.undominated(seat).partitions[0])
        game.step((best, strongest, 0)[seat], seat)
    return record_of(game, agents=["solver-fast", "greedy", "nothing"])


def test_the_solver_gives_up_nothing_and_others_do() -> None:
    record = solver_game(5)
    grades = grade_record(record, Analyst(ONLINE))
    assert len(grades.decisions) == 3 * len(record.rounds)
    assert all(one.is_best for one in grades.of_seat(0))
    costly = grades.costliest(2)
    assert [one.view.seat for one in costly] != [0, 0]
    lost = [one.gives_up_win_share for one in grades.decisions]
    assert costly[0].gives_up_win_share == max(lost) > 0.05
    assert len(grades.costliest(100)) == sum(not one.is_best for one in grades.decisions)


def test_text_and_json_of_a_record(tmp_path: Path) -> None:
    record = solver_game(5)
    file = tmp_path / "games.txt"
    file.write_text(f"{record}\n{solver_game(6)}\n", encoding="utf-8")
    text = prial(str(file), "--game", "1", "--top", "1").stdout
    assert text.startswith("Game 1: Crash (online), 3 players;")
    flat = " ".join(text.split())
    assert "solver-fast: " in flat
    assert "0 not the best; gave up 0.00 pp of win share, 0.000 points" in flat
    assert "Laid: nothing" in flat
    assert "Better: " in flat
    assert " 2. " not in text
    lines = prial(str(file), "--json").stdout.splitlines()
    assert [json.loads(line)["game"] for line in lines] == [1, 2]
    answer = json.loads(lines[0])
    assert lines[0].isascii()
    assert answer["hidden"] == 0
    decisions = answer["decisions"]
    assert {one["decision"] for one in decisions} == {"arrange"}
    for seat in answer["seats"]:
        own = [one for one in decisions if one["seat"] == seat["seat"]]
        assert seat["decisions"] == len(own)
        assert seat["win_share"] == pytest.approx(sum(one["gives_up"]["win_share"] for one in own), abs=1e-4)
    assert prial("-", "--json", given=str(record)).stdout.splitlines()[0] == lines[0]


def test_a_redacted_record_is_graded_as_far_as_it_goes(tmp_path: Path) -> None:
    record = solver_game(5)
    analyst = Analyst(ONLINE)
    whole, seen = grade_record(record, analyst), grade_record(record.redacted(1), analyst)
    assert seen.decisions == whole.of_seat(1)
    assert seen.hidden == 2 * len(record.rounds)
    nobody = grade_record(record.redacted(), analyst)
    assert (nobody.decisions, nobody.hidden) == ((), 3 * len(record.rounds))
    file = tmp_path / "game.txt"
    file.write_text(str(record.redacted(1)), encoding="utf-8")
    assert f"{seen.hidden} not: the record hides their cards" in " ".join(prial(str(file)).stdout.split())


@pytest.mark.parametrize("rules", RULES, ids=range(len(RULES)))
def test_text_tells_exchanges_and_calls(rules: CrashRules, tmp_path: Path) -> None:
    table, file = tmp_path / "table.json", tmp_path / "games.txt"
    table.write_text(random_table(rules).to_json(), encoding="utf-8")
    file.write_text("\n".join(str(record_of(played(rules, seed)[0])) for seed in range(4)), encoding="utf-8")
    result = prial(str(file), "--table", str(table), "--top", "50")
    assert result.exit_code == 0, result.output
    flat = " ".join(result.stdout.split())
    assert ("the exchange at" in flat) == rules.has_exchange
    assert ("the call at" in flat) == rules.has_calls


def test_mistakes_are_told(tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    file.write_text(str(solver_game(5)), encoding="utf-8")
    result = prial(str(file), "--score", "1,1,1")
    assert (result.exit_code, result.stderr) == (2, "Error: --score: does not go with a file of records\n")
    assert "no game 2" in prial(str(file), "--game", "2").stderr
    other = tmp_path / "other.txt"
    other.write_text(str(record_of(played(CrashRules.preset("online", target=2))[0])), encoding="utf-8")
    assert "no solver table for these rules (online, players=3, target=2)" in prial(str(other)).stderr


def test_pictures_of_games_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file, picture = tmp_path / "game.txt", tmp_path / "game.png"
    file.write_text(f"{solver_game(5)}\n{solver_game(6)}\n", encoding="utf-8")
    assert prial(str(file), "--game", "2", "--plot", str(picture)).exit_code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    refused = prial(str(file), "--plot", str(picture))
    assert refused.exit_code == 2
    assert "several games; --plot draws one" in refused.stderr
