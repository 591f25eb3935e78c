"""Deals as a function of (seed, table, number): against an own Philox, pinned, even, independent."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prial.envs.cards import format_cards, pack_ids
from prial.envs.crash.game import Game
from prial.envs.crash.record import record_of
from prial.envs.crash.rules import CrashRules
from prial.envs.deals import DealStream, fresh_seed, learner_seats

MASK = (1 << 64) - 1
# Philox4x64-10: multipliers and Weyl constants of Salmon et al., SC 2011.
M0, M1 = 0xD2E7470EE14C6C93, 0xCA5A826395121157
W0, W1 = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Ten rounds of Philox4x64 in plain integers."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        first, second = M0 * c0, M1 * c2
        c0, c1, c2, c3 = (second >> 64) ^ c1 ^ k0, second & MASK, (first >> 64) ^ c3 ^ k1, first & MASK
        k0, k1 = (k0 + W0) & MASK, (k1 + W1) & MASK
    return [c0, c1, c2, c3]


def test_the_twin_is_philox() -> None:
    """Known answers of the authors' Random123 library (kat_vectors, philox4x64 10)."""
    assert philox([0, 0, 0, 0], [0, 0]) == [
        0x16554D9ECA36314C,
        0xDB20FE9D672D0FDC,
        0xD7E772CEE186176B,
        0x7E68B68AEC7BA23B,
    ]
    assert philox([MASK] * 4, [MASK] * 2) == [
        0x87B092C3013FE90B,
        0x438C3C67BE8D0224,
        0x9CC7D7C69CD777B6,
        0xA09CAEBF594F0BA0,
    ]


def twin_words(seed: int, table: int, deal: int, purpose: int, count: int) -> list[int]:
    """Words of a deal as the docstring of `deals` says; NumPy counts up before each block of four."""
    key = [int(word) for word in np.random.SeedSequence(seed).generate_state(2, np.uint64)]
    words: list[int] = []
    block = 1
    while len(words) < count:
        words += philox([block, deal, table, purpose], key)
        block += 1
    return words[:count]


def twin_shuffle(pack: list[int], words: list[int]) -> list[int]:
    cards = list(pack)
    size = len(cards)
    for i, word in enumerate(words):
        j = i + word * (size - i) // 2**64
        cards[i], cards[j] = cards[j], cards[i]
    return cards[: len(words)]


seeds = st.integers(0, 2**70)
tables = st.integers(0, 2**64 - 1)
deals = st.integers(0, 2**63)


@given(seeds, tables, deals, st.integers(0, 1), st.integers(1, 60))
def test_words_are_those_of_the_twin(seed: int, table: int, deal: int, purpose: int, count: int) -> None:
    stream = DealStream(seed, table)
    assert stream.words(count, deal=deal, purpose=purpose) == twin_words(seed, table, deal, purpose, count)


@given(seeds, tables, deals, st.lists(st.integers(0, 12), min_size=1, unique=True), st.data())
def test_shuffles_are_those_of_the_twin(
    seed: int, table: int, deal: int, ranks: list[int], data: st.DataObject
) -> None:
    pack = list(pack_ids(ranks))
    count = data.draw(st.integers(0, len(pack)))
    stream = DealStream(seed, table)
    dealt = stream.shuffle(pack, deal=deal, count=count)
    assert dealt == twin_shuffle(pack, twin_words(seed, table, deal, 0, count))
    assert sorted(stream.shuffle(pack, deal=deal)) == pack
    assert stream.shuffle(pack, deal=deal)[:count] == dealt


@given(seeds, tables, deals, st.integers(2, 5))
def test_the_first_dealer_is_the_twins(seed: int, table: int, deal: int, players: int) -> None:
    [word] = twin_words(seed, table, deal, 1, 1)
    assert DealStream(seed, table).first_dealer(players, deal=deal) == word * players // 2**64


