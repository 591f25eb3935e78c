"""A score card of the benchmark suite as JSON and as Markdown, and several beside each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .forfeited import AgentForfeits
from .statistics import Estimate
from .suite import Card, Cell

__all__ = ["CardError", "beside", "card_dict", "card_page", "check_field", "read_card"]

FORMAT = 1


class CardError(ValueError):
    """A file that is no score card, or cards that cannot be compared."""


def card_dict(card: Card) -> dict[str, Any]:
    """Return a card as plain JSON values; `read_card` reads them."""
    score = card.score
    return {
        "score_card": FORMAT,
        "agent": card.agent,
        "agent_version": card.agent_version,
        "asked": card.asked,
        "suite": card.suite,
        "field": card.field,
        "quick": card.quick,
        "prial": card.prial,
        "score": None if score is None else score.value,
        "score_ci": None if score is None else list(score.interval),
        "whole": card.is_whole,
        "tables": card.tables,
        "cells": [
            {
                "table": cell.table,
                "opponent": cell.opponent,
                "counts": cell.counts,
                "games": cell.games,
                "even": cell.even,
                "win_share": cell.win_share.value,
                "win_share_ci": list(cell.win_share.interval),
                "margin_per_round": cell.margin_per_round.value,
                "margin_per_round_ci": list(cell.margin_per_round.interval),
                "forfeits": None if cell.forfeits is None else cell.forfeits.to_dict(),
            }
            for cell in card.cells
        ],
        "left_out": list(card.left_out),
    }


def _read_estimate(content: dict[str, Any], key: str) -> Estimate:
    low, high = map(float, content[f"{key}_ci"])
    return Estimate(value=float(content[key]), low=low, high=high)


def read_card(path: str | Path) -> Card:
    """Return the card in a JSON file.

    Raises:
        CardError: it is none.
        OSError: it cannot be read.
    """
    text = Path(path).read_bytes()
    try:
        content = json.loads(text)
        return _card(content)
    except (ValueError, KeyError, TypeError) as error:
        raise CardError(f"{path} is no score card: {error!r}") from None


def _card(content: dict[str, Any]) -> Card:
    if content["score_card"] != FORMAT:
        raise ValueError(f"format {content['score_card']!r}, expected {FORMAT}")
    return Card(
        agent=str(content["agent"]),
        asked=str(content["asked"]),
        agent_version=str(content["agent_version"]),
        suite=int(content["suite"]),
        field=str(content["field"]),
        quick=bool(content["quick"]),
        prial=str(content["prial"]),
        cells=tuple(
            Cell(
                table=str(cell["table"]),
                opponent=str(cell["opponent"]),
                counts=bool(cell["counts"]),
                games=int(cell["games"]),
                even=float(cell["even"]),
                win_share=_read_estimate(cell, "win_share"),
                margin_per_round=_read_estimate(cell, "margin_per_round"),
                forfeits=AgentForfeits.from_dict(cell["forfeits"], number=0) if cell.get("forfeits") else None,
            )
            for cell in content["cells"]
        ),
        left_out=tuple(map(str, content["left_out"])),
        tables=int(content["tables"]),
    )


def _interval(estimate: Estimate, form: str, scale: float = 1) -> str:
    """Write a figure with its interval.

    >>> _interval(Estimate(value=0.5, low=0.25, high=0.75), ".1f", 100)
    '50.0 (25.0 to 75.0)'
    """
    value, low, high = (f"{scale * number + 0.0:{form}}" for number in (estimate.value, *estimate.interval))
    return f"{value} ({low} to {high})"


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(cells) + " |" for cells in (heads, ["---", *["---:"] * (len(heads) - 1)], *rows)]


def _cells_table(card: Card, write: Callable[[Cell], str]) -> list[str]:
    opponents = list(dict.fromkeys(cell.opponent for cell in card.cells))
    found = {(cell.table, cell.opponent): cell for cell in card.cells}
    rows = []
    for table in dict.fromkeys(cell.table for cell in card.cells):
        cells = [found.get((table, opponent)) for opponent in opponents]
        even = next(cell.even for cell in cells if cell is not None)
        rows.append([table, f"{100 * even:.1f}", *("-" if cell is None else write(cell) for cell in cells)])
    return _rows(["one seat at", "even %", *opponents], rows)


def card_page(card: Card) -> str:
    """Return a card as Markdown."""
    score = card.score
    found = "none" if score is None else f"**{_interval(score, '+.2f', 100)}**"
    speed = ", a quick run: the figures mean little" if card.quick else ""
    lines = [
        f"# Score card: {card.agent}",
        "",
        f"- agent: {card.agent}, {card.agent_version} (`{card.asked}`)",
        f"- suite: version {card.suite}{speed}; field `{card.field}`, prial {card.prial}",
        f"- score: {found} percentage points ahead of an even share, 95 % interval",
    ]
    if not card.is_whole:
        lines.append("- not whole: the score is that of the tables below, and no score of the suite")
    if not card.cells:
        return "\n".join([*lines, "", "Nothing was played.", "", *(f"- {line}" for line in card.left_out), ""])
    games = max(cell.games for cell in card.cells)
    lines += [
        "",
        f"One seat against a table of each opponent; {games:,} games a cell, on the same deals in every seating.",
        "",
        "## Win share, in %",
        "",
        *_cells_table(card, lambda cell: _interval(cell.win_share, ".1f", 100)),
        "",
        "## Points a round above the mean of the others",
        "",
        *_cells_table(card, lambda cell: _interval(cell.margin_per_round, "+.3f")),
        "",
    ]
    failed = [(cell, cell.forfeits) for cell in card.cells if cell.forfeits is not None]
    if failed:
        lines += ["## Forfeited", ""]
        lines += [f"- {cell.table}, against {cell.opponent}: {'; '.join(one.lines())}" for cell, one in failed] + [""]
    if card.left_out:
        lines += ["## Not played", "", *(f"- {line}" for line in card.left_out), ""]
    if uncounted := list(dict.fromkeys(cell.opponent for cell in card.cells if not cell.counts)):
        lines += [f"Not in the score: {', '.join(uncounted)}.", ""]
    return "\n".join(lines)


def check_field(field: str, cards: Sequence[Card]) -> None:
    """Refuse cards that are not of a field.

    Raises:
        CardError: names one that is not.
    """
    other = next((card for card in cards if card.field != field), None)
    if other is not None:
        raise CardError(
            f"the card of {other.agent} (field {other.field}) cannot be compared with cards of field {field}: suite, games, "
            "version of prial or the data of its agents differ"
        )


def beside(cards: Sequence[Card]) -> str:
    """Return several cards beside each other as Markdown, the best first: the score, and the lead at each table.

    Raises:
        CardError: cards of different fields.

    >>> beside([])
    ''
    """
    if not cards:
        return ""
    check_field(cards[0].field, cards)
    ordered = sorted(cards, key=lambda card: -card.score.value if card.score else 0.0)
    tables = list(dict.fromkeys(cell.table for card in cards for cell in card.cells))
    rows = [["score", *("-" if card.score is None else _interval(card.score, "+.2f", 100) for card in ordered)]]
    for table in tables:
        row = [table]
        for card in ordered:
            leads = [cell.lead.value for cell in card.cells if cell.table == table and cell.counts]
            row.append(f"{100 * sum(leads) / len(leads):+.2f}" if leads else "-")
        rows.append(row)
    heads = ["lead in percentage points", *(f"{card.agent}, {card.agent_version}" for card in ordered)]
    return "\n".join([*_rows(heads, rows), ""])
