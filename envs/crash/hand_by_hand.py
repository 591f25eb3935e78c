"""`HandByHand`: pick one three-card hand at a time, strongest first, instead of one of 417,847 partitions.

**Actions.** With n cards and C triples of them (286 for 13 cards): ``0 .. C-1`` picks the triple of slots of that colex
index, a slot being a place among the seat's cards sorted by id: slots ``a < b < c`` have the index
``c(c-1)(c-2)/6 + b(b-1)/2 + a``. Then `done` (C) lays what has been picked, `keep` (C+1), `exchange` (C+2), `pass` (C+3),
`call` (C+4), and in the parallel API `noop` (C+5).

**Mask.** A pick is a hand under the rules, shares no card with the picks before it, and comes after the last one in the
order of strength (strongest first), then colex index. So every arrangement has exactly one sequence of picks. What has been
picked is laid by `done`, or by itself once nothing can follow. The mask option of the wrapped environment counts:
``undominated`` leaves what leads to the undominated representatives (and `done` only to a seat that can lay nothing),
``legal`` everything.

**Time.** AEC: an agent takes all its picks in a row, and only then the next one is asked; rewards are 0 in between.
Parallel: all pick at once, and the arrange phase always takes as many steps as there are hands to lay (four with 13 cards):
whoever is done before gets `noop`, so that nobody can tell from the time how many hands the others laid.

**Observations.** `observation` as in `crash_v0`, with the seat's own picks so far in `laid` (and `to_act` 0 once it is
done), and `action_mask`. `state()` shows everybody's picks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

import numpy as np
import numpy.typing as npt
from pettingzoo.utils.env import AECEnv, ParallelEnv

from .action_wrappers import AECActionWrapper, ParallelActionWrapper, unwrap_aec, unwrap_parallel
from .coders import HandCoder
from .env import CrashParallelEnv
from .game import Game, Phase
from .table import Observation, state_slice

__all__ = ["AECHandByHand", "HandByHand", "ParallelHandByHand"]


class AECHandByHand(AECActionWrapper):
    """`HandByHand` for `crash_v0.env` and `crash_v0.raw_env`.

    Illegal actions do what the wrapped environment does: `env` ends the game, `raw_env` raises `IllegalActionError`.

    Args:
        env: from `crash_v0.env` or `crash_v0.raw_env`; other wrappers go around this one.

    Raises:
        TypeError: another environment, or another wrapper in between.
    """

    _coder: HandCoder

    def __init__(self, env: AECEnv[str, Observation, int | None]) -> None:
        raw = unwrap_aec(env)
        super().__init__(env, raw, HandCoder(raw.rules, raw.possible_agents, mask=raw.mask, noop=False))

    def state(self) -> npt.NDArray[np.float32]:
        """Return everything about the round, the picks of all seats included; laid out as for the wrapped environment."""
        return _state(self.env.state(), self._raw.game, self._coder)


class ParallelHandByHand(ParallelActionWrapper):
    """`HandByHand` for `crash_v0.parallel_env`; illegal actions do what it was told to do about them.

    Args:
        env: from `crash_v0.parallel_env`; other wrappers go around this one.

    Raises:
        TypeError: another environment.
    """

    _coder: HandCoder

    def __init__(self, env: ParallelEnv[str, Observation, int]) -> None:
        raw = unwrap_parallel(env)
        super().__init__(raw, HandCoder(raw.rules, raw.possible_agents, mask=raw.mask, noop=True))
        self._steps = 0
        self._decided: dict[str, int] = {}

    @property
    def pending(self) -> tuple[int, ...]:
        """Seats that must act now; whoever has picked all its hands waits for the others."""
        return tuple(seat for seat in self._raw.pending if self._raw.possible_agents[seat] not in self._decided)

    def state(self) -> npt.NDArray[np.float32]:
        """Return everything about the round, the picks of all seats included; laid out as for the wrapped environment."""
        return _state(self.env.state(), self._raw.game, self._coder)

    def _start_round(self) -> None:
        super()._start_round()
        self._steps = 0
        self._decided = {}

    def _settle(self, actions: Mapping[str, int], full: Mapping[str, int | None]) -> Mapping[str, int] | None:
        game = self._raw.game
        if game.phase is not Phase.ARRANGE:
            return super()._settle(actions, full)
        for seat in self.pending:
            agent = self._raw.possible_agents[seat]
            self._coder.remember(game, seat, int(actions[agent]))
            laid = full[agent]
            if laid is not None:
                self._decided[agent] = laid
        self._steps += 1
        if self._steps < game.rules.hands:
            return None
        decided = self._decided
        self._start_round()
        return decided


def _state(state: npt.NDArray[np.float32], game: Game, coder: HandCoder) -> npt.NDArray[np.float32]:
    rules = game.rules
    laid = state[state_slice(rules, "laid")].reshape(rules.players, rules.hands, 52)
    to_act = state[state_slice(rules, "to_act")]
    for seat in game.pending if game.phase is Phase.ARRANGE else ():
        picking = coder.picking(game, seat)
        for position, hand in enumerate(picking.hands):
            laid[seat, position, list(hand)] = 1
        to_act[seat] = not picking.has_ended
    return state


@overload
def HandByHand(env: CrashParallelEnv) -> ParallelHandByHand: ...
@overload
def HandByHand(env: AECEnv[str, Any, Any]) -> AECHandByHand: ...
def HandByHand(  # noqa: N802  # it makes a wrapper, and is named like one
    env: AECEnv[str, Any, Any] | CrashParallelEnv,
) -> AECHandByHand | ParallelHandByHand:
    """Return an environment of `crash_v0` in which each hand is picked by itself; see the module.

    Args:
        env: from `crash_v0.env`, `crash_v0.raw_env` or `crash_v0.parallel_env`.

    Raises:
        TypeError: another environment.

    >>> from .env import CrashEnv
    >>> env = HandByHand(CrashEnv("online"))
    >>> env.reset(seed=0)
    >>> env.action_space("player_0").n, env.agent_selection
    (np.int64(291), 'player_1')
    >>> env.step(env.observe("player_1")["action_mask"].argmax())
    >>> env.agent_selection
    'player_1'
    """
    if isinstance(env, ParallelEnv):
        return ParallelHandByHand(env)
    if isinstance(env, AECEnv):
        return AECHandByHand(env)
    raise TypeError(f"expected a PettingZoo environment of crash_v0, got {env!r}")
