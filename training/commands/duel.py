"""`prial duel`: two agents against each other, as closely as asked for, under every rule set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..console import CommandError, output, progress_bar, show_json
from .options import (
    DateOption,
    JobsOption,
    JsonOption,
    PlayersOption,
    RayOption,
    SeedOption,
    SetOption,
    rules_from,
    workers_from,
)

__all__ = ["duel"]


def duel(
    first: Annotated[str, typer.Argument(metavar="AGENT", help="Takes one seat of each table.", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="AGENT", help="Takes all others.", show_default=False)],
    *,
    rules: Annotated[
        str | None,
        typer.Option(
            "--rules",
            metavar="RULES",
            help="Rule set (online, bga, traditional) or a YAML file; every rule set with every number of players if not "
            "given.",
        ),
    ] = None,
    players: PlayersOption = None,
    settings: SetOption = None,
    half_width: Annotated[
        float,
        typer.Option(
            "--half-width",
            metavar="X",
            help="How closely to know the difference of the win shares: half the 95 % interval, in percentage points.",
        ),
    ] = 0.5,
    most: Annotated[
        int, typer.Option("--most", min=1, metavar="N", help="Games at most under each rules.")
    ] = 4_000_000,
    seed: SeedOption = 1,
    jobs: JobsOption = None,
    ray: RayOption = None,
    date: DateOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write the page; shown if not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play two agents against each other until the difference of their win shares is known as closely as asked for.

    What comes of it is a page of Markdown with a row for each rules.
    """
    from datetime import UTC, datetime

    from ..arena_report import as_dict
    from ..duel import duel_page, play_duel
    from ..files import check_target, write_whole
    from ..standings import standings_rules

    if rules is None and (players is not None or settings):
        raise CommandError("--players and --set need --rules; without it every rule set is played as it is")
    check_target(out)
    asked = standings_rules() if rules is None else (rules_from(rules, players, settings),)
    results = []
    with workers_from(ray, jobs) as workers:
        for number, one in enumerate(asked, 1):
            with progress_bar(f"Playing {number} of {len(asked)}") as progress:
                results.append(
                    play_duel(
                        first,
                        second,
                        rules=one,
                        half_width=half_width / 100,
                        seed=seed,
                        most=most,
                        jobs=jobs,
                        workers=workers,
                        progress=progress,
                    )
                )
    if as_json:
        show_json([as_dict(result) for result in results], indent=2)
    words = [
        f"prial duel {first} {second}",
        *([f"--rules {rules}"] if rules else []),
        *([f"--players {players}"] if players else []),
        *(f"--set {setting}" for setting in settings or ()),
        f"--half-width {half_width:g} --seed {seed}",
        *([f"--out {out.as_posix()}"] if out else []),
    ]
    stated = date or datetime.now(tz=UTC).date().isoformat()
    page = duel_page(results, half_width=half_width / 100, command=" ".join(words), date=stated)
    if out is not None:
        write_whole(out, page)
    elif not as_json:
        output().print(page, soft_wrap=True, end="")
