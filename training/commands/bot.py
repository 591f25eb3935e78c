"""`prial bot`: an agent as an engine on standard input and output, for front ends in any language."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from .options import SeedOption

__all__ = ["bot"]


def bot(
    *,
    agent: Annotated[
        str,
        typer.Option(
            "--agent",
            metavar="AGENT",
            help="A name (see prial agents), the path of an .onnx file, or package.module:factory.",
        ),
    ] = "solver-fast",
    seed: SeedOption = 1,
) -> None:
    """Answer the engine protocol on standard input and output, as an engine that any front end can start.

    One command a line: hello, rules, position, decide, analyse, seed, ping, help, quit. Its grammar is in
    docs/engine-protocol.md. Standard output carries the protocol alone; what agents print goes to standard error.
    """
    from importlib.metadata import version

    from ...agents.engine_server import EngineServer, serve, watch_host
    from ...agents.registry import make

    # The descriptor too: libraries in C write past sys.stdout.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0) as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        server = EngineServer(make(agent), version=version("prial"), seed=seed, watch=watch_host(answers))
        serve(server, sys.stdin.buffer, answers)
        if server.is_busy:
            os._exit(0)  # a thought that nobody waits for does not keep the process
