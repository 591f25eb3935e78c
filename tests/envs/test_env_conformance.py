"""PettingZoo's own checks, for every rule set, number of players and option, without one illegal move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.utils.env_logger import EnvLogger

from prial.envs import crash_v0
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.wrappers import CandidateActions, HandByHand
from tables import RULE_SETS, TABLES, VARIANTS

pytestmark = [
    # PettingZoo silences these for its own classics by a list of names; all of them apply to any game with masks.
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),  # after the end
]

OPTIONS: dict[str, dict[str, Any]] = {
    "win": {},
    "points": {"reward": "points"},
    "round": {"reward": "points", "episode": "round"},
    "legal": {"mask": "legal"},
}


@pytest.fixture(autouse=True)
def no_illegal_move() -> Iterator[None]:
    EnvLogger.suppress_output()
    EnvLogger.flush()
    yield
    assert EnvLogger.mqueue == []


def _check_aec(make: Callable[[], Any]) -> None:
    api_test(make(), num_cycles=300)
    seed_test(make, num_cycles=300)


def _check_parallel(make: Callable[[], Any]) -> None:
    parallel_api_test(make(), num_cycles=300)
    parallel_seed_test(make, num_cycles=300)


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("make", [crash_v0.env, crash_v0.raw_env])
def test_aec(make: Callable[..., Any], rules: CrashRules) -> None:
    _check_aec(lambda: make(rules))


# The parallel seed test samples without masks, so its games end by an illegal action at once.
@pytest.mark.filterwarnings("ignore::prial.envs.crash_v0.IllegalActionWarning")
@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_parallel(rules: CrashRules) -> None:
    _check_parallel(lambda: crash_v0.parallel_env(rules))


@pytest.mark.filterwarnings("ignore::prial.envs.crash_v0.IllegalActionWarning")
@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_candidate_actions(rules: CrashRules) -> None:
    _check_aec(lambda: CandidateActions(crash_v0.env(rules)))
    _check_aec(lambda: CandidateActions(crash_v0.raw_env(rules), k=3))
    _check_parallel(lambda: CandidateActions(crash_v0.parallel_env(rules)))


@pytest.mark.filterwarnings("ignore::prial.envs.crash_v0.IllegalActionWarning")
@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_hand_by_hand(rules: CrashRules) -> None:
    _check_aec(lambda: HandByHand(crash_v0.env(rules)))
    _check_aec(lambda: HandByHand(crash_v0.raw_env(rules, mask="legal")))
    _check_parallel(lambda: HandByHand(crash_v0.parallel_env(rules)))


@pytest.mark.filterwarnings("ignore::prial.envs.crash_v0.IllegalActionWarning")
@pytest.mark.parametrize(
    "options", [OPTIONS[name] for name in OPTIONS if name != "win"], ids=lambda o: "-".join(o.values())
)
@pytest.mark.parametrize("name", ["online-3", "bga-2", "optional-call-3"])
def test_rewards_episodes_and_masks(name: str, options: dict[str, Any]) -> None:
    rules = TABLES[name]
    _check_aec(lambda: crash_v0.env(rules, **options))
    _check_parallel(lambda: crash_v0.parallel_env(rules, **options))
    _check_aec(lambda: CandidateActions(crash_v0.env(rules, **options)))
    _check_aec(lambda: HandByHand(crash_v0.env(rules, **options)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prial.envs.crash_v0.IllegalActionWarning")
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("rules", [*RULE_SETS.values(), *VARIANTS.values()], ids=[*RULE_SETS, *VARIANTS])
def test_every_combination(rules: CrashRules, options: dict[str, Any]) -> None:
    _check_aec(lambda: crash_v0.env(rules, **options))
    _check_parallel(lambda: crash_v0.parallel_env(rules, **options))
    _check_aec(lambda: CandidateActions(crash_v0.env(rules, **options), k=16))
    _check_parallel(lambda: CandidateActions(crash_v0.parallel_env(rules, **options), k=16))
    _check_aec(lambda: HandByHand(crash_v0.env(rules, **options)))
    _check_parallel(lambda: HandByHand(crash_v0.parallel_env(rules, **options)))
