"""Training: it learns, it resumes exactly, it refuses to learn from other probabilities than it acted by."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402

from prial.agents.registry import make  # noqa: E402
from prial.envs.crash.rules import CrashRules  # noqa: E402
from prial.training import ppo  # noqa: E402
from prial.training.arena import run_arena  # noqa: E402
from prial.training.config_files import ConfigFileError  # noqa: E402
from prial.training.past_versions import past_version, torch_agent  # noqa: E402
from prial.training.ppo import check_ratios, load_scorer, train_ppo  # noqa: E402
from prial.training.ppo_config import PPOConfig, load_ppo_config  # noqa: E402
from prial.training.run_folder import RunError, RunFolder  # noqa: E402
from prial.training.scorer import CandidateScorer  # noqa: E402
from prial.training.torch_state import TrainingError  # noqa: E402

SMALL = {
    "envs": 4,
    "rollout_steps": 64,
    "batch_size": 128,
    "total_steps": 1024,
    "checkpoint_every": 256,
    "snapshot_every": 256,
    "evaluate_every": 512,
    "evaluate_games": 12,
    "pool_size": 2,
    "hidden": [16],
    "hats": 3,
    "reward": "chances",
}


def small(**overrides: object) -> PPOConfig:
    return load_ppo_config("ppo-online", {**SMALL, **overrides})


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_ppo(small(), tmp_path_factory.mktemp("runs") / "whole")


class _Killed(BaseException):
    pass


def test_a_killed_and_resumed_run_equals_an_unbroken_one(whole_run: Path, tmp_path: Path) -> None:
    def kill(progress: ppo.PPOProgress) -> None:
        if progress.step > 600:
            raise _Killed

    folder = tmp_path / "killed"
    with pytest.raises(_Killed):
        train_ppo(small(), folder, progress=kill)
    assert RunFolder(folder).about()["status"] == "failed"
    steps: list[int] = []
    train_ppo(small(), folder, resume=True, progress=lambda progress: steps.append(progress.step))
    assert steps == [768, 1024]  # went on from 512, not from the start
    for wanted, got in ((RunFolder(whole_run).latest(), RunFolder(folder).latest()),):
        assert wanted is not None
        assert got is not None
        assert wanted.state == got.state
        assert wanted.weights.keys() == got.weights.keys()
        assert all(torch.equal(wanted.weights[name], got.weights[name]) for name in wanted.weights)
        assert all(torch.equal(wanted.optimizer[name], got.optimizer[name]) for name in wanted.optimizer)


def test_all_seats_are_learned_from_and_resume_exactly(tmp_path: Path) -> None:
    config = small(seats="all", rollout_steps=16, batch_size=96, last_learning_rate=0.0, last_entropy=0.1)
    assert config.decisions == 4 * 16 * 3
    whole = train_ppo(config, tmp_path / "whole")

    def kill(progress: ppo.PPOProgress) -> None:
        if progress.step > 600:
            raise _Killed

    with pytest.raises(_Killed):
        train_ppo(config, tmp_path / "killed", progress=kill)
    train_ppo(config, tmp_path / "killed", resume=True)
    wanted, got = (RunFolder(folder).latest() for folder in (whole, tmp_path / "killed"))
    assert wanted is not None
    assert got is not None
    assert wanted.step == got.step == 1152  # whole updates
    assert all(torch.equal(wanted.weights[name], got.weights[name]) for name in wanted.weights)
    assert RunFolder(whole).past_versions() == []


def test_learning_rate_and_entropy_end_where_they_are_told_to() -> None:
    config = small(learning_rate=0.01, last_learning_rate=0.25, entropy=0.1, last_entropy=0.5)
    tables = ppo._tables(config, config.made_rules())
    model = ppo._model(config, config.made_rules(), tables)
    for step, rate, entropy in ((0, 0.01, 0.1), (512, 0.00625, 0.075), (1024, 0.0025, 0.05)):
        ppo._reseed(model, tables, config, step)
        assert model.lr_schedule(1.0) == pytest.approx(rate)
        assert model.ent_coef == pytest.approx(entropy)
    tables.close()


def test_the_run_folder_says_what_was_done(whole_run: Path) -> None:
    about = RunFolder(whole_run).about()
    assert about["status"] == "finished"
    assert PPOConfig.model_validate(about["config"]) == small()
    assert about["versions"]["prial"] != "not installed"
    assert [path.name for path in sorted((whole_run / "checkpoints").iterdir())] == [
        "step-0000000768",
        "step-0000001024",
    ]
    assert len(RunFolder(whole_run).past_versions()) == 2
    assert not [path for path in whole_run.rglob("*") if path.suffix in (".pkl", ".pt", ".pth", ".zip")]


def test_tensorboard_shows_what_matters_from_the_first_minute_and_curves_join(whole_run: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(whole_run / "tensorboard"))
    events.Reload()
    tags = set(events.Tags()["scalars"])
    assert {
        "rollout/ep_rew_mean",
        "rollout/win_share",
        "rollout/illegal",
        "evaluation/win_share_vs_greedy",
        "evaluation/rating",
        "train/entropy_loss",
        "time/fps",
    } <= tags
    steps = [event.step for event in events.Scalars("rollout/win_share")]
    assert steps == sorted(set(steps))


def test_a_started_folder_is_not_written_over_and_none_is_not_resumed(whole_run: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds a run already"):
        train_ppo(small(), whole_run)
    with pytest.raises(RunError, match="no run in"):
        train_ppo(small(), tmp_path, resume=True)
    with pytest.raises(RunError, match=r"run\.yaml is missing"):
        load_scorer(tmp_path)


@pytest.mark.parametrize("device", ["cuda:999", "mps"])
def test_a_device_that_is_not_there_is_refused_before_anything_is_written(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(ConfigFileError, match=f"device='{device}': torch sees"):
        train_ppo(small(device=device), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_broken_checkpoint_is_named(whole_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole_run, folder)
    (folder / "checkpoints" / "step-0000001024" / "weights.safetensors").write_bytes(b"no")
    with pytest.raises(RunError, match="step-0000001024"):
        load_scorer(folder)


def test_a_corrupted_mask_is_noticed_before_the_update(tmp_path: Path) -> None:
    config = small()
    rules = config.made_rules()
    tables = ppo._tables(config, rules)
    model = ppo._model(config, rules, tables)

    class Corrupt(BaseCallback):
        def _on_step(self) -> bool:
            return True

        def _on_rollout_end(self) -> None:
            check_ratios(self.model)  # sound so far
            buffer = self.model.rollout_buffer
            masks = buffer.action_masks.reshape(-1, buffer.action_masks.shape[-1])
            row = int(np.flatnonzero(masks.sum(axis=1) == 2)[0])
            masks[row, np.flatnonzero(masks[row])] = [1, 0] if buffer.actions.reshape(-1)[row] == 0 else [0, 1]
            with pytest.raises(RuntimeError, match="acting and learning disagree"):
                check_ratios(self.model)

    model.learn(total_timesteps=1, callback=Corrupt())
    tables.close()


def test_numbers_that_are_not_finite_stop_the_run_and_are_never_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned, spoiled = ppo.MaskablePPO.train, [0]

    def spoil(model: ppo.MaskablePPO) -> None:
        learned(model)
        if model.num_timesteps in spoiled:
            with torch.no_grad():
                ppo._scorer(model).candidate_head.weight.fill_(torch.nan)

    monkeypatch.setattr(ppo.MaskablePPO, "train", spoil)
    for checkpoint_every, step in ((256, 512), (512, 256)):  # at the end of a stretch, within one
        spoiled[:] = [step]
        folder = tmp_path / str(checkpoint_every)
        with pytest.raises(
            TrainingError, match=r"decision \d+: candidate_head\.weight holds numbers that are not finite"
        ):
            train_ppo(small(checkpoint_every=checkpoint_every), folder)
        assert RunFolder(folder).about()["status"] == "failed"
    kept = RunFolder(tmp_path / "256").latest()
    assert kept is not None
    assert kept.step == 256
    assert RunFolder(tmp_path / "512").latest() is None
    monkeypatch.undo()
    train_ppo(small(checkpoint_every=256), tmp_path / "256", resume=True)


def test_past_versions_play_as_they_learned(whole_run: Path) -> None:
    rules = CrashRules.preset("online")
    newest = RunFolder(whole_run).past_versions()[-1]
    agent = past_version(newest, network=CandidateScorer(rules, [16], hats=3), rules=rules, k=32)
    result = run_arena([agent, make("random")], rules=rules, games=60, seed=5)
    assert result.games >= 60


@pytest.mark.slow
def test_it_learns_to_beat_auto_sort(tmp_path: Path) -> None:
    config = load_ppo_config("ppo-online", {"total_steps": 40_000})
    scorer, _, step = load_scorer(train_ppo(config, tmp_path / "run"))
    assert step >= 40_000
    learner = torch_agent(scorer, name="learner", rules=config.made_rules(), k=config.candidates)
    result = run_arena([learner, make("greedy")], rules=config.made_rules(), games=3000, seed=99)
    assert result.agents[0].win_share.low > 1 / 3
