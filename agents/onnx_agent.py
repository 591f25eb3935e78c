"""A trained scorer in one ONNX file, played with onnxruntime alone: no torch, no pickles.

The file's metadata key ``prial`` holds JSON: ``format`` (this file's version), ``kind``, ``rules`` (every option),
``layout`` (`prial.agents.scorer_inputs.layout_version`), ``candidates`` (how many it was trained to see at most) and
``training`` (how it came about, for people). Inputs ``candidates`` float32 (n, k, features) and ``context`` float32
(n, context); outputs ``logits`` float32 (n, k + 4) and ``value`` float32 (n,). Rows of zeros are padding.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.candidates_view import NUM_EXTRAS
from ..envs.crash.features import CANDIDATE_FEATURES
from ..envs.crash.game import Game
from ..envs.crash.observation import ViewBatch, view_of
from ..envs.crash.rules import CrashRules
from .one_file_agent import (
    ONE_FILE_FORMAT,
    ONE_FILE_INPUTS,
    ONE_FILE_KIND,
    ONE_FILE_OUTPUTS,
    OneFileAgent,
    partitions_of,
)
from .scorer_agent import ScorerAgent
from .scorer_inputs import context_names, layout_version

__all__ = ["FORMAT", "KIND", "METADATA_KEY", "ModelFileError", "load", "read_card"]

FORMAT = 1
KIND = "candidate-scorer"
METADATA_KEY = "prial"
MOST_CANDIDATES = 2_000


class ModelFileError(ValueError):
    """A file that is no agent of ours, or one made for another version."""


def _session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the network is tiny: threads would cost more than they bring
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised as well, and told in one line
    try:
        return onnxruntime.InferenceSession(
            str(path),
            options,
            providers=["CPUExecutionProvider"],
            enable_fallback=0,  # which prints
        )
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
    except (ValueError, RecursionError):
        card = None
    if not isinstance(card, dict):
        raise ModelFileError(f"{str(path)!r}: the metadata {METADATA_KEY!r} is not a JSON object")
    return card


def _rules(card: dict[str, Any], path: Path) -> CrashRules:
    """Return the rules that a file says it was made for."""
    options = card.get("rules")
    if not isinstance(options, dict):
        raise ModelFileError(f"{str(path)!r}: incomplete description (rules are {options!r})")
    missing = [option.name for option in fields(CrashRules) if option.name not in options]
    if missing:
        raise ModelFileError(f"{str(path)!r}: incomplete description (rules without {', '.join(missing)})")
    try:
        return CrashRules.from_dict(options)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{str(path)!r}: incomplete description ({error})") from None


def _described(card: dict[str, Any], path: Path) -> tuple[CrashRules, int]:
    """Return the rules and the number of candidates that a file says it was made for."""
    rules, candidates = _rules(card, path), card.get("candidates")
    if isinstance(candidates, bool) or not isinstance(candidates, int) or not 1 <= candidates <= MOST_CANDIDATES:
        raise ModelFileError(
            f"{str(path)!r}: candidates={candidates!r}, expected a whole number from 1 to {MOST_CANDIDATES}"
        )
    return rules, candidates


def _check_network(session: Any, rules: CrashRules, path: Path) -> None:
    """Run the network once, on made-up candidates: its inputs, its outputs and its numbers have to be as described."""
    rng = np.random.default_rng(0)
    width = len(context_names(rules))
    feed = {
        "candidates": rng.random((2, 3, len(CANDIDATE_FEATURES)), np.float32),
        "context": rng.random((2, width), np.float32),
    }
    names = sorted(value.name for value in session.get_inputs())
    if names != sorted(feed) or "logits" not in [value.name for value in session.get_outputs()]:
        raise ModelFileError(f"{str(path)!r} has inputs {names}, expected {sorted(feed)} and the output 'logits'")
    try:
        (logits,) = session.run(["logits"], feed)
    except Exception as error:  # noqa: BLE001 (onnxruntime's errors have no common class)
        raise ModelFileError(f"{str(path)!r} does not run: {str(error).splitlines()[0]}") from None
    if getattr(logits, "shape", None) != (2, 3 + NUM_EXTRAS):
        shape = getattr(logits, "shape", None)
        raise ModelFileError(
            f"{str(path)!r} answers shape {shape} for 2 decisions of 3, expected {(2, 3 + NUM_EXTRAS)}"
        )
    if not np.isfinite(logits).all():
        raise ModelFileError(f"{str(path)!r} answers numbers that are not finite: its weights are damaged")


def read_card(path: str | Path) -> dict[str, Any]:
    """Return what a file says about itself.

    Raises:
        ModelFileError: no file, or not one of prial's agents.
    """
    return _card(_session(Path(path)), Path(path))


def load(path: str | Path, *, temperature: float | None = None) -> ScorerAgent | OneFileAgent:
    """Return the agent in an ONNX file: a trained scorer, or a one-file bot (`prial.agents.one_file_agent`).

    Args:
        path: of the file.
        temperature: 0 plays the best; above, drawn from the softmax of logits (or values) over it. A one-file bot has one
            of its own, which counts if none is given.

    Raises:
        ModelFileError: no file, not one of prial's agents, or made for another format or layout (both are named).
    """
    file = Path(path)
    session = _session(file)
    card = _card(session, file)
    one_file = card.get("kind") == ONE_FILE_KIND
    for name, ours in (
        ("format", ONE_FILE_FORMAT if one_file else FORMAT),
        ("kind", ONE_FILE_KIND if one_file else KIND),
    ):
        if card.get(name) != ours:
            raise ModelFileError(f"{str(file)!r} has {name} {card.get(name)!r}, this version reads {ours!r}")
    if one_file:
        return _one_file(session, card, file, temperature)
    rules, candidates = _described(card, file)
    ours = layout_version(rules)
    if card.get("layout") != ours:
        raise ModelFileError(f"{str(file)!r} was made for the layout {card.get('layout')!r}, this version has {ours!r}")

    _check_network(session, rules, file)

    def score(features: npt.NDArray[np.float32], context: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        (logits,) = session.run(["logits"], {"candidates": features, "context": context})
        return np.asarray(logits, np.float32)

    return ScorerAgent(
        file.stem, score, rules=rules, k=candidates, temperature=0.0 if temperature is None else temperature
    )


def _one_file(session: Any, card: dict[str, Any], path: Path, temperature: float | None) -> OneFileAgent:
    rules = _rules(card, path)
    for kind, wanted, values in (
        ("inputs", ONE_FILE_INPUTS, session.get_inputs()),
        ("outputs", ONE_FILE_OUTPUTS, session.get_outputs()),
    ):
        names = [value.name for value in values]
        if names != list(wanted):
            raise ModelFileError(f"{str(path)!r} has {kind} {names}, expected {list(wanted)}")
    own = card.get("temperature", 0.0)
    bot = OneFileAgent(
        session,
        rules,
        name=path.stem,
        temperature=own if temperature is None else temperature,
        errs=card.get("level") is not None,
    )
    _check_bot(bot, path)
    return bot


def _check_bot(bot: OneFileAgent, path: Path) -> None:
    """Ask the bot once, for the first decisions of two games: what it answers has to be cards that are held."""
    rules = bot.rules
    views = ViewBatch.of([view_of(game, game.pending[0]) for game in (Game(rules, seed=seed) for seed in range(2))])
    try:
        answers = bot.answers(views)
        hands, ok = answers["hands"], answers["ok"].tolist()
        fits = hands.shape == (len(views), 4, 3) and hands.dtype == np.int32 and ok == [1] * len(views)
        if fits:
            partitions_of(hands, views)
    except Exception as error:  # noqa: BLE001 (onnxruntime's errors have no common class)
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ModelFileError(f"{str(path)!r} does not play as a bot, so it is damaged: {reason}") from None
    if not fits:
        raise ModelFileError(
            f"{str(path)!r} does not play as a bot, so it is damaged: hands {hands.dtype} {hands.shape}, ok {ok}"
        )
