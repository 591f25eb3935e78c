"""`percentile`: its values, its choices, its table and what it refuses."""

from __future__ import annotations

import json
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decisions import decision_views
from prial import agents
from prial.agents.percentile import GAME_WEIGHT, Percentile, PercentilePolicy, crash_weight
from prial.agents.percentile_table import (
    TABLE_OPTIONS,
    PercentileTable,
    TableError,
    arrangement_values,
    find_table,
    read_table,
    shipped_tables,
    table_options,
    win_chances,
)
from prial.agents.strengths import laid_strengths
from prial.envs.crash.actions import action_layout
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import view_of
from prial.envs.crash.partitions import undominated_many
from prial.envs.crash.rules import CrashRules
from prial.training.percentile_tables import make_table, write_table

ONLINE = CrashRules.preset("online")


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def random_shares(seed: int) -> np.ndarray:
    """A distribution over a few strengths at each position."""
    shares = np.zeros((4, 742))
    generator = np.random.default_rng(seed)
    for row in shares:
        row[generator.choice(742, 5, replace=False)] = generator.dirichlet(np.ones(5))
    return shares


@pytest.mark.parametrize("players", [2, 3, 4])
def test_chances_to_win_against_every_combination_of_opponents(players: int) -> None:
    shares = random_shares(players)
    chances = win_chances(shares, players)
    for position in range(4):
        laid = np.flatnonzero(shares[position])
        for own in [0, 1, 741, *laid.tolist(), *(laid + 1).clip(max=741).tolist()]:
            expected = sum(
                np.prod([shares[position, s] for s in others])
                for others in product(laid.tolist(), repeat=players - 1)
                if own > max(others)
            )
            assert chances[position, own] == pytest.approx(expected, abs=1e-12)


def test_no_hand_wins_nothing_and_any_hand_beats_none() -> None:
    nothing = np.zeros((4, 742))
    nothing[:, 0] = 1
    chances = win_chances(nothing, 3)
    assert (chances[:, 0] == 0).all()
    assert (chances[:, 1:] == 1).all()


def test_values_are_sum_plus_weighted_product_plus_quads() -> None:
    rules = ONLINE.replace(quads_bonus=2)
    found = undominated_many([[0, 1, 2, 3, *range(8, 17)], list(range(5, 18))], rules)
    chances = win_chances(random_shares(1), 3)
    for row, value in enumerate(arrangement_values(found, chances, rules=rules, weight=3)):
        each = [chances[p, found.strengths[row, p]] for p in range(4)]
        assert value == pytest.approx(sum(each) + 3 * np.prod(each) + 2 * found.quads[row], abs=1e-12)
    single = CrashRules(cards_dealt=3)
    found = undominated_many([[0, 1, 2]], single)
    value = arrangement_values(found, chances, rules=single, weight=3)
    assert value.tolist() == [chances[0, found.strengths[0, 0]]]  # one hand: no crash


def test_it_lays_the_best_by_brute_force() -> None:
    views = decision_views(ONLINE, games=8, seed=5)
    agent = Percentile()
    actions = agent.act_many(views, rng())
    chances = find_table(ONLINE).win_chances()
    for row, view in enumerate(views):
        found = undominated_many([view.cards], ONLINE)
        each = np.array([[chances[p, s] for p, s in enumerate(strengths)] for strengths in found.strengths.tolist()])
        values = each.sum(axis=1) + GAME_WEIGHT * each.prod(axis=1) + found.quads
        chosen = found.partitions.tolist().index(actions[row])
        assert values[chosen] == pytest.approx(values.max(), abs=1e-12)


def test_it_plays_by_the_table_whatever_does_not_change_the_hands() -> None:
    for options in (
        {"target": 15},
        {"finish": "round_end"},
        {"crash_reward": 2},
        {"quads_bonus": 3},
        {"max_rounds": 5},
    ):
        game = Game(ONLINE.replace(**options), seed=4)
        game.check(Percentile().act(view_of(game, 0), rng()), 0)


