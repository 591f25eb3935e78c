"""What a crash should be worth to the agent `percentile`, measured in whole games.

Every weight plays the same deals from every seat, against opponents who are the same for all, so that differences are
measured much better than win shares. The table is the one that ships: the fixed points of weights 0 to 6 differ little.
(The figures below were measured with a table of 200,000 deals, `--deals 200000`; those that ship look at 100,000.)

On `online` with three players, on deals of seed 9001, which nothing else uses::

    from prial.envs.crash.rules import CrashRules
    from prial.training.percentile_weights import compare_weights
    compare_weights(CrashRules.preset("online"), [3, 0, 1, 2, 4, 6], opponent="greedy", boards=3000, seed=9001)

gives a win share of 42.1 % for weight 3, and these differences to it, in percentage points with twice the standard error;
the second line is against ``opponent="percentile"`` (33.3 %) with seed 9002:

| weight        | 0             | 1             | 2             | 4             | 6             |
|---|---|---|---|---|---|
| greedy        | -0.04 +- 0.12 | -0.06 +- 0.10 | +0.01 +- 0.07 | -0.01 +- 0.07 | -0.04 +- 0.10 |
| percentile    | -0.07 +- 0.11 | -0.04 +- 0.09 | -0.04 +- 0.07 | -0.04 +- 0.06 | -0.17 +- 0.11 |

So it hardly matters: few hands have two arrangements so close in points that the chance of a crash decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..agents.percentile import Percentile
from ..agents.registry import make
from ..envs.crash.rules import CrashRules
from .match import play_games

__all__ = ["WeightScore", "compare_weights"]

_CHUNK = 500  # boards played at once


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightScore:
    """How one weight did.

    Attributes:
        weight: of a crash, in points.
        win_share: mean over all games.
        difference: to the win share of the first weight, on the same deals.
        error: standard error of the difference.
    """

    weight: float
    win_share: float
    difference: float
    error: float


def compare_weights(
    rules: CrashRules,
    weights: Sequence[float],
    *,
    opponent: str = "greedy",
    boards: int = 20_000,
    seed: int = 9001,
    progress: Callable[[int, int], None] | None = None,
) -> list[WeightScore]:
    """Return how each weight does against a table of `opponent`, in every seat of the same deals.

    Args:
        rules: to play by.
        weights: to compare; differences are to the first.
        opponent: name of the agent on all other seats.
        boards: how many starts, each played from every seat.
        seed: of the deals and of the opponents' chance.
        progress: called with games done and games in all.

    >>> [score.weight for score in compare_weights(CrashRules.preset("online"), [3, 0], boards=2)]
    [3.0, 0.0]
    """
    players = rules.players
    total, done = boards * players * len(weights), 0

    def tick(ended: int) -> None:
        nonlocal done
        done += ended
        if progress is not None:
            progress(done, total)

    shares = []
    for weight in weights:
        agents = [Percentile(weight=weight), make(opponent)]
        rngs = [np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(4, number))) for number in range(2)]
        own = []
        for start in range(0, boards, _CHUNK):
            games = [
                (board, [int(other != seat) for other in range(players)])
                for board in range(start, min(start + _CHUNK, boards))
                for seat in range(players)
            ]
            names = [f"weight {weight:g}", opponent]
            tallies = play_games(rules, games, agents, names=names, seed=seed, rngs=rngs, tick=tick)
            # Game by game, the seat of the first agent goes round.
            own.append(np.diagonal(tallies.win_shares.reshape(-1, players, players), axis1=1, axis2=2))
        shares.append(np.concatenate(own).mean(axis=1))
    return [
        WeightScore(
            weight=float(weight),
            win_share=float(share.mean()),
            difference=float((share - shares[0]).mean()),
            error=float((share - shares[0]).std(ddof=1) / np.sqrt(boards)),
        )
        for weight, share in zip(weights, shares, strict=True)
    ]
