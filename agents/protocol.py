"""What plays: the `Agent` protocol, and a base class that splits a batch by what is to be decided."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..envs.crash.actions import action_layout
from ..envs.crash.game import Phase
from ..envs.crash.observation import PlayerView, ViewBatch
from ..envs.crash.rules import CrashRules

__all__ = ["Actions", "Agent", "BaseAgent", "Choices"]

Actions = npt.NDArray[np.int32]
Choices = npt.NDArray[np.bool_]


@runtime_checkable
class Agent(Protocol):
    """Anything that decides from views.

    `act_many` gets the views of seats that are to act, in any mix of phases, and returns one action a row, int32 (n,),
    of `action_layout(views.rules)`. Chance comes from `rng` alone. It must not change the views, and the choice in one
    row must not depend on the other rows (but for the draws of `rng`).
    """

    name: str

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return one action a view: int32 (n,)."""

    def act(self, view: PlayerView, rng: np.random.Generator) -> int:
        """Return the action for one view: the single case of `act_many`."""


class BaseAgent(ABC):
    """An agent made of three rules: arrange, exchange, call. Each gets only the views that ask for it.

    >>> class Idle(BaseAgent):
    ...     name = "idle"
    ...     def arrange_many(self, views, rng):
    ...         return np.zeros(len(views), np.int32)  # partition 0: nothing laid
    ...     def exchange_many(self, views, rng):
    ...         return np.zeros(len(views), bool)
    ...     call_many = exchange_many
    >>> isinstance(Idle(), Agent)
    True
    """

    name: str

    def check_rules(self, rules: CrashRules) -> None:  # noqa: B027 (most agents play all rules)
        """Say why this agent cannot play under some rules, before a game begins; by default every agent can.

        Raises:
            ValueError: a subclass of it, naming what the agent was made for and what is played.
        """

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return one action a view: int32 (n,).

        Raises:
            ValueError: a view whose game is over.
        """
        phases = sorted(set(views.phase.tolist()))
        if Phase.OVER in phases:
            raise ValueError(f"{self.name}: a view of a game that is over asks for no decision")
        if len(phases) == 1:
            return self._act_in(Phase(phases[0]), views, rng)
        actions = np.empty(len(views), np.int32)
        for phase in phases:
            rows = np.flatnonzero(views.phase == phase)
            actions[rows] = self._act_in(Phase(phase), views.select(rows), rng)
        return actions

    def _act_in(self, phase: Phase, views: ViewBatch, rng: np.random.Generator) -> Actions:
        layout = action_layout(views.rules)
        if phase is Phase.ARRANGE:
            return self.arrange_many(views, rng)
        if phase is Phase.EXCHANGE:
            return np.where(self.exchange_many(views, rng), layout.exchange, layout.keep).astype(np.int32)
        return np.where(self.call_many(views, rng), layout.call, layout.pass_).astype(np.int32)

    def act(self, view: PlayerView, rng: np.random.Generator) -> int:
        """Return the action for one view."""
        return int(self.act_many(ViewBatch.of([view]), rng)[0])

    @abstractmethod
    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return the partition index to lay, one a view: int32 (n,)."""

    @abstractmethod
    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Return whether to exchange, one a view: bool (n,)."""

    @abstractmethod
    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Return whether to call a crash, one a view: bool (n,)."""
