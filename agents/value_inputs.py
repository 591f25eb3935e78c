"""What a value network is fed: hands by where their strength stands, and the context of a decision.

Suits never enter but through strengths, counts of ranks and the sizes of the suits in order, so that permuting suits
changes nothing. Seats are relative: the own seat first, then clockwise.

**Hands** (`HandBasis`): at each position the strength's place among the hands that arrangements of the rules hold there
(0 weakest to 1), spread over a few hat functions, so that a linear layer makes any piecewise linear curve of it; one more
number says that no hand is laid there. Then the number of four of a kind laid whole.

**Context** (`contexts_of`): what each seat still needs, the dealer, who kept, exchanged, passed and called, what is known of
the pack (as `solver-fast` has it), what was given up, the rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import CandidateBatch, undominated_many
from ..envs.crash.rules import CrashRules

__all__ = ["CONTEXT_SIZE", "INPUTS_VERSION", "MOST_HANDS", "HandBasis", "contexts_of", "places_of"]

INPUTS_VERSION = 2
MOST_HANDS, MOST_PLAYERS = 4, 5
_STRENGTHS = 743
_NEED_FEATURES, _ONE_HOT, _MOST_NEED = 10, 7, 15
_CARD_FEATURES = 44
_RANKS = 13
_SAMPLE = 20_000
CONTEXT_SIZE = MOST_PLAYERS * (_NEED_FEATURES + 5) + 1 + _CARD_FEATURES + _RANKS + 12 + MOST_PLAYERS - 1

Floats = npt.NDArray[np.float32]


def places_of(rules: CrashRules) -> Floats:
    """Return where each strength stands among undominated arrangements of deals under some rules, by position.

    Returns:
        float32 (4, 743), from 0 to 1.
    """
    rng = np.random.default_rng(0)
    pack = np.array(rules.pack, np.int8)
    dealt = rng.permuted(np.tile(pack, (_SAMPLE, 1)), axis=1)[:, : rules.cards_dealt]
    found = undominated_many(np.sort(dealt, axis=1), rules)
    places = np.zeros((MOST_HANDS, _STRENGTHS), np.float32)
    for hand in range(MOST_HANDS):
        counts = np.bincount(found.strengths[:, hand], minlength=_STRENGTHS).astype(np.float64)
        counts[0] = 0.0
        counts[1:] += 1e-3  # strengths that never came stand apart from their neighbours
        places[hand] = (np.cumsum(counts) - counts / 2) / counts.sum()
    return places


@dataclass(frozen=True, slots=True, eq=False)
class HandBasis:
    """The numbers that stand for a hand at a position, by its strength.

    Args:
        places: as `places_of` gives them.
        hats: how many hat functions.

    >>> basis = HandBasis.of(np.linspace(0, 1, 743, dtype=np.float32)[None].repeat(4, 0), hats=3)
    >>> basis.table[0, 371].tolist(), basis.size
    ([0.0, 0.0, 1.0, 0.0], 17)
    """

    table: Floats

    @classmethod
    def of(cls, places: Floats, *, hats: int) -> HandBasis:
        """Return the basis of some places."""
        knots = np.arange(hats, dtype=np.float32)
        table = np.zeros((*places.shape, hats + 1), np.float32)
        table[:, :, 1:] = np.clip(1 - np.abs(places[:, :, None] * np.float32(hats - 1) - knots), 0, 1)
        table[:, 0] = 0
        table[:, 0, 0] = 1
        return cls(table)

    @property
    def size(self) -> int:
        """How many numbers stand for an arrangement."""
        return MOST_HANDS * int(self.table.shape[2]) + 1

    def inputs(self, found: CandidateBatch) -> Floats:
        """Return the numbers of each arrangement: float32 (m, size)."""
        rows = len(found.strengths)
        out = np.empty((rows, self.size), np.float32)
        width = self.table.shape[2]
        for hand in range(MOST_HANDS):
            out[:, hand * width : (hand + 1) * width] = self.table[hand][found.strengths[:, hand]]
        out[:, -1] = found.quads
        return out


@cache
def _need_features() -> Floats:
    """Numbers by what a seat needs, row 0 for a seat that is not there: float32 (16, 10)."""
    table = np.zeros((_MOST_NEED + 1, _NEED_FEATURES), np.float32)
    for need in range(1, _MOST_NEED + 1):
        table[need, :3] = 1, need / _MOST_NEED, 1 / need
        table[need, 2 + min(need, _ONE_HOT)] = 1
    return table


@cache
def _options(rules: CrashRules) -> Floats:
    """The rules as numbers."""
    return np.array(
        [
            rules.finish == "round_end",
            rules.crash_reward == "game",
            rules.crash_points / 3,
            rules.crash_call == "optional",
            rules.crash_call == "required",
            rules.quads_bonus,
            rules.has_exchange,
            rules.cards_dealt / 13,
            *(rules.lowest_hand == name for name in ("high_card", "pair", "flush")),
            rules.flush_high == "three",
            *(rules.players == players for players in range(2, MOST_PLAYERS + 1)),
        ],
        np.float32,
    )


def contexts_of(views: ViewBatch, *, most_need: int = _MOST_NEED) -> Floats:
    """Return the context of each view: float32 (n, CONTEXT_SIZE).

    Args:
        views: whose.
        most_need: larger needs count as this.
    """
    from . import _kernels_solver_cards as kernels

    rules, rows = views.rules, len(views)
    n = rules.players
    turn = (views.seat[:, None].astype(np.int64) + np.arange(n)) % n
    needs = np.zeros((rows, MOST_PLAYERS), np.int64)
    scores = np.take_along_axis(views.scores, turn, axis=1)
    needs[:, :n] = np.clip(rules.target - scores, 1, min(most_need, _MOST_NEED))
    out = np.zeros((rows, CONTEXT_SIZE), np.float32)
    at = MOST_PLAYERS * _NEED_FEATURES
    out[:, :at] = _need_features()[needs].reshape(rows, at)
    out[np.arange(rows), at + (views.dealer.astype(np.int64) - views.seat) % n] = 1
    for choices in (views.exchanges, views.calls):
        said = np.take_along_axis(choices, turn, axis=1)
        for choice in (0, 1):
            at += MOST_PLAYERS
            out[:, at : at + n] = said == choice
    at += MOST_PLAYERS
    gave = views.given_up[:, 0] >= 0
    out[:, at] = gave
    known = np.empty((rows, _CARD_FEATURES))
    kernels.card_features(views.cards, views.given_up, known, 0, rows)
    out[:, at + 1 : at + 1 + _CARD_FEATURES] = known * _SCALES
    at += 1 + _CARD_FEATURES
    if gave.any():
        some, cards = np.nonzero(views.given_up >= 0)
        ranks = views.given_up[some, cards].astype(np.int64) // 4  # in the cards' own 8 bits, `at` would run over
        np.add.at(out, (some, at + ranks), np.float32(0.5))
    at += _RANKS
    out[:, at:] = _options(rules)
    return out


# Counts of ranks are 0 to 4, sizes of suits 0 to 26, the square of the largest up to 676.
_SCALES = np.array([0.5] * 13 + [1.0] * 26 + [0.2] * 4 + [0.02])
