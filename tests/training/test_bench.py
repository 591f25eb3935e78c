"""`prial bench`: the yardstick finds what the search finds, and every section measures what it names."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bridge import clustered_deals, quads_deals
from prial.envs.crash.partitions import undominated_many
from prial.envs.crash.rules import CrashRules
from prial.training.bench import peers, search
from prial.training.bench.batched import measure_batched, measure_growth
from prial.training.bench.core import BenchResult, Figure, Machine, Plan, Section, by_turns, figure
from prial.training.bench.report import has_part, in_page
from prial.training.bench.run import SECTIONS, run_bench
from prial.training.cli import app

QUICK = Plan(repeats=2, quick=True)
PAGE = "# Speed\n\n<!-- measured: prial bench -->\nold figures\n<!-- end of measured -->\n\nmore\n"


def machine(load: float) -> Machine:
    return Machine(
        cpu="a processor", cores=2, system="Linux", python="3.11.7", libraries={}, date="2026-11-30", load=load
    )


def result(*sections: Section, load: float = 0.0) -> BenchResult:
    return BenchResult(sections=sections, machine=machine(load), plan=QUICK)


def test_the_scan_finds_the_same_values_as_the_search() -> None:
    deals = np.vstack([search.random_deals(3, 40), quads_deals(4, 20, 13), clustered_deals(5, 20, 13)])
    scanned = search.scan_values(deals)
    assert scanned == search.search_values(deals)
    assert sum(map(len, scanned)) > 100


def test_the_scan_finds_arrangements_of_fewer_hands_too() -> None:
    deals = search.random_deals(6, 60)
    found = undominated_many(deals, CrashRules.preset("online", quads_bonus=0))
    scanned = search.scan_values(deals)
    assert [len(values) for values in scanned] == found.counts.tolist()
    assert any(row[3] == 0 for values in scanned for row in values)


def test_deals_are_sorted_hands() -> None:
    deals = search.random_deals(1, 50, cards_dealt=9)
    assert deals.shape == (50, 9)
    assert deals.dtype == np.int8
    assert (np.diff(deals, axis=1) > 0).all()
    assert not (deals == search.random_deals(2, 50, cards_dealt=9)).all()


def test_a_scan_that_disagrees_stops_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "scan_values", lambda deals: [])
    with pytest.raises(RuntimeError, match="disagree"):
        search.measure_search(QUICK)


def test_figures_are_medians_with_their_range_and_know_their_target() -> None:
    most = figure("x", "s", [3.0, 1.0, 2.0], target=2.0)
    assert (most.median, most.low, most.high, most.met) == (2.0, 1.0, 3.0, True)
    assert figure("x", "s", [1.9], target=2.0).met is False
    assert figure("x", "s", [1.9]).met is None
    assert Figure(name="x", unit="s", median=1.9, target=1.0, at_most=True).met is False


def test_what_is_compared_runs_by_turns() -> None:
    order: list[str] = []

    def run(name: str, units: int, steps: int) -> int:
        order.append(name)
        time.sleep(steps / 1e5)
        return units * steps

    rates = by_turns(QUICK, lambda steps: run("a", 1, steps), lambda steps: run("b", 1, steps))
    assert "".join(order).endswith("abab")
    assert all(len(values) == QUICK.repeats and min(values) > 0 for values in rates)


def test_a_quick_run_measures_the_search_and_single_tables() -> None:
    ticks: list[tuple[int, int]] = []
    found = run_bench(QUICK, ["search", "single"], progress=lambda done, total: ticks.append((done, total)))
    assert ticks == [(0, 2), (1, 2), (2, 2)]
    assert [section.name for section in found.sections] == ["search", "single"]
    figures = [each for section in found.sections for each in section.figures]
    assert all(each.low is not None and 0 < each.low <= each.median for each in figures)
    assert {each.name: each.target for each in figures if each.target} == {
        "scan over search": 150,
        "CandidateActions(raw_env())": 10_000,
    }
    again = json.loads(json.dumps(found.to_dict()))
    assert again["plan"]["repeats"] == 2
    assert len(again["sections"][0]["figures"]) == len(found.sections[0].figures)


def test_a_quick_run_measures_the_batched_engine() -> None:
    batched = measure_batched(Plan(repeats=1, quick=True, threads=2))
    assert [each.name for each in batched.figures] == [
        "hand by hand, both cores",
        "hand by hand, step by step, both cores",
        "candidates, both cores",
        "hand by hand, one core",
        "candidates, one core",
    ]
    assert [each.target for each in batched.figures] == [1_000_000, None, 100_000, None, None]
    assert len(measure_batched(Plan(repeats=1, quick=True, threads=1)).figures) == 3


def test_growth_is_measured_against_tables_players_and_cards() -> None:
    growth = measure_growth(Plan(repeats=1, quick=True))
    places = {curve.axis: [point.at for point in curve.points] for curve in growth.curves}
    assert places == {"tables": [1, 16, 256], "players": [2, 3, 4, 5], "cards dealt": [6, 7, 9, 10, 13]}
    memory = [curve for curve in growth.curves if curve.unit == "bytes a table"]
    assert all(np.diff([point.median for point in curve.points]).min() > 0 for curve in memory)
    assert len(growth.curves) == 8


@contextmanager
def _one_step_a_step(plan: Plan):  # type: ignore[no-untyped-def]
    def run(steps: int) -> int:
        time.sleep(steps / 1e5)
        return steps

    yield run


def test_peers_run_beside_ours_and_absent_ones_are_named() -> None:
    there = peers.Peer(project="Here", game="chess", modules=("json",), opened=_one_step_a_step, batched=True)
    absent = peers.Peer(project="Gone", game="go", modules=("no_such_module",), opened=_one_step_a_step)
    section = peers.measure_peers(QUICK, (there, absent))
    assert [each.name for each in section.figures] == [
        "CrashVectorEnv hand by hand",
        "CrashVectorEnv candidates",
        "CandidateActions, one table",
        "Here chess",
        "CrashVectorEnv hand by hand, over it",
        "CrashVectorEnv candidates, over it",
        "CandidateActions, one table, over it",
    ]
    assert [each.target for each in section.figures if each.target] == [1.0]
    assert section.figures[4].target == 1.0
    assert section.notes == (
        'Gone go is left out: no module no_such_module here; pip install "prial[peers]" brings it.',
    )


@pytest.mark.parametrize("peer", peers.PEERS, ids=lambda peer: f"{peer.project}-{peer.game}")
def test_a_peer_that_is_installed_plays(peer: peers.Peer) -> None:
    if peer.missing is not None:
        pytest.skip(f"no module {peer.missing}")
    section = peers.measure_peers(Plan(repeats=1, quick=True), (peer,))
    assert len(section.figures) == 7
    assert section.figures[3].median > 0


def test_the_part_of_a_page_is_made_anew() -> None:
    section = Section(name="search", title="Search", figures=(figure("a", "s", [1.5]),), notes=("Said.",))
    page = in_page(PAGE, result(section))
    assert page.startswith("# Speed\n")
    assert page.endswith("<!-- end of measured -->\n\nmore\n")
    assert "old figures" not in page
    assert "| a | 1.5 | 1.5 to 1.5 | s |  |" in page
    assert in_page(page, result(section)) == page
    assert not has_part("# Speed\n")


def test_a_busy_machine_is_told() -> None:
    assert "was busy" in in_page(PAGE, result(load=1.5))
    assert "was busy" not in in_page(PAGE, result(load=0.3))


def bench(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["bench", *words], prog_name="prial")
    return done.exit_code, done.stdout, done.stderr


def test_the_command_shows_tables_and_fills_a_page(tmp_path: Path) -> None:
    page = tmp_path / "speed.md"
    page.write_text(PAGE)
    code, out, _ = bench("single", "--quick", "--repeats", "1", "--markdown", str(page))
    assert code == 0
    assert "A quick run: the figures mean little." in out
    assert "CandidateActions(raw_env())" in page.read_text()


def test_the_command_writes_json_and_draws_growth(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "growth.png"
    code, out, _ = bench("growth", "--quick", "--repeats", "1", "--json", "--plot", str(picture))
    assert code == 0
    assert [section["name"] for section in json.loads(out)["sections"]] == ["growth"]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_mistakes_are_told_before_anything_is_measured(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("no part\n")
    for words, text in (
        (["speed"], f"no section 'speed': there are {', '.join(SECTIONS)}"),
        (["single", "--plot", "x.png"], "--plot draws the section growth"),
        (["--markdown", str(page)], "no line <!-- measured: prial bench -->"),
        (["--markdown", str(tmp_path / "none.md")], "none.md"),
    ):
        code, out, err = bench(*words)
        assert (code, out) == (2, "")
        assert text in err
