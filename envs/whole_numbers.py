"""Whole numbers in whatever form a caller has them."""

from __future__ import annotations

from operator import index

__all__ = ["whole_number"]


def whole_number(value: object) -> int | None:
    """Return a value as a plain int, whatever whole number it came as; None if it is none.

    >>> import numpy as np
    >>> whole_number(np.int64(7)), whole_number(np.array(7)), whole_number(7.0), whole_number(True)
    (7, 7, None, None)
    """
    if type(value) is int:  # the usual case, and decisions by the million
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    try:
        return index(value)
    except TypeError:  # arrays have __index__, but only single whole numbers give one
        return None
