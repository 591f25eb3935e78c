"""An agent as an engine: it answers the engine protocol's commands, line by line (`docs/engine-protocol.md`).

Whatever comes in, every command gets one final line, and the engine lives on until `quit` or the end of its input.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, NoReturn, TypeVar

import numpy as np

from ..envs.crash.game import Game, Phase
from ..envs.crash.observation import PlayerView, view_of
from ..envs.crash.presets import preset_names
from ..envs.crash.rules import CrashRules
from .engine_options import Analysis, analysed
from .engine_protocol import (
    MAX_LINE,
    PROTOCOL,
    ProtocolError,
    ascii_line,
    format_decision,
    quoted,
    read_decision,
    read_line,
    read_position,
    read_rules,
    whole,
)
from .engine_thinking import Late, Thinker
from .heuristics import Greedy
from .protocol import Agent

__all__ = ["EngineServer", "HostGone", "serve", "watch_host"]

Answer = TypeVar("Answer")
_LONGEST = 86_400_000  # milliseconds, a day
_USAGE = (
    "hello [VERSION]: who the engine is, and the rule sets that it plays",
    "rules [online|bga|traditional] [option=value ...]: what is played from now on",
    (
        "position exchange|arrange|call FIELD ...: what a seat knows; fields are seat N, dealer N, cards CARD ..., round N, "
        "scores N ..., givenup CARD ..., exchanges kept|exchanged|- ..., calls called|passed|- ..., laid HAND | ..."
    ),
    "decide [movetime MS]: the decision at the position",
    "analyse [top N] [movetime MS]: the options at the position, best first",
    "seed N: of all chance from now on",
    "ping [WORD ...]: nothing but the answer",
    "help: the commands",
    "quit: the end",
)


class HostGone(Exception):  # noqa: N818 (nothing is wrong: nobody listens any more)
    """Nobody reads the answers any more."""


class EngineServer:
    """Answers commands for one agent.

    Args:
        agent: who decides.
        version: of the engine, for `hello`.
        seed: of its chance, until a command sets another.
        watch: called now and then while the agent thinks; what it raises ends the answer.

    >>> from .registry import make
    >>> server = EngineServer(make("greedy"))
    >>> list(server.answer(b"rules cards_dealt=6")), list(server.answer(b"decide"))
    (['ok rules'], ['error decide: no position yet; expected position ... first'])
    >>> list(server.answer(b"position arrange seat 0 dealer 2 cards As Ks Qs 2c 2d 2h"))
    ['ok position']
    >>> list(server.answer(b"decide"))
    ['decision lay 2h 2d 2c | As Ks Qs']
    """

    def __init__(
        self, agent: Agent, *, version: str = "0", seed: int = 0, watch: Callable[[], None] = lambda: None
    ) -> None:
        self.is_over = False
        self._agent = agent
        self._version = version
        self._seed, self._decisions = seed, 0
        self._rules: CrashRules | None = None
        self._view: PlayerView | None = None
        self._tried: set[CrashRules] = set()
        self._fallback = Greedy()
        self._thinker = Thinker(watch)
        self._commands: dict[str, Callable[[Sequence[str]], Iterator[str]]] = {
            "hello": self._hello,
            "rules": self._set_rules,
            "position": self._set_position,
            "decide": self._decide,
            "analyse": self._analyse,
            "seed": self._set_seed,
            "ping": self._ping,
            "help": self._help,
            "quit": self._quit,
        }

    @property
    def is_busy(self) -> bool:
        """Whether the agent still thinks about what has been answered without it."""
        return self._thinker.is_busy

    def answer(self, line: bytes) -> Iterator[str]:
        """Yield the lines that answer a line: nothing for a blank one or a comment, else one final line at the end."""
        command = ""
        try:
            words = read_line(line).split()
            if not words or words[0].startswith("#"):
                return
            command = words[0].lower()
            for text in self._commands.get(command, self._unknown)(words[1:]):
                yield ascii_line(text)
        except ProtocolError as error:
            where = f"{command if command in self._commands else quoted(command)}: " if command else ""
            yield ascii_line(f"error {where}{error}")

    def _unknown(self, words: Sequence[str]) -> NoReturn:  # noqa: ARG002 (as every command)
        raise ProtocolError(f"no such command; expected {', '.join(self._commands)}")

    # ---- commands -----------------------------------------------------------------------------------------------------

    def _hello(self, words: Sequence[str]) -> Iterator[str]:
        if words:
            whole(" ".join(words), low=PROTOCOL, high=PROTOCOL, what="version of the protocol")
        yield f"info name prial {self._agent.name}"
        yield f"info version {self._version}"
        yield f"info rules {' '.join(name for name in preset_names() if self._refusal(CrashRules.preset(name)) is None)}"
        yield f"ok hello {PROTOCOL}"

    def _set_rules(self, words: Sequence[str]) -> Iterator[str]:
        self._rules = self._view = None  # what was refused is not played as what was before
        rules = read_rules(words)
        refusal = self._refusal(rules)
        if refusal is not None:
            raise ProtocolError(f"{self._agent.name} does not play them: {refusal}")
        if rules not in self._tried:
            self._think(lambda: self._try_out(rules), movetime=None)
            self._tried.add(rules)
        self._rules = rules
        yield "ok rules"

    def _set_position(self, words: Sequence[str]) -> Iterator[str]:
        if self._rules is None:
            raise ProtocolError("no rules yet; expected rules ... first")
        self._view = None  # a wrong position leaves none, so that nothing is decided at the one before
        self._view = read_position(words, self._rules)
        yield "ok position"

    def _decide(self, words: Sequence[str]) -> Iterator[str]:
        view, limit, rng = self._position(), _settings(words, movetime=_LONGEST)["movetime"], self._rng()
        try:
            _, text = self._think(lambda: self._decision(view, rng), movetime=limit)
        except Late:
            yield f"info late: {self._agent.name} was not done in {limit} ms; {self._fallback.name} decides"
            text = format_decision(self._fallback.act(view, rng), view)
        yield f"decision {text}"

    def _analyse(self, words: Sequence[str]) -> Iterator[str]:
        view, settings, rng = self._position(), _settings(words, top=1_000_000, movetime=_LONGEST), self._rng()
        try:
            found = self._think(lambda: self._options(view, rng), movetime=settings["movetime"])
        except Late:
            raise ProtocolError(f"{self._agent.name} was not done in {settings['movetime']} ms") from None
        yield f"info values {found.values}"
        shown = found.options[: settings["top"]]
        for rank, option in enumerate(shown, start=1):
            value = "-" if option.value is None else f"{option.value:.6f}"
            yield f"option {rank} value {value} {format_decision(option.action, view)}"
        yield f"ok analyse {len(shown)}"

    def _set_seed(self, words: Sequence[str]) -> Iterator[str]:
        if len(words) != 1:
            raise ProtocolError(f"expected one number, got {quoted(' '.join(words))}")
        self._seed, self._decisions = whole(words[0], low=0, high=2**53, what="seed"), 0
        yield "ok seed"

    def _ping(self, words: Sequence[str]) -> Iterator[str]:
        yield " ".join(["ok ping", *words])

    def _help(self, words: Sequence[str]) -> Iterator[str]:
        _nothing(words)
        for usage in _USAGE:
            yield f"info {usage}"
        yield "ok help"

    def _quit(self, words: Sequence[str]) -> Iterator[str]:
        _nothing(words)
        self.is_over = True
        yield "ok quit"

    # ---- inside -------------------------------------------------------------------------------------------------------

    def _position(self) -> PlayerView:
        if self._view is None:
            raise ProtocolError("no position yet; expected position ... first")
        return self._view

    def _rng(self) -> np.random.Generator:
        """Chance of its own for every decision: a function of the seed and of how many came since it was set."""
        self._decisions += 1
        return np.random.default_rng([self._seed, self._decisions])

    def _refusal(self, rules: CrashRules) -> str | None:
        """Why the agent does not play some rules; None if it does."""
        check = getattr(self._agent, "check_rules", None)

        def refused() -> str | None:
            try:
                if check is not None:
                    check(rules)
            except ValueError as error:
                return str(error)
            return None

        return self._think(refused, movetime=None)

    def _try_out(self, rules: CrashRules) -> None:
        """Decide once in every phase, so that what has to be compiled or read is there before time counts."""
        game, rng = Game(rules, seed=0, episode="round"), np.random.default_rng(0)
        seen: set[Phase] = set()
        while not game.is_over:
            view = view_of(game, game.pending[0])
            action = self._fallback.act(view, rng)
            if view.phase not in seen:
                action, _ = self._decision(view, rng)
            seen.add(view.phase)
            game.step(action, view.seat)

    def _decision(self, view: PlayerView, rng: np.random.Generator) -> tuple[int, str]:
        """The agent's action, legal, and in words."""
        action = int(self._agent.act(view, rng))
        text = format_decision(action, view)
        try:
            read_decision(text.split(), view)
        except ProtocolError as error:
            raise ProtocolError(f"{self._agent.name} decided {text!r}, which is not legal: {error}") from None
        return action, text

    def _options(self, view: PlayerView, rng: np.random.Generator) -> Analysis:
        return analysed(self._agent, view, rng)

    def _think(self, call: Callable[[], Answer], *, movetime: int | None) -> Answer:
        try:
            return self._thinker.ask(call, seconds=None if movetime is None else movetime / 1000)
        except (Late, HostGone, ProtocolError, KeyboardInterrupt):
            raise
        except BaseException as error:  # an agent may fail in any way, and ask to exit
            raise ProtocolError(f"{self._agent.name} failed: {type(error).__name__}: {error}") from error


