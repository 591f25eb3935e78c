"""What a self-play run is made of: one flat, typed, validated value; its fields are the documentation of the command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..envs.crash.presets import load_rules
from ..envs.crash.rules import CrashRules
from .config_files import Device, config_key, load_config

__all__ = ["SelfPlayConfig", "Setting", "UpdateRule", "load_selfplay_config"]

UpdateRule = Literal["q", "policy-gradient", "neurd", "mirror"]
Positive = Annotated[int, Field(ge=1, le=10**9)]
Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, le=1e3)]
Warmth = Annotated[float, Field(gt=0, le=1e3)]
Rate = Annotated[float, Field(gt=0, le=1)]


class SelfPlayConfig(BaseModel):
    """A run of self-play."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    rules: str = Field("online", description="rule set by name, or the path of a YAML file")
    rule_options: dict[str, Any] = Field(default_factory=dict, description="options set otherwise on top of the rules")
    players: list[int] = Field([3], min_length=1, description="numbers of players; one network plays them all")
    shares: list[Annotated[float, Field(gt=0, le=1e6)]] = Field(
        default_factory=list, description="share of the tables for each number of players; even if empty"
    )
    variants: list[dict[str, Any]] = Field(
        default_factory=list, description="options set otherwise at some of the tables, such as {quads_bonus: 1}"
    )
    variant_share: Share = Field(0.3, description="share of the tables that play a variant, if there are any")
    objective: Literal["win", "points"] = Field("win", description="win shares by match equity, or each round's margin")
    update: UpdateRule = Field(
        "q", description="q (values, soft best response), policy-gradient, neurd, or mirror (magnetic mirror descent)"
    )
    width: int = Field(96, ge=1, le=1024, description="width of the network's layers")
    hats: int = Field(16, ge=2, le=128, description="hat functions that stand for a hand")
    iterations: Positive = Field(6000, description="batches in all; one gradient step each")
    tables: int = Field(1024, ge=1, le=1_000_000, description="rounds dealt afresh in a batch, over all processes")
    from_any_score: Share = Field(0.3, description="share of the rounds whose scores are drawn from all there are")
    from_nil: Share = Field(0.2, description="share of the rounds from nil all; the rest as they arise in play")
    temperature: Warmth = Field(0.3, description="of the policy at the start, in points; q only")
    last_temperature: Warmth = Field(0.02, description="of the policy at the end; q only")
    focus: Weight = Field(
        1.0, description="how far below the best an arrangement counts in the regression, in points; 0 for all alike"
    )
    entropy: Weight = Field(0.01, description="weight of the entropy (all but q), falling to a tenth")
    neurd_bound: Weight = Field(4.0, description="logits beyond which neurd pushes no further")
    step_size: Annotated[float, Field(gt=0, le=1e6)] = Field(
        2.0, description="of a mirror step: 1 / weight of the KL divergence from the policy that it starts from"
    )
    mirror_every: Positive = Field(20, description="batches of a mirror step")
    past_share: Share = Field(0.2, description="share of the seats that play the average of past networks")
    average: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.998, description="how much of the average of past networks stays at each batch"
    )
    learning_rate: Rate = Field(2e-3, description="step size of Adam, falling to a fiftieth as a cosine does")
    max_grad_norm: Annotated[float, Field(gt=0, le=1e6)] = Field(
        10.0, description="norm at which gradients are clipped"
    )
    evaluate_every: Positive = Field(500, description="batches between two evaluations")
    evaluate_games: Positive = Field(600, description="games against each opponent in an evaluation")
    exploit_deals: int = Field(
        150, ge=0, le=10**6, description="rounds of the quick exploitability estimate; 0 for none"
    )
    opponents: list[str] = Field(
        ["greedy", "percentile", "solver-fast"], description="who is met in an evaluation, on every other seat"
    )
    checkpoint_every: Positive = Field(200, description="batches between two checkpoints")
    seed: int = Field(1, ge=0, lt=2**63, description="of everything drawn in training; evaluation uses another branch")
    device: Device = Field("auto", description="torch device: auto, cpu, cuda, cuda:N or mps")
    threads: int = Field(1, ge=1, le=1024, description="threads of torch and of the engine in each process")

    @model_validator(mode="after")
    def _playable(self) -> SelfPlayConfig:
        if "players" in self.rule_options or "name" in self.rule_options:
            raise ValueError("rule_options: 'players' and 'name' are not set here")
        if self.from_any_score + self.from_nil > 1:
            raise ValueError("from_any_score and from_nil add up to more than 1")
        if self.shares and len(self.shares) != len(self.players):
            raise ValueError(f"shares={self.shares}: expected one above 0 for each of players={self.players}")
        if len(set(self.players)) != len(self.players):
            raise ValueError(f"players={self.players}: each number once")
        if self.tables < len(self.players):
            raise ValueError(f"tables={self.tables}: fewer than numbers of players")
        for variant in self.variants:
            if "players" in variant or "name" in variant:
                raise ValueError(f"variants: 'players' and 'name' are not set here, as in {variant}")
        played = [setting.rules for setting in self.settings()]
        for rules in self.made_rules():
            if rules not in played:
                raise ValueError(
                    f"of tables={self.tables} none plays players={rules.players} without a variant; "
                    "take more tables, other shares or a smaller variant_share"
                )
        return self

    @property
    def key(self) -> str:
        """A short hash of everything but the seed, for the name of a run."""
        return config_key(self)

    def made_rules(self) -> tuple[CrashRules, ...]:
        """Return the rules for each number of players, variants left out."""
        return tuple(load_rules(self.rules, players=players, **self.rule_options) for players in self.players)

    def settings(self) -> tuple[Setting, ...]:
        """Return what is played, with the tables of a batch that play it.

        >>> made = SelfPlayConfig(players=[2, 3], tables=20, shares=[1.0, 4.0], variants=[{"quads_bonus": 0}])
        >>> [(setting.rules.players, setting.rules.quads_bonus, setting.tables) for setting in made.settings()]
        [(2, 1, 3), (2, 0, 1), (3, 1, 11), (3, 0, 5)]
        """
        shares = self.shares or [1.0] * len(self.players)
        found: list[tuple[CrashRules, CrashRules, float]] = []
        for base, share in zip(self.made_rules(), shares, strict=True):
            rest = self.variant_share if self.variants else 0.0
            found.append((base, base, share * (1 - rest)))
            for variant in self.variants:
                options = {**self.rule_options, **variant}
                rules = load_rules(self.rules, players=base.players, **options)
                found.append((rules, base, share * rest / len(self.variants)))
        ends = np.cumsum([share for _, _, share in found])
        bounds = np.round(self.tables * np.concatenate([[0.0], ends]) / ends[-1]).astype(int)
        return tuple(
            Setting(rules=rules, base=base, tables=int(tables))
            for (rules, base, _), tables in zip(found, np.diff(bounds), strict=True)
            if tables > 0
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Rules that are played in a batch.

    Attributes:
        rules: the rules.
        base: the rules without the variant, whose winning chances stand in where the rules have none.
        tables: of a batch.
    """

    rules: CrashRules
    base: CrashRules
    tables: int


def load_selfplay_config(source: str | Path, overrides: Mapping[str, Any] | None = None) -> SelfPlayConfig:
    """Return the configuration of a shipped name or a YAML file, with some keys set otherwise.

    Raises:
        ConfigFileError: unreadable, an unknown key (the nearest is named), or a value out of range.

    >>> load_selfplay_config("online", {"seed": 5}).seed
    5
    """
    return load_config(SelfPlayConfig, source, folder="selfplay", overrides=overrides)
