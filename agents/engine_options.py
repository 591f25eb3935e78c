"""What a position's options are worth to an agent, for `analyse`: ranked, with values where the agent knows them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..envs.crash.actions import action_layout
from ..envs.crash.game import Phase
from ..envs.crash.observation import PlayerView, ViewBatch
from ..envs.crash.partitions import laid_many
from .protocol import Agent
from .solver_fast import SolverFast

__all__ = ["Option", "ranked_options"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option: the action, and its win share of the game as the agent estimates it (None where it does not)."""

    action: int
    value: float | None


def ranked_options(agent: Agent, view: PlayerView, rng: np.random.Generator) -> list[Option]:
    """Return the options of a view, best first; of an agent that knows no values only what it chooses.

    Args:
        agent: whom to ask. `solver-fast` knows values: of every undominated arrangement, of both choices elsewhere.
        view: of a seat that is to act.
        rng: the agent's chance.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> from ..envs.crash.rules import CrashRules
    >>> from .registry import make
    >>> view, rng = view_of(Game(CrashRules.preset("online"), seed=7), 0), np.random.default_rng(0)
    >>> found = ranked_options(make("solver-fast"), view, rng)
    >>> len(found), [option.action for option in ranked_options(make("greedy"), view, rng)] != []
    (5, True)
    """
    if not isinstance(agent, SolverFast):
        return [Option(action=agent.act(view, rng), value=None)]
    policy, views, layout = agent.policy(view.rules), ViewBatch.of([view]), action_layout(view.rules)
    if view.phase is Phase.ARRANGE:
        found = views.undominated()
        actions = found.partitions.tolist()
        values = policy.values(views, found).max(axis=0).tolist()
    elif view.phase is Phase.EXCHANGE:
        actions = [layout.keep, layout.exchange]
        values = [float(worth[0]) for worth in policy.exchange_values(views)]
    else:
        actions = [layout.pass_, layout.call]
        values = policy.values(views, laid_many(views.laid, views.cards, view.rules))[:, 0].tolist()
    order = sorted(range(len(actions)), key=lambda place: -values[place])  # of equals the first, as it decides
    return [Option(action=actions[place], value=values[place]) for place in order]
