"""Options that `SingleSeat` and `SingleSeatVector` share: what they may be, and who plays the other seats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from ..envs.crash.game import Episode
from ..envs.crash.presets import load_rules
from ..envs.crash.rules import CrashRules, RulesError
from .protocol import Agent
from .registry import AgentError, make, what_lacks

__all__ = ["Actions", "Illegal", "Opponents", "Reward", "check_choice", "check_options", "rules_of", "seated_opponents"]

Opponents: TypeAlias = str | Agent | Sequence[str | Agent]
Reward = Literal["win", "points"]
Illegal = Literal["lose", "raise"]
Actions = Literal["candidates", "hands"]


def rules_of(rules: str | Path | CrashRules, overrides: dict[str, Any]) -> CrashRules:
    """Return the rules of a name, a file or as given, with options set otherwise.

    >>> rules_of("online", {"target": 10}).target
    10
    """
    return rules.replace(**overrides) if isinstance(rules, CrashRules) else load_rules(rules, **overrides)


def check_choice(option: str, value: object, choices: Sequence[object]) -> None:
    """Refuse a value that is none of the choices.

    Raises:
        RulesError: names option, value and choices.
    """
    if value not in choices:
        raise RulesError(f"{option}={value!r}: expected {' or '.join(map(repr, choices))}")


def check_options(
    rules: CrashRules, *, seat: object, actions: object, reward: object, episode: object, illegal: object
) -> None:
    """Refuse options that are out of range or do not go together.

    Raises:
        RulesError: names the option and its value.
    """
    check_choice("reward", reward, get_args(Reward))
    check_choice("episode", episode, get_args(Episode))
    check_choice("illegal", illegal, get_args(Illegal))
    check_choice("actions", actions, get_args(Actions))
    if episode == "round" and reward == "win":
        raise RulesError("reward='win' with episode='round': a single round is paid in points (reward='points')")
    if seat is not None and (isinstance(seat, bool) or seat not in range(rules.players)):
        raise RulesError(f"seat={seat!r}: expected a seat from 0 to {rules.players - 1}, or None")


def seated_opponents(opponents: Opponents, players: int) -> tuple[Agent, ...]:
    """Return the agents on the other seats, the first to the left of the learner's; the last given fills the rest.

    Raises:
        ValueError: unknown names, what is no agent, none at all, or more agents than seats.

    >>> [agent.name for agent in seated_opponents(["random", "greedy"], 4)]
    ['random', 'greedy', 'greedy']
    """
    given = [opponents] if isinstance(opponents, str) or not isinstance(opponents, Sequence) else list(opponents)
    others = players - 1
    if not 1 <= len(given) <= others:
        raise ValueError(f"opponents: expected 1 to {others} for players={players}, got {len(given)}")
    for agent in given:
        if not isinstance(agent, str) and (wrong := what_lacks(agent)):
            raise AgentError(f"opponents: expected agents or names of agents, got {agent!r}, which lacks {wrong}")
    made = {name: make(name) for name in given if isinstance(name, str)}  # one agent a name, asked in one batch
    agents = [made[agent] if isinstance(agent, str) else agent for agent in given]
    return (*agents, *[agents[-1]] * (others - len(agents)))
