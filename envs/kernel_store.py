"""Where compiled kernels are kept: folders of the user's own, whole files with a checksum, and a lock. numba is not needed.

A folder's name holds the package version and a hash of *all* kernel sources, so an edit of any of them starts afresh.
Compiled kernels are code, so that only folders which nobody but the user (or root) can write are read. A folder that cannot
be had is replaced by one among the temporary files; without that, too, kernels live as long as the process.

Nothing here raises on account of what is, or is not, on the disk.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["KernelStore", "clear", "folders", "kernel_store", "user_cache"]

_log = logging.getLogger(__name__)

_HEAD = b"prial kernel 1\n"
_SUM = hashlib.sha256().digest_size
# What this version and earlier ones write; nothing else is ever removed.
_FOLDER = re.compile(r"\d[\w.+!]*-[0-9a-f]{16}")
_FILE = re.compile(r"lock|.+\.(kernel|kernel-tmp|nbi|nbc)(\.tmp\.[0-9a-f]+)?")
_PACKAGES = ("envs", "agents", "training")
_KEPT = 8  # folders at most, some 20 MB each: several checkouts in use at once do not compile each other's kernels away
_HOUR = 3600.0
_WEEK = 7 * 24 * _HOUR
_LOOK_EVERY = 0.05  # seconds between looks at a lock that another process holds


def user_cache() -> Path | None:
    """Return the user's cache folder of this package, created or not; None without a home.

    ``PRIAL_CACHE_DIR`` names another; where it is unset, the system's custom holds.

    >>> import os
    >>> os.environ["PRIAL_CACHE_DIR"] = "elsewhere"
    >>> user_cache() == Path.cwd() / "elsewhere"
    True
    >>> del os.environ["PRIAL_CACHE_DIR"]
    """
    own = os.environ.get("PRIAL_CACHE_DIR")
    if own:
        return Path(own).absolute()
    try:
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "prial" / "Cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "prial"
        custom = Path(os.environ.get("XDG_CACHE_HOME", ""))
        return (custom if custom.is_absolute() else Path.home() / ".cache") / "prial"
    except RuntimeError:  # no HOME, and no entry for the user
        return None


def _temporary() -> Path | None:
    """Return this user's own folder among the temporary files, created or not; None where there are none."""
    name = "prial" if sys.platform == "win32" else f"prial-{os.geteuid()}"
    try:
        return Path(tempfile.gettempdir()) / name
    except OSError:
        return None


def _distrusted(folder: Path) -> str | None:
    """Return why the folder's files are not to be run; None if they may be."""
    if sys.platform == "win32":
        return None  # the user's profile is closed to others
    try:
        found = folder.lstat()
        if found.st_uid == os.geteuid() and found.st_mode & 0o022:
            folder.chmod(0o700)  # earlier versions left it to the umask
            found = folder.lstat()
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISDIR(found.st_mode):
        return "no folder"
    if found.st_uid not in {os.geteuid(), 0}:
        return "made by another user"
    return "others can write it" if found.st_mode & 0o022 else None


def _sources_key(package: Path) -> str:
    """Return the package version with a hash of every kernel source, given the folder of ``prial.envs``."""
    digest = hashlib.sha256((package / "kernel_cache.py").read_bytes())
    for name in _PACKAGES:
        for path in sorted((package.parent / name).rglob("_kernels*.py")):
            digest.update(path.read_bytes())
    return f"{metadata.version('prial')}-{digest.hexdigest()[:16]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelStore:
    """Compiled kernels on disk.

    Attributes:
        read: folders that are looked in, in this order.
        write: the folder that new ones go to, one of `read`; None if nothing can be kept.
        why: why `write` is not the user's cache folder; None if it is.
    """

    read: tuple[Path, ...]
    write: Path | None
    why: str | None

    def load(self, name: str) -> bytes | None:
        """Return what was saved under a name; None if it is missing, cut off or damaged."""
        for folder in self.read:
            try:
                data = (folder / name).read_bytes()
            except OSError:
                continue
            saved, payload = data[len(_HEAD) : len(_HEAD) + _SUM], data[len(_HEAD) + _SUM :]
            if data.startswith(_HEAD) and hashlib.sha256(payload).digest() == saved:
                return payload
            _log.info("%s is damaged; the kernel is compiled anew", folder / name)
        return None

    def save(self, name: str, payload: bytes) -> bool:
        """Save under a name, whole or not at all, over what was there; return whether it could be done."""
        if self.write is None:
            return False
        part = None
        try:
            self.write.mkdir(mode=0o700, parents=True, exist_ok=True)  # somebody may have removed it meanwhile
            handle, part = tempfile.mkstemp(prefix=name, suffix=".kernel-tmp", dir=self.write)
            with open(handle, "wb") as file:  # noqa: PTH123 (an open descriptor)
                file.write(_HEAD + hashlib.sha256(payload).digest() + payload)
            Path(part).replace(self.write / name)
        except OSError as error:
            _log.debug("%s cannot be kept in %s: %s", name, self.write, error)
            if part is not None:
                with contextlib.suppress(OSError):
                    Path(part).unlink(missing_ok=True)
            return False
        return True

    @contextlib.contextmanager
    def locked(self, *, patience: float) -> Iterator[bool]:
        """Hold the store's lock while the body runs, so that one process compiles and the others wait.

        The system lets go of it when its holder ends, however it ends. Where there is no lock (nothing can be kept, the
        file system knows none) or it stays held for too long (its holder is stopped), the body runs without.

        Args:
            patience: seconds to wait for it.

        Yields:
            Whether it is held.
        """
        with contextlib.ExitStack() as stack:
            held = False
            try:
                if self.write is not None:
                    self.write.mkdir(mode=0o700, parents=True, exist_ok=True)
                    file = stack.enter_context((self.write / "lock").open("ab"))
                    held = _wait_for(file.fileno(), patience=patience)
            except OSError as error:
                _log.debug("no lock in %s: %s", self.write, error)
            yield held

    def prune(self) -> None:
        """Remove what killed processes left behind, and folders of other versions that are not in use any more.

        The one used last stays, and so do others used within a week, `_KEPT` in all.
        """
        if self.write is None:
            return
        with contextlib.suppress(OSError):
            for part in self.write.glob("*.kernel-tmp"):
                if time.time() - part.stat().st_mtime > _HOUR:
                    part.unlink(missing_ok=True)
        others = [folder for folder in folders(self.write.parent) if folder != self.write]
        for place, folder in enumerate(others[1:], 2):
            with contextlib.suppress(OSError):
                if place >= _KEPT or time.time() - folder.stat().st_mtime > _WEEK:
                    _remove(folder)


