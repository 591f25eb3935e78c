"""Agents that learned: the same choices whatever the suits and the batch, the file they are read from, rules they refuse."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from prial.agents import trained
from prial.agents.check import check_agent
from prial.agents.registry import make
from prial.agents.safetensors_file import SafetensorsError, read_safetensors
from prial.agents.trained import TRAINED_FORMAT, Trained, TrainedError
from prial.agents.value_inputs import CONTEXT_SIZE, INPUTS_VERSION, _options, contexts_of, places_of
from prial.agents.value_network import ValueNetwork, weight_shapes
from prial.envs.crash.presets import read_preset
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.vector import CrashVectorEnv

SHIPPED = ("online", "bga", "traditional")
DATA = Path(trained.__file__).parent / "data" / "trained"
ONLINE, BGA = CrashRules.preset("online"), CrashRules.preset("bga")
CALLS = CrashRules.preset("traditional", players=3, crash_call="optional")


def _network(rules: CrashRules, seed: int = 0) -> ValueNetwork:
    rng = np.random.default_rng(seed)
    shapes = weight_shapes(width=12, hats=5)
    weights = {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    return ValueNetwork({**weights, "places": places_of(rules)})


def _agent(*rules: CrashRules, **options) -> Trained:
    return Trained(_network(rules[0]), rules, **options)


def _views(rules: CrashRules, tables: int = 40, seed: int = 2):
    env = CrashVectorEnv(tables, rules, seed=seed, scores=np.arange(tables * rules.players).reshape(tables, -1) % 7)
    return env.views()[2]


def _file(path: Path, agent: Trained, **changed) -> Path:
    """Write an agent's file by hand."""
    about = {
        "format": TRAINED_FORMAT,
        "inputs": str(INPUTS_VERSION),
        "hats": str(agent.network.hats),
        "rules": json.dumps([rules.to_dict() for rules in agent.rules]),
        **changed,
    }
    header, data = {"__metadata__": about}, b""
    for name, values in agent.network.weights.items():
        bits = np.ascontiguousarray(values, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": values.shape, "data_offsets": [len(data), len(data) + len(bits)]}
        data += bits
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


@pytest.mark.parametrize("rules", [ONLINE, BGA, CALLS, CrashRules.preset("bga", players=5)], ids=lambda r: r.name)
def test_it_conforms(rules: CrashRules) -> None:
    check_agent(_agent(rules), rules=[rules], games=4)


@pytest.mark.parametrize("rules", [ONLINE, BGA], ids=lambda r: r.name)
def test_suits_do_not_matter(rules: CrashRules) -> None:
    views = _views(rules)
    agent = _agent(rules)
    for suits in ([1, 0, 2, 3], [3, 2, 0, 1]):
        moved = np.sort(views.cards // 4 * 4 + np.array(suits, np.int8)[views.cards % 4], axis=1).astype(np.int8)
        other = replace(views, cards=moved, _found=[])
        assert np.array_equal(contexts_of(other), contexts_of(views))
        ours, theirs = views.undominated(), other.undominated()
        assert np.array_equal(ours.strengths, theirs.strengths)
        assert np.array_equal(agent.values(views), agent.values(other))


def test_every_card_given_up_is_counted_at_its_rank_and_nowhere_else() -> None:
    """The rules and all else of the context stay as they are; what was given up has one column a rank, 0.5 a card."""
    views = _views(BGA)
    plain = contexts_of(views)
    thrown = slice(CONTEXT_SIZE - len(_options(BGA)) - 13, CONTEXT_SIZE - len(_options(BGA)))
    assert not plain[:, thrown].any()
    for rank in range(13):
        for cards in ([0], [0, 1, 3]):
            given_up = np.full_like(views.given_up, -1)
            given_up[:, : len(cards)] = 4 * rank + np.array(cards, np.int8)
            after = contexts_of(replace(views, given_up=given_up))
            expected = np.zeros(13)
            expected[rank] = 0.5 * len(cards)
            assert (after[:, thrown] == expected).all(), rank
            assert np.array_equal(after[:, thrown.stop :], plain[:, thrown.stop :])
            gave = 5 * 15  # needs, dealer and what was said of five seats lie before
            assert np.array_equal(after[:, :gave], plain[:, :gave])
            assert (after[:, gave] == 1).all()


def test_a_batch_decides_as_single_views_do() -> None:
    for rules in (ONLINE, BGA):
        views = _views(rules, tables=12)
        agent, rng = _agent(rules), np.random.default_rng(0)
        together = agent.act_many(views, rng)
        assert [agent.act(view, rng) for view in views] == together.tolist()


def test_temperature_spreads_the_choice_and_is_checked() -> None:
    views = _views(ONLINE)
    rng = np.random.default_rng(3)
    plain, cold, hot = _agent(ONLINE), _agent(ONLINE, temperature=1e-6), _agent(ONLINE, temperature=50.0)
    best = plain.act_many(views, rng)
    assert np.array_equal(cold.act_many(views, rng), best)
    assert (hot.act_many(views, rng) != best).mean() > 0.4
    for wrong in (-1.0, float("nan"), float("inf"), True, "warm"):
        with pytest.raises(ValueError, match="temperature="):
            _agent(ONLINE, temperature=wrong)


def test_needs_above_those_trained_for_count_as_the_largest() -> None:
    agent = _agent(BGA)
    longer = CrashRules.preset("bga", target=15)
    start = CrashVectorEnv(20, BGA, seed=4, scores=np.zeros(3, int)).views()[2]
    same = replace(start, rules=longer, _found=[])
    assert np.array_equal(agent.values(same), agent.values(start))


def test_other_rules_are_refused_by_name() -> None:
    agent = _agent(ONLINE)
    with pytest.raises(TrainedError, match="players=3, not players=2"):
        agent.check_rules(CrashRules.preset("online", players=2))
    with pytest.raises(TrainedError, match="quads_bonus=1, not quads_bonus=0"):
        agent.check_rules(CrashRules.preset("online", quads_bonus=0))
    with pytest.raises(TrainedError, match="flush_high=ace, not flush_high=three"):
        agent.arrange_many(_views(BGA), np.random.default_rng(0))


def test_options_met_in_training_may_be_combined() -> None:
    base = CrashRules.preset("traditional", players=4)
    agent = _agent(base, replace(base, quads_bonus=1), replace(base, crash_reward="game"))
    agent.check_rules(replace(base, quads_bonus=1, crash_reward="game"))
    with pytest.raises(TrainedError, match="quads_bonus=0 or 1, not quads_bonus=2"):
        agent.check_rules(replace(base, quads_bonus=2))


def test_a_file_gives_the_same_agent(tmp_path: Path) -> None:
    agent = _agent(ONLINE)
    read = Trained.from_file(_file(tmp_path / "mine.safetensors", agent))
    assert read.name == "mine"
    assert read.rules == (ONLINE,)
    views = _views(ONLINE)
    assert read.values(views) == pytest.approx(agent.values(views), abs=1e-4)


def test_files_are_refused_with_what_is_wrong(tmp_path: Path) -> None:
    agent = _agent(ONLINE)
    with pytest.raises(TrainedError, match="no such file"):
        Trained.from_file(tmp_path / "none.safetensors")
    with pytest.raises(TrainedError, match="inputs '99'"):
        Trained.from_file(_file(tmp_path / "other.safetensors", agent, inputs="99"))
    with pytest.raises(TrainedError, match=r"hands\.weight has shape"):
        Trained.from_file(_file(tmp_path / "hats.safetensors", agent, hats="9"))
    cut = tmp_path / "cut.safetensors"
    cut.write_bytes(_file(tmp_path / "whole.safetensors", agent).read_bytes()[:-8])
    with pytest.raises(SafetensorsError, match=r"cut\.safetensors' is no safetensors file"):
        read_safetensors(cut)
    cut.write_bytes(b"\xff" * 40)
    with pytest.raises(SafetensorsError, match="its header is cut off"):
        read_safetensors(cut)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("[]", "names no rules"),
        ("{}", "names no rules"),
        ("[" * 20_000, "RecursionError"),
        ('[{"players": 9}]', "players=9"),
        ("null", "TypeError"),
    ],
)
def test_rules_of_a_file_that_are_none_are_refused(rules: str, message: str, tmp_path: Path) -> None:
    path = _file(tmp_path / "mine.safetensors", _agent(ONLINE), rules=rules)
    for read in (Trained.from_file, make):
        with pytest.raises(TrainedError, match=message) as caught:
            read(path)
        assert len(str(caught.value)) < 300 + len(str(path))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused(number: float, tmp_path: Path) -> None:
    agent = _agent(ONLINE)
    agent.network.weights["second.weight"][3, 5] = number
    path = _file(tmp_path / "mine.safetensors", agent)
    with pytest.raises(TrainedError, match=r"is damaged: second\.weight holds numbers that are not finite"):
        make(path)


