"""`prial train selfplay` and `prial train ship`: a run from the command line, gone on with, and made a file of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from typer.testing import CliRunner, Result

from prial.training.cli import app
from prial.training.run_folder import RunFolder
from prial.training.selfplay_config import SelfPlayConfig

KEYS = {
    "players": "[3]",
    "shares": "[]",
    "tables": 6,
    "width": 8,
    "hats": 3,
    "iterations": 2,
    "evaluate_games": 3,
    "exploit_deals": 0,
    "opponents": "[greedy]",
}
SMALL = [word for key, value in KEYS.items() for word in ("--set", f"{key}={value}")]


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["train", *map(str, words)])


def test_a_run_from_the_command_line(tmp_path: Path) -> None:
    folder, bot = tmp_path / "run", tmp_path / "bot.safetensors"
    done = run("selfplay", *SMALL, "--seed", 5, "--out", folder, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {"run": str(folder), "batches": 2}
    assert "2/2 batches" in done.stderr
    assert "s left" in done.stderr
    about = RunFolder(folder).about()
    assert about["config"]["seed"] == 5
    assert set(about["config"]) == set(SelfPlayConfig.model_fields)
    assert about["status"] == "finished"
    again = run("selfplay", "--resume", folder)
    assert again.exit_code == 0
    assert "finished already" in again.stderr
    shipped = run("ship", folder, bot)
    assert shipped.exit_code == 0, shipped.output
    assert f"after 2 batches, {bot.stat().st_size:,} bytes" in shipped.stdout


def test_every_key_is_listed() -> None:
    listed = run("selfplay", "--keys").stdout.splitlines()
    assert [line.partition(":")[0] for line in listed] == list(SelfPlayConfig.model_fields)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["selfplay", "--config", "nothing"], "no configuration 'nothing'. Known: bga, online, traditional"),
        (["selfplay", "--set", "widht=3"], "did you mean 'width'?"),
        (["selfplay", "--set", "width"], "expected KEY=VALUE"),
        (["selfplay", "--resume", "nowhere"], "no run in 'nowhere'"),
        (["selfplay", "--resume", "nowhere", "--seed", "2"], "leave out --out, --set and --seed"),
        (["ship", "nowhere", "bot.safetensors"], "no run in 'nowhere'"),
        (["ship", "nowhere", "bot.onnx"], "expected a name that ends in .safetensors"),
        (["compare", "--at", "ten", "--out", "x.png"], "expected whole numbers, such as 25,50,100"),
    ],
)
def test_mistakes_are_said_in_a_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
    assert list(tmp_path.iterdir()) == []
