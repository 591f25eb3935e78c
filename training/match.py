"""Many games at once, in step: every agent decides all that waits for it in one call of `act_many`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..agents.answers import AnswerError, ask
from ..agents.protocol import Agent
from ..envs.crash.events import RoundEnd
from ..envs.crash.game import Game, IllegalActionError, Phase
from ..envs.crash.observation import ViewBatch, view_of
from ..envs.crash.rules import CrashRules
from ..envs.crash.scoring import margins

__all__ = ["ArenaError", "Ended", "GameTally", "Interrupted", "Tick", "play_games"]

Tick = Callable[[int], None]
"""Called after every step with the games that it ended; raises `Interrupted` if play is to stop."""

Ended = Callable[[Game, Sequence[int]], None]
"""Called with a game that is over and its seating."""


class ArenaError(RuntimeError):
    """A match that stopped. An agent that raised or gave no legal decision is named, with phase and game."""


class Interrupted(Exception):  # noqa: N818 (not an error: somebody asked to stop)
    """Play is to stop before the games are over."""


@dataclass(slots=True, kw_only=True)
class GameTally:
    """What one game came to, by seat.

    Attributes:
        rounds: rounds played, a last one cut short by the target included.
        points: points of the rounds, each played out to its end (RULES section 4).
        margins: own points minus the mean of the others', summed over rounds.
        crashes: rounds in which the seat crashed (a round cut short by the target has none).
        win_shares: 1 for a win, 1/k for a shared one, else 0.
    """

    rounds: int = 0
    points: npt.NDArray[np.float64]
    margins: npt.NDArray[np.float64]
    crashes: npt.NDArray[np.int64]
    win_shares: npt.NDArray[np.float64]

    @classmethod
    def empty(cls, players: int) -> GameTally:
        """Return the tally of a game that has not begun."""
        return cls(
            points=np.zeros(players),
            margins=np.zeros(players),
            crashes=np.zeros(players, np.int64),
            win_shares=np.zeros(players),
        )

    def add(self, event: RoundEnd) -> None:
        """Count a round."""
        self.rounds += 1
        self.points += event.points
        self.margins += margins(event.points)
        if event.crasher is not None:
            self.crashes[event.crasher] += 1


@dataclass(slots=True, kw_only=True)
class _Table:
    """One game in progress, and who sits where."""

    game: Game
    board: int
    seating: Sequence[int]
    tally: GameTally = field(init=False)

    def __post_init__(self) -> None:
        self.tally = GameTally.empty(self.game.rules.players)

    def where(self, names: Sequence[str]) -> str:
        """Say which game this is."""
        seats = ", ".join(names[agent] for agent in self.seating)
        return f"board {self.board}, seating ({seats}), round {self.game.rounds_played + 1}"


_Decision = tuple[_Table, int]


def play_games(
    rules: CrashRules,
    games: Sequence[tuple[int, Sequence[int]]],
    agents: Sequence[Agent],
    *,
    names: Sequence[str],
    seed: int,
    rngs: Sequence[np.random.Generator],
    tick: Tick,
    ended: Ended | None = None,
) -> list[GameTally]:
    """Play games to their end and return what each came to, in the order given.

    Args:
        rules: of all games.
        games: board (the table number of the deals) and seating (number of the agent on each seat) of each.
        agents: by number.
        names: of the agents, for messages.
        seed: of the deals.
        rngs: the chance of each agent, by number.
        tick: called after every step.
        ended: called with each game, in the order given, when all are over.

    Raises:
        ArenaError: an agent raised or answered wrongly.
        Interrupted: by `tick`.

    >>> from ..agents.registry import make
    >>> rules, agents = CrashRules.preset("online", players=2), [make("greedy"), make("greedy")]
    >>> rngs = [np.random.default_rng(number) for number in range(2)]
    >>> tallies = play_games(
    ...     rules, [(0, (0, 1)), (0, (1, 0))], agents, names="AB", seed=1, rngs=rngs, tick=lambda ended: None
    ... )
    >>> tallies[0].win_shares.tolist() == tallies[1].win_shares.tolist()  # the seats, not the agents, make the difference
    True
    """
    fresh: dict[int, Game] = {}
    tables = []
    for board, seating in games:
        if board not in fresh:
            fresh[board] = Game(rules, seed=seed, table=board)
        tables.append(_Table(game=fresh[board].copy(), board=board, seating=seating))
    live = tables
    while live:
        waiting: list[list[_Decision]] = [[] for _ in agents]
        for table in live:
            for seat in table.game.pending:
                waiting[table.seating[seat]].append((table, seat))
        for number, decisions in enumerate(waiting):
            if decisions:
                _take(decisions, _decide(agents[number], decisions, names, number, rngs[number]), names, number)
        left = [table for table in live if not table.game.is_over]
        tick(len(live) - len(left))
        live = left
    for table in tables:
        result = table.game.result
        assert result is not None
        table.tally.win_shares[:] = [result.win_share(seat) for seat in range(rules.players)]
        if ended is not None:
            ended(table.game, table.seating)
    return [table.tally for table in tables]


def _decide(
    agent: Agent, decisions: Sequence[_Decision], names: Sequence[str], number: int, rng: np.random.Generator
) -> list[int]:
    """Ask an agent for all its decisions at once, and check the form of what it answers."""
    views = ViewBatch.of(view_of(table.game, seat) for table, seat in decisions)
    try:
        return ask(agent, views, rng)
    except AnswerError as error:
        table, seat = decisions[0]
        raise ArenaError(f"{_who(table, seat, names, number)}: {error}") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an agent may fail in any way, and ask to exit
        if isinstance(error.__cause__, KeyboardInterrupt):  # Ctrl-C inside a compiled kernel comes out as a SystemError
            raise KeyboardInterrupt from None
        table, seat = _culprit(agent, views, decisions, rng)
        raise ArenaError(
            f"{_who(table, seat, names, number)}: act_many raised {type(error).__name__}: {error}"
        ) from error


def _culprit(agent: Agent, views: ViewBatch, decisions: Sequence[_Decision], rng: np.random.Generator) -> _Decision:
    """Return the first decision that fails alone as well, or just the first."""
    for row, decision in enumerate(decisions):
        try:
            agent.act_many(views.select(np.array([row])), rng)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 (as above)
            return decision
    return decisions[0]


def _who(table: _Table, seat: int, names: Sequence[str], number: int) -> str:
    phase = Phase(table.game.phase).label
    return f"agent {names[number]!r} failed in the {phase} phase ({table.where(names)}, seat {seat})"


def _take(decisions: Sequence[_Decision], actions: Sequence[int], names: Sequence[str], number: int) -> None:
    """Carry out decisions, and count the rounds that they end."""
    for (table, seat), action in zip(decisions, actions, strict=True):
        try:
            events = table.game.step(action, seat)
        except IllegalActionError as error:
            raise ArenaError(f"{_who(table, seat, names, number)}: {error}") from error
        if len(events) > 1:  # a decision that ends no round is one event
            for event in events:
                if isinstance(event, RoundEnd):
                    table.tally.add(event)
