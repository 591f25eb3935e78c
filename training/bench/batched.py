"""Sections `batched` and `growth`: random play of `CrashVectorEnv`.

*Hand by hand*, a decision is one three-card hand (or the end of laying), drawn evenly from everything that may be laid:
`play_random` plays on in compiled code, as users of compiled peers do; *step by step*, every draw is handed to Python and
back (``pick(sample_picks(rng))``), the same decisions. With *candidates*, a decision is a whole arrangement, drawn from the
seat's undominated set, which is searched for every decision. Drawing counts as play: its time is in the figures. Finished
games start anew in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...envs.crash.rules import CrashRules
from ...envs.crash.tables import bytes_per_table
from ...envs.crash.vector import CrashVectorEnv
from .core import Curve, Plan, Run, Section, by_turns, figure, point

__all__ = ["by_candidates", "by_hand", "measure_batched", "measure_growth", "step_by_step", "vector_run"]

TARGET_BY_HAND = 1_000_000.0
"""Decisions a second, hand by hand, on two cores."""
TARGET_CANDIDATES = 100_000.0
"""Decisions a second with candidates, on two cores."""

TABLES = 16_384
_SIZES = tuple(4**power for power in range(9))  # 1 to 65,536
_UNIT = "decisions a second"

Play = Callable[[CrashVectorEnv, np.random.Generator, int], int]


def by_hand(env: CrashVectorEnv, rng: np.random.Generator, steps: int) -> int:
    """Make so many random picks at every table in compiled code; return how many that were."""
    env.play_random(steps, rng)
    return steps * env.num_envs


def step_by_step(env: CrashVectorEnv, rng: np.random.Generator, steps: int) -> int:
    """Make so many random picks at every table, each drawn and made from Python; return how many that were."""
    for _ in range(steps):
        env.pick(env.sample_picks(rng))
    return steps * env.num_envs


def by_candidates(env: CrashVectorEnv, rng: np.random.Generator, steps: int) -> int:
    """Play so many random undominated decisions at every table; return how many that were."""
    for _ in range(steps):
        env.step(env.sample(rng))
    return steps * env.num_envs


_MODES: tuple[tuple[str, Play], ...] = (("hand by hand", by_hand), ("candidates", by_candidates))


def vector_run(play: Play, num_envs: int, rules: CrashRules, *, seed: int, threads: int) -> Run:
    """Return random play of so many tables.

    >>> vector_run(by_hand, 8, CrashRules.preset("online"), seed=1, threads=1)(3)
    24
    """
    env = CrashVectorEnv(num_envs, rules, seed=seed, threads=threads)
    rng = np.random.default_rng(seed)
    return lambda steps: play(env, rng, steps)


def measure_batched(plan: Plan) -> Section:
    """Measure both ways to play, on all cores and on one, by turns."""
    rules, tables = CrashRules.preset("online"), plan.of(TABLES)
    cases: list[tuple[str, Play, int, float | None]] = [
        (f"hand by hand, {_cores(plan.threads)}", by_hand, plan.threads, TARGET_BY_HAND),
        (f"hand by hand, step by step, {_cores(plan.threads)}", step_by_step, plan.threads, None),
        (f"candidates, {_cores(plan.threads)}", by_candidates, plan.threads, TARGET_CANDIDATES),
    ]
    if plan.threads > 1:
        cases += [("hand by hand, one core", by_hand, 1, None), ("candidates, one core", by_candidates, 1, None)]
    runs = [vector_run(play, tables, rules, seed=plan.seed, threads=threads) for _, play, threads, _ in cases]
    figures = [
        figure(name, _UNIT, values, target=target)
        for (name, _, _, target), values in zip(cases, by_turns(plan, *runs), strict=True)
    ]
    return Section(
        name="batched", title=f"CrashVectorEnv, {tables:,} tables of online, random play", figures=tuple(figures)
    )


def _cores(threads: int) -> str:
    return {1: "one core", 2: "both cores"}.get(threads, f"{threads} cores")


def _axes(plan: Plan) -> Iterator[tuple[str, str, list[tuple[int, int, CrashRules]]]]:
    """What grows: axis, what else holds, and (at, tables, rules) of every point."""

    def rules(**options: Any) -> CrashRules:
        return CrashRules.preset("bga", exchange="none", **options)

    tables, online = plan.of(TABLES), CrashRules.preset("online")
    sizes = (1, 16, 256) if plan.quick else _SIZES
    yield "tables", "online", [(size, size, online) for size in sizes]
    yield (
        "players",
        "bga without exchange, 9 cards",
        [(n, tables, rules(players=n, cards_dealt=9)) for n in (2, 3, 4, 5)],
    )
    yield (
        "cards dealt",
        "bga without exchange, 3 players",
        [(n, tables, rules(players=3, cards_dealt=n)) for n in (6, 7, 9, 10, 13)],
    )


def measure_growth(plan: Plan) -> Section:
    """Measure both ways to play against tables, players and cards dealt, on all cores; bytes a table beside them."""
    curves: list[Curve] = []
    for axis, held, places in _axes(plan):
        for mode, play in _MODES:
            points = []
            for at, tables, rules in places:
                run = vector_run(play, tables, rules, seed=plan.seed, threads=plan.threads)
                (values,) = by_turns(plan, run)
                points.append(point(at, values))
            curves.append(Curve(name=f"{mode} ({held})", axis=axis, unit=_UNIT, points=tuple(points)))
        if axis != "tables":
            sizes = [(at, float(bytes_per_table(rules))) for at, _, rules in places]
            memory = tuple(point(at, [size]) for at, size in sizes)
            curves.append(Curve(name=f"memory ({held})", axis=axis, unit="bytes a table", points=memory))
    size = bytes_per_table(CrashRules.preset("online"))
    notes = (f"The state of one table of online takes {size:,} bytes, however many tables there are.",)
    title = f"Growth of CrashVectorEnv, random play on {_cores(plan.threads)}"
    return Section(name="growth", title=title, curves=tuple(curves), notes=notes)
