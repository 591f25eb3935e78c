"""What the solver keeps of the situations that it has met: the same rows, whatever was asked for before."""

from __future__ import annotations

import numpy as np

from prial.agents.solver_contexts import Contexts, Kept
from prial.agents.solver_table import find_solver_table
from prial.envs.crash.presets import load_rules


def test_rows_are_made_once_and_forgotten_when_there_are_too_many() -> None:
    made: list[tuple[int, ...]] = []

    def make(key: tuple[int, ...]) -> tuple[np.ndarray, ...]:
        made.append(key)
        return np.array([key[0], key[1]]), np.array(key[0] + key[1])

    kept = Kept(make, most=10)
    generator = np.random.default_rng(1)
    for _ in range(50):
        keys = generator.integers(0, 4, (int(generator.integers(1, 8)), 2))
        rows = kept.rows_of(keys)
        pairs, sums = kept.columns
        assert pairs[rows].tolist() == keys.tolist()
        assert sums[rows].tolist() == keys.sum(axis=1).tolist()
        assert len(pairs) <= 10
    assert 16 < len(made) < 300
    few = Kept(make, most=10)
    made.clear()
    for _ in range(5):
        few.rows_of(np.array([[number, 0] for number in range(9)]))  # all known: nothing is forgotten for them
    assert len(made) == 9


def test_more_than_are_kept_may_be_asked_for_at_once() -> None:
    kept = Kept(lambda key: (np.array(key),), most=3)
    keys = np.arange(20).reshape(10, 2)
    assert kept.columns == ()
    rows = kept.rows_of(keys)
    assert kept.columns[0][rows].tolist() == keys.tolist()


def test_what_outcomes_are_worth_does_not_depend_on_what_was_asked_before() -> None:
    rules = load_rules("traditional", players=3)
    table = find_solver_table(rules)
    keys = np.array([[0, 3, 14, 1, -1, -1, 0], [14, 14, 14, 0, -1, -1, 0], [2, 9, 1, 2, -1, -1, 0]])
    one, other = (Contexts(rules, table, objective="win") for _ in range(2))
    rows = one.stakes.rows_of(keys)
    together = one.stakes.columns[0][rows]
    for row in (2, 0, 1):
        alone = other.stakes.rows_of(keys[row : row + 1])
        assert (other.stakes.columns[0][alone[0]] == together[row]).all()
