"""What `solver-fast` knows: winning chances by score, and what opponents lay by score, history and the cards one holds.

A table is a JSON file in ``agents/data/solver`` made by ``prial tables solver``; arrays are packed (`packed_arrays`). It
fits one set of rules, target and scoring included, since those decide what a point is worth.

**What opponents lay.** ``below[situation][j][hand][s]`` is the chance that the j-th opponent's hand at that position is
weaker than strength `s`, after what was said in the exchange (`solver_situations`); ``all_below[situation][hand][s]``, that
all opponents' hands are, which is more or less than the product: they share one pack. Two things move these:

- the score moves each opponent's: ``by_score @ score_basis``, by what it and the others still need (needs above a cap count
  as the cap), apart for those who kept a hand;
- the cards one knows (own and given up), which no opponent holds, move `all_below`. In each situation the strongest axes are
  found of a linear fit on how many cards of each rank are known, whether two, three and four, the sizes of the suits, and
  how many runs, running flushes and flushes the rest could make (`card_axes`). The places on these axes, and the products
  of any two of the first of them (`card_weights`), then make a fit of the second order, in its strongest directions
  (`card_basis`).

**How positions hang together.** ``joint`` says how often the strongest of the opponents' hands at all positions lie in each
cell of a grid, by how weak they are (a copula; its cells are smaller at the ends, `joint_marks`): thirteen cards that make a
weak hand at three positions make a strong one at the fourth. ``pair_same`` says how much likelier the same opponent wins two
neighbouring positions than another. Both are told apart by the stage of the game too (`solver_situations.stages_of`): first
all situations of the first stage, then those of the next.

**The exchange and the call.** ``keeps`` says how often others keep their hand, ``calls`` how often they call a crash, by the
positions that they then win (told apart by the stage too);
``exchange_win`` and ``exchange_points``, what exchanging is worth at even scores by the hand that one gives up, linear in
the same features of it.

A table for rules that differ from those of another in what is paid alone (a call, say) can rest on that one, its `base`:
what cards say and how positions hang together are then the base's, and everything else its own.

Sources: match equity as in backgammon (Kazaross and others); card removal as in poker; the fits are ours.
"""

from __future__ import annotations

import base64
import json
import lzma
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.presets import preset_names
from ..envs.crash.rules import CrashRules
from .equity_table import EquityTable
from .packed_arrays import packed, unpacked
from .solver_situations import NUM_STAGES, keepers, num_situations

__all__ = [
    "NUM_FEATURES",
    "NUM_RANKS",
    "NUM_RUNS",
    "NUM_SUITS",
    "OF_BASE",
    "SOLVER_TABLE_FORMAT",
    "SolverTable",
    "SolverTableError",
    "find_solver_table",
    "joint_marks",
    "needs_index",
    "needs_states",
    "num_terms",
    "read_solver_table",
    "shipped_solver_tables",
    "solver_options",
]

SOLVER_TABLE_FORMAT = 6
NUM_RANKS, NUM_SUITS, NUM_RUNS = 13, 4, 12
NUM_FEATURES = 3 * NUM_RANKS + (NUM_SUITS + 1) + NUM_RANKS + 2 * NUM_RUNS + NUM_RANKS + NUM_SUITS
"""How many figures tell what a player knows of the pack (`_kernels_solver_cards.card_features`)."""
_JOINT_PARTS = {1: 1, 2: 24, 3: 16, 4: 8}  # by hands
_CUTS = 743
_EMPTY, _SCALINGS = 1e-9, 12  # share of a cell in which nothing was counted; rounds of scaling the cells
_LEFT_OUT = ("name", "max_rounds")
Floats = npt.NDArray[np.float64]


def joint_marks(hands: int) -> Floats:
    """Return where the grid is cut that says how positions hang together: chances from 0 to 1, closer together at the ends.

    >>> joint_marks(4).round(3).tolist()
    [0.0, 0.038, 0.146, 0.309, 0.5, 0.691, 0.854, 0.962, 1.0]
    """
    parts = _JOINT_PARTS[hands]
    marks: Floats = 0.5 - 0.5 * np.cos(np.pi * np.arange(parts + 1) / parts)
    return marks


def num_terms(axes: int, paired: int) -> int:
    """Return how many terms a fit on known cards has: 1, the place on each axis, and the products of any two of the first.

    Args:
        axes: how many.
        paired: how many of them make products.

    >>> num_terms(3, 2)
    7
    """
    return 1 + axes + paired * (paired + 1) // 2


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


