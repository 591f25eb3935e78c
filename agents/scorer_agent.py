"""`ScorerAgent`: plays what a candidate-scoring network ranks highest, whatever computes the network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..envs.crash.candidates_view import offered_many
from ..envs.crash.observation import ViewBatch
from ..envs.crash.rules import CrashRules
from .protocol import Actions, BaseAgent, Choices
from .scorer_inputs import contexts, padded_inputs, scorer_inputs

__all__ = ["RulesMismatchError", "ScoreFunction", "ScorerAgent"]

Floats: TypeAlias = npt.NDArray[np.float32]
ScoreFunction: TypeAlias = Callable[[Floats, Floats], Floats]
"""From candidates (n, k, features) and context (n, context) to logits (n, k + 4)."""

# Rows of a batch are scored in groups of like width, so that one deal with a hundred candidates pads few others.
_WIDTHS = (8, 32)
# What decides which games a network was made for: all options but the cut-off.
_MUST_MATCH = tuple(f.name for f in fields(CrashRules) if f.name not in ("name", "max_rounds"))


class RulesMismatchError(ValueError):
    """An agent at a table whose rules it was not made for."""


class ScorerAgent(BaseAgent):
    """An agent around a network.

    Args:
        name: what it is called.
        score: the network.
        rules: the rules it was made for.
        k: how many candidates it was trained to see at most.
        temperature: 0 plays the highest logit; above, actions are drawn with probability ``exp(logit / temperature)``.

    A batch under other rules is refused, naming both sides.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> def first(candidates, context):  # prefers the first candidate, and to keep and pass
    ...     return -np.arange(candidates.shape[1] + 4, dtype=np.float32)[None].repeat(len(candidates), 0)
    >>> game = Game(CrashRules.preset("online"), seed=1)
    >>> agent = ScorerAgent("first", first, rules=game.rules, k=32)
    >>> agent.act(view_of(game, 0), np.random.default_rng(0)) == game.undominated(0).partitions[0]
    np.True_
    """

    def __init__(self, name: str, score: ScoreFunction, *, rules: CrashRules, k: int, temperature: float = 0.0) -> None:
        number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
        if not number or not 0 <= temperature < float("inf"):
            raise ValueError(f"temperature={temperature!r}: expected a finite number, 0 or more")
        self.name = name
        self.rules = rules
        self.k = k
        self.score = score
        self._temperature = temperature

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return the partition of the candidate chosen, one a view: int32 (n,)."""
        self.check_rules(views.rules)
        shown, context = offered_many(views, self.k), contexts(views)
        chosen = np.empty(len(views), np.int32)
        widths = shown.counts
        # Drawn for all rows first, so that grouping cannot change what a row gets.
        noise = self._noise(rng, (len(views), int(widths.max())))
        group = np.searchsorted(_WIDTHS, widths)
        for number in np.unique(group):
            rows = np.flatnonzero(group == number)
            inputs = padded_inputs(shown.select(rows), context[rows], views.rules)
            width = inputs.partitions.shape[1]
            logits = self.score(inputs.candidates, inputs.context)[:, :width]
            values: npt.NDArray[np.floating] = np.where(inputs.partitions < 0, -np.inf, logits)
            if noise is not None:
                values = values / self._temperature + noise[rows, :width]
            chosen[rows] = inputs.partitions[np.arange(len(rows)), values.argmax(axis=1)]
        return chosen

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Return whether exchange scores above keep, one a view: bool (n,)."""
        return self._choose(views, rng, first=0)

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Return whether call scores above pass, one a view: bool (n,)."""
        return self._choose(views, rng, first=2)

    def _choose(self, views: ViewBatch, rng: np.random.Generator, *, first: int) -> Choices:
        self.check_rules(views.rules)
        inputs = scorer_inputs(views, self.k)
        extras = self.score(inputs.candidates, inputs.context)[:, inputs.partitions.shape[1] :]
        values: npt.NDArray[np.floating] = extras[:, first : first + 2]
        noise = self._noise(rng, values.shape)
        if noise is not None:
            values = values / self._temperature + noise
        return np.asarray(values[:, 1] > values[:, 0])

    def _noise(self, rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.float64] | None:
        """Gumbel noise: the highest of logits plus noise is a draw from their softmax."""
        return rng.gumbel(size=shape) if self._temperature > 0 else None

    def check_rules(self, rules: CrashRules) -> None:
        """Refuse rules that the network was not made for.

        Raises:
            RulesMismatchError: names both sides.
        """
        if rules == self.rules:
            return
        differing = [name for name in _MUST_MATCH if getattr(rules, name) != getattr(self.rules, name)]
        if differing:
            ours = ", ".join(f"{name}={getattr(self.rules, name)}" for name in differing)
            theirs = ", ".join(f"{name}={getattr(rules, name)}" for name in differing)
            raise RulesMismatchError(f"{self.name!r} was made for {ours}, the table plays {theirs}")
