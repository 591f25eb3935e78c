"""The conversation about one decision: a typed line in, text and perhaps the decision out. No terminal, no files.

A question knows a `PlayerView` and nothing more, so that it cannot show what the person may not see.
"""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from ..envs.crash.actions import ActionLayout, action_layout
from ..envs.crash.arrangement import Arrangement
from ..envs.crash.observation import PlayerView
from .table_hints import Hint, hint_for
from .table_words import Teller

__all__ = ["Answer", "CallQuestion", "ExchangeQuestion", "Question", "Request"]


class Request(Enum):
    """What a person wants beyond the decision."""

    SAVE = "save"
    QUIT = "quit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What comes back for a typed line.

    Attributes:
        text: to be shown.
        action: the decision, once it is made.
        request: to save or to leave.
        file: the name typed with the request, "" for none.
    """

    text: str = ""
    action: int | None = None
    request: Request | None = None
    file: str = ""


_COMMON_HELP = {
    "hint": "what a good player would do, and why",
    "cards, suits": "your cards by rank, by suit",
    "score": "the score",
    "rules": "the rules of this table",
    "save [FILE]": "save the game and play on",
    "quit": "leave the game (it can be saved and resumed)",
}


class Question(ABC):
    """One decision of one seat.

    Args:
        view: what the person knows.
        teller: says it.
    """

    prompt: str
    _first_words: tuple[str, ...] = ()
    """Commands that a beginning stands for before any others."""
    _whole_words: tuple[str, ...] = ()
    """Commands that no beginning stands for."""

    def __init__(self, view: PlayerView, teller: Teller) -> None:
        self.view = view
        self.teller = teller
        self.style = teller.style
        self._words: Mapping[str, Callable[[], Answer]] = {
            "help": self._help,
            "hint": lambda: Answer(text=self._hint(hint_for(view))),
            "cards": lambda: Answer(text=self.style.by_rank(view.cards)),
            "suits": lambda: Answer(text=self.style.by_suit(view.cards)),
            "score": lambda: Answer(text=teller.scores(view.scores)),
            "rules": lambda: Answer(text=teller.rules_page()),
            "quit": lambda: Answer(request=Request.QUIT),
            **self._own_words(),
        }

    @property
    def layout(self) -> ActionLayout:
        """The numbering of decisions."""
        return action_layout(self.view.rules)

    @abstractmethod
    def ask(self) -> str:
        """Return the question, with what is known."""

    def answer(self, line: str) -> Answer:
        """Return what a typed line brings about."""
        typed = line.strip()
        first, _, rest = typed.partition(" ")
        word = self._word(first.lower())
        if word == "save":
            return Answer(request=Request.SAVE, file=rest.strip())
        if word in self._words and not rest.strip():
            return self._words[word]()
        return self._other(typed)

    @abstractmethod
    def _own_words(self) -> Mapping[str, Callable[[], Answer]]:
        """Return the commands of this question."""

    @abstractmethod
    def _own_help(self) -> Mapping[str, str]:
        """Return what can be typed here beyond the common commands, with its meaning."""

    @abstractmethod
    def _hint(self, hint: Hint) -> str:
        """Return advice as text."""

    def _other(self, typed: str) -> Answer:
        """Return the answer to a line that is no command."""
        if not typed:
            return Answer(text=self._short_help())
        near = difflib.get_close_matches(typed.lower().split()[0], [*self._words, "save"], n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        return Answer(text=self.style.prose(f"{typed!r} is nothing to be done here.{meant} {self._short_help()}"))

    def _short_help(self) -> str:
        return f"Type {', '.join(self._own_help())}, or help."

    def _word(self, typed: str) -> str:
        """Return the command that a word, its beginning or another word for it stands for."""
        other = {"?": "help", "q": "quit", "exit": "quit", "rank": "cards", "suit": "suits", "scores": "score"}
        if typed in other:
            return other[typed]
        begun = [word for word in (*self._words, "save") if typed and word.startswith(typed)]
        if typed in begun or not begun:
            return typed
        own = [word for word in begun if word in self._first_words]
        return next(iter(own or (word for word in begun if word not in self._whole_words)), typed)

    def _help(self) -> Answer:
        entries = {**self._own_help(), **_COMMON_HELP}
        if self.style.width >= 60:
            width = max(map(len, entries)) + 2
            lines = [
                self.style.prose(f"{what:<{width}}{why}", "  ", " " * (width + 2)) for what, why in entries.items()
            ]
        else:
            lines = [f"  {what}\n{self.style.prose(why, '      ')}" for what, why in entries.items()]
        return Answer(
            text="\n".join(["You can type:", *lines, self.style.prose("The beginning of a word will do.", "  ")])
        )

    def _reasons(self, hint: Hint) -> str:
        return "\n".join(self.style.prose(reason, "  ") for reason in hint.reasons)

    def _cards(self) -> str:
        return f"Your cards:\n{self.style.by_rank(self.view.cards)}"


class ExchangeQuestion(Question):
    """Keep the hand, or exchange it unseen.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> from ..envs.crash.rules import CrashRules
    >>> from .table_style import Style
    >>> game = Game(CrashRules.preset("bga", players=2), seed=7)
    >>> teller = Teller(game.rules, names=("you", "greedy"), seat=0, style=Style())
    >>> question = ExchangeQuestion(view_of(game, 0), teller)
    >>> question.answer("ke").action == question.layout.keep
    True
    """

    prompt = "keep or exchange? "
    _first_words = ("keep", "exchange")

    def ask(self) -> str:
        """Return the cards and the rule of the exchange."""
        view, teller = self.view, self.teller
        if view.rules.players == 2:
            rule = "A spare hand lies ready for each of you. You choose without knowing the other's choice."
        else:
            rule = "There is one spare hand, for the first who wants it."
        known = teller.exchanges(view)
        told = f"{rule} {known}".rstrip() + " An exchange swaps your whole hand, unseen."
        return "\n".join([teller.heading(view), self._cards(), self.style.prose(told)])

    def _own_words(self) -> Mapping[str, Callable[[], Answer]]:
        return {
            "keep": lambda: Answer(action=self.layout.keep),
            "exchange": lambda: Answer(action=self.layout.exchange),
        }

    def _own_help(self) -> Mapping[str, str]:
        return {"keep": "play the hand you have", "exchange": "swap it for the spare hand, unseen"}

    def _hint(self, hint: Hint) -> str:
        does = "exchanges" if hint.action == self.layout.exchange else "keeps"
        return f"Hint: {hint.agent} {does}.\n{self._reasons(hint)}"


class CallQuestion(Question):
    """Call a crash, or pass."""

    prompt = "call or pass? "
    _first_words = ("call", "pass")

    def ask(self) -> str:
        """Return what is laid, what a call costs, and who has said what."""
        view, teller, rules = self.view, self.teller, self.view.rules
        order = [(view.dealer + 1 + place) % rules.players for place in range(rules.players)]
        said = teller.calls((seat, bool(view.calls[seat])) for seat in order if view.calls[seat] is not None)
        gain = "" if rules.crash_reward == "game" else f" earns {rules.crash_call_bonus} more"
        if rules.crash_call == "required":
            gain = " wins the game" if rules.crash_reward == "game" else f" earns {self._all_of_it()}"
        gain = f"One that succeeds{gain}, one" if gain else "One"
        told = f"Do you call a crash? {gain} that fails costs {rules.crash_call_penalty}."
        if rules.crash_call == "required":
            told += " A crash that is not called earns nothing."
        told += f" {said}"
        return f"All have laid their hands. Yours:\n{self._laid()}\n{self.style.prose(told.strip())}"

    def _laid(self) -> str:
        """Return what the person laid; who comes back to a saved game has not just seen it."""
        view, rules = self.view, self.view.rules
        assert view.laid is not None
        laid = Arrangement.from_index(view.laid, view.cards, rules)
        words = [self.style.words(strength, rules) for strength in laid.strengths(rules)]
        rows = [(f"Hand {i + 1}", hand, words[i]) for i, hand in enumerate(laid.hands)]
        return self.style.hands(rows) if rows else "  no hand at all"

    def _all_of_it(self) -> int:
        return self.view.rules.crash_points + self.view.rules.crash_call_bonus

    def _own_words(self) -> Mapping[str, Callable[[], Answer]]:
        return {
            "call": lambda: Answer(action=self.layout.call),
            "pass": lambda: Answer(action=self.layout.pass_),
        }

    def _own_help(self) -> Mapping[str, str]:
        return {"call": "say that you will win every hand", "pass": "say nothing"}

    def _hint(self, hint: Hint) -> str:
        does = "calls" if hint.action == self.layout.call else "passes"
        return f"Hint: {hint.agent} {does}.\n{self._reasons(hint)}"
