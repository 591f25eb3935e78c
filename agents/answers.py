"""What an agent answers, asked for and checked in one place: for arenas and for environments with opponents."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.observation import ViewBatch
from .protocol import Agent

__all__ = ["AnswerError", "ask"]


class AnswerError(ValueError):
    """An answer of `act_many` that is no batch of actions; the message says what came and what was expected."""


def ask(agent: Agent, views: ViewBatch, rng: np.random.Generator) -> npt.NDArray[np.integer[Any]]:
    """Return an agent's action for each view, its form checked; whether the rules allow it is for the game to say.

    The actions are whole numbers (n,) of any type.

    Args:
        agent: whom to ask.
        views: n views, of seats that are to act.
        rng: the agent's chance.

    Raises:
        AnswerError: the answer is no array (or list) of whole numbers (n,).
        BaseException: whatever the agent itself raises.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> from ..envs.crash.rules import CrashRules
    >>> from .registry import make
    >>> game = Game(CrashRules.preset("online"), seed=1)
    >>> actions = ask(make("greedy"), ViewBatch.of([view_of(game, 0)]), np.random.default_rng(0))
    >>> len(actions), game.is_legal(int(actions[0]), 0)
    (1, True)
    """
    answer: object = agent.act_many(views, rng)
    expected = f"expected int32 ({len(views)},)"
    try:
        array = np.asarray(answer)
    except ValueError as error:  # rows of different lengths
        raise AnswerError(f"act_many returned {type(answer).__name__}, {expected}") from error
    if array.shape != (len(views),) or array.dtype.kind not in "iu":
        raise AnswerError(
            f"act_many returned {'None' if answer is None else f'{array.dtype} {array.shape}'}, {expected}"
        )
    return array
