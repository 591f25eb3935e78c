"""Two agents against each other under every rule set, until the difference is known closely enough.

One seat is the first agent's, all others are the second's, in every seating of the same deals. How many games that takes is
found from the half-width after a first part: intervals shrink with the square root of the games. The games of that part are
among those that count, so every row is what `prial arena A B --games N` says. That the number of games depends on the spread
of earlier ones does not move the difference: the spread of a win share says next to nothing about who wins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..envs.crash.rules import CrashRules
from .arena import ArenaSetupError, run_arena
from .arena_result import ArenaResult
from .standings import interval_text, markdown_rows, page_top, table_name
from .workers import Spread

__all__ = ["duel_page", "play_duel"]

_FIRST = 4_000  # games after which the number needed is found
_SPARE = 1.03  # more than needed, so that a second guess is hardly ever wanted


def play_duel(
    first: str,
    second: str,
    *,
    rules: CrashRules,
    half_width: float,
    seed: int = 1,
    most: int = 4_000_000,
    jobs: int | None = None,
    workers: Spread | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ArenaResult:
    """Let one agent play tables of another until the interval of the difference of win shares is short enough.

    Args:
        first, second: the agents, by name.
        rules: of all games.
        half_width: of the 95 % interval of the first's win share minus the second's, at most, such as 0.002.
        seed: of deals and agents.
        most: games at most, even if the interval is longer then.
        jobs, workers: as for `run_arena`.
        progress: called with games played and games in all, as far as that is known.

    Raises:
        ArenaSetupError: a half-width that is not above 0, or no games.

    >>> found = play_duel("greedy", "random", rules=CrashRules.preset("online"), half_width=0.1, jobs=1)
    >>> found.pairs[0].win_share.half_width <= 0.1
    True
    """
    if not half_width > 0 or most < 1:
        raise ArenaSetupError(f"half_width={half_width!r}, most={most!r}: expected more than 0, and 1 or more")
    games = min(_FIRST, most)
    while True:
        result = run_arena(
            [first, second], rules=rules, games=games, seed=seed, jobs=jobs, workers=workers, progress=progress
        )
        too_wide = result.pairs[0].win_share.half_width / half_width
        if too_wide <= 1 or games >= most:
            return result
        games = min(most, math.ceil(games * too_wide**2 * _SPARE))


def duel_page(results: Sequence[ArenaResult], *, half_width: float, command: str, date: str) -> str:
    """Return duels of the same two agents as a page of Markdown.

    Args:
        results: of `play_duel`.
        half_width: that was asked for.
        command: that made them.
        date: on which.
    """
    first, second = (score.agent for score in results[0].agents)
    rows = []
    for result in results:
        pair = result.pairs[0]
        rows.append(
            [
                table_name(result.rules),
                f"{result.games:,}",
                *(f"{100 * score.win_share.value:.2f}" for score in result.agents),
                interval_text(pair.win_share, 100, 2, sign="+"),
                interval_text(pair.points_per_round, 1, 4, sign="+"),
                pair.ahead or "open",
            ]
        )
    how = (
        f"One seat of `{first}`, all others `{second}`, in every seating of the same deals: win share of a seat, and the "
        "first's minus the second's with 95 % intervals over boards ([Arena](arena.md)). Games are played until the "
        f"interval of the difference reaches {100 * half_width:g} percentage points to either side at most; each row is "
        f"`prial arena {first} {second}` with its number of games and the same seed."
    )
    heads = ["rules", "games", f"{first}, %", f"{second}, %", "difference, pp", "points a round", "ahead"]
    return "\n".join(
        [
            *page_top(f"{first} against {second}", how, command=command, date=date),
            *markdown_rows(heads, rows),
            "",
        ]
    )
