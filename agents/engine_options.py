"""What a position's options are worth to an agent, for `analyse`: ranked, with values where the agent knows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.actions import action_layout
from ..envs.crash.game import Phase
from ..envs.crash.observation import PlayerView, ViewBatch
from ..envs.crash.partitions import laid_many
from .one_file_agent import OneFileAgent
from .percentile import Percentile
from .protocol import Agent
from .solver import Solver
from .solver_fast import SolverFast, SolverFastPolicy
from .trained import Trained

__all__ = ["Analysis", "Option", "analysed"]

_Values = Sequence[float] | npt.NDArray[np.floating[Any]]
_CHANCE = "the chance to win the game, or points with objective=points"
_POINTS = "points, a tenth of a win each; only the differences between options mean anything"
_GAIN = "points that it gains"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option: the action, and what it is worth as the agent estimates it (None where it does not)."""

    action: int
    value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """What an agent says of a view.

    Attributes:
        options: best first.
        values: what the values are, in words.
    """

    options: tuple[Option, ...]
    values: str


def analysed(agent: Agent, view: PlayerView, rng: np.random.Generator) -> Analysis:
    """Return the options of a view; of an agent that knows no values only what it chooses.

    Args:
        agent: whom to ask. `solver-fast`, `solver`, `percentile`, agents around a value network, and one-file bots (of the
            exchange and the call alone) know values; those of `solver` are what it knows before it deals hidden cards, and
            what it decides after that comes first.
        view: of a seat that is to act.
        rng: the agent's chance.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> from ..envs.crash.rules import CrashRules
    >>> from .registry import make
    >>> view, rng = view_of(Game(CrashRules.preset("online"), seed=7), 0), np.random.default_rng(0)
    >>> found = analysed(make("solver-fast"), view, rng)
    >>> len(found.options), found.values[:26]
    (5, 'the chance to win the game')
    >>> analysed(make("greedy"), view, rng).values
    'none; greedy tells its decision alone'
    """
    views = ViewBatch.of([view])
    known = _known(agent, views)
    if known is None:
        alone = Option(action=agent.act(view, rng), value=None)
        return Analysis(options=(alone,), values=f"none; {agent.name} tells its decision alone")
    what, values = known
    actions = _actions(views)
    order = sorted(range(len(actions)), key=lambda place: -values[place])  # of equals the first, as it decides
    options = [Option(action=actions[place], value=float(values[place])) for place in order]
    if isinstance(agent, Solver):
        decided = agent.act(view, rng)
        options.sort(key=lambda option: option.action != decided)
        what = f"{what}, before hidden cards are dealt; what is decided after that comes first"
    return Analysis(options=tuple(options), values=what)


def _actions(views: ViewBatch) -> list[int]:
    layout = action_layout(views.rules)
    if views.phase[0] == Phase.EXCHANGE:
        return [layout.keep, layout.exchange]
    if views.phase[0] == Phase.CALL:
        return [layout.pass_, layout.call]
    laid: list[int] = views.undominated().partitions.tolist()
    return laid


def _known(agent: Agent, views: ViewBatch) -> tuple[str, _Values] | None:
    """Return what values are and the value of each action of one view; None where the agent knows none."""
    if isinstance(agent, SolverFast):
        return _CHANCE, _of_solver(agent.policy(views.rules), views)
    if isinstance(agent, Solver):
        return _CHANCE, _of_solver(agent.policy(views.rules).fast, views)
    if isinstance(agent, Trained):
        return _of_network(agent, views)
    if isinstance(agent, Percentile):
        return _of_percentile(agent, views)
    if isinstance(agent, OneFileAgent) and not agent.errs and views.phase[0] != Phase.ARRANGE:
        name = "exchange_gain" if views.phase[0] == Phase.EXCHANGE else "call_gain"
        return _GAIN, [0.0, float(agent.answers(views)[name][0])]
    return None


def _of_solver(policy: SolverFastPolicy, views: ViewBatch) -> _Values:
    if views.phase[0] == Phase.EXCHANGE:
        return [float(worth[0]) for worth in policy.exchange_values(views)]
    if views.phase[0] == Phase.CALL:
        return policy.values(views, laid_many(views.laid, views.cards, views.rules))[:, 0]
    values: _Values = policy.values(views, views.undominated()).max(axis=0)
    return values


def _of_network(agent: Trained, views: ViewBatch) -> tuple[str, _Values]:
    if views.phase[0] == Phase.EXCHANGE:
        return _GAIN, [0.0, float(agent.exchange_gains(views)[0])]
    if views.phase[0] == Phase.CALL:
        return _GAIN, [0.0, float(agent.call_gains(views)[0])]
    values = agent.values(views)
    return _POINTS, values - values.max()


def _of_percentile(agent: Percentile, views: ViewBatch) -> tuple[str, _Values]:
    policy = agent.policy(views.rules)
    if views.phase[0] == Phase.EXCHANGE:
        return "expected points, and what keeping has to be worth", [
            float(worth[0]) for worth in policy.exchange_values(views)
        ]
    if views.phase[0] == Phase.CALL:
        return _GAIN, [0.0, float(policy.call_gains(views)[0])]
    return "expected points", policy.values(views)
