"""`Arrangement`: the hands a player lays, as a value with text in and out, and everything that can be wrong with one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from ..brag import describe_strength, strength_table, triple_index
from ..cards import Card, CardError, CardsLike, as_cards, format_cards
from .partitions import laid_triples, partition_index
from .rules import CrashRules

__all__ = ["Arrangement", "ArrangementError", "ArrangementFault", "FaultKind", "arrangement_faults", "is_legal"]


class ArrangementError(ValueError):
    """An arrangement that cannot be laid; the message lists every fault."""


class FaultKind(Enum):
    """What can be wrong with an arrangement."""

    TOO_MANY_HANDS = "too many hands"
    NOT_THREE_CARDS = "not exactly three cards"
    REPEATED_CARD = "a card in two places"
    FOREIGN_CARD = "a card not held"
    NOT_A_HAND = "not a hand"
    WRONG_ORDER = "wrong order"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrangementFault:
    """One fault: its kind, the positions concerned (1 for Hand 1), and a sentence."""

    kind: FaultKind
    positions: tuple[int, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Hands in the order they are laid, strongest first, and the spare cards. Cards within each are kept high to low.

    Text: hands separated by ``|``, then ``/`` and the spare cards.

    >>> laid = Arrangement.parse("Ks Kd 9c | 8s 8h 2c / Ah")
    >>> str(laid), len(laid.hands), laid == Arrangement.parse(str(laid))
    ('Ks Kd 9c | 8s 8h 2c / Ah', 2, True)
    """

    hands: tuple[tuple[Card, ...], ...]
    spare: tuple[Card, ...] = ()

    def __post_init__(self) -> None:
        def high_to_low(cards: CardsLike) -> tuple[Card, ...]:
            return tuple(sorted(as_cards(cards), reverse=True))

        object.__setattr__(self, "hands", tuple(high_to_low(hand) for hand in self.hands))
        object.__setattr__(self, "spare", high_to_low(self.spare))

    @classmethod
    def of(cls, hands: Iterable[CardsLike], cards: CardsLike) -> Arrangement:
        """Return these hands out of a player's cards, the rest spare."""
        laid = tuple(as_cards(hand) for hand in hands)
        used = {card for hand in laid for card in hand}
        return cls(laid, tuple(card for card in as_cards(cards) if card not in used))

    @classmethod
    def parse(cls, text: str) -> Arrangement:
        """Read an arrangement; the inverse of `str`. Nothing laid is an empty text before the ``/``.

        Raises:
            CardError: an unreadable card, an empty hand, or more than one ``/``.
        """
        laid, slash, spare = text.partition("/")
        if "/" in spare:
            raise CardError(f"expected one '/' before the spare cards in {text!r}")
        hands = [as_cards(part) for part in laid.split("|")] if laid.strip() else []
        if not all(hands):
            raise CardError(f"empty hand in {text!r}; expected cards on both sides of each '|'")
        return cls(tuple(hands), as_cards(spare) if slash else ())

    @classmethod
    def from_index(cls, index: int, cards: CardsLike, rules: CrashRules) -> Arrangement:
        """Return the arrangement of a partition index; the inverse of `index`."""
        held = sorted(as_cards(cards))
        triples = [slots for _, slots in laid_triples(index, [card.id for card in held], rules)]
        return cls.of([[held[slot] for slot in triple] for triple in triples], held)

    def index(self, cards: CardsLike, rules: CrashRules) -> int:
        """Return the partition index, the same for equal hands in either order. Spare cards may be left out.

        Raises:
            ArrangementError: it cannot be laid from these cards, or the spare cards named are not the rest of them.
        """
        wrong = [fault.message for fault in arrangement_faults(self.hands, cards, rules)]
        rest = Arrangement.of(self.hands, cards).spare if not wrong else self.spare
        if self.spare and self.spare != rest:
            wrong.append(f"{format_cards(self.spare)!r} are not the spare cards, expected {format_cards(rest)!r}")
        if wrong:
            raise ArrangementError(f"cannot lay {str(self)!r}: " + "; ".join(wrong))
        slot_of = {card: slot for slot, card in enumerate(sorted(as_cards(cards)))}
        return partition_index([[slot_of[card] for card in hand] for hand in self.hands], len(slot_of))

    def strengths(self, rules: CrashRules) -> tuple[int, ...]:
        """Return the strength of each hand under `rules`, 0 for no hand."""
        return tuple(_strength(hand, rules) if len(hand) == 3 else 0 for hand in self.hands)

    def format(self, *, symbols: bool = False) -> str:
        """Return the text form, with suit symbols if asked."""
        laid = " | ".join(format_cards(hand, symbols=symbols) for hand in self.hands)
        return " / ".join((laid, format_cards(self.spare, symbols=symbols))) if self.spare else laid

    def __str__(self) -> str:
        return self.format()

    def _repr_svg_(self) -> str:
        """Show the arrangement in a notebook."""
        from ..hands_picture import hands_picture  # drawing loads on demand

        return hands_picture(self.hands, self.spare).svg()


