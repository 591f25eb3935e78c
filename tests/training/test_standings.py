"""The standings: arenas of all built-in agents, and the page that they make."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from prial import agents
from prial.envs.crash.presets import preset_names, read_preset
from prial.envs.crash.rules import CrashRules
from prial.training.arena_result import ArenaResult
from prial.training.line_ups import line_ups, seatings
from prial.training.standings import play_standings, standings_page, standings_rules

RULES = [CrashRules.preset("bga", players=5), CrashRules.preset("online", players=2)]


def playing(rules: CrashRules) -> list[str]:
    """The built-in agents that play some rules: not `solver` (too slow), nor levels (weaker on purpose)."""
    found = []
    for name in agents.agent_names():
        if name == "solver" or ":" in name:
            continue
        try:
            agents.make(name).check_rules(rules)
        except ValueError:
            continue
        found.append(name)
    return found


def games_per_board(rules: CrashRules) -> int:
    return sum(len(seatings(one)) for one in line_ups(len(playing(rules)), rules.players))


@pytest.fixture(scope="module")
def results() -> list[ArenaResult]:
    return play_standings(boards=1, seed=3, jobs=1, rules=RULES)


def test_every_rule_set_and_number_of_players_is_played() -> None:
    rules = standings_rules()
    assert len(rules) == 10
    for name in preset_names():
        assert [r.players for r in rules if r.name == name] == read_preset(name)["in_use"]["players"]


def test_every_agent_sits_in_every_line_up_and_seating(results: list[ArenaResult]) -> None:
    for result, rules in zip(results, RULES, strict=True):
        assert result.rules == rules
        names = playing(rules)
        assert [score.agent for score in result.agents] == names
        with_one = [one for one in line_ups(len(names), rules.players) if 0 in one]
        assert {score.games for score in result.agents} == {sum(len(seatings(one)) for one in with_one)}
        assert result.boards == 1


def test_progress_counts_up_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    play_standings(boards=1, seed=3, jobs=1, rules=RULES, progress=lambda *step: seen.append(step))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    everything = sum(map(games_per_board, RULES))
    assert seen[-1] == (everything, everything)


def test_an_agent_that_refuses_some_rules_is_left_out_there_and_that_is_said() -> None:
    rules = [CrashRules.preset("online", players=3), CrashRules.preset("online", players=3, target=3)]
    assert ["solver-fast" in playing(table) for table in rules] == [True, False]
    results = play_standings(boards=1, seed=3, jobs=1, rules=rules)
    assert ["solver-fast" in [score.agent for score in result.agents] for result in results] == [True, False]
    page = standings_page(results, command="x", date="y")
    assert "`solver-fast` does not play `online`, 3 players: it has no table for these rules." in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert [row.count(" - |") for row in rows] == [0, 1, 0, 1, 0, 2]


def test_the_page_holds_every_figure(results: list[ArenaResult]) -> None:
    page = standings_page(results, command="prial standings --boards 1", date="2024-02-29")
    assert "\nprial standings --boards 1\n" in page
    assert "\n2024-02-29, " in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) == 3 * len(results)
    assert {line.count("|") for line in rows[: 2 * len(results)]} == {3 + len({*playing(RULES[0]), *playing(RULES[1])})}
    for number, result in enumerate(results):
        wins, points, ahead = rows[number :: len(results)]
        assert wins.startswith(f"| `{result.rules.name}`, {result.rules.players} players")
        for score in result.agents:
            share = score.win_share
            assert f"{100 * share.value:.1f} ({100 * share.low:.1f} to {100 * share.high:.1f})" in wins
            assert f" {score.points_per_round.value:.2f} (" in points
        pair = next(p for p in result.pairs if (p.first, p.second) == ("balanced", "percentile"))
        low, high = 0 - 100 * pair.win_share.high, 0 - 100 * pair.win_share.low
        assert f" {0 - 100 * pair.win_share.value:+.1f} ({low:+.1f} to {high:+.1f})" in ahead


def test_no_difference_has_no_sign_of_less(results: list[ArenaResult]) -> None:
    nothing = replace(results[0].agents[0].win_share, value=-0.0, low=-0.0, high=0.0)
    pairs = tuple(replace(pair, win_share=nothing) for pair in results[0].pairs)
    page = standings_page([replace(results[0], pairs=pairs)], command="x", date="y")
    assert "+0.0 (+0.0 to +0.0)" in page
    assert not re.search(r"-0\.0\b", page.partition("## Who is ahead")[2])
