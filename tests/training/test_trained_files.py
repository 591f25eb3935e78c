"""Runs of self-play that are damaged or of another kind: refused in a line, on resuming as on shipping, nothing changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from safetensors.torch import load_file, save_file  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from prial.training.cli import app  # noqa: E402
from prial.training.run_folder import RunFolder  # noqa: E402
from prial.training.selfplay import train_selfplay  # noqa: E402
from prial.training.selfplay_config import SelfPlayConfig, load_selfplay_config  # noqa: E402
from prial.training.trained_files import write_trained  # noqa: E402

NEWEST, OLDER = "checkpoints/step-0000000002", "checkpoints/step-0000000001"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = SelfPlayConfig(
        update="mirror",
        width=8,
        hats=3,
        tables=6,
        iterations=2,
        checkpoint_every=1,
        evaluate_games=3,
        exploit_deals=0,
        opponents=[],
        objective="points",
    )
    run = RunFolder(train_selfplay(config, tmp_path_factory.mktemp("runs") / "run"))
    text = (run.path / "run.yaml").read_text(encoding="utf-8")
    (run.path / "run.yaml").write_text(text.replace("status: finished", "status: stopped"), encoding="utf-8")
    return run.path


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "a run"))


def prial(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["train", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


def refused(run: Path) -> str:
    """What resuming says, and shipping too."""
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    code, output, said = prial("selfplay", "--resume", run)
    assert (code, output, said.count("\n")) == (2, "", 1)
    assert prial("ship", run, run / "bot.safetensors") == (2, "", said)
    assert before == {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert RunFolder(run).about()["status"] == "stopped"
    return said


@pytest.mark.parametrize(
    ("file", "name", "change", "message"),
    [
        ("weights", "net.hands.weight", torch.zeros(8, 3), "has shape (8, 3), expected shape (8, 17)"),
        ("weights", "average.read.bias", torch.zeros(9), "has shape (9,), expected shape (8,)"),
        ("weights", "start.places", None, "has no such tensor, expected shape (4, 743)"),
        ("weights", "other.bias", torch.zeros(2), "has shape (2,), expected no such tensor"),
        ("weights", "net.first.bias", torch.zeros(8, dtype=torch.int64), "holds int64, expected float32"),
        ("weights", "net.first.bias", torch.full((8,), torch.nan), "holds numbers that are not finite"),
        ("optimizer", "0.exp_avg", torch.zeros(2), "has shape (2,), expected shape"),
        ("optimizer", "3.step", None, "has no such tensor, expected shape ()"),
        ("optimizer", "0.exp_avg_sq", torch.tensor(torch.inf), "has shape (), expected shape"),
    ],
)
def test_what_does_not_fit_is_named_and_the_older_checkpoint_offered(
    file: str, name: str, change: torch.Tensor | None, message: str, run: Path
) -> None:
    path = run / NEWEST / f"{file}.safetensors"
    tensors = {**load_file(path), name: change}
    save_file({key: values for key, values in tensors.items() if values is not None}, path)
    said = refused(run)
    assert repr(str(path)) in said
    assert f"{name} {message}" in said
    assert f"step-0000000001 is intact: to go on from it, remove the folder {str(run / NEWEST)!r}" in said
    shutil.rmtree(run / NEWEST)
    assert write_trained(run, run / "bot.safetensors") == 1
    code, _, said = prial("selfplay", "--resume", run)
    assert code == 0, said
    assert (run / NEWEST).is_dir()


@pytest.mark.parametrize("damage", [b"", b"no", b"\xff" * 64])
def test_a_file_that_is_none_is_named(damage: bytes, run: Path) -> None:
    for folder in (NEWEST, OLDER):
        (run / folder / "weights.safetensors").write_bytes(damage)
    said = refused(run)
    assert f"cannot read {str(run / NEWEST / 'weights.safetensors')!r}" in said
    assert "there is no intact checkpoint beside it" in said


def test_a_run_without_a_checkpoint_has_nothing_to_ship(run: Path) -> None:
    shutil.rmtree(run / "checkpoints")
    assert prial("ship", run, run / "bot.safetensors") == (
        2,
        "",
        f"Error: the run in {str(run)!r} has no checkpoint yet\n",
    )


def test_a_run_of_another_learner_is_refused(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    from prial.training.ppo_config import PPOConfig

    other = RunFolder(tmp_path / "other")
    other.start(PPOConfig().model_dump())
    wanted = f"Error: {str(other.path)!r} holds no run of prial train selfplay: its configuration has no 'iterations'\n"
    assert prial("selfplay", "--resume", other.path) == (2, "", wanted)
    assert prial("ship", other.path, tmp_path / "bot.safetensors") == (2, "", wanted)
    wanted = f"Error: {str(run)!r} holds no run of prial train ppo: its configuration has no 'total_steps'\n"
    assert prial("ppo", "--resume", run) == (2, "", wanted)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["opponents=[nobody]"], "no agent 'nobody'"),
        (["opponents=[greedy,bga]"], "bga was trained for"),
        (["rule_options={crash_call: optional}", "opponents=[online]"], "online was trained for"),
        (["device=cuda:99"], "device='cuda:99': torch sees"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_written(
    settings: list[str], message: str, tmp_path: Path
) -> None:
    words = [word for setting in ["players=[3]", "shares=[]", *settings] for word in ("--set", setting)]
    code, output, said = prial("selfplay", *words, "--out", tmp_path / "run")
    assert (code, output, said.count("\n")) == (2, "", 1)
    assert message in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"shares": [1e308, 1.0, 1.0]}, r"shares\.0=1e\+308: Input should be less"),
        ({"shares": [0.0, 1.0, 1.0]}, r"shares\.0=0\.0: Input should be greater than 0"),
        ({"shares": [1e-6, 1.0, 1.0]}, r"of tables=1024 none plays players=3 without a variant; take more tables"),
        ({"variant_share": 1.0, "variants": [{"quads_bonus": 0}]}, "none plays players=3 without a variant"),
        ({"variants": [{"players": 2}]}, "variants: 'players' and 'name' are not set here"),
        ({"variants": [{"name": "mine"}]}, "variants: 'players' and 'name' are not set here"),
    ],
)
def test_tables_that_nobody_would_play_are_refused(keys: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_selfplay_config("online", keys)
