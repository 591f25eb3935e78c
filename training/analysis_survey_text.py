"""A survey of hands as text for people.

>>> columns([("a", "1"), ("long", "10")])
['a      1', 'long  10']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..envs.crash.rules import CrashRules
from .analysis_report import wrapped
from .analysis_survey import HandsSurvey
from .analysis_words import percent

__all__ = ["columns", "survey_text"]


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines, the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return lines


def survey_text(found: HandsSurvey, *, width: int) -> str:
    """Return a survey for people.

    Args:
        found: the survey.
        width: of the terminal; tables do not fold.
    """
    rules = CrashRules.from_dict(found.rules)
    score = "-".join(map(str, found.scores))
    told = f"{found.deals:,} hands of {rules.name or 'own rules'}, {rules.players} players, score {score} (own first)."
    lines = wrapped(told, width=width)
    for title, rows, note in _parts(found, rules):
        lines += ["", *wrapped(title, width=width), *(f"  {line}" for line in columns(rows))]
        if note:
            lines += wrapped(note, width=width, indent="  ")
    return "\n".join(lines) + "\n"


def _parts(found: HandsSurvey, rules: CrashRules) -> Iterator[tuple[str, list[Sequence[str]], str]]:
    hands = [f"Hand {hand}" for hand in range(1, rules.hands + 1)]
    yield (
        "With what solver-fast lays, on average:",
        [
            ("", *hands),
            ("chance to win it", *map(percent, found.chances)),
            ("winning it is worth", *(f"{100 * worth:.1f} pp" for worth in found.hand_worth)),
        ],
        ""
        if rules.hands < 2
        else f"A crash comes in {percent(found.crash)}; {percent(found.crash_half)} of the hands crash more often than not.",
    )
    yield (
        "What it lays, share of hands:",
        [("", *hands), *((name, *map(percent, shares)) for name, shares in found.laid.items())],
        "",
    )
    yield (
        "Chance to win with some hands, own cards aside:",
        [("", *hands), *((name, *map(percent, chances)) for name, chances in found.ladder)],
        "",
    )
    yield (
        "The weakest that wins with at least this chance:",
        [("", *found.needed), *zip(hands, *found.needed.values(), strict=True)],
        "",
    )
    yield (
        "Three of a kind: laid as a prial, and what insisting on it costs where that is not the best:",
        [
            ("rank", "held in", "laid", "costs"),
            *((one.rank, f"{one.hands}", percent(one.laid), _pp(one.cost)) for one in found.prials),
        ],
        "",
    )
    yield (
        "A run or a flush in the same place: how often the flush is better, and what insisting costs:",
        [
            ("", "hands", "flush", "always run", "always flush"),
            *(
                (hand, f"{one.hands}", percent(one.flush), _pp(one.always_run), _pp(one.always_flush))
                for hand, one in zip(hands, found.rivals, strict=True)
                if one.hands
            ),
        ],
        "",
    )
    yield (
        "Other ways to lay the same hands: how often they are not the best, and what they give up a round:",
        [
            ("", "not best", "win share", "points"),
            *((one.name, percent(one.differs), _pp(one.win_share), f"{one.points:.3f}") for one in found.others),
        ],
        "points: the best by points, whatever the score.",
    )
    if found.exchange is not None:
        yield (
            "Exchange a hand whose best is worth less than so many points, a crash included:",
            [
                ("others who have kept", "below", "share of hands"),
                *(
                    (f"{kept}", f"{threshold:.2f}", percent(share))
                    for kept, (threshold, share) in enumerate(found.exchange)
                ),
            ],
            "",
        )


def _pp(share: float) -> str:
    return f"{100 * share:.2f} pp"
