"""`prial arena`: agents against each other on the same deals."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from ..console import CommandError, output, progress_bar, show_json
from .options import (
    JobsOption,
    JsonOption,
    PlayersOption,
    RayOption,
    RulesOption,
    SeedOption,
    SetOption,
    rules_from,
    workers_from,
)

__all__ = ["arena"]


def arena(
    agents: Annotated[
        list[str],
        typer.Argument(
            metavar="AGENT",
            help="Two or more: a name (see prial agents), the path of an .onnx file, package.module:factory, "
            "or engine:COMMAND.",
            show_default=False,
        ),
    ],
    *,
    rules: RulesOption = "online",
    players: PlayersOption = None,
    settings: SetOption = None,
    games: Annotated[
        int,
        typer.Option("--games", min=1, metavar="N", help="Games, every seating counted; rounded up to whole boards."),
    ] = 2000,
    seed: SeedOption = 1,
    jobs: JobsOption = None,
    ray: RayOption = None,
    records: Annotated[
        Path | None,
        typer.Option(
            "--records",
            metavar="FILE",
            help="Write the record of every game to a file, for prial replay; JSON lines if its name ends in .jsonl.",
        ),
    ] = None,
    luck_adjusted: Annotated[
        bool,
        typer.Option("--luck-adjusted", help="Also give win shares with the luck of the cards taken out."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure agents against each other on the same deals.

    Every board (one stream of deals) is played in every seating, in every rotation for more than three players. With fewer
    agents than seats the missing seats go to the last agent; with more, every combination plays. Each figure comes with its
    95 % interval over boards.
    """
    if len(agents) < 2:
        raise CommandError(
            f"an arena needs two or more agents, got only {agents[0]!r}; for example: {agents[0]} greedy"
        )
    if records is not None and records.is_file():
        raise CommandError(f"--records: there is a {str(records)!r} already; name another file, or move that one away")
    asked = rules_from(rules, players, settings)
    from ..arena import run_arena
    from ..arena_report import as_dict, show

    # An agent that prints does not spoil the output.
    with redirect_stdout(sys.stderr), workers_from(ray, jobs) as workers, progress_bar("Playing") as progress:
        result = run_arena(
            agents,
            rules=asked,
            games=games,
            seed=seed,
            jobs=jobs,
            workers=workers,
            progress=progress,
            records=records,
            luck_adjusted=luck_adjusted,
            count_forfeits=True,
        )
    if as_json:
        show_json(as_dict(result), indent=2)
    else:
        show(result, output())
