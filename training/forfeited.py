"""Decisions that agents forfeited in an arena (`prial.agents.forfeits`): counted by cause, and named game by game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

__all__ = ["AgentForfeits", "ForfeitLog", "Forfeited", "Where", "joined", "place_of"]

_MOST_NAMED = 100  # games that are named of one agent


class Where(TypedDict):
    """Where in an arena a decision was to be made; the seating by the agents' labels, the round from 1."""

    board: int
    seating: tuple[str, ...]
    round: int
    seat: int
    phase: str


def place_of(where: Where) -> str:
    """Return a place in words.

    >>> place_of({"board": 3, "seating": ("a", "b"), "round": 1, "seat": 0, "phase": "call"})
    'call phase (board 3, seating (a, b), round 1, seat 0)'
    """
    seats = ", ".join(where["seating"])
    table = f"board {where['board']}, seating ({seats}), round {where['round']}, seat {where['seat']}"
    return f"{where['phase']} phase ({table})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forfeited:
    """One decision: whose (the agent's number), where, why (of `prial.agents.forfeits.CAUSES`), and what happened."""

    agent: int
    where: Where
    cause: str
    detail: str

    @property
    def game(self) -> tuple[int, tuple[str, ...]]:
        """Which game it was: board and seating."""
        return self.where["board"], self.where["seating"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentForfeits:
    """What one agent forfeited.

    Attributes:
        agent: its label.
        decisions: how many.
        games: in how many games.
        causes: how many of each cause, the most frequent first.
        first: the first of each game, up to 100 games.
    """

    agent: str
    decisions: int
    games: int
    causes: dict[str, int]
    first: tuple[Forfeited, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        named = [
            {**one.where, "seating": list(one.where["seating"]), "cause": one.cause, "detail": one.detail}
            for one in self.first
        ]
        return {
            "agent": self.agent,
            "decisions": self.decisions,
            "games": self.games,
            "causes": self.causes,
            "first_of_games": named,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], *, number: int) -> AgentForfeits:
        """Return what `to_dict` made, of the agent with some number.

        Raises:
            ValueError, KeyError, TypeError: it is none.
        """
        first = []
        for one in content["first_of_games"]:
            where = Where(
                board=int(one["board"]),
                seating=tuple(map(str, one["seating"])),
                round=int(one["round"]),
                seat=int(one["seat"]),
                phase=str(one["phase"]),
            )
            first.append(Forfeited(agent=number, where=where, cause=str(one["cause"]), detail=str(one["detail"])))
        return cls(
            agent=str(content["agent"]),
            decisions=int(content["decisions"]),
            games=int(content["games"]),
            causes={str(cause): int(count) for cause, count in content["causes"].items()},
            first=tuple(first),
        )

    def lines(self) -> list[str]:
        """Return what happened, for people.

        >>> log = ForfeitLog()
        >>> where: Where = {"board": 0, "seating": ("a", "b"), "round": 2, "seat": 0, "phase": "arrange"}
        >>> log.add([Forfeited(agent=0, where=where, cause="late", detail="no answer within 5 s")])
        >>> for line in log.of(["a", "b"])[0].lines():
        ...     print(line)
        a forfeited 1 decision in 1 game: 1 late
        first in the arrange phase (board 0, seating (a, b), round 2, seat 0): no answer within 5 s
        """
        causes = ", ".join(f"{count} {cause}" for cause, count in self.causes.items())
        decisions = f"{self.decisions} decision{'s'[: self.decisions != 1]}"
        games = f"{self.games} game{'s'[: self.games != 1]}"
        first = self.first[0]
        return [
            f"{self.agent} forfeited {decisions} in {games}: {causes}",
            f"first in the {place_of(first.where)}: {first.detail}",
        ]


@dataclass(slots=True)
class ForfeitLog:
    """What was forfeited in some games, kept small: counts, and the first of each game up to a number."""

    causes: dict[int, Counter[str]] = field(default_factory=dict)
    games: dict[int, int] = field(default_factory=dict)
    first: dict[int, list[Forfeited]] = field(default_factory=dict)

    def add(self, forfeits: Iterable[Forfeited]) -> None:
        """Count what was forfeited in games of which nothing is counted yet."""
        seen: dict[int, dict[tuple[int, tuple[str, ...]], Forfeited]] = {}
        for one in forfeits:
            self.causes.setdefault(one.agent, Counter())[one.cause] += 1
            seen.setdefault(one.agent, {}).setdefault(one.game, one)
        for agent, games in seen.items():
            self.games[agent] = self.games.get(agent, 0) + len(games)
            named = self.first.setdefault(agent, [])
            in_order = sorted(games.values(), key=lambda one: one.where["board"])
            named.extend(in_order[: _MOST_NAMED - len(named)])

    def join(self, other: ForfeitLog) -> None:
        """Add what was counted in other games."""
        for agent, causes in other.causes.items():
            self.causes.setdefault(agent, Counter()).update(causes)
            self.games[agent] = self.games.get(agent, 0) + other.games[agent]
            named = self.first.setdefault(agent, [])
            named.extend(other.first[agent][: _MOST_NAMED - len(named)])

    def of(self, labels: Sequence[str]) -> tuple[AgentForfeits, ...]:
        """Return what each agent forfeited, those that forfeited nothing left out."""
        return tuple(
            AgentForfeits(
                agent=label,
                decisions=self.causes[agent].total(),
                games=self.games[agent],
                causes=dict(self.causes[agent].most_common()),
                first=tuple(self.first[agent]),
            )
            for agent, label in enumerate(labels)
            if agent in self.causes
        )


def joined(parts: Iterable[AgentForfeits]) -> tuple[AgentForfeits, ...]:
    """Return what each agent forfeited in all, of parts that have no game in common.

    >>> joined([])
    ()
    """
    by_agent: dict[str, list[AgentForfeits]] = {}
    for part in parts:
        by_agent.setdefault(part.agent, []).append(part)
    return tuple(
        AgentForfeits(
            agent=agent,
            decisions=sum(part.decisions for part in own),
            games=sum(part.games for part in own),
            causes=dict(sum((Counter(part.causes) for part in own), Counter()).most_common()),
            first=tuple(one for part in own for one in part.first)[:_MOST_NAMED],
        )
        for agent, own in by_agent.items()
    )
