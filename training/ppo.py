"""`prial train ppo`: MaskablePPO on `SingleSeatVector`, over candidates, against a pool with past versions of itself.

The run advances in *stretches* of whole updates. Between two stretches a checkpoint is written and every source of chance
(tables, opponents, exploration, minibatches) is seeded afresh from (seed, step). A run that was killed goes on from its last
checkpoint exactly as an unbroken one does from there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import set_random_seed
from torch import Tensor

from ..agents.protocol import Agent, BaseAgent
from ..agents.registry import make
from ..agents.single_seat_vector import SingleSeatVector
from ..agents.solver_table import find_solver_table
from ..envs.crash.rules import CrashRules
from .arena import run_arena
from .past_versions import past_version, torch_agent
from .ppo_config import PPOConfig, config_of
from .ppo_policy import ScorerPolicy
from .ppo_tables import AllSeatsVecEnv
from .run_folder import Checkpoint, Progress, RunError, RunFolder
from .scorer import CandidateScorer
from .single_seat_vec_env import SingleSeatVecEnv
from .torch_state import TrainingError, adam_tensors, check_device, check_finite, load_adam

__all__ = ["PPOProgress", "load_scorer", "train_ppo"]

# Branches of the run's seed.
_TABLES, _OPPONENTS, _EXPLORATION, _EVALUATION, _WEIGHTS = range(5)
_RATIO_TOLERANCE = 1e-3
_EPISODE_FACTS = ("win_share", "points_per_round", "illegal")
_Tables = SingleSeatVecEnv | AllSeatsVecEnv


@dataclass(frozen=True, slots=True, kw_only=True)
class PPOProgress:
    """Where a run stands.

    Attributes:
        step, total: decisions so far and in all.
        seconds: since this process began to train.
        steps_per_second: in this process.
        win_share: of the newest evaluation, None before the first.
        evaluated_at: decisions at that evaluation.
        opponent: whom it played there.
    """

    step: int
    total: int
    seconds: float
    steps_per_second: float
    win_share: float | None
    evaluated_at: int | None
    opponent: str


def _branch(config: PPOConfig, branch: int, step: int) -> int:
    """A seed of its own for each use and stretch, below 2**32 as torch and SB3 want it."""
    return int(np.random.SeedSequence(config.seed, spawn_key=(branch, step)).generate_state(1)[0])


class _Opponents:
    """The pool: fixed agents by name, and past versions."""

    def __init__(self, config: PPOConfig, rules: CrashRules, folder: RunFolder) -> None:
        self._config, self._rules, self._folder = config, rules, folder
        self._fixed: list[Agent] = [make(name) for name in config.opponents]
        self._past: dict[Path, Agent] = {}

    def deal_out(self, tables: _Tables, step: int) -> None:
        """Give every table its opponents for the next update, each drawn from the pool; none where the learner is all."""
        if isinstance(tables, AllSeatsVecEnv):
            return
        config = self._config
        rng = np.random.default_rng(np.random.SeedSequence(config.seed, spawn_key=(_OPPONENTS, step)))
        files = self._folder.past_versions()
        self._past = {file: self._past.get(file) or self._load(file) for file in files}
        past = [self._past[file] for file in files]
        for table in range(config.envs):
            own = bool(past) and rng.random() < config.self_play_share
            pool = past if own else self._fixed
            chosen = [pool[int(rng.integers(len(pool)))] for _ in range(self._rules.players - 1)]
            tables.set_opponents(chosen, [table])

    def _load(self, file: Path) -> Agent:
        return past_version(
            file, network=_network(self._config, self._rules), rules=self._rules, k=self._config.candidates
        )


class _Watch(BaseCallback):
    """Keeps the run honest and talks about it: opponents, ratios, TensorBoard, progress, evaluation."""

    def __init__(
        self, config: PPOConfig, opponents: _Opponents, state: Progress, report: Callable[[float | None], None]
    ):
        super().__init__()
        self._config, self._opponents, self._state, self._report = config, opponents, state, report
        self._facts: dict[str, list[float]] = {name: [] for name in _EPISODE_FACTS}

    def _on_rollout_start(self) -> None:
        check_finite(_scorer(self.model), at=f"decision {self.num_timesteps:,}")  # type: ignore[arg-type]
        self._opponents.deal_out(self.training_env, self.num_timesteps)  # type: ignore[arg-type]

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            if "win_share" in info:
                for name, values in self._facts.items():
                    values.append(float(info[name]))
        return True

    def _on_rollout_end(self) -> None:
        check_ratios(self.model)  # type: ignore[arg-type]
        for name, values in self._facts.items():
            if values:
                self.logger.record(f"rollout/{name}", float(np.mean(values)))
                values.clear()
        due = self._state.evaluated_at is None or (
            self.num_timesteps - self._state.evaluated_at >= self._config.evaluate_every
        )
        if due:
            assert isinstance(self.model, MaskablePPO)
            share, rating = evaluate(_scorer(self.model), self._config, step=self.num_timesteps)
            self._state.evaluated_at, self._state.win_share = self.num_timesteps, share
            self.logger.record(f"evaluation/win_share_vs_{self._config.opponents[0]}", share)
            self.logger.record("evaluation/rating", rating)
        self._report(self._state.win_share)


def check_ratios(model: MaskablePPO) -> None:
    """Check that acting and learning see the same probabilities: before an update every ratio is 1.

    Raises:
        TrainingError: they differ, so a mask or an observation was lost on the way.
    """
    buffer: Any = model.rollout_buffer

    def flat(rows: Any) -> Tensor:
        return torch.as_tensor(rows.reshape(-1, *rows.shape[2:])).to(model.device)

    policy: Any = model.policy
    with torch.no_grad():
        _, now, _ = policy.evaluate_actions(
            {name: flat(rows) for name, rows in buffer.observations.items()},
            flat(buffer.actions).long().flatten(),
            action_masks=flat(buffer.action_masks),
        )
    ratios = torch.exp(now.cpu() - torch.as_tensor(buffer.log_probs.reshape(-1)))
    worst = float((ratios - 1).abs().max())
    if not worst < _RATIO_TOLERANCE:
        raise TrainingError(
            f"acting and learning disagree: a probability ratio is off by {worst:.3g} before the update"
        )


def evaluate(scorer: CandidateScorer, config: PPOConfig, *, step: int) -> tuple[float, float]:
    """Return the win share against the first fixed opponent on every other seat, and the rating that it stands for.

    Deals come from a branch of the seed that training never uses. The rating is in Elo points above that opponent, by
    Plackett and Luce: a share of ``g / (g + n - 1)`` against ``n - 1`` equals stands for a strength ratio of ``g``.

    >>> from .ppo_config import load_ppo_config
    >>> config = load_ppo_config("ppo-online", {"evaluate_games": 12})
    >>> share, rating = evaluate(CandidateScorer(config.made_rules()), config, step=0)
    >>> 0 <= share <= 1
    True
    """
    rules = config.made_rules()
    learner = torch_agent(scorer, name="learner", rules=rules, k=config.candidates)
    seed = _branch(config, _EVALUATION, step)
    result = run_arena(
        [learner, make(config.opponents[0])], rules=rules, games=config.evaluate_games, seed=seed, jobs=1
    )
    share = result.agents[0].win_share.value
    bounded = min(max(share, 1e-3), 1 - 1e-3)
    return share, 400 * math.log10(bounded * (rules.players - 1) / (1 - bounded))


def train_ppo(
    config: PPOConfig,
    folder: str | Path,
    *,
    resume: bool = False,
    progress: Callable[[PPOProgress], None] | None = None,
) -> Path:
    """Train, or go on with a run, until `total_steps`; return the run's folder.

    Args:
        config: what to do. When resuming it must be the run's own.
        folder: of the run.
        resume: go on from the newest checkpoint.
        progress: called after every update's decisions have been made.

    Raises:
        AgentError, ConfigFileError, SolverTableError: an opponent that cannot be made, a device that is not there, rules
            without winning chances (`reward: chances`); nothing has been written.
        RunError: the folder holds a run and `resume` is not asked for, or holds none to resume, or a damaged one; nothing
            has been written.
        TrainingError: acting and learning disagree, or numbers that are not finite.
        ArenaError: an agent fails in an evaluation.
    """
    run, rules = RunFolder(Path(folder)), config.made_rules()
    # What can be refused is refused before anything is written.
    check_device(config.device)
    for opponent in map(make, config.opponents):
        if isinstance(opponent, BaseAgent):
            opponent.check_rules(rules)
    torch.set_num_threads(config.threads)
    checkpoint = None
    if resume:
        run.about()
        checkpoint = run.latest(_network(config, rules).state_dict())
    tables = _tables(config, rules)
    model = _model(config, rules, tables)
    if not resume:
        run.start(config.model_dump())
    with run.going(), closing(tables):
        _train(config, run, progress, tables=tables, model=model, checkpoint=checkpoint)
    return run.path


def _train(
    config: PPOConfig,
    run: RunFolder,
    progress: Callable[[PPOProgress], None] | None,
    *,
    tables: _Tables,
    model: MaskablePPO,
    checkpoint: Checkpoint | None,
) -> None:
    rules = config.made_rules()
    model.set_logger(configure(str(run.tensorboard), ["tensorboard"]))
    state = _restore(model, checkpoint)
    # A run killed between the two may have left a past version that its checkpoint does not know.
    run.drop_past_versions(after=0 if checkpoint is None else checkpoint.step)
    opponents = _Opponents(config, rules, run)
    began, first = time.monotonic(), model.num_timesteps

    def report(win_share: float | None) -> None:
        if progress is not None:
            seconds = time.monotonic() - began
            done = model.num_timesteps
            speed = (done - first) / max(seconds, 1e-9)
            progress(
                PPOProgress(
                    step=done,
                    total=config.total_steps,
                    seconds=seconds,
                    steps_per_second=speed,
                    win_share=win_share,
                    evaluated_at=state.evaluated_at,
                    opponent=config.opponents[0],
                )
            )

    rollout = config.decisions
    stretch = rollout * max(1, config.checkpoint_every // rollout)
    while model.num_timesteps < config.total_steps:
        step = model.num_timesteps
        opponents.deal_out(tables, step)  # before the reset below, in which they may have to act first
        _reseed(model, tables, config, step)
        model.learn(
            total_timesteps=min(stretch, config.total_steps - step),
            callback=_Watch(config, opponents, state, report),
            log_interval=1,
            reset_num_timesteps=False,
        )
        check_finite(_scorer(model), at=f"decision {model.num_timesteps:,}")  # never kept as a checkpoint
        model.logger.dump(model.num_timesteps)  # what the last update learned; SB3 writes it with the next one
        state.updates = model._n_updates
        if config.seats == "one" and model.num_timesteps - state.snapshot_at >= config.snapshot_every:
            run.add_past_version(model.num_timesteps, _scorer(model).state_dict(), keep=config.pool_size)
            state.snapshot_at = model.num_timesteps
        run.save(_checkpoint(model, state))


def _tables(config: PPOConfig, rules: CrashRules) -> _Tables:
    equity = find_solver_table(rules).equity if config.reward == "chances" else None
    options: dict[str, Any] = {
        "k": config.candidates,
        "reward": "points" if config.reward == "points" else "win",
        "episode": config.episode,
        "threads": config.threads,
    }
    if config.seats == "all":
        return AllSeatsVecEnv(config.envs, rules, equity=equity, **options)
    tables = SingleSeatVector(config.envs, rules, opponents=config.opponents[:1], **options)
    return SingleSeatVecEnv(tables, equity=equity)


def _model(config: PPOConfig, rules: CrashRules, tables: _Tables) -> MaskablePPO:
    return MaskablePPO(
        ScorerPolicy,
        tables,
        n_steps=config.rollout_steps,
        batch_size=config.batch_size,
        n_epochs=config.epochs,
        # Progress as SB3 counts it is of the stretch; the run's own is set by `_reseed`.
        learning_rate=config.learning_rate,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.entropy,
        vf_coef=config.value_weight,
        max_grad_norm=config.max_grad_norm,
        policy_kwargs={"rules": rules, "hidden": tuple(config.hidden), "hats": config.hats},
        seed=_branch(config, _WEIGHTS, 0),
        device=config.device,
    )


def _reseed(model: MaskablePPO, tables: _Tables, config: PPOConfig, step: int) -> None:
    """Begin a stretch: new games at every table, fresh chance, learning rate and entropy for this part of the run."""
    set_random_seed(_branch(config, _EXPLORATION, step))
    tables.seed(_branch(config, _TABLES, step))
    model._last_obs = tables.reset()  # type: ignore[assignment]
    model._last_episode_starts = np.ones(tables.num_envs, dtype=bool)
    passed = step / config.total_steps
    rate = config.learning_rate * (1 - (1 - config.last_learning_rate) * passed)
    model.lr_schedule = lambda _: rate
    model.ent_coef = config.entropy * (1 - (1 - config.last_entropy) * passed)


def _network(config: PPOConfig, rules: CrashRules) -> CandidateScorer:
    return CandidateScorer(rules, config.hidden, hats=config.hats)


def _scorer(model: MaskablePPO) -> CandidateScorer:
    assert isinstance(model.policy, ScorerPolicy)
    return model.policy.scorer


def _checkpoint(model: MaskablePPO, state: Progress) -> Checkpoint:
    return Checkpoint(
        step=model.num_timesteps,
        weights=_scorer(model).state_dict(),
        optimizer=adam_tensors(model.policy.optimizer),
        state=replace(state),
    )


def _restore(model: MaskablePPO, checkpoint: Checkpoint | None) -> Progress:
    if checkpoint is None:
        return Progress()
    _scorer(model).load_state_dict(checkpoint.weights)
    load_adam(model.policy.optimizer, checkpoint.optimizer)
    model.num_timesteps = checkpoint.step
    model._n_updates = checkpoint.state.updates
    return checkpoint.state


def load_scorer(folder: str | Path) -> tuple[CandidateScorer, PPOConfig, int]:
    """Return the newest network of a run, its configuration, and its step.

    Raises:
        RunError: no run, no checkpoint yet, or a damaged one.
        ConfigFileError: a configuration that this version cannot read.
    """
    run = RunFolder(Path(folder))
    config = config_of(run)
    scorer = _network(config, config.made_rules())
    checkpoint = run.latest(scorer.state_dict())
    if checkpoint is None:
        raise RunError(f"the run in {str(run.path)!r} has no checkpoint yet")
    scorer.load_state_dict(checkpoint.weights)
    return scorer.eval(), config, checkpoint.step
