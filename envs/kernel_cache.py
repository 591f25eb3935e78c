"""Compiled kernels: one decorator, kept in the user's own folder (`kernel_store.py`) from the first use on.

numba's own cache is not used. It is keyed by the one source file of a function, so that editing a kernel that another file
calls keeps the old machine code silently; its index may tell one process the data of another; a file that was cut off ends
the program. Here a kernel is one file with a checksum, written whole. Its name holds a hash of all that its code depends
on. One process compiles, the others wait for it.

What is compiled on first use is told by the logger ``prial.envs.kernel_cache`` at INFO; if nobody listens there and it
takes more than two seconds, it is told once at WARNING, as is that what was compiled cannot be kept.

Importing this module imports numba; kernels modules (``_kernels*.py``) are therefore imported on first use only.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import multiprocessing
import pickle
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

import llvmlite
import numba
import numpy as np
from numba.core import config as numba_config
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps

from .kernel_store import kernel_store

__all__ = ["kernel"]

_log = logging.getLogger(__name__)
_F = TypeVar("_F", bound=Callable[..., Any])

_PATIENCE = 180.0  # seconds to wait for another process to compile, several times what all kernels take
_SILENT = 2.0  # seconds that the first use may take without a word
_USUAL = 25  # seconds of processor time that all kernels of a command take to compile (docs/first-use.md)


class _FirstUse:
    """What goes on while a kernel is compiled: the lock, and what is told. numba's compiler lock guards it."""

    def __init__(self) -> None:
        self._depth = 0  # calls of kernels' compilers that are under way; a kernel compiles those that it calls
        self._busy: contextlib.ExitStack | None = None
        self._spent = 0.0
        self._told = False
        self._lost = False
        self._patience = _PATIENCE

    @contextlib.contextmanager
    def call(self, name: str) -> Iterator[None]:
        """Surround one call of a kernel's compiler, which may find it on disk."""
        start = time.perf_counter()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._busy is not None and not self._depth:
                self._busy.close()
                self._busy = None
                took = time.perf_counter() - start
                self._spent += took
                _log.log(logging.INFO if took > _SILENT else logging.DEBUG, "%s is ready after %.1f s", name, took)

    def begin(self) -> bool:
        """Start compiling; return whether others may have compiled meanwhile, so that another look is worth it."""
        if self._busy is not None:
            return False
        self._busy = contextlib.ExitStack()
        store = kernel_store()
        alone = multiprocessing.parent_process() is None
        if alone:
            self._busy.enter_context(self._voice())
        held = self._busy.enter_context(store.locked(patience=self._patience))
        if not alone:  # of many workers the one that compiles speaks, not all that wait for it
            self._busy.enter_context(self._voice())
        if store.write is not None and not held:
            self._patience = 0.0  # that was long enough
        self._busy.callback(store.prune)
        return True

    @contextlib.contextmanager
    def _voice(self) -> Iterator[None]:
        """Speak up if this takes long, unless the log is read, where everything is told anyway."""
        if self._told or _log.isEnabledFor(logging.INFO):
            yield
            return
        timer = threading.Timer(max(0.0, _SILENT - self._spent), self.tell, kwargs={"level": logging.WARNING})
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def tell(self, *, level: int) -> None:
        """Say once that kernels are being compiled."""
        if self._told or not _log.isEnabledFor(level):
            return
        self._told = True
        store = kernel_store()
        kept = f", kept in {store.write}" if store.write else ""
        why = f" ({store.why})" if store.write and store.why else ""
        _log.log(level, "compiling kernels for first use (about %d s, more on a busy machine)%s%s", _USUAL, kept, why)

    def lose(self) -> None:
        """Say once that what was compiled is not kept."""
        if not self._lost:
            self._lost = True
            store = kernel_store()
            why = store.why or f"{store.write} takes no more"
            _log.warning("compiled kernels cannot be kept, the next start compiles them again: %s", why)