@dataclass(frozen=True, eq=False, kw_only=True)
class SolverTable:
    """The content of a table.

    Attributes:
        options: as `solver_options` gives them.
        equity: winning chances by score.
        keeps: float64 (players, states), how often a hand is kept, by how many others have kept theirs before, and by the
            state of who is asked, as `needs_states` numbers them; 0 without exchange.
        calls: float64 (stages * situations, others, hands + 1), how often others call a crash who then win none, one, ...
            of the positions; 0 where nobody may.
        exchange_win, exchange_points: float64 (situations, 1 + features), what exchanging is worth at even scores, in win
            share and in points: a constant and the weight of each feature of the hand given up; 0 where one has not
            exchanged.
        below: float64 (situations, others, hands, 743), others clockwise; one for all of them without an exchange.
        all_below: float64 (situations, hands, 743).
        cap: largest need told apart.
        by_score: float64 (groups, states, a), states as `needs_states` numbers them; group 1 has kept a hand, 0 has not.
        score_basis: float64 (a, hands, 743).
        card_means: float64 (situations, features), subtracted from the features of known cards.
        card_axes: float64 (situations, features, d).
        card_weights: float64 (situations, 1 + d + p (p + 1) / 2, k), of 1, the places on the axes, and the products of any
            two of the first p.
        card_basis: float64 (hands, 743, k).
        joint: float64 (stages * situations, parts, ..., parts), an axis for each hand: how often all others' hands lie in
            each cell of the grid of `joint_marks` at once, adding up to 1.
        pair_same: float64 (stages * situations, hands - 1), 1 for as likely.
        about: how it was made, in JSON values.
        base: name of the table that ships whose figures of cards and positions these are; None where they are its own.
    """

    options: Mapping[str, Any]
    equity: EquityTable
    keeps: Floats
    calls: Floats
    exchange_win: Floats
    exchange_points: Floats
    below: Floats
    all_below: Floats
    cap: int
    by_score: Floats
    score_basis: Floats
    card_means: Floats
    card_axes: Floats
    card_weights: Floats
    card_basis: Floats
    joint: Floats
    pair_same: Floats
    about: Mapping[str, Any]
    base: str | None = None

    def fits(self, rules: CrashRules) -> bool:
        """Return whether it was made for such rules."""
        return dict(self.options) == solver_options(rules)

    def laid_below(self, situation: int, other: int, state: int) -> Floats:
        """Return the chance that an opponent lays less than each strength, cards aside: float64 (hands, 743).

        Args:
            situation: of who asks.
            other: which opponent, clockwise from 0.
            state: of the opponent, as `needs_states` numbers them.
        """
        kept = keepers(self.rules)[situation, other + 1]
        curve = self.below[situation, other % self.below.shape[1]]
        return _rising(curve + np.tensordot(self.by_score[int(kept), state], self.score_basis, axes=1))

    def all_laid_below(self, situation: int, states: Sequence[int]) -> Floats:
        """Return the chance that all opponents lay less than each strength, cards aside: float64 (hands, 743).

        Args:
            situation: of who asks.
            states: of the opponents, clockwise.
        """
        usual, here = np.ones((2, *self.all_below.shape[1:]))
        for other, state in enumerate(states):
            usual *= self.below[situation, other % self.below.shape[1]]
            here *= self.laid_below(situation, other, state)
        return _rising(self.all_below[situation] + here - usual)

    @cached_property
    def joint_below(self) -> Floats:
        """The chance that all others' hands are weak at all positions at once, by how weak.

        Float64 (stages * situations, marks ** hands): marks along each axis, as `joint_marks` has them, flat. At a single
        position it is the mark itself: the cells are scaled along each axis in turn until they say so.
        """
        hands, cells = self.joint.ndim - 1, np.maximum(self.joint, 0.0) + _EMPTY
        widths = np.diff(joint_marks(hands))
        for _ in range(_SCALINGS):
            for hand in range(hands):
                rest = tuple(1 + other for other in range(hands) if other != hand)
                shape = [-1 if axis == 1 + hand else 1 for axis in range(1 + hands)]
                cells *= widths.reshape(shape) / cells.sum(axis=rest, keepdims=True)
        below = np.pad(cells, ((0, 0), *((1, 0) for _ in range(hands))))
        for hand in range(hands):
            below = below.cumsum(axis=1 + hand)
        return below.reshape(len(below), -1)

    @cached_property
    def rules(self) -> CrashRules:
        """The rules by its options."""
        return CrashRules.from_dict(self.options)

    def to_json(self) -> str:
        """Return the text of its file."""
        content = {
            "format": SOLVER_TABLE_FORMAT,
            "options": dict(self.options),
            "about": dict(self.about),
            "cap": self.cap,
            "equity": base64.b64encode(self.equity.to_bytes()).decode("ascii"),
            **({} if self.base is None else {"base": self.base}),
            **{
                name: packed(getattr(self, name), curves=_CURVES.get(name), coarse=_COARSE.get(name, 0.0))
                for name in _ARRAYS
                if self.base is None or name not in OF_BASE
            },
        }
        return json.dumps(content, indent=1) + "\n"


