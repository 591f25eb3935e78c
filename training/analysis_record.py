"""Game records graded: what every decision gave up against the solver's best.

Decisions are graded in win share and in points (the round's margin), each against the best by that measure. What an exchange
is worth is sampled: a difference within two standard errors counts as none. A redacted record is graded as far as it shows
whose cards and what was laid from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..envs.crash.arrangement import Arrangement
from ..envs.crash.game import Phase
from ..envs.crash.observation import PlayerView, ViewBatch
from ..envs.crash.partitions import laid_many
from ..envs.crash.record import GameRecord, RoundRecord
from ..envs.crash.starts import turn_order
from .analysis import Analyst

__all__ = ["Graded", "Grades", "grade_record"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """One decision.

    Attributes:
        round_number: 1 for the first round of the game.
        view: what the seat knew; its `phase` says what was decided.
        chosen: a partition index; for an exchange or a call, whether it was chosen.
        best: likewise, the best by win share.
        win_share, best_win_share: of the choice and of the best.
        points, best_points: of the choice and of the best by points.
    """

    round_number: int
    view: PlayerView
    chosen: int
    best: int
    win_share: float
    best_win_share: float
    points: float
    best_points: float

    @property
    def gives_up_win_share(self) -> float:
        """Win share given up."""
        return max(0.0, self.best_win_share - self.win_share)

    @property
    def gives_up_points(self) -> float:
        """Points given up."""
        return max(0.0, self.best_points - self.points)

    @property
    def is_best(self) -> bool:
        """Whether nothing wins the game more often."""
        return self.gives_up_win_share < 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Grades:
    """A graded record.

    Attributes:
        record: which.
        decisions: in the order in which they were made.
        hidden: how many decisions the record does not show, or shows without the cards they were made from.
    """

    record: GameRecord
    decisions: tuple[Graded, ...]
    hidden: int

    def of_seat(self, seat: int) -> tuple[Graded, ...]:
        """Return the decisions of one seat."""
        return tuple(one for one in self.decisions if one.view.seat == seat)

    def costliest(self, count: int) -> tuple[Graded, ...]:
        """Return the decisions that gave up most, at most `count`, those that gave up nothing left out."""
        wrong = [one for one in self.decisions if not one.is_best]
        wrong.sort(key=lambda one: -one.gives_up_win_share)
        return tuple(wrong[:count])


def grade_record(record: GameRecord, analyst: Analyst) -> Grades:
    """Return every decision of a record graded.

    Args:
        record: checked (as records are when read).
        analyst: for the record's rules.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.record import record_of
    >>> from ..envs.crash.rules import CrashRules
    >>> game = Game(CrashRules.preset("online"), seed=7)
    >>> for seat in game.turn_order:
    ...     events = game.step(0, seat)  # lays nothing
    >>> grades = grade_record(record_of(game), Analyst(game.rules))
    >>> len(grades.decisions), grades.hidden, all(one.gives_up_points > 0 for one in grades.decisions)
    (3, 0, True)
    """
    made: list[tuple[int, PlayerView, int]] = []
    hidden = 0
    scores = record.start_scores
    for one in record.rounds:
        for view, chosen in _decisions(record, one, scores):
            if view is None or chosen is None:
                hidden += 1
            else:
                made.append((one.number, view, chosen))
        scores = one.scores or scores
    graded: dict[int, Graded] = {}
    for phase, grade in ((Phase.EXCHANGE, _exchanges), (Phase.ARRANGE, _arrangements), (Phase.CALL, _calls)):
        places = [place for place, (_, view, _) in enumerate(made) if view.phase is phase]
        if places:
            rows = [made[place] for place in places]
            graded.update(zip(places, grade(rows, analyst), strict=True))
    return Grades(record=record, decisions=tuple(graded[place] for place in sorted(graded)), hidden=hidden)


def _decisions(
    record: GameRecord, one: RoundRecord, scores: tuple[int, ...]
) -> Iterator[tuple[PlayerView | None, int | None]]:
    """Every decision of a round: what the seat knew and what it chose; None for what the record does not show."""
    rules, n = record.rules, record.rules.players
    nothing = (None,) * n
    plain = PlayerView(
        rules=rules,
        seat=0,
        phase=Phase.EXCHANGE,
        to_act=True,
        dealer=one.dealer,
        rounds_played=one.number - 1,
        scores=scores,
        cards=(),
        given_up=(),
        exchanges=nothing,
        calls=nothing,
        laid=None,
    )
    order = turn_order(one.dealer, n)
    for place, seat in enumerate(order):
        choice, dealt = one.exchanges[seat], one.hands[seat]
        if choice is None:
            continue
        before = () if n == 2 else order[:place]  # two choose without knowing the other's choice
        seen = tuple(one.exchanges[other] if other in before else None for other in range(n))
        yield (
            None if dealt is None else replace(plain, seat=seat, cards=dealt, exchanges=seen),
            int(choice),
        )
    arranged: dict[int, PlayerView] = {}
    for seat in order:
        laid, held, dealt = one.arrangements[seat], one.held(seat), one.hands[seat]
        if laid is None and one.scores is None:
            continue  # not laid yet
        exchanged = bool(one.exchanges[seat])
        if laid is None or laid.rest is None or held is None or (exchanged and dealt is None):
            yield None, None
            continue
        partition = Arrangement.of(laid.hands, held).index(held, rules)
        view = replace(
            plain,
            seat=seat,
            phase=Phase.ARRANGE,
            cards=held,
            given_up=dealt if exchanged and dealt is not None else (),
            exchanges=one.exchanges,
        )
        yield view, partition
        arranged[seat] = replace(view, phase=Phase.CALL, laid=partition)
    for place, seat in enumerate(order):
        called = one.calls[seat]
        if called is None:
            continue
        said = tuple(one.calls[other] if other in order[:place] else None for other in range(n))
        yield (replace(arranged[seat], calls=said) if seat in arranged else None), int(called)


_Made = Sequence[tuple[int, PlayerView, int]]


def _exchanges(rows: _Made, analyst: Analyst) -> Iterator[Graded]:
    for number, view, chosen in rows:
        advice = analyst.exchange(view)
        assert advice is not None  # it was asked
        share, points = ((side.keep, side.exchange) for side in (advice.win_share, advice.points))
        lost, lost_points = (side.lost(exchanged=bool(chosen)) for side in (advice.win_share, advice.points))
        yield Graded(
            round_number=number,
            view=view,
            chosen=chosen,
            best=1 - chosen if lost > 0 else chosen,
            win_share=share[chosen],
            best_win_share=share[chosen] + lost,
            points=points[chosen],
            best_points=points[chosen] + lost_points,
        )


def _arrangements(rows: _Made, analyst: Analyst) -> Iterator[Graded]:
    batch = ViewBatch.of(view for _, view, _ in rows)
    found = batch.undominated()
    laid = laid_many(np.array([chosen for _, _, chosen in rows], np.int32), batch.cards, analyst.rules)
    win, points = (analyst.values(batch, found, of).max(axis=0) for of in ("win", "points"))
    own_win, own_points = (analyst.values(batch, laid, of).max(axis=0) for of in ("win", "points"))
    best, best_points = found.best_rows(win), found.best_rows(points)
    for row, (number, view, chosen) in enumerate(rows):
        yield Graded(
            round_number=number,
            view=view,
            chosen=chosen,
            best=int(found.partitions[best[row]]),
            win_share=float(own_win[row]),
            best_win_share=float(win[best[row]]),
            points=float(own_points[row]),
            best_points=float(points[best_points[row]]),
        )


def _calls(rows: _Made, analyst: Analyst) -> Iterator[Graded]:
    batch = ViewBatch.of(view for _, view, _ in rows)
    win, points = (analyst.call_values(batch, of) for of in ("win", "points"))  # pass, call
    for row, (number, view, chosen) in enumerate(rows):
        yield Graded(
            round_number=number,
            view=view,
            chosen=chosen,
            best=int(win[1, row] > win[0, row]),
            win_share=float(win[chosen, row]),
            best_win_share=float(win[:, row].max()),
            points=float(points[chosen, row]),
            best_points=float(points[:, row].max()),
        )
