"""The golden cases through the oracles."""

from itertools import pairwise

import pytest

from golden import FILES, Case, cases, load, split_row
from oracles import ranking, scorer
from oracles.cards import card_id, read_cards
from oracles.rulesets import num_hands, resolve, rules_faults


def test_ids_are_unique_and_every_case_has_a_source() -> None:
    every = [case for name in FILES for case in load(name)]
    ids = [case["id"] for case in every]
    assert sorted(ids) == sorted(set(ids))
    assert all(case["source"] and case["sentence"] for case in every)


@pytest.mark.parametrize("case", cases("cards"))
def test_cards(case: Case) -> None:
    if case.get("refused"):
        with pytest.raises(ValueError, match="card"):
            read_cards(case["text"])
    else:
        assert read_cards(case["text"]) == case["cards"].split()


@pytest.mark.parametrize(("card", "number"), [("2c", 0), ("2s", 3), ("3c", 4), ("Td", 33), ("As", 51)])
def test_ids_of_cards(card: str, number: int) -> None:
    assert card_id(card) == number


@pytest.mark.parametrize("case", cases("classes"))
def test_classes(case: Case) -> None:
    cards = case["cards"].split()
    assert ranking.classify(cards) == case["class"]
    for lowest_hand in ("high_card", "pair", "flush"):
        counts = ranking.is_hand(cards, lowest_hand=lowest_hand)
        assert counts == (lowest_hand in case["counts_under"])


@pytest.mark.parametrize("case", cases("comparisons"))
def test_comparisons(case: Case) -> None:
    flush_high = resolve({"preset": case["preset"]})["flush_high"]
    first, second = case["first"].split(), case["second"].split()
    mirrored = {"<": ">", ">": "<", "=": "="}[case["result"]]
    assert ranking.compare(first, second, flush_high=flush_high) == case["result"]
    assert ranking.compare(second, first, flush_high=flush_high) == mirrored


@pytest.mark.parametrize("case", cases("orders"))
def test_orders(case: Case) -> None:
    flush_high = resolve({"preset": case["preset"]})["flush_high"]
    for better, worse in pairwise(case["best_to_worst"]):
        assert ranking.compare(better.split(), worse.split(), flush_high=flush_high) == ">"


@pytest.mark.parametrize("case", cases("arrangements"))
def test_arrangements(case: Case) -> None:
    rules = resolve(case["rules"])
    for laid in [case["laid"], *([case["same_as"]] if "same_as" in case else [])]:
        hands = [hand.split() for hand in laid]
        faults = scorer.laid_faults(case["cards"].split(), hands, rules)
        assert [[code, list(positions)] for code, positions in faults] == case["faults"]


@pytest.mark.parametrize("case", cases("exchanges"))
def test_exchanges(case: Case) -> None:
    rules = resolve(case["rules"])
    one = {
        "rules": rules,
        "dealer": case["dealer"],
        "hands": [cards.split() for cards in case["hands"]],
        "spares": [cards.split() for cards in case["spares"]],
        "exchange": case["choices"],
    }
    assert scorer.must_choose(rules, case["dealer"], case["choices"]) == case["asked"]
    kept, given_up = scorer.after_exchange(one)
    assert kept == [cards.split() for cards in case["kept"]]
    assert given_up == [cards if cards is None else cards.split() for cards in case["given_up"]]


@pytest.mark.parametrize("case", cases("rules"))
def test_rules(case: Case) -> None:
    rules = resolve(case["rules"])
    faults = rules_faults(rules)
    if "refused" in case:
        assert set(case["refused"]) <= set(faults)
    else:
        assert faults == []
        assert {name: rules[name] for name in case["options"]} == case["options"]
        assert num_hands(rules) == case["hands"]


@pytest.mark.parametrize("case", cases("rounds"))
def test_rounds(case: Case) -> None:
    one = {
        "rules": resolve(case["rules"]),
        "dealer": case["dealer"],
        "scores": case["scores"],
        "rounds_played": case["rounds_played"],
        "hands": [cards.split() for cards in case["hands"]],
        "spares": [cards.split() for cards in case["spares"]],
        "exchange": case["exchange"],
        "laid": [split_row(row) for row in case["laid"]],
        "calls": case["calls"],
    }
    scored = scorer.score_round(one)
    assert {name: scored[name] for name in case["expected"]} == case["expected"]