_ARRAYS = (
    "keeps",
    "calls",
    "exchange_win",
    "exchange_points",
    "below",
    "all_below",
    "by_score",
    "score_basis",
    "card_means",
    "card_axes",
    "card_weights",
    "card_basis",
    "joint",
    "pair_same",
)
OF_BASE = ("card_means", "card_axes", "card_weights", "card_basis", "joint", "pair_same")
"""What a table takes from its base."""


def _rising(curve: Floats) -> Floats:
    """The curves as chances of less than 0, 1, ..., 742: from 0 to 1, never falling."""
    rising: Floats = np.maximum.accumulate(np.clip(curve, 0.0, 1.0), axis=-1)
    rising[..., 0], rising[..., -1] = 0.0, 1.0
    return rising


_COARSE = {"joint": 2e-5}
"""Steps below which an array says no more than chance."""
_CURVES = {"below": -1, "all_below": -1, "score_basis": -1, "card_basis": 1}
"""Arrays that hold curves, with the axis along which these run."""


def read_solver_table(text: str, where: str) -> SolverTable:
    """Return a table from the text of its file.

    Raises:
        SolverTableError: a text that is no such table.
    """
    try:
        content = json.loads(text)
        found = content["format"]
        table = None if found != SOLVER_TABLE_FORMAT else _read(content, where)
        if table is not None:
            _check_shapes(table)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, EOFError, lzma.LZMAError) as error:
        raise SolverTableError(f"{where} is no solver table: {error!r}") from None
    if table is None:
        raise SolverTableError(f"{where} has format {found!r}; this version reads format {SOLVER_TABLE_FORMAT}")
    return table


def _read(content: Mapping[str, Any], where: str) -> SolverTable:
    name = content.get("base")
    arrays: dict[str, Floats] = {}
    if name is not None:
        file = shipped_solver_tables().get(str(name))
        if file is None or file.name == where:
            raise ValueError(f"base: expected one of {', '.join(shipped_solver_tables())}, got {name!r}")
        base = _shipped(file)
        if base.base is not None:
            raise ValueError(f"base: expected a table with figures of its own, {name!r} has none")
        arrays = {one: getattr(base, one) for one in OF_BASE}
    return SolverTable(
        options=content["options"],
        equity=EquityTable.from_bytes(base64.b64decode(content["equity"], validate=True), where),
        cap=content["cap"],
        about=dict(content["about"]),
        base=name,
        **arrays,
        **{one: unpacked(content[one], one, curves=_CURVES.get(one)) for one in _ARRAYS if one not in arrays},
    )


def _check_shapes(table: SolverTable) -> None:
    rules = table.rules
    if not table.fits(rules) or not table.equity.fits(rules):
        raise ValueError(f"options: expected those of its winning chances, got {dict(table.options)}")
    if type(table.cap) is not int or table.cap < 1:
        raise ValueError(f"cap: expected a whole number from 1, got {table.cap!r}")
    for name in _ARRAYS:
        if getattr(table, name).ndim == 0:
            raise ValueError(f"{name}: expected an array, got one number")
    hands, situations = rules.hands, num_situations(rules)
    others, groups = (rules.players - 1, 2) if rules.has_exchange else (1, 1)
    states = table.cap * math.comb(table.cap + rules.players - 2, rules.players - 1)
    a, d, k = (array.shape[-1] for array in (table.by_score, table.card_axes, table.card_basis))
    wanted = {
        "keeps": (rules.players, states),
        "calls": (NUM_STAGES * situations, rules.players - 1, hands + 1),
        "exchange_win": (situations, 1 + NUM_FEATURES),
        "exchange_points": (situations, 1 + NUM_FEATURES),
        "card_means": (situations, NUM_FEATURES),
        "below": (situations, others, hands, _CUTS),
        "all_below": (situations, hands, _CUTS),
        "by_score": (groups, states, a),
        "score_basis": (a, hands, _CUTS),
        "card_axes": (situations, NUM_FEATURES, d),
        "card_weights": (situations, *table.card_weights.shape[1:2], k),
        "card_basis": (hands, _CUTS, k),
        "joint": (NUM_STAGES * situations, *(len(joint_marks(hands)) - 1 for _ in range(hands))),
        "pair_same": (NUM_STAGES * situations, hands - 1),
    }
    for name, shape in wanted.items():
        if getattr(table, name).shape != shape:
            raise ValueError(f"{name}: expected {shape}, got {getattr(table, name).shape}")
    if table.card_weights.shape[1] not in {num_terms(d, paired) for paired in range(d + 1)}:
        raise ValueError(f"card_weights: expected a weight for 1, {d} axes and products of some of them")


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
    ships = rules.name in preset_names()
    plain = CrashRules.preset(rules.name, players=rules.players) if ships else CrashRules()
    changed = [f"{k}={v}" for k, v in solver_options(rules).items() if v != solver_options(plain).get(k)]
    return ", ".join([f"{rules.name or 'own'}, players={rules.players}", *changed])
