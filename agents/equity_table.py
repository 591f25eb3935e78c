"""Winning chances by score: each seat's win share at the start of a round, from every score (match equity).

A table is made by ``prial tables equity``, from rounds that an agent plays against itself at each score
(`prial.training.equity`). It fits every game with the same options: see `EQUITY_OPTIONS`. The cut-off of games by
`max_rounds` is left out.

**Which scores are told apart.** Where nobody speaks in turn, seats differ by their scores alone: a share is found by the own
score and the others' in any order. (With `finish="immediate"` the quads bonus is settled in turn order, so that of two
players who pass the target by it in the same round the first wins. The table is the mean over dealers.) Where there is an
exchange or a call, turn order matters: a share is found by the place in turn order and the scores in turn order.

**File.** An ``.npz`` of plain arrays, nothing pickled: `shares` and `errors`, one column a state in the order of `states`,
and `about`, JSON text.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.rules import CrashRules

__all__ = [
    "EQUITY_FORMAT",
    "EQUITY_OPTIONS",
    "EquityError",
    "EquityTable",
    "dealer_matters",
    "equity_options",
    "find_equity",
    "read_equity",
    "round_states",
    "shipped_equities",
    "state_and_place",
]

EQUITY_FORMAT = 1
EQUITY_OPTIONS = (
    "players",
    "cards_dealt",
    "lowest_hand",
    "flush_high",
    "ranks",
    "exchange",
    "target",
    "finish",
    "crash_reward",
    "crash_call",
    "crash_call_bonus",
    "crash_call_penalty",
    "quads_bonus",
)
"""What decides which table fits; `exchange` counts only where it is played, bonus and penalty where crashes are called."""

_MOST_IN_TURN = 3
Floats = npt.NDArray[np.float64]


class EquityError(ValueError):
    """No table fits the rules, or a file is no table, or scores are not those of a round's start."""


def equity_options(rules: CrashRules) -> dict[str, Any]:
    """Return the values of `EQUITY_OPTIONS` for rules.

    >>> equity_options(CrashRules.preset("online"))["target"]
    7
    """
    options = {name: getattr(rules, name) for name in EQUITY_OPTIONS}
    if not rules.has_exchange:
        options["exchange"] = "none"
    if not rules.has_calls:
        options["crash_call_bonus"] = options["crash_call_penalty"] = 0
    return options


def dealer_matters(rules: CrashRules) -> bool:
    """Return whether winning chances are told apart by the turn order: where up to three players speak in turn.

    With four, who may only call, it is averaged out: it would make seventeen times as many scores (50,625 to 15 points), and
    each of them calls in less than one round of a hundred (`SolverTable.calls`).

    >>> [dealer_matters(CrashRules.preset("traditional", players=n, crash_call="optional")) for n in (3, 4)]
    [True, False]
    """
    return rules.has_exchange or (rules.has_calls and rules.players <= _MOST_IN_TURN)


@cache
def round_states(players: int, target: int, *, ordered: bool) -> npt.NDArray[np.int32]:
    """Return the scores at which a round can start, one row each: int32 (states, players), read-only.

    Args:
        players: how many.
        target: scores are below it.
        ordered: scores in turn order, every one of ``target ** players``; otherwise ascending, up to the order of seats.

    >>> round_states(2, 2, ordered=False).tolist(), len(round_states(2, 2, ordered=True))
    ([[0, 0], [0, 1], [1, 1]], 4)
    """
    if ordered:
        states = np.indices((target,) * players).reshape(players, -1).T.astype(np.int32)
    else:
        states = np.array(list(combinations_with_replacement(range(target), players)), np.int32)
    states.setflags(write=False)
    return states


