"""Three-card hands: classes, order, tables (RULES section 2)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import texts
from oracles import ranking
from prial.envs import brag
from prial.envs.brag import BragClass, FlushHigh, strength_table, triple_index, triple_strength
from prial.envs.cards import Card, CardError, parse_cards

TRIPLES = list(combinations(range(52), 3))
three_cards = st.lists(st.integers(0, 51), unique=True, min_size=3, max_size=3)


def test_triples_are_numbered_one_by_one() -> None:
    colex = sorted(TRIPLES, key=lambda triple: triple[::-1])
    assert [triple_index(*triple) for triple in colex] == list(range(brag.NUM_TRIPLES))


@pytest.mark.parametrize("flush_high", list(FlushHigh))
@pytest.mark.parametrize("lowest", [BragClass.HIGH_CARD, BragClass.PAIR, BragClass.FLUSH])
def test_every_triple_is_ranked_as_the_oracle_ranks_it(flush_high: FlushHigh, lowest: BragClass) -> None:
    table = strength_table(flush_high, lowest)
    for triple in TRIPLES:
        cards = texts(triple)
        counts = ranking.is_hand(cards, lowest_hand=lowest.name.lower())
        expected = ranking.strength(cards, flush_high=flush_high) if counts else 0
        assert table[triple_index(*triple)] == expected, cards


def test_every_triple_has_the_oracles_class() -> None:
    for triple in TRIPLES:
        kind = brag.class_of_strength(int(strength_table()[triple_index(*triple)]))
        assert kind.label == ranking.classify(texts(triple))


def test_class_counts_of_rules_section_2() -> None:
    by_class = Counter(brag.class_of_strength(s).name for s in strength_table().tolist())
    assert by_class == {"PRIAL": 52, "RUNNING_FLUSH": 48, "RUN": 720, "FLUSH": 1096, "PAIR": 3744, "HIGH_CARD": 16440}
    strengths = Counter(brag.class_of_strength(s) for s in range(1, brag.NUM_STRENGTHS + 1))
    assert [strengths[kind] for kind in reversed(BragClass)] == [13, 12, 12, 274, 156, 274]
    for flush_high in FlushHigh:
        assert set(strength_table(flush_high).tolist()) == set(range(1, 742))
    lowest = {kind: int((strength_table(FlushHigh.ACE, kind) > 0).sum()) for kind in (BragClass.PAIR, BragClass.FLUSH)}
    assert lowest == {BragClass.PAIR: 22_100 - 16_440, BragClass.FLUSH: 22_100 - 16_440 - 3_744}


# Best and worst of each class, each pair just above the next class's best.
BORDERS = [
    ("prial", "3c 3d 3h", "2c 2d 2h"),
    ("running flush", "Ah 2h 3h", "4s 3s 2s"),
    ("run", "Ac 2d 3h", "4s 3d 2s"),
    ("flush", "Ac Kc Jc", "5d 3d 2d"),
    ("pair", "As Ad Kc", "2h 2c 3s"),
    ("high card", "Ac Kd Js", "5c 3c 2d"),
]


def test_borders_of_the_classes() -> None:
    above = brag.NUM_STRENGTHS + 1
    for label, best, worst in BORDERS:
        assert brag.brag_class(best).label == brag.brag_class(worst).label == label
        assert triple_strength(best) == above - 1
        above = triple_strength(worst)
        assert brag.weakest_strength(brag.brag_class(worst)) == above
    assert above == 1


def test_the_three_tops_flushes_and_nothing_else() -> None:
    ace, three = strength_table(FlushHigh.ACE), strength_table(FlushHigh.THREE)
    for triple in TRIPLES:
        index = triple_index(*triple)
        if brag.class_of_strength(int(ace[index])) is not BragClass.FLUSH:
            assert ace[index] == three[index]
    best, worst = (triple_strength(cards, flush_high=FlushHigh.THREE) for cards in ("3cAcKc", "5c4c2c"))
    assert best - worst == 273
    assert brag.class_of_strength(best) is brag.class_of_strength(worst) is BragClass.FLUSH


def test_field_note_a_which_hand_order() -> None:
    for flush_high in FlushHigh:
        values = [triple_strength(t, flush_high=flush_high) for t in ("As 2h 3d", "Ac Kd Qh", "9s 5s 2s")]
        assert values == sorted(values, reverse=True)
        assert triple_strength("QsTs2s", flush_high=flush_high) > triple_strength("Jh8h2h", flush_high=flush_high)
        assert triple_strength("3s3d3c", flush_high=flush_high) > triple_strength("AsAdAc", flush_high=flush_high)
        assert triple_strength("5c4d3h", flush_high=flush_high) < triple_strength("6c5d4h", flush_high=flush_high)
    # The queen wins by top card; by pips the jack would (21 to 19). With the three on top, the flush with the three wins.
    assert triple_strength("Qs7s2s") > triple_strength("Jh8h3h")
    assert triple_strength("Qs7s2s", flush_high=FlushHigh.THREE) < triple_strength("Jh8h3h", flush_high=FlushHigh.THREE)


def test_field_note_b_no_run_round_the_corner() -> None:
    assert brag.brag_class("As 2s Ks") is BragClass.FLUSH
    assert brag.brag_class("As 2h Ks") is BragClass.HIGH_CARD
    assert brag.brag_class("As 2s 3s") is BragClass.RUNNING_FLUSH
    assert brag.brag_class("Ks Qs Jd") is BragClass.RUN


def test_field_note_b_one_games_rule_does_not_leak_into_anothers() -> None:
    nine, ace = "9s 5s 3s", "As Ks 9s"
    for _ in range(2):
        assert triple_strength(nine, flush_high=FlushHigh.THREE) > triple_strength(ace, flush_high=FlushHigh.THREE)
        assert triple_strength(nine, flush_high=FlushHigh.ACE) < triple_strength(ace, flush_high=FlushHigh.ACE)


@pytest.mark.parametrize("flush_high", list(FlushHigh))
def test_suits_never_matter(flush_high: FlushHigh) -> None:
    table = strength_table(flush_high)
    cards = np.array(TRIPLES)
    for suits in permutations(range(4)):
        moved = np.sort(4 * (cards // 4) + np.array(suits)[cards % 4], axis=1)
        a, b, c = moved.T
        assert (
            table[c * (c - 1) * (c - 2) // 6 + b * (b - 1) // 2 + a] == table[[triple_index(*t) for t in TRIPLES]]
        ).all()


@given(three_cards, three_cards, st.sampled_from(list(FlushHigh)))
def test_strength_is_a_total_preorder_that_ignores_order(
    first: list[int], second: list[int], flush_high: FlushHigh
) -> None:
    one, two = triple_strength(first, flush_high=flush_high), triple_strength(second, flush_high=flush_high)
    assert triple_strength(list(reversed(first)), flush_high=flush_high) == one
    sign = {-1: "<", 0: "=", 1: ">"}[(one > two) - (one < two)]
    assert sign == ranking.compare(texts(first), texts(second), flush_high=flush_high)


def test_tables_are_shared_and_frozen() -> None:
    assert strength_table() is strength_table()
    assert strength_table().dtype == np.int16
    for table in (strength_table(), brag.weaker_share()):
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 1


@pytest.mark.parametrize("bad", ["", "As", "As Kd", "As Kd Qh Js"])
def test_a_hand_is_exactly_three_cards(bad: str) -> None:
    for ask in (triple_strength, brag.brag_class):
        with pytest.raises(CardError, match=f"exactly three cards, got {len(parse_cards(bad))}"):
            ask(bad)


def test_a_hand_has_no_card_twice() -> None:
    with pytest.raises(CardError, match="7h is given twice"):
        triple_strength([Card.from_text("7h"), Card.from_text("7h"), Card.from_text("2c")])


@pytest.mark.parametrize("bad", [0, -1, 742])
def test_strengths_end_somewhere(bad: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 741"):
        brag.class_of_strength(bad)


def test_every_strength_has_words_of_its_own() -> None:
    for flush_high in FlushHigh:
        words = [brag.describe_strength(s, flush_high=flush_high) for s in range(742)]
        assert len(set(words)) == 742
        for strength in range(1, 742):
            assert words[strength].startswith(brag.class_of_strength(strength).label)


@pytest.mark.parametrize(
    ("cards", "flush_high", "words"),
    [
        ("3s3d3c", "ace", "prial of 3s"),
        ("TsTdTc", "ace", "prial of 10s"),
        ("3h2hAh", "ace", "running flush A-2-3"),
        ("QhKdAc", "ace", "run A-K-Q"),
        ("9s5s3s", "ace", "flush 9-5-3"),
        ("9s5s3s", "three", "flush 3-9-5"),
        ("9s9d3s", "three", "pair of 9s with 3"),
        ("9s7d3s", "three", "high card 9-7-3"),
    ],
)
def test_hands_in_words(cards: str, flush_high: str, words: str) -> None:
    order = FlushHigh(flush_high)
    assert brag.describe_strength(triple_strength(cards, flush_high=order), flush_high=order) == words


def test_weaker_share_counts_the_triples_that_lose() -> None:
    table = strength_table(FlushHigh.THREE)
    share = brag.weaker_share(FlushHigh.THREE)
    for strength in (0, 1, 274, 275, 500, 741):
        assert share[strength] == pytest.approx((table < strength).mean(), abs=1e-6)
