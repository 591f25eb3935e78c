"""Levels as one-file bots: they err as in Python, by the seed alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from typer.testing import CliRunner  # noqa: E402

from prial.agents.check import check_agent  # noqa: E402
from prial.agents.level_errors import Purpose, uniform  # noqa: E402
from prial.agents.levels import LEVELS, Level, level  # noqa: E402
from prial.agents.one_file_agent import bot_inputs  # noqa: E402
from prial.agents.onnx_agent import read_card  # noqa: E402
from prial.envs.crash.game import Phase  # noqa: E402
from prial.envs.crash.rules import CrashRules  # noqa: E402
from prial.training.cli import app  # noqa: E402
from prial.training.one_file import ExportError, export_bot  # noqa: E402
from prial.training.one_file_check import compare, random_views  # noqa: E402
from prial.training.one_file_level import LevelNodes  # noqa: E402
from prial.training.onnx_graph import GraphWriter  # noqa: E402
from prial.training.vectors import vector_rules  # noqa: E402
from small_bots import bot_of, tiny_agent  # noqa: E402

NINE = CrashRules.preset("bga", cards_dealt=9, quads_bonus=1)  # three hands


# Four hands, three and two; with exchanges and calls of either kind.
RULES = ("bga-3-high-card-9", "traditional-3-optional-call", "traditional-3-required-call", "online-2-seven-cards")


@pytest.mark.parametrize("name", RULES)
def test_it_errs_as_in_python_whatever_the_rules(name: str) -> None:
    rules = vector_rules()[name]
    agent = Level(tiny_agent(rules), slips=4)
    for agreement in compare(agent, bot_of(agent, rules), decisions=30, seed=7).values():
        assert agreement.different == 0
        assert agreement.same >= 28


@pytest.mark.parametrize(("rule_set", "name"), list(zip(("online", "bga", "traditional"), LEVELS, strict=True)))
def test_it_errs_as_the_levels_that_ship(rule_set: str, name: str) -> None:
    rules = CrashRules.preset(rule_set, players=3)
    agent = level(rule_set, name)
    for agreement in compare(agent, bot_of(agent, rules), decisions=30, seed=3).values():
        assert agreement.different == 0
        assert agreement.same >= 29


def test_chance_is_bit_for_bit_that_of_python() -> None:
    graph = GraphWriter()
    seed = graph.input("seed", np.int32, ["n"])
    nodes = LevelNodes(graph, level("online", "easy"), CrashRules(), seed=seed)
    for name, purpose in (("seeing", Purpose.SEEING), ("score", Purpose.SCORE), ("hand", Purpose.JUDGING_HAND)):
        rest = nodes._drawn[purpose]
        for part in range(3):  # float32 holds each whole
            rest = graph.op("Mul", rest, np.array(2.0**18))
            whole = graph.op("Floor", rest)
            rest = graph.op("Sub", rest, whole)
            graph.output(f"{name}{part}", graph.cast(whole, np.float32), np.float32, ["n", "numbers"])
    import onnxruntime

    session = onnxruntime.InferenceSession(graph.model("chance").SerializeToString())
    seeds = np.array([0, 1, -1, 2**31 - 1, -(2**31), 65_536, 123_456_789], np.int32)
    answers = dict(zip([one.name for one in session.get_outputs()], session.run(None, {"seed": seeds}), strict=True))
    keys = seeds.astype(np.uint32).astype(np.uint64)[:, None]
    places = np.arange(742) + 1024 * np.arange(4)[:, None]
    for name, purpose, about in (
        ("seeing", Purpose.SEEING, np.arange(742)),
        ("score", Purpose.SCORE, np.zeros(1, np.int64)),
        ("hand", Purpose.JUDGING_HAND, places.ravel()),
    ):
        parts = [answers[f"{name}{part}"].astype(np.float64) for part in range(3)]
        found = (parts[0] * 2**18 + parts[1]) * 2**18 + parts[2]
        assert np.array_equal(found / 2**54, uniform(keys, purpose, about))


def test_it_errs_by_the_seed_alone() -> None:
    agent = Level(tiny_agent(NINE), slips=4)
    bot = bot_of(agent, NINE)
    views = random_views(NINE, Phase.ARRANGE, 60, np.random.default_rng(4))
    several = views.undominated().counts > 2
    laid = [bot.arrange_many(views, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert np.array_equal(laid[0], laid[1])
    assert (laid[0] != laid[2])[several].mean() > 0.2
    answers = bot.answers(views, np.random.default_rng(1))
    assert (answers["lead"] < 0).any()  # by the network's values, others would have been better
    six = CrashRules(players=2, cards_dealt=6)
    check_agent(bot_of(Level(tiny_agent(six), slips=4), six), rules=six, games=2)


@pytest.mark.parametrize(
    ("name", "value"),
    [("cards", [0, 0, 4, 8, 12, 16, 20, 24, 28]), ("cards", [52] * 9), ("scores", -1), ("temperature", np.nan)],
)
def test_what_is_out_of_range_is_told_and_harms_nobody(name: str, value: object) -> None:
    session = bot_of(Level(tiny_agent(NINE), slips=4), NINE)._session
    feed = bot_inputs(random_views(NINE, Phase.ARRANGE, 3, np.random.default_rng(1)))
    feed["seed"][:] = [-(2**31), 0, 2**31 - 1]
    names = ["ok", "hands", "spare", "exchange"]
    before = session.run(names, feed)
    feed[name][1] = value
    after = session.run(names, feed)
    assert after[0].tolist() == [1, 0, 1]
    assert (after[1][1] == -1).all()
    assert after[3][1] == 0
    for one, other in zip(before[1:], after[1:], strict=True):
        assert np.array_equal(one[[0, 2]], other[[0, 2]])


def test_without_slips_it_is_the_network() -> None:
    agent = tiny_agent(NINE)
    views = random_views(NINE, Phase.EXCHANGE, 40, np.random.default_rng(4))
    seeds = np.arange(40, dtype=np.int32)
    plain = bot_of(agent, NINE).answers(views, seeds=seeds)
    level_too = bot_of(Level(agent, slips=0), NINE).answers(views, seeds=seeds)
    for name in ("hands", "spare", "exchange", "call", "exchange_gain"):
        assert np.array_equal(plain[name], level_too[name]), name


def test_comparing_would_notice_other_slips() -> None:
    base = tiny_agent(NINE)
    bot = bot_of(Level(base, slips=2), NINE)
    found = compare(Level(base, slips=4), bot, decisions=60)
    assert found["arrange"].different > 3
    assert found["exchange"].different > 0
    assert found["arrange"].worst > 0.01
    assert compare(base, bot, decisions=60)["arrange"].different > 10


def test_a_level_that_errs_otherwise_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = Level(tiny_agent(NINE), slips=4)
    monkeypatch.setattr("prial.training.one_file_level.LevelNodes.looks", lambda _self, _found, values: values)
    with pytest.raises(ExportError, match=r"decides otherwise than the agent in \d+ of 40 decisions of the arrange"):
        export_bot(agent, NINE, tmp_path / "bot.onnx", decisions=40)
    assert list(tmp_path.iterdir()) == []


def test_the_command(tmp_path: Path) -> None:
    target = tmp_path / "easy.onnx"
    done = CliRunner().invoke(app, ["export", "bga:easy", str(target), "--players", "2", "--verify", "20"])
    assert done.exit_code == 0, done.output
    assert "bga:easy, rules bga, 2 players" in done.output
    assert "Exchange: 20 of 20 decisions as in Python, 0 others worth the same." in done.output
    card = read_card(target)
    agent = level("bga", "easy")
    assert card["level"] == {"name": "bga:easy", "slips": agent.slips}
    assert card["agent"] == "bga:easy"
    assert "weaker level (bga:easy, slips" in card["model_card"]
    assert "agent 'bga' of prial" in card["model_card"]
    model = onnx.load(str(target))
    assert {node.domain for node in model.graph.node} == {""}
    assert not [node for node in model.graph.node if node.op_type.startswith("Random")]
    done = CliRunner().invoke(
        app, ["arena", str(target), "bga", "--rules", "bga", "--players", "2", "--games", "4", "--jobs", "1", "--json"]
    )
    assert json.loads(done.output)["agents"][0]["seats"] == 4
    done = CliRunner().invoke(app, ["export", "bga:easy[slips=0.5]", str(target), "--verify", "3", "--json"])
    assert json.loads(done.output)["card"]["level"]["slips"] == 0.5
