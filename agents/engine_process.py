"""A foreign engine's process: started, spoken to with deadlines, and ended with all that it started.

Nothing here waits for ever, and nothing that an engine does (or does not) fills memory.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

from .engine_protocol import MAX_LINE, ProtocolError, ascii_line, quoted, read_line

__all__ = ["EngineFailure", "EngineProcess"]

_MOST_LINES, _MOST_BYTES = 5_000, 1 << 20  # of one answer
_CHUNK, _WAITING = 1 << 14, 64  # bytes read at once, and how many such pieces wait to be looked at
_GRACE = 0.5  # seconds to end after `quit`
_POSIX = os.name == "posix"

# Ends an engine and what it started when whoever holds the other end of its input has ended, however that came.
_WATCHDOG = "import os, sys; sys.stdin.buffer.read(); os.killpg(int(sys.argv[1]), 9)"


class EngineFailure(RuntimeError):  # noqa: N818 (an outcome that arenas count)
    """An engine that did not answer as it should.

    Attributes:
        cause: `late`, `died`, `flooded`, `illegal`, `refused` or `given up`, as `docs/engine-protocol.md` explains them.
    """

    def __init__(self, cause: str, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause


class EngineProcess:
    """One running engine.

    Args:
        words: the program and its arguments.

    Raises:
        OSError: it cannot be started.

    >>> parrot = EngineProcess([sys.executable, "-c", "print('ok', input())"])
    >>> parrot.send(["ping 7"], seconds=60)
    >>> parrot.final("ping")
    ['ok', 'ping', '7']
    >>> parrot.close()
    """

    def __init__(self, words: Sequence[str]) -> None:
        # In a group of its own: ended with its children, and not by Ctrl-C, which is ours to answer.
        group: dict[str, Any] = {"process_group": 0} if _POSIX else {}
        process = subprocess.Popen(  # noqa: S603 (the user names the program)
            list(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **group
        )
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._stdin = process, process.stdin
        self._chunks: queue.Queue[bytes] = queue.Queue(_WAITING)
        self._rest, self._stray, self._lines, self._bytes = b"", "", 0, 0
        self._seconds = self._until = 0.0
        over = threading.Event()
        reader = threading.Thread(
            target=_read, args=(process.stdout, self._chunks, over), name="engine's reader", daemon=True
        )
        reader.start()
        self._end = weakref.finalize(self, _end, process, _watchdog(process.pid), reader, over)

    def send(self, commands: Sequence[str], *, seconds: float) -> None:
        """Send lines at once, each a command; the time for their answers starts.

        Raises:
            EngineFailure: it has died.
        """
        self._stray, self._lines, self._bytes = "", 0, 0
        self._seconds, self._until = seconds, time.monotonic() + seconds
        try:
            self._stdin.write("".join(f"{command}\n" for command in commands).encode("ascii"))
        except OSError:
            raise self._dead() from None

    def final(self, command: str) -> list[str]:
        """Return the words of the final line of a command's answer; info, options and stray text are passed over.

        Raises:
            EngineFailure: it was late, died or flooded.
        """
        while True:
            line = self._line()
            try:
                words = read_line(line).split()
            except ProtocolError as error:
                self._stray = str(error)
                continue
            head = words[0].lower() if words else ""
            second = words[1].lower() if len(words) > 1 else ""
            if head == "error" or (head == "ok" and second == command) or (head == "decision" and command == "decide"):
                return words
            if head not in ("", "info", "option"):
                self._stray = f"it wrote {quoted(ascii_line(' '.join(words)))}"

    def close(self) -> None:
        """Let it end, end it if it does not, and all that it started."""
        self._end()

    def _line(self) -> bytes:
        while b"\n" not in self._rest:
            if len(self._rest) > 8 * MAX_LINE or self._bytes > _MOST_BYTES:
                raise EngineFailure("flooded", f"more than {self._bytes:,} bytes and no answer among them")
            try:
                chunk = self._chunks.get(timeout=max(0.0, self._until - time.monotonic()))
            except queue.Empty:
                instead = f"; {self._stray}" if self._stray else ""
                raise EngineFailure("late", f"no answer within {self._seconds:g} s{instead}") from None
            if not chunk:
                raise self._dead()
            self._bytes += len(chunk)
            self._rest += chunk
        if self._lines >= _MOST_LINES:
            raise EngineFailure("flooded", f"more than {self._lines:,} lines and no answer among them")
        self._lines += 1
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _dead(self) -> EngineFailure:
        """Say how it ended."""
        try:
            status = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return EngineFailure("died", "it closed its output")
        how = f"by signal {-status}" if status < 0 else f"with exit status {status}"
        return EngineFailure("died", f"it ended {how}")


def _watchdog(group: int) -> subprocess.Popen[bytes] | None:
    if not _POSIX:
        return None
    program = [sys.executable, "-I", "-S", "-c", _WATCHDOG, str(group)]
    nothing = subprocess.DEVNULL
    return subprocess.Popen(  # noqa: S603 (our own program)
        program, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, start_new_session=True
    )


def _read(stream: IO[bytes], chunks: queue.Queue[bytes], over: threading.Event) -> None:
    """Hand on what an engine writes, an empty piece at its end; wait while nobody looks at it."""
    while not over.is_set():
        try:
            chunk = stream.read(_CHUNK) or b""
        except (OSError, ValueError):
            chunk = b""
        while not over.is_set():
            with suppress(queue.Full):
                chunks.put(chunk, timeout=0.1)
                break
        if not chunk:
            return


def _end(
    process: subprocess.Popen[bytes],
    watchdog: subprocess.Popen[bytes] | None,
    reader: threading.Thread,
    over: threading.Event,
) -> None:
    over.set()
    if process.stdin is not None:
        with suppress(OSError, ValueError):
            process.stdin.write(b"quit\n")
        with suppress(OSError, ValueError):
            process.stdin.close()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
    if _POSIX:  # what it started as well
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if watchdog is not None:
        watchdog.kill()
        watchdog.wait()
        if watchdog.stdin is not None:
            watchdog.stdin.close()
    reader.join(_GRACE)
    if process.stdout is not None:
        with suppress(OSError, ValueError):
            process.stdout.close()
