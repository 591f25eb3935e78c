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
from prial.agents.percentile import GAME_WEIGHT, Percentile, crash_weight
from prial.agents.percentile_table import (
    TABLE_OPTIONS,
    PercentileTable,
    TableError,
    arrangement_values,
    find_table,
    read_table,
    shares_of,
    shipped_tables,
    table_options,
    win_chances,
)
from prial.agents.strengths import laid_strengths
from prial.envs.crash.actions import action_layout
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import view_of
from prial.envs.crash.partitions import undominated_many
from prial.envs.crash.presets import preset_names, read_preset
from prial.envs.crash.rules import CrashRules
from prial.training.percentile_tables import make_table, standard_tables, table_command, write_table

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
    opponents = [random_shares(seed) for seed in range(players - 1)]
    chances = win_chances(opponents)
    for position in range(4):
        laid = [np.flatnonzero(shares[position]).tolist() for shares in opponents]
        for own in {0, 1, 741, *laid[0], *(min(741, s + 1) for s in laid[-1])}:
            expected = sum(
                np.prod([shares[position, s] for shares, s in zip(opponents, others, strict=True)])
                for others in product(*laid)
                if own > max(others)
            )
            assert chances[position, own] == pytest.approx(expected, abs=1e-12)


def test_a_table_gives_chances_by_how_many_opponents_have_kept() -> None:
    options = table_options(CrashRules.preset("bga"))
    fresh, kept = (np.round(1000 * random_shares(seed)).astype(np.int64) for seed in (3, 4))
    table = PercentileTable(options=options, weight=1, exchange_below=(1, 1, 1), fresh=fresh, kept=kept)
    chances = table.win_chances()
    assert chances.shape == (3, 4, 742)
    for k in range(3):
        others = [shares_of(kept)] * k + [shares_of(fresh)] * (2 - k)
        assert np.array_equal(chances[k], win_chances(others))
    assert find_table(ONLINE).win_chances().shape == (1, 4, 742)


def test_no_hand_wins_nothing_and_any_hand_beats_none() -> None:
    nothing = np.zeros((4, 742))
    nothing[:, 0] = 1
    chances = win_chances([nothing, nothing])
    assert (chances[:, 0] == 0).all()
    assert (chances[:, 1:] == 1).all()


def test_values_are_sum_plus_weighted_product_plus_quads() -> None:
    rules = ONLINE.replace(quads_bonus=2)
    found = undominated_many([[0, 1, 2, 3, *range(8, 17)], list(range(5, 18))], rules)
    chances = np.array([win_chances([random_shares(seed)] * 2) for seed in (1, 2)])
    kept = np.arange(len(found.partitions)) % 2
    for row, value in enumerate(arrangement_values(found, chances, rules=rules, weight=3, kept=kept)):
        each = [chances[row % 2, p, found.strengths[row, p]] for p in range(4)]
        assert value == pytest.approx(sum(each) + 3 * np.prod(each) + 2 * found.quads[row], abs=1e-12)
    single = CrashRules(cards_dealt=3)
    found = undominated_many([[0, 1, 2]], single)
    value = arrangement_values(found, chances, rules=single, weight=3)
    assert value.tolist() == [chances[0, 0, found.strengths[0, 0]]]  # one hand: no crash


def test_it_lays_the_best_by_brute_force() -> None:
    views = decision_views(ONLINE, games=8, seed=5)
    agent = Percentile()
    actions = agent.act_many(views, rng())
    chances = find_table(ONLINE).win_chances()[0]
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
    ("rules", "nearest"),
    [
        (CrashRules.preset("online", lowest_hand="high_card"), "online-3 (lowest_hand=pair)"),
        (CrashRules.preset("online", cards_dealt=6), "online-3 (cards_dealt=13)"),
        (CrashRules.preset("bga", players=5, flush_high="ace"), "bga-5 (flush_high=three)"),
    ],
)
def test_rules_without_a_table_are_refused_naming_the_nearest(rules: CrashRules, nearest: str) -> None:
    game = Game(rules, seed=1)
    with pytest.raises(TableError, match=f"no percentile table for players={rules.players}") as error:
        Percentile().act(view_of(game, game.pending[0]), rng())
    assert f"The nearest of {len(shipped_tables())} is {nearest}." in str(error.value)
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


@pytest.mark.parametrize("players", [2, 3])
def test_it_exchanges_what_is_worth_less_than_the_threshold(players: int) -> None:
    rules = CrashRules.preset("bga", players=players)
    table = find_table(rules)
    views = decision_views(rules, games=120)
    views = views.select(views.phase == Phase.EXCHANGE)
    exchanges = Percentile().act_many(views, rng()) == action_layout(rules).exchange
    seen = set()
    for view, exchanged in zip(views, exchanges.tolist(), strict=True):
        kept = sum(choice is False for seat, choice in enumerate(view.exchanges) if seat != view.seat)
        found = undominated_many([view.cards], rules)
        best = arrangement_values(found, table.win_chances(), rules=rules, weight=1).max()
        assert exchanged == (best < table.exchange_below[kept])
        seen.add((kept, exchanged))
    assert len(seen) == (2 if players == 2 else 6)


