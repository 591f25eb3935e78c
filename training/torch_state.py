"""What every learner needs of torch: device, processes, numbers that stay finite, Adam's state as plain tensors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
import torch.distributed
from torch import Tensor, nn

from .config_files import ConfigFileError

__all__ = [
    "TrainingError",
    "adam_tensors",
    "check_device",
    "check_finite",
    "load_adam",
    "made_device",
    "place_among_processes",
    "process_group",
]

_BY_TORCHRUN = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


class TrainingError(RuntimeError):
    """Training that has gone wrong; the message says where and how."""


def check_finite(network: nn.Module, *, at: str) -> None:
    """Check that a network that learns holds finite numbers.

    Args:
        network: the network.
        at: how far it has come.

    Raises:
        TrainingError: it does not.

    >>> check_finite(nn.Linear(2, 2), at="batch 3")
    """
    for name, values in network.named_parameters():
        if not bool(torch.isfinite(values).all()):
            raise TrainingError(f"{at}: {name} holds numbers that are not finite; a smaller learning_rate may help")


def check_device(name: str) -> None:
    """Check that a device is there: auto, cpu, cuda, cuda:N or mps.

    Raises:
        ConfigFileError: it is not.
    """
    kind, _, number = name.partition(":")
    there = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if kind == "cuda" and int(number or 0) >= there:
        raise ConfigFileError(
            f"device={name!r}: torch sees {there} CUDA devices here; device=cpu or auto runs anywhere"
        )
    if kind == "mps" and not torch.backends.mps.is_available():
        raise ConfigFileError(f"device={name!r}: torch sees no such device here; device=cpu or auto runs anywhere")


def made_device(name: str) -> torch.device:
    """Return the device of a name; `auto` is CUDA where there is any.

    Raises:
        ConfigFileError: it is not there.

    >>> made_device("cpu")
    device(type='cpu')
    """
    check_device(name)
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)


def place_among_processes() -> tuple[int, int]:
    """Return which process this is, and of how many, as ``torchrun`` says; 0 of 1 where it did not start this one.

    Raises:
        ConfigFileError: what it should have set are no numbers.
    """
    if any(name not in os.environ for name in _BY_TORCHRUN):
        return 0, 1
    rank, processes = os.environ["RANK"], os.environ["WORLD_SIZE"]
    if not (rank.isdecimal() and processes.isdecimal() and int(rank) < int(processes)):
        raise ConfigFileError(
            f"RANK={rank!r}, WORLD_SIZE={processes!r}: expected a process of so many, as torchrun sets them"
        )
    return int(rank), int(processes)


@contextmanager
def process_group(processes: int) -> Iterator[None]:
    """Let processes that ``torchrun`` started speak with each other, if there are several."""
    if processes > 1:
        torch.distributed.init_process_group("gloo")
    try:
        yield
    finally:
        if processes > 1:
            torch.distributed.destroy_process_group()


def adam_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return Adam's tensors, named ``<parameter number>.<what>``."""
    slots = optimizer.state_dict()["state"]
    return {f"{number}.{name}": torch.as_tensor(value) for number, of in slots.items() for name, value in of.items()}


def load_adam(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put Adam's tensors back."""
    slots: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        number, name = key.split(".", 1)
        slots.setdefault(int(number), {})[name] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": slots})
