"""The undominated values of a deal again, by arrays: another formulation than `enumerate`.

Hands are bit masks over the cards, sets of hands are found by pairwise overlap, and the
undominated values by sweeping from the largest sum of places downwards.
"""

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from . import ranking
from .cards import RANKS
from .enumerate import Value

Ints = npt.NDArray[np.int64]


@cache
def _triples(cards_dealt: int) -> tuple[tuple[int, int, int], ...]:
    return tuple(combinations(range(cards_dealt), 3))


@cache
def _hand_sets(cards_dealt: int) -> Ints:
    """(m, 4) numbers of triples, increasing within a row; the number of triples stands for none."""
    triples = _triples(cards_dealt)
    masks = np.array([sum(1 << index for index in triple) for triple in triples], dtype=np.int64)
    none = len(triples)
    rows = np.empty((1, 0), dtype=np.int64)
    used = np.zeros(1, dtype=np.int64)
    found = [np.full((1, 4), none, dtype=np.int64)]
    for hands in range(1, min(4, cards_dealt // 3) + 1):
        new_rows, new_used = [], []
        for number, mask in enumerate(masks):
            fits = (used & mask) == 0
            if hands > 1:
                fits &= rows[:, -1] < number
            added = np.full((int(fits.sum()), 1), number, dtype=np.int64)
            new_rows.append(np.hstack([rows[fits], added]))
            new_used.append(used[fits] | mask)
        rows, used = np.vstack(new_rows), np.concatenate(new_used)
        empty = np.full((len(rows), 4 - hands), none, dtype=np.int64)
        found.append(np.hstack([rows, empty]))
    return np.vstack(found)


def count_arrangements(cards: Sequence[str], *, lowest_hand: str) -> int:
    """How many arrangements can be laid; equal hands in either order are one arrangement."""
    return len(_legal_sets(cards, lowest_hand=lowest_hand))


def _legal_sets(cards: Sequence[str], *, lowest_hand: str) -> Ints:
    valid = [
        ranking.is_hand([cards[index] for index in triple], lowest_hand=lowest_hand) for triple in _triples(len(cards))
    ]
    sets = _hand_sets(len(cards))
    return sets[np.array([*valid, True])[sets].all(axis=1)]


def all_values(cards: Sequence[str], *, lowest_hand: str, flush_high: str, quads_bonus: int) -> Ints:
    """(m, hands + 1) values of all arrangements, as `enumerate.value` gives them, with repeats."""
    triples = _triples(len(cards))
    hands = [[cards[index] for index in triple] for triple in triples]
    strength = np.array([*(ranking.strength(hand, flush_high=flush_high) for hand in hands), 0])
    sets = _legal_sets(cards, lowest_hand=lowest_hand)
    strengths = -np.sort(-strength[sets], axis=1)[:, : min(4, len(cards) // 3)]
    quads = np.zeros(len(sets), dtype=np.int64)
    for rank in RANKS:
        if [card[0] for card in cards].count(rank) < 4:
            continue  # cannot be laid whole
        of_rank = np.array([*([card[0] for card in hand].count(rank) for hand in hands), 0])
        quads += of_rank[sets].sum(axis=1) == 4
    return np.column_stack([strengths, quads * quads_bonus])


def undominated_values(cards: Sequence[str], *, lowest_hand: str, flush_high: str, quads_bonus: int) -> set[Value]:
    """As `enumerate.undominated_values`.

    What dominates has the larger sum of places. So of the values left, one with the largest sum
    is dominated by none of them; it is kept, and it and all that it dominates are taken out.
    """
    left = all_values(cards, lowest_hand=lowest_hand, flush_high=flush_high, quads_bonus=quads_bonus)
    left = left[np.argsort(-left.sum(axis=1), kind="stable")]
    kept: set[Value] = set()
    while len(left):
        top = left[0]
        kept.add(tuple(int(place) for place in top))
        left = left[(left > top).any(axis=1)]
    return kept
