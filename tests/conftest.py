"""What all tests share: hypothesis settings and the marker for GPUs."""

from __future__ import annotations

import importlib.util
import os

import pytest
from hypothesis import settings

# The first call of a kernel compiles it, so examples have no deadline. Continuous integration
# tries the same examples in every run; elsewhere new ones are drawn.
settings.register_profile("prial", deadline=None, print_blob=True)
settings.register_profile("ci", parent=settings.get_profile("prial"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "prial")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests marked `gpu` where there is no CUDA device."""
    if item.get_closest_marker("gpu") is None:
        return
    if importlib.util.find_spec("torch") is None:
        pytest.skip("needs torch (the extra `train`)")
    import torch

    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
