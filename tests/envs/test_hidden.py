"""Hidden information stays hidden: what a seat cannot know changes nothing that it is told, in any phase.

A world of `sample_world` differs from the game in everything that the seat cannot know. Every output for that seat must be
the same in both.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from prial.envs import crash_v0
from prial.envs.crash.game import Game, Phase, replay
from prial.envs.crash.observation import view_of
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.worlds import sample_world
from prial.envs.crash.wrappers import CandidateActions
from tables import TABLES

ALL_AT_ONCE = {"mask": "undominated", "reward": "points"}


def _step(game: Game, rng: np.random.Generator) -> None:
    """Let the next seat act: any undominated arrangement, any choice."""
    seat = game.pending[0]
    actions = game.undominated(seat).partitions if game.phase is Phase.ARRANGE else game.legal_actions(seat)
    game.step(int(rng.choice(actions)), seat)


def _same(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            _same(one[key], other[key])
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    else:
        assert one == other


def _outputs(rules: CrashRules, game: Game, agent: str, rng_seed: int) -> list[Any]:
    """Everything that the environments tell an agent when the game stands there."""
    raw, parallel = crash_v0.raw_env(rules, **ALL_AT_ONCE), crash_v0.parallel_env(rules, **ALL_AT_ONCE)
    told: list[Any] = []
    for env in (raw, CandidateActions(raw, k=8)):
        env.reset(seed=rng_seed)
        raw._game = game
        raw._select()
        told += [env.observe(agent), env.agent_selection, env.infos[agent], raw.rewards[agent], raw.view(agent)]
        told += [env.terminations[agent], env.truncations[agent], env.agents.copy()]
        if env.agent_selection == agent:
            told += [env.last()[1:], env.last()[0]]
    for env in (parallel, CandidateActions(parallel, k=8)):
        env.reset(seed=rng_seed)
        parallel._game = game
        told += [env._observations([agent]), parallel.view(agent), parallel.pending, env.agents.copy()]
    return told


def _check(rules: CrashRules, game: Game, rng: np.random.Generator) -> int:
    """Compare the game with a world for each seat; returns how many worlds differed from it."""
    different = 0
    for seat in range(rules.players):
        world = sample_world(game, seat, rng)
        different += world.hands != game.hands
        assert view_of(world, seat) == view_of(game, seat)
        own, other = (_outputs(rules, g, f"player_{seat}", 0) for g in (game, world))
        for one, two in zip(own, other, strict=True):
            _same(one, two)
    return different


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_a_seat_is_told_the_same_in_every_world_that_it_cannot_tell_apart(rules: CrashRules) -> None:
    rng = np.random.default_rng(1)
    game = Game(rules, seed=4)
    seen: Counter[Phase] = Counter()
    different = 0
    for _ in range(14):
        if game.is_over:
            game = Game(rules, seed=5)
        seen[game.phase] += 1
        different += _check(rules, game, rng)
        _step(game, rng)
    assert seen[Phase.ARRANGE]
    assert different > 10
    if rules.has_exchange:
        assert seen[Phase.EXCHANGE] > 1
    if rules.has_calls:
        assert seen[Phase.CALL] > 1


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_a_world_is_a_game_that_could_have_been(rules: CrashRules) -> None:
    """Its cards are a pack, its events replay, and it can be played to the end."""
    rng = np.random.default_rng(2)
    game = Game(rules, seed=1)
    for turn in range(25):
        if game.is_over:
            game = Game(rules, seed=turn)
        seat = int(rng.integers(rules.players))
        world = sample_world(game, seat, rng)
        cards = [
            card
            for pile in (*(world.given_up[s] or world.hands[s] for s in range(rules.players)), *world.spares)
            for card in pile
        ]
        assert len(set(cards)) == len(cards) == rules.cards_dealt * (rules.players + rules.num_spares)
        assert set(cards) <= set(rules.pack)
        again = replay(rules, world.events)
        assert (again.hands, again.laid, again.calls, again.pending) == (
            world.hands,
            world.laid,
            world.calls,
            world.pending,
        )
        while not world.is_over:
            _step(world, rng)
        _step(game, rng)


def test_everything_hidden_is_drawn_anew() -> None:
    """Two players, both exchanged, both laid, one called: other hand, spare, given-up cards and arrangement all vary."""
    rules = CrashRules.preset("traditional", players=2, crash_call="optional")
    game = Game(rules, seed=0, dealer=1)
    layout = game.layout
    game.step(layout.exchange)
    worlds = [sample_world(game, 1, np.random.default_rng(i)) for i in range(60)]
    # The secret choice of seat 0 is drawn too, while that it has chosen is public.
    assert {world.exchanges[0] for world in worlds} == {True, False}
    assert {world.pending for world in worlds} == {(1,)}
    game.step(layout.exchange)
    for _ in range(2):
        game.step(int(game.undominated(game.pending[0]).partitions[0]))
    game.step(layout.call)
    worlds = [sample_world(game, 1, np.random.default_rng(i)) for i in range(60)]
    for hidden in ("hands", "given_up"):
        assert len({getattr(world, hidden)[0] for world in worlds}) == 60
        assert {getattr(world, hidden)[1] for world in worlds} == {getattr(game, hidden)[1]}
    assert len({world.spares[0] for world in worlds}) == 60
    assert {world.spares[1] for world in worlds} == {game.hands[1]}
    assert len({world.laid[0] for world in worlds}) > 50
    assert {world.laid[1] for world in worlds} == {game.laid[1]}
    assert {(world.exchanges[0], world.exchanges[1], world.calls[0]) for world in worlds} == {(True, True, True)}


def test_deals_to_come_are_drawn_anew() -> None:
    """A search that played on with the seed of the game would play as if the next cards lay open."""
    game = Game(CrashRules.preset("online", players=2), seed=0)
    following = []
    for i in range(10):
        world = sample_world(game, 0, np.random.default_rng(i))
        for seat in world.pending:
            world.step(0, seat)
        following.append(tuple(world.hands))
    assert len(set(following)) == 10


def test_each_hidden_card_is_as_likely_in_each_place() -> None:
    game = Game(CrashRules.preset("online", players=2, cards_dealt=6, ranks="9TJQKA"), seed=0)
    rng = np.random.default_rng(0)
    counts = Counter(card for _ in range(3000) for card in sample_world(game, 0, rng).hands[1])
    hidden = set(game.rules.pack) - set(game.hands[0])
    assert set(counts) == hidden
    expected = 3000 * 6 / len(hidden)
    assert all(abs(count - expected) < 6 * expected**0.5 for count in counts.values())


def test_the_same_generator_gives_the_same_world_and_the_game_is_left_alone() -> None:
    game = Game(CrashRules.preset("bga"), seed=0)
    before = (game.copy().hands, game.events)
    one, other = (sample_world(game, 1, np.random.default_rng(3)) for _ in range(2))
    assert (one.hands, one.spares, one.events) == (other.hands, other.spares, other.events)
    assert (game.hands, game.events) == before


def test_worlds_need_a_game_in_progress_and_a_seat() -> None:
    game = Game(CrashRules.preset("online", players=2), seed=0, episode="round")
    with pytest.raises(ValueError, match=r"seat 2 is not at the table; expected 0 to 1"):
        sample_world(game, 2, np.random.default_rng(0))
    for seat in game.pending:
        game.step(0, seat)
    with pytest.raises(ValueError, match="the game is over"):
        sample_world(game, 0, np.random.default_rng(0))


def test_how_many_hands_others_laid_stays_hidden_until_the_reveal() -> None:
    env = crash_v0.raw_env("online", mask="legal")
    told = []
    for arrangement in (0, None):
        env.reset(seed=0)
        first, second = env.game.turn_order[:2]
        env.step(int(env.game.undominated(first).partitions[0]) if arrangement is None else arrangement)
        told.append([env.observe(f"player_{seat}") for seat in (second, env.game.dealer)])
    for one, other in zip(*told, strict=True):
        _same(one, other)
