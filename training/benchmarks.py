"""`make bench`: how fast things are, and the search against its yardstick, in one run on one core.

The yardstick is a plain scan in numba of the 200,200 partitions into four hands, in the order of the canonical index
(`_kernels_scan.py`): every one is looked up, the undominated are kept, and it does not change. Both find the same, and run
on random 13-card deals with `lowest_hand = pair` and without quads, by turns, several times; the figures are medians. A
scan that looks at arrangements of four hands alone does less than the search; it is named beside it.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..envs.brag import strength_table
from ..envs.crash.game import Game, Phase
from ..envs.crash.partitions import partition_table, undominated, undominated_many
from ..envs.crash.rules import CrashRules
from ..envs.deals import DealStream
from .console import never_fail_to_encode, output, show_json

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["BenchmarkResult", "Figure", "main", "run_benchmarks", "scan_values", "search_values", "show"]

TARGET_RATIO = 50.0
"""How many times faster than the scan the search has to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measurement: the median of several repeats, and the fastest and slowest of them."""

    name: str
    unit: str
    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkResult:
    """All figures of one run.

    Attributes:
        ratio: the scan's time over the search's, the median over repeats that ran one behind the other.
        target: what the ratio has to be.
        figures: everything measured.
        machine: where.
        seed, repeats: what was asked for.
    """

    ratio: float
    target: float
    figures: tuple[Figure, ...]
    machine: str
    seed: int
    repeats: int

    @property
    def met(self) -> bool:
        """Whether the search is as fast as it has to be."""
        return self.ratio >= self.target

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return {**asdict(self), "figures": [asdict(figure) for figure in self.figures], "met": self.met}


def random_deals(seed: int, count: int, *, cards_dealt: int = 13) -> npt.NDArray[np.int8]:
    """Return deals of one hand each: ascending ids, int8 (count, cards_dealt)."""
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
    from ._kernels_scan import scan_all

    rules = _scan_rules()
    strengths = strength_table(rules.flush_order, rules.lowest_class)
    offsets, values = scan_all(deals, _four_hand_table(), strengths)
    rows = values.tolist()
    return [set(map(tuple, rows[start:stop])) for start, stop in pairwise(offsets.tolist())]


def search_values(deals: npt.NDArray[np.int8]) -> list[set[tuple[int, ...]]]:
    """Return the same by the search."""
    found = undominated_many(deals, _scan_rules())
    return [set(map(tuple, found[deal].strengths.tolist())) for deal in range(len(found))]


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _figure(name: str, unit: str, values: Sequence[float]) -> Figure:
    return Figure(name=name, unit=unit, median=statistics.median(values), low=min(values), high=max(values))


def _against_the_scan(seed: int, repeats: int, *, scans: int, searches: int) -> tuple[float, list[Figure]]:
    from ._kernels_scan import scan_all, scan_four_only

    rules, table = _scan_rules(), _four_hand_table()
    strengths = strength_table(rules.flush_order, rules.lowest_class)
    deals = random_deals(seed, searches)
    few = deals[:scans]
    if scan_values(few) != search_values(few):
        raise RuntimeError("the scan and the search disagree; the figures would mean nothing")
    undominated_many(deals[:1], CrashRules.preset("online"))
    scan_four_only(few[:1], table, strengths)
    scan, short, search, counted = [], [], [], []
    for _ in range(repeats):
        scan.append(_seconds(lambda: scan_all(few, table, strengths)) / scans * 1e6)
        short.append(_seconds(lambda: scan_four_only(few, table, strengths)) / scans * 1e6)
        search.append(_seconds(lambda: undominated_many(deals, rules)) / searches * 1e6)
        counted.append(_seconds(lambda: undominated_many(deals, CrashRules.preset("online"))) / searches * 1e6)
    ratios = [slow / fast for slow, fast in zip(scan, search, strict=True)]
    return statistics.median(ratios), [
        _figure("plain scan of 200,200 partitions", "us a deal", scan),
        _figure("search", "us a deal", search),
        _figure("scan over search", "times", ratios),
        _figure("scan of four hands only", "us a deal", short),
        _figure("that scan over search", "times", [slow / fast for slow, fast in zip(short, search, strict=True)]),
        _figure("search, quads counted", "us a deal", counted),
    ]


def _single_deals(seed: int, repeats: int, count: int) -> Figure:
    deals = [tuple(deal) for deal in random_deals(seed + 1, count).tolist()]
    rules = CrashRules.preset("online")

    def work() -> None:
        for deal in deals:
            undominated(deal, rules)

    return _figure("search, one deal a call", "us a deal", [_seconds(work) / count * 1e6 for _ in range(repeats)])


def _deals(seed: int, repeats: int, count: int) -> Figure:
    values = [count / _seconds(lambda: random_deals(seed + 2, count)) for _ in range(repeats)]
    return _figure("deals of 13 cards", "a second", values)


def _play(seed: int, steps: int) -> None:
    """Random undominated play of `online`, for so many decisions."""
    rng = np.random.default_rng(seed)
    rules = CrashRules.preset("online")
    game = Game(rules, seed=seed)
    for step in range(steps):
        seat = game.pending[0]
        if game.phase is Phase.ARRANGE:
            partitions = game.undominated(seat).partitions
            game.step(int(partitions[rng.integers(len(partitions))]), seat)
        if game.is_over:
            game = Game(rules, seed=seed, table=step)


def _play_candidates(seed: int, steps: int) -> None:
    """The same through the AEC environment and `CandidateActions`, masks and observations built at every step."""
    from ..envs import crash_v0
    from ..envs.crash.wrappers import AECCandidateActions

    rng = np.random.default_rng(seed)
    env = AECCandidateActions(crash_v0.raw_env("online"))
    env.reset(seed=seed)
    for _ in range(steps):
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.reset()
            continue
        assert observation is not None
        allowed = np.flatnonzero(observation["action_mask"])
        env.step(int(rng.choice(allowed)))


def _play_raw(seed: int, steps: int) -> None:
    """The same through the AEC environment with its mask of all partitions."""
    from ..envs import crash_v0

    rng = np.random.default_rng(seed)
    env = crash_v0.raw_env("online")
    env.reset(seed=seed)
    for _ in range(steps):
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.reset()
            continue
        assert observation is not None
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))


def _steps(name: str, play: Callable[[int, int], None], seed: int, repeats: int, steps: int) -> Figure:
    play(seed, 10)
    values = [steps / _seconds(lambda: play(seed, steps)) for _ in range(repeats)]
    return _figure(name, "steps a second", values)


def run_benchmarks(
    *, seed: int = 1, repeats: int = 7, quick: bool = False, progress: Callable[[int, int], None] | None = None
) -> BenchmarkResult:
    """Measure everything, on one core.

    Args:
        seed: of deals and play.
        repeats: how often each thing is measured.
        quick: a hundredth of the work, to see that it runs; the figures mean little.
        progress: called with what is done and what there is.

    Raises:
        RuntimeError: the scan and the search disagree.
    """
    size = 0.01 if quick else 1.0

    def of(amount: int) -> int:
        return max(10, int(size * amount))

    parts: list[Callable[[], Figure]] = [
        lambda: _single_deals(seed, repeats, of(2_000)),
        lambda: _deals(seed, repeats, of(2_000)),
        lambda: _steps("Game, random undominated play", _play, seed, repeats, of(3_000)),
        lambda: _steps("CandidateActions", _play_candidates, seed, repeats, of(1_500)),
        lambda: _steps("raw_env, full masks", _play_raw, seed, repeats, of(500)),
    ]
    total = len(parts) + 1
    ratio, figures = _against_the_scan(seed, repeats, scans=of(300), searches=of(10_000))
    for done, part in enumerate(parts, start=1):
        if progress is not None:
            progress(done, total)
        figures.append(part())
    if progress is not None:
        progress(total, total)
    return BenchmarkResult(
        ratio=ratio,
        target=TARGET_RATIO,
        figures=tuple(figures),
        machine=f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}",
        seed=seed,
        repeats=repeats,
    )


def show(result: BenchmarkResult, console: Console) -> None:
    """Print the figures as a table."""
    from rich.table import Table

    table = Table(title=f"One core, {result.machine}; medians of {result.repeats}")
    table.add_column("what")
    table.add_column("median", justify="right")
    table.add_column("range", justify="right")
    table.add_column("unit")
    for figure in result.figures:
        low, high = f"{figure.low:,.1f}", f"{figure.high:,.1f}"
        table.add_row(figure.name, f"{figure.median:,.1f}", f"{low} to {high}", figure.unit)
    console.print(table)
    verdict = "met" if result.met else "missed"
    console.print(
        f"The search is {result.ratio:.0f} times as fast as the scan; {verdict}: at least {result.target:.0f}."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark from the command line; return 1 if the search is slower than it has to be."""
    parser = argparse.ArgumentParser(prog="python -m prial.training.benchmarks", description=main.__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the work; the figures mean little")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(arguments)
    never_fail_to_encode()
    result = run_benchmarks(seed=options.seed, repeats=options.repeats, quick=options.quick)
    if options.json:
        show_json(result.to_dict(), indent=2)
    else:
        show(result, output())
    return 0 if result.met or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
