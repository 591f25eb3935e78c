"""One-file bots: one ONNX file decides as the agent does, whatever the rules; what it is fed and says is as documented."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from typer.testing import CliRunner  # noqa: E402

from prial.agents.check import check_agent  # noqa: E402
from prial.agents.one_file_agent import ONE_FILE_INPUTS, ONE_FILE_OUTPUTS, OneFileAgent, bot_inputs  # noqa: E402
from prial.agents.onnx_agent import ModelFileError, load, read_card  # noqa: E402
from prial.agents.registry import make  # noqa: E402
from prial.agents.scorer_agent import RulesMismatchError  # noqa: E402
from prial.agents.trained import Trained, TrainedError  # noqa: E402
from prial.envs.cards import parse_cards  # noqa: E402
from prial.envs.crash.game import Game, Phase  # noqa: E402
from prial.envs.crash.observation import ViewBatch  # noqa: E402
from prial.envs.crash.partitions import undominated  # noqa: E402
from prial.envs.crash.rules import CrashRules  # noqa: E402
from prial.training import one_file as one_file_module  # noqa: E402
from prial.training.cli import app  # noqa: E402
from prial.training.one_file import MOST_BYTES, ExportError, export_bot, network_hash  # noqa: E402
from prial.training.one_file_check import compare, random_views  # noqa: E402
from prial.training.one_file_graph import one_file_model  # noqa: E402
from prial.training.vectors import vector_rules  # noqa: E402
from small_bots import bot_of, tiny_agent  # noqa: E402

NINE = CrashRules.preset("bga", cards_dealt=9, exchange="none", quads_bonus=1)


def held(views: ViewBatch, text: str) -> ViewBatch:
    """The first view, with other cards."""
    views = views.select(np.array([0]))
    views.cards[0] = sorted(card.id for card in parse_cards(text))
    return views


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("bots") / "bot.onnx"
    export_bot(make("online"), CrashRules.preset("online"), target, decisions=60)
    return target


@pytest.fixture(scope="module")
def small() -> tuple[Trained, OneFileAgent]:
    agent = tiny_agent(NINE)
    return agent, bot_of(agent, NINE)


@pytest.mark.parametrize("name", vector_rules())
def test_it_decides_as_the_agent_under_all_rules(name: str) -> None:
    rules = vector_rules()[name]
    agent = tiny_agent(rules)
    found = compare(agent, bot_of(agent, rules), decisions=25, seed=7)
    assert list(found) == ["arrange"] + ["exchange"] * rules.has_exchange + ["call"] * rules.has_calls
    for agreement in found.values():
        assert agreement.different == 0
        assert agreement.same + agreement.ties == 25
        assert agreement.same >= 23
        assert agreement.same_candidates == 25


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_it_decides_as_the_agents_that_ship(players: int) -> None:
    for name in ("online", "bga", "traditional"):
        if players in {made.players for made in make(name).rules}:  # type: ignore[attr-defined]
            rules = CrashRules.preset(name, players=players)
            agent = make(name)
            assert isinstance(agent, Trained)
            found = compare(agent, bot_of(agent, rules), decisions=60, seed=3)
            assert [agreement.different for agreement in found.values()] == [0] * len(found)


def test_comparing_would_notice_another_network() -> None:
    agent, other = tiny_agent(NINE), tiny_agent(NINE, seed=1)
    found = compare(agent, bot_of(other, NINE), decisions=40)["arrange"]
    assert found.different > 5
    assert found.worst > 0.01


@pytest.mark.parametrize(
    ("cards", "count"),
    [
        ("3c 3h 4h 6c 6h 7d 7h 9h Th Ts Qh Kh Ah", 676),
        ("2c 2h 4h 5h 5s 7h 8h Tc Th Jh Kh Ah As", 736),
        ("Ac Ad Ah As Kc Kd Kh Ks Qc Qd Qh Qs 2c", None),  # three fours of a kind
        ("2c 2d 2h 2s 4c 6d 8h Ts Jc Qd Kh As 9c", None),  # one, among little else
        ("2c 4d 6h 8s Tc Qd Ah 3s 5c 7d 9h Js Kc", None),  # no pair, no four hands
    ],
)
def test_rare_deals(file: Path, cards: str, count: int | None) -> None:
    rules = CrashRules.preset("online")
    agent, bot = make("online"), load(file)
    assert isinstance(agent, Trained)
    assert isinstance(bot, OneFileAgent)
    views = held(random_views(rules, Phase.ARRANGE, 1, np.random.default_rng(5)), cards)
    found = undominated(views.cards[0].tolist(), rules)
    answers = bot.answers(views)
    (candidates,) = answers["candidates"].tolist()
    assert candidates == len(found)
    assert count in (None, len(found))
    values = agent.values(views)
    (laid,) = np.flatnonzero((found.strengths == answers["strengths"][0]).all(axis=1))
    assert values.max() - values[laid] < 1e-4


def test_nothing_to_lay() -> None:
    rules = CrashRules(players=3, cards_dealt=4, lowest_hand="pair")
    bot = bot_of(tiny_agent(rules), rules)
    answers = bot.answers(held(random_views(rules, Phase.ARRANGE, 1, np.random.default_rng(5)), "2c 5d 9h Ks"))
    assert answers["hands"].tolist() == [[[-1] * 3] * 4]
    assert answers["spare"].tolist() == [[0, 13, 30, 47]]
    assert answers["strengths"].tolist() == answers["chances"].astype(int).tolist() == [[0] * 4]
    assert (answers["ok"].tolist(), answers["candidates"].tolist(), answers["lead"].tolist()) == ([1], [1], [0.0])


def test_hands_and_spare_cards_are_the_cards_held(small: tuple[Trained, OneFileAgent]) -> None:
    views = random_views(NINE, Phase.ARRANGE, 40, np.random.default_rng(1))
    answers = small[1].answers(views)
    for row in range(40):
        shown = [*answers["hands"][row].ravel().tolist(), *answers["spare"][row].tolist()]
        assert sorted(card for card in shown if card >= 0) == views.cards[row].tolist()
        laid = answers["strengths"][row]
        assert (np.diff(laid) <= 0).all()
        assert ((answers["hands"][row] >= 0).all(axis=1) == (laid > 0)).all()
    assert (answers["lead"] >= 0).all()
    assert ((answers["chances"] >= 0) & (answers["chances"] <= 1)).all()


def test_order_of_cards_and_company_change_nothing(small: tuple[Trained, OneFileAgent]) -> None:
    bot = small[1]
    views = random_views(NINE, Phase.ARRANGE, 20, np.random.default_rng(2))
    together = bot.answers(views)
    for row in range(20):
        alone = bot.answers(views.select(np.array([row])))
        for name in ("hands", "spare", "exchange", "call", "strengths", "candidates"):
            assert alone[name][0].tolist() == together[name][row].tolist(), name
    feed = bot_inputs(views)
    feed["cards"] = np.random.default_rng(3).permuted(feed["cards"], axis=1)
    (hands,) = bot._session.run(["hands"], feed)
    assert hands.tolist() == together["hands"].tolist()


def _set(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(feed: dict[str, Any]) -> None:
        feed[name][0] = value

    return change


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cards", [0, 0, 4, 8, 12, 16, 20, 24, 28]),
        ("cards", [-1, 0, 4, 8, 12, 16, 20, 24, 28]),
        ("cards", [52, 0, 4, 8, 12, 16, 20, 24, 28]),
        ("cards", [2**31 - 1] * 9),
        ("given_up", 52),
        ("given_up", -2),
        ("scores", -1),
        ("target", 0),
        ("dealer", 3),
        ("dealer", -1),
        ("exchanges", 2),
        ("calls", -2),
        ("laid", 52),
        ("temperature", -0.5),
        ("temperature", np.nan),
        ("temperature", np.inf),
    ],
)
def test_what_is_out_of_range_is_told_and_harms_nobody(
    small: tuple[Trained, OneFileAgent], name: str, value: Any
) -> None:
    session = small[1]._session
    feed = bot_inputs(random_views(NINE, Phase.ARRANGE, 3, np.random.default_rng(1)))
    names = list(ONE_FILE_OUTPUTS)
    before = dict(zip(names, session.run(names, feed), strict=True))
    feed[name][1] = value
    after = dict(zip(names, session.run(names, feed), strict=True))
    assert after["ok"].tolist() == [1, 0, 1]
    assert (after["hands"][1] == -1).all()
    assert (after["spare"][1] == -1).all()
    assert after["exchange"][1] == after["call"][1] == 0
    assert (after["hands"][[0, 2]] == before["hands"][[0, 2]]).all()


def test_a_card_that_is_not_in_the_pack_is_told() -> None:
    rules = CrashRules(players=2, cards_dealt=6, ranks="9TJQKA")
    bot = bot_of(tiny_agent(rules), rules)
    feed = bot_inputs(random_views(rules, Phase.ARRANGE, 2, np.random.default_rng(1)))
    feed["cards"][0] = [0, 1, 2, 3, 4, 5]
    assert bot._session.run(["ok"], feed)[0].tolist() == [0, 1]


def test_temperature_draws_by_value(small: tuple[Trained, OneFileAgent]) -> None:
    agent, bot = small
    views = random_views(NINE, Phase.ARRANGE, 60, np.random.default_rng(4))
    row = int(np.argsort(np.abs(views.undominated().counts - 6))[0])  # some six arrangements
    view = views.select(np.array([row]))
    found, values = view.undominated(), agent.values(view)
    temperature = float(values.max() - np.median(values)) / 1.5
    expected = np.exp(values / temperature - (values / temperature).max())
    expected /= expected.sum()
    draws = 6_000
    feed = {name: np.repeat(value, draws, axis=0) for name, value in bot_inputs(view, temperature=temperature).items()}
    feed["seed"] = np.arange(-draws // 2, draws // 2, dtype=np.int32)
    strengths = bot._session.run(["strengths"], feed)[0]
    assert (bot._session.run(["strengths"], feed)[0] == strengths).all()
    drawn = (strengths[:, None] == found.strengths[None]).all(axis=2)
    assert (drawn.sum(axis=1) >= 1).all()
    counts = drawn.argmax(axis=1)
    share = np.bincount(counts, minlength=len(values)) / draws
    error = np.sqrt(expected * (1 - expected) / draws)
    assert (np.abs(share - expected) < 4.5 * error + 1e-4).all()
    assert len(set(counts.tolist())) > 2
    # Neighbouring seeds have nothing to do with each other.
    same = (counts[1:] == counts[:-1]).mean()
    assert abs(same - (expected**2).sum()) < 0.05


def test_one_small_file_of_standard_operators(file: Path, tmp_path: Path) -> None:
    model = onnx.load(str(file))
    assert file.stat().st_size < 1_000_000 < MOST_BYTES
    assert {node.domain for node in model.graph.node} == {""}
    assert not {"If", "Loop", "Scan"} & {node.op_type for node in model.graph.node}
    assert not [node for node in model.graph.node if node.op_type.startswith("Random")]
    assert [opset.version for opset in model.opset_import] == [17]
    kinds = {value.type.tensor_type.elem_type for value in (*model.graph.input, *model.graph.output)}
    assert kinds == {onnx.TensorProto.FLOAT, onnx.TensorProto.INT32}
    assert not [tensor for tensor in model.graph.initializer if tensor.external_data]
    assert [value.name for value in model.graph.input] == list(ONE_FILE_INPUTS)
    assert [value.name for value in model.graph.output] == list(ONE_FILE_OUTPUTS)
    again = tmp_path / "again.onnx"
    export_bot(make("online"), CrashRules.preset("online"), again, decisions=60)
    assert again.read_bytes() == file.read_bytes()


def test_the_file_describes_itself(file: Path) -> None:
    card = read_card(file)
    agent = make("online")
    assert isinstance(agent, Trained)
    assert (card["kind"], card["format"], card["agent"]) == ("one-file-bot", 1, "online")
    assert CrashRules.from_dict(card["rules"]) == CrashRules.preset("online")
    assert card["network_sha256"] == network_hash(agent.network)
    assert card["verified"]["arrange"]["decisions"] == 60
    assert card["verified"]["arrange"]["different"] == 0
    assert "60 of 60 the same" in card["model_card"]
    assert list(card["inputs"]) == list(ONE_FILE_INPUTS)


def test_prial_plays_it(file: Path) -> None:
    bot = make(str(file))
    check_agent(bot, rules="online")
    game = Game(CrashRules.preset("online", target=10), seed=1)  # any target will do
    while not game.is_over:
        seat = game.pending[0]
        game.step(bot.act(ViewBatch.of([_view(game, seat)])[0], np.random.default_rng(0)), seat)
    with pytest.raises(RulesMismatchError, match="made for players=3, the table plays players=2"):
        bot.act(_view(Game(CrashRules.preset("online", players=2), seed=1), 0), np.random.default_rng(0))


def _view(game: Game, seat: int) -> Any:
    from prial.envs.crash.observation import view_of

    return view_of(game, seat)


def test_it_plays_exchanges_and_calls() -> None:
    rules = CrashRules.preset("traditional", players=3, crash_call="optional", cards_dealt=9)
    check_agent(bot_of(tiny_agent(rules), rules), rules=rules)


def test_its_own_temperature_counts_unless_another_is_given(tmp_path: Path) -> None:
    target = tmp_path / "easy.onnx"
    export_bot(tiny_agent(NINE), NINE, target, decisions=20, temperature=2.0)
    views = random_views(NINE, Phase.ARRANGE, 60, np.random.default_rng(4))
    best = tiny_agent(NINE).arrange_many(views, np.random.default_rng(0))
    strict = load(target, temperature=0.0).arrange_many(views, np.random.default_rng(0))
    easy = load(target).arrange_many(views, np.random.default_rng(0))
    assert (strict == best).mean() > 0.5  # equal hands of other cards apart
    assert (strict != easy).any()


@pytest.mark.parametrize(
    "temperature",
    [-1.0, 1e7, 10**5000, float("inf"), float("nan"), "x", True],
    ids=lambda value: f"{value:.0e}" if isinstance(value, float) else type(value).__name__,
)
def test_a_temperature_is_a_number(file: Path, temperature: object) -> None:
    with pytest.raises(ValueError, match="temperature="):
        load(file, temperature=temperature)  # type: ignore[arg-type]


def test_changed_files_are_refused(file: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.onnx"
    for key, value, message in (
        ("format", 99, "has format 99, this version reads 1"),
        ("kind", "other", "has kind 'other'"),
        ("rules", {"players": 3}, "rules without .*target"),
    ):
        model = onnx.load(str(file))
        onnx.helper.set_model_props(model, {"prial": json.dumps({**read_card(file), key: value})})
        onnx.save(model, str(changed))
        with pytest.raises(ModelFileError, match=message):
            load(changed)
    model = onnx.load(str(file))
    del model.graph.output[-1]
    onnx.save(model, str(changed))
    with pytest.raises(ModelFileError, match="has outputs"):
        load(changed)


@pytest.mark.parametrize("damage", ["shape", "foreign cards", "not ok", "index"])
def test_damaged_bots_are_refused_before_they_play(
    file: Path, tmp_path: Path, damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    model = onnx.load(str(file))
    wrong = {
        "shape": ("hands", np.zeros(1, np.int32)),
        "foreign cards": ("hands", np.arange(24, dtype=np.int32).reshape(2, 4, 3)),
        "not ok": ("ok", np.zeros(2, np.int32)),
    }
    if damage == "index":
        arrays = {one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer}
        taken = next(node for node in model.graph.node if node.op_type == "Gather" and node.input[1] in arrays)
        far = onnx.numpy_helper.from_array(np.full_like(arrays[taken.input[1]], 10**6), "far")
        taken.input[1] = "far"
        model.graph.initializer.append(far)
    else:
        name, values = wrong[damage]
        for node in model.graph.node:
            node.output[:] = ["unused" if output == name else output for output in node.output]
            node.input[:] = ["unused" if used == name else used for used in node.input]
        model.graph.initializer.append(onnx.numpy_helper.from_array(values, "wrong"))
        model.graph.node.append(onnx.helper.make_node("Identity", ["wrong"], [name]))
    changed = tmp_path / "changed.onnx"
    model.graph.ClearField("value_info")
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    onnx.save(model, str(changed))
    with pytest.raises(ModelFileError, match="does not play as a bot"):
        load(changed)
    assert capfd.readouterr() == ("", "")


def test_a_temperature_that_no_file_takes_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="a file takes a number from 0 to 1,000,000"):
        export_bot(tiny_agent(NINE), NINE, tmp_path / "bot.onnx", decisions=1, temperature=1e7)
    assert list(tmp_path.iterdir()) == []


def test_a_bot_that_plays_otherwise_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tiny_agent(NINE, seed=1)
    monkeypatch.setattr(one_file_module, "one_file_model", lambda _, rules: one_file_model(other, rules))
    with pytest.raises(ExportError, match=r"decides otherwise than the agent in \d+ of 40 decisions of the arrange"):
        export_bot(tiny_agent(NINE), NINE, tmp_path / "bot.onnx", decisions=40)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_a_bot_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="'greedy' has no value network"):
        export_bot(make("greedy"), CrashRules(), tmp_path / "bot.onnx")
    with pytest.raises(TrainedError, match="finish=immediate, not finish=round_end"):
        export_bot(make("online"), CrashRules(finish="round_end"), tmp_path / "bot.onnx")
    with pytest.raises(ExportError, match=r"ending in \.onnx"):
        export_bot(make("online"), CrashRules(), tmp_path / "bot.txt")
    assert list(tmp_path.iterdir()) == []


def test_the_command(tmp_path: Path) -> None:
    target = tmp_path / "bot.onnx"
    done = CliRunner().invoke(app, ["export", "online", str(target), "--players", "2", "--verify", "20"])
    assert done.exit_code == 0, done.output
    assert "online, rules online, 2 players" in done.output
    assert "Arrange: 20 of 20 decisions as in Python, 0 others worth the same." in done.output
    done = CliRunner().invoke(
        app, ["export", "online[temperature=0.5]", str(target), "--set", "target=10", "--verify", "5", "--json"]
    )
    told = json.loads(done.output)
    assert told["bytes"] == target.stat().st_size
    assert (told["card"]["rules"]["target"], told["card"]["temperature"]) == (10, 0.5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["online"], "expected AGENT or RUN and OUT.onnx"),
        (["online", "bot.txt"], "ending in .onnx"),
        (["greedy", "bot.onnx"], "has no value network"),
        (["online", "bot.onnx", "--rules", "bga"], "was trained for"),
        (["nowhere", "bot.onnx"], "nowhere"),
        (["nowhere", "bot.onnx", "--players", "2"], "a run has rules of its own"),
        (["nowhere.safetensors", "bot.onnx"], "no such file"),
    ],
)
def test_mistakes_are_told_in_a_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["export", *words])
    assert done.exit_code != 0
    assert message in f"{done.output} {done.exception}"
    assert list(tmp_path.iterdir()) == []
