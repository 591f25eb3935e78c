"""What many seats are offered is what each is offered alone."""

from __future__ import annotations

import numpy as np
import pytest

from decisions import RULE_SETS, decisions, rules_id
from prial.envs.crash.candidates_view import (
    best_candidates,
    best_of_many,
    offered_candidates,
    offered_many,
    padded_features,
    padded_many,
)
from prial.envs.crash.observation import ViewBatch, view_of
from prial.envs.crash.partitions import CandidateBatch, Candidates, candidates_of, laid_many, undominated_many
from prial.envs.crash.rules import CrashRules
from prial.envs.deals import DealStream


def assert_each(found: CandidateBatch, alone: list[Candidates]) -> None:
    assert len(found) == len(alone)
    for row, expected in enumerate(alone):
        for name in ("partitions", "strengths", "quads"):
            got, wanted = getattr(found[row], name), getattr(expected, name)
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("name", ["online", "bga"])
def test_the_best_of_many_deals_are_those_of_each(name: str, k: int) -> None:
    rules = CrashRules.preset(name)
    large = [0, 2, 5, 7, 10, 11, 13, 14, 20, 21, 34, 38, 46]  # more than a hundred arrangements
    deals = [sorted(DealStream(1).shuffle(range(52), deal=deal, count=13)) for deal in range(200)]
    found = undominated_many([*deals, large, *deals[:3]], rules)
    assert_each(best_of_many(found, rules, k), [best_candidates(found[row], rules, k) for row in range(len(found))])


def test_the_best_of_no_deals_are_none() -> None:
    rules = CrashRules.preset("online")
    found = undominated_many(np.zeros((0, 13), np.int8), rules)
    assert len(best_of_many(found, rules, 3)) == 0
    assert padded_many(found, rules, 3).shape == (0, 3, 34)


@pytest.mark.parametrize("k", [2, 128])
@pytest.mark.parametrize("rules", RULE_SETS, ids=rules_id)
def test_many_views_are_offered_what_each_is(rules: CrashRules, k: int) -> None:
    played = list(decisions(rules, games=4))
    views = ViewBatch.of([view_of(game, seat) for game, seat in played])
    alone = [offered_candidates(game, seat, k) for game, seat in played]
    for rows in (np.arange(len(views)), np.flatnonzero(views.laid < 0), np.flatnonzero(views.laid >= 0)):
        if len(rows):
            found = offered_many(views.select(rows), k)
            assert_each(found, [alone[row] for row in rows])
            np.testing.assert_array_equal(
                padded_many(found, rules, k), [padded_features(alone[row], rules, k) for row in rows]
            )


@pytest.mark.parametrize("bonus", [0, 2])
def test_many_laid_arrangements_are_those_of_each(bonus: int) -> None:
    rules = CrashRules.preset("online", lowest_hand="high_card", quads_bonus=bonus)
    rng = np.random.default_rng(0)
    deals = np.array([sorted(DealStream(2).shuffle(range(52), deal=deal, count=13)) for deal in range(300)], np.int8)
    deals[:100] = np.sort(rng.permuted(np.tile(np.arange(16), (100, 1)), axis=1)[:, :13])  # with fours of a kind
    indices = rng.integers(417_847, size=300, dtype=np.int32)
    indices[:5] = 0
    found = laid_many(indices, deals, rules)
    assert_each(
        found, [candidates_of(int(index), deal.tolist(), rules) for index, deal in zip(indices, deals, strict=True)]
    )
    assert found.quads.any() == (bonus > 0)
