"""Pieces of work on several processes: none of them outlives the one that started them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

# Each piece leaves a file named by its process, then takes far longer than the test.
SLOW = """
import os, sys, time
from pathlib import Path
from prial.training.workers import spread

def make_state(plan):
    return None

def work(plan, state, number, tick):
    Path(plan, str(os.getpid())).touch()
    time.sleep(600)

if __name__ == "__main__":
    list(spread(work, sys.argv[1], 2, make_state=make_state, jobs=2, progress=lambda done: None))
"""


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    try:  # one that is dead and that nobody has asked about is dead all the same
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return True


@pytest.mark.skipif(sys.platform == "win32", reason="processes are asked for by POSIX signals")
def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    script, folder = tmp_path / "slow.py", tmp_path / "alive"
    script.write_text(SLOW, encoding="utf-8")
    folder.mkdir()
    parent = subprocess.Popen([sys.executable, str(script), str(folder)])
    try:
        deadline = time.monotonic() + 120
        while len(workers := [int(file.name) for file in folder.iterdir()]) < 2:
            assert time.monotonic() < deadline
            assert parent.poll() is None
            time.sleep(0.05)
        assert all(is_alive(worker) for worker in workers)
    finally:
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + 30
    while any(is_alive(worker) for worker in workers):
        assert time.monotonic() < deadline, "workers went on without their parent"
        time.sleep(0.05)
