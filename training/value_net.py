"""The value network in torch, as it is trained; `prial.agents.value_network` describes it and plays it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ..agents.value_inputs import CONTEXT_SIZE, HandBasis
from ..agents.value_network import ValueNetwork

__all__ = ["ValueNet", "numpy_network"]


class ValueNet(nn.Module):
    """The network.

    Args:
        places: `prial.agents.value_inputs.places_of` the rules.
        width: of its layers.
        hats: hat functions for each hand.

    >>> net = ValueNet(np.zeros((4, 743), np.float32), width=8, hats=3)
    >>> net.values(torch.zeros(5, 17), torch.zeros(2, CONTEXT_SIZE), torch.tensor([0, 0, 0, 1, 1])).shape
    torch.Size([5])
    """

    places: Tensor

    def __init__(self, places: npt.NDArray[np.float32], *, width: int = 96, hats: int = 16) -> None:
        super().__init__()
        self.register_buffer("places", torch.as_tensor(places))
        size = 4 * (hats + 1) + 1
        self.hats = hats
        self.context = nn.Linear(CONTEXT_SIZE, width)
        self.hands = nn.Linear(size, width, bias=False)
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width, bias=False)
        self.shift = nn.Linear(width, width)
        self.read = nn.Linear(width, width)
        self.exchange = _head(size, width)
        self.call = _head(size, width)

    def values(self, hands: Tensor, context: Tensor, owner: Tensor) -> Tensor:
        """Return the value of each arrangement: float32 (m,).

        Args:
            hands: inputs of all arrangements, (m, size).
            context: of each decision, (n, CONTEXT_SIZE).
            owner: decision of each arrangement, int64 (m,).
        """
        seen = torch.relu(self.context(context))
        first, shift, read = (layer(seen).index_select(0, owner) for layer in (self.first, self.shift, self.read))
        hidden = torch.relu(self.hands(hands) + first)
        hidden = torch.relu(self.second(hidden) + shift)
        values: Tensor = (hidden * read).sum(dim=1)
        return values

    def choice(self, head: str, hands: Tensor, context: Tensor) -> Tensor:
        """Return what the `exchange` or the `call` is worth more than not: float32 (n,)."""
        layers = cast(nn.Sequential, getattr(self, head))
        return cast(Tensor, layers(torch.cat([hands, context], dim=1)))[:, 0]

    def basis(self) -> HandBasis:
        """Return what makes the inputs of hands."""
        return HandBasis.of(self.places.cpu().numpy(), hats=self.hats)


def _head(size: int, width: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(size + CONTEXT_SIZE, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, 1),
    )


def numpy_network(weights: Mapping[str, Tensor]) -> ValueNetwork:
    """Return the network that plays, from `ValueNet.state_dict()`."""
    return ValueNetwork({name: values.detach().cpu().numpy().copy() for name, values in weights.items()})
