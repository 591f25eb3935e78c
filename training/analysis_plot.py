"""Analyses drawn with matplotlib (extra `plot`), as PNG bytes; nothing is loaded before something is drawn.

>>> __all__
['grades_picture', 'ranking_picture']
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .analysis import Ranking, Rated
from .analysis_record import Grades

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["grades_picture", "ranking_picture"]

_BLUE, _GREY = "#3b6ea5", "#b5bcc4"


def ranking_picture(ranking: Ranking, *, top: int) -> bytes:
    """Return a PNG: the win share of the first arrangements, their points, and the chance to win each hand.

    Raises:
        ModuleNotFoundError: without matplotlib, from the extra `plot`.
    """
    from matplotlib.figure import Figure

    rated = ranking.rated[:top]
    rows = np.arange(len(rated))
    figure = Figure(figsize=(12.5, 1.7 + 0.42 * len(rated)), layout="constrained")
    left, middle, right = figure.subplots(1, 3, sharey=True, width_ratios=[1.0, 0.8, 1.4])
    shares = [100 * one.win_share for one in rated]
    bars = left.barh(rows, shares, color=[_BLUE] + [_GREY] * (len(rated) - 1))
    left.bar_label(bars, [f"{share:.1f}" for share in shares], padding=3, fontsize=8)
    left.set_xlim(0, max(shares) * 1.18 or 1)
    left.set_title("win share, %", fontsize=10)
    left.set_yticks(rows, [_words(one) for one in rated], fontsize=8)
    left.invert_yaxis()
    points = [one.points for one in rated]
    middle.barh(rows, points, color=[_BLUE] + [_GREY] * (len(rated) - 1))
    middle.axvline(0, color="black", linewidth=0.6)
    middle.margins(x=0.3)
    for row, value in enumerate(points):
        away = 3 if value >= 0 else -3
        middle.annotate(
            f"{value:+.2f}",
            (value, row),
            xytext=(away, 0),
            textcoords="offset points",
            ha="left" if value >= 0 else "right",
            va="center",
            fontsize=8,
        )
    middle.set_title("points (own minus others)", fontsize=10)
    chances = 100 * np.array([[*one.chances, one.crash] for one in rated])
    right.imshow(chances, vmin=0, vmax=100, cmap="Blues", aspect="auto")
    for (row, column), chance in np.ndenumerate(chances):
        dark = "white" if chance > 60 else "black"
        right.text(column, row, f"{chance:.1f}", ha="center", va="center", fontsize=8, color=dark)
    names = [f"Hand {hand + 1}" for hand in range(chances.shape[1] - 1)]
    right.set_xticks(range(chances.shape[1]), [*names, "crash"], fontsize=9)
    right.set_title("chance to win, %", fontsize=10)
    figure.suptitle(f"Score {'-'.join(map(str, ranking.view.scores))}, own score first", fontsize=11)
    return _png(figure)


def grades_picture(grades: Grades, names: Sequence[str]) -> bytes:
    """Return a PNG: the win share that each seat has given up in all, decision by decision.

    Raises:
        ModuleNotFoundError: without matplotlib, from the extra `plot`.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    axes = figure.add_subplot()
    last = max((one.number for one in grades.record.rounds), default=1)
    first = grades.record.rounds[0].number
    rounds = np.arange(first - 1, last + 1)
    for seat, name in enumerate(names):
        made = grades.of_seat(seat)
        if made:
            lost = [
                100 * sum(one.gives_up_win_share for one in made if one.round_number <= number) for number in rounds
            ]
            axes.step(rounds, lost, where="post", label=f"{name}: {lost[-1]:.2f}")
    axes.set_xlabel("round")
    axes.set_ylabel("win share given up so far, pp")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="small")
    return _png(figure)


def _words(one: Rated) -> str:
    return one.arrangement.format(symbols=True) if one.arrangement.hands else "nothing"


def _png(figure: Figure) -> bytes:
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=110)
    return drawn.getvalue()
