"""Each update rule's gradient against what it should be, by differences or by its formula."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from prial.training.selfplay_config import SelfPlayConfig  # noqa: E402
from prial.training.update_rules import Decisions, loss_of  # noqa: E402

OWNER = [0, 0, 0, 1, 1]
LOGITS = [0.3, -0.2, 0.5, 1.0, -1.0]
START = [0.1, 0.4, -0.3, 0.2, 0.6]
WORTH = [1.0, -2.0, 0.5, 0.25, 3.0]
WEIGHTS = [1.0, 0.5]


def _gradient(config: SelfPlayConfig, *, entropy: float = 0.0) -> list[float]:
    out = torch.tensor(LOGITS, dtype=torch.float64, requires_grad=True)
    loss_of(_decisions(out), config, entropy=entropy).backward()
    return out.grad.tolist()


def _decisions(out):
    return Decisions(
        out=out,
        worth=torch.tensor(WORTH, dtype=torch.float64),
        owner=torch.tensor(OWNER),
        weights=torch.tensor(WEIGHTS, dtype=torch.float64),
        start=torch.tensor(START, dtype=torch.float64),
    )


def _by_differences(objective) -> list[float]:
    """Slopes of a function of all logits, by differences."""
    found = []
    for i in range(len(LOGITS)):
        values = []
        for step in (1e-6, -1e-6):
            moved = torch.tensor(LOGITS, dtype=torch.float64)
            moved[i] += step
            values.append(float(objective(moved)))
        found.append((values[0] - values[1]) / 2e-6)
    return found


def _groups(values):
    return values[:3], values[3:]


def _policies(values):
    return [torch.softmax(group, 0) for group in _groups(values)]


@pytest.mark.parametrize("update", ["policy-gradient", "mirror"])
def test_the_policy_gradient_is_that_of_the_expected_worth_with_its_regularisers(update: str) -> None:
    def objective(logits):
        total = 0.0
        start = _policies(torch.tensor(START, dtype=torch.float64))
        worth = _groups(torch.tensor(WORTH, dtype=torch.float64))
        for number, policy in enumerate(_policies(logits)):
            value = (policy * worth[number]).sum() - 0.1 * (policy * policy.log()).sum()
            if update == "mirror":
                value = value - (policy * (policy / start[number]).log()).sum() / 4.0
            total = total + WEIGHTS[number] * value
        return total

    config = SelfPlayConfig(update=update, step_size=4.0)
    ours = [-slope for slope in _gradient(config, entropy=0.1)]
    assert ours == pytest.approx(_by_differences(objective), abs=1e-7)


def test_neurd_moves_each_logit_by_the_gain_itself() -> None:
    expected = []
    for weight, policy, worth in zip(
        WEIGHTS, _policies(torch.tensor(LOGITS)), _groups(torch.tensor(WORTH)), strict=True
    ):
        expected += (-weight * (worth - (policy * worth).sum())).tolist()
    assert _gradient(SelfPlayConfig(update="neurd")) == pytest.approx(expected, abs=1e-6)


def test_neurd_pushes_no_logit_beyond_its_bound() -> None:
    free = _gradient(SelfPlayConfig(update="neurd", neurd_bound=1.5))
    bound = _gradient(SelfPlayConfig(update="neurd", neurd_bound=0.9))
    # Logits 3 and 4 lie 1 from their mean: the first gains less than the mean, and so may come back.
    assert free[3] != 0
    assert free[4] != 0
    assert bound[:3] == free[:3]
    assert bound[3] == free[3]
    assert bound[4] == free[4]
    outwards = Decisions(
        out=torch.tensor([1.0, -1.0], requires_grad=True),
        worth=torch.tensor([1.0, -1.0]),
        owner=torch.tensor([0, 0]),
        weights=torch.ones(1),
    )
    loss_of(outwards, SelfPlayConfig(update="neurd", neurd_bound=0.9), entropy=0.0).backward()
    assert outwards.out.grad.tolist() == [0.0, 0.0]


def test_regression_looks_at_differences_alone() -> None:
    config = SelfPlayConfig(focus=0.0)
    shifted = torch.tensor(WORTH, dtype=torch.float64) + torch.tensor([5.0, 5, 5, -3, -3], dtype=torch.float64)
    assert float(loss_of(_decisions(shifted), config, entropy=0.0)) == pytest.approx(0.0, abs=1e-12)

    def objective(logits):
        total = 0.0
        for weight, out, worth in zip(
            WEIGHTS, _groups(logits), _groups(torch.tensor(WORTH, dtype=torch.float64)), strict=True
        ):
            off = out - worth
            total = total + weight * ((off - off.mean()) ** 2).sum()
        return total

    assert _gradient(config) == pytest.approx(_by_differences(objective), abs=1e-6)


def test_focus_counts_what_is_near_the_best() -> None:
    near = _decisions(torch.tensor(LOGITS, dtype=torch.float64))
    far = torch.tensor(WORTH, dtype=torch.float64)
    far[3:] = torch.tensor([0.0, 30.0], dtype=torch.float64)
    sharp = SelfPlayConfig(focus=0.1)
    whole = float(loss_of(near, SelfPlayConfig(focus=0.0), entropy=0.0))
    assert float(loss_of(near, sharp, entropy=0.0)) < whole
