"""The coders of `coders.py` for many tables at once: one seat a table, numbers that learners can use, in both directions.

A coder shows what a seat of each table sees and may do, remembers it, and says which actions of the engine the numbers
stand for. Rows are those of `CrashVectorEnv`; what is handed out is the caller's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache

import numpy as np
import numpy.typing as npt

from ..brag import strength_table
from .candidates_view import NUM_EXTRAS, offered_many, padded_many
from .coders import CandidateCoder, Coder, HandCoder
from .game import Game, IllegalActionError, Phase
from .observation import ViewBatch, piece_slice
from .partitions import CandidateBatch, partition_table, slot_triples
from .rules import MAX_HANDS, CrashRules
from .table import Observation
from .vector import CrashVectorEnv

__all__ = ["CandidateCoders", "Coders", "HandCoders"]

_SEAT = "seat"


class Coders(ABC):
    """One seat a table, by numbers.

    Args:
        env: the tables.
        single: the coder of one seat, whose spaces and numbers these are.

    Attributes:
        observation_space, action_space: of one table.
        masks: which numbers the seat of each table may take, as last looked at: int8 (num_envs, num_choices); read only.
    """

    def __init__(self, env: CrashVectorEnv, single: Coder) -> None:
        self._env = env
        self._single = single
        self._arranging = single.num_choices - NUM_EXTRAS
        self.observation_space = single.observation_spaces[_SEAT]
        self.action_space = single.action_spaces[_SEAT]
        self.masks = np.zeros((env.num_envs, single.num_choices), np.int8)

    def look(self, seats: npt.NDArray[np.int64]) -> Observation:
        """Return what the seat to act of each table sees, stacked, and remember what it may do.

        Args:
            seats: whose, one a table, (num_envs,).
        """
        rows = np.arange(self._env.num_envs)
        told, views = self._told(seats, rows)
        masks = np.zeros_like(self.masks)
        for phase, first in ((Phase.EXCHANGE, self._arranging), (Phase.CALL, self._arranging + 2)):
            masks[views.phase == phase, first : first + 2] = 1
        self._mark(masks, views)
        self.masks = masks
        return {**told, "action_mask": masks.copy()}

    def look_back(self, seats: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> Observation:
        """Return what seats see at tables where they are not to act any more, stacked; all masks are 0.

        Args:
            seats: whose, one a table, (num_envs,).
            rows: at which tables, ascending.
        """
        told, _ = self._told(seats, rows)
        return {**told, "action_mask": np.zeros((len(rows), self.masks.shape[1]), np.int8)}

    def _told(self, seats: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> tuple[Observation, ViewBatch]:
        env = self._env
        who = np.zeros((env.num_envs, env.rules.players), np.bool_)
        who[rows, seats[rows]] = True
        whose = np.full(env.num_envs, -1, np.int64)
        whose[rows] = seats[rows]
        _, _, views = env.views(who)
        told = {"observation": env.observations(whose)[rows]}
        self._tell(told, views, rows)
        return told, views

    def full_actions(self, numbers: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the actions of `env.layout` that numbers stand for; -1 where the decision needs more numbers.

        Args:
            numbers: what the seats chose, (n,); the masks allow it.
            rows: at which tables, (n,).
        """
        actions = np.asarray(self._env.layout.keep + numbers - self._arranging, np.int32)
        arranging = np.flatnonzero(numbers < self._arranging)
        actions[arranging] = self._lay(numbers[arranging], rows[arranging])
        return actions

    def refusal(self, row: int, seat: int, number: int) -> str:
        """Return why the seat to act of a table may not take a number that its mask forbids."""
        game = self._env.game(row)
        self._recall(game, seat, row)
        try:
            self._single.full_action(game, seat, number, acting=True)
        except IllegalActionError as error:
            return f"table {row}, {error}"
        finally:
            self._single.forget()
        raise AssertionError(f"table {row}: number {number} of seat {seat} was refused without reason")

    def _recall(self, game: Game, seat: int, row: int) -> None:  # noqa: B027
        """Tell the coder of one seat what has been noted of a table."""

    def forget(self, rows: npt.NDArray[np.int64]) -> None:  # noqa: B027  # nothing is noted unless a coder does
        """Drop what has been noted of these tables."""

    @abstractmethod
    def _tell(self, told: Observation, views: ViewBatch, rows: npt.NDArray[np.int64]) -> None:
        """Add to the observations, a row a view, what this coder shows."""

    @abstractmethod
    def _mark(self, masks: npt.NDArray[np.int8], views: ViewBatch) -> None:
        """Set to 1, in masks of zeros, which numbers arrange, one row a table."""

    @abstractmethod
    def _lay(self, numbers: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the partitions that numbers lay, -1 where more must follow."""


class CandidateCoders(Coders):
    """Numbers ``0 .. k-1`` lay an undominated arrangement, strongest Hand 1 first.

    Args:
        env: the tables.
        k: the most candidates offered; which are kept of more: `prial.envs.crash.candidates_view`.

    Raises:
        ValueError: k is no whole number from 1.

    >>> env = CrashVectorEnv(2, "online", seed=1)
    >>> seen = CandidateCoders(env, k=16).look(np.array([0, 2]))
    >>> {name: array.shape for name, array in seen.items()}
    {'observation': (2, 336), 'candidates': (2, 16, 34), 'action_mask': (2, 20)}
    """

    def __init__(self, env: CrashVectorEnv, *, k: int) -> None:
        super().__init__(env, CandidateCoder(env.rules, [_SEAT], k=k, noop=False))
        self._told_now: CandidateBatch
        self._offered: CandidateBatch

    def _tell(self, told: Observation, views: ViewBatch, rows: npt.NDArray[np.int64]) -> None:  # noqa: ARG002
        self._told_now = offered_many(views, self._arranging)
        told["candidates"] = padded_many(self._told_now, views.rules, self._arranging)

    def _mark(self, masks: npt.NDArray[np.int8], views: ViewBatch) -> None:
        self._offered = self._told_now
        offered = np.where(views.phase == Phase.ARRANGE, self._offered.counts, 0)
        masks[:, : self._arranging] = np.arange(self._arranging) < offered[:, None]

    def _lay(self, numbers: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        laid: npt.NDArray[np.int32] = self._offered.partitions[self._offered.offsets[rows] + numbers]
        return laid


class HandCoders(Coders):
    """Numbers ``0 .. C(n, 3) - 1`` pick a hand, the next one lays what has been picked: `prial.envs.crash.picking`.

    Only what leads to an undominated arrangement may be picked.

    Args:
        env: the tables.

    >>> env = CrashVectorEnv(2, "online", seed=1)
    >>> coders = HandCoders(env)
    >>> seen = coders.look(np.array([0, 2]))
    >>> coders.full_actions(seen["action_mask"].argmax(axis=1), np.arange(2))  # the first hand of several
    array([-1, -1], dtype=int32)
    """

    def __init__(self, env: CrashVectorEnv) -> None:
        super().__init__(env, HandCoder(env.rules, [_SEAT], mask="undominated", noop=False))
        self._picks = np.full((env.num_envs, MAX_HANDS), -1, np.int64)
        self._depth = np.zeros(env.num_envs, np.int64)
        self._laid = piece_slice(env.rules, "laid")
        # What the picks so far can become, as last shown: a row each, by table.
        self._owner = np.zeros(0, np.int64)
        self._sequences = np.zeros((0, MAX_HANDS), np.int64)
        self._partitions = np.zeros(0, np.int32)

    def _tell(self, told: Observation, views: ViewBatch, rows: npt.NDArray[np.int64]) -> None:
        depth = np.where(_picks_now(views), self._depth[rows], 0)
        where, position = np.nonzero(np.arange(MAX_HANDS) < depth[:, None])
        if len(where):
            slots = _slots(views.cards.shape[1])[self._picks[rows[where], position]]
            at = self._laid.start + 52 * position[:, None] + views.cards[where[:, None], slots]
            told["observation"][where[:, None], at] = 1

    def _mark(self, masks: npt.NDArray[np.int8], views: ViewBatch) -> None:
        picking = np.flatnonzero(_picks_now(views))
        found = views.select(picking).undominated()
        owner = picking[np.repeat(np.arange(len(picking)), found.counts)]
        sequences = _sequences(found, views.cards[owner], views.rules)
        picked = np.arange(MAX_HANDS) < self._depth[owner, None]
        alive = np.all(~picked | (sequences == self._picks[owner]), axis=1)
        self._owner, self._sequences = owner[alive], sequences[alive]
        self._partitions = found.partitions[alive]
        following = self._sequences[np.arange(len(self._owner)), self._depth[self._owner]]
        masks[self._owner, np.where(following < 0, self._arranging - 1, following)] = 1

    def _lay(self, numbers: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        chosen = np.full(self._env.num_envs, -2, np.int64)  # what no sequence has
        chosen[rows] = np.where(numbers == self._arranging - 1, -1, numbers)
        depth = self._depth[self._owner]
        left = np.flatnonzero(self._sequences[np.arange(len(depth)), depth] == chosen[self._owner])
        owner = self._owner[left]
        ended = np.ones(self._env.num_envs, np.bool_)
        further = depth[left] + 1 < MAX_HANDS
        further[further] = self._sequences[left[further], depth[left[further]] + 1] >= 0
        ended[owner[further]] = False
        first = np.zeros(self._env.num_envs, np.int64)
        first[owner[::-1]] = left[::-1]
        self._picks[rows, self._depth[rows]] = numbers
        self._depth[rows] += 1
        self.forget(rows[ended[rows]])
        return np.where(ended[rows], self._partitions[first[rows]], -1).astype(np.int32)

    def forget(self, rows: npt.NDArray[np.int64]) -> None:
        """Drop what has been picked at these tables."""
        self._depth[rows] = 0

    def _recall(self, game: Game, seat: int, row: int) -> None:
        for pick in self._picks[row, : self._depth[row]].tolist():
            self._single.remember(game, seat, pick)


def _picks_now(views: ViewBatch) -> npt.NDArray[np.bool_]:
    picks: npt.NDArray[np.bool_] = (views.phase == Phase.ARRANGE) & (views.laid < 0)
    return picks


def _sequences(found: CandidateBatch, cards: npt.NDArray[np.int8], rules: CrashRules) -> npt.NDArray[np.int64]:
    """Return arrangements as picks, colex indices of slots, strongest first, -1 behind them: int64 (m, 4).

    Args:
        found: m arrangements.
        cards: of the seat of each, (m, cards a deal).
    """
    triples = partition_table(cards.shape[1])[found.partitions].astype(np.int64)
    held = cards.astype(np.int64)[np.arange(len(cards))[:, None, None], _slots(cards.shape[1])[triples]]
    first, second, third = np.moveaxis(held, -1, 0)
    table = strength_table(rules.flush_order, rules.lowest_class)
    strengths = table[third * (third - 1) * (third - 2) // 6 + second * (second - 1) // 2 + first].astype(np.int64)
    ranks = np.where(triples < 0, 1 << 20, triples - (strengths << 9))  # a triple's index has nine bits
    sorted_triples: npt.NDArray[np.int64] = np.take_along_axis(triples, np.argsort(ranks, axis=1), axis=1)
    return sorted_triples


@cache
def _slots(num_cards: int) -> npt.NDArray[np.int64]:
    """Triples of slots in colex order: (C(n, 3), 3)."""
    return np.array(slot_triples(num_cards), np.int64)
