"""Files written whole or not at all: into a temporary file beside the target, then renamed over it."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["check_target", "whole_file", "write_whole"]


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
    _check_regular(target)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(name).chmod(0o644)  # temporary files are private; results are not
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _check_regular(target: Path) -> None:
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if target.exists() and not target.is_file():
        raise FileExistsError(errno.EEXIST, "is no regular file", str(target))


def check_target(path: str | Path | None) -> None:
    """Refuse at once what `whole_file` would refuse when hours of work are done; None is no file, and passes.

    Nothing is left behind, missing folders are not made.

    Raises:
        OSError: it cannot be written, and names the path.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_target(Path(folder) / "new" / "game.txt")
    ...     list(Path(folder).iterdir())
    []
    """
    if path is None:
        return
    target = Path(os.path.realpath(path))
    _check_regular(target)
    folder = next(parent for parent in target.parents if parent.exists())
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    try:
        with tempfile.TemporaryFile(dir=folder, prefix=f".{target.name}-"):
            pass
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file at once, as `whole_file` does.

    Raises:
        OSError: it cannot be written, and names the path; nothing has changed.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "new" / "game.txt", "a record")
    ...     (Path(folder) / "new" / "game.txt").read_text()
    'a record'
    """
    try:
        with whole_file(path) as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from None  # a full disk does not say where
