"""An analysis as text for people and as JSON values; `docs/analysis.md` documents the fields.

>>> wrapped("a long line of words", width=12)
['a long line', 'of words']
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from ..envs.cards import Card, format_cards
from ..envs.crash.arrangement import Arrangement
from ..envs.crash.game import Phase
from ..envs.crash.observation import PlayerView
from .analysis import Analyst, Ranking, Rated
from .analysis_exchange import Exchange, Side
from .analysis_record import Graded, Grades
from .analysis_words import change, exchange_sentence, hand_worth_sentence, percent, why, why_between

__all__ = ["grades_json", "grades_text", "ranking_json", "ranking_text", "wrapped"]

_DIGITS = 6


def wrapped(text: str, *, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """Return a paragraph in lines."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


# ---- one hand ---------------------------------------------------------------------------------------------------------


def ranking_text(analyst: Analyst, ranking: Ranking, *, top: int, width: int, symbols: bool) -> str:
    """Return a ranking for people.

    Args:
        analyst: that made it.
        ranking: of one hand.
        top: how many arrangements are shown.
        width: of the terminal.
        symbols: whether suits are shown as symbols.
    """
    view, rated = ranking.view, ranking.rated
    lines = [format_cards(sorted((Card(card) for card in view.cards), reverse=True), symbols=symbols)]
    lines += wrapped(_situation(view), width=width)
    lines += wrapped(hand_worth_sentence(ranking), width=width)
    if ranking.exchange is not None:
        lines += wrapped(exchange_sentence(ranking.exchange), width=width)
        lines += wrapped("If the hand is kept, and nothing more is known of the others:", width=width)
    count = f"{len(rated)} undominated arrangement{'' if len(rated) == 1 else 's'}"
    by = "win share" if ranking.objective == "win" else "points"
    lines += wrapped(
        count if len(rated) == 1 else f"{count}, the best first, by {by}{_shown(top, len(rated))}", width=width
    )
    for place, one in enumerate(rated[:top]):
        lines.append("")
        lines += wrapped(
            _laid_words(one.arrangement, symbols=symbols),
            width=width,
            indent="    ",
            first=f"{place + 1:>2}. ",
        )
        for text in (_worth(one), _chances(one), *_call(one), why(analyst, ranking, place)):
            lines += wrapped(text, width=width, indent="    ")
    return "\n".join(lines) + "\n"


def _shown(top: int, count: int) -> str:
    if top >= count:
        return ":"
    return "; the first:" if top == 1 else f"; the first {top}:"


def _situation(view: PlayerView) -> str:
    n = view.rules.players
    others = ", ".join(f"seat {seat} {view.scores[seat]}" for seat in range(1, n))
    dealer = "you deal" if view.dealer == 0 else f"seat {view.dealer} deals"
    told = f"Score: you {view.scores[0]}, {others} (clockwise), target {view.rules.target}; {dealer}."
    for verb, flag in (("kept its hand", False), ("exchanged", True)):
        seats = [seat for seat in range(1, n) if view.exchanges[seat] is flag]
        if seats:
            told += f" {' and '.join(f'Seat {seat}' for seat in seats)} {verb}."
    return told


def _worth(one: Rated) -> str:
    share, points = percent(one.win_share), f"{one.points:+.3f}"
    if one.gives_up_win_share > 0:
        share += f" (gives up {100 * one.gives_up_win_share:.2f} pp)"
    if one.gives_up_points > 0:
        points += f" (gives up {one.gives_up_points:.3f})"
    return f"Win share {share}, points {points}"


def _chances(one: Rated) -> str:
    told = [f"Hand {hand} {percent(chance)}" for hand, chance in enumerate(one.chances, start=1)]
    if len(told) > 1:
        told.append(f"crash {percent(one.crash)}" if one.crash >= 0.0005 or one.crash == 0 else "crash below 0.1%")
    return f"Wins {', '.join(told)}"


def _call(one: Rated) -> Iterator[str]:
    if one.call_gain is not None:
        called = one.call_gain > 0
        yield f"Then {'call a crash' if called else 'pass'}: calling is worth {change(one.call_gain, 'win')}."


