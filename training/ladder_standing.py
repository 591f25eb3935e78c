"""What the results of a ladder say: every agent's scores and rating, every two compared, and circles among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ..envs.crash.rules import CrashRules
from .arena_result import AgentScore, BoardSums, PairScore
from .forfeited import AgentForfeits, joined
from .ladder_config import LadderConfig
from .ladder_results import Chunk, LadderResults
from .ratings import Contest, Ratings, RatingsError, rate

__all__ = ["LadderStanding", "circles_among", "standing_of"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LadderStanding:
    """How a ladder stands.

    Attributes:
        config: what is played.
        rules: as played.
        chunks, chunks_in_all: played, and to be played.
        games, boards: played.
        agents: scores over all meetings, in the order of the configuration; only those that have played.
        pairs: every two that met, over the games in which both sat.
        ratings: of all agents, None where there are none.
        no_ratings: why there are none.
        circles: agents of whom each is ahead of the next and the last ahead of the first.
        versions: of prial, that played.
        torn: lines of the file that were not whole.
        forfeits: of agents that forfeited decisions.
    """

    config: LadderConfig
    rules: CrashRules
    chunks: int
    chunks_in_all: int
    games: int
    boards: int
    agents: tuple[AgentScore, ...]
    pairs: tuple[PairScore, ...]
    ratings: Ratings | None
    no_ratings: str
    circles: tuple[tuple[str, ...], ...]
    versions: tuple[str, ...]
    torn: int
    forfeits: tuple[AgentForfeits, ...]

    @property
    def order(self) -> list[int]:
        """Numbers of the agents, the best rated first; without ratings in the order of the configuration."""
        if self.ratings is None:
            return list(range(len(self.config.names)))
        return [int(number) for number in np.argsort(-self.ratings.values, kind="stable")]

    def pair(self, first: str, second: str) -> PairScore | None:
        """Return how two compare, in either order; None if they have not met."""
        return next((pair for pair in self.pairs if {pair.first, pair.second} == {first, second}), None)


def standing_of(config: LadderConfig, results: LadderResults, *, resamples: int = 1000) -> LadderStanding:
    """Return how a ladder stands by its results so far.

    Args:
        config: what is played; results of other agents and chunks are left out.
        results: from its file.
        resamples: of the boards, for the ratings.

    Raises:
        ModuleNotFoundError: without scipy, from the extra `ladder`.

    >>> config = LadderConfig(agents=["greedy", "random"], players=2)
    >>> standing_of(config, LadderResults()).no_ratings
    "no games link 'greedy' with 'random' yet"
    """
    names = config.names
    tables = [(line_up, tuple(names[agent] for agent in line_up)) for line_up in config.line_ups]
    wanted = {(table, number) for line_up, table in tables for number in range(config.chunks(line_up))}
    chunks = [chunk for key, chunk in sorted(results.chunks.items()) if key in wanted]
    rules = config.made_rules()
    boards = (1 + max((chunk.number for chunk in chunks), default=-1)) * config.chunk_boards
    agents = tuple(
        _score(name, own, rules) for name in names if (own := [chunk for chunk in chunks if name in chunk.table])
    )
    pairs = tuple(
        _pair(first, second, both, rules)
        for first, second in combinations(names, 2)
        if (both := [chunk for chunk in chunks if first in chunk.table and second in chunk.table])
    )
    ratings, why = None, ""
    try:
        ratings = rate(_contest(config, tables, chunks, boards), resamples=resamples, seed=config.seed)
    except RatingsError as error:
        why = str(error)
    return LadderStanding(
        config=config,
        rules=rules,
        chunks=len(chunks),
        chunks_in_all=len(wanted),
        games=sum(chunk.games for chunk in chunks) * config.chunk_boards,
        boards=len({chunk.number for chunk in chunks}) * config.chunk_boards,
        agents=agents,
        pairs=pairs,
        ratings=ratings,
        no_ratings=why,
        circles=circles_among([(pair.ahead, _other(pair)) for pair in pairs if pair.ahead is not None]),
        versions=tuple(sorted({chunk.version for chunk in chunks})),
        torn=results.torn,
        forfeits=joined(one for chunk in chunks for one in chunk.forfeits),
    )


def _other(pair: PairScore) -> str:
    return pair.second if pair.ahead == pair.first else pair.first


_SEATS, _WINS = 0, 2  # columns of the sums of an agent


def _contest(
    config: LadderConfig,
    tables: Sequence[tuple[tuple[int, ...], tuple[str, ...]]],
    chunks: Iterable[Chunk],
    boards: int,
) -> Contest:
    columns = {table: column for column, (_, table) in enumerate(tables)}
    games = np.zeros((boards, len(tables)))
    wins = np.zeros((boards, len(tables), len(config.names)))
    for chunk in chunks:
        column, rows = columns[chunk.table], _boards(chunk, config)
        games[rows, column] = chunk.games
        for member, name in enumerate(dict.fromkeys(chunk.table)):
            wins[rows, column, config.names.index(name)] = chunk.sums.agents[:, member, _WINS]
    return Contest(agents=config.names, line_ups=tuple(line_up for line_up, _ in tables), games=games, wins=wins)


def _boards(chunk: Chunk, config: LadderConfig) -> slice:
    first = chunk.number * config.chunk_boards
    return slice(first, first + config.chunk_boards)


def _added(parts: Iterable[tuple[Chunk, npt.NDArray[np.float64]]]) -> npt.NDArray[np.float64]:
    """Return sums over the line-ups of every board that was played: float64 (boards, columns)."""
    by_number: dict[int, npt.NDArray[np.float64]] = {}
    for chunk, sums in parts:
        by_number[chunk.number] = by_number.get(chunk.number, 0) + sums
    return np.concatenate([by_number[number] for number in sorted(by_number)])


def _score(name: str, chunks: Sequence[Chunk], rules: CrashRules) -> AgentScore:
    members = (list(dict.fromkeys(chunk.table)).index(name) for chunk in chunks)
    own = _added([(chunk, chunk.sums.agents[:, member]) for chunk, member in zip(chunks, members, strict=True)])
    sums = BoardSums(agents=own[:, None], pairs=np.zeros((len(own), 0, 4)))
    return sums.scores([name], rules, games_per_board=1)[0][0]


def _pair(first: str, second: str, chunks: Sequence[Chunk], rules: CrashRules) -> PairScore:
    parts = []
    for chunk in chunks:
        members = list(dict.fromkeys(chunk.table))
        a, b = members.index(first), members.index(second)
        column = list(combinations(range(len(members)), 2)).index((min(a, b), max(a, b)))
        sums = chunk.sums.pairs[:, column].copy()
        if a > b:
            sums[:, [1, 3]] *= -1  # differences of win share and of points
        parts.append((chunk, sums))
    pair = _added(parts)
    tables = {chunk.table: chunk.games for chunk in chunks}
    both = BoardSums(agents=np.ones((len(pair), 2, 7)), pairs=pair[:, None])
    return both.scores([first, second], rules, games_per_board=sum(tables.values()))[1][0]


def circles_among(ahead: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """Return circles: each is ahead of the next, the last of the first; the shortest through each agent that is in one.

    Args:
        ahead: who is ahead of whom.

    >>> circles_among([("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")])
    (('a', 'b', 'c'),)
    """
    beats: dict[str, list[str]] = {}
    for winner, loser in ahead:
        beats.setdefault(winner, []).append(loser)
    found: dict[frozenset[str], tuple[str, ...]] = {}
    covered: set[str] = set()
    for start in beats:
        if start in covered:
            continue
        waiting: list[tuple[str, ...]] = [(start,)]
        seen = {start}
        for path in waiting:
            if start in beats.get(path[-1], []):
                found.setdefault(frozenset(path), path)
                covered.update(path)
                break
            for loser in beats.get(path[-1], []):
                if loser not in seen:
                    seen.add(loser)
                    waiting.append((*path, loser))
    return tuple(found.values())
