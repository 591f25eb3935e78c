"""The wheel with core dependencies, in a fresh environment: enough to play, and nothing more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from project.source_tree import FOLDERS, ROOT, files

pytestmark = pytest.mark.slow

HEAVY = ("torch", "stable_baselines3", "sb3_contrib", "onnx", "pygame", "matplotlib", "fastapi")

PLAY_ENVIRONMENT = """
from prial.envs import crash_v0

env = crash_v0.env(rules="online")
totals = {}
for seed in range(5):
    env.reset(seed=seed)
    env.action_space(env.agents[0]).seed(seed)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        totals[agent] = totals.get(agent, 0) + reward
        space = env.action_space(agent)
        over = termination or truncation
        env.step(None if over else space.sample(observation["action_mask"]))
assert len(totals) == 3, totals
assert sum(totals.values()) == 0, totals
"""

PLAY_AGENTS = """
import numpy as np
from prial import agents
from prial.envs.crash.game import Game
from prial.envs.crash.observation import view_of
from prial.envs.crash.rules import CrashRules

rules = CrashRules.preset("online", players=3)
seats = [agents.make(name) for name in ("greedy", "percentile", "random")]
rng = np.random.default_rng(0)
rounds = 0
for table in range(500):
    game = Game(rules, seed=0, table=table)
    while game.result is None:
        for seat in game.pending:
            game.step(seats[seat].act(view_of(game, seat), rng), seat)
    assert game.result.winners
    rounds += game.rounds_played
assert rounds > 1000, rounds
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A virtual environment that holds the wheel and the core's dependencies."""

    folder: Path
    wheel: Path

    def program(self, name: str) -> Path:
        """Return the path of one of the environment's programs."""
        windows = sys.platform == "win32"
        return self.folder / ("Scripts" if windows else "bin") / (name + ".exe" * windows)

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, outside the source tree."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV"))}
        return subprocess.run(
            [self.program(program), *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=clean,
            cwd=self.folder,
            check=False,
        )

    def python(self, code: str) -> str:
        """Run code with warnings as errors; return what it printed."""
        done = self.run("python", "-W", "error", "-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("packaging")
    # Building leaves folders in the tree, and takes over what an earlier build left: use a copy.
    source = folder / "source"
    for name in FOLDERS:
        ignore = shutil.ignore_patterns("__pycache__", "*.pyc")
        shutil.copytree(ROOT / name, source / name, ignore=ignore)
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", folder, source], check=True)
    (wheel,) = folder.glob("prial-*.whl")
    venv.create(folder / "venv", with_pip=True)
    made = Installed(folder=folder / "venv", wheel=wheel)
    constraints = str(ROOT / "constraints.txt")
    done = made.run("python", "-m", *pip[2:], "install", "-c", constraints, str(wheel))
    assert done.returncode == 0, done.stderr
    return made


def test_the_wheel_holds_the_packages_and_nothing_else(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        names = {n for n in archive.namelist() if ".dist-info/" not in n}
        licences = [n for n in archive.namelist() if n.endswith("licenses/LICENSE")]
    assert names == {f"prial/{path.relative_to(ROOT).as_posix()}" for path in files()}
    assert len(licences) == 1


def test_nothing_heavy_is_installed(installed: Installed) -> None:
    find = f"import importlib.util as u; print(*[m for m in {HEAVY!r} if u.find_spec(m)])"
    assert installed.python(find).split() == []


@pytest.mark.parametrize("code", [PLAY_ENVIRONMENT, PLAY_AGENTS], ids=["environment", "agents"])
def test_it_plays(installed: Installed, code: str) -> None:
    report = f"\nimport sys; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    assert installed.python(code + report).split() == []


def test_version(installed: Installed) -> None:
    done = installed.run("prial", "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert "0.1.0" in done.stdout


def test_agents_are_listed(installed: Installed) -> None:
    done = installed.run("prial", "agents")
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("random-legal", "random", "greedy", "percentile"):
        assert name in done.stdout


def test_the_arena_measures(installed: Installed) -> None:
    arguments = ("greedy", "random", "--rules", "online", "--games", "60", "--seed", "1", "--json")
    done = installed.run("prial", "arena", *arguments)
    assert done.returncode == 0, done.stderr
    assert {a["agent"] for a in json.loads(done.stdout)["agents"]} == {"greedy", "random"}


def test_training_names_the_missing_extra_in_one_line(installed: Installed) -> None:
    done = installed.run("prial", "train", "ppo")
    assert done.returncode != 0
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "prial[train]" in line
