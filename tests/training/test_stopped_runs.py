"""Runs that are told to end: in order, without a traceback, and gone on with as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")

from typer.testing import CliRunner

from prial.training.cli import app
from prial.training.console import ctrl_c_behind, ends_like_ctrl_c
from prial.training.ppo import train_ppo
from prial.training.ppo_config import load_ppo_config
from prial.training.run_folder import RunError, RunFolder
from prial.training.selfplay import Learner, train_selfplay
from prial.training.selfplay_config import load_selfplay_config

Train = Callable[..., Path]
SELFPLAY: Mapping[str, object] = {
    "players": [3],
    "shares": [],
    "tables": 64,
    "width": 12,
    "hats": 4,
    "iterations": 150,
    "evaluate_every": 1000,
    "evaluate_games": 3,
    "exploit_deals": 0,
    "opponents": ["greedy"],
    "checkpoint_every": 10,
}
PPO: Mapping[str, object] = {
    "envs": 8,
    "rollout_steps": 16,
    "batch_size": 64,
    "epochs": 2,
    "hidden": [8],
    "total_steps": 8192,
    "evaluate_every": 100_000,
    "evaluate_games": 3,
    "checkpoint_every": 512,
    "snapshot_every": 1024,
    "opponents": ["greedy"],
}


def of_selfplay(folder: Path, **how: bool) -> Path:
    return train_selfplay(load_selfplay_config("online", SELFPLAY), folder, **how)


def of_ppo(folder: Path, **how: bool) -> Path:
    return train_ppo(load_ppo_config("ppo-online", PPO), folder, **how)


def kept(folder: Path) -> dict[str, bytes]:
    """All that a run goes on from, as bytes."""
    files = [path for part in ("checkpoints", "pool") for path in (folder / part).rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals to send")
@pytest.mark.parametrize(
    ("command", "keys", "train", "names"),
    [("selfplay", SELFPLAY, of_selfplay, ["SIGINT", "SIGTERM"]), ("ppo", PPO, of_ppo, ["SIGHUP", "SIGTERM"])],
)
def test_a_run_that_is_told_to_end_is_stopped_and_goes_on_byte_for_byte(
    command: str, keys: Mapping[str, object], train: Train, names: list[str], tmp_path: Path
) -> None:
    whole = kept(train(tmp_path / "whole"))
    assert len(whole) >= 6
    words = [word for key, value in keys.items() for word in ("--set", f"{key}={value}".replace("'", ""))]
    for name in names:
        number, folder = getattr(signal, name), tmp_path / f"ended by {name}"
        running = subprocess.Popen(
            [Path(sys.executable).parent / "prial", "train", command, *words, "--out", folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A test run in the background ignores signals, and its children would too.
            preexec_fn=lambda number=number: signal.signal(number, signal.SIG_DFL),  # noqa: PLW1509
        )
        deadline = time.monotonic() + 120
        while not list((folder / "checkpoints").glob("step-*")):
            assert running.poll() is None, running.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        running.send_signal(number)
        output, errors = running.communicate(timeout=120)
        assert (running.returncode, output) == (130, "")
        assert errors.endswith("Stopped.\n")
        assert "Traceback" not in errors
        assert RunFolder(folder).about()["status"] == "stopped"
        assert kept(folder) != whole
        train(folder, resume=True)
        assert kept(folder) == whole
        assert RunFolder(folder).about()["status"] == "finished"


def of_kernels() -> SystemError:
    """Ctrl-C as compiled kernels pass it on."""
    inner, outer = (
        SystemError(f"{what} returned a result with an exception set") for what in ("unpickling", "a kernel")
    )
    inner.__cause__, outer.__cause__ = KeyboardInterrupt(), inner
    return outer


def test_ctrl_c_inside_a_kernel_stops_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(self: Learner, batch: int) -> dict[str, float]:
        raise of_kernels()

    assert ctrl_c_behind(of_kernels())
    monkeypatch.setattr(Learner, "step", pressed)
    with pytest.raises(KeyboardInterrupt):
        of_selfplay(tmp_path / "run")
    assert RunFolder(tmp_path / "run").about()["status"] == "stopped"
    monkeypatch.setattr("prial.training.selfplay.train_selfplay", lambda *_, **__: pressed(None, 0))  # type: ignore[arg-type]
    done = CliRunner().invoke(app, ["train", "selfplay", "--out", str(tmp_path / "other")])
    assert (done.exit_code, done.stderr) == (130, "Stopped.\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_what_is_ignored_stays_ignored() -> None:
    """Under nohup the terminal may be closed; what is told to end otherwise, ends once."""

    @ends_like_ctrl_c()
    def told_to_end() -> None:
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    told = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(KeyboardInterrupt):
            told_to_end()
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) == told
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_run_that_fails_says_so_and_keeps_its_error(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.start({"seed": 1})

    def fail(*, forgotten: bool) -> None:
        with run.going():
            assert run.about()["status"] == "running"
            if forgotten:
                (run.path / "run.yaml").unlink()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail(forgotten=False)
    assert run.about()["status"] == "failed"
    with pytest.raises(ZeroDivisionError):  # worth more than that it cannot be noted
        fail(forgotten=True)
    with pytest.raises(RunError, match=r"run\.yaml is missing"), run.going():
        pass


def test_checkpoints_without_a_description_are_not_gone_on_with_unasked(tmp_path: Path) -> None:
    config = load_selfplay_config("online", {**SELFPLAY, "iterations": 1})
    train_selfplay(config, tmp_path)
    (tmp_path / "run.yaml").unlink()
    before = kept(tmp_path)
    with pytest.raises(RunError, match=r"holds checkpoints of a run without its run\.yaml; remove them, or name"):
        train_selfplay(config, tmp_path)
    assert kept(tmp_path) == before
    assert not RunFolder(tmp_path).is_started
