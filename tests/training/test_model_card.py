"""Model cards: what is measured, and the page made from it; the comparison of update rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from typer.testing import CliRunner  # noqa: E402

from prial.agents.trained import TrainedError  # noqa: E402
from prial.agents.value_inputs import places_of  # noqa: E402
from prial.training import model_card  # noqa: E402
from prial.training.cli import app  # noqa: E402
from prial.training.files import write_whole  # noqa: E402
from prial.training.model_card import _how_trained, cards_table, measure_options  # noqa: E402
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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["card", "online", "--out", "c.json"], "expected another ending than .json"),
        (["card", "online", "--out", "."], "Is a directory"),
        (["card", "online", "--out", "c.md", "--against", "greedy,nobody"], "no agent 'nobody'"),
        (["card", "online", "--out", "c.md", "--against", "greedy,bga"], "bga was trained for"),
        (["compare", "--out", "c.JSON"], "expected another ending than .json"),
        (["compare", "--out", ""], "Is a directory"),
        (["compare", "--out", "c.png", "--set", "update=q"], "--set update=q: every update rule is compared"),
        (["compare", "--out", "c.png", "--set", "iterations=9"], "a run ends at the last batch of --at"),
        (["compare", "--out", "c.png", "--set", "seed=2"], "the seeds 1 to N of --seeds N"),
    ],
)
def test_what_cannot_be_measured_or_written_is_refused_at_once(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(model_card, "run_arena", lambda *_, **__: pytest.fail("it has begun to measure"))
    done = CliRunner().invoke(app, ["train", *words])
    assert done.exit_code == 2
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_does_not_say_how_it_was_trained_has_no_card(bot: Path, tmp_path: Path) -> None:
    config, batches = _how_trained(bot)
    assert (config.players, batches) == ([2, 3], 7)
    for old, new in ((b'"batches"', b'"botches"'), (b'"config"', b'"confit"'), (b'"batches":"7"', b'"batches":"x"')):
        bot.write_bytes(bot.read_bytes().replace(old, new))
        with pytest.raises(TrainedError, match=r"does not say how it was trained .*; expected a file that prial"):
            _how_trained(bot)
        done = CliRunner().invoke(app, ["train", "card", str(bot), *FEW, "--out", str(tmp_path / "card.md")])
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        bot.write_bytes(bot.read_bytes().replace(new, old))


def test_an_agent_for_rules_of_ones_own_is_trained_shipped_and_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`solver-fast`, which an evaluation asks what it would lay, has no table for them; nor is there one of their name."""
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text("players: 3\ntarget: 5\nin_use: {target: [5, 6]}\n", encoding="utf-8")
    keys = ["rules=mine.yaml", "objective=points", "players=[3]", "shares=[]", "tables=8", "width=8", "hats=3"]
    keys += ["iterations=1", "evaluate_games=3", "exploit_deals=0", "opponents=[greedy]"]
    words = [word for key in keys for word in ("--set", key)]
    few = [*FEW, "--against", "random", "--jobs", "1", "--option-games", "3"]
    for command in (["selfplay", *words, "--out", "run"], ["ship", "run", "bot.safetensors"]):
        done = CliRunner().invoke(app, ["train", *command])
        assert done.exit_code == 0, done.output
    card = ["train", "card", "bot.safetensors", *few, "--out", "card.md"]
    done = CliRunner().invoke(app, card)
    assert done.exit_code == 0, done.output
    page = Path("card.md").read_text(encoding="utf-8")
    assert "`prial train selfplay --config online --set 'rules=\"mine.yaml\"' --set 'players=[3]'" in page
    assert "- **File**: `bot.safetensors`, " in page
    assert "| `target=6` | 3 |" in page
    Path("mine.yaml").write_text("players: 3\ntarget: 5\nin_use: 3\n", encoding="utf-8")
    Path("card.json").unlink()
    done = CliRunner().invoke(app, card)
    assert done.exit_code == 2
    assert "in_use of 'mine.yaml': expected lists of values" in done.stderr
    assert json.loads(Path("card.json").read_text(encoding="utf-8"))["card"]["tables"]  # what was measured is kept


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "{}", '{"card": 3, "command": "x"}', '{"card": {}}', '{"card": {"config": 3}, "command": "x"}'],
)
def test_a_file_without_figures_is_told_and_left_alone(bot: Path, tmp_path: Path, text: str) -> None:
    page = tmp_path / "card.md"
    page.with_suffix(".json").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(app, ["train", "card", str(bot), "--again", "--out", str(page)])
    assert result.exit_code != 0
    assert "holds no figures of a card" in result.output + str(result.exception)
    assert not page.exists()
    assert page.with_suffix(".json").read_text(encoding="utf-8") == text
