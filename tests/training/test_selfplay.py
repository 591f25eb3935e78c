"""Self-play: it learns, resumes exactly, shares its work among processes, and what it writes is played without torch."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")
pytest.importorskip("tensorboard")

from prial.agents.trained import Trained  # noqa: E402
from prial.agents.value_inputs import contexts_of  # noqa: E402
from prial.envs.crash.rules import CrashRules  # noqa: E402
from prial.training.arena import run_arena  # noqa: E402
from prial.training.config_files import ConfigFileError, shipped_configs  # noqa: E402
from prial.training.run_folder import RunError, RunFolder  # noqa: E402
from prial.training.selfplay import Learner, train_selfplay  # noqa: E402
from prial.training.selfplay_config import SelfPlayConfig, load_selfplay_config  # noqa: E402
from prial.training.selfplay_watch import agent_of, agreement  # noqa: E402
from prial.training.torch_state import TrainingError  # noqa: E402
from prial.training.trained_files import config_of_run, write_trained  # noqa: E402
from prial.training.value_net import ValueNet, numpy_network  # noqa: E402

ONLINE = CrashRules.preset("online")
SMALL = {
    "width": 12,
    "hats": 5,
    "tables": 24,
    "iterations": 6,
    "evaluate_every": 4,
    "evaluate_games": 6,
    "exploit_deals": 0,
    "opponents": ["greedy"],
    "checkpoint_every": 2,
}


def small(**overrides: object) -> SelfPlayConfig:
    return SelfPlayConfig(**{**SMALL, **overrides})


@pytest.mark.parametrize("name", shipped_configs("selfplay"))
def test_shipped_configurations_are_played(name: str) -> None:
    config = load_selfplay_config(name, {"tables": 60, "width": 8, "hats": 3})
    facts = Learner(config).step(0)
    assert facts["decisions"] >= 60 * 2
    assert facts["gradient_norm"] > 0


def test_the_network_in_numpy_is_that_in_torch() -> None:
    learner = Learner(small(rules="bga", objective="points"))
    network = numpy_network(learner.net.state_dict())
    deals = learner._dealers[0].deal(batch=0, total=30, tables=range(30))
    hands, context = network.basis.inputs(deals.found), contexts_of(deals.views)
    owner = torch.from_numpy(np.repeat(np.arange(len(context)), deals.found.counts))
    with torch.no_grad():
        values = learner.net.values(torch.from_numpy(hands), torch.from_numpy(context), owner).numpy()
        first = hands[deals.found.offsets[:-1]]
        said = learner.net.choice("exchange", torch.from_numpy(first), torch.from_numpy(context)).numpy()
    assert network.values(hands, context, deals.found.counts) == pytest.approx(values, abs=1e-4)
    assert network.choice("exchange", first, context) == pytest.approx(said, abs=1e-4)
    assert values.std() > 1e-3


@pytest.mark.parametrize("update", ["q", "policy-gradient", "neurd", "mirror"])
def test_every_rule_learns(update: str) -> None:
    config = small(update=update, tables=128, iterations=40, width=24, hats=8, objective="points", learning_rate=1e-2)
    learner = Learner(config)
    before = agreement(agent_of(learner.net.state_dict(), [ONLINE]), ONLINE, seed=9)
    for batch in range(config.iterations):
        learner.step(batch)
    after = agent_of(learner.net.state_dict(), [ONLINE])
    same = agreement(after, ONLINE, seed=9)
    assert before is not None
    assert same is not None
    assert same > before + 0.1
    share = run_arena([after, "random"], rules=ONLINE, games=150, seed=4, jobs=1).agents[0].win_share
    assert share.low > 1 / 3


def test_exchanges_and_calls_are_learned() -> None:
    config = small(
        rules="traditional",
        players=[2],
        rule_options={"crash_call": "optional", "crash_call_penalty": 3, "crash_call_bonus": 0},
        objective="points",
        tables=64,
        iterations=40,
        learning_rate=1e-2,
    )
    learner = Learner(config)
    for batch in range(config.iterations):
        learner.step(batch)
    agent = agent_of(learner.net.state_dict(), config.made_rules())
    deals = learner._dealers[0].deal(batch=999, total=300, tables=range(300))
    assert deals.choosers is not None
    rng = np.random.default_rng(0)
    exchanged = agent.exchange_many(deals.choosers, rng)
    assert 0.15 < exchanged.mean() < 0.85
    # The hands that are given up are those that a plain measure says are weak.
    weakest = np.maximum.reduceat(deals.choosers_found.strengths[:, 3], deals.choosers_found.offsets[:-1])
    assert weakest[exchanged].mean() < weakest[~exchanged].mean()
    views = deals.views
    laid = agent.arrange_many(views, rng)
    assert (
        agent.call_many(replace(views, laid=laid), rng).mean() < 0.05
    )  # a failed call costs three points, a crash pays none more


def _weights(run: Path) -> dict[str, torch.Tensor]:
    checkpoint = RunFolder(run).latest()
    assert checkpoint is not None
    return {**checkpoint.weights, **{f"adam.{name}": v for name, v in checkpoint.optimizer.items()}}


class _KilledError(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("update", ["q", "mirror"])
def test_a_run_that_was_killed_goes_on_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update: str) -> None:
    config = small(update=update, rules="bga", mirror_every=4)
    train_selfplay(config, tmp_path / "whole")
    plain = Learner.step

    def dying(self: Learner, batch: int) -> dict[str, float]:
        if batch == 5:
            raise _KilledError
        return plain(self, batch)

    with monkeypatch.context() as patched:
        patched.setattr(Learner, "step", dying)
        with pytest.raises(_KilledError):
            train_selfplay(config, tmp_path / "broken")
    assert RunFolder(tmp_path / "broken").about()["status"] == "failed"
    train_selfplay(config, tmp_path / "broken", resume=True)
    whole, broken = _weights(tmp_path / "whole"), _weights(tmp_path / "broken")
    assert whole.keys() == broken.keys()
    for name, values in whole.items():
        assert torch.equal(values, broken[name]), name
    assert RunFolder(tmp_path / "broken").about()["status"] == "finished"


def test_a_run_is_not_written_over_and_another_network_is_refused(tmp_path: Path) -> None:
    train_selfplay(small(iterations=1), tmp_path)
    with pytest.raises(RunError, match="holds a run already"):
        train_selfplay(small(iterations=1), tmp_path)
    with pytest.raises(RunError, match="does not fit the run's network"):
        train_selfplay(small(iterations=2, width=16), tmp_path, resume=True)


def test_two_processes_take_the_step_of_one(tmp_path: Path) -> None:
    """Under torch's own launcher, with the tables of each batch split between them."""
    settings = [f"{key}={value}".replace("'", "") for key, value in {**SMALL, "iterations": 1, "rules": "bga"}.items()]
    command = [Path(sys.executable).parent / "prial", "train", "selfplay"]
    command += [word for setting in settings for word in ("--set", setting)]
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--no-python"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*launcher, *command, "--out", tmp_path / "two"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    train_selfplay(load_selfplay_config("online", {**SMALL, "iterations": 1, "rules": "bga"}), tmp_path / "one")
    one, two = _weights(tmp_path / "one"), _weights(tmp_path / "two")
    gradients = [name for name in one if name.endswith("exp_avg")]  # after one step, a tenth of the gradient
    assert len(gradients) > 10
    for name in gradients:
        assert torch.allclose(one[name], two[name], rtol=1e-3, atol=1e-6), name
    assert max(float(one[name].abs().max()) for name in gradients) > 1e-2
    fresh = Learner(load_selfplay_config("online", {**SMALL, "iterations": 1, "rules": "bga"})).weights()
    assert not torch.allclose(fresh["net.second.weight"], one["net.second.weight"], atol=1e-4)


