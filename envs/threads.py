"""Compiled loops over rows, split among threads. Kernels release the interpreter lock (``kernel(nogil=True)``).

Threads of Python's own pool rather than numba's: those are started once, in a fixed number, and do not survive a fork.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from typing import Any

from .whole_numbers import whole_number

__all__ = ["default_threads", "split_rows", "usable_threads"]

_FEW_ROWS = 256  # below this a thread costs more than it saves


def default_threads() -> int:
    """Return how many threads there is a core for.

    >>> default_threads() >= 1
    True
    """
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, len(affinity(0)) if affinity else os.cpu_count() or 1)


def usable_threads(threads: int | None) -> int:
    """Return a number of threads as asked for, one a core if None.

    Raises:
        ValueError: no whole number from 1.
    """
    if threads is None:
        return default_threads()
    number = whole_number(threads)
    if number is None or number < 1:
        raise ValueError(f"threads={threads!r}: expected a whole number from 1, or None for one a core")
    return number


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:  # noqa: ARG001 (a fork has no threads: one pool a process)
    return ThreadPoolExecutor(threads, thread_name_prefix="prial")


def split_rows(loop: Callable[..., Any], rows: int, threads: int, *arguments: Any) -> list[Any]:
    """Call ``loop(*arguments, start, stop)`` for parts of ``range(rows)`` and return the results, in order of the rows.

    Args:
        loop: a kernel that releases the interpreter lock and whose rows do not touch each other.
        rows: how many.
        threads: how many parts at most; the first is done by the caller.
        arguments: before start and stop.

    >>> split_rows(lambda start, stop: (start, stop), 1000, 2)
    [(0, 500), (500, 1000)]
    """
    parts = max(1, min(threads, rows // _FEW_ROWS))
    bounds = [rows * part // parts for part in range(parts + 1)]
    if parts == 1:
        return [loop(*arguments, 0, rows)]
    pool = _pool(os.getpid(), threads - 1)
    others: list[Future[Any]] = []
    try:
        for begin, end in pairwise(bounds[1:]):
            others.append(pool.submit(loop, *arguments, begin, end))
        first = loop(*arguments, 0, bounds[1])
        return [first, *(other.result() for other in others)]
    except BaseException:
        wait(others)  # the others go on writing after Ctrl-C, and the caller must not see half of it
        raise
