"""What players lay: tables of strengths by position, which `percentile` takes its chances of winning from.

A table is a JSON file in ``agents/data/percentile`` made by ``prial tables percentile``. It fits every game with the same
deal and hands: see `TABLE_OPTIONS`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    "shipped_tables",
    "table_options",
    "win_chances",
]

TABLE_FORMAT = 1
TABLE_OPTIONS = ("players", "cards_dealt", "lowest_hand", "flush_high", "ranks", "exchange", "quads")
"""What decides which table fits; `exchange` counts only where it is played, `quads` is whether `quads_bonus` pays."""


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
        "quads": rules.quads_bonus > 0,
    }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PercentileTable:
    """How often a player lays each strength at each position.

    Attributes:
        options: the values of `TABLE_OPTIONS` that it was made for.
        weight: what the policy that was counted adds for the chance of a crash, in points.
        counts: int64 (4, 742), by position and strength; 0 for no hand.
    """

    options: Mapping[str, Any]
    weight: float
    counts: npt.NDArray[np.int64]

    def win_chances(self) -> npt.NDArray[np.float64]:
        """Return the chance to win a comparison alone: float64 (4, 742), by position and own strength.

        The opponents are taken as independent. No hand wins nothing.
        """
        return win_chances(self.counts / self.counts.sum(axis=1, keepdims=True), self.options["players"])


def win_chances(shares: npt.NDArray[np.float64], players: int) -> npt.NDArray[np.float64]:
    """Return the chance that all others lay something weaker: float64 (4, 742), by position and own strength.

    Args:
        shares: how likely one of them lays each strength, float64 (4, 742), each row adding up to 1.
        players: how many sit at the table.
    """
    weaker = np.cumsum(shares, axis=1) - shares
    chances = weaker.copy()
    for _ in range(players - 2):  # products rather than a power: the same on every machine
        chances *= weaker
    chances[:, 0] = 0
    return chances


def arrangement_values(
    found: CandidateBatch, chances: npt.NDArray[np.float64], *, rules: CrashRules, weight: float
) -> npt.NDArray[np.float64]:
    """Return what each arrangement is worth: float64 (m,).

    The chances to win, summed over positions, plus `weight` times their product (a crash), plus the quads bonus.

    Args:
        found: the arrangements.
        chances: as `win_chances` gives them.
        rules: number of hands and quads bonus.
        weight: of a crash, in points.
    """
    values = np.zeros(len(found.partitions))
    crash = np.full(len(found.partitions), weight if rules.hands > 1 else 0.0, np.float64)
    for position in range(rules.hands):
        chance = chances[position][found.strengths[:, position]]
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
        counts = np.array(content["counts"], np.int64)
        table_format, options, weight = content["format"], content["options"], float(content["weight"])
    except (ValueError, KeyError, TypeError) as error:
        raise TableError(f"{where} is no percentile table: {error!r}") from None
    if table_format != TABLE_FORMAT:
        raise TableError(f"{where} has format {table_format!r}; this version reads format {TABLE_FORMAT}")
    hands = min(MAX_HANDS, int(options["cards_dealt"]) // 3) if set(options) == set(TABLE_OPTIONS) else 0
    if (
        not hands
        or counts.shape != (MAX_HANDS, NUM_STRENGTHS + 1)
        or (counts < 0).any()
        or not counts.sum(axis=1).all()
    ):
        raise TableError(f"{where} is no percentile table: expected the options {TABLE_OPTIONS} and counts of 4 by 742")
    return PercentileTable(options=options, weight=weight, counts=counts)


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
    have = "; ".join(f"{name} ({_described(table.options)})" for name, table in tables.items())
    raise TableError(
        f"no percentile table for {_described(wanted)}. There is: {have}. `prial tables percentile` makes one, for the "
        "agent's option `table`"
    )


def _described(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={options[name]}" for name in TABLE_OPTIONS)
