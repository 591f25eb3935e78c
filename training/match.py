"""Many games at once, in step: every agent decides all that waits for it in one call of `act_many`.

The games are tables of one `CrashVectorEnv`. What an agent gets is ordered by game, then in turn order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.answers import AnswerError, ask
from ..agents.forfeits import MayForfeit
from ..agents.protocol import Agent
from ..envs.crash.game import Game, IllegalActionError, Phase
from ..envs.crash.observation import ViewBatch
from ..envs.crash.rules import CrashRules
from ..envs.crash.searches import Searches
from ..envs.crash.vector import CrashVectorEnv, StepOutcome
from .console import ctrl_c_behind
from .forfeited import Forfeited, Where, place_of

__all__ = ["ArenaError", "Begun", "Ended", "Interrupted", "Tallies", "Tick", "play_games"]

Tick = Callable[[int], None]
"""Called after every step with the games that it ended; raises `Interrupted` if play is to stop."""

Ended = Callable[[Game, Sequence[int]], None]
"""Called with a game that is over and its seating."""

Begun = Callable[[CrashVectorEnv, npt.NDArray[np.int64]], None]
"""Called with the tables, and the numbers of the games in which a round has just been dealt."""

_HIGHEST = np.iinfo(np.int32).max


class ArenaError(RuntimeError):
    """A match that stopped. An agent that raised or gave no legal decision is named, with phase and game."""


class Interrupted(Exception):  # noqa: N818 (not an error: somebody asked to stop)
    """Play is to stop before the games are over."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tallies:
    """What games came to, one row a game, by seat.

    Attributes:
        rounds: int64 (n,), rounds played, a last one cut short by the target included.
        points: float64 (n, players), points of the rounds, each played out to its end (RULES section 4).
        margins: float64 (n, players), own points minus the mean of the others', summed over rounds.
        crashes: int64 (n, players), rounds in which the seat crashed (one cut short by the target has none).
        win_shares: float64 (n, players), 1 for a win, 1/k for a shared one, else 0.
    """

    rounds: npt.NDArray[np.int64]
    points: npt.NDArray[np.float64]
    margins: npt.NDArray[np.float64]
    crashes: npt.NDArray[np.int64]
    win_shares: npt.NDArray[np.float64]

    @classmethod
    def empty(cls, games: int, players: int) -> Tallies:
        """Return the tallies of games that have not begun."""
        return cls(
            rounds=np.zeros(games, np.int64),
            points=np.zeros((games, players)),
            margins=np.zeros((games, players)),
            crashes=np.zeros((games, players), np.int64),
            win_shares=np.zeros((games, players)),
        )

    def add(self, outcome: StepOutcome) -> None:
        """Count the rounds and games that a step ended, in place.

        Every addition is made in the order of the rounds, so that the sums are the same to the last bit as those of
        games played one by one.
        """
        np.add(self.rounds, outcome.round_ended, out=self.rounds)
        np.add(self.points, outcome.points, out=self.points)
        np.add(self.margins, outcome.margins, out=self.margins)
        np.add(self.win_shares, outcome.win_shares, out=self.win_shares)
        rows = np.flatnonzero(outcome.crasher >= 0)
        self.crashes[rows, outcome.crasher[rows]] += 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Decisions:
    """What one agent decides in a step, one row a decision.

    Attributes:
        number: of the agent.
        games, seats: whose decision, int64 (n,).
        actions: as answered, whole numbers (n,).
    """

    number: int
    games: npt.NDArray[np.int64]
    seats: npt.NDArray[np.int64]
    actions: npt.NDArray[np.integer[Any]]

    @property
    def for_engine(self) -> npt.NDArray[np.int32]:
        """The actions without -1, which leaves a decision open, and cut to int32: what is neither is no action."""
        return np.where(self.actions < 0, -2, np.minimum(self.actions, _HIGHEST)).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Match:
    """Games in progress, and who sits where.

    Attributes:
        env: one table a game.
        games: board and seating of each.
        names: of the agents.
        seating: the same as a matrix, int64 (games, players).
        searches: of all agents: the seatings of a board have the same deals.
        forfeits: where decisions are noted that agents forfeit; None if those stop the match.
    """

    env: CrashVectorEnv
    games: Sequence[tuple[int, Sequence[int]]]
    names: Sequence[str]
    seating: npt.NDArray[np.int64]
    searches: Searches
    forfeits: list[Forfeited] | None

    def step(
        self, agents: Sequence[Agent], rngs: Sequence[np.random.Generator]
    ) -> tuple[StepOutcome, list[_Decisions]]:
        """Let every agent decide what waits for it, and go on."""
        env = self.env
        games, seats = np.nonzero(env.pending)
        turns = (seats - env.column("dealer")[games] - 1) % env.rules.players
        order = np.lexsort((turns, games))
        games, seats = games[order], seats[order]
        owners = self.seating[games, seats]
        actions = np.full(self.seating.shape, -1, np.int32)
        taken: list[_Decisions] = []
        for number, agent in enumerate(agents):
            own = np.flatnonzero(owners == number)
            if not len(own):
                continue
            try:
                answer = self._ask(agent, number, games[own], seats[own], rngs[number])
            except ArenaError:
                self._refuse(taken)  # of two agents that fail in a step the first is named
                raise
            taken.append(_Decisions(number=number, games=games[own], seats=seats[own], actions=answer))
            actions[games[own], seats[own]] = taken[-1].for_engine
        try:
            return env.step(actions), taken
        except IllegalActionError:
            self._refuse(taken)
            raise

    def _ask(
        self,
        agent: Agent,
        number: int,
        games: npt.NDArray[np.int64],
        seats: npt.NDArray[np.int64],
        rng: np.random.Generator,
    ) -> npt.NDArray[np.integer[Any]]:
        """Ask an agent for all its decisions at once, and check the form of what it answers."""
        views = self.env.views_at(games, seats).sharing(self.searches)
        try:
            if self.forfeits is not None and isinstance(agent, MayForfeit):
                actions, failed = agent.act_or_forfeit(views, rng)
                for one in failed:
                    where = self._where(int(games[one.row]), int(seats[one.row]))
                    self.forfeits.append(Forfeited(agent=number, where=where, cause=one.cause, detail=one.detail))
                return actions
            return ask(agent, views, rng)
        except AnswerError as error:
            raise ArenaError(f"{self._who(number, int(games[0]), int(seats[0]))}: {error}") from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an agent may fail in any way, and ask to exit
            if ctrl_c_behind(error):
                raise KeyboardInterrupt from None
            row = _culprit(agent, views, rng)
            raise ArenaError(
                f"{self._who(number, int(games[row]), int(seats[row]))}: act_many raised {type(error).__name__}: {error}"
            ) from error

    def _refuse(self, taken: Sequence[_Decisions]) -> None:
        """Name the first decision that the rules do not allow, if there is one."""
        for some in taken:
            for game, seat, action in zip(some.games.tolist(), some.seats.tolist(), some.actions.tolist(), strict=True):
                try:
                    self.env.game(game).check(action, seat)
                except IllegalActionError as error:
                    raise ArenaError(f"{self._who(some.number, game, seat)}: {error}") from error

    def _where(self, game: int, seat: int) -> Where:
        board, seating = self.games[game]
        return {
            "board": board,
            "seating": tuple(self.names[agent] for agent in seating),
            "round": int(self.env.column("rounds_played")[game]) + 1,
            "seat": seat,
            "phase": Phase(int(self.env.phase[game])).label,
        }

    def _who(self, number: int, game: int, seat: int) -> str:
        return f"agent {self.names[number]!r} failed in the {place_of(self._where(game, seat))}"


