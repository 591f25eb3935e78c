"""Parts of the undominated search, to time each and to count what it visits. Private; see `bench/search_parts.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.crash._kernels_lanes import all_5, drop_5, first_5, meet_5, some_5
from ..envs.crash._kernels_search import (
    ONE,
    REACH,
    ZERO,
    disjoint_rows,
    look_up_keys,
    make_scratch,
    search_deal,
    search_kernel,
    sort_triples,
)
from ..envs.kernel_cache import kernel


@kernel()
def _counted_meet(row: Any, rows: Any, t: Any) -> Any:
    """What `meet_5` returns, once for each node of the search; the last number of `rows`, which no row uses, counts them."""
    rows[len(rows) - 1] += ONE
    return meet_5(row, rows, t)


_counting_search = search_kernel(5, all_5, _counted_meet, first_5, drop_5, some_5)


@kernel()
def run_parts(deals: Any, strength: Any, parts: Any) -> Any:
    """Do the first parts of the search for every deal: look up, sort, rows, 1 to 3 of them; 4 is all. Return a checksum.

    Args:
        deals: int8 (d, n), ascending card ids a row.
        strength: int16 (22100,), 0 for no hand.
        parts: how many.
    """
    scratch = make_scratch()
    found, laid = np.empty(1024, np.uint64), np.empty(1024, np.uint64)
    total = 0
    for d in range(len(deals)):
        if parts == 4:
            count, found, laid = search_deal(deals[d], strength, False, scratch, found, laid)  # noqa: FBT003 (numba)
            total += count
            continue
        count = look_up_keys(deals[d], strength, scratch.looked_up, scratch.keys)
        total += count
        if parts > 1:
            sort_triples(scratch.keys, count, scratch.slots, scratch.strong)
        if parts > 2:
            if count <= 64:
                disjoint_rows(scratch.slots, count, 1, scratch.rows)
            elif count <= 128:
                disjoint_rows(scratch.slots, count, 2, scratch.rows)
            else:
                disjoint_rows(scratch.slots, count, 5, scratch.rows)
    return total


@kernel()
def count_visited(deals: Any, strength: Any) -> Any:
    """Of each deal: its valid triples, the nodes that the search visits, the arrangements it finds; int64 (d, 3).

    A node is a choice of one, two or three hands of which the rest was asked for. Arrays as in `run_parts`.
    """
    scratch = make_scratch()
    found, laid = np.empty(1 << 14, np.uint64), np.empty(1 << 14, np.uint64)
    visited = np.empty((len(deals), 3), np.int64)
    reach = REACH[deals.shape[1] // 3]
    rows = scratch.rows
    for d in range(len(deals)):
        count = look_up_keys(deals[d], strength, scratch.looked_up, scratch.keys)
        sort_triples(scratch.keys, count, scratch.slots, scratch.strong)
        rows[len(rows) - 1] = ZERO
        args = scratch.slots, scratch.strong, scratch.quads
        visited[d, 0] = count
        visited[d, 2] = _counting_search(count, rows, *args, 0, reach, found, laid)
        visited[d, 1] = rows[len(rows) - 1]
    return visited
