"""`prial standings`: how strong the built-in agents are, everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..console import output, progress_bar, show_json
from .options import DateOption, JobsOption, JsonOption, RayOption, SeedOption, workers_from

__all__ = ["standings"]


def standings(
    *,
    boards: Annotated[
        int,
        typer.Option(
            "--boards", min=1, metavar="N", help="Streams of deals that every line-up plays, under each rules."
        ),
    ] = 300,
    seed: SeedOption = 1,
    jobs: JobsOption = None,
    ray: RayOption = None,
    date: DateOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write the page; shown if not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play all built-in agents against each other under every rule set, with every number of players.

    What comes of it is a page of Markdown, docs/strength.md in the repository.
    """
    from datetime import UTC, datetime

    from ..arena_report import as_dict
    from ..files import check_target, write_whole
    from ..standings import play_standings, standings_page

    check_target(out)
    with workers_from(ray, jobs) as workers, progress_bar("Playing") as progress:
        results = play_standings(boards=boards, seed=seed, jobs=jobs, workers=workers, progress=progress)
    if as_json:
        show_json([as_dict(result) for result in results], indent=2)
    words = ["prial standings", f"--boards {boards}", f"--seed {seed}", *([f"--out {out.as_posix()}"] if out else [])]
    page = standings_page(results, command=" ".join(words), date=date or datetime.now(tz=UTC).date().isoformat())
    if out is not None:
        write_whole(out, page)
    elif not as_json:
        output().print(page, soft_wrap=True, end="")
