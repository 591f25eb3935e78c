"""A trained scorer in one ONNX file, played with onnxruntime alone: no torch, no pickles.

The file's metadata key ``prial`` holds JSON: ``format`` (this file's version), ``kind``, ``rules`` (every option),
``layout`` (`prial.agents.scorer_inputs.layout_version`), ``candidates`` (how many it was trained to see at most) and
``training`` (how it came about, for people). Inputs ``candidates`` float32 (n, k, features) and ``context`` float32
(n, context); outputs ``logits`` float32 (n, k + 4) and ``value`` float32 (n,). Rows of zeros are padding.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.rules import CrashRules, RulesError
from .scorer_agent import ScorerAgent
from .scorer_inputs import layout_version

__all__ = ["FORMAT", "KIND", "METADATA_KEY", "ModelFileError", "load", "read_card"]

FORMAT = 1
KIND = "candidate-scorer"
METADATA_KEY = "prial"


class ModelFileError(ValueError):
    """A file that is no agent of ours, or one made for another version."""


def _session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the network is tiny: threads would cost more than they bring
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 (onnxruntime's errors have no common class)
        if not path.is_file():
            raise ModelFileError(f"no file {str(path)!r}") from None
        reason = str(error).splitlines()[0]
        raise ModelFileError(f"{str(path)!r} is not an ONNX file that onnxruntime can load: {reason}") from None


def _card(session: Any, path: Path) -> dict[str, Any]:
    text = session.get_modelmeta().custom_metadata_map.get(METADATA_KEY)
    if text is None:
        raise ModelFileError(f"{str(path)!r} is not one of prial's agents (no {METADATA_KEY!r} in its metadata)")
    try:
        card = json.loads(text)
    except ValueError:
        card = None
    if not isinstance(card, dict):
        raise ModelFileError(f"{str(path)!r}: the metadata {METADATA_KEY!r} is not a JSON object")
    return card


def read_card(path: str | Path) -> dict[str, Any]:
    """Return what a file says about itself.

    Raises:
        ModelFileError: no file, or not one of prial's agents.
    """
    return _card(_session(Path(path)), Path(path))


def load(path: str | Path, *, temperature: float = 0.0) -> ScorerAgent:
    """Return the agent in an ONNX file.

    Args:
        path: of the file.
        temperature: 0 plays the best; above, drawn from the softmax of logits over it.

    Raises:
        ModelFileError: no file, not one of prial's agents, or made for another format or layout (both are named).
    """
    file = Path(path)
    session = _session(file)
    card = _card(session, file)
    for name, ours in (("format", FORMAT), ("kind", KIND)):
        if card.get(name) != ours:
            raise ModelFileError(f"{str(file)!r} has {name} {card.get(name)!r}, this version reads {ours!r}")
    try:
        rules = CrashRules.from_dict(card["rules"])
        candidates = int(card["candidates"])
    except (KeyError, TypeError, RulesError, ValueError) as error:
        raise ModelFileError(f"{str(file)!r}: incomplete description ({error})") from None
    ours = layout_version(rules)
    if card.get("layout") != ours:
        raise ModelFileError(f"{str(file)!r} was made for the layout {card.get('layout')!r}, this version has {ours!r}")

    def score(features: npt.NDArray[np.float32], context: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        (logits,) = session.run(["logits"], {"candidates": features, "context": context})
        return np.asarray(logits, np.float32)

    return ScorerAgent(file.stem, score, rules=rules, k=candidates, temperature=temperature)
