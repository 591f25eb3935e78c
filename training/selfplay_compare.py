"""Update rules of self-play compared: exploitability as a run goes on, last network and average, several seeds each."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import torch

from .exploit import run_exploit
from .selfplay import Learner
from .selfplay_config import SelfPlayConfig, UpdateRule
from .selfplay_watch import agent_of

__all__ = ["ComparePoint", "compare_rules", "curves_picture", "points_table"]

Said = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparePoint:
    """A network on its way.

    Attributes:
        update: the rule.
        seed: of the run.
        batches: learned from so far.
        seconds: of processor time that learning took so far.
        last, average: exploitability in points a round, of the last network and of the average.
        errors: half-widths of their 95 % intervals, last and average.
    """

    update: UpdateRule
    seed: int
    batches: int
    seconds: float
    last: float
    average: float
    errors: tuple[float, float]


def compare_rules(
    config: SelfPlayConfig,
    *,
    seeds: Sequence[int],
    at: Sequence[int],
    deals: int,
    worlds: int,
    exploit_seed: int,
    updates: Sequence[UpdateRule] = get_args(UpdateRule),
    progress: Said | None = None,
) -> list[ComparePoint]:
    """Train by each rule from each seed, and measure on the way; the same configuration otherwise.

    Args:
        config: of the runs; its first number of players is measured.
        seeds: of the runs.
        at: batches after which networks are measured, ascending; the last one ends a run.
        deals, worlds, exploit_seed: of the exploitability, the same rounds for every network.
        updates: which rules.
        progress: told what has been measured.

    >>> config = SelfPlayConfig(tables=8, width=8, hats=3, objective="points")
    >>> points = compare_rules(config, seeds=[1], at=[1, 2], deals=16, worlds=48, exploit_seed=5, updates=["q"])
    >>> [(point.update, point.batches) for point in points]
    [('q', 1), ('q', 2)]
    """
    found = []
    rules = config.made_rules()
    torch.set_num_threads(config.threads)
    for seed in seeds:
        for update in updates:
            own = config.model_copy(update={"update": update, "seed": seed, "iterations": max(at)})
            learner = Learner(own)
            seconds = 0.0
            for batch in range(max(at)):
                began = time.process_time()
                learner.step(batch)
                seconds += time.process_time() - began
                if batch + 1 in at:
                    gains = [
                        run_exploit(
                            agent_of(net.state_dict(), rules),
                            rules[0],
                            deals=deals,
                            measures=["points"],
                            worlds=worlds,
                            seed=exploit_seed,
                        )
                        .measured["points"]
                        .gain
                        for net in (learner.net, learner.average)
                    ]
                    last, average = gains
                    found.append(
                        ComparePoint(
                            update=update,
                            seed=seed,
                            batches=batch + 1,
                            seconds=seconds,
                            last=last.value,
                            average=average.value,
                            errors=(last.half_width, average.half_width),
                        )
                    )
                    if progress is not None:
                        progress(
                            f"{update}, seed {seed}, batch {batch + 1}: {last.value:.4f}, average {average.value:.4f}"
                        )
    return found


def _by_rule(points: Sequence[ComparePoint]) -> dict[tuple[UpdateRule, int], list[ComparePoint]]:
    """Points of all seeds by rule and batches, in the order met."""
    found: dict[tuple[UpdateRule, int], list[ComparePoint]] = {}
    for point in sorted(points, key=lambda point: (get_args(UpdateRule).index(point.update), point.batches)):
        found.setdefault((point.update, point.batches), []).append(point)
    return found


def points_table(points: Sequence[ComparePoint]) -> str:
    """Return the means over seeds as a Markdown table, with the lowest and highest seed.

    >>> one = ComparePoint(update="q", seed=1, batches=50, seconds=2.0, last=0.01, average=0.02, errors=(0.001, 0.001))
    >>> print(points_table([one]).splitlines()[-1])
    | `q` | 50 | 2 | 0.0100 (0.0100 to 0.0100) | 0.0200 (0.0200 to 0.0200) |
    """
    lines = [
        "| rule | batches | processor seconds | last network | average network |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for (update, batches), seeds in _by_rule(points).items():
        cells = []
        for kind in ("last", "average"):
            values = [getattr(point, kind) for point in seeds]
            cells.append(f"{sum(values) / len(values):.4f} ({min(values):.4f} to {max(values):.4f})")
        seconds = sum(point.seconds for point in seeds) / len(seeds)
        lines.append(f"| `{update}` | {batches:,} | {seconds:.0f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def curves_picture(points: Sequence[ComparePoint], *, title: str) -> bytes:
    """Return the curves as a PNG: the mean over seeds, and every seed beside it (extra `plot`)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    both: Any = figure.subplots(1, 2, sharey=True)
    floor = 2e-4
    for axes, kind in zip(both, ("last", "average"), strict=True):
        for number, update in enumerate(get_args(UpdateRule)):
            groups = [seeds for (of, _), seeds in _by_rule(points).items() if of == update]
            if not groups:
                continue
            seconds = [sum(point.seconds for point in seeds) / len(seeds) for seeds in groups]
            means = [sum(getattr(point, kind) for point in seeds) / len(seeds) for seeds in groups]
            axes.plot(seconds, [max(mean, floor) for mean in means], f"C{number}-", label=update, linewidth=1.8)
            for when, seeds in zip(seconds, groups, strict=True):
                values = [max(getattr(point, kind), floor) for point in seeds]
                axes.plot([when] * len(values), values, f"C{number}.", markersize=5, alpha=0.6)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(f"{kind} network", fontsize=10)
        axes.set_xlabel("processor seconds of learning")
        axes.grid(visible=True, which="both", alpha=0.25)
    both[0].set_ylabel("exploitability, points a round")
    both[0].legend(frameon=False, fontsize=9)
    figure.suptitle(title, fontsize=11)
    room = io.BytesIO()
    figure.savefig(room, format="png", dpi=110)
    return room.getvalue()
