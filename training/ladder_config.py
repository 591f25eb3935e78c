"""What a ladder plays: its agents, rules, seed and meetings, from a YAML file."""

from __future__ import annotations

import hashlib
import math
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ..agents.protocol import Agent, BaseAgent
from ..agents.registry import make, split_name
from ..envs.crash.presets import load_rules
from ..envs.crash.rules import CrashRules
from .config_files import load_config
from .line_ups import seatings

__all__ = ["LadderAgent", "LadderConfig", "load_ladder"]

Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^\S(.*\S)?$")]


class LadderAgent(BaseModel):
    """One agent: what it is called, and what to make it from."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Name = Field(description="what it is called in the ladder")
    agent: str = Field(description="as `prial.agents.make` takes it")
    options: dict[str, Any] = Field(default_factory=dict, description="of its factory")

    def made(self, rules: CrashRules) -> Agent:
        """Return the agent, which plays under the rules.

        Raises:
            AgentError: it cannot be made.
            ValueError: it does not play these rules.
        """
        agent = make(self.agent, **self.options)
        if isinstance(agent, BaseAgent):
            agent.check_rules(rules)
        return agent

    @property
    def identity(self) -> dict[str, Any]:
        """What tells it from another agent of the same name: how it is made, and the digest of a file."""
        path = Path(split_name(self.agent)[0])
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.suffix == ".onnx" and path.is_file() else None
        return {"agent": self.agent, "options": self.options, "sha256": digest}


class LadderConfig(BaseModel):
    """A ladder.

    >>> config = LadderConfig(agents=["greedy", "random"], players=3)
    >>> config.line_ups  # each alone against the other
    ((0, 1, 1), (0, 0, 1))
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    agents: tuple[LadderAgent, ...] = Field(min_length=2, description="names, or name, agent and options of each")
    rules: str = Field("online", description="rule set by name, or the path of a YAML file")
    players: int | None = Field(None, description="seats at the table; the rule set's own if not given")
    rule_options: dict[str, Any] = Field(default_factory=dict, description="options set otherwise on top of the rules")
    meetings: Literal["pairs", "tables"] = Field(
        "pairs", description="pairs: every two, each alone against the other; tables: as many different ones as seats"
    )
    games: int = Field(1200, ge=1, le=10**9, description="of a meeting, every seating counted; rounded up to chunks")
    seed: int = Field(1, ge=0, lt=2**63, description="of deals and agents")
    chunk_boards: int = Field(60, ge=1, le=10_000, description="boards played and stored at a time")

    @field_validator("agents", mode="before")
    @classmethod
    def _names_alone(cls, agents: Any) -> Any:
        if not isinstance(agents, list | tuple):
            return agents
        return tuple({"name": agent, "agent": agent} if isinstance(agent, str) else agent for agent in agents)

    @model_validator(mode="after")
    def _playable(self) -> LadderConfig:
        names = self.names
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"agents: {twice[0]!r} comes twice; give the second a name of its own")
        rules = self.made_rules()
        if self.meetings == "tables" and len(names) < rules.players:
            raise ValueError(
                f"meetings='tables': {rules.players} seats need as many agents, there are {len(names)}; or take 'pairs'"
            )
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """What the agents are called."""
        return tuple(agent.name for agent in self.agents)

    def made_rules(self) -> CrashRules:
        """Return the rules that are played."""
        seats = {} if self.players is None else {"players": self.players}
        return load_rules(self.rules, **seats, **self.rule_options)

    @property
    def line_ups(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the agents at each table that is played, those of a meeting one after the other.

        Agents sit in the order of their names, so that the order of the configuration changes no result.
        """
        names, players = self.names, self.made_rules().players
        numbers = sorted(range(len(names)), key=names.__getitem__)
        if self.meetings == "tables":
            return tuple(combinations(numbers, players))
        return tuple(
            line_up
            for a, b in combinations(numbers, 2)
            for line_up in dict.fromkeys([(a, *[b] * (players - 1)), (*[a] * (players - 1), b)])
        )

    def chunks(self, line_up: tuple[int, ...]) -> int:
        """Return how many chunks are played of a line-up; those of a meeting have the same boards."""
        meeting = [own for own in self.line_ups if set(own) == set(line_up)]
        games_per_board = sum(len(seatings(own)) for own in meeting)
        return math.ceil(self.games / (games_per_board * self.chunk_boards))


def load_ladder(source: str | Path) -> LadderConfig:
    """Return a ladder that ships (`shipped_configs("arena")`), or one from the path of a YAML file.

    Raises:
        ConfigFileError: it cannot be read or used.

    >>> load_ladder("online-3").made_rules().players
    3
    """
    return load_config(LadderConfig, source, folder="arena")
