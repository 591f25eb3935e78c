"""Compiled kernels: right answers whatever has happened to what was kept, and what is said on first use."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numba.extending
import numpy as np
import pytest
from llvmlite import ir

from messages import without_compiling
from prial.envs import kernel_cache
from prial.envs.kernel_cache import kernel
from prial.envs.kernel_store import KernelStore

# A kernel that another calls, in a module of its own, since what is typed in has no source file.
SMALL = """
from prial.envs.kernel_cache import kernel

STEP = 2

@kernel()
def step(x):
    return x + STEP

@kernel()
def total(n):
    found = 0
    for i in range(n):
        found += step(i)
    return found
"""
USE = """
import json, small
print(json.dumps([small.total(10), sum(small.total.stats.cache_hits.values()), small.total.stats.cache_path]))
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "small.py").write_text(SMALL, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def first_use(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any], str]:
    """A place after its first use, and what that printed."""
    place = tmp_path_factory.mktemp("warm")
    (place / "small.py").write_text(SMALL, encoding="utf-8")
    return (place, *run(place))


@pytest.fixture
def warm(first_use: tuple[Path, list[Any], str], tmp_path: Path) -> Path:
    return shutil.copytree(first_use[0], tmp_path / "warm")


def run(place: Path, code: str = USE, **environment: str) -> tuple[Any, str]:
    """Run code with the cache in `place`; return what it printed and what went to standard error."""
    folders = {"PRIAL_CACHE_DIR": str(place / "cache"), "PYTHONPATH": str(place), "TMPDIR": str(place)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **folders, **environment},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def kept(place: Path) -> list[Path]:
    return sorted((place / "cache").rglob("*.kernel"))


def test_the_second_process_loads_what_the_first_compiled(first_use: tuple[Path, list[Any], str]) -> None:
    place, (value, hits, folder), _ = first_use
    assert (value, hits) == (65, 0)
    assert [path.name.partition("-")[0] for path in kept(place)] == ["small.step", "small.total"]
    assert {path.parent for path in kept(place)} == {Path(folder)}
    (value, hits, _), error = run(place)
    assert (value, hits, error) == (65, 1, "")


def test_a_constant_of_a_kernel_that_is_called_is_part_of_the_key(warm: Path) -> None:
    (warm / "constant.py").write_text("STEP = 2", encoding="utf-8")
    source = SMALL.replace("STEP = 2", "from constant import STEP")
    (warm / "small.py").write_text(source, encoding="utf-8")
    (value, hits, _), _ = run(warm)
    assert (value, hits) == (65, 0)
    (warm / "constant.py").write_text("STEP = 4", encoding="utf-8")
    (value, hits, _), _ = run(warm)
    assert (value, hits) == (85, 0)


def test_the_folder_removed_while_running(place: Path) -> None:
    code = """
import json, shutil, small
first = small.step(1)
shutil.rmtree(small.step.stats.cache_path)
print(json.dumps([first, small.total(10), small.total(10.0 > 1)]))
"""
    assert run(place, code)[0] == [3, 65, 2]
    assert len(kept(place)) >= 2


def test_no_room_on_the_disk(place: Path) -> None:
    pytest.importorskip("resource")
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n" + USE
    (value, hits, folder), error = run(place, code)
    assert (value, hits) == (65, 0)
    lost = f"compiled kernels cannot be kept, the next start compiles them again: {folder} takes no more"
    assert without_compiling(error) == lost  # once; a busy machine is slow enough to tell of compiling
    assert kept(place) == []
    assert list(place.rglob("*.kernel-tmp")) == []


def test_no_home_and_no_temporary_folder(place: Path) -> None:
    code = """
import json, os, sys, tempfile
from pathlib import Path
def homeless(): raise RuntimeError
def none(): raise FileNotFoundError(2, "No usable temporary directory found")
Path.home, tempfile.gettempdir = homeless, none
for name in ("PRIAL_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
    os.environ.pop(name, None)
import small
print(json.dumps([small.total(10), small.total.stats.cache_path]))
"""
    found, error = run(place, code)
    assert found == [65, None]
    lost = "compiled kernels cannot be kept, the next start compiles them again: there is no home folder"
    assert without_compiling(error) == lost


def test_numba_switched_off(place: Path) -> None:
    code = "import small; print(small.total(10))"
    assert run(place, code, NUMBA_DISABLE_JIT="1") == (65, "")
    assert not (place / "cache").exists()


