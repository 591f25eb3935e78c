"""Canonical index of partitions, and which may be laid (RULES section 6; DESIGN "Actions")."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import clustered_deals, random_deals, texts
from oracles import enumerate as plain
from oracles import ranking
from prial.envs.brag import triple_index
from prial.envs.crash import _kernels
from prial.envs.crash.actions import action_layout
from prial.envs.crash.partitions import (
    laid_triples,
    legal_partitions,
    num_partitions,
    partition_index,
    partition_slots,
    partition_table,
    triple_strengths,
)
from prial.envs.crash.rules import CrashRules
from twins import partitions as twin

SIZES = range(3, 14)
BY_HANDS = {
    3: [1, 1],
    6: [1, 20, 10],
    7: [1, 35, 70],
    9: [1, 84, 840, 280],
    10: [1, 120, 2100, 2800],
    13: [1, 286, 17_160, 200_200, 200_200],
}


def test_counts_of_rules_section_6() -> None:
    for cards, counts in BY_HANDS.items():
        hands = (partition_table(cards) >= 0).sum(axis=1)
        assert np.bincount(hands).tolist() == counts
        assert num_partitions(cards) == len(partition_table(cards)) == sum(counts)
    assert [num_partitions(n) for n in (6, 7, 9, 10, 13)] == [31, 106, 1205, 5021, 417_847]


@pytest.mark.parametrize("cards", range(3, 11))
def test_counts_agree_with_the_oracle(cards: int) -> None:
    assert np.bincount((partition_table(cards) >= 0).sum(axis=1)).tolist() == plain.partition_counts(cards)


@pytest.mark.parametrize("cards", SIZES)
def test_every_index_goes_to_its_partition_and_back(cards: int) -> None:
    """All of them, through every door: the listing twin, the table, both functions, and the kernel."""
    table = partition_table(cards)
    triples = [(i, j, k) for k in range(cards) for j in range(k) for i in range(j)]
    # The kernel is given four packed masks of slots, in the order of strength and so in any order of slots.
    masks = np.array([*(1 << i | 1 << j | 1 << k for i, j, k in triples), 0], np.uint64)[table]
    packed = (masks << np.array([39, 26, 13, 0], np.uint64)).sum(axis=1, dtype=np.uint64)
    turned = (masks << np.array([0, 13, 26, 39], np.uint64)).sum(axis=1, dtype=np.uint64)
    count = -1
    for count, laid in enumerate(twin.partitions(cards)):
        assert partition_slots(count, cards) == laid
        assert partition_index(laid[::-1], cards) == count
        assert tuple(triples[t] for t in table[count] if t >= 0) == laid
        assert _kernels.partition_index_of(cards, packed[count]) == count
        assert _kernels.partition_index_of(cards, turned[count]) == count
    assert count == num_partitions(cards) - 1


def test_the_order_is_the_documented_one() -> None:
    table = partition_table(13)
    hands = (table >= 0).sum(axis=1)
    assert (np.diff(hands) >= 0).all()
    assert partition_slots(0, 13) == ()
    assert partition_slots(1, 13) == ((0, 1, 2),)
    assert partition_slots(286, 13) == ((10, 11, 12),)
    assert partition_slots(287, 13) == ((0, 1, 2), (3, 4, 5))
    assert partition_slots(417_846, 13) == ((1, 11, 12), (2, 9, 10), (3, 7, 8), (4, 5, 6))
    assert table.dtype == np.int16
    with pytest.raises(ValueError, match="read-only"):
        table[0, 0] = 1


@given(st.data(), st.integers(3, 13))
def test_hands_and_slots_may_come_in_any_order(data: st.DataObject, cards: int) -> None:
    index = data.draw(st.integers(0, num_partitions(cards) - 1))
    laid = partition_slots(index, cards)
    mixed = data.draw(st.permutations([tuple(data.draw(st.permutations(triple))) for triple in laid]))
    assert partition_index(mixed, cards) == index
    assert partition_index(np.array(mixed, np.int8).reshape(-1, 3), cards) == index


@pytest.mark.parametrize("cards", SIZES)
def test_indices_end_where_the_action_layout_goes_on(cards: int) -> None:
    size = num_partitions(cards)
    layout = action_layout(CrashRules(players=2, cards_dealt=cards))
    assert (layout.partitions, layout.keep, layout.exchange, layout.pass_, layout.call, layout.noop) == tuple(
        size + i for i in (0, 0, 1, 2, 3, 4)
    )
    assert layout.size == size + 4
    for bad in (-1, size, size + 4):
        with pytest.raises(ValueError, match=f"partition {bad} of {cards} cards: expected 0 to {size - 1}"):
            partition_slots(bad, cards)
    assert [layout.describe(a) for a in range(size, size + 5)] == ["keep", "exchange", "pass", "call", "noop"]
    assert layout.describe(size - 1) == f"arrangement {size - 1}"
    for nothing in (-1, size + 5):
        assert layout.describe(nothing) == f"no action (0 to {size + 4} are)"


@pytest.mark.parametrize("cards", [-1, 0, 2, 14])
def test_a_deal_has_3_to_13_cards(cards: int) -> None:
    for ask in (num_partitions, partition_table, lambda n: partition_slots(0, n), lambda n: partition_index([], n)):
        with pytest.raises(ValueError, match="3 to 13 cards"):
            ask(cards)


@pytest.mark.parametrize(
    ("triples", "cards", "message"),
    [
        ([(0, 1, 2), (2, 3, 4)], 13, "different slots"),
        ([(0, 1, 1)], 13, "different slots"),
        ([(0, 1, 13)], 13, "different slots from 0 to 12"),
        ([(-1, 1, 2)], 13, "different slots"),
        ([(0, 1)], 13, "exactly three slots"),
        ([(0, 1, 2, 3)], 13, "exactly three slots"),
        ([(0, 1, 2), (3, 4, 5)], 5, "up to 1 hands"),
        ([(3 * i, 3 * i + 1, 3 * i + 2) for i in range(5)], 13, "up to 4 hands"),
    ],
)
def test_what_is_no_partition_is_refused(triples: list[tuple[int, ...]], cards: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        partition_index(triples, cards)


OPTIONS = [(lowest, flush) for lowest in ("high_card", "pair", "flush") for flush in ("ace", "three")]


@pytest.mark.parametrize(("lowest_hand", "flush_high"), OPTIONS)
@pytest.mark.parametrize(("cards", "deals"), [(3, 60), (6, 60), (7, 40), (9, 15), (10, 6)])
def test_legal_partitions_are_those_that_can_be_laid(lowest_hand: str, flush_high: str, cards: int, deals: int) -> None:
    rules = CrashRules(players=2, cards_dealt=cards, lowest_hand=lowest_hand, flush_high=flush_high)  # type: ignore[arg-type]
    for deal in [*random_deals(1, deals, cards).tolist(), *clustered_deals(2, deals, cards).tolist()]:
        held = texts(deal)
        slot = {card: place for place, card in enumerate(held)}
        legal = np.zeros(num_partitions(cards), np.int8)
        for laid in plain.arrangements(held, lowest_hand=lowest_hand, flush_high=flush_high):
            legal[partition_index([[slot[card] for card in hand] for hand in laid], cards)] = 1
        mask = legal_partitions(deal, rules)
        assert mask.dtype == np.int8
        assert (mask == legal).all()


@pytest.mark.parametrize(("lowest_hand", "flush_high"), OPTIONS)
def test_legal_partitions_of_13_cards(lowest_hand: str, flush_high: str) -> None:
    """Against the twin on the whole table; each triple's validity against the oracle."""
    rules = CrashRules(lowest_hand=lowest_hand, flush_high=flush_high)  # type: ignore[arg-type]
    table = partition_table(13)
    triples = [(i, j, k) for k in range(13) for j in range(k) for i in range(j)]
    deals = random_deals(3, 3, 13).tolist()
    for number, deal in enumerate(deals):
        strengths = triple_strengths(deal, rules)
        for triple, strength in zip(triples, strengths.tolist(), strict=True):
            cards = texts(deal[slot] for slot in triple)
            valid = ranking.is_hand(cards, lowest_hand=lowest_hand)
            assert strength == (ranking.strength(cards, flush_high=flush_high) if valid else 0)
        mask = legal_partitions(deal, rules)
        if number == 0:
            assert mask.tolist() == twin.legal_mask(table.tolist(), (strengths > 0).tolist())
        assert mask[0] == 1
    assert comb(13, 3) == len(triples)


def test_laid_triples_come_strongest_first() -> None:
    rng = np.random.default_rng(4)
    for cards in (6, 9, 13):
        rules = CrashRules(cards_dealt=cards, lowest_hand="high_card")
        for deal in random_deals(5, 50, cards).tolist():
            index = int(rng.integers(num_partitions(cards)))
            laid = laid_triples(index, deal, rules)
            assert sorted(slots for _, slots in laid) == list(partition_slots(index, cards))
            strengths = [strength for strength, _ in laid]
            assert strengths == sorted(strengths, reverse=True)
            table = triple_strengths(deal, rules)
            assert strengths == [int(table[triple_index(*slots)]) for _, slots in laid]


def test_equal_hands_are_laid_in_the_order_of_their_slots() -> None:
    rules = CrashRules(cards_dealt=6, lowest_hand="high_card")
    deal = [0, 1, 4, 5, 16, 17]  # 2c 2d 3c 3d 6c 6d: two equal high cards
    index = partition_index([(1, 3, 5), (0, 2, 4)], 6)
    assert [slots for _, slots in laid_triples(index, deal, rules)] == [(0, 2, 4), (1, 3, 5)]
