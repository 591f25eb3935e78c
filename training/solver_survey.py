"""What a policy lays in many rounds against itself: what the tables of `solver-fast` are counted from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.protocol import Agent
from ..agents.solver_situations import situations_of
from ..envs.crash.rules import CrashRules
from ..envs.crash.vector import CrashVectorEnv

__all__ = ["Survey", "survey"]

Floats = npt.NDArray[np.float64]
_TABLES = 16_384  # played at once
_SURVEYED = ("cards", "given_up", "dealer", "exchanges", "calls", "values")
_AGENT_BRANCH = 0x534F4C56  # keeps the agent's chance apart from any other branch of the same seed


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Survey:
    """What was laid in many rounds.

    Attributes:
        scores: int32 (rounds, players), before the round.
        cards, given_up: int8 (rounds, players, cards).
        dealers: int8 (rounds,).
        exchanges: int8 (rounds, players), 0 kept, 1 exchanged, -1 not asked.
        calls: int8 (rounds, players), 0 passed, 1 called, -1 not asked.
        values: uint64 (rounds, players), packed as in `prial.envs.crash.tables`.
        after: int32 (rounds, players), scores after the round.
        margins: float64 (rounds, players), in points.
        won: float64 (rounds, players), shares of the game where the round ended it, 0 otherwise.
    """

    scores: npt.NDArray[np.int32]
    cards: npt.NDArray[np.int8]
    given_up: npt.NDArray[np.int8]
    dealers: npt.NDArray[np.int8]
    exchanges: npt.NDArray[np.int8]
    calls: npt.NDArray[np.int8]
    values: npt.NDArray[np.uint64]
    after: npt.NDArray[np.int32]
    margins: Floats
    won: Floats

    def situations(self, rules: CrashRules) -> npt.NDArray[np.int64]:
        """Return the situation of each seat in each round, as `situations_of` numbers them: int64 (rounds, players)."""
        seats = [np.full(len(self.scores), seat) for seat in range(rules.players)]
        return np.stack([situations_of(rules, self.exchanges, self.dealers, seat) for seat in seats], axis=1)

    def strengths(self, hands: int) -> npt.NDArray[np.int64]:
        """Return the strengths laid at each position: int64 (rounds, players, hands)."""
        shifts = np.array([48 - 12 * hand for hand in range(hands)], np.uint64)
        return (self.values[..., None] >> shifts & np.uint64(0xFFF)).astype(np.int64)


def survey(
    agent: Agent, rules: CrashRules, scores: npt.NDArray[np.integer[Any]], *, seed: int, threads: int = 1
) -> Survey:
    """Play one round from each row of scores, the agent in every seat, and return what was laid.

    Args:
        agent: who plays.
        rules: the rules.
        scores: (rounds, players).
        seed: of deals and chance; round `i` is deal 0 of table `i`.
        threads: how many at most.

    >>> from ..agents.registry import make
    >>> seen = survey(make("greedy"), CrashRules.preset("online"), np.zeros((2, 3), int), seed=1)
    >>> seen.values.shape, bool((seen.values > 0).all())
    ((2, 3), True)
    """
    columns: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in _SURVEYED}
    after = np.array(scores, np.int32)
    margins, won = np.zeros(after.shape), np.zeros(after.shape)
    for part, start in enumerate(range(0, len(scores), _TABLES)):
        rows = np.asarray(scores[start : start + _TABLES])
        env = CrashVectorEnv(
            len(rows),
            rules,
            seed=seed,
            tables=np.arange(start, start + len(rows)),
            episode="round",
            scores=rows,
            autoreset=False,
            threads=threads,
        )
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_AGENT_BRANCH, part)))
        while env.pending.any():
            outcome = env.act_many(agent, rng)
            ended = np.flatnonzero(outcome.round_ended)
            after[start + ended] = outcome.scores[ended]
            margins[start + ended] = outcome.margins[ended]
            won[start + ended] = outcome.win_shares[ended]
        for name, seen in columns.items():
            seen.append(env.column(name))
    joined = {name: np.concatenate(seen) for name, seen in columns.items()}
    return Survey(
        scores=np.asarray(scores, np.int32),
        cards=joined["cards"],
        given_up=joined["given_up"],
        dealers=joined["dealer"],
        exchanges=joined["exchanges"],
        calls=joined["calls"],
        values=joined["values"],
        after=after,
        margins=margins,
        won=won,
    )
