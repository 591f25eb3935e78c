"""Agents by name, by import and by path."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prial import agents
from prial.agents.heuristics import Greedy

FACTORIES = """
import numpy as np
from prial.agents.heuristics import Greedy

def named(name="greedier", *, bold=False):
    agent = Greedy()
    agent.name = name + ("!" if bold else "")
    return agent

class Nested:
    Greedy = Greedy

def none():
    return None

def nameless():
    class Nameless:
        name = 7
        def act_many(self, views, rng): ...
        def act(self, view, rng): ...
    return Nameless()

def no_act_many():
    class Still:
        name = "still"
    return Still()

def no_act():
    class Batches:
        name = "batches"
        def act_many(self, views, rng): ...
    return Batches()

def fails():
    raise OSError("no weights here")

def exits():
    raise SystemExit(3)

def needs(path):
    return Greedy()

number = 7
"""


@pytest.fixture
def factories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "my_factories.py").write_text(FACTORIES)
    (tmp_path / "my_broken.py").write_text("import surely_not_installed\n")
    (tmp_path / "my_exit.py").write_text("raise SystemExit\n")
    (tmp_path / "my_value.py").write_text("raise ValueError('no good')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_factories", raising=False)
    return "my_factories"


@pytest.mark.parametrize("name", list(agents.agent_names()))
def test_every_name_makes_an_agent_of_that_name(name: str) -> None:
    agent = agents.make(name)
    assert agent.name == name
    assert isinstance(agent, agents.Agent)


def test_every_name_says_in_a_line_what_it_does() -> None:
    assert all(summary and "\n" not in summary for summary in agents.agent_names().values())


def test_names_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        agents.agent_names()["mine"] = "no"  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "near"), [("gredy", "greedy"), ("Greedy", "greedy"), ("percentil", "percentile"), ("randm", "random")]
)
def test_an_unknown_name_is_refused_with_the_nearest_and_all_known(name: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"no agent '{name}'; did you mean '{near}'") as error:
        agents.make(name)
    for known in (*agents.agent_names(), ".onnx", "package.module:factory"):
        assert known in str(error.value)


def test_a_name_near_to_none_is_refused_without_a_guess() -> None:
    with pytest.raises(agents.AgentError, match=r"no agent 'zzz'\. Known: random-legal"):
        agents.make("zzz")


def test_a_factory_is_imported_and_called_with_the_options(factories: str) -> None:
    assert agents.make(f"{factories}:named").name == "greedier"
    assert agents.make(f"{factories}:named", name="mine", bold=True).name == "mine!"
    assert isinstance(agents.make(f"{factories}:Nested.Greedy"), Greedy)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("no_such_module:make", "there is no module 'no_such_module'"),
        ("my_factories.inner:make", "there is no module 'my_factories.inner'"),
        (":make", "there is no module ''"),
        ("my_factories:", "has no ''"),
        ("my_factories:nothing", "the module 'my_factories' has no 'nothing'"),
        ("my_factories:number", "expected a factory to call, got int"),
        ("my_factories:none", "made a NoneType, which lacks a text `name`"),
        ("my_factories:nameless", "lacks a text `name`"),
        ("my_factories:no_act_many", "lacks a method `act_many"),
        ("my_factories:no_act", "lacks a method `act\\(view, rng\\)` .*BaseAgent"),
    ],
)
def test_what_is_no_factory_of_agents_is_refused(factories: str, spec: str, message: str) -> None:
    with pytest.raises(agents.AgentError, match=message):
        agents.make(spec)


@pytest.mark.parametrize(
    ("spec", "message", "cause"),
    [
        ("my_factories:fails", "its factory raised OSError: no weights here", OSError),
        ("my_factories:exits", "its factory raised SystemExit: 3", SystemExit),
        ("my_factories:needs", "missing a required argument: 'path'", TypeError),
        ("my_broken:make", "importing 'my_broken' raised ModuleNotFoundError: .*surely_not_installed", ImportError),
        ("my_exit:make", "importing 'my_exit' raised SystemExit", SystemExit),
        ("my_value:make", "importing 'my_value' raised ValueError: no good", ValueError),
    ],
)
def test_errors_of_a_users_own_code_are_named_with_the_agent(
    factories: str, spec: str, message: str, cause: type[BaseException]
) -> None:
    with pytest.raises(agents.AgentError, match=f"agent '{spec}': {message}") as error:
        agents.make(spec)
    assert isinstance(error.value.__cause__, cause)


@pytest.mark.parametrize(("spec", "options"), [("greedy", {"depth": 3}), ("percentile", {"wieght": 2.0})])
def test_options_that_a_factory_does_not_take_are_refused(spec: str, options: dict[str, Any]) -> None:
    with pytest.raises(agents.AgentError, match=f"agent '{spec}'.*{next(iter(options))}"):
        agents.make(spec, **options)


def test_a_network_is_loaded_from_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    from prial.agents import onnx_agent

    seen: list[Path] = []

    def load(path: Path) -> Greedy:
        seen.append(path)
        return Greedy()

    monkeypatch.setattr(onnx_agent, "load", load)
    agents.make("some/bot.onnx")
    agents.make(Path("BOT.ONNX"))
    assert seen == [Path("some/bot.onnx"), Path("BOT.ONNX")]


def test_importing_agents_and_making_simple_ones_starts_neither_compiler_nor_runtime() -> None:
    program = (
        "import sys\nfrom prial import agents\n"
        "for name in agents.agent_names(): agents.make(name)\n"
        "agents.SingleSeat(opponents='percentile')\n"
        "print(*[m for m in ('torch', 'numba', 'onnxruntime', 'stable_baselines3') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# ---- options in names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("greedy", "greedy", {}),
        ("solver[worlds=200]", "solver", {"worlds": 200}),
        ("a[b=-1,c=0.5,d=true,e=False,f=x y]", "a", {"b": -1, "c": 0.5, "d": True, "e": False, "f": "x y"}),
        ('a[ b = "1" , c="x, [y]" ]', "a", {"b": "1", "c": "x, [y]"}),
        ('a[b=""]', "a", {"b": ""}),
        ("runs[1]/bot.onnx", "runs[1]/bot.onnx", {}),
        ("bot.onnx[threads=2]", "bot.onnx", {"threads": 2}),
        ("mine:make[table=C:\\t.json]", "mine:make", {"table": "C:\\t.json"}),
        ("engine:./bot --set [a=1]", "engine:./bot --set [a=1]", {}),
        ("Engine,name=x:./bot [a=1]", "Engine,name=x:./bot [a=1]", {}),
    ],
)
def test_options_follow_a_name_in_brackets(text: str, name: str, options: dict[str, Any]) -> None:
    found = agents.registry.split_name(text)
    assert found == (name, options)
    assert [type(value) for value in found[1].values()] == [type(value) for value in options.values()]


@pytest.mark.parametrize(
    "text", ["a[]", "a]", "a[b]", "a[b=]", "a[=1]", "a[b=1 c=2,]]", 'a[b="x]', 'a[b="x"y]', "a[1=2]"]
)
def test_brackets_that_hold_no_options_are_refused(text: str) -> None:
    with pytest.raises(agents.AgentError, match=r"expected NAME\[option=value,option=value\]"):
        agents.make(text)


def test_options_reach_the_factory(factories: str) -> None:
    assert agents.make(f'{factories}:named[name="7", bold=true]').name == "7!"
    assert agents.make(f"{factories}:named[bold=true]", name="mine").name == "mine!"
    assert agents.make("percentile[weight=2.5]")._weight == 2.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("greedy[depth=3]", r"agent 'greedy\[depth=3\]': got an unexpected keyword argument 'depth'"),
        (
            "solver-fast[objective=rounds]",
            r"agent 'solver-fast\[objective=rounds\]': objective='rounds': expected 'win'",
        ),
        ("solver-fast[threads=1,threads=2]", "threads is given twice"),
        ("greedyy[a=1]", "no agent 'greedyy'; did you mean 'greedy'"),
    ],
)
def test_options_that_an_agent_does_not_take_are_named(text: str, message: str) -> None:
    with pytest.raises(agents.AgentError, match=message):
        agents.make(text)


def test_an_option_is_given_once() -> None:
    with pytest.raises(agents.AgentError, match="threads is given twice"):
        agents.make("solver-fast[threads=1]", threads=2)


# ---- levels -----------------------------------------------------------------------------------------------------------


def test_expert_is_the_network_itself() -> None:
    assert agents.make("bga:expert").name == "bga"


def test_how_much_a_level_slips_may_be_given() -> None:
    assert agents.make("online:easy[slips=0.5]").slips == 0.5  # type: ignore[attr-defined]
    with pytest.raises(agents.AgentError, match=r"'online:easy\[slips=-1\]': slips=-1: expected"):
        agents.make("online:easy[slips=-1]")
    with pytest.raises(agents.AgentError, match="unexpected keyword argument 'depth'"):
        agents.make("online:easy", depth=3)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("online:eesy", "online has no such level; did you mean 'online:easy'"),
        ("bga:experts", "bga has no such level; did you mean 'bga:expert'"),
        ("traditional:zzz", r"traditional has no such level\. Levels: easy, medium, hard, and expert"),
        ("greedy:easy", "greedy has no levels; online, bga, traditional have"),
    ],
)
def test_an_unknown_level_is_refused_with_the_nearest(name: str, told: str) -> None:
    with pytest.raises(agents.AgentError, match=told):
        agents.make(name)


def test_a_module_of_the_same_name_is_still_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "online.py").write_text("from prial.agents.heuristics import Balanced\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "online", raising=False)
    assert agents.make("online:Balanced").name == "balanced"
    assert agents.make("online:easy").name == "online:easy"