def test_a_damaged_file_is_an_agent_or_refused_in_a_line(tmp_path: Path) -> None:
    whole = _file(tmp_path / "mine.safetensors", _agent(ONLINE)).read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    rng = np.random.default_rng(5)
    path, said = tmp_path / "damaged.safetensors", []
    for _ in range(300):
        damaged = np.frombuffer(whole, np.uint8).copy()
        where = rng.integers(0, header, 3)
        damaged[where] = rng.integers(0, 256, 3)
        path.write_bytes(damaged.tobytes())
        try:
            Trained.from_file(path)
        except TrainedError as error:
            said.append(str(error))
    assert len(said) > 200
    assert max(map(len, said)) < 1000  # not the whole header
    assert "\n" not in "".join(said)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_agents_play_all_that_their_rule_set_lists(name: str) -> None:
    agent = make(name)
    listed = read_preset(name)["in_use"]["players"]
    assert sorted({rules.players for rules in agent.rules}) == listed
    for players in listed:
        check_agent(agent, rules=CrashRules.preset(name, players=players), games=2)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_files_are_small(name: str) -> None:
    assert (DATA / f"{name}.safetensors").stat().st_size < 1_000_000


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_agents_beat_greedy(name: str) -> None:
    """From each seat of the same deals, so that few games tell."""
    rules = CrashRules.preset(name, players=3)
    learned, greedy = make(name), make("greedy")
    won = 0.0
    for seat in range(3):
        env = CrashVectorEnv(150, rules, seed=11, autoreset=False)
        rngs = [np.random.default_rng(0), np.random.default_rng(0)]
        while env.pending.any():
            outcome = env.act_many([greedy, learned], rngs, seating=(np.arange(3) == seat).astype(np.int64))
            won += outcome.win_shares[:, seat].sum()
    assert won / 450 > 0.38


def test_the_path_of_a_file_names_an_agent(tmp_path: Path) -> None:
    path = _file(tmp_path / "mine.safetensors", _agent(ONLINE))
    assert make(str(path), temperature=0.5).name == "mine"
    with pytest.raises(TrainedError, match="no such file"):
        make(tmp_path / "other.safetensors")
