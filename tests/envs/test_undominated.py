"""The undominated set (RULES section 6): the search against exhaustive enumeration, its twin, and known facts."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import Int8, clustered_deals, ids, quads_deals, random_deals, texts
from oracles import enumerate_np, ranking
from oracles.cards import read_cards
from prial.envs.brag import strength_table
from prial.envs.crash import _kernels_search as _kernels
from prial.envs.crash.partitions import (
    CandidateBatch,
    Candidates,
    legal_partitions,
    partition_slots,
    triple_strengths,
    undominated,
    undominated_many,
)
from prial.envs.crash.rules import CrashRules
from twins import search as twin

LOWEST = ("high_card", "pair", "flush")
FLUSH = ("ace", "three")
LARGE = {
    "3c 3h 4h 6c 6h 7d 7h 9h Th Ts Qh Kh Ah": 676,
    "2c 2h 4h 5h 5s 7h 8h Tc Th Jh Kh Ah As": 736,
}


def _rules(cards: int, lowest_hand: str, flush_high: str, quads_bonus: int) -> CrashRules:
    options: dict[str, Any] = {"lowest_hand": lowest_hand, "flush_high": flush_high, "quads_bonus": quads_bonus}
    return CrashRules(players=2, cards_dealt=cards, **options)


def _mixed_deals(seed: int, count: int, cards: int) -> Int8:
    """Half of them plain; a quarter each with whole four of a kind, and from few ranks."""
    rest = count - count // 2
    quads = quads_deals(seed + 1, rest // 2, cards)
    return np.vstack([random_deals(seed, count // 2, cards), quads, clustered_deals(seed + 2, rest - rest // 2, cards)])


def _values(found: Candidates, rules: CrashRules) -> list[tuple[int, ...]]:
    """Values as the oracle writes them."""
    strengths = found.strengths[:, : rules.hands].tolist()
    return [(*row, quads * rules.quads_bonus) for row, quads in zip(strengths, found.quads.tolist(), strict=True)]


def _check_against_oracle(deal: Int8, found: Candidates, rules: CrashRules) -> None:
    held = texts(deal.tolist())
    values = _values(found, rules)
    expected = enumerate_np.undominated_values(
        held, lowest_hand=rules.lowest_hand, flush_high=rules.flush_high, quads_bonus=rules.quads_bonus
    )
    assert len(values) == len(set(values)), f"{held}: a value has two representatives"
    assert set(values) == expected, held
    assert (found.strengths[:, rules.hands :] == 0).all()
    for partition, value in zip(found.partitions.tolist(), values, strict=True):
        hands = [[held[slot] for slot in triple] for triple in partition_slots(partition, len(held))]
        assert all(ranking.is_hand(hand, lowest_hand=rules.lowest_hand) for hand in hands)
        strengths = sorted((ranking.strength(hand, flush_high=rules.flush_high) for hand in hands), reverse=True)
        assert (*strengths, *[0] * (rules.hands - len(hands))) == value[:-1], held
        ranks = [card[0] for hand in hands for card in hand]
        assert sum(ranks.count(rank) == 4 for rank in set(ranks)) * rules.quads_bonus == value[-1], held


def _compare(cards: int, lowest_hand: str, flush_high: str, quads_bonus: int, deals: Int8) -> None:
    rules = _rules(cards, lowest_hand, flush_high, quads_bonus)
    batch = undominated_many(deals, rules)
    for number, deal in enumerate(deals):
        _check_against_oracle(deal, batch[number], rules)


@pytest.mark.parametrize("cards", [6, 7, 9, 10, 13])
@pytest.mark.parametrize("quads_bonus", [0, 1])
@pytest.mark.parametrize("flush_high", FLUSH)
@pytest.mark.parametrize("lowest_hand", LOWEST)
def test_values_are_those_of_exhaustive_enumeration(
    lowest_hand: str, flush_high: str, quads_bonus: int, cards: int
) -> None:
    """Every valid arrangement of hundreds of deals, by the oracle; one representative each."""
    heavy = cards == 13 and lowest_hand == "high_card"  # the rest of these deals is in the slow test below
    count = 24 if heavy else 200 if cards == 13 else 300
    _compare(cards, lowest_hand, flush_high, quads_bonus, _mixed_deals(10 * cards, count, cards))


@pytest.mark.slow
@pytest.mark.parametrize("quads_bonus", [0, 1])
@pytest.mark.parametrize("flush_high", FLUSH)
def test_values_of_13_cards_where_everything_counts(flush_high: str, quads_bonus: int) -> None:
    _compare(13, "high_card", flush_high, quads_bonus, _mixed_deals(77, 200, 13))


@pytest.mark.parametrize("cards", [3, 4, 5, 8, 11, 12])
@pytest.mark.parametrize("lowest_hand", LOWEST)
def test_values_of_the_other_numbers_of_cards(lowest_hand: str, cards: int) -> None:
    count = 10 if cards > 10 and lowest_hand == "high_card" else 60
    for flush_high, quads_bonus in product(FLUSH, (0, 2)):
        _compare(cards, lowest_hand, flush_high, quads_bonus, _mixed_deals(10 * cards + 1, count, cards))


@pytest.mark.parametrize("ranks", ["2345A", "9TJQKA", "23789TQKA"])
def test_values_of_short_packs(ranks: str) -> None:
    """Gaps do not close: A-2-3 and Q-K-A stay runs, 3-7-8 never becomes one."""
    pack = [card for card in range(52) if "23456789TJQKA"[card // 4] in ranks]
    for cards, flush_high in product((6, 9), FLUSH):
        _compare(cards, "pair", flush_high, 1, random_deals(5, 60, cards, pack=pack))


@pytest.mark.parametrize(("cards", "size"), LARGE.items())
@pytest.mark.parametrize("quads_bonus", [0, 1])
def test_large_deals_of_rules_section_6(cards: str, size: int, quads_bonus: int) -> None:
    rules = CrashRules.preset("online", quads_bonus=quads_bonus)
    deal = np.array(ids(read_cards(cards)), np.int8)
    found = undominated(deal.tolist(), rules)
    assert len(found) == size
    _check_against_oracle(deal, found, rules)


@pytest.mark.parametrize("flush_high", FLUSH)
@pytest.mark.parametrize("lowest_hand", LOWEST)
def test_deals_heavy_with_quads(lowest_hand: str, flush_high: str) -> None:
    """Two or three whole ranks: laying them costs strength, so the quads dimension matters."""
    heavy = lowest_hand == "high_card"
    deals = quads_deals(21, 8 if heavy else 120, 13)
    _compare(13, lowest_hand, flush_high, 1, deals)
    both = [undominated_many(deals, _rules(13, lowest_hand, flush_high, bonus)) for bonus in (0, 1)]
    assert both[1].counts.sum() > both[0].counts.sum()
    assert (both[0].quads == 0).all()
    assert both[1].quads.max() >= 2


@pytest.mark.parametrize("quads_bonus", [0, 1])
@pytest.mark.parametrize("flush_high", FLUSH)
@pytest.mark.parametrize(
    ("lowest_hand", "cards", "count"),
    [
        *((lowest, cards, 100) for lowest in LOWEST for cards in (3, 6, 7)),
        *((lowest, 9, 30) for lowest in LOWEST),
        ("high_card", 10, 8),
        ("pair", 10, 60),
        ("pair", 12, 20),
        ("pair", 13, 40),
        ("flush", 13, 60),
    ],
)
def test_the_search_agrees_with_its_twin_to_the_representative(
    lowest_hand: str, cards: int, count: int, flush_high: str, quads_bonus: int
) -> None:
    rules = _rules(cards, lowest_hand, flush_high, quads_bonus)
    deals = _mixed_deals(31 * cards, count, cards)
    batch = undominated_many(deals, rules)
    for number, deal in enumerate(deals.tolist()):
        strengths = triple_strengths(deal, rules).tolist()
        expected = twin.undominated(deal, strengths, count_quads=quads_bonus > 0)
        found = batch[number]
        values = [(*row, quads) for row, quads in zip(found.strengths.tolist(), found.quads.tolist(), strict=True)]
        assert values == [laid.value for laid in expected]
        slots = [partition_slots(partition, cards) for partition in found.partitions.tolist()]
        assert slots == [tuple(sorted(laid.triples)) for laid in expected]


@pytest.mark.slow
def test_the_twin_agrees_on_13_cards_where_everything_counts() -> None:
    rules = _rules(13, "high_card", "three", 1)
    for deal in _mixed_deals(5, 6, 13).tolist():
        expected = twin.undominated(deal, triple_strengths(deal, rules).tolist(), count_quads=True)
        found = undominated(deal, rules)
        slots = [partition_slots(partition, 13) for partition in found.partitions.tolist()]
        assert slots == [tuple(sorted(laid.triples)) for laid in expected]


@pytest.mark.parametrize("lowest_hand", LOWEST)
def test_suits_are_interchangeable(lowest_hand: str) -> None:
    """All 24 permutations of 1,000 deals."""
    deals = np.vstack([random_deals(41, 700, 13), quads_deals(42, 150, 13), clustered_deals(43, 150, 13)])
    rules = _rules(13, lowest_hand, "ace", 1)
    before = undominated_many(deals, rules)
    for suits in permutations(range(4)):
        moved = np.sort(4 * (deals // 4) + np.array(suits, np.int8)[deals % 4], axis=1)
        after = undominated_many(moved, rules)
        assert (after.offsets == before.offsets).all()
        assert (after.strengths == before.strengths).all()
        assert (after.quads == before.quads).all()


some_rules = st.builds(
    _rules, st.integers(3, 13), st.sampled_from(LOWEST), st.sampled_from(FLUSH), st.sampled_from([0, 1])
)


@given(st.data(), some_rules)
def test_whatever_can_be_laid_is_matched_and_nothing_kept_dominates_another(
    data: st.DataObject, rules: CrashRules
) -> None:
    deal = sorted(data.draw(st.permutations(range(52)))[: rules.cards_dealt])
    found = undominated(deal, rules)
    values = np.column_stack([found.strengths, found.quads]).astype(int)
    for value in values:  # nothing kept is at least as good as another everywhere
        assert (values >= value).all(axis=1).sum() == 1
    assert (np.diff(found.strengths.astype(int), axis=1) <= 0).all()
    assert values.tolist() == sorted(values.tolist(), reverse=True)
    legal = np.flatnonzero(legal_partitions(deal, rules))
    assert set(found.partitions.tolist()) <= set(legal.tolist())
    table = triple_strengths(deal, rules)
    ranks = [card // 4 for card in deal]
    for index in data.draw(st.lists(st.sampled_from(legal.tolist()), min_size=1, max_size=20)):
        triples = partition_slots(index, len(deal))
        strengths = sorted((int(table[k * (k - 1) * (k - 2) // 6 + j * (j - 1) // 2 + i]) for i, j, k in triples))
        laid = [ranks[slot] for triple in triples for slot in triple]
        quads = sum(laid.count(rank) == 4 for rank in set(laid)) if rules.quads_bonus else 0
        value = np.array([*strengths[::-1], *[0] * (4 - len(triples)), quads])
        assert (values >= value).all(axis=1).any()


@pytest.mark.parametrize(("flush_high", "mean", "single"), [("ace", 5.60, 0.139), ("three", 5.46, 0.143)])
def test_sampled_facts_of_rules_section_6(flush_high: str, mean: float, single: float) -> None:
    """200,000 deals; five standard errors, and half a unit of the last figure given."""
    counts = undominated_many(random_deals(51, 200_000, 13), _rules(13, "pair", flush_high, 1)).counts
    error = counts.std() / np.sqrt(len(counts))
    assert abs(counts.mean() - mean) < 5 * error + 0.005
    assert abs((counts == 1).mean() - single) < 5 * np.sqrt(single * (1 - single) / len(counts)) + 0.0005
    assert np.median(counts) == 4
    if flush_high == "ace":
        assert 85 < np.quantile(counts, 0.9999) < 125


def test_deals_beyond_every_buffer() -> None:
    """1,360 arrangements of one deal, and many large deals at once: buffers grow without a trace."""
    deal = list(ids(read_cards("2h 4d 5d 7d 8d Tc Td Jc Jd Kd Ks Ad Ah")))
    rules = _rules(13, "high_card", "three", 0)
    found = undominated(deal, rules)
    assert len(found) == 1360
    strengths = found.strengths.astype(int)
    assert not any((strengths >= row).all(axis=1).sum() > 1 for row in strengths)
    many = undominated_many([deal] * 50, rules)
    assert (many.counts == 1360).all()
    assert (many.partitions.reshape(50, -1) == found.partitions).all()
    assert (many.strengths.reshape(50, -1, 4) == found.strengths).all()


def test_the_search_says_when_its_buffer_is_full() -> None:
    deal = np.array(ids(read_cards(next(iter(LARGE)))), np.int8)
    rules = CrashRules.preset("online")
    table = strength_table(rules.flush_order, rules.lowest_class)
    room = _kernels.make_scratch()
    count = _kernels.look_up_keys(deal, table, room.looked_up, room.keys)
    _kernels.sort_triples(room.keys, count, room.slots, room.strong)
    assert count <= 128
    sizes = {}
    for size in (4, 64, 676, 678, 1024):
        found, laid = np.empty(size, np.uint64), np.empty(size, np.uint64)
        given = (room.slots, room.strong, room.quads, 0, _kernels.REACH[4], found, laid)
        sizes[size] = _kernels.search_few(count, room.rows, *given)
        first = found.copy(), laid.copy()
        assert _kernels.search_many(count, room.rows, *given) == sizes[size]  # both lengths of rows come to the same
        if sizes[size] > 0:
            assert (found[: sizes[size]] == first[0][: sizes[size]]).all()
            assert (laid[: sizes[size]] == first[1][: sizes[size]]).all()
    assert sizes == {4: -1, 64: -1, 676: -1, 678: sizes[678], 1024: 676}
    assert sizes[678] in (-1, 676)


def test_a_deal_without_hands_lays_nothing() -> None:
    deal = list(ids(read_cards("2c 4d 6h 8s Tc Qd")))
    found = undominated(deal, _rules(6, "pair", "ace", 1))
    assert found.partitions.tolist() == [0]
    assert found.strengths.tolist() == [[0, 0, 0, 0]]
    assert found.quads.tolist() == [0]


@pytest.mark.parametrize(
    ("deals", "message"),
    [
        (range(13), "expected a matrix"),
        ([[[0, 1, 2]]], "expected a matrix"),
        ([[0, 1]], "3 to 13 cards, not 2"),
        ([list(range(14))], "3 to 13 cards, not 14"),
        ([[2, 1, 0]], "ascending"),
        ([[0, 1, 1]], "ascending"),
        ([[-1, 1, 2]], "0 to 51"),
        ([[0, 1, 52]], "0 to 51"),
    ],
)
def test_what_is_no_deal_is_refused(deals: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        undominated_many(deals, CrashRules())


@pytest.mark.parametrize("wild", [300, 2**40, 0.5])
def test_numbers_beyond_int8_do_not_wrap_into_cards(wild: float) -> None:
    with pytest.raises(ValueError, match="card ids"):
        undominated_many(np.array([[0, 1, wild]]), CrashRules(cards_dealt=3))


def test_a_batch_is_its_deals_one_after_another() -> None:
    deals = random_deals(61, 40, 9)
    rules = _rules(9, "pair", "ace", 1)
    batch = undominated_many(deals, rules)
    assert isinstance(batch, CandidateBatch)
    assert len(batch) == 40
    assert batch.offsets[0] == 0
    assert batch.offsets[-1] == len(batch.partitions)
    for number, deal in enumerate(deals):
        one = undominated(deal.tolist(), rules)
        assert len(batch[number]) == len(one) == batch.counts[number]
        for name in ("partitions", "strengths", "quads"):
            assert (getattr(batch[number], name) == getattr(one, name)).all()
            assert getattr(batch, name).dtype == getattr(one, name).dtype
    nothing = undominated_many(np.zeros((0, 9), np.int8), rules)
    assert (len(nothing), len(nothing.partitions)) == (0, 0)


def test_best_rows_picks_the_first_of_the_highest() -> None:
    rng = np.random.default_rng(71)
    batch = undominated_many(random_deals(72, 200, 13), CrashRules())
    values = rng.integers(0, 3, len(batch.partitions)).astype(float)
    rows = batch.best_rows(values)
    for deal, row in enumerate(rows.tolist()):
        start, stop = batch.offsets[deal : deal + 2].tolist()
        assert row == start + int(np.argmax(values[start:stop]))
