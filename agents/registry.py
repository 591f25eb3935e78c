"""Agents by name: the built-in ones, networks by path, foreign engines, anyone's by ``package.module:factory``.

Options of a factory may follow a name in brackets, as in ``solver-fast[objective=points]`` (`split_name`).
"""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .protocol import Agent

__all__ = ["AgentError", "agent_names", "make", "split_name", "what_lacks"]


class AgentError(ValueError):
    """An agent that cannot be made; the message says what was asked for and what there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A built-in agent: where its factory lives (imported when asked for), what it does in a line, first arguments."""

    factory: str
    summary: str
    given: tuple[str, ...] = ()


_BUILT_IN: dict[str, _Entry] = {
    "random-legal": _Entry(
        factory="heuristics:RandomLegal", summary="any legal action, each equally likely, laying nothing included"
    ),
    "random": _Entry(
        factory="heuristics:RandomUndominated", summary="any undominated arrangement; exchanges and calls at a toss"
    ),
    "greedy": _Entry(factory="heuristics:Greedy", summary="the strongest Hand 1, then Hand 2, and so on (auto-sort)"),
    "balanced": _Entry(
        factory="heuristics:Balanced", summary="the strongest last hand, then the hand before it, and so on"
    ),
    "percentile": _Entry(
        factory="percentile:Percentile", summary="the most expected points, from tables of what players lay"
    ),
    "solver-fast": _Entry(
        factory="solver_fast:SolverFast",
        summary="the best chance to win the game, in closed form, by score and known cards",
    ),
    "solver": _Entry(
        factory="solver:Solver", summary="solver-fast, and a look at hands that the others may really hold"
    ),
    "online": _Entry(factory="trained:online", summary="a network that learned online by self-play, 2 to 4 players"),
    "bga": _Entry(factory="trained:bga", summary="a network that learned bga by self-play, 2 to 5 players"),
    "traditional": _Entry(
        factory="trained:traditional", summary="a network that learned traditional by self-play, 2 to 4 players"
    ),
}
_LEVELS = {"easy": 22, "medium": 26, "hard": 30}
"""Levels, and what they win in % against two of the network (docs/levels.md)."""
_TRAINED = ("online", "bga", "traditional")
_BUILT_IN |= {
    f"{name}:{level}": _Entry(
        factory="levels:level",
        summary=f"{name} erring as people do: wins {share} % against two of it",
        given=(name, level),
    )
    for name in _TRAINED
    for level, share in _LEVELS.items()
}
_SAME = {f"{name}:expert": name for name in _TRAINED}

_ENGINES = ("engine:", "engine,")


def agent_names() -> Mapping[str, str]:
    """Return the names of the built-in agents, each with what it does in a line.

    >>> list(agent_names())[:7]
    ['random-legal', 'random', 'greedy', 'balanced', 'percentile', 'solver-fast', 'solver']
    >>> list(agent_names())[7:13]
    ['online', 'bga', 'traditional', 'online:easy', 'online:medium', 'online:hard']
    """
    return MappingProxyType({name: entry.summary for name, entry in _BUILT_IN.items()})


_OPTION = re.compile(r"""\s*([A-Za-z_]\w*)\s*=\s*(?:"([^"]*)"|([^",\[\]]*))\s*(?:,|$)""")


def split_name(text: str) -> tuple[str, dict[str, Any]]:
    """Return a name without the options in brackets, and the options.

    Values are whole numbers, numbers, ``true`` and ``false``, else text; what is in double quotes is text, commas included.
    ``engine:COMMAND`` has no such options: a command may end in a bracket of its own.

    Raises:
        AgentError: what is in the brackets is no list of ``option=value``, or names one twice.

    >>> split_name("solver[worlds=200, table=my.json]"), split_name("greedy")
    (('solver', {'worlds': 200, 'table': 'my.json'}), ('greedy', {}))
    """
    if not text.endswith("]") or text.lower().startswith(_ENGINES):
        return text, {}
    name, _, inside = text[:-1].partition("[")
    options: dict[str, Any] = {}
    place = 0
    while place < len(inside) or not options:
        found = _OPTION.match(inside, place)
        if found is None or (found[2] is None and not found[3].strip()):
            raise AgentError(f"agent {text!r}: expected NAME[option=value,option=value], such as solver[worlds=200]")
        if found[1] in options:
            raise AgentError(f"agent {text!r}: {found[1]} is given twice")
        options[found[1]] = _value(found[3].strip()) if found[2] is None else found[2]
        place = found.end()
    return name, options


