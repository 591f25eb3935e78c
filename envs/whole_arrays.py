"""Arrays of whole numbers in whatever form a caller has them, and of random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["random_words", "whole_array"]

_LARGEST = 2**64 - 1


def whole_array(values: object, *shapes: tuple[int, ...], name: str) -> npt.NDArray[np.integer[Any]]:
    """Return values as an array of whole numbers, of the integer type they came as.

    Args:
        values: an array or sequences.
        shapes: those that are allowed.
        name: of the values, for the message.

    Raises:
        ValueError: other numbers (floats, truth values, what 64 bits do not hold) or another shape.

    >>> whole_array([3, 4], (2,), name="picks")
    array([3, 4])
    >>> whole_array([3.0, 4.0], (2,), name="picks")
    Traceback (most recent call last):
    ...
    ValueError: picks: expected whole numbers (2,), got float64 (2,)
    """
    try:
        array = np.asarray(values)
        if array.shape in shapes and array.dtype.kind in "iu":
            return array
        got = f"{array.dtype} {array.shape}"
    except ValueError:  # rows of different lengths
        got = f"{type(values).__name__} of rows of different lengths"
    raise ValueError(f"{name}: expected whole numbers {' or '.join(map(str, shapes))}, got {got}")


def random_words(rng: np.random.Generator, *shape: int) -> npt.NDArray[np.uint64]:
    """Return words whose 64 bits are all drawn: uint64 of a shape.

    They are what the bit generator puts out (PCG64, Philox, SFC64), or two of it each where it puts out 32 bits (MT19937,
    whose ``random_raw`` would leave the upper halves empty).

    Raises:
        TypeError: `rng` is no `numpy.random.Generator`.

    >>> bool(np.all(random_words(np.random.default_rng(1), 2) == np.random.default_rng(1).bit_generator.random_raw(2)))
    True
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng: expected a numpy.random.Generator, got {type(rng).__name__}")
    return rng.integers(0, _LARGEST, size=shape, dtype=np.uint64, endpoint=True)