def _wait_for(descriptor: int, *, patience: float) -> bool:
    """Lock an open file; return False if another process does not let go of it in time."""
    end = time.monotonic() + patience
    while True:
        try:
            if sys.platform == "win32":
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            else:
                # A record lock: unlike flock's, no forked child inherits it and keeps it from the others.
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in {errno.EACCES, errno.EAGAIN, errno.EDEADLK}:
                raise
            if time.monotonic() > end:
                return False
            time.sleep(_LOOK_EVERY)
        else:
            return True


def folders(root: Path) -> list[Path]:
    """Return the folders of kernels in a place, every version's, the one used last first."""
    found: list[tuple[float, Path]] = []
    with contextlib.suppress(OSError):
        ours = [path for path in root.iterdir() if _FOLDER.fullmatch(path.name) and not path.is_symlink()]
        found.extend((path.stat().st_mtime, path) for path in ours if path.is_dir())
    return [path for _, path in sorted(found, reverse=True)]


def _remove(folder: Path) -> int:
    """Remove our files from a folder, and then it if nothing else is in it; return the bytes."""
    freed = 0
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            path = Path(place, name)
            if _FILE.fullmatch(name):
                with contextlib.suppress(OSError):
                    size = path.lstat().st_size
                    path.unlink()
                    freed += size
        with contextlib.suppress(OSError):
            Path(place).rmdir()
    return freed


def clear() -> int:
    """Remove every compiled kernel of every version; return the bytes. Processes that run keep what they have loaded."""
    root, spare = user_cache(), _temporary()
    places = [root] if root else []
    if spare and not _distrusted(spare):
        places.append(spare)
    return sum(_remove(folder) for place in places for folder in folders(place / "kernels"))


def _made(folder: Path) -> str | None:
    """Make a folder unless it is there; return why it cannot be used, None if it can."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        return error.strerror or str(error)
    return _distrusted(folder)


def _open(key: str) -> KernelStore:
    root, spare = user_cache(), _temporary()
    read: list[Path] = []
    why = None if root else "there is no home folder"
    for place in (root, spare):
        if place is None:
            continue
        folder = place / "kernels" / key
        # Everybody can write among the temporary files: there, what the folder lies in has to be this user's, too.
        problem = (_made(spare) if place is spare else None) or _made(folder)
        if problem is None:
            read.append(folder)
            if os.access(folder, os.W_OK | os.X_OK):
                with contextlib.suppress(OSError):
                    if time.time() - folder.stat().st_mtime > _HOUR:
                        os.utime(folder)  # used: the last to be pruned
                return KernelStore(read=tuple(read), write=folder, why=why)
            problem = "it is read-only"
        why = why or f"{folder}: {problem}"
    return KernelStore(read=tuple(read), write=None, why=why or "there is no folder for temporary files")


@cache
def kernel_store() -> KernelStore:
    """Return the store of this version's kernels, its folder created.

    >>> store = kernel_store()
    >>> store.write is None or store.write.is_dir()
    True
    """
    return _open(_sources_key(Path(__file__).parent))
