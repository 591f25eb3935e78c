"""Compiled: what every arrangement of every seat is worth against what the others have drawn. Private; see `selfplay.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..agents._kernels_worlds import share_at
from ..envs.crash._kernels_search import FIELD
from ..envs.crash._kernels_settling import NO_REASON, comparison_winners, settle_winners
from ..envs.kernel_cache import kernel


@kernel(nogil=True)
def value_candidates(
    r: Any,
    scores: Any,
    dealer: Any,
    calls: Any,
    own_call: Any,
    offsets: Any,
    packed: Any,
    drawn: Any,
    dense: Any,
    ordered: Any,
    worth: Any,
    start: Any,
    stop: Any,
) -> None:
    """Write what each arrangement of each seat is worth to it, given what the others drew.

    Args:
        r: the rules, `Numbers`.
        scores, dealer, calls: of each round, (rounds, players), (rounds,), (rounds, players).
        own_call: what the seat that is valued says: 1 calls, 0 passes, -1 as in `calls`.
        offsets: where the arrangements of each seat begin, ``round * players + seat``, then the end of the last.
        packed: all arrangements, 12 bits a hand and quads, from the top.
        drawn: row in `packed` of what each seat drew.
        dense, ordered: winning chances, `EquityTable.dense` laid flat; empty for the round's margin.
        worth: float64, one a row of `packed`.
    """
    n = r.players
    values, quads, said = np.empty(n, np.uint64), np.empty(n, np.int64), np.empty(n, np.int64)
    winners, played, now = np.empty(4, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    won = np.empty(n, np.int8)
    for t in range(start, stop):
        for seat in range(n):
            values[seat] = packed[drawn[t * n + seat]]
            quads[seat] = np.int64(values[seat] & FIELD)
            said[seat] = calls[t, seat]
        for seat in range(n):
            kept, had, spoke = values[seat], quads[seat], said[seat]
            if own_call >= 0:
                said[seat] = own_call
            for row in range(offsets[t * n + seat], offsets[t * n + seat + 1]):
                values[seat] = packed[row]
                quads[seat] = np.int64(packed[row] & FIELD)
                comparison_winners(values, r.hands, winners)
                reason, _ = settle_winners(r, winners, quads, said, scores[t], np.int64(dealer[t]), played, now, won)
                if len(dense) == 0:
                    total = 0.0
                    for other in range(n):
                        total += played[other] - scores[t, other]
                    own = np.float64(played[seat] - scores[t, seat])
                    worth[row] = own - (total - own) / (n - 1)
                elif reason != NO_REASON:
                    worth[row] = won[seat] / won.sum()
                else:
                    worth[row] = share_at(dense, ordered, r.target, now, np.int64(dealer[t] + 1) % n, seat)
            values[seat], quads[seat], said[seat] = kept, had, spoke
