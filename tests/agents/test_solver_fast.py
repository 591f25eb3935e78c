"""`solver-fast`: its values against a slow twin, its decisions, its tables and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from decisions import decision_views
from prial import agents
from prial.agents.packed_arrays import packed
from prial.agents.solver_fast import SolverFast, SolverFastPolicy
from prial.agents.solver_table import (
    NUM_FEATURES,
    SolverTable,
    SolverTableError,
    find_solver_table,
    joint_marks,
    needs_index,
    needs_states,
    read_solver_table,
    shipped_solver_tables,
)
from prial.agents.strengths import laid_strengths
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import PlayerView, ViewBatch, view_of
from prial.envs.crash.partitions import candidates_of
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.scoring import settle_round
from prial.training.solver_sizes import standard_solver_rules
from solver_samples import random_table

RULES = [
    CrashRules.preset("online", players=2),
    CrashRules.preset("online", players=3, target=4),
    CrashRules.preset("bga", players=3, target=3),
    CrashRules.preset("traditional", players=3, target=5, crash_call="optional", quads_bonus=1),
    CrashRules.preset("traditional", players=2, target=5, crash_call="required", crash_reward=3),
    CrashRules(players=4, cards_dealt=9, target=3, finish="round_end", quads_bonus=2),
]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def masses_of(curve: np.ndarray) -> list[tuple[int, float]]:
    chances = np.diff(curve)
    return [(int(s), float(chances[s])) for s in np.flatnonzero(chances > 1e-12)]


def situation_of(view: PlayerView) -> int:
    """The situation by walking through the turn order as RULES section 3 has it."""
    n, me = view.rules.players, view.seat
    if not view.rules.has_exchange:
        return 0
    if n == 2:
        return 2 * bool(view.exchanges[me]) + bool(view.exchanges[1 - me])
    order = [(view.dealer + 1 + place) % n for place in range(n)]
    course = next((place for place, seat in enumerate(order) if view.exchanges[seat]), n)
    return 3 * course + order.index(me)


def slow_winners(view: PlayerView, table: SolverTable, hand: int, strength: int) -> dict[int, float]:
    """Who wins one comparison: what each opponent lays is enumerated; how often all lay less is the table's own."""
    n, me = view.rules.players, view.seat
    situation = situation_of(view)
    others = [(me + 1 + j) % n for j in range(n - 1)]
    curves = [table.below[situation, j % table.below.shape[1], hand] for j in range(n - 1)]
    alone = dict.fromkeys(others, 0.0)
    somebody = 0.0
    for laid in product(*(masses_of(curve) for curve in curves)):
        chance = float(np.prod([mass for _, mass in laid]))
        strengths = [s for s, _ in laid]
        best = max(strengths)
        if best > strength:
            somebody += chance
            if strengths.count(best) == 1:
                alone[others[strengths.index(best)]] += chance
    own = float(table.all_below[situation, hand, strength]) if strength else 0.0
    more = 1.0 - float(table.all_below[situation, hand, strength + 1])
    winners = {me: own, **{seat: more * chance / somebody if somebody else 0.0 for seat, chance in alone.items()}}
    winners[-1] = max(0.0, 1.0 - sum(winners.values()))
    return winners


def ratio(wanted: np.ndarray, found: np.ndarray) -> np.ndarray:
    return np.divide(wanted, found, out=np.zeros_like(wanted), where=found > 0)


def joint_row_of(view: PlayerView, table: SolverTable) -> int:
    """The row of how positions hang together: all situations of each stage, by who needs a single point."""
    needs = [view.rules.target - score for score in view.scores]
    own, *others = (needs[(view.seat + seat) % len(needs)] for seat in range(len(needs)))
    return (2 * (own == 1) + (1 in others)) * len(table.below) + situation_of(view)


def slow_own_wins(view: PlayerView, table: SolverTable, own: list[float]) -> dict[tuple[bool, ...], float]:
    """How likely oneself wins just these positions: by inclusion and exclusion of "weak at all of these"."""
    marks, hands = joint_marks(len(own)), len(own)
    below = table.joint_below[joint_row_of(view, table)].reshape((len(marks),) * hands)
    weak = RegularGridInterpolator([marks] * hands, below)
    wins = {}
    for won in product((False, True), repeat=hands):
        lost = [hand for hand in range(hands) if not won[hand]]
        wins[won] = 0.0
        for count in range(len(lost) + 1):
            for some in combinations(lost, count):
                place = [min(own[hand], 1.0) if won[hand] or hand in some else 1.0 for hand in range(hands)]
                wins[won] += (-1) ** count * float(weak([place])[0])
    return wins


