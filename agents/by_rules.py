"""Agents that have a policy of their own for each set of rules, made when first asked for."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar

import numpy as np

from ..envs.crash.observation import ViewBatch
from ..envs.crash.rules import CrashRules
from .protocol import Actions, BaseAgent, Choices

__all__ = ["ByRules"]

Policy = TypeVar("Policy", bound=BaseAgent)


class ByRules(BaseAgent, Generic[Policy]):
    """An agent that leaves each decision to the policy for the rules of the views.

    >>> from .heuristics import Greedy
    >>> class Always(ByRules[Greedy]):
    ...     name = "always"
    ...     def make_policy(self, rules):
    ...         return Greedy()
    >>> agent = Always()
    >>> agent.policy(CrashRules()) is agent.policy(CrashRules())
    True
    """

    def __init__(self) -> None:
        self._policies: dict[CrashRules, Policy] = {}

    @abstractmethod
    def make_policy(self, rules: CrashRules) -> Policy:
        """Return a new policy for some rules.

        Raises:
            ValueError: a subclass of it, if there can be none.
        """

    def policy(self, rules: CrashRules) -> Policy:
        """Return the policy for some rules; raises what `make_policy` does."""
        found = self._policies.get(rules)
        if found is None:
            found = self._policies[rules] = self.make_policy(rules)
        return found

    def check_rules(self, rules: CrashRules) -> None:
        """Refuse rules for which there is no policy; raises what `make_policy` does."""
        self.policy(rules)

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return the partition index to lay, one a view: int32 (n,)."""
        return self.policy(views.rules).arrange_many(views, rng)

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Return whether to exchange, one a view: bool (n,)."""
        return self.policy(views.rules).exchange_many(views, rng)

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Return whether to call a crash, one a view: bool (n,)."""
        return self.policy(views.rules).call_many(views, rng)
