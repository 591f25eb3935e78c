"""The benchmark: its yardstick finds what the search finds, and its figures are whole."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bridge import clustered_deals, quads_deals
from prial.envs.crash.partitions import undominated_many
from prial.envs.crash.rules import CrashRules
from prial.training import benchmarks


def test_the_scan_finds_the_same_values_as_the_search() -> None:
    deals = np.vstack([benchmarks.random_deals(3, 40), quads_deals(4, 20, 13), clustered_deals(5, 20, 13)])
    scanned = benchmarks.scan_values(deals)
    assert scanned == benchmarks.search_values(deals)
    assert sum(map(len, scanned)) > 100


def test_the_scan_finds_arrangements_of_fewer_hands_too() -> None:
    deals = benchmarks.random_deals(6, 60)
    found = undominated_many(deals, CrashRules.preset("online", quads_bonus=0))
    scanned = benchmarks.scan_values(deals)
    assert [len(values) for values in scanned] == found.counts.tolist()
    assert any(row[3] == 0 for values in scanned for row in values)


def test_deals_are_sorted_hands() -> None:
    deals = benchmarks.random_deals(1, 50, cards_dealt=9)
    assert deals.shape == (50, 9)
    assert deals.dtype == np.int8
    assert (np.diff(deals, axis=1) > 0).all()
    assert not (deals == benchmarks.random_deals(2, 50, cards_dealt=9)).all()


def test_a_quick_run_measures_everything(capsys: pytest.CaptureFixture[str]) -> None:
    ticks: list[tuple[int, int]] = []
    result = benchmarks.run_benchmarks(repeats=1, quick=True, progress=lambda done, total: ticks.append((done, total)))
    assert ticks[-1][0] == ticks[-1][1] == len(ticks)
    assert {figure.unit for figure in result.figures} == {"us a deal", "times", "a second", "steps a second"}
    assert all(figure.low <= figure.median <= figure.high for figure in result.figures)
    assert all(figure.low > 0 for figure in result.figures)
    assert result.ratio > 0  # how much is for a quiet machine to say
    again = json.loads(json.dumps(result.to_dict()))
    assert again["target"] == 50
    assert again["met"] == result.met == (result.ratio >= 50)
    assert len(again["figures"]) == len(result.figures)

    assert benchmarks.main(["--quick", "--repeats", "1"]) == 0
    assert "times as fast as the scan" in capsys.readouterr().out
    assert benchmarks.main(["--quick", "--repeats", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["repeats"] == 1


def test_a_scan_that_disagrees_stops_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "scan_values", lambda deals: [])
    with pytest.raises(RuntimeError, match="disagree"):
        benchmarks.run_benchmarks(repeats=1, quick=True)
