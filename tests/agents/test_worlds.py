"""Worlds that a responder reckons with, and what its options are worth in them, against plain rounds."""

from __future__ import annotations

import numpy as np
import pytest

from prial.agents.heuristics import Greedy
from prial.agents.registry import make
from prial.agents.sampled_choice import Chooser, alike, options_of
from prial.agents.world_tables import Asks, SetTables, Worth
from prial.agents.worlds import has_history, sample_worlds, worlds_a_deal
from prial.envs.crash.actions import action_layout
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import ViewBatch
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.vector import CrashVectorEnv
from prial.training.equity import solve_equity

SMALL = CrashRules(players=2, ranks="JQKA", cards_dealt=6)
RULES = (
    CrashRules.preset("online"),
    CrashRules.preset("online", players=2),
    CrashRules.preset("bga"),
    CrashRules.preset("bga", players=2, crash_call="optional"),
    CrashRules.preset("bga", players=5),
    CrashRules.preset("traditional", players=3, crash_call="required", finish="round_end"),
)


def _decisions(rules: CrashRules, agent: str, count: int = 120) -> list[ViewBatch]:
    """Views of single decisions of all phases, as rounds between agents go."""
    env = CrashVectorEnv(count, rules, seed=4, episode="round", autoreset=False, threads=1)
    asks, found = Asks(make(agent), np.random.default_rng(1)), []
    seats = np.arange(count) % rules.players
    while env.pending.any():
        tables, places, views = env.views()
        mine = np.flatnonzero(seats[tables] == places)
        some = views.select(mine)
        found += [some.select(rows) for rows in alike(some)]
        actions = np.full((count, rules.players), -1, np.int32)
        actions[tables, places] = asks(views)
        env.step(actions)
    return found


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_worlds_look_as_the_views_do(rules: CrashRules) -> None:
    decisions = _decisions(rules, "percentile")
    assert {int(views.phase[0]) for views in decisions} == {
        phase
        for phase, there in (
            (Phase.EXCHANGE, rules.has_exchange),
            (Phase.ARRANGE, True),
            (Phase.CALL, rules.has_calls),
        )
        if there
    }
    for views in decisions:
        asks = Asks(make("percentile"), np.random.default_rng(2))
        worlds = sample_worlds(views, 6, asks, np.random.default_rng(3))
        if not len(worlds.rows):
            continue
        again, expected = worlds.tables.views_at(np.arange(len(worlds.rows)), worlds.seats), views.select(worlds.rows)
        for name in ("seat", "phase", "dealer", "to_act", "rounds_played", "scores", "cards", "given_up", "laid"):
            assert (getattr(again, name) == getattr(expected, name)).all(), name
        assert (again.exchanges == expected.exchanges).all()
        assert (again.calls == expected.calls).all()
        # No card twice, and others hold what this seat has not seen.
        piles = [worlds.tables.column(name).reshape(len(worlds.rows), -1) for name in ("cards", "spares", "given_up")]
        for row in range(len(worlds.rows)):
            hands = worlds.tables.column("cards")[row].reshape(-1).tolist()
            given = [card for card in piles[2][row].tolist() if card >= 0]
            assert len(set(hands + given)) == len(hands + given)
            assert set(hands) <= set(rules.pack)
        if not has_history(views).any():
            assert len(worlds.rows) == 6 * len(views) * worlds_a_deal(views)


def test_worlds_of_two_players_share_no_card() -> None:
    (views,) = _decisions(CrashRules.preset("online", players=2), "greedy", count=4)
    assert worlds_a_deal(views) == 3
    worlds = sample_worlds(views, 5, Asks(Greedy(), np.random.default_rng(0)), np.random.default_rng(1))
    other = worlds.tables.column("cards")[np.arange(len(worlds.rows)), 1 - worlds.seats]
    for row in range(4):
        for deal in range(5):
            cards = other[(worlds.rows == row) & (worlds.deals == deal)].reshape(-1)
            assert len(cards) == len(set(cards.tolist())) == 39
            assert not set(cards.tolist()) & set(views.cards[row].tolist())


def test_every_hidden_hand_is_as_likely() -> None:
    (views,) = _decisions(SMALL, "greedy", count=1)
    worlds = sample_worlds(views, 4200, Asks(Greedy(), np.random.default_rng(0)), np.random.default_rng(1))
    other = worlds.tables.column("cards")[np.arange(len(worlds.rows)), 1 - worlds.seats]
    _, counts = np.unique(other, axis=0, return_counts=True)
    assert len(counts) == 210  # six of the ten unseen cards
    assert ((counts - 20) ** 2 / 20).sum() < 209 + 5 * np.sqrt(2 * 209)


class _KeepsAces(Greedy):
    name = "keeps-aces"

    def exchange_many(self, views, rng):
        return (views.cards < 48).all(axis=1)


