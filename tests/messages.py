"""What commands say on standard error, for tests of what they print."""

from __future__ import annotations

import re

_COMPILING = re.compile(r"compiling kernels .*|\S+ is ready after [\d.]+ s")


def without_compiling(messages: str) -> str:
    """Return messages without those about kernels: whether they are compiled already is up to the machine."""
    return "\n".join(line for line in messages.splitlines() if not _COMPILING.fullmatch(line))
