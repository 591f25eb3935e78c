"""The pure state machine: deal, exchange, arrange, call, reveal, score, next round, end.

No files, no clock, no printing, no learning library. Randomness is a function of (seed, table, number of the deal), or deals
are given. Decisions are ints of `action_layout`; `step` returns frozen events that suffice to replay the game.

Source: RULES sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from itertools import chain, islice
from typing import Literal, NoReturn

import numpy as np
import numpy.typing as npt

from ..cards import CardsLike, as_cards, format_cards
from ..deals import DealStream
from ..whole_numbers import whole_number
from .actions import ActionLayout, action_layout
from .arrangement import Arrangement
from .events import (
    Arrange,
    Call,
    Deal,
    Event,
    Exchange,
    GameEnd,
    GameResult,
    Ids,
    Reveal,
    RoundEnd,
    Termination,
)
from .partitions import Candidates, laid_triples, legal_partitions, undominated_of_dealt, whole_ranks
from .rules import CrashRules, RulesError
from .scoring import Settlement, highest_seats, settle_round
from .starts import check_deal, check_scores, check_seed, drawn_deal, turn_order

__all__ = ["Game", "IllegalActionError", "Phase", "replay"]

Episode = Literal["game", "round"]


class Phase(IntEnum):
    """Where a round stands."""

    EXCHANGE = 0
    ARRANGE = 1
    CALL = 2
    OVER = 3

    @property
    def label(self) -> str:
        """The phase in a word."""
        return self.name.lower()


class IllegalActionError(ValueError):
    """A decision that the rules do not allow now; nothing has changed."""


class Game:
    """A game of Crash in progress.

    Args:
        rules: the rules.
        seed: of the deals.
        table: which table of that seed.
        first_deal: number of the first deal; deals count on from it, round by round.
        dealer: seat of the first dealer; drawn if None.
        scores: scores to start from (each below the target); zeros if None.
        rounds_played: rounds already played.
        episode: `game`, or `round` to stop after one round.
        deals: explicit deals, used before those of the seed.

    Raises:
        RulesError: scores, dealer or deals that do not fit the rules, or no first deal.

    >>> game = Game(CrashRules.preset("online"), seed=7)
    >>> game.phase.label, game.pending == game.turn_order
    ('arrange', True)
    """

    __slots__ = (
        "_deal_number",
        "_events",
        "_explicit",
        "_shown",
        "_stream",
        "_undominated",
        "calls",
        "dealer",
        "episode",
        "exchanges",
        "given_up",
        "hands",
        "laid",
        "phase",
        "result",
        "round_points",
        "rounds_played",
        "rules",
        "scores",
        "spares",
    )

    def __init__(
        self,
        rules: CrashRules,
        *,
        seed: int = 0,
        table: int = 0,
        first_deal: int = 0,
        dealer: int | None = None,
        scores: Sequence[int] | None = None,
        rounds_played: int = 0,
        episode: Episode = "game",
        deals: Iterable[Deal] = (),
    ) -> None:
        if episode not in ("game", "round"):
            raise RulesError(f"episode={episode!r}: expected 'game' or 'round'")
        self.rules = rules
        self.episode: Episode = episode
        self._stream = DealStream(seed, table)
        self._deal_number = first_deal = check_seed(first_deal, option="first_deal")
        self._explicit = tuple(deals)
        for deal in self._explicit:
            check_deal(rules, deal.hands, deal.spares)
        self.scores = check_scores(rules, scores)
        played = whole_number(rounds_played)
        if played is None or not 0 <= played < rules.max_rounds:
            raise RulesError(f"rounds_played={rounds_played!r}: expected 0 to {rules.max_rounds - 1} (max_rounds)")
        self.rounds_played = played
        if dealer is None and self._explicit:
            dealer = self._explicit[0].dealer
        elif dealer is None:
            dealer = self._stream.first_dealer(rules.players, deal=first_deal)
        first = whole_number(dealer)
        if first is None or not 0 <= first < rules.players:
            raise RulesError(f"dealer={dealer!r}: expected a seat from 0 to {rules.players - 1}")
        self.dealer = first
        self.result: GameResult | None = None
        self.round_points: tuple[int, ...] | None = None
        self._events: list[Event] = []
        self._deal()

    @classmethod
    def from_deal(
        cls,
        rules: CrashRules,
        hands: Sequence[CardsLike],
        *,
        spares: Sequence[CardsLike] = (),
        dealer: int = 0,
        scores: Sequence[int] | None = None,
        rounds_played: int = 0,
        episode: Episode = "game",
        seed: int = 0,
    ) -> Game:
        """Return a game that starts with these cards; later rounds come from the seed.

        Args:
            rules: the rules.
            hands: cards of seat 0, 1, ...
            spares: spare hands in turn order, as many as the exchange needs.
            dealer: seat of the dealer.
            scores: scores to start from.
            rounds_played: rounds already played.
            episode: `game` or `round`.
            seed: of the later deals.

        Raises:
            CardError, RulesError: cards that are not such a deal.
        """
        deal = Deal(
            round_number=rounds_played,
            dealer=dealer,
            scores=() if scores is None else check_scores(rules, scores),
            hands=tuple(tuple(sorted(card.id for card in as_cards(hand))) for hand in hands),
            spares=tuple(tuple(sorted(card.id for card in as_cards(spare))) for spare in spares),
        )
        return cls(
            rules, seed=seed, dealer=dealer, scores=scores, rounds_played=rounds_played, episode=episode, deals=[deal]
        )

    # ---- what there is to see -------------------------------------------------------------------------------------

    @property
    def layout(self) -> ActionLayout:
        """The numbering of decisions."""
        return action_layout(self.rules)

    @property
    def turn_order(self) -> tuple[int, ...]:
        """Seats clockwise from the dealer's left, the dealer last."""
        return turn_order(self.dealer, self.rules.players)

    @property
    def pending(self) -> tuple[int, ...]:
        """Seats that must act now, in turn order; more than one where the phase is simultaneous, none when over."""
        if self.phase is Phase.ARRANGE:
            laid = self.laid
            return tuple([seat for seat in self.turn_order if laid[seat] is None])
        if self.phase is Phase.EXCHANGE:
            open_ = tuple(seat for seat in self.turn_order if self.exchanges[seat] is None)
            return open_ if self.rules.players == 2 else open_[:1]
        if self.phase is Phase.CALL:
            return next(((seat,) for seat in self.turn_order if self.calls[seat] is None), ())
        return ()

    @property
    def is_over(self) -> bool:
        """Whether the game (or the single round) has ended."""
        return self.phase is Phase.OVER

    @property
    def is_truncated(self) -> bool:
        """Whether it was cut off by `max_rounds`."""
        return self.result is not None and self.result.reason is Termination.MAX_ROUNDS

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that has happened, hidden things included."""
        return tuple(self._events)

    @property
    def deal_number(self) -> int:
        """Number of the next deal of the seed."""
        return self._deal_number

    @property
    def stream(self) -> DealStream | None:
        """Where the next deal comes from; None while explicit deals are left."""
        return None if self._explicit else self._stream

    def undominated(self, seat: int) -> Candidates:
        """Return the undominated arrangements of a seat's cards (kept until its cards change)."""
        found = self._undominated[seat]
        if found is None:
            found = self._undominated[seat] = undominated_of_dealt(self.hands[seat], self.rules)
        return found

    def legal_actions(self, seat: int) -> npt.NDArray[np.int32]:
        """Return every action a seat may take now: ascending int32; empty if it is not to act."""
        layout = self.layout
        if seat not in self.pending:
            return np.zeros(0, np.int32)
        if self.phase is Phase.EXCHANGE:
            return np.array([layout.keep, layout.exchange], np.int32)
        if self.phase is Phase.CALL:
            return np.array([layout.pass_, layout.call], np.int32)
        return np.flatnonzero(legal_partitions(self.hands[seat], self.rules)).astype(np.int32)

    def arrangement(self, seat: int) -> Arrangement | None:
        """Return what a seat has laid this round, None before it has."""
        index = self.laid[seat]
        return None if index is None else Arrangement.from_index(index, self.hands[seat], self.rules)

    # ---- acting ---------------------------------------------------------------------------------------------------

    def check(self, action: int, seat: int | None = None) -> None:
        """Say why an action cannot be taken.

        Args:
            action: of `layout`.
            seat: whose; the first pending one if None.

        Raises:
            IllegalActionError: names player, action and phase.
            RuntimeError: the game is over.
        """
        self._checked(action, seat)

    def is_legal(self, action: int, seat: int | None = None) -> bool:
        """Return whether an action can be taken."""
        try:
            self.check(action, seat)
        except (IllegalActionError, RuntimeError):
            return False
        return True

    def step(self, action: int, seat: int | None = None) -> tuple[Event, ...]:
        """Take an action and return what happened, in order.

        The last seat's decision of a phase moves the round on: to the next phase, through reveal and scoring, to the
        next deal. A refused action changes nothing.

        Raises:
            IllegalActionError: names player, action and phase.
            RuntimeError: the game is over.
        """
        action, seat = self._checked(action, seat)
        start = len(self._events)
        if self.phase is Phase.EXCHANGE:
            self._exchange(seat, exchanged=action == self.layout.exchange)
        elif self.phase is Phase.ARRANGE:
            cards = self.hands[seat]
            triples = laid_triples(action, cards, self.rules)
            hands = tuple([(cards[i], cards[j], cards[k]) for _, (i, j, k) in triples])
            self.laid[seat] = action
            none = self.rules.hands - len(triples)
            self._shown[seat] = hands + ((),) * none, tuple([strength for strength, _ in triples]) + (0,) * none
            self._events.append(Arrange(seat=seat, partition=action, hands=hands))
        else:
            self.calls[seat] = action == self.layout.call
            self._events.append(Call(seat=seat, called=action == self.layout.call))
        self._advance()
        return tuple(self._events[start:])

    def copy(self) -> Game:
        """Return an independent copy that plays on the same way; cheap, for search."""
        other = object.__new__(Game)
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(other, name, value.copy() if isinstance(value, list) else value)
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> Game:
        return self.copy()

    # ---- inside ---------------------------------------------------------------------------------------------------

    def _checked(self, action: int, seat: int | None) -> tuple[int, int]:
        pending = self.pending
        if not pending:
            raise RuntimeError("the game is over; nobody is to act")
        who = pending[0] if seat is None else whole_number(seat)
        if who is None or not 0 <= who < self.rules.players:
            raise IllegalActionError(f"seat {seat!r} is not at the table; expected 0 to {self.rules.players - 1}")
        seat = who
        number = whole_number(action)
        if number is None:
            raise IllegalActionError(f"player_{seat} ({self.phase.label} phase): {action!r} is not an action number")
        action = number
        layout = self.layout
        if seat not in pending:
            self._refuse(action, seat, f"to act: {', '.join(f'player_{s}' for s in pending)}")
        if self.phase is Phase.ARRANGE:
            if not 0 <= action < layout.partitions:
                self._refuse(action, seat, f"expected a partition index from 0 to {layout.partitions - 1}")
            self._check_hands(action, seat)
        elif self.phase is Phase.EXCHANGE and action not in (layout.keep, layout.exchange):
            self._refuse(action, seat, f"expected keep ({layout.keep}) or exchange ({layout.exchange})")
        elif self.phase is Phase.CALL and action not in (layout.pass_, layout.call):
            self._refuse(action, seat, f"expected pass ({layout.pass_}) or call ({layout.call})")
        return action, seat

    def _check_hands(self, action: int, seat: int) -> None:
        cards = self.hands[seat]
        weak = [slots for strength, slots in laid_triples(action, cards, self.rules) if not strength]
        if weak:
            triple = [cards[slot] for slot in min(weak)]
            lowest = self.rules.lowest_class.label
            self._refuse(action, seat, f"{format_cards(triple)!r} is no hand (lowest_hand is {lowest})")

    def _refuse(self, action: int, seat: int, reason: str) -> NoReturn:
        what = f"action {action} ({self.layout.describe(action)})"
        raise IllegalActionError(f"player_{seat} ({self.phase.label} phase): {what} is illegal; {reason}")

    def _deal(self) -> None:
        rules = self.rules
        if self._explicit:
            given, self._explicit = self._explicit[0], self._explicit[1:]
            hands, spares = given.hands, given.spares
        else:
            hands, spares = drawn_deal(rules, self._stream, self._deal_number, self.turn_order)
        self._deal_number += 1
        n = rules.players
        self.hands: list[Ids] = list(hands)
        self.spares: tuple[Ids, ...] = spares
        self.given_up: list[Ids | None] = [None] * n
        self.exchanges: list[bool | None] = [None] * n
        self.laid: list[int | None] = [None] * n
        # Of each seat that has laid its hands: by position, the cards and the strength; () and 0 for no hand.
        self._shown: list[tuple[tuple[Ids, ...], tuple[int, ...]]] = [((), ())] * n
        self.calls: list[bool | None] = [None] * n
        self._undominated: list[Candidates | None] = [None] * n
        self.phase = Phase.EXCHANGE if rules.has_exchange else Phase.ARRANGE
        self._events.append(
            Deal(
                round_number=self.rounds_played,
                dealer=self.dealer,
                scores=self.scores,
                hands=tuple(hands),
                spares=spares,
            )
        )

    def _exchange(self, seat: int, *, exchanged: bool) -> None:
        self.exchanges[seat] = exchanged
        if exchanged:
            spare = self.spares[self.turn_order.index(seat) if self.rules.players == 2 else 0]
            self.given_up[seat], self.hands[seat] = self.hands[seat], spare
            self._undominated[seat] = None
        self._events.append(Exchange(seat=seat, exchanged=exchanged))

    def _advance(self) -> None:
        if self.phase is Phase.EXCHANGE:
            taken = self.rules.players == 3 and any(self.exchanges)
            if taken or not self.pending:
                self.phase = Phase.ARRANGE
        elif self.phase is Phase.ARRANGE and None not in self.laid:
            if self.rules.has_calls:
                self.phase = Phase.CALL
            else:
                self._reveal()
        elif self.phase is Phase.CALL and None not in self.calls:
            self._reveal()

    def _reveal(self) -> None:
        rules = self.rules
        shown, strengths = zip(*self._shown, strict=True)
        settled = settle_round(
            rules,
            strengths=strengths,
            quads=[whole_ranks(chain.from_iterable(hands)) for hands in shown],
            called=[bool(call) for call in self.calls],
            scores=self.scores,
            order=self.turn_order,
        )
        self._record(settled, shown, strengths)
        self.scores = settled.scores
        self.round_points = settled.round_points
        result = settled.result
        if result is None:
            self.rounds_played += 1
            if self.rounds_played >= rules.max_rounds:
                result = GameResult(winners=highest_seats(self.scores), reason=Termination.MAX_ROUNDS)
            elif self.episode == "round":
                result = GameResult(winners=(), reason=Termination.ROUND)
        if result is not None:
            self.phase = Phase.OVER
            self.result = result
            self._events.append(GameEnd(result=result, scores=self.scores))
            return
        self.dealer = (self.dealer + 1) % rules.players
        self._deal()

    def _record(
        self, settled: Settlement, shown: Sequence[tuple[Ids, ...]], strengths: Sequence[tuple[int, ...]]
    ) -> None:
        """Add the events of a scored round, each award of a comparison right behind its reveal."""
        awards = list(settled.awards)
        columns = zip(zip(*shown, strict=True), zip(*strengths, strict=True), settled.comparison_winners, strict=True)
        for position, (hands, values, winner) in enumerate(islice(columns, settled.revealed)):
            self._events.append(Reveal(position=position, hands=hands, strengths=values, winner=winner))
            if winner is not None:
                self._events.append(awards.pop(0))
        self._events.extend(awards)
        self._events.append(
            RoundEnd(
                round_number=self.rounds_played,
                scores=settled.scores,
                points=settled.round_points,
                crasher=settled.crasher,
            )
        )


def replay(rules: CrashRules, events: Iterable[Event], *, episode: Episode = "game") -> Game:
    """Return the game that these events came from, played again from its deals and decisions.

    Raises:
        ValueError: no deal among the events, or decisions that do not fit.
    """
    recorded = tuple(events)
    deals = [event for event in recorded if isinstance(event, Deal)]
    if not deals:
        raise ValueError("no deal among the events; a game starts with one")
    first = deals[0]
    game = Game(
        rules, deals=deals, dealer=first.dealer, scores=first.scores, rounds_played=first.round_number, episode=episode
    )
    layout = game.layout
    for event in recorded:
        if isinstance(event, Exchange):
            game.step(layout.exchange if event.exchanged else layout.keep, event.seat)
        elif isinstance(event, Arrange):
            game.step(event.partition, event.seat)
        elif isinstance(event, Call):
            game.step(layout.call if event.called else layout.pass_, event.seat)
    return game