def _strength(hand: Sequence[Card], rules: CrashRules) -> int:
    ids = sorted(card.id for card in hand)
    return int(strength_table(rules.flush_order, rules.lowest_class)[triple_index(*ids)])


def arrangement_faults(hands: Iterable[CardsLike], cards: CardsLike, rules: CrashRules) -> tuple[ArrangementFault, ...]:
    """Return everything that is wrong with laying these hands; nothing if they may be laid.

    Args:
        hands: Hand 1, Hand 2, ...; fewer than possible is fine, empty hands are not.
        cards: the player's cards.

    Raises:
        CardError: unreadable cards (a repeat within one hand is unreadable too).

    >>> rules = CrashRules.preset("online")
    >>> held = "9s 9h Kd 8s 7h 6d 2c 2d 4h 4s Js Tc Ah"
    >>> [fault.message for fault in arrangement_faults(["9s 9h Kd", "8s 7h 6d"], held, rules)]
    ['Hand 2 (8s 7h 6d, run 8-7-6) is stronger than Hand 1 (Kd 9s 9h, pair of 9s with K); the strongest goes first']
    """
    laid = [tuple(sorted(as_cards(hand), reverse=True)) for hand in hands]
    held = set(as_cards(cards))
    faults: list[ArrangementFault] = []

    def fault(kind: FaultKind, positions: tuple[int, ...], message: str) -> None:
        faults.append(ArrangementFault(kind=kind, positions=positions, message=message))

    if len(laid) > rules.hands:
        extra = tuple(range(rules.hands + 1, len(laid) + 1))
        fault(FaultKind.TOO_MANY_HANDS, extra, f"{len(laid)} hands, expected at most {rules.hands}")
    seen: dict[Card, int] = {}
    strengths: list[int | None] = []
    for position, hand in enumerate(laid, start=1):
        name = f"Hand {position} ({format_cards(hand)})"
        for card in hand:
            if card not in held:
                fault(FaultKind.FOREIGN_CARD, (position,), f"{name} has {card}, which is not among the player's cards")
            if card in seen:
                both = (seen[card], position)
                fault(FaultKind.REPEATED_CARD, both, f"{card} is in Hand {both[0]} and in Hand {both[1]}")
            seen.setdefault(card, position)
        if len(hand) != 3:
            fault(FaultKind.NOT_THREE_CARDS, (position,), f"{name} has {len(hand)} cards, expected exactly three")
            strengths.append(None)
            continue
        strength = _strength(hand, rules)
        if strength == 0:
            lowest = rules.lowest_class.label
            fault(FaultKind.NOT_A_HAND, (position,), f"{name} is no hand; expected {lowest} or better")
        strengths.append(strength or None)
    for position in range(1, len(laid)):
        first, second = strengths[position - 1], strengths[position]
        if first is not None and second is not None and second > first:
            words = [
                f"Hand {p} ({format_cards(laid[p - 1])}, {describe_strength(s, flush_high=rules.flush_order)})"
                for p, s in ((position + 1, second), (position, first))
            ]
            where = (position, position + 1)
            message = f"{words[0]} is stronger than {words[1]}; the strongest goes first"
            fault(FaultKind.WRONG_ORDER, where, message)
    return tuple(faults)


def is_legal(hands: Iterable[CardsLike], cards: CardsLike, rules: CrashRules) -> bool:
    """Return whether these hands may be laid from these cards."""
    return not arrangement_faults(hands, cards, rules)
