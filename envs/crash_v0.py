"""Crash, version 0."""

from __future__ import annotations

from .crash.env import CrashEnv, CrashParallelEnv, IllegalActionWarning, env
from .crash.game import IllegalActionError

__all__ = ["IllegalActionError", "IllegalActionWarning", "env", "parallel_env", "raw_env"]

raw_env = CrashEnv
parallel_env = CrashParallelEnv
