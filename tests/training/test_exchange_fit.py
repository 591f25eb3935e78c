"""What exchanging is worth: the fit against hands that are dealt, and its correction by what exchanging brought."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from prial.agents.solver_exchange import placed, sample_hands
from prial.agents.solver_fast import SolverFastPolicy
from prial.agents.solver_situations import keepers, situations_of
from prial.agents.solver_table import NUM_FEATURES, find_solver_table
from prial.envs.crash.rules import CrashRules
from prial.training.exchange_fit import (
    ExchangeSample,
    _corrected,
    _features,
    _line,
    _said,
    exchange_situations,
    exchange_worth,
)


@pytest.mark.parametrize("players", [2, 3])
def test_every_situation_after_an_own_exchange_is_reached_and_no_other(players: int) -> None:
    rules = CrashRules.preset("bga", players=players)
    found = exchange_situations(rules)
    for situation in range(len(keepers(rules))):
        said = _said(rules, situation)
        assert (said is not None) == (situation in found)
        if said is not None:
            dealer, words = said
            assert words[0] == 1
            assert [word == 0 for word in words] == keepers(rules)[situation].tolist()
            there = situations_of(rules, np.array([words], np.int8), np.array([dealer]), np.array([0]))
            assert there[0] == situation
    own = {2: [2, 3], 3: [0, 4, 8]}[players]  # by who exchanged and who looks (`solver_situations`)
    assert found == own


def test_the_fit_is_the_mean_over_hands_for_groups_of_hands_given_up() -> None:
    rules = CrashRules.preset("bga", players=2)
    table = find_solver_table(rules)
    weights = exchange_worth(rules, table, objective="points", samples={}, dealt=20_000)
    views, given_up = sample_hands(rules, 30_000)
    views, given_up = views.select(np.arange(20_000, 30_000)), given_up[20_000:]  # not those of the fit
    policy = SolverFastPolicy(rules, table, objective="points")
    dealer, said = _said(rules, 2) or (0, ())
    there = replace(placed(views, dealer, (0, 0), said), given_up=given_up)
    found = there.undominated()
    best = np.maximum.reduceat(policy.values(there, found).max(axis=0), found.offsets[:-1])
    fitted = weights[2, 0] + _features(given_up) @ weights[2, 1:]
    aces = (given_up >= 48).sum(axis=1)
    assert np.polyfit(fitted, best, 1)[0] == pytest.approx(
        1.0, abs=0.5
    )  # give or take 0.1: what it tells apart is there
    for some in (aces == 0, aces == 1, aces >= 2):
        assert fitted[some].mean() == pytest.approx(best[some].mean(), abs=5 * best[some].std() / some.sum() ** 0.5)
    assert not weights[[0, 1]].any()


def test_what_was_brought_moves_the_fit() -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(40_000, NUM_FEATURES))
    expected = 0.2 + features[:, :3] @ np.array([0.3, -0.2, 0.1])
    weights = _line(features, expected + rng.normal(size=len(expected)))
    fitted = weights[0] + features @ weights[1:]
    assert np.abs(fitted - expected).mean() < 0.06
    brought = 0.8 * expected - 0.1 + rng.normal(size=len(expected))
    moved = _corrected(weights, fitted, brought)
    better = moved[0] + features @ moved[1:]
    assert better.mean() == pytest.approx(brought.mean(), abs=0.02)
    assert np.polyfit(expected, better, 1)[0] == pytest.approx(0.8, abs=0.05)
    assert (_corrected(weights, fitted[:0], brought[:0]) == weights).all()


def test_a_few_rounds_move_it_a_little() -> None:
    rules = CrashRules.preset("bga", players=2)
    table = find_solver_table(rules)
    plain = exchange_worth(rules, table, objective="win", samples={}, dealt=2000)
    hands = sample_hands(rules, 50)[1]
    sample = ExchangeSample(given_up=hands, brought=np.ones(50))
    moved = exchange_worth(rules, table, objective="win", samples={3: sample}, dealt=2000)
    assert (moved[2] == plain[2]).all()
    shift = (moved[3] - plain[3])[0] + (_features(hands) @ (moved[3] - plain[3])[1:]).mean()
    assert 0.0 < shift < 0.1
