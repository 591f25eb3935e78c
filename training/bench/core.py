"""What every section of `prial bench` shares: figures of several repeats, targets, curves, and the machine.

A figure is the median of several repeats, with the slowest and the fastest of them: with seven repeats that range holds the
true median 98 times in 100, whatever the spread. What is compared is measured by turns, so that a busy moment hits both;
ratios are taken repeat by repeat.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, TypeAlias

from ...envs.threads import default_threads

__all__ = [
    "BenchResult",
    "Curve",
    "Figure",
    "Machine",
    "Plan",
    "Point",
    "Run",
    "Section",
    "by_turns",
    "figure",
    "point",
    "ratios",
    "seconds_of",
    "this_machine",
]

Run: TypeAlias = Callable[[int], int]
"""Does about so many steps of some work, and returns how many units of it that were."""

_LIBRARIES = ("prial", "numpy", "numba", "pettingzoo", "gymnasium", "jax", "pgx", "open_spiel", "rlcard")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What was asked for.

    Attributes:
        seed: of deals and play.
        repeats: how often each thing is measured.
        quick: a small version, to see that it runs; its figures mean little.
        threads: how many at most where more than one core is used.
    """

    seed: int = 1
    repeats: int = 7
    quick: bool = False
    threads: int = field(default_factory=default_threads)

    @property
    def seconds(self) -> float:
        """How long one repeat lasts, about."""
        return 0.002 if self.quick else 0.25

    def of(self, amount: int) -> int:
        """Return an amount of work, a hundredth of it if quick."""
        return max(10, amount // 100) if self.quick else amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measurement.

    Attributes:
        name, unit: what it is.
        median: of several repeats.
        low, high: the slowest and the fastest repeat; None where a repeat is itself a median.
        target: what the median has to reach, if anything.
        at_most: whether it may not exceed the target instead.
    """

    name: str
    unit: str
    median: float
    low: float | None = None
    high: float | None = None
    target: float | None = None
    at_most: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the median reaches its target; None without one.

        >>> Figure(name="help", unit="s", median=0.4, target=1.0, at_most=True).met
        True
        """
        if self.target is None:
            return None
        return self.median <= self.target if self.at_most else self.median >= self.target

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "met": self.met}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A figure at one place of a curve."""

    at: int
    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """How a figure grows.

    Attributes:
        name: what is measured.
        axis: what grows, such as ``tables``.
        unit: of the points.
        points: by what grows.
    """

    name: str
    axis: str
    unit: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The figures and curves of one section, and notes such as what was left out and why."""

    name: str
    title: str
    figures: tuple[Figure, ...] = ()
    curves: tuple[Curve, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "name": self.name,
            "title": self.title,
            "figures": [each.to_dict() for each in self.figures],
            "curves": [asdict(curve) for curve in self.curves],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where and when it ran.

    Attributes:
        cpu: name of the processor.
        cores: how many may be used.
        system: operating system and architecture.
        python: version.
        libraries: versions of those that are installed.
        date: of the run, UTC.
        load: mean number of busy processes in the minute before, None where the system does not say.
    """

    cpu: str
    cores: int
    system: str
    python: str
    libraries: dict[str, str]
    date: str
    load: float | None

    @property
    def is_busy(self) -> bool:
        """Whether other programs kept the machine busy, so that the figures may be too low."""
        return self.load is not None and self.load > 0.25 * self.cores

    def describe(self) -> str:
        """Return all of it in a line."""
        versions = ", ".join(f"{name} {version}" for name, version in self.libraries.items())
        load = "" if self.load is None else f"; load {self.load:.2f} before the run"
        cores = "1 core" if self.cores == 1 else f"{self.cores} cores"
        return f"{self.cpu}, {cores}, {self.system}, Python {self.python}; {versions}; {self.date}{load}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchResult:
    """All sections of one run."""

    sections: tuple[Section, ...]
    machine: Machine
    plan: Plan

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "machine": {**asdict(self.machine), "busy": self.machine.is_busy},
            "plan": asdict(self.plan),
            "sections": [section.to_dict() for section in self.sections],
        }


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        if names:
            return names[0]
    return platform.processor() or platform.machine()


def this_machine() -> Machine:
    """Return where this runs, and how busy it is.

    >>> this_machine().cores >= 1
    True
    """
    libraries = {}
    for name in _LIBRARIES:
        try:
            libraries[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return Machine(
        cpu=_cpu_name(),
        cores=default_threads(),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        libraries=libraries,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        load=round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    )


def seconds_of(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def figure(name: str, unit: str, values: Sequence[float], *, target: float | None = None) -> Figure:
    """Return the figure of several repeats.

    >>> figure("deals", "a second", [3.0, 1.0, 2.0]).median
    2.0
    """
    return Figure(
        name=name, unit=unit, median=statistics.median(values), low=min(values), high=max(values), target=target
    )


def point(at: int, values: Sequence[float]) -> Point:
    """Return the point of a curve that several repeats make."""
    return Point(at=at, median=statistics.median(values), low=min(values), high=max(values))


def _steps_for(run: Run, seconds: float) -> int:
    """How many steps take about so long; they are run, so that what is compiled or filled on first use is."""
    run(1)
    steps = 1
    while (spent := seconds_of(partial(run, steps))) < seconds / 4:
        steps *= 4 if spent < seconds / 40 else 2
    return max(1, round(steps * seconds / spent))


def by_turns(plan: Plan, *runs: Run) -> list[list[float]]:
    """Measure several things by turns, `plan.repeats` times each.

    Returns:
        for each, the units a second of every repeat.
    """
    steps = [_steps_for(run, plan.seconds) for run in runs]
    rates: list[list[float]] = [[] for _ in runs]
    for _ in range(plan.repeats):
        for run, count, found in zip(runs, steps, rates, strict=True):
            start = time.perf_counter()
            units = run(count)
            found.append(units / (time.perf_counter() - start))
    return rates


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Return one over the other, repeat by repeat.

    >>> ratios([6.0, 8.0], [2.0, 4.0])
    [3.0, 2.0]
    """
    return [one / other for one, other in zip(ours, theirs, strict=True)]
