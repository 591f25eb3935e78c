"""What `prial bench` tells of the start: each figure comes from processes that did what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from prial.training import startup_times as module
from prial.training.startup_times import startup_times


def test_the_programs_run_and_the_medians_are_of_the_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    run, seconds = module._run, iter(range(1, 100))
    ran: list[str] = []

    def counted(code: str, **environment: str) -> tuple[float, str]:
        if code not in ran:
            run(code)  # it works
        ran.append(code)
        return float(next(seconds)), "3 2 1" if code is module._IMPORTS else ""

    monkeypatch.setattr(module, "_run", counted)
    times = startup_times(repeats=3, cold=False)
    assert ran == [module._HELP] * 4 + [module._IMPORTS] * 4 + [module._GAME] * 4
    assert times.to_dict() == {
        "help_s": 3.0,
        "libraries_s": 3.0,
        "envs_s": 2.0,
        "environment_s": 1.0,
        "cold_s": None,
        "warm_s": 11.0,
        "repeats": 3,
    }


@pytest.mark.slow
def test_a_cold_start_compiles_in_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    run, folders = module._run, []

    def watched(code: str, **environment: str) -> tuple[float, str]:
        found = run(code, **environment)
        if environment:
            folder = Path(environment["PRIAL_CACHE_DIR"])
            folders.append((folder, len(list(folder.rglob("*.kernel")))))
        return found

    monkeypatch.setattr(module, "_run", watched)
    times = startup_times(repeats=1)
    [(folder, kernels)] = folders
    assert kernels > 0
    assert not folder.exists()
    assert all(value is not None and value > 0 for value in times.to_dict().values())
