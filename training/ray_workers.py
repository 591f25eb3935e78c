"""Numbered pieces of work on a Ray cluster: several machines, or workers of Ray on this one.

`RayWorkers.spread` does the same as `prial.training.workers.spread`, and the pieces come out the same. What is sent is the
plan (names of agents, rules, seed), once to every worker, and numbers; what comes back is what a piece came to. If a worker
dies, another does its piece. Workers that may be on other machines compare what they run with what we run here first.

Ray is imported on first use. It reports no usage, shows no dashboard, and one that is started here (`local`) listens on the
loopback interface alone and wants a token that only this process knows.

>>> [differences({"prial": "0.1.0"}, found) for found in ({"prial": "0.1.0"}, {"prial": "0.0.9"})]
['', 'prial 0.0.9 there, 0.1.0 here']
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from .arena import default_jobs
from .match import ArenaError
from .workers import Work

__all__ = ["ClusterError", "RayWorkers", "differences", "ray_workers"]

Plan = TypeVar("Plan")
State = TypeVar("State")
Piece = TypeVar("Piece")

_TRIES = 4  # of one piece, each on a worker that died
_PATIENCE = 20.0  # seconds that a cluster has to answer
_LOOK_EVERY = 0.2  # seconds between looks whether Ctrl-C was pressed
_STORE = 100 * 2**20  # bytes; pieces and plans are small
_COMPARED = ("numpy", "numba", "onnxruntime")
_PACKAGES = ("prial.envs", "prial.agents", "prial.training", "prial.configs")

# All are read when ray is imported or started; what a user has set stays.
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # else it writes on standard output when a worker dies
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else it warns of a change to come
}
_LOCAL_SETTINGS = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # as on those systems: nothing but the loopback interface, on all
    "RAY_AUTH_MODE": "token",
    "RAY_memory_monitor_refresh_ms": "0",  # else it kills workers where other programs fill the memory
}

_PROBE = """
import json, logging, sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level=logging.CRITICAL)
    said = ""
except Exception as error:
    said = str(error) or type(error).__name__
sys.stdout.write(chr(10) + json.dumps(said))
"""

# What a worker process keeps; filled by its first piece.
_own: dict[str, Any] = {}


class ClusterError(RuntimeError):
    """A Ray cluster that cannot be reached or used."""


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the body is done: if it strikes inside Ray's own code, the process may end with a fault."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: pressed.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed.is_set():
        raise KeyboardInterrupt


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """What all pieces of a call share, small enough to go with each.

    Attributes:
        token: of the call.
        work, make_state: as for `spread`.
        plan: a reference of Ray to the plan, in a tuple so that Ray does not fetch it for every piece.
        folder, path: current folder and module search path of who asks, for agents of modules and files.
        runs: what who asks runs; None where the workers are on the same machine.
    """

    token: str
    work: Work[Any, Any, Any]
    make_state: Callable[[Any], object]
    plan: tuple[Any]
    folder: str
    path: tuple[str, ...]
    runs: Mapping[str, str] | None


def _do(task: _Task, number: int) -> tuple[int, Any]:
    """Do a piece in a worker; return the units it ticked off, and what it came to."""
    units = 0

    def tick(more: int) -> None:
        nonlocal units
        units += more

    if _own.get("token") != task.token:
        _own.clear()
        _own.update(token=task.token, **_prepared(task))
    piece = task.work(_own["plan"], _own["state"], number, tick)
    return units, piece


def _prepared(task: _Task) -> dict[str, Any]:
    import ray

    if task.runs is not None and (apart := differences(task.runs, what_runs())):
        raise ClusterError(f"{socket.gethostname()} runs something else, so figures could differ: {apart}")
    sys.path += [place for place in task.path if place not in sys.path]
    with suppress(OSError):  # another machine may have no such folder; who needs a file there is told
        os.chdir(task.folder)
    plan = ray.get(task.plan[0])
    return {"plan": plan, "state": task.make_state(plan)}


@cache
def what_runs() -> dict[str, str]:
    """Return what decides figures: the code and data of prial, and the libraries that compute."""
    digest = hashlib.sha256()

    def take(entry: Traversable, path: str) -> None:
        if entry.is_dir():
            if entry.name != "__pycache__":
                for inner in sorted(entry.iterdir(), key=lambda one: one.name):
                    take(inner, f"{path}/{inner.name}")
        else:
            digest.update(path.encode() + b"\0" + hashlib.sha256(entry.read_bytes()).digest())

    for package in _PACKAGES:
        take(resources.files(package), package)
    own = f"{metadata.version('prial')} ({digest.hexdigest()[:12]})"
    return {"prial": own, **{name: metadata.version(name) for name in _COMPARED}}


def differences(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """Return in words what differs, nothing if nothing does."""
    return ", ".join(
        f"{name} {there.get(name, 'missing')} there, {version} here"
        for name, version in here.items()
        if there.get(name) != version
    )


class RayWorkers:
    """Workers of a Ray cluster; made by `ray_workers`.

    Attributes:
        deaths: workers that died with a piece, which was then done again.
    """

    def __init__(self, *, elsewhere: bool) -> None:
        self.deaths = 0
        self._elsewhere = elsewhere

    def spread(
        self,
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
            work, plan, pieces, make_state: as for `prial.training.workers.spread`.
            jobs: pieces in work at once, at most.
            progress: called with the units of the pieces that are done.

        Raises:
            ArenaError: workers died of one piece again and again.
            ClusterError: a machine runs another version, or the cluster is gone.
            Exception: the first that a piece raised; the rest is given up.
        """
        import ray
        from ray.exceptions import RayError

        task = _Task(
            token=uuid.uuid4().hex,
            work=work,
            make_state=make_state,
            plan=(ray.put(plan),),
            folder=str(Path.cwd()),
            path=tuple(place for place in sys.path if place),
            runs=what_runs() if self._elsewhere else None,
        )
        # What is retried is decided here, so that it is bounded and counted.
        do = ray.remote(_do).options(num_cpus=1, max_retries=0)
        shared = ray.put(task)
        left = iter(range(pieces))
        again: list[int] = []
        tries: dict[int, int] = {}
        waiting: dict[Any, int] = {}
        units = 0
        # What is in work when this ends early is not cancelled. Ray ends it with the connection; and Ray 2.60, told to
        # cancel by force what is just getting done, ends this process.
        while True:
            with _uninterrupted():
                room = min(jobs, 2 * _workers()) - len(waiting)
                while room > 0 and (number := again.pop() if again else next(left, None)) is not None:
                    waiting[do.remote(shared, number)] = number
                    room -= 1
                if not waiting:
                    return
                done, _ = ray.wait(list(waiting), num_returns=1, timeout=_LOOK_EVERY)
                if not done:
                    continue
                number = waiting.pop(done[0])
                try:
                    more, piece = ray.get(done[0])
                except RayError as error:
                    tries[number] = tries.get(number, 1) + 1
                    self._judge(error, tries[number])
                    again.append(number)
                    continue
            units += more
            progress(units)
            yield number, piece

    def _judge(self, error: Exception, tries: int) -> None:
        """Raise what is to be raised; return if the piece is to be done again."""
        from ray import exceptions

        if isinstance(error, exceptions.RayTaskError) and isinstance(error.cause, Exception):
            raise error.cause from None
        gone = (
            exceptions.WorkerCrashedError,
            exceptions.NodeDiedError,
            exceptions.OutOfMemoryError,
            exceptions.ObjectLostError,
        )
        if isinstance(error, gone):
            self.deaths += 1
            if tries <= _TRIES:
                return
            raise ArenaError(f"{_TRIES} worker processes died of the same piece: killed, or out of memory?") from error
        raise ClusterError(f"Ray: {_first_line(error)}") from error


