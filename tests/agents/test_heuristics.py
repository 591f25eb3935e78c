"""What the simple agents do, in every phase."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decisions import RULE_SETS, decision_views, rules_id
from prial import agents
from prial.agents.strengths import all_triple_strengths, laid_strengths
from prial.envs.brag import triple_strength
from prial.envs.crash.actions import action_layout
from prial.envs.crash.arrangement import Arrangement
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import ViewBatch, view_of
from prial.envs.crash.partitions import legal_partitions, partition_table, triple_strengths, undominated
from prial.envs.crash.rules import CrashRules

ONLINE = CrashRules.preset("online")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def copies(game: Game, seat: int, count: int) -> ViewBatch:
    return ViewBatch.of([view_of(game, seat)] * count)


def looks_even(found: Counter[int], options: int, draws: int) -> bool:
    """Chi-square within six standard deviations of what even draws give."""
    expected = draws / options
    chi2 = sum((found.get(n, 0) - expected) ** 2 / expected for n in found) + expected * (options - len(found))
    return bool(abs(chi2 - (options - 1)) < 6 * np.sqrt(2 * (options - 1)))


def test_random_draws_undominated_arrangements_evenly() -> None:
    game = Game(ONLINE, seed=3)
    seat = max(range(3), key=lambda s: len(game.undominated(s)))
    options = game.undominated(seat).partitions.tolist()
    assert len(options) > 3
    found = Counter(agents.make("random").act_many(copies(game, seat, 4000), rng()).tolist())
    assert set(found) == set(options)
    assert looks_even(found, len(options), 4000)


@pytest.mark.parametrize("lowest_hand", ["high_card", "flush"])
def test_random_legal_draws_valid_partitions_evenly(lowest_hand: str) -> None:
    rules = CrashRules(cards_dealt=6, lowest_hand=lowest_hand)  # type: ignore[arg-type]
    counts = {}
    for deal in range(60):
        game = Game(rules, seed=1, first_deal=deal)
        legal = np.flatnonzero(legal_partitions(game.hands[0], rules)).tolist()
        counts[deal] = len(legal)
    deal = max(counts, key=lambda d: counts[d])
    game = Game(rules, seed=1, first_deal=deal)
    legal = np.flatnonzero(legal_partitions(game.hands[0], rules)).tolist()
    assert len(legal) > 2
    found = Counter(agents.make("random-legal").act_many(copies(game, 0, 6000), rng()).tolist())
    assert set(found) == set(legal)
    assert looks_even(found, len(legal), 6000)


def test_random_legal_is_as_even_where_valid_partitions_are_rare() -> None:
    """Forty of 417,847: most rows are not found by trying, and their partitions are listed."""
    rules = CrashRules.preset("online", lowest_hand="flush", players=2)
    few = "2c 2d 4h 4s 6c 6d 8h 8s Tc Td Qh Qs Kc"
    game = Game.from_deal(rules, [few, "3c 3d 5h 5s 7c 7d 9h 9s Jc Jd Kh Ks Ah"])
    legal = np.flatnonzero(legal_partitions(game.hands[0], rules)).tolist()
    assert len(legal) == 40
    found = Counter(agents.make("random-legal").act_many(copies(game, 0, 800), rng()).tolist())
    assert set(found) == set(legal)
    assert looks_even(found, 40, 800)


@pytest.mark.parametrize("name", ["random-legal", "random"])
def test_the_random_ones_toss_a_coin_for_exchange_and_call(name: str) -> None:
    rules = CrashRules.preset("bga", crash_call="optional")
    layout = action_layout(rules)
    game = Game(rules, seed=1)
    found = Counter(agents.make(name).act_many(copies(game, game.pending[0], 4000), rng()).tolist())
    assert set(found) == {layout.keep, layout.exchange}
    assert abs(found[layout.keep] - 2000) < 200
    while game.phase is not Phase.CALL:
        game.step(int(game.legal_actions(game.pending[0])[0]))
    found = Counter(agents.make(name).act_many(copies(game, game.pending[0], 4000), rng()).tolist())
    assert set(found) == {layout.pass_, layout.call}
    assert abs(found[layout.call] - 2000) < 200


@pytest.mark.parametrize("rules", RULE_SETS, ids=rules_id)
def test_greedy_lays_the_strongest_hands_in_order(rules: CrashRules) -> None:
    views = decision_views(rules)
    actions = agents.make("greedy").act_many(views, rng())
    arranging = np.flatnonzero(views.phase == Phase.ARRANGE)
    assert len(arranging)
    for row in arranging:
        found = undominated(views.cards[row].tolist(), rules)
        best = max(zip(found.strengths.tolist(), found.quads.tolist(), found.partitions.tolist(), strict=True))
        assert actions[row] == best[2]


@pytest.mark.parametrize("rules", RULE_SETS, ids=rules_id)
def test_balanced_lays_the_strongest_weakest_hand(rules: CrashRules) -> None:
    """Of all valid partitions, not only of the undominated ones."""
    views = decision_views(rules, games=2)
    views = views.select(views.phase == Phase.ARRANGE)
    actions = agents.make("balanced").act_many(views, rng())
    for row in range(min(12, len(views))):
        cards = views.cards[row].tolist()
        table = partition_table(rules.cards_dealt)
        triples = np.append(triple_strengths(cards, rules), 0)  # -1 is no hand
        legal = np.flatnonzero(legal_partitions(cards, rules))
        weakest_first = np.sort(triples[table], axis=1)[:, 4 - rules.hands :]
        best = max(map(tuple, weakest_first[legal].tolist()))
        assert tuple(weakest_first[actions[row]].tolist()) == best


def greedy_calls(rules: CrashRules, hand: str, other: str) -> bool:
    """Whether greedy calls with a hand against another."""
    game = Game.from_deal(rules, [hand, other], dealer=1)
    while game.phase is not Phase.CALL:
        seat = game.pending[0]
        game.step(agents.make("greedy").act(view_of(game, seat), rng()), seat)
    return agents.make("greedy").act(view_of(game, 0), rng()) == game.layout.call


@pytest.mark.parametrize(
    ("hand", "calls"),
    [
        ("9c 9d 9h As 2s 3s Kc Qc Jd", True),
        ("9c 9d 9h As 2s 3s Kc Qd Td", False),  # the last hand is below a run
        ("8c 8d 8h As 2s 3s Kc Qc Jd", False),  # Hand 1 below a prial of nines
        ("9c 9d 9h As 2d 3s Kc Qc Jd", False),  # Hand 2 below a running flush
    ],
)
def test_greedy_calls_by_its_thresholds(hand: str, calls: bool) -> None:
    rules = CrashRules(players=2, cards_dealt=9, crash_call="optional")
    assert greedy_calls(rules, hand, "2c 2h 4h 4s 6c 6d 8s Th Tc") is calls


@pytest.mark.parametrize(
    ("hand", "exchanges"),
    [
        ("As 2s 3s 9c 9d 5h", False),
        ("As 2s 3d 9c 9d 5h", True),  # Hand 1 below a running flush
        ("As 2s 3s 9c Jd 5h", True),  # no second hand
    ],
)
def test_greedy_exchanges_by_its_thresholds(hand: str, exchanges: bool) -> None:
    rules = CrashRules(players=2, cards_dealt=6, exchange="spare")
    game = Game.from_deal(
        rules, [hand, "2c 2d 4h 4s 6c 6d"], spares=["7c 7d 8h 8s Tc Td", "Jc Jh Qc Qd Kh Kd"], dealer=1
    )
    action = agents.make("greedy").act(view_of(game, 0), rng())
    assert action == (game.layout.exchange if exchanges else game.layout.keep)


@pytest.mark.parametrize(
    "rules", [CrashRules.preset("bga"), CrashRules.preset("bga", cards_dealt=9), RULE_SETS[2]], ids=rules_id
)
def test_balanced_exchanges_by_its_threshold(rules: CrashRules) -> None:
    views = decision_views(rules, games=40)
    views = views.select(views.phase == Phase.EXCHANGE)
    actions = agents.make("balanced").act_many(views, rng())
    position = {13: 1, 9: 0}[rules.cards_dealt]  # third from last
    for view, action in zip(views, actions.tolist(), strict=True):
        laid = max(undominated(view.cards, rules).strengths.tolist(), key=lambda strengths: strengths[::-1])
        weak = laid[position] < triple_strength("9c 8d 7h", flush_high=rules.flush_order)
        assert action == (action_layout(rules).exchange if weak else action_layout(rules).keep)
    assert 0.3 < (actions == action_layout(rules).exchange).mean() < 0.9


@pytest.mark.parametrize(
    ("hand", "calls"),
    [
        ("9c 8c 7c As 4s 2s 4d 5d 6d", True),
        ("9c 8c 7d As 4s 2s 4d 5h 6d", False),  # Hand 1, third from last, no running flush
        ("9c 8c 7c Ks Qs 2s 4d 5d 6d", False),  # the last below A-4-2
    ],
)
def test_balanced_calls_by_its_thresholds(hand: str, calls: bool) -> None:
    rules = CrashRules(players=2, cards_dealt=9, crash_call="optional")
    game = Game.from_deal(rules, [hand, "2c 2h 4h 4c 6c 6h 8d Th Tc"], dealer=1)
    balanced = agents.make("balanced")
    while game.phase is not Phase.CALL:
        seat = game.pending[0]
        game.step(balanced.act(view_of(game, seat), rng()), seat)
    assert (balanced.act(view_of(game, 0), rng()) == game.layout.call) is calls


@pytest.mark.parametrize("rules", RULE_SETS, ids=rules_id)
def test_strengths_of_triples_and_of_what_is_laid(rules: CrashRules) -> None:
    views = decision_views(rules)
    expected = [triple_strengths(cards, rules) for cards in views.cards.tolist()]
    assert np.array_equal(all_triple_strengths(views), expected)
    laid = views.select(views.laid >= 0)
    if len(laid):
        strengths = laid_strengths(laid)
        for row, view in enumerate(laid):
            assert view.laid is not None
            hands = Arrangement.from_index(view.laid, view.cards, rules).hands
            values = [triple_strength(hand, flush_high=rules.flush_order) for hand in hands]
            assert strengths[row].tolist() == [*values, *[0] * (4 - len(values))]
    with pytest.raises(ValueError, match="not laid"):
        laid_strengths(views)


@given(seed=st.integers(0, 2**32), size=st.integers(1, 7))
def test_a_batch_of_phases_is_split_and_put_together_again(seed: int, size: int) -> None:
    """Greedy draws no chance, so each row is what it is alone."""
    views = decision_views(RULE_SETS[2], games=1, seed=seed % 1000)
    rows = np.random.default_rng(seed).integers(len(views), size=size)
    some = views.select(rows)
    greedy = agents.make("greedy")
    assert greedy.act_many(some, rng()).tolist() == [greedy.act(view, rng()) for view in some]


def test_a_game_that_is_over_asks_for_nothing() -> None:
    game = Game(ONLINE, seed=1, episode="round")
    while not game.is_over:
        game.step(0)
    with pytest.raises(ValueError, match="greedy: a view of a game that is over"):
        agents.make("greedy").act(view_of(game, 0), rng())
