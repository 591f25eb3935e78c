"""Agents with small random networks, and one-file bots of agents, not written to a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from prial.agents.levels import Level
from prial.agents.one_file_agent import OneFileAgent
from prial.agents.trained import Trained
from prial.agents.value_inputs import places_of
from prial.agents.value_network import ValueNetwork, weight_shapes
from prial.envs.crash.rules import CrashRules


def tiny_agent(rules: CrashRules, seed: int = 0, *, width: int = 12, hats: int = 5) -> Trained:
    """An agent with a network of random weights: the hardest to agree with, since it likes anything."""
    rng = np.random.default_rng(seed)
    shapes = weight_shapes(width=width, hats=hats)
    weights = {name: (rng.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32) for name, shape in shapes.items()}
    return Trained(ValueNetwork(weights | {"places": places_of(rules)}), [rules], name="tiny")


def bot_of(agent: Trained | Level, rules: CrashRules, **options: Any) -> OneFileAgent:
    import onnxruntime

    from prial.training.one_file_graph import one_file_model

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    data = one_file_model(agent, rules).SerializeToString()
    return OneFileAgent(
        onnxruntime.InferenceSession(data, settings), rules, name="bot", errs=isinstance(agent, Level), **options
    )
