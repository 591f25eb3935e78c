"""What has been said in the exchange, numbered: against a walk through the turn order."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from prial.agents.solver_situations import keepers, num_situations, situations_of
from prial.envs.crash.rules import CrashRules


def courses(players: int, dealer: int) -> list[tuple[int, ...]]:
    """All that may have been said once the exchange is over, by seat (RULES section 3)."""
    if players == 2:
        return list(product((0, 1), repeat=2))
    order = [(dealer + 1 + place) % players for place in range(players)]
    found = []
    for taker in range(players + 1):  # whoever exchanges; nobody
        said = [-1] * players
        for place in range(min(taker + 1, players)):
            said[order[place]] = 1 if place == taker else 0
        found.append(tuple(said))
    return found


@pytest.mark.parametrize("players", [2, 3])
def test_each_situation_is_one_course_and_one_place(players: int) -> None:
    rules = CrashRules.preset("bga", players=players)
    met: dict[int, tuple[object, ...]] = {}
    for dealer in range(players):
        for said in courses(players, dealer):
            for seat in range(players):
                clockwise = tuple(said[(seat + place) % players] for place in range(players))
                # Between two who choose at once, the turn order makes no difference.
                described = (clockwise,) if players == 2 else (clockwise, (seat - dealer) % players)
                (number,) = situations_of(rules, np.array([said], np.int8), np.array([dealer]), np.array([seat]))
                assert met.setdefault(int(number), described) == described
                assert keepers(rules)[number].tolist() == [choice == 0 for choice in clockwise]
    assert sorted(met) == list(range(num_situations(rules)))
    assert len(set(met.values())) == len(met)


def test_without_an_exchange_there_is_one_situation() -> None:
    for rules in (CrashRules.preset("online", players=4), CrashRules.preset("bga", players=5)):
        nothing = np.full((2, rules.players), -1, np.int8)
        assert situations_of(rules, nothing, np.array([0, 1]), np.array([1, 1])).tolist() == [0, 0]
        assert keepers(rules).tolist() == [[False] * rules.players]


def test_a_course_that_goes_on_counts_as_if_all_kept() -> None:
    rules = CrashRules.preset("bga")
    said = np.array([[0, -1, -1], [0, 0, 0]], np.int8)
    assert len(set(situations_of(rules, said, np.array([2, 2]), np.array([0, 0])).tolist())) == 1
