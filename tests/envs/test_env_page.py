"""The manual page of `crash_v0` says what is: its tables against the declared spaces and the real arrays."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.env_registry.exceptions import NameNotFound
from pettingzoo.utils.conversions import aec_to_parallel

from prial.envs import crash_v0
from prial.envs.crash.env import CrashEnv, CrashParallelEnv
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import observation_layout
from prial.envs.crash.partitions import num_partitions
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.table import state_layout
from tables import TABLES, step_random

PAGE = crash_v0.__doc__ or ""


def _table(heading: str) -> list[dict[str, str]]:
    """The first table below a heading, as one dict a row, without back quotes."""
    section = PAGE.split(heading, 1)[1]
    lines = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert lines is not None
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[0].splitlines()]
    head = [cell.strip("`") for cell in head]
    return [dict(zip(head, (cell.strip("`") for cell in row), strict=True)) for row in rows]


def _facts() -> dict[str, str]:
    lines = re.findall(r"^\| (.+?) +\| (.+?) +\|$", PAGE.split("(Shapes and values")[0], re.MULTILINE)
    assert len(lines) > 8
    return dict(lines)


def _names(rules: CrashRules) -> dict[str, int]:
    most = rules.target - 1 + rules.max_round_points
    return {"hands": rules.hands, "players": rules.players, "max_rounds": rules.max_rounds, "most_points": most}


def _shape(text: str, rules: CrashRules) -> tuple[int, ...]:
    words = re.findall(r"\w+", text)
    return tuple(int(word) if word.isdigit() else _names(rules)[word] for word in words)


def test_the_facts() -> None:
    facts = _facts()
    raw, parallel = crash_v0.raw_env(), crash_v0.parallel_env()
    space = raw.observation_space("player_0")["observation"]
    assert facts["Observation Shape"] == f"{space.shape}"
    assert facts["Observation Values"] == f"[{space.low.min():.0f}, {space.high.max():.0f}]"
    assert facts["State Shape"] == f"{raw.state_space.shape}"
    assert facts["Action Values"] == f"{raw.action_space('player_0')}, parallel API {parallel.action_space('player_0')}"
    assert facts["Agents"] == f"{len(raw.possible_agents)} (2 to 5)"
    assert f"`agents= {raw.possible_agents}`" in PAGE
    assert facts["Import"] == "`from prial.envs import crash_v0`"


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_the_observation_table_is_the_space(rules: CrashRules) -> None:
    env = crash_v0.raw_env(rules, reward="points")
    space = env.observation_space("player_0")["observation"]
    layout = observation_layout(rules)
    rows = _table("### Observation Space")
    start = 0
    for row, piece in zip(rows, layout, strict=True):
        shape = _shape(row["Shape"], rules)
        assert (row["Part"], shape, row["Meaning"]) == (piece.name, piece.shape, piece.meaning)
        assert row["Public"] == ("yes" if piece.public else "no")
        low, high = re.fullmatch(r"(\w+) (?:or|to) (\w+)", row["Values"]).groups()  # type: ignore[union-attr]
        assert (float(low), float(high if high.isdigit() else _names(rules)[high])) == (piece.low, piece.high)
        stop = start + int(np.prod(shape))
        assert (space.low[start:stop] == piece.low).all()
        assert (space.high[start:stop] == piece.high).all()
        if rules == CrashRules.preset("online"):
            assert row["Index"] == (f"{start} - {stop - 1}" if stop - start > 1 else f"{start}")
        start = stop
    assert space.shape == (start,)
    assert space.dtype == np.float32
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(10):
        for agent in env.possible_agents:
            assert env.observation_space(agent).contains(env.observe(agent))
        if any(env.terminations.values()) or any(env.truncations.values()):
            break
        step_random(env, rng)


def test_the_action_table_is_the_layout() -> None:
    layout = crash_v0.raw_env().layout
    rows = {row["Name"]: row for row in _table("### Action Space")}
    assert rows["partition"]["Action"] == f"0 - {layout.partitions - 1}"
    assert int(rows["partition"]["Count"]) == layout.partitions == num_partitions(13)
    for name in ("keep", "exchange", "pass", "call", "noop"):
        number = int(rows[name]["Action"])
        assert number == getattr(layout, "pass_" if name == "pass" else name)
        assert layout.describe(number) == name
        assert rows[name]["Count"] == "1"
    assert crash_v0.raw_env().action_space("player_0").n == layout.noop
    assert crash_v0.parallel_env().action_space("player_0").n == layout.noop + 1
    counts = [f"{num_partitions(cards)}" for cards in (6, 7, 9, 10)]
    assert f"With 6, 7, 9 or 10 cards there are {', '.join(counts[:3])} or {counts[3]} partitions" in PAGE


def test_the_argument_table_is_the_signature() -> None:
    rows = {row["Argument"]: row for row in _table("### Arguments")}
    parameters: dict[str, inspect.Parameter] = {}
    for kind in (CrashEnv, CrashParallelEnv):
        parameters.update(inspect.signature(kind).parameters)
    parameters.pop("overrides")
    assert set(rows) == set(parameters)
    for name, row in rows.items():
        assert row["Default"] == repr(parameters[name].default)
    for name in ("reward", "episode", "mask", "illegal", "render_mode"):
        for value in re.findall(r"'(\w+)'", rows[name]["Values"]):
            options: dict[str, Any] = {name: value} | ({"reward": "points"} if value == "round" else {})
            crash_v0.parallel_env(**options)
    assert crash_v0.raw_env.metadata["render_modes"] == re.findall(r"'(\w+)'", rows["render_mode"]["Values"])


def test_the_phases_and_rewards_are_all_there() -> None:
    assert [row["Phase"] for row in _table("### Phases")] == [phase.label for phase in Phase]
    assert [row["reward"] for row in _table("### Rewards")] == ["'win'", "'points'"]
    assert "### Version History" in PAGE
    assert crash_v0.raw_env.metadata["name"] == "crash_v0"
    assert not crash_v0.raw_env.metadata["is_parallelizable"]


def test_the_highest_observations_are_attained() -> None:
    """A round that pays the most there is, on top of a score just below the target; and the last round there may be."""
    rules = CrashRules.preset("bga", players=2, exchange="none", quads_bonus=1, max_rounds=1)
    quads = "3s 3d 3h 3c As Ad Ah Ac Ks Kd Kh Kc 2c"
    rest = "4s 4d 5s 5d 6s 6d 8s 8d 9h Th Jc Jd Qs"
    game = Game.from_deal(rules, [quads, rest], dealer=1, scores=[rules.target - 1, 0])
    most = game.undominated(0)
    four_hands = (most.quads == 3) & (most.strengths[:, 3] > 0)
    game.step(int(most.partitions[np.flatnonzero(four_hands)[0]]), 0)
    game.step(0, 1)
    env = crash_v0.raw_env(rules)
    env.reset(seed=0)
    env._game = game
    observation = env.observe("player_0")["observation"]
    high = env.observation_space("player_0")["observation"].high
    start = 0
    for piece in observation_layout(rules):
        if piece.name == "scores":
            assert observation[start] == high[start] == rules.target - 1 + rules.max_round_points
        start += piece.size
    cut_off = crash_v0.parallel_env(TABLES["cut-off-3"])
    observations, _ = cut_off.reset(seed=0)
    while cut_off.agents:
        observations, *_ = cut_off.step({a: int(np.flatnonzero(o["action_mask"])[0]) for a, o in observations.items()})
    start = sum(piece.size for piece in observation_layout(cut_off.rules)[:6])
    assert observation_layout(cut_off.rules)[6].name == "rounds_played"
    assert observations["player_0"]["observation"][start] == cut_off.rules.max_rounds


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_the_state_is_everything_and_in_bounds(rules: CrashRules) -> None:
    env = crash_v0.raw_env(rules, reward="points")
    env.reset(seed=0)
    layout = state_layout(rules)
    rng = np.random.default_rng(0)
    states = []
    for _ in range(6):
        if any(env.terminations.values()):
            break
        state = env.state()
        assert env.state_space.contains(state)
        assert state.size == sum(piece.size for piece in layout)
        parts, start = {}, 0
        for piece in layout:
            parts[piece.name] = state[start : start + piece.size].reshape(piece.shape)
            start += piece.size
        for seat in range(rules.players):
            assert np.flatnonzero(parts["cards"][seat]).tolist() == list(env.game.hands[seat])
            assert bool(parts["laid"][seat].any()) == (env.game.laid[seat] not in (None, 0))
        for number, spare in enumerate(env.game.spares):
            assert np.flatnonzero(parts["spares"][number]).tolist() == list(spare)
        assert np.flatnonzero(parts["dealer"]).tolist() == [env.game.dealer]
        assert parts["exchanged"].tolist() == [float(choice is True) for choice in env.game.exchanges]
        states.append(state)
        step_random(env, rng)
    assert len({state.tobytes() for state in states}) == len(states)


def test_sampling_from_the_mask_of_the_observation_works() -> None:
    """`Space.sample(mask)` wants int8."""
    env = crash_v0.raw_env("online", mask="legal")
    env.reset(seed=0)
    env.action_space("player_1").seed(0)
    for _ in range(50):
        mask = env.observe("player_1")["action_mask"]
        action = env.action_space("player_1").sample(mask)
        assert env.game.is_legal(int(action), 1)
    assert mask.nbytes == 417_851


# ---- registry and import ------------------------------------------------------------------------------------------


def test_the_registry_makes_both() -> None:
    aec = pettingzoo.make("aec", "prial/crash-v0", rules="bga", players=2)
    assert isinstance(aec.unwrapped, crash_v0.raw_env)
    assert aec.unwrapped.rules == CrashRules.preset("bga", players=2)
    assert isinstance(pettingzoo.make("parallel", "prial/crash-v0"), crash_v0.parallel_env)
    assert pettingzoo.spec("aec", "prial/crash").version == 0
    with pytest.raises(NameNotFound, match="prial/crush"):
        pettingzoo.make("aec", "prial/crush-v0")


def _python(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_importing_loads_nothing_heavy_and_registers() -> None:
    heavy = ("numba", "torch", "yaml", "onnxruntime", "pygame", "stable_baselines3", "prial.envs.crash_v0")
    out = _python(
        "import sys, prial.envs, pettingzoo\n"
        f"print([name for name in {heavy!r} if name in sys.modules], 'prial/crash-v0' in pettingzoo.aec_registry)"
    )
    assert out.strip() == "[] True"
    out = _python(
        "import sys\nfrom prial.envs import crash_v0\nfrom prial.envs.crash import wrappers\ncrash_v0.parallel_env\n"
        f"print([name for name in {heavy[:6]!r} if name in sys.modules])"
    )
    assert out.strip() == "[]"


def test_pettingzoos_converter_refuses_the_aec_environment() -> None:
    """Agents take turns in one phase and act at once in the next; the page says to use `parallel_env`."""
    with pytest.raises(AssertionError, match="is_parallelizable"):
        aec_to_parallel(crash_v0.env())
    assert "cannot be converted to the parallel API" in " ".join(PAGE.split())


def test_spaces_are_what_pettingzoo_expects() -> None:
    env = crash_v0.raw_env()
    assert isinstance(env.action_space("player_0"), gymnasium.spaces.Discrete)
    assert env.action_space("player_0") is env.action_space("player_0")
    assert env.action_space("player_0") is not env.action_space("player_1")
    assert set(env.observation_space("player_0").spaces) == {"observation", "action_mask"}
    assert str(env) == str(crash_v0.env()) == str(crash_v0.parallel_env()) == "crash_v0"