def test_others_hold_what_they_would_have_spoken_for() -> None:
    rules = CrashRules.preset("bga")
    env = CrashVectorEnv(60, rules, seed=9, episode="round", autoreset=False, dealer=0, threads=1)
    asks = Asks(_KeepsAces(), np.random.default_rng(0))
    while (env.phase == Phase.EXCHANGE).any():
        tables, places, views = env.views()
        exchanging = env.phase[tables] == Phase.EXCHANGE
        actions = np.full((60, 3), -1, np.int32)
        actions[tables[exchanging], places[exchanging]] = asks(views)[exchanging]
        env.step(actions)
    views = env.views_at(np.arange(60), np.zeros(60, np.int64))
    views = views.select(has_history(views) & (views.given_up[:, 0] < 0))
    worlds = sample_worlds(views, 30, asks, np.random.default_rng(1))
    said = views.exchanges[worlds.rows]
    cards, given = worlds.tables.column("cards"), worlds.tables.column("given_up")
    aces = (cards >= 48).any(axis=2)
    assert aces[said == 0].all()
    assert not (given[said == 1] >= 48).any()
    assert (said == 1).any()
    assert (said == 0).any()
    assert not aces[said == 1].all()


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("by_win", [False, True])
def test_options_are_worth_what_plain_rounds_come_to(rules: CrashRules, by_win: bool) -> None:
    """Against `Game`, decision by decision; the agent draws nothing, so that a world has one course."""
    rules = rules.replace(target=3)
    equity = solve_equity("greedy", rules, rounds_per_state=20) if by_win else None
    for views in _decisions(rules, "greedy", count=9):
        asks = Asks(make("greedy"), np.random.default_rng(2))
        own = asks(views)
        options = options_of(views, own)
        assert (options.actions[options.offsets[:-1]] == own).all()
        chooser = Chooser(asks, Worth(equity=equity), np.random.default_rng(5), worlds=48, resolve=1.0)
        worlds = sample_worlds(views, 1, asks, np.random.default_rng(3))
        if not len(worlds.rows):
            continue
        plain = [worlds.tables.game(table) for table in range(len(worlds.rows))]
        starts, figures = chooser.worth_of(views, options, worlds)
        for table in range(len(worlds.rows)):
            row, seat = worlds.rows[table], int(worlds.seats[table])
            for number in range(options.counts[row]):
                action = int(options.actions[options.offsets[row] + number])
                expected = _played(plain[table], seat, action, equity)
                assert figures[starts[table] + number] == pytest.approx(expected, abs=1e-6)


def _played(start: Game, seat: int, action: int, equity) -> float:
    """What a round comes to in which a seat takes an action and all else is greedy."""
    game = Game(
        start.rules,
        seed=1,
        dealer=start.dealer,
        scores=start.scores,
        rounds_played=start.rounds_played,
        episode="round",
        deals=[next(event for event in start.events if type(event).__name__ == "Deal")],
    )
    for event in start.events:
        kind, layout = type(event).__name__, action_layout(start.rules)
        if kind == "Exchange":
            game.step(layout.keep + int(event.exchanged), event.seat)
        elif kind == "Arrange":
            game.step(event.partition, event.seat)
        elif kind == "Call":
            game.step(layout.pass_ + int(event.called), event.seat)
    agent, rng, taken = Greedy(), np.random.default_rng(0), False
    while not game.is_over:
        who = next(iter(game.pending))
        if who == seat and not taken:
            taken = True
            game.step(action, who)
            continue
        from prial.envs.crash.observation import view_of

        game.step(agent.act(view_of(game, who), rng), who)
    last = next(event for event in reversed(game.events) if type(event).__name__ == "RoundEnd")
    n = game.rules.players
    if equity is None:
        return last.points[seat] - (sum(last.points) - last.points[seat]) / (n - 1)
    shares = _shares(game)
    if shares is not None:
        return shares[seat]
    return float(equity.shares_at(np.array([game.scores]), np.array([(start.dealer + 1) % n]))[0, seat])


def _shares(game: Game) -> list[float] | None:
    winners = game.result.winners if game.result is not None else ()
    if not winners:
        return None
    return [1 / len(winners) if seat in winners else 0.0 for seat in range(game.rules.players)]


def test_tables_can_be_copied_where_they_stand() -> None:
    rules = CrashRules.preset("bga", players=2)
    hands = np.arange(26, dtype=np.int8).reshape(1, 2, 13)
    spares = np.arange(26, 52, dtype=np.int8).reshape(1, 2, 13)
    tables = SetTables(rules, hands, spares, scores=np.array([[2, 1]]), dealer=np.array([1]))
    layout = action_layout(rules)
    tables.step([[layout.exchange, layout.keep]])
    twice = tables.some(np.array([0, 0]))
    assert twice.column("cards")[1].tolist() == [spares[0, 0].tolist(), hands[0, 1].tolist()]
    assert twice.scores.tolist() == [[2, 1]] * 2
    assert twice.pending.all()
