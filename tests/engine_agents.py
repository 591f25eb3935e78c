"""Agents that are hard on whoever serves them; engines are started with them by name."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings

import numpy as np

from prial.agents.heuristics import Greedy
from prial.envs.crash.observation import PlayerView


class Shouts(Greedy):
    """Writes to standard output in every way that there is."""

    name = "shouts"

    def act(self, view: PlayerView, rng: np.random.Generator) -> int:
        print("hm, let me see")
        sys.stdout.write("no line end")
        os.write(1, b"past the interpreter\n")
        subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
        warnings.warn("decision lay", stacklevel=1)
        return super().act(view, rng)


class Dreams(Greedy):
    """Thinks for ever from its second decision on; the first is made when the rules are set."""

    name = "dreams"

    def __init__(self) -> None:
        self.seen = 0

    def act(self, view: PlayerView, rng: np.random.Generator) -> int:
        self.seen += 1
        while self.seen > 1:
            time.sleep(1)
        return super().act(view, rng)
