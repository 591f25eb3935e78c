"""Deals as a counter-based function of (seed, table, number of the deal).

Every deal can be had on its own, in any order, on any machine, whatever the batch or the number of threads:

- Two 64-bit key words come from ``numpy.random.SeedSequence(seed)``.
- The words of deal ``d`` at table ``t`` are the raw output of Philox4x64-10 with that key and the counter
  ``(0, d, t, purpose)``, purpose 0 for the shuffle, 1 for the first dealer and 2 for the seat of a learner, of a game whose
  first deal is ``d`` (little end first, as NumPy writes it).
- The shuffle is Fisher-Yates from the front of the ascending pack: for ``i = 0, 1, ...``, card ``i`` is swapped with card
  ``i + floor(w_i * (n - i) / 2**64)``. The bias is below ``n / 2**64``.

NumPy promises that bit streams stay the same; the methods of its ``Generator`` may change, so none is used.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011 (Philox).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .whole_numbers import whole_number

__all__ = ["DealStream", "fresh_seed", "learner_seats", "stream_key"]

_WORD = 1 << 64


def fresh_seed() -> int:
    """Return a new seed from the operating system, for callers that gave none (0 .. 2**63 - 1)."""
    words = np.random.SeedSequence().generate_state(1, np.uint64)
    return int(words[0] >> np.uint64(1))


@lru_cache(maxsize=256)
def stream_key(seed: int) -> npt.NDArray[np.uint64]:
    """Return the key of a seed's deals: uint64 (2,), read-only."""
    key = np.random.SeedSequence(seed).generate_state(2, np.uint64).astype(np.uint64)
    key.setflags(write=False)
    return key


class _Generator(threading.local):
    """One Philox for each thread, set to where words are wanted: making one costs three times as much as a deal."""

    def __init__(self) -> None:
        self._bits = np.random.Philox(key=0)
        self._state: dict[str, Any] = dict(self._bits.state)

    def words(self, key: npt.NDArray[np.uint64], counter: tuple[int, int, int, int], count: int) -> list[int]:
        """Return the first raw words of a key and a counter."""
        self._state["state"]["key"][:] = key
        for place, value in enumerate(counter):
            self._state["state"]["counter"][place] = value
        self._state["buffer_pos"] = 4  # the words of another counter are left over: start with a new block
        self._bits.state = self._state  # type: ignore[assignment]  # numpy types its state too narrowly
        raw: list[int] = self._bits.random_raw(count).tolist()
        return raw


_generator = _Generator()


@dataclass(frozen=True, slots=True)
class DealStream:
    """All deals of one table under one seed.

    Args:
        seed: any whole number from 0 up, of any type.
        table: which table, 0 .. 2**64 - 1.

    >>> DealStream(seed=1).shuffle(range(52), deal=0) == DealStream(seed=1).shuffle(range(52), deal=0)
    True
    """

    seed: int
    table: int = 0

    def __post_init__(self) -> None:
        for name, value in (("seed", self.seed), ("table", self.table)):
            number = whole_number(value)
            if number is None:
                raise TypeError(f"{name} is a whole number, not {value!r}")
            if number < 0:
                raise ValueError(f"{name} is 0 or more, not {number}")
            object.__setattr__(self, name, number)
        if self.table >= _WORD:
            raise ValueError(f"table is below 2**64, not {self.table}")

    def words(self, count: int, *, deal: int, purpose: int) -> list[int]:
        """Return raw 64-bit words of a deal."""
        return _generator.words(stream_key(self.seed), (0, deal, self.table, purpose), count)

    def shuffle(self, pack: Sequence[int], *, deal: int, count: int | None = None) -> list[int]:
        """Return the first `count` cards (default: all) of the shuffled pack, in dealing order."""
        cards = list(pack)
        size = len(cards)
        count = size if count is None else count
        for i, word in enumerate(self.words(count, deal=deal, purpose=0)):
            j = i + (word * (size - i) >> 64)
            cards[i], cards[j] = cards[j], cards[i]
        return cards[:count]

    def first_dealer(self, players: int, *, deal: int) -> int:
        """Return the seat that deals first, drawn evenly, in a game whose first deal is number `deal`."""
        return self.words(1, deal=deal, purpose=1)[0] * players >> 64

    def learner_seat(self, players: int, *, deal: int) -> int:
        """Return the seat of a learner, drawn evenly, in a game whose first deal is number `deal`."""
        return self.words(1, deal=deal, purpose=2)[0] * players >> 64


def learner_seats(
    seed: int, tables: npt.NDArray[np.uint64], deals: npt.NDArray[np.uint64], *, players: int
) -> npt.NDArray[np.int8]:
    """Return `DealStream.learner_seat` of many games: int8 (n,).

    Args:
        seed: of the deals.
        tables, deals: table and first deal of each game, (n,).
        players: how many seats.

    >>> learner_seats(1, np.zeros(3, np.uint64), np.arange(3, dtype=np.uint64), players=3).tolist()
    [0, 0, 2]
    >>> [DealStream(1).learner_seat(3, deal=deal) for deal in range(3)]
    [0, 0, 2]
    """
    from ._kernels_deals import drawn_seats

    seats = np.empty(len(tables), np.int8)
    drawn_seats(stream_key(seed), deals, tables, players, seats, 0, len(tables))
    return seats
