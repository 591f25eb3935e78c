"""Everything that plays Crash, and the environment that sits a learner among it.

>>> from prial import agents
>>> agents.make("greedy").name
'greedy'
"""

from __future__ import annotations

from .protocol import Agent, BaseAgent
from .registry import AgentError, agent_names, make

__all__ = ["Agent", "AgentError", "BaseAgent", "agent_names", "make"]
