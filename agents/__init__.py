"""Everything that plays Crash, and the environment that sits a learner among it.

>>> from prial import agents
>>> agents.make("greedy").name
'greedy'
"""

from __future__ import annotations

import gymnasium

from .check import AgentCheckError, check_agent
from .protocol import Agent, BaseAgent
from .registry import AgentError, agent_names, make
from .single_seat import ENV_ID, SingleSeat
from .single_seat_vector import SingleSeatVector

__all__ = [
    "Agent",
    "AgentCheckError",
    "AgentError",
    "BaseAgent",
    "SingleSeat",
    "SingleSeatVector",
    "agent_names",
    "check_agent",
    "make",
]

if ENV_ID not in gymnasium.registry:
    gymnasium.register(
        ENV_ID,
        entry_point=f"{__name__}.single_seat:SingleSeat",
        vector_entry_point=f"{__name__}.single_seat_vector:SingleSeatVector",
    )
