"""What `solver-fast` knows: winning chances by score, and what opponents lay by score, history and the cards one holds.

A table is a JSON file in ``agents/data/solver`` made by ``prial tables solver``; arrays are packed (int16 with a scale,
compressed, base64). It fits one set of rules, target and scoring included, since those decide what a point is worth.

**What opponents lay.** ``below[kind][hand][s]`` is the chance that an opponent's hand at that position is weaker than
strength `s`: of *fresh* and of *kept* hands (see `percentile_table`). Two things move it, both fitted, both added:

- the score: ``by_score @ score_basis``, by what the opponent and the others still need (needs above a cap count as the cap);
- the cards one knows (own and given up), which no opponent holds: a linear fit on how many cards of each rank are known,
  whether two and three, and the sizes of the suits; kept in its strongest directions (`card_basis`, `card_axes`).

Sources: match equity as in backgammon (Kazaross and others); card removal as in poker; the fits are ours.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.rules import CrashRules
from .equity_table import EquityTable

__all__ = [
    "SOLVER_TABLE_FORMAT",
    "SolverTable",
    "SolverTableError",
    "find_solver_table",
    "needs_index",
    "needs_states",
    "num_features",
    "read_solver_table",
    "shipped_solver_tables",
    "solver_options",
]

SOLVER_TABLE_FORMAT = 1
_CUTS = 743
_MOST = 1e6  # of a scale: chances and what they are fitted by are small numbers
_LEFT_OUT = ("name", "max_rounds")
Floats = npt.NDArray[np.float64]


class SolverTableError(ValueError):
    """No table fits the rules, or a file is no table."""


def solver_options(rules: CrashRules) -> dict[str, Any]:
    """Return what decides which table fits: all options but the name and `max_rounds`.

    >>> solver_options(CrashRules.preset("online"))["target"]
    7
    """
    options = {name: value for name, value in rules.to_dict().items() if name not in _LEFT_OUT}
    if not rules.has_exchange:
        options["exchange"] = "none"
    if not rules.has_calls:
        options["crash_call_bonus"] = options["crash_call_penalty"] = 0
    return options


@cache
def needs_states(cap: int, players: int) -> Mapping[tuple[int, ...], int]:
    """Return the number of each state: what a player needs, then what the others need, ascending; 1 to `cap` each.

    >>> len(needs_states(7, 3)), needs_states(2, 3)[1, 1, 2]
    (196, 1)
    """
    others = list(combinations_with_replacement(range(1, cap + 1), players - 1))
    return {
        (own, *rest): number for number, (own, rest) in enumerate((o, r) for o in range(1, cap + 1) for r in others)
    }


def needs_index(scores: tuple[int, ...], target: int, cap: int) -> int:
    """Return the number of a player's state, its own score given first.

    >>> needs_index((6, 5, 6), 7, 7)
    1
    """
    own, *rest = (min(cap, target - score) for score in scores)
    return needs_states(cap, len(scores))[(own, *sorted(rest))]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SolverTable:
    """The content of a table.

    Attributes:
        options: as `solver_options` gives them.
        equity: winning chances by score.
        below: float64 (kinds, hands, 743), kind 0 fresh, 1 kept (with an exchange only).
        cap: largest need told apart.
        by_score: float64 (states, a), states as `needs_states` numbers them.
        score_basis: float64 (a, hands, 743).
        card_means: float64 (features,), subtracted from the features of known cards.
        card_axes: float64 (features, k).
        card_basis: float64 (kinds, hands, 743, k).
        about: how it was made, in JSON values.
    """

    options: Mapping[str, Any]
    equity: EquityTable
    below: Floats
    cap: int
    by_score: Floats
    score_basis: Floats
    card_means: Floats
    card_axes: Floats
    card_basis: Floats
    about: Mapping[str, Any]

    def fits(self, rules: CrashRules) -> bool:
        """Return whether it was made for such rules."""
        return dict(self.options) == solver_options(rules)

    def laid_below(self, kind: int, state: int) -> Floats:
        """Return the chance that a player lays less than each strength, cards aside: float64 (hands, 743)."""
        curve = self.below[kind] + np.tensordot(self.by_score[state], self.score_basis, axes=1)
        curve = np.maximum.accumulate(np.clip(curve, 0.0, 1.0), axis=1)
        curve[:, 0], curve[:, -1] = 0.0, 1.0
        return curve

    def to_json(self) -> str:
        """Return the text of its file."""
        content = {
            "format": SOLVER_TABLE_FORMAT,
            "options": dict(self.options),
            "about": dict(self.about),
            "cap": self.cap,
            "equity": base64.b64encode(self.equity.to_bytes()).decode("ascii"),
            **{name: _packed(getattr(self, name)) for name in _ARRAYS},
        }
        return json.dumps(content, indent=1) + "\n"


_ARRAYS = ("below", "by_score", "score_basis", "card_means", "card_axes", "card_basis")


def _packed(values: Floats) -> dict[str, Any]:
    """An array as int16 steps of a scale."""
    scale = float(np.abs(values).max(initial=0.0)) / 32_000 or 1.0
    steps = np.round(values / scale).astype("<i2")
    data = base64.b64encode(zlib.compress(steps.tobytes(), 9)).decode("ascii")
    return {"shape": list(values.shape), "scale": scale, "int16": data}


def _unpacked(content: Mapping[str, Any], name: str) -> Floats:
    packed = content[name]
    shape, scale = tuple(packed["shape"]), packed["scale"]
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"{name}: expected whole numbers as its shape, got {list(shape)}")
    if not (isinstance(scale, float) and 0 < scale < _MOST):
        raise ValueError(f"{name}: expected a scale from 0 to {_MOST:.0f}, got {scale!r}")
    size = 2 * math.prod(shape)
    data = zlib.decompressobj().decompress(base64.b64decode(packed["int16"], validate=True), size + 1)
    if len(data) != size:
        raise ValueError(f"{name}: expected {size} bytes for {shape}")
    values: Floats = np.frombuffer(data, "<i2").reshape(shape) * scale
    return values


def read_solver_table(text: str, where: str) -> SolverTable:
    """Return a table from the text of its file.

    Raises:
        SolverTableError: a text that is no such table.
    """
    try:
        content = json.loads(text)
        found = content["format"]
        table = (
            None
            if found != SOLVER_TABLE_FORMAT
            else SolverTable(
                options=content["options"],
                equity=EquityTable.from_bytes(base64.b64decode(content["equity"], validate=True), where),
                cap=content["cap"],
                about=dict(content["about"]),
                **{name: _unpacked(content, name) for name in _ARRAYS},
            )
        )
        if table is not None:
            _check_shapes(table)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error) as error:
        raise SolverTableError(f"{where} is no solver table: {error!r}") from None
    if table is None:
        raise SolverTableError(f"{where} has format {found!r}; this version reads format {SOLVER_TABLE_FORMAT}")
    return table


def num_features(rules: CrashRules) -> int:
    """Return how many figures tell what a player knows of the pack; those who gave up a hand have figures of their own.

    >>> num_features(CrashRules.preset("online")), num_features(CrashRules.preset("bga"))
    (44, 88)
    """
    from ._kernels_solver import NUM_FEATURES

    return NUM_FEATURES * (2 if rules.has_exchange else 1)


def _check_shapes(table: SolverTable) -> None:
    rules = CrashRules.from_dict(table.options)
    if not table.fits(rules) or not table.equity.fits(rules):
        raise ValueError(f"options: expected those of its winning chances, got {dict(table.options)}")
    if type(table.cap) is not int or table.cap < 1:
        raise ValueError(f"cap: expected a whole number from 1, got {table.cap!r}")
    for name in _ARRAYS:
        if getattr(table, name).ndim == 0:
            raise ValueError(f"{name}: expected an array, got one number")
    kinds, hands = 2 if rules.has_exchange else 1, rules.hands
    states, features = table.cap * math.comb(table.cap + rules.players - 2, rules.players - 1), num_features(rules)
    a, k = table.by_score.shape[-1], table.card_axes.shape[-1]
    wanted = {
        "card_means": (features,),
        "below": (kinds, hands, _CUTS),
        "by_score": (states, a),
        "score_basis": (a, hands, _CUTS),
        "card_axes": (features, k),
        "card_basis": (kinds, hands, _CUTS, k),
    }
    for name, shape in wanted.items():
        if getattr(table, name).shape != shape:
            raise ValueError(f"{name}: expected {shape}, got {getattr(table, name).shape}")


@cache
def shipped_solver_tables() -> Mapping[str, Path]:
    """Return the files of the tables that ship, by name."""
    folder = Path(str(resources.files(__package__) / "data" / "solver"))
    return {path.stem: path for path in sorted(folder.glob("*.json"))}


@cache
def _shipped(path: Path) -> SolverTable:
    return read_solver_table(path.read_text(encoding="utf-8"), path.name)


def find_solver_table(rules: CrashRules, *, path: str | Path | None = None) -> SolverTable:
    """Return the table that fits the rules, from those that ship or from a file.

    Raises:
        SolverTableError: none does.
    """
    if path is not None:
        try:
            table = read_solver_table(Path(path).read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise SolverTableError(f"cannot read the table {str(path)!r}: {error}") from None
        if table.fits(rules):
            return table
        different = ", ".join(f"{name}={value}" for name, value in _differences(table, rules))
        raise SolverTableError(f"the table {str(path)!r} is for other rules: {different}")
    name = f"{rules.name}-{rules.players}"
    tables = shipped_solver_tables()
    candidates = [tables[name]] if name in tables else []
    for file in [*candidates, *(file for file in tables.values() if file not in candidates)]:
        table = _shipped(file)
        if table.fits(rules):
            return table
    raise SolverTableError(
        f"no solver table for these rules ({_words(rules)}); those that ship: {', '.join(tables) or 'none'}. "
        "`prial tables solver` makes one, which SolverFast(table=PATH) plays"
    )


def _differences(table: SolverTable, rules: CrashRules) -> Iterator[tuple[str, Any]]:
    wanted = solver_options(rules)
    return ((name, value) for name, value in table.options.items() if wanted.get(name) != value)


def _words(rules: CrashRules) -> str:
    plain = CrashRules.preset(rules.name, players=rules.players) if rules.name else CrashRules()
    changed = [f"{k}={v}" for k, v in solver_options(rules).items() if v != solver_options(plain).get(k)]
    return ", ".join([f"{rules.name or 'own'}, players={rules.players}", *changed])
