"""Numbered pieces of work on several processes, the same on every system (spawned, never forked).

Ctrl-C ends the workers without a word from them; a worker that is killed is noticed, not waited for. When the process
that started them is killed, they end too.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from typing import Any, Protocol, TypeAlias, TypeVar

from .match import ArenaError, Interrupted, Tick

__all__ = ["Spread", "Work", "spread"]

Plan = TypeVar("Plan")
State = TypeVar("State")
Piece = TypeVar("Piece")

Work: TypeAlias = Callable[[Plan, State, int, Tick], Piece]
"""Does one piece: a function of a module, since it is sent to workers by name."""


class Spread(Protocol):
    """Does pieces somewhere: `spread` in processes here, `prial.training.ray_workers` on a cluster."""

    def __call__(
        self,
        work: Work[Plan, State, Piece],
        plan: Plan,
        pieces: int,
        *,
        make_state: Callable[[Plan], State],
        jobs: int,
        progress: Callable[[int], None],
    ) -> Iterator[tuple[int, Piece]]:
        """Yield (number, piece) as they get done, as `spread` does."""
        ...


_LOOK_EVERY = 0.2  # seconds between looks at the counter

# What a worker process keeps; filled when it starts.
_own: dict[str, Any] = {}


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C for the moment in which processes start: they inherit it, and so import their modules in peace."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, however it went; nobody would take what it finds."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)


def _start(plan: object, make_state: Callable[[Any], object], stop: Event, counter: Any) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # The default action ends the process at once and silently, inside a compiled kernel too.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout = sys.stderr  # the output is the command's; an agent that prints does not spoil it
    _own.update(plan=plan, make_state=make_state, stop=stop, counter=counter)


def _tick(units: int) -> None:
    if _own["stop"].is_set():
        raise Interrupted
    if units:
        with _own["counter"].get_lock():
            _own["counter"].value += units


def _do(work: Work[Any, Any, Piece], number: int) -> Piece:
    _tick(0)
    if "state" not in _own:
        _own["state"] = _own["make_state"](_own["plan"])
    return work(_own["plan"], _own["state"], number, _tick)


def spread(
    work: Work[Plan, State, Piece],
    plan: Plan,
    pieces: int,
    *,
    make_state: Callable[[Plan], State],
    jobs: int,
    progress: Callable[[int], None],
) -> Iterator[tuple[int, Piece]]:
    """Yield (number, piece) for the pieces 0, 1, ... as they get done, in any order.

    Args:
        work: does one piece; it gets the plan, the state, the number and a `Tick`.
        plan: sent to every worker once.
        pieces: how many.
        make_state: makes what a worker keeps from piece to piece, such as its agents.
        jobs: worker processes.
        progress: called now and then with the units that all pieces have ticked off so far.

    Raises:
        ArenaError: a worker process died.
        Exception: the first that a piece raised; the rest is given up.
    """
    context = multiprocessing.get_context("spawn")
    stop, counter = context.Event(), context.Value("q", 0)
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_start, initargs=(plan, make_state, stop, counter))
    try:
        with _uninterrupted():
            waiting: dict[Future[Piece], int] = {pool.submit(_do, work, number): number for number in range(pieces)}
        while waiting:
            done, _ = wait(waiting, timeout=_LOOK_EVERY, return_when=FIRST_COMPLETED)
            progress(counter.value)
            for future in done:
                yield waiting.pop(future), future.result()
    except BrokenProcessPool as error:
        raise ArenaError(
            "a worker process died: killed, or out of memory? One process needs the least (jobs=1)"
        ) from error
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