def _workers() -> int:
    """Return how many pieces the cluster can do at once."""
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).strip().splitlines()[0]


@contextmanager
def ray_workers(address: str, *, jobs: int | None = None) -> Iterator[RayWorkers]:
    """Connect with a Ray cluster while the body runs.

    Args:
        address: ``host:port`` of a cluster's head, where this machine is one of the cluster; ``auto`` for the one that this
            machine is in; ``local`` to start one here, and end it.
        jobs: workers of one that is started here; one a core if None.

    Raises:
        ClusterError: there is none there, or it does not answer.
    """
    local = address == "local"
    for name, value in (_SETTINGS | _LOCAL_SETTINGS if local else _SETTINGS).items():
        os.environ.setdefault(name, value)
    if local:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    else:
        _check(address)
    import ray

    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    with tempfile.TemporaryDirectory(
        prefix="prial-",
        dir=None if os.name == "nt" else "/tmp",  # noqa: S108 (names of sockets are short)
        ignore_cleanup_errors=True,
    ) as folder:
        if local:
            options |= {
                "num_cpus": jobs or default_jobs(),
                "num_gpus": 0,
                "include_dashboard": False,
                "object_store_memory": _STORE,
                "_temp_dir": folder,
                "_node_ip_address": "127.0.0.1",
            }
        try:
            try:
                with _uninterrupted():
                    ray.init(address=address, **options)
            except (RuntimeError, ValueError, ConnectionError, OSError) as error:
                raise ClusterError(f"Ray at {address!r}: {_first_line(error)}") from error
            yield RayWorkers(elsewhere=not local)
        finally:
            with _uninterrupted():
                ray.shutdown()


def _check(address: str) -> None:
    """Refuse a cluster that does not answer in time; Ray itself would try for minutes, and then end the process.

    Raises:
        ClusterError: it does not.
    """
    if address != "auto":
        host, colon, port = address.rpartition(":")
        if not (colon and host and port.isdecimal()) or "//" in host:
            raise ClusterError(f"--ray {address!r}: expected HOST:PORT of the head of a Ray cluster, auto or local")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
        except (OSError, OverflowError) as error:
            raise ClusterError(f"no Ray cluster answers at {address}: {error}") from error
    try:
        done = subprocess.run(  # noqa: S603 (this Python, our text)
            [sys.executable, "-c", _PROBE, address], capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise ClusterError(f"no Ray cluster answers at {address}: nothing for {_PATIENCE:.0f} seconds") from None
    lines = done.stdout.splitlines() or [""]
    try:
        said = json.loads(lines[-1])
    except ValueError:
        said = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
    if said:
        raise ClusterError(f"Ray at {address}: {' '.join(said.split())[:400]}")
