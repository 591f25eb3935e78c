"""Files of trained agents: a run's network with what it was trained for, as `prial.agents.trained` reads it."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

from safetensors.torch import save
from torch import Tensor

from ..agents.trained import TRAINED_FORMAT
from ..agents.value_inputs import INPUTS_VERSION, places_of
from .config_files import validated
from .files import write_whole
from .run_folder import Checkpoint, RunError, RunFolder
from .selfplay_config import SelfPlayConfig
from .value_net import ValueNet

__all__ = ["checkpoint_of_run", "config_of_run", "trained_file", "write_trained"]


def config_of_run(run: RunFolder) -> SelfPlayConfig:
    """Return the configuration of a self-play run.

    Raises:
        RunError: no run there, an unreadable one, or one of another learner.
        ConfigFileError: a configuration that this version cannot use.
    """
    content = run.config_with("iterations", of="prial train selfplay")
    return validated(SelfPlayConfig, content, where=str(run.path / "run.yaml"))


def checkpoint_of_run(run: RunFolder, config: SelfPlayConfig) -> Checkpoint | None:
    """Return the newest checkpoint of a self-play run, None before the first: `net.`, `average.` and `start.` weights.

    Raises:
        RunError: it is damaged, or one of other networks than the configuration's; names the newest one that is intact.
    """
    net = ValueNet(places_of(config.settings()[0].base), width=config.width, hats=config.hats)
    parts = ["net", "average", *(["start"] if config.update == "mirror" else [])]
    wanted = {f"{part}.{name}": values for part in parts for name, values in net.state_dict().items()}
    return run.latest(wanted, moved=dict(net.named_parameters()))


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
        RunError: no run of self-play, no checkpoint yet, or one that is damaged or does not fit.
        OSError: it cannot be written.
    """
    run = RunFolder(Path(folder))
    config = config_of_run(run)
    checkpoint = checkpoint_of_run(run, config)
    if checkpoint is None:
        raise RunError(f"the run in {str(run.path)!r} has no checkpoint yet")
    part = "net." if last else "average."
    weights = {name.removeprefix(part): v for name, v in checkpoint.weights.items() if name.startswith(part)}
    write_whole(out, trained_file(weights, config, batches=checkpoint.step))
    return checkpoint.step
