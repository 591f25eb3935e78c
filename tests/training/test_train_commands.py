"""`prial quickstart`, `prial train ppo` and `prial export` at small size, and what they say to mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("onnxscript")

from prial.training.cli import app

SMALL = """\
envs: 4
rollout_steps: 64
batch_size: 128
total_steps: 512
evaluate_games: 12
hidden: [16]
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("configs") / "small.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def prial(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done.exit_code, done.stdout, done.stderr


def test_quickstart_trains_measures_shows_and_exports(config: Path, tmp_path: Path) -> None:
    code, out, err = prial("quickstart", "--out", tmp_path / "run", "--config", config, "--games", 24)
    assert code == 0, err
    for part in ("[1/5] Training", "[5/5] Done", "trained - greedy", "Round 1, dealt by trained", "What next"):
        assert part in out
    assert (tmp_path / "run" / "bot.onnx").stat().st_size > 1000
    assert "512/512 decisions" in err

    code, out, _ = prial("quickstart", "--out", tmp_path / "run", "--config", config, "--games", 24)
    assert code == 0
    assert "holds a finished run: using it" in out


def test_quickstart_gives_the_same_figures_twice(config: Path, tmp_path: Path) -> None:
    said = []
    for name in ("one", "two"):
        run = tmp_path / name
        code, out, err = prial("quickstart", "--out", run, "--config", config, "--games", 24)
        assert code == 0, err
        said.append(re.sub(r"Done in \d+ s", "Done", out.replace(str(run), "RUN")))
    assert said[0] == said[1]
    weights = [next((tmp_path / name / "checkpoints").glob("*512/weights.safetensors")) for name in ("one", "two")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_a_run_is_trained_exported_and_described_as_json(config: Path, tmp_path: Path) -> None:
    run, bot = tmp_path / "run", tmp_path / "bot.onnx"
    code, out, err = prial(
        "train", "ppo", "--config", config, "--out", run, "--set", "gamma=0.9", "--seed", 4, "--json"
    )
    assert code == 0, err
    assert json.loads(out) == {"run": str(run), "steps": 512}
    code, out, err = prial("export", run, bot, "--json")
    assert code == 0, err
    told = json.loads(out)
    assert told["bytes"] == bot.stat().st_size
    assert told["card"]["training"]["config"]["gamma"] == 0.9
    assert told["card"]["training"]["config"]["seed"] == 4

    code, _, err = prial("train", "ppo", "--config", config, "--out", run)
    assert (code, err.count("\n")) == (2, 1)
    assert "holds a run already; resume it, or name another folder" in err
    code, _, err = prial("train", "ppo", "--resume", run, "--seed", 3)
    assert code == 2
    assert "leave out --out, --set and --seed" in err
    code, _, err = prial("train", "ppo", "--resume", run)  # finished already: nothing to do
    assert code == 0
    assert "is finished already" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "ppo", "--config", "nothing"), "no configuration 'nothing'. Known: ppo-online"),
        (("train", "ppo", "--set", "sed=1"), "unknown key 'sed'; did you mean 'seed'?"),
        (("train", "ppo", "--set", "seed"), "expected KEY=VALUE"),
        (("train", "ppo", "--set", "seed=1", "--seed", "2"), "seed is set already"),
        (("train", "ppo", "--set", "learning_rate=7"), "learning_rate=7"),
        (("train", "ppo", "--set", "opponents=[nobody]"), "nobody"),
        (("train", "ppo", "--resume", "no-such-run"), "no run in 'no-such-run'"),
        (("export", "no-such-run", "bot.onnx"), "no run in 'no-such-run'"),
        (("export", "no-such-run", "bot.txt"), "expected a file name ending in .onnx"),
    ],
)
def test_mistakes_are_one_line(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = prial(*arguments)
    assert code == 2
    assert message in err
    assert err.strip().count("\n") <= 1
    assert out == ""
    assert list(tmp_path.iterdir()) == []  # nothing half made is left


def test_more_than_the_memory_is_told_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 36.0 GiB")  # as NumPy says it

    monkeypatch.setattr("prial.training.ppo._model", refuse)
    said = "Error: out of memory: Unable to allocate 36.0 GiB\n"
    assert prial("train", "ppo", "--out", tmp_path / "run") == (1, "", said)
    assert list(tmp_path.iterdir()) == []


def test_rules_without_winning_chances_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    words = ["--set", "reward=chances", "--set", "rule_options={cards_dealt: 7}"]
    code, out, err = prial("train", "ppo", *words, "--out", tmp_path / "run")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "no solver table for these rules (online, players=3, cards_dealt=7)" in err
    assert list(tmp_path.iterdir()) == []


def test_an_out_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("mine", encoding="utf-8")
    code, _, err = prial("train", "ppo", "--out", tmp_path / "a file")
    assert (code, err) == (2, f"Error: {str(tmp_path / 'a file')!r} is no folder; name one for the run\n")
    assert (tmp_path / "a file").read_text(encoding="utf-8") == "mine"


def test_every_key_is_listed() -> None:
    code, out, _ = prial("train", "ppo", "--keys")
    assert code == 0
    assert "total_steps: decisions of the learner in all" in out
