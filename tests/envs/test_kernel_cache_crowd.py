"""First use by many processes at once, some of them killed while they compile."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from prial.envs.kernel_store import KernelStore

USE = """
from prial.envs.crash.partitions import undominated
from prial.envs.crash.rules import CrashRules
found = len(undominated(range(13), CrashRules()))
from prial.envs.crash import _kernels
stats = _kernels.undominated_batch.stats
print(found, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
CROWD, KILLED = 16, 4


def start(place: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", USE],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PRIAL_CACHE_DIR": str(place)},
    )


def end(process: subprocess.Popen[str]) -> tuple[int, int, int]:
    out, error = process.communicate(timeout=600)
    assert process.returncode == 0, error
    # Nothing, or the one line that says what takes so long.
    assert [line for line in error.splitlines() if not line.startswith("compiling kernels for first use")] == []
    size, hits, misses = (int(word) for word in out.split())
    return size, hits, misses


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_sixteen_first_users_at_once_four_of_them_killed_while_compiling(tmp_path: Path, seed: int) -> None:
    chance = np.random.default_rng(seed)
    crowd = [start(tmp_path) for _ in range(CROWD)]
    while not list(tmp_path.rglob("*.kernel")):  # somebody has compiled a first small kernel
        time.sleep(0.01)
    for place in chance.choice(CROWD, KILLED - 1, replace=False).tolist():
        crowd[place].kill()
        crowd[place].communicate()
        time.sleep(chance.random())
        crowd[place] = start(tmp_path)
    holder = _holder(tmp_path, [process.pid for process in crowd])
    for place, process in enumerate(crowd):
        if process.pid == holder:
            process.kill()
            process.communicate()
            crowd[place] = start(tmp_path)
    found = [end(process) for process in crowd]
    assert len({size for size, _, _ in found}) == 1
    assert min(misses for _, _, misses in found) == 0
    assert sum(misses for _, _, misses in found) == 1, "one process compiled, the others waited for it"
    assert end(start(tmp_path)) == (found[0][0], 1, 0)
    [folder] = (tmp_path / "kernels").iterdir()
    store = KernelStore(read=(folder,), write=folder, why=None)
    names = [path.name for path in folder.glob("*.kernel")]
    assert names
    assert all(store.load(name) for name in names)


def _holder(place: Path, pids: list[int]) -> int | None:
    """Return which of the processes holds the lock; None where the system does not say."""
    if not sys.platform.startswith("linux"):
        return None
    [lock] = place.rglob("lock")
    inode = lock.stat().st_ino
    for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
        words = line.split()
        if words[1] == "POSIX" and int(words[5].rpartition(":")[2]) == inode and int(words[4]) in pids:
            return int(words[4])
    return None
