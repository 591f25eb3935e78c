"""`prial ladder`: files, pictures, page, JSON, and mistakes told in a line."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prial.training.cli import app
from prial.training.config_files import ConfigFileError, shipped_configs
from prial.training.ladder import run_ladder
from prial.training.ladder_config import LadderConfig, load_ladder
from prial.training.ladder_page import ladder_page
from prial.training.ladder_pictures import cross_table
from prial.training.ladder_report import verdict
from prial.training.ladder_results import LadderResults
from prial.training.ladder_standing import standing_of

pytest.importorskip("scipy")

YAML = "agents: [greedy, random, {name: 'a <twin>', agent: greedy}]\nplayers: 2\ngames: 8\nchunk_boards: 2\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(YAML, encoding="utf-8")
    return path


def ladder(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["ladder", *words], env={"COLUMNS": "80", "NO_COLOR": "1"})
    return result.exit_code, result.stdout, result.stderr


class Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in {"meta", "img"}:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def test_a_ladder_writes_results_page_and_pictures(config: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    code, shown, _ = ladder(str(config), "--out", str(out), "--jobs", "1")
    assert code == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "cross-table.png",
        "ladder.html",
        "ratings.png",
        "results.jsonl",
    ]
    assert "24 games on 4 boards" in shown
    assert {line.partition("  ")[0] for line in shown.splitlines()} >= {"greedy", "random", "a <twin>"}
    assert max(map(len, shown.splitlines())) <= 80
    page = Cells()
    page.feed((out / "ladder.html").read_text(encoding="utf-8"))
    assert page.opened == []
    assert page.texts.count("a <twin>") == 3  # in both tables, and at the head of the cross-table
    for name in ("cross-table.png", "ratings.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")
    before = (out / "results.jsonl").read_bytes()
    code, again, _ = ladder(str(config), "--out", str(out), "--no-play")
    assert (code, again) == (0, shown)
    assert (out / "results.jsonl").read_bytes() == before


def test_json_has_ratings_pairs_and_all_that_is_needed_to_repeat(config: Path, tmp_path: Path) -> None:
    code, shown, _ = ladder(str(config), "--out", str(tmp_path / "out"), "--json")
    assert code == 0
    content = json.loads(shown)
    assert content["config"]["seed"] == 1
    assert (content["chunks"], content["chunks_in_all"]) == (6, 6)
    assert [pair["agents"] for pair in content["pairs"]] == [
        ["greedy", "random"],
        ["greedy", "a <twin>"],
        ["random", "a <twin>"],
    ]
    ratings = [row["rating"] for row in content["ratings"]]
    assert ratings == sorted(ratings, reverse=True)
    assert all(low <= row["rating"] <= high for row in content["ratings"] for low, high in [row["rating_ci"]])


def test_nothing_played_yet_is_said(config: Path, tmp_path: Path) -> None:
    code, shown, _ = ladder(str(config), "--out", str(tmp_path / "out"), "--no-play")
    assert code == 0
    assert "0 of 6 chunks are played" in shown
    assert "no ratings: no games link 'greedy'" in shown


def test_the_cross_table_is_its_own_mirror_and_holds_the_verdicts(tmp_path: Path) -> None:
    read = LadderConfig(agents=["greedy", "random", "random-legal"], players=2, games=40, chunk_boards=10)
    standing = standing_of(read, run_ladder(read, tmp_path / "r.jsonl", jobs=1), resamples=20)
    cells = cross_table(standing)
    for row in range(3):
        for column in range(3):
            one, other = cells[row][column], cells[column][row]
            if row == column:
                assert one is None
                continue
            assert one is not None
            assert other is not None
            assert one[0].value == pytest.approx(-other[0].value)
            assert one[0].interval == pytest.approx((-other[0].high, -other[0].low))
            assert one[1] == other[1] == (not one[0].covers(0))
    for pair in standing.pairs:
        assert verdict(pair).startswith("open; about" if pair.ahead is None else pair.ahead)


def test_the_page_of_a_ladder_that_has_not_begun_can_be_made() -> None:
    page = ladder_page(standing_of(LadderConfig(agents=["greedy", "random"]), LadderResults()), None)
    assert "no ratings" in page
    assert "<img" not in page


def test_the_ladders_that_ship_can_be_played() -> None:
    assert "online-3" in shipped_configs("arena")
    for name in shipped_configs("arena"):
        config = load_ladder(name)
        for agent in config.agents:
            agent.made(config.made_rules())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("agents: [greedy]\n", "agents"),
        ("agents: [greedy, greedy]\n", "'greedy' comes twice"),
        ("agents: [greedy, random]\ngame: 5\n", "unknown key 'game'; did you mean 'games'"),
        ("agents: [greedy, random]\ngames: 0\n", "games=0: Input should be greater"),
        ("agents: [greedy, random]\nplayers: 9\n", "players"),
        ("agents: [greedy, random]\nmeetings: tables\n", "3 seats need as many agents"),
        ("agents: [greedy, {name: x}]\n", "the key 'agents.1.agent' is missing"),
        ("players: 2\n", "the key 'agents' is missing"),
        ("- greedy\n", "expected keys"),
        ("agents: [\n", "is not YAML"),
    ],
)
def test_configurations_that_cannot_be_used_are_told(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigFileError) as caught:
        load_ladder(path)
    assert named in str(caught.value)
    code, _, said = ladder(str(path), "--out", str(tmp_path))
    assert code == 2
    assert named in said
    assert said.count("\n") == 1


def test_an_agent_that_cannot_play_is_told_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(YAML.replace("greedy, random", "greedy, gredy"), encoding="utf-8")
    code, _, said = ladder(str(path), "--out", str(tmp_path / "out"))
    assert (code, said.count("\n")) == (2, 1)
    assert "did you mean 'greedy'" in said
    assert not (tmp_path / "out").exists()


def test_results_that_are_none_are_told(config: Path, tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text("hello\n", encoding="utf-8")
    code, _, said = ladder(str(config), "--out", str(tmp_path))
    assert (code, said.count("\n")) == (2, 1)
    assert "no file of a ladder's results" in said