@pytest.mark.parametrize(
    "rules",
    [
        CrashRules.preset("online", players=2),
        CrashRules.preset("online", quads_bonus=0),
        CrashRules.preset("online", flush_high="three"),
        CrashRules.preset("online", lowest_hand="high_card"),
        CrashRules.preset("online", exchange="spare"),
        CrashRules.preset("bga", players=5),
    ],
    ids=lambda rules: f"{rules.name}-{rules.players}",
)
def test_rules_without_a_table_are_refused_naming_what_there_is(rules: CrashRules) -> None:
    game = Game(rules, seed=1)
    with pytest.raises(
        TableError, match=f"no percentile table for players={rules.players}.*There is: online-3"
    ) as error:
        Percentile().act(view_of(game, game.pending[0]), rng())
    assert isinstance(error.value, ValueError)


def test_an_exchange_that_is_not_played_needs_no_table_of_its_own() -> None:
    four = table_options(CrashRules.preset("online", players=4, exchange="spare"))
    assert four == table_options(CrashRules.preset("online", players=4))


def test_weights() -> None:
    assert crash_weight(ONLINE) == GAME_WEIGHT > 1
    assert crash_weight(ONLINE.replace(crash_reward=2)) == 2
    assert Percentile(weight=7).policy(ONLINE).weight == 7
    assert agents.make("percentile", weight=0.5).policy(ONLINE).weight == 0.5  # type: ignore[attr-defined]
    for weight in (-1, float("nan"), float("inf"), "3", True):
        with pytest.raises(ValueError, match="weight="):
            Percentile(weight=weight)  # type: ignore[arg-type]


def test_it_exchanges_what_is_worth_less_than_the_mean_hand() -> None:
    rules = CrashRules.preset("bga")
    chances = find_table(ONLINE).win_chances()
    policy = PercentilePolicy(rules, chances, weight=1)
    views = decision_views(rules, games=40)
    views = views.select(views.phase == Phase.EXCHANGE)
    best = [arrangement_values(undominated_many([c], rules), chances, rules=rules, weight=1).max() for c in views.cards]
    exchanges = policy.act_many(views, rng()) == action_layout(rules).exchange
    assert exchanges.tolist() == [value < policy.mean_value() for value in best]
    assert 0.3 < exchanges.mean() < 0.8
    everyone = np.random.default_rng(1).permuted(np.tile(np.arange(52, dtype=np.int8), (4000, 1)), axis=1)[:, :13]
    found = undominated_many(np.sort(everyone, axis=1), rules)
    values = arrangement_values(found, chances, rules=rules, weight=1)
    mean = np.maximum.reduceat(values, found.offsets[:-1]).mean()
    assert policy.mean_value() == pytest.approx(mean, abs=0.1)


@pytest.mark.parametrize(
    ("options", "gain", "loss"),
    [
        ({"crash_call": "optional", "crash_reward": 1, "crash_call_bonus": 2}, 2, 1),
        ({"crash_call": "required", "crash_reward": 2}, 1 + 2, 1),
        ({"crash_call": "required"}, GAME_WEIGHT, 1),
        ({"crash_call": "optional"}, 0, 1),  # the bonus is moot where a crash wins the game
    ],
)
def test_it_calls_where_that_gains_points(options: dict[str, Any], gain: float, loss: float) -> None:
    rules = ONLINE.replace(**options)
    views = decision_views(rules, games=150, seed=2)
    views = views.select(views.phase == Phase.CALL)
    chances = find_table(rules).win_chances()
    crash = [np.prod([chances[p, s] for p, s in enumerate(row)]) for row in laid_strengths(views).tolist()]
    calls = Percentile().act_many(views, rng()) == action_layout(rules).call
    assert calls.tolist() == [chance * gain > (1 - chance) * loss for chance in crash]
    assert calls.any() == (gain > 0)


# ---- the table in the repository ------------------------------------------------------------------------------------


