"""A row of numbers for each candidate arrangement: what learners and exported networks see of one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..brag import NUM_STRENGTHS, BragClass, class_of_strength, weaker_share
from .partitions import CandidateBatch, Candidates
from .rules import MAX_HANDS, CrashRules

__all__ = ["CANDIDATE_FEATURES", "FEATURES_VERSION", "candidate_features"]

FEATURES_VERSION = 1
"""Raised whenever the rows below change; exported networks carry it."""

CANDIDATE_FEATURES: tuple[str, ...] = (
    "present",
    *(
        f"hand_{position}_{name}"
        for position in range(1, MAX_HANDS + 1)
        for name in (*(kind.name.lower() for kind in BragClass), "strength", "weaker_share")
    ),
    "quads",
)
"""Names of the columns: 1 for a candidate (0 for padding); for each position the class (one of six, all 0 where no hand is
laid), the strength from 0 to 1, and the share of all 22,100 triples that are weaker; then the number of four of a kind
laid whole."""

_PER_HAND = len(BragClass) + 2


def _hand_rows(rules: CrashRules) -> npt.NDArray[np.float32]:
    """The columns of one position for strength 0..741: float32 (742, 8)."""
    rows = np.zeros((NUM_STRENGTHS + 1, _PER_HAND), np.float32)
    for strength in range(1, NUM_STRENGTHS + 1):
        rows[strength, class_of_strength(strength)] = 1
    rows[:, -2] = np.arange(NUM_STRENGTHS + 1) / NUM_STRENGTHS
    rows[:, -1] = weaker_share(rules.flush_order)
    return rows


_ROWS: dict[str, npt.NDArray[np.float32]] = {}


def candidate_features(
    candidates: Candidates | CandidateBatch, rules: CrashRules, *, out: npt.NDArray[np.float32] | None = None
) -> npt.NDArray[np.float32]:
    """Return one row a candidate: float32 (m, len(CANDIDATE_FEATURES)), all within 0 and 3.

    Args:
        candidates: whose rows.
        rules: the rules.
        out: where to write them, its first m rows; a new array if None.

    >>> from .partitions import undominated
    >>> rules = CrashRules.preset("online")
    >>> found = undominated(range(13), rules)
    >>> candidate_features(found, rules).shape == (len(found), 34)
    True
    """
    table = _ROWS.get(rules.flush_high)
    if table is None:
        table = _ROWS[rules.flush_high] = _hand_rows(rules)
    count = len(candidates.strengths)
    rows = np.empty((count, len(CANDIDATE_FEATURES)), np.float32) if out is None else out[:count]
    rows[:, 0] = 1
    rows[:, 1:-1] = table[candidates.strengths].reshape(count, rows.shape[1] - 2)
    rows[:, -1] = candidates.quads
    return rows
