"""A value network in plain NumPy: what each arrangement is worth in its context, and whether to exchange or to call.

    c = relu(context C)                         once a decision
    x = relu(hands A + c B)                     once an arrangement
    y = relu(x D + c E)
    value = y . (w + c G)

The exchange and the call are worth what a small network of their own says of one arrangement (the best one of the hand,
the one that was laid) in its context: above 0, exchange or call. Values are differences: only those between arrangements
of the same cards mean anything.

`prial.training.value_net` is the same in torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.partitions import CandidateBatch
from .value_inputs import CONTEXT_SIZE, HandBasis

__all__ = ["ValueNetwork", "weight_shapes"]

Floats = npt.NDArray[np.float32]
# Rows at once: products of larger matrices start threads of their own, which take the cores from all others.
_ROWS = 24


def weight_shapes(*, width: int, hats: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a network's arrays, by name.

    >>> weight_shapes(width=8, hats=3)["hands.weight"]
    (8, 17)
    """
    hand, gate = 4 * (hats + 1) + 1, (width, width)
    shapes: dict[str, tuple[int, ...]] = {
        "context.weight": (width, CONTEXT_SIZE),
        "context.bias": (width,),
        "hands.weight": (width, hand),
        "first.weight": gate,
        "first.bias": (width,),
        "second.weight": gate,
        "shift.weight": gate,
        "shift.bias": (width,),
        "read.weight": gate,
        "read.bias": (width,),
    }
    for head in ("exchange", "call"):
        shapes |= {
            f"{head}.0.weight": (width, hand + CONTEXT_SIZE),
            f"{head}.0.bias": (width,),
            f"{head}.2.weight": (width, width),
            f"{head}.2.bias": (width,),
            f"{head}.4.weight": (1, width),
            f"{head}.4.bias": (1,),
        }
    return shapes


@dataclass(frozen=True, eq=False)
class ValueNetwork:
    """The network.

    Args:
        weights: arrays as `weight_shapes` names them, and `places` (`places_of`).
    """

    weights: Mapping[str, Floats]

    def __post_init__(self) -> None:
        basis = HandBasis.of(self.weights["places"], hats=self.hats)
        object.__setattr__(self, "basis", basis)

    basis: HandBasis = None  # type: ignore[assignment]  # made from the weights

    @property
    def hats(self) -> int:
        """How many hat functions stand for a hand."""
        return (int(self.weights["hands.weight"].shape[1]) - 1) // 4 - 1

    def values(self, hands: Floats, context: Floats, counts: npt.NDArray[np.integer[Any]]) -> Floats:
        """Return the value of each arrangement: float32 (m,).

        Args:
            hands: `HandBasis.inputs` of the arrangements of all decisions, one after the other, (m, size).
            context: of each decision, (n, CONTEXT_SIZE).
            counts: how many arrangements each decision has, (n,).
        """
        seen = np.maximum(self._linear("context", context), 0)
        first, shift, read = (self._linear(name, seen) for name in ("first", "shift", "read"))
        owner = np.repeat(np.arange(len(counts)), counts)
        out = np.empty(len(hands), np.float32)
        into, second = self.weights["hands.weight"].T, self.weights["second.weight"].T
        for start in range(0, len(hands), _ROWS):
            rows = slice(start, start + _ROWS)
            whose = owner[rows]
            hidden = np.maximum(hands[rows] @ into + first[whose], 0)
            hidden = np.maximum(hidden @ second + shift[whose], 0)
            out[rows] = (hidden * read[whose]).sum(axis=1)
        return out

    def choice(self, head: str, hands: Floats, context: Floats) -> Floats:
        """Return what the `exchange` or the `call` is worth more than not: float32 (n,)."""
        hidden = np.concatenate([hands, context], axis=1)
        for layer in (0, 2):
            hidden = np.maximum(self._linear(f"{head}.{layer}", hidden), 0)
        return self._linear(f"{head}.4", hidden)[:, 0]

    def _linear(self, name: str, x: Floats) -> Floats:
        weight, bias = self.weights[f"{name}.weight"].T, self.weights[f"{name}.bias"]
        out = np.empty((len(x), len(bias)), np.float32)
        for start in range(0, len(x), _ROWS):
            out[start : start + _ROWS] = x[start : start + _ROWS] @ weight + bias
        return out

    def best(self, found: CandidateBatch, context: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
        """Return each decision's best arrangement as a row of all, and that row's inputs."""
        hands = self.basis.inputs(found)
        rows = found.best_rows(self.values(hands, context, found.counts))
        return rows, hands[rows]
