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


def test_some_doctests_were_found() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    cards = importlib.import_module("prial.envs.cards")
    assert sum(bool(test.examples) for test in finder.find(cards)) > 0
