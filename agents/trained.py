"""Agents that learned by self-play: a value network, one for each rule set, played by NumPy alone.

The network says what each undominated arrangement is worth where the game stands; the best is laid. It says as well whether
to exchange, and to call. `prial train selfplay` trains, `prial train ship` writes the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import laid_many
from ..envs.crash.rules import CrashRules
from .protocol import Actions, BaseAgent, Choices
from .safetensors_file import SafetensorsError, read_safetensors
from .solver_table import solver_options
from .value_inputs import INPUTS_VERSION, contexts_of
from .value_network import ValueNetwork, weight_shapes

__all__ = ["TRAINED_FORMAT", "Trained", "TrainedError", "bga", "online", "traditional"]

TRAINED_FORMAT = "prial value network 1"
_FREE = ("players", "target")


class TrainedError(ValueError):
    """No file of a trained agent, or one for other rules."""


class Trained(BaseAgent):
    """An agent around a value network.

    Args:
        network: the network.
        rules: the rules it was trained for, one for each number of players.
        name: what it is called.
        temperature: 0 lays the best arrangement; above, arrangements are drawn with probability
            ``exp(value / temperature)``, values in points (a tenth of a win).

    Raises:
        ValueError: a temperature that is no number from 0 up.
    """

    def __init__(
        self, network: ValueNetwork, rules: Sequence[CrashRules], *, name: str = "trained", temperature: float = 0.0
    ) -> None:
        number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
        if not (number and math.isfinite(temperature) and temperature >= 0):
            raise ValueError(f"temperature={temperature!r}: expected a finite number, 0 or more")
        self.name = name
        self.network = network
        self.rules = tuple(rules)
        self._temperature = float(temperature)
        self._most_need = max(made.target for made in rules)
        self._fitting: set[CrashRules] = set()

    @classmethod
    def from_file(cls, path: str | Path, *, name: str | None = None, temperature: float = 0.0) -> Trained:
        """Return the agent of a file.

        Raises:
            TrainedError: it cannot be read, or is none of this version.
        """
        try:
            file = read_safetensors(path)
        except SafetensorsError as error:
            raise TrainedError(str(error)) from None
        about, tensors = file.metadata, file.tensors
        if about.get("format") != TRAINED_FORMAT or about.get("inputs") != str(INPUTS_VERSION):
            raise TrainedError(
                f"{str(path)!r} has format {about.get('format')!r:.60}, inputs {about.get('inputs')!r:.60}; "
                f"this version plays {TRAINED_FORMAT!r}, inputs '{INPUTS_VERSION}'"
            )
        try:
            rules = [CrashRules.from_dict(options) for options in json.loads(about["rules"])]
            shapes = weight_shapes(width=tensors["context.bias"].shape[0], hats=int(about["hats"]))
        except (KeyError, ValueError, TypeError, IndexError, RecursionError) as error:
            raise TrainedError(f"{str(path)!r}: {type(error).__name__}: {error}") from None
        if not rules:
            raise TrainedError(f"{str(path)!r} names no rules that it was trained for")
        for wanted, shape in {**shapes, "places": (4, 743)}.items():
            has = tensors[wanted].shape if wanted in tensors else None
            if has != shape:
                raise TrainedError(f"{str(path)!r}: {wanted} has shape {has}, expected {shape}")
            if not np.isfinite(tensors[wanted]).all():
                raise TrainedError(f"{str(path)!r} is damaged: {wanted} holds numbers that are not finite")
        weights = {key: np.array(values, np.float32) for key, values in tensors.items()}
        return cls(ValueNetwork(weights), rules, name=name or Path(path).stem, temperature=temperature)

    def check_rules(self, rules: CrashRules) -> None:
        """Refuse rules with an option that the network has not met at this number of players.

        Any target will do: larger needs count as the largest that was trained for.

        Raises:
            TrainedError: names what differs.
        """
        if rules in self._fitting:
            return
        there = [_kind(made) for made in self.rules if made.players == rules.players]
        if not there:
            numbers = ", ".join(map(str, sorted({made.players for made in self.rules})))
            raise TrainedError(f"{self.name} was trained for players={numbers}, not players={rules.players}")
        different = []
        for key, asked in _kind(rules).items():
            met = list(dict.fromkeys(kind[key] for kind in there))
            if asked not in met:
                different.append(f"{key}={' or '.join(map(str, met))}, not {key}={asked}")
        if different:
            raise TrainedError(f"{self.name} was trained for {'; '.join(different)}")
        self._fitting.add(rules)

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Return the arrangement worth most, or a draw: int32 (n,)."""
        values = self.values(views)
        found = views.undominated()
        if self._temperature > 0:
            values = values / self._temperature + rng.gumbel(size=len(values))
        return found.partitions[found.best_rows(values)]

    def values(self, views: ViewBatch) -> npt.NDArray[np.floating[Any]]:
        """Return what the arrangements of each view are worth, in points, up to a number of each view: float32 (m,)."""
        self.check_rules(views.rules)
        found = views.undominated()
        context = contexts_of(views, most_need=self._most_need)
        return self.network.values(self.network.basis.inputs(found), context, found.counts)

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002 (no chance)
        """Exchange where it is worth more: bool (n,)."""
        better: Choices = self.exchange_gains(views) > 0
        return better

    def exchange_gains(self, views: ViewBatch) -> npt.NDArray[np.floating[Any]]:
        """Return what exchanging is worth more than keeping, in points: float32 (n,)."""
        self.check_rules(views.rules)
        exchanges = views.exchanges.copy()
        exchanges[np.arange(len(views)), views.seat] = 0
        kept = contexts_of(replace(views, exchanges=exchanges), most_need=self._most_need)
        _, hands = self.network.best(views.undominated(), kept)
        return self.network.choice("exchange", hands, contexts_of(views, most_need=self._most_need))

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002
        """Call where it is worth more: bool (n,)."""
        better: Choices = self.call_gains(views) > 0
        return better

    def call_gains(self, views: ViewBatch) -> npt.NDArray[np.floating[Any]]:
        """Return what calling is worth more than passing, in points: float32 (n,)."""
        self.check_rules(views.rules)
        hands = self.network.basis.inputs(laid_many(views.laid, views.cards, views.rules))
        return self.network.choice("call", hands, contexts_of(views, most_need=self._most_need))


def _kind(rules: CrashRules) -> Mapping[str, Any]:
    return {key: value for key, value in solver_options(rules).items() if key not in _FREE}


def _shipped(name: str, temperature: float) -> Trained:
    path = Path(str(resources.files(__package__) / "data" / "trained" / f"{name}.safetensors"))
    return Trained.from_file(path, name=name, temperature=temperature)


def online(*, temperature: float = 0.0) -> Trained:
    """Return the agent that ships for `online`.

    >>> online().name
    'online'
    """
    return _shipped("online", temperature)


def bga(*, temperature: float = 0.0) -> Trained:
    """Return the agent that ships for `bga`."""
    return _shipped("bga", temperature)


def traditional(*, temperature: float = 0.0) -> Trained:
    """Return the agent that ships for `traditional`."""
    return _shipped("traditional", temperature)
