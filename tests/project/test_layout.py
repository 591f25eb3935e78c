"""pyproject.toml lists what the tree holds: packages, types and data."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from project.source_tree import FOLDERS, ROOT, files, package_folders, pyproject

SETUPTOOLS = pyproject()["tool"]["setuptools"]


def test_every_package_folder_is_listed() -> None:
    assert sorted(SETUPTOOLS["packages"]) == sorted(package_folders())


def test_every_package_is_mapped_to_its_folder() -> None:
    assert SETUPTOOLS["package-dir"] == package_folders()


@pytest.mark.parametrize("folder", sorted(package_folders().values()))
def test_every_package_folder_has_an_init(folder: str) -> None:
    assert (ROOT / folder / "__init__.py").is_file()


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_top_package_says_that_it_is_typed(folder: str) -> None:
    assert (ROOT / folder / "py.typed").is_file()
    assert "py.typed" in SETUPTOOLS["package-data"][f"prial.{folder}"]


def _data_files() -> list[str]:
    return [p.relative_to(ROOT).as_posix() for p in files() if p.suffix not in {".py", ".pyc"}]


def test_every_data_file_gets_into_the_wheel() -> None:
    taken = set()
    for package, patterns in SETUPTOOLS["package-data"].items():
        folder = ROOT / SETUPTOOLS["package-dir"][package]
        for pattern in patterns:
            taken |= {p.relative_to(ROOT).as_posix() for p in folder.glob(pattern)}
    assert set(_data_files()) - taken == set()


def test_data_and_code_have_names_that_every_system_can_hold() -> None:
    """Windows and macOS do not tell upper from lower case, and some names are devices."""
    names = [p.relative_to(ROOT).as_posix() for p in files()]
    assert len({n.lower() for n in names}) == len(names)
    assert not [n for n in names if PurePosixPath(n).stem.lower() in {"aux", "con", "nul", "prn"}]


def test_the_tests_mirror_the_folders() -> None:
    own = {"project", "docs", "oracles", "golden", "twins"}
    folders = {p.name for p in (ROOT / "tests").iterdir() if p.is_dir() and any(p.glob("test_*.py"))}
    assert folders - own <= set(FOLDERS)
