"""Wrappers with fewer actions than the 417,847 partitions: `CandidateActions` here, `HandByHand` in `hand_by_hand`.

**Actions.** ``0 .. k-1`` lay a candidate, then `keep` (k), `exchange` (k+1), `pass` (k+2), `call` (k+3), and in the parallel
API `noop` (k+4). Candidates are the seat's undominated arrangements, strongest Hand 1 first: 0 is what `greedy` lays.

**Observations.** `observation` as in `crash_v0`, `candidates` with one row of features each (`prial.envs.crash.features`), 0
in unused rows, and `action_mask`. In the exchange the candidates of the present hand are shown; once a seat has laid its
hands, the one arrangement that it laid.

Which are kept where there are more than k: `prial.envs.crash.candidates_view`.
"""

from __future__ import annotations

from typing import Any, overload

from pettingzoo.utils.env import AECEnv, ParallelEnv

from .action_wrappers import AECActionWrapper, ParallelActionWrapper, unwrap_aec, unwrap_parallel
from .coders import CandidateCoder
from .env import CrashParallelEnv
from .hand_by_hand import AECHandByHand, HandByHand, ParallelHandByHand
from .table import Observation

__all__ = [
    "AECCandidateActions",
    "AECHandByHand",
    "CandidateActions",
    "HandByHand",
    "ParallelCandidateActions",
    "ParallelHandByHand",
]


class AECCandidateActions(AECActionWrapper):
    """`CandidateActions` for `crash_v0.env` and `crash_v0.raw_env`.

    Illegal actions do what the wrapped environment does: `env` ends the game, `raw_env` raises `IllegalActionError`.

    Args:
        env: from `crash_v0.env` or `crash_v0.raw_env`; other wrappers go around this one.
        k: the most candidates offered.

    Raises:
        TypeError: another environment, or another wrapper in between.
        ValueError: k is no whole number from 1.
    """

    def __init__(self, env: AECEnv[str, Observation, int | None], *, k: int = 128) -> None:
        raw = unwrap_aec(env)
        super().__init__(env, raw, CandidateCoder(raw.rules, raw.possible_agents, k=k, noop=False))


class ParallelCandidateActions(ParallelActionWrapper):
    """`CandidateActions` for `crash_v0.parallel_env`; illegal actions do what it was told to do about them.

    Args:
        env: from `crash_v0.parallel_env`; other wrappers go around this one.
        k: the most candidates offered.

    Raises:
        TypeError: another environment.
        ValueError: k is no whole number from 1.
    """

    def __init__(self, env: ParallelEnv[str, Observation, int], *, k: int = 128) -> None:
        raw = unwrap_parallel(env)
        super().__init__(raw, CandidateCoder(raw.rules, raw.possible_agents, k=k, noop=True))


@overload
def CandidateActions(env: CrashParallelEnv, *, k: int = ...) -> ParallelCandidateActions: ...
@overload
def CandidateActions(env: AECEnv[str, Any, Any], *, k: int = ...) -> AECCandidateActions: ...
def CandidateActions(  # noqa: N802  # it makes a wrapper, and is named like one
    env: AECEnv[str, Any, Any] | CrashParallelEnv, *, k: int = 128
) -> AECCandidateActions | ParallelCandidateActions:
    """Return an environment of `crash_v0` in which each arrangement is one of at most k candidates.

    Args:
        env: from `crash_v0.env`, `crash_v0.raw_env` or `crash_v0.parallel_env`.
        k: the most candidates offered; for deals with more see `best_candidates`.

    Raises:
        TypeError: another environment.
        ValueError: k is no whole number from 1.

    >>> from .env import CrashEnv
    >>> env = CandidateActions(CrashEnv("online"), k=64)
    >>> env.reset(seed=0)
    >>> env.action_space("player_0").n, env.observe("player_0")["candidates"].shape[0]
    (np.int64(68), 64)
    """
    if isinstance(env, ParallelEnv):
        return ParallelCandidateActions(env, k=k)
    if isinstance(env, AECEnv):
        return AECCandidateActions(env, k=k)
    raise TypeError(f"expected a PettingZoo environment of crash_v0, got {env!r}")
