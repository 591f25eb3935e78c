"""How strong the built-in agents are: all of them against each other under every rule set, with every number of players.

`play_standings` plays the arenas, `standings_page` writes what came of them as a page of Markdown.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from importlib import metadata

from ..agents.protocol import BaseAgent
from ..agents.registry import agent_names, make
from ..envs.crash.presets import preset_names, read_preset
from ..envs.crash.rules import CrashRules
from .arena import run_arena
from .arena_result import AgentScore, ArenaResult
from .line_ups import line_ups, seatings
from .statistics import Estimate
from .workers import Spread

__all__ = [
    "interval_text",
    "machine_words",
    "markdown_rows",
    "page_top",
    "play_standings",
    "plays",
    "standings_page",
    "standings_rules",
    "table_name",
]


_HOW = (
    "All built-in agents but `solver`, which takes its time, against each other on the same deals, in every seating up to "
    "three players and every rotation above; with fewer seats than agents every combination of different agents plays. "
    "Each figure comes with its 95 % interval over boards, as [Arena](arena.md) explains. [Agents](agents.md) says how "
    "they play."
)

_TOO_SLOW = ("solver",)  # milliseconds a decision: it meets `solver-fast` in an arena of its own (docs/solver.md)
_COMPARED = (
    ("solver-fast", "percentile"),
    ("solver-fast", "greedy"),
    ("percentile", "greedy"),
    ("percentile", "balanced"),
    ("greedy", "balanced"),
    ("greedy", "random"),
    ("balanced", "random"),
)


def standings_rules() -> tuple[CrashRules, ...]:
    """Return every rule set with every number of players in use.

    >>> [(rules.name, rules.players) for rules in standings_rules()][:4]
    [('online', 2), ('online', 3), ('online', 4), ('bga', 2)]
    """
    return tuple(
        CrashRules.preset(name, players=players)
        for name in preset_names()
        for players in read_preset(name)["in_use"]["players"]
    )


def play_standings(
    *,
    boards: int = 300,
    seed: int = 1,
    jobs: int | None = None,
    workers: Spread | None = None,
    rules: Sequence[CrashRules] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[ArenaResult]:
    """Let all built-in agents play each other under some rules and return how they did.

    `solver` is left out: it takes milliseconds a decision; and levels (`online:easy`), which are weaker on purpose. An agent
    that does not play some rules (its `check_rules` refuses them) is left out there.

    Args:
        boards: how many streams of deals every line-up plays in every seating, under each rules.
        seed: of deals and agents, of every arena alike.
        jobs, workers: as for `run_arena`.
        rules: which rules; `standings_rules` if None.
        progress: called with games played and games in all.

    Raises:
        ArenaSetupError: fewer than one board or job.
    """
    tables = standings_rules() if rules is None else tuple(rules)
    names = [name for name in agent_names() if name not in _TOO_SLOW and ":" not in name]
    playing = [[name for name in names if plays(name, table)] for table in tables]
    asked = [boards * _games_per_board(len(there), table.players) for there, table in zip(playing, tables, strict=True)]
    results: list[ArenaResult] = []

    def report(played: int, total: int) -> None:  # noqa: ARG001 (of one arena)
        if progress is not None:
            progress(sum(asked[: len(results)]) + played, sum(asked))

    for table, there, number in zip(tables, playing, asked, strict=True):
        results.append(
            run_arena(there, rules=table, games=number, seed=seed, jobs=jobs, workers=workers, progress=report)
        )
    return results


def plays(name: str, rules: CrashRules) -> bool:
    """Return whether an agent plays some rules.

    >>> plays("online", CrashRules.preset("bga"))
    False
    """
    agent = make(name)
    if isinstance(agent, BaseAgent):
        try:
            agent.check_rules(rules)
        except ValueError:
            return False
    return True


def _games_per_board(agents: int, players: int) -> int:
    return sum(len(seatings(line_up)) for line_up in line_ups(agents, players))


def page_top(title: str, how: str, *, command: str, date: str) -> list[str]:
    """Return the first lines of a page of figures: what they are, and by which command, when and where they were made."""
    return [
        f"# {title}",
        "",
        how,
        "",
        "```",
        command,
        "```",
        "",
        f"{date}, {machine_words()}; the figures are the same on every machine and with any number of processes.",
        "",
    ]


def standings_page(results: Sequence[ArenaResult], *, command: str, date: str) -> str:
    """Return results as a page of Markdown.

    Args:
        results: of arenas of the built-in agents.
        command: that made them.
        date: on which.
    """
    played = {score.agent for result in results for score in result.agents}
    names = [name for name in agent_names() if name in played]
    return "\n".join(
        [
            *page_top("How strong the built-in agents are", _HOW, command=command, date=date),
            "## Win share, in %",
            "",
            "A share of a game's win for each seat taken; the second column is an even share.",
            "",
            *_agent_table(results, names, heading="even", of="win_share"),
            "",
            "## Points a round",
            "",
            "Each round played out to its end; the second column is the games in which each agent sat.",
            "",
            *_agent_table(results, names, heading="games", of="points_per_round"),
            "",
            "## Who is ahead",
            "",
            "Win share of the first minus that of the second, in percentage points, in the games in which both sat.",
            "",
            *_pair_table(results),
            "",
            *_left_out(results, names),
        ]
    )


def machine_words() -> str:
    """Return the machine and the versions that figures were made with."""
    cores = os.cpu_count() or 1
    return (
        f"{platform.system()} {platform.machine()}, {cores} cores, Python {platform.python_version()}, "
        f"prial {metadata.version('prial')}, numpy {metadata.version('numpy')}"
    )


def markdown_rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table in Markdown, all columns but the first to the right.

    >>> markdown_rows(["a", "b"], [["x", "1"]])
    ['| a | b |', '| --- | ---: |', '| x | 1 |']
    """
    return ["| " + " | ".join(cells) + " |" for cells in (heads, ["---", *["---:"] * (len(heads) - 1)], *rows)]