def _value(text: str) -> int | float | bool | str:
    """Return what an option's text stands for."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def make(name: str | Path, /, **options: Any) -> Agent:
    """Return an agent.

    Args:
        name: a built-in name (`agent_names`; ``online:expert`` is ``online``), the path of a network ending in ``.onnx`` or
            ``.safetensors``, ``engine:COMMAND`` to start a foreign engine (`prial.agents.engine_client`), or
            ``package.module:factory`` to import and call. Options may follow in brackets (`split_name`), but for an engine.
        options: arguments of the factory, besides those in brackets.

    Raises:
        AgentError: an unknown name (the known ones and the nearest are named), a module or factory that is not there or
            that raises, a factory that does not take the options or needs others, or a result that is no agent.

    >>> make("greedy").name, make("solver-fast[objective=points]").name
    ('greedy', 'solver-fast')
    """
    whole = str(name)
    text, own = split_name(whole)
    if twice := sorted(own.keys() & options.keys()):
        raise AgentError(f"agent {whole!r}: {twice[0]} is given twice")
    options = {**options, **own}
    text = _SAME.get(text, text)
    if text in _BUILT_IN:
        entry = _BUILT_IN[text]
        module, _, attribute = entry.factory.partition(":")
        factory = getattr(importlib.import_module(f".{module}", __package__), attribute)
        if entry.given:
            factory = functools.partial(factory, *entry.given)
    elif text.lower().startswith(_ENGINES):
        from .engine_client import make_engine

        return make_engine(text, **options)
    elif text.lower().endswith(".safetensors"):
        from .trained import Trained

        factory, options = Trained.from_file, {"path": Path(text), **options}
    elif text.lower().endswith(".onnx"):
        from .onnx_agent import load  # onnxruntime takes a while to import

        factory, options = load, {"path": Path(text), **options}
    elif ":" in text:
        _refuse_level(text)
        factory = _imported(text)
    else:
        near = difflib.get_close_matches(text, _BUILT_IN, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise AgentError(
            f"no agent {text!r}{hint} Known: {', '.join(_BUILT_IN)}, the path of a network ending in .onnx or "
            ".safetensors, engine:COMMAND, or package.module:factory"
        )
    ours = text in _BUILT_IN or text.lower().endswith((".onnx", ".safetensors"))
    return _called(whole, factory, options, ours=ours)


def _refuse_level(text: str) -> None:
    """Refuse a level that there is not, unless the name before the colon is that of a module of the user's.

    Raises:
        AgentError: names the levels, the nearest first.
    """
    name, _, asked = text.partition(":")
    if name not in _BUILT_IN or importlib.util.find_spec(name) is not None:
        return
    if name not in _TRAINED:
        raise AgentError(f"agent {text!r}: {name} has no levels; {', '.join(_TRAINED)} have ({', '.join(_LEVELS)})")
    near = difflib.get_close_matches(asked, [*_LEVELS, "expert"], n=1)
    hint = f"; did you mean '{name}:{near[0]}'?" if near else "."
    raise AgentError(
        f"agent {text!r}: {name} has no such level{hint} Levels: {', '.join(_LEVELS)}, and expert, which is {name} itself"
    )


def _imported(text: str) -> Callable[..., Any]:
    """Return the factory that ``package.module:factory`` names."""
    module_name, _, attribute = text.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a user's module may fail in any way, and ask to exit
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if module_name[:1] in ("", ".") or (missing and f"{module_name}.".startswith(f"{missing}.")):
            raise AgentError(f"agent {text!r}: there is no module {module_name!r} to import") from error
        raise AgentError(f"agent {text!r}: importing {module_name!r} raised {_said(error)}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise AgentError(f"agent {text!r}: the module {module_name!r} has no {attribute!r}")
        found = getattr(found, part)
    if not callable(found):
        raise AgentError(f"agent {text!r}: expected a factory to call, got {type(found).__name__}")
    factory: Callable[..., Any] = found
    return factory


def _said(error: BaseException) -> str:
    """Return what an error is and says."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _called(text: str, factory: Callable[..., Any], options: Mapping[str, Any], *, ours: bool) -> Agent:
    try:
        inspect.signature(factory).bind(**options)
    except TypeError as error:
        given = f" (options given: {', '.join(options)})" if options else ""
        raise AgentError(f"agent {text!r}: {error}{given}") from error
    except ValueError:  # compiled factories may have no signature
        pass
    try:
        agent = factory(**options)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # as above; what is built in has its own errors for users
        if ours:
            if options and type(error) in (TypeError, ValueError):  # about an option, and so for whoever gave it
                raise AgentError(f"agent {text!r}: {error}") from error
            raise
        raise AgentError(f"agent {text!r}: its factory raised {_said(error)}") from error
    if wrong := what_lacks(agent):
        raise AgentError(f"agent {text!r}: the factory made a {type(agent).__name__}, which lacks {wrong}")
    made: Agent = agent
    return made


def what_lacks(agent: object) -> str | None:
    """Return what something lacks to be an agent, None if it is one."""
    if not isinstance(getattr(agent, "name", None), str):
        return "a text `name`"
    if not callable(getattr(agent, "act_many", None)):
        return "a method `act_many(views, rng)`"
    if not callable(getattr(agent, "act", None)):
        return "a method `act(view, rng)` (the base class BaseAgent supplies it)"
    return None
