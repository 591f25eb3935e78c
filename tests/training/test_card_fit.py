"""The fit of what known cards say: its features and terms against slow twins, planted effects found again."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pytest

from prial.agents import _kernels_solver_cards as kernels
from prial.agents.solver_table import NUM_FEATURES, num_terms
from prial.envs.brag import BragClass, brag_class
from prial.training.card_fit import CardFit, CardSample, fit_known_cards
from solver_samples import moved_by_cards

FULL = range(52)
RUNS = [(low, low + 1, low + 2) for low in range(11)] + [(12, 0, 1)]


def slow_features(known: Iterable[int]) -> list[float]:
    """The features by counting cards, and hands of three unknown cards one by one."""
    seen = set(known)
    by_rank = [sum(card // 4 == rank for card in seen) for rank in range(13)]
    by_suit = sorted(sum(card % 4 == suit for card in seen) for suit in range(4))
    rest = [card for card in FULL if card not in seen]
    runs, running, flushes, suits = dict.fromkeys(RUNS, 0), dict.fromkeys(RUNS, 0), [0] * 13, [0] * 4
    for three in combinations(rest, 3):
        ranks = tuple(card // 4 for card in three)
        run = next((run for run in RUNS if set(run) == set(ranks)), None)
        one_suit = len({card % 4 for card in three}) == 1
        assert (run is not None) == (brag_class(three) in (BragClass.RUN, BragClass.RUNNING_FLUSH))
        if run is not None:
            runs[run] += 1
            running[run] += one_suit
        if one_suit:
            flushes[max(ranks)] += 1
            suits[three[0] % 4] += 1
    sizes = {suit: sum(card % 4 == suit for card in seen) for suit in range(4)}
    return [
        *by_rank,
        *(count >= 2 for count in by_rank),
        *(count >= 3 for count in by_rank),
        *by_suit,
        by_suit[-1] ** 2,
        *(count == 4 for count in by_rank),
        *(count / 64 for count in runs.values()),
        *running.values(),
        *(2 * count / 100 for count in flushes),
        *(6 * suits[suit] / 100 for suit in sorted(sizes, key=lambda suit: sizes[suit])),
    ]


@pytest.mark.parametrize("swapped", [False, True])
def test_features_equal_those_of_a_slow_twin(swapped: bool) -> None:
    rng = np.random.default_rng(1 + swapped)
    both = np.array([rng.permutation(52)[:26] for _ in range(12)], np.int8)
    cards, given_up = both[:, :13].copy(), both[:, 13:].copy() if swapped else np.full((12, 13), -1, np.int8)
    found = np.empty((12, NUM_FEATURES))
    kernels.card_features(cards, given_up, found, 0, 12)
    for row in range(12):
        known = both[row].tolist() if swapped else cards[row].tolist()
        np.testing.assert_allclose(found[row], slow_features(known))
    first = np.empty((12, 44))
    kernels.card_features(cards, given_up, first, 0, 12)
    assert (first == found[:, :44]).all()


@pytest.mark.parametrize("paired", [0, 2, 4])
def test_terms_and_places_equal_matrix_products(paired: int) -> None:
    rng = np.random.default_rng(5)
    features, situations = rng.normal(size=(9, 7)), rng.integers(0, 3, 9)
    means, axes = rng.normal(size=(3, 7)), rng.normal(size=(3, 7, 4))
    terms, weights = np.empty((9, num_terms(4, paired))), rng.normal(size=(3, num_terms(4, paired), 5))
    places = np.empty((9, 5))
    kernels.card_terms(features, situations, means, axes, terms, 0, 9)
    kernels.card_places(terms, situations, weights, places, 0, 9)
    for row, situation in enumerate(situations):
        on_axes = (features[row] - means[situation]) @ axes[situation]
        products = [on_axes[i] * on_axes[j] for i in range(paired) for j in range(i, paired)]
        np.testing.assert_allclose(terms[row], [1.0, *on_axes, *products])
        np.testing.assert_allclose(places[row], terms[row] @ weights[situation])


def hands_of(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.sort(rng.permuted(np.tile(np.arange(52, dtype=np.int8), (count, 1)), axis=1)[:, :13], axis=1)


def predicted(fit: CardFit, situation: int, cards: np.ndarray, cut: int) -> np.ndarray:
    """By how much known cards move the chance of less than a strength at the first position."""
    return moved_by_cards(fit.means, fit.axes, fit.weights, fit.basis, situation, cards)[:, 0, cut]


def test_effects_that_multiply_are_found() -> None:
    """What is laid depends on aces times kings in one situation, and the other way round in another."""
    samples = []
    for situation in range(2):
        cards = hands_of(40_000, situation)
        aces, kings = (cards >= 48).sum(axis=1), ((cards >= 44) & (cards < 48)).sum(axis=1)
        chance = np.clip(0.1 + 0.1 * aces * kings, 0, 1)
        weak = (np.random.default_rng(situation + 10).random(len(cards)) < chance) != (situation == 1)
        samples.append(
            CardSample(
                cards=cards, given_up=np.full_like(cards, -1), laid=np.where(weak, 100, 600)[:, None].astype(np.int64)
            )
        )
    fit = fit_known_cards(samples, hands=1)
    fresh = hands_of(20_000, 7)
    aces, kings = (fresh >= 48).sum(axis=1), ((fresh >= 44) & (fresh < 48)).sum(axis=1)
    for situation, sign in ((0, 1), (1, -1)):
        found = predicted(fit, situation, fresh, 300)
        assert abs(found.mean()) < 0.01
        assert np.abs(predicted(fit, situation, fresh, 50)).max() < 1e-9  # nothing below 100 is ever laid
        expected = sign * (np.clip(0.1 + 0.1 * aces * kings, 0, 1) - np.clip(0.1 + 0.1 * aces * kings, 0, 1).mean())
        for product in (0, 1, 4):
            some = aces * kings == product
            assert found[some].mean() == pytest.approx(expected[some].mean(), abs=0.05)  # the chance is clipped at 1


def test_noise_is_not_taken_for_an_effect() -> None:
    cards = hands_of(2000, 3)
    laid = np.random.default_rng(4).integers(1, 742, (2000, 2)).astype(np.int64)
    fit = fit_known_cards([CardSample(cards=cards, given_up=np.full_like(cards, -1), laid=laid)], hands=2)
    assert predicted(fit, 0, hands_of(2000, 5), 371).std() < 0.15


@pytest.mark.parametrize("count", [0, 1])
def test_a_situation_never_met_changes_nothing(count: int) -> None:
    cards = hands_of(2000, 1)
    laid = np.where((cards >= 48).sum(axis=1) > 1, 100, 600)[:, None].astype(np.int64)
    one = CardSample(cards=cards, given_up=np.full_like(cards, -1), laid=laid)
    rare = CardSample(cards=cards[:count], given_up=np.full_like(cards[:count], -1), laid=laid[:count])
    fit = fit_known_cards([one, rare], hands=1)
    assert predicted(fit, 0, cards, 300).std() > 0.1
    assert np.abs(predicted(fit, 1, cards, 300)).max() < 1e-9
    assert all(np.isfinite(part).all() for part in (fit.means, fit.axes, fit.weights, fit.basis))