def _nothing(words: Sequence[str]) -> None:
    if words:
        raise ProtocolError(f"expected nothing after it, got {quoted(' '.join(words))}")


def _settings(words: Sequence[str], **known: int) -> dict[str, int]:
    """Read pairs of a name, each at most once, and a number from 1; what is known is the defaults."""
    found = dict[str, int]()
    for place in range(0, len(words), 2):
        name = words[place].lower()
        if name not in known:
            raise ProtocolError(f"expected {' or '.join(f'{one} N' for one in known)}, got {quoted(words[place])}")
        if name in found:
            raise ProtocolError(f"{name} is given twice")
        number = words[place + 1] if place + 1 < len(words) else ""
        found[name] = whole(number, low=1, high=_LONGEST, what=name)
    return known | found


# ---- the loop ---------------------------------------------------------------------------------------------------------


def serve(server: EngineServer, commands: BinaryIO, answers: BinaryIO) -> None:
    """Answer commands until `quit`, the end of the input, or the end of whoever reads.

    Args:
        server: answers.
        commands: where they come from.
        answers: where they go; each line is sent at once.
    """
    try:
        while not server.is_over and (line := _next_line(commands)):
            for text in server.answer(line):
                answers.write(text.encode("ascii") + b"\n")
                answers.flush()
    except (BrokenPipeError, HostGone):
        server.is_over = True


def _next_line(commands: BinaryIO) -> bytes:
    """Return the next line; of an endless one only so much as shows that it is too long."""
    line = commands.readline(MAX_LINE + 4)
    part = line
    while len(part) > MAX_LINE and not part.endswith(b"\n"):
        part = commands.readline(MAX_LINE + 4)
    return line


def watch_host(answers: BinaryIO) -> Callable[[], None]:
    """Return a function that raises `HostGone` once nobody reads the answers any more (where the system can tell)."""
    if not hasattr(select, "poll"):
        return lambda: None
    poll = select.poll()
    poll.register(answers.fileno(), 0)  # errors alone, which are always told

    def watch() -> None:
        if any(event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0)):
            raise HostGone

    return watch
