"""Compiled comparisons of many numbers at once, a bit each, and sets as such bits. Private; see `_kernels_search.py`.

Comparisons are written as LLVM vectors, for which it takes what the processor has: one or a few instructions with AVX-512 or
AVX2, more without. Arrays must reach as far as the last number read, whether or not its bit matters.

A *row* is a set of sorted triples: a tuple of one, two or five words, a bit each, the best triple first. Nothing here
branches. The first of an empty row is "none": 64 times its words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..kernel_cache import kernel

# The top bit of each field of a value is a guard: with guards set in `a`, `a - b` keeps one exactly where a's field >= b's.
GUARDS = sum(1 << (12 * field + 11) for field in range(5))
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_ALL = ~_ZERO
_WORD = np.uint64(64)
LINE = 64  # bytes of a cache line; a vector that lies across two is read in twice the time


def _load(context: Any, builder: Any, array_type: Any, array: Any, start: Any, lanes: int) -> Any:
    """The numbers of an array from `start`."""
    data = context.make_array(array_type)(context, builder, array).data
    bits = array_type.dtype.bitwidth
    place = builder.bitcast(builder.gep(data, [start]), ir.VectorType(ir.IntType(bits), lanes).as_pointer())
    vector = builder.load(place)
    vector.align = bits // 8
    return vector


def _repeat(builder: Any, number: Any, lanes: int) -> Any:
    """A vector of one number."""
    vector = ir.VectorType(number.type, lanes)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    first = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), first)


def _word(builder: Any, truths: Any) -> Any:
    """A bit a lane, as uint64."""
    lanes = truths.type.count
    bits = builder.bitcast(truths, ir.IntType(lanes))
    return bits if lanes == 64 else builder.zext(bits, ir.IntType(64))


def _same(number: int, vector: Any) -> Any:
    return ir.Constant(vector.type, [number] * vector.type.count)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def lowest_bit(typing_context: Any, word: Any) -> Any:  # noqa: ARG001 (numba's signature)
    """Position of the lowest bit of a uint64 that is not zero: one machine instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def lowest_or_64(typing_context: Any, word: Any) -> Any:  # noqa: ARG001
    """Position of the lowest bit of a uint64, 64 if there is none."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def bit_count(typing_context: Any, word: Any) -> Any:  # noqa: ARG001
    """How many bits of a uint64 are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def nonzero(typing_context: Any, numbers: Any, start: Any) -> Any:  # noqa: ARG001
    """Which of 64 numbers of a uint16 array are not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = _load(context, builder, signature.args[0], arguments[0], arguments[1], 64)
        return _word(builder, builder.icmp_unsigned("!=", vector, _same(0, vector)))

    return types.uint64(numbers, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def at_most(typing_context: Any, numbers: Any, start: Any, limit: Any) -> Any:  # noqa: ARG001
    """Which of 64 numbers of a uint16 array are not above a limit."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = _load(context, builder, signature.args[0], arguments[0], arguments[1], 64)
        return _word(builder, builder.icmp_unsigned("<=", vector, _repeat(builder, arguments[2], 64)))

    return types.uint64(numbers, types.int64, types.uint16), generate


@intrinsic  # type: ignore[untyped-decorator]
def disjoint(typing_context: Any, masks: Any, start: Any, mask: Any) -> Any:  # noqa: ARG001
    """Which of 64 masks of a uint16 array share nothing with a mask."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = _load(context, builder, signature.args[0], arguments[0], arguments[1], 64)
        shared = builder.and_(vector, _repeat(builder, arguments[2], 64))
        return _word(builder, builder.icmp_unsigned("==", shared, _same(0, vector)))

    return types.uint64(masks, types.int64, types.uint16), generate


@intrinsic  # type: ignore[untyped-decorator]
def larger(typing_context: Any, keys: Any, start: Any, key: Any) -> Any:  # noqa: ARG001
    """Which of 32 keys of a uint32 array are larger than a key."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = _load(context, builder, signature.args[0], arguments[0], arguments[1], 32)
        return _word(builder, builder.icmp_unsigned(">", vector, _repeat(builder, arguments[2], 32)))

    return types.uint64(keys, types.int64, types.uint32), generate


def _covers(builder: Any, strong: Any, weak: Any) -> Any:
    guards = _same(GUARDS, strong)
    left = builder.sub(builder.or_(strong, guards), weak)
    return _word(builder, builder.icmp_unsigned("==", builder.and_(left, guards), guards))