def test_a_file_in_the_way_of_the_folder(place: Path) -> None:
    (place / "cache").write_text("", encoding="utf-8")
    (value, hits, folder), error = run(place)
    assert (value, hits, without_compiling(error)) == (65, 0, "")
    assert Path(folder).is_relative_to(place)
    (value, hits, _), _ = run(place)
    assert (value, hits) == (65, 1)


def test_the_log_tells_of_the_first_use_and_of_nothing_else(place: Path) -> None:
    log = "import logging; logging.basicConfig(format='%(name)s %(levelname)s %(message)s', level='INFO')\n"
    _, error = run(place, log + USE)
    line, *ready = error.splitlines()
    assert all(" is ready after " in later for later in ready)  # where it takes long
    assert line.startswith("prial.envs.kernel_cache INFO compiling kernels for first use (about ")
    assert str(place / "cache" / "kernels") in line
    assert run(place, log + USE)[1] == ""


def test_who_does_not_read_the_log_is_told_once_if_it_takes_long(place: Path) -> None:
    at_once = "import prial.envs.kernel_cache as cache; cache._SILENT = 0.0\n"
    _, error = run(place, at_once + USE + "small.total(1.5 > 1)")
    assert len(error.splitlines()) == 1
    assert error.startswith("compiling kernels for first use (about ")


def test_an_error_in_a_kernel_leaves_the_next_one_working(place: Path) -> None:
    code = """
import json, numba, small
from prial.envs.kernel_cache import _first_use
try:
    small.total("ten")
except numba.TypingError as error:
    print(json.dumps([type(error).__name__, small.total(10), _first_use._depth, _first_use._busy]))
"""
    assert run(place, code)[0] == ["TypingError", 65, 0, None]


PARALLEL = """
import numba
from prial.envs.kernel_cache import kernel

@kernel(parallel=True)
def total(values):
    found = 0
    for i in numba.prange(len(values)):
        found += values[i]
    return found
"""


def test_kernels_on_several_threads_are_kept(place: Path) -> None:
    (place / "wide.py").write_text(PARALLEL, encoding="utf-8")
    code = """
import json, numpy as np, wide
found = int(wide.total(np.arange(1000)))
print(json.dumps([found, sum(wide.total.stats.cache_hits.values())]))
"""
    assert run(place, code)[0] == [499500, 0]
    assert run(place, code)[0] == [499500, 1]


