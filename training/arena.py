"""The arena: duplicate play between agents, and what it says about their strength.

**Boards.** A board is one stream of deals and first dealers. Every line-up plays it in every seating (see `line_ups`), so
that luck with cards and seats cancels; `games` counts every seating and is rounded up to whole boards. Boards are the
clusters of all intervals (`prial.training.statistics`).

**Same figures with any number of workers.** Boards are played in chunks of a fixed size; every agent gets a generator of
its own for each chunk, derived from (seed, chunk, agent).
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from ..agents.forfeits import MayForfeit
from ..agents.protocol import Agent, BaseAgent
from ..agents.registry import AgentError, make, what_lacks
from ..envs.crash.game import Game
from ..envs.crash.record import record_of
from ..envs.crash.rules import CrashRules
from ..envs.crash.starts import check_seed
from ..envs.whole_numbers import whole_number
from .arena_luck import BoardLuck
from .arena_result import ArenaResult, BoardSums
from .files import whole_file
from .forfeited import Forfeited, ForfeitLog
from .line_ups import labels, line_ups, seatings
from .match import ArenaError, Begun, Ended, Tallies, Tick, play_games
from .workers import Spread, spread

__all__ = ["ArenaError", "ArenaResult", "ArenaSetupError", "Progress", "default_jobs", "run_arena"]

Progress = Callable[[int, int], None]
"""Called with the games played so far and the games in all."""

_CHUNK_GAMES = 240  # games played in step; enough for batches, few enough for progress and even loads
_SAMPLES = (1, 1, 12)  # games played for their time; the first compiles and loads what the agents need
_WORTH_SECONDS = 8.0  # by the last sample, in which a game of quick agents takes some five times as long as among many
_AGENT_BRANCH = 0x41524E41  # keeps the agents' chance apart from any other branch of the same seed


class ArenaSetupError(ValueError):
    """An arena that cannot be played."""


def default_jobs() -> int:
    """Return how many processes play unless told otherwise: one a core that this process may use."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # macOS and Windows
        return os.cpu_count() or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What is to be played, small enough to send to workers.

    Attributes:
        names: what to make the agents from.
        labels: what to call them.
        tables: every seating of every line-up, in the order played.
        records: the form in which games are recorded, None for not at all.
        forfeits: whether what agents forfeit is counted.
        luck: whether the luck of the deals is summed up.
    """

    rules: CrashRules
    seed: int
    names: tuple[str, ...]
    labels: tuple[str, ...]
    line_ups: tuple[tuple[int, ...], ...]
    tables: tuple[tuple[int, ...], ...]
    boards: int
    records: Literal["text", "json"] | None
    forfeits: bool
    luck: bool

    @property
    def games(self) -> int:
        return self.boards * len(self.tables)

    @property
    def chunk_boards(self) -> int:
        return max(1, _CHUNK_GAMES // len(self.tables))

    @property
    def chunks(self) -> int:
        return math.ceil(self.boards / self.chunk_boards)

    def boards_of(self, chunk: int) -> range:
        first = chunk * self.chunk_boards
        return range(first, min(first + self.chunk_boards, self.boards))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chunk:
    """What some boards came to, what was forfeited, and records and luck of their games where they are wanted."""

    sums: BoardSums
    forfeits: ForfeitLog
    records: str
    luck: npt.NDArray[np.float64] | None


def run_arena(
    agents: Sequence[str | Path | Agent],
    *,
    rules: CrashRules,
    games: int = 2000,
    seed: int = 0,
    jobs: int | None = None,
    workers: Spread | None = None,
    progress: Progress | None = None,
    records: str | Path | None = None,
    luck_adjusted: bool = False,
    count_forfeits: bool = False,
) -> ArenaResult:
    """Let agents play each other on the same deals and return how they did.

    Args:
        agents: two or more, by name (as `prial.agents.make` takes them) or as objects. With fewer agents than seats the
            missing seats go to the last one; with more, every combination plays. The same name may come twice.
        rules: of all games.
        games: at least so many games, every seating counted; rounded up to whole boards.
        seed: of deals and agents.
        jobs: processes; if None, one a core where that is worth its while. The figures do not depend on it. Agents given
            as objects play in this process. A script that calls this needs the usual ``if __name__ == "__main__":``,
            since workers import it.
        workers: where agents by name play, such as on a cluster (`prial.training.ray_workers`); processes here if None. The
            figures do not depend on it. If `jobs` is None it does as much at once as it can.
        progress: called as games end.
        records: file for the record of every game (see `docs/records.md`), board by board and seating by seating, the same
            with any number of jobs; JSON lines if its name ends in ``.jsonl``, else text. It is written whole or not at all.
        luck_adjusted: also give win shares with the luck of the cards taken out (`prial.training.arena_luck`).
        count_forfeits: where a foreign engine fails to decide, play on by the rule of `prial.agents.forfeits` and count it
            in the result; if False, that is an agent that failed.

    Raises:
        AgentError: an agent that cannot be made, or what is none.
        ArenaError: an agent that failed, named with phase and game; or a worker process that died.
        ArenaSetupError: fewer than two agents, or games or jobs that are no whole number from 1.
        RulesError: a seed that is no whole number from 0.
        SolverTableError: luck is to be taken out, and there is no table of `solver-fast` for the rules.
        OSError: the records cannot be written.

    >>> result = run_arena(["greedy", "random"], rules=CrashRules.preset("online", players=2), games=4, seed=1)
    >>> result.games, [score.agent for score in result.agents]
    (4, ['greedy', 'random'])
    """
    if len(agents) < 2:
        raise ArenaSetupError(f"an arena needs two or more agents, got {len(agents)}")
    games, jobs = _count("games", games), None if jobs is None else _count("jobs", jobs)
    seed = check_seed(seed)
    for agent in agents:
        if not isinstance(agent, str | Path) and (wrong := what_lacks(agent)):
            raise AgentError(f"agents: expected agents or names of agents, got {agent!r}, which lacks {wrong}")
    made = [make(agent) if isinstance(agent, str | Path) else agent for agent in agents]
    for agent in made:
        if isinstance(agent, BaseAgent):
            agent.check_rules(rules)
    names = tuple(str(agent) if isinstance(agent, str | Path) else agent.name for agent in agents)
    up = line_ups(len(names), rules.players)
    tables = tuple(seating for line_up in up for seating in seatings(line_up))
    plan = _Plan(
        rules=rules,
        seed=seed,
        names=names,
        labels=labels(names),
        line_ups=up,
        tables=tables,
        boards=math.ceil(games / len(tables)),
        records=None if records is None else "json" if Path(records).suffix == ".jsonl" else "text",
        forfeits=count_forfeits,
        luck=luck_adjusted,
    )
    if luck_adjusted:
        BoardLuck(rules)  # before anything is played
    report = _reporter(progress, plan.games)
    by_name = all(isinstance(agent, str | Path) for agent in agents)
    if jobs is None:
        jobs = plan.chunks if workers is not None else _worthwhile_jobs(plan, made) if by_name else 1
    jobs = min(jobs, plan.chunks)
    # Opened first, so that a file that cannot be written is known before anything is played.
    with nullcontext() if records is None else whole_file(records) as file:
        if by_name and (jobs > 1 or workers is not None):
            go = workers or spread
            pieces = go(_play_chunk, plan, plan.chunks, make_state=_make_agents, jobs=jobs, progress=report)
        else:
            pieces = _in_this_process(plan, made, report)
        sums, forfeits, luck = _in_order(pieces, file)
    return _result(plan, sums, forfeits, luck, games_asked=games)


def _count(option: str, given: object) -> int:
    number = whole_number(given)
    if number is None or number < 1:
        raise ArenaSetupError(f"{option}={given!r}: expected 1 or more, a whole number")
    return number


def _in_order(
    pieces: Iterable[tuple[int, _Chunk]], file: BinaryIO | None
) -> tuple[BoardSums, ForfeitLog, npt.NDArray[np.float64] | None]:
    """Return what all chunks came to; write their records in order, each as soon as those before it are there."""
    sums: dict[int, BoardSums] = {}
    logs: dict[int, ForfeitLog] = {}
    luck: dict[int, npt.NDArray[np.float64]] = {}
    waiting: dict[int, str] = {}
    written = 0
    for number, chunk in pieces:
        sums[number], logs[number] = chunk.sums, chunk.forfeits
        if chunk.luck is not None:
            luck[number] = chunk.luck
        waiting[number] = chunk.records
        while written in waiting:
            text = waiting.pop(written)
            if file is not None:
                file.write(text.encode("ascii"))
            written += 1
    forfeits = ForfeitLog()
    for number in sorted(logs):
        forfeits.join(logs[number])
    joined = BoardSums.joined([sums[number] for number in sorted(sums)])
    return joined, forfeits, np.concatenate([luck[number] for number in sorted(luck)]) if luck else None


def _reporter(progress: Progress | None, total: int) -> Callable[[int], None]:
    def report(played: int) -> None:
        if progress is not None:
            progress(played, total)

    return report


def _worthwhile_jobs(plan: _Plan, agents: Sequence[Agent]) -> int:
    """Return 1 if all is played before workers would have started, else one a core, by the time that some games take."""
    if plan.chunks == 1 or default_jobs() == 1:
        return 1
    for games in _SAMPLES:
        sample = [(board, seating) for board in range(games) for seating in plan.tables][:games]
        start = time.perf_counter()
        _play(plan, agents, sample, chunk=0, tick=lambda _: None, forfeits=[])
        if (time.perf_counter() - start) / games * plan.games <= _WORTH_SECONDS:
            return 1
    return default_jobs()


def _make_agents(plan: _Plan) -> list[Agent]:
    return [make(name) for name in plan.names]


def _in_this_process(
    plan: _Plan, agents: Sequence[Agent], report: Callable[[int], None]
) -> Iterator[tuple[int, _Chunk]]:
    played = 0

    def tick(games: int) -> None:
        nonlocal played
        played += games
        report(played)

    for chunk in range(plan.chunks):
        yield chunk, _play_chunk(plan, agents, chunk, tick)


def _play(
    plan: _Plan,
    agents: Sequence[Agent],
    games: Sequence[tuple[int, Sequence[int]]],
    *,
    chunk: int,
    tick: Tick,
    begun: Begun | None = None,
    ended: Ended | None = None,
    forfeits: list[Forfeited],
) -> Tallies:
    for agent in agents:
        if isinstance(agent, MayForfeit):
            agent.start_over()  # what it failed at elsewhere is another worker's, or none's
    branches = [(_AGENT_BRANCH, chunk, number) for number in range(len(agents))]
    rngs = [np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=branch)) for branch in branches]
    return play_games(
        plan.rules,
        games,
        agents,
        names=plan.labels,
        seed=plan.seed,
        rngs=rngs,
        tick=tick,
        begun=begun,
        ended=ended,
        forfeits=forfeits if plan.forfeits else None,
    )


def _play_chunk(plan: _Plan, agents: Sequence[Agent], chunk: int, tick: Tick) -> _Chunk:
    games = [(board, seating) for board in plan.boards_of(chunk) for seating in plan.tables]
    recorded: list[str] = []
    forfeits: list[Forfeited] = []

    def record(game: Game, seating: Sequence[int]) -> None:
        made = record_of(game, agents=[plan.labels[agent] for agent in seating])
        recorded.append(made.to_json() if plan.records == "json" else str(made))

    ended = None if plan.records is None else record
    deals = BoardLuck(plan.rules) if plan.luck else None
    begun = None if deals is None else deals.begun
    tallies = _play(plan, agents, games, chunk=chunk, tick=tick, begun=begun, ended=ended, forfeits=forfeits)
    sums = BoardSums.of(tallies, plan.tables, agents=len(agents))
    log = ForfeitLog()
    log.add(forfeits)
    luck = None if deals is None else deals.sums(plan.tables, agents=len(agents))
    return _Chunk(sums=sums, forfeits=log, records="".join(f"{text}\n" for text in recorded), luck=luck)


def _result(
    plan: _Plan,
    sums: BoardSums,
    forfeits: ForfeitLog,
    luck: npt.NDArray[np.float64] | None,
    *,
    games_asked: int,
) -> ArenaResult:
    agents, pairs = sums.scores(plan.labels, plan.rules, games_per_board=len(plan.tables))
    return ArenaResult(
        rules=plan.rules,
        seed=plan.seed,
        games_asked=games_asked,
        games=plan.games,
        boards=plan.boards,
        games_per_board=len(plan.tables),
        line_ups=tuple(tuple(plan.labels[number] for number in line_up) for line_up in plan.line_ups),
        agents=agents,
        pairs=pairs,
        forfeits=forfeits.of(plan.labels),
        adjusted=() if luck is None else sums.adjusted(luck, agents),
    )
