"""Configurations: what ships loads, what is wrong is named with its key and value."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from prial.training.config_files import ConfigFileError, shipped_configs
from prial.training.ppo_config import PPOConfig, load_ppo_config


@pytest.mark.parametrize("name", shipped_configs("training"))
def test_every_configuration_that_ships_loads(name: str) -> None:
    config = load_ppo_config(name)
    assert config.made_rules().players >= 2


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"sed": 1}, r"unknown key 'sed'; did you mean 'seed'\?"),
        ({"learning_rate": 7.0}, "learning_rate=7.0"),
        ({"learning_rate": "fast"}, "learning_rate='fast'"),
        ({"gamma": 3.96}, "gamma=3.96"),
        ({"total_steps": 0}, "total_steps=0"),
        ({"total_steps": True}, "total_steps=True"),
        ({"opponents": []}, r"opponents=\[\]"),
        ({"hidden": [64, -1]}, r"hidden\.1=-1"),
        ({"rules": "onlin"}, "did you mean 'online'"),
        ({"rule_options": {"players": 5}}, "players=5 with cards_dealt=13"),
        ({"rule_options": {"colour": 5}}, "unknown option 'colour'"),
        ({"episode": "round"}, "reward='win' with episode='round'"),
        ({"episode": "round", "reward": "chances"}, "reward='chances' with episode='round'"),
        ({"envs": 2, "rollout_steps": 8, "batch_size": 64}, "batch_size=64"),
        ({"seed": -1}, "seed=-1"),
        ({"batch_size": 1}, "batch_size=1 leaves"),
        ({"envs": 1, "rollout_steps": 65, "batch_size": 64}, "batch_size=64 leaves"),
        ({"reward": "money"}, "reward='money'"),
        ({"entropy": float("inf")}, "entropy=inf: Input should be a finite number"),
        ({"value_weight": float("nan")}, "value_weight=nan: Input should be a finite number"),
        ({"max_grad_norm": float("inf")}, "max_grad_norm=inf"),
        ({"candidates": 2001}, "candidates=2001"),
        ({"envs": 5000}, "envs=5000"),
        ({"hidden": [10**6]}, r"hidden\.0=1000000"),
        ({"total_steps": 10**12}, "total_steps=1000000000000"),
        ({"last_learning_rate": 1.5}, "last_learning_rate=1.5"),
        ({"last_learning_rate": float("nan")}, "last_learning_rate=nan"),
        ({"last_learning_rate": "slow"}, "last_learning_rate='slow'"),
        ({"last_entropy": -0.1}, "last_entropy=-0.1"),
        ({"last_entropy": float("inf")}, "last_entropy=inf"),
        ({"last_entropy": True}, "last_entropy=True"),
        ({"hats": -1}, "hats=-1"),
        ({"hats": "many"}, "hats='many'"),
        ({"hats": 10**17}, "hats=100000000000000000"),
        ({"seats": "both"}, "seats='both'"),
        (
            {"seats": "all", "rule_options": {"crash_call": "optional"}},
            "seats='all' with an exchange or with calls: all seats must decide at once",
        ),
        ({"seats": "all", "rules": "bga"}, "seats='all' with an exchange"),
        ({"seats": "all", "envs": 2, "rollout_steps": 8, "batch_size": 64}, r"envs \* rollout_steps \* players = 48"),
        ({"device": "gpu"}, "device='gpu': expected auto, cpu, cuda, cuda:N"),
        ({"device": "cuda:-1"}, "device='cuda:-1': expected"),
    ],
)
def test_errors_name_key_and_value(overrides: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigFileError, match=message):
        load_ppo_config("ppo-online", overrides)


def test_a_run_from_before_a_key_goes_on_with_its_default(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from prial.training.ppo_config import config_of
    from prial.training.run_folder import RunFolder

    content = load_ppo_config("ppo-online", {"seed": 3, "gamma": 0.9}).model_dump()
    for key in ("hats", "seats", "last_learning_rate", "last_entropy"):
        del content[key]
    run = RunFolder(tmp_path)
    run.start(content)
    assert config_of(run) == load_ppo_config("ppo-online", {"seed": 3, "gamma": 0.9})


def test_files_are_read_and_their_faults_named(tmp_path: Path) -> None:
    good = tmp_path / "mine.yaml"
    good.write_text("seed: 7\nrule_options: {target: 10}\n", encoding="utf-8")
    config = load_ppo_config(good)
    assert (config.seed, config.made_rules().target) == (7, 10)
    good.write_text("# nothing set\n", encoding="utf-8")
    assert load_ppo_config(good) == PPOConfig()
    for text, message in (("- 1", "expected keys"), ("a: [", "is not YAML")):
        good.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigFileError, match=message):
            load_ppo_config(good)
    with pytest.raises(ConfigFileError, match="cannot read"):
        load_ppo_config(tmp_path / "none.yaml")
    with pytest.raises(ConfigFileError, match=r"Known: .*ppo-online"):
        load_ppo_config("nothing")


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "cuda:3", "mps"])
def test_devices_that_may_be_there_are_taken(device: str) -> None:
    assert load_ppo_config("ppo-online", {"device": device}).device == device


def test_a_run_is_named_by_everything_but_its_seed() -> None:
    assert load_ppo_config("ppo-online").key == load_ppo_config("ppo-online", {"seed": 9}).key
    assert load_ppo_config("ppo-online").key != load_ppo_config("ppo-online", {"gamma": 0.9}).key


def test_every_key_is_documented() -> None:
    assert all(field.description for field in PPOConfig.model_fields.values())
