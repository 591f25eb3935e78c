"""Settings of a training run, as they are typed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..console import CommandError

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = [
    "ConfigOption",
    "KeysOption",
    "ResumeOption",
    "RunFolderOption",
    "RunSeedOption",
    "SettingsOption",
    "read_settings",
    "show_config_keys",
]

ConfigOption = Annotated[
    str, typer.Option("--config", metavar="CONFIG", help="A configuration that ships, or a YAML file.")
]
RunFolderOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="FOLDER", help="Folder of the run; runs/NAME-HASH-sSEED if not given."),
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set a key of the configuration, such as seed=2. Repeatable."),
]
RunSeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, metavar="N", help="Short for --set seed=N.", show_default=False)
]
ResumeOption = Annotated[
    Path | None,
    typer.Option("--resume", metavar="FOLDER", help="Go on with the run in this folder, with its configuration."),
]
KeysOption = Annotated[bool, typer.Option("--keys", help="List every key of a configuration, and exit.")]


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


def show_config_keys(model: type[BaseModel]) -> None:
    """Print every key of a configuration, with what it is and its default."""
    for key, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        typer.echo(f"{key}: {field.description} (default {default!r})")
