"""How a network learns from a batch in which the worth of every arrangement of every decision is known.

Each rule is a loss; its gradient is what counts. `out` is the network's answer for each arrangement, `worth` what the
arrangement turned out to be worth against what the others drew; A is the worth less its mean under the policy.

- ``q``: the answer is the value itself. Differences from the worth are squared, the mean over the decision's arrangements
  taken out, since only differences between arrangements decide; arrangements far below the best count less (`focus`). The
  policy is the softmax of ``out / temperature``: a smoothed best response to what was played, as in fictitious play.
- ``policy-gradient``: the answer is a logit. Sum over all arrangements of ``-p A``, and the entropy.
- ``neurd`` (Hennes et al., 2020): the gradient by the logit is A itself, not ``p A``, so that what is hardly played can
  come back; logits beyond a bound are pushed no further out. Entropy as above.
- ``mirror``, magnetic mirror descent (Sokota et al., 2023): the policy gradient, less the divergence from the policy that
  the step began with, the magnet being the uniform policy (the entropy).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .selfplay_config import SelfPlayConfig

__all__ = ["Decisions", "loss_of"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Decisions:
    """What a loss is made from.

    Attributes:
        out: the network's answers, (m,), with gradient.
        worth: (m,), in points.
        owner: decision of each arrangement, int64 (m,).
        weights: of each decision, (n,).
        start: answers of the network that the mirror step began with, (m,); only `mirror` needs them.
    """

    out: Tensor
    worth: Tensor
    owner: Tensor
    weights: Tensor
    start: Tensor | None = None

    def sums(self, values: Tensor) -> Tensor:
        """Return the sum over the arrangements of each decision: (n,)."""
        return torch.zeros(len(self.weights), dtype=values.dtype, device=values.device).index_add(0, self.owner, values)

    def largest(self, values: Tensor) -> Tensor:
        """Return the largest of each decision, for each of its arrangements: (m,), without gradient."""
        room = torch.full((len(self.weights),), -torch.inf, dtype=values.dtype, device=values.device)
        return room.scatter_reduce(0, self.owner, values.detach(), "amax")[self.owner]

    def log_policy(self, logits: Tensor) -> Tensor:
        """Return the logarithm of the softmax of each decision's logits: (m,)."""
        lowered = logits - self.largest(logits)
        return lowered - torch.log(self.sums(torch.exp(lowered)))[self.owner]


def loss_of(decisions: Decisions, config: SelfPlayConfig, *, entropy: float) -> Tensor:
    """Return the loss, summed over decisions.

    Args:
        decisions: the batch.
        config: names the rule and its numbers.
        entropy: weight of the entropy at this point of the run.

    >>> worth, owner = torch.tensor([1.0, -1.0]), torch.tensor([0, 0])
    >>> one = Decisions(out=torch.zeros(2), worth=worth, owner=owner, weights=torch.ones(1))
    >>> float(loss_of(one, SelfPlayConfig(focus=0.0), entropy=0.0))
    2.0
    """
    if config.update == "q":
        return _regression(decisions, config.focus)
    d = decisions
    log_policy = d.log_policy(d.out)
    policy = log_policy.exp()
    now = policy.detach()
    gain = d.worth - d.sums(now * d.worth)[d.owner]
    bonus = -entropy * d.sums(policy * log_policy)
    if config.update == "neurd":
        centred = d.out - (d.sums(d.out.detach()) / d.sums(torch.ones_like(d.out)))[d.owner]
        outwards = (centred.detach() * gain > 0) & (centred.detach().abs() >= config.neurd_bound)
        objective = d.sums(centred * torch.where(outwards, 0.0, gain)) + bonus
    else:
        objective = d.sums(policy * gain) + bonus
        if config.update == "mirror":
            assert d.start is not None
            objective = objective - d.sums(policy * (log_policy - d.log_policy(d.start))) / config.step_size
    return -(d.weights * objective).sum()


def _regression(d: Decisions, focus: float) -> Tensor:
    off = d.out - d.worth
    near = torch.ones_like(off)
    if focus > 0:
        near = torch.exp((d.out.detach() - d.largest(d.out)) / focus).clamp(min=0.05)
    total = d.sums(near)
    off = off - (d.sums(near * off) / total)[d.owner]
    return (d.weights * d.sums(near * off * off)).sum()
