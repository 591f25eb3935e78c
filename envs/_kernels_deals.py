"""Compiled deals: the same function of (seed, table, number of the deal) as `deals.py`. Private."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .kernel_cache import kernel

_M0, _M1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_W0, _W1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_ROUNDS = 10


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def high_product(typing_context: Any, left: Any, right: Any) -> Any:  # noqa: ARG001 (numba's signature)
    """Upper 64 bits of the 128-bit product of two uint64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        wide, half = ir.IntType(128), ir.IntType(64)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), half)

    return types.uint64(types.uint64, types.uint64), generate


@kernel(nogil=True, makes_arrays=False)
def philox_block(key: Any, block: Any, deal: Any, table: Any, purpose: Any, words: Any) -> None:
    """Write the four words of one block of Philox4x64-10; NumPy's first block of a stream is number 1.

    Args:
        key: uint64 (2,).
        block, deal, table, purpose: the counter.
        words: uint64 (at least 4,).
    """
    c0, c1, c2, c3 = np.uint64(block), np.uint64(deal), np.uint64(table), np.uint64(purpose)
    k0, k1 = key[0], key[1]
    for _ in range(_ROUNDS):
        high0, low0 = high_product(_M0, c0), _M0 * c0
        high1, low1 = high_product(_M1, c2), _M1 * c2
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0 += _W0
        k1 += _W1
    words[0], words[1], words[2], words[3] = c0, c1, c2, c3


@kernel(nogil=True, makes_arrays=False)
def _philox_pair(key: Any, block: Any, deal: Any, table: Any, words: Any, at: Any) -> None:
    """Write the words of a block and of the next one from `at` on, for purpose 0.

    Each step of a block waits for the one before; two at once take little longer than one.
    """
    a0, a1, a2, a3 = np.uint64(block), np.uint64(deal), np.uint64(table), np.uint64(0)
    b0, b1, b2, b3 = a0 + np.uint64(1), a1, a2, a3
    k0, k1 = key[0], key[1]
    for _ in range(_ROUNDS):
        high_a0, low_a0 = high_product(_M0, a0), _M0 * a0
        high_a1, low_a1 = high_product(_M1, a2), _M1 * a2
        high_b0, low_b0 = high_product(_M0, b0), _M0 * b0
        high_b1, low_b1 = high_product(_M1, b2), _M1 * b2
        a0, a1, a2, a3 = high_a1 ^ a1 ^ k0, low_a1, high_a0 ^ a3 ^ k1, low_a0
        b0, b1, b2, b3 = high_b1 ^ b1 ^ k0, low_b1, high_b0 ^ b3 ^ k1, low_b0
        k0 += _W0
        k1 += _W1
    words[at], words[at + 1], words[at + 2], words[at + 3] = a0, a1, a2, a3
    words[at + 4], words[at + 5], words[at + 6], words[at + 7] = b0, b1, b2, b3


@kernel(nogil=True, makes_arrays=False)
def shuffle_front(key: Any, deal: Any, table: Any, pack: Any, cards: Any, count: Any, words: Any) -> None:
    """Write the shuffled pack to `cards`; its first `count` cards are dealt, in dealing order.

    Args:
        key: uint64 (2,).
        deal, table: which deal.
        pack: int8 (n,), ascending.
        cards: room for int8 (n,).
        count: how many cards are needed.
        words: room for uint64 (64,).
    """
    size = np.uint64(len(pack))
    for i in range(size):
        cards[i] = pack[i]
    for two in range((count + 7) >> 3):
        _philox_pair(key, 2 * two + 1, deal, table, words, 8 * two)
    for i in range(np.uint64(count)):
        j = i + high_product(words[i], size - i)
        cards[i], cards[j] = cards[j], cards[i]


@kernel(nogil=True, makes_arrays=False)
def drawn_dealer(key: Any, deal: Any, table: Any, players: Any, words: Any) -> Any:
    """Seat that deals first in a game whose first deal is number `deal`; `words` is room for uint64 (4,)."""
    philox_block(key, 1, deal, table, 1, words)
    return np.int64(high_product(words[0], np.uint64(players)))


@kernel(nogil=True)
def drawn_seats(key: Any, deals: Any, tables: Any, players: Any, seats: Any, start: Any, stop: Any) -> None:
    """Write the seat drawn for the learner in games that begin with these deals, int8."""
    words = np.empty(4, np.uint64)
    for i in range(start, stop):
        philox_block(key, 1, deals[i], tables[i], 2, words)
        seats[i] = np.int8(high_product(words[0], np.uint64(players)))
