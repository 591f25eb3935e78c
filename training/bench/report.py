"""A run of `prial bench` as tables on a terminal, as a part of a Markdown page, and as a plot."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .core import BenchResult, Curve, Figure, Point, Section

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["growth_picture", "has_part", "in_page", "markdown", "show"]

_HEADS = ("what", "median", "slowest to fastest", "unit", "target")
_START, _END = "<!-- measured: prial bench -->", "<!-- end of measured -->"
_PART = re.compile(f"^{re.escape(_START)}$.*?^{re.escape(_END)}$", re.DOTALL | re.MULTILINE)


def _number(value: float) -> str:
    """The value with three digits or more.

    >>> [_number(value) for value in (1234567.8, 42.25, 4.2251, 0.04567)]
    ['1,234,568', '42.2', '4.23', '0.0457']
    """
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def _range(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{_number(low)} to {_number(high)}"


def _target(each: Figure) -> str:
    if each.target is None:
        return ""
    return f"{'at most' if each.at_most else 'at least'} {_number(each.target)}: {'met' if each.met else 'missed'}"


def _figure_rows(section: Section) -> list[tuple[str, ...]]:
    return [
        (each.name, _number(each.median), _range(each.low, each.high), each.unit, _target(each))
        for each in section.figures
    ]


def _curve_tables(curves: Sequence[Curve]) -> Iterator[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """For each axis: heads and rows, one row a place, one column a curve."""
    for axis in dict.fromkeys(curve.axis for curve in curves):
        along = [curve for curve in curves if curve.axis == axis]
        places = [point.at for point in along[0].points]

        def cell(point: Point) -> str:
            spread = "" if point.low == point.high else f" ({_range(point.low, point.high)})"
            return _number(point.median) + spread

        rows = [(f"{at:,}", *(cell(curve.points[row]) for curve in along)) for row, at in enumerate(places)]
        yield (axis, *(f"{curve.name}, {curve.unit}" for curve in along)), rows


def _head(result: BenchResult) -> list[str]:
    """What must be known to read the figures."""
    lines = [f"Medians of {result.plan.repeats}, seed {result.plan.seed}. {result.machine.describe()}."]
    if result.plan.quick:
        lines.append("A quick run: the figures mean little.")
    if result.machine.is_busy:
        lines.append("The machine was busy before the run: expect figures that are too low, and ratios that vary.")
    return lines


def show(result: BenchResult, console: Console) -> None:
    """Print the figures as tables."""
    from rich.table import Table

    def table(title: str | None, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        made = Table(title=title, title_justify="left")
        for number, head in enumerate(heads):
            made.add_column(
                head, justify="right" if number in {1, 2} or heads[0] != _HEADS[0] else "left", overflow="fold"
            )
        for row in rows:
            made.add_row(*row)
        console.print(made)

    for line in _head(result):
        console.print(line, soft_wrap=True)
    for section in result.sections:
        if section.figures:
            table(section.title, _HEADS, _figure_rows(section))
        elif section.curves:
            console.print(section.title, soft_wrap=True)
        for heads, rows in _curve_tables(section.curves):
            table(None, heads, rows)
        for note in section.notes:
            console.print(note, soft_wrap=True)


def _markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        "| " + " | ".join(heads) + " |",
        "|---" + "|--:" * (len(heads) - 1) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]


def markdown(result: BenchResult) -> str:
    """Return the figures as Markdown, sections under headings of the third level."""
    lines = [" ".join(_head(result)), ""]
    for section in result.sections:
        lines += [f"### {section.title}", ""]
        if section.figures:
            lines += _markdown_table(_HEADS, _figure_rows(section))
        for heads, rows in _curve_tables(section.curves):
            lines += _markdown_table(heads, rows)
        for note in section.notes:
            lines += [note, ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def has_part(page: str) -> bool:
    """Return whether a Markdown page has one part for measured figures."""
    return len(_PART.findall(page)) == 1


def in_page(page: str, result: BenchResult) -> str:
    """Return a Markdown page with its measured part made anew."""
    return _PART.sub(lambda _: f"{_START}\n\n{markdown(result)}\n{_END}", page)


def growth_picture(section: Section) -> bytes:
    """Return the curves of a section as a PNG: one panel an axis, both scales logarithmic where tables grow.

    Raises:
        ModuleNotFoundError: without matplotlib, from the extra `plot`.
    """
    from matplotlib.figure import Figure as Canvas

    curves = [curve for curve in section.curves if curve.unit != "bytes a table"]
    axes = list(dict.fromkeys(curve.axis for curve in curves))
    canvas = Canvas(figsize=(5 * len(axes), 4.2), layout="constrained")
    for number, axis in enumerate(axes, start=1):
        panel = canvas.add_subplot(1, len(axes), number)
        for curve in (curve for curve in curves if curve.axis == axis):
            at = [point.at for point in curve.points]
            panel.plot(at, [point.median for point in curve.points], marker="o", label=curve.name)
            low, high = ([getattr(point, bound) for point in curve.points] for bound in ("low", "high"))
            panel.fill_between(at, low, high, alpha=0.2)
            if axis != "tables":
                panel.set_xticks(at)
        if axis == "tables":
            panel.set_xscale("log", base=4)
        panel.set_yscale("log")
        panel.set_xlabel(axis)
        panel.set_ylabel("decisions a second")
        panel.grid(visible=True, alpha=0.3)
        panel.legend(fontsize="small")
    canvas.suptitle(section.title)
    drawn = io.BytesIO()
    canvas.savefig(drawn, format="png", dpi=120)
    return drawn.getvalue()
