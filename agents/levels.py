"""Weaker levels of the trained agents: `online:easy`, `online:medium`, `online:hard`, and so on.

A level plays as its network does, but sees and judges as people do. The more it slips, the more of this happens:

- It **overlooks** hands. The strongest hand, then the strongest of the rest (what `greedy` lays) is what everybody sees;
  another hand goes unseen with a chance by its class: runs and flushes hide among 13 cards, pairs and prials hardly.
- It **misjudges** hands: a class of hands in a position, and a single hand there, is thought better or worse than it is.
  Hands that all arrangements share do not matter, and where much is at stake the best choice stays plain.
- It **likes** a strong Hand 1, what it has laid so as a whole, and flushes, which poker puts above runs.
- It **forgets the score**, and plays as at the start of the game.
- It exchanges and calls **by feeling**: by a threshold on one hand (`balanced`), else by a worth that it misjudges.

Only undominated arrangements are ever laid, and where there is one alone, that one. How much each level slips was measured
(`prial levels`, docs/levels.md): `agents/data/levels.json` has the figures and the command.

Chance: one number of 64 bits a view, in their order; all else in a row is a function of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.brag import NUM_STRENGTHS, BragClass, class_of_strength
from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import CandidateBatch
from ..envs.crash.rules import CrashRules
from . import trained
from .heuristics import Balanced
from .protocol import Actions, BaseAgent, Choices
from .trained import Trained

__all__ = ["LEVELS", "Level", "calibration_command", "level", "level_data"]

LEVELS = ("easy", "medium", "hard")
"""From the weakest on; `expert` is the network itself."""

Keys = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

# At one slip. Worths in points, a tenth of a win.
_MISJUDGES = 0.25
_LIKES_FIRST = 0.03
_LIKES_GREEDY = 0.03
_LIKES_FLUSH = 0.05
_FORGETS = 0.2
_FEELS = 0.2
_MISJUDGES_EXCHANGE = 0.25
_OVERLOOKS = {
    BragClass.PRIAL: 0.02,
    BragClass.RUNNING_FLUSH: 0.2,
    BragClass.RUN: 0.3,
    BragClass.FLUSH: 0.25,
    BragClass.PAIR: 0.1,
    BragClass.HIGH_CARD: 0.1,
}
_SURELY = 0.3  # nothing is overlooked, and the score not forgotten, more often

# What a number drawn from a view's key is for.
_SEEING, _JUDGING_CLASS, _JUDGING_HAND, _SCORE, _FEELING, _WORTH = range(1, 7)


@cache
def _classes() -> npt.NDArray[np.int64]:
    """The class of each strength: int64 (742,); of no hand, that of a high card."""
    kinds = [class_of_strength(strength) for strength in range(1, NUM_STRENGTHS + 1)]
    return np.array([BragClass.HIGH_CARD, *kinds], np.int64)


@cache
def _overlooked() -> Floats:
    """The chance to overlook a hand of each strength, at one slip: float64 (742,)."""
    return np.array([_OVERLOOKS[BragClass(kind)] for kind in _classes()])


def _mixed(keys: Keys) -> Keys:
    """Return numbers that share nothing with those they come from (the finaliser of splitmix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _uniform(keys: Keys, purpose: int, about: npt.NDArray[np.integer] | int = 0) -> Floats:
    """Return numbers between 0 and 1, both excluded, by key, purpose and what it is about."""
    salt = np.asarray(about, np.int64).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(purpose << 56)
    bits = _mixed(_mixed(keys + salt) + np.uint64(purpose))
    uniform: Floats = ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return uniform


def _error(keys: Keys, purpose: int, about: npt.NDArray[np.integer] | int = 0) -> Floats:
    """Return errors of a logistic distribution with a standard deviation of 1."""
    uniform = _uniform(keys, purpose, about)
    errors: Floats = np.log(uniform / (1 - uniform)) * (math.sqrt(3) / math.pi)
    return errors


class Level(BaseAgent):
    """A trained agent that slips.

    Args:
        base: the agent.
        slips: how much; 0 plays as `base` does, 1 as a fair player who does not take much time.
        name: what it is called.

    Raises:
        ValueError: slips that are no number from 0 up.
    """

    def __init__(self, base: Trained, *, slips: float, name: str = "level") -> None:
        number = isinstance(slips, int | float) and not isinstance(slips, bool)
        if not (number and math.isfinite(slips) and slips >= 0):
            raise ValueError(f"slips={slips!r}: expected a finite number, 0 or more")
        self.base = base
        self.slips = float(slips)
        self.name = name
        self._feels = Balanced()

    def check_rules(self, rules: CrashRules) -> None:
        """Refuse what the network refuses; raises `TrainedError`."""
        self.base.check_rules(rules)

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return the arrangement that looks best: int32 (n,)."""
        found = views.undominated()
        keys = _keys(views, rng)
        values = self.base.values(self._as_remembered(views, keys)).astype(np.float64)
        looks = np.where(self._seen(found, keys), values + self._misjudged(found, keys), -np.inf)
        return found.partitions[found.best_rows(looks)]

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Exchange by feeling, or by what seems to be worth more: bool (n,)."""
        keys = _keys(views, rng)
        worth = self.base.exchange_gains(self._as_remembered(views, keys)).astype(np.float64)
        return self._by_feeling(keys, worth, self._feels.exchange_many(views, rng))

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Call by feeling, or by what seems to be worth more: bool (n,)."""
        keys = _keys(views, rng)
        worth = self.base.call_gains(self._as_remembered(views, keys)).astype(np.float64)
        return self._by_feeling(keys, worth, self._feels.call_many(views, rng))

    def _by_feeling(self, keys: Keys, worth: Floats, feeling: Choices) -> Choices:
        seems = worth + self.slips * _MISJUDGES_EXCHANGE * _error(keys, _WORTH)
        feels = _uniform(keys, _FEELING) < min(self.slips * _FEELS, _SURELY)
        chosen: Choices = np.where(feels, feeling, seems > 0)
        return chosen

    def _as_remembered(self, views: ViewBatch, keys: Keys) -> ViewBatch:
        """Return the views, with no points scored yet where the score is forgotten."""
        forgets = _uniform(keys, _SCORE) < min(self.slips * _FORGETS, _SURELY)
        return replace(views, scores=np.where(forgets[:, None], 0, views.scores).astype(np.int32))

    def _seen(self, found: CandidateBatch, keys: Keys) -> Choices:
        """Return which arrangements are thought of: those of greedy's hands and others that were noticed, bool (m,)."""
        strengths, first = found.strengths, found.strengths[found.offsets[:-1]]
        owner = np.repeat(np.arange(len(found)), found.counts)
        plain = (strengths[:, :, None] == first[owner][:, None, :]).any(axis=2)
        noticed = _uniform(keys[owner, None], _SEEING, strengths) >= np.minimum(
            self.slips * _overlooked()[strengths], _SURELY
        )
        seen: Choices = (plain | noticed).all(axis=1)
        seen[found.offsets[:-1]] = True
        return seen

    def _misjudged(self, found: CandidateBatch, keys: Keys) -> Floats:
        """Return how much better than they are arrangements look: float64 (m,)."""
        strengths, first = found.strengths, found.strengths[found.offsets[:-1]]
        owner = np.repeat(np.arange(len(found)), found.counts)
        kinds = _classes()[strengths]
        position = np.arange(strengths.shape[1]) * 1024
        errors = _error(keys[owner, None], _JUDGING_CLASS, kinds + position)
        errors = (errors + _error(keys[owner, None], _JUDGING_HAND, strengths + position)) * math.sqrt(0.5)
        looks = _LIKES_FIRST * (strengths[:, 0] == first[owner, 0])
        looks += _LIKES_GREEDY * (strengths == first[owner]).all(axis=1)
        looks += _LIKES_FLUSH * (kinds == BragClass.FLUSH).sum(axis=1)
        better: Floats = self.slips * _MISJUDGES * errors.sum(axis=1) + min(self.slips, 1) * looks
        return better


def _keys(views: ViewBatch, rng: np.random.Generator) -> Keys:
    return rng.integers(0, 2**64, size=len(views), dtype=np.uint64)


@cache
def _file() -> Mapping[str, Any]:
    read: Mapping[str, Any] = json.loads(
        (resources.files(__package__) / "data" / "levels.json").read_text(encoding="utf-8")
    )
    return read


def level_data() -> Mapping[str, Mapping[str, float]]:
    """Return how much each level slips, by rule set and level, as measured.

    >>> list(level_data()), list(level_data()["online"])
    (['online', 'bga', 'traditional'], ['easy', 'medium', 'hard'])
    """
    found: Mapping[str, Mapping[str, float]] = _file()["slips"]
    return found


def calibration_command() -> str:
    """Return the command that measured it."""
    return str(_file()["command"])


def level(rule_set: str, name: str, *, slips: float | None = None) -> Level:
    """Return a level of the agent that ships for a rule set.

    Args:
        rule_set: `online`, `bga` or `traditional`.
        name: one of `LEVELS`.
        slips: how much it slips; as measured if None.

    Raises:
        ValueError: slips that are no number from 0 up.

    >>> level("online", "easy").name
    'online:easy'
    """
    base: Trained = getattr(trained, rule_set)()
    return Level(base, slips=level_data()[rule_set][name] if slips is None else slips, name=f"{rule_set}:{name}")
