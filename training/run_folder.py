"""The folder of a training run: what was asked for, where it stands, and checkpoints to go on from.

``run.yaml`` (configuration with every key, command, versions, machine, status), ``checkpoints/step-...`` (the two newest;
weights and optimizer as safetensors, the rest as JSON), ``pool/`` (past versions), ``tensorboard/``. Nothing is a pickle.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import yaml
from filelock import FileLock, Timeout
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, tensor

from .console import ctrl_c_behind
from .files import write_whole

__all__ = ["Checkpoint", "Progress", "RunError", "RunFolder", "check_tensors"]

_KEPT = 2
_STEP = re.compile(r"step-([0-9]{1,18})")


class RunError(ValueError):
    """A run folder that cannot be used as asked."""


class _Tensor(Protocol):
    @property
    def shape(self) -> Iterable[int]: ...

    @property
    def dtype(self) -> object: ...


def check_tensors(got: Mapping[str, _Tensor], wanted: Mapping[str, Tensor], *, where: Path) -> None:
    """Check that a file holds the tensors that are wanted, by name, shape and type, and finite numbers in them.

    Raises:
        RunError: it does not; the message names the file and the first difference.

    >>> check_tensors({"bias": tensor([0, 0])}, {"bias": tensor([0])}, where=Path("step-100"))
    Traceback (most recent call last):
        ...
    prial.training.run_folder.RunError: 'step-100' does not fit the run's network: bias has shape (2,), expected shape (1,)
    """
    for name in sorted(got.keys() | wanted.keys()):
        has = f"shape {tuple(got[name].shape)}" if name in got else "no such tensor"
        expected = f"shape {tuple(wanted[name].shape)}" if name in wanted else "no such tensor"
        if has != expected:
            raise RunError(f"{str(where)!r} does not fit the run's network: {name} has {has}, expected {expected}")
        kind, asked = (str(tensors[name].dtype).removeprefix("torch.") for tensors in (got, wanted))
        if kind != asked:
            raise RunError(f"{str(where)!r} does not fit the run's network: {name} holds {kind}, expected {asked}")
        if not np.isfinite(np.asarray(got[name])).all():
            raise RunError(f"{str(where)!r} is damaged: {name} holds numbers that are not finite")


@dataclass(slots=True, kw_only=True)
class Progress:
    """What a checkpoint keeps beside weights and optimizer.

    Attributes:
        updates: gradient updates so far, as MaskablePPO counts them.
        evaluated_at: decisions at the newest evaluation, None before the first.
        win_share: of that evaluation.
        snapshot_at: decisions at the newest past version.
    """

    updates: int = 0
    evaluated_at: int | None = None
    win_share: float | None = None
    snapshot_at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Where a run stands.

    Attributes:
        step: decisions so far.
        weights: of the network.
        optimizer: Adam's tensors, named ``<parameter number>.<what>``.
        state: everything else.
    """

    step: int
    weights: dict[str, Tensor]
    optimizer: dict[str, Tensor]
    state: Progress


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
        if self.path.exists() and not self.path.is_dir():
            raise RunError(f"{str(self.path)!r} is no folder; name one for the run")
        if self.is_started:
            raise RunError(f"{str(self.path)!r} holds a run already; resume it, or name another folder")
        if self._checkpoints() or self.past_versions():
            raise RunError(
                f"{str(self.path)!r} holds checkpoints of a run without its run.yaml; remove them, or name another folder"
            )
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
        except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
            raise RunError(f"cannot read {str(self.path / 'run.yaml')!r}: {_one_line(error)}") from None
        if not isinstance(content, dict) or not isinstance(content.get("config"), dict):
            raise RunError(f"{str(self.path / 'run.yaml')!r} is not the description of a run")
        return content

    def config_with(self, key: str, *, of: str) -> dict[str, Any]:
        """Return the configuration of a run, if it is of the learner whose configurations have a key.

        Args:
            key: that no other learner's configuration has.
            of: the command of that learner.

        Raises:
            RunError: no run here, an unreadable one, or one of another learner.
        """
        config: dict[str, Any] = self.about()["config"]
        if key not in config:
            raise RunError(f"{str(self.path)!r} holds no run of {of}: its configuration has no {key!r}")
        return config

    @contextmanager
    def going(self) -> Iterator[None]:
        """Note in run.yaml that the run goes on, and how the body ends: `finished`, `stopped` (Ctrl-C) or `failed`.

        Raises:
            RunError: another process trains in this folder; nothing has been written.
            KeyboardInterrupt: Ctrl-C, also where a compiled kernel made an error of its own of it.
        """
        with self._held():
            self._set_status("running")
            try:
                yield
            except BaseException as error:
                stopped = ctrl_c_behind(error)
                with suppress(OSError, RunError):  # the error itself is worth more than the note of it
                    self._set_status("stopped" if stopped else "failed")
                if stopped and not isinstance(error, KeyboardInterrupt):
                    raise KeyboardInterrupt from None
                raise
            self._set_status("finished")

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Keep the folder from others while the body runs; a lock ends with its process, however that ends."""
        lock = FileLock(self.path / ".lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise RunError(f"another process trains in {str(self.path)!r}; wait for it, or stop it first") from None
        except NotImplementedError:  # a network's file system without locks
            yield
            return
        try:
            yield
        finally:
            lock.release()

    def _set_status(self, status: str) -> None:
        self._write_about({**self.about(), "status": status})

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
            write_whole(scratch / "weights.safetensors", save(_contiguous(checkpoint.weights)))
            write_whole(scratch / "optimizer.safetensors", save(_contiguous(checkpoint.optimizer)))
            state = {"step": checkpoint.step, **asdict(checkpoint.state)}
            write_whole(scratch / "state.json", json.dumps(state, indent=1) + "\n")
            scratch.rename(target)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        for old in self._checkpoints()[:-_KEPT]:
            shutil.rmtree(old)
        for abandoned in folder.glob(".writing-*"):  # by a run that was killed
            shutil.rmtree(abandoned, ignore_errors=True)

    def latest(
        self, network: Mapping[str, Tensor] | None = None, *, moved: Mapping[str, Tensor] | None = None
    ) -> Checkpoint | None:
        """Return the newest checkpoint, None before the first.

        Args:
            network: the run's weights, what must be there; None to take what there is.
            moved: those that the optimizer moves, in the order of the network's parameters; all of them if not given.

        Raises:
            RunError: it is damaged or does not fit; the message names the newest one that is intact.
        """
        there = self._checkpoints()
        if not there:
            return None
        try:
            return _read_checkpoint(there[-1], network, moved)
        except RunError as error:
            for older in reversed(there[:-1]):
                try:
                    _read_checkpoint(older, network, moved)
                except RunError:
                    continue
                advice = f"{older.name} is intact: to go on from it, remove the folder {str(there[-1])!r}"
                break
            else:
                advice = "there is no intact checkpoint beside it"
            raise RunError(f"{error}; {advice}") from None

    def _checkpoints(self) -> list[Path]:
        entries = (self.path / "checkpoints").glob("step-*")
        return sorted((path for path in entries if _STEP.fullmatch(path.name) and path.is_dir()), key=_step_of)

    # ---- past versions --------------------------------------------------------------------------------------------

    def add_past_version(self, step: int, weights: dict[str, Tensor], *, keep: int) -> None:
        """Add a version of the network to the pool, and drop all but the newest `keep`."""
        folder = self.path / "pool"
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"step-{step:010d}.safetensors", save(_contiguous(weights)))
        for old in self.past_versions()[:-keep]:
            old.unlink()

    def drop_past_versions(self, *, after: int) -> None:
        """Remove the versions of later steps."""
        for file in self.past_versions():
            if _step_of(file) > after:
                file.unlink()

    def past_versions(self) -> list[Path]:
        """Return the files of the pool, oldest first; what is not named as a version is left alone."""
        entries = (self.path / "pool").glob("step-*.safetensors")
        return sorted((path for path in entries if _STEP.fullmatch(path.stem) and path.is_file()), key=_step_of)


def _step_of(path: Path) -> int:
    return int(path.name.removeprefix("step-").removesuffix(".safetensors"))


def _read_checkpoint(
    folder: Path, network: Mapping[str, Tensor] | None, moved: Mapping[str, Tensor] | None
) -> Checkpoint:
    state = _read_progress(folder / "state.json", step=_step_of(folder))
    weights = _read_tensors(folder / "weights.safetensors")
    optimizer = _read_tensors(folder / "optimizer.safetensors")
    if network is not None:
        check_tensors(weights, network, where=folder / "weights.safetensors")
        check_tensors(optimizer, _adam(network if moved is None else moved), where=folder / "optimizer.safetensors")
    return Checkpoint(step=_step_of(folder), weights=weights, optimizer=optimizer, state=state)


def _read_progress(path: Path, *, step: int) -> Progress:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"cannot read {str(path)!r}: {_one_line(error)}") from None
    keys = {"step", *(field.name for field in fields(Progress))}
    if not isinstance(content, dict) or content.keys() != keys:
        came = f"keys {', '.join(content) or '(none)'}" if isinstance(content, dict) else type(content).__name__
        raise RunError(f"{str(path)!r}: expected an object with the keys {', '.join(sorted(keys))}, not {came}")
    for key, value in content.items():
        if value is None and key in ("evaluated_at", "win_share"):
            continue
        if key == "win_share":
            if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
                raise RunError(f"{str(path)!r}: {key}={value!r}, expected a share from 0 to 1, or null")
        elif not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise RunError(f"{str(path)!r}: {key}={value!r}, expected a whole number, 0 or more")
    if content.pop("step") != step:
        raise RunError(f"{str(path)!r}: it is not of step {step}, as the folder's name says")
    return Progress(**content)


def _read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (OSError, ValueError, SafetensorError) as error:
        raise RunError(f"cannot read {str(path)!r}: {_one_line(error)}") from None


def _adam(network: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What Adam keeps for a network, as `Checkpoint.optimizer` names it."""
    wanted: dict[str, Tensor] = {}
    for number, weights in enumerate(network.values()):
        wanted |= {f"{number}.step": tensor(0.0), f"{number}.exp_avg": weights, f"{number}.exp_avg_sq": weights}
    return wanted


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _contiguous(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: values.detach().cpu().contiguous().clone() for name, values in tensors.items()}


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
