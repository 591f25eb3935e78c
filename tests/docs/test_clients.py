"""The examples of docs/clients: each runs in a process of its own and takes no illegal action."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from project.source_tree import ROOT

CLIENTS = ROOT / "docs" / "clients"
# Settings that end in seconds, and the libraries that each needs.
SMALL: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "sb3_maskable_ppo": ({"steps": 1_024, "rounds": 50}, ("sb3_contrib",)),
    "cleanrl_ppo": ({"updates": 2, "tables": 8, "rounds": 20}, ("torch",)),
    "torchrl_ppo": ({"updates": 2, "batch": 32, "rounds": 30}, ("torchrl",)),
    "tianshou_dqn": ({"steps": 480, "rounds": 40}, ("tianshou",)),
}


def _run(name: str, **settings: Any) -> Any:
    """What `main` of an example returns; warnings of the libraries are their own."""
    program = f"import json, {name}; print(json.dumps({name}.main(**{settings!r})))"
    # One thread: on busy cores the threads of torch wait for each other.
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=CLIENTS, env=one_thread, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def _needs(*libraries: str) -> None:
    for library in libraries:
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"needs {library} (the extra `clients`)")


@pytest.mark.parametrize("name", SMALL)
def test_example_runs(name: str) -> None:
    settings, libraries = SMALL[name]
    _needs(*libraries)
    result = _run(name, **settings)
    assert result.get("illegal", 0) == 0  # the others raise at an illegal action
    assert -2 < result["random"] < 2
    assert -2 < result["trained"] < 2


def test_hand_by_hand_soon_beats_choosing_at_random() -> None:
    _needs("torch")
    result = _run("cleanrl_ppo", updates=30, tables=64, rounds=500)
    assert result["illegal"] == 0
    assert result["trained"] > result["random"] + 0.2


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_example_learns(name: str) -> None:
    _needs(*SMALL[name][1])
    result = _run(name)
    print(name, result)
    assert result["trained"] > result["random"] + 0.1


@pytest.mark.parametrize("name", [*SMALL, "vec_env_speed"])
def test_the_page_shows_every_example(name: str) -> None:
    assert f"clients/{name}.py" in (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")


def test_no_example_is_left_out() -> None:
    assert {path.stem for path in CLIENTS.glob("*.py")} == {*SMALL, "vec_env_speed"}


def test_masks_reach_all_vector_environments() -> None:
    _needs("sb3_contrib")
    rows = _run("vec_env_speed", workers=2, steps=20, repeats=1)
    assert len(rows) == 24
    assert all(row["steps_a_second"] > 0 for row in rows)
