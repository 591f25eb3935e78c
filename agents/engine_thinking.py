"""An agent's decisions in a thread of its own, so that one that takes too long can be answered for."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Late", "Thinker"]

Answer = TypeVar("Answer")
_LOOK_EVERY = 0.25  # seconds between looks whether anybody still waits for the answer


class Late(Exception):  # noqa: N818 (nothing is wrong: the time is up)
    """The time is up; the thought goes on by itself, and its answer is lost."""


class _Job(Generic[Answer]):
    """A call, what it returned or raised, and whether it is still wanted."""

    def __init__(self, call: Callable[[], Answer]) -> None:
        self._call = call
        self.wanted = True
        self.done = threading.Event()
        self.answer: Answer | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            if self.wanted:
                self.answer = self._call()
        except BaseException as error:  # noqa: BLE001 (handed to whoever asked)
            self.error = error
        self.done.set()


class Thinker:
    """One thread that does one call after the other.

    Args:
        watch: called now and then while somebody waits; what it raises ends the wait.

    >>> thinker = Thinker()
    >>> thinker.ask(lambda: 6 * 7, seconds=None)
    42
    >>> thinker.is_busy
    False
    """

    def __init__(self, watch: Callable[[], None] = lambda: None) -> None:
        self._watch = watch
        self._jobs: queue.SimpleQueue[_Job[object]] = queue.SimpleQueue()
        self._last: _Job[object] | None = None
        threading.Thread(target=self._think, name="thinker", daemon=True).start()

    @property
    def is_busy(self) -> bool:
        """Whether a thought goes on that nobody waits for any more."""
        return self._last is not None and not self._last.done.is_set()

    def ask(self, call: Callable[[], Answer], *, seconds: float | None) -> Answer:
        """Return what a call returns, once those before it have ended.

        Args:
            call: what to do.
            seconds: how long to wait at most; for ever if None.

        Raises:
            Late: the time is up.
            BaseException: what the call raises.
        """
        job = _Job(call)
        self._last = job  # type: ignore[assignment]
        self._jobs.put(job)  # type: ignore[arg-type]
        end = None if seconds is None else time.monotonic() + seconds
        try:
            while not job.done.wait(_LOOK_EVERY if end is None else max(0.0, min(_LOOK_EVERY, end - time.monotonic()))):
                if end is not None and time.monotonic() >= end:
                    raise Late
                self._watch()
        finally:
            job.wanted = False
        if job.error is not None:
            raise job.error
        return job.answer  # type: ignore[return-value]

    def _think(self) -> None:
        while True:
            self._jobs.get().run()
