"""Crash, version 0. (The manual page follows with the tests of its tables.)"""

from __future__ import annotations

from .crash.env import CrashEnv as raw_env
from .crash.env import CrashParallelEnv as parallel_env
from .crash.env import IllegalActionWarning, env
from .crash.game import IllegalActionError

__all__ = ["IllegalActionError", "IllegalActionWarning", "env", "parallel_env", "raw_env"]
