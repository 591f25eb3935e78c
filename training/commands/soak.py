"""`prial soak`: random rounds of every rule set, with what must always hold checked."""

from __future__ import annotations

import time
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
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, metavar="N", help="Rounds of each rule set, at many tables at once.")
    ] = 1_000_000,
    deep: Annotated[
        int,
        typer.Option(
            "--deep", min=0, metavar="N", help="Rounds of each rule set at single tables, every step looked at (slow)."
        ),
    ] = 20_000,
    seed: SeedOption = 1,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, metavar="N", help="Processes; one a core if not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play random rounds and check what must always hold; end with 1 and the rules and seed at the first fault.

    At many tables at once, rounds are scored again in a second way; at single tables every step is looked at: legality,
    what each seat may know, events, replay. A rule set is played with every number of players it is for, every way to call
    and to finish, and options that tables play. The same seed plays the same rounds with any number of processes.
    """
    from ...envs.crash.presets import preset_names
    from ..arena import default_jobs
    from ..soak import SoakResult, run_soak, soak_rules
    from ..soak_tables import soak_tables

    for name in names or ():
        if name not in preset_names():
            raise CommandError(f"{name!r} is no rule set that ships: there are {', '.join(preset_names())}")
    found: dict[str, dict[str, object]] = {}
    for name in dict.fromkeys(names or preset_names()):
        rules = soak_rules(name)
        start = time.perf_counter()
        with progress_bar(f"Playing {name}") as progress:
            counts = soak_tables(
                rules,
                rounds=rounds,
                seed=seed,
                jobs=jobs or default_jobs(),
                progress=lambda done, report=progress: report(done, rounds),  # type: ignore[misc]
            )
        many = SoakResult(
            rounds=counts["round"],
            games=counts["game"],
            seconds=time.perf_counter() - start,
            counts={what: counts[what] for what in sorted(counts) if what not in ("round", "game")},
        )
        found[name] = _as_dict(many)
        if not as_json:
            _show(f"{name}, many tables at once", many)
        if deep:
            with progress_bar(f"Looking at {name}") as progress:
                single = run_soak(rounds=deep, seed=seed, jobs=jobs, rules=rules, progress=progress)
            found[name]["deep"] = _as_dict(single)
            if not as_json:
                _show(f"{name}, step by step", single)
    if as_json:
        show_json(found, indent=2)


def _show(what: str, result: SoakResult) -> None:
    console = output()
    console.print(
        f"{what}: {result.rounds:,} rounds, {result.games:,} games, no fault, in {result.seconds:,.0f} s.",
        soft_wrap=True,
    )
    seen = ", ".join(f"{thing} {count:,}" for thing, count in result.counts.items())
    console.print(f"  Seen: {seen}", soft_wrap=True)


def _as_dict(result: SoakResult) -> dict[str, object]:
    return {"rounds": result.rounds, "games": result.games, "seconds": result.seconds, "seen": result.counts}
