"""`solver`: its choices against every hand that the others may hold, in games small enough to look at them all."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from decisions import decision_views
from prial import agents
from prial.agents.protocol import BaseAgent
from prial.agents.sampled_choice import options_of
from prial.agents.solver import Solver, SolverPolicy
from prial.agents.solver_fast import SolverFast, SolverFastPolicy
from prial.agents.solver_table import SolverTableError
from prial.agents.world_tables import Asks, SetTables, Worth
from prial.agents.worlds import sample_worlds
from prial.envs.brag import triple_strength
from prial.envs.cards import format_cards, parse_cards
from prial.envs.crash.actions import action_layout
from prial.envs.crash.game import Game
from prial.envs.crash.observation import PlayerView, ViewBatch, view_of
from prial.envs.crash.partitions import laid_many, laid_triples
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.scoring import settle_round
from solver_samples import random_table

SMALL = CrashRules(players=2, ranks="JQKA", cards_dealt=6, target=4, finish="round_end", crash_reward=1)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def worth_of_all(view: PlayerView, actions: list[int], model: SolverFastPolicy, *, points: bool) -> np.ndarray:
    """What arrangements are worth on average over every hand of the only other player, each settled by `settle_round`."""
    rules, me = view.rules, view.seat
    unseen = sorted(set(rules.pack) - set(view.cards))
    hands = np.array(list(combinations(unseen, rules.cards_dealt)), np.int8)
    size = len(hands)
    own = ViewBatch.of([view]).select(np.zeros(size, np.int64))
    theirs = ViewBatch.of([replace(view, seat=1 - me, cards=tuple(hand)) for hand in hands.tolist()])
    laid = laid_many(model.arrange_many(theirs, rng()), theirs.cards, rules)
    total = np.zeros(len(actions))
    for number, action in enumerate(actions):
        mine = laid_many(np.full(size, action, np.int32), own.cards, rules)
        for row in range(size):
            strengths = [(), ()]
            strengths[me], strengths[1 - me] = mine.strengths[row].tolist(), laid.strengths[row].tolist()
            quads = [0, 0]
            quads[me], quads[1 - me] = int(mine.quads[row]), int(laid.quads[row])
            order = [(view.dealer + 1) % 2, view.dealer]
            settled = settle_round(
                rules, strengths=strengths, quads=quads, called=[False] * 2, scores=view.scores, order=order
            )
            if points:
                total[number] += settled.round_points[me] - settled.round_points[1 - me]
            elif settled.result is not None:
                total[number] += settled.result.win_share(me)
            else:
                after = np.array([settled.scores]), np.array([1 - view.dealer])
                total[number] += model.table.equity.shares_at(*after)[0, me]
    return total / size


@pytest.mark.parametrize("points", [False, True])
def test_choices_come_close_to_the_best_response_over_every_hand(points: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prial.agents.solver._known_worlds", lambda _: 100.0)  # a nonsense table knows little
    table = random_table(SMALL, seed=3)
    fast = SolverFastPolicy(SMALL, table, objective="points" if points else "win")
    worth = Worth(equity=None if points else table.equity)
    solver = SolverPolicy(fast, worth, swing=1e9, worlds=6000)
    views = [view_of(Game(SMALL, seed=seed, scores=[seed % 4, seed // 4 % 4]), seed % 2) for seed in range(10)]
    batch = ViewBatch.of(views)
    chosen, before = solver.act_many(batch, rng(5)).tolist(), fast.act_many(batch, rng()).tolist()
    assert chosen != before
    found = batch.undominated()
    lost, lost_before = [], []
    for row, view in enumerate(views):
        options = found.partitions[found.offsets[row] : found.offsets[row + 1]].tolist()
        exact = worth_of_all(view, options, fast, points=points)
        lost.append(exact.max() - exact[options.index(chosen[row])])
        lost_before.append(exact.max() - exact[options.index(before[row])])
    # A nonsense table leaves much; what the looks leave is within the error of as many worlds.
    assert np.mean(lost_before) > 0.005
    assert np.mean(lost) < 0.1 * np.mean(lost_before)


def test_what_is_known_weighs_as_many_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_table(SMALL, seed=3)
    fast = SolverFastPolicy(SMALL, table, objective="points")
    solver = SolverPolicy(fast, Worth(), swing=1e9, worlds=960)
    views = ViewBatch.of([view_of(Game(SMALL, seed=seed), seed % 2) for seed in range(60)])
    before = fast.act_many(views, rng())
    lost = []
    for worlds in (1e-9, 6000.0, 1e12):
        monkeypatch.setattr("prial.agents.solver._known_worlds", lambda _, worlds=worlds: worlds)
        chosen = solver.act_many(views, rng(1))
        own, other = (fast.values(views, laid_many(laid, views.cards, SMALL))[0] for laid in (before, chosen))
        lost.append(float((own - other).mean()))
    # By the closed form alone: what is left are equals, told apart by worlds.
    assert lost[0] > 0.001
    assert lost[0] >= lost[1] >= lost[2]
    assert lost[2] < 1e-6


class Keeper(BaseAgent):
    """Stands for `solver-fast`: keeps a run or better, and lays the one hand that there is."""

    name = "keeper"
    rules = CrashRules(players=3, ranks="QKA", cards_dealt=3, exchange="spare", quads_bonus=0, lowest_hand="high_card")

    def arrange_many(self, views, rng):
        return views.undominated().partitions

    def exchange_many(self, views, rng):
        return np.array([len(set((row // 4).tolist())) == 2 for row in views.cards])

    def call_many(self, views, rng):
        raise NotImplementedError

    def values(self, views, found):
        return np.zeros((1, len(found.partitions)))

    def exchange_values(self, views):
        return np.zeros(len(views)), np.zeros(len(views))


def exchange_exactly(cards: tuple[int, ...], *, listens: bool) -> float:
    """By how much exchanging beats keeping, for the second of three, after the first has kept; by every deal.

    Args:
        cards: of the second.
        listens: whether the first's hand is one that it keeps, as it said.
    """

    def keeps(hand: tuple[int, ...]) -> bool:
        return len({card // 4 for card in hand}) != 2

    def margin(own: tuple[int, ...], *others: tuple[int, ...]) -> float:
        strengths = [triple_strength(hand) for hand in (own, *others)]
        best = [place for place, strength in enumerate(strengths) if strength == max(strengths)]
        return 0.0 if len(best) > 1 else 1.0 if best == [0] else -0.5

    unseen = set(Keeper.rules.pack) - set(cards)
    found = []
    for first in combinations(sorted(unseen), 3):
        if listens and not keeps(first):
            continue
        for third in combinations(sorted(unseen - set(first)), 3):
            spare = tuple(sorted(unseen - set(first) - set(third)))
            kept = margin(cards, first, third if keeps(third) else spare)
            found.append(margin(spare, first, third) - kept)
    return float(np.mean(found))


def test_exchanges_heed_what_was_said_before() -> None:
    layout = action_layout(Keeper.rules)
    solver = SolverPolicy(Keeper(), Worth(), swing=1e9, worlds=4000)  # type: ignore[arg-type]
    told = 0
    for text in ("Qc Kd Ah", "Qc Kc Ac", "Ac Ad Kh", "Qc Qd Kh", "Kc Kd Ah", "Qc Qd Qh"):
        cards = tuple(card.id for card in parse_cards(text))
        others = sorted(set(Keeper.rules.pack) - set(cards))
        run = next(hand for hand in combinations(others, 3) if len({card // 4 for card in hand}) == 3)
        rest = sorted(set(others) - set(run))
        hands = [format_cards(list(hand)) for hand in (run, cards, rest[:3], rest[3:])]
        game = Game.from_deal(Keeper.rules, hands[:3], spares=hands[3:], dealer=2)
        game.step(layout.keep, 0)
        view = view_of(game, 1)
        assert view.cards == tuple(sorted(cards))
        exact, deaf = (exchange_exactly(cards, listens=listens) for listens in (True, False))
        assert abs(exact) > 0.02
        told += exact * deaf < 0
        assert (solver.act(view, rng(3)) == layout.exchange) == (exact > 0), text
    assert told > 0


def test_what_one_holds_the_others_do_not() -> None:
    """A prial of sevens, or the running flush in it and better hands below: the sevens and aces held change what is met.

    Were the others' cards drawn from a whole pack, `solver-fast`'s choice would be the better one.
    """
    rules, count, scores = CrashRules.preset("online"), 10_000, [5, 2, 5]
    cards = [card.id for card in parse_cards("2s 4d 6s 7c 7d 7s 8s Tc Jd Jh Kh Ac Ad")]
    rest = sorted(set(rules.pack) - set(cards))
    hands = [format_cards(hand) for hand in (cards, rest[:13], rest[13:26])]
    views = ViewBatch.of([view_of(Game.from_deal(rules, hands, dealer=2, scores=scores), 0)])
    solver = Solver(worlds=3072)
    before = SolverFast().act_many(views, rng())
    options = options_of(views, before)
    laid = {
        action: [format_cards([cards[slot] for slot in slots]) for _, slots in laid_triples(action, cards, rules)]
        for action in options.actions.tolist()
    }
    (better,) = {int(solver.act_many(views, rng(seed))[0]) for seed in range(3)}
    assert laid[int(before[0])] == ["7c 7d 7s", "2s 6s 8s", "Tc Ac Ad", "Jd Jh Kh"]
    assert laid[better] == ["6s 7s 8s", "7c Tc Ac", "4d 7d Ad", "Jd Jh Kh"]

    two, _ = options.some(np.isin(options.actions, [before[0], better]), np.arange(1))
    fast = solver.policy(rules).fast
    asks, worth = Asks(fast, rng()), Worth(equity=fast.table.equity)
    unseen = sample_worlds(views, count, asks, rng(1)).tables.column("cards").copy()
    whole = unseen.copy()
    packs = np.tile(np.array(rules.pack, np.int8), (2 * count, 1))
    whole[:, 1:] = np.sort(rng(2).permuted(packs, axis=1)[:, :13], axis=1).reshape(count, 2, 13)
    for held, sign in ((unseen, 1), (whole, -1)):
        tables = SetTables(rules, held, held[:, :0], scores=np.tile(scores, (count, 1)), dealer=np.full(count, 2))
        tables.act(asks, np.tile([False, True, True], (count, 1)), np.full((count, 3), -1, np.int32))
        seats = rows = np.zeros(count, np.int64)
        _, figures = tables.arrangements_worth(seats, rows, two.offsets, two.values, worth)
        gain = np.diff(figures.reshape(count, 2), axis=1)
        assert sign * gain.mean() > 2 * gain.std() / np.sqrt(count)


@pytest.mark.parametrize(
    "rules",
    [CrashRules.preset("online"), CrashRules.preset("bga", players=2), CrashRules.preset("traditional")],
    ids=str,
)
def test_agent_passes_the_check(rules: CrashRules) -> None:
    agents.check_agent(Solver(worlds=48), rules=rules, games=1)


def test_cards_given_up_count() -> None:
    """Twenty-six cards are in nobody else's hand: if an ace and threes are, two ace-two-threes beat the prial of aces."""
    rules = CrashRules.preset("bga")
    cards = "2c 2h 3d 3s 4d 5h 7s Th Jc Qc Ad Ah As"
    aces, pairs = ["Ad Ah As", "Th Jc Qc", "3d 4d 5h", "2c 2h 7s"], ["2c 3d Ad", "2h 3s Ah", "Th Jc Qc"]
    for given_up, best in (
        ("2d 3h 4c 4h 6c 7d 7h 8c 9s Tc Qd Qs Kd", pairs),
        ("4c 4h 5c 5d 6c 6d 6h 7c 7d 8c 8d 9h 9s", aces),
    ):
        rest = sorted(set(rules.pack) - {card.id for card in (*parse_cards(cards), *parse_cards(given_up))})
        hands = [format_cards(rest[:13]), format_cards(rest[13:]), given_up]
        game = Game.from_deal(rules, hands, spares=[cards], dealer=1)
        game.step(action_layout(rules).exchange, 2)
        view = view_of(game, 2)
        held = list(view.cards)

        def laid(action: int, held: list[int] = held) -> list[str]:
            return [format_cards([held[slot] for slot in slots]) for _, slots in laid_triples(action, held, rules)]

        assert laid(SolverFast().act(view, rng())) == best
        for seed in range(2):
            assert laid(Solver().act(view, rng(seed))) == best


