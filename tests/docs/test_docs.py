"""The pages of docs/: their Python runs, what is made from the code is up to date, and what they cite is there.

Links inside docs/ are checked when the site is built (`make docs`).
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from docs.made_blocks import BLOCKS, made_anew, make, names, pages
from markdown_examples import python_blocks, run_block
from prial.training.rules_explained import option_names
from project.source_tree import ROOT, files

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
# Pages whose examples need libraries of extras and run in a test of their own.
OTHERS_RUN = {"clients.md"}
OF_EXTRAS = ("torch", "stable_baselines3", "sb3_contrib")


def _id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


EXAMPLES = [
    pytest.param(page, line, code, id=f"{_id(page)}-line{line}")
    for page in PAGES
    if page.name not in OTHERS_RUN
    for line, code in python_blocks(page)
]


@pytest.mark.parametrize(("page", "line", "code"), EXAMPLES)
def test_example(page: Path, line: int, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        run_block(page, line, code)
    except ModuleNotFoundError as error:
        if error.name not in OF_EXTRAS:
            raise
        pytest.skip(f"needs {error.name}, from an extra")


def test_pages_have_examples() -> None:
    with_examples = {page.stem for page in PAGES if python_blocks(page)}
    assert {"agents", "arena", "combinatorics", "environment", "extending", "index", "rules", "vector"} <= with_examples


# ---- parts that are made ----------------------------------------------------------------------------------------------

PARTS = [pytest.param(page, name, id=f"{_id(page)}-{name}") for page in pages() for name in names(page)]


@pytest.mark.parametrize(("page", "name"), PARTS)
def test_what_is_made_from_the_code_is_up_to_date(page: Path, name: str) -> None:
    if name == "ppo-keys":
        pytest.importorskip("pydantic")
    text = page.read_text(encoding="utf-8")
    assert made_anew(text, name) == text, "run: make docs"


def test_every_block_is_used() -> None:
    assert set(BLOCKS) <= {name for page in pages() for name in names(page)}


def test_what_cannot_be_made_is_named() -> None:
    with pytest.raises(KeyError, match="no block 'presets'"):
        make("presets")
    with pytest.raises(RuntimeError, match=r"prial rules onlin' ended with 2.*did you mean 'online'"):
        make("$ prial rules onlin")


def test_only_the_part_that_is_wanted_is_made_anew() -> None:
    old = "a\n<!-- made: partitions -->\nold\n<!-- end -->\n<!-- made: features -->\nold\n<!-- end -->\nb\n"
    new = made_anew(old, "partitions")
    assert new.startswith("a\n<!-- made: partitions -->\n\n| Cards |")
    assert new.endswith("|\n\n<!-- end -->\n<!-- made: features -->\nold\n<!-- end -->\nb\n")


# ---- what pages and code say of each other ----------------------------------------------------------------------------


def test_the_rules_page_has_every_option_and_every_section_that_is_cited() -> None:
    text = (DOCS / "rules.md").read_text(encoding="utf-8")
    assert [option for option in option_names() if f"\n| `{option}` |" not in text] == []
    sections = set(re.findall(r"^## (\d)\. ", text, re.MULTILINE))
    sources = [path.read_text(encoding="utf-8") for path in (*files(".py"), *sorted((ROOT / "tests").rglob("*.py")))]
    cited = {
        number
        for source in sources
        for numbers in re.findall(r"RULES sections? (\d(?:(?:, | and | to )\d)*)", source)
        for number in re.findall(r"\d", numbers)
    }
    assert cited
    assert cited <= sections


def test_the_training_page_has_the_curves_of_a_run() -> None:
    if importlib.util.find_spec("sb3_contrib") is None:
        pytest.skip("needs sb3_contrib (the extra `train`)")
    from prial.training.ppo import _EPISODE_FACTS

    text = (DOCS / "training.md").read_text(encoding="utf-8")
    assert [fact for fact in _EPISODE_FACTS if f"`rollout/{fact}`" not in text] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_from_outside_the_site_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", text)
    assert [target for target in targets if not (ROOT / target).exists()] == []
