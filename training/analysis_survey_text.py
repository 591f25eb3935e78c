"""A survey of hands as text for people.

>>> columns([("a", "1"), ("long", "10")])
['a      1', 'long  10']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..envs.crash.rules import CrashRules
from .analysis_report import wrapped
from .analysis_survey import Exchanges, HandsSurvey
from .analysis_words import percent

__all__ = ["SURVEY_PARTS", "columns", "survey_text"]

SURVEY_PARTS = ("hands", "crash", "laid", "ladder", "needed", "prials", "rivals", "others", "exchange")
"""The parts of a survey's text, in order."""


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines, the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return lines


def survey_text(found: HandsSurvey, *, parts: Sequence[str] = SURVEY_PARTS, width: int) -> str:
    """Return a survey for people.

    Args:
        found: the survey.
        parts: of `SURVEY_PARTS`.
        width: of the terminal; tables do not fold.
    """
    rules = CrashRules.from_dict(found.rules)
    score = "-".join(map(str, found.scores))
    told = f"{found.deals:,} hands of {rules.name or 'own rules'}, {rules.players} players, score {score} (own first)."
    lines = wrapped(told, width=width)
    for name, title, rows, note in _parts(found, rules):
        if name not in parts:
            continue
        lines += ["", *wrapped(title, width=width), *(f"  {line}" for line in columns(rows))]
        if note:
            lines += wrapped(note, width=width, indent="  ")
    return "\n".join(lines) + "\n"


def _parts(found: HandsSurvey, rules: CrashRules) -> Iterator[tuple[str, str, list[Sequence[str]], str]]:
    hands = [f"Hand {hand}" for hand in range(1, rules.hands + 1)]
    yield (
        "hands",
        "With what solver-fast lays, on average:",
        [
            ("", *hands),
            ("chance to win it", *map(percent, found.chances)),
            ("winning it is worth", *(f"{100 * worth:.1f} pp" for worth in found.hand_worth)),
        ],
        "",
    )
    if rules.hands > 1:
        yield (
            "crash",
            f"Crashes: {percent(found.crash)} on average; share of hands that crash with at least this chance:",
            [tuple(found.crash_at_least), tuple(f"{share:.2%}" for share in found.crash_at_least.values())],
            "",
        )
    yield (
        "laid",
        "What it lays, share of hands:",
        [("", *hands), *((name, *map(percent, shares)) for name, shares in found.laid.items())],
        "",
    )
    yield (
        "ladder",
        "Chance to win with some hands, own cards aside:",
        [("", *hands), *((name, *map(percent, chances)) for name, chances in found.ladder)],
        "",
    )
    yield (
        "needed",
        "The weakest that wins with at least this chance:",
        [("", *found.needed), *zip(hands, *found.needed.values(), strict=True)],
        "",
    )
    yield (
        "prials",
        "Three of a kind: laid as a prial, and what insisting on it costs where that is not the best:",
        [
            ("rank", "held in", "laid", "costs"),
            *((one.rank, f"{one.hands}", percent(one.laid), _pp(one.cost)) for one in found.prials),
        ],
        "",
    )
    yield (
        "rivals",
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
        "others",
        "Other ways to lay the same hands: how often they are not the best, and what they give up a round:",
        [
            ("", "not best", "win share", "points"),
            *((one.name, percent(one.differs), _pp(one.win_share), f"{one.points:.3f}") for one in found.others),
        ],
        "points: the best by points, whatever the score.",
    )
    if found.exchange is not None:
        yield (
            "exchange",
            "Exchange a hand whose best is worth less than so many points, a crash included:",
            [
                ("others who have kept", "below", "share of hands"),
                *(
                    (f"{kept}", f"{threshold:.2f}", percent(share))
                    for kept, (threshold, share) in enumerate(found.exchange.below)
                ),
            ],
            _checked(found.exchange),
        )


def _checked(found: Exchanges) -> str:
    return (
        f"The first {found.checked} valued both ways by the solver, asked first: exchanging is better for "
        f"{percent(found.better)}; the rule above decides {percent(found.otherwise)} otherwise by more than two standard "
        f"errors and gives up {_pp(found.cost)} of win share on average."
    )


def _pp(share: float) -> str:
    return f"{100 * share:.2f} pp"
