"""One seat's decision as a choice among at most `k` candidate arrangements and four extras.

Choices ``0 .. k - 1`` are the seat's undominated arrangements in their order (strongest Hand 1 first); ``k .. k + 3`` are
keep, exchange, pass and call. What `CandidateActions` and `SingleSeat` offer to learners.

A deal with more than `k` undominated arrangements offers the first of them (what `greedy` lays) and the `k - 1` others with
the highest score, in the same order. The score is the sum over positions of ``w ** e``, with w the share of all 22,100
triples that are weaker and e 240, 45, 17 and 8 for Hand 1 to 4, which makes it about the chance that another player's hand
there is weaker, plus `quads_bonus` for each four of a kind laid whole. Of equal scores the earlier one stays.

What that can lose, measured on 1.5 million deals of `online` with five ways to weigh the chances of winning each comparison
and of winning all four: of the 54 deals with more than 128 arrangements the best one was kept every time; with `k = 64` it
was lost in 0.6 % of the 886 larger deals (0.055 points at most), with `k = 32` in 4.5 % (0.14 points at most).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..brag import weaker_share
from .features import CANDIDATE_FEATURES, candidate_features
from .game import Game, Phase
from .partitions import Candidates, candidates_of
from .rules import CrashRules

__all__ = ["NUM_EXTRAS", "CandidateView", "best_candidates", "candidate_view"]

# Fitted so that the middle hand of each position beats another player's half the time (13 cards, lowest_hand = pair).
_EXPONENTS = np.array([240, 45, 17, 8])

NUM_EXTRAS = 4
"""Keep, exchange, pass, call: in the order of `ActionLayout`."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CandidateView:
    """What one seat may choose from.

    Attributes:
        features: one row a candidate, zeros below them: float32 (k, len(CANDIDATE_FEATURES)). Before the seat has laid its
            hands, what its own cards offer, so that an exchange can be decided from them; after, the one arrangement it
            laid, so that a call can.
        mask: which choices are legal now: int8 (k + 4,); all 0 for a seat that is not to act.
        partitions: partition index of each candidate: int32 (m,), m <= k.
    """

    features: npt.NDArray[np.float32]
    mask: npt.NDArray[np.int8]
    partitions: npt.NDArray[np.int32]

    def action(self, choice: int, game: Game) -> int | None:
        """Return the action of `game.layout` that a choice stands for, None for one that stands for nothing."""
        k = len(self.features)
        if 0 <= choice < len(self.partitions):
            return int(self.partitions[choice])
        if k <= choice < k + NUM_EXTRAS:
            return game.layout.keep + choice - k
        return None


def best_candidates(found: Candidates, rules: CrashRules, k: int) -> Candidates:
    """Return at most `k` candidates, by the rule of this module, in their order."""
    if len(found) <= k:
        return found
    chances = weaker_share(rules.flush_order)[found.strengths].astype(np.float64) ** _EXPONENTS
    values = chances.sum(axis=1) + rules.quads_bonus * found.quads
    others = 1 + np.argsort(-values[1:], kind="stable")[: k - 1]
    kept = np.sort(np.append(others, 0))
    return Candidates(found.partitions[kept], found.strengths[kept], found.quads[kept])


def candidate_view(game: Game, seat: int, k: int) -> CandidateView:
    """Return what a seat may choose from now.

    >>> view = candidate_view(Game(CrashRules.preset("online"), seed=7), 0, 128)
    >>> view.features.shape, int(view.mask.sum()) == len(view.partitions)
    ((128, 34), True)
    """
    laid = game.laid[seat]
    if laid is None:
        found = best_candidates(game.undominated(seat), game.rules, k)
    else:
        found = candidates_of(laid, game.hands[seat], game.rules)
    features = np.zeros((k, len(CANDIDATE_FEATURES)), np.float32)
    features[: len(found)] = candidate_features(found, game.rules)
    mask = np.zeros(k + NUM_EXTRAS, np.int8)
    if seat in game.pending:
        if game.phase is Phase.ARRANGE:
            mask[: len(found)] = 1
        else:
            first = k if game.phase is Phase.EXCHANGE else k + 2
            mask[first : first + 2] = 1
    return CandidateView(features=features, mask=mask, partitions=found.partitions)
