"""Twins of the partition kernels: the numbering by listing it, legality by asking every hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

Triple = tuple[int, int, int]


def splits(slots: tuple[int, ...]) -> Iterator[tuple[Triple, ...]]:
    """Every way to split slots into triples; the lowest slot picks its partners first."""
    if not slots:
        yield ()
        return
    lowest, *others = slots
    for pair in combinations(others, 2):
        rest = tuple(slot for slot in others if slot not in pair)
        for more in splits(rest):
            yield ((lowest, *pair), *more)


def partitions(num_cards: int) -> Iterator[tuple[Triple, ...]]:
    """Every partition in the order of the canonical index."""
    for hands in range(min(4, num_cards // 3) + 1):
        used_sets = [
            tuple(slot for slot in range(num_cards) if mask >> slot & 1)
            for mask in range(1 << num_cards)
            if mask.bit_count() == 3 * hands
        ]
        for used in used_sets:
            yield from splits(used)


def colex(triple: Triple) -> int:
    """Place of a triple of slots among all, ordered by the highest slot, then the next."""
    i, j, k = triple
    return k * (k - 1) * (k - 2) // 6 + j * (j - 1) // 2 + i


def legal_mask(table: Sequence[Sequence[int]], valid: Sequence[bool]) -> list[int]:
    """Twin of `_kernels.legal_mask`."""
    return [int(all(valid[triple] for triple in row if triple >= 0)) for row in table]
