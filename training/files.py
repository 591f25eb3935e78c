"""Files written whole or not at all: into a temporary file beside the target, then renamed over it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file; whoever reads it sees the old content or the new, never a part. Missing folders are made.

    Raises:
        OSError: it cannot be written; nothing has changed.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8") if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644)  # temporary files are private; results are not
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
