"""`prial soak`: random rounds of every rule set, with what must always hold checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..console import CommandError, output, progress_bar, show_json
from .options import JsonOption, SeedOption

if TYPE_CHECKING:
    from ..soak import SoakResult

__all__ = ["soak"]


def soak(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RULES]...", help="Rule sets; all that ship if not given.", show_default=False),
    ] = None,
    *,
    rounds: Annotated[int, typer.Option("--rounds", min=1, metavar="N", help="Rounds of each rule set.")] = 1_000_000,
    seed: SeedOption = 1,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, metavar="N", help="Processes; one a core if not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play random rounds and check what must always hold; end with 1 and the rules and seed at the first fault.

    A rule set is played with every number of players it is for, every way to call and to finish, and options that tables
    play. The same seed plays the same rounds with any number of processes.
    """
    from ...envs.crash.presets import preset_names
    from ..soak import run_soak, soak_rules

    for name in names or ():
        if name not in preset_names():
            raise CommandError(f"{name!r} is no rule set that ships: there are {', '.join(preset_names())}")
    results: dict[str, SoakResult] = {}
    for name in dict.fromkeys(names or preset_names()):
        with progress_bar(f"Playing {name}") as progress:
            results[name] = run_soak(rounds=rounds, seed=seed, jobs=jobs, rules=soak_rules(name), progress=progress)
        if not as_json:
            _show(name, results[name])
    if as_json:
        show_json({name: _as_dict(result) for name, result in results.items()}, indent=2)


def _show(name: str, result: SoakResult) -> None:
    console = output()
    console.print(f"{name}: {result.rounds:,} rounds, {result.games:,} games, no fault, in {result.seconds:,.0f} s.")
    console.print("  Seen: " + ", ".join(f"{what} {count:,}" for what, count in result.counts.items()))


def _as_dict(result: SoakResult) -> dict[str, object]:
    return {"rounds": result.rounds, "games": result.games, "seconds": result.seconds, "seen": result.counts}
