"""The columns of the batched engine: state, offers and outcomes of many tables, structure of arrays.

| column | dtype, shape | holds |
|---|---|---|
| `table` | uint64 (n,) | number of the table in the stream of deals |
| `deal_number` | uint64 (n,) | number of the next deal |
| `phase` | int8 (n,) | 0 exchange, 1 arrange, 2 call, 3 over |
| `dealer` | int8 (n,) | seat |
| `rounds_played` | int32 (n,) | rounds before this one |
| `scores` | int32 (n, players) | before this round |
| `cards` | int8 (n, players, cards) | ascending ids; after an exchange the new ones |
| `spares` | int8 (n, spare hands, cards) | in turn order |
| `given_up` | int8 (n, players, cards) | -1 where nothing was given up |
| `exchanges`, `calls` | int8 (n, players) | 1, 0, or -1 for not decided |
| `laid` | int32 (n, players) | partition index, -1 before laying |
| `values` | uint64 (n, players) | of what is laid: 12 bits each for Hand 1 to 4 and quads, from the top |
| `picks` | uint64 (n, players) | hand by hand: 13 bits of slots each for Hand 1 to 4, from the top |
| `start_scores`, `start_dealer`, `start_rounds` | int32, int8, int32 | where each game starts; dealer -1 is drawn |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..whole_arrays import whole_array
from ..whole_numbers import whole_number
from .actions import action_layout
from .events import Deal, GameResult, Termination
from .game import Episode, Game, Phase
from .observation import ViewBatch
from .rules import CrashRules, RulesError
from .starts import check_scores, turn_order

if TYPE_CHECKING:
    from ._kernels_rounds import Outcome, State
    from ._kernels_settling import Numbers

__all__ = [
    "REASONS",
    "Offers",
    "StepOutcome",
    "bytes_per_table",
    "game_of",
    "new_state",
    "rules_numbers",
    "set_starts",
    "table_numbers",
    "views_of",
]

REASONS: tuple[Termination | None, ...] = (
    None,
    Termination.TARGET,
    Termination.CRASH,
    Termination.MAX_ROUNDS,
    Termination.ROUND,
)
"""How a game ended, by the number in `StepOutcome.reason`; None while it goes on."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StepOutcome:
    """What a step of the batched engine came to, one row a table; all arrays are the caller's own.

    Attributes:
        round_ended: bool (n,); the other fields hold zeros (`crasher` -1) where it is False.
        points: int32 (n, players), the round's points, played out to the end whatever the finish (RULES section 4).
        crasher: int8 (n,), who won every comparison, -1 for nobody (or a round cut short before it was known).
        scores: int32 (n, players), after the round.
        rounds: int32 (n,), rounds of the game so far, this one included.
        game_ended: bool (n,).
        reason: int8 (n,), 0 while it goes on, 1 target, 2 crash, 3 `max_rounds`, 4 the end of a single round.
        win_shares: float64 (n, players), 1 for a win, 1/k for one shared by k, else 0.
    """

    round_ended: npt.NDArray[np.bool_]
    points: npt.NDArray[np.int32]
    crasher: npt.NDArray[np.int8]
    scores: npt.NDArray[np.int32]
    rounds: npt.NDArray[np.int32]
    game_ended: npt.NDArray[np.bool_]
    reason: npt.NDArray[np.int8]
    win_shares: npt.NDArray[np.float64]

    @property
    def truncated(self) -> npt.NDArray[np.bool_]:
        """Games cut off by `max_rounds`: bool (n,)."""
        cut: npt.NDArray[np.bool_] = self.reason == REASONS.index(Termination.MAX_ROUNDS)
        return cut

    @property
    def margins(self) -> npt.NDArray[np.float64]:
        """Own points minus the mean of the others', float64 (n, players), 0 where no round ended."""
        others = self.points.sum(axis=1, keepdims=True) - self.points
        # In this order: the same bits as `scoring.margins`.
        margins: npt.NDArray[np.float64] = self.points - others / (self.points.shape[1] - 1)
        return margins

    def result(self, row: int) -> GameResult | None:
        """Return how a table's game ended, None if it goes on."""
        reason = REASONS[int(self.reason[row])]
        if reason is None:
            return None
        return GameResult(winners=tuple(np.flatnonzero(self.win_shares[row]).tolist()), reason=reason)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Offers:
    """What each seat to act may do, undominated arrangements only: one row a table, ragged.

    Attributes:
        offsets: table `t` owns the entries ``offsets[t]:offsets[t + 1]``, int64 (n + 1,); none where nobody is to act.
        actions: int32 (m,), of `action_layout`; arrangements strongest Hand 1 first, or the two choices.
        strengths: int16 (m, 4), strength of each hand laid; zeros for choices.
        quads: int8 (m,), four of a kind laid whole.
    """

    offsets: npt.NDArray[np.int64]
    actions: npt.NDArray[np.int32]
    strengths: npt.NDArray[np.int16]
    quads: npt.NDArray[np.int8]

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many each table has: int64 (n,)."""
        return np.diff(self.offsets)

    def padded(self, k: int) -> npt.NDArray[np.int32]:
        """Return the first `k` actions of each table, -1 where there are fewer: int32 (n, k).

        Raises:
            ValueError: `k` is no whole number from 1.
        """
        width = whole_number(k)
        if width is None or width < 1:
            raise ValueError(f"k={k!r}: expected a whole number from 1")
        columns = np.arange(width)
        inside = columns < self.counts[:, None]
        padded = np.full(inside.shape, -1, np.int32)
        padded[inside] = self.actions[(self.offsets[:-1, None] + columns)[inside]]
        return padded


def rules_numbers(rules: CrashRules, *, one_round: bool, autoreset: bool) -> Numbers:
    """Return the rules in the form that kernels take."""
    from ._kernels_settling import Numbers

    return Numbers(
        players=rules.players,
        cards_dealt=rules.cards_dealt,
        hands=rules.hands,
        num_spares=rules.num_spares,
        target=rules.target,
        immediate=rules.finish == "immediate",
        crash_wins=rules.crash_reward == "game",
        crash_points=rules.crash_points,
        crash_call=("none", "optional", "required").index(rules.crash_call),
        call_bonus=rules.crash_call_bonus,
        call_penalty=rules.crash_call_penalty,
        quads_bonus=rules.quads_bonus,
        max_rounds=rules.max_rounds,
        one_round=one_round,
        autoreset=autoreset,
        first_choice=action_layout(rules).keep,
    )


def new_state(tables: npt.NDArray[np.uint64], rules: CrashRules) -> State:
    """Return the state of tables at which nothing has been dealt yet."""
    from ._kernels_rounds import State

    n, players, size = len(tables), rules.players, rules.cards_dealt
    return State(
        table=tables.copy(),
        deal_number=np.zeros(n, np.uint64),
        phase=np.zeros(n, np.int8),
        dealer=np.zeros(n, np.int8),
        rounds_played=np.zeros(n, np.int32),
        scores=np.zeros((n, players), np.int32),
        cards=np.zeros((n, players, size), np.int8),
        spares=np.zeros((n, rules.num_spares, size), np.int8),
        given_up=np.full((n, players, size), -1, np.int8),
        exchanges=np.zeros((n, players), np.int8),
        calls=np.zeros((n, players), np.int8),
        laid=np.zeros((n, players), np.int32),
        values=np.zeros((n, players), np.uint64),
        picks=np.zeros((n, players), np.uint64),
        start_scores=np.zeros((n, players), np.int32),
        start_dealer=np.full(n, -1, np.int8),
        start_rounds=np.zeros(n, np.int32),
    )


def set_starts(
    state: State,
    rules: CrashRules,
    *,
    scores: npt.ArrayLike | None,
    dealer: npt.ArrayLike | None,
    rounds_played: npt.ArrayLike | None,
) -> None:
    """Write down where games start: one row for all tables, or one a table; None leaves zeros and a drawn dealer.

    Raises:
        RulesError: what the rules do not allow, or another shape.
    """
    n = len(state.table)
    if scores is not None:
        given = np.asarray(scores)
        if given.shape not in ((rules.players,), (n, rules.players)) or given.dtype.kind not in "iu":
            raise RulesError(f"scores: expected whole numbers ({rules.players},) or ({n}, {rules.players})")
        for row in np.unique(np.atleast_2d(given), axis=0).tolist():
            check_scores(rules, row)
        state.start_scores[:] = given
    for name, values, column, stop in (
        ("dealer", dealer, state.start_dealer, rules.players),
        ("rounds_played", rounds_played, state.start_rounds, rules.max_rounds),
    ):
        if values is None:
            continue
        numbers = np.asarray(values)
        whole = numbers.dtype.kind in "iu" and numbers.shape in ((), (n,))
        if not whole or numbers.min() < 0 or numbers.max() >= stop:
            raise RulesError(f"{name}={values!r}: expected a whole number from 0 to {stop - 1}, or {n} of them")
        column[:] = numbers


def table_numbers(tables: npt.ArrayLike | None, count: int) -> npt.NDArray[np.uint64]:
    """Return the number of each table in the stream of deals, 0, 1, ... if None: uint64 (count,).

    Raises:
        ValueError: not so many whole numbers from 0, or 2**64 and more.
    """
    if tables is None:
        return np.arange(count, dtype=np.uint64)
    given: object = tables
    if isinstance(tables, Sequence):
        # NumPy makes floats of whole numbers on both sides of 2**63.
        numbers = [whole_number(number) for number in tables]
        if all(number is not None and 0 <= number < 2**64 for number in numbers):
            given = np.array(numbers, np.uint64)
    wanted = whole_array(given, (count,), name="tables")
    if wanted.min() < 0:
        raise ValueError(f"tables: expected whole numbers ({count},) from 0, got {wanted.min()} among them")
    return wanted.astype(np.uint64)


def views_of(
    state: State,
    rules: CrashRules,
    pending: npt.NDArray[np.bool_],
    tables: npt.NDArray[np.integer],
    seats: npt.NDArray[np.integer],
) -> ViewBatch:
    """Return what seats know, one view a row; `pending` says who must act, (tables, players)."""
    exchanges = state.exchanges[tables]
    if rules.players == 2:
        # Both choose without knowing the other's choice.
        hidden = np.flatnonzero(state.phase[tables] == Phase.EXCHANGE)
        exchanges[hidden, 1 - seats[hidden]] = -1
    return ViewBatch(
        rules=rules,
        seat=seats.astype(np.int8),
        phase=state.phase[tables],
        dealer=state.dealer[tables],
        to_act=pending[tables, seats].astype(np.int8),
        rounds_played=state.rounds_played[tables],
        scores=state.scores[tables],
        cards=state.cards[tables, seats],
        given_up=state.given_up[tables, seats],
        exchanges=exchanges,
        calls=state.calls[tables],
        laid=state.laid[tables, seats],
    )


def new_outcome(n: int, players: int) -> Outcome:
    """Return room for what a step comes to, nothing having happened."""
    from ._kernels_rounds import Outcome

    return Outcome(
        round_ended=np.zeros(n, np.bool_),
        game_ended=np.zeros(n, np.bool_),
        reason=np.zeros(n, np.int8),
        crasher=np.full(n, -1, np.int8),
        rounds=np.zeros(n, np.int32),
        points=np.zeros((n, players), np.int32),
        scores=np.zeros((n, players), np.int32),
        winners=np.zeros((n, players), np.int8),
        win_shares=np.zeros((n, players), np.float64),
    )


def handed_out(out: Outcome) -> StepOutcome:
    """Return an outcome as the caller gets it."""
    fields = {name: getattr(out, name) for name in StepOutcome.__dataclass_fields__}
    return StepOutcome(**fields)


def game_of(state: State, t: int, rules: CrashRules, *, seed: int, episode: Episode) -> Game:
    """Return a `Game` that stands where a table stands whose game is not over, and goes on with the same deals."""
    dealer, hands = int(state.dealer[t]), [tuple(row) for row in state.cards[t].tolist()]
    for seat in np.flatnonzero(state.exchanges[t] == 1).tolist():
        hands[seat] = tuple(state.given_up[t, seat].tolist())
    deal = Deal(
        round_number=int(state.rounds_played[t]),
        dealer=dealer,
        scores=tuple(state.scores[t].tolist()),
        hands=tuple(hands),
        spares=tuple(tuple(row) for row in state.spares[t].tolist()),
    )
    game = Game(
        rules,
        seed=seed,
        table=int(state.table[t]),
        first_deal=int(state.deal_number[t]) - 1,
        dealer=dealer,
        scores=deal.scores,
        rounds_played=deal.round_number,
        episode=episode,
        deals=[deal],
    )
    layout = action_layout(rules)
    order = turn_order(dealer, rules.players)
    for column, first in ((state.exchanges, layout.keep), (state.laid, 0), (state.calls, layout.pass_)):
        for seat in order:
            if column[t, seat] >= 0:
                game.step(first + int(column[t, seat]), seat)
    return game


def bytes_per_table(rules: CrashRules) -> int:
    """Return how much room the state of one table takes.

    >>> bytes_per_table(CrashRules.preset("online"))
    195
    """
    return sum(column.nbytes for column in new_state(np.zeros(1, np.uint64), rules))
