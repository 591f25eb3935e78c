"""Settings of a training run, as they are typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..console import CommandError

__all__ = ["read_settings"]


def read_settings(settings: Sequence[str] | None, seed: int | None) -> dict[str, Any]:
    """Return the keys that `--set` and `--seed` set.

    Raises:
        CommandError: not KEY=VALUE, a key set twice, or a value that is no YAML.

    >>> read_settings(["width=8", "objective=points"], 2)
    {'seed': 2, 'width': 8, 'objective': 'points'}
    """
    from ...envs.yaml_text import YamlError, read_yaml

    overrides: dict[str, Any] = {} if seed is None else {"seed": seed}
    for setting in settings or ():
        key, equals, value = (part.strip() for part in setting.partition("="))
        if not (key and equals):
            raise CommandError(f"--set {setting!r}: expected KEY=VALUE, such as seed=2")
        if key in overrides:
            raise CommandError(f"--set {setting!r}: {key} is set already, to {overrides[key]!r}")
        try:
            overrides[key] = read_yaml(value)
        except YamlError:
            raise CommandError(f"--set {setting!r}: {value!r} is not a YAML value") from None
    return overrides
