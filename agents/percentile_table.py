"""What players lay: tables of strengths by position, which `percentile` takes its chances of winning from.

A table is a JSON file in ``agents/data/percentile`` made by ``prial tables percentile``; the file says by which command, and
how many bytes it has. It fits every game with the same deal and hands: see `TABLE_OPTIONS`.

Two kinds of hands are told apart, since the exchange is public: *fresh* ones, as likely as any other (all of them without an
exchange; with one, a spare hand taken and the hand of a player who was not asked), and *kept* ones, which their owner looked
at and kept. Kept hands are better, and all count alike, whenever they were kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.brag import NUM_STRENGTHS
from ..envs.crash.partitions import CandidateBatch
from ..envs.crash.rules import MAX_HANDS, CrashRules

__all__ = [
    "TABLE_FORMAT",
    "TABLE_OPTIONS",
    "PercentileTable",
    "TableError",
    "arrangement_values",
    "find_table",
    "read_table",
    "shares_of",
    "shipped_tables",
    "table_options",
    "win_chances",
]

TABLE_FORMAT = 2
TABLE_OPTIONS = ("players", "cards_dealt", "lowest_hand", "flush_high", "ranks", "exchange")
"""What decides which table fits; `exchange` counts only where it is played.

A quads bonus and what a crash is worth hardly change what is laid: with four players no cumulative share of `online` (bonus
1, weight 3) and `traditional` (bonus 0, weight 1) differs by more than 0.0011. The number of players does: 0.047 between two
and three players of `online`, 0.019 between three and four; a share has a standard error of about 0.001.
"""


class TableError(ValueError):
    """No table fits the rules, or a file is no table."""


def table_options(rules: CrashRules) -> dict[str, Any]:
    """Return the values of `TABLE_OPTIONS` for rules.

    >>> table_options(CrashRules.preset("online"))["players"]
    3
    """
    return {
        "players": rules.players,
        "cards_dealt": rules.cards_dealt,
        "lowest_hand": rules.lowest_hand,
        "flush_high": rules.flush_high,
        "ranks": rules.ranks,
        "exchange": rules.exchange if rules.has_exchange else "none",
    }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PercentileTable:
    """How often a player lays each strength at each position, and which hands are exchanged.

    Attributes:
        options: the values of `TABLE_OPTIONS` that it was made for.
        weight: what the policy that was counted adds for the chance of a crash, in points.
        exchange_below: a hand worth less against fresh hands is exchanged, in points; by how many others are known to
            have kept theirs (two players choose without knowing: one figure). Empty without an exchange.
        fresh: of fresh hands, int64 (4, 742), by position and strength; 0 for no hand.
        kept: of kept hands likewise; None without an exchange.
    """

    options: Mapping[str, Any]
    weight: float
    exchange_below: tuple[float, ...]
    fresh: npt.NDArray[np.int64]
    kept: npt.NDArray[np.int64] | None

    def win_chances(self) -> npt.NDArray[np.float64]:
        """Return the chance to win a comparison alone: float64 (players or 1, 4, 742).

        By how many opponents have kept their hands (0 only, without an exchange), position and own strength. Opponents
        are taken as independent of each other and of the own cards. No hand wins nothing.
        """
        others = self.options["players"] - 1
        fresh = shares_of(self.fresh)
        if self.kept is None:
            return win_chances([fresh] * others)[None]
        kept = shares_of(self.kept)
        return np.array([win_chances([kept] * k + [fresh] * (others - k)) for k in range(others + 1)])


def shares_of(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return counts as shares of their row: float64 (4, 742)."""
    shares: npt.NDArray[np.float64] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares


