"""Views and their encoding: layout, bounds that are attained, batches, what is public (DESIGN "envs")."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from play import play_on, rule_variants
from prial.envs.crash.features import CANDIDATE_FEATURES, candidate_features
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import ViewBatch, encode, observation_layout, observation_size, view_of
from prial.envs.crash.partitions import laid_triples, undominated
from prial.envs.crash.rules import CrashRules

VARIANTS = rule_variants()


def _pieces(game: Game, seat: int) -> dict[str, np.ndarray]:
    row = encode(ViewBatch.of([view_of(game, seat)]))[0]
    assert row.dtype == np.float32
    found, start = {}, 0
    for piece in observation_layout(game.rules):
        found[piece.name] = row[start : start + piece.size].reshape(piece.shape)
        assert piece.low <= found[piece.name].min()
        assert found[piece.name].max() <= piece.high, piece.name
        start += piece.size
    assert start == len(row) == observation_size(game.rules)
    return found


def _one_hot(values: np.ndarray) -> int:
    assert values.sum() == 1
    return int(np.argmax(values))


@pytest.mark.parametrize("rules", VARIANTS[::2], ids=lambda r: f"{r.name}-{r.players}-{r.crash_call}-{r.finish}")
def test_every_piece_says_what_the_seat_knows(rules: CrashRules) -> None:
    """Decoded again by hand, for every seat at every step of some games."""
    n = rules.players
    game = Game(rules, seed=5)
    rng = np.random.default_rng(6)
    for _ in range(40):
        for seat in range(n):
            found = _pieces(game, seat)
            round_table = [(seat + i) % n for i in range(n)]
            assert np.flatnonzero(found["cards"]).tolist() == list(game.hands[seat])
            assert np.flatnonzero(found["given_up"]).tolist() == list(game.given_up[seat] or ())
            laid = [] if game.laid[seat] is None else laid_triples(game.laid[seat], game.hands[seat], rules)
            hands = [sorted(game.hands[seat][slot] for slot in slots) for _, slots in laid]
            assert [np.flatnonzero(row).tolist() for row in found["laid"]] == hands + [[]] * (rules.hands - len(hands))
            assert Phase(_one_hot(found["phase"])) is game.phase
            assert bool(found["to_act"][0]) == (seat in game.pending)
            assert found["scores"].tolist() == [game.scores[other] for other in round_table]
            assert found["rounds_played"][0] == game.rounds_played
            assert round_table[_one_hot(found["dealer"])] == game.dealer
            for i, other in enumerate(round_table):
                secret = n == 2 and game.phase is Phase.EXCHANGE and other != seat
                chose = None if secret else game.exchanges[other]
                assert (found["kept"][i], found["exchanged"][i]) == (chose is False, chose is True)
                said = game.calls[other]
                assert (found["passed"][i], found["called"][i]) == (said is False, said is True)
        if game.is_over:
            break
        play_on(game, rng, steps=1)


def test_a_batch_is_its_views_one_after_another() -> None:
    views = []
    for seed in range(30):
        game = Game(VARIANTS[25], seed=seed)
        play_on(game, np.random.default_rng(seed), steps=seed)
        views += [view_of(game, seat) for seat in range(game.rules.players)]
    batch = ViewBatch.of(views)
    assert len(batch) == len(views)
    assert list(batch) == views
    rows = encode(batch)
    for number, view in enumerate(views):
        assert (rows[number] == encode(ViewBatch.of([view]))[0]).all()
    some = np.arange(0, len(views), 7)
    assert list(batch.select(some)) == [views[i] for i in some]
    mask = batch.phase == Phase.ARRANGE
    assert [view.phase for view in batch.select(mask)] == [Phase.ARRANGE] * int(mask.sum())
    found = batch.undominated()
    assert batch.undominated() is found
    for number, view in enumerate(views):
        assert (found[number].partitions == undominated(view.cards, view.rules).partitions).all()


def test_batches_of_nothing_or_of_mixed_rules_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one view"):
        ViewBatch.of([])
    views = [view_of(Game(CrashRules(target=target)), 0) for target in (7, 8)]
    with pytest.raises(ValueError, match="the same rules"):
        ViewBatch.of(views)
    same = [view_of(Game(CrashRules(name=name)), 0) for name in ("", "online")]
    assert len(ViewBatch.of(same)) == 2


def test_views_are_frozen() -> None:
    view = view_of(Game(CrashRules()), 0)
    with pytest.raises(AttributeError):
        view.seat = 1  # type: ignore[misc]
    assert view == view_of(Game(CrashRules()), 0)
    assert hash(view) == hash(view_of(Game(CrashRules()), 0))


@given(st.integers(0, 2**32), st.integers(0, len(VARIANTS) - 1), st.integers(0, 30), st.integers(1, 4))
def test_public_pieces_are_the_same_for_all_seen_from_their_seat(seed: int, variant: int, steps: int, by: int) -> None:
    game = Game(VARIANTS[variant], seed=seed)
    play_on(game, np.random.default_rng(seed), steps=steps)
    n = game.rules.players
    seat, other = 0, by % n
    mine, theirs = _pieces(game, seat), _pieces(game, other)
    for piece in observation_layout(game.rules):
        if not piece.public or piece.name == "to_act":
            continue
        if game.phase is Phase.EXCHANGE and n == 2 and piece.name in ("kept", "exchanged"):
            continue
        by_seat = piece.name in ("scores", "dealer", "kept", "exchanged", "passed", "called")
        turned = np.roll(mine[piece.name], -other) if by_seat else mine[piece.name]
        assert (theirs[piece.name] == turned).all(), piece.name


def test_the_bound_of_scores_is_attained() -> None:
    """A bound that nothing reaches would be wrong by some factor without anybody noticing."""
    options: dict[str, Any] = {"players": 2, "finish": "round_end", "target": 7, "crash_reward": 1, "quads_bonus": 1}
    rules = CrashRules(**options)
    whole = "AsAhAdAc KsKhKdKc QsQhQdQc 2s"  # three whole ranks
    other = "3s3h3d 5c5h5d 7c7h7d 9c9h9d 2c"
    game = Game.from_deal(rules, [whole, other], scores=[6, 0])
    cards = game.hands[0]
    row = max(range(len(game.undominated(0))), key=lambda i: int(game.undominated(0).quads[i]))
    assert game.undominated(0).quads[row] == 3
    game.step(int(game.undominated(0).partitions[row]), 0)
    game.step(0, 1)
    assert len(cards) == 13
    [high] = [piece.high for piece in observation_layout(rules) if piece.name == "scores"]
    assert game.scores[0] == high == 6 + rules.max_round_points


def test_rows_of_candidates_say_what_is_laid() -> None:
    rules = CrashRules.preset("bga", quads_bonus=1)
    for seed in range(20):
        found = Game(rules, seed=seed).undominated(0)
        rows = candidate_features(found, rules)
        assert rows.shape == (len(found), len(CANDIDATE_FEATURES))
        assert (rows >= 0).all()
        columns_of = {name: rows[:, i] for i, name in enumerate(CANDIDATE_FEATURES)}
        assert (columns_of["present"] == 1).all()
        for position in range(4):
            names = [name for name in CANDIDATE_FEATURES if name.startswith(f"hand_{position + 1}_")]
            columns = np.column_stack([columns_of[name] for name in names])
            laid = found.strengths[:, position] > 0
            assert (columns[:, :6].sum(axis=1) == laid).all()
            assert np.allclose(columns[:, 6], found.strengths[:, position] / 741)
        assert (columns_of["quads"] == found.quads).all()
