"""Worked examples of the rules as data; SOURCE.md describes the files.

`load("rounds")` reads a file, `cases("rounds")` makes pytest parameters with the cases' ids.
"""

import json
from pathlib import Path
from typing import Any

import pytest

Case = dict[str, Any]

FILES = (
    "arrangements",
    "cards",
    "classes",
    "comparisons",
    "exchanges",
    "orders",
    "rounds",
    "rules",
)


def load(name: str) -> list[Case]:
    """All cases of a file."""
    text = (Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8")
    cases: list[Case] = json.loads(text)
    return cases


def cases(name: str) -> list[Any]:
    """The cases of a file as parameters of a test, named by their ids.

    A case with several rule sets under `presets` becomes one parameter for each, with the rule
    set under `preset`.
    """
    parameters = []
    for case in load(name):
        if "presets" in case:
            parameters += [
                pytest.param({**case, "preset": preset}, id=f"{case['id']}-{preset}") for preset in case["presets"]
            ]
        else:
            parameters.append(pytest.param(case, id=case["id"]))
    return parameters


def split_row(row: str) -> list[list[str]]:
    """`"As Ad Ac | Ks Qs Js"` as a list of hands, each a list of cards; `""` lays nothing."""
    return [hand.split() for hand in row.split("|")] if row else []
