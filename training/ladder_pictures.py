"""A ladder drawn: who beats whom as a heat map, and the ratings with their intervals. Needs matplotlib, the extra `plot`."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from .ladder_standing import LadderStanding
from .statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["cross_picture", "cross_table", "rating_picture"]

_DECIDED, _OPEN = "black", "0.4"

Cell = tuple[Estimate, bool]
"""Difference of win shares in percentage points, and whether it is decided."""


def cross_table(standing: LadderStanding) -> list[list[Cell | None]]:
    """Return how each agent (row) does against each (column), the best rated first.

    Returns:
        Row by row; None where they have not met.

    >>> from .ladder_config import LadderConfig
    >>> from .ladder_results import LadderResults
    >>> from .ladder_standing import standing_of
    >>> cross_table(standing_of(LadderConfig(agents=["greedy", "random"]), LadderResults()))
    [[None, None], [None, None]]
    """
    names = [standing.config.names[number] for number in standing.order]
    return [[_cell(standing, row, column) for column in names] for row in names]


def _cell(standing: LadderStanding, row: str, column: str) -> Cell | None:
    pair = standing.pair(row, column)
    if row == column or pair is None:
        return None
    sign = 100 if pair.first == row else -100
    share = pair.win_share
    low, high = sorted((sign * share.low, sign * share.high))
    return Estimate(value=sign * share.value, low=low, high=high), pair.ahead is not None


def cross_picture(standing: LadderStanding) -> bytes:
    """Return the cross-table as a PNG: a circle shows as colours that are not parted by the diagonal.

    Raises:
        ModuleNotFoundError: without matplotlib.
    """
    from matplotlib.figure import Figure

    names = [standing.config.names[number] for number in standing.order]
    cells = cross_table(standing)
    shown = np.array([[np.nan if cell is None else cell[0].value for cell in row] for row in cells])
    reach = max(1.0, float(np.nanmax(np.abs(shown), initial=0)))
    size = 2.2 + 0.95 * len(names)
    canvas = Figure(figsize=(size + 1.4, size), layout="constrained")
    panel = canvas.add_subplot()
    image = panel.imshow(shown, cmap="RdBu", vmin=-reach, vmax=reach)
    panel.set_facecolor("0.93")
    for row, line in enumerate(cells):
        for column, cell in enumerate(line):
            if cell is not None:
                share, decided = cell
                dark = abs(share.value) > 0.6 * reach
                colour = ("white" if dark else _DECIDED) if decided else ("0.85" if dark else _OPEN)
                text = f"{share.value:+.1f}\n{share.low:+.1f} to\n{share.high:+.1f}"
                weight = "bold" if decided else "normal"
                panel.text(column, row, text, ha="center", va="center", color=colour, fontsize=9, weight=weight)
    panel.set_xticks(range(len(names)), names, rotation=40, ha="left", rotation_mode="anchor")
    panel.set_yticks(range(len(names)), names)
    panel.tick_params(top=True, bottom=False, labeltop=True, labelbottom=False, length=0)
    panel.set_xlabel("bold: the 95 % interval leaves out 0; grey: open")
    if standing.circles:
        canvas.suptitle(
            "\n".join(f"in a circle: {' beats '.join([*circle, circle[0]])}" for circle in standing.circles)
        )
    canvas.colorbar(image, ax=panel, shrink=0.8, label="win share of the row minus the column's, percentage points")
    return _png(canvas)


def rating_picture(standing: LadderStanding) -> bytes:
    """Return the ratings as a PNG, the best on top.

    Raises:
        ModuleNotFoundError: without matplotlib.
        ValueError: there are no ratings.
    """
    from matplotlib.figure import Figure

    if standing.ratings is None:
        raise ValueError(standing.no_ratings)
    order = standing.order
    found = [standing.ratings.of(number) for number in order]
    canvas = Figure(figsize=(7.5, 1.2 + 0.42 * len(order)), layout="constrained")
    panel = canvas.add_subplot()
    places = np.arange(len(order))
    values = np.array([estimate.value for estimate in found])
    ends = np.array([estimate.interval for estimate in found]).T
    panel.errorbar(values, places, xerr=np.abs(ends - values), fmt="o", capsize=4, color="#1f4e79")
    for place, value in zip(places, values, strict=True):
        panel.annotate(
            f"{value:+.0f}", (value, place), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=9
        )
    panel.set_yticks(places, [standing.config.names[number] for number in order])
    panel.set_ylim(len(order) - 0.4, -0.8)
    panel.axvline(0, color="0.6", linewidth=0.8)
    panel.set_xlabel("rating (mean 0; 100 ahead is 64 % at a table of two), 95 % intervals")
    panel.grid(visible=True, axis="x", alpha=0.3)
    return _png(canvas)


def _png(canvas: Figure) -> bytes:
    drawn = io.BytesIO()
    canvas.savefig(drawn, format="png", dpi=120)
    return drawn.getvalue()
