"""The yardstick of the benchmark: a plain scan of every four-hand partition of a deal. Private; see `bench/search.py`.

For each partition: look up the four strengths, sort them, keep them if nothing kept covers them. A triple that is no hand
counts 0, as a position left empty; since 13 cards have room for four triples, every arrangement of fewer hands is among
the partitions too, and the scan finds exactly what the search finds. It shares nothing with the search but the numbering
of triples, and stays as it is, so that figures of different versions compare.

`scan_four_only` skips every partition with a triple that is no hand. That is four times faster and misses the arrangements
of fewer hands; the benchmark names it beside the yardstick, so that nobody has to wonder.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.kernel_cache import kernel


def _scan_kernel(*, four_only: bool) -> Any:
    """Return the scan, of arrangements of four hands alone or of all; compiled for the one question."""

    @kernel()
    def scan(deals: Any, table: Any, strength: Any) -> Any:
        """Undominated values of many deals.

        Args:
            deals: int8 (d, n), ascending card ids a row.
            table: int16 (p, 4), the colex indices of the triples of slots of every four-hand partition.
            strength: int16 (22100,), 0 for no hand.

        Returns:
            offsets int64 (d + 1,), values int16 (m, 4): strengths, best first, 0 for no hand; a deal's rows in no order.
        """
        num_deals, n = deals.shape
        offsets = np.zeros(num_deals + 1, np.int64)
        values = np.empty((64 * num_deals + 4096, 4), np.int16)
        strong = np.empty(n * (n - 1) * (n - 2) // 6, np.int16)
        found = np.empty((4096, 4), np.int16)
        total = 0
        for d in range(num_deals):
            index = 0
            for k in range(2, n):
                c = np.int64(deals[d, k])
                for j in range(1, k):
                    b = np.int64(deals[d, j])
                    for i in range(j):
                        colex = c * (c - 1) * (c - 2) // 6 + b * (b - 1) // 2 + deals[d, i]
                        strong[index] = strength[colex]
                        index += 1
            count = 0
            for p in range(len(table)):
                s1, s2 = strong[table[p, 0]], strong[table[p, 1]]
                s3, s4 = strong[table[p, 2]], strong[table[p, 3]]
                if four_only and (s1 == 0 or s2 == 0 or s3 == 0 or s4 == 0):
                    continue
                s1, s2 = max(s1, s2), min(s1, s2)
                s3, s4 = max(s3, s4), min(s3, s4)
                s1, s3 = max(s1, s3), min(s1, s3)
                s2, s4 = max(s2, s4), min(s2, s4)
                s2, s3 = max(s2, s3), min(s2, s3)
                covered = False
                for f in range(count):
                    if found[f, 0] >= s1 and found[f, 1] >= s2 and found[f, 2] >= s3 and found[f, 3] >= s4:
                        covered = True
                        break
                if covered:
                    continue
                kept = 0
                for f in range(count):
                    if not (s1 >= found[f, 0] and s2 >= found[f, 1] and s3 >= found[f, 2] and s4 >= found[f, 3]):
                        for hand in range(4):
                            found[kept, hand] = found[f, hand]
                        kept += 1
                found[kept, 0], found[kept, 1], found[kept, 2], found[kept, 3] = s1, s2, s3, s4
                count = kept + 1
            if total + count > len(values):
                more = np.empty((2 * (total + count), 4), np.int16)
                more[:total] = values[:total]
                values = more
            values[total : total + count] = found[:count]
            total += count
            offsets[d + 1] = total
        return offsets, values[:total].copy()

    return scan


scan_all = _scan_kernel(four_only=False)
scan_four_only = _scan_kernel(four_only=True)
