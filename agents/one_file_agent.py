"""A one-file bot played with onnxruntime: the rules, the search and the network are in the file (docs/one-file-bot.md).

Inputs and outputs are plain numbers; seats are relative, the own one first, then clockwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import partition_index, partition_slots
from ..envs.crash.rules import CrashRules
from .protocol import Actions, BaseAgent, Choices
from .scorer_agent import RulesMismatchError
from .solver_table import solver_options

__all__ = [
    "HOTTEST",
    "ONE_FILE_FORMAT",
    "ONE_FILE_INPUTS",
    "ONE_FILE_KIND",
    "ONE_FILE_OUTPUTS",
    "Feed",
    "OneFileAgent",
    "bot_inputs",
    "partitions_of",
]

ONE_FILE_KIND = "one-file-bot"
ONE_FILE_FORMAT = 1
"""Raised whenever inputs, outputs or their meaning change."""
ONE_FILE_INPUTS: Mapping[str, str] = {
    "cards": "own cards, ids 4 * rank + suit, in any order (after an exchange, the new ones)",
    "given_up": "own cards given up in the exchange, in any order; -1 where there are none",
    "scores": "points of each player, own first, then clockwise",
    "target": "points that end the game",
    "dealer": "who deals: 0 the own seat, 1 the next one clockwise, ...",
    "exchanges": "what each player chose, own first: 1 exchanged, 0 kept, -1 not chosen or not known",
    "calls": "what each player said, own first: 1 called a crash, 0 passed, -1 nothing yet",
    "laid": "own hands as laid, for the call; -1 for no card",
    "temperature": "0 plays the best; above 0, arrangements are drawn with probability exp(value / temperature)",
    "seed": "of the draw, and of a level's errors; the same inputs and seed give the same answer",
}
ONE_FILE_OUTPUTS: Mapping[str, str] = {
    "hands": "the hands to lay, strongest first, as card ids; -1 for no hand",
    "spare": "own cards in no hand, ascending, then -1",
    "exchange": "1 exchange, 0 keep",
    "call": "1 call a crash, 0 pass",
    "ok": "1 if all inputs are in range; 0 if not, and then nothing is laid, kept and passed",
    "strengths": "strength of each hand, 1 to 741, 0 for no hand",
    "chances": "chance that each hand wins its comparison, own cards and score aside",
    "lead": "how much more the hands laid are worth than the best others, in points",
    "exchange_gain": "how much more exchanging is worth than keeping, in points; of a level, before it errs",
    "call_gain": "how much more calling is worth than passing, in points; of a level, before it errs",
    "candidates": "how many different undominated arrangements were compared",
}
_AT_ONCE = 16
HOTTEST = 1_000_000
"""The highest temperature that files take."""
_FREE = ("target",)
Feed = dict[str, npt.NDArray[Any]]


def bot_inputs(views: ViewBatch, *, temperature: float = 0.0, seeds: npt.NDArray[np.int32] | None = None) -> Feed:
    """Return the inputs of a one-file bot for some views, by name.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> views = ViewBatch.of([view_of(Game(CrashRules(), seed=1, scores=[3, 1, 0]), 2)])
    >>> bot_inputs(views)["scores"].tolist()
    [[0, 3, 1]]
    """
    rules, rows = views.rules, len(views)
    turn = (views.seat[:, None].astype(np.int64) + np.arange(rules.players)) % rules.players
    return {
        "cards": views.cards.astype(np.int32),
        "given_up": views.given_up.astype(np.int32),
        "scores": np.take_along_axis(views.scores, turn, axis=1).astype(np.int32),
        "target": np.full(rows, rules.target, np.int32),
        "dealer": ((views.dealer.astype(np.int32) - views.seat) % rules.players).astype(np.int32),
        "exchanges": np.take_along_axis(views.exchanges, turn, axis=1).astype(np.int32),
        "calls": np.take_along_axis(views.calls, turn, axis=1).astype(np.int32),
        "laid": _laid(views),
        "temperature": np.full(rows, temperature, np.float32),
        "seed": np.zeros(rows, np.int32) if seeds is None else seeds,
    }


def _laid(views: ViewBatch) -> npt.NDArray[np.int32]:
    cards = np.full((len(views), 4, 3), -1, np.int32)
    for row in np.flatnonzero(views.laid >= 0):
        for hand, slots in enumerate(partition_slots(int(views.laid[row]), views.rules.cards_dealt)):
            cards[row, hand] = views.cards[row, list(slots)]
    return cards


class OneFileAgent(BaseAgent):
    """The agent in a one-file bot; `prial.agents.onnx_agent.load` makes it.

    Args:
        session: of onnxruntime.
        rules: the rules it was made for.
        name: what it is called.
        temperature: as the file's input.
        errs: whether it is a level, and draws seeds at temperature 0 too; they come from the agent's chance.

    Raises:
        ValueError: a temperature that is no number from 0 to a million, the most that files take.

    >>> OneFileAgent(None, CrashRules(), name="bot", temperature=-1)
    Traceback (most recent call last):
        ...
    ValueError: temperature=-1: expected a number from 0 to 1,000,000
    """

    def __init__(
        self, session: Any, rules: CrashRules, *, name: str, temperature: float = 0.0, errs: bool = False
    ) -> None:
        number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
        if not (number and 0 <= temperature <= HOTTEST):
            raise ValueError(f"temperature={_short(temperature)}: expected a number from 0 to {HOTTEST:,}")
        self.name = name
        self.rules = rules
        self._session = session
        self._temperature = float(temperature)
        self.errs = errs
        self._draws = errs or temperature > 0

    def check_rules(self, rules: CrashRules) -> None:
        """Refuse rules that the file was not made for; any target will do.

        Raises:
            RulesMismatchError: names both sides.
        """
        if rules == self.rules:
            return
        ours, theirs = solver_options(self.rules), solver_options(rules)
        differing = [name for name in ours if name not in _FREE and ours[name] != theirs[name]]
        if differing:
            made = ", ".join(f"{name}={ours[name]}" for name in differing)
            played = ", ".join(f"{name}={theirs[name]}" for name in differing)
            raise RulesMismatchError(f"{self.name!r} was made for {made}, the table plays {played}")

    def answers(
        self,
        views: ViewBatch,
        rng: np.random.Generator | None = None,
        *,
        seeds: npt.NDArray[np.int32] | None = None,
    ) -> Feed:
        """Return every output of the file for some views, by name.

        Args:
            views: which.
            rng: where the seeds are drawn, if it draws at all.
            seeds: the seeds themselves instead, (n,).

        Raises:
            RulesMismatchError: other rules.
        """
        self.check_rules(views.rules)
        if seeds is None and rng is not None and self._draws:
            seeds = rng.integers(2**31, size=len(views)).astype(np.int32)
        feed = bot_inputs(views, temperature=self._temperature, seeds=seeds)
        names = list(ONE_FILE_OUTPUTS)
        parts = [
            self._session.run(names, {name: values[start : start + _AT_ONCE] for name, values in feed.items()})
            for start in range(0, len(views), _AT_ONCE)
        ]
        return {name: np.concatenate([part[number] for part in parts]) for number, name in enumerate(names)}

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return the partition index to lay, one a view: int32 (n,)."""
        return partitions_of(self.answers(views, rng)["hands"], views)

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Exchange where the file says so: bool (n,)."""
        return np.asarray(self.answers(views, rng)["exchange"] == 1)

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Call where the file says so: bool (n,)."""
        return np.asarray(self.answers(views, rng)["call"] == 1)


def partitions_of(hands: npt.NDArray[np.int32], views: ViewBatch) -> Actions:
    """Return the partition indices of the hands that a file answers for some views: int32 (n,)."""
    rows = zip(hands.tolist(), views.cards.tolist(), strict=True)
    return np.array([_index(laid, cards) for laid, cards in rows], np.int32)


def _short(value: object) -> str:
    """Return a value as it is written, cut where it is long; whole numbers can be too long to be written at all."""
    text = repr(float("inf") if isinstance(value, int) and abs(value) > 1 << 64 else value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _index(hands: list[list[int]], cards: list[int]) -> int:
    return partition_index([[cards.index(card) for card in hand] for hand in hands if hand[0] >= 0], len(cards))
