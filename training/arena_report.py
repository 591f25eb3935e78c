"""The result of an arena for people (tables that fit the terminal) and for programs (plain JSON values)."""

from __future__ import annotations

import hashlib
import math
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arena_luck import AdjustedShare
from .arena_result import AgentScore, ArenaResult, PairScore
from .statistics import Estimate

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["as_dict", "show"]

_FEW_BOARDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measure:
    """A column: its key in JSON and in the scores, its heading, and how its figures are written."""

    key: str
    heading: str
    scale: float = 1.0
    decimals: int = 2
    signed: bool = False

    def digits(self, estimates: Sequence[Estimate]) -> int:
        """Return how many decimals show the narrowest interval as more than nothing."""
        widths = [estimate.half_width * self.scale for estimate in estimates]
        narrowest = min((width for width in widths if width > 0), default=1.0)
        return min(6, max(self.decimals, -math.floor(math.log10(narrowest))))

    def write(self, value: float, digits: int) -> str:
        """Return a figure as text."""
        text = f"{value * self.scale:{'+' if self.signed else ''}.{digits}f}"
        return text if float(text) else f"{0:.{digits}f}"

    def interval(self, estimate: Estimate, digits: int) -> str:
        """Return an interval as text."""
        return f"{self.write(estimate.low, digits)} to {self.write(estimate.high, digits)}"

    def sentence(self, estimate: Estimate) -> str:
        """Return a figure on a line of its own."""
        digits = self.digits([estimate])
        return f"{self.heading} {self.write(estimate.value, digits)} ({self.interval(estimate, digits)})"


_MEASURES = (
    _Measure(key="win_share", heading="win share %", scale=100, decimals=1),
    _Measure(key="points_per_round", heading="points/round"),
    _Measure(key="margin_per_round", heading="margin/round", signed=True),
    _Measure(key="crash_rate", heading="crash %", scale=100, decimals=1),
    _Measure(key="rounds_per_game", heading="rounds/game"),
)
_DIFFERENCES = (
    _Measure(key="win_share", heading="win share %", scale=100, decimals=1, signed=True),
    _Measure(key="points_per_round", heading="points/round", signed=True),
)


def as_dict(result: ArenaResult) -> dict[str, Any]:
    """Return a result as plain JSON values: everything needed to repeat it, and every figure with its interval.

    >>> from ..envs.crash.rules import CrashRules
    >>> from .arena import run_arena
    >>> result = run_arena(["greedy", "random"], rules=CrashRules.preset("online", players=2), games=4, seed=1)
    >>> as_dict(result)["games"], as_dict(result)["pairs"][0]["agents"]
    (4, ['greedy', 'random'])
    """
    adjusted = result.adjusted or [None] * len(result.agents)
    return {
        "rules": result.rules.to_dict(),
        "seed": result.seed,
        "games": result.games,
        "games_asked": result.games_asked,
        "boards": result.boards,
        "games_per_board": result.games_per_board,
        "line_ups": [list(line_up) for line_up in result.line_ups],
        "agents": [_agent_dict(score, share) for score, share in zip(result.agents, adjusted, strict=True)],
        "pairs": [_pair_dict(pair) for pair in result.pairs],
        "forfeits": [one.to_dict() for one in result.forfeits],
        "versions": {
            "prial": metadata.version("prial"),
            "numpy": metadata.version("numpy"),
            "python": platform.python_version(),
        },
    }


def _figures(
    score: AgentScore | PairScore | AdjustedShare, measures: Sequence[_Measure], suffix: str = ""
) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for measure in measures:
        estimate: Estimate = getattr(score, measure.key)
        figures[measure.key + suffix] = estimate.value
        figures[f"{measure.key}{suffix}_ci"] = list(estimate.interval)
    return figures


