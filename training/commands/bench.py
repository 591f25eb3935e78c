"""`prial bench`: how fast things are on this machine, ours and others'."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..console import CommandError, output, progress_bar, require_extra, show_json
from .options import JsonOption, SeedOption

__all__ = ["bench"]


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SECTION]...",
            help="search, batched, growth, single, peers or startup; all if not given.",
            show_default=False,
        ),
    ] = None,
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version, to see that it runs; the figures mean little.")
    ] = False,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, metavar="N", help="How often each thing is measured.")
    ] = 7,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, metavar="N", help="Threads at most; one a core if not given.")
    ] = None,
    seed: SeedOption = 1,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the curves of growth into a PNG file.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--markdown", metavar="PAGE", help="Put the figures into a Markdown page, such as docs/benchmarks.md."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how fast things are here: medians of repeats, with the slowest and the fastest.

    What is compared runs by turns. Peers that are not installed are left out: pip install "prial[peers]". Leave the machine
    alone meanwhile; that it was busy is told.
    """
    from ...envs.threads import usable_threads
    from ..bench.core import Plan
    from ..bench.report import growth_picture, has_part, in_page, show
    from ..bench.run import SECTIONS, run_bench
    from ..files import check_target, write_whole

    chosen = tuple(dict.fromkeys(names or SECTIONS))
    for name in chosen:
        if name not in SECTIONS:
            raise CommandError(f"no section {name!r}: there are {', '.join(SECTIONS)}")
    if plot is not None:
        if "growth" not in chosen:
            raise CommandError("--plot draws the section growth, which is not among those asked for")
        require_extra("prial bench --plot", "plot", "matplotlib")
    written = "" if page is None else page.read_text(encoding="utf-8")
    if page is not None and not has_part(written):
        raise CommandError(
            f"{page}: no line <!-- measured: prial bench --> with <!-- end of measured --> behind it, or several"
        )
    check_target(plot)
    check_target(page)
    plan = Plan(seed=seed, repeats=repeats, quick=quick, threads=usable_threads(threads))
    with progress_bar("Measuring") as progress:
        result = run_bench(plan, chosen, progress=progress)
    if plot is not None:
        growth = next(section for section in result.sections if section.name == "growth")
        write_whole(plot, growth_picture(growth))
    if page is not None:
        write_whole(page, in_page(written, result))
    if as_json:
        show_json(result.to_dict(), indent=2)
    else:
        show(result, output())
