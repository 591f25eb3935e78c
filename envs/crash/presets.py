"""Rule sets as files: the presets that ship in ``configs/rules`` and YAML files of a user's own.

A file holds options of `CrashRules`, and may hold `summary` (a line for people), `in_use` (other values that tables play,
for people) and `players_defaults` (values that replace the file's own for a number of players; what a caller sets stands).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from .rules import CrashRules, RulesError, check_option_names

__all__ = ["load_rules", "preset_names", "read_preset"]

_FOR_PEOPLE = ("summary", "in_use")


@cache
def preset_names() -> tuple[str, ...]:
    """Return the names of the rule sets that ship, `online` first.

    >>> preset_names()
    ('online', 'bga', 'traditional')
    """
    folder = resources.files("prial.configs") / "rules"
    names = sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    return tuple(sorted(names, key=lambda name: (name != "online", name)))


@cache
def _preset_text(name: str) -> str:
    return (resources.files("prial.configs") / "rules" / f"{name}.yaml").read_text(encoding="utf-8")


def read_preset(source: str | Path) -> dict[str, Any]:
    """Return the whole content of a rule set or of a YAML file, notes for people included.

    Args:
        source: as for `load_rules`.

    Raises:
        RulesError: unknown name or unreadable file.

    >>> read_preset("traditional")["in_use"]["quads_bonus"]
    [0, 1]
    """
    if _is_path(source):
        path = Path(source)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise RulesError(f"cannot read rules from {str(path)!r}: {error}") from None
        return _parse(text, str(path))
    name = str(source)
    if name not in preset_names():
        near = difflib.get_close_matches(name, preset_names(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise RulesError(f"no rule set {name!r}{hint} Known: {', '.join(preset_names())}, or the path of a YAML file")
    return _parse(_preset_text(name), name)


def _is_path(source: str | Path) -> bool:
    return isinstance(source, Path) or str(source).endswith((".yaml", ".yml"))


def load_rules(source: str | Path, **overrides: Any) -> CrashRules:
    """Return the rules of a rule set or of a YAML file, with some options set otherwise.

    Args:
        source: a name (`online`, `bga`, `traditional`) or the path of a file ending in ``.yaml`` or ``.yml``.
        overrides: options of `CrashRules`; what is set here is never changed silently.

    Raises:
        RulesError: unknown name, unreadable file, unknown option, or rules that cannot be played.

    >>> load_rules("bga", players=5).cards_dealt
    9
    """
    content, name = read_preset(source), Path(source).stem if _is_path(source) else str(source)
    check_option_names(overrides)
    options = {key: value for key, value in content.items() if key not in _FOR_PEOPLE}
    by_players = options.pop("players_defaults", {})
    check_option_names(options)
    players = overrides.get("players", options.get("players", CrashRules.players))
    options.update(_defaults_for(by_players, players, where=name))
    options.update(overrides)
    return CrashRules(**{"name": name, **options})


def _defaults_for(by_players: object, players: object, *, where: str) -> Mapping[str, Any]:
    numbers = isinstance(by_players, dict) and all(isinstance(n, int) and not isinstance(n, bool) for n in by_players)
    if not isinstance(by_players, dict) or not numbers or not all(isinstance(v, dict) for v in by_players.values()):
        raise RulesError(
            f"players_defaults in {where!r}: expected options for each number of players, as in 5: {{...}}"
        )
    for options in by_players.values():
        check_option_names(options)
    defaults: dict[str, Any] = by_players.get(players, {}) if isinstance(players, int) else {}
    return defaults


def _parse(text: str, where: str) -> dict[str, Any]:
    from ..yaml_text import YamlError, read_yaml  # only where rules are read from files

    try:
        content = read_yaml(text)
    except YamlError as error:
        raise RulesError(f"{where!r} is not YAML: {error}") from None
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise RulesError(f"{where!r}: expected options, one a line, such as 'target: 7'")
    return content