def table_name(rules: CrashRules) -> str:
    """Return rules as the first cell of a row.

    >>> table_name(CrashRules.preset("bga", players=5))
    '`bga`, 5 players, 9 cards'
    """
    cards = "" if rules.cards_dealt == 13 else f", {rules.cards_dealt} cards"
    return f"`{rules.name}`, {rules.players} players{cards}"


def _agent_table(results: Sequence[ArenaResult], names: Sequence[str], *, heading: str, of: str) -> list[str]:
    def cell(score: AgentScore) -> str:
        return (
            interval_text(score.win_share, 100, 1) if of == "win_share" else interval_text(score.points_per_round, 1, 2)
        )

    rows = []
    for result in results:
        games = min(score.games for score in result.agents)
        second = f"{100 / result.rules.players:.1f}" if heading == "even" else f"{games:,}"
        scores = {score.agent: cell(score) for score in result.agents}
        rows.append([table_name(result.rules), second, *(scores.get(name, "-") for name in names)])
    return markdown_rows(["rules", heading, *names], rows)


def _pair_table(results: Sequence[ArenaResult]) -> list[str]:
    rows = []
    for result in results:
        found = {(pair.first, pair.second): pair.win_share for pair in result.pairs}
        found |= {(second, first): _negated(share) for (first, second), share in found.items()}
        shares = [found.get(pair) for pair in _COMPARED]
        cells = ("-" if share is None else interval_text(share, 100, 1, sign="+") for share in shares)
        rows.append([table_name(result.rules), *cells])
    return markdown_rows(["rules", *(f"{first} - {second}" for first, second in _COMPARED)], rows)


def _left_out(results: Sequence[ArenaResult], names: Sequence[str]) -> list[str]:
    """Return a sentence for each agent that did not play everywhere."""
    lines = []
    for name in names:
        where = [table_name(result.rules) for result in results if name not in {score.agent for score in result.agents}]
        if where:
            lines += [f"`{name}` does not play {'; '.join(where)}: it has no table for these rules.", ""]
    return lines


def _negated(estimate: Estimate) -> Estimate:
    return Estimate(value=-estimate.value, low=-estimate.high, high=-estimate.low)


def interval_text(estimate: Estimate, scale: float, decimals: int, sign: str = "") -> str:
    """Return a figure with its interval.

    >>> interval_text(Estimate(value=0.5, low=0.4, high=0.6), 100, 1)
    '50.0 (40.0 to 60.0)'
    """
    form = f"{sign}.{decimals}f"
    value, low, high = (format(scale * number + 0.0, form) for number in (estimate.value, estimate.low, estimate.high))
    return f"{value} ({low} to {high})"
