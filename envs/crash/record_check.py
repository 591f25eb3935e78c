"""Game records against the rules: played again, and rescored from what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from ..cards import Card, CardError
from ..deals import DealStream
from .arrangement import Arrangement, ArrangementError, arrangement_faults
from .events import Award, AwardReason, Deal, Event, GameResult, Ids, RoundEnd, Termination
from .game import Game, IllegalActionError
from .record_events import hand_strength, round_of
from .record_text import Path, RecordError
from .record_values import GameRecord, LaidHands, RoundRecord
from .rules import CrashRules
from .scoring import Settlement, highest_seats, settle_round
from .starts import drawn_deal, turn_order

__all__ = ["Rescored", "check_record", "replayed", "rescore", "rounds_not_of_seed"]


# ---- played again -----------------------------------------------------------------------------------------------------


def replayed(record: GameRecord) -> Game:
    """Return the game of a record, played again; what the record states of reveals and scores is not looked at.

    Raises:
        RecordError: a redacted record, or a decision that the rules do not allow.
    """
    return _replayed(record, checked=False)


def check_record(record: GameRecord) -> None:
    """Refuse a record whose decisions the rules do not allow, or that states anything else than what follows from them.

    A redacted record is checked as far as it goes: see `rescore`.

    Raises:
        RecordError: names the round, what is stated and what was expected.
    """
    if not record.is_redacted:
        _replayed(record, checked=True)
        return
    rescored = rescore(record)
    for place, (one, expected) in enumerate(zip(record.rounds, rescored.rounds, strict=False)):
        _compare_round(one, expected, ("rounds", place))
    _compare("result", record.result, rescored.result, ("result",), _result_words)


def _replayed(record: GameRecord, *, checked: bool) -> Game:
    if record.is_redacted:
        raise RecordError("a redacted record hides cards, so it cannot be replayed; rescore works on it")
    rules, first = record.rules, record.rounds[0]
    deals = [
        Deal(
            round_number=one.number - 1,
            dealer=one.dealer,
            scores=(),
            hands=tuple(hand or () for hand in one.hands),
            spares=tuple(spare or () for spare in one.spares),
        )
        for one in record.rounds
    ]
    game = Game(
        rules,
        seed=record.seed or 0,
        table=record.table or 0,
        first_deal=record.first_deal or 0,
        dealer=first.dealer,
        scores=record.start_scores,
        rounds_played=record.rounds_played,
        episode=record.episode,
        deals=deals,
    )
    for place, one in enumerate(record.rounds):
        path: Path = ("rounds", place)
        if game.is_over:
            raise RecordError(f"round {one.number}: the game was over before it", path=path)
        events: list[Event] = [game.events[-1]]
        for seat, action, where in _decisions(one, game, path):
            try:
                events += game.step(action, seat)
            except (IllegalActionError, RuntimeError) as error:
                raise RecordError(f"round {one.number}: {error}", path=where) from None
        if checked:
            ended = next((i for i, event in enumerate(events) if isinstance(event, RoundEnd)), len(events))
            _compare_round(one, round_of(events[: ended + 1], rules), path)
    if checked:
        _compare("result", record.result, game.result, ("result",), _result_words)
    return game


def _decisions(one: RoundRecord, game: Game, path: Path) -> Iterator[tuple[int, int, Path]]:
    """Every decision of a round in turn order: seat, action, where it is told."""
    layout = game.layout
    order = turn_order(one.dealer, game.rules.players)
    for seat in order:
        choice = one.exchanges[seat]
        if choice is not None:
            yield seat, layout.exchange if choice else layout.keep, (*path, "exchanges", seat)
    for seat in order:
        laid = one.arrangements[seat]
        if laid is not None:
            where = (*path, "arrangements", seat)
            try:
                yield seat, _laid_index(laid, game.hands[seat], game.rules), where
            except (ArrangementError, CardError) as error:
                raise RecordError(f"round {one.number}: player_{seat}: {error}", path=where) from None
    for seat in order:
        called = one.calls[seat]
        if called is not None:
            yield seat, layout.call if called else layout.pass_, (*path, "calls", seat)


def _laid_index(laid: LaidHands, held: Ids, rules: CrashRules) -> int:
    arrangement = Arrangement(
        tuple(tuple(Card(card) for card in hand) for hand in laid.hands), tuple(Card(card) for card in laid.rest or ())
    )
    return arrangement.index(held, rules)


def rounds_not_of_seed(record: GameRecord) -> tuple[int, ...] | None:
    """Return the numbers of the rounds whose cards are not those that the record's seed deals; None if it names no seed.

    That is no fault: a game may be played on given deals, and its seed may have dealt the later rounds alone.

    >>> from dataclasses import replace
    >>> from .record_events import record_of
    >>> record = record_of(Game(CrashRules.preset("online"), seed=7))
    >>> rounds_not_of_seed(record), rounds_not_of_seed(replace(record, seed=8)), rounds_not_of_seed(record.redacted())
    ((), (1,), None)
    """
    if record.seed is None or record.table is None or record.first_deal is None:
        return None
    rules, stream = record.rules, DealStream(record.seed, record.table)
    return tuple(
        one.number
        for number, one in enumerate(record.rounds, start=record.first_deal)
        if (one.hands, one.spares) != drawn_deal(rules, stream, number, turn_order(one.dealer, rules.players))
    )


# ---- rescored from what it shows ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    """What follows from the hands that a record shows.

    Attributes:
        rounds: the complete rounds, with winners, awards and scores as they should be.
        result: as it should be; None if the game goes on.
        unchecked: what the record hides, so that nobody can check it from the record alone.
    """

    rounds: tuple[RoundRecord, ...]
    result: GameResult | None
    unchecked: tuple[str, ...]


def rescore(record: GameRecord) -> Rescored:
    """Return winners, awards, scores and result, computed anew from the hands shown, the calls and the rules.

    Works on whole and on redacted records. Nothing that the record states of winners or scores is used, but for how many
    comparisons were made.

    Raises:
        RecordError: hands that may not be laid as shown.

    >>> from .record_events import record_of
    >>> record = record_of(Game(CrashRules.preset("online"), seed=7)).redacted()
    >>> rescore(record).rounds, rescore(record).result
    ((), None)
    """
    rules = record.rules
    scores = record.start_scores
    rounds: list[RoundRecord] = []
    result: GameResult | None = None
    unchecked: list[str] = []
    for place, one in enumerate(record.rounds):
        path: Path = ("rounds", place)
        if result is not None:
            raise RecordError(f"round {one.number}: the game was over before it", path=path)
        if one.scores is None:
            break
        settled = _settled(one, rules, scores, path)
        unchecked += _hidden(one, rules, settled)
        rounds.append(_as_settled(one, settled))
        scores = settled.scores
        result = settled.result
        if result is None:
            result = _limit(record, one, scores)
    if record.is_redacted:
        unchecked.insert(0, "the deals: whether they came from a seed, and the cards that were never shown")
    return Rescored(rounds=tuple(rounds), result=result, unchecked=tuple(unchecked))


def _settled(one: RoundRecord, rules: CrashRules, scores: tuple[int, ...], path: Path) -> Settlement:
    shown = [laid.hands if laid is not None else () for laid in one.arrangements]
    for seat, hands in enumerate(shown):
        faults = arrangement_faults(hands, [card for hand in hands for card in hand], rules)
        if faults:
            where = (*path, "arrangements", seat)
            raise RecordError(f"round {one.number}: player_{seat}: {faults[0].message}", path=where)
    revealed = [hands[: len(one.winners)] for hands in shown]
    return settle_round(
        rules,
        strengths=[
            [hand_strength(hand, rules) for hand in hands] + [0] * (rules.hands - len(hands)) for hands in revealed
        ],
        quads=[_quads(hands) for hands in revealed],
        called=[bool(called) for called in one.calls],
        scores=scores,
        order=turn_order(one.dealer, rules.players),
    )


def _quads(hands: Iterable[Ids]) -> int:
    ranks = [card // 4 for hand in hands for card in hand]
    return sum(ranks.count(rank) == 4 for rank in set(ranks))


def _as_settled(one: RoundRecord, settled: Settlement) -> RoundRecord:
    return replace(
        one,
        winners=settled.comparison_winners[: settled.revealed],
        awards=tuple(award for award in settled.awards if award.reason is not AwardReason.COMPARISON),
        scores=settled.scores,
    )


def _limit(record: GameRecord, one: RoundRecord, scores: tuple[int, ...]) -> GameResult | None:
    if one.number >= record.rules.max_rounds:
        return GameResult(winners=highest_seats(scores), reason=Termination.MAX_ROUNDS)
    return GameResult(winners=(), reason=Termination.ROUND) if record.episode == "round" else None


def _hidden(one: RoundRecord, rules: CrashRules, settled: Settlement) -> Iterator[str]:
    if settled.revealed < rules.hands:
        for seat, laid in enumerate(one.arrangements):
            if laid is not None and laid.rest is None and len(laid.hands) == len(one.winners):
                yield f"round {one.number}: what player_{seat} laid after Hand {settled.revealed}"


# ---- compared ---------------------------------------------------------------------------------------------------------


def _compare_round(one: RoundRecord, expected: RoundRecord, path: Path) -> None:
    name = f"round {one.number}"
    for position, (stated, due) in enumerate(zip(one.winners, expected.winners, strict=False)):
        _compare(f"{name}: winner of Hand {position + 1}", stated, due, (*path, "winners"), _seat_words)
    _compare(f"{name}: comparisons revealed", len(one.winners), len(expected.winners), (*path, "winners"), str)
    for place, (award, due_award) in enumerate(zip(one.awards, expected.awards, strict=False)):
        _compare(f"{name}: award", award, due_award, (*path, "awards", place), _award_words)
    _compare(f"{name}: awards", len(one.awards), len(expected.awards), (*path, "scores"), str)
    _compare(f"{name}: scores", one.scores, expected.scores, (*path, "scores"), _score_words)


def _compare(what: str, stated: object, expected: object, path: Path, words: Callable[[object], str]) -> None:
    if stated != expected:
        raise RecordError(f"{what}: the record says {words(stated)}, the rules say {words(expected)}", path=path)


def _seat_words(seat: object) -> str:
    return "nobody" if seat is None else f"seat {seat}"


def _award_words(award: object) -> str:
    assert isinstance(award, Award)
    return f"{award.reason.value} {award.points:+d} to seat {award.seat}, making {award.score}"


def _score_words(scores: object) -> str:
    return " ".join(map(str, scores)) if isinstance(scores, tuple) else "nothing (the round is not over)"


def _result_words(result: object) -> str:
    if not isinstance(result, GameResult):
        return "'*' (the game goes on)"
    return " ".join([result.reason.value, *map(str, result.winners)])
