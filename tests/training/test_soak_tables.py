"""The batched soak in small: its scorer against the engine's Python one, all rules, workers, planted faults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from prial.envs.crash.rules import CrashRules
from prial.envs.crash.scoring import settle_round
from prial.envs.crash.vector import CrashVectorEnv, StepOutcome
from prial.training import soak_tables as room
from prial.training.soak import soak_rules
from prial.training.soak_tables import TableFaultError, score_rounds, soak_tables


@pytest.mark.parametrize("part", range(5))
def test_rounds_are_scored_as_one_by_one(part: int) -> None:
    rng = np.random.default_rng(part)
    for rules in soak_rules()[part::5]:
        m, n, hands = 60, rules.players, rules.hands
        strengths = -np.sort(-rng.integers(0, 4, (m, n, hands)) * 100, axis=2)
        strengths[: m // 3, 0] += 50  # many crashes
        quads, called = rng.integers(0, 2, (m, n)), rng.random((m, n)) < 0.4
        if not rules.has_calls:
            called[:] = False
        scores = rng.integers(0, rules.target, (m, n))
        dealer = rng.integers(0, n, m)
        found = score_rounds(rules, strengths=strengths, quads=quads, called=called, scores=scores, dealer=dealer)
        for row in range(m):
            expected = settle_round(
                rules,
                strengths=strengths[row].tolist(),
                quads=quads[row].tolist(),
                called=called[row].tolist(),
                scores=scores[row].tolist(),
                order=[(int(dealer[row]) + 1 + place) % n for place in range(n)],
            )
            assert found.points[row].tolist() == list(expected.round_points)
            assert found.scores[row].tolist() == list(expected.scores)
            assert found.crasher[row] == (-1 if expected.crasher is None else expected.crasher)
            winners = expected.result.winners if expected.result else ()
            assert np.flatnonzero(found.winners[row]).tolist() == sorted(winners)
            reason = expected.result.reason.value if expected.result else ""
            assert found.reason[row] == {"": 0, "target": 1, "crash": 2}[reason]


def test_a_little_of_every_rule_with_any_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "BATCH", 16)
    rules = soak_rules()
    done: list[int] = []
    counts = soak_tables(rules, rounds=16 * len(rules) - 3, seed=2, progress=done.append)
    assert counts["round"] == done[-1] == 16 * len(rules) - 3
    assert {"game", "crash", "target", "max_rounds", "exchange", "quads", "call", "shared win"} <= set(counts)
    monkeypatch.undo()
    some = rules[:2]
    assert soak_tables(some, rounds=9000, seed=3) == soak_tables(some, rounds=9000, seed=3, jobs=2)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("points", "points are not"),
        ("scores", "scores are not"),
        ("win_shares", "shares of the win"),
        ("reason", "did not end"),
    ],
)
def test_planted_faults_are_found(field: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    step = CrashVectorEnv.step

    def wrong(self: CrashVectorEnv, actions: Any) -> StepOutcome:
        outcome = step(self, actions)
        values = getattr(outcome, field).copy()
        if outcome.round_ended[7]:
            values[7] += 1
        return replace(outcome, **{field: values})

    monkeypatch.setattr(CrashVectorEnv, "step", wrong)
    with pytest.raises(TableFaultError, match=rf"{message}.*seed=5, table=7, rules="):
        soak_tables([CrashRules.preset("online")], rounds=20, seed=5)


def test_cards_in_two_places_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    column = CrashVectorEnv.column

    def wrong(self: CrashVectorEnv, name: str) -> Any:
        values = column(self, name)
        if name == "cards":
            values[3, 0] = values[3, 1]
        return values

    monkeypatch.setattr(CrashVectorEnv, "column", wrong)
    with pytest.raises(TableFaultError, match=r"a card is in two places .*table=3"):
        soak_tables([CrashRules.preset("bga")], rounds=20, seed=5)
