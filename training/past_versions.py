"""Past versions of the learner as opponents: the network in plain NumPy for a few tables, in torch for many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file

from ..agents.scorer_agent import ScorerAgent
from ..envs.brag import NUM_STRENGTHS
from ..envs.crash.rules import CrashRules
from .run_folder import RunError, check_tensors
from .scorer import STRENGTH_COLUMNS, CandidateScorer

__all__ = ["numpy_scores", "past_version", "torch_agent"]

Floats = npt.NDArray[np.float32]

# Candidates up to which plain NumPy is quicker than torch. Its products of larger matrices start threads of their own,
# which wait by spinning and take the cores from all others.
_FEW = 96


def numpy_scores(network: CandidateScorer, candidates: Floats, context: Floats) -> Floats:
    """Return the logits of `CandidateScorer.forward`, computed without torch: float32 (n, k + 4).

    >>> network = CandidateScorer(CrashRules.preset("online"))
    >>> candidates = np.ones((1, 2, network.trunk[0].in_features - len(network.scale)), np.float32)
    >>> context = np.ones((1, len(network.scale)), np.float32)
    >>> logits, _ = network(torch.from_numpy(candidates), torch.from_numpy(context))
    >>> np.allclose(numpy_scores(network, candidates, context), logits.detach(), atol=1e-5)
    True
    """
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}

    def linear(name: str, x: Floats) -> Floats:
        return np.asarray(x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"], np.float32)

    scaled = context * network.scale.numpy()
    if network.hats:
        away = np.abs(context[:, network.score_columns, None] - network.levels.numpy())
        scaled = np.concatenate([scaled, np.maximum(1 - away, 0).reshape(len(scaled), -1)], axis=1)
    n, k, _ = candidates.shape
    present = candidates[:, :, 0] > 0
    owner = np.nonzero(present)[0]
    rows = [candidates[present]]
    if network.hats:
        strengths = np.rint(rows[0][:, STRENGTH_COLUMNS] * NUM_STRENGTHS).astype(np.int64)
        hands = network.hand_table.numpy()[strengths + network.first_hand.numpy()]
        rows.append(hands.reshape(len(strengths), -1))
    hidden = np.concatenate([*rows, scaled[owner]], axis=1)
    layer = 0
    while f"trunk.{layer}.weight" in weights:
        hidden = np.maximum(linear(f"trunk.{layer}", hidden), 0)
        layer += 2  # a ReLU lies between
    logits = np.zeros((n, k), np.float32)
    logits[present] = linear("candidate_head", hidden)[:, 0]
    largest = np.zeros((n, hidden.shape[1]), np.float32)
    first = np.searchsorted(owner, np.arange(n))
    some = np.diff(first, append=len(owner)) > 0
    largest[some] = np.maximum.reduceat(hidden, first[some]) if len(owner) else 0
    table = np.maximum(linear("table_head.0", np.concatenate([largest, scaled], axis=1)), 0)
    return np.concatenate([logits, linear("extras_head", table)], axis=1)


def past_version(path: Path, *, network: CandidateScorer, rules: CrashRules, k: int) -> ScorerAgent:
    """Return a version of the pool as an agent that plays as it did when it learned: drawn from its probabilities.

    Args:
        path: its weights.
        network: what they are put into; the agent's own from now on.
        rules: that it plays.
        k: how many candidates it sees at most.

    Raises:
        RunError: the file is damaged, or of another network.
    """
    try:
        weights = load_file(path)
    except (OSError, ValueError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise RunError(f"cannot read the past version {str(path)!r}: {reason}; remove it to go on without it") from None
    check_tensors(weights, network.state_dict(), where=path)
    network.load_state_dict({name: torch.from_numpy(weight) for name, weight in weights.items()})

    def score(candidates: Floats, context: Floats) -> Floats:
        if np.count_nonzero(candidates[:, :, 0]) <= _FEW:
            return numpy_scores(network, candidates, context)
        with torch.inference_mode():
            logits, _ = network.score_rows(torch.from_numpy(candidates), torch.from_numpy(context))
        return np.asarray(logits.numpy(), np.float32)

    return ScorerAgent(path.stem, score, rules=rules, k=k, temperature=1.0)


def torch_agent(scorer: CandidateScorer, *, name: str, rules: CrashRules, k: int) -> ScorerAgent:
    """Return a network as an agent that plays its highest logit."""

    def score(candidates: Floats, context: Floats) -> Floats:
        device = scorer.scale.device
        with torch.no_grad():
            logits, _ = scorer(torch.from_numpy(candidates).to(device), torch.from_numpy(context).to(device))
        return np.asarray(logits.cpu().numpy(), np.float32)

    return ScorerAgent(name, score, rules=rules, k=k)
