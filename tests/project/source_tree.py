"""The project read as source: its modules, what they import, and pyproject.toml."""

from __future__ import annotations

import ast
import functools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDERS = ("envs", "agents", "training", "configs")


@functools.cache
def pyproject() -> dict[str, Any]:
    """Return pyproject.toml as a table."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def files(*suffixes: str) -> list[Path]:
    """Return the files of the package folders with one of the suffixes (all without)."""
    return sorted(
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and (not suffixes or path.suffix in suffixes)
    )


def package_folders() -> dict[str, str]:
    """Return each folder that holds Python files, by its package name: `prial.envs.crash`."""
    folders = {path.parent.relative_to(ROOT) for path in files(".py")}
    return {"prial." + ".".join(f.parts): f.as_posix() for f in sorted(folders)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One name that a module imports.

    Attributes:
        name: Absolute dotted name; `from x import y` gives `x.y`, whatever `y` is.
        line: Line of the statement.
        at_import: Whether the statement runs when the module is imported (not in a function,
            not under `if TYPE_CHECKING`).
        typing_only: Whether it stands under `if TYPE_CHECKING`.
    """

    name: str
    line: int
    at_import: bool
    typing_only: bool

    def within(self, *packages: str) -> bool:
        """Return whether the name is one of the packages or lies in one."""
        return any(self.name == p or self.name.startswith(p + ".") for p in packages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One Python file of the project."""

    name: str
    path: Path

    @property
    def package(self) -> str:
        """The package that its relative imports start from."""
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]

    def imports(self) -> list[Import]:
        """Return everything that the module imports, absolute and relative."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"), filename=str(self.path))
        return list(_imports(tree, self.package, at_import=True, typing_only=False))

    def __str__(self) -> str:
        return self.name


def modules(*folders: str) -> list[Module]:
    """Return the modules of the package folders (all folders without arguments)."""
    found = []
    for path in files(".py"):
        relative = path.relative_to(ROOT)
        parts = relative.parent.parts if path.name == "__init__.py" else relative.with_suffix("").parts
        if not folders or relative.parts[0] in folders:
            found.append(Module(name=".".join(("prial", *parts)), path=path))
    return found


def imports_of_text(text: str, package: str) -> list[Import]:
    """Return the imports of a source text that stands in `package`."""
    return list(_imports(ast.parse(text), package, at_import=True, typing_only=False))


def _imports(node: ast.AST, package: str, *, at_import: bool, typing_only: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            for name in _names(child, package):
                yield Import(name=name, line=child.lineno, at_import=at_import, typing_only=typing_only)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _imports(child, package, at_import=False, typing_only=typing_only)
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for statement in child.body:
                wrapped = ast.Module(body=[statement], type_ignores=[])
                yield from _imports(wrapped, package, at_import=False, typing_only=True)
            for statement in child.orelse:
                wrapped = ast.Module(body=[statement], type_ignores=[])
                yield from _imports(wrapped, package, at_import=at_import, typing_only=typing_only)
        else:
            yield from _imports(child, package, at_import=at_import, typing_only=typing_only)


def _names(statement: ast.Import | ast.ImportFrom, package: str) -> list[str]:
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    base = statement.module or ""
    if statement.level:
        parts = package.split(".")
        parts = parts[: len(parts) - statement.level + 1]
        base = ".".join([*parts, base] if base else parts)
    return [f"{base}.{alias.name}" for alias in statement.names]
