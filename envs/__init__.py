"""The games: rules, exact combinatorics, PettingZoo environments.

Importing this package registers Crash with PettingZoo: ``pettingzoo.make("aec", "prial/crash-v0")`` gives `crash_v0.env`,
``pettingzoo.make("parallel", "prial/crash-v0")`` gives `crash_v0.parallel_env`; options follow as keywords.

>>> import pettingzoo
>>> pettingzoo.make("parallel", "prial/crash-v0", players=2).possible_agents
['player_0', 'player_1']
"""

from __future__ import annotations

from pettingzoo import aec_registry, register

_ID = "prial/crash-v0"
if _ID not in aec_registry:  # a reload registers nothing twice
    register("aec", _ID, entry_point="prial.envs.crash_v0:env")
    register("parallel", _ID, entry_point="prial.envs.crash_v0:parallel_env")
