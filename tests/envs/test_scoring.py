"""Whole rounds through the engine against the independent scorer (RULES sections 3 and 4)."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import ids, rules_of
from oracles import generate, scorer
from oracles.rulesets import PRESETS, resolve, rules_faults
from play import call, drawing, exchange_cards, lay, play_round, start_round
from prial.envs.crash.events import Award, AwardReason, GameEnd, Reveal, RoundEnd
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.scoring import comparison_winners, highest_seats, margins, settle_round


def check_round(one: dict[str, Any]) -> None:
    """Play a round in the engine, compare everything that the scorer says about it."""
    expected = scorer.score_round(one)
    game = start_round(one)
    assert game.turn_order == tuple(expected["turn_order"])
    exchange_cards(game, one)
    assert game.phase is Phase.ARRANGE
    assert game.hands == [ids(cards) for cards in expected["kept"]]
    assert game.given_up == [None if cards is None else ids(cards) for cards in expected["given_up"]]
    lay(game, one["laid"])
    if one["rules"]["crash_call"] != "none":
        call(game, one["calls"])

    assert game.scores == tuple(expected["scores"])
    assert game.round_points == tuple(expected["points"])
    reveals = [event for event in game.events if isinstance(event, Reveal)]
    assert [event.winner for event in reveals] == expected["comparison_winners"][: expected["revealed"]]
    assert [event.position for event in reveals] == list(range(expected["revealed"]))
    for seat, laid in enumerate(one["laid"]):
        shown = [event.hands[seat] for event in reveals if event.hands[seat]]
        if len(reveals) == game.rules.hands:
            assert sorted(shown) == sorted(ids(hand) for hand in laid)
    [end] = [event for event in game.events if isinstance(event, RoundEnd)]
    assert (end.scores, end.points) == (game.scores, game.round_points)
    assert end.crasher == expected["crasher"]
    if expected["winners"]:
        assert game.result is not None
        assert (list(game.result.winners), game.result.reason.value) == (expected["winners"], expected["reason"])
        assert game.is_truncated == (expected["reason"] == "max_rounds")
        assert game.events[-1] == GameEnd(result=game.result, scores=game.scores)
    else:
        assert game.result is None
        assert (game.phase is Phase.EXCHANGE) == game.rules.has_exchange
        assert game.dealer == expected["next_dealer"]
        assert game.rounds_played == one["rounds_played"] + 1
    _check_awards(game, one)


def _check_awards(game: Game, one: dict[str, Any]) -> None:
    """Awards add up to the scores, never below 0, in the order of settlement."""
    scores = list(one["scores"])
    awards = [event for event in game.events if isinstance(event, Award)]
    for award in awards:
        scores[award.seat] += award.points
        assert scores[award.seat] == award.score >= 0
    assert tuple(scores) == game.scores
    stages = [AwardReason.COMPARISON, AwardReason.CRASH, None, AwardReason.QUADS]
    calls = (AwardReason.CALL_BONUS, AwardReason.CALL_PENALTY)
    order = [(stages.index(None if a.reason in calls else a.reason), a.seat) for a in awards]
    assert [stage for stage, _ in order] == sorted(stage for stage, _ in order)
    for stage in (2, 3):
        turns = [game.turn_order.index(seat) for at, seat in order if at == stage]
        if game.result is not None:  # else the deal has passed on
            assert turns == sorted(turns)


CHUNKS = range(12)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_random_rounds_of_random_rules(chunk: int) -> None:
    """Any options together, rare cases weighted up: 12 times 1,000 rounds."""
    rng = drawing(1000 + chunk)
    for _ in range(1000):
        check_round(generate.random_round(rng, generate.random_rules(rng)))


VARIANTS = [
    {"preset": preset, "players": players}
    for preset, players in product(PRESETS, (2, 3, 4, 5))
    if not rules_faults(resolve({"preset": preset, "players": players}))
]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: f"{v['preset']}-{v['players']}")
def test_random_rounds_of_every_rule_set(variant: dict[str, Any]) -> None:
    """Each rule set with each number of players: as it stands, with calls, with its table options, both finishes."""
    rng = drawing(str(variant))
    for crash_call, finish, crash_reward in product(
        ("none", "optional", "required"), ("immediate", "round_end"), ("game", 1, 0)
    ):
        for quads_bonus, flush_high, lowest_hand in (
            (1, "ace", "pair"),
            (0, "three", "high_card"),
            (2, "ace", "flush"),
        ):
            options = {
                "crash_call": crash_call,
                "finish": finish,
                "crash_reward": crash_reward,
                "quads_bonus": quads_bonus,
                "flush_high": flush_high,
                "lowest_hand": lowest_hand,
            }
            for _ in range(12):
                check_round(generate.random_round(rng, resolve({**variant, **options})))
    for _ in range(200):
        check_round(generate.random_round(rng, resolve(variant)))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(4))
def test_many_more_random_rounds(chunk: int) -> None:
    rng = drawing(2000 + chunk)
    for _ in range(5000):
        check_round(generate.random_round(rng, generate.random_rules(rng)))


def test_the_rounds_hold_what_is_rare() -> None:
    """The generator makes what a test of scoring must see: without it the comparison above would prove little."""
    rng = drawing(1000)
    seen: dict[str, int] = {}
    for _ in range(1500):
        one = generate.random_round(rng, generate.random_rules(rng))
        scored = scorer.score_round(one)
        facts = {
            "crash": scored["full_crasher"] is not None,
            "called crash": scored["full_crasher"] is not None and one["calls"][scored["full_crasher"]],
            "failed call": any(c and s != scored["full_crasher"] for s, c in enumerate(one["calls"])),
            "tie or nothing": None in scored["comparison_winners"],
            "quads": any(scored["quads"]),
            "stopped early": scored["revealed"] < len(scored["comparison_winners"]),
            "shared win": len(scored["winners"]) > 1,
            "truncated": scored["reason"] == "max_rounds",
            "won by crash": scored["reason"] == "crash",
            "exchanged": any(one["exchange"]),
            "nothing laid": any(not row for row in one["laid"]),
            "score lost": any(points < 0 for points in scored["points"]),
        }
        for name, there in facts.items():
            seen[name] = seen.get(name, 0) + there
    assert min(seen.values()) >= 10, seen


strengths = st.lists(st.integers(0, 3), min_size=4, max_size=4).map(lambda row: sorted(row, reverse=True))


@st.composite
def settlements(draw: st.DrawFn) -> dict[str, Any]:
    players = draw(st.integers(2, 4))
    rules = CrashRules(
        players=players,
        target=draw(st.integers(1, 9)),
        finish=draw(st.sampled_from(["immediate", "round_end"])),
        crash_reward=draw(st.sampled_from(["game", 0, 1, 2])),
        crash_call=draw(st.sampled_from(["none", "optional", "required"])),
        crash_call_bonus=draw(st.integers(0, 2)),
        crash_call_penalty=draw(st.integers(0, 3)),
        quads_bonus=draw(st.integers(0, 2)),
    )

    def each(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=players, max_size=players))

    return {
        "rules": rules,
        "strengths": each(strengths),
        "quads": each(st.integers(0, 3)),
        "called": each(st.booleans()) if rules.has_calls else [False] * players,
        "scores": each(st.integers(0, rules.target - 1)),
        "order": draw(st.permutations(range(players))),
    }


@given(settlements())
def test_scores_and_points_keep_within_their_bounds(one: dict[str, Any]) -> None:
    rules: CrashRules = one["rules"]
    settled = settle_round(**one)
    assert all(score >= 0 for score in settled.scores)
    assert sum(margins(settled.round_points)) == pytest.approx(0)
    for before, points, after in zip(one["scores"], settled.round_points, settled.scores, strict=True):
        assert -before <= points
        assert after <= before + rules.max_round_points
    comparisons = sum(winner is not None for winner in settled.comparison_winners)
    assert sum(a.reason is AwardReason.COMPARISON for a in settled.awards) <= comparisons
    if settled.result is None:
        assert max(settled.scores) < rules.target
        assert settled.revealed == rules.hands


@given(settlements(), st.data())
def test_relabelled_seats_relabel_the_result(one: dict[str, Any], data: st.DataObject) -> None:
    players = one["rules"].players
    new = data.draw(st.permutations(range(players)))  # seat s becomes new[s]
    old = [new.index(seat) for seat in range(players)]
    moved = dict(one)
    for name in ("strengths", "quads", "called", "scores"):
        moved[name] = [one[name][seat] for seat in old]
    moved["order"] = [new[seat] for seat in one["order"]]
    before, after = settle_round(**one), settle_round(**moved)

    def renamed(seat: int | None) -> int | None:
        return None if seat is None else new[seat]

    assert after.comparison_winners == tuple(map(renamed, before.comparison_winners))
    assert after.crasher == renamed(before.crasher)
    assert after.scores == tuple(before.scores[seat] for seat in old)
    assert after.round_points == tuple(before.round_points[seat] for seat in old)
    assert (after.revealed, after.result is None) == (before.revealed, before.result is None)
    if before.result is not None and after.result is not None:
        assert sorted(after.result.winners) == sorted(new[seat] for seat in before.result.winners)
        assert after.result.reason is before.result.reason


def test_the_most_points_of_a_round_are_attained() -> None:
    options: dict[str, Any] = {"crash_call": "optional", "crash_reward": 2, "crash_call_bonus": 3, "quads_bonus": 1}
    rules = CrashRules(players=2, target=99, **options)
    settled = settle_round(
        rules,
        strengths=[[9, 8, 7, 6], [0, 0, 0, 0]],
        quads=[3, 0],
        called=[True, False],
        scores=[0, 0],
        order=[1, 0],
    )
    assert settled.round_points == (rules.max_round_points, 0) == (12, 0)


def test_margins_and_shares() -> None:
    assert margins([3, 1]) == (2.0, -2.0)
    assert margins([4, 1, 1, 0, 0]) == (3.5, -0.25, -0.25, -1.5, -1.5)
    assert highest_seats([1, 3, 3, 0]) == (1, 2)
    assert comparison_winners([[5, 0], [5, 0]], 2) == (None, None)
    assert comparison_winners([[5, 0], [4, 1], [5, 0]], 2) == (None, 1)


def test_a_moot_call_bonus_is_not_paid() -> None:
    """RULES section 4: with `crash_reward = game` the bonus is moot, in the round's points too."""
    options: dict[str, Any] = {"crash_call": "optional", "crash_call_bonus": 3, "finish": "round_end"}
    settled = settle_round(
        CrashRules(players=2, **options),
        strengths=[[9, 8, 7, 6], [1, 1, 1, 1]],
        quads=[0, 0],
        called=[True, True],
        scores=[0, 2],
        order=[1, 0],
    )
    assert (settled.scores, settled.round_points) == ((4, 1), (5, -1))


def test_a_round_alone_stops_after_it() -> None:
    rng = drawing(5)
    reasons = set()
    for _ in range(200):
        one = generate.random_round(rng, generate.random_rules(rng))
        expected = scorer.score_round(one)
        game = play_round(one, episode="round")
        assert game.is_over
        assert game.result is not None
        assert list(game.result.winners) == expected["winners"]
        assert game.result.reason.value == (expected["reason"] or "round")
        assert game.round_points == tuple(expected["points"])
        reasons.add(game.result.reason.value)
    assert reasons == {"target", "crash", "max_rounds", "round"}


def test_rules_of_the_oracle_are_the_engines() -> None:
    for variant in VARIANTS:
        assert rules_of(variant) == CrashRules.preset(name=variant["preset"], players=variant["players"])