@given(seeds, st.lists(st.tuples(tables, deals), min_size=1, max_size=5), st.integers(2, 5))
def test_a_learners_seats_are_the_twins(seed: int, games: list[tuple[int, int]], players: int) -> None:
    seats = [twin_words(seed, table, deal, 2, 1)[0] * players // 2**64 for table, deal in games]
    assert [DealStream(seed, table).learner_seat(players, deal=deal) for table, deal in games] == seats
    columns = (np.array(column, np.uint64) for column in zip(*games, strict=True))
    assert learner_seats(seed, *columns, players=players).tolist() == seats


# Deals that must never change: the first 13 cards, and the first dealer of 2, 3, 4, 5 players.
PINNED = [
    (0, 0, 0, "2c 5h 8d 3s Ah 6d Ad 5s 4d 4s Qh 9d 3c", [0, 0, 1, 1]),
    (0, 0, 1, "Ts Ad Kd 8h 4c 5d Js 3d As 8s Td Ac 2d", [0, 0, 1, 1]),
    (0, 1, 0, "2d 5d Qd Tc 5c Kh 5h 2c 3h Ad 3s 6d Jd", [0, 1, 1, 2]),
    (1, 0, 0, "2s 3d 2h Qh 5s 6s 7h 8s Tc Kc Qs 6c 7d", [0, 0, 0, 0]),
    (7, 0, 0, "8c 7h 7c 5h 4h 9d 6s As 5c Qd Qs Tc 6c", [1, 2, 2, 3]),
    (7, 3, 12, "8s 7h 5h 4h Td Kd 2c 7d 7s Ad Kc 8h 6h", [0, 0, 0, 1]),
    (4294967301, 65535, 1000000, "Qh 9s 5h 7h 7c 6s Qs 2h As 4h 4c Jh 3c", [0, 0, 1, 1]),
    (123456789, 18446744073709551615, 1099511627776, "6s 2s Jh 4h 4c 7h 2c 3s As 7s 4d 3c 8s", [1, 2, 3, 4]),
]


@pytest.mark.parametrize(("seed", "table", "deal", "cards", "dealers"), PINNED)
def test_pinned_deals(seed: int, table: int, deal: int, cards: str, dealers: list[int]) -> None:
    stream = DealStream(seed, table)
    assert format_cards(stream.shuffle(range(52), deal=deal, count=13)) == cards
    assert [stream.first_dealer(players, deal=deal) for players in (2, 3, 4, 5)] == dealers
    assert twin_shuffle(list(range(52)), twin_words(seed, table, deal, 0, 13)) == stream.shuffle(
        range(52), deal=deal, count=13
    )


def test_a_deal_depends_on_nothing_else() -> None:
    """Not on order, on other streams, nor on global random state."""
    first = [DealStream(3, 1).shuffle(range(52), deal=d) for d in range(20)]
    np.random.seed(0)  # noqa: NPY002 (shows that it does not matter)
    second = {}
    for d in reversed(range(20)):
        DealStream(4, 1).shuffle(range(52), deal=d)
        second[d] = DealStream(3, 1).shuffle(range(52), deal=d)
    assert first == [second[d] for d in range(20)]


def test_seed_table_and_deal_all_matter() -> None:
    shuffles = {
        tuple(DealStream(seed, table).shuffle(range(52), deal=deal))
        for seed in range(8)
        for table in range(8)
        for deal in range(8)
    }
    assert len(shuffles) == 512


def _chi_square_fits(counts: np.ndarray, expected: float) -> None:
    """Within five standard deviations of its mean (a fixed seed: it passes or fails for ever)."""
    statistic = float(((counts - expected) ** 2 / expected).sum())
    freedom = counts.size - 1
    assert abs(statistic - freedom) < 5 * math.sqrt(2 * freedom), statistic


@pytest.mark.parametrize("by", ["deal", "table", "seed"])
def test_every_card_falls_evenly_everywhere(by: str) -> None:
    """Cards by place, and pairs of neighbouring cards, along each of the three coordinates."""
    size = 6000
    streams = {
        "deal": lambda i: DealStream(11).shuffle(range(52), deal=i),
        "table": lambda i: DealStream(11, i).shuffle(range(52), deal=0),
        "seed": lambda i: DealStream(i).shuffle(range(52), deal=0),
    }
    rows = np.array([streams[by](i) for i in range(size)])
    places = np.zeros((52, 52))
    pairs = np.zeros((52, 52))
    for place in range(52):
        places[place] = np.bincount(rows[:, place], minlength=52)
        np.add.at(pairs, (rows[:, place - 1], rows[:, place]), 1)
    _chi_square_fits(places, size / 52)
    off = pairs[~np.eye(52, dtype=bool)]
    _chi_square_fits(off, size / 51)
    # The same place in the deal before: no memory.
    follows = np.zeros((52, 52))
    for place in range(52):
        np.add.at(follows, (rows[:-1, place], rows[1:, place]), 1)
    _chi_square_fits(follows, 52 * (size - 1) / 52**2)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_first_dealer_is_drawn_evenly(players: int) -> None:
    dealers = [DealStream(seed).first_dealer(players, deal=0) for seed in range(4000)]
    _chi_square_fits(np.bincount(dealers, minlength=players), 4000 / players)
    numbers = np.arange(4000, dtype=np.uint64)
    seats = learner_seats(5, numbers * 0, numbers, players=players)
    _chi_square_fits(np.bincount(seats, minlength=players), 4000 / players)


@pytest.mark.parametrize(
    ("seed", "table", "error", "message"),
    [
        (-1, 0, ValueError, "seed is 0 or more, not -1"),
        (0, -1, ValueError, "table is 0 or more, not -1"),
        (0, 2**64, ValueError, r"table is below 2\*\*64"),
        (None, 0, TypeError, "seed is a whole number, not None"),
        (1.5, 0, TypeError, "seed is a whole number"),
        (True, 0, TypeError, "seed is a whole number, not True"),
        (0, "3", TypeError, "table is a whole number"),
    ],
)
def test_what_is_no_seed_or_table_is_refused(seed: object, table: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        DealStream(seed, table)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.array])
def test_whole_numbers_of_any_type_are_seeds_and_tables(kind: Callable[[int], Any]) -> None:
    stream = DealStream(kind(3), kind(2))
    assert stream == DealStream(3, 2)
    assert {type(stream.seed), type(stream.table)} == {int}
    rules = CrashRules.preset("online")
    game, plain = Game(rules, seed=kind(3), table=kind(2)), Game(rules, seed=3, table=2)
    assert game.events == plain.events
    assert record_of(game).to_json() == record_of(plain).to_json()


def test_seed_0_is_a_seed() -> None:
    assert DealStream(0).shuffle(range(52), deal=0) != DealStream(1).shuffle(range(52), deal=0)


def test_fresh_seeds_differ_and_are_seeds() -> None:
    drawn = {fresh_seed() for _ in range(50)}
    assert len(drawn) == 50
    assert all(0 <= seed < 2**63 for seed in drawn)


def test_threads_do_not_disturb_each_others_deals() -> None:
    def deals(table: int) -> list[list[int]]:
        stream = DealStream(3, table)
        return [stream.shuffle(range(52), deal=number) for number in range(200)]

    alone = [deals(table) for table in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(deals, range(8))) == alone


def test_words_are_those_of_a_new_generator_whatever_was_drawn_before() -> None:
    for count, deal, table, purpose in ((3, 5, 0, 0), (1, 2**64 - 1, 2**64 - 1, 1), (39, 0, 7, 2)):
        counter = np.array([0, deal, table, purpose], np.uint64)
        fresh = np.random.Philox(key=np.random.SeedSequence(9).generate_state(2, np.uint64), counter=counter)
        assert DealStream(9, table).words(count, deal=deal, purpose=purpose) == fresh.random_raw(count).tolist()