@dataclass(frozen=True, eq=False, kw_only=True)
class EquityTable:
    """Each seat's win share at the start of a round, by the scores.

    Attributes:
        options: the values of `EQUITY_OPTIONS` that it was made for.
        ordered: whether the turn order counts (`dealer_matters`).
        shares: win shares, float32 (players, states): of the seats in the order of `states`.
        errors: standard errors of the shares, likewise.
        made: how it was made: command, agent, rounds, seed, and how well what was not asked for is known.

    >>> half = EquityTable.known(CrashRules(players=2, target=1), np.array([[0.5], [0.5]]))
    >>> half.shares_at(np.array([[0, 0]]), np.array([1])).tolist()
    [[0.5, 0.5]]
    """

    options: Mapping[str, Any]
    ordered: bool
    shares: npt.NDArray[np.float32]
    errors: npt.NDArray[np.float32]
    made: Mapping[str, Any]

    @classmethod
    def known(
        cls,
        rules: CrashRules,
        shares: npt.ArrayLike,
        *,
        errors: npt.ArrayLike = 0.0,
        made: Mapping[str, Any] | None = None,
    ) -> EquityTable:
        """Return a table of given shares.

        Args:
            rules: that it is for.
            shares: (players, states).
            errors: one for all, or of each.
            made: how it was made.

        Raises:
            EquityError: another shape, or shares that do not add up to 1.
        """
        ordered = dealer_matters(rules)
        values = np.asarray(shares, np.float32)
        expected = round_states(rules.players, rules.target, ordered=ordered).T.shape
        if values.shape != expected:
            raise EquityError(f"shares: expected {expected}, a row a seat and a column a state, got {values.shape}")
        if not np.allclose(values.sum(axis=0), 1, atol=1e-4) or values.min() < -1e-4:
            raise EquityError("shares: expected shares of each state that add up to 1")
        return cls(
            options=equity_options(rules),
            ordered=ordered,
            shares=values,
            errors=np.broadcast_to(np.asarray(errors, np.float32), expected).copy(),
            made=dict(made or {}),
        )

    @property
    def players(self) -> int:
        """How many players."""
        return int(self.options["players"])

    @property
    def target(self) -> int:
        """Points that end a game."""
        return int(self.options["target"])

    @property
    def states(self) -> npt.NDArray[np.int32]:
        """The scores of each column: int32 (states, players), in turn order or ascending."""
        return round_states(self.players, self.target, ordered=self.ordered)

    def fits(self, rules: CrashRules) -> bool:
        """Return whether the table is for these rules."""
        return dict(self.options) == equity_options(rules)

    def dense(self) -> Floats:
        """Return the shares by plain scores, for kernels: float64 (places, target, target, ...), C order, read-only.

        Where turn order counts, ``dense[place, first, second, ...]`` has the scores in turn order and the share of the
        player at `place` (0 is the dealer's left). Otherwise there is one place, and ``dense[0, own, other, ...]`` has the
        own score first and the others' in any order. One axis of `target` a player: 4 players at a target of 21 take 1.5 MB.
        """
        return self._dense

    def dense_errors(self) -> Floats:
        """Return the standard errors, laid out as in `dense`."""
        return _spread(self.errors, self.states, self.target, ordered=self.ordered)

    @cached_property
    def _dense(self) -> Floats:
        return _spread(self.shares, self.states, self.target, ordered=self.ordered)

    def shares_at(self, scores: npt.NDArray[np.integer[Any]], dealer: npt.NDArray[np.integer[Any]]) -> Floats:
        """Return the win shares at the start of rounds: float64 (m, players), by seat.

        Args:
            scores: by seat at the table, (m, players), each below the target.
            dealer: seat of the dealer of the round that starts, (m,).

        Raises:
            EquityError: another shape, or scores at which no round starts.
        """
        return _looked_up(self._dense, scores, dealer, ordered=self.ordered)

    def errors_at(self, scores: npt.NDArray[np.integer[Any]], dealer: npt.NDArray[np.integer[Any]]) -> Floats:
        """Return the standard errors of `shares_at`."""
        return _looked_up(self.dense_errors(), scores, dealer, ordered=self.ordered)

    def to_bytes(self) -> bytes:
        """Return the content of the table's file; the same table gives the same bytes."""
        about = {"format": EQUITY_FORMAT, "options": dict(self.options), "made": dict(self.made)}
        file = io.BytesIO()
        text = np.frombuffer(json.dumps(about).encode("utf-8"), np.uint8)
        np.savez_compressed(file, shares=self.shares, errors=self.errors.astype(np.float16), about=text)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes, where: str) -> EquityTable:
        """Return the table that a file holds.

        Args:
            content: of the file.
            where: its name, for messages.

        Raises:
            EquityError: it holds no table, or one of another format.
        """
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                about = json.loads(file["about"].tobytes().decode("utf-8"))
                shares, errors = file["shares"].astype(np.float32), file["errors"].astype(np.float32)
            found, options, made = about["format"], about["options"], about["made"]
            rules = CrashRules.from_dict(options) if found == EQUITY_FORMAT else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
            raise EquityError(f"{where} is no table of winning chances: {error!r}") from None
        if rules is None:
            raise EquityError(f"{where} has format {found!r}; this version reads format {EQUITY_FORMAT}")
        if set(options) != set(EQUITY_OPTIONS) or errors.shape != shares.shape:
            raise EquityError(f"{where} is no table of winning chances: its options or its errors do not fit")
        return cls.known(rules, shares, errors=errors, made=made)


