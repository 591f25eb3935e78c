"""YAML as people mean it: no key twice, and a number that looks like one is that number.

PyYAML follows YAML 1.1, where ``010`` is 8, ``1:30`` is 90 and ``1e-3`` is a text, and takes the last of two equal keys in
silence. Here numbers are decimal, ``1e-3`` included, anything else that starts with a digit stays a text (which whoever
asked for a number then refuses), and a repeated key is an error. Nothing but plain values is ever made.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import yaml

__all__ = ["YamlError", "read_yaml"]

_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_MAX_DIGITS = 18


class YamlError(ValueError):
    """Text that is no YAML, or YAML that says something twice."""


class _Loader(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise YamlError(f"{key!r} is given twice (line {key_node.start_mark.line + 1})")
            if isinstance(key, Hashable):
                seen.add(key)
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _NUMBERS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    _NUMBERS[0], re.compile(rf"^[-+]?(?:0|[1-9][0-9]{{0,{_MAX_DIGITS - 1}}})$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    _NUMBERS[1],
    re.compile(r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"),
)


def read_yaml(text: str) -> Any:
    r"""Return the plain values of a YAML text.

    Raises:
        YamlError: no YAML, nested beyond reason, or a key given twice.

    >>> read_yaml("target: 7\nlearning_rate: 1e-3\nranks: 9TJQKA")
    {'target': 7, 'learning_rate': 0.001, 'ranks': '9TJQKA'}
    >>> read_yaml("target: 7\ntarget: 10")
    Traceback (most recent call last):
    ...
    prial.envs.yaml_text.YamlError: 'target' is given twice (line 2)
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 (a safe loader)
    except yaml.YAMLError as error:
        raise YamlError(" ".join(str(error).split())) from None
    except RecursionError:
        raise YamlError("it is nested too deeply") from None
    except ValueError as error:
        raise error if isinstance(error, YamlError) else YamlError(str(error)) from None
