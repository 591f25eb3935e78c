"""Decisions that an agent failed to make, and what stands in for them: the written rule for engines that fail.

**The rule.** A decision that an engine fails to make in time, or makes illegally, is forfeited: it keeps its hand, lays
nothing, passes. Laying nothing is legal in every position, scores nothing, and is the worst that can be laid, so that no
engine gains by failing; what the others are dealt and choose is left as it is. The next decision is the engine's again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ..envs.crash.actions import action_layout
from ..envs.crash.game import Phase
from ..envs.crash.observation import PlayerView, ViewBatch
from .protocol import Actions

__all__ = ["CAUSES", "Forfeit", "MayForfeit", "forfeited_action"]

CAUSES = {
    "late": "no answer before the deadline; it is ended, and started anew for the next decision",
    "died": "it ended, or closed its output; it is started anew for the next decision",
    "flooded": "more than 5,000 lines or a megabyte without an answer; it is ended, and started anew",
    "illegal": "an answer that is no decision, or hands that cannot be laid; it plays on",
    "refused": "an error line instead of an answer; it plays on",
    "given up": "it failed three times in a row by ending, silence or flood; it is not started again in this chunk",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Forfeit:
    """A decision that was forfeited: the row of the views, the cause (of `CAUSES`), and what happened."""

    row: int
    cause: str
    detail: str


@runtime_checkable
class MayForfeit(Protocol):
    """An agent whose failures can be counted instead of raised."""

    def act_or_forfeit(self, views: ViewBatch, rng: np.random.Generator) -> tuple[Actions, tuple[Forfeit, ...]]:
        """Return one action a view, as `act_many` does, and which of them are forfeits."""

    def start_over(self) -> None:
        """Forget earlier failures: what it gave up on is tried again."""


def forfeited_action(view: PlayerView) -> int:
    """Return what stands in for a decision that was not made.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> from ..envs.crash.rules import CrashRules
    >>> forfeited_action(view_of(Game(CrashRules.preset("online"), seed=1), 0))
    0
    """
    layout = action_layout(view.rules)
    return {Phase.EXCHANGE: layout.keep, Phase.CALL: layout.pass_}.get(view.phase, 0)
