"""Winning chances by score: the table, how it is made, and whether whole games agree with it."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from prial.agents.equity_table import (
    EquityError,
    EquityTable,
    dealer_matters,
    find_equity,
    read_equity,
    round_states,
)
from prial.agents.heuristics import Greedy
from prial.agents.registry import make
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.vector import CrashVectorEnv
from prial.training.cli import app
from prial.training.equity import EquitySetupError, score_levels, solve_equity

SHORT = CrashRules.preset("online", target=3)
TURNS = CrashRules.preset("bga", players=2, target=4, crash_call="optional", crash_call_penalty=2)


def _played(agent: str, rules: CrashRules, scores: list[int], *, dealer: int | None, games: int) -> np.ndarray:
    """Mean win shares of whole games and their standard errors: (2, players)."""
    env = CrashVectorEnv(games, rules, seed=77, scores=scores, dealer=dealer, autoreset=False, threads=1)
    shares = np.zeros((games, rules.players))
    player, rng = make(agent), np.random.default_rng(5)
    while env.pending.any():
        outcome = env.act_many(player, rng)
        shares += outcome.win_shares
    assert np.allclose(shares.sum(axis=1), 1)
    return np.array([shares.mean(axis=0), shares.std(axis=0) / np.sqrt(games)])


@pytest.mark.parametrize(
    ("agent", "rules", "scores", "dealer"),
    [
        ("greedy", SHORT, [2, 0, 1], None),
        ("random", SHORT, [2, 2, 0], None),
        ("greedy", TURNS, [3, 1], 0),
        ("percentile", TURNS, [0, 2], 1),
        ("percentile", CrashRules.preset("bga", target=3), [1, 2, 2], 2),
    ],
)
def test_whole_games_agree(agent: str, rules: CrashRules, scores: list[int], dealer: int | None) -> None:
    table = solve_equity(agent, rules, rounds_per_state=3000, seed=3)
    asked = np.array([scores]), np.array([dealer or 0])
    shares, errors = table.shares_at(*asked)[0], table.errors_at(*asked)[0]
    mean, error = _played(agent, rules, scores, dealer=dealer, games=6000)
    assert (np.abs(mean - shares) < 4 * np.hypot(error, errors)).all()
    assert (errors < 0.02).all()


def test_shares_add_up_and_equal_scores_share_alike() -> None:
    table = solve_equity("greedy", SHORT, rounds_per_state=200)
    assert table.shares.sum(axis=0) == pytest.approx(1, abs=1e-6)
    level = np.repeat(np.arange(3)[:, None], 3, axis=1)
    assert table.shares_at(level, np.zeros(3, np.int8)) == pytest.approx(1 / 3, abs=1e-6)
    assert table.errors_at(level, np.zeros(3, np.int8)) == pytest.approx(0, abs=1e-6)
    assert (np.diff(table.dense()[0], axis=0) > 0).all()  # points are worth having


def test_seats_do_not_matter_where_nobody_speaks_in_turn() -> None:
    table = solve_equity("random", SHORT, rounds_per_state=60)
    for seats in permutations(range(3)):
        scores = np.array([[0, 1, 2]])
        moved = table.shares_at(scores[:, seats], np.array([1]))
        assert (moved == table.shares_at(scores, np.array([0]))[:, seats]).all()


def test_turn_order_goes_round_the_table() -> None:
    rules = CrashRules.preset("bga", target=3)
    assert dealer_matters(rules)
    states = round_states(3, 3, ordered=True)
    shares = np.random.default_rng(1).dirichlet([1, 1, 1], len(states)).T
    table = EquityTable.known(rules, shares)
    dense = table.dense()
    # Seat 2 is first in turn order after dealer 1.
    assert table.shares_at(np.array([[0, 2, 1]]), np.array([1])).tolist() == [
        [dense[1, 1, 0, 2], dense[2, 1, 0, 2], dense[0, 1, 0, 2]]
    ]
    number = states.tolist().index([1, 0, 2])
    assert dense[:, 1, 0, 2].tolist() == table.shares[:, number].tolist()


def test_dense_has_the_own_score_first() -> None:
    rules = CrashRules(players=4, target=3)
    states = round_states(4, 3, ordered=False)
    table = EquityTable.known(rules, np.random.default_rng(2).dirichlet([1] * 4, len(states)).T)
    number = states.tolist().index([0, 1, 1, 2])
    for others in permutations([1, 1, 2]):
        assert table.dense()[(0, 0, *others)] == table.shares[0, number]
    for others in permutations([0, 1, 1]):
        assert table.dense()[(0, 2, *others)] == table.shares[3, number]


def test_the_table_does_not_depend_on_the_jobs() -> None:
    one = solve_equity("random", SHORT, rounds_per_state=40, seed=9)
    two = solve_equity("random", SHORT, rounds_per_state=40, seed=9, jobs=2)
    assert one.to_bytes() == two.to_bytes()
    assert one.to_bytes() != solve_equity("random", SHORT, rounds_per_state=40, seed=8).to_bytes()


def test_errors_shrink_with_rounds_and_cover() -> None:
    """Many small tables scatter about a large one as their errors say."""
    large = solve_equity("greedy", SHORT, rounds_per_state=8000, seed=1)
    small = [solve_equity("greedy", SHORT, rounds_per_state=200, seed=seed) for seed in range(10, 22)]
    assert large.errors.mean() < 0.3 * small[0].errors.mean()
    told = np.array([table.errors for table in small])
    known = large.errors > 1e-6
    squares = (np.array([table.shares for table in small]) - large.shares)[:, known] ** 2
    assert 0.6 < np.sqrt(squares.mean() / (told[:, known] ** 2).mean()) < 1.5


class _CarefulInFront(Greedy):
    """Lays nothing with a point more than anyone else: decides by the score."""

    name = "careful"

    def arrange_many(self, views, rng):
        laid = super().arrange_many(views, rng)
        own = views.scores[np.arange(len(views)), views.seat]
        return np.where(own > np.median(views.scores, axis=1), 0, laid).astype(np.int32)


def test_scores_left_out_are_settled_from_themselves() -> None:
    rules = CrashRules.preset("online", target=6)
    whole = solve_equity("percentile", rules, rounds_per_state=60)
    part = solve_equity("percentile", rules, rounds_per_state=60, max_asked=12)
    assert part.made["asked"] <= 12 < whole.made["asked"]
    assert (part.shares == whole.shares).all()  # percentile does not look at the score
    assert part.made["held_out"]["most"] == 0
    far = solve_equity(_CarefulInFront(), rules, rounds_per_state=60, max_asked=12)
    assert far.made["held_out"]["most"] > 0.01


def test_more_deals_at_few_scores_shrink_the_errors_and_nothing_else() -> None:
    """An agent that decides by the score, asked at few scores for most deals: the same shares, better known."""
    rules, agent = CrashRules.preset("online", target=6), _CarefulInFront()
    large = solve_equity(agent, rules, rounds_per_state=4000, seed=1)
    plain, more = (
        [
            solve_equity(agent, rules, rounds_per_state=100, coarse_rounds=coarse, coarse_asked=12, seed=seed)
            for seed in range(10, 20)
        ]
        for coarse in (0, 1600)
    )
    known = large.errors > 1e-6
    off = [
        np.sqrt(np.mean([(table.shares - large.shares)[known] ** 2 for table in tables])) for tables in (plain, more)
    ]
    told = [np.sqrt(np.mean([table.errors[known] ** 2 for table in tables])) for tables in (plain, more)]
    assert told[1] < 0.6 * told[0]
    assert off[1] < 0.8 * off[0]
    assert 0.5 < off[1] / told[1] < 1.6
    assert more[0].made["coarse_rounds"] == 1600
    np.testing.assert_allclose(more[0].shares.sum(axis=0), 1, atol=1e-5)


def test_only_the_many_deals_count_where_the_score_does_not_matter() -> None:
    first = solve_equity("percentile", SHORT, rounds_per_state=40, coarse_rounds=400, coarse_asked=2)
    second = solve_equity("percentile", SHORT, rounds_per_state=40, coarse_rounds=400, coarse_asked=1000)
    np.testing.assert_allclose(first.shares, second.shares, atol=1e-6)


def test_levels_are_close_together_near_the_target() -> None:
    levels = score_levels(4, 15, ordered=True, most=4096)
    assert len(set(levels.tolist())) ** 4 <= 4096
    assert levels[-1] == 14
    assert levels[0] == 0
    assert (np.diff(levels) >= 0).all()
    assert score_levels(4, 15, ordered=False, most=4096).tolist() == list(range(15))
    assert len(set(score_levels(2, 5, ordered=False, most=1).tolist())) == 1


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = solve_equity("greedy", SHORT, rounds_per_state=20, command="made so")
    path = tmp_path / "table.npz"
    path.write_bytes(table.to_bytes())
    again = read_equity(path)
    assert (again.shares == table.shares).all()
    assert again.errors == pytest.approx(table.errors, rel=1e-3)
    assert again.made["command"] == "made so"
    assert find_equity(SHORT.replace(max_rounds=50), path=path).fits(SHORT)
    with pytest.raises(EquityError, match="for other rules: target=3, not 7"):
        find_equity(CrashRules.preset("online"), path=path)


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.npz"
    bad.write_bytes(b"PK nothing")
    with pytest.raises(EquityError, match="is no table of winning chances"):
        read_equity(bad)
    with pytest.raises(EquityError, match="cannot read the table"):
        read_equity(tmp_path / "none.npz")
    with pytest.raises(EquityError, match="no table of winning chances for players=3"):
        find_equity(CrashRules.preset("online", target=12_345))
    with pytest.raises(EquityError, match="add up to 1"):
        EquityTable.known(CrashRules(players=2, target=1), [[0.5], [0.6]])
    with pytest.raises(EquityError, match=r"expected \(2, 1\)"):
        EquityTable.known(CrashRules(players=2, target=1), [0.5])
    table = EquityTable.known(CrashRules(players=2, target=1), [[0.5], [0.5]])
    with pytest.raises(EquityError, match="scores at the start of a round are 0 to 0"):
        table.shares_at(np.array([[0, 1]]), np.array([0]))
    with pytest.raises(EquityError, match=r"expected scores \(m, 2\)"):
        table.shares_at(np.array([0, 0]), np.array([0]))


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(EquitySetupError, match="rounds=0"):
        solve_equity("greedy", SHORT, rounds_per_state=0)
    with pytest.raises(EquitySetupError, match="coarse_rounds=-1: expected 0 or more"):
        solve_equity("greedy", SHORT, coarse_rounds=-1)
    with pytest.raises(EquitySetupError, match="coarse_asked=0: expected 1 or more"):
        solve_equity("greedy", SHORT, coarse_asked=0)


def test_the_command_writes_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "table.npz"
    given = ["--agent", "greedy", "--players", "2", "--set", "target=3", "--rounds", "20", "--out", str(out)]
    app(["tables", "equity", *given], prog_name="prial", standalone_mode=False)
    assert "6 scores, the agent asked at 6" in capsys.readouterr().out
    table = read_equity(out)
    assert table.fits(CrashRules.preset("online", players=2, target=3))
    assert table.made["command"] == (
        "prial tables equity --agent greedy --rules online --players 2 --set target=3 --rounds 20 --seed 1"
    )
    app(
        ["tables", "equity", *given, "--most-asked", "3"],
        prog_name="prial",
        standalone_mode=False,
    )
    assert "scores that were left out" in capsys.readouterr().out
