"""Arrays of floats as short text for JSON: steps of a scale, compressed. For tables that ship."""

from __future__ import annotations

import base64
import lzma
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["packed", "unpacked"]

Floats = npt.NDArray[np.float64]
_STEPS = 32_000
_LZMA: list[dict[str, int]] = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 20}]  # no more memory than that
_MOST = 1e6  # of a scale: chances and what they are fitted by are small numbers


def packed(values: Floats, *, curves: int | None = None, coarse: float = 0.0) -> dict[str, Any]:
    """Return an array as int16 steps of a scale, low bytes first, then the high ones, which are hardly ever different.

    Args:
        values: the array.
        curves: axis along which curves run: there differences are kept, which are small. None for other arrays.
        coarse: steps below which the values say no more than chance.

    >>> unpacked(packed(np.array([0.0, 0.25, -1.0])), "example").round(4).tolist()
    [0.0, 0.25, -1.0]
    """
    scale = max(float(np.abs(values).max(initial=0.0)) / _STEPS, coarse) or 1.0
    steps = np.round(values / scale).astype("<i2")
    if curves is not None:
        steps = np.diff(steps, axis=curves, prepend=np.int16(0)).astype("<i2")
    halves = np.frombuffer(steps.tobytes(), np.uint8).reshape(-1, 2).T
    data = base64.b64encode(lzma.compress(halves.tobytes(), lzma.FORMAT_RAW, filters=_LZMA)).decode("ascii")
    return {"shape": list(values.shape), "scale": scale, "int16": data}


def unpacked(content: Mapping[str, Any], name: str, *, curves: int | None = None) -> Floats:
    """Return the array that `packed` gave.

    Args:
        content: what `packed` gave.
        name: told in errors.
        curves: as it was packed.

    Raises:
        ValueError, KeyError, TypeError, EOFError, lzma.LZMAError: content that is no such array.
    """
    shape, scale = tuple(content["shape"]), content["scale"]
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"{name}: expected whole numbers as its shape, got {list(shape)}")
    if not (isinstance(scale, float) and 0 < scale < _MOST):
        raise ValueError(f"{name}: expected a scale from 0 to {_MOST:.0f}, got {scale!r}")
    size = 2 * math.prod(shape)
    unpack = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_LZMA)
    data = unpack.decompress(base64.b64decode(content["int16"], validate=True), size + 1)
    if len(data) != size:
        raise ValueError(f"{name}: expected {size} bytes for {shape}")
    steps = np.frombuffer(data, np.uint8).reshape(2, -1).T.copy().view("<i2").reshape(shape)
    if curves is not None and len(shape) > 1:
        steps = np.cumsum(steps, axis=curves, dtype=np.int16)
    values: Floats = steps * scale
    return values
