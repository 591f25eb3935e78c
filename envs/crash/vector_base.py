"""What `CrashVectorEnv` stands on: the state of many tables, changed by one caller at a time, copied whole."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ..brag import strength_table
from ..threads import split_rows
from .partitions import partition_table
from .rules import CrashRules
from .tables import new_state, rules_numbers

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["VectorBase"]

_MADE_ANEW = ("_strength", "_triples", "_changing")  # not copied with the tables


class VectorBase:
    """Tables, and kernels run over them.

    Args:
        numbers: number of each table in the stream of deals, uint64 (num_envs,).
        rules: their rules.
        one_round: whether a game ends after one round.
        autoreset: whether the next game starts in place.
        threads: how many at most.

    >>> tables = VectorBase(np.arange(3, dtype=np.uint64), CrashRules(), one_round=False, autoreset=True, threads=1)
    >>> tables.num_envs, copy.copy(tables).rules == tables.rules
    (3, True)
    """

    def __init__(
        self, numbers: npt.NDArray[np.uint64], rules: CrashRules, *, one_round: bool, autoreset: bool, threads: int
    ) -> None:
        self.rules = rules
        self.num_envs = len(numbers)
        self.threads = threads
        self._numbers = rules_numbers(rules, one_round=one_round, autoreset=autoreset)
        self._pack = np.array(rules.pack, np.int8)
        self._state = new_state(numbers, rules)
        self._make_rest()

    def _make_rest(self) -> None:
        """Make what copies do not carry: tables that all share, and what says that the state is changing."""
        self._strength = strength_table(self.rules.flush_order, self.rules.lowest_class)
        self._triples = partition_table(self.rules.cards_dealt)
        self._changing = Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _MADE_ANEW}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_rest()

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # one that shared the state would be moved on unawares

    @property
    def _rounds(self) -> ModuleType:
        from . import _kernels_rounds

        return _kernels_rounds

    @property
    def _acts(self) -> ModuleType:
        from . import _kernels_acting

        return _kernels_acting

    def _run(self, loop: Any, *arguments: Any) -> list[Any]:
        return split_rows(loop, self.num_envs, self.threads, *arguments)

    @contextmanager
    def _changes(self) -> Iterator[None]:
        """Around whatever moves tables on: one at a time, and who is to act is found out after it, Ctrl-C or not."""
        if not self._changing.acquire(blocking=False):
            raise RuntimeError(
                "these tables are being changed already, by another thread or around an agent that act_many asks; "
                "copy.deepcopy makes others that stand where they stand"
            )
        try:
            yield
        finally:
            try:
                self._look()
            finally:
                self._changing.release()

    def _look(self) -> None:
        """Find out who is to act: bool (num_envs, players), and the first of them, int8 (num_envs,)."""
        pending = np.empty((self.num_envs, self.rules.players), np.bool_)
        acting = np.empty(self.num_envs, np.int8)
        self._run(self._rounds.pending_seats, self._state, self._numbers, pending, acting)
        self._pending, self._acting = pending, acting
