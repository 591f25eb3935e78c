"""Ratings: the model against another library, sweeps, namesakes, and how often the intervals hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from prial.training.ratings import ELO, Contest, RatingsError, rate

pytest.importorskip("scipy")


def played(strengths: list[float], line_ups: list[tuple[int, ...]], boards: int, seed: int) -> Contest:
    """One game a line-up on each board, won by chance."""
    rng = np.random.default_rng(seed)
    wins = np.zeros((boards, len(line_ups), len(strengths)))
    for column, line_up in enumerate(line_ups):
        chances = np.array([strengths[agent] for agent in line_up])
        for board, seat in enumerate(rng.choice(len(line_up), boards, p=chances / chances.sum())):
            wins[board, column, line_up[seat]] = 1
    return Contest(
        agents=tuple("abcdef"[: len(strengths)]),
        line_ups=tuple(line_ups),
        games=np.ones(wins.shape[:2]),
        wins=wins,
    )


def test_the_fit_is_that_of_choix() -> None:
    choix = pytest.importorskip("choix")
    line_ups = [(0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 3)]
    contest = played([1, 2, 3, 0.5], line_ups, 50, seed=3)
    rows = [
        (winner, [agent for agent in line_up if agent != winner])
        for one in [contest.with_added()]
        for board in range(len(one.games))
        for column, line_up in enumerate(line_ups)
        for winner in np.flatnonzero(one.wins[board, column]).tolist()
    ]
    theirs = ELO * choix.opt_top1(4, rows, alpha=0.0)
    assert rate(contest, resamples=2).values == pytest.approx(theirs - theirs.mean(), abs=0.05)


def test_two_agents_are_as_far_apart_as_their_odds() -> None:
    wins = [2, 1.5, 2, 0, 1, 2, 2, 0.5]  # of two games a board; 11 of 16, and with the boards added 13 of 20
    found = rate(Contest.duel("a", "b", wins, [2] * 8), resamples=2)
    assert found.values[0] - found.values[1] == pytest.approx(ELO * math.log(13 / 7))
    assert found.values.sum() == pytest.approx(0)


def test_an_agent_may_take_several_seats() -> None:
    """Won in one of three games from one of three seats: as strong as the two others."""
    wins = np.tile([[1.0, 2.0]], (9, 1))[:, None]
    contest = Contest(agents=("a", "b"), line_ups=((0, 1, 1),), games=np.full((9, 1), 3.0), wins=wins)
    found = rate(contest, resamples=2)
    # With the two boards added, (9 + 3) of 33 games.
    assert found.values[0] - found.values[1] == pytest.approx(ELO * math.log(2 * 12 / 21))


@pytest.mark.parametrize("boards", [1, 2, 10, 1000])
def test_a_sweep_has_a_finite_interval_that_is_not_empty(boards: int) -> None:
    found = rate(Contest.duel("a", "b", [1] * boards, [1] * boards), resamples=300, seed=1).difference(0, 1)
    assert np.isfinite(found.interval).all()
    assert found.low < found.value < found.high
    assert found.high - found.low > 100
    assert (found.low > 0) == (boards >= 10)


def test_two_games_tell_little() -> None:
    found = rate(Contest.duel("a", "b", [1, 0], [1, 1]), resamples=300).difference(0, 1)
    assert found.value == pytest.approx(0, abs=1e-6)
    assert found.half_width > 150


def test_one_bot_under_two_names_is_not_ahead_of_itself() -> None:
    """Equal play wins equally often on every board; the spread comes from the boards added."""
    found = rate(Contest.duel("a", "a again", [1] * 40, [2] * 40), resamples=300).difference(0, 1)
    assert found.value == pytest.approx(0, abs=1e-6)
    assert found.low < 0 < found.high


def test_intervals_hold_the_truth() -> None:
    strengths, line_ups = [1.0, 1.6, 0.7], [(0, 1), (0, 2), (1, 2), (0, 1, 2)]
    truth = ELO * np.log(np.array(strengths))
    held = 0
    for trial in range(100):
        found = rate(played(strengths, line_ups, 30, seed=trial), resamples=200, seed=trial)
        held += found.difference(1, 0).covers(truth[1] - truth[0])
    assert held >= 89  # of 100 at 95 %: fewer with a chance of 1 in 80


def test_agents_that_no_games_link_are_named() -> None:
    contest = played([1, 1, 1, 1], [(0, 1), (2, 3)], 5, seed=1)
    with pytest.raises(RatingsError, match="link 'a' with 'c', 'd'"):
        rate(contest)


def test_a_meeting_that_has_not_begun_changes_nothing() -> None:
    one = played([1, 2, 3], [(0, 1), (1, 2)], 20, seed=2)
    games = np.concatenate([one.games, np.zeros((20, 1))], axis=1)
    wins = np.concatenate([one.wins, np.zeros((20, 1, 3))], axis=1)
    other = Contest(agents=one.agents, line_ups=(*one.line_ups, (0, 2)), games=games, wins=wins)
    assert rate(other, resamples=5).samples == pytest.approx(rate(one, resamples=5).samples)
