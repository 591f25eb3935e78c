"""The golden cases through the engine."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bridge import ids, rules_of
from golden import Case, cases, split_row
from oracles.rulesets import PRESETS, resolve
from play import call, exchange_cards, lay, start_round
from prial.envs.brag import brag_class, strength_table, triple_index, triple_strength
from prial.envs.cards import CardError, format_cards, parse_cards
from prial.envs.crash.arrangement import Arrangement, ArrangementError, FaultKind, arrangement_faults
from prial.envs.crash.events import Reveal, RoundEnd
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.rules import CrashRules, RulesError
from prial.envs.crash.scoring import comparison_winners

CODES = {
    "too_many_hands": FaultKind.TOO_MANY_HANDS,
    "hand_size": FaultKind.NOT_THREE_CARDS,
    "not_held": FaultKind.FOREIGN_CARD,
    "repeated": FaultKind.REPEATED_CARD,
    "below_lowest_hand": FaultKind.NOT_A_HAND,
    "order": FaultKind.WRONG_ORDER,
}


@pytest.mark.parametrize("case", cases("cards"))
def test_cards(case: Case) -> None:
    if case.get("refused"):
        with pytest.raises(CardError):
            parse_cards(case["text"])
    else:
        assert format_cards(parse_cards(case["text"])) == case["cards"]


@pytest.mark.parametrize("case", cases("classes"))
def test_classes(case: Case) -> None:
    assert brag_class(case["cards"]).label == case["class"]
    index = triple_index(*ids(case["cards"].split()))
    for lowest_hand in ("high_card", "pair", "flush"):
        rules = CrashRules.from_dict({"lowest_hand": lowest_hand})
        counts = strength_table(rules.flush_order, rules.lowest_class)[index] > 0
        assert counts == (lowest_hand in case["counts_under"])


@pytest.mark.parametrize("case", cases("comparisons"))
def test_comparisons(case: Case) -> None:
    flush_high = CrashRules.preset(case["preset"]).flush_order
    first, second = (triple_strength(case[hand], flush_high=flush_high) for hand in ("first", "second"))
    assert {-1: "<", 0: "=", 1: ">"}[(first > second) - (first < second)] == case["result"]


@pytest.mark.parametrize("case", cases("orders"))
def test_orders(case: Case) -> None:
    flush_high = CrashRules.preset(case["preset"]).flush_order
    strengths = [triple_strength(hand, flush_high=flush_high) for hand in case["best_to_worst"]]
    assert all(better > worse for better, worse in pairwise(strengths))


@pytest.mark.parametrize("case", cases("arrangements"))
def test_arrangements(case: Case) -> None:
    rules, cards = rules_of(case["rules"]), case["cards"]
    expected = [(CODES[code], tuple(positions)) for code, positions in case["faults"]]
    found = [(fault.kind, fault.positions) for fault in arrangement_faults(case["laid"], cards, rules)]
    if any(kind not in (FaultKind.NOT_A_HAND, FaultKind.WRONG_ORDER) for kind, _ in expected):
        # The cases stop at the first kind of fault; the engine goes on to what the hands are worth.
        found = [one for one in found if one[0] not in (FaultKind.NOT_A_HAND, FaultKind.WRONG_ORDER)]
    assert found == expected
    laid = Arrangement.of(case["laid"], cards)
    if expected:
        with pytest.raises(ArrangementError):
            laid.index(cards, rules)
        return
    index = laid.index(cards, rules)
    assert Arrangement.from_index(index, cards, rules).strengths(rules) == laid.strengths(rules)
    if "same_as" in case:
        assert Arrangement.of(case["same_as"], cards).index(cards, rules) == index


@pytest.mark.parametrize("case", cases("exchanges"))
def test_exchanges(case: Case) -> None:
    one = {
        **case,
        "rules": resolve(case["rules"]),
        "hands": [cards.split() for cards in case["hands"]],
        "spares": [cards.split() for cards in case["spares"]],
        "scores": [0] * len(case["hands"]),
        "rounds_played": 0,
        "exchange": case["choices"],
    }
    game = start_round(one)
    asked: list[int] = []
    while game.phase is Phase.EXCHANGE:
        seat = game.pending[0]
        asked.append(seat)
        game.step(game.layout.exchange if case["choices"][seat] else game.layout.keep, seat)
    assert asked == case["asked"]
    assert game.hands == [ids(cards.split()) for cards in case["kept"]]
    assert game.given_up == [None if cards is None else ids(cards.split()) for cards in case["given_up"]]


@pytest.mark.parametrize("case", cases("rules"))
def test_rules(case: Case) -> None:
    options = {name: value for name, value in case["rules"].items() if name != "preset"}
    if "refused" in case:
        with pytest.raises(RulesError) as caught:
            CrashRules.preset(case["rules"]["preset"], **options)
        assert all(f"{option}=" in str(caught.value) for option in case["refused"])
        return
    rules = CrashRules.preset(case["rules"]["preset"], **options)
    assert {name: getattr(rules, name) for name in case["options"]} == case["options"]
    assert rules.hands == case["hands"]


@pytest.mark.parametrize("case", cases("rounds"))
def test_rounds(case: Case) -> None:
    one = {
        **{name: case[name] for name in ("dealer", "scores", "rounds_played", "exchange", "calls")},
        "rules": resolve(case["rules"]),
        "hands": [cards.split() for cards in case["hands"]],
        "spares": [cards.split() for cards in case["spares"]],
        "laid": [split_row(row) for row in case["laid"]],
    }
    game = start_round(one)
    exchange_cards(game, one)
    lay(game, one["laid"])
    strengths = _strengths(game, one["laid"])
    if game.rules.has_calls:
        call(game, case["calls"])
    expected = case["expected"]
    [end] = [event for event in game.events if isinstance(event, RoundEnd)]
    reveals = [event for event in game.events if isinstance(event, Reveal)]
    winners = comparison_winners(strengths, game.rules.hands)
    crash = winners[0] if game.rules.hands >= 2 and len(set(winners)) == 1 else None
    found = {
        "comparison_winners": list(winners),
        "revealed": len(reveals),
        "full_crasher": crash,
        "crasher": end.crasher,
        "quads": [_quads(row) for row in one["laid"]],
        "scores": list(game.scores),
        "points": list(game.round_points or ()),
        "winners": [] if game.result is None else list(game.result.winners),
        "reason": None if game.result is None else game.result.reason.value,
    }
    assert {name: found[name] for name in expected} == expected
    assert [event.winner for event in reveals] == list(winners)[: len(reveals)]


def _strengths(game: Game, laid: list[list[list[str]]]) -> list[list[int]]:
    rules = game.rules
    table = strength_table(rules.flush_order, rules.lowest_class)
    rows = [[int(table[triple_index(*ids(hand))]) for hand in row] for row in laid]
    return [[*row, *[0] * (rules.hands - len(row))] for row in rows]


def _quads(row: list[list[str]]) -> int:
    ranks = [card[0] for hand in row for card in hand]
    return sum(ranks.count(rank) == 4 for rank in set(ranks))


def test_there_are_cases_of_every_rule_set() -> None:
    rounds = [case.values[0]["rules"]["preset"] for case in cases("rounds")]
    assert set(rounds) == set(PRESETS)
