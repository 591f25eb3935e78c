"""Compiled kernels: one decorator, cached in the user's own folder.

numba keys its cache by the one source file of a function, so editing a kernel that another cached file calls keeps the old
machine code silently. Here the folder's name holds the package version and a hash of *all* kernel sources, so an edit of
any of them starts afresh. Nothing is written beside the package. `PRIAL_CACHE_DIR` moves the folder.

Importing this module imports numba; kernels modules (``_kernels*.py``) are therefore imported on first use only.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config as numba_config

__all__ = ["cache_folder", "kernel"]

_log = logging.getLogger(__name__)
_F = TypeVar("_F", bound=Callable[..., Any])


def _user_cache() -> Path:
    own = os.environ.get("PRIAL_CACHE_DIR")
    if own:
        return Path(own)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "prial" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "prial"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "prial"


def _sources_key() -> str:
    """Version and a hash of every kernel source of the package."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for path in (Path(__file__), *sorted(root.rglob("_kernels*.py"))):
        digest.update(path.read_bytes())
    return f"{metadata.version('prial')}-{digest.hexdigest()[:16]}"


@cache
def cache_folder() -> Path:
    """Return the folder of compiled kernels, created; a private temporary one where the user's is not writable.

    >>> cache_folder().is_dir()
    True
    """
    folder = _user_cache() / "kernels" / _sources_key()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        folder = Path(tempfile.mkdtemp(prefix="prial-kernels-"))
        _log.warning("the kernel cache is not writable (%s); compiled kernels go to %s", error, folder)
    return folder


def kernel(**options: Any) -> Callable[[_F], _F]:
    """Return a decorator: `numba.njit` in no-Python mode with the cache above."""

    def decorate(function: _F) -> _F:
        before = numba_config.CACHE_DIR
        # numba reads the setting once, when a function is decorated; put back, other packages keep their own.
        numba_config.CACHE_DIR = str(cache_folder())
        try:
            return cast(_F, numba.njit(cache=True, **options)(function))
        finally:
            numba_config.CACHE_DIR = before

    return decorate
