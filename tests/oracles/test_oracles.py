"""The oracles against the facts of RULES sections 2 and 6, against each other, and by symmetry."""

from collections import Counter
from itertools import combinations, permutations, product
from typing import Any

import pytest

from . import enumerate as plain
from . import enumerate_np as arrays
from . import ranking
from .cards import PACK, SUITS
from .generate import THEMES, random_round, random_rules, seeded
from .rulesets import PRESETS, num_hands, resolve, spare_hands
from .scorer import Round, score_round

TRIPLES = list(combinations(PACK, 3))
FLUSH_HIGHS = ("ace", "three")


# ---------------------------------------------------------------- ranking


def test_triples_of_each_class() -> None:
    assert Counter(map(ranking.classify, TRIPLES)) == {
        "prial": 52,
        "running flush": 48,
        "run": 720,
        "flush": 1_096,
        "pair": 3_744,
        "high card": 16_440,
    }


@pytest.mark.parametrize("flush_high", FLUSH_HIGHS)
def test_strength_classes(flush_high: str) -> None:
    name_of = {ranking.key(cards, flush_high=flush_high): ranking.classify(cards) for cards in TRIPLES}
    assert len(name_of) == 741
    assert Counter(name_of.values()) == {
        "prial": 13,
        "running flush": 12,
        "run": 12,
        "flush": 274,
        "pair": 156,
        "high card": 274,
    }
    in_order = [name_of[key] for key in sorted(name_of, reverse=True)]
    assert list(dict.fromkeys(in_order)) == ranking.CLASSES
    assert sorted(in_order, key=ranking.CLASSES.index) == in_order


@pytest.mark.parametrize("flush_high", FLUSH_HIGHS)
def test_positions_rise_with_strength(flush_high: str) -> None:
    assert sorted(ranking.positions(flush_high).values()) == list(range(1, 742))
    assert ranking.strength(["3c", "3d", "3s"], flush_high=flush_high) == 741
    assert ranking.strength(["Ac", "Ad", "As"], flush_high=flush_high) == 740
    assert ranking.strength(["5c", "3d", "2s"], flush_high=flush_high) == 1
    assert ranking.strength(["2c", "2d", "3s"], flush_high=flush_high) == 275


def test_flush_high_moves_flushes_only() -> None:
    moved = {
        ranking.classify(cards)
        for cards in TRIPLES
        if ranking.key(cards, flush_high="ace") != ranking.key(cards, flush_high="three")
    }
    assert moved == {"flush"}


def test_suits_and_the_order_of_cards_never_count() -> None:
    rng = seeded(1)
    for cards in rng.sample(TRIPLES, 300):
        keys = set()
        for suits, places in product(permutations(SUITS), permutations(range(3))):
            moved = [cards[place][0] + suits[SUITS.index(cards[place][1])] for place in places]
            keys.add(ranking.key(moved, flush_high="three"))
        assert len(keys) == 1


@pytest.mark.parametrize(("lowest_hand", "count"), [("high_card", 22_100), ("pair", 5_660), ("flush", 1_916)])
def test_triples_that_are_hands(lowest_hand: str, count: int) -> None:
    assert sum(ranking.is_hand(cards, lowest_hand=lowest_hand) for cards in TRIPLES) == count


@pytest.mark.parametrize("cards", [["Kc", "Kd"], ["Kc", "Kd", "Kh", "Ks"], ["Kc", "Kc", "Kd"]])
def test_hands_are_three_different_cards(cards: list[str]) -> None:
    with pytest.raises(ValueError, match="exactly three different cards"):
        ranking.classify(cards)


# ---------------------------------------------------------------- arrangements


@pytest.mark.parametrize(("cards_dealt", "total"), [(3, 2), (6, 31), (7, 106), (9, 1_205), (10, 5_021), (13, 417_847)])
def test_partition_counts(cards_dealt: int, total: int) -> None:
    counts = plain.partition_counts(cards_dealt)
    assert sum(counts) == total
    assert arrays.count_arrangements(PACK[:cards_dealt], lowest_hand="high_card") == total
    if cards_dealt == 13:
        assert counts == [1, 286, 17_160, 200_200, 200_200]


@pytest.mark.parametrize("cards_dealt", range(3, 10))
def test_both_formulations_agree(cards_dealt: int) -> None:
    rng = seeded(cards_dealt)
    for lowest_hand, flush_high, quads_bonus in product(ranking.CLASSES_THAT_COUNT, FLUSH_HIGHS, (0, 1, 2)):
        # From half the pack, so that quads, flushes and runs are common.
        cards = rng.sample(PACK[rng.choice([0, 28]) :][:24], cards_dealt)
        options = {"lowest_hand": lowest_hand, "flush_high": flush_high}
        laid = list(plain.arrangements(cards, **options))
        assert len(laid) == arrays.count_arrangements(cards, lowest_hand=lowest_hand)
        assert len({frozenset(map(frozenset, hands)) for hands in laid}) == len(laid)
        values = plain.values(cards, **options, quads_bonus=quads_bonus)
        again = arrays.all_values(cards, **options, quads_bonus=quads_bonus)
        assert values == {tuple(map(int, row)) for row in again}
        undominated = plain.undominated_values(cards, **options, quads_bonus=quads_bonus)
        assert undominated == arrays.undominated_values(cards, **options, quads_bonus=quads_bonus)


