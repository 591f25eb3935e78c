"""Section `search`: the undominated search against its yardstick, on one core.

The yardstick is a plain scan in numba of the 200,200 partitions into four hands, in the order of the canonical index
(`prial.training._kernels_scan`): every one is looked up, the undominated are kept, and it does not change. Both find the
same, and run on random 13-card deals with `lowest_hand = pair` and without quads. A scan that looks at arrangements of four
hands alone does less than the search; it is named beside it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...envs.brag import strength_table
from ...envs.crash.partitions import partition_table, undominated, undominated_many
from ...envs.crash.rules import CrashRules
from ...envs.deals import DealStream
from .core import Figure, Plan, Section, figure, ratios, seconds_of
from .search_parts import measure_parts

__all__ = ["measure_search", "random_deals", "scan_values", "search_values"]

TARGET_RATIO = 150.0
"""How many times faster than the scan the search has to be."""


def random_deals(seed: int, count: int, *, cards_dealt: int = 13) -> npt.NDArray[np.int8]:
    """Return deals of one hand each: ascending ids, int8 (count, cards_dealt).

    >>> random_deals(1, 2, cards_dealt=9).shape
    (2, 9)
    """
    stream = DealStream(seed)
    hands = [sorted(stream.shuffle(range(52), deal=number, count=cards_dealt)) for number in range(count)]
    return np.array(hands, np.int8).reshape(count, cards_dealt)


def _four_hand_table() -> npt.NDArray[np.int16]:
    table = partition_table(13)
    return np.ascontiguousarray(table[table[:, 3] >= 0])


def _scan_rules() -> CrashRules:
    return CrashRules.preset("online", quads_bonus=0)


def scan_values(deals: npt.NDArray[np.int8]) -> list[set[tuple[int, ...]]]:
    """Return, for each deal, the undominated values by the scan: strengths by position, 0 for no hand."""
    from .._kernels_scan import scan_all

    rules = _scan_rules()
    strengths = strength_table(rules.flush_order, rules.lowest_class)
    offsets, values = scan_all(deals, _four_hand_table(), strengths)
    rows = values.tolist()
    return [set(map(tuple, rows[start:stop])) for start, stop in pairwise(offsets.tolist())]


def search_values(deals: npt.NDArray[np.int8]) -> list[set[tuple[int, ...]]]:
    """Return the same by the search."""
    found = undominated_many(deals, _scan_rules())
    return [set(map(tuple, found[deal].strengths.tolist())) for deal in range(len(found))]


def measure_search(plan: Plan) -> Section:
    """Measure the search and the scan by turns.

    Raises:
        RuntimeError: they disagree.
    """
    from .._kernels_scan import scan_all, scan_four_only

    rules, table, online = _scan_rules(), _four_hand_table(), CrashRules.preset("online")
    strengths = strength_table(rules.flush_order, rules.lowest_class)
    scans, searches = plan.of(300), plan.of(30_000)
    deals = random_deals(plan.seed, searches)
    few = deals[:scans]
    if scan_values(few) != search_values(few):
        raise RuntimeError("the scan and the search disagree; the figures would mean nothing")
    undominated_many(deals[:1], online)
    scan_four_only(few[:1], table, strengths)
    scan: list[float] = []
    short: list[float] = []
    search: list[float] = []
    counted: list[float] = []
    for _ in range(plan.repeats):
        scan.append(seconds_of(lambda: scan_all(few, table, strengths)) / scans * 1e6)
        search.append(seconds_of(lambda: undominated_many(deals, rules)) / searches * 1e6)
        short.append(seconds_of(lambda: scan_four_only(few, table, strengths)) / scans * 1e6)
        counted.append(seconds_of(lambda: undominated_many(deals, online)) / searches * 1e6)
    figures = (
        figure("plain scan of 200,200 partitions", "us a deal", scan),
        figure("search", "us a deal", search),
        figure("scan over search", "times", ratios(scan, search), target=TARGET_RATIO),
        figure("scan of four hands only", "us a deal", short),
        figure("that scan over search", "times", ratios(short, search)),
        figure("search, quads counted", "us a deal", counted),
        _single_deals(plan),
        *measure_parts(plan, deals, rules),
    )
    return Section(name="search", title="Undominated arrangements of random 13-card deals, one core", figures=figures)


def _single_deals(plan: Plan) -> Figure:
    count = plan.of(2_000)
    deals = [tuple(deal) for deal in random_deals(plan.seed + 1, count).tolist()]
    rules = CrashRules.preset("online")

    def work() -> None:
        for deal in deals:
            undominated(deal, rules)

    return figure("search, one deal a call", "us a deal", [seconds_of(work) / count * 1e6 for _ in range(plan.repeats)])
