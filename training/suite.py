"""The benchmark suite: one agent against fixed tables of fixed opponents on fixed deals, and the score card of it.

A suite is a file of `prial.configs` with a version, and never changes. The *field* of a card is a short hash of all that
decides its figures apart from the agent: the suite, the games, the version of prial and the data of its agents. Two cards
of one field can be compared.

**Score.** In each cell the agent takes one seat and one opponent all others; its lead is its win share minus an even share.
The score is the mean lead over all tables and opponents, in percentage points. Cells of one table share deals, so the half
width of their mean is taken as the mean of theirs, which it cannot exceed; tables have seeds of their own, so theirs add up
as independent ones do.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ..agents.protocol import Agent, BaseAgent
from ..agents.registry import agent_names, make, split_name
from ..envs.crash.presets import load_rules
from ..envs.crash.rules import CrashRules
from .arena import run_arena
from .config_files import load_config
from .forfeited import AgentForfeits
from .statistics import Estimate
from .workers import Spread

__all__ = ["Card", "Cell", "Suite", "SuiteTable", "load_suite", "run_suite"]


class SuiteTable(BaseModel):
    """Rules, and the seed of deals and agents."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    rules: str = Field(description="rule set by name")
    players: int = Field(description="seats")
    seed: int = Field(ge=0, lt=2**63)
    rule_options: dict[str, Any] = Field(default_factory=dict)

    def made_rules(self) -> CrashRules:
        """Return the rules that are played."""
        return load_rules(self.rules, players=self.players, **self.rule_options)

    @property
    def title(self) -> str:
        """What to call it, such as ``online, 3 players``."""
        options = "".join(f", {name}={value}" for name, value in self.rule_options.items())
        return f"{self.rules}, {self.players} players{options}"


