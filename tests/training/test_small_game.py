"""Small games: deals and classes counted in another way, margins by the game's own scoring, every deal without symmetry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest

from oracles import enumerate as oracle
from prial import agents
from prial.envs.brag import strength_table
from prial.envs.cards import format_cards
from prial.envs.crash.game import Game
from prial.envs.crash.partitions import CandidateBatch, undominated, undominated_many
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.scoring import margins, settle_round
from prial.training.small_game import (
    SmallGame,
    SmallGameError,
    check_rules,
    num_deals,
    num_deals_up_to_suits,
    round_options,
)
from prial.training.small_game_policy import mixture_of
from prial.training.small_game_solve import payoff_matrix
from twins import small_game as twin

TINY = CrashRules(players=2, ranks="QKA", cards_dealt=6)
SEVEN = CrashRules(players=2, ranks="JQKA", cards_dealt=7)
SIX = CrashRules(players=2, ranks="JQKA", cards_dealt=6)
SHAPES = [
    CrashRules(players=2, ranks="KA", cards_dealt=3),
    CrashRules(players=2, ranks="23A", cards_dealt=4, flush_high="three", lowest_hand="high_card"),
    TINY,
    CrashRules(players=2, ranks="A23", cards_dealt=6, crash_reward=0, quads_bonus=3, lowest_hand="flush"),
]


def shape(rules: CrashRules) -> str:
    return f"{rules.ranks}-{rules.cards_dealt}-{rules.lowest_hand}"


@cache
def small(rules: CrashRules) -> SmallGame:
    return SmallGame.of(rules)


def test_the_game_that_the_field_speaks_of() -> None:
    game = small(SIX)
    assert (num_deals(SIX), num_deals_up_to_suits(SIX)) == (1_681_680, 73_814)
    assert (len(game.class_of), game.num_classes, len(game.owner)) == (8_008, 468, 778)
    assert num_deals_up_to_suits(SIX) >= num_deals(SIX) / 24


@pytest.mark.parametrize("rules", SHAPES[:3], ids=shape)
def test_deals_up_to_suits_are_orbits(rules: CrashRules) -> None:
    orders = list(permutations(range(4)))
    seen = set()
    for mine in combinations(rules.pack, rules.cards_dealt):
        for theirs in combinations([card for card in rules.pack if card not in mine], rules.cards_dealt):
            seen.add(min((twin.turned(mine, order), twin.turned(theirs, order)) for order in orders))
    assert num_deals_up_to_suits(rules) == len(seen)


@pytest.mark.parametrize("rules", SHAPES, ids=shape)
def test_classes_and_meetings_are_those_of_the_twin(rules: CrashRules) -> None:
    game, standing = small(rules), twin.classes(rules.pack, rules.cards_dealt)
    hands = [tuple(hand) for hand in game.every_hand().tolist()]
    assert sorted(hands) == sorted(standing)
    assert game.classes_of(game.every_hand()).tolist() == game.class_of.tolist()
    names = [tuple(cards) for cards in game.cards.tolist()]
    # The same hands together, whichever stands for them.
    together = {hand: standing[names[number]] for hand, number in zip(hands, game.class_of.tolist(), strict=True)}
    assert together == standing
    assert game.weights.tolist() == [Counter(standing.values())[standing[name]] for name in names]
    for number, name in enumerate(names):
        met = slice(int(game.starts[number]), int(game.starts[number + 1]))
        counted = {standing[names[o]]: c for o, c in zip(game.others[met], game.counts[met], strict=True)}
        assert counted == twin.opponents(name, rules.pack, standing)


@pytest.mark.parametrize("rules", SHAPES, ids=shape)
def test_expected_margins_are_those_of_the_twin(rules: CrashRules) -> None:
    game, standing = small(rules), twin.classes(rules.pack, rules.cards_dealt)
    rng = np.random.default_rng(5)
    chances = rng.random(len(game.owner))
    chances /= np.add.reduceat(chances, game.arrangements.offsets[:-1])[game.owner]
    values = [
        (*strengths[: rules.hands], rules.quads_bonus * quads)
        for strengths, quads in zip(game.arrangements.strengths.tolist(), game.arrangements.quads.tolist(), strict=True)
    ]
    mixture: dict[twin.Hand, dict[twin.Value, float]] = {}
    for row, owner in enumerate(game.owner.tolist()):
        mixture.setdefault(standing[tuple(game.cards[owner].tolist())], {})[values[row]] = float(chances[row])
    found = game.margins(game.mixture(chances))
    for row, owner in enumerate(game.owner.tolist()):
        met = twin.opponents(tuple(game.cards[owner].tolist()), rules.pack, standing)
        assert found[row] == pytest.approx(
            twin.expected_margin(values[row], met, mixture, rules.crash_points), abs=1e-12
        )


@pytest.mark.parametrize("lowest_hand", ["high_card", "pair", "flush"])
def test_arrangements_are_the_undominated_ones_of_the_oracle(lowest_hand: str) -> None:
    rules = SIX.replace(lowest_hand=lowest_hand)
    game = small(rules)
    for number in range(0, game.num_classes, 7):
        found = game.arrangements[number]
        values = {(*s[:2], q) for s, q in zip(found.strengths.tolist(), found.quads.tolist(), strict=True)}
        cards = format_cards(game.cards[number].tolist()).split()
        assert values == oracle.undominated_values(cards, lowest_hand=lowest_hand, flush_high="ace", quads_bonus=1)


@pytest.mark.parametrize("rules", [SIX, SIX.replace(quads_bonus=2, crash_reward=3, lowest_hand="high_card")])
def test_payoffs_are_what_the_game_pays(rules: CrashRules) -> None:
    """Deals drawn at random, played to the end of the round by `Game`."""
    game, matrix = small(rules), payoff_matrix(small(rules))
    rng = np.random.default_rng(11)
    for _ in range(300):
        dealt = rng.permutation(rules.pack)[:12]
        hands = [sorted(dealt[:6].tolist()), sorted(dealt[6:].tolist())]
        mine, theirs = game.classes_of(np.array(hands)).tolist()
        round_ = Game.from_deal(rules, hands, dealer=int(rng.integers(2)), episode="round")
        rows = []
        for seat, number in ((0, mine), (1, theirs)):
            candidates = undominated(hands[seat], rules)
            pick = int(rng.integers(len(candidates)))
            round_.step(int(candidates.partitions[pick]), seat)
            rows.append(int(game.arrangements.offsets[number]) + pick)
        met = slice(int(game.starts[mine]), int(game.starts[mine + 1]))
        number = dict(zip(game.others[met].tolist(), game.counts[met].tolist(), strict=True))[theirs]
        chance = game.weights[mine] / 8008 * number / 210
        assert round_.round_points is not None
        assert matrix[rows[0], rows[1]] / chance == pytest.approx(margins(round_.round_points)[0])


@pytest.mark.parametrize("rules", [TINY, SIX, SEVEN], ids=shape)
def test_the_game_is_symmetric(rules: CrashRules) -> None:
    matrix = payoff_matrix(small(rules))
    np.testing.assert_allclose(matrix, -matrix.T, atol=1e-16)
    assert np.abs(matrix).sum() > 0


def _settled(rules: CrashRules, *laid: tuple[int, ...]) -> float:
    """The margin of the first, of four strengths and quads each."""
    settled = settle_round(
        rules,
        strengths=[each[:4] for each in laid],
        quads=[each[4] for each in laid],
        called=[False] * len(laid),
        scores=[0] * len(laid),
        order=list(range(len(laid))),
    )
    return margins(settled.round_points)[0]


def _by_hand(rules: CrashRules) -> Mapping[int, list[tuple[tuple[int, ...], float]]]:
    """What each hand (a mask of places in the pack) may lay: values, with chances that differ and do not ask for suits."""
    pack = list(rules.pack)
    hands = list(combinations(range(len(pack)), rules.cards_dealt))
    batch = undominated_many(np.array([[pack[p] for p in hand] for hand in hands]), rules)
    found = {}
    for number, hand in enumerate(hands):
        rows = batch[number]
        values = [(*s, q) for s, q in zip(rows.strengths.tolist(), rows.quads.tolist(), strict=True)]
        weights = [1 + sum(value) % 7 for value in values]
        mask = sum(1 << place for place in hand)
        found[mask] = [(value, weight / sum(weights)) for value, weight in zip(values, weights, strict=True)]
    return found


def test_a_best_response_over_every_deal_without_symmetry() -> None:
    """All 411,840 deals of seven cards each, scored by the rules engine."""
    rules = SEVEN
    game = small(rules)

    margin = cache(lambda mine, theirs: _settled(rules, mine, theirs))
    by_hand = _by_hand(rules)
    everything = (1 << 16) - 1
    total, deals = 0.0, 0
    for mine, own in by_hand.items():
        rest = [place for place in range(16) if (everything ^ mine) >> place & 1]
        met: Counter[tuple[int, ...]] = Counter()
        for left in combinations(rest, 2):  # the cards that nobody holds
            theirs = everything ^ mine ^ (1 << left[0]) ^ (1 << left[1])
            deals += 1
            for value, chance in by_hand[theirs]:
                met[value] += chance
        total += max(sum(weight * margin(value, other) for other, weight in met.items()) for value, _ in own)
    assert deals == num_deals(rules)
    weights = np.array(
        [1 + (s.sum() + q) % 7 for s, q in zip(game.arrangements.strengths, game.arrangements.quads, strict=True)]
    )
    chances = weights / np.add.reduceat(weights, game.arrangements.offsets[:-1])[game.owner]
    assert game.best_margin(game.mixture(chances)) == pytest.approx(total / deals, abs=1e-12)


THREE = CrashRules(players=3, ranks="TJQKA", cards_dealt=6, quads_bonus=1)


def test_deals_to_three_up_to_suits_are_orbits() -> None:
    rules = TINY.replace(players=3, cards_dealt=4)
    turned = {
        hand: [twin.turned(hand, order) for order in permutations(range(4))] for hand in combinations(rules.pack, 4)
    }
    seen, number = set(), 0
    for one, ones in turned.items():
        for two in combinations([card for card in rules.pack if card not in one], 4):
            three = tuple(card for card in rules.pack if card not in one + two)
            number += 1
            seen.add(min(zip(ones, turned[two], turned[three], strict=True)))
    assert num_deals(rules) == number
    assert num_deals_up_to_suits(rules) == len(seen)


def test_margins_of_three_are_those_of_every_deal_left() -> None:
    """All 84,084 ways to deal the two opponents, for a few hands, scored by the rules engine."""
    game = small(THREE)
    rng = np.random.default_rng(8)
    first, counts = game.arrangements.offsets[:-1], game.arrangements.counts
    chances = np.zeros(len(game.owner))
    for place in (0.7, 0.3):  # some lay one arrangement, some two
        chances[first + rng.integers(counts)] += place
    values = [
        (*s, q) for s, q in zip(game.arrangements.strengths.tolist(), game.arrangements.quads.tolist(), strict=True)
    ]
    margin = cache(lambda *laid: _settled(THREE, *laid))
    for number in (17, int(counts.argmax())):
        alone = replace(game, masks=game.masks[number : number + 1])
        rows = game.arrangements[number]
        own = CandidateBatch(np.array([0, len(rows)]), rows.partitions, rows.strengths, rows.quads)
        found = alone.margins(game.mixture(chances), own)
        rest = [card for card in THREE.pack if card not in game.cards[number].tolist()]
        pairs = [
            (one, two)
            for one in combinations(rest, 6)
            for two in combinations([card for card in rest if card not in one], 6)
        ]
        assert len(pairs) == 84_084
        met: Counter[tuple[int, int]] = Counter()
        for one, two in game.classes_of(np.array(pairs).reshape(-1, 6)).reshape(-1, 2).tolist():
            met[min(one, two), max(one, two)] += 1
        laid = [np.flatnonzero(chances[first[i] : first[i] + counts[i]]) + first[i] for i in range(game.num_classes)]
        for row, mine in enumerate(values[first[number] : first[number] + counts[number]]):
            earned = sum(
                times * chances[b] * chances[c] * margin(mine, values[b], values[c])
                for (one, two), times in met.items()
                for b in laid[one].tolist()
                for c in laid[two].tolist()
            )
            assert found[row] == pytest.approx(earned / 84_084, abs=1e-12)


@pytest.mark.parametrize("cards", [3, 4])
def test_three_who_play_the_same_earn_nothing(cards: int) -> None:
    """Every legal arrangement mixed, laying nothing too: few hands to choose from, but something to choose."""
    game = small(TINY.replace(players=3, cards_dealt=cards, lowest_hand="high_card"))
    _, anything, _ = mixture_of(agents.make("random-legal"), game)
    assert game.margin(anything, anything) == pytest.approx(0, abs=1e-12)
    assert game.best_margin(anything) > 0.1
    assert game.margin(game.mixture(game.best_response(anything)), anything) == pytest.approx(
        game.best_margin(anything)
    )


def test_every_hand_apart_is_the_same_game() -> None:
    together, apart = small(SEVEN), SmallGame.of(SEVEN, up_to_suits=False)
    assert apart.num_classes == len(apart.class_of) == 11_440
    assert apart.weights.tolist() == [1] * 11_440
    uniform = [game.best_margin(game.mixture(game.uniform())) for game in (together, apart)]
    assert uniform[0] == pytest.approx(uniform[1], abs=1e-12)
    assert uniform[0] == pytest.approx(0.1737373737, abs=1e-9)


def test_a_best_response_earns_the_best_margin() -> None:
    game = small(SIX)
    against = game.mixture(game.uniform())
    own = game.mixture(game.best_response(against))
    assert game.margin(own, against) == pytest.approx(game.best_margin(against))
    assert game.margin(own, own) == pytest.approx(0)
    assert game.margin(against, own) == pytest.approx(-game.margin(own, against))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"players": 4, "cards_dealt": 4}, "players=4"),
        ({"players": 3, "ranks": "9TJQKA"}, "players=3"),
        ({"exchange": "spare", "cards_dealt": 4}, "exchange=spare"),
        ({"crash_call": "optional"}, "crash_call=optional"),
        ({"ranks": "23456789TJQKA", "cards_dealt": 13}, "635,013,559,600 hands"),
        ({"ranks": "89TJQKA", "cards_dealt": 6}, "deals up to suits"),
    ],
)
def test_what_is_no_small_game_is_refused(options: dict[str, object], words: str) -> None:
    rules = SIX.replace(**options)
    for door in (check_rules, SmallGame.of):
        with pytest.raises(SmallGameError, match=words):
            door(rules)


def test_foreign_cards_are_refused() -> None:
    with pytest.raises(SmallGameError, match="outside the pack"):
        small(SIX).classes_of(np.array([[0, 37, 38, 39, 40, 41]]))


def test_rules_that_pay_alike_are_the_same_game() -> None:
    assert round_options(SIX) == round_options(SIX.replace(crash_reward=1, target=15, finish="round_end"))
    for options in ({"crash_reward": 2}, {"quads_bonus": 0}, {"ranks": "TJQK"}, {"lowest_hand": "flush"}):
        assert round_options(SIX) != round_options(SIX.replace(**options))


def test_strengths_do_not_ask_for_suits() -> None:
    """What all classes rest on: every permutation of suits leaves every triple as strong as it was."""
    table = strength_table()
    for order in permutations(range(4)):
        for triple in combinations(SIX.pack, 3):
            a, b, c = twin.turned(triple, order)
            x, y, z = triple
            assert (
                table[c * (c - 1) * (c - 2) // 6 + b * (b - 1) // 2 + a]
                == table[z * (z - 1) * (z - 2) // 6 + y * (y - 1) // 2 + x]
            )
