"""`prial ladder`: a configured line-up of agents, with results that are kept and added to."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from ..console import complain, output, progress_bar, require_extra, show_json
from .options import JobsOption, JsonOption, RayOption, workers_from

__all__ = ["ladder"]


def ladder(
    config: Annotated[
        str,
        typer.Argument(metavar="CONFIG", help="A ladder that ships (online-3), or the path of a YAML file."),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FOLDER", help="Where results, page and pictures lie; runs/ladder/NAME if not given."
        ),
    ] = None,
    jobs: JobsOption = None,
    ray: RayOption = None,
    play: Annotated[
        bool, typer.Option("--play/--no-play", help="Play what is missing, or only show what has been played.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Play a ladder: agents against each other on the same deals, rated, with every two compared.

    Results go into FOLDER/results.jsonl, which only grows: a run that is ended or killed goes on where it was, and agents or
    games that join the configuration are played besides. FOLDER/ladder.html shows all; with matplotlib (extra plot) so do
    cross-table.png and ratings.png.
    """
    from ..ladder_config import load_ladder

    read = load_ladder(config)
    require_extra("prial ladder", "ladder", "scipy")
    from ..files import write_whole
    from ..ladder import run_ladder
    from ..ladder_page import ladder_page
    from ..ladder_pictures import cross_picture, rating_picture
    from ..ladder_report import show_standing, standing_dict
    from ..ladder_results import read_results
    from ..ladder_standing import standing_of

    folder = Path("runs", "ladder", Path(config).stem) if out is None else out
    path = folder / "results.jsonl"
    if play:
        # An agent that prints does not spoil the output.
        with redirect_stdout(sys.stderr), workers_from(ray, jobs) as workers, progress_bar("Playing") as progress:
            results = run_ladder(read, path, jobs=jobs, workers=workers, progress=progress)
    else:
        results = read_results(path, read)
    standing = standing_of(read, results)
    crosses = ratings = None
    if importlib.util.find_spec("matplotlib") is None:
        complain('No pictures: they need the extra plot, pip install "prial[plot]"')
    elif standing.pairs:
        crosses = cross_picture(standing)
        ratings = None if standing.ratings is None else rating_picture(standing)
    for name, picture in (("cross-table", crosses), ("ratings", ratings)):
        if picture is not None:
            write_whole(folder / f"{name}.png", picture)
    write_whole(folder / "ladder.html", ladder_page(standing, ratings))
    if as_json:
        show_json(standing_dict(standing), indent=2)
    else:
        show_standing(standing, output())
        complain(f"{folder / 'ladder.html'} shows this, too")
