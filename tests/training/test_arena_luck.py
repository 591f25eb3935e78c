"""Win shares without luck: against recorded games one by one, unbiased, the same with any number of jobs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from prial.agents.registry import make
from prial.agents.solver_table import SolverTableError, find_solver_table
from prial.envs.crash.events import RoundEnd
from prial.envs.crash.record import read_records
from prial.envs.crash.rules import CrashRules
from prial.training.arena import run_arena
from prial.training.arena_luck import BoardLuck, adjusted_share
from prial.training.arena_report import as_dict
from prial.training.luck import DealWorth
from prial.training.match import play_games
from prial.training.statistics import ratio_estimate

ONLINE = CrashRules.preset("online")
BGA = CrashRules.preset("bga", players=2)
SEATINGS = [(0, 1, 1), (1, 0, 1), (1, 1, 0)]


def played(rules: CrashRules, names: list[str], seatings: list[tuple[int, ...]], boards: range, seed: int = 1):
    """Return the luck of every agent on each board, and its wins."""
    luck = BoardLuck(rules)
    games = [(board, seating) for board in boards for seating in seatings]
    rngs = [np.random.default_rng(number) for number in range(len(names))]
    tallies = play_games(
        rules,
        games,
        [make(name) for name in names],
        names=names,
        seed=seed,
        rngs=rngs,
        tick=lambda _: None,
        begun=luck.begun,
    )
    return luck.sums(seatings, agents=len(names)), tallies


@pytest.mark.parametrize("rules", [ONLINE, BGA.replace(players=3)], ids=lambda rules: rules.name)
def test_the_luck_of_boards_is_that_of_their_recorded_games(rules: CrashRules, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    run_arena(["percentile", "random"], rules=rules, games=12, seed=1, jobs=1, records=path)
    # The games are played again with the chance that the arena gives its agents.
    equity, worth = find_solver_table(rules).equity, DealWorth(rules)
    expected = np.zeros((4, 2))
    luck = BoardLuck(rules)
    rngs = [np.random.default_rng(np.random.SeedSequence(1, spawn_key=(0x41524E41, 0, number))) for number in range(2)]
    play_games(
        rules,
        [(board, seating) for board in range(4) for seating in SEATINGS],
        [make("percentile"), make("random")],
        names=["percentile", "random"],
        seed=1,
        rngs=rngs,
        tick=lambda _: None,
        begun=luck.begun,
    )
    with path.open() as lines:
        records = list(read_records(lines))
    for number, record in enumerate(records):
        scores, dealer = [0, 0, 0], record.rounds[0].dealer
        ends = [event for event in record.replay().events if isinstance(event, RoundEnd)]
        for one, end in zip(record.rounds, ends, strict=True):
            spares = np.array(one.spares).reshape(1, -1, rules.cards_dealt)
            found = worth.luck(np.array([one.hands]), spares)[0]
            before = equity.shares_at(np.array([scores]), np.array([dealer]))[0]
            for seat, agent in enumerate(SEATINGS[number % 3]):
                more = [score + (place == seat) for place, score in enumerate(scores)]
                wins = more[seat] >= rules.target
                after = 1.0 if wins else equity.shares_at(np.array([more]), np.array([dealer]))[0][seat]
                expected[number // 3, agent] += found[seat] * (after - before[seat])
            scores, dealer = list(end.scores), (dealer + 1) % 3
    assert luck.sums(SEATINGS, agents=2) == pytest.approx(expected)
    assert np.abs(expected).max() > 0.01


@pytest.mark.parametrize(
    ("rules", "names", "seatings"),
    [
        (ONLINE, ["random", "percentile"], SEATINGS),
        (ONLINE, ["random", "percentile"], [(0, 1, 1)]),  # without the other seatings luck does not cancel
        (BGA, ["greedy", "random"], [(0, 1), (1, 0)]),
    ],
    ids=["online", "one seating", "bga"],
)
def test_luck_has_mean_0(rules: CrashRules, names: list[str], seatings: list[tuple[int, ...]]) -> None:
    luck, _ = played(rules, names, seatings, range(600))
    errors = luck.std(axis=0, ddof=1) / np.sqrt(len(luck))
    assert (np.abs(luck.mean(axis=0)) < 3.3 * errors).all()
    assert (errors > 0).all()


def test_a_single_seating_gains_much() -> None:
    luck, tallies = played(ONLINE, ["percentile", "greedy"], [(0, 1, 1)], range(600))
    wins, seats = tallies.win_shares[:, 0], np.ones(600)
    plain = ratio_estimate(wins, seats, ends=(0, 1), weight=1)
    found = adjusted_share(wins, seats, luck[:, 0], plain=plain)
    assert found.gain > 1.4
    assert abs(found.win_share.value + found.taken - plain.value) < 1e-12


def test_few_boards_are_left_as_they_are() -> None:
    wins, seats = np.array([1.0, 0.0] * 9), np.ones(18)
    plain = ratio_estimate(wins, seats, ends=(0, 1), weight=1)
    found = adjusted_share(wins, seats, wins - 0.5, plain=plain)
    assert (found.win_share, found.taken, found.gain) == (plain, 0, 1)


def test_jobs_do_not_change_it_and_it_changes_nothing_else() -> None:
    asked = {"rules": ONLINE, "games": 600, "seed": 2}
    one = run_arena(["greedy", "random"], **asked, jobs=1, luck_adjusted=True)
    plain = run_arena(["greedy", "random"], **asked, jobs=1)
    assert one == run_arena(["greedy", "random"], **asked, jobs=2, luck_adjusted=True)
    assert (one.agents, one.pairs, plain.adjusted) == (plain.agents, plain.pairs, ())
    greedy = as_dict(one)["agents"][0]
    assert greedy["win_share_luck_adjusted"] == one.adjusted[0].win_share.value != greedy["win_share"]
    assert greedy["win_share_luck_adjusted"] + greedy["luck"] == pytest.approx(greedy["win_share"])
    assert "luck" not in as_dict(plain)["agents"][0]


def test_rules_without_a_table_are_refused_before_anything_is_played() -> None:
    with pytest.raises(SolverTableError):
        run_arena(["greedy", "random"], rules=CrashRules(cards_dealt=6), games=4, luck_adjusted=True)