def slow_others(view: PlayerView, table: SolverTable, chances: np.ndarray) -> list[np.ndarray]:
    """Who wins a position that oneself does not win, given who won the one before: a row each, the first if oneself did.

    Joint tables of the others are scaled by rows and columns in turn, rows divided out.

    Args:
        chances: by position, own seat first, then clockwise, nobody last.
    """
    follows = []
    for hand in range(len(chances)):
        even = np.full(chances.shape[1] - 1, 1 / (chances.shape[1] - 1))
        before, after = (
            one[1:] / (1 - one[0]) if one[0] < 1 else even for one in (chances[max(0, hand - 1)], chances[hand])
        )
        likelier = np.ones((len(before), len(after)))
        if hand:
            likelier[range(len(before) - 1), range(len(before) - 1)] = table.pair_same[
                joint_row_of(view, table), hand - 1
            ]
        column = after.copy()
        for _ in range(4):
            row = ratio(before, likelier @ column)
            column = ratio(after, likelier.T @ row)
        joint = likelier * column
        follows.append(np.array([after, *(line / line.sum() if line.sum() else even for line in joint)]))
    return follows


def slow_call_chance(view: PlayerView, table: SolverTable, other: int, outcome: tuple[int, ...]) -> float:
    """The chance that another seat calls, by the positions that it wins."""
    where = (other - view.seat) % view.rules.players - 1
    return float(table.calls[joint_row_of(view, table), where, outcome.count(other)])


def slow_value(
    view: PlayerView, table: SolverTable, strengths: list[int], quads: int, *, called: bool, points: bool
) -> float:
    """The value by enumerating what each opponent lays at each position, each outcome settled by `settle_round`.

    Outcomes are as likely as what was called and passed makes them; those who are still to be asked may call, one of them.
    """
    rules, n, me = view.rules, view.rules.players, view.seat
    per_hand = [slow_winners(view, table, hand, strengths[hand]) for hand in range(rules.hands)]
    total = likely = 0.0
    seats = [*((me + j) % n for j in range(n)), -1]
    chances = np.array([[winners[seat] for seat in seats] for winners in per_hand])
    own_wins = slow_own_wins(view, table, chances[:, 0].tolist())
    others = slow_others(view, table, chances)
    order = [(view.dealer + 1 + place) % n for place in range(n)]
    calls = [called if seat == me else bool(view.calls[seat]) for seat in range(n)]
    unheard = [seat for seat in range(n) if rules.has_calls and seat != me and view.calls[seat] is None]
    for outcome in product(seats, repeat=rules.hands):
        digits = [seats.index(winner) for winner in outcome]
        chance = own_wins[tuple(digit == 0 for digit in digits)]
        for follow, before, after in zip(others, [0, *digits], digits, strict=False):
            chance *= follow[before, after - 1] if after else 1.0
        for seat in range(n):
            if seat != me and view.calls[seat] is not None:
                calling = slow_call_chance(view, table, seat, outcome)
                chance *= calling if view.calls[seat] else 1.0 - calling
        rows = [[1 if winner == seat else 0 for winner in outcome] for seat in range(n)]

        def worth(*more: int, rows: list[list[int]] = rows) -> float:
            settled = settle_round(
                rules,
                strengths=rows,
                quads=[quads if seat == me else 0 for seat in range(n)],
                called=[calls[seat] or seat in more for seat in range(n)],
                scores=view.scores,
                order=order,
            )
            own = settled.round_points
            if points:
                return own[me] - (sum(own) - own[me]) / (n - 1)
            if settled.result is not None:
                return settled.result.win_share(me)
            dealers = np.array([(view.dealer + 1) % n])
            return float(table.equity.shares_at(np.array([settled.scores]), dealers)[0, me])

        usual = worth()
        more = sum(slow_call_chance(view, table, seat, outcome) * (worth(seat) - usual) for seat in unheard)
        total += chance * (usual + more)
        likely += chance
    return total / likely


