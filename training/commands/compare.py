"""`prial train compare`: the update rules of self-play, exploitability as they go on."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..console import CommandError, complain, require_extra
from .options import SeedOption, figures_beside
from .train_settings import read_settings

__all__ = ["compare"]

_SET_OTHERWISE = {
    "update": "every update rule is compared",
    "seed": "the runs have the seeds 1 to N of --seeds N",
    "iterations": "a run ends at the last batch of --at",
}


def compare(
    config: Annotated[
        str, typer.Option("--config", metavar="CONFIG", help="A configuration that ships, or a YAML file.")
    ] = "online",
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="PNG to draw; FILE.json holds the figures.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a key of the configuration. Repeatable."),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, metavar="N", help="Runs by each rule: seeds 1 to N.")] = 3,
    batches: Annotated[
        str, typer.Option("--at", metavar="25,50,100", help="Batches after which networks are measured.")
    ] = "25,50,100,200,400",
    deals: Annotated[int, typer.Option("--deals", min=1, metavar="N", help="Rounds to exploit each network in.")] = 600,
    worlds: Annotated[int, typer.Option("--worlds", min=48, metavar="N", help="Worlds before a decision.")] = 192,
    seed: SeedOption = 77,
) -> None:
    """Compare the update rules of self-play: short runs by each, exploitability on the way, as JSON, picture and table."""
    require_extra("prial train compare", "train,plot", "torch", "matplotlib")
    try:
        at = sorted({int(part) for part in batches.split(",")})
    except ValueError:
        raise CommandError(f"--at {batches!r}: expected whole numbers, such as 25,50,100") from None
    if min(at) < 1:
        raise CommandError(f"--at {batches!r}: expected numbers from 1")
    from ..files import write_whole
    from ..selfplay_compare import compare_rules, curves_picture, points_table
    from ..selfplay_config import load_selfplay_config

    overrides = read_settings(settings, None)
    for key, by in _SET_OTHERWISE.items():
        if key in overrides:
            raise CommandError(f"--set {key}={overrides[key]}: {by}")
    made = load_selfplay_config(config, overrides)
    figures = figures_beside(out)
    points = compare_rules(
        made, seeds=range(1, seeds + 1), at=at, deals=deals, worlds=worlds, exploit_seed=seed, progress=complain
    )
    write_whole(figures, json.dumps([asdict(point) for point in points], indent=1) + "\n")
    title = f"{made.rules}, {made.players[0]} players, batches of {made.tables:,} rounds, {seeds} seeds"
    write_whole(out, curves_picture(points, title=title))
    typer.echo(points_table(points))
