"""Files written whole or not at all: into a temporary file beside the target, then renamed over it."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["whole_file", "write_whole"]


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file to be written bit by bit; it appears when the body has ended, and never if that raises.

    Whoever reads it sees the old content or the new, never a part. Missing folders are made. A symbolic link stays one, and
    what it points to is written; what is no regular file (a device, a pipe) is refused.

    Raises:
        OSError: it cannot be written; nothing has changed.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if target.exists() and not target.is_file():
        raise FileExistsError(errno.EEXIST, "is no regular file", str(target))
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(name).chmod(0o644)  # temporary files are private; results are not
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file at once, as `whole_file` does.

    Raises:
        OSError: it cannot be written; nothing has changed.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "new" / "game.txt", "a record")
    ...     (Path(folder) / "new" / "game.txt").read_text()
    'a record'
    """
    with whole_file(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
