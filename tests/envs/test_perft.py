"""Counts of legal and undominated arrangements of known deals (tests/data/SOURCE.md)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from bridge import ids
from oracles.cards import read_cards
from prial.envs.brag import describe_strength
from prial.envs.crash.partitions import laid_triples, legal_partitions, undominated
from prial.envs.crash.rules import CrashRules

FILE = Path(__file__).parents[1] / "data" / "perft.txt"


class Line(NamedTuple):
    deal: tuple[int, ...]
    rules: CrashRules
    legal: int
    undominated: int


def _read(text: str) -> Line:
    cards, options, legal, kept = (part.strip() for part in text.split("|"))
    pairs = dict(pair.split("=") for pair in options.split())
    deal = ids(read_cards(cards))
    bonus = int(pairs.pop("quads_bonus"))
    rules = CrashRules.from_dict({"players": 2, "cards_dealt": len(deal), "quads_bonus": bonus, **pairs})
    return Line(deal, rules, int(legal), int(kept))


LINES = [line for line in FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


def _by_hand_1(partitions: list[int], line: Line) -> str:
    """Counts below each Hand 1, to find where a wrong total comes from."""
    first = [next((s for s, _ in laid_triples(index, line.deal, line.rules)), 0) for index in partitions]
    flush_high = line.rules.flush_order
    counts = sorted(Counter(first).items(), reverse=True)
    return "\n".join(f"{describe_strength(s, flush_high=flush_high)}: {count}" for s, count in counts)


@pytest.mark.parametrize("text", LINES)
def test_perft(text: str) -> None:
    line = _read(text)
    legal = np.flatnonzero(legal_partitions(line.deal, line.rules)).tolist()
    assert len(legal) == line.legal, f"legal arrangements by Hand 1:\n{_by_hand_1(legal, line)}"
    kept = undominated(line.deal, line.rules).partitions.tolist()
    assert len(kept) == line.undominated, f"undominated arrangements by Hand 1:\n{_by_hand_1(kept, line)}"


def test_the_file_covers_every_number_of_cards_and_option() -> None:
    lines = [_read(text) for text in LINES]
    assert {len(line.deal) for line in lines} == set(range(3, 14))
    assert {line.rules.lowest_hand for line in lines} == {"high_card", "pair", "flush"}
    assert {line.rules.flush_high for line in lines} == {"ace", "three"}
    assert {line.rules.quads_bonus for line in lines} == {0, 1}
    assert max(line.undominated for line in lines) == 1360


def test_a_wrong_count_shows_the_counts_by_hand_1() -> None:
    line = _read("9s 9h Kd 8s 7h 6d | lowest_hand=pair flush_high=ace quads_bonus=0 | 1 | 1")
    legal = np.flatnonzero(legal_partitions(line.deal, line.rules)).tolist()
    assert _by_hand_1(legal, line).splitlines()[-1] == "no hand: 1"
