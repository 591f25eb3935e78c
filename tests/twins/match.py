"""Twin of the arena's match: game by game through `Game`, seat by seat, sums in plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from prial.agents.protocol import Agent
from prial.envs.crash.events import RoundEnd
from prial.envs.crash.game import Game
from prial.envs.crash.observation import ViewBatch, view_of
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.scoring import margins


@dataclass
class Tally:
    """What one game came to, by seat."""

    game: Game
    rounds: int = 0
    points: list[float] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    crashes: list[int] = field(default_factory=list)
    win_shares: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.points = self.points or [0.0] * self.game.rules.players
        self.margins, self.win_shares, self.crashes = self.points[:], self.points[:], [0] * len(self.points)


def play_games(
    rules: CrashRules,
    games: Sequence[tuple[int, Sequence[int]]],
    agents: Sequence[Agent],
    *,
    seed: int,
    rngs: Sequence[np.random.Generator],
) -> list[Tally]:
    """Play games to their end; an agent gets what waits for it game by game, in turn order."""
    tallies = [Tally(Game(rules, seed=seed, table=board)) for board, _ in games]
    while any(not tally.game.is_over for tally in tallies):
        waiting: list[list[tuple[Tally, int]]] = [[] for _ in agents]
        for tally, (_, seating) in zip(tallies, games, strict=True):
            for seat in tally.game.pending:
                waiting[seating[seat]].append((tally, seat))
        for number, decisions in enumerate(waiting):
            if decisions:
                views = ViewBatch.of(view_of(tally.game, seat) for tally, seat in decisions)
                actions = agents[number].act_many(views, rngs[number]).tolist()
                for (tally, seat), action in zip(decisions, actions, strict=True):
                    for event in tally.game.step(action, seat):
                        if isinstance(event, RoundEnd):
                            _count(tally, event)
    for tally in tallies:
        assert tally.game.result is not None
        tally.win_shares = [tally.game.result.win_share(seat) for seat in range(rules.players)]
    return tallies


def _count(tally: Tally, event: RoundEnd) -> None:
    tally.rounds += 1
    for seat, (points, margin) in enumerate(zip(event.points, margins(event.points), strict=True)):
        tally.points[seat] += points
        tally.margins[seat] += margin
        tally.crashes[seat] += event.crasher == seat


def board_sums(
    tallies: Sequence[Tally], seatings: Sequence[Sequence[int]], *, agents: int
) -> tuple[list[list[list[float]]], list[list[list[float]]]]:
    """Return the sums of each board: of each agent, and of each pair of agents, columns as in `BoardSums`."""
    of_agents, of_pairs = [], []
    for start in range(0, len(tallies), len(seatings)):
        sums = [[0.0] * 7 for _ in range(agents)]
        pairs = {(i, j): [0.0] * 4 for i in range(agents) for j in range(i + 1, agents)}
        for tally, seating in zip(tallies[start:], seatings, strict=False):
            shares = {}
            for agent in set(seating):
                seats = [seat for seat, who in enumerate(seating) if who == agent]
                columns = [[column[seat] for seat in seats] for column in (tally.win_shares, tally.points)]
                wins, points = (sum(column) for column in columns)
                margin, crashes = (sum(column[seat] for seat in seats) for column in (tally.margins, tally.crashes))
                figures = (len(seats), 1, wins, tally.rounds * len(seats), points, margin, crashes)
                sums[agent] = [old + new for old, new in zip(sums[agent], figures, strict=True)]
                shares[agent] = (wins / len(seats), points / len(seats))
            for (i, j), sums_of_pair in pairs.items():
                if i in shares and j in shares:
                    (a, x), (b, y) = shares[i], shares[j]
                    figures_of_pair = (1, a - b, tally.rounds, x - y)
                    pairs[i, j] = [old + new for old, new in zip(sums_of_pair, figures_of_pair, strict=True)]
        of_agents.append(sums)
        of_pairs.append(list(pairs.values()))
    return of_agents, of_pairs
