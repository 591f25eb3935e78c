"""Encoding one view, and one seat's decision as a choice among candidates."""

from __future__ import annotations

import numpy as np
import pytest

from decisions import RULE_SETS, decision_views, decisions, rules_id
from prial.envs.crash.candidates_view import NUM_EXTRAS, best_candidates
from prial.envs.crash.coders import CandidateCoder
from prial.envs.crash.features import CANDIDATE_FEATURES, candidate_features
from prial.envs.crash.game import Game, IllegalActionError, Phase
from prial.envs.crash.observation import ViewBatch, encode, encode_view, view_of
from prial.envs.crash.partitions import candidates_of, undominated
from prial.envs.crash.rules import CrashRules

HARD = "2c 2h 4h 5h 5s 7h 8h Tc Th Jh Kh Ah As"  # 736 undominated arrangements (RULES section 6)
ONLINE = CrashRules.preset("online")


@pytest.mark.parametrize("rules", RULE_SETS, ids=rules_id)
def test_one_view_is_encoded_as_in_a_batch(rules: CrashRules) -> None:
    views = decision_views(rules, games=8)
    assert set(views.phase.tolist()) >= {int(Phase.ARRANGE)}
    rows = encode(views)
    for view, row in zip(views, rows, strict=True):
        one = encode_view(view)
        assert one.dtype == row.dtype == np.float32
        assert np.array_equal(one, row)


def test_a_finished_game_is_encoded_as_in_a_batch() -> None:
    game = Game(ONLINE, seed=2)
    while not game.is_over:
        seat = game.pending[0]
        game.step(int(game.undominated(seat).partitions[0]), seat)
    for seat in range(3):
        view = view_of(game, seat)
        assert view.laid is not None
        assert np.array_equal(encode_view(view), encode(ViewBatch.of([view]))[0])


@pytest.mark.parametrize("rules", RULE_SETS, ids=rules_id)
def test_choices_stand_for_legal_actions(rules: CrashRules) -> None:
    k = 8
    coder = CandidateCoder(rules, ["one"], k=k, noop=False)
    extras: dict[int, int | None] = {}
    for game, _ in decisions(rules):
        layout = game.layout
        for seat in range(rules.players):
            acting = seat in game.pending
            told = coder.observe(game, seat, acting=acting)
            assert told["candidates"].shape == (k, len(CANDIDATE_FEATURES))
            assert told["action_mask"].shape == (k + NUM_EXTRAS,)
            assert told["action_mask"].any() == acting
            laid = game.laid[seat]
            found = best_candidates(game.undominated(seat), rules, k)
            if laid is not None:
                found = candidates_of(laid, game.hands[seat], rules)
            assert np.array_equal(told["candidates"][: len(found)], candidate_features(found, rules))
            assert not told["candidates"][len(found) :].any()
            for choice in range(-1, k + NUM_EXTRAS + 1):
                if 0 <= choice < k + NUM_EXTRAS and told["action_mask"][choice]:
                    action = coder.full_action(game, seat, choice, acting=acting)
                    game.check(action, seat)
                    if choice >= k:
                        extras[choice - k] = action
                else:
                    with pytest.raises(IllegalActionError):
                        coder.full_action(game, seat, choice, acting=acting)
    named = [layout.keep, layout.exchange, layout.pass_, layout.call]
    assert extras == {extra: named[extra] for extra in extras}
    assert len(extras) == 2 * (rules.has_exchange + rules.has_calls)


@pytest.mark.parametrize("k", [1, 10, 128, 735, 736, 1000])
def test_a_deal_with_more_than_k_keeps_the_first_and_the_order(k: int) -> None:
    game = Game.from_deal(ONLINE.replace(players=2), [HARD, "3c 3d 6c 6d 9c 9d Qc Qd Js Jd Ks Kd 4d"])
    whole = undominated(game.hands[0], game.rules)
    assert len(whole) == 736
    kept = best_candidates(whole, game.rules, k)
    assert len(kept) == min(k, 736)
    inside = np.isin(whole.partitions, kept.partitions)
    assert inside[0]  # what greedy lays
    assert np.array_equal(whole.partitions[inside], kept.partitions)
    assert np.array_equal(whole.strengths[inside], kept.strengths)
    assert np.array_equal(whole.quads[inside], kept.quads)
