"""`GameRecord`: one game as a frozen value, whole or redacted, with text and JSON out. Its shape is checked in construction.

That the decisions are legal and what is stated follows from them is checked in `record_check`, on reading.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

from ..cards import CardError, CardsLike, as_cards, format_cards
from .events import Award, GameResult, Ids
from .game import Episode, Game
from .record_text import FORMAT, HIDDEN, VERSION, Path, RecordError, format_text
from .rules import CrashRules, RulesError
from .starts import check_scores, turn_order

__all__ = ["GameRecord", "LaidHands", "RoundRecord", "Viewer"]

Viewer: TypeAlias = int | Literal["all", "spectator"]
"""Who may know what a record says: a seat, a spectator, or somebody to whom all cards are shown."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidHands:
    """What a seat laid: card ids, the strongest hand first, and its other cards (None: hidden, laid or not)."""

    hands: tuple[Ids, ...]
    rest: Ids | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """One round, by seat; None for what is hidden or has not happened.

    Attributes:
        number: 1 for the first round of the game.
        dealer: seat of the dealer.
        hands: ascending card ids of each seat as dealt.
        spares: spare hands in turn order.
        exchanges: True exchanged, False kept, None not asked.
        arrangements: what each seat laid.
        calls: True called, False passed.
        winners: of each comparison that was made; None for nobody.
        awards: changes of scores but for those of comparisons, in order.
        scores: after the round.
    """

    number: int
    dealer: int
    hands: tuple[Ids | None, ...]
    spares: tuple[Ids | None, ...] = ()
    exchanges: tuple[bool | None, ...]
    arrangements: tuple[LaidHands | None, ...]
    calls: tuple[bool | None, ...]
    winners: tuple[int | None, ...] = ()
    awards: tuple[Award, ...] = ()
    scores: tuple[int, ...] | None = None

    def held(self, seat: int) -> Ids | None:
        """Return a seat's cards after the exchange; None if they are hidden."""
        if not self.exchanges[seat]:
            return self.hands[seat]
        players = len(self.hands)
        return self.spares[turn_order(self.dealer, players).index(seat) if players == 2 else 0]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """One game of Crash: everything that somebody may know of it.

    Attributes:
        rules: the rules.
        agents: what decided at each seat, "" if not known.
        players: who sat there, "" if not said.
        date: such as ``2026-11-30`` or ``2026-11-30T18:05:00Z``; None if not said.
        seed, table, first_deal: where deals come from that are not in the record; None if not known, or hidden.
        viewer: who may know what is in it.
        episode: `game`, or `round` for a single round.
        start_scores: by seat.
        rounds_played: rounds before the first of the record.
        rounds: at least one; all but the last are complete.
        result: None for an unfinished game.

    Raises:
        RecordError: parts that do not fit together.
    """

    rules: CrashRules
    agents: tuple[str, ...]
    players: tuple[str, ...]
    date: str | None = None
    seed: int | None = None
    table: int | None = None
    first_deal: int | None = None
    viewer: Viewer = "all"
    episode: Episode = "game"
    start_scores: tuple[int, ...]
    rounds_played: int = 0
    rounds: tuple[RoundRecord, ...]
    result: GameResult | None = None

    def __post_init__(self) -> None:
        for path, fault in _faults(self):
            raise RecordError(fault, path=path)

    @property
    def is_redacted(self) -> bool:
        """Whether it leaves out what its reader may not know; such a record cannot be replayed."""
        return self.viewer != "all"

    def __str__(self) -> str:
        return format_text(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form as plain values."""
        result = self.result
        return {
            "format": FORMAT,
            "version": VERSION,
            "rules": self.rules.to_dict(),
            "agents": list(self.agents),
            "players": list(self.players),
            "date": self.date,
            "seed": self.seed,
            "table": self.table,
            "first_deal": self.first_deal,
            "view": f"seat {self.viewer}" if isinstance(self.viewer, int) else self.viewer,
            "episode": self.episode,
            "start_scores": list(self.start_scores),
            "rounds_played": self.rounds_played,
            "result": None if result is None else {"reason": result.reason.value, "winners": list(result.winners)},
            "rounds": [_round_dict(one, self.rules) for one in self.rounds],
        }

    def to_json(self) -> str:
        """Return the JSON form as one line of ASCII."""
        return json.dumps(self.to_dict())

    def redacted(self, seat: int | None = None) -> GameRecord:
        """Return what a seat, or a spectator (None), may know: the rest is hidden, and so is the seed.

        Raises:
            RecordError: no such seat, or a record that is redacted for somebody else already.

        >>> from .record import record_of
        >>> record = record_of(Game(CrashRules.preset("online"), seed=7))
        >>> seen = record.redacted(0)
        >>> seen.seed is None, seen.rounds[0].hands[0] == record.rounds[0].hands[0], seen.rounds[0].hands[1]
        (True, True, None)
        """
        viewer: Viewer = "spectator" if seat is None else seat
        if seat is not None and (isinstance(seat, bool) or seat not in range(self.rules.players)):
            raise RecordError(f"seat {seat!r}: expected 0 to {self.rules.players - 1}, or None for a spectator")
        if self.is_redacted and viewer not in ("spectator", self.viewer):
            raise RecordError(f"the record is redacted already and shows less than seat {seat} knows")
        return replace(
            self,
            viewer=viewer,
            seed=None,
            table=None,
            first_deal=None,
            rounds=tuple(_redacted_round(one, seat) for one in self.rounds),
        )

    def replay(self) -> Game:
        """Return the game, played again from the deals and decisions of the record.

        Later deals come from the seed of the record (from seed 0 if there is none).

        Raises:
            RecordError: a redacted record, or a decision that the rules do not allow.
        """
        from .record_check import replayed  # builds on this room

        return replayed(self)

    def resume(self) -> Game:
        """Return the unfinished game as it was left; it goes on exactly as it would have.

        Raises:
            RecordError: a finished game, a redacted record, one without a seed, or a decision that is not allowed.
        """
        if self.result is not None:
            raise RecordError("the game is over; there is nothing to resume", path=("result",))
        if not self.is_redacted and self.seed is None:
            raise RecordError("the record names no seed, so that later rounds cannot be dealt")
        return self.replay()


# ---- redaction --------------------------------------------------------------------------------------------------------


def _redacted_round(one: RoundRecord, seat: int | None) -> RoundRecord:
    seats = range(len(one.hands))
    order = turn_order(one.dealer, len(seats))
    exchanged = [other for other in order if one.exchanges[other]]
    # Two players choose without knowing the other's choice.
    chosen = len(seats) > 2 or None not in one.exchanges
    taken = {order.index(other) if len(seats) == 2 else 0: other for other in exchanged}
    all_laid = None not in one.arrangements
    return replace(
        one,
        hands=tuple(hand if other == seat else None for other, hand in enumerate(one.hands)),
        spares=tuple(spare if taken.get(i, -1) == seat else None for i, spare in enumerate(one.spares)),
        exchanges=tuple(c if chosen or other == seat else None for other, c in enumerate(one.exchanges)),
        arrangements=tuple(
            laid if other == seat else _shown(laid, len(one.winners)) if laid is not None and all_laid else None
            for other, laid in enumerate(one.arrangements)
        ),
    )


def _shown(laid: LaidHands, revealed: int) -> LaidHands:
    """Return what the reveal showed of an arrangement; a rest that there is not cannot be hidden."""
    hands = laid.hands[:revealed]
    return LaidHands(hands=hands, rest=() if hands == laid.hands and laid.rest == () else None)


# ---- to plain values ---------------------------------------------------------------------------------------------------


def _cards(ids: Ids | None, count: int) -> str:
    return " ".join([HIDDEN] * count) if ids is None else format_cards(reversed(ids))


def _laid_dict(laid: LaidHands | None, rules: CrashRules) -> dict[str, Any] | None:
    if laid is None:
        return None
    left = rules.cards_dealt - 3 * len(laid.hands)
    return {"hands": [_cards(hand, 3) for hand in laid.hands], "rest": _cards(laid.rest, left)}


def _round_dict(one: RoundRecord, rules: CrashRules) -> dict[str, Any]:
    def words(values: Iterable[bool | None], yes: str, no: str) -> list[str | None]:
        return [None if value is None else yes if value else no for value in values]

    return {
        "number": one.number,
        "dealer": one.dealer,
        "hands": [_cards(hand, rules.cards_dealt) for hand in one.hands],
        "spares": [_cards(spare, rules.cards_dealt) for spare in one.spares],
        "exchanges": words(one.exchanges, "exchange", "keep"),
        "arrangements": [_laid_dict(laid, rules) for laid in one.arrangements],
        "calls": words(one.calls, "call", "pass"),
        "winners": list(one.winners),
        "awards": [
            {"seat": a.seat, "reason": a.reason.name.lower(), "points": a.points, "score": a.score} for a in one.awards
        ],
        "scores": None if one.scores is None else list(one.scores),
    }


# ---- what does not fit ------------------------------------------------------------------------------------------------

_Fault: TypeAlias = tuple[Path, str]


def _faults(record: GameRecord) -> Iterator[_Fault]:
    n = record.rules.players
    for name in ("agents", "players"):
        if len(getattr(record, name)) != n:
            yield (name,), f"{name}: expected {n} names, one a seat, got {len(getattr(record, name))}"
    yield from _header_faults(record)
    if not record.rounds:
        yield ("rounds",), "no round; a game starts with a deal"
    if len(record.rounds) > 1 and record.episode == "round":
        yield ("rounds", 1), "a second round, but the episode is 'round'"
    for place, one in enumerate(record.rounds):
        expected = record.rounds_played + place + 1
        if one.number != expected:
            yield ("rounds", place), f"round {one.number}: expected round {expected}"
        dealer = (record.rounds[0].dealer + place) % n
        if one.dealer != dealer or one.dealer not in range(n):
            yield ("rounds", place), f"round {one.number}: dealer {one.dealer}, expected {dealer} of 0 to {n - 1}"
        last = place == len(record.rounds) - 1
        for path, fault in _round_faults(one, record, complete=not last or record.result is not None):
            yield ("rounds", place, *path), f"round {one.number}: {fault}"


def _header_faults(record: GameRecord) -> Iterator[_Fault]:
    rules = record.rules
    viewer = record.viewer
    if viewer not in ("all", "spectator") and not (isinstance(viewer, int) and 0 <= viewer < rules.players):
        yield ("view",), f"view {viewer!r}: expected 'all', 'spectator' or 'seat' and a number below {rules.players}"
    for name in ("seed", "table", "first_deal"):
        value = getattr(record, name)
        if (value is None) != (record.seed is None):
            yield (name,), "seed, table and first_deal go together"
        if value is not None and record.is_redacted:
            yield (name,), f"{name}: a redacted record names none, since hidden cards follow from it"
        if value is not None and (value < 0 or (name != "seed" and value >= 1 << 64)):
            yield (name,), f"{name} {value}: expected a whole number from 0"
    if record.date is not None and not _DATE.fullmatch(record.date):
        yield ("date",), f"date {record.date!r}: expected such as 2026-11-30 or 2026-11-30T18:05:00Z"
    if record.episode not in get_args(Episode):
        yield ("episode",), f"episode {record.episode!r}: expected 'game' or 'round'"
    try:
        check_scores(rules, record.start_scores)
    except RulesError as error:
        yield ("start_scores",), f"start_{error}"
    if not 0 <= record.rounds_played < rules.max_rounds:
        yield ("rounds_played",), f"rounds_played {record.rounds_played}: expected 0 to {rules.max_rounds - 1}"
    if record.result is not None and not set(record.result.winners) <= set(range(rules.players)):
        yield ("result",), f"winners {record.result.winners}: expected seats from 0 to {rules.players - 1}"


def _round_faults(one: RoundRecord, record: GameRecord, *, complete: bool) -> Iterator[_Fault]:
    rules = record.rules
    n = rules.players
    for name in ("hands", "exchanges", "arrangements", "calls"):
        if len(getattr(one, name)) != n:
            yield (name,), f"{name}: expected {n}, one a seat, got {len(getattr(one, name))}"
    if len(one.spares) != rules.num_spares:
        yield ("spares",), f"{len(one.spares)} spare hands, expected {rules.num_spares}"
    yield from _pile_faults(one, record)
    asked = _asked(one, rules)
    for name, due in (("exchanges", asked), ("arrangements", set(range(n))), ("calls", _callers(rules))):
        given = {seat for seat, value in enumerate(getattr(one, name)) if value is not None}
        if given - due:
            yield (name, min(given - due)), f"seat {min(given - due)} is not asked for {name}"
        if due - given and (complete or one.winners):
            yield (name,), f"nothing of seat {min(due - given)} under {name}, but the round is over"
    if any(w is not None and w not in range(n) for w in one.winners) or len(one.winners) > rules.hands:
        yield ("winners",), f"reveal: expected up to {rules.hands} seats from 0 to {n - 1} (- for nobody)"
    if bool(one.winners) != (one.scores is not None) or (complete and one.scores is None):
        yield ("scores",), "a round that is over has a reveal and scores; one that is not has neither"
    if one.scores is not None and len(one.scores) != n:
        yield ("scores",), f"scores: expected {n}, one a seat, got {len(one.scores)}"
    if one.awards and not one.winners:
        yield ("awards", 0), "an award before the reveal"
    if any(award.seat not in range(n) for award in one.awards):
        yield ("awards",), f"award: expected a seat from 0 to {n - 1}"


def _asked(one: RoundRecord, rules: CrashRules) -> set[int]:
    """Return the seats that are asked to keep or exchange."""
    if not rules.has_exchange:
        return set()
    if rules.players == 2:
        return {0, 1}
    asked = set()
    for seat in turn_order(one.dealer, rules.players):
        asked.add(seat)
        if one.exchanges[seat]:
            break
    return asked


def _callers(rules: CrashRules) -> set[int]:
    return set(range(rules.players)) if rules.has_calls else set()


def _pile_faults(one: RoundRecord, record: GameRecord) -> Iterator[_Fault]:
    """Faults of cards: hidden ones where nothing may be hidden, wrong numbers, cards outside the pack or in two places."""
    rules = record.rules
    piles: list[tuple[Path, CardsLike | None, int]] = []
    for name in ("hands", "spares"):
        piles += [((name, i), pile, rules.cards_dealt) for i, pile in enumerate(getattr(one, name))]
    where: dict[int, Path] = {}
    for path, pile, count in piles:
        if pile is None and not record.is_redacted:
            yield path, f"hidden cards ({HIDDEN}) in a record that shows all"
        yield from _cards_faults(path, pile, count, rules, where)
    for seat, laid in enumerate(one.arrangements):
        path = ("arrangements", seat)
        if laid is None:
            continue
        if len(laid.hands) > rules.hands:
            yield path, f"{len(laid.hands)} hands, expected at most {rules.hands}"
        left = rules.cards_dealt - 3 * len(laid.hands)
        if laid.rest is None and (left == 0 or not record.is_redacted):
            yield path, f"hidden cards ({HIDDEN}) where nothing is hidden"
        # The cards of a seat that shows its own are those dealt to it; the others' are seen nowhere else.
        own = one.held(seat)
        seen: dict[int, Path] = {} if own is not None else where
        for hand in laid.hands:
            yield from _cards_faults(path, hand, 3, rules, seen)
        yield from _cards_faults(path, laid.rest, left, rules, seen)
        foreign = {card for hand in laid.hands for card in hand}.difference(own) if own is not None else ()
        if foreign:
            yield path, f"seat {seat} does not hold {format_cards(sorted(foreign))}"


def _cards_faults(
    path: Path, pile: CardsLike | None, count: int, rules: CrashRules, where: dict[int, Path]
) -> Iterator[_Fault]:
    if pile is None:
        return
    try:
        ids = [card.id for card in as_cards(pile)]
    except CardError as error:
        yield path, str(error)
        return
    if len(ids) != count:
        yield path, f"{len(ids)} cards ({format_cards(ids)}), expected {count}"
    if ids != sorted(ids):
        yield path, f"expected ascending ids, got {ids}"
    for card in ids:
        if card not in rules.pack:
            yield path, f"{format_cards([card])} is not in the pack (ranks={rules.ranks})"
        if card in where:
            yield path, f"{format_cards([card])} is in two places"
        where[card] = path
