"""A survey of hands as text for people.

>>> columns([("a", "1"), ("long", "10")])
['a      1', 'long  10']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..envs.crash.rules import CrashRules
from .analysis_report import wrapped
from .analysis_survey import HandsSurvey
from .analysis_survey_choices import Calls, Exchanges
from .analysis_words import percent

__all__ = ["SURVEY_PARTS", "columns", "survey_text"]

SURVEY_PARTS = ("hands", "crash", "laid", "ladder", "needed", "prials", "rivals", "others", "exchange", "calls")
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
        "Three of a kind: laid as a prial, and what insisting on it costs, or breaking it, where that is not the best:",
        [
            ("rank", "held in", "laid", "insisting", "breaking"),
            *((one.rank, f"{one.hands}", percent(one.laid), _pp(one.cost), _pp(one.never)) for one in found.prials),
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
            f"Asked first, {percent(found.exchange.exchanged)} are exchanged. By Hand 1 of the best arrangement:",
            [
                ("", "hands", "exchanged", "exchanging has more"),
                *(
                    (one.kind, percent(one.hands), percent(one.exchanged), _pp(one.gain, sign="+"))
                    for one in found.exchange.kinds
                ),
            ],
            f"Keeping every hand gives up {_pp(found.exchange.never)} a round, exchanging all {_pp(found.exchange.always)}.",
        )
        yield (
            "exchange",
            "Rule of thumb: exchange a hand whose best is worth less than so many points, a crash included:",
            [
                ("others who have kept", "below", "share of hands"),
                *(
                    (f"{kept}", f"{threshold:.2f}", percent(share))
                    for kept, (threshold, share) in enumerate(found.exchange.below)
                ),
            ],
            _checked(found.exchange),
        )
    if found.calls is not None:
        yield (
            "calls",
            f"Asked first, {percent(found.calls.called)} call a crash. By the chance to crash with what is laid:",
            [
                ("", "hands", "call", "calling has more", "in points"),
                *(
                    (
                        f"{one.chance:.0%} or more",
                        f"{one.hands:.2%}",
                        percent(one.called),
                        _pp(one.win_share, sign="+"),
                        f"{one.points:+.3f}",
                    )
                    for one in found.calls.bands
                ),
            ],
            _never_called(found.calls),
        )


def _checked(found: Exchanges) -> str:
    return (
        f"Asked first, that gives up {_pp(found.by_rule)} of win share a round by the solver's values. The first "
        f"{found.checked} valued both ways with sampled spare hands: exchanging is better for {percent(found.better)}; the "
        f"rule decides {percent(found.otherwise)} otherwise by more than two standard errors and gives up "
        f"{_pp(found.cost)} of win share on average."
    )


def _never_called(found: Calls) -> str:
    return (
        f"Never calling would give up {_pp(found.never)} of win share a round, or {found.points:.4f} points; "
        f"{found.rearranged:.2%} of hands are laid otherwise because they can call."
    )


def _pp(share: float, *, sign: str = "") -> str:
    return f"{100 * share:{sign}.2f} pp"
