"""What an arena came to: sums of every board, and the scores with intervals that they make.

**Measures**, each a mean over the seats that an agent took:

- win share: 1 for a win, 1/k for a win shared by k, a game;
- points per round: each round played out to its end, RULES section 4;
- margin per round: own points minus the mean of the others';
- crash rate: crashes a round (a round cut short by the target has none);
- rounds per game.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ..envs.crash.rules import CrashRules
from .arena_luck import AdjustedShare, adjusted_share
from .forfeited import AgentForfeits
from .match import Tallies
from .statistics import Estimate, ratio_estimate

__all__ = ["AgentScore", "ArenaResult", "BoardSums", "PairScore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentScore:
    """What one agent came to.

    Attributes:
        agent: its label.
        games: games in which it sat.
        seats: seats that it took in them, several in one game where it fills missing seats.
        win_share, points_per_round, margin_per_round, crash_rate, rounds_per_game: see the module.
    """

    agent: str
    games: int
    seats: int
    win_share: Estimate
    points_per_round: Estimate
    margin_per_round: Estimate
    crash_rate: Estimate
    rounds_per_game: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class PairScore:
    """Two agents compared in the games in which both sat.

    Attributes:
        first, second: their labels.
        games, boards: how many they met in.
        win_share: of the first minus that of the second.
        points_per_round: likewise.
        more_games: about how many more games of the whole arena would tell their win shares apart, if the difference
            is what it seems; 0 if they are told apart already, None if there is no difference at all.
    """

    first: str
    second: str
    games: int
    boards: int
    win_share: Estimate
    points_per_round: Estimate
    more_games: int | None

    @property
    def ahead(self) -> str | None:
        """The label of the stronger one, None while the interval of the win share holds 0."""
        if self.win_share.covers(0):
            return None
        return self.first if self.win_share.value > 0 else self.second


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaResult:
    """The result of an arena.

    Attributes:
        rules, seed: as played.
        games_asked, games: asked for, and played (whole boards).
        boards, games_per_board: boards, and the games on each.
        line_ups: labels of the agents at each line-up's table.
        agents: in the order given.
        pairs: every two agents that met.
        forfeits: of agents that forfeited decisions.
        adjusted: win shares with the luck of the cards taken out, in the order of `agents`; empty if not asked for.
    """

    rules: CrashRules
    seed: int
    games_asked: int
    games: int
    boards: int
    games_per_board: int
    line_ups: tuple[tuple[str, ...], ...]
    agents: tuple[AgentScore, ...]
    pairs: tuple[PairScore, ...]
    forfeits: tuple[AgentForfeits, ...] = ()
    adjusted: tuple[AdjustedShare, ...] = ()


# Columns of what is kept of a board, for each agent and for each pair of agents.
_SEATS, _GAMES, _WINS, _ROUNDS, _POINTS, _MARGINS, _CRASHES = range(7)
_MET, _WIN_DIFFERENCE, _MET_ROUNDS, _POINTS_DIFFERENCE = range(4)


def pairs_of(agents: int) -> list[tuple[int, int]]:
    """Return every two of so many agents, in the order of the pairs of `BoardSums`."""
    return list(combinations(range(agents), 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardSums:
    """Sums over the games of each of some boards.

    Attributes:
        agents: float64 (boards, agents, 7).
        pairs: float64 (boards, pairs, 4).
    """

    agents: npt.NDArray[np.float64]
    pairs: npt.NDArray[np.float64]

    @classmethod
    def joined(cls, parts: Sequence[BoardSums]) -> BoardSums:
        """Return the sums of the boards of all parts, in order."""
        return cls(
            agents=np.concatenate([part.agents for part in parts]), pairs=np.concatenate([part.pairs for part in parts])
        )

    @classmethod
    def of(cls, tallies: Tallies, seatings: Sequence[Sequence[int]], *, agents: int) -> BoardSums:
        """Return the sums of games that were played board by board, in every seating of each.

        >>> sums = BoardSums.of(Tallies.empty(2, 3), [[0, 1, 1], [1, 0, 1]], agents=2)  # one board
        >>> sums.agents[0, :, 0].tolist()  # seats taken
        [2.0, 4.0]
        """
        boards = len(tallies.rounds) // len(seatings)
        columns = {pair: column for column, pair in enumerate(pairs_of(agents))}
        sums = cls(agents=np.zeros((boards, agents, 7)), pairs=np.zeros((boards, len(columns), 4)))
        for number, seating in enumerate(seatings):
            games = slice(number, None, len(seatings))
            rounds, wins, points = tallies.rounds[games], tallies.win_shares[games], tallies.points[games]
            margins, crashes = tallies.margins[games], tallies.crashes[games]
            seats_of = {agent: [s for s, who in enumerate(seating) if who == agent] for agent in sorted(set(seating))}
            for agent, seats in seats_of.items():
                added = sums.agents[:, agent]
                added[:, _SEATS] += len(seats)
                added[:, _GAMES] += 1
                added[:, _WINS] += wins[:, seats].sum(axis=1)
                added[:, _ROUNDS] += rounds * len(seats)
                added[:, _POINTS] += points[:, seats].sum(axis=1)
                added[:, _MARGINS] += margins[:, seats].sum(axis=1)
                added[:, _CRASHES] += crashes[:, seats].sum(axis=1)
            for first, second in combinations(seats_of, 2):
                a, b = seats_of[first], seats_of[second]
                added = sums.pairs[:, columns[first, second]]
                added[:, _MET] += 1
                added[:, _WIN_DIFFERENCE] += wins[:, a].mean(axis=1) - wins[:, b].mean(axis=1)
                added[:, _MET_ROUNDS] += rounds
                added[:, _POINTS_DIFFERENCE] += points[:, a].mean(axis=1) - points[:, b].mean(axis=1)
        return sums

    def scores(
        self, labels: Sequence[str], rules: CrashRules, *, games_per_board: int
    ) -> tuple[tuple[AgentScore, ...], tuple[PairScore, ...]]:
        """Return the scores of every agent, and of every two that met."""
        agents = tuple(_agent_score(label, rules, self.agents[:, i]) for i, label in enumerate(labels))
        pairs = tuple(
            _pair_score(labels[i], labels[j], rules, self.pairs[:, column], games_per_board=games_per_board)
            for column, (i, j) in enumerate(pairs_of(len(labels)))
            if self.pairs[:, column, _MET].all()
        )
        return agents, pairs

    def adjusted(self, luck: npt.NDArray[np.float64], scores: Sequence[AgentScore]) -> tuple[AdjustedShare, ...]:
        """Return the win shares of every agent without luck.

        Args:
            luck: of every agent on each board, (boards, agents).
            scores: of the agents.
        """
        return tuple(
            adjusted_share(self.agents[:, i, _WINS], self.agents[:, i, _SEATS], luck[:, i], plain=score.win_share)
            for i, score in enumerate(scores)
        )


def _typical_points(rules: CrashRules) -> tuple[float, float]:
    """Return the ends of a round's points, four of a kind left out: they are rare."""
    lowest = -rules.crash_call_penalty if rules.has_calls else 0
    crash = rules.crash_points + (rules.crash_call_bonus if rules.has_calls else 0)
    return lowest, rules.hands + crash


