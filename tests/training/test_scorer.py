"""The network: three ways to compute it agree, padding and order do not matter, masks rule choices out."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from prial.agents.scorer_inputs import context_names, scorer_inputs  # noqa: E402
from prial.agents.value_inputs import HandBasis, places_of  # noqa: E402
from prial.envs.crash.game import Game  # noqa: E402
from prial.envs.crash.observation import ViewBatch, view_of  # noqa: E402
from prial.envs.crash.rules import CrashRules  # noqa: E402
from prial.training.past_versions import numpy_scores  # noqa: E402
from prial.training.scorer import CandidateScorer, masked_logits  # noqa: E402

RULES = [
    CrashRules.preset("online"),
    CrashRules.preset("bga", players=2),
    CrashRules.preset("traditional", crash_call="optional", quads_bonus=1),
]


def views(rules: CrashRules, count: int) -> ViewBatch:
    games = [
        Game(rules, seed=11, first_deal=deal, scores=[deal % rules.target] * rules.players) for deal in range(count)
    ]
    return ViewBatch.of([view_of(game, game.pending[0]) for game in games])


def scorer_for(rules: CrashRules, hats: int = 0) -> CandidateScorer:
    torch.manual_seed(3)
    scorer = CandidateScorer(rules, (32, 16), hats=hats)
    for parameter in scorer.parameters():  # the small initial heads would hide differences
        torch.nn.init.normal_(parameter, std=0.3)
    return scorer.eval()


@pytest.mark.parametrize("hats", [0, 5])
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
def test_padded_unpadded_and_numpy_agree(rules: CrashRules, hats: int) -> None:
    scorer = scorer_for(rules, hats)
    inputs = scorer_inputs(views(rules, 300), 64)
    candidates, context = torch.from_numpy(inputs.candidates), torch.from_numpy(inputs.context)
    there = np.concatenate([inputs.partitions >= 0, np.ones((300, 4), bool)], axis=1)
    with torch.no_grad():
        padded, value = scorer(candidates, context)
        rows, row_value = scorer.score_rows(candidates, context)
    plain = numpy_scores(scorer, inputs.candidates, inputs.context)
    assert np.allclose(padded.numpy()[there], rows.numpy()[there], atol=1e-5)
    assert np.allclose(padded.numpy()[there], plain[there], atol=1e-5)
    assert np.allclose(value.numpy(), row_value.numpy(), atol=1e-5)
    assert np.ptp(padded.numpy()[there]) > 0.1


def test_hat_functions_are_those_of_each_hand() -> None:
    """As `HandBasis` makes them of the arrangements themselves."""
    rules = RULES[0]
    scorer, seen = scorer_for(rules, hats=5), views(rules, 40)
    found, basis = seen.undominated(), HandBasis.of(places_of(rules), hats=5)
    inputs = scorer_inputs(seen, 1000)
    rows = torch.from_numpy(inputs.candidates[inputs.partitions >= 0])
    spread = scorer._hands(rows)[1]
    assert np.array_equal(spread.numpy(), basis.inputs(found)[:, :-1])


def test_each_score_has_a_hat_function_at_every_whole_number_below_the_target() -> None:
    scorer, names = scorer_for(RULES[0], hats=5), context_names(RULES[0])
    context = torch.zeros(1, len(names))
    context[0, names.index("scores[0]") + 1], context[0, names.index("scores[0]") + 2] = 3, -1
    levels = scorer._told(context)[0, len(names) :].view(3, 7)
    assert levels.nonzero().tolist() == [[0, 0], [1, 3]]  # none for a score below 0
    assert levels.sum() == 2


def test_order_of_candidates_does_not_change_which_is_chosen() -> None:
    rules = RULES[0]
    scorer = scorer_for(rules)
    inputs = scorer_inputs(views(rules, 200), 64)
    rng = np.random.default_rng(0)
    shuffled, partitions = inputs.candidates.copy(), inputs.partitions.copy()
    for row in range(200):
        order = rng.permutation(shuffled.shape[1])
        shuffled[row], partitions[row] = shuffled[row, order], partitions[row, order]

    def chosen(candidates: np.ndarray, indices: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            logits, _ = scorer(torch.from_numpy(candidates), torch.from_numpy(inputs.context))
        best = np.where(indices >= 0, logits.numpy()[:, : indices.shape[1]], -np.inf).argmax(axis=1)
        return indices[np.arange(200), best]

    assert (chosen(inputs.candidates, inputs.partitions) == chosen(shuffled, partitions)).all()


def test_scores_enter_as_shares_of_the_target() -> None:
    rules = CrashRules.preset("online", target=10)
    scale = dict(zip(context_names(rules), CandidateScorer(rules).scale.tolist(), strict=True))
    assert scale["scores[0]"] == pytest.approx(0.1)
    assert scale["rounds_played[0]"] == pytest.approx(1 / rules.max_rounds)
    assert scale["dealer[1]"] == 1


def test_masked_logits_leave_k_choices_even_and_an_entropy_of_log_k() -> None:
    mask = torch.tensor([[True, False, True, True]])
    distribution = torch.distributions.Categorical(logits=masked_logits(torch.zeros(1, 4), mask))
    assert distribution.probs.tolist()[0] == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])
    assert float(distribution.entropy()) == pytest.approx(math.log(3))