def arranging_views(rules: CrashRules, count: int) -> list[PlayerView]:
    """Views of seats that arrange, from different scores and histories."""
    views: list[PlayerView] = []
    generator = rng()
    seed = 0
    while len(views) < count:
        scores = generator.integers(0, rules.target, rules.players).tolist()
        game = Game(rules, seed=seed, scores=scores)
        seed += 1
        while game.phase is Phase.EXCHANGE:
            game.step(int(generator.choice(game.legal_actions(game.pending[0]))))
        views.append(view_of(game, int(generator.integers(rules.players))))
    return views


@pytest.mark.parametrize("points", [False, True])
@pytest.mark.parametrize("rules", RULES, ids=range(len(RULES)))
def test_values_equal_those_of_a_slow_twin(rules: CrashRules, points: bool) -> None:
    table = random_table(rules)
    policy = SolverFastPolicy(rules, table, objective="points" if points else "win")
    views = arranging_views(rules, 6)
    batch = ViewBatch.of(views)
    found = batch.undominated()
    values = policy.values(batch, found)
    assert len(values) == (2 if rules.has_calls else 1)
    for row, view in enumerate(views):
        for i in range(int(found.offsets[row]), min(int(found.offsets[row]) + 3, int(found.offsets[row + 1]))):
            for option, own in enumerate(values[:, i]):
                laid = found.strengths[i].tolist()
                expected = slow_value(view, table, laid, int(found.quads[i]), called=option == 1, points=points)
                assert own == pytest.approx(expected, abs=2e-6)
    assert policy.arrange_many(batch, rng()).tolist() == found.partitions[found.best_rows(values.max(axis=0))].tolist()


@pytest.mark.parametrize("rules", RULES, ids=range(len(RULES)))
def test_values_are_means_of_outcomes_over_chances(rules: CrashRules) -> None:
    plain = random_table(rules)
    shift = np.random.default_rng(3).normal(scale=0.01, size=plain.card_basis.shape)
    axes = np.random.default_rng(4).normal(size=plain.card_axes.shape)
    weights = np.random.default_rng(5).normal(size=plain.card_weights.shape)
    policy = SolverFastPolicy(rules, replace(plain, card_basis=shift, card_axes=axes, card_weights=weights))
    batch = ViewBatch.of(arranging_views(rules, 3))
    found = batch.undominated()
    values, chances, worth = policy.values(batch, found), policy.chances(batch, found), policy.outcomes(batch)
    assert chances.shape == (len(found.partitions), rules.hands, rules.players + 1)
    np.testing.assert_allclose(chances.sum(axis=2), 1)
    assert chances.min() >= 0
    owner = np.repeat(np.arange(len(batch)), found.counts)
    joint = policy.joint(batch.select(owner), chances)
    np.testing.assert_allclose(joint.sum(axis=1), 1)
    assert joint.min() > -1e-12
    by_hand = joint.reshape(len(joint), *(rules.players + 1,) * rules.hands)
    for hand in range(rules.hands):
        # Each position keeps its chance to be won: nearly exactly, and who else wins it nearly.
        found_here = by_hand.sum(axis=tuple(1 + other for other in range(rules.hands) if other != hand))
        np.testing.assert_allclose(found_here[:, 0], chances[:, hand, 0], atol=1e-6)
        np.testing.assert_allclose(found_here, chances[:, hand], atol=0.04)
    for i in range(len(found.partitions)):
        for option in range(len(values)):
            leaves = worth[owner[i], option, min(int(found.quads[i]), worth.shape[2] - 1)]
            assert values[option, i] == pytest.approx(float(joint[i] @ leaves), abs=1e-6)


