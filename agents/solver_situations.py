"""What has been said in the exchange, numbered: the solver's tables hold what is laid in each situation of a player.

A *situation* is what all said, seen by one player: its own place in turn order matters, since those asked early and late
keep different hands. Without an exchange there is one. With two players it is the own choice and the other's, four in all;
with three, four courses of the exchange (the first exchanges; the second; the third; nobody) times the own place, twelve.

A *stage* is how near the end of the game is, by who needs a single point: how positions hang together depends on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.rules import CrashRules

__all__ = ["NUM_STAGES", "clockwise", "keepers", "num_situations", "situations_of", "stages_of"]

NUM_STAGES = 4
"""How many stages of a game there are."""

_PLACES = 3


def clockwise(seats: npt.NDArray[np.integer[Any]], players: int) -> npt.NDArray[np.int64]:
    """Return the seats clockwise from each of these, itself first: int64 (n, players).

    >>> clockwise(np.array([0, 2]), 3).tolist()
    [[0, 1, 2], [2, 0, 1]]
    """
    turn: npt.NDArray[np.int64] = (seats[:, None].astype(np.int64) + np.arange(players)) % players
    return turn


def num_situations(rules: CrashRules) -> int:
    """Return how many situations there are.

    >>> [num_situations(CrashRules.preset("bga", players=players)) for players in (2, 3, 4)]
    [4, 12, 1]
    """
    if not rules.has_exchange:
        return 1
    return 4 if rules.players == 2 else 4 * _PLACES


def situations_of(
    rules: CrashRules,
    exchanges: npt.NDArray[np.int8],
    dealers: npt.NDArray[np.integer[Any]],
    seats: npt.NDArray[np.integer[Any]],
) -> npt.NDArray[np.int64]:
    """Return the situation of one seat a row: int64 (n,).

    Args:
        rules: the rules.
        exchanges: (n, players), 0 kept, 1 exchanged, -1 not asked (in a course that is not over, as if kept).
        dealers: (n,).
        seats: (n,), whose.

    >>> rules = CrashRules.preset("bga")
    >>> situations_of(rules, np.array([[0, 1, -1]], np.int8), np.array([2]), np.array([1])).tolist()
    [4]
    """
    n, rows = rules.players, np.arange(len(exchanges))
    seats = np.asarray(seats).astype(np.int64)
    if not rules.has_exchange:
        return np.zeros(len(exchanges), np.int64)
    exchanged = exchanges == 1
    if n == 2:
        both: npt.NDArray[np.int64] = 2 * exchanged[rows, seats] + exchanged[rows, 1 - seats].astype(np.int64)
        return both
    first = np.asarray(dealers).astype(np.int64) + 1
    in_turn = np.take_along_axis(exchanged, (first[:, None] + np.arange(n)) % n, axis=1)
    course = np.where(in_turn.any(axis=1), in_turn.argmax(axis=1), n)
    found: npt.NDArray[np.int64] = _PLACES * course + (seats - first) % n
    return found


def stages_of(needs: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """Return the stage of one seat a row: 0 nobody needs a single point, 1 others do, 2 oneself does, 3 both: int64 (n,).

    Args:
        needs: points to the target, (n, players), the own ones first.

    >>> stages_of(np.array([[2, 7], [2, 1], [1, 2], [1, 1]])).tolist()
    [0, 1, 2, 3]
    """
    one = needs == 1
    stages: npt.NDArray[np.int64] = 2 * one[:, 0].astype(np.int64) + one[:, 1:].any(axis=1)
    return stages


def keepers(rules: CrashRules) -> npt.NDArray[np.bool_]:
    """Return who has kept a hand that it was asked about: bool (situations, players), own seat first, then clockwise.

    >>> keepers(CrashRules.preset("bga", players=2)).tolist()
    [[True, True], [True, False], [False, True], [False, False]]
    >>> keepers(CrashRules.preset("bga"))[4].tolist()  # the second exchanged, oneself: the first kept
    [False, False, True]
    """
    n = rules.players
    if not rules.has_exchange:
        return np.zeros((1, n), np.bool_)
    if n == 2:
        return np.array([[not own, not other] for own in (0, 1) for other in (0, 1)], np.bool_)
    places = (np.arange(_PLACES)[:, None] + np.arange(n)) % n
    return np.concatenate([places < course for course in range(_PLACES + 1)])
