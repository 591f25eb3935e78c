"""`prial export`: a trained network as one file that plays anywhere onnxruntime runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..console import CommandError, require_extra, show_json
from .options import JsonOption

__all__ = ["export"]


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a training run.")],
    target: Annotated[Path, typer.Argument(metavar="OUT.onnx", help="File to write.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Write the newest network of a run as one ONNX file, after checking that it plays the same.

    The file says what it was made for; play it by its path wherever an agent is named.

    Needs the extras 'train' and 'export'.
    """
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
