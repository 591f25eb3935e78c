"""Rounds of many deals in every way the exchange can go, against `Game` itself."""

from __future__ import annotations

import numpy as np
import pytest

from prial.envs.crash.events import RoundEnd
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.partitions import undominated_many
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.scoring import margins
from prial.training.exchange_courses import Rounds, courses_of

DEALS = 60


def played(rules: CrashRules, deal: int, choices: tuple[bool | None, ...]) -> tuple[Game, RoundEnd]:
    """A round of `Game` whose exchange goes as given; everybody lays the first undominated arrangement."""
    game = Game(rules, seed=2, first_deal=deal, dealer=rules.players - 1, episode="round")  # seats in turn order
    while game.phase is Phase.EXCHANGE:
        seat = game.pending[0]
        game.step(game.layout.exchange if choices[seat] else game.layout.keep, seat)
    events = [event for seat in game.pending for event in game.step(int(game.undominated(seat).partitions[0]), seat)]
    return game, next(event for event in events if isinstance(event, RoundEnd))


def rounds(rules: CrashRules, *, below: tuple[float, ...], seed: int = 0) -> Rounds:
    """The same deals with the same arrangements, whatever others kept; scores drawn at random."""
    deals = [Game(rules, seed=2, first_deal=deal, dealer=rules.players - 1) for deal in range(DEALS)]
    piles = np.array([[*game.hands, *game.spares] for game in deals])
    found = undominated_many(piles.reshape(-1, rules.cards_dealt), rules)
    first = found.offsets[:-1]
    strengths = found.strengths[first].reshape(*piles.shape[:2], 4)
    kinds = rules.players if rules.has_exchange else 1
    return Rounds(
        rules=rules,
        weight=rules.crash_points,
        strengths=np.array([strengths] * kinds),
        quads=np.array([found.quads[first].reshape(piles.shape[:2])] * kinds),
        scores=np.random.default_rng(seed).random((DEALS, rules.players)),
        below=below,
    )


@pytest.mark.parametrize(
    "rules",
    [
        CrashRules.preset("bga", players=2),
        CrashRules.preset("bga", quads_bonus=2),
        CrashRules.preset("traditional"),
        CrashRules.preset("bga", players=3, cards_dealt=9, crash_reward=3),
    ],
    ids=lambda rules: f"{rules.name}-{rules.players}x{rules.cards_dealt}",
)
def test_every_course_comes_out_as_in_a_game(rules: CrashRules) -> None:
    some = rounds(rules, below=())
    for course in courses_of(rules):
        computed = some._margins(course)
        for deal in range(DEALS):
            game, end = played(rules, deal, course.choices)
            assert list(game.exchanges) == list(course.choices)
            assert computed[deal] == pytest.approx(margins(end.points), abs=1e-12)


@pytest.mark.parametrize(("players", "below"), [(2, (0.4,)), (3, (0.4, 0.5, 0.3))])
def test_fresh_and_kept_hands_are_counted_as_the_exchange_goes(players: int, below: tuple[float, ...]) -> None:
    rules = CrashRules.preset("bga", players=players)
    some = rounds(rules, below=below)
    expected = np.zeros((2, 4, 742), np.int64)
    for deal in range(DEALS):
        choices: list[bool | None] = [None] * players
        for seat in range(players):
            kept_before = 0 if players == 2 else seat
            choices[seat] = bool(some.scores[deal, seat] < below[kept_before])
            if choices[seat] and players == 3:
                break
        game, _ = played(rules, deal, tuple(choices))
        for seat in range(players):
            first = undominated_many([game.hands[seat]], rules).strengths[0]
            expected[int(choices[seat] is False), np.arange(4), first] += 1
    assert np.array_equal(some.count(), expected)


def test_without_an_exchange_all_hands_are_fresh() -> None:
    fresh, kept = rounds(CrashRules.preset("bga", players=4), below=()).count()
    assert fresh.sum(axis=1).tolist() == [4 * DEALS] * 4
    assert not kept.any()


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        ((4 * (5**0.5 - 1) / 2,), 4 * (5**0.5 - 1) / 2),  # t * t = t / 2 + (1 - t) ** 2 / 2
        ((2.0, 2.0, 2.8), 2 + 2 / 6**0.5),  # the last of three: (2 * (t - 0.5)) ** 2 = 0.5 / 3
    ],
)
def test_even_scores_of_a_toy_game_that_can_be_solved(below: tuple[float, ...], expected: float) -> None:
    """All four hands of a pile are as good as one number, even on 0 to 4, which is the score, too."""
    players, deals = {1: 2, 3: 3}[len(below)], 20_000
    rules = CrashRules.preset("bga", players=players)
    piles = players + rules.num_spares
    quality = np.random.default_rng(5).random((deals, piles))
    strengths = np.repeat((1 + 740 * quality).astype(np.int16)[:, :, None], 4, axis=2)
    some = Rounds(
        rules=rules,
        weight=1,
        strengths=np.array([strengths] * players),
        quads=np.zeros((players, deals, piles), np.int8),
        scores=4 * quality[:, :players],
        below=below,
    )
    even = some.even_scores()
    assert len(even) == len(below)
    assert even[-1] == pytest.approx(expected, abs=0.15)
