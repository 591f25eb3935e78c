"""A person's game against agents: opponents act as soon as it is their turn, and a saved game goes on as it would have.

The chance of an opponent's decision follows from the seed, the round, the seat and the phase alone. A game record, which
holds seed and agents, is therefore all there is to save.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..agents.protocol import Agent
from ..agents.registry import AgentError, make
from ..envs.crash.game import Game, IllegalActionError
from ..envs.crash.observation import PlayerView, view_of
from ..envs.crash.record import GameRecord, RecordError, parse_record, record_of
from ..envs.crash.rules import CrashRules
from .console import ctrl_c_behind
from .files import write_whole
from .line_ups import labels

__all__ = ["HUMAN", "PlayError", "PlayedGame", "SavedGameError", "read_saved", "some_seed"]

HUMAN = "human"
"""What a record names as the agent of the person's seat."""


class PlayError(RuntimeError):
    """An opponent that failed or did what the rules do not allow."""


class SavedGameError(ValueError):
    """A file that is no game to go on with, or options that do not fit."""


def some_seed() -> int:
    """Return a seed that nobody knows."""
    return secrets.randbelow(10**9)


class PlayedGame:
    """One person against agents.

    Args:
        game: where it stands.
        agents: names by seat, `HUMAN` once.
        seed: of the opponents' choices.

    Raises:
        AgentError: an agent that there is not.

    >>> played = PlayedGame.new(CrashRules.preset("online"), ["percentile", "greedy"], seed=7, seat=1)
    >>> played.names
    ('greedy', 'you', 'percentile')
    """

    def __init__(self, game: Game, agents: Sequence[str], *, seed: int) -> None:
        self.game = game
        self.agents = tuple(agents)
        self.seed = seed
        self.seat = self.agents.index(HUMAN)
        made: dict[str, Agent] = {name: make(name) for name in self.agents if name != HUMAN}
        self._opponents = {seat: made[name] for seat, name in enumerate(self.agents) if name != HUMAN}
        others = labels([self._opponents[seat].name for seat in self._others()])
        names = {self.seat: "you", **dict(zip(self._others(), others, strict=True))}
        self.names = tuple(names[seat] for seat in range(game.rules.players))
        self.decisions = 0
        self.game = self._caught_up(game)

    @classmethod
    def new(cls, rules: CrashRules, against: Sequence[str], *, seed: int, seat: int | None = None) -> PlayedGame:
        """Return a new game.

        Args:
            rules: the rules.
            against: opponents clockwise from the person's left; the last fills the missing seats.
            seed: of deals, seats and choices.
            seat: of the person; drawn if None.

        Raises:
            AgentError: no such agent, or more than there are seats.
            SavedGameError: no such seat.
        """
        n = rules.players
        if not 1 <= len(against) <= n - 1:
            more = len(against) + 1
            room = f"; players={more} makes room" if n < more <= len(rules.pack) // rules.cards_dealt else ""
            raise AgentError(f"{len(against)} opponents ({' '.join(against)}): there are seats for {n - 1}{room}")
        if seat is None:
            seat = int(np.random.default_rng([seed, n]).integers(n))
        if not 0 <= seat < n:
            raise SavedGameError(f"seat {seat}: expected 0 to {n - 1}")
        agents = [HUMAN] * n
        for place in range(n - 1):
            agents[(seat + 1 + place) % n] = against[min(place, len(against) - 1)]
        return cls(Game(rules, seed=seed), agents, seed=seed)

    @classmethod
    def resumed(cls, record: GameRecord) -> PlayedGame:
        """Return the game of a record, as it was left.

        Raises:
            RecordError: a record that cannot be resumed.
            SavedGameError: not exactly one seat for a person.
            AgentError: an agent that there is not (any more).
        """
        game = record.resume()
        assert record.seed is not None  # or it could not be resumed
        if record.agents.count(HUMAN) != 1:
            raise SavedGameError(f"expected one seat of agent {HUMAN!r}, got the agents {', '.join(record.agents)}")
        return cls(game, record.agents, seed=record.seed)

    @property
    def view(self) -> PlayerView:
        """What the person knows."""
        return view_of(self.game, self.seat)

    def act(self, action: int) -> None:
        """Take the person's decision, then those of the opponents up to the person's next. All of it happens, or nothing.

        Raises:
            IllegalActionError: as `Game.step` does.
            PlayError: an opponent failed.
        """
        game = self.game.copy()
        game.step(action, self.seat)
        self.game = self._caught_up(game)
        self.decisions += 1

    def record(self) -> GameRecord:
        """Return the record of the game so far."""
        return record_of(self.game, agents=self.agents)

    def save(self, path: Path) -> None:
        """Write the record, whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        write_whole(path, f"{self.record()}")

    def _others(self) -> list[int]:
        """The opponents' seats, clockwise from the person's left."""
        n = self.game.rules.players
        return [(self.seat + 1 + place) % n for place in range(n - 1)]

    def _caught_up(self, game: Game) -> Game:
        """Return the game after the decisions of opponents that are due."""
        game = game.copy()
        while True:
            due = [seat for seat in game.pending if seat != self.seat]
            if not due:
                return game
            self._take(game, due[0])

    def _take(self, game: Game, seat: int) -> None:
        rng = np.random.default_rng([self.seed, game.rounds_played, seat, int(game.phase)])
        who = f"{self.agents[seat]!r} at seat {seat}, round {game.rounds_played + 1}, {game.phase.label} phase"
        try:
            action = self._opponents[seat].act(view_of(game, seat), rng)
        except Exception as error:  # an agent may fail in any way
            if ctrl_c_behind(error):
                raise KeyboardInterrupt from None
            if isinstance(error, ValueError) and type(error).__module__.startswith("prial."):
                raise  # it says what is wrong by itself
            raise PlayError(f"opponent {who}: {type(error).__name__}: {error}") from error
        try:
            game.step(action, seat)
        except IllegalActionError as error:
            raise PlayError(f"opponent {who}: {error}") from error


def read_saved(path: Path) -> PlayedGame:
    """Return the game of a file, as it was left.

    Raises:
        OSError: it cannot be read.
        SavedGameError: it is no game to go on with.
    """
    text = path.read_text(encoding="utf-8", errors="backslashreplace")
    try:
        return PlayedGame.resumed(parse_record(text))
    except (RecordError, SavedGameError, AgentError) as error:
        raise SavedGameError(f"{path}: {error}") from error
