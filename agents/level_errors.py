"""How levels err: how often and how much at one slip, and the chance that it follows.

Whoever plays as a level does takes it from here: `prial.agents.levels` in Python, one-file bots as ONNX nodes.

Chance is a function of a key, one number of 64 bits a decision: hashed (splitmix64) with what a number is for and about.
"""

from __future__ import annotations

import math
from enum import IntEnum
from functools import cache

import numpy as np
import numpy.typing as npt

from ..envs.brag import NUM_STRENGTHS, BragClass, class_of_strength

__all__ = [
    "FEELS",
    "FORGETS",
    "LIKES_FIRST",
    "LIKES_FLUSH",
    "LIKES_GREEDY",
    "MISJUDGES",
    "MISJUDGES_EXCHANGE",
    "MIX_FIRST",
    "MIX_SECOND",
    "MIX_STEP",
    "OVERLOOKS",
    "POSITION",
    "SURELY",
    "Keys",
    "Purpose",
    "classes",
    "errors",
    "overlooked",
    "uniform",
]

Keys = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

# At one slip. Worths in points, a tenth of a win.
MISJUDGES = 0.25
LIKES_FIRST = 0.03
LIKES_GREEDY = 0.03
LIKES_FLUSH = 0.05
FORGETS = 0.2
FEELS = 0.2
MISJUDGES_EXCHANGE = 0.25
OVERLOOKS = {
    BragClass.PRIAL: 0.02,
    BragClass.RUNNING_FLUSH: 0.2,
    BragClass.RUN: 0.3,
    BragClass.FLUSH: 0.25,
    BragClass.PAIR: 0.1,
    BragClass.HIGH_CARD: 0.1,
}
SURELY = 0.3
"""Nothing is overlooked, and the score not forgotten, more often."""

POSITION = 1024
"""How far apart the numbers are that two positions of a hand, or of its class, are about."""
MIX_FIRST, MIX_SECOND, MIX_STEP = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15
"""Of splitmix64: the factors of its finaliser, and the step from one state to the next."""


class Purpose(IntEnum):
    """What a number drawn from a key is for."""

    SEEING = 1
    JUDGING_CLASS = 2
    JUDGING_HAND = 3
    SCORE = 4
    FEELING = 5
    WORTH = 6


@cache
def classes() -> npt.NDArray[np.int64]:
    """Return the class of each strength: int64 (742,); of no hand, that of a high card.

    >>> BragClass(classes()[741]).label
    'prial'
    """
    kinds = [class_of_strength(strength) for strength in range(1, NUM_STRENGTHS + 1)]
    return np.array([BragClass.HIGH_CARD, *kinds], np.int64)


@cache
def overlooked() -> Floats:
    """Return the chance to overlook a hand of each strength, at one slip: float64 (742,).

    >>> overlooked()[741].item()
    0.02
    """
    return np.array([OVERLOOKS[BragClass(kind)] for kind in classes()])


def _mixed(keys: Keys) -> Keys:
    """Return numbers that share nothing with those they come from (the finaliser of splitmix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(MIX_FIRST)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(MIX_SECOND)
    return keys ^ (keys >> np.uint64(31))


def uniform(keys: Keys, purpose: Purpose, about: npt.NDArray[np.integer] | int = 0) -> Floats:
    """Return numbers between 0 and 1, both excluded: float64, in the shape of keys and what they are about together.

    Args:
        keys: of the decisions, uint64 of any shape.
        purpose: what the numbers are for.
        about: what each is about, such as a strength.

    >>> uniform(np.array([1, 2], np.uint64), Purpose.SCORE).round(3).tolist()
    [0.473, 0.629]
    """
    salt = np.asarray(about, np.int64).astype(np.uint64) * np.uint64(MIX_STEP) + np.uint64(purpose << 56)
    bits = _mixed(_mixed(keys + salt) + np.uint64(purpose))
    drawn: Floats = ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return drawn


def errors(keys: Keys, purpose: Purpose, about: npt.NDArray[np.integer] | int = 0) -> Floats:
    """Return errors of a logistic distribution with a standard deviation of 1: float64, as `uniform`.

    >>> errors(np.array([1, 2], np.uint64), Purpose.WORTH).round(3).tolist()
    [-0.756, 0.656]
    """
    drawn = uniform(keys, purpose, about)
    found: Floats = np.log(drawn / (1 - drawn)) * (math.sqrt(3) / math.pi)
    return found
