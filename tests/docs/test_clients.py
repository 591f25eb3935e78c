"""The examples of docs/clients: each runs in a process of its own, learns something, and takes no illegal action."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

import pytest

from project.source_tree import ROOT

CLIENTS = ROOT / "docs" / "clients"
# Settings that end in seconds, and the libraries that each needs.
SMALL: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "sb3_maskable_ppo": ({"steps": 2_048, "rounds": 100}, ("sb3_contrib",)),
    "cleanrl_ppo": ({"updates": 3, "tables": 8, "rounds": 50}, ("torch",)),
    "torchrl_ppo": ({"updates": 25, "batch": 64, "rounds": 300}, ("torchrl",)),
    "tianshou_dqn": ({"steps": 3_000, "rounds": 400}, ("tianshou",)),
}


def _run(name: str, **settings: Any) -> dict[str, Any]:
    """What `main` of an example returns; warnings of the libraries are their own."""
    program = f"import json, {name}; print(json.dumps({name}.main(**{settings!r})))"
    done = subprocess.run([sys.executable, "-c", program], cwd=CLIENTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


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


def test_masked_dqn_of_tianshou_soon_beats_choosing_at_random() -> None:
    _needs("tianshou")
    result = _run("tianshou_dqn", steps=6_000, rounds=1_500)
    assert result["trained"] > result["random"] + 0.15


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


def test_masks_reach_both_vector_environments() -> None:
    _needs("sb3_contrib")
    program = "import json, vec_env_speed; print(json.dumps(vec_env_speed.main(steps=80, repeats=1)))"
    done = subprocess.run([sys.executable, "-c", program], cwd=CLIENTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout.splitlines()[-1])
    assert len(rows) == 12
    assert all(row["steps_a_second"] > 0 for row in rows)
