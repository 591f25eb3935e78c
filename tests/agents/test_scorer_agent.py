"""`ScorerAgent` around a score that a test can work out: choices, chance at a temperature, rules that do not fit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from prial.agents.check import check_agent
from prial.agents.scorer_agent import ScorerAgent
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import ViewBatch, view_of
from prial.envs.crash.rules import CrashRules

ONLINE = CrashRules.preset("online")
Floats = npt.NDArray[np.float32]


def weaker(candidates: Floats, context: Floats) -> Floats:
    """Hand 4's share of weaker triples; exchange above keep, pass above call."""
    logits = np.zeros((len(candidates), candidates.shape[1] + 4), np.float32)
    logits[:, :-4] = candidates[:, :, 32]
    logits[:, -3] = logits[:, -2] = 1
    return logits


def deal_views(count: int, rules: CrashRules = ONLINE) -> ViewBatch:
    return ViewBatch.of(view_of(Game(rules, seed=3, table=table), 0) for table in range(count))


def test_the_highest_score_is_laid_however_wide_the_batch_is() -> None:
    agent = ScorerAgent("weaker", weaker, rules=ONLINE, k=512)
    views = deal_views(300)
    found = views.undominated()
    laid = agent.act_many(views, np.random.default_rng(0))
    for row, action in enumerate(laid.tolist()):
        own = found[row]
        assert own.strengths[own.partitions == action, 3].item() == own.strengths[:, 3].max()


@pytest.mark.parametrize("temperature", [0.0, 0.5])
def test_it_conforms(temperature: float) -> None:
    agent = ScorerAgent("weaker", weaker, rules=ONLINE, k=8, temperature=temperature)
    check_agent(agent, rules="online", games=2)
    full = CrashRules.preset("bga", players=2, crash_call="optional")
    check_agent(ScorerAgent("weaker", weaker, rules=full, k=8, temperature=temperature), rules=full, games=2)


def test_extras_are_chosen_by_their_scores() -> None:
    rules = CrashRules.preset("bga", crash_call="optional")
    agent = ScorerAgent("weaker", weaker, rules=rules, k=8)
    rng = np.random.default_rng(0)
    game = Game(rules, seed=1)
    assert agent.act(view_of(game, game.pending[0]), rng) == game.layout.exchange
    game.step(game.layout.exchange, game.pending[0])
    while game.phase is Phase.ARRANGE:
        game.step(0, game.pending[0])
    assert agent.act(view_of(game, game.pending[0]), rng) == game.layout.pass_


def test_a_temperature_draws_from_the_softmax() -> None:
    def scores(candidates: Floats, context: Floats) -> Floats:
        return np.broadcast_to(
            np.arange(candidates.shape[1] + 4, dtype=np.float32), (len(candidates), candidates.shape[1] + 4)
        )

    agent = ScorerAgent("soft", scores, rules=ONLINE, k=2, temperature=1.0)
    table = next(t for t in range(100) if len(Game(ONLINE, seed=3, table=t).undominated(0)) >= 2)
    view = view_of(Game(ONLINE, seed=3, table=table), 0)
    drawn = agent.act_many(ViewBatch.of([view] * 4000), np.random.default_rng(1))
    _, counts = np.unique(drawn, return_counts=True)
    assert counts.max() / 4000 == pytest.approx(1 / (1 + np.exp(-1.0)), abs=0.03)


def test_other_rules_are_refused_with_both_sides_and_the_cut_off_does_not_matter() -> None:
    agent = ScorerAgent("weaker", weaker, rules=ONLINE, k=8)
    with pytest.raises(ValueError, match=r"'weaker' was made for flush_high=ace, .*the table plays flush_high=three"):
        agent.act_many(deal_views(1, CrashRules.preset("bga", exchange="none")), np.random.default_rng(0))
    assert agent.act_many(deal_views(1, ONLINE.replace(max_rounds=5)), np.random.default_rng(0)).shape == (1,)


@pytest.mark.parametrize("temperature", [-1.0, float("nan")])
def test_temperatures_are_zero_or_more(temperature: float) -> None:
    with pytest.raises(ValueError, match=r"temperature=.*expected a finite number, 0 or more"):
        ScorerAgent("weaker", weaker, rules=ONLINE, k=8, temperature=temperature)


def test_batches_are_of_some_views_under_the_same_rules() -> None:
    with pytest.raises(ValueError, match="at least one view"):
        ViewBatch.of([])
    views = [view_of(Game(rules, seed=1), 0) for rules in (ONLINE, ONLINE.replace(target=9))]
    with pytest.raises(ValueError, match="must have the same rules"):
        ViewBatch.of(views)