@intrinsic  # type: ignore[untyped-decorator]
def covering(typing_context: Any, found: Any, start: Any, value: Any) -> Any:  # noqa: ARG001
    """Which of 8 values of a uint64 array are at least a value in every field."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = _load(context, builder, signature.args[0], arguments[0], arguments[1], 8)
        return _covers(builder, vector, _repeat(builder, arguments[2], 8))

    return types.uint64(found, types.int64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def covered(typing_context: Any, found: Any, start: Any, value: Any) -> Any:  # noqa: ARG001
    """Which of 8 values of a uint64 array are at most a value in every field."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = _load(context, builder, signature.args[0], arguments[0], arguments[1], 8)
        return _covers(builder, _repeat(builder, arguments[2], 8), vector)

    return types.uint64(found, types.int64, types.uint64), generate


@kernel(makes_arrays=False)
def _word_of_all(count: Any, word: Any) -> Any:
    """The bits of the first `count` triples in a word of a row."""
    inside = min(max(count - 64 * word, 0), 64)
    return _ALL if inside == 64 else (_ONE << np.uint64(inside)) - _ONE


@kernel(makes_arrays=False)
def all_1(count: Any) -> Any:
    """A row of the first `count` triples."""
    return (_word_of_all(count, 0),)


@kernel(makes_arrays=False)
def meet_1(row: Any, rows: Any, t: Any) -> Any:
    """What a row shares with row `t` of `rows`."""
    return (row[0] & rows[t],)


@kernel(makes_arrays=False)
def first_1(row: Any) -> Any:
    """The first of a row."""
    return lowest_or_64(row[0])


@kernel(makes_arrays=False)
def drop_1(row: Any) -> Any:
    """A row without its first."""
    return (row[0] & (row[0] - _ONE),)


@kernel(makes_arrays=False)
def some_1(row: Any) -> Any:
    """Whether a row has any."""
    return row[0] != _ZERO


@kernel(makes_arrays=False)
def all_2(count: Any) -> Any:
    """A row of the first `count` triples."""
    return _word_of_all(count, 0), _word_of_all(count, 1)


@kernel(makes_arrays=False)
def meet_2(row: Any, rows: Any, t: Any) -> Any:
    """What a row shares with row `t` of `rows`."""
    at = np.uint64(2) * t
    return row[0] & rows[at], row[1] & rows[at + _ONE]


@kernel(makes_arrays=False)
def first_2(row: Any) -> Any:
    """The first of a row."""
    return lowest_or_64(row[0]) if row[0] != _ZERO else _WORD + lowest_or_64(row[1])


@kernel(makes_arrays=False)
def drop_2(row: Any) -> Any:
    """A row without its first."""
    return row[0] & (row[0] - _ONE), row[1] & (row[1] - np.uint64(row[0] == _ZERO))


@kernel(makes_arrays=False)
def some_2(row: Any) -> Any:
    """Whether a row has any."""
    return row[0] | row[1] != _ZERO


@kernel(makes_arrays=False)
def all_5(count: Any) -> Any:
    """A row of the first `count` triples."""
    return (
        _word_of_all(count, 0),
        _word_of_all(count, 1),
        _word_of_all(count, 2),
        _word_of_all(count, 3),
        _word_of_all(count, 4),
    )


@kernel(makes_arrays=False)
def meet_5(row: Any, rows: Any, t: Any) -> Any:
    """What a row shares with row `t` of `rows`."""
    at = np.uint64(5) * t
    return (
        row[0] & rows[at],
        row[1] & rows[at + np.uint64(1)],
        row[2] & rows[at + np.uint64(2)],
        row[3] & rows[at + np.uint64(3)],
        row[4] & rows[at + np.uint64(4)],
    )


@kernel(makes_arrays=False)
def first_5(row: Any) -> Any:
    """The first of a row."""
    place = np.uint64(256) + lowest_or_64(row[4])
    place = np.uint64(192) + lowest_or_64(row[3]) if row[3] != _ZERO else place
    place = np.uint64(128) + lowest_or_64(row[2]) if row[2] != _ZERO else place
    place = np.uint64(64) + lowest_or_64(row[1]) if row[1] != _ZERO else place
    return lowest_or_64(row[0]) if row[0] != _ZERO else place


@kernel(makes_arrays=False)
def drop_5(row: Any) -> Any:
    """A row without its first."""
    before_2 = row[0] | row[1]
    before_3 = before_2 | row[2]
    return (
        row[0] & (row[0] - _ONE),
        row[1] & (row[1] - np.uint64(row[0] == _ZERO)),
        row[2] & (row[2] - np.uint64(before_2 == _ZERO)),
        row[3] & (row[3] - np.uint64(before_3 == _ZERO)),
        row[4] & (row[4] - np.uint64(before_3 | row[3] == _ZERO)),
    )


@kernel(makes_arrays=False)
def some_5(row: Any) -> Any:
    """Whether a row has any."""
    return row[0] | row[1] | row[2] | row[3] | row[4] != _ZERO
