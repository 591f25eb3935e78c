"""Game records from the events of games, and events from records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..brag import strength_table, triple_index
from .events import Arrange, Award, AwardReason, Call, Deal, Event, Exchange, GameEnd, Ids, Reveal, RoundEnd
from .game import Game
from .record_values import GameRecord, LaidHands, RoundRecord
from .rules import CrashRules
from .starts import turn_order

__all__ = ["hand_strength", "record_of", "round_of", "shown_rounds"]


# ---- from games -------------------------------------------------------------------------------------------------------


def record_of(
    game: Game, *, agents: Sequence[str] | None = None, players: Sequence[str] | None = None, date: str | None = None
) -> GameRecord:
    """Return the record of a game, finished or not; everything is shown (see `GameRecord.redacted`).

    Args:
        game: what to record.
        agents: what decides at each seat.
        players: who sits there.
        date: such as ``2026-11-30``; the clock is never looked at.

    Raises:
        RecordError: not one name a seat, or a date that is none.

    >>> record = record_of(Game(CrashRules.preset("online", players=2), seed=7), agents=["me", "greedy"])
    >>> record.resume().hands == Game(CrashRules.preset("online", players=2), seed=7).hands
    True
    """
    nobody = ("",) * game.rules.players
    rounds = tuple(_rounds_of(game.events, game.rules))
    stream = game.stream
    first = next(event for event in game.events if isinstance(event, Deal))
    return GameRecord(
        rules=game.rules,
        agents=nobody if agents is None else tuple(agents),
        players=nobody if players is None else tuple(players),
        date=date,
        seed=None if stream is None else stream.seed,
        table=None if stream is None else stream.table,
        first_deal=None if stream is None else game.deal_number - len(rounds),
        episode=game.episode,
        start_scores=first.scores,
        rounds_played=first.round_number,
        rounds=rounds,
        result=game.result,
    )


def _rounds_of(events: Iterable[Event], rules: CrashRules) -> Iterator[RoundRecord]:
    one: list[Event] = []
    for event in events:
        if isinstance(event, Deal) and one:
            yield round_of(one, rules)
            one = []
        one.append(event)
    if one:
        yield round_of(one, rules)


def round_of(events: Sequence[Event], rules: CrashRules) -> RoundRecord:
    """Return the record of one round, whose events begin with its deal."""
    deal = events[0]
    assert isinstance(deal, Deal)
    n = rules.players
    held: list[Ids] = list(deal.hands)
    exchanges: list[bool | None] = [None] * n
    arrangements: list[LaidHands | None] = [None] * n
    calls: list[bool | None] = [None] * n
    winners: list[int | None] = []
    awards: list[Award] = []
    scores: tuple[int, ...] | None = None
    for event in events[1:]:
        if isinstance(event, Exchange):
            exchanges[event.seat] = event.exchanged
            if event.exchanged:
                held[event.seat] = deal.spares[turn_order(deal.dealer, n).index(event.seat) if n == 2 else 0]
        elif isinstance(event, Arrange):
            hands = tuple(tuple(sorted(hand)) for hand in event.hands)
            used = {card for hand in hands for card in hand}
            rest = tuple(card for card in held[event.seat] if card not in used)
            arrangements[event.seat] = LaidHands(hands=hands, rest=rest)
        elif isinstance(event, Call):
            calls[event.seat] = event.called
        elif isinstance(event, Reveal):
            winners.append(event.winner)
        elif isinstance(event, Award) and event.reason is not AwardReason.COMPARISON:
            awards.append(event)
        elif isinstance(event, RoundEnd):
            scores = event.scores
    return RoundRecord(
        number=deal.round_number + 1,
        dealer=deal.dealer,
        hands=deal.hands,
        spares=deal.spares,
        exchanges=tuple(exchanges),
        arrangements=tuple(arrangements),
        calls=tuple(calls),
        winners=tuple(winners),
        awards=tuple(awards),
        scores=scores,
    )


# ---- told again -------------------------------------------------------------------------------------------------------


def shown_rounds(record: GameRecord) -> tuple[tuple[Event, ...], ...]:
    """Return each round as events, for `format_round`: what the record shows, with empty piles for hidden cards.

    The points of a round that ended early are those scored, not those had it been played out.
    """
    scores = record.start_scores
    rounds = []
    for one in record.rounds:
        rounds.append(tuple(_events(one, record.rules, scores)))
        scores = one.scores or scores
    if record.result is not None:
        rounds[-1] = (*rounds[-1], GameEnd(result=record.result, scores=scores))
    return tuple(rounds)


def _events(one: RoundRecord, rules: CrashRules, before: tuple[int, ...]) -> Iterator[Event]:
    order = turn_order(one.dealer, rules.players)
    yield Deal(
        round_number=one.number - 1,
        dealer=one.dealer,
        scores=before,
        hands=tuple(hand or () for hand in one.hands),
        spares=tuple(spare or () for spare in one.spares),
    )
    for seat in order:
        choice = one.exchanges[seat]
        if choice is not None:
            yield Exchange(seat=seat, exchanged=choice)
    for seat in order:
        laid = one.arrangements[seat]
        if laid is not None and (laid.hands or laid.rest is not None):
            yield Arrange(seat=seat, partition=-1, hands=laid.hands)
    for seat in order:
        called = one.calls[seat]
        if called is not None:
            yield Call(seat=seat, called=called)
    for position, winner in enumerate(one.winners):
        hands = tuple(
            laid.hands[position] if laid is not None and position < len(laid.hands) else () for laid in one.arrangements
        )
        strengths = tuple(hand_strength(hand, rules) if hand else 0 for hand in hands)
        yield Reveal(position=position, hands=hands, strengths=strengths, winner=winner)
    yield from one.awards
    if one.scores is not None:
        points = tuple(after - start for after, start in zip(one.scores, before, strict=True))
        crasher = next((a.seat for a in one.awards if a.reason is AwardReason.CRASH), None)
        yield RoundEnd(round_number=one.number - 1, scores=one.scores, points=points, crasher=crasher)


def hand_strength(hand: Ids, rules: CrashRules) -> int:
    """Return the strength of three ascending ids, 0 for no hand."""
    return int(strength_table(rules.flush_order, rules.lowest_class)[triple_index(*hand)])
