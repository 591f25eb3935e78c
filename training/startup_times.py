"""How long users wait before anything happens: the command's help, imports, the first game cold and warm.

Every figure is of processes of their own, one after the other, the median of several.

>>> times = StartupTimes(help_s=0.1, libraries_s=0.3, envs_s=0.01, environment_s=0.1, cold_s=20.0, warm_s=1.0, repeats=5)
>>> sorted(times.to_dict())
['cold_s', 'environment_s', 'envs_s', 'help_s', 'libraries_s', 'repeats', 'warm_s']
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass

__all__ = ["StartupTimes", "startup_times"]

_HELP = "import sys; from prial.training.cli import main; sys.argv[1:] = ['--help']; main()"
_IMPORTS = """
import time
start = time.perf_counter()
import gymnasium, pettingzoo
libraries = time.perf_counter()
import prial.envs
envs = time.perf_counter()
import prial.envs.crash_v0
print(libraries - start, envs - libraries, time.perf_counter() - envs)
"""
_GAME = """
from prial.envs import crash_v0
from prial.envs.crash.wrappers import CandidateActions
env = CandidateActions(crash_v0.raw_env(rules="online"))
env.reset(seed=1)
for agent in env.agent_iter():
    *_, terminated, truncated, _ = env.last()
    env.step(None if terminated or truncated else 0)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartupTimes:
    """Medians, in seconds.

    Attributes:
        help_s: ``prial --help``, from the start of the process to its end.
        libraries_s: ``import gymnasium, pettingzoo``.
        envs_s: what ``import prial.envs`` adds to that.
        environment_s: what ``import prial.envs.crash_v0`` adds to that.
        cold_s: a process that plays a first game of candidates with nothing compiled yet; one alone; None if not taken.
        warm_s: the same with the kernels in the cache.
        repeats: processes of each kind but `cold_s`.
    """

    help_s: float
    libraries_s: float
    envs_s: float
    environment_s: float
    cold_s: float | None
    warm_s: float
    repeats: int

    def to_dict(self) -> dict[str, float | None]:
        """Return the figures by name, for JSON."""
        return asdict(self)


def _run(code: str, **environment: str) -> tuple[float, str]:
    """Return the seconds that a process takes, and what it prints."""
    start = time.perf_counter()
    done = subprocess.run(  # noqa: S603 (our own code)
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return time.perf_counter() - start, done.stdout


def startup_times(*, repeats: int = 5, cold: bool = True) -> StartupTimes:
    """Measure, in processes of their own.

    Args:
        repeats: processes of each kind; the first of each, which warms the disk, comes on top.
        cold: also start once with nothing compiled, in a cache folder made for it; takes as long as compiling does.

    Raises:
        CalledProcessError: a process failed.
    """

    def medians(code: str) -> tuple[float, list[str]]:
        done = [_run(code) for _ in range(repeats + 1)][1:]
        return statistics.median(seconds for seconds, _ in done), [printed for _, printed in done]

    cold_s = None
    if cold:
        with tempfile.TemporaryDirectory() as folder:
            cold_s = _run(_GAME, PRIAL_CACHE_DIR=folder)[0]
    help_s, _ = medians(_HELP)
    _, printed = medians(_IMPORTS)
    libraries_s, envs_s, environment_s = (
        statistics.median(column) for column in zip(*(map(float, line.split()) for line in printed), strict=True)
    )
    warm_s, _ = medians(_GAME)
    return StartupTimes(
        help_s=help_s,
        libraries_s=libraries_s,
        envs_s=envs_s,
        environment_s=environment_s,
        cold_s=cold_s,
        warm_s=warm_s,
        repeats=repeats,
    )
