"""Damaged run folders: one line that names the file and says what to do, on resuming as on exporting."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from safetensors.torch import load_file, save_file  # noqa: E402

from prial.training.config_files import ConfigFileError  # noqa: E402
from prial.training.ppo import load_scorer, train_ppo  # noqa: E402
from prial.training.ppo_config import PPOConfig, config_of, load_ppo_config  # noqa: E402
from prial.training.run_folder import RunError, RunFolder  # noqa: E402

NEWEST = "checkpoints/step-0000000032"


@pytest.fixture(scope="module")
def config() -> PPOConfig:
    sizes = {"envs": 2, "rollout_steps": 8, "batch_size": 16, "epochs": 1, "hidden": [4], "evaluate_games": 3}
    return load_ppo_config(
        "ppo-online",
        {**sizes, "total_steps": 32, "checkpoint_every": 16, "snapshot_every": 16, "opponents": ["random"]},
    )


@pytest.fixture(scope="module")
def trained(config: PPOConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_ppo(config, tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


def fails(run: Path, config: PPOConfig, *, export: bool = True) -> str:
    """What resuming says, and exporting too."""
    with pytest.raises(RunError) as caught:
        train_ppo(config, run, resume=True)
    said = str(caught.value)
    assert "\n" not in said
    if export:
        with pytest.raises(RunError) as caught:
            load_scorer(run)
        assert str(caught.value) == said
    return said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ([], "not list"),
        ({"snapshot_at": ...}, "expected an object with the keys evaluated_at, snapshot_at, step"),
        ({"mood": 1}, "expected an object with the keys"),
        ({"step": "32"}, "step='32', expected a whole number"),
        ({"updates": True}, "updates=True"),
        ({"updates": None}, "updates=None"),
        ({"win_share": 3}, "win_share=3, expected a share"),
        ({"step": 16}, "not of step 32"),
    ],
)
def test_a_damaged_state_is_named_and_the_older_checkpoint_offered(
    change: object, message: str, run: Path, config: PPOConfig
) -> None:
    path = run / NEWEST / "state.json"
    content = change
    if isinstance(change, dict):
        content = {**json.loads(path.read_text()), **change}
        content = {key: value for key, value in content.items() if value is not ...}
    path.write_text(json.dumps(content))
    said = fails(run, config)
    assert message in said
    assert str(path) in said
    assert f"step-0000000016 is intact: to go on from it, remove the folder {str(run / NEWEST)!r}" in said
    shutil.rmtree(run / NEWEST)
    train_ppo(config, run, resume=True)
    assert load_scorer(run)[2] == 32


@pytest.mark.parametrize("name", ["weights", "optimizer"])
def test_tensors_that_are_damaged_missing_or_of_another_shape_are_named(
    name: str, run: Path, config: PPOConfig
) -> None:
    path = run / NEWEST / f"{name}.safetensors"
    tensors = load_file(path)
    first = min(tensors)
    save_file({**tensors, first: torch.zeros(3, 3, 3)}, path)
    assert f"{str(path)!r} does not fit the run's network: {first} has shape (3, 3, 3), expected" in fails(run, config)
    save_file({key: value for key, value in tensors.items() if key != first}, path)
    assert f"{first} has no such tensor, expected shape" in fails(run, config)
    path.write_bytes(path.read_bytes()[:-5])
    assert f"cannot read {str(path)!r}" in fails(run, config)
    path.unlink()
    (run / "checkpoints" / "step-0000000016" / "state.json").unlink()
    assert "there is no intact checkpoint beside it" in fails(run, config)


def test_two_do_not_train_in_one_folder_at_once(run: Path, config: PPOConfig) -> None:
    folder = RunFolder(run)
    with folder.going():
        before = (run / "run.yaml").read_bytes()
        said = fails(run, config, export=False)
        assert (run / "run.yaml").read_bytes() == before
    assert said == f"another process trains in {str(run)!r}; wait for it, or stop it first"
    assert train_ppo(config, run, resume=True) == run


def test_strays_are_left_alone(run: Path, config: PPOConfig) -> None:
    (run / "checkpoints" / "step-zzz").mkdir()
    (run / "checkpoints" / "step-0000000099").write_text("a file")
    (run / "pool" / "step-mine.safetensors").write_text("not one")
    train_ppo(config, run, resume=True)
    assert load_scorer(run)[2] == 32
    assert (run / "checkpoints" / "step-zzz").is_dir()
    assert [path.stem for path in RunFolder(run).past_versions()] == ["step-0000000016", "step-0000000032"]


def test_a_damaged_past_version_is_named(run: Path, config: PPOConfig) -> None:
    shutil.rmtree(run / NEWEST)
    file = run / "pool" / "step-0000000016.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[:-3])
    assert f"cannot read the past version {str(file)!r}" in fails(run, config, export=False)
    save_file({"other": torch.zeros(2)}, file)
    assert f"{str(file)!r} does not fit" in fails(run, config, export=False)


@pytest.mark.parametrize(
    ("old", "new", "message"), [("gamma:", "gama:", "did you mean 'gamma'"), ("envs: 2", "envs: two", "envs='two'")]
)
def test_a_damaged_configuration_is_explained(old: str, new: str, message: str, run: Path) -> None:
    path = run / "run.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    for use in (lambda: config_of(RunFolder(run)), lambda: load_scorer(run)):
        with pytest.raises(ConfigFileError, match=message) as caught:
            use()
        assert "\n" not in str(caught.value)
        assert "pydantic" not in str(caught.value)
        assert str(path) in str(caught.value)
    path.write_text("a: [\n- b", encoding="utf-8")
    with pytest.raises(RunError, match=r"cannot read .*run\.yaml") as unreadable:
        config_of(RunFolder(run))
    assert "\n" not in str(unreadable.value)
