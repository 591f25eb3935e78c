"""`prial export`: the newest network of a run as one ONNX file that describes itself, verified before it is written."""

from __future__ import annotations

import json
import logging
import tempfile
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch

from ..agents.onnx_agent import FORMAT, KIND, METADATA_KEY, load
from ..agents.scorer_agent import ScorerAgent
from ..agents.scorer_inputs import context_names, layout_version
from ..envs.crash.features import CANDIDATE_FEATURES
from ..envs.crash.game import Game, Phase
from ..envs.crash.observation import ViewBatch, view_of
from ..envs.crash.rules import CrashRules
from .files import write_whole
from .one_file import ExportError
from .past_versions import torch_agent
from .ppo import load_scorer
from .ppo_config import PPOConfig
from .run_folder import RunFolder
from .scorer import CandidateScorer

__all__ = ["ExportError", "export_run"]

_OPSET = 18
_CHECKED_DEALS = 1_000
_TOLERANCE = 1e-4


def export_run(folder: str | Path, target: str | Path) -> dict[str, Any]:
    """Write the newest network of a run as ONNX and return the file's description.

    Args:
        folder: of the run.
        target: path of the file, ending in ``.onnx``.

    Raises:
        RunError, ConfigFileError: nothing to export.
        ExportError: the export does not agree with the network.
        ValueError: the target does not end in ``.onnx``.

    >>> export_run("runs/mine", "bot.txt")
    Traceback (most recent call last):
        ...
    prial.training.one_file.ExportError: 'bot.txt': expected a file name ending in .onnx
    """
    path = Path(target)
    if path.suffix != ".onnx":
        raise ExportError(f"{str(path)!r}: expected a file name ending in .onnx")
    scorer, config, step = load_scorer(folder)
    card = _card(config, step, RunFolder(Path(folder)).about())
    data = _to_onnx(scorer, config, card)
    with tempfile.TemporaryDirectory() as scratch:
        trial = Path(scratch) / "trial.onnx"
        trial.write_bytes(data)
        _verify(scorer, config, trial)
    write_whole(path, data)
    return card


def _card(config: PPOConfig, step: int, about: dict[str, Any]) -> dict[str, Any]:
    rules = config.made_rules()
    return {
        "format": FORMAT,
        "kind": KIND,
        "rules": rules.to_dict(),
        "layout": layout_version(rules),
        "candidates": config.candidates,
        "training": {
            "method": "MaskablePPO",
            "config": config.model_dump(),
            "steps": step,
            "commit": about.get("commit", ""),
            "prial": metadata.version("prial"),
        },
    }


def _to_onnx(scorer: CandidateScorer, config: PPOConfig, card: dict[str, Any]) -> bytes:
    size = len(context_names(config.made_rules()))
    example = (torch.rand(2, 3, len(CANDIDATE_FEATURES)), torch.rand(2, size))
    batch, width = torch.export.Dim("n"), torch.export.Dim("k")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter's own, about its future
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        program = torch.onnx.export(
            scorer.cpu().eval(),
            example,
            input_names=["candidates", "context"],
            output_names=["logits", "value"],
            dynamic_shapes=({0: batch, 1: width}, {0: batch}),
            opset_version=_OPSET,
            external_data=False,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    model = program.model_proto
    for node in model.graph.node:
        del node.metadata_props[:]  # paths and stack traces of the machine that exported
    onnx.helper.set_model_props(model, {METADATA_KEY: json.dumps(card)})
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _verify(scorer: CandidateScorer, config: PPOConfig, trial: Path) -> None:
    """Play the file and the network on the same views: same logits, same choices, alone and in batches."""
    rules = config.made_rules()
    ours = torch_agent(scorer, name="network", rules=rules, k=config.candidates)
    theirs = load(trial)
    assert isinstance(theirs, ScorerAgent)
    rng = np.random.default_rng(0)  # not drawn from: both play their highest logit
    for phase, views in _views(rules, _CHECKED_DEALS).items():
        for batch in (views, *(views.select(np.array([row])) for row in range(10))):
            wanted, got = ours.act_many(batch, rng), theirs.act_many(batch, rng)
            worst = _logit_difference(scorer, theirs.score, batch, config.candidates)
            if (wanted != got).any() or worst > _TOLERANCE:
                raise ExportError(
                    f"the exported file differs from the network in {int((wanted != got).sum())} of {len(batch)} choices "
                    f"({phase.label} phase; logits differ by up to {worst:.2g})"
                )


def _logit_difference(scorer: CandidateScorer, score: Any, views: ViewBatch, k: int) -> float:
    from ..agents.scorer_inputs import scorer_inputs

    inputs = scorer_inputs(views, k)
    with torch.no_grad():
        wanted, _ = scorer(torch.from_numpy(inputs.candidates), torch.from_numpy(inputs.context))
    there = np.concatenate([inputs.partitions >= 0, np.ones((len(views), 4), bool)], axis=1)
    return float(np.abs(np.where(there, wanted.numpy() - score(inputs.candidates, inputs.context), 0)).max())


def _views(rules: CrashRules, deals: int) -> dict[Phase, ViewBatch]:
    """Views of random rounds in every phase that the rules have, scores spread below the target."""
    rng = np.random.default_rng(20_000)
    found: dict[Phase, list[Any]] = {}
    for deal in range(deals):
        scores = rng.integers(rules.target, size=rules.players).tolist()
        game = Game(rules, seed=20_000, first_deal=deal, scores=scores, episode="round")
        while not game.is_over:
            seat = game.pending[0]
            found.setdefault(game.phase, []).append(view_of(game, seat))
            actions = game.undominated(seat).partitions if game.phase is Phase.ARRANGE else game.legal_actions(seat)
            game.step(int(rng.choice(actions)), seat)
    return {phase: ViewBatch.of(views[:deals]) for phase, views in found.items()}
