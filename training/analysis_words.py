"""Why one arrangement is worth more than another, in plain sentences made from the figures.

>>> change(0.0123, "win"), change(-0.5, "points"), percent(0.00004)
('+1.23 pp', '-0.500 points', '0.0%')
"""

from __future__ import annotations

from collections.abc import Sequence

from ..agents.solver_contexts import Objective
from .analysis import Analyst, Ranking, Rated
from .analysis_exchange import Exchange

__all__ = ["change", "exchange_sentence", "hand_worth_sentence", "listed", "percent", "why", "why_between"]

_LEAST = {"win": 0.0002, "points": 0.002}  # parts below it are not told


def percent(share: float) -> str:
    """Return a chance or a win share for people."""
    return f"{share:.1%}"


def change(value: float, objective: Objective) -> str:
    """Return a difference for people: percentage points of win share, or points."""
    return f"{100 * value:+.2f} pp" if objective == "win" else f"{value:+.3f} points"


def listed(parts: Sequence[str]) -> str:
    """Return parts as a list in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def hand_worth_sentence(ranking: Ranking) -> str:
    """Say what winning each hand is worth at the score."""
    worths = [f"Hand {hand} {100 * worth:.1f}" for hand, worth in enumerate(ranking.hand_worth, start=1)]
    return f"What winning a hand is worth at this score, in pp of win share: {listed(worths)}."


def exchange_sentence(exchange: Exchange) -> str:
    """Say whether to exchange, and why."""
    share, points = exchange.win_share, exchange.points
    if abs(share.gain) <= 2 * share.error:
        head = "Keep or exchange, there is little in it"
    else:
        head = "Exchange" if share.gain > 0 else "Keep"
    return (
        f"{head}: keeping wins the game {percent(share.keep)} of the time, exchanging {percent(share.exchange)} "
        f"(standard error {100 * share.error:.1f} pp); in points {points.keep:+.2f} and {points.exchange:+.2f}. "
        f"By the rule of thumb this hand can make {exchange.worth:.2f} points against hands like any other; "
        f"below {exchange.threshold:.2f} it goes."
    )


def why(analyst: Analyst, ranking: Ranking, place: int) -> str:
    """Say why an arrangement stands where it does: the best against the next, any other against the best.

    Args:
        analyst: that made the ranking.
        ranking: of which.
        place: from 0.
    """
    rated = ranking.rated
    if len(rated) == 1:
        return "The only one worth laying: every other is no stronger in any hand."
    if place == 0:
        return f"Best. Against number 2 {why_between(analyst, ranking, rated[0], rated[1])}"
    return f"Against the best {why_between(analyst, ranking, rated[place], rated[0])}"


def why_between(analyst: Analyst, ranking: Ranking, one: Rated, other: Rated) -> str:
    """Say what sets one arrangement apart from another: which hands gain, which lose, what the score makes of it."""
    objective = ranking.objective
    parts = analyst.parts(ranking.view, one, other, objective)
    total = one.worth(objective) - other.worth(objective)
    gains: list[str] = []
    losses: list[str] = []
    for hand, part in sorted(enumerate(parts), key=lambda item: -abs(item[1])):
        if abs(part) >= _LEAST[objective]:
            (gains if part > 0 else losses).append(_part(one, other, hand, part, objective))
    sides = [f"{listed(gains)} gains" if len(gains) == 1 else f"{listed(gains)} gain"] if gains else []
    if losses:
        sides.append(f"{listed(losses)} loses" if len(losses) == 1 else f"{listed(losses)} lose")
    if not sides:
        return "hardly anything changes: it is worth the same, in all but a few hundredths."
    together = f", together {change(total, objective)}" if len(gains) + len(losses) > 1 else ""
    return f"{'; '.join(sides)}{together}.{_score(ranking, one, other)}"


def _part(one: Rated, other: Rated, hand: int, part: float, objective: Objective) -> str:
    if hand == len(one.outcomes):
        more = "the quads bonus" if one.quads != other.quads else "the call"
        return f"{more} ({change(part, objective)})"
    now, before = one.chances[hand], other.chances[hand]
    return f"Hand {hand + 1} ({percent(now)}, not {percent(before)}: {change(part, objective)})"


def _score(ranking: Ranking, one: Rated, other: Rated) -> str:
    """Say so where win share and points disagree."""
    shares, points = one.win_share - other.win_share, one.points - other.points
    if shares * points >= 0 or abs(shares) < _LEAST["win"] or abs(points) < _LEAST["points"]:
        return ""
    most = max(range(len(ranking.hand_worth)), key=ranking.hand_worth.__getitem__)
    ahead = "more" if points > 0 else "less"
    turned = "less" if shares < 0 else "more"
    return (
        f" It brings {abs(points):.3f} points {ahead} but wins the game {turned} often: "
        f"at this score Hand {most + 1} counts most."
    )