class Suite(BaseModel):
    """A suite."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    version: int = Field(ge=1)
    opponents: list[str] = Field(min_length=1, description="built-in agents that count in the score")
    beside: list[str] = Field(default_factory=list, description="those that do not")
    games: int = Field(ge=1, description="of each cell, every seating counted; rounded up to whole boards")
    quick_games: int = Field(ge=1)
    tables: list[SuiteTable] = Field(min_length=1)

    def field(self, *, quick: bool) -> str:
        """Return a short hash of all that decides figures apart from the agent."""
        content = [self.model_dump(mode="json"), quick, metadata.version("prial"), _data_digest()]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


@cache
def _data_digest() -> str:
    """Return a hash of what the built-in agents know."""
    digest = hashlib.sha256()

    def take(entry: Traversable, path: str) -> None:
        if entry.is_dir():
            for inner in sorted(entry.iterdir(), key=lambda one: one.name):
                take(inner, f"{path}/{inner.name}")
        else:
            digest.update(path.encode() + b"\0" + hashlib.sha256(entry.read_bytes()).digest())

    take(resources.files("prial.agents") / "data", "data")
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One seat against a table of one opponent.

    Attributes:
        table, opponent: which.
        counts: in the score.
        games: played.
        even: an even share of wins.
        win_share, margin_per_round: of the agent's seat.
        forfeits: decisions that it failed to make, by the rule of `prial.agents.forfeits`; None if there are none.
    """

    table: str
    opponent: str
    counts: bool
    games: int
    even: float
    win_share: Estimate
    margin_per_round: Estimate
    forfeits: AgentForfeits | None = None

    @property
    def lead(self) -> Estimate:
        """Win share minus an even share."""
        share = self.win_share
        return Estimate(value=share.value - self.even, low=share.low - self.even, high=share.high - self.even)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A score card.

    Attributes:
        agent: its name.
        asked: what it was made from.
        agent_version: of the agent: its own, that of its package, or the digest of its file.
        suite: version of the suite.
        field: see the module.
        quick: whether this was a quick run.
        prial: version.
        cells: in the order played.
        left_out: what was not played, and why.
        tables: how many the suite has.
    """

    agent: str
    asked: str
    agent_version: str
    suite: int
    field: str
    quick: bool
    prial: str
    cells: tuple[Cell, ...]
    left_out: tuple[str, ...]
    tables: int

    @property
    def score(self) -> Estimate | None:
        """The mean lead over the tables that were played, None if there are none."""
        by_table: dict[str, list[Estimate]] = {}
        for cell in self.cells:
            if cell.counts:
                by_table.setdefault(cell.table, []).append(cell.lead)
        if not by_table:
            return None
        values = [sum(lead.value for lead in leads) / len(leads) for leads in by_table.values()]
        halves = [sum(lead.half_width for lead in leads) / len(leads) for leads in by_table.values()]
        value = sum(values) / len(values)
        half = math.sqrt(sum(half * half for half in halves)) / len(halves)
        return Estimate(value=value, low=value - half, high=value + half)

    @property
    def is_whole(self) -> bool:
        """Whether every table was played against every opponent that counts."""
        return len({cell.table for cell in self.cells}) == self.tables


def load_suite(name: str = "v1") -> Suite:
    """Return a suite that ships.

    Raises:
        ConfigFileError: there is none of this name.

    >>> load_suite().tables[1].title
    'online, 3 players'
    """
    return load_config(Suite, name, folder="benchmark")


def run_suite(
    suite: Suite,
    agent: str,
    *,
    name: str | None = None,
    quick: bool = False,
    jobs: int | None = None,
    workers: Spread | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Card:
    """Play a suite and return the score card.

    Args:
        suite: which.
        agent: as `prial.agents.make` takes it.
        name: on the card; the agent's own if None.
        quick: play few games.
        jobs, workers: as for `run_arena`.
        progress: called with cells played and cells in all.

    Raises:
        AgentError: an agent that cannot be made.
        ArenaError: an agent that failed.
    """
    made = make(agent)
    fields: list[tuple[SuiteTable, CrashRules, str]] = []
    left_out: list[str] = []
    for table in suite.tables:
        rules = table.made_rules()
        if why := _refusal(made, rules):
            left_out.append(f"{table.title}: {why}")
            continue
        for opponent in (*suite.opponents, *suite.beside):
            if why := _refusal(make(opponent), rules):
                if opponent in suite.opponents:
                    raise ValueError(f"{opponent} must play {table.title}: {why}")
                left_out.append(f"{table.title}, against {opponent}: {why.partition(';')[0]}")
                continue
            fields.append((table, rules, opponent))
    cells: list[Cell] = []
    for table, rules, opponent in fields:
        if progress is not None:
            progress(len(cells), len(fields))
        games = suite.quick_games if quick else suite.games
        result = run_arena(
            [agent, opponent],
            rules=rules,
            games=games,
            seed=table.seed,
            jobs=jobs,
            workers=workers,
            count_forfeits=True,
        )
        own = result.agents[0]
        cells.append(
            Cell(
                table=table.title,
                opponent=opponent,
                counts=opponent in suite.opponents,
                games=result.games,
                even=1 / rules.players,
                win_share=own.win_share,
                margin_per_round=own.margin_per_round,
                forfeits=next((one for one in result.forfeits if one.agent == own.agent), None),
            )
        )
    return Card(
        agent=name or (agent if split_name(agent)[1] else made.name),
        asked=agent,
        agent_version=_version(made, agent),
        suite=suite.version,
        field=suite.field(quick=quick),
        quick=quick,
        prial=metadata.version("prial"),
        cells=tuple(cells),
        left_out=tuple(left_out),
        tables=len(suite.tables),
    )


def _refusal(agent: Agent, rules: CrashRules) -> str | None:
    """Return why an agent does not play some rules, None if it does."""
    if isinstance(agent, BaseAgent):
        try:
            agent.check_rules(rules)
        except ValueError as error:
            return str(error)
    return None


def _version(agent: Agent, asked: str) -> str:
    """Return what tells this agent from others of its name."""
    own: object = getattr(agent, "version", None)
    if isinstance(own, str | int) and not isinstance(own, bool):
        return str(own)
    asked, _ = split_name(asked)
    if asked in agent_names():
        return f"prial {metadata.version('prial')}"
    if Path(asked).is_file():
        return f"sha256 {hashlib.sha256(Path(asked).read_bytes()).hexdigest()[:16]}"
    module = asked.partition(":")[0].partition(".")[0]
    packages: Sequence[str] = metadata.packages_distributions().get(module, [])
    return f"{packages[0]} {metadata.version(packages[0])}" if packages else "unknown"