def ranking_json(analyst: Analyst, ranking: Ranking, *, top: int | None) -> dict[str, Any]:
    """Return a ranking as JSON values; all arrangements if `top` is None."""
    view, exchange = ranking.view, ranking.exchange
    return {
        "kind": "hand",
        "rules": view.rules.to_dict(),
        "cards": _texts(view.cards),
        "given_up": _texts(view.given_up),
        "scores": list(view.scores),
        "dealer": view.dealer,
        "exchanges": list(view.exchanges),
        "objective": ranking.objective,
        "hand_worth": [_rounded(worth) for worth in ranking.hand_worth],
        "exchange": None if exchange is None else _exchange_json(exchange),
        "undominated": len(ranking.rated),
        "arrangements": [
            {
                **_laid_json(one.arrangement),
                "win_share": _rounded(one.win_share),
                "points": _rounded(one.points),
                "gives_up": {
                    "win_share": _rounded(one.gives_up_win_share),
                    "points": _rounded(one.gives_up_points),
                },
                "chances": [_rounded(chance) for chance in one.chances],
                "crash": _rounded(one.crash),
                "call_gain": None if one.call_gain is None else _rounded(one.call_gain),
                "why": why(analyst, ranking, place),
            }
            for place, one in enumerate(ranking.rated[:top])
        ],
    }


def _exchange_json(exchange: Exchange) -> dict[str, Any]:
    def side(values: Side) -> dict[str, float]:
        return {name: _rounded(getattr(values, name)) for name in ("keep", "exchange", "error")}

    return {
        "worth": _rounded(exchange.worth),
        "threshold": _rounded(exchange.threshold),
        "win_share": side(exchange.win_share),
        "points": side(exchange.points),
    }


# ---- a record ---------------------------------------------------------------------------------------------------------


def grades_text(
    analyst: Analyst, grades: Grades, *, game: int, names: Sequence[str], top: int, width: int, symbols: bool
) -> str:
    """Return a graded game for people.

    Args:
        analyst: that graded it.
        grades: of which.
        game: number in the file.
        names: of the seats.
        top: how many of the costliest decisions are shown.
        width: of the terminal.
        symbols: whether suits are shown as symbols.
    """
    rules = grades.record.rules
    graded = len(grades.decisions)
    head = f"Game {game}: Crash ({rules.name or 'own rules'}), {rules.players} players; {_decisions(graded)} graded"
    if grades.hidden:
        head += f", {grades.hidden} not: the record hides their cards"
    lines = wrapped(head + ".", width=width)
    for seat in range(rules.players):
        if grades.of_seat(seat):
            lines += wrapped(_seat_line(grades, seat, names[seat]), width=width, indent="    ", first="  ")
    costly = grades.costliest(top)
    lines.append("Nothing was given up." if not costly else "The costliest:")
    for place, one in enumerate(costly, start=1):
        lines.append("")
        lines += wrapped(_decision_head(one, names), width=width, indent="    ", first=f"{place:>2}. ")
        for text in _decision_lines(analyst, one, symbols=symbols):
            lines += wrapped(text, width=width, indent="    ")
    return "\n".join(lines) + "\n"


def _seat_line(grades: Grades, seat: int, name: str) -> str:
    figures = _seat_figures(grades, seat)
    return (
        f"{name}: {_decisions(figures['decisions'])}, {figures['not_best']} not the best; gave up "
        f"{100 * figures['win_share']:.2f} pp of win share, {figures['points']:.3f} points"
    )


def _decisions(count: int) -> str:
    return f"{count} decision{'' if count == 1 else 's'}"


def _seat_figures(grades: Grades, seat: int) -> dict[str, Any]:
    made = grades.of_seat(seat)
    return {
        "seat": seat,
        "decisions": len(made),
        "not_best": sum(not one.is_best for one in made),
        "win_share": sum(one.gives_up_win_share for one in made),
        "points": sum(one.gives_up_points for one in made),
    }


