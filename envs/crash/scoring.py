"""Scoring a round: comparisons, crash, calls, quads, floor and target, under both finishes.

Source: RULES sections 3 (steps 5 and 6) and 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from .events import Award, AwardReason, GameResult, Termination
from .rules import CrashRules

__all__ = ["Settlement", "comparison_winners", "highest_seats", "margins", "settle_round"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """A scored round.

    Attributes:
        comparison_winners: who won each position alone, None for nobody; all positions, revealed or not.
        revealed: how many comparisons were made before the game ended (all of them where it did not).
        awards: every change of a score, in order; with `finish = immediate` they stop where the game ends.
        scores: after the awards.
        crasher: who won every comparison, if the round got that far.
        result: how the game ended, None if it goes on (`max_rounds` is not looked at here).
        round_points: each seat's points, the round played to the end whatever the finish.
    """

    comparison_winners: tuple[int | None, ...]
    revealed: int
    awards: tuple[Award, ...]
    scores: tuple[int, ...]
    crasher: int | None
    result: GameResult | None
    round_points: tuple[int, ...]


def comparison_winners(strengths: Sequence[Sequence[int]], hands: int) -> tuple[int | None, ...]:
    """Return who alone laid the strongest hand at each position; None for a tie or nothing laid.

    Args:
        strengths: one row a seat, 0 for no hand.
        hands: number of positions.

    >>> comparison_winners([[700, 300], [600, 300]], 2)
    (0, None)
    """
    winners: list[int | None] = []
    for column in islice(zip(*strengths, strict=True), hands):
        best = max(column)
        winners.append(column.index(best) if best > 0 and column.count(best) == 1 else None)
    return tuple(winners)


def highest_seats(scores: Sequence[int]) -> tuple[int, ...]:
    """Return the seats with the highest score."""
    best = max(scores)
    return tuple(seat for seat, score in enumerate(scores) if score == best)


def margins(points: Sequence[int]) -> tuple[float, ...]:
    """Return own points minus the mean of the others', for each seat.

    >>> margins([3, 1, 0])
    (2.5, -0.5, -2.0)
    """
    total, others = sum(points), len(points) - 1
    return tuple(own - (total - own) / others for own in points)


def _changes(
    rules: CrashRules,
    winners: Sequence[int | None],
    crasher: int | None,
    called: Sequence[bool],
    quads: Sequence[int],
    order: Sequence[int],
) -> Iterator[tuple[int, AwardReason, int]]:
    """Every change of a round in the order of settlement: seat, reason, points before the floor."""
    for winner in winners:
        if winner is not None:
            yield winner, AwardReason.COMPARISON, 1
    if crasher is not None and (rules.crash_call != "required" or called[crasher]):
        yield crasher, AwardReason.CRASH, rules.crash_points
    for seat in order:
        if called[seat] and seat == crasher:
            if rules.crash_reward != "game":  # with it the bonus is moot
                yield seat, AwardReason.CALL_BONUS, rules.crash_call_bonus
        elif called[seat]:
            yield seat, AwardReason.CALL_PENALTY, -rules.crash_call_penalty
    for seat in order:
        if quads[seat] and rules.quads_bonus:
            yield seat, AwardReason.QUADS, quads[seat] * rules.quads_bonus


def settle_round(
    rules: CrashRules,
    *,
    strengths: Sequence[Sequence[int]],
    quads: Sequence[int],
    called: Sequence[bool],
    scores: Sequence[int],
    order: Sequence[int],
) -> Settlement:
    """Score one round.

    Args:
        rules: the rules.
        strengths: strength of each seat's hands by position, 0 for no hand; one row of at least `rules.hands` a seat.
        quads: four of a kind each seat laid whole.
        called: who called a crash.
        scores: before the round.
        order: seats in turn order.
    """
    winners = comparison_winners(strengths, rules.hands)
    crasher = winners[0] if rules.hands >= 2 and len(set(winners)) == 1 else None
    changes = list(_changes(rules, winners, crasher, called, quads, order))
    played_out = list(scores)
    for seat, _, points in changes:
        played_out[seat] = max(0, played_out[seat] + points)
    immediate = rules.finish == "immediate"
    crash_wins = rules.crash_reward == "game"
    now = list(scores)
    awards: list[Award] = []
    result: GameResult | None = None
    for seat, reason, points in changes:
        if crash_wins and reason is AwardReason.CRASH:
            # Winning the game is no number of points; the award of 0 says when it happened.
            awards.append(Award(seat=seat, reason=reason, points=0, score=now[seat]))
            result = GameResult(winners=(seat,), reason=Termination.CRASH)
            if immediate:
                break
            continue
        before = now[seat]
        now[seat] = max(0, before + points)
        awards.append(Award(seat=seat, reason=reason, points=now[seat] - before, score=now[seat]))
        if immediate and now[seat] >= rules.target:
            result = GameResult(winners=(seat,), reason=Termination.TARGET)
            break
    if not immediate and result is None and max(now) >= rules.target:
        result = GameResult(winners=highest_seats(now), reason=Termination.TARGET)
    revealed = rules.hands
    if result is not None and awards[-1].reason is AwardReason.COMPARISON and immediate:
        won = sum(award.reason is AwardReason.COMPARISON for award in awards)
        revealed = [i for i, winner in enumerate(winners, start=1) if winner is not None][won - 1]
    return Settlement(
        comparison_winners=winners,
        revealed=revealed,
        awards=tuple(awards),
        scores=tuple(now),
        crasher=crasher if revealed == rules.hands else None,
        result=result,
        round_points=tuple(after - before for after, before in zip(played_out, scores, strict=True)),
    )
