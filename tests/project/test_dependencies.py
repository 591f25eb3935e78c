"""What is imported is declared, what is declared is pinned, and the pins fit."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from project.source_tree import ROOT, Module, imports_of_text, modules, pyproject

PROJECT = pyproject()["project"]
# Distributions whose module has another name.
MODULES = {"open-spiel": "pyspiel", "pillow": "PIL", "pyyaml": "yaml"}
# Modules that belong to a declared distribution, which sets their version exactly.
PARTS = {"llvmlite": "numba", "open_spiel": "pyspiel"}


def _module(distribution: str) -> str:
    return MODULES.get(distribution, distribution.replace("-", "_"))


def _requirements(*extras: str) -> list[Requirement]:
    """Return the core's requirements and those of the extras, extras of extras included."""
    found = [Requirement(text) for text in PROJECT["dependencies"]]
    waiting = list(extras)
    while waiting:
        for text in PROJECT["optional-dependencies"][waiting.pop()]:
            requirement = Requirement(text)
            if requirement.name == PROJECT["name"]:
                waiting.extend(sorted(requirement.extras))
            else:
                found.append(requirement)
    return found


def _declared(*extras: str) -> set[str]:
    return {_module(r.name.lower()) for r in _requirements(*extras)}


def _third_party(name: str) -> str | None:
    top = name.partition(".")[0]
    return None if top in sys.stdlib_module_names or top == "prial" else PARTS.get(top, top)


def _pins() -> dict[str, str]:
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return dict(line.split("==") for line in lines)


@pytest.mark.parametrize("module", modules("envs", "agents", "configs"), ids=str)
def test_the_core_imports_what_it_declares(module: Module) -> None:
    for i in module.imports():
        top = _third_party(i.name)
        allowed = _declared() if i.at_import else _declared("train", "export", "render")
        assert top is None or top in allowed, f"{module}, line {i.line}, imports {i.name}"


@pytest.mark.parametrize("module", modules("training"), ids=str)
def test_training_imports_what_the_extras_declare(module: Module) -> None:
    for i in module.imports():
        top = _third_party(i.name)
        allowed = _declared("train", "export", "solve", "openspiel", "plot", "cluster")
        assert top is None or top in allowed, f"{module}, line {i.line}, imports {i.name}"


def _own_modules_of_tests() -> set[str]:
    tests = ROOT / "tests"
    return {p.stem for p in tests.rglob("*.py")} | {p.name for p in tests.iterdir() if p.is_dir()}


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_tests_import_what_dev_declares(path: Path) -> None:
    allowed = _declared("dev") | _own_modules_of_tests()
    package = ".".join(path.parent.relative_to(ROOT).parts)
    for i in imports_of_text(path.read_text(encoding="utf-8"), package):
        top = _third_party(i.name)
        assert top is None or top in allowed or top == "tests", f"line {i.line} imports {i.name}"


def test_every_declared_core_dependency_is_used() -> None:
    used = {_third_party(i.name) for m in modules() for i in m.imports()}
    assert _declared() - used == set()


@pytest.mark.parametrize("requirement", _requirements("dev", "openspiel", "peers"), ids=str)
def test_every_requirement_is_pinned_within_its_range(requirement: Requirement) -> None:
    pins = _pins()
    assert requirement.name.lower() in pins
    assert requirement.specifier.contains(pins[requirement.name.lower()])


def test_pins_are_plain_sorted_and_say_nothing_of_the_machine() -> None:
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert lines == sorted(lines)
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9.-]+==[0-9a-z.]+", line)] == []


def test_no_file_is_parsed_by_a_newer_python_only() -> None:
    for module in modules():
        ast.parse(module.path.read_text(encoding="utf-8"), feature_version=(3, 11))