def win_chances(others: Sequence[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """Return the chance that all others lay something weaker: float64 (4, 742), by position and own strength.

    Args:
        others: for each of them, how likely it lays each strength, float64 (4, 742), each row adding up to 1.
    """
    chances = np.ones_like(others[0])
    for shares in others:  # products rather than a power: the same on every machine
        chances *= np.cumsum(shares, axis=1) - shares
    chances[:, 0] = 0
    return chances


def arrangement_values(
    found: CandidateBatch,
    chances: npt.NDArray[np.float64],
    *,
    rules: CrashRules,
    weight: float,
    kept: int | npt.NDArray[np.integer] = 0,
) -> npt.NDArray[np.float64]:
    """Return what each arrangement is worth: float64 (m,).

    The chances to win, summed over positions, plus `weight` times their product (a crash), plus the quads bonus.

    Args:
        found: the arrangements.
        chances: as `PercentileTable.win_chances` gives them.
        rules: number of hands and quads bonus.
        weight: of a crash, in points.
        kept: how many opponents have kept their hands: for all, or for each arrangement (m,).
    """
    values = np.zeros(len(found.partitions))
    crash = np.full(len(found.partitions), weight if rules.hands > 1 else 0.0, np.float64)
    for position in range(rules.hands):
        chance = chances[kept, position, found.strengths[:, position]]
        values += chance
        crash *= chance
    return values + crash + float(rules.quads_bonus) * found.quads


def read_table(text: str, where: str) -> PercentileTable:
    """Return a table from the text of its file.

    Raises:
        TableError: a text that is no such table.
    """
    try:
        content = json.loads(text)
        table_format = content["format"]
        table = _table_of(content) if table_format == TABLE_FORMAT else None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TableError(f"{where} is no percentile table: {error!r}") from None
    if table is None:
        raise TableError(f"{where} has format {table_format!r}; this version reads format {TABLE_FORMAT}")
    if set(table.options) != set(TABLE_OPTIONS):
        raise TableError(f"{where} is no percentile table: expected the options {TABLE_OPTIONS}")
    for counts in (table.fresh, *([] if table.kept is None else [table.kept])):
        if counts.shape != (MAX_HANDS, NUM_STRENGTHS + 1) or (counts < 0).any() or not counts.sum(axis=1).all():
            raise TableError(f"{where} is no percentile table: expected counts of 4 by 742, some in each row")
    asked = {"none": 0, "spare": {2: 1, 3: 3}.get(table.options["players"], 0)}.get(table.options["exchange"])
    if len(table.exchange_below) != asked or (table.kept is None) != (asked == 0):
        raise TableError(
            f"{where} is no percentile table: exchange_below or counts do not fit its exchange and players"
        )
    return table


def _table_of(content: Mapping[str, Any]) -> PercentileTable:
    counts = {kind: np.array(rows, np.int64) for kind, rows in content["counts"].items()}
    return PercentileTable(
        options=content["options"],
        weight=float(content["weight"]),
        exchange_below=tuple(float(value) for value in content["exchange_below"]),
        fresh=counts["fresh"],
        kept=counts.get("kept"),
    )


@cache
def shipped_tables() -> Mapping[str, PercentileTable]:
    """Return the tables that ship, by name.

    >>> "online-3" in shipped_tables()
    True
    """
    folder = resources.files(__package__) / "data" / "percentile"
    return {
        entry.name[:-5]: read_table(entry.read_text(encoding="utf-8"), entry.name)
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".json")
    }


def find_table(rules: CrashRules, *, path: str | Path | None = None) -> PercentileTable:
    """Return the table that fits the rules, from those that ship or from a file.

    Raises:
        TableError: none does; the message names the ones there are.
    """
    if path is None:
        tables = shipped_tables()
    else:
        try:
            tables = {str(path): read_table(Path(path).read_text(encoding="utf-8"), str(path))}
        except OSError as error:
            raise TableError(f"cannot read the table {str(path)!r}: {error}") from None
    wanted = table_options(rules)
    for table in tables.values():
        if dict(table.options) == wanted:
            return table
    raise TableError(
        f"no percentile table for {_described(wanted)}. {_nearest(tables, wanted)} `prial tables percentile` makes one, "
        "which Percentile(table=PATH) plays"
    )


def _nearest(tables: Mapping[str, PercentileTable], wanted: Mapping[str, Any]) -> str:
    """Say which table differs least from what is wanted."""

    def different(name: str) -> list[str]:
        return [option for option in TABLE_OPTIONS if tables[name].options[option] != wanted[option]]

    name = min(tables, key=lambda name: len(different(name)))
    have = ", ".join(f"{option}={tables[name].options[option]}" for option in different(name))
    return f"The nearest of {len(tables)} is {name} ({have})."


def _described(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={options[name]}" for name in TABLE_OPTIONS)
