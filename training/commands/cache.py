"""`prial cache`: where compiled kernels are kept, and removing them."""

from __future__ import annotations

from typing import Annotated

import typer

from ..console import output, show_json
from .options import JsonOption

__all__ = ["cache"]


def cache(
    *,
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove them, of every version; nothing else is touched.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show where compiled kernels are kept and how much there is, or remove them.

    They are compiled on first use and kept for the next start. PRIAL_CACHE_DIR names another folder.
    """
    from ...envs import kernel_store

    if clear:
        freed = kernel_store.clear()
        if as_json:
            show_json({"removed_bytes": freed})
        else:
            output().print(f"Removed {freed / 1e6:.1f} MB.")
        return
    store = kernel_store.kernel_store()
    kernels = [path for folder in store.read for path in folder.glob("*.kernel")]
    size = sum(path.stat().st_size for path in kernels)
    others = [] if store.write is None else kernel_store.folders(store.write.parent)
    versions = len({*others, *store.read})
    if as_json:
        folder = None if store.write is None else str(store.write)
        show_json({"folder": folder, "why": store.why, "kernels": len(kernels), "bytes": size, "versions": versions})
        return
    console = output()
    console.print(str(store.write or "Nothing can be kept."), soft_wrap=True)
    if store.why:
        console.print(f"Not in the user's cache folder: {store.why}", soft_wrap=True)
    console.print(f"{len(kernels)} kernels, {size / 1e6:.1f} MB; versions kept: {versions}")
