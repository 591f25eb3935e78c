"""What a candidate-scoring network is fed, for many views at once: the one place where views become its inputs.

The network sees, for each decision, the candidates' feature rows (`prial.envs.crash.features`) and the *context*: the public
pieces of the observation, in their order. It answers ``k + 4`` logits: one a candidate, then keep, exchange, pass, call.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..envs.crash.candidates_view import offered_many, padded_many
from ..envs.crash.features import CANDIDATE_FEATURES, FEATURES_VERSION
from ..envs.crash.observation import ViewBatch, encode, observation_layout
from ..envs.crash.partitions import CandidateBatch
from ..envs.crash.rules import CrashRules

__all__ = [
    "ScorerInputs",
    "context_names",
    "context_slice",
    "contexts",
    "layout_version",
    "padded_inputs",
    "scorer_inputs",
]


def context_slice(rules: CrashRules) -> slice:
    """Return where the public pieces lie in the observation: they are its end."""
    layout = observation_layout(rules)
    private = sum(piece.size for piece in layout if not piece.public)
    assert [piece.public for piece in layout] == sorted(piece.public for piece in layout)
    return slice(private, sum(piece.size for piece in layout))


def context_names(rules: CrashRules) -> tuple[str, ...]:
    """Return the names of the context's numbers.

    >>> context_names(CrashRules.preset("online"))[5:8]
    ('scores[0]', 'scores[1]', 'scores[2]')
    """
    return tuple(f"{p.name}[{i}]" for p in observation_layout(rules) if p.public for i in range(p.size))


def layout_version(rules: CrashRules) -> str:
    """Return a text that changes whenever the inputs of a network do: features' version and the names of all numbers."""
    return f"features {FEATURES_VERSION}: {','.join(CANDIDATE_FEATURES)}; context: {','.join(context_names(rules))}"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScorerInputs:
    """Inputs of a batch of decisions, padded to the largest number of candidates.

    Attributes:
        candidates: float32 (n, k, features), zeros below each row's candidates.
        context: float32 (n, context).
        partitions: partition index of each candidate, int32 (n, k), -1 below.
    """

    candidates: npt.NDArray[np.float32]
    context: npt.NDArray[np.float32]
    partitions: npt.NDArray[np.int32]


def contexts(views: ViewBatch) -> npt.NDArray[np.float32]:
    """Return the context of each view: float32 (n, context)."""
    return encode(views)[:, context_slice(views.rules)]


def padded_inputs(shown: CandidateBatch, context: npt.NDArray[np.float32], rules: CrashRules) -> ScorerInputs:
    """Return the inputs of a network, padded to the largest number of candidates.

    Args:
        shown: the candidates of each decision.
        context: of each decision, (n, context).
        rules: the rules.
    """
    counts = shown.counts
    width = int(counts.max())
    indices = np.full((len(shown), width), -1, np.int32)
    indices[np.arange(width) < counts[:, None]] = shown.partitions
    return ScorerInputs(candidates=padded_many(shown, rules, width), context=context, partitions=indices)


def scorer_inputs(views: ViewBatch, k: int) -> ScorerInputs:
    """Return the inputs of a network for each view.

    Args:
        views: of seats that are to act.
        k: how many candidates the network was trained to see at most.
    """
    return padded_inputs(offered_many(views, k), contexts(views), views.rules)