def test_a_process_without_decisions_says_so() -> None:
    with pytest.raises(TrainingError, match="process 2 of 4 got no decisions"):
        Learner(small(tables=1), rank=2, processes=4).step(0)


def test_numbers_that_are_not_finite_stop_the_run() -> None:
    learner = Learner(small())
    with torch.no_grad():
        learner.net.read.bias.fill_(float("nan"))
    with pytest.raises(TrainingError, match=r"batch 0: .*no finite numbers"):
        learner.step(0)


def test_a_run_becomes_a_file_that_is_played_without_torch(tmp_path: Path) -> None:
    run = train_selfplay(small(), tmp_path / "run")
    assert write_trained(run, tmp_path / "bot.safetensors") == 6
    agent = Trained.from_file(tmp_path / "bot.safetensors")
    checkpoint = RunFolder(run).latest()
    assert checkpoint is not None
    average = {k.removeprefix("average."): v for k, v in checkpoint.weights.items() if k.startswith("average.")}
    assert np.array_equal(agent.network.weights["second.weight"], average["second.weight"].numpy())
    assert config_of_run(RunFolder(run)) == small()
    program = (
        "import sys, numpy as np\n"
        "from prial.agents.trained import Trained\n"
        "from prial.envs.crash.vector import CrashVectorEnv\n"
        f"agent = Trained.from_file({str(tmp_path / 'bot.safetensors')!r})\n"
        "env = CrashVectorEnv(3, 'online', seed=1)\n"
        "env.act_many(agent, np.random.default_rng(0))\n"
        "print(*[m for m in ('torch', 'safetensors') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_tensorboard_has_it_all_from_the_first_batch(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train_selfplay(small(iterations=2, exploit_deals=4, opponents=["greedy", "random"]), tmp_path)
    events = EventAccumulator(str(RunFolder(tmp_path).tensorboard))
    events.Reload()
    there = set(events.Tags()["scalars"])
    facts = ("loss", "gradient_norm", "entropy", "decisions_per_second")
    kinds = ("win_share_vs_greedy", "win_share_vs_random", "agreement_with_solver-fast", "exploitability_points")
    assert {f"training/{name}" for name in facts} <= there
    assert {f"{kind}/3/{name}" for kind in ("average", "last") for name in kinds} <= there
    assert [event.step for event in events.Scalars("average/3/win_share_vs_greedy")] == [1, 2]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"upate": "q"}, "did you mean 'update'"),
        ({"device": "gpu"}, "expected auto, cpu, cuda"),
        ({"players": [9]}, "players"),
        ({"shares": [1.0, 2.0]}, "expected one above 0 for each"),
        ({"last_temperature": 0.0}, "last_temperature=0.0: Input should be greater than 0"),
        ({"from_nil": 0.9}, "add up to more than 1"),
    ],
)
def test_configurations_are_checked(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigFileError, match=said):
        load_selfplay_config("online", {"players": [3], "shares": [], **wrong})


def test_the_network_starts_as_the_seed_says() -> None:
    first, same, other = (Learner(small(seed=seed)).net.state_dict() for seed in (1, 1, 2))
    assert torch.equal(first["first.weight"], same["first.weight"])
    assert not torch.equal(first["first.weight"], other["first.weight"])
    assert isinstance(Learner(small()).average, ValueNet)
