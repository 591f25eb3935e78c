"""`prial agents`: what there is to play with."""

from __future__ import annotations

from ..console import output, show_json
from .options import JsonOption

__all__ = ["agents"]


def agents(*, as_json: JsonOption = False) -> None:
    """List the agents."""
    from ...agents.registry import agent_names

    names = agent_names()
    if as_json:
        show_json([{"agent": name, "summary": summary} for name, summary in names.items()], indent=2)
        return
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, summary in names.items():
        table.add_row(name, summary)
    console = output()
    console.print(table)
    console.print("\nAlso: the path of a network (.onnx, .safetensors), engine:COMMAND, or package.module:factory.")
    console.print("Options may follow a name: solver[worlds=200].")
