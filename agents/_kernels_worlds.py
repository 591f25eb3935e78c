"""Compiled: what every arrangement of one seat is worth at many tables where the others have laid theirs. Private."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.crash._kernels_rounds import NO_REASON, make_room, settle_table
from ..envs.kernel_cache import kernel


@kernel(nogil=True)
def share_at(dense: Any, ordered: Any, target: Any, scores: Any, dealer: Any, seat: Any) -> Any:
    """Win share of a seat at the start of a round, from `EquityTable.dense` laid flat."""
    n = len(scores)
    first = (dealer + 1) % n if ordered else seat
    index = (seat - first) % n if ordered else 0
    for place in range(n):
        index = index * target + scores[(first + place) % n]
    return dense[index]


@kernel(nogil=True)
def value_arrangements(
    s: Any,
    r: Any,
    out: Any,
    seats: Any,
    rows: Any,
    offsets: Any,
    values: Any,
    starts: Any,
    dense: Any,
    ordered: Any,
    worth: Any,
    start: Any,
    stop: Any,
) -> None:
    """Write what each arrangement is worth at each table, ``worth[starts[t] + number]``.

    Args:
        s, r: tables at which everyone but one seat has laid; what that seat has laid is overwritten.
        out: room for an `Outcome` of the tables.
        seats: the seat at each table.
        rows: whose arrangements to value at each table.
        offsets, values: the arrangements of each row, ragged, as packed values.
        starts: where a table's figures begin.
        dense: winning chances by score, laid flat; empty to value by the round's margin.
        ordered: whether these go by turn order.
        worth: float64, room for the figures.
    """
    room = make_room(r.players)
    n = r.players
    for t in range(start, stop):
        seat, row = np.int64(seats[t]), rows[t]
        for number in range(offsets[row + 1] - offsets[row]):
            s.values[t, seat] = values[offsets[row] + number]
            reason = settle_table(s, r, t, out, room)
            if len(dense) == 0:
                own = np.float64(out.points[t, seat])
                figure = own - (out.points[t].sum() - own) / (n - 1)
            elif reason != NO_REASON:
                figure = out.winners[t, seat] / out.winners[t].sum()
            elif s.rounds_played[t] + 1 >= r.max_rounds:
                best = room.now.max()
                figure = 1.0 / (room.now == best).sum() if room.now[seat] == best else 0.0
            else:
                figure = share_at(dense, ordered, r.target, room.now, (s.dealer[t] + 1) % n, seat)
            worth[starts[t] + number] = figure
