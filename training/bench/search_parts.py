"""Where the undominated search spends its time, for the section `search`.

The search looks up the strengths of all triples of a deal, sorts the valid ones, writes for each a row of those disjoint
from it, and goes through the tree of choices. Figures are cumulative, each part with all before it: the difference of two is
what a part takes.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from ...envs.brag import strength_table
from ...envs.crash.rules import CrashRules
from .core import Figure, Plan, figure, seconds_of

__all__ = ["measure_parts", "visited_nodes"]

_PARTS = ("strengths looked up", "and sorted", "and rows of disjoint triples", "and searched")


def _strengths(rules: CrashRules) -> npt.NDArray[np.int16]:
    return strength_table(rules.flush_order, rules.lowest_class)


def visited_nodes(deals: npt.NDArray[np.int8], rules: CrashRules) -> npt.NDArray[np.int64]:
    """Return, for each deal, how many valid triples, visited nodes and found arrangements; int64 (d, 3). Quads do not count.

    A node is a choice of one, two or three hands whose best completion was asked for; the plain scan has 200,200 leaves.

    Args:
        deals: ascending card ids, int8 (d, n).
        rules: that say which triples are hands.

    >>> visited_nodes(np.arange(13, dtype=np.int8).reshape(1, 13), CrashRules.preset("online"))[0, [0, 2]].tolist()
    [256, 1]
    """
    from .._kernels_search_parts import count_visited

    visited: npt.NDArray[np.int64] = count_visited(deals, _strengths(rules))
    return visited


def measure_parts(plan: Plan, deals: npt.NDArray[np.int8], rules: CrashRules) -> tuple[Figure, ...]:
    """Measure the parts by turns, and count the nodes.

    Args:
        plan: what was asked for.
        deals: ascending card ids, int8 (d, 13).
        rules: of the deals.
    """
    from .._kernels_search_parts import run_parts

    strengths = _strengths(rules)
    run_parts(deals[:1], strengths, 1)
    times: list[list[float]] = [[] for _ in _PARTS]
    for _ in range(plan.repeats):
        for number, part in enumerate(times, 1):
            part.append(seconds_of(partial(run_parts, deals, strengths, number)) / len(deals) * 1e6)
    figures = [figure(f"part: {name}", "us a deal", part) for name, part in zip(_PARTS, times, strict=True)]
    nodes = visited_nodes(deals, rules)[:, 1]
    figures.append(
        Figure(
            name="nodes visited, median (10th and 90th of 100)",
            unit="a deal",
            median=float(np.median(nodes)),
            low=float(np.quantile(nodes, 0.1)),
            high=float(np.quantile(nodes, 0.9)),
        )
    )
    figures.append(figure("nodes visited, mean", "a deal", [float(nodes.mean())]))
    return tuple(figures)
