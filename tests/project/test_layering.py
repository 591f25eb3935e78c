"""Arrows between packages point one way, and heavy libraries stay where they belong."""

from __future__ import annotations

import graphlib
import subprocess
import sys

import pytest

from project.source_tree import Module, imports_of_text, modules

PACKAGE_ORDER = ("prial.configs", "prial.envs", "prial.agents", "prial.training")

# Inside envs, from the bottom up; a module imports from its own layer and those below.
ENVS_LAYERS = (
    {
        "cards",
        "card_picture",
        "deals",
        "kernel_cache",
        "kernel_store",
        "picture",
        "picture_pixels",
        "_kernels_deals",
        "threads",
        "whole_arrays",
        "whole_numbers",
        "yaml_text",
    },
    {"brag", "hands_picture"},
    {"crash.rules", "crash.presets"},
    {
        "crash._kernels_lanes",
        "crash._kernels_search",
        "crash._kernels",
        "crash.partitions",
        "crash.searches",
        "crash.arrangement",
        "crash.actions",
        "crash.features",
    },
    {
        "crash.events",
        "crash.scoring",
        "crash.starts",
        "crash.game",
        "crash.observation",
        "crash.worlds",
        "crash.candidates_view",
        "crash.picking",
    },
    {
        "crash.record_text",
        "crash.record_values",
        "crash.record_json",
        "crash.record_events",
        "crash.record_check",
        "crash.record",
    },
    {
        "crash.table",
        "crash._kernels_settling",
        "crash._kernels_rounds",
        "crash._kernels_acting",
        "crash._kernels_play",
        "crash.tables",
        "crash.vector_base",
        "crash.vector",
        "crash.env",
        "crash.coders",
        "crash.coders_many",
        "crash.action_wrappers",
        "crash.wrappers",
        "crash.hand_by_hand",
        "crash.render",
        "crash.round_picture",
        "crash.table_picture",
        "crash_v0",
    },
)
# What importing the package shows to users: it may name everything, and nothing inside imports it.
ENVS_DOORS = ("prial.envs", "prial.envs.crash")
ENVS_LAYER = {f"prial.envs.{name}": order for order, names in enumerate(ENVS_LAYERS) for name in names}
ADAPTERS = {f"prial.envs.{name}" for name in ENVS_LAYERS[-1]} | set(ENVS_DOORS)
PLAYING_LIBRARIES = ("gymnasium", "pettingzoo")
NOT_IN_ENVS = ("torch", "stable_baselines3", "sb3_contrib", "typer", "rich", "onnxruntime", "onnx")
NOT_WHEN_PLAYING = (
    "torch",
    "stable_baselines3",
    "sb3_contrib",
    "tensorboard",
    "onnx",
    "onnxscript",
    "pygame",
    "PIL",
    "matplotlib",
    "fastapi",
)


def _package(name: str) -> int | None:
    for order, package in enumerate(PACKAGE_ORDER):
        if name == package or name.startswith(package + "."):
            return order
    return None


PROJECT_MODULES = {m.name for m in modules()}


def _module_of(name: str) -> str | None:
    """Return the module that holds an imported name, if it is the project's."""
    while name and name not in PROJECT_MODULES:
        name = name.rpartition(".")[0]
    return name or None


def _faults(module: Module, forbidden: tuple[str, ...], *, only_at_import: bool = False) -> list[str]:
    return [
        f"line {i.line}: {i.name}"
        for i in module.imports()
        if i.within(*forbidden) and (i.at_import or not only_at_import)
    ]


def test_the_reader_of_imports_sees_every_form() -> None:
    text = (
        "import a.b as c\n"
        "from . import d\n"
        "from ..envs.cards import Card\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import torch\n"
        "else:\n    import e\n"
        "try:\n    import f\nexcept ImportError:\n    pass\n"
        "class K:\n    import g\n"
        "def h():\n    from prial.training import i\n"
    )
    found = {i.name: (i.at_import, i.typing_only) for i in imports_of_text(text, "prial.agents")}
    assert found == {
        "a.b": (True, False),
        "prial.agents.d": (True, False),
        "prial.envs.cards.Card": (True, False),
        "typing.TYPE_CHECKING": (True, False),
        "torch": (False, True),
        "e": (True, False),
        "f": (True, False),
        "g": (True, False),
        "prial.training.i": (False, False),
    }


@pytest.mark.parametrize("module", modules(), ids=str)
def test_packages_import_downwards_only(module: Module) -> None:
    own = _package(module.name)
    assert own is not None
    for i in module.imports():
        other = _package(i.name)
        assert other is None or other <= own, f"{module}, line {i.line}, imports {i.name}"


@pytest.mark.parametrize("module", modules(), ids=str)
def test_imports_inside_the_project_are_relative(module: Module) -> None:
    text = module.path.read_text(encoding="utf-8")
    absolute = [i for i in imports_of_text(text, "here") if i.within("prial")]
    assert absolute == []


@pytest.mark.parametrize("module", [m for m in modules("envs") if m.name not in ENVS_DOORS], ids=str)
def test_envs_import_downwards_only(module: Module) -> None:
    assert module.name in ENVS_LAYER, f"give {module} a layer in ENVS_LAYERS"
    for i in module.imports():
        other = _module_of(i.name)
        if other is not None and other.startswith("prial.envs"):
            assert other in ENVS_LAYER, f"{module}, line {i.line}, imports {other}, which has no layer"
            assert ENVS_LAYER[other] <= ENVS_LAYER[module.name], f"{module}, line {i.line}, imports {i.name}"


def test_layers_name_modules_that_exist() -> None:
    assert set(ENVS_LAYER) == {m.name for m in modules("envs")} - set(ENVS_DOORS)


def test_no_two_modules_import_each_other() -> None:
    graph = {
        m.name: {other for i in m.imports() if i.at_import and (other := _module_of(i.name)) not in {None, m.name}}
        for m in modules()
    }
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names them


@pytest.mark.parametrize("module", modules("envs"), ids=str)
def test_envs_need_no_torch_and_no_console(module: Module) -> None:
    assert _faults(module, NOT_IN_ENVS) == []


@pytest.mark.parametrize("module", [m for m in modules("envs") if m.name not in ADAPTERS], ids=str)
def test_the_rules_engine_needs_no_environment_library(module: Module) -> None:
    assert _faults(module, PLAYING_LIBRARIES) == []


@pytest.mark.parametrize("module", modules("agents"), ids=str)
def test_agents_import_torch_only_when_they_need_it(module: Module) -> None:
    assert _faults(module, NOT_WHEN_PLAYING, only_at_import=True) == []


def test_playing_imports_nothing_heavy() -> None:
    """The same, as it happens: every module of envs and agents in a process of its own."""
    names = [m.name for m in modules("envs", "agents")]
    program = (
        "import importlib, sys\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        f"print(*[m for m in {NOT_WHEN_PLAYING!r} if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
    assert done.stderr == ""


def test_importing_the_environment_does_not_start_the_compiler() -> None:
    program = (
        "import sys\nfrom prial.envs import crash_v0\n"
        "print(*[m for m in ('numba', 'onnxruntime', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
