"""Foreign engines as agents: ``make("engine:./their-bot --flag")`` starts a program and speaks the engine protocol.

Options stand before the colon: ``engine,deadline=2,start=10:./their-bot`` gives it 2 seconds a decision (5 unless said) and
10 seconds to start and to take the rules (60 unless said). The program is started when it is first needed.

What it fails to decide raises `EngineFailure`; arenas count it as forfeited instead (`prial.agents.forfeits`).
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
from collections.abc import Mapping

import numpy as np

from ..envs.crash.actions import action_layout
from ..envs.crash.observation import PlayerView, ViewBatch
from ..envs.crash.rules import CrashRules
from .engine_process import EngineFailure, EngineProcess
from .engine_protocol import (
    PROTOCOL,
    ProtocolError,
    ascii_line,
    format_position,
    format_rules,
    read_decision,
)
from .forfeits import Forfeit, forfeited_action
from .protocol import Actions, BaseAgent, Choices
from .registry import AgentError

__all__ = ["EngineAgent", "EngineError", "make_engine", "read_name"]

_OPTIONS = {"deadline": 5.0, "start": 60.0}
_FAILURES = 3  # in a row, before it is no longer started
_SAID = 160  # characters that are kept of what is wrong with an answer
_TOLD = 0.8  # of the deadline, as movetime; the rest is for the way


class EngineError(AgentError):
    """An engine that cannot be played; the message says why."""


def read_name(name: str) -> tuple[str, dict[str, float]]:
    """Return the command and the options of an engine's name.

    Raises:
        EngineError: an option that there is not, or a value that is no number of seconds.

    >>> read_name("engine,deadline=2:node bot.js --flag")
    ('node bot.js --flag', {'deadline': 2.0})
    """
    head, _, command = name.partition(":")
    options: dict[str, float] = {}
    for setting in head.split(",")[1:]:
        option, _, value = (part.strip() for part in setting.partition("="))
        if option not in _OPTIONS:
            raise EngineError(f"agent {name!r}: no option {option!r}; expected {' or '.join(_OPTIONS)}, in seconds")
        options[option] = _seconds(name, option, value)
    return command.strip(), options


def _seconds(name: str, option: str, value: object) -> float:
    try:
        seconds = float(str(value))
    except ValueError:
        seconds = math.nan
    if not 0.01 <= seconds <= 86_400:
        raise EngineError(f"agent {name!r}: {option}={value}: expected seconds, from 0.01 to 86400")
    return seconds


class EngineAgent(BaseAgent):
    """An engine as an agent.

    Args:
        command: the program and its arguments, as a shell would split them; no shell is started.
        deadline: seconds for a decision.
        start: seconds for the start, and for new rules.
        name: what to call it.

    Raises:
        EngineError: there is no such program, or an option that is no number of seconds.
    """

    def __init__(
        self,
        command: str,
        *,
        deadline: float = _OPTIONS["deadline"],
        start: float = _OPTIONS["start"],
        name: str | None = None,
    ) -> None:
        self.name = name or f"engine:{command}"
        self._deadline = _seconds(self.name, "deadline", deadline)
        self._start = _seconds(self.name, "start", start)
        try:
            self._words = shlex.split(command, posix=os.name == "posix")
        except ValueError as error:
            raise EngineError(f"agent {self.name!r}: {error}") from None
        if not self._words:
            raise EngineError(f"agent {self.name!r}: expected a program after the colon, as in engine:./their-bot")
        if shutil.which(self._words[0]) is None:
            raise EngineError(f"agent {self.name!r}: there is no program {self._words[0]!r} that can be run")
        self._process: EngineProcess | None = None
        self._rules: CrashRules | None = None
        self._failures = 0

    def check_rules(self, rules: CrashRules) -> None:
        """Start the engine and give it the rules.

        Raises:
            EngineError: it does not start, does not speak the protocol, or refuses the rules.
        """
        try:
            self._ready(rules)
        except EngineFailure as error:
            self.close()
            raise EngineError(f"agent {self.name!r}: {error}") from None

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return one action a view: int32 (n,).

        Raises:
            EngineFailure: it failed to make a decision.
        """
        seeds = _seeds(len(views), rng)
        try:
            return np.array([self._decide(view, seed) for view, seed in zip(views, seeds, strict=True)], np.int32)
        except EngineFailure as failure:
            raise EngineFailure(failure.cause, f"agent {self.name!r}: {failure}") from None

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return what `act_many` does."""
        return self.act_many(views, rng)

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Return whether to exchange, one a view: bool (n,)."""
        exchanges: Choices = self.act_many(views, rng) == action_layout(views.rules).exchange
        return exchanges

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Return whether to call a crash, one a view: bool (n,)."""
        calls: Choices = self.act_many(views, rng) == action_layout(views.rules).call
        return calls

    def act_or_forfeit(self, views: ViewBatch, rng: np.random.Generator) -> tuple[Actions, tuple[Forfeit, ...]]:
        """Return one action a view, and which of them are forfeits."""
        actions, forfeits = np.empty(len(views), np.int32), []
        for row, (view, seed) in enumerate(zip(views, _seeds(len(views), rng), strict=True)):
            try:
                actions[row] = self._decide(view, seed)
            except EngineFailure as failure:
                actions[row] = forfeited_action(view)
                forfeits.append(Forfeit(row=row, cause=failure.cause, detail=str(failure)))
        return actions, tuple(forfeits)

    def start_over(self) -> None:
        """Forget earlier failures."""
        self._failures = 0

    def close(self) -> None:
        """End the engine; it is started again when it is needed."""
        process, self._process, self._rules = self._process, None, None
        if process is not None:
            process.close()

    def _decide(self, view: PlayerView, seed: int) -> int:
        if self._failures >= _FAILURES:
            raise EngineFailure("given up", f"it failed {_FAILURES} times in a row")
        try:
            process = self._ready(view.rules)
            limit = f"movetime {int(_TOLD * 1000 * self._deadline)}"
            process.send([f"seed {seed}", format_position(view), f"decide {limit}"], seconds=self._deadline)
            process.final("seed")  # an engine that draws nothing may not know it
            placed, decision = process.final("position"), process.final("decide")
        except EngineFailure:
            self._failures += 1
            self.close()
            raise
        except BaseException:
            self.close()  # its answer is still on the way, and would be taken for the next one
            raise
        self._failures = 0
        for reply in (placed, decision):
            if reply[0].lower() == "error":
                raise EngineFailure("refused", _short(" ".join(reply)))
        try:
            return read_decision(decision[1:], view)
        except ProtocolError as error:
            cards = format_position(view).partition(" cards ")[2]
            raise EngineFailure("illegal", f"{_short(str(error))} (its cards: {cards})") from None

    def _ready(self, rules: CrashRules) -> EngineProcess:
        """The engine, running and with these rules."""
        if self._process is None:
            try:
                self._process = EngineProcess(self._words)
            except OSError as error:
                raise EngineFailure("died", f"it cannot be started: {error.strerror or error}") from None
            self._ask(self._process, f"hello {PROTOCOL}")
        if rules is not self._rules and rules != self._rules:
            self._ask(self._process, format_rules(rules))
            self._rules = rules
        return self._process

    def _ask(self, process: EngineProcess, command: str) -> None:
        word = command.split(maxsplit=1)[0]
        try:
            process.send([command], seconds=self._start)
            reply = process.final(word)
        except EngineFailure as failure:
            raise EngineFailure(failure.cause, f"{word}: {failure}") from None
        if reply[0].lower() == "error":
            raise EngineFailure("refused", _short(" ".join(reply)))
        if word == "hello" and reply[2:] and reply[2] != str(PROTOCOL):
            raise EngineFailure("refused", f"it speaks version {_short(reply[2])} of the protocol; expected {PROTOCOL}")


def _short(text: str) -> str:
    """What is kept of what an engine wrote."""
    line = ascii_line(text)
    return line if len(line) <= _SAID else f"{line[: _SAID - 4]} ..."


def _seeds(count: int, rng: np.random.Generator) -> list[int]:
    seeds: list[int] = rng.integers(2**31, size=count).tolist()
    return seeds


def make_engine(name: str, **options: float) -> EngineAgent:
    """Return the agent of a name such as ``engine,deadline=2:./their-bot``.

    Args:
        name: see the module.
        options: `deadline` and `start`, where the name does not say them.

    Raises:
        EngineError: see `EngineAgent`.
    """
    command, said = read_name(name)
    both: Mapping[str, float] = {**options, **said}
    return EngineAgent(command, name=name, **both)
