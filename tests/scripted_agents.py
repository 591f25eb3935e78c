"""Agents with a script, for arenas whose results can be worked out by hand. Workers import them by name."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from prial.agents.protocol import Actions, BaseAgent, Choices
from prial.envs.crash.game import Phase
from prial.envs.crash.observation import ViewBatch

KEPT, EXCHANGED = 0, 1


def others(views: ViewBatch, choices: np.ndarray) -> np.ndarray:
    """What the other one chose, at tables of two."""
    return choices[np.arange(len(views)), 1 - views.seat]


class Lays(BaseAgent):
    """Lays the strongest Hand 1 it can, keeps its cards, never calls."""

    name = "lays"

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        found = views.undominated()
        return np.where(self.wants_to(views), found.partitions[found.offsets[:-1]], 0).astype(np.int32)

    def wants_to(self, views: ViewBatch) -> Choices:
        return np.ones(len(views), bool)

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        return np.zeros(len(views), bool)

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        return np.zeros(len(views), bool)


class Folds(Lays):
    """Lays nothing, ever (partition 0)."""

    name = "folds"

    def wants_to(self, views: ViewBatch) -> Choices:
        return np.zeros(len(views), bool)


class Rock(Lays):
    """Always exchanges; lays in even rounds, and only if the other kept: never against `Paper`."""

    name = "rock"

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        return np.ones(len(views), bool)

    def wants_to(self, views: ViewBatch) -> Choices:
        return (views.rounds_played % 2 == 0) & (others(views, views.exchanges) == KEPT)


class Scissors(Lays):
    """Always keeps; lays in odd rounds, and only if the other kept: never against `Rock`."""

    name = "scissors"

    def wants_to(self, views: ViewBatch) -> Choices:
        return (views.rounds_played % 2 == 1) & (others(views, views.exchanges) == KEPT)


class Paper(Lays):
    """Exchanges in even rounds; lays only if the other exchanged: never against `Scissors`."""

    name = "paper"

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        return views.rounds_played % 2 == 0

    def wants_to(self, views: ViewBatch) -> Choices:
        return others(views, views.exchanges) == EXCHANGED


class Raises(Lays):
    """Raises at the first view of seat 1 in the second round."""

    name = "raises"

    def wants_to(self, views: ViewBatch) -> Choices:
        if ((views.rounds_played == 1) & (views.seat == 1)).any():
            raise KeyError("my notes")
        return super().wants_to(views)


class Answers(Lays):
    """Answers whatever it was told to."""

    name = "answers"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        if callable(self.answer):
            return self.answer(views)
        return self.answer  # type: ignore[return-value]


class Recorder(Lays):
    """Remembers the phases and the sizes of the batches it was given."""

    name = "recorder"

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.phases: set[Phase] = set()
        self.deals: set[tuple[int, ...]] = set()

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        self.batches.append(len(views))
        self.phases |= {Phase(int(phase)) for phase in views.phase}
        first = views.rounds_played == 0
        self.deals |= {tuple(row) for row in views.cards[first].tolist()}
        return super().act_many(views, rng)


class Dies(Lays):
    """Ends its process without a word."""

    name = "dies"

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        os._exit(3)


class DiesOnce(Lays):
    """Ends its process without a word the first time that it is asked, anywhere: a file remembers it."""

    name = "dies-once"

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        try:
            Path(os.environ["DIES_ONCE"]).touch(exist_ok=False)
            os._exit(3)
        except FileExistsError:
            return super().act_many(views, rng)


class Prints(Lays):
    """Talks while it plays."""

    name = "prints"

    def wants_to(self, views: ViewBatch) -> Choices:
        print("hm, let me see")
        return super().wants_to(views)


class Waits(Lays):
    """Waits for ever in its third chunk, by its count of batches of new games, while the file $PRIAL_TEST_GATE exists."""

    name = "waits"

    def __init__(self) -> None:
        self.chunks = 0

    def wants_to(self, views: ViewBatch) -> Choices:
        # A batch in which every seat is in the first round is a chunk's first.
        self.chunks += int((views.rounds_played == 0).all())
        while self.chunks > 2 and os.path.exists(os.environ.get("PRIAL_TEST_GATE", "")):  # noqa: PTH110 (may be empty)
            time.sleep(0.05)
        return super().wants_to(views)
