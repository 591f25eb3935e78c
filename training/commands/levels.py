"""`prial levels`: how strong the levels of the trained agents are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..console import CommandError, output, progress_bar, show_json
from .options import DateOption, JobsOption, JsonOption, SeedOption

__all__ = ["levels"]


def levels(
    *,
    rule_sets: Annotated[
        list[str] | None,
        typer.Option("--rules", metavar="NAME", help="online, bga or traditional, may be repeated; all if not given."),
    ] = None,
    players: Annotated[
        list[int] | None,
        typer.Option("--players", min=2, metavar="N", help="May be repeated; all that a rule set lists if not given."),
    ] = None,
    games: Annotated[int, typer.Option("--games", min=1, metavar="N", help="Games for each figure.")] = 3000,
    seed: SeedOption = 2000,
    jobs: JobsOption = None,
    calibrate: Annotated[
        Path | None,
        typer.Option("--calibrate", metavar="FILE", help="Measure how much each level is to slip, and write it there."),
    ] = None,
    date: DateOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write a page of Markdown.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure the levels of the trained agents (online:easy, ...) against the network itself and against greedy.

    What comes of it is docs/levels.md in the repository. With --calibrate, the amount that each slips is measured instead.
    """
    from datetime import UTC, datetime

    from ..files import check_target, write_whole
    from ..levels import RULE_SETS, calibrated, levels_file, reports
    from ..levels_page import levels_dict, levels_page, levels_table

    for name in rule_sets or ():
        if name not in RULE_SETS:
            raise CommandError(f"--rules {name}: expected {', '.join(RULE_SETS)}")
    check_target(calibrate)
    check_target(out)
    asked = tuple(rule_sets or RULE_SETS)
    given = [*(f"--rules {name}" for name in rule_sets or ()), *(f"--players {number}" for number in players or ())]
    said = [f"--games {games}", f"--seed {seed}"]
    if calibrate is not None:
        if players:
            raise CommandError("--calibrate measures with three players; it does not go with --players")
        with progress_bar("Playing") as progress:
            found = calibrated(asked, games=games, seed=seed, progress=progress)
        command = ["prial levels", *given, f"--calibrate {calibrate.as_posix()}", *said]
        text = levels_file(found, command=" ".join(command))
        write_whole(calibrate, text)
        if as_json:
            show_json(json.loads(text), indent=2)
        return
    with progress_bar("Playing") as progress:
        measured = reports(rule_sets=asked, players=players, games=games, seed=seed, jobs=jobs, progress=progress)
    if as_json:
        show_json([levels_dict(report) for report in measured], indent=2)
    if out is not None:
        command = ["prial levels", *given, *said, f"--out {out.as_posix()}"]
        today = date or datetime.now(tz=UTC).date().isoformat()
        write_whole(out, levels_page(measured, command=" ".join(command), date=today))
    elif not as_json:
        from rich.table import Table

        head, *rows = levels_table(measured)
        table = Table(*head, box=None, pad_edge=False)
        for row in rows:
            table.add_row(*row)
        output().print(table)