@pytest.mark.parametrize("players", [2, 3])
def test_it_arranges_by_how_many_others_have_kept(players: int) -> None:
    rules = CrashRules.preset("traditional", players=players)
    chances = find_table(rules).win_chances()
    views = decision_views(rules, games=60)
    views = views.select((views.phase == Phase.ARRANGE) & (views.laid < 0))
    actions = Percentile().act_many(views, rng())
    seen = set()
    for view, action in zip(views, actions.tolist(), strict=True):
        kept = sum(choice is False for seat, choice in enumerate(view.exchanges) if seat != view.seat)
        found = undominated_many([view.cards], rules)
        values = arrangement_values(found, chances, rules=rules, weight=1, kept=kept)
        assert values[found.partitions.tolist().index(action)] == values.max()
        seen.add(kept)
    assert seen == set(range(players))


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
    chances = find_table(rules).win_chances()[0]
    crash = [np.prod([chances[p, s] for p, s in enumerate(row)]) for row in laid_strengths(views).tolist()]
    calls = Percentile().act_many(views, rng()) == action_layout(rules).call
    assert calls.tolist() == [chance * gain > (1 - chance) * loss for chance in crash]
    assert calls.any() == (gain > 0)


# ---- the table in the repository ------------------------------------------------------------------------------------


def shipped_text(name: str) -> str:
    return (resources.files("prial.agents") / "data" / "percentile" / f"{name}.json").read_text(encoding="utf-8")


def shipped(name: str = "online-3") -> dict[str, Any]:
    return json.loads(shipped_text(name))  # type: ignore[no-any-return]


def players_of(name: str) -> list[int]:
    players: list[int] = read_preset(name)["in_use"]["players"]
    return players


def cumulative(counts: Any) -> np.ndarray:
    counts = np.asarray(counts)
    return np.cumsum(counts / counts.sum(axis=1, keepdims=True), axis=1)


def test_the_table_says_how_it_was_made() -> None:
    content = shipped()
    assert (
        content["made"]["command"] == "prial tables percentile --rules online --deals 100000 --iterations 40 --seed 1"
    )
    assert CrashRules.from_dict(content["made"]["rules"]) == ONLINE
    assert content["weight"] == GAME_WEIGHT
    assert content["options"] == table_options(ONLINE)
    assert np.sum(content["counts"]["fresh"], axis=1).tolist() == [300_000] * 4


TABLES = standard_tables()


@pytest.mark.parametrize("name", list(TABLES))
def test_every_table_that_should_ship_does(name: str) -> None:
    content, rules = shipped(name), TABLES[name]
    made = content["made"]
    assert content["options"] == table_options(rules)
    assert content["weight"] == crash_weight(rules)
    assert made["settled"]
    assert made["command"] == table_command(rules, deals=100_000, iterations=40, seed=1, weight=None)
    assert made["bytes"] == len(shipped_text(name).encode())
    total = sum(np.sum(rows, axis=1) for rows in content["counts"].values())
    assert total.tolist() == [100_000 * rules.players] * 4


def test_nothing_else_ships_and_all_is_small() -> None:
    assert sorted(shipped_tables()) == sorted(TABLES)
    assert sum(len(shipped_text(name)) for name in TABLES) < 1_000_000


@pytest.mark.parametrize(("name", "players"), [(name, n) for name in preset_names() for n in players_of(name)])
@pytest.mark.parametrize("quads_bonus", [0, 1])
def test_every_rule_set_and_number_of_players_has_a_table(name: str, players: int, quads_bonus: int) -> None:
    rules = CrashRules.preset(name, players=players, quads_bonus=quads_bonus)
    agents.check_agent(Percentile(), rules=rules, games=1)
    for lowest_hand in read_preset(name)["in_use"].get("lowest_hand", []):
        find_table(rules.replace(lowest_hand=lowest_hand))


@pytest.mark.parametrize("name", ["online-3", "bga-2", "traditional-3", "bga-5"])
def test_a_table_agrees_with_one_made_afresh(name: str) -> None:
    """Same rules, other deals, far fewer: cumulative shares within five standard errors, thresholds near."""
    rules = TABLES[name]
    made, ships = make_table(rules, deals=7_000, seed=77), shipped(name)
    assert made["made"]["settled"]
    for kind, rows in made["counts"].items():
        difference = np.abs(cumulative(rows) - cumulative(ships["counts"][kind])).max()
        assert 0 < difference < 5 * 0.5 / np.sqrt(np.sum(rows[0]))
    assert made["exchange_below"] == pytest.approx(ships["exchange_below"], abs=0.25)


def test_the_table_is_near_a_fixed_point() -> None:
    """The agent, playing against the table on new deals, lays what the table says; greedy and random do not."""
    generator = np.random.default_rng(78)
    deals = generator.permuted(np.tile(np.arange(52, dtype=np.int8), (20_000, 1)), axis=1)[:, :13]
    found = undominated_many(np.sort(deals, axis=1), ONLINE)
    table = cumulative(shipped()["counts"]["fresh"])

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
    assert table.kept is not None
    assert {"fresh": table.fresh.tolist(), "kept": table.kept.tolist()} == content["counts"]
    assert list(table.exchange_below) == content["exchange_below"]
    agent = Percentile(table=path)
    agents.check_agent(agent, rules=rules, games=3)
    with pytest.raises(TableError, match="no percentile table for players=3"):
        agents.check_agent(agent, rules=ONLINE)
    with pytest.raises(TableError, match=r"cannot read the table .*missing\.json"):
        Percentile(table=tmp_path / "missing.json").policy(rules)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 1}, "has format 1; this version reads format 2"),
        ({"counts": {"fresh": [[1] * 742] * 3}}, "counts of 4 by 742"),
        ({"counts": {"fresh": [[1] * 742] * 3 + [[0] * 742]}}, "counts of 4 by 742"),
        ({"counts": {"fresh": [[-1] * 742] * 4}}, "counts of 4 by 742"),
        ({"counts": "none"}, "is no percentile table"),
        ({"counts": {"kept": [[1] * 742] * 4}}, "is no percentile table"),
        ({"counts": {"fresh": [[1] * 742] * 4, "kept": [[1] * 742] * 4}}, "do not fit its exchange"),
        ({"exchange_below": [1.5]}, "do not fit its exchange"),
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
