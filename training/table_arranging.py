"""The conversation about laying hands: typed cards or a suggestion's number, faults in words, a look before it is laid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations

from ..envs.brag import NUM_STRENGTHS, strength_table, triple_index
from ..envs.cards import Card, CardError
from ..envs.crash.arrangement import Arrangement, FaultKind, arrangement_faults
from ..envs.crash.observation import PlayerView
from ..envs.crash.partitions import undominated
from .table_hints import Hint
from .table_questions import Answer, Question
from .table_typing import Hands, read_hands, read_ranks, with_suits
from .table_words import Teller

__all__ = ["ArrangeQuestion"]

_PAGE = 5


class ArrangeQuestion(Question):
    """Which hands to lay. Typed hands are gathered, shown, and laid when Enter says so.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> from ..envs.crash.rules import CrashRules
    >>> from .table_style import Style
    >>> game = Game(CrashRules.preset("online", players=2), seed=7)
    >>> teller = Teller(game.rules, names=("you", "greedy"), seat=0, style=Style())
    >>> question = ArrangeQuestion(view_of(game, 0), teller)
    >>> question.answer("1").action, question.answer("").action == int(game.undominated(0).partitions[0])
    (None, True)
    """

    _whole_words = ("clear", "nothing")

    def __init__(self, view: PlayerView, teller: Teller) -> None:
        super().__init__(view, teller)
        self._draft: Hands | None = None
        self._sorted: Hands | None = None
        """Hands in the right order, offered for those typed in a wrong one."""
        self._next = 0

    @property
    def prompt(self) -> str:  # type: ignore[override]
        """What stands before the typed line."""
        if self._sorted is not None:
            return "sort them? [Y/n] "
        return "lay? " if self._draft is None else "Enter to lay, or more: "

    def ask(self) -> str:
        """Return the cards, and how to go about it."""
        view, rules = self.view, self.view.rules
        # Who was asked to exchange has read the heading already.
        lines = [self.teller.heading(view)] if view.exchanges[view.seat] is None else []
        exchanged = self.teller.exchanges(view)
        if exchanged:
            gone = " The spare hand is gone; you are not asked." if view.exchanges[view.seat] is None else ""
            lines.append(self.style.prose(exchanged + gone))
        if view.given_up:
            lines += ["You gave up:", self.style.by_rank(view.given_up)]
        count = len(self._suggestions)
        example = "As Ad Ac" + (" | Ks Qs Js" if rules.hands > 1 else "") + (" | ..." if rules.hands > 2 else "")
        hands = "a hand" if rules.hands == 1 else f"{rules.hands} hands, strongest first"
        found = f"{count} suggestion{'' if count == 1 else 's'}"
        how = f"Lay {hands}: type them ({example}; ranks alone will do), or list for {found}, or hint."
        return "\n".join([*lines, self._cards(), self.style.prose(how)])

    # ---- suggestions ----------------------------------------------------------------------------------------------

    @cached_property
    def _suggestions(self) -> list[Arrangement]:
        found = undominated(self.view.cards, self.view.rules)
        return [Arrangement.from_index(index, self.view.cards, self.view.rules) for index in found.partitions.tolist()]

    def _list(self) -> Answer:
        self._next = 0
        return self._more()

    def _more(self) -> Answer:
        count = len(self._suggestions)
        first = self._next if self._next < count else 0
        last = min(first + _PAGE, count)
        self._next = last
        lines = [self._suggestion(number) for number in range(first + 1, last + 1)]
        if last < count:
            lines.append(
                self.style.prose(f"{first + 1} to {last} of {count}; more shows the next. A number takes one.")
            )
        elif count > 1:
            lines.append(f"That is all {count}. A number takes one.")
        else:
            lines.append("That is the only one worth laying: 1 takes it.")
        return Answer(text="\n".join(lines))

    def _suggestion(self, number: int) -> str:
        laid = self._suggestions[number - 1]
        lead = f"{number:>3}  "
        if not laid.hands:
            return f"{lead}nothing"
        words = [self.style.words(strength, self.view.rules) for strength in laid.strengths(self.view.rules)]
        spare = f" / {self.style.cards(laid.spare)}" if laid.spare else ""
        if self.style.width >= 64:
            cards = " | ".join(self.style.cards(hand) for hand in laid.hands) + spare
            return f"{lead}{cards}\n{self.style.faint(self.style.prose(', '.join(words), '     '))}"
        rows = [(lead.rstrip() if i == 0 else "   ", hand, words[i]) for i, hand in enumerate(laid.hands)]
        return self.style.hands(rows, indent="")

    def _pick(self, number: int) -> Answer:
        count = len(self._suggestions)
        if not 1 <= number <= count:
            return Answer(text=f"There is no suggestion {number}; there are 1 to {count}.")
        self._draft = self._suggestions[number - 1].hands
        return Answer(text=self._shown())

    def _hint(self, hint: Hint) -> str:
        laid = Arrangement.from_index(hint.action, self.view.cards, self.view.rules)
        number = 1 + next(i for i, some in enumerate(self._suggestions) if some.hands == laid.hands)
        if not laid.hands:
            return f"Hint: nothing can be laid. Type {number} to take that."
        chances = hint.chances or ()
        rows = []
        for position, (hand, strength) in enumerate(zip(laid.hands, laid.strengths(self.view.rules), strict=True)):
            words = self.style.words(strength, self.view.rules)
            if chances:
                words += f", wins {chances[position]:.0%}"
            rows.append((f"Hand {position + 1}", hand, words))
        head = f"Hint: {hint.agent} would lay number {number}; type {number} to take it."
        return f"{self.style.prose(head)}\n{self.style.hands(rows)}\n{self._reasons(hint)}"

    # ---- typed hands ----------------------------------------------------------------------------------------------

    def answer(self, line: str) -> Answer:
        """Return what a typed line brings about."""
        typed = line.strip()
        if self._sorted is not None and typed.lower() in ("", "y", "yes", "n", "no"):
            offered, self._sorted = self._sorted, None
            if typed.lower().startswith("n"):
                return Answer(text="As you like. Type the hands anew, the strongest first.")
            self._draft = offered
            return Answer(text=self._shown())
        if typed.lower() in ("", "ok", "y", "yes", "lay") and self._draft is not None:
            return Answer(action=self._index(self._draft))
        if typed.isascii() and typed.isdigit():
            number = int(typed[:9])
            if number <= len(self._suggestions) or read_ranks(typed) is None or len(typed) < 3:  # 432 may be a hand
                self._sorted = None
                return self._pick(number)
        return super().answer(line)

    def _own_words(self) -> Mapping[str, Callable[[], Answer]]:
        return {
            "list": self._list,
            "more": self._more,
            "undo": self._undo,
            "clear": self._clear,
            "nothing": self._nothing,
        }

    def _own_help(self) -> Mapping[str, str]:
        return {
            "As Ad Ac | 10s 9s 8s": "hands, one or several, strongest first; symbols and small letters will do",
            "AAA 1098": "hands by rank alone: the suits are those that make the strongest hands",
            "list, more": "suggestions: every arrangement worth laying, strongest Hand 1 first",
            "3": "take suggestion 3",
            "undo, clear": "take back the last hand, or all",
            "nothing": "lay no hand at all",
            "Enter": "lay what is shown",
        }

    def _short_help(self) -> str:
        return "Type hands, list, hint or help."

    def _other(self, typed: str) -> Answer:
        rules = self.view.rules
        spare: tuple[Card, ...] = ()
        try:
            ranks = read_ranks(typed)
            if ranks is not None:
                hands = self._suited(ranks)
            else:
                hands, spare = read_hands(typed, hands=rules.hands, cards_dealt=rules.cards_dealt)
        except CardError as error:
            first = typed.lower().split()[0]
            if first in self._words:
                return Answer(text=f"Type {first} alone, with nothing behind it.")
            if typed.isascii() and typed.isalpha() and read_ranks(typed) is None:  # a word
                return super()._other(typed)
            return Answer(text=self.style.prose(f"{str(error)[0].upper()}{str(error)[1:]}."))
        if not hands or not hands[0]:
            return Answer(text=self._short_help())
        return self._laid((*self._before(len(hands)), *hands), spare)

    def _before(self, typed: int) -> Hands:
        """Return the hands that a number of typed ones are added to: as many as there can be make a new beginning."""
        return () if typed >= self.view.rules.hands else self._draft or ()

    def _suited(self, ranks: Sequence[tuple[int, ...]]) -> Hands:
        taken = {card.id for hand in self._before(len(ranks)) for card in hand}
        held = [Card(card) for card in self.view.cards if card not in taken]
        return with_suits(ranks, held, strength=lambda hand: self._strength(hand) if len(hand) == 3 else 0)

    def _laid(self, hands: Hands, spare: Sequence[Card]) -> Answer:
        self._sorted = None
        faults = list(arrangement_faults(hands, self.view.cards, self.view.rules))
        said = [fault.message.replace("the player's cards", "your cards") for fault in faults]
        for card in spare:
            if card.id not in self.view.cards:
                said.append(f"the spare {card} is not among your cards")
            elif any(card in hand for hand in hands):
                said.append(f"{card} is in a hand and among the spare cards")
        if not said:
            self._draft = hands
            return Answer(text=self._shown())
        lines = [self.style.prose(f"{message[0].upper()}{message[1:]}.") for message in said]
        if len(said) == len(faults) and all(fault.kind is FaultKind.WRONG_ORDER for fault in faults):
            self._sorted = tuple(sorted(hands, key=self._strength, reverse=True))
            moved = " and ".join(str(p) for p in sorted({p for fault in faults for p in fault.positions}))
            lines.append(self.style.prose(f"Hands {moved} are in the wrong order. Shall they be sorted?"))
        elif self._draft is not None:
            lines.append("What you had stays as it was:")
            lines.append(self._shown())
        return Answer(text="\n".join(lines))

    def _strength(self, hand: Sequence[Card]) -> int:
        rules = self.view.rules
        table = strength_table(rules.flush_order, rules.lowest_class)
        return int(table[triple_index(*sorted(card.id for card in hand))])

    def _index(self, hands: Hands) -> int:
        return Arrangement(hands).index(self.view.cards, self.view.rules)

    def _shown(self) -> str:
        """Return the draft with its classes, and what could be added."""
        draft, rules = self._draft or (), self.view.rules
        laid = Arrangement.of(draft, self.view.cards)
        rows: list[tuple[str, Sequence[Card], str]] = []
        for position, hand in enumerate(laid.hands, start=1):
            rows.append((f"Hand {position}", hand, self.style.words(self._strength(hand), rules)))
        lines = [self.style.hands(rows)] if rows else ["  You lay nothing."]
        if laid.spare:
            lines.append(
                self.style.flow(["spare", *(self.style.card(card) for card in laid.spare)], indent="  ", gap=" ")
            )
        if len(draft) < rules.hands:
            lines.append(self.style.prose(self._addable(laid, rules.hands)))
        return "\n".join(lines)

    def _addable(self, laid: Arrangement, hands: int) -> str:
        """Say whether the spare cards make another hand, and where it would go."""
        limit = self._strength(laid.hands[-1]) if laid.hands else NUM_STRENGTHS
        found = [(self._strength(hand), hand) for hand in combinations(laid.spare, 3)]
        fitting = [some for some in found if 0 < some[0] <= limit]
        so_far = f"{len(laid.hands)} of {hands} hands."
        strength, hand = max(fitting or found, default=(0, ()))
        if strength == 0:
            return f"{so_far} The rest makes no further hand."
        cards = replace(self.style, colours="none").cards(hand)  # colours would not survive the wrapping
        words = f"{cards} ({self.style.words(strength, self.view.rules)})"
        if fitting:
            return f"{so_far} The rest could still make Hand {len(laid.hands) + 1}, such as {words}."
        return f"{so_far} The rest makes only stronger hands, such as {words}, which would go before."

    def _undo(self) -> Answer:
        self._sorted = None
        if not self._draft:
            return self._clear()
        self._draft = self._draft[:-1] or None
        return Answer(text=self._shown() if self._draft else "Nothing is chosen.")

    def _clear(self) -> Answer:
        self._draft = self._sorted = None
        return Answer(text="Nothing is chosen.")

    def _nothing(self) -> Answer:
        self._draft, self._sorted = (), None
        return Answer(text=self._shown())