def _agent_score(label: str, rules: CrashRules, sums: npt.NDArray[np.float64]) -> AgentScore:
    """Return the score of an agent from its sums on each board: float64 (boards, 7)."""
    low, high = _typical_points(rules)
    most = rules.max_round_points
    seats, rounds = sums[:, _SEATS], sums[:, _ROUNDS]
    board = float(seats[0])  # seats on one board; one deal is played from each of them
    length = float(rounds.sum() / seats.sum())
    return AgentScore(
        agent=label,
        games=int(sums[:, _GAMES].sum()),
        seats=int(seats.sum()),
        win_share=ratio_estimate(sums[:, _WINS], seats, ends=(0, 1), weight=board, limits=(0, 1)),
        points_per_round=ratio_estimate(sums[:, _POINTS], rounds, ends=(low, high), weight=board, limits=(low, most)),
        margin_per_round=ratio_estimate(
            sums[:, _MARGINS], rounds, ends=(low - high, high - low), weight=board, limits=(low - most, most - low)
        ),
        crash_rate=ratio_estimate(sums[:, _CRASHES], rounds, ends=(0, 1), weight=board, limits=(0, 1)),
        rounds_per_game=ratio_estimate(
            rounds, seats, ends=(0.5 * length, 1.5 * length), weight=board, limits=(1, rules.max_rounds)
        ),
    )


def _pair_score(
    first: str, second: str, rules: CrashRules, sums: npt.NDArray[np.float64], *, games_per_board: int
) -> PairScore:
    """Return the comparison of two agents from their sums on each board: float64 (boards, 4)."""
    low, high = _typical_points(rules)
    most = rules.max_round_points
    games, board = sums[:, _MET], float(sums[0, _MET])
    wins = ratio_estimate(sums[:, _WIN_DIFFERENCE], games, ends=(-1, 1), weight=board, limits=(-1, 1))
    points = ratio_estimate(
        sums[:, _POINTS_DIFFERENCE],
        sums[:, _MET_ROUNDS],
        ends=(low - high, high - low),
        weight=board,
        limits=(low - most, most - low),
    )
    return PairScore(
        first=first,
        second=second,
        games=int(games.sum()),
        boards=len(sums),
        win_share=wins,
        points_per_round=points,
        more_games=_more_games(wins, boards=len(sums), games_per_board=games_per_board),
    )


def _more_games(difference: Estimate, *, boards: int, games_per_board: int) -> int | None:
    """Return about how many more games would part a difference from 0: the interval shrinks with the root of the boards."""
    if not difference.covers(0):
        return 0
    if math.isclose(difference.value, 0, abs_tol=1e-12):
        return None
    needed = boards * (difference.half_width / abs(difference.value)) ** 2
    return max(1, math.ceil(needed - boards)) * games_per_board
