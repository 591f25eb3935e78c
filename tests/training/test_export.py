"""Export: one file, the same choices, and a clear refusal of what does not fit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxscript")

from prial.agents.check import check_agent  # noqa: E402
from prial.agents.onnx_agent import ModelFileError, load, read_card  # noqa: E402
from prial.agents.registry import make  # noqa: E402
from prial.envs.crash.game import Game  # noqa: E402
from prial.envs.crash.observation import ViewBatch, view_of  # noqa: E402
from prial.training import export as export_module  # noqa: E402
from prial.training.export import ExportError, export_run  # noqa: E402
from prial.training.past_versions import torch_agent  # noqa: E402
from prial.training.ppo import load_scorer, train_ppo  # noqa: E402
from prial.training.ppo_config import load_ppo_config  # noqa: E402

SMALL = {
    "envs": 4,
    "rollout_steps": 64,
    "batch_size": 128,
    "total_steps": 512,
    "evaluate_games": 12,
    "hidden": [32],
    "hats": 5,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_ppo(load_ppo_config("ppo-online", SMALL), tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture(scope="module")
def bot(run: Path) -> Path:
    target = run / "bot.onnx"
    export_run(run, target)
    return target


def test_same_choices_on_a_thousand_deals(run: Path, bot: Path) -> None:
    scorer, config, _ = load_scorer(run)
    rules = config.made_rules()
    games = [Game(rules, seed=77, first_deal=deal, scores=[deal % 7, 0, 3]) for deal in range(1000)]
    views = ViewBatch.of([view_of(game, game.pending[0]) for game in games])
    rng = np.random.default_rng(0)
    ours = torch_agent(scorer, name="network", rules=rules, k=config.candidates).act_many(views, rng)
    file = make(str(bot))
    theirs = file.act_many(views, rng)
    assert (ours == theirs).all()
    assert [file.act(views[row], rng) for row in range(50)] == theirs[:50].tolist()
    assert len(set(theirs.tolist())) > 300


def test_the_file_describes_itself_and_plays_without_torch(bot: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere.onnx"
    moved.write_bytes(bot.read_bytes())
    card = read_card(moved)
    assert card["rules"]["target"] == 7
    assert card["training"]["steps"] == 512
    code = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "import numpy as np\n"
        "from prial.agents import make\n"
        "from prial.envs.crash.game import Game\n"
        "from prial.envs.crash.observation import view_of\n"
        "from prial.envs.crash.rules import CrashRules\n"
        f"agent = make({str(moved)!r})\n"
        "game = Game(CrashRules.preset('online'), seed=3)\n"
        "while not game.is_over:\n"
        "    seat = game.pending[0]\n"
        "    game.step(agent.act(view_of(game, seat), np.random.default_rng(0)), seat)\n"
        "print(game.result.reason.value)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("target", "crash")


def test_it_is_one_small_file_of_standard_operators_in_float32(bot: Path) -> None:
    model = onnx.load(str(bot))
    assert bot.stat().st_size < 500_000
    assert {node.domain for node in model.graph.node} == {""}
    assert [opset.version for opset in model.opset_import] == [18]
    kinds = {value.type.tensor_type.elem_type for value in (*model.graph.input, *model.graph.output)}
    assert kinds == {onnx.TensorProto.FLOAT}
    assert not [initializer for initializer in model.graph.initializer if initializer.external_data]
    assert str(Path(__file__).parents[2]) not in bot.read_bytes().decode("latin-1")  # no paths of this machine


def test_it_conforms(bot: Path) -> None:
    check_agent(make(str(bot)), rules="online")


def test_other_rules_and_layouts_are_refused_naming_both_sides(bot: Path, tmp_path: Path) -> None:
    agent = load(bot)
    for overrides, message in (
        ({"target": 10}, "made for target=7, the table plays target=10"),
        ({"players": 2}, "made for players=3, the table plays players=2"),
        ({"flush_high": "three", "lowest_hand": "flush"}, "flush_high=ace.*flush_high=three"),
    ):
        game = Game(agent.rules.replace(**overrides), seed=1)
        with pytest.raises(ValueError, match=message):
            agent.act(view_of(game, game.pending[0]), np.random.default_rng(0))
    for key, value, message in (
        ("layout", "features 0: strange", "made for the layout 'features 0: strange', this version has 'features 1"),
        ("format", 99, "has format 99, this version reads 1"),
        ("kind", "other", "has kind 'other', this version reads 'candidate-scorer'"),
        ("rules", {**agent.rules.to_dict(), "players": 99}, "incomplete description .*players=99"),
    ):
        changed = tmp_path / "changed.onnx"
        model = onnx.load(str(bot))
        onnx.helper.set_model_props(model, {"prial": json.dumps({**read_card(bot), key: value})})
        onnx.save(model, str(changed))
        with pytest.raises(ModelFileError, match=message):
            load(changed)


def test_what_is_no_agent_is_refused_by_name(bot: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no file"):
        load(tmp_path / "none.onnx")
    junk = tmp_path / "junk.onnx"
    junk.write_bytes(b"junk")
    with pytest.raises(ModelFileError, match=r"junk\.onnx' is not an ONNX file"):
        load(junk)
    model = onnx.load(str(bot))
    del model.metadata_props[:]
    onnx.save(model, str(junk))
    with pytest.raises(ModelFileError, match="not one of prial's agents"):
        load(junk)


def test_an_export_that_plays_differently_is_not_written(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = export_module._to_onnx

    def dishonest(scorer: torch.nn.Module, *rest: object) -> bytes:
        torch.manual_seed(5)
        other = type(scorer)(load_ppo_config("ppo-online").made_rules(), (32,), hats=5)
        torch.nn.init.normal_(other.candidate_head.weight, std=1.0)
        return honest(other, *rest)

    monkeypatch.setattr(export_module, "_to_onnx", dishonest)
    target = tmp_path / "bot.onnx"
    with pytest.raises(ExportError, match=r"differs from the network in \d+ of"):
        export_run(run, target)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [0, -3, True, "8", 2.9, 10**9, None])
def test_a_wrong_number_of_candidates_is_refused(bot: Path, tmp_path: Path, value: object) -> None:
    changed = tmp_path / "changed.onnx"
    model = onnx.load(str(bot))
    onnx.helper.set_model_props(model, {"prial": json.dumps({**read_card(bot), "candidates": value})})
    onnx.save(model, str(changed))
    with pytest.raises(ModelFileError, match="candidates="):
        load(changed)


def test_damaged_weights_other_networks_and_thin_descriptions_are_refused(bot: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.onnx"
    model = onnx.load(str(bot))
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and len(tensor.dims) == 2:
            values = onnx.numpy_helper.to_array(tensor)
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.full_like(values, np.nan), tensor.name))
    onnx.save(model, str(changed))
    with pytest.raises(ModelFileError, match="not finite"):
        load(changed)

    model = onnx.load(str(bot))
    onnx.helper.set_model_props(model, {"prial": json.dumps({**read_card(bot), "rules": {"players": 3}})})
    onnx.save(model, str(changed))
    with pytest.raises(ModelFileError, match=r"rules without .*target"):
        load(changed)
    onnx.helper.set_model_props(model, {"prial": '{"a":' * 2000})
    onnx.save(model, str(changed))
    with pytest.raises(ModelFileError, match="not a JSON object"):
        load(changed)

    kind = onnx.TensorProto.FLOAT
    inputs = [onnx.helper.make_tensor_value_info(name, kind, ["n", "m"]) for name in ("candidates", "context")]
    inputs[0] = onnx.helper.make_tensor_value_info("candidates", kind, ["n", "k", 34])
    output = onnx.helper.make_tensor_value_info("logits", kind, ["n", "m"])
    relu = onnx.helper.make_node("Relu", ["context"], ["logits"])
    other = onnx.helper.make_model(
        onnx.helper.make_graph([relu], "other", inputs, [output]), opset_imports=[onnx.helper.make_opsetid("", 18)]
    )
    other.ir_version = 10
    onnx.helper.set_model_props(other, {"prial": json.dumps(read_card(bot))})
    onnx.save(other, str(changed))
    with pytest.raises(ModelFileError, match="answers shape"):
        load(changed)


@pytest.mark.parametrize("temperature", [-1.0, float("inf"), float("nan"), "x", True])
def test_a_temperature_is_a_number(bot: Path, temperature: object) -> None:
    with pytest.raises(ValueError, match="temperature="):
        load(bot, temperature=temperature)
