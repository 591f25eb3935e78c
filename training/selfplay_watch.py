"""What a self-play run shows of itself: TensorBoard, evaluations against fixed opponents, how far it can be exploited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor
from torch.utils.tensorboard import SummaryWriter

from ..agents.protocol import BaseAgent
from ..agents.registry import make
from ..agents.solver_table import SolverTableError
from ..agents.trained import Trained
from ..envs.crash.rules import CrashRules
from .arena import run_arena
from .exploit import run_exploit
from .selfplay_config import SelfPlayConfig
from .selfplay_deals import Dealer
from .value_net import numpy_network

if TYPE_CHECKING:
    from .selfplay import Learner

__all__ = ["Watch", "agent_of", "agreement", "check_opponents"]

_EVALUATION = 0x45564131  # keeps what is met in evaluations apart from all other uses of the seed
_AGREEMENT_TABLES = 300


def agent_of(weights: Mapping[str, Tensor], rules: Sequence[CrashRules], *, name: str = "learner") -> Trained:
    """Return the agent that plays a network."""
    return Trained(numpy_network(weights), rules, name=name)


def agreement(agent: Trained, rules: CrashRules, *, seed: int) -> float | None:
    """Return how often an agent lays what `solver-fast` lays, where there is a choice; None if that has no table.

    >>> rules = CrashRules.preset("online")
    >>> from .value_net import ValueNet
    >>> raw = ValueNet(np.zeros((4, 743), np.float32), width=8, hats=3).state_dict()
    >>> 0 < agreement(agent_of(raw, [rules]), rules, seed=1) < 1
    True
    """
    solver = make("solver-fast")
    try:
        solver.check_rules(rules)  # type: ignore[attr-defined]  # it is a BaseAgent
    except SolverTableError:
        return None
    dealer = Dealer(rules, seed=seed, from_any_score=0.5, from_nil=0.5, objective="points")
    views = dealer.deal(batch=0, total=_AGREEMENT_TABLES, tables=range(_AGREEMENT_TABLES)).views
    rng = np.random.default_rng(0)
    choice = views.undominated().counts > 1
    same = agent.act_many(views, rng) == solver.act_many(views, rng)
    return float(same[choice].mean())


def check_opponents(config: SelfPlayConfig) -> None:
    """Refuse opponents that cannot be made, or do not play the rules, before anything is learned.

    Raises:
        ValueError: of the opponent's own kind, such as `AgentError`; the message says what is wrong.
    """
    for opponent in map(make, config.opponents):
        for rules in config.made_rules():
            if isinstance(opponent, BaseAgent):
                opponent.check_rules(rules)


class Watch:
    """Evaluates and records.

    Args:
        config: of the run.
        folder: TensorBoard's.
        at: batch at which the run goes on; what was written for later ones is dropped.
    """

    def __init__(self, config: SelfPlayConfig, folder: Path, *, at: int) -> None:
        self._config = config
        self._writer = SummaryWriter(str(folder), purge_step=at, flush_secs=10)
        self.said = ""
        self.win_share: float | None = None

    def record(self, facts: Sequence[Mapping[str, float]], batch: int, decisions_per_second: float) -> None:
        """Write the means of what some batches came to."""
        for name in facts[0]:
            if name != "decisions":
                self._writer.add_scalar(f"training/{name}", float(np.mean([of[name] for of in facts])), batch)
        self._writer.add_scalar("training/decisions_per_second", decisions_per_second, batch)

    def evaluate(self, learner: Learner, batch: int) -> None:
        """Measure the average network and the last one, on deals of a branch of the seed that training never uses."""
        config = self._config
        seed = int(np.random.SeedSequence(config.seed, spawn_key=(_EVALUATION, batch)).generate_state(1)[0])
        every = [setting.rules for setting in config.settings()]
        found: list[str] = []
        for kind, net in (("average", learner.average), ("last", learner.net)):
            agent = agent_of(net.state_dict(), every)
            for rules in config.made_rules():
                where = f"{kind}/{rules.players}"
                for opponent in config.opponents:
                    players = [agent, make(opponent)]
                    score = run_arena(players, rules=rules, games=config.evaluate_games, seed=seed, jobs=1).agents[0]
                    self._writer.add_scalar(f"{where}/win_share_vs_{opponent}", score.win_share.value, batch)
                    if kind == "average" and rules.players == config.players[0]:
                        self.win_share = score.win_share.value
                        found.append(f"{score.win_share.value:.1%} against {opponent}")
                same = agreement(agent, rules, seed=seed)
                if same is not None:
                    self._writer.add_scalar(f"{where}/agreement_with_solver-fast", same, batch)
                if config.exploit_deals:
                    gain = self._exploited(agent, rules, seed)
                    self._writer.add_scalar(f"{where}/exploitability_points", gain, batch)
                    if kind == "average" and rules.players == config.players[0]:
                        found.append(f"exploited by {gain:.4f} points")
        self.said = f"{config.players[0]} players: {', '.join(found)} at {batch:,}" if found else ""
        self._writer.flush()

    def _exploited(self, agent: Trained, rules: CrashRules, seed: int) -> float:
        deals = self._config.exploit_deals
        found = run_exploit(agent, rules, deals=deals, measures=["points"], worlds=96, seed=seed)
        return found.measured["points"].gain.value

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()
