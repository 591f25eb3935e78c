"""Arrangements as sequences of picks: complete, each one once, in the order in which hands are laid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from prial.envs.cards import parse_cards
from prial.envs.crash.partitions import (
    laid_triples,
    legal_partitions,
    partition_index,
    slot_triples,
    triple_strengths,
    undominated,
)
from prial.envs.crash.picking import LegalPicking, Picking, UndominatedPicking, num_triples
from prial.envs.crash.rules import CrashRules

ONLINE = CrashRules.preset("online")
LARGE_DEALS = {"3c 3h 4h 6c 6h 7d 7h 9h Th Ts Qh Kh Ah": 676, "2c 2h 4h 5h 5s 7h 8h Tc Th Jh Kh Ah As": 736}
DONE = 286  # with 13 cards


def _deals(rules: CrashRules, count: int) -> list[list[int]]:
    rng = np.random.default_rng(0)
    return [np.sort(rng.choice(rules.pack, rules.cards_dealt, replace=False)).tolist() for _ in range(count)]


def _sequences(picking: Picking, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Picking]]:
    """Every way to pick to the end."""
    if picking.has_ended:
        yield path, picking
    for pick in np.flatnonzero(picking.mask).tolist():
        yield from _sequences(picking.then(pick), (*path, pick))


@pytest.mark.parametrize("lowest", ["high_card", "pair", "flush"])
@pytest.mark.parametrize(("cards", "deals"), [(3, 20), (5, 20), (6, 20), (7, 10), (9, 4), (10, 2)])
def test_sequences_are_the_legal_partitions_once_each(cards: int, deals: int, lowest: str) -> None:
    rules = CrashRules.preset("online", players=2, cards_dealt=cards, lowest_hand=lowest)
    for deal in _deals(rules, deals):
        found = Counter(picking.partition for _, picking in _sequences(LegalPicking.start(deal, rules)))
        assert set(found) == set(np.flatnonzero(legal_partitions(deal, rules)).tolist())
        assert set(found.values()) == {1}


def test_sequences_of_thirteen_cards_are_the_legal_partitions_once_each() -> None:
    rules = ONLINE.replace(lowest_hand="flush")
    deals = [(deal, np.flatnonzero(legal_partitions(deal, rules)).tolist()) for deal in _deals(rules, 30)]
    few = [(deal, legal) for deal, legal in deals if len(legal) < 3_000]
    assert len(few) > 5
    for deal, legal in few:
        found = [picking.partition for _, picking in _sequences(LegalPicking.start(deal, rules))]
        assert sorted(found) == legal


@pytest.mark.parametrize(
    "rules",
    [ONLINE, CrashRules.preset("bga"), ONLINE.replace(lowest_hand="flush"), ONLINE.replace(cards_dealt=10)],
    ids=["online", "bga", "flush", "ten-cards"],
)
def test_sequences_are_the_undominated_representatives_once_each(rules: CrashRules) -> None:
    large = [[card.id for card in sorted(parse_cards(text))] for text in LARGE_DEALS]
    for deal in _deals(rules, 60) + (large if rules is ONLINE else []):
        found = undominated(deal, rules)
        sequences = list(_sequences(UndominatedPicking.start(deal, rules, found)))
        assert sorted(picking.partition for _, picking in sequences) == sorted(found.partitions.tolist())
        for path, picking in sequences:
            # `done` is left to seats that can lay nothing.
            assert (num_triples(rules) in path) == (picking.picks == ())
    if rules is ONLINE:
        assert len(sequences) == 736


@pytest.mark.parametrize("mask", ["legal", "undominated"])
def test_picks_come_in_the_order_in_which_hands_are_laid(mask: str) -> None:
    rng = np.random.default_rng(1)
    triples = slot_triples(13)
    for deal in _deals(ONLINE, 50):
        strengths = triple_strengths(deal, ONLINE)
        found = undominated(deal, ONLINE)
        picking: Picking = (
            LegalPicking.start(deal, ONLINE) if mask == "legal" else UndominatedPicking.start(deal, ONLINE, found)
        )
        while not picking.has_ended:
            assert not picking.mask.flags.writeable
            picking = picking.then(int(rng.choice(np.flatnonzero(picking.mask))))
        order = [(-strengths[pick], pick) for pick in picking.picks]
        assert all(one < other for one, other in pairwise(order))
        slots = [triples[pick] for pick in picking.picks]
        assert [hand for _, hand in laid_triples(picking.partition, deal, ONLINE)] == slots
        assert picking.partition == partition_index(slots, 13)
        assert picking.hands == tuple(tuple(deal[slot] for slot in hand) for hand in slots)


def test_a_pick_that_cannot_follow_is_refused() -> None:
    start = LegalPicking.start(range(13), ONLINE)
    then = start.then(0)
    for picking, pick in ((start, -1), (start, 287), (then, 0), (then, 1)):
        with pytest.raises(ValueError, match=rf"pick {pick} cannot follow"):
            picking.then(pick)
    assert then.then(DONE).has_ended
    assert (start.picks, start.mask[0]) == ((), 1)
