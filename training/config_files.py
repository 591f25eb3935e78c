"""Configurations in YAML: those that ship, by name, and a user's own, by path; checked by a pydantic model."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ValidationError

from ..envs.crash.rules import RulesError
from ..envs.yaml_text import YamlError, read_yaml

__all__ = ["ConfigFileError", "Device", "config_key", "load_config", "shipped_configs", "validated"]

Model = TypeVar("Model", bound=BaseModel)


def _known_device(device: str) -> str:
    if not re.fullmatch(r"auto|cpu|cuda(:(0|[1-9][0-9]{0,2}))?|mps", device):
        raise ValueError("expected auto, cpu, cuda, cuda:N (such as cuda:0) or mps")
    return device


Device = Annotated[str, AfterValidator(_known_device)]
"""A torch device, by name."""


def config_key(config: BaseModel) -> str:
    """Return a short hash of everything but the seed, for the name of a run.

    >>> from .selfplay_config import SelfPlayConfig
    >>> config_key(SelfPlayConfig(seed=1)) == config_key(SelfPlayConfig(seed=2)) != config_key(SelfPlayConfig(width=8))
    True
    """
    content = json.dumps(config.model_dump(exclude={"seed"}), sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:8]


class ConfigFileError(ValueError):
    """A configuration that cannot be used; the message names file, key and value."""


def shipped_configs(folder: str) -> tuple[str, ...]:
    """Return the names of the configurations that ship in a folder of `prial.configs`.

    >>> "v1" in shipped_configs("benchmark")
    True
    """
    entries = (resources.files("prial.configs") / folder).iterdir()
    return tuple(sorted(entry.name[:-5] for entry in entries if entry.name.endswith(".yaml")))


def load_config(
    model: type[Model], source: str | Path, *, folder: str, overrides: Mapping[str, Any] | None = None
) -> Model:
    """Return a configuration.

    Args:
        model: what it must be.
        source: a name of `shipped_configs`, or the path of a YAML file.
        folder: of `prial.configs`.
        overrides: keys set otherwise.

    Raises:
        ConfigFileError: unreadable, unknown keys (the nearest is named), or values that cannot be.
    """
    if isinstance(source, Path) or source.endswith((".yaml", ".yml")):
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigFileError(f"cannot read the configuration {str(source)!r}: {error}") from None
    elif source in shipped_configs(folder):
        text = (resources.files("prial.configs") / folder / f"{source}.yaml").read_text(encoding="utf-8")
    else:
        known = ", ".join(shipped_configs(folder))
        raise ConfigFileError(f"no configuration {source!r}. Known: {known}, or the path of a YAML file")
    try:
        content = read_yaml(text)
    except YamlError as error:
        raise ConfigFileError(f"{str(source)!r} is not YAML: {error}") from None
    if content is None:  # an empty file: the defaults
        content = {}
    if not isinstance(content, dict):
        raise ConfigFileError(f"{str(source)!r}: expected keys, one a line, such as 'seed: 1'")
    return validated(model, {**content, **(overrides or {})}, where=str(source))


def validated(model: type[Model], content: Mapping[str, Any], *, where: str) -> Model:
    """Return a configuration from its keys.

    Raises:
        ConfigFileError: unknown keys (the nearest is named), or values that cannot be.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise ConfigFileError(f"configuration {where!r}: {_explain(error, model)}") from None
    except RulesError as error:
        raise ConfigFileError(f"configuration {where!r}: {error}") from None


def _explain(error: ValidationError, model: type[BaseModel]) -> str:
    lines: list[Any] = []
    for fault in error.errors():
        key = ".".join(map(str, fault["loc"]))
        said = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            near = difflib.get_close_matches(key, model.model_fields, n=1)
            lines.append(f"unknown key {key!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        elif fault["type"] == "missing":
            lines.append(f"the key {key!r} is missing")
        else:
            lines.append(f"{key}={fault['input']!r}: {said}" if key else said)
    return "; ".join(lines)
