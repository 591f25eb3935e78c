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

Chance: one number of 64 bits a view, in their order; all else in a row is a function of it (`prial.agents.level_errors`).
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

from ..envs.brag import BragClass
from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import CandidateBatch
from ..envs.crash.rules import CrashRules
from . import trained
from .heuristics import Balanced
from .level_errors import (
    FEELS,
    FORGETS,
    LIKES_FIRST,
    LIKES_FLUSH,
    LIKES_GREEDY,
    MISJUDGES,
    MISJUDGES_EXCHANGE,
    POSITION,
    SURELY,
    Keys,
    Purpose,
    classes,
    errors,
    overlooked,
    uniform,
)
from .protocol import Actions, BaseAgent, Choices
from .trained import Trained

__all__ = ["LEVELS", "Level", "calibration_command", "level", "level_data"]

LEVELS = ("easy", "medium", "hard")
"""From the weakest on; `expert` is the network itself."""

Floats = npt.NDArray[np.float64]


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
        return found.partitions[found.best_rows(self.looks(views, _keys(views, rng)))]

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Exchange by feeling, or by what seems to be worth more: bool (n,)."""
        keys = _keys(views, rng)
        return self._by_feeling(keys, self.exchange_seems(views, keys), self._feels.exchange_many(views, rng))

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Call by feeling, or by what seems to be worth more: bool (n,)."""
        keys = _keys(views, rng)
        return self._by_feeling(keys, self.call_seems(views, keys), self._feels.call_many(views, rng))

    def looks(self, views: ViewBatch, keys: Keys) -> Floats:
        """Return what each undominated arrangement looks worth: float64 (m,), -inf for one that is overlooked.

        Args:
            views: of the decisions.
            keys: their chance, uint64 (n,).
        """
        found = views.undominated()
        values = self.base.values(self._as_remembered(views, keys)).astype(np.float64)
        return np.where(self._seen(found, keys), values + self._misjudged(found, keys), -np.inf)

    def exchange_seems(self, views: ViewBatch, keys: Keys) -> Floats:
        """Return how much more exchanging seems worth than keeping: float64 (n,)."""
        return self._seems(self.base.exchange_gains(self._as_remembered(views, keys)), keys)

    def call_seems(self, views: ViewBatch, keys: Keys) -> Floats:
        """Return how much more calling seems worth than passing: float64 (n,)."""
        return self._seems(self.base.call_gains(self._as_remembered(views, keys)), keys)

    def _seems(self, worth: npt.NDArray[np.floating[Any]], keys: Keys) -> Floats:
        wrong: Floats = self.slips * MISJUDGES_EXCHANGE * errors(keys, Purpose.WORTH)
        return worth.astype(np.float64) + wrong

    def _by_feeling(self, keys: Keys, seems: Floats, feeling: Choices) -> Choices:
        feels = uniform(keys, Purpose.FEELING) < min(self.slips * FEELS, SURELY)
        chosen: Choices = np.where(feels, feeling, seems > 0)
        return chosen

    def _as_remembered(self, views: ViewBatch, keys: Keys) -> ViewBatch:
        """Return the views, with no points scored yet where the score is forgotten."""
        forgets = uniform(keys, Purpose.SCORE) < min(self.slips * FORGETS, SURELY)
        return replace(views, scores=np.where(forgets[:, None], 0, views.scores).astype(np.int32))

    def _seen(self, found: CandidateBatch, keys: Keys) -> Choices:
        """Return which arrangements are thought of: those of greedy's hands and others that were noticed, bool (m,)."""
        strengths, first = found.strengths, found.strengths[found.offsets[:-1]]
        owner = np.repeat(np.arange(len(found)), found.counts)
        plain = (strengths[:, :, None] == first[owner][:, None, :]).any(axis=2)
        chances = np.minimum(self.slips * overlooked()[strengths], SURELY)
        noticed = uniform(keys[owner, None], Purpose.SEEING, strengths) >= chances
        seen: Choices = (plain | noticed).all(axis=1)
        seen[found.offsets[:-1]] = True
        return seen

    def _misjudged(self, found: CandidateBatch, keys: Keys) -> Floats:
        """Return how much better than they are arrangements look: float64 (m,)."""
        strengths, first = found.strengths, found.strengths[found.offsets[:-1]]
        owner = np.repeat(np.arange(len(found)), found.counts)
        kinds = classes()[strengths]
        position = np.arange(strengths.shape[1]) * POSITION
        wrong = errors(keys[owner, None], Purpose.JUDGING_CLASS, kinds + position)
        wrong = (wrong + errors(keys[owner, None], Purpose.JUDGING_HAND, strengths + position)) * math.sqrt(0.5)
        looks = LIKES_FIRST * (strengths[:, 0] == first[owner, 0])
        looks += LIKES_GREEDY * (strengths == first[owner]).all(axis=1)
        looks += LIKES_FLUSH * (kinds == BragClass.FLUSH).sum(axis=1)
        better: Floats = self.slips * MISJUDGES * wrong.sum(axis=1) + min(self.slips, 1) * looks
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