def _spread(columns: npt.NDArray[np.float32], states: npt.NDArray[np.int32], target: int, *, ordered: bool) -> Floats:
    """Return what is known by state laid out by plain scores, as `EquityTable.dense` says."""
    players = states.shape[1]
    values = columns.astype(np.float64)
    if ordered:
        dense = np.ascontiguousarray(values.reshape(players, *(target,) * players))
    else:
        dense = np.empty((1, *(target,) * players))
        cells = np.indices((target,) * players).reshape(players, -1).T
        column, place = state_and_place(states, cells)
        dense.reshape(-1)[:] = values[place, column]
    dense.setflags(write=False)
    return dense


def state_and_place(
    states: npt.NDArray[np.int32], scores: npt.NDArray[np.integer[Any]]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the ascending state of rows of scores, and where in it the first score of each stands (the first of equals).

    Args:
        states: `round_states` without order.
        scores: (m, players), each below the target, own score first.

    >>> state_and_place(round_states(3, 2, ordered=False), np.array([[1, 0, 1]]))
    (array([2]), array([1]))
    """
    weights = (int(states.max(initial=0)) + 1) ** np.arange(states.shape[1] - 1, -1, -1)
    ascending = np.sort(scores, axis=1)
    return np.searchsorted(states @ weights, ascending @ weights), (ascending < scores[:, :1]).sum(axis=1)


def _looked_up(
    dense: Floats,
    scores: npt.NDArray[np.integer[Any]],
    dealer: npt.NDArray[np.integer[Any]],
    *,
    ordered: bool,
) -> Floats:
    players, target = dense.ndim - 1, dense.shape[1]
    if scores.ndim != 2 or scores.shape[1] != players or dealer.shape != scores.shape[:1]:
        raise EquityError(f"expected scores (m, {players}) and dealers (m,), got {scores.shape} and {dealer.shape}")
    if scores.size and not (scores.min() >= 0 and scores.max() < target):
        raise EquityError(f"scores at the start of a round are 0 to {target - 1}, got {scores.min()} to {scores.max()}")
    seats = np.arange(players)
    if ordered:
        turn = (dealer[:, None].astype(np.int64) + 1 + seats) % players
        in_turn = np.take_along_axis(scores, turn, axis=1)
        found = np.stack([dense[(place, *in_turn.T)] for place in seats], axis=1)
        by_seat = np.empty_like(found)
        np.put_along_axis(by_seat, turn, found, axis=1)
        return by_seat
    own_first = [np.roll(scores, -seat, axis=1).T for seat in seats]
    return np.stack([dense[(0, *columns)] for columns in own_first], axis=1)


def read_equity(path: str | Path) -> EquityTable:
    """Return the table of a file.

    Raises:
        EquityError: it cannot be read, or is no table.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise EquityError(f"cannot read the table {str(path)!r}: {error}") from None
    return EquityTable.from_bytes(content, str(path))


@cache
def shipped_equities() -> Mapping[str, EquityTable]:
    """Return the tables that ship, by name."""
    folder = resources.files(__package__) / "data" / "equity"
    if not folder.is_dir():
        return {}
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".npz"))
    return {name[:-4]: EquityTable.from_bytes((folder / name).read_bytes(), name) for name in names}


def find_equity(rules: CrashRules, *, path: str | Path | None = None) -> EquityTable:
    """Return the table that fits the rules, from those that ship or from a file.

    Raises:
        EquityError: none does; the message names the option that differs.
    """
    tables = list(shipped_equities().values()) if path is None else [read_equity(path)]
    for table in tables:
        if table.fits(rules):
            return table
    wanted = equity_options(rules)
    if path is None:
        described = ", ".join(f"{name}={value}" for name, value in wanted.items())
        raise EquityError(f"no table of winning chances for {described}; `prial tables equity` makes one")
    have = tables[0].options
    different = ", ".join(f"{name}={have[name]}, not {wanted[name]}" for name in wanted if have[name] != wanted[name])
    raise EquityError(f"the table {str(path)!r} is for other rules: {different}")
