"""Model cards: what is measured, and the page made from it; the comparison of update rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from typer.testing import CliRunner  # noqa: E402

from prial.agents.value_inputs import places_of  # noqa: E402
from prial.training import model_card  # noqa: E402
from prial.training.cli import app  # noqa: E402
from prial.training.files import write_whole  # noqa: E402
from prial.training.model_card import cards_table, measure_options  # noqa: E402
from prial.training.selfplay_compare import ComparePoint, points_table  # noqa: E402
from prial.training.selfplay_config import SelfPlayConfig  # noqa: E402
from prial.training.trained_files import trained_file  # noqa: E402
from prial.training.value_net import ValueNet  # noqa: E402

FEW = ["--games", "6", "--deals", "8", "--worlds", "48", "--exploit-games", "0"]


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    config = SelfPlayConfig(players=[2, 3], width=8, hats=3, variants=[{"quads_bonus": 0}])
    net = ValueNet(places_of(config.made_rules()[0]), width=8, hats=3)
    write_whole(tmp_path / "bot.safetensors", trained_file(net.state_dict(), config, batches=7))
    return tmp_path / "bot.safetensors"


def test_a_card_is_measured_and_its_page_made_again(bot: Path, tmp_path: Path) -> None:
    page = tmp_path / "card.md"
    command = ["train", "card", str(bot), "--against", "greedy,random", *FEW, "--out", str(page), "--jobs", "1"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert "| players | even | `greedy` | `random` |" in text
    rows = [line for line in text.splitlines() if line.startswith(("| 2 |", "| 3 |"))]
    assert [row[:10] for row in rows[:2]] == ["| 2 | 50.0", "| 3 | 33.3"]  # strength
    assert [row.endswith("| not measured |") for row in rows] == [False, False, True, True]  # then exploitability
    assert "`players` 2, 3; `quads_bonus` 0, 1" in text
    figures = json.loads(page.with_suffix(".json").read_text())["card"]
    assert [table["players"] for table in figures["tables"]] == [2, 3]
    assert all(table["against"]["greedy"]["games"] == 6 for table in figures["tables"])
    assert figures["batches"] == 7
    assert 0 < figures["speed"]["batched"] < figures["speed"]["single"]
    together = cards_table([figures, figures]).splitlines()
    assert len(together) == 2 + 2 * 2
    assert together[0].startswith("| agent | players | even | against `greedy` | against `random` | responder gains")
    assert together[2].startswith(f"| `{bot}` | 2 | 50.0 | ")
    assert together[2].count("|") == together[0].count("|")
    page.unlink()
    again = CliRunner().invoke(app, [*command, "--again"])
    assert again.exit_code == 0, again.output
    assert page.read_text() == text
    one = CliRunner().invoke(app, [*command, "--again", "--option-games", "6"])
    assert one.exit_code == 0, one.output
    assert page.read_text() == text  # `online` lists no option beside the number of players


def test_a_responder_is_measured_in_games_with_every_number_of_players(
    bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_card, "_EQUITY_ROUNDS", 20)  # the test is not about how well winning chances are known
    page = tmp_path / "card.md"
    words = ["train", "card", str(bot), "--against", "random", *FEW[:-1], "3", "--out", str(page), "--jobs", "1"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    figures = json.loads(page.with_suffix(".json").read_text())["card"]
    assert [table["exploited"]["win"]["episodes"] for table in figures["tables"]] == [3, 3]
    assert "not measured" not in page.read_text()


def test_each_option_that_a_rule_set_lists_is_measured_alone() -> None:
    found = measure_options("greedy", "bga", games=6, seed=1)
    told = [(one["option"], one["setting"], one["opponent"]) for one in found]
    assert told == [
        ("cards_dealt", 9, "percentile"),
        ("lowest_hand", "high_card", "percentile"),
        ("lowest_hand", "flush", "percentile"),
        ("target", 10, "percentile"),
        ("target", 15, "percentile"),
    ]
    assert all(0 <= one["low"] <= one["value"] <= one["high"] <= 1 for one in found)


def test_a_card_of_what_was_not_trained_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["train", "card", "greedy", "--out", str(tmp_path / "card.md")])
    assert done.exit_code == 2
    assert "expected a shipped agent that was trained" in done.output


def test_rules_are_compared_and_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    settings = [f"{key}={value}" for key, value in {"tables": 8, "width": 8, "hats": 3, "players": "[3]"}.items()]
    words = [word for setting in [*settings, "shares=[]"] for word in ("--set", setting)]
    command = ["train", "compare", *words, "--seeds", "1", "--at", "1,2", "--deals", "8", "--worlds", "48"]
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "rules.png")])
    assert done.exit_code == 0, done.output
    points = json.loads((tmp_path / "rules.json").read_text())
    assert [(point["update"], point["batches"]) for point in points] == [
        (update, batches) for update in ("q", "policy-gradient", "neurd", "mirror") for batches in (1, 2)
    ]
    assert (tmp_path / "rules.png").read_bytes().startswith(b"\x89PNG")
    assert "| `mirror` | 2 |" in done.output


def test_seeds_are_averaged() -> None:
    points = [
        ComparePoint(update="neurd", seed=seed, batches=10, seconds=4.0, last=gain, average=2 * gain, errors=(0.0, 0.0))
        for seed, gain in ((1, 0.02), (2, 0.04))
    ]
    line = points_table(points).splitlines()[-1]
    assert line == "| `neurd` | 10 | 4 | 0.0300 (0.0200 to 0.0400) | 0.0600 (0.0400 to 0.0800) |"


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"card": 3, "command": "x"}', '{"card": {}}'])
def test_a_file_without_figures_is_told_and_left_alone(bot: Path, tmp_path: Path, text: str) -> None:
    page = tmp_path / "card.md"
    page.with_suffix(".json").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(app, ["train", "card", str(bot), "--again", "--out", str(page)])
    assert result.exit_code != 0
    assert "holds no figures of a card" in result.output + str(result.exception)
    assert not page.exists()
    assert page.with_suffix(".json").read_text(encoding="utf-8") == text
