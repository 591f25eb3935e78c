"""Reading safetensors files without the library of that name: a length, a JSON header, and the numbers as they lie.

Shipped agents need no extra for it. What is written is written by the library (extra `train`).

Source: the format's description, huggingface.co/docs/safetensors.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["SafetensorsError", "SafetensorsFile", "read_safetensors"]

_LONGEST_HEADER = 1 << 20
_DTYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "U8": "u1"}


class SafetensorsError(ValueError):
    """A file that is no safetensors file, or holds what is not read here; the message names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetensorsFile:
    """The content of a file.

    Attributes:
        metadata: texts by name.
        tensors: arrays by name, read-only.
    """

    metadata: Mapping[str, str]
    tensors: Mapping[str, npt.NDArray[np.generic]]


def read_safetensors(path: str | Path) -> SafetensorsFile:
    """Return the content of a file.

    Raises:
        SafetensorsError: it cannot be read.

    >>> read_safetensors("nowhere.safetensors")
    Traceback (most recent call last):
        ...
    prial.agents.safetensors_file.SafetensorsError: cannot read 'nowhere.safetensors': no such file
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise SafetensorsError(f"cannot read {str(path)!r}: no such file") from None
    except OSError as error:
        raise SafetensorsError(f"cannot read {str(path)!r}: {error}") from None
    try:
        return _parsed(content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SafetensorsError(f"{str(path)!r} is no safetensors file: {type(error).__name__}: {error}") from None


def _parsed(content: bytes) -> SafetensorsFile:
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or not 2 <= length <= min(_LONGEST_HEADER, len(content) - 8):
        raise ValueError("its header is cut off")
    header = json.loads(content[8 : 8 + length])
    metadata = dict(header.pop("__metadata__", {}))
    data = memoryview(content)[8 + length :]
    tensors = {}
    for name, about in header.items():
        dtype, shape = np.dtype(_DTYPES[about["dtype"]]), tuple(about["shape"])
        begin, end = about["data_offsets"]
        if not 0 <= begin <= end <= len(data) or end - begin != dtype.itemsize * math.prod(shape):
            raise ValueError(f"{name} has other bytes than {shape} needs")
        tensors[name] = np.frombuffer(data[begin:end], dtype).reshape(shape)
    return SafetensorsFile(metadata=metadata, tensors=tensors)
