"""Every module's doctests run (pytest's own --doctest-modules cannot import mapped packages)."""

from __future__ import annotations

import doctest
import importlib
import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from project.source_tree import Module, modules

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PUBLIC = [m for m in modules("envs", "agents") if not m.name.rpartition(".")[2].startswith("_")]
OF_EXTRAS = ("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "safetensors", "onnx")


@pytest.mark.parametrize("module", modules(), ids=str)
def test_doctests(module: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        imported = importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in OF_EXTRAS:
            raise
        pytest.skip(f"needs {error.name}, from an extra")
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
}


def _has_examples(name: str) -> bool:
    tests = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name))
    return any(test.examples for test in tests)


@pytest.mark.parametrize("module", PUBLIC, ids=str)
def test_every_public_module_shows_an_example(module: Module) -> None:
    if _has_examples(module.name):
        assert module.name not in WITHOUT, "it has one now: take it off the list"
    else:
        assert module.name in WITHOUT, "show an example, or say why there is none"