@pytest.mark.parametrize(
    ("seed", "lowest_hand", "flush_high", "quads_bonus"),
    [(1, "pair", "ace", 1), (3, "flush", "ace", 1), (4, "pair", "ace", 2)],
)
def test_both_formulations_agree_on_13_cards(seed: int, lowest_hand: str, flush_high: str, quads_bonus: int) -> None:
    # The even seed deals two quads.
    rng = seeded(seed)
    cards = rng.sample(PACK, 13) if seed % 2 else [*PACK[8:16], *rng.sample(PACK[16:], 5)]
    options: dict[str, Any] = {
        "lowest_hand": lowest_hand,
        "flush_high": flush_high,
        "quads_bonus": quads_bonus,
    }
    undominated = plain.undominated_values(cards, **options)
    assert undominated == arrays.undominated_values(cards, **options)


@pytest.mark.parametrize(
    ("cards", "count"),
    [
        ("3c 3h 4h 6c 6h 7d 7h 9h Th Ts Qh Kh Ah", 676),
        ("2c 2h 4h 5h 5s 7h 8h Tc Th Jh Kh Ah As", 736),
    ],
)
def test_deals_with_many_undominated_values(cards: str, count: int) -> None:
    values = arrays.undominated_values(cards.split(), lowest_hand="pair", flush_high="ace", quads_bonus=1)
    assert len(values) == count


@pytest.mark.parametrize(("flush_high", "mean"), [("ace", 5.60), ("three", 5.46)])
def test_undominated_values_of_random_deals(flush_high: str, mean: float) -> None:
    rng = seeded(6)
    counts = [
        len(arrays.undominated_values(rng.sample(PACK, 13), lowest_hand="pair", flush_high=flush_high, quads_bonus=1))
        for _ in range(120)
    ]
    assert abs(sum(counts) / len(counts) - mean) < 1.5
    assert 0.08 < counts.count(1) / len(counts) < 0.20


# ---------------------------------------------------------------- scorer


def _rounds(count: int, seed: int, **options: Any) -> list[Round]:
    rng = seeded(seed)
    rounds: list[Round] = []
    while len(rounds) < count:
        rules = random_rules(rng)
        if all(rules[name] in allowed for name, allowed in options.items()):
            rounds.append(random_round(rng, rules))
    return rounds


def test_scores_are_the_points_where_the_round_is_played_out() -> None:
    for one in _rounds(400, 1, finish=["round_end"]):
        scored = score_round(one)
        gains = [after - before for after, before in zip(scored["scores"], one["scores"], strict=True)]
        if scored["reason"] == "crash":
            gains[scored["crasher"]] += 1
        assert gains == scored["points"]
        assert scored["revealed"] == num_hands(one["rules"])


def test_finishes_agree_while_the_target_is_far() -> None:
    for one in _rounds(300, 2):
        rules = {**one["rules"], "target": 1_000, "crash_reward": 1}
        first = score_round({**one, "rules": {**rules, "finish": "immediate"}})
        assert first == score_round({**one, "rules": {**rules, "finish": "round_end"}})


def test_immediate_stops_as_soon_as_somebody_has_won() -> None:
    for one in _rounds(400, 3, finish=["immediate"]):
        scored = score_round(one)
        target = one["rules"]["target"]
        at_target = [seat for seat, score in enumerate(scored["scores"]) if score >= target]
        assert at_target == (scored["winners"] if scored["reason"] == "target" else [])
        if scored["reason"] == "target":
            assert scored["scores"][at_target[0]] == target or scored["revealed"] == num_hands(one["rules"])


def test_turning_the_table_turns_the_result() -> None:
    for one in _rounds(200, 4):
        players = one["rules"]["players"]
        turned = {**one, "dealer": (one["dealer"] + 1) % players}
        for name in ("scores", "hands", "exchange", "laid", "calls"):
            turned[name] = [one[name][seat - 1] for seat in range(players)]
        before, after = score_round(one), score_round(turned)
        for name in ("scores", "points", "kept", "quads"):
            assert after[name] == [before[name][seat - 1] for seat in range(players)]
        assert after["winners"] == sorted((seat + 1) % players for seat in before["winners"])
        for name in ("reason", "revealed"):
            assert after[name] == before[name]