def test_many_threads_at_once_compile_once(place: Path) -> None:
    code = """
import json, small
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    found = list(pool.map(small.total, [10] * 40))
print(json.dumps([sorted(set(found)), sum(small.total.stats.cache_misses.values())]))
"""
    assert run(place, code)[0] == [[65], 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_uses_kernels_and_compiles_more(place: Path) -> None:
    code = """
import json, multiprocessing, small
first = small.total(10)
with multiprocessing.get_context("fork").Pool(3) as pool:
    print(json.dumps([first, pool.map(small.total, [10, 20, 10]), pool.map(small.total, [True, False]), small.step(1.5)]))
"""
    assert run(place, code)[0] == [65, [65, 230, 65], [2, 0], 3.5]


def test_importing_the_game_needs_no_numba() -> None:
    code = "import sys, prial.envs.crash.game, prial.envs.crash.observation; print(int('numba' in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


def test_nothing_is_written_beside_the_package() -> None:
    package = Path(kernel_cache.__file__).parent
    assert not [path for path in package.rglob("*") if path.suffix in (".nbi", ".nbc", ".kernel")]


# ---- in this process ---------------------------------------------------------------------------------------------------


def _twice(x: int) -> int:
    return 2 * x


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelStore:
    """An empty store, and nobody has been told anything."""
    folder = tmp_path / "0.1.0-0123456789abcdef"
    store = KernelStore(read=(folder,), write=folder, why=None)
    monkeypatch.setattr(kernel_cache, "kernel_store", lambda: store)
    monkeypatch.setattr(kernel_cache, "_first_use", kernel_cache._FirstUse())
    return store


def hits(value: int = 4) -> tuple[int, int]:
    """Call a kernel as a new process would; return how often the cache had it and had it not."""
    twice: Any = kernel()(_twice)
    assert twice(value) == 2 * value
    return sum(twice.stats.cache_hits.values()), sum(twice.stats.cache_misses.values())


def test_what_is_kept_is_found(store: KernelStore) -> None:
    assert hits() == (0, 1)
    assert hits() == (1, 0)
    again: Any = kernel(fastmath=True)(_twice)  # other options are other machine code
    assert again(4) == 8
    assert sum(again.stats.cache_misses.values()) == 1
    assert again.stats.cache_path == str(store.write)


@pytest.mark.parametrize("damage", ["half", "foreign", "folder"])
def test_a_damaged_file_is_compiled_anew(store: KernelStore, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    assert store.write is not None
    hits()
    [path] = store.write.glob("*.kernel")
    whole = path.read_bytes()
    if damage == "half":
        path.write_bytes(whole[: len(whole) // 2])
    elif damage == "foreign":  # whole, but no kernel
        store.save(path.name, b"no kernel")
    else:
        path.unlink()
        path.mkdir()
    with caplog.at_level(logging.INFO, logger="prial.envs"):
        assert hits() == (0, 1)
    assert ("compiled anew" in caplog.text) == (damage != "folder")
    assert hits() == ((0, 1) if damage == "folder" else (1, 0))


def test_what_another_process_compiled_meanwhile_is_taken(
    store: KernelStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hits()
    real = KernelStore.load
    answers = iter([None])
    monkeypatch.setattr(KernelStore, "load", lambda self, name: next(answers, real(self, name)))
    with caplog.at_level(logging.INFO, logger="prial.envs"):
        assert hits() == (1, 0)
    assert caplog.text == ""


def test_a_lock_that_nobody_lets_go_of_is_waited_for_once(store: KernelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    waited = []

    @contextlib.contextmanager
    def held_by_another(self: KernelStore, *, patience: float) -> Iterator[bool]:
        waited.append(patience)
        yield False

    monkeypatch.setattr(KernelStore, "locked", held_by_another)
    twice: Any = kernel()(_twice)
    assert (twice(4), twice(1.5)) == (8, 3.0)
    assert waited == [kernel_cache._PATIENCE, 0.0]


@pytest.mark.parametrize("worker", [False, True])
def test_it_is_told_once(
    store: KernelStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, *, worker: bool
) -> None:
    if worker:
        monkeypatch.setattr(kernel_cache.multiprocessing, "parent_process", object)
    monkeypatch.setattr(kernel_cache, "_SILENT", 0.0)
    with caplog.at_level(logging.WARNING, logger="prial.envs"):
        twice: Any = kernel()(_twice)
        assert (twice(4), twice(1.5)) == (8, 3.0)
    [record] = caplog.records
    assert (record.levelname, record.name) == ("WARNING", "prial.envs.kernel_cache")
    assert record.getMessage().startswith("compiling kernels for first use (about ")
    assert record.getMessage().endswith(f", kept in {store.write}")


def test_that_nothing_is_kept_is_told_once(
    store: KernelStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(KernelStore, "save", lambda self, name, payload: False)
    twice: Any = kernel()(_twice)
    assert (twice(4), twice(1.5)) == (8, 3.0)
    [record] = [record for record in caplog.records if "cannot be kept" in record.getMessage()]
    assert record.levelname == "WARNING"
    assert record.getMessage().endswith(f"{store.write} takes no more")


BIG = np.arange(1_000_000)


def test_a_kernel_that_numba_cannot_keep_is_named(store: KernelStore, caplog: pytest.LogCaptureFixture) -> None:
    @kernel()
    def look_up(index: int) -> Any:
        return BIG[index]

    assert look_up(7) == 7
    assert "look_up is compiled in every process" in caplog.text
    assert store.write is not None
    assert list(store.write.glob("*.kernel")) == []


def test_the_fingerprint_is_of_values() -> None:
    def told(value: Any) -> str:
        return kernel_cache._fingerprint(value, set())

    assert told(np.arange(3)) == told(np.arange(3)) != told(np.arange(4))
    assert told(np.arange(3, dtype=np.int8)) != told(np.arange(3, dtype=np.int16))
    assert told((1, 2.0, "x")) == told((1, 2.0, "x")) != told((1, 2, "x"))
    assert told(np.uint64(1)) != told(1)
    assert told(kernel()(_twice)) == told(kernel()(_twice)) != told(hits)
    assert told(np) == "module"
    assert told(lambda: 1 + hits) != told(lambda: 2 + hits)
    assert told(kernel()(_twice)) != told(kernel(makes_arrays=False)(_twice))

    def intrinsic_of(bits: int) -> Any:
        @numba.extending.intrinsic  # type: ignore[untyped-decorator]  # numba has no types
        def shifted(typing_context: Any, word: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                return builder.shl(arguments[0], ir.Constant(ir.IntType(64), bits))

            return numba.types.uint64(numba.types.uint64), generate

        return shifted

    assert told(intrinsic_of(1)) == told(intrinsic_of(1)) != told(intrinsic_of(2))

    def recursive(n: int) -> int:
        return 1 if n == 0 else n * recursive(n - 1)

    assert told(recursive).startswith("test_the_fingerprint")
