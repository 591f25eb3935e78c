"""`prial train card`: measure a trained agent, and write its model card."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from ..console import CommandError, complain, require_extra
from .options import JobsOption, SeedOption, figures_beside

__all__ = ["card"]


def card(
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help="A shipped agent, or the path of its file.", show_default=False)
    ],
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write; FILE.json holds the figures.")],
    opponents: Annotated[
        str, typer.Option("--against", metavar="NAMES", help="Who sits on every other seat, commas between.")
    ] = "greedy,percentile,solver-fast",
    games: Annotated[int, typer.Option("--games", min=1, metavar="N", help="Against each opponent.")] = 6000,
    deals: Annotated[int, typer.Option("--deals", min=1, metavar="N", help="Rounds to exploit it in.")] = 6000,
    exploit_games: Annotated[
        int, typer.Option("--exploit-games", min=0, metavar="N", help="Games to exploit it in; 0 for none.")
    ] = 1500,
    worlds: Annotated[int, typer.Option("--worlds", min=48, metavar="N", help="Worlds before a decision.")] = 768,
    option_games: Annotated[
        int, typer.Option("--option-games", min=0, metavar="N", help="With each option set otherwise; 0 for none.")
    ] = 0,
    seed: SeedOption = 2026,
    jobs: JobsOption = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Make the page from the figures that are there; only options are measured, if at all."
        ),
    ] = False,
) -> None:
    """Measure a trained agent, and write its model card."""
    require_extra("prial train card", "train", "torch")
    from ..files import write_whole
    from ..model_card import card_page, measure_agent, measure_options

    figures = figures_beside(out)
    command = (
        f"prial train card {agent} --games {games} --deals {deals} --exploit-games {exploit_games} --worlds {worlds} "
        f"--seed {seed} --out {out}"
    )
    path = Path(agent)
    if not agent.endswith(".safetensors"):
        path = Path(str(resources.files("prial.agents"))) / "data" / "trained" / f"{agent}.safetensors"
        if not path.is_file():
            raise CommandError(
                f"{agent!r}: expected a shipped agent that was trained, or the path of a .safetensors file"
            )
    kept: dict[str, Any] = _figures(figures) if again else {"command": command}
    with redirect_stdout(sys.stderr):
        if not again:
            kept["card"] = measure_agent(
                agent,
                path,
                opponents=opponents.split(","),
                games=games,
                deals=deals,
                exploit_games=exploit_games,
                worlds=worlds,
                seed=seed,
                jobs=jobs or 1,
                progress=complain,
            )
            write_whole(figures, json.dumps(kept, indent=1) + "\n")  # hours of work are not lost by what follows
        if option_games:
            kept["options"] = measure_options(
                agent,
                kept["card"]["config"]["rules"],
                games=option_games,
                seed=seed,
                jobs=jobs or 1,
                progress=complain,
            )
            kept["options_command"] = (
                f"prial train card {agent} --again --option-games {option_games} --seed {seed} --out {out}"
            )
    try:
        page = card_page(
            kept["card"],
            command=kept["command"],
            options=kept.get("options", ()),
            options_command=kept.get("options_command", ""),
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if not again:
            raise
        raise CommandError(f"{figures} holds no figures of a card: {error!r}") from None
    write_whole(figures, json.dumps(kept, indent=1) + "\n")
    write_whole(out, page)
    typer.echo(f"{out} and {figures}")


def _figures(path: Path) -> dict[str, Any]:
    """What was measured before.

    Raises:
        CommandError: the file holds no figures of a card.
        OSError: it cannot be read.
    """
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CommandError(f"{path} holds no figures of a card: {error}") from None
    if not isinstance(kept, dict) or not isinstance(kept.get("card"), dict) or "command" not in kept:
        raise CommandError(f"{path} holds no figures of a card: expected those that prial train card wrote")
    return kept