def _agent_dict(score: AgentScore, adjusted: AdjustedShare | None) -> dict[str, Any]:
    plain = {"agent": score.agent, **_figures(score, _MEASURES), "games": score.games, "seats": score.seats}
    if adjusted is not None:
        plain |= {
            **_figures(adjusted, _MEASURES[:1], suffix="_luck_adjusted"),
            "luck": adjusted.taken,
            "counts_as_times_as_many_games": adjusted.gain,
        }
    path = Path(re.sub(r"(\[.*\])?(#\d+)?$", "", score.agent))  # without options, and a number after the same name
    if path.suffix == ".onnx" and path.is_file():
        plain["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return plain


def _pair_dict(pair: PairScore) -> dict[str, Any]:
    return {
        "agents": [pair.first, pair.second],
        **_figures(pair, _DIFFERENCES, suffix="_difference"),
        "ahead": pair.ahead,
        "games": pair.games,
        "boards": pair.boards,
        "more_games": pair.more_games,
    }


def show(result: ArenaResult, console: Console) -> None:
    """Write a result as text: tables where they fit the width of the console, else one line a figure."""
    rounds = [score.rounds_per_game for score in result.agents]
    same = all(math.isclose(own.value, rounds[0].value) for own in rounds)  # all sat in all games
    measures = _MEASURES[:-1] if same else _MEASURES
    for line in _headlines(result):
        console.print(line)
    if same:
        console.print(_MEASURES[-1].sentence(rounds[0]))
    console.print()
    scores = [_row(score, score.agent, measures) for score in result.agents]
    _show_rows(console, scores, heading="agent", measures=measures)
    console.print()
    if result.adjusted:
        console.print("Luck of the cards taken out:")
        console.print()
        shares = [
            (score.agent, [share.win_share], f"{share.gain:.2f}\ntimes the games")
            for score, share in zip(result.agents, result.adjusted, strict=True)
        ]
        _show_rows(console, shares, heading="agent", measures=_MEASURES[:1], said="counts as")
        console.print()
    console.print("Differences, first minus second:")
    console.print()
    pairs = [_row(pair, f"{pair.first} - {pair.second}", _DIFFERENCES, _verdict(pair)) for pair in result.pairs]
    _show_rows(console, pairs, heading="agents", measures=_DIFFERENCES, said="verdict")
    for one in result.forfeits:
        console.print()
        for line in one.lines():
            console.print(line, soft_wrap=True)


def _headlines(result: ArenaResult) -> list[str]:
    rules = result.rules
    boards = f"{result.boards} board{'' if result.boards == 1 else 's'}"
    lines = [
        f"{rules.name or 'own rules'}, {rules.players} players, seed {result.seed}",
        f"{result.games} games: {boards}, each played {result.games_per_board} times on the same deals",
    ]
    if result.games != result.games_asked:
        lines.append(f"({result.games_asked} games were asked for; boards are played whole)")
    if len(result.line_ups) > 1:
        lines.append(f"{len(result.line_ups)} line-ups: every {rules.players} of {len(result.agents)} agents")
    elif len(result.agents) < rules.players:
        lines.append(f"line-up: {', '.join(result.line_ups[0])} (the last agent takes the missing seats)")
    if result.boards < _FEW_BOARDS:
        lines.append(f"only {boards}: wide intervals; more --games narrow them")
    lines.append(f"with 95 % intervals; an even share of wins is {100 / rules.players:.1f} %")
    return lines


def _verdict(pair: PairScore) -> str:
    """Return in two lines whether one of two is ahead."""
    if pair.ahead is not None:
        return f"{pair.ahead}\nis ahead"
    if pair.more_games is None:
        return "no difference"
    if pair.more_games > 1_000_000:
        return "open; over\na million more games"
    return f"open; about\n{_rounded(pair.more_games):,} more games"


def _rounded(games: int) -> int:
    """Return a number of games to two figures, upwards."""
    unit = int("1".ljust(len(str(games)) - 1, "0"))
    return math.ceil(games / unit) * unit


_Row = tuple[str, list[Estimate], str]
"""A name, its figures, and what is said of them."""


def _row(score: AgentScore | PairScore, name: str, measures: Sequence[_Measure], said: str = "") -> _Row:
    return name, [getattr(score, measure.key) for measure in measures], said


def _show_rows(
    console: Console, rows: Sequence[_Row], *, heading: str, measures: Sequence[_Measure], said: str = ""
) -> None:
    from rich.measure import Measurement

    digits = [measure.digits([estimates[i] for _, estimates, _ in rows]) for i, measure in enumerate(measures)]
    table = _table(rows, digits, heading=heading, measures=measures, said=said)
    if Measurement.get(console, console.options.update(max_width=1000), table).maximum <= console.width:
        with console.capture() as captured:
            console.print(table)
        # Rich pads every cell; whoever compares two outputs wants no blanks at the ends of lines.
        console.out("\n".join(line.rstrip() for line in captured.get().splitlines()), highlight=False)
        return
    wide = max(len(measure.heading) for measure in measures)
    for number, (name, estimates, words) in enumerate(rows):
        if number:
            console.print()
        console.print(name, style="bold", soft_wrap=True)
        figures = [measure.write(e.value, d) for measure, e, d in zip(measures, estimates, digits, strict=True)]
        width = max(map(len, figures))
        for measure, estimate, digit, figure in zip(measures, estimates, digits, figures, strict=True):
            text = f"  {measure.heading:<{wide}} {figure:>{width}} {measure.interval(estimate, digit)}"
            console.print(text, soft_wrap=True)
        if words:
            console.print(" ", *words.splitlines(), soft_wrap=True)


def _table(
    rows: Sequence[_Row], digits: Sequence[int], *, heading: str, measures: Sequence[_Measure], said: str
) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in (heading, *(measure.heading for measure in measures), *([said] if said else [])):
        table.add_column(title, no_wrap=True)
    for name, estimates, words in rows:
        cells = [
            Text.assemble((measure.write(e.value, d), "bold"), "\n", (measure.interval(e, d), "dim"))
            for measure, e, d in zip(measures, estimates, digits, strict=True)
        ]
        table.add_row(name, *cells, *([words] if said else []))
    return table
