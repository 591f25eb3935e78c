"""What a module marks as its own with an underscore, no other module imports. (Ruff's SLF refuses `other._name`.)"""

from __future__ import annotations

import pytest

from project.source_tree import Import, Module, imports_of_text, modules


def _private(imports: list[Import]) -> list[str]:
    """Return what is private of what is imported, but for kernels: their modules share what numba has to see."""
    ours = [i.name for i in imports if i.within("prial")]
    return [name for name in ours if any(p.startswith("_") for p in name.split(".")) and "._kernels" not in name]


def test_the_private_names_are_seen() -> None:
    text = (
        "from ..envs.cards import Card, _pack\nfrom ._words import say\nfrom . import _kernels, _own\nimport _thread\n"
    )
    assert _private(imports_of_text(text, "prial.agents")) == [
        "prial.envs.cards._pack",
        "prial.agents._words.say",
        "prial.agents._own",
    ]


@pytest.mark.parametrize("module", modules(), ids=str)
def test_no_module_imports_a_private_name_of_another(module: Module) -> None:
    assert _private(module.imports()) == []
