"""Compiled kernels: where they are kept, when they start afresh, and first use by many at once."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prial.envs import kernel_cache

USE = """
import time, json, sys
start = time.perf_counter()
import prial.envs.crash.game as game
imported = time.perf_counter() - start
from prial.envs.crash.partitions import undominated
from prial.envs.crash.rules import CrashRules
found = undominated(range(13), CrashRules())
from prial.envs.crash import _kernels
stats = _kernels.undominated_batch.stats
print(json.dumps([len(found), sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), imported]))
"""


def _start(folder: Path, code: str = USE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PRIAL_CACHE_DIR": str(folder)},
    )


def _end(process: subprocess.Popen[str]) -> list[float]:
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    assert error == ""
    numbers: list[float] = [float(x) for x in out.strip("[]\n ").split(",")]
    return numbers


@pytest.mark.slow
def test_many_first_users_at_once_even_if_some_are_killed(tmp_path: Path) -> None:
    """Four at once with an empty cache, two of them killed while compiling; then a whole one, then from the cache."""
    first = [_start(tmp_path) for _ in range(4)]
    time.sleep(4)
    for process in first[:2]:
        process.kill()
        process.communicate()
    found = [_end(process) for process in first[2:]]
    assert len({tuple(numbers[:1]) for numbers in found}) == 1
    _end(_start(tmp_path))
    size, hits, misses, _ = _end(_start(tmp_path))
    assert (size, hits, misses) == (found[0][0], 1, 0)
    [folder] = (tmp_path / "kernels").iterdir()
    assert folder.name.startswith("0.") or folder.name[0].isdigit()
    assert any(folder.rglob("*.nbi"))


def test_importing_the_game_needs_no_numba() -> None:
    code = "import sys, prial.envs.crash.game, prial.envs.crash.observation; print(int('numba' in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


def test_nothing_is_written_beside_the_package() -> None:
    package = Path(kernel_cache.__file__).parent
    assert not [path for path in package.rglob("*") if path.suffix in (".nbi", ".nbc")]


def test_the_key_changes_with_every_kernel_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("kernel_cache.py", "_kernels.py", "deep/_kernels_more.py"):
        (tmp_path / name).write_text("old", encoding="utf-8")
    (tmp_path / "other.py").write_text("old", encoding="utf-8")
    monkeypatch.setattr(kernel_cache, "__file__", str(tmp_path / "kernel_cache.py"))
    keys = [kernel_cache._sources_key()]
    for name in ("kernel_cache.py", "_kernels.py", "deep/_kernels_more.py"):
        (tmp_path / name).write_text("new", encoding="utf-8")
        keys.append(kernel_cache._sources_key())
    assert len(set(keys)) == 4
    (tmp_path / "other.py").write_text("new", encoding="utf-8")
    assert kernel_cache._sources_key() == keys[-1]


def test_the_folder_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PRIAL_CACHE_DIR", str(tmp_path / "own"))
    assert kernel_cache._user_cache() == tmp_path / "own"
    monkeypatch.delenv("PRIAL_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert kernel_cache._user_cache() == tmp_path / "prial"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert kernel_cache._user_cache() == tmp_path / "local" / "prial" / "Cache"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert kernel_cache._user_cache() == Path.home() / "Library" / "Caches" / "prial"


def test_a_folder_that_cannot_be_written_is_replaced_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv("PRIAL_CACHE_DIR", str(blocked))
    with caplog.at_level(logging.WARNING):
        folder = kernel_cache.cache_folder.__wrapped__()
    assert folder.is_dir()
    assert "kernel cache is not writable" in caplog.text
    folder.rmdir()


def test_the_setting_of_other_packages_is_put_back() -> None:
    from numba.core import config

    before = config.CACHE_DIR

    @kernel_cache.kernel()
    def twice(x: int) -> int:
        return 2 * x

    assert twice(4) == 8
    assert before == config.CACHE_DIR
