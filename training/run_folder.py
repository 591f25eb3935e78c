"""The folder of a training run: what was asked for, where it stands, and checkpoints to go on from.

``run.yaml`` (configuration with every key, command, versions, machine, status), ``checkpoints/step-...`` (the two newest;
weights and optimizer as safetensors, the rest as JSON), ``pool/`` (past versions), ``tensorboard/``. Nothing is a pickle.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from .files import write_whole

__all__ = ["Checkpoint", "RunError", "RunFolder"]

_KEPT = 2


class RunError(ValueError):
    """A run folder that cannot be used as asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Where a run stands.

    Attributes:
        step: decisions so far.
        weights: of the network.
        optimizer: Adam's tensors, named ``<parameter number>.<what>``.
        state: everything else, as JSON values.
    """

    step: int
    weights: dict[str, Tensor]
    optimizer: dict[str, Tensor]
    state: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run's folder; see the module."""

    path: Path

    @property
    def tensorboard(self) -> Path:
        """Where TensorBoard's event files go."""
        return self.path / "tensorboard"

    @property
    def is_started(self) -> bool:
        """Whether a run has been started here."""
        return (self.path / "run.yaml").exists()

    def start(self, config: dict[str, Any]) -> None:
        """Begin a run: write what is asked for before the first step.

        Raises:
            RunError: there is a run already.
        """
        if self.is_started:
            raise RunError(f"{str(self.path)!r} holds a run already; resume it, or name another folder")
        about = {
            "config": config,
            "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
            "versions": {
                name: _version(name) for name in ("prial", "torch", "stable_baselines3", "sb3_contrib", "numpy")
            },
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
            "commit": _commit(),
            "status": "running",
        }
        self._write_about(about)

    def about(self) -> dict[str, Any]:
        """Return the content of run.yaml.

        Raises:
            RunError: no run here, or an unreadable one.
        """
        try:
            content = yaml.safe_load((self.path / "run.yaml").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise RunError(f"no run in {str(self.path)!r} (run.yaml is missing)") from None
        except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
            raise RunError(f"cannot read the run in {str(self.path)!r}: {error}") from None
        if not isinstance(content, dict) or not isinstance(content.get("config"), dict):
            raise RunError(f"{str(self.path / 'run.yaml')!r} is not the description of a run")
        return content

    def set_status(self, status: str, **more: Any) -> None:
        """Note where the run stands (`running`, `finished`, `failed`), and further facts."""
        self._write_about({**self.about(), "status": status, **more})

    def _write_about(self, about: dict[str, Any]) -> None:
        write_whole(self.path / "run.yaml", yaml.safe_dump(about, sort_keys=False, allow_unicode=True))

    # ---- checkpoints ----------------------------------------------------------------------------------------------

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint whole, then remove all but the newest two."""
        folder = self.path / "checkpoints"
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"step-{checkpoint.step:010d}"
        if target.exists():
            return
        scratch = Path(tempfile.mkdtemp(dir=folder, prefix=".writing-"))
        try:
            save_file(_contiguous(checkpoint.weights), scratch / "weights.safetensors")
            save_file(_contiguous(checkpoint.optimizer), scratch / "optimizer.safetensors")
            state = {"step": checkpoint.step, **checkpoint.state}
            (scratch / "state.json").write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
            scratch.rename(target)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        for old in self._checkpoints()[:-_KEPT]:
            shutil.rmtree(old)
        for abandoned in folder.glob(".writing-*"):  # by a run that was killed
            shutil.rmtree(abandoned, ignore_errors=True)

    def latest(self) -> Checkpoint | None:
        """Return the newest checkpoint, None before the first.

        Raises:
            RunError: it cannot be read.
        """
        there = self._checkpoints()
        if not there:
            return None
        folder = there[-1]
        try:
            state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
            return Checkpoint(
                step=state.pop("step"),
                weights=load_file(folder / "weights.safetensors"),
                optimizer=load_file(folder / "optimizer.safetensors"),
                state=state,
            )
        except (OSError, ValueError, KeyError, SafetensorError) as error:
            raise RunError(f"cannot read the checkpoint {str(folder)!r}: {error}") from None

    def _checkpoints(self) -> list[Path]:
        return sorted((self.path / "checkpoints").glob("step-*"))

    # ---- past versions --------------------------------------------------------------------------------------------

    def add_past_version(self, step: int, weights: dict[str, Tensor], *, keep: int) -> None:
        """Add a version of the network to the pool, and drop all but the newest `keep`."""
        folder = self.path / "pool"
        folder.mkdir(parents=True, exist_ok=True)
        scratch = folder / f".step-{step:010d}.writing"
        save_file(_contiguous(weights), scratch)
        scratch.replace(folder / f"step-{step:010d}.safetensors")
        for old in self.past_versions()[:-keep]:
            old.unlink()

    def drop_past_versions(self, *, after: int) -> None:
        """Remove the versions of later steps."""
        for file in self.past_versions():
            if int(file.stem.removeprefix("step-")) > after:
                file.unlink()

    def past_versions(self) -> list[Path]:
        """Return the files of the pool, oldest first."""
        return sorted((self.path / "pool").glob("step-*.safetensors"))


def _contiguous(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    """The commit of the source tree that runs, empty for an installed package."""
    folder = Path(__file__).resolve().parent
    git = shutil.which("git")
    if git is None or not (folder.parent / ".git").exists():
        return ""
    answer = subprocess.run(  # noqa: S603 (fixed arguments)
        [git, "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip()