@pytest.mark.parametrize("rules", [RULES[3], RULES[4]], ids=str)
def test_a_crash_is_called_where_it_is_worth_more(rules: CrashRules) -> None:
    """What others say counts: whoever called is likely to win all, and whoever passed is not."""
    table = random_table(rules, seed=8)
    calls = np.broadcast_to(np.linspace(0.01, 0.99, rules.hands + 1) ** 2, table.calls.shape)
    policy = SolverFastPolicy(rules, replace(table, calls=calls))
    views = []
    for seed in range(40):
        game = Game(rules, seed=seed, scores=[seed % rules.target] * rules.players)
        while game.phase is not Phase.CALL:
            seat = game.pending[0]
            exchanging = game.phase is Phase.EXCHANGE
            game.step(game.layout.keep if exchanging else int(game.undominated(seat).partitions[-1]), seat)
        for asked in range(seed % rules.players):
            game.step(game.layout.call if (seed + asked) % 5 == 0 else game.layout.pass_)
        views.append(view_of(game, game.pending[0]))
    batch = ViewBatch.of(views)
    values, called = policy.call_values(batch), policy.call_many(batch, rng())
    unheard = policy.call_values(ViewBatch.of([replace(view, calls=(None,) * rules.players) for view in views]))
    for row, view in enumerate(views):
        laid = candidates_of(int(view.laid or 0), view.cards, rules)
        strengths = laid_strengths(batch.select(np.array([row])))[0].tolist()
        for option, value in enumerate(values[:, row]):
            expected = slow_value(view, policy.table, strengths, int(laid.quads[0]), called=option == 1, points=False)
            assert value == pytest.approx(expected, abs=2e-6)
    assert called.tolist() == (values[1] > values[0]).tolist()
    assert called.any()
    assert not called.all()
    assert np.abs(values - unheard).max() > 0.01


def test_known_cards_move_the_chances() -> None:
    rules = CrashRules.preset("online", players=2)
    table = random_table(rules)
    basis = np.zeros((4, 743, 1))
    basis[:, 1:-1] = 0.05
    axes = np.zeros((1, NUM_FEATURES, 1))
    axes[0, 12] = 1.0  # aces known
    weights = np.zeros((1, 3, 1))
    weights[0, 1] = 1.0
    moved = replace(table, card_basis=basis, card_axes=axes, card_weights=weights)
    aces = ViewBatch.of(
        [
            view_of(
                Game.from_deal(
                    rules, ["As Ad Kc Kd 2c 2d 5h 6h 8s 9s Jd Jc 3h", "Ks Kh Qc Qd 2h 2s 5c 6c 8d 9d Js Jh 3c"]
                ),
                0,
            )
        ]
    )
    found = aces.undominated()
    before = SolverFastPolicy(rules, table, objective="points").values(aces, found)
    after = SolverFastPolicy(rules, moved, objective="points").values(aces, found)
    assert (after >= before).all()
    assert (after > before).any()


@pytest.mark.parametrize("name", list(standard_solver_rules()))
def test_a_table_ships_for_every_rule_set_and_number_of_players(name: str) -> None:
    rules = standard_solver_rules()[name]
    table = find_solver_table(rules)
    assert table.fits(rules)
    assert (
        read_solver_table(shipped_solver_tables()[name].read_text(encoding="utf-8"), name)
        .about["command"]
        .startswith(f"prial tables solver --rules {rules.name} --players {rules.players}")
    )
    situations = range(len(table.below))
    curves = np.array(
        [table.laid_below(one, 0, state) for one in situations for state in range(0, table.by_score.shape[1], 7)]
        + [table.all_laid_below(one, [state] * (rules.players - 1)) for one in situations for state in (0, 5)]
    )
    assert (np.diff(curves, axis=2) >= 0).all()
    assert (curves[..., 0] == 0).all()
    assert (curves[..., -1] == 1).all()


@pytest.mark.parametrize("name", list(standard_solver_rules()))
def test_agent_passes_the_check(name: str) -> None:
    rules = standard_solver_rules()[name]
    agents.check_agent(agents.make("solver-fast"), rules=rules, games=2)


def test_decisions_do_not_depend_on_the_batch_nor_on_threads() -> None:
    rules = RULES[3]
    views = list(decision_views(rules))
    policy, many = (SolverFastPolicy(rules, random_table(rules), threads=threads) for threads in (1, 2))
    together = policy.act_many(ViewBatch.of(views), rng()).tolist()
    assert together == [policy.act(view, rng()) for view in views]
    assert many.act_many(ViewBatch.of(views * 20), rng()).tolist() == together * 20


