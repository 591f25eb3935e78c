"""Section `startup`: how long users wait before anything happens, in processes of their own."""

from __future__ import annotations

from ..startup_times import startup_times
from .core import Figure, Plan, Section

__all__ = ["measure_startup"]

TARGET_HELP, TARGET_IMPORT = 1.0, 0.2
"""Seconds that `prial --help` may take, and that importing `prial.envs` may add to what its libraries take."""


def measure_startup(plan: Plan) -> Section:
    """Measure the command's help, the imports, and the first game with and without compiled kernels."""
    times = startup_times(repeats=1 if plan.quick else max(3, plan.repeats), cold=not plan.quick)
    figures = [
        Figure(name="prial --help", unit="s", median=times.help_s, target=TARGET_HELP, at_most=True),
        Figure(name="import gymnasium, pettingzoo", unit="s", median=times.libraries_s),
        Figure(
            name="import prial.envs, on top of these", unit="s", median=times.envs_s, target=TARGET_IMPORT, at_most=True
        ),
        Figure(name="import prial.envs.crash_v0, on top", unit="s", median=times.environment_s),
        Figure(name="first game of candidates, kernels compiled before", unit="s", median=times.warm_s),
    ]
    if times.cold_s is not None:
        figures.append(Figure(name="first game of candidates, nothing compiled yet", unit="s", median=times.cold_s))
    return Section(name="startup", title="Starting", figures=tuple(figures))