def play_games(
    rules: CrashRules,
    games: Sequence[tuple[int, Sequence[int]]],
    agents: Sequence[Agent],
    *,
    names: Sequence[str],
    seed: int,
    rngs: Sequence[np.random.Generator],
    tick: Tick,
    begun: Begun | None = None,
    ended: Ended | None = None,
    forfeits: list[Forfeited] | None = None,
) -> Tallies:
    """Play games to their end and return what each came to, in the order given.

    Args:
        rules: of all games.
        games: board (the table number of the deals) and seating (number of the agent on each seat) of each.
        agents: by number.
        names: of the agents, for messages.
        seed: of the deals.
        rngs: the chance of each agent, by number.
        tick: called after every step.
        begun: called whenever rounds have been dealt, before anybody decides.
        ended: called with each game, in the order given, when all are over; they are played again for that.
        forfeits: what agents that may forfeit (`MayForfeit`) forfeit is added here; None if it raises.

    Raises:
        ArenaError: an agent raised or answered wrongly.
        Interrupted: by `tick`.

    >>> from ..agents.registry import make
    >>> rules, agents = CrashRules.preset("online", players=2), [make("greedy"), make("greedy")]
    >>> rngs = [np.random.default_rng(number) for number in range(2)]
    >>> tallies = play_games(
    ...     rules, [(0, (0, 1)), (0, (1, 0))], agents, names="AB", seed=1, rngs=rngs, tick=lambda ended: None
    ... )
    >>> (tallies.win_shares[0] == tallies.win_shares[1]).all()  # the seats, not the agents, make the difference
    np.True_
    """
    boards = [board for board, _ in games]
    # One thread: an arena spreads its games over processes.
    env = CrashVectorEnv(len(games), rules, seed=seed, tables=boards, autoreset=False, threads=1)
    seating = np.array([seats for _, seats in games], np.int64)
    match = _Match(env=env, games=games, names=names, seating=seating, searches=Searches(rules), forfeits=forfeits)
    tallies = Tallies.empty(len(games), rules.players)
    log: list[_Decisions] = []
    left = len(games)
    if begun is not None:
        begun(env, np.arange(len(games)))
    while left:
        outcome, taken = match.step(agents, rngs)
        tallies.add(outcome)
        if begun is not None and (dealt := outcome.round_ended & ~outcome.game_ended).any():
            begun(env, np.flatnonzero(dealt))
        if ended is not None:
            log += taken
        over = int(outcome.game_ended.sum())
        left -= over
        tick(over)
    if ended is not None:
        for (_, seats), game in zip(games, _replayed(rules, boards, seed, log), strict=True):
            ended(game, seats)
    return tallies


def _culprit(agent: Agent, views: ViewBatch, rng: np.random.Generator) -> int:
    """Return the first row that fails alone as well, or just the first."""
    for row in range(len(views)):
        try:
            agent.act_many(views.select(np.array([row])), rng)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 (as above)
            return row
    return 0


def _replayed(rules: CrashRules, boards: Sequence[int], seed: int, log: Sequence[_Decisions]) -> list[Game]:
    """Return the games with all their events, from the decisions in the order taken."""
    played = [Game(rules, seed=seed, table=board) for board in boards]
    for some in log:
        for game, seat, action in zip(some.games.tolist(), some.seats.tolist(), some.actions.tolist(), strict=True):
            played[game].step(action, seat)
    return played
