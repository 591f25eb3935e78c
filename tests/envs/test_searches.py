"""Searches shared: the same arrangements as from a search of every deal, and each deal searched once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from prial.envs.crash import searches as module
from prial.envs.crash.partitions import CandidateBatch, undominated_many
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.searches import Searches
from prial.envs.crash.vector import CrashVectorEnv

RULES = [
    CrashRules.preset("online"),
    CrashRules(players=3, cards_dealt=9, lowest_hand="high_card"),
    CrashRules(players=2, cards_dealt=3),
]
COLUMNS = ("offsets", "partitions", "strengths", "quads")


def some_deals(rules: CrashRules, count: int, seed: int) -> npt.NDArray[np.int8]:
    rng = np.random.default_rng(seed)
    deals = rng.permuted(np.tile(np.array(rules.pack, np.int8), (count, 1)), axis=1)[:, : rules.cards_dealt]
    return np.sort(deals, axis=1)


def assert_same(found: CandidateBatch, expected: CandidateBatch) -> None:
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
        assert getattr(found, name).dtype == getattr(expected, name).dtype


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many deals each search was of."""
    counts: list[int] = []

    def counting(deals: npt.NDArray[np.int8], rules: CrashRules, *, threads: int = 1) -> CandidateBatch:
        counts.append(len(deals))
        return undominated_many(deals, rules, threads=threads)

    monkeypatch.setattr(module, "undominated_many", counting)
    return counts


@pytest.mark.parametrize("rules", RULES, ids=["online", "nine", "three"])
@pytest.mark.parametrize("most", [5, 40, 2048])
def test_what_is_found_is_what_a_search_finds(rules: CrashRules, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DEALS", most)
    deals, searches, rng = some_deals(rules, 60, seed=1), Searches(rules), np.random.default_rng(2)
    for _ in range(20):
        asked = deals[rng.integers(len(deals), size=rng.integers(1, 50))]
        assert_same(searches.find(asked), undominated_many(asked, rules))


def test_a_deal_is_searched_once(searched: list[int]) -> None:
    rules = RULES[0]
    deals, searches = some_deals(rules, 10, seed=3), Searches(rules)
    searches.find(deals[[0, 1, 1, 0, 2]])
    searches.find(deals[[2, 1, 0]])
    searches.find(deals[[0, 9, 9]])
    assert [count for count in searched if count] == [3, 1]


def test_what_is_kept_has_an_end(searched: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DEALS", 4)
    rules = RULES[0]
    deals, searches = some_deals(rules, 10, seed=3), Searches(rules)
    searches.find(deals[:3])
    searches.find(deals[2:5])  # five in all: those before are forgotten
    searches.find(deals[2:5])
    searches.find(deals[:9])
    assert [count for count in searched if count] == [3, 3, 9]


def test_batches_of_views_share_their_searches(searched: list[int]) -> None:
    rules = RULES[0]
    env = CrashVectorEnv(3, rules, seed=4, tables=[0, 1, 0])
    searches = Searches(rules)
    _, _, views = env.views()
    shared = views.sharing(searches)
    assert_same(shared.undominated(), views.undominated())
    some = np.array([8, 2, 4])
    assert_same(shared.select(some).undominated(), views.select(some).undominated())
    assert [count for count in searched if count] == [6]  # three tables of three seats, two of them the same
