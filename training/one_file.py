"""One-file bots: the rules, the search and a value network in a single ONNX file that any front end can run.

docs/one-file-bot.md describes inputs and outputs.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from ..agents.levels import Level
from ..agents.one_file_agent import (
    HOTTEST,
    ONE_FILE_FORMAT,
    ONE_FILE_INPUTS,
    ONE_FILE_KIND,
    ONE_FILE_OUTPUTS,
    OneFileAgent,
)
from ..agents.onnx_agent import METADATA_KEY, load
from ..agents.protocol import Agent
from ..agents.trained import Trained
from ..agents.value_network import ValueNetwork
from ..envs.crash.rules import CrashRules
from .files import write_whole
from .one_file_check import Agreement, Progress, compare
from .one_file_graph import one_file_model

__all__ = ["MOST_BYTES", "ExportError", "export_bot", "network_hash"]

MOST_BYTES = 5_000_000


class ExportError(RuntimeError):
    """What was to be written cannot be, or does not play as it should; nothing was written."""


def export_bot(
    agent: Agent,
    rules: CrashRules,
    target: str | Path,
    *,
    decisions: int = 10_000,
    temperature: float = 0.0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write an agent as a one-file bot, after checking that it decides the same; return the file's description.

    Args:
        agent: an agent around a value network, or a level of one.
        rules: the rules that the file plays.
        target: path of the file, ending in ``.onnx``.
        decisions: how many of each phase are compared.
        temperature: what the description recommends, and what `prial` plays by.
        progress: told what is done and what there is in all.

    Raises:
        ExportError: the agent has no value network, or the file does not play as it does; nothing was written.
        TrainedError: the agent was not trained for the rules.

    >>> from ..agents.registry import make
    >>> export_bot(make("greedy"), CrashRules(), "bot.onnx")
    Traceback (most recent call last):
        ...
    prial.training.one_file.ExportError: 'greedy' has no value network, as online, bga, traditional, their levels have
    """
    path = Path(target)
    if path.suffix != ".onnx":
        raise ExportError(f"{str(path)!r}: expected a file name ending in .onnx")
    if not isinstance(agent, Trained | Level):
        raise ExportError(f"{agent.name!r} has no value network, as online, bga, traditional, their levels have")
    if not 0 <= temperature <= HOTTEST:
        raise ExportError(f"temperature={temperature}: a file takes a number from 0 to {HOTTEST:,}")
    model = one_file_model(agent, rules)
    card: dict[str, Any] = {
        "format": ONE_FILE_FORMAT,
        "kind": ONE_FILE_KIND,
        "agent": agent.name,
        "rules": rules.to_dict(),
        "temperature": temperature,
        "inputs": dict(ONE_FILE_INPUTS),
        "outputs": dict(ONE_FILE_OUTPUTS),
        "network_sha256": network_hash(_network_of(agent).network),
        "prial": metadata.version("prial"),
    }
    if isinstance(agent, Level):
        card["level"] = {"name": agent.name, "slips": agent.slips}
    with tempfile.TemporaryDirectory() as scratch:
        trial = Path(scratch) / "trial.onnx"
        trial.write_bytes(_described(model, card))
        bot = load(trial, temperature=0.0)
        assert isinstance(bot, OneFileAgent)
        agreement = compare(agent, bot, decisions=decisions, progress=progress)
    _check(agreement)
    card["verified"] = {phase: found.to_dict() for phase, found in agreement.items()}
    card["model_card"] = _model_card(agent, rules, agreement)
    data = _described(model, card)
    if len(data) > MOST_BYTES:
        raise ExportError(f"the file would have {len(data):,} bytes, more than {MOST_BYTES:,}")
    write_whole(path, data)
    return card


def _network_of(agent: Trained | Level) -> Trained:
    return agent.base if isinstance(agent, Level) else agent


def network_hash(network: ValueNetwork) -> str:
    """Return the SHA-256 of a network: each array's name, shape and float32 numbers (little-endian), in order of names.

    >>> from ..agents.trained import online
    >>> len(network_hash(online().network))
    64
    """
    found = hashlib.sha256()
    for name in sorted(network.weights):
        values = np.ascontiguousarray(network.weights[name], "<f4")
        found.update(f"{name} {list(values.shape)}\n".encode("ascii"))
        found.update(values.tobytes())
    return found.hexdigest()


def _described(model: onnx.ModelProto, card: Mapping[str, Any]) -> bytes:
    onnx.helper.set_model_props(model, {METADATA_KEY: json.dumps(card)})
    return bytes(model.SerializeToString())


def _check(agreement: Mapping[str, Agreement]) -> None:
    for phase, found in agreement.items():
        if found.different:
            raise ExportError(
                f"the file decides otherwise than the agent in {found.different} of {found.decisions} decisions of the "
                f"{phase} phase, worth up to {found.worst:.2g} points less; nothing was written"
            )


def _model_card(agent: Trained | Level, rules: CrashRules, agreement: Mapping[str, Agreement]) -> str:
    """What the file is, for people."""
    told = [
        f"{phase} {found.same:,} of {found.decisions:,} the same, {found.ties:,} ties"
        for phase, found in agreement.items()
    ]
    base = _network_of(agent)
    trained = ", ".join(sorted({str(made.players) for made in base.rules}))
    errs = ""
    if isinstance(agent, Level):
        errs = (
            f"It is a weaker level ({agent.name}, slips {agent.slips:g}): it overlooks and misjudges hands as people do, by "
            "chance that is a function of the seed alone. "
        )
    return (
        f"Plays Crash (13-card Brag) under the rules {rules.name or 'of its description'} with {rules.players} players. "
        f"A value network that learned by self-play (agent {base.name!r} of prial, trained for {trained} players) ranks "
        f"the undominated arrangements of the own cards. {errs}It knows its own cards and public history only. Values are "
        "in points of a round, a tenth of a win; only differences between arrangements of the same cards mean anything. "
        f"Compared with the agent in Python before it was written: {'; '.join(told)}."
    )