def test_calls_are_weighed_too() -> None:
    """A crash wins the game, if called: aces and kings are called, a hand that they beat is not."""
    rules = CrashRules(players=2, ranks="JQKA", cards_dealt=6, target=4, crash_call="required", crash_reward="game")
    table = random_table(rules)
    solver = SolverPolicy(SolverFastPolicy(rules, table), Worth(equity=table.equity), swing=1e9, worlds=400)
    game = Game.from_deal(rules, ["Ac Ad Ah Kc Kd Kh", "Jc Jd Qc Qd Js As"])
    for seat in (0, 1):
        found = game.undominated(seat)
        game.step(int(found.partitions[0]), seat)
    view = view_of(game, 1)
    assert solver.act(view, rng()) == action_layout(rules).pass_
    game.step(action_layout(rules).pass_, 1)
    assert solver.act(view_of(game, 0), rng()) == action_layout(rules).call


def test_the_same_chance_gives_the_same_choices_and_no_look_is_solver_fast() -> None:
    rules = CrashRules.preset("bga")
    views = decision_views(rules, games=2)
    solver = Solver(worlds=96)
    first, again = (solver.act_many(views, rng(4)).tolist() for _ in range(2))
    assert first == again
    fast = SolverFast().act_many(views, rng()).tolist()
    assert Solver(worlds=0).act_many(views, rng()).tolist() == fast


def test_what_it_cannot_play_is_refused_as_by_solver_fast() -> None:
    rules = CrashRules.preset("online", target=8)
    with pytest.raises(SolverTableError, match=r"target=8.*online-3"):
        Solver().check_rules(rules)
    with pytest.raises(ValueError, match="objective='fame': expected 'win' or 'points'"):
        Solver(objective="fame")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="worlds=-1: expected 0 or more"):
        Solver(worlds=-1)
