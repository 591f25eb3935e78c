"""How often others call, by the positions that they win: counted one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prial.agents.protocol import Actions, BaseAgent, Choices
from prial.agents.solver_situations import num_situations, situations_of, stages_of
from prial.envs.crash.observation import ViewBatch
from prial.envs.crash.partitions import laid_many
from prial.envs.crash.rules import CrashRules
from prial.training.call_fit import call_chances, positions_won
from prial.training.solver_survey import survey

RULES = CrashRules.preset("traditional", players=3, crash_call="optional", target=3)


class Caller(BaseAgent):
    """Lays the first arrangement; keeps and calls by chance, oftener with a strong last hand."""

    name = "caller"

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        found = views.undominated()
        return found.partitions[found.offsets[:-1]]

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        return np.asarray(rng.random(len(views)) < 0.4, np.bool_)

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        strong = laid_many(views.laid, views.cards, views.rules).strengths[:, RULES.hands - 1] > 0
        return np.asarray(rng.random(len(views)) < np.where(strong, 0.6, 0.2), np.bool_)


def test_calls_are_counted_by_who_sees_them_and_by_what_the_caller_wins() -> None:
    scores = np.array([[0, 0, 0], [2, 0, 1], [1, 2, 2]] * 400)
    seen = [survey(Caller(), RULES, scores[start:], seed=start) for start in (0, 600)]
    found = call_chances(RULES, seen)
    counts: dict[tuple[int, int, int], list[bool]] = {}
    for part in seen:
        won = positions_won(part.strengths(RULES.hands))
        for row in range(len(part.scores)):
            for seat in range(3):
                turn = [(seat + other) % 3 for other in range(3)]
                stage = stages_of(RULES.target - part.scores[row][None, turn])[0]
                dealer, exchanges = part.dealers[row : row + 1], part.exchanges[row : row + 1]
                situation = situations_of(RULES, exchanges, dealer, np.array([seat]))[0]
                for other in (1, 2):
                    key = int(stage * num_situations(RULES) + situation), other - 1, int(won[row, turn[other]])
                    counts.setdefault(key, []).append(bool(part.calls[row, turn[other]] == 1))
    usual = [np.mean(np.concatenate([made for key, made in counts.items() if key[2] == wins])) for wins in range(5)]
    assert max(map(len, counts.values())) > 50
    for key in np.ndindex(found.shape):
        made = counts.get(key, [])
        expected = (sum(made) + 200 * usual[key[2]]) / (len(made) + 200)
        np.testing.assert_allclose(found[key], expected)


def test_nobody_is_asked_without_calls() -> None:
    rules = replace(RULES, crash_call="none")
    assert not call_chances(rules, []).any()


def test_a_position_is_won_by_the_strongest_alone() -> None:
    strengths = np.array([[[5, 5, 0, 9], [4, 5, 0, 1], [3, 2, 0, 2]]])
    assert positions_won(strengths).tolist() == [[2, 0, 0]]