def shipped() -> dict[str, Any]:
    path = resources.files("prial.agents") / "data" / "percentile" / "online-3.json"
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def cumulative(counts: Any) -> np.ndarray:
    counts = np.asarray(counts)
    return np.cumsum(counts / counts.sum(axis=1, keepdims=True), axis=1)


def test_the_table_says_how_it_was_made() -> None:
    content = shipped()
    assert (
        content["made"]["command"] == "prial tables percentile --rules online --deals 200000 --iterations 40 --seed 1"
    )
    assert CrashRules.from_dict(content["made"]["rules"]) == ONLINE
    assert content["weight"] == GAME_WEIGHT
    assert content["options"] == table_options(ONLINE)
    assert content["made"]["settled"]
    assert np.sum(content["counts"], axis=1).tolist() == [600_000] * 4


def test_the_table_agrees_with_one_made_afresh() -> None:
    """Same rules, other deals, a thirtieth of them: cumulative shares within five standard errors."""
    made = make_table(ONLINE, deals=7_000, seed=77)
    assert made["made"]["settled"]
    difference = np.abs(cumulative(made["counts"]) - cumulative(shipped()["counts"])).max()
    assert 0 < difference < 5 * 0.5 / np.sqrt(21_000)


def test_the_table_is_near_a_fixed_point() -> None:
    """The agent, playing against the table on new deals, lays what the table says; greedy and random do not."""
    generator = np.random.default_rng(78)
    deals = generator.permuted(np.tile(np.arange(52, dtype=np.int8), (20_000, 1)), axis=1)[:, :13]
    found = undominated_many(np.sort(deals, axis=1), ONLINE)
    table = cumulative(shipped()["counts"])

    def distance(rows: np.ndarray) -> float:
        counts = [np.bincount(found.strengths[rows, position], minlength=742) for position in range(4)]
        return float(np.abs(cumulative(counts) - table).max())

    values = arrangement_values(found, find_table(ONLINE).win_chances(), rules=ONLINE, weight=GAME_WEIGHT)
    assert distance(found.best_rows(values)) < 5 * 0.5 / np.sqrt(20_000)
    assert distance(found.offsets[:-1]) > 0.2


def test_tables_of_files_are_read_and_checked(tmp_path: Path) -> None:
    rules = CrashRules.preset("bga", players=2)
    content = make_table(rules, deals=200, iterations=3, seed=1)
    path = tmp_path / "deep" / "bga-2.json"
    write_table(content, path)
    assert [p.name for p in path.parent.iterdir()] == ["bga-2.json"]
    table = find_table(rules, path=path)
    assert table.counts.tolist() == content["counts"]
    agent = Percentile(table=path)
    agents.check_agent(agent, rules=rules, games=3)
    with pytest.raises(TableError, match="no percentile table for players=3"):
        agents.check_agent(agent, rules=ONLINE)
    with pytest.raises(TableError, match=r"cannot read the table .*missing\.json"):
        Percentile(table=tmp_path / "missing.json").policy(rules)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "has format 2; this version reads format 1"),
        ({"counts": [[1] * 742] * 3}, "counts of 4 by 742"),
        ({"counts": [[1] * 742] * 3 + [[0] * 742]}, "counts of 4 by 742"),
        ({"counts": [[-1] * 742] * 4}, "counts of 4 by 742"),
        ({"counts": "none"}, "is no percentile table"),
        ({"weight": "heavy"}, "is no percentile table"),
        ({"options": {"players": 3}}, "expected the options"),
    ],
)
def test_files_that_are_no_tables_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(TableError, match=message):
        read_table(json.dumps({**shipped(), **change}), "x.json")
    for text in ("[]", "{", "{}"):
        with pytest.raises(TableError, match=r"x\.json is no percentile table"):
            read_table(text, "x.json")


def test_shipped_tables_fit_different_rules() -> None:
    tables = shipped_tables()
    assert "online-3" in tables
    assert len({json.dumps(dict(table.options)) for table in tables.values()}) == len(tables)
    for table in tables.values():
        assert isinstance(table, PercentileTable)
        assert tuple(table.options) == TABLE_OPTIONS
