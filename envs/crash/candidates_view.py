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

import numpy as np
import numpy.typing as npt

from ..brag import weaker_share
from .features import CANDIDATE_FEATURES, candidate_features
from .game import Game
from .observation import ViewBatch
from .partitions import CandidateBatch, Candidates, candidates_of, laid_many
from .rules import CrashRules

__all__ = [
    "NUM_EXTRAS",
    "best_candidates",
    "best_of_many",
    "offered_candidates",
    "offered_many",
    "padded_features",
    "padded_many",
]

# Fitted so that the middle hand of each position beats another player's half the time (13 cards, lowest_hand = pair).
_EXPONENTS = np.array([240, 45, 17, 8])

NUM_EXTRAS = 4
"""Keep, exchange, pass, call: in the order of `ActionLayout`."""


def best_candidates(found: Candidates, rules: CrashRules, k: int) -> Candidates:
    """Return at most `k` candidates, by the rule of this module, in their order."""
    if len(found) <= k:
        return found
    values = _values(found, rules)
    others = 1 + np.argsort(-values[1:], kind="stable")[: k - 1]
    kept = np.sort(np.append(others, 0))
    return Candidates(found.partitions[kept], found.strengths[kept], found.quads[kept])


def _values(found: Candidates | CandidateBatch, rules: CrashRules) -> npt.NDArray[np.float64]:
    chances = weaker_share(rules.flush_order)[found.strengths].astype(np.float64) ** _EXPONENTS
    values: npt.NDArray[np.float64] = chances.sum(axis=1) + rules.quads_bonus * found.quads
    return values


def best_of_many(found: CandidateBatch, rules: CrashRules, k: int) -> CandidateBatch:
    """Return `best_candidates` of every deal."""
    counts = found.counts
    if not len(counts) or int(counts.max()) <= k:
        return found
    owner = np.repeat(np.arange(len(counts)), counts)
    rows = np.flatnonzero(counts[owner] > k)  # only deals with too many are sorted
    part = CandidateBatch(np.array([0, len(rows)]), found.partitions[rows], found.strengths[rows], found.quads[rows])
    values = _values(part, rules)
    values[found.offsets[owner[rows]] == rows] = np.inf  # the first of a deal stays
    order = np.lexsort((-values, owner[rows]))  # stable: the earlier of equals is before
    places = np.arange(len(rows)) - np.searchsorted(owner[rows], owner[rows])
    kept = np.ones(len(owner), np.bool_)
    kept[rows[order]] = places < k
    return CandidateBatch(
        np.concatenate([[0], np.cumsum(np.minimum(counts, k))]),
        found.partitions[kept],
        found.strengths[kept],
        found.quads[kept],
    )


def offered_candidates(game: Game, seat: int, k: int) -> Candidates:
    """Return the arrangements that a seat is shown.

    Before it has laid its hands, what its own cards offer, so that an exchange can be decided from them; after, the one
    arrangement that it laid, so that a call can.

    >>> len(offered_candidates(Game(CrashRules.preset("online"), seed=7), 0, 2))
    2
    """
    laid = game.laid[seat]
    if laid is None:
        return best_candidates(game.undominated(seat), game.rules, k)
    return candidates_of(laid, game.hands[seat], game.rules)


def padded_features(candidates: Candidates, rules: CrashRules, k: int) -> npt.NDArray[np.float32]:
    """Return one row a candidate, zeros below them: float32 (k, len(CANDIDATE_FEATURES))."""
    features = np.zeros((k, len(CANDIDATE_FEATURES)), np.float32)
    candidate_features(candidates, rules, out=features)
    return features


def offered_many(views: ViewBatch, k: int) -> CandidateBatch:
    """Return `offered_candidates` of every view."""
    rules = views.rules
    laid = views.laid >= 0
    if not laid.any():
        return best_of_many(views.undominated(), rules, k)
    if laid.all():
        return laid_many(views.laid, views.cards, rules)
    searched = best_of_many(views.select(~laid).undominated(), rules, k)
    shown = laid_many(views.laid[laid], views.cards[laid], rules)
    counts = np.ones(len(views), np.int64)
    counts[~laid] = searched.counts
    of_laid = np.repeat(laid, counts)
    partitions, quads = np.empty(len(of_laid), np.int32), np.empty(len(of_laid), np.int8)
    strengths = np.empty((len(of_laid), shown.strengths.shape[1]), np.int16)
    for which, part in ((of_laid, shown), (~of_laid, searched)):
        partitions[which], strengths[which], quads[which] = part.partitions, part.strengths, part.quads
    return CandidateBatch(np.concatenate([[0], np.cumsum(counts)]), partitions, strengths, quads)


def padded_many(found: CandidateBatch, rules: CrashRules, k: int) -> npt.NDArray[np.float32]:
    """Return `padded_features` of every deal, of at most `k` candidates each: float32 (n, k, features)."""
    n = len(found)
    features = np.zeros((n, k, len(CANDIDATE_FEATURES)), np.float32)
    first = np.repeat(k * np.arange(n) - found.offsets[:-1], found.counts)
    features.reshape(n * k, len(CANDIDATE_FEATURES))[first + np.arange(len(first))] = candidate_features(found, rules)
    return features
