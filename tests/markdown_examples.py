"""Python examples in Markdown pages: found, and run as they stand, each on its own."""

from __future__ import annotations

import re
from pathlib import Path

_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def python_blocks(page: Path) -> list[tuple[int, str]]:
    """Return the blocks of a page with the lines on which their code begins; none where there is no page."""
    if not page.is_file():
        return []
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start(1)) + 1, m[1]) for m in _BLOCK.finditer(text)]


def run_block(page: Path, line: int, code: str) -> None:
    """Run a block; blank lines in front make tracebacks name the page's own lines."""
    exec(compile("\n" * (line - 1) + code, str(page), "exec"), {"__name__": "__main__"})  # noqa: S102
