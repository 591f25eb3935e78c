"""What a PPO run is made of: one flat, typed, validated value; its fields are the documentation of ``prial train ppo``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ..envs.crash.presets import load_rules
from ..envs.crash.rules import CrashRules
from .config_files import Device, config_key, load_config, validated

if TYPE_CHECKING:
    from .run_folder import RunFolder

__all__ = ["PPOConfig", "config_of", "load_ppo_config"]

_LONGEST = 10**9
Positive = Annotated[int, Field(ge=1, le=_LONGEST)]
Width = Annotated[int, Field(ge=1, le=8192)]
Share = Annotated[float, Field(ge=0, le=1)]


class PPOConfig(BaseModel):
    """A run of MaskablePPO on `SingleSeatVector`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    rules: str = Field("online", description="rule set by name, or the path of a YAML file")
    rule_options: dict[str, Any] = Field(default_factory=dict, description="options set otherwise on top of the rules")
    reward: Literal["win", "points", "chances"] = Field(
        "win",
        description="what is paid: win shares, each round's margin, or how each round changed the chance to win",
    )
    episode: Literal["game", "round"] = Field("game", description="whole games, or single rounds (paid in points)")
    candidates: int = Field(32, ge=1, le=2000, description="how many arrangements a deal offers at most")
    opponents: list[str] = Field(["greedy", "random"], min_length=1, description="fixed members of the opponents' pool")
    seats: Literal["one", "all"] = Field(
        "one",
        description="whose decisions are learned from: one seat's, among opponents of the pool, or all seats', each played "
        "by the learner as it is",
    )
    self_play_share: Share = Field(0.5, description="share of tables whose opponents are past versions of the learner")
    snapshot_every: Positive = Field(25_000, description="steps between two past versions that join the pool")
    pool_size: int = Field(8, ge=1, le=1000, description="how many past versions are kept, the newest")
    hidden: list[Width] = Field([64, 64], min_length=1, max_length=16, description="widths of the network's layers")
    hats: int = Field(
        0,
        ge=0,
        le=128,
        description="hat functions that stand for each hand beside its features, and some for each score; 0 for none",
    )
    envs: int = Field(128, ge=1, le=4096, description="tables played side by side")
    total_steps: Positive = Field(300_000, description="decisions of the learner in all, rounded up to whole updates")
    rollout_steps: int = Field(32, ge=1, le=65_536, description="decisions at each table between two updates")
    batch_size: Positive = Field(1024, description="decisions in a gradient step")
    epochs: int = Field(4, ge=1, le=1000, description="passes over the decisions of an update")
    learning_rate: float = Field(1e-3, gt=0, le=1, description="step size of Adam, falling linearly")
    last_learning_rate: Share = Field(0.1, description="share of `learning_rate` that is left at the end")
    gamma: Share = Field(1.0, description="discount per decision")
    gae_lambda: Share = Field(0.95, description="lambda of generalised advantage estimation")
    clip_range: float = Field(0.2, gt=0, le=1, description="clipping of PPO's ratio")
    entropy: float = Field(0.01, ge=0, le=100, description="weight of the entropy bonus, changing linearly")
    last_entropy: Share = Field(1.0, description="share of `entropy` that is left at the end")
    value_weight: float = Field(0.5, ge=0, le=100, description="weight of the value loss")
    max_grad_norm: float = Field(0.5, gt=0, le=1e6, description="gradient norm at which gradients are clipped")
    evaluate_every: Positive = Field(20_000, description="steps between two evaluations")
    evaluate_games: int = Field(
        600, ge=1, le=1_000_000, description="games of an evaluation against the first fixed opponent"
    )
    checkpoint_every: Positive = Field(10_000, description="steps between two checkpoints")
    seed: int = Field(1, ge=0, lt=2**63, description="of everything drawn in training; evaluation uses another branch")
    device: Device = Field("cpu", description="torch device: auto, cpu, cuda, cuda:N or mps")
    threads: int = Field(1, ge=1, le=1024, description="threads of torch in the learner")

    @field_validator("rule_options")
    @classmethod
    def _plain_options(cls, options: dict[str, Any]) -> dict[str, Any]:
        if "name" in options:
            raise ValueError("'name' is no option")
        return options

    @model_validator(mode="after")
    def _playable(self) -> PPOConfig:
        if self.episode == "round" and self.reward != "points":
            raise ValueError(
                f"reward={self.reward!r} with episode='round': a single round is paid in points (reward='points')"
            )
        rules = self.made_rules()
        if self.seats == "all" and (rules.has_exchange or rules.has_calls):
            raise ValueError("seats='all' with an exchange or with calls: all seats must decide at once")
        product = "envs * rollout_steps" + (" * players" if self.seats == "all" else "")
        if self.decisions < self.batch_size:
            raise ValueError(f"batch_size={self.batch_size} is more than {product} = {self.decisions}")
        if self.batch_size == 1 or self.decisions % self.batch_size == 1:
            raise ValueError(
                f"batch_size={self.batch_size} leaves a gradient step with a single one of the {product} = "
                f"{self.decisions} decisions, which has no spread to normalise by; take another"
            )
        return self

    @property
    def decisions(self) -> int:
        """How many decisions an update learns from."""
        return self.envs * self.rollout_steps * (self.made_rules().players if self.seats == "all" else 1)

    @property
    def key(self) -> str:
        """A short hash of everything but the seed, for the name of a run."""
        return config_key(self)

    def made_rules(self) -> CrashRules:
        """Return the rules that are played."""
        return load_rules(self.rules, **self.rule_options)


def load_ppo_config(source: str | Path, overrides: Mapping[str, Any] | None = None) -> PPOConfig:
    """Return the configuration of a shipped name or a YAML file, with some keys set otherwise.

    Raises:
        ConfigFileError: unreadable, an unknown key (the nearest is named), or a value out of range.

    >>> load_ppo_config("ppo-online", {"seed": 5}).seed
    5
    """
    return load_config(PPOConfig, source, folder="training", overrides=overrides)


def config_of(run: RunFolder) -> PPOConfig:
    """Return the configuration of a run.

    Raises:
        RunError: no run there, an unreadable one, or one of another learner.
        ConfigFileError: a configuration that this version cannot use.
    """
    content = run.config_with("total_steps", of="prial train ppo")
    return validated(PPOConfig, content, where=str(run.path / "run.yaml"))
