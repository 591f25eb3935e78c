"""The one numbering of all decisions, the same for every seat, for `Game`, environments, agents and records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from .partitions import num_partitions
from .rules import CrashRules

__all__ = ["ActionLayout", "action_layout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionLayout:
    """Where each kind of decision lies.

    Attributes:
        partitions: arrangements are ``0 .. partitions - 1``, the canonical partition index.
        keep: keep one's hand.
        exchange: swap it for the spare hand.
        pass_: do not call a crash.
        call: call a crash.
        noop: nothing to decide (parallel API only).
        size: number of actions without `noop`.
    """

    partitions: int
    keep: int
    exchange: int
    pass_: int
    call: int
    noop: int

    @property
    def size(self) -> int:
        """Number of actions of a seat that is to act, `noop` left out."""
        return self.noop

    def describe(self, action: int) -> str:
        """Return the decision in a word or two.

        >>> layout = action_layout(CrashRules.preset("online"))
        >>> layout.describe(417847), layout.describe(7)
        ('keep', 'arrangement 7')
        """
        if 0 <= action < self.partitions:
            return f"arrangement {action}"
        for name in ("keep", "exchange", "pass_", "call", "noop"):
            if action == getattr(self, name):
                return name.rstrip("_")
        return f"no action (0 to {self.noop} are)"


@cache
def _layout(cards_dealt: int) -> ActionLayout:
    p = num_partitions(cards_dealt)
    return ActionLayout(partitions=p, keep=p, exchange=p + 1, pass_=p + 2, call=p + 3, noop=p + 4)


def action_layout(rules: CrashRules) -> ActionLayout:
    """Return the numbering of decisions under `rules`; it depends on `cards_dealt` alone."""
    return _layout(rules.cards_dealt)
