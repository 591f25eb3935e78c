"""`prial export`: a trained network as one file that plays anywhere onnxruntime runs, and vectors to test others with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..console import CommandError, require_extra, show_json
from .options import JsonOption, SeedOption

__all__ = ["export"]


def export(
    run: Annotated[
        Path | None, typer.Argument(metavar="RUN", help="Folder of a training run.", show_default=False)
    ] = None,
    target: Annotated[
        Path | None, typer.Argument(metavar="OUT.onnx", help="File to write.", show_default=False)
    ] = None,
    *,
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
    """Write the newest network of a run as one ONNX file, after checking that it plays the same.

    The file says what it was made for; play it by its path wherever an agent is named.

    Needs the extras 'train' and 'export'; --vectors needs none.
    """
    if vectors is not None:
        if run is not None:
            raise CommandError(f"--vectors is written instead of a network; leave out {str(run)!r}")
        _write_vectors(vectors, deals=deals, seed=seed, as_json=as_json)
        return
    if run is None or target is None:
        raise CommandError("expected RUN and OUT.onnx, or --vectors FILE; for example: prial export runs/mine bot.onnx")
    require_extra("prial export", "train,export", "torch", "sb3_contrib", "safetensors", "onnx", "onnxscript")
    if target.suffix != ".onnx":
        raise CommandError(f"{str(target)!r}: expected a file name ending in .onnx")
    from ..export import export_run

    card = export_run(run, target)
    if as_json:
        show_json({"file": str(target), "bytes": target.stat().st_size, "card": card})
        return
    size = target.stat().st_size / 1000
    typer.echo(
        f"Wrote {target} ({size:.0f} kB): rules {card['rules']['name']}, {card['training']['steps']:,} decisions."
    )
    typer.echo(f"Next: prial arena {target} greedy")


def _write_vectors(target: Path, *, deals: int, seed: int, as_json: bool) -> None:
    from ..files import write_whole
    from ..vectors import vectors

    lines = list(vectors(deals=deals, seed=seed))
    write_whole(target, "".join(f"{line}\n" for line in lines))
    size = target.stat().st_size
    if as_json:
        show_json({"file": str(target), "bytes": size, "lines": len(lines), "seed": seed})
        return
    typer.echo(f"Wrote {target}: {len(lines):,} lines, {size / 1000:.0f} kB.")
    typer.echo(f"Next: node docs/engines/greedy.mjs --check {target}")
