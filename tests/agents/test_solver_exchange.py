"""Keep or exchange: what both are worth, against plain counting over hands that are really dealt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from prial import agents
from prial.agents.solver_exchange import Exchanging
from prial.agents.solver_fast import SolverFastPolicy
from prial.agents.solver_table import SolverTable, find_solver_table, needs_index
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import PlayerView, ViewBatch, view_of
from prial.envs.crash.rules import CrashRules

Said = tuple[int, ...]


def policy_of(rules: CrashRules) -> SolverFastPolicy:
    return SolverFastPolicy(rules, find_solver_table(rules))


def exchange_views(rules: CrashRules, count: int) -> list[PlayerView]:
    rng = np.random.default_rng(0)
    views: list[PlayerView] = []
    for seed in range(count):
        game = Game(rules, seed=seed, scores=rng.integers(0, rules.target, rules.players).tolist())
        while game.phase is Phase.EXCHANGE:
            views.append(view_of(game, game.pending[0]))
            game.step(game.layout.keep, game.pending[0])
    return views


def keep_chance(table: SolverTable, view: PlayerView, seat: int, before: int) -> float:
    """How often a seat keeps its hand, by the scores and how many kept before."""
    n = view.rules.players
    scores = tuple(view.scores[(seat + away) % n] for away in range(n))
    return float(table.keeps[before, needs_index(scores, view.rules.target, table.cap)])


def continuations(view: PlayerView, own: int, table: SolverTable) -> dict[Said, float]:
    """What all will have said, by walking through the turn order as RULES section 3 has it."""
    n = view.rules.players
    order = [(view.dealer + 1 + place) % n for place in range(n)]
    said = [-1 if choice is None else int(choice) for choice in view.exchanges]
    said[view.seat] = own
    if n == 2:
        other = 1 - view.seat
        outcomes = {}
        keeps = keep_chance(table, view, other, 0)
        for choice, chance in ((0, keeps), (1, 1 - keeps)):
            both = list(said)
            both[other] = choice
            outcomes[tuple(both)] = chance
        return outcomes
    found: dict[Said, float] = {}

    def walk(place: int, so_far: list[int], chance: float) -> None:
        if 1 in so_far or place == n:
            found[tuple(so_far)] = found.get(tuple(so_far), 0.0) + chance
            return
        keeps = keep_chance(table, view, order[place], sum(choice == 0 for choice in so_far))
        for choice, weight in ((0, keeps), (1, 1 - keeps)):
            then = list(so_far)
            then[order[place]] = choice
            walk(place + 1, then, chance * weight)

    walk(order.index(view.seat) + 1, said, 1.0)
    return found


def moved_by_score(table: SolverTable) -> SolverTable:
    """The table with other chances to keep at every score."""
    return replace(table, keeps=np.random.default_rng(1).uniform(0.1, 0.9, table.keeps.shape))


@pytest.mark.parametrize("own", [0, 1])
@pytest.mark.parametrize("players", [2, 3])
def test_what_others_may_still_say(players: int, own: int) -> None:
    rules = CrashRules.preset("bga", players=players)
    table = moved_by_score(find_solver_table(rules))
    exchanging = SolverFastPolicy(rules, table)._exchanging
    assert exchanging is not None
    views = exchange_views(rules, 8)
    ways = exchanging._continuations(ViewBatch.of(views), own=own)
    for row, view in enumerate(views):
        found: dict[Said, float] = {}
        for chance, said in ways:
            if chance[row] > 0:
                key = tuple(said[row].tolist())
                found[key] = found.get(key, 0.0) + float(chance[row])
        assert found == pytest.approx(continuations(view, own, table))


def test_keeping_is_the_mean_of_the_best_over_what_may_be_said() -> None:
    rules = CrashRules.preset("bga", players=3)
    policy = policy_of(rules)
    exchanging = policy._exchanging
    assert exchanging is not None
    views = exchange_views(rules, 4)
    kept = exchanging.keeping(ViewBatch.of(views))
    for row, view in enumerate(views):
        total = 0.0
        for said, chance in continuations(view, 0, policy.table).items():
            one = replace(
                view, exchanges=tuple(None if choice < 0 else bool(choice) for choice in said), phase=Phase.ARRANGE
            )
            batch = ViewBatch.of([one])
            total += chance * policy.values(batch, batch.undominated()).max()
        assert kept[row] == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("hand", ["As Qd Tc 9s 8d 7c 6s 5d 4s 4d 2s Jd Kh", "2c 2d 3h 4s 5c 6d 7h 7s 8c 8d 9h Tc Jd"])
def test_exchanging_is_about_the_mean_over_hands_from_the_unseen_cards(hand: str) -> None:
    rules = CrashRules.preset("bga", players=2)
    policy = policy_of(rules)
    exchanging = policy._exchanging
    assert exchanging is not None
    own = [card.id for card in _cards(hand)]
    rest = np.setdiff1d(np.arange(52), own)
    game = Game.from_deal(
        rules,
        [hand, [int(card) for card in rest[:13]]],
        spares=[[int(card) for card in rest[13:26]], [int(card) for card in rest[26:]]],
        scores=[3, 4],
    )
    view = view_of(game, 0)
    estimated = exchanging.exchanging(ViewBatch.of([view]))[0]
    rng = np.random.default_rng(1)
    hands = np.sort(rng.permuted(np.tile(rest, (4000, 1)), axis=1)[:, :13], axis=1).astype(np.int8)
    total = 0.0
    for said, chance in continuations(view, 1, policy.table).items():
        batch = ViewBatch.of([replace(view, exchanges=tuple(bool(choice) for choice in said))] * len(hands))
        batch = replace(batch, cards=hands, given_up=np.tile(np.array(own, np.int8), (len(hands), 1)), _found=[])
        found = batch.undominated()
        total += chance * np.maximum.reduceat(policy.values(batch, found).max(axis=0), found.offsets[:-1]).mean()
    assert estimated == pytest.approx(total, abs=0.03)  # a fit, and moved by what was really brought; 0.01 is usual


def _cards(text: str) -> tuple:  # type: ignore[type-arg]
    from prial.envs.cards import parse_cards

    return parse_cards(text)


def test_a_good_hand_is_kept_and_a_bad_one_exchanged() -> None:
    rules = CrashRules.preset("bga", players=2)
    good, bad = "3s 3d 3c As Ad Ac Ks Kd Kc Qs Qd Qc 2h", "2c 2d 4h 5s 7c 8d 8h Tc Js Qh Kh 6d 9h"
    game = Game.from_deal(
        rules, [good, bad], spares=["4c 5c 6c 7d 9c Td Jh 2s 4s 6s 8s Ts Ah", "3h 4d 5d 5h 6h 7h 7s 8c 9d 9s Th Jc Jd"]
    )
    policy = policy_of(rules)
    views = ViewBatch.of([view_of(game, 0), view_of(game, 1)])
    assert policy.act_many(views, np.random.default_rng(0)).tolist() == [game.layout.keep, game.layout.exchange]


def test_rules_without_an_exchange_have_none() -> None:
    assert policy_of(CrashRules.preset("online"))._exchanging is None
    assert isinstance(policy_of(CrashRules.preset("bga"))._exchanging, Exchanging)
    assert agents.make("solver-fast").name == "solver-fast"
