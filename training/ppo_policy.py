"""`CandidateScorer` as a policy of sb3-contrib's MaskablePPO: only the maskable variant exists here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from ..agents.scorer_inputs import context_slice
from ..envs.crash.rules import CrashRules
from .scorer import CandidateScorer

__all__ = ["ScorerPolicy"]


class _ScorerExtractor(BaseFeaturesExtractor):
    """Turns an observation into logits and a value, side by side; the rest of the policy only takes them apart."""

    def __init__(self, observation_space: spaces.Dict, *, rules: CrashRules, hidden: Sequence[int], hats: int) -> None:
        num_choices = observation_space["action_mask"].shape[0]  # type: ignore[index]
        super().__init__(observation_space, num_choices + 1)
        self._context = context_slice(rules)
        self.scorer = CandidateScorer(rules, hidden, hats=hats)

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        context = observations["observation"][:, self._context]
        logits, values = self.scorer.score_rows(observations["candidates"], context)
        return torch.cat([logits, values.unsqueeze(1)], dim=1)


class _Split(nn.Module):
    """Logits to the policy, value to the critic."""

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: Tensor) -> Tensor:
        return features[:, :-1]

    def forward_critic(self, features: Tensor) -> Tensor:
        return features[:, -1:]


class ScorerPolicy(MaskableMultiInputActorCriticPolicy):
    """A MaskablePPO policy over `SingleSeat`'s observations.

    Args:
        observation_space: of `SingleSeat`.
        action_space: of `SingleSeat`.
        lr_schedule: learning rate.
        rules: the rules of the environment.
        hidden: widths of the trunk's layers.
        hats: hat functions of each hand.
        kwargs: passed on.

    >>> from ..agents.single_seat import SingleSeat
    >>> rules = CrashRules.preset("online")
    >>> table = SingleSeat(rules, opponents="greedy")
    >>> policy = ScorerPolicy(table.observation_space, table.action_space, lambda _: 1e-3, rules=rules, hidden=(8,))
    >>> policy.scorer.candidate_head.in_features
    8
    """

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Discrete,
        lr_schedule: Schedule,
        *,
        rules: CrashRules,
        hidden: Sequence[int] = (64, 64),
        hats: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            features_extractor_class=_ScorerExtractor,
            features_extractor_kwargs={"rules": rules, "hidden": tuple(hidden), "hats": hats},
            share_features_extractor=True,
            normalize_images=False,
            **kwargs,
        )

    @property
    def scorer(self) -> CandidateScorer:
        """The network inside."""
        extractor = self.features_extractor
        assert isinstance(extractor, _ScorerExtractor)
        return extractor.scorer

    def _build(self, lr_schedule: Schedule) -> None:
        # The scorer has heads of its own, initialised there; nothing is left to build but the optimizer.
        self.mlp_extractor = _Split()  # type: ignore[assignment]
        self.action_net = nn.Identity()
        self.value_net = nn.Identity()  # type: ignore[assignment]
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)  # type: ignore[call-arg]
