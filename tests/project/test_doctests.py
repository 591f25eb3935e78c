"""Every module's doctests run (pytest's own --doctest-modules cannot import mapped packages)."""

from __future__ import annotations

import doctest
import importlib
import io
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

import pytest

from project.source_tree import Module, modules

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PUBLIC = [m for m in modules("envs", "agents", "training") if not m.name.rpartition(".")[2].startswith("_")]
OF_EXTRAS = ("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "safetensors", "onnx", "pyspiel")


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in OF_EXTRAS:
            raise
        pytest.skip(f"needs {error.name}, from an extra")


@pytest.mark.parametrize("module", modules(), ids=str)
def test_doctests(module: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    imported = _imported(module.name)
    report = io.StringIO()
    with redirect_stdout(report):
        failed, _ = doctest.testmod(imported, optionflags=OPTIONS)
    assert failed == 0, report.getvalue()


# Public modules without examples, each with its reason.
WITHOUT = {
    "prial.agents.onnx_agent": "plays files that training and export make; tests/training/test_export.py makes one",
    "prial.envs.crash": "a docstring and nothing else",
    "prial.envs.crash_v0": "its docstring is the manual page; README and docs/environment.md run it",
    "prial.envs.picture_pixels": "needs Pillow, an extra",
    "prial.training": "a docstring and nothing else",
    "prial.training.bench": "a docstring and nothing else",
    "prial.training.bench.startup": "starts processes, which takes seconds; tests/training/test_startup_times.py does",
    "prial.training.workers": "starts processes, which takes seconds; the arena and tests/training use it",
}
COMMANDS = "prial.training.commands"
"""Commands are shown as they are typed, in README and docs/; tests/training runs each."""


def _has_examples(name: str) -> bool:
    tests = doctest.DocTestFinder(exclude_empty=True).find(_imported(name))
    return any(test.examples for test in tests)


@pytest.mark.parametrize("module", PUBLIC, ids=str)
def test_every_public_module_shows_an_example(module: Module) -> None:
    if _has_examples(module.name):
        assert module.name not in WITHOUT, "it has one now: take it off the list"
    elif not module.name.startswith(COMMANDS):
        assert module.name in WITHOUT, "show an example, or say why there is none"
