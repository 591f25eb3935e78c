"""Advice at the table: what `percentile` would do and the chances it goes by; without a table for the rules, `greedy`.

Where a table of `solver-fast` fits, it says how often that wins the game, and what would win it more often.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from ..agents.heuristics import Greedy
from ..agents.levels import level, level_data
from ..agents.percentile import Percentile, crash_weight
from ..agents.percentile_table import PercentileTable, TableError, arrangement_values, find_table
from ..agents.protocol import BaseAgent
from ..agents.solver_table import SolverTableError
from ..agents.trained import TrainedError
from ..envs.crash.game import Phase
from ..envs.crash.observation import PlayerView, ViewBatch
from ..envs.crash.partitions import CandidateBatch, candidates_of
from ..envs.crash.rules import CrashRules
from .analysis import Analyst

__all__ = ["Hint", "best_known_agent", "default_opponent", "hint_for"]

_HARDLY = 0.0005  # a win share that nobody would play for


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """What an agent would do.

    Attributes:
        agent: its name.
        action: what it would do.
        chances: to win each comparison alone, by position; None where no table tells.
        reasons: why, in sentences.
    """

    agent: str
    action: int
    chances: tuple[float, ...] | None
    reasons: tuple[str, ...]


def _table(rules: CrashRules) -> PercentileTable | None:
    try:
        return find_table(rules)
    except TableError:
        return None


def best_known_agent(rules: CrashRules) -> str:
    """Return the name of the strongest agent that plays these rules without further files.

    >>> best_known_agent(CrashRules.preset("online"))
    'percentile'
    """
    return "greedy" if _table(rules) is None else "percentile"


def default_opponent(rules: CrashRules) -> str:
    """Return who plays against people unless they say otherwise.

    That is the `medium` level of the network for the rule set, or else of another that was trained for these rules; where
    none was, `best_known_agent`.

    >>> default_opponent(CrashRules.preset("bga")), default_opponent(CrashRules.preset("bga", cards_dealt=6))
    ('bga:medium', 'greedy')
    """
    for name in sorted(level_data(), key=lambda known: known != rules.name):
        agent = level(name, "medium")
        try:
            agent.check_rules(rules)
        except TrainedError:
            continue
        return agent.name
    return best_known_agent(rules)


def hint_for(view: PlayerView) -> Hint:
    """Return advice for a seat that is to act, from what it knows."""
    rules = view.rules
    table = _table(rules)
    agent: BaseAgent = Greedy() if table is None else Percentile()
    action = agent.act(view, np.random.default_rng(0))  # neither leaves anything to chance
    chances: tuple[float, ...] | None = None
    reasons: list[str]
    if table is None:
        reasons = [_greedy_reason(view)]
    elif view.phase is Phase.EXCHANGE:
        reasons = _exchange_reasons(view, table)
    else:
        laid = action if view.laid is None else view.laid
        chances = _chances(view, table, laid)
        reasons = _crash_reasons(chances, rules)
        if view.phase is Phase.ARRANGE:
            reasons += _comparison_reasons(view, table, action)
            reasons += _solver_reasons(view, action)
    return Hint(agent=agent.name, action=action, chances=chances, reasons=tuple(reasons))


def _greedy_reason(view: PlayerView) -> str:
    if view.phase is Phase.ARRANGE:
        return "The strongest Hand 1, then the strongest Hand 2 from the rest, and so on."
    if view.phase is Phase.EXCHANGE:
        return "It exchanges a hand whose best Hand 1 is below a running flush, or that cannot lay every hand."
    return "It calls with a prial of 9s or better, a running flush behind it, and nothing below a run."


def _kept(view: PlayerView) -> int:
    """Return how many others are known to have kept their hands."""
    return sum(choice is False for seat, choice in enumerate(view.exchanges) if seat != view.seat)


def _chances(view: PlayerView, table: PercentileTable, laid: int) -> tuple[float, ...]:
    strengths = candidates_of(laid, view.cards, view.rules).strengths[0]
    chances = table.win_chances()
    row = chances[min(_kept(view), len(chances) - 1)]
    return tuple(float(row[position, strengths[position]]) for position in range(view.rules.hands))


def _values(view: PlayerView, table: PercentileTable, kept: int) -> tuple[CandidateBatch, npt.NDArray[np.float64]]:
    found = ViewBatch.of([view]).undominated()
    weight = crash_weight(view.rules)
    return found, arrangement_values(found, table.win_chances(), rules=view.rules, weight=weight, kept=kept)


def _crash_reasons(chances: tuple[float, ...], rules: CrashRules) -> list[str]:
    if rules.hands < 2:
        return []
    crash = float(np.prod(chances))
    told = f"{crash:.0%}" if crash >= 0.01 else "below 1%"
    return [f"All of them, a crash: {told}.", f"Points to expect from the comparisons: {sum(chances):.2f}."]


def _comparison_reasons(view: PlayerView, table: PercentileTable, action: int) -> list[str]:
    found, values = _values(view, table, min(_kept(view), len(table.win_chances()) - 1))
    best, first = float(values[np.flatnonzero(found.partitions == action)[0]]), float(values[0])
    if int(found.partitions[0]) == action:
        return ["It is also the one with the strongest Hand 1."]
    weight = crash_weight(view.rules)
    return [
        f"With a crash counted as {weight:g} it is worth {best:.2f} points; the first suggestion is worth {first:.2f}.",
    ]


@cache
def _analyst(rules: CrashRules) -> Analyst | None:
    try:
        return Analyst(rules)
    except SolverTableError:
        return None


def _solver_reasons(view: PlayerView, action: int) -> list[str]:
    analyst = _analyst(view.rules)
    if analyst is None:
        return []
    best, own = analyst.ranked(view).rated[0], analyst.rated(view, action)
    told = f"By solver-fast it wins the game {own.win_share:.1%} of the time at this score"
    if own.gives_up_win_share < _HARDLY:
        return [f"{told}; nothing does better."]
    found = ViewBatch.of([view]).undominated()
    number = 1 + int(np.flatnonzero(found.partitions == best.partition)[0])
    return [f"{told}; number {number} wins it {best.win_share:.1%}."]


def _exchange_reasons(view: PlayerView, table: PercentileTable) -> list[str]:
    _, values = _values(view, table, 0)
    threshold = table.exchange_below[min(_kept(view), len(table.exchange_below) - 1)]
    told = f"The best that this hand can lay is worth {float(values.max()):.2f} points against hands like any other"
    return [f"{told}; below {threshold:.2f} exchanging is better on average."]
