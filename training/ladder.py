"""The ladder: a configured line-up of agents plays on the same deals, and its results are kept and added to.

Everything is played in chunks: one line-up on some boards, in every seating. What a chunk comes to depends on the seed, the
names at the table and the number of the chunk alone, so results do not depend on processes, on order, on what was played
before, or on which other agents are in the ladder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..agents.forfeits import MayForfeit
from ..agents.protocol import Agent
from .arena import default_jobs
from .arena_result import BoardSums
from .forfeited import Forfeited, ForfeitLog
from .ladder_config import LadderConfig
from .ladder_results import Chunk, LadderResults, ResultsFile, read_results
from .line_ups import seatings
from .match import Tick, play_games
from .workers import Spread, spread

__all__ = ["play_chunk", "run_ladder"]

_AGENT_BRANCH = 0x4C414452  # keeps the agents' chance apart from any other branch of the same seed
_WORTH_PROCESSES = 8  # chunks; fewer are played before processes have started

Todo = tuple[tuple[int, ...], int]
"""A line-up, and the number of a chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    config: LadderConfig
    todo: tuple[Todo, ...]


_Agents = dict[int, Agent]


def run_ladder(
    config: LadderConfig,
    path: str | Path,
    *,
    jobs: int | None = None,
    workers: Spread | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> LadderResults:
    """Play what a file of results lacks, adding every chunk to it as soon as it is played.

    Args:
        config: what is played.
        path: of the file; it is made if it is not there.
        jobs: processes; if None, one a core where that is worth its while. The results do not depend on it.
        workers: where chunks are played, such as on a cluster (`prial.training.ray_workers`); processes here if None.
        progress: called with chunks there are and chunks in all.

    Returns:
        All results, those of agents that the configuration no longer names included.

    Raises:
        AgentError: an agent that cannot be made.
        ArenaError: an agent that failed; or a worker process that died. What was played before is kept.
        LadderFileError: the file is of another ladder.
        ValueError: an agent does not play the rules, or a number of jobs below 1.
        OSError: the file cannot be written.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs={jobs}: expected 1 or more")
    rules = config.made_rules()
    known = read_results(path, config)
    made = {number: agent.made(rules) for number, agent in enumerate(config.agents)}
    wanted = _todo(config)
    todo = tuple(one for one in wanted if (_names(config, one[0]), one[1]) not in known.chunks)
    done = len(wanted) - len(todo)
    if progress is not None:
        progress(done, len(wanted))
    if not todo:
        return known
    plan = _Plan(config=config, todo=todo)
    if jobs is None:
        jobs = len(todo) if workers is not None else default_jobs() if len(todo) >= _WORTH_PROCESSES else 1
    with ResultsFile(path, config, known) as file:
        for chunk in _played(plan, made, workers, jobs=min(jobs, len(todo))):
            file.add(chunk)
            known.chunks.setdefault(chunk.key, chunk)
            done += 1
            if progress is not None:
                progress(done, len(wanted))
    return known


def _todo(config: LadderConfig) -> list[Todo]:
    """Return all chunks: the first of every line-up, then the second, so that a run that is ended has some of everything."""
    line_ups = [(line_up, config.chunks(line_up)) for line_up in config.line_ups]
    most = max(chunks for _, chunks in line_ups)
    return [(line_up, number) for number in range(most) for line_up, chunks in line_ups if number < chunks]


def _names(config: LadderConfig, line_up: Sequence[int]) -> tuple[str, ...]:
    return tuple(config.names[number] for number in line_up)


def _played(plan: _Plan, made: _Agents, workers: Spread | None, *, jobs: int) -> Iterator[Chunk]:
    if jobs > 1 or workers is not None:
        pieces = (workers or spread)(
            _piece, plan, len(plan.todo), make_state=_no_agents, jobs=jobs, progress=lambda _: None
        )
        yield from (chunk for _, chunk in pieces)
    else:
        yield from (_piece(plan, made, number, lambda _: None) for number in range(len(plan.todo)))


def _no_agents(_: _Plan) -> _Agents:
    """Return what a worker starts with: agents are made when they first play."""
    return {}


def _piece(plan: _Plan, agents: _Agents, number: int, tick: Tick) -> Chunk:
    line_up, chunk = plan.todo[number]
    rules = plan.config.made_rules()
    for agent in set(line_up) - set(agents):
        agents[agent] = plan.config.agents[agent].made(rules)
    return play_chunk(plan.config, line_up, chunk, agents=agents, tick=tick)


def play_chunk(
    config: LadderConfig, line_up: Sequence[int], number: int, *, agents: _Agents, tick: Tick = lambda _: None
) -> Chunk:
    """Play one chunk.

    What a foreign engine fails to decide is forfeited by the rule of `prial.agents.forfeits`, and counted.

    Args:
        config: what is played.
        line_up: numbers of the agents at the table.
        number: of the chunk.
        agents: by number.
        tick: called after every step with the games that ended.

    Raises:
        ArenaError: an agent failed.

    >>> from ..agents.registry import make
    >>> config = LadderConfig(agents=["greedy", "random"], players=2, chunk_boards=2)
    >>> chunk = play_chunk(config, (0, 1), 3, agents={0: make("greedy"), 1: make("random")})
    >>> chunk.table, chunk.games, chunk.sums.agents.shape
    (('greedy', 'random'), 2, (2, 2, 7))
    """
    table = _names(config, line_up)
    members = list(dict.fromkeys(line_up))
    tables = seatings([members.index(agent) for agent in line_up])
    first = number * config.chunk_boards
    games = [(board, seating) for board in range(first, first + config.chunk_boards) for seating in tables]
    key = int.from_bytes(hashlib.sha256("\n".join(table).encode()).digest()[:8], "big")
    branches = [(_AGENT_BRANCH, key, number, member) for member in range(len(members))]
    rngs = [np.random.default_rng(np.random.SeedSequence(config.seed, spawn_key=branch)) for branch in branches]
    playing, names = [agents[member] for member in members], [config.names[member] for member in members]
    for agent in playing:
        if isinstance(agent, MayForfeit):
            agent.start_over()  # so that a chunk does not depend on those before it
    forfeits: list[Forfeited] = []
    tallies = play_games(
        config.made_rules(),
        games,
        playing,
        names=names,
        seed=config.seed,
        rngs=rngs,
        tick=tick,
        forfeits=forfeits,
    )
    log = ForfeitLog()
    log.add(forfeits)
    sums = BoardSums.of(tallies, tables, agents=len(members))
    return Chunk.of(table, number, len(tables), sums, forfeits=log.of(names))
