"""`prial export`: a trained network as one file that plays anywhere onnxruntime runs, and vectors to test others with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..console import CommandError, progress_bar, require_extra, show_json
from .options import GivenRulesOption, JsonOption, PlayersOption, SeedOption, SetOption, rules_from

__all__ = ["export"]


def export(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="AGENT|RUN", help="Agent with a network, its level, or folder of a run.", show_default=False
        ),
    ] = None,
    target: Annotated[
        Path | None, typer.Argument(metavar="OUT.onnx", help="File to write.", show_default=False)
    ] = None,
    *,
    rules: GivenRulesOption = None,
    players: PlayersOption = None,
    settings: SetOption = None,
    verify: Annotated[
        int, typer.Option("--verify", min=1, metavar="N", help="Of an agent: decisions of each phase to compare first.")
    ] = 10_000,
    vectors: Annotated[
        Path | None,
        typer.Option(
            "--vectors",
            metavar="FILE",
            help="Instead of a network: positions, legal answers, scored rounds and expected decisions as JSON lines, for "
            "other implementations to test themselves with (docs/engine-protocol.md).",
        ),
    ] = None,
    deals: Annotated[int, typer.Option("--deals", min=1, metavar="N", help="Of vectors: rounds of each rules.")] = 12,
    seed: SeedOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Write an agent, or the newest network of a run, as one ONNX file, after checking that it plays the same.

    An AGENT (online, online:easy, a .safetensors file) becomes a one-file bot, rules and search inside: plain numbers in,
    decisions out, in any language (docs/one-file-bot.md). A RUN of 'prial train ppo' becomes a network for prial itself.

    Needs the extra 'export', a RUN 'train' as well; --vectors needs none.
    """
    if vectors is not None:
        if source is not None:
            raise CommandError(f"--vectors is written instead of a network; leave out {source!r}")
        _write_vectors(vectors, deals=deals, seed=seed, as_json=as_json)
        return
    if source is None or target is None:
        raise CommandError(
            "expected AGENT or RUN and OUT.onnx, or --vectors FILE; for example: prial export online bot.onnx"
        )
    if target.suffix != ".onnx":
        raise CommandError(f"{str(target)!r}: expected a file name ending in .onnx")
    from ..files import check_target

    check_target(target)
    if _is_agent(source):
        _write_bot(source, target, rules, players, settings, verify=verify, as_json=as_json)
        return
    if rules is not None or players is not None or settings:
        raise CommandError(
            f"a run has rules of its own; leave out --rules, --players and --set, or is {source!r} no run?"
        )
    _write_run(source, target, as_json=as_json)


def _is_agent(source: str) -> bool:
    from ...agents.registry import agent_names, split_name

    name, _ = split_name(source)
    if name in agent_names() or name.lower().endswith(".safetensors"):
        return True
    return ":" in name and not Path(name).exists()  # a level, or a factory


def _write_run(source: str, target: Path, *, as_json: bool) -> None:
    require_extra("prial export", "train,export", "torch", "sb3_contrib", "safetensors", "onnx", "onnxscript")
    from ..export import export_run

    card = export_run(source, target)
    if as_json:
        show_json({"file": str(target), "bytes": target.stat().st_size, "card": card})
        return
    size = target.stat().st_size / 1000
    typer.echo(
        f"Wrote {target} ({size:.0f} kB): rules {card['rules']['name']}, {card['training']['steps']:,} decisions."
    )
    typer.echo(f"Next: prial arena {target} greedy")


def _write_bot(
    source: str,
    target: Path,
    rules: str | None,
    players: int | None,
    settings: list[str] | None,
    *,
    verify: int,
    as_json: bool,
) -> None:
    require_extra("prial export", "export", "onnx")
    from ...agents.levels import Level
    from ...agents.registry import make, split_name
    from ...agents.trained import Trained
    from ..one_file import export_bot

    agent = make(source)
    base = agent.base if isinstance(agent, Level) else agent
    own = base.rules[0].name if isinstance(base, Trained) else ""
    made = rules_from(rules or own or "online", players, settings)
    temperature = split_name(source)[1].get("temperature", 0.0)
    with progress_bar("Comparing") as progress:
        card = export_bot(agent, made, target, decisions=verify, temperature=temperature, progress=progress)
    size = target.stat().st_size
    if as_json:
        show_json({"file": str(target), "bytes": size, "card": card})
        return
    typer.echo(f"Wrote {target} ({size / 1000:.0f} kB): {agent.name}, rules {made.name}, {made.players} players.")
    for phase, found in card["verified"].items():
        typer.echo(
            f"{phase.capitalize()}: {found['same']:,} of {found['decisions']:,} decisions as in Python, "
            f"{found['ties']:,} others worth the same."
        )
    typer.echo(f"Next: prial arena {target} greedy --players {made.players}")


def _write_vectors(target: Path, *, deals: int, seed: int, as_json: bool) -> None:
    from ..files import check_target, write_whole
    from ..vectors import vectors

    check_target(target)
    lines = list(vectors(deals=deals, seed=seed))
    write_whole(target, "".join(f"{line}\n" for line in lines))
    size = target.stat().st_size
    if as_json:
        show_json({"file": str(target), "bytes": size, "lines": len(lines), "seed": seed})
        return
    typer.echo(f"Wrote {target}: {len(lines):,} lines, {size / 1000:.0f} kB.")
    typer.echo(f"Next: node docs/engines/greedy.mjs --check {target}")