def test_a_dominating_arrangement_never_does_worse() -> None:
    rng = seeded(5)
    tried = 0
    for one in _rounds(400, 5, cards_dealt=[6, 7]):
        rules = one["rules"]
        seat = rng.randrange(rules["players"])
        cards = score_round(one)["kept"][seat]
        options = {"lowest_hand": rules["lowest_hand"], "flush_high": rules["flush_high"]}
        rows = list(plain.arrangements(cards, **options))
        first, second = rng.choice(rows), rng.choice(rows)
        values = [
            plain.value(
                row,
                hands=num_hands(rules),
                flush_high=rules["flush_high"],
                quads_bonus=rules["quads_bonus"],
            )
            for row in (first, second)
        ]
        if not plain.dominates(*values):
            continue
        tried += 1
        laid = [[*one["laid"][:seat], row, *one["laid"][seat + 1 :]] for row in (first, second)]
        better, worse = [score_round({**one, "laid": row})["points"] for row in laid]
        assert better[seat] >= worse[seat]
        assert all(better[other] <= worse[other] for other in range(len(worse)) if other != seat)
    assert tried > 50


def _example() -> Round:
    rng = seeded(7)
    return random_round(rng, resolve({"preset": "bga"}), theme="plain")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": [7, 0, 0]}, "the game is over"),
        ({"rounds_played": 200}, "the game is over"),
        ({"calls": [True, False, False]}, "nobody calls"),
        ({"exchange": [True, True, True]}, "where the seats asked are"),
        ({"exchange": [None, None, None]}, "where the seats asked are"),
        ({"laid": [[], [], [["As", "Ks"]]]}, "hand_size"),
        ({"spares": []}, "spare hands, expected 1"),
        ({"scores": [0, 0]}, "one entry for each"),
    ],
)
def test_impossible_rounds_are_refused(changes: Round, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score_round({**_example(), **changes})


def test_cards_dealt_twice_are_refused() -> None:
    one = _example()
    with pytest.raises(ValueError, match="dealt twice"):
        score_round({**one, "spares": [one["hands"][0]]})


# ---------------------------------------------------------------- generator


def test_the_same_seed_gives_the_same_rounds() -> None:
    assert _rounds(20, 8) == _rounds(20, 8)
    assert _rounds(20, 8) != _rounds(20, 9)


@pytest.mark.parametrize("theme", sorted(set(THEMES)))
@pytest.mark.parametrize("preset", PRESETS)
def test_every_theme_plays_under_every_rule_set(preset: str, theme: str) -> None:
    rng = seeded(10)
    for players in (2, 3, 4):
        score_round(random_round(rng, resolve({"preset": preset, "players": players}), theme=theme))


def test_rare_cases_occur() -> None:
    seen: Counter[str] = Counter()
    for one in _rounds(900, 11):
        rules, scored = one["rules"], score_round(one)
        hands = num_hands(rules)
        crasher, called = scored["full_crasher"], one["calls"]
        tops = [row[0] for row in one["laid"] if row]
        strengths = [ranking.strength(hand, flush_high=rules["flush_high"]) for hand in tops]
        after = [score + points for score, points in zip(one["scores"], scored["points"], strict=True)]
        ranks = [[card[0] for card in cards] for cards in scored["kept"]]
        failed = [seat for seat, calls in enumerate(called) if calls and seat != crasher]
        penalty = rules["crash_call_penalty"]
        won = [scored["comparison_winners"].count(seat) for seat in range(rules["players"])]
        seen.update(
            name
            for name, happened in {
                "tie for the best hand 1": strengths.count(max(strengths, default=0)) > 1,
                "quads held": any(held.count(rank) == 4 for held in ranks for rank in held),
                "quads laid": any(scored["quads"]),
                "quads of several players": sum(count > 0 for count in scored["quads"]) > 1,
                "quads held but not laid": any(held.count(rank) == 4 for held in ranks for rank in held)
                and not any(scored["quads"]),
                "crash": crasher is not None,
                "called crash": crasher is not None and called[crasher],
                "crash not called": crasher is not None and rules["crash_call"] == "required" and not called[crasher],
                "call fails": bool(failed),
                "several call": sum(called) > 1,
                "floor": any(one["scores"][seat] + won[seat] < penalty for seat in failed),
                "several at the target": sum(score >= rules["target"] for score in after) > 1,
                "shared win": len(scored["winners"]) > 1,
                "stopped in the middle": scored["revealed"] < hands,
                "target": scored["reason"] == "target",
                "crash wins": scored["reason"] == "crash",
                "max_rounds": scored["reason"] == "max_rounds",
                "goes on": scored["reason"] is None,
                "short row": any(0 < len(row) < hands for row in one["laid"]),
                "nothing laid": any(not row for row in one["laid"]),
                "hand that nobody lays": any(
                    all(len(row) < place for row in one["laid"]) for place in range(1, hands + 1)
                ),
                "exchange": any(one["exchange"]),
                "no exchange where one could be": spare_hands(rules) > 0 and not any(one["exchange"]),
                "both exchange": rules["players"] == 2 and all(one["exchange"]),
                "short pack": len(rules["ranks"]) < 13,
                "one hand": hands == 1,
            }.items()
            if happened
        )
    assert len(seen) == 26
    assert min(seen.values()) >= 5, seen