_first_use = _FirstUse()


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _fingerprint(value: Any, seen: set[int]) -> str:
    """Describe a value that a kernel's machine code depends on, the same in every process."""
    # A kernel has its function as `py_func`, an intrinsic of numba's as `_defn`.
    function = getattr(value, "py_func", None) or getattr(value, "_defn", None) or value
    if isinstance(function, FunctionType):
        if id(function) in seen:
            return function.__qualname__
        seen.add(id(function))
        codes = list(_codes(function.__code__))
        constants = [item for code in codes for item in code.co_consts if not isinstance(item, CodeType)]
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        names = [name for code in codes for name in code.co_names]
        used = [function.__globals__[name] for name in names if name in function.__globals__]
        inner = [_fingerprint(item, seen) for item in (*constants, *cells, *used)]
        options = sorted({**getattr(value, "targetoptions", {}), "nopython": True}.items())
        return (
            f"{function.__qualname__}({options} {' '.join(code.co_code.hex() for code in codes)}, {', '.join(inner)})"
        )
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(_fingerprint(item, seen) for item in value)}]"
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return f"{type(value).__name__} {value!r}"
    return str(getattr(value, "__qualname__", type(value).__qualname__))


class _Cache:
    """What numba asks of a kernel's cache, on the store."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._function = function
        self._options = options
        self._name = re.sub(r"[^\w.]", "", f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}")

    @property
    def cache_path(self) -> str | None:
        """The folder, for `stats` of the kernel."""
        folder = kernel_store().write
        return None if folder is None else str(folder)

    @functools.cached_property
    def _code(self) -> str:
        try:
            source = Path(self._function.__code__.co_filename).read_bytes()
        except OSError:
            source = b""
        return f"{hashlib.sha256(source).hexdigest()} {_fingerprint(self._function, set())}"

    def _file(self, signature: Any, codegen: Any) -> str:
        settings = (numba_config.OPT, numba_config.BOUNDSCHECK, sorted(self._options.items()))
        versions = (numba.__version__, llvmlite.__version__, sys.version, getattr(sys, "abiflags", ""))
        key = repr((signature, codegen.magic_tuple(), settings, versions, self._code))
        return f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.kernel"

    def _load(self, signature: Any, target_context: Any) -> Any:
        name = self._file(signature, target_context.codegen())
        payload = kernel_store().load(name)
        if payload is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(payload))  # noqa: S301 (our own file)
        except Exception:  # noqa: BLE001 (whatever it is, compiling anew puts it right)
            _log.info("%s cannot be loaded; the kernel is compiled anew", name, exc_info=True)
            return None

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled kernel; None if there is none yet, and then numba compiles it."""
        target_context.refresh()
        found = self._load(signature, target_context)
        if found is None and _first_use.begin():
            found = self._load(signature, target_context)
        if found is None:
            _first_use.tell(level=logging.INFO)
        return found

    def save_overload(self, _signature: Any, compiled: Any) -> None:
        """Keep what numba compiled."""
        if compiled.library.has_dynamic_globals:
            _log.warning("%s is compiled in every process: it uses a large global array or a pointer", self._name)
            return
        name = self._file(_signature, compiled.library.codegen)
        if not kernel_store().save(name, dumps(compiled._reduce())):
            _first_use.lose()

    def enable(self) -> None:
        """Nothing to do."""

    disable = flush = enable


def _watched(dispatcher: Any) -> Any:
    """Have compiling by one of numba's functions go through `_first_use`."""
    compile_one = dispatcher.compile

    @functools.wraps(compile_one)
    def compile_watched(signature: Any) -> Any:
        # numba's lock first: a thread that compiles another function, which calls a kernel, holds it already.
        with global_compiler_lock, _first_use.call(dispatcher.__name__):
            return compile_one(signature)

    return compile_watched


def kernel(*, makes_arrays: bool = True, **options: Any) -> Callable[[_F], _F]:
    """Return a decorator: `numba.njit` in no-Python mode with the cache above.

    Args:
        makes_arrays: False for a kernel that makes no arrays, only works in those that it is given (views of them
            included). numba then leaves out counting the references to every array it touches, which in functions of a few
            instructions takes longer than what they do.
        options: of `numba.njit`.

    For several cores take ``nogil=True`` and Python's threads, not ``parallel=True``: numba's threads end a forked child
    (GNU OpenMP) or, used by two of Python's threads at once, the program (its own pool).

    >>> @kernel()
    ... def twice(x):
    ...     return 2 * x
    >>> twice.py_func(4)
    8
    """
    if not makes_arrays:
        options["_nrt"] = False

    def decorate(function: _F) -> _F:
        made: Any = numba.njit(**options)(function)
        if not numba_config.DISABLE_JIT:
            made._cache = _Cache(function, options)  # as numba's `enable_caching` does
            made.compile = _watched(made)
        return cast(_F, made)

    return decorate
