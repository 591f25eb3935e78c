"""What is told at the table: scores, who chose what, a round hand by hand, the end. Built from what the person may know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..envs.brag import BragClass
from ..envs.crash.events import (
    Award,
    AwardReason,
    Call,
    Deal,
    Event,
    GameEnd,
    GameResult,
    Reveal,
    RoundEnd,
    Termination,
)
from ..envs.crash.observation import PlayerView
from ..envs.crash.rules import CrashRules
from .rules_explained import explain_option, how_ranked, option_names
from .table_style import Style

__all__ = ["Teller"]


class Teller:
    """Tells a game to the person at one seat.

    Args:
        rules: the rules.
        names: of all seats, the person's being ``you``.
        seat: the person's.
        style: what the terminal can show.

    >>> from .table_style import Style
    >>> teller = Teller(CrashRules.preset("online", players=2), names=("you", "greedy"), seat=0, style=Style())
    >>> teller.scores((2, 1)), teller.does(1, "pass", "passes")
    ('Score: you 2, greedy 1 (to 7)', 'greedy passes')
    """

    def __init__(self, rules: CrashRules, *, names: Sequence[str], seat: int, style: Style) -> None:
        self.rules = rules
        self.names = tuple(names)
        self.seat = seat
        self.style = style

    # ---- parts ----------------------------------------------------------------------------------------------------

    def seats(self) -> list[int]:
        """Return all seats, the person's first, then clockwise."""
        n = self.rules.players
        return [(self.seat + place) % n for place in range(n)]

    def does(self, seat: int, you: str, they: str) -> str:
        """Return a sentence about a seat: ``You pass``, ``greedy passes``."""
        return f"You {you}" if seat == self.seat else f"{self.names[seat]} {they}"

    def welcome(self, view: PlayerView, *, seed: int) -> str:
        """Return who plays what, once at the beginning of a sitting."""
        rules = self.rules
        others = [self.names[seat] for seat in self.seats()[1:]]
        seated = " and ".join([", ".join(others[:-1]), others[-1]] if len(others) > 1 else others)
        left = "" if len(others) == 1 else " (clockwise from your left)"
        text = (
            f"You play {seated}{left} to {rules.target} points, at seat {self.seat}, seed {seed}. "
            "Type help at any time, quit to leave and save."
        )
        title = self.style.strong(f"Crash ({rules.name or 'own rules'})")
        standing = f"\n{self.scores(view.scores)}" if view.rounds_played else ""
        return f"{title}\n{self.style.prose(text)}{standing}"

    def heading(self, view: PlayerView) -> str:
        """Return which round it is, and who deals."""
        dealer = "you deal" if view.dealer == self.seat else f"{self.names[view.dealer]} deals"
        return f"{self.style.strong(f'Round {view.rounds_played + 1}')}, {dealer}"

    def scores(self, scores: Sequence[int]) -> str:
        """Return the score line."""
        told = [f"{self.names[seat]} {scores[seat]}" for seat in self.seats()]
        pieces = ["Score:", *(f"{text}," for text in told[:-1]), told[-1], f"(to {self.rules.target})"]
        return self.style.flow(pieces, gap=" ")

    def exchanges(self, view: PlayerView) -> str:
        """Return what is known of the exchange, in a sentence or more; nothing if nobody has chosen."""
        order = [(view.dealer + 1 + place) % self.rules.players for place in range(self.rules.players)]
        told = []
        for seat in order:
            choice = view.exchanges[seat]
            if choice is not None:
                verbs = ("exchanged", "exchanged") if choice else ("kept your hand", "kept its hand")
                told.append(self.does(seat, *verbs) + ".")
        return " ".join(told)

    def calls(self, choices: Iterable[tuple[int, bool]]) -> str:
        """Return who called a crash and who passed, in the order given; nothing if nobody has said."""
        verbs = {True: ("called a crash", "called a crash"), False: ("passed", "passed")}
        return " ".join(self.does(seat, *verbs[called]) + "." for seat, called in choices)

    # ---- a round --------------------------------------------------------------------------------------------------

    def round(self, events: Sequence[Event]) -> list[str]:
        """Return the reveal of a round and what it scored, in pieces to be shown one after the other."""
        deal = events[0]
        assert isinstance(deal, Deal)
        calls = self.calls((event.seat, event.called) for event in events if isinstance(event, Call))
        pieces: list[str] = []
        closing: list[str] = []
        for event in events:
            if isinstance(event, Reveal):
                pieces.append(self._reveal(event))
            elif isinstance(event, Award) and event.reason is not AwardReason.COMPARISON:
                closing.append(self.style.prose(self._award(event)))
            elif isinstance(event, RoundEnd):
                if event.crasher is not None:
                    what = self.does(event.crasher, "have", "has") + f" won all {self.rules.hands} hands: a crash!"
                    closing.insert(0, self.style.strong(what))
                closing.append(self.scores(event.scores))
            elif isinstance(event, GameEnd):
                closing.append(self.style.strong(self.style.prose(self._ending(event.result, event.scores))))
        if calls:
            pieces[0] = f"{self.style.prose(calls)}\n{pieces[0]}"
        pieces[0] = f"{self.style.strong(f'Round {deal.round_number + 1}: the reveal')}\n{pieces[0]}"
        return [*pieces, "\n".join(closing)]

    def _reveal(self, event: Reveal) -> str:
        rows = []
        for seat in self.seats():
            won = seat == event.winner
            label = f"{'*' if won else ' '} {self.names[seat]}"
            words = self.style.words(event.strengths[seat], self.rules) if event.hands[seat] else "nothing laid"
            rows.append((self.style.strong(label) if won else label, event.hands[seat], words))
        if event.winner is not None:
            closing = self.does(event.winner, "score a point.", "scores a point.")
        elif any(event.hands):
            closing = "The best are equal: nobody scores."
        else:
            closing = "Nobody laid it: nobody scores."
        return f"Hand {event.position + 1}\n{self.style.hands(rows, indent='')}\n  {self.style.faint(closing)}"

    def _award(self, award: Award) -> str:
        points = f"{abs(award.points)} point{'' if abs(award.points) == 1 else 's'}"
        who = award.seat
        if award.reason is AwardReason.CRASH:
            if self.rules.crash_reward == "game":
                return self.does(who, "win", "wins") + " the game with it."
            return self.does(who, "get", "gets") + f" {points} for the crash."
        if award.reason is AwardReason.CALL_BONUS:
            return self.does(who, "called", "called") + f" it and get{'' if who == self.seat else 's'} {points} more."
        if award.reason is AwardReason.CALL_PENALTY:
            lost = f"{points} lost" if award.points else "there is nothing to lose"
            return self.does(who, "called", "called") + f" a crash that failed: {lost}."
        return self.does(who, "get", "gets") + f" {points} for four of a kind, all laid."

    def _ending(self, result: GameResult, scores: Sequence[int]) -> str:
        if result.winners == (self.seat,):
            told = "You win the game"
        else:
            winners = [seat for seat in self.seats() if seat in result.winners]
            share = len(winners) > 1
            told = " and ".join("You" if seat == self.seat else self.names[seat] for seat in winners)
            told += " share the win" if share else " wins the game"
        if result.reason is Termination.CRASH:
            return f"{told}: a crash decides it."
        if result.reason is Termination.MAX_ROUNDS:
            return f"{told}: {self.rules.max_rounds} rounds are played, and the highest score counts."
        return f"{told}: {max(scores[seat] for seat in result.winners)} points, the target was {self.rules.target}."

    # ---- rules ----------------------------------------------------------------------------------------------------

    def rules_page(self) -> str:
        """Return the rules of this table: hands, best first, and every option in words."""
        style, rules = self.style, self.rules
        counted = [kind for kind in sorted(BragClass, reverse=True) if kind >= rules.lowest_class]
        lines = [style.strong("Hands, best first")]
        lines += [style.prose(f"{kind.label}: {how_ranked(kind, rules)}", "  ", "    ") for kind in counted]
        lines.append(style.strong("At this table"))
        lines.append(
            style.prose(
                f"Lay up to {rules.hands} hands of exactly three cards, the strongest first. Hand 1 of all players is "
                "compared, then Hand 2, and so on; the strongest alone scores a point.",
                "  ",
            )
        )
        told = [explain_option(option, rules) for option in option_names() if option != "ranks"]
        lines += [style.prose(text, "  ", "    ") for text in told if not text.startswith("Not used")]
        return "\n".join(lines)
