"""The network: scores each candidate with shared weights, and the four extras and the value from all of them together.

Two ways to compute the same thing: `forward` on padded candidates (what is exported) and `score_rows` on the candidates
alone, without padding (what training uses: a deal has 5.6 candidates on average).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..agents.scorer_inputs import context_names
from ..agents.value_inputs import MOST_HANDS, HandBasis, places_of
from ..envs.brag import NUM_STRENGTHS
from ..envs.crash.candidates_view import NUM_EXTRAS
from ..envs.crash.features import CANDIDATE_FEATURES
from ..envs.crash.rules import CrashRules

__all__ = ["STRENGTH_COLUMNS", "CandidateScorer", "masked_logits"]

_FAR_BELOW = -1e8
STRENGTH_COLUMNS = [CANDIDATE_FEATURES.index(f"hand_{hand}_strength") for hand in range(1, MOST_HANDS + 1)]


def masked_logits(logits: Tensor, mask: Tensor) -> Tensor:
    """Return logits with everything that the mask (bool, same shape) rules out pushed far below all others.

    >>> masked_logits(torch.zeros(3), torch.tensor([True, False, True])).softmax(0).tolist()
    [0.5, 0.0, 0.5]
    """
    return torch.where(mask, logits, torch.full_like(logits, _FAR_BELOW))


class CandidateScorer(nn.Module):
    """Candidate rows and context in, a logit for every choice and the value of the decision out.

    A candidate's row and the context go through a shared trunk; its logit is a linear function of that. The extras (keep,
    exchange, pass, call) and the value come from the trunk's largest activations over all candidates, and the context.
    The order of candidates therefore cannot matter.

    Args:
        rules: fix the size of the context and how scores are scaled.
        hidden: widths of the trunk's layers.
        hats: how many hat functions stand for each hand beside its row, as in `prial.agents.value_inputs`, and one at each
            whole number below the target for each score; 0 for none of either.
    """

    scale: Tensor
    levels: Tensor
    first_hand: Tensor
    hand_table: Tensor

    def __init__(self, rules: CrashRules, hidden: Sequence[int] = (64, 64), *, hats: int = 0) -> None:
        super().__init__()
        self.hats = hats
        names = context_names(rules)
        scales = [_scale_of(name, rules) for name in names]
        self.register_buffer("scale", torch.tensor(scales, dtype=torch.float32), persistent=False)
        layers: list[nn.Module] = []
        told = len(names)
        if hats:
            self.score_columns = slice(names.index("scores[0]"), names.index("scores[0]") + rules.players)
            self.register_buffer("levels", torch.arange(rules.target, dtype=torch.float32), persistent=False)
            told += rules.players * rules.target
        width = len(CANDIDATE_FEATURES) + told
        if hats:
            table = torch.from_numpy(HandBasis.of(places_of(rules), hats=hats).table)  # by position and strength
            width += MOST_HANDS * table.shape[2]
            self.register_buffer("first_hand", torch.arange(MOST_HANDS) * table.shape[1], persistent=False)
            self.register_buffer("hand_table", table.flatten(0, 1), persistent=False)
        for size in hidden:
            layers += [nn.Linear(width, size), nn.ReLU()]
            width = size
        self.trunk = nn.Sequential(*layers)
        self.candidate_head = nn.Linear(width, 1)
        self.table_head = nn.Sequential(nn.Linear(width + told, width), nn.ReLU())
        self.extras_head = nn.Linear(width, NUM_EXTRAS)
        self.value_head = nn.Linear(width, 1)
        for head in (self.candidate_head, self.extras_head):
            # Every choice about equally likely at first.
            nn.init.normal_(head.weight, std=0.01)
            nn.init.zeros_(head.bias)

    def forward(self, candidates: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (n, k + 4) and values (n,) of padded candidates (n, k, features) and context (n, context)."""
        scaled = self._told(context)
        spread = scaled.unsqueeze(1).expand(-1, candidates.shape[1], -1)
        hidden = self.trunk(torch.cat([*self._hands(candidates), spread], dim=2))
        logits = self.candidate_head(hidden).squeeze(2)
        present = candidates[:, :, :1]
        # Activations are 0 or more, so padding, set to 0, never is the largest.
        extras, values = self._heads((hidden * present).amax(dim=1), scaled)
        return torch.cat([logits, extras], dim=1), values

    def score_rows(self, candidates: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """Return what `forward` returns, computing only the candidates that are there; padding's logits are 0."""
        scaled = self._told(context)
        present = candidates[:, :, 0] > 0
        owner, _ = present.nonzero(as_tuple=True)
        hidden = self.trunk(torch.cat([*self._hands(candidates[present]), scaled[owner]], dim=1))
        logits = torch.zeros(present.shape, dtype=hidden.dtype, device=hidden.device)
        logits[present] = self.candidate_head(hidden).squeeze(1)
        largest = torch.zeros(len(candidates), hidden.shape[1], dtype=hidden.dtype, device=hidden.device)
        largest = largest.scatter_reduce(0, owner.unsqueeze(1).expand_as(hidden), hidden, "amax")
        extras, values = self._heads(largest, scaled)
        return torch.cat([logits, extras], dim=1), values

    def _told(self, context: Tensor) -> Tensor:
        """What stands for a context: its numbers, scaled, and the hat functions of its scores if there are any."""
        scaled = context * self.scale
        if not self.hats:
            return scaled
        scores = context[:, self.score_columns].unsqueeze(2)
        return torch.cat([scaled, (1 - (scores - self.levels).abs()).clamp(min=0).flatten(1)], dim=1)

    def _hands(self, candidates: Tensor) -> list[Tensor]:
        """What stands for candidates: their rows, and the hat functions of their hands if there are any."""
        if not self.hats:
            return [candidates]
        strengths = torch.round(candidates[..., STRENGTH_COLUMNS] * NUM_STRENGTHS).long()
        return [candidates, nn.functional.embedding(strengths + self.first_hand, self.hand_table).flatten(-2)]

    def _heads(self, largest: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        table = self.table_head(torch.cat([largest, context], dim=1))
        return self.extras_head(table), self.value_head(table).squeeze(1)


def _scale_of(name: str, rules: CrashRules) -> float:
    if name.startswith("scores["):
        return 1 / rules.target
    return 1 / rules.max_rounds if name.startswith("rounds_played") else 1.0
