"""The sections of `prial bench`, and one run of them.

>>> list(SECTIONS)
['search', 'batched', 'growth', 'single', 'peers', 'startup']
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .batched import measure_batched, measure_growth
from .core import BenchResult, Plan, Section, this_machine
from .peers import measure_peers
from .search import measure_search
from .single import measure_single
from .startup import measure_startup

__all__ = ["SECTIONS", "run_bench"]

SECTIONS: dict[str, Callable[[Plan], Section]] = {
    "search": measure_search,
    "batched": measure_batched,
    "growth": measure_growth,
    "single": measure_single,
    "peers": measure_peers,
    "startup": measure_startup,
}
"""What measures each section."""


def run_bench(
    plan: Plan, names: Sequence[str] = tuple(SECTIONS), *, progress: Callable[[int, int], None] | None = None
) -> BenchResult:
    """Measure sections, one after the other.

    Args:
        plan: what was asked for.
        names: of the sections, keys of `SECTIONS`.
        progress: called with the sections done and all there are.

    Raises:
        KeyError: no such section.
        RuntimeError: the scan and the search disagree.
    """
    machine = this_machine()  # its load before this run adds its own
    sections = []
    for done, name in enumerate(names):
        if progress is not None:
            progress(done, len(names))
        sections.append(SECTIONS[name](plan))
    if progress is not None:
        progress(len(names), len(names))
    return BenchResult(sections=tuple(sections), machine=machine, plan=plan)