def test_needs_are_numbered_once_each() -> None:
    for cap, players in ((7, 3), (4, 2), (5, 5), (6, 4)):
        assert sorted(needs_states(cap, players).values()) == list(range(len(needs_states(cap, players))))
    assert needs_index((0, 6, 5), 7, 7) == needs_index((0, 5, 6), 7, 7)
    assert needs_index((0, 0, 0), 15, 7) == needs_index((3, 8, 5), 15, 7)


def test_a_table_survives_its_file() -> None:
    table = random_table(RULES[1])
    again = read_solver_table(table.to_json(), "here")
    assert again.options == table.options
    np.testing.assert_allclose(again.below, table.below, atol=1 / 30_000)
    assert again.to_json() == read_solver_table(again.to_json(), "there").to_json()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("below"), "below"),
        (lambda c: c.update(format=99), "format 99; this version reads"),
        (lambda c: c["below"].update(shape=[1, 2, 3]), "expected 12 bytes"),
        (lambda c: c["below"].update(int16="!!"), "is no solver table"),
        (lambda c: c["card_axes"].update(shape=[1, 98]), "card_axes: expected"),
        (lambda c: c.update(equity="AAAA"), "winning chances"),
        (lambda c: c.update(options={"players": 3}), "options"),
        (lambda c: c.update(cap=7.9), "cap: expected a whole number"),
        (lambda c: c.update(cap=10**9), "keeps: expected"),
        (lambda c: c["keeps"].update(c["all_below"]), "keeps: expected"),
        (lambda c: c["exchange_win"].update(c["card_means"]), "exchange_win: expected"),
        (lambda c: c["card_weights"].update(c["card_means"]), "card_weights: expected"),
        (lambda c: c.update(cap=True), "cap: expected a whole number"),
        (lambda c: c.update(about=None), "is no solver table"),
        (lambda c: c["below"].update(scale=float("nan")), "below: expected a scale"),
        (lambda c: c["below"].update(scale=-1.0), "below: expected a scale"),
        (lambda c: c["below"].update(scale="1e-5"), "below: expected a scale"),
        (lambda c: c["below"].update(scale=1e306), "below: expected a scale"),
        (lambda c: c["below"].update(shape=[-1, -4, 743]), "below: expected whole numbers as its shape"),
        (lambda c: c["card_axes"].update(c["card_means"]), "card_axes: expected"),
        (
            lambda c: c["card_axes"].update(packed(np.ones(()))),
            "card_axes: expected an array",
        ),
        (lambda c: c["card_means"].update(c["card_axes"]), "card_means: expected"),
        (lambda c: c["joint"].update(c["card_axes"]), "joint: expected"),
    ],
)
def test_damaged_tables_are_refused(change: object, message: str) -> None:
    content = json.loads(random_table(RULES[1]).to_json())
    change(content)  # type: ignore[operator]
    with pytest.raises(SolverTableError, match=message):
        read_solver_table(json.dumps(content), "here.json")


@pytest.mark.parametrize("text", ["", "[]", "3", "null", '{"format": 1', "[" * 100_000], ids=lambda text: text[:9])
def test_other_files_are_no_tables(text: str) -> None:
    with pytest.raises(SolverTableError, match=r"here\.json is no solver table"):
        read_solver_table(text, "here.json")


def test_rules_without_a_table_are_refused_with_what_there_is(tmp_path: Path) -> None:
    rules = CrashRules.preset("online", target=8)
    with pytest.raises(SolverTableError, match=r"target=8.*online-3.*prial tables solver"):
        agents.make("solver-fast").check_rules(rules)  # type: ignore[attr-defined]
    file = tmp_path / "mine.json"
    file.write_text(random_table(RULES[1]).to_json(), encoding="utf-8")
    with pytest.raises(SolverTableError, match="is for other rules: target=4"):
        find_solver_table(rules, path=file)
    with pytest.raises(SolverTableError, match="cannot read"):
        find_solver_table(rules, path=tmp_path / "none.json")
    assert find_solver_table(RULES[1], path=file).fits(RULES[1])


def test_an_unknown_objective_is_refused() -> None:
    with pytest.raises(ValueError, match="objective='fame'"):
        SolverFast(objective="fame")  # type: ignore[arg-type]