def _decision_head(one: Graded, names: Sequence[str]) -> str:
    view = one.view
    own_first = view.scores[view.seat :] + view.scores[: view.seat]
    what = {Phase.EXCHANGE: "the exchange", Phase.ARRANGE: "laying", Phase.CALL: "the call"}[view.phase]
    lost = f"{100 * one.gives_up_win_share:.2f} pp of win share, {one.gives_up_points:.3f} points"
    score = "-".join(map(str, own_first))
    return f"Round {one.round_number}, {names[view.seat]}, {what} at {score} (own score first): gave up {lost}"


def _decision_lines(analyst: Analyst, one: Graded, *, symbols: bool) -> Iterator[str]:
    view = one.view
    if view.phase is not Phase.ARRANGE:
        yield from _choice_lines(analyst, one, symbols=symbols)
        return
    ranking = analyst.ranked(view)
    laid, best = analyst.rated(view, one.chosen), ranking.rated[0]
    for label, rated in (("Laid:", laid), ("Better:", best)):
        yield f"{label} {_laid_words(rated.arrangement, symbols=symbols)}"
        yield f"{_worth(rated)}. {_chances(rated)}"
    yield f"What was laid, against it: {why_between(analyst, ranking, laid, best)}"


def _choice_lines(analyst: Analyst, one: Graded, *, symbols: bool) -> Iterator[str]:
    view = one.view
    held = sorted((Card(card) for card in view.cards), reverse=True)
    if view.laid is None:
        yield format_cards(held, symbols=symbols)
    else:
        yield _laid_words(Arrangement.from_index(view.laid, held, view.rules), symbols=symbols)
    chosen, best = _choice_words(one)
    yield f"{chosen.capitalize()}; better: {best}."
    advice = analyst.exchange(view) if view.phase is Phase.EXCHANGE else None
    if advice is not None:
        yield exchange_sentence(advice)


def grades_json(grades: Grades, *, game: int) -> dict[str, Any]:
    """Return a graded game as JSON values."""
    record = grades.record
    seats = [_seat_figures(grades, seat) for seat in range(record.rules.players)]
    return {
        "kind": "record",
        "game": game,
        "rules": record.rules.to_dict(),
        "players": list(record.players),
        "agents": list(record.agents),
        "hidden": grades.hidden,
        "seats": [
            {name: _rounded(value) if isinstance(value, float) else value for name, value in figures.items()}
            for figures in seats
        ],
        "decisions": [_decision_json(one) for one in grades.decisions],
    }


def _decision_json(one: Graded) -> dict[str, Any]:
    view = one.view
    chosen: Any
    best: Any
    if view.phase is Phase.ARRANGE:
        held = [Card(card) for card in view.cards]
        chosen, best = (_laid_json(Arrangement.from_index(of, held, view.rules)) for of in (one.chosen, one.best))
    else:
        chosen, best = _choice_words(one)
    return {
        "round": one.round_number,
        "seat": view.seat,
        "decision": view.phase.label,
        "scores": list(view.scores),
        "cards": _texts(view.cards),
        "given_up": _texts(view.given_up),
        "chosen": chosen,
        "best": best,
        "win_share": _rounded(one.win_share),
        "best_win_share": _rounded(one.best_win_share),
        "points": _rounded(one.points),
        "best_points": _rounded(one.best_points),
        "gives_up": {
            "win_share": _rounded(one.gives_up_win_share),
            "points": _rounded(one.gives_up_points),
        },
    }


def _choice_words(one: Graded) -> tuple[str, str]:
    words = ("keep", "exchange") if one.view.phase is Phase.EXCHANGE else ("pass", "call")
    return words[one.chosen], words[one.best]


def _laid_words(laid: Arrangement, *, symbols: bool) -> str:
    return laid.format(symbols=symbols) if laid.hands else "nothing"


def _laid_json(laid: Arrangement) -> dict[str, Any]:
    return {"hands": [_texts(hand) for hand in laid.hands], "spare": _texts(laid.spare)}


def _texts(cards: Sequence[Card | int]) -> list[str]:
    return [str(card if isinstance(card, Card) else Card(card)) for card in cards]


def _rounded(value: float) -> float:
    return round(value, _DIGITS) + 0.0  # no negative zero
