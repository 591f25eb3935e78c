"""A whole game with a person: question after question, the reveal hand by hand, saving and leaving.

How lines are read and text is shown is the business of a `Terminal`, which tests replace by a script.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from ..envs.crash.game import Phase
from ..envs.crash.render import last_round
from .table_arranging import ArrangeQuestion
from .table_game import PlayedGame, PlayError
from .table_questions import Answer, CallQuestion, ExchangeQuestion, Question, Request
from .table_style import Style
from .table_words import Teller

__all__ = ["DEFAULT_FILE", "Session", "Terminal"]

DEFAULT_FILE = "crash.record"


class Terminal(Protocol):
    """Where a person reads and types."""

    def read(self, prompt: str) -> str:
        """Return a typed line.

        Raises:
            EOFError: there are no more.
            KeyboardInterrupt: the person wants to stop.
        """

    def write(self, text: str) -> None:
        """Show a text and end the line."""

    def pause(self) -> bool:
        """Wait until the person has read, where somebody waits; return whether to go on. Raises as `read` does."""


class Session:
    """One sitting at a game.

    Args:
        played: the game.
        terminal: where the person is.
        style: what the terminal can show.
        path: where the game is kept from now on; None to ask when leaving.

    >>> class Typed(list):
    ...     def read(self, prompt):
    ...         return self.pop(0)
    ...
    ...     def write(self, text):
    ...         pass
    ...
    ...     def pause(self):
    ...         return True
    >>> from ..envs.crash.rules import CrashRules
    >>> played = PlayedGame.new(CrashRules.preset("online"), ["greedy"], seed=7)
    >>> Session(played, Typed(["1", "", "quit", "n"]), style=Style()).run()
    False
    >>> played.game.rounds_played
    1
    """

    def __init__(self, played: PlayedGame, terminal: Terminal, *, style: Style, path: Path | None = None) -> None:
        self.played = played
        self.terminal = terminal
        self.path = path
        self.teller = Teller(played.game.rules, names=played.names, seat=played.seat, style=style)

    def run(self) -> bool:
        """Play until the game is over or the person leaves, and return whether it was left by an interrupt.

        Raises:
            OSError: the game cannot be saved in the file that was asked for.
            PlayError: an opponent failed; the game was saved before.
        """
        try:
            self._sit()
        except (
            KeyboardInterrupt
        ):  # in the middle of leaving as well: closing a terminal ends the input, then interrupts
            self._leave_at_once()
            return True
        return False

    def _sit(self) -> None:
        played = self.played
        if self.path is not None:
            played.save(self.path)  # better now than after an hour of play
        self.terminal.write(self.teller.welcome(played.view, seed=played.seed))
        try:
            while not played.game.is_over:
                if not self._decided():
                    return
        except EOFError:
            self._leave_at_once()
            return
        except OSError:  # nobody reads any more, or the disk is full
            if not played.game.is_over:
                with suppress(OSError):
                    played.save(self.path or _free_name())
            raise
        except (PlayError, ValueError):
            self._keep(self.path or _free_name())
            raise
        if self.path is not None:
            self.terminal.write(self.teller.style.prose(f"The game is recorded in {self.path}."))

    def _leave_at_once(self) -> None:
        """Leave without a question, the game saved if it is not over."""
        if self.played.game.is_over:
            self.terminal.write("")
        else:
            self._keep(self.path or _free_name(), before="\n")

    def _decided(self) -> bool:
        """Bring about one decision and tell what follows; return whether to go on."""
        played = self.played
        question = self._question()
        self.terminal.write("\n" + question.ask())
        while True:
            answer = question.answer(self.terminal.read(question.prompt))
            if answer.text:
                self.terminal.write(answer.text)
            if answer.request is Request.SAVE:
                self._save(answer)
            elif answer.request is Request.QUIT:
                if self._left():
                    return False
            elif answer.action is not None:
                break
        rounds = played.game.rounds_played
        played.act(answer.action)
        self._update()
        if played.game.rounds_played > rounds or played.game.is_over:
            return self._told_round()
        return True

    def _question(self) -> Question:
        view = self.played.view
        if view.phase is Phase.EXCHANGE:
            return ExchangeQuestion(view, self.teller)
        if view.phase is Phase.ARRANGE:
            return ArrangeQuestion(view, self.teller)
        return CallQuestion(view, self.teller)

    def _told_round(self) -> bool:
        """Tell the round that was just scored; return whether to go on."""
        pieces = self.teller.round(last_round(self.played.game))
        for place, piece in enumerate(pieces):
            self.terminal.write("\n" + piece)
            if place < len(pieces) - 1 and not self.terminal.pause():
                return self.played.game.is_over or not self._left()
        return True

    # ---- saving ---------------------------------------------------------------------------------------------------

    def _save(self, answer: Answer) -> None:
        name = answer.file
        if name and self._taken(Path(name)):
            self.terminal.write(f"There is a file {name} already. Choose another name.")
            return
        self._try_to_keep(Path(name) if name else self.path or _free_name())

    def _left(self) -> bool:
        """Leave, saving if the person likes; return whether it is done."""
        if self.path is not None:
            return self._try_to_keep(self.path)
        name = _free_name()
        self.terminal.write(f"Save the game in {name}?")
        typed = self.terminal.read("[Y, n, or a file name] ").strip()
        if typed.lower() in ("n", "no"):
            self.terminal.write("The game is not saved.")
            return True
        # Whoever types quit again wants to be out, not a file of that name.
        path = name if typed.lower() in ("", "y", "yes", "q", "quit") else Path(typed)
        if self._taken(path):
            self.terminal.write(f"There is a file {path} already. Nothing is saved; type quit again.")
            return False
        return self._try_to_keep(path)

    def _taken(self, path: Path) -> bool:
        return path != self.path and path.exists()

    def _try_to_keep(self, path: Path) -> bool:
        try:
            self._keep(path)
        except OSError as error:
            self.terminal.write(f"{path} cannot be written: {error.strerror or error}.")
            return False
        return True

    def _update(self) -> None:
        """Bring the file up to date, if there is one; a game does not end because a disk is full."""
        if self.path is None:
            return
        try:
            self.played.save(self.path)
        except OSError as error:
            self.terminal.write(f"{self.path} cannot be written: {error.strerror or error}. You can save elsewhere.")

    def _keep(self, path: Path, *, before: str = "") -> None:
        """Save the game, then say so: a terminal that is gone takes no words."""
        self.played.save(path)
        self.path = path
        self.terminal.write(f"{before}Saved. To go on:\n  prial play --resume {_typed(path)}")


def _typed(path: Path) -> str:
    """Return a path as it is typed to a shell."""
    name = str(path)
    return name if re.fullmatch(r"[\w./\\:~+-]+", name) else f'"{name}"'


def _free_name() -> Path:
    """Return the default file, with a number if there are others."""
    path, number = Path(DEFAULT_FILE), 1
    while path.exists():
        number += 1
        path = Path(f"{Path(DEFAULT_FILE).stem}-{number}{Path(DEFAULT_FILE).suffix}")
    return path
