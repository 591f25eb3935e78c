"""`prial benchmark`: one agent against fixed opponents on fixed deals, as a score card."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from ..console import output, progress_bar, show_json
from .options import JobsOption, JsonOption, RayOption, workers_from

__all__ = ["benchmark"]


def benchmark(
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT", help="A name (see prial agents), the path of an .onnx file, or package.module:factory."
        ),
    ],
    *,
    suite: Annotated[str, typer.Option("--suite", metavar="NAME", help="Version of the suite.")] = "v1",
    quick: Annotated[bool, typer.Option("--quick", help="Few games: a look at whether all is well.")] = False,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name on the card; the agent's own if not given.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Write card.json and card.md into a folder.")
    ] = None,
    compare: Annotated[
        list[Path] | None,
        typer.Option("--beside", metavar="CARD", help="A card.json to show beside this one. Repeatable."),
    ] = None,
    jobs: JobsOption = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play the benchmark suite with an agent and write its score card.

    The suite is versioned and fixed: rules, tables, opponents and deals. Cards of the same field (suite, games, version of
    prial and its agents' data) can be compared.
    """
    from ..files import check_target, write_whole
    from ..suite import load_suite, run_suite
    from ..suite_card import beside, card_dict, card_page, check_field, read_card

    read = load_suite(suite)
    others = [read_card(path) for path in compare or ()]
    check_field(read.field(quick=quick), others)  # before anything is played
    if out is not None:
        check_target(out / "card.json")
        check_target(out / "card.md")
    # An agent that prints does not spoil the output.
    with redirect_stdout(sys.stderr), workers_from(ray, jobs) as workers, progress_bar("Playing") as progress:
        card = run_suite(read, agent, name=name, quick=quick, jobs=jobs, workers=workers, progress=progress)
    page = card_page(card)
    if others:
        page += f"\n## Beside others\n\n{beside([card, *others])}"
    if out is not None:
        import json

        write_whole(out / "card.json", json.dumps(card_dict(card), indent=1) + "\n")
        write_whole(out / "card.md", page)
    if as_json:
        show_json(card_dict(card), indent=2)
    else:
        output().print(page, soft_wrap=True, end="")
