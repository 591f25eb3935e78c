"""Files of trained agents: a run's network with what it was trained for, as `prial.agents.trained` reads it."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

from safetensors.torch import save
from torch import Tensor

from ..agents.trained import TRAINED_FORMAT
from ..agents.value_inputs import INPUTS_VERSION
from .config_files import validated
from .files import write_whole
from .run_folder import RunError, RunFolder
from .selfplay_config import SelfPlayConfig

__all__ = ["config_of_run", "trained_file", "write_trained"]


def config_of_run(run: RunFolder) -> SelfPlayConfig:
    """Return the configuration of a self-play run.

    Raises:
        RunError: no run there, or an unreadable one.
        ConfigFileError: a configuration that this version cannot use.
    """
    return validated(SelfPlayConfig, run.about()["config"], where=str(run.path / "run.yaml"))


def trained_file(weights: dict[str, Tensor], config: SelfPlayConfig, *, batches: int) -> bytes:
    """Return the content of the file of a network's weights.

    >>> from ..agents.value_inputs import places_of
    >>> from .value_net import ValueNet
    >>> config = SelfPlayConfig(width=8, hats=3)
    >>> net = ValueNet(places_of(config.made_rules()[0]), width=8, hats=3)
    >>> b"prial value network 1" in trained_file(net.state_dict(), config, batches=0)
    True
    """
    about = {
        "format": TRAINED_FORMAT,
        "inputs": str(INPUTS_VERSION),
        "hats": str(config.hats),
        "rules": json.dumps([setting.rules.to_dict() for setting in config.settings()]),
        "config": json.dumps(config.model_dump()),
        "batches": str(batches),
        "prial": metadata.version("prial"),
    }
    return save({name: values.detach().cpu().float().contiguous() for name, values in weights.items()}, about)


def write_trained(folder: str | Path, out: str | Path, *, last: bool = False) -> int:
    """Write the newest network of a run as the file of an agent; return the batches that it has learned from.

    Args:
        folder: of the run.
        out: the file.
        last: the last network, not the average of past ones.

    Raises:
        RunError: no run, no checkpoint yet, or a damaged one.
        OSError: it cannot be written.
    """
    run = RunFolder(Path(folder))
    config = config_of_run(run)
    checkpoint = run.latest()
    if checkpoint is None:
        raise RunError(f"the run in {str(run.path)!r} has no checkpoint yet")
    part = "net." if last else "average."
    weights = {name.removeprefix(part): v for name, v in checkpoint.weights.items() if name.startswith(part)}
    if not weights:
        raise RunError(f"the run in {str(run.path)!r} is not one of self-play")
    write_whole(out, trained_file(weights, config, batches=checkpoint.step))
    return checkpoint.step
