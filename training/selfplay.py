"""`prial train selfplay`: a value network that plays against itself, from nothing.

One batch, from top to bottom of `Learner.step`:

1. rounds are dealt afresh, from scores of three kinds, with every course that the exchange can take (`selfplay_deals`);
2. the network says what each undominated arrangement of each seat is worth, and each seat draws one from its policy; some
   seats follow the average of past networks instead (fictitious play);
3. since the deal is known, every arrangement of every seat is settled by the rules against what the others drew, and valued
   by winning chances at the scores that it leads to: the full signal, not that of the one arrangement drawn;
4. exchanges and calls are valued alike: both choices are followed to their end;
5. one gradient step (`update_rules`), and the average moves on.

A batch is a function of the seed, its number and the weights, so that a run that was killed goes on exactly as an unbroken
one. Under ``torchrun`` the tables of a batch are split among the processes and the gradients summed: the same step.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.distributed
from torch import Tensor

from ..agents.value_inputs import CONTEXT_SIZE, contexts_of, places_of
from .run_folder import Checkpoint, Progress, RunFolder
from .selfplay_config import SelfPlayConfig
from .selfplay_deals import Dealer, Deals, draw_rows
from .selfplay_rounds import Choosing, reach_of, said_before
from .selfplay_watch import Watch, check_opponents
from .torch_state import TrainingError, adam_tensors, load_adam, made_device, place_among_processes, process_group
from .trained_files import checkpoint_of_run
from .update_rules import Decisions, loss_of
from .value_net import ValueNet

__all__ = ["Learner", "SelfPlayProgress", "train_selfplay"]

Floats = npt.NDArray[np.float64]
# Branches of the run's seed.
_DEALS, _DRAWS, _WEIGHTS = range(3)
_CHOICE_TEMPERATURE = 0.1
_RAREST = 0.01
_LAST_RATE = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlayProgress:
    """Where a run stands.

    Attributes:
        batch, total: so far and in all.
        seconds, seconds_left: since this process began to train, and to go at this speed.
        decisions_per_second: in this process, of all processes together.
        said: what the newest evaluation found, in words; empty before the first.
    """

    batch: int
    total: int
    seconds: float
    seconds_left: float
    decisions_per_second: float
    said: str


class Learner:
    """The network, its average, and what moves them.

    Args:
        config: what to do.
        rank, processes: which part of each batch is done here, of how many.

    >>> learner = Learner(SelfPlayConfig(tables=8, width=8, hats=4, objective="points"))
    >>> facts = learner.step(0)
    >>> facts["decisions"], facts["loss"] > 0
    (24, True)
    """

    def __init__(self, config: SelfPlayConfig, *, rank: int = 0, processes: int = 1) -> None:
        self.config = config
        self._rank, self._processes = rank, processes
        self.device = made_device(config.device)
        torch.manual_seed(_seed(config, _WEIGHTS))
        settings = config.settings()
        self.net = ValueNet(places_of(settings[0].base), width=config.width, hats=config.hats).to(self.device)
        self.average = copy.deepcopy(self.net)
        self.start = copy.deepcopy(self.net) if config.update == "mirror" else None
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=config.learning_rate)
        self._basis = self.net.basis()
        self._tables = [setting.tables for setting in settings]
        self._dealers = [
            Dealer(
                setting.rules,
                seed=_seed(config, _DEALS, number),
                from_any_score=config.from_any_score,
                from_nil=config.from_nil,
                objective=config.objective,
                base=setting.base,
                threads=config.threads,
            )
            for number, setting in enumerate(settings)
        ]

    def step(self, batch: int) -> dict[str, float]:
        """Learn from a batch; return facts about it: decisions (all processes), loss, gradient norm, entropy, ..."""
        config, progress = self.config, batch / self.config.iterations
        if self.start is not None and batch % config.mirror_every == 0:
            self.start.load_state_dict(self.net.state_dict())

        # 1. Deal.
        dealers, dealt, luck = self._dealt(batch)
        uniform = np.concatenate(luck, axis=1)
        counts = np.concatenate([deals.found.counts for deals in dealt])
        offsets = np.concatenate([[0], np.cumsum(counts)])
        owner = np.repeat(np.arange(len(counts)), counts)
        hands = self._tensor(np.concatenate([self._basis.inputs(deals.found) for deals in dealt]))
        context = self._tensor(np.concatenate([contexts_of(deals.views) for deals in dealt]))
        owners = torch.as_tensor(owner, device=self.device)

        # 2. Value and draw.
        out = self.net.values(hands, context, owners)
        temperature = 1.0
        if config.update == "q":
            temperature = config.temperature * (config.last_temperature / config.temperature) ** progress
        logits = out.detach().cpu().double().numpy() / temperature
        past = uniform[1] < config.past_share
        if past.any():
            logits[past[owner]] = self._past_logits(hands, context, owner, past) / temperature
        drawn, chances = draw_rows(logits, offsets, uniform[0])

        # 3. and 4. Settle everything; exchanges and calls, where there are any, have losses of their own.
        worth, weights, losses = self._settled(dealers, dealt, luck, hands, drawn)

        # 5. Learn.
        decisions = Decisions(
            out=out,
            worth=self._tensor(worth),
            owner=owners,
            weights=self._tensor(weights),
            start=None if self.start is None else self._frozen_values(self.start, hands, context, owners),
        )
        entropy = config.entropy * (1 - 0.9 * progress)
        # A mean over all tables and seats of the batch, whoever does them: gradients of processes add up.
        share = 1.0 / sum(
            total * dealer.rules.players for total, dealer in zip(self._tables, self._dealers, strict=True)
        )
        loss = (loss_of(decisions, config, entropy=entropy) + losses) * share
        norm = self._learn(loss, batch)
        facts = {
            "loss": float(loss.detach()) * self._processes,
            "gradient_norm": norm,
            "entropy": float(-(chances * np.log(np.maximum(chances, 1e-30))).sum() / len(counts)),
            "temperature": temperature,
        }
        if not all(map(math.isfinite, facts.values())):
            raise TrainingError(f"batch {batch}: {facts}: no finite numbers; a smaller learning_rate may help")
        decided = sum(total * of.decisions_a_table for total, of in zip(self._tables, self._dealers, strict=True))
        return {"decisions": decided, **facts}

    # ---- parts of a step ------------------------------------------------------------------------------------------

    def _dealt(self, batch: int) -> tuple[list[Dealer], list[Deals], list[Floats]]:
        """This process's tables of a batch, and their chance: each draws that of the whole batch and keeps its part."""
        chance = np.random.default_rng(np.random.SeedSequence(self.config.seed, spawn_key=(_DRAWS, batch)))
        dealers, dealt, luck = [], [], []
        for dealer, total in zip(self._dealers, self._tables, strict=True):
            part = range(total * self._rank // self._processes, total * (self._rank + 1) // self._processes)
            drawn = chance.random((3, total, dealer.decisions_a_table))[:, part.start : part.stop]
            if part:
                dealers.append(dealer)
                dealt.append(dealer.deal(batch=batch, total=total, tables=part))
                luck.append(drawn.reshape(3, -1))
        if not dealt:
            raise TrainingError(
                f"batch {batch}: process {self._rank} of {self._processes} got no decisions to learn from"
            )
        return dealers, dealt, luck

    def _settled(
        self, dealers: list[Dealer], dealt: list[Deals], luck: list[Floats], hands: Tensor, drawn: npt.NDArray[np.int64]
    ) -> tuple[Floats, Floats, Tensor]:
        """The worth of every arrangement, how much each decision counts, and the losses of exchanges and calls."""
        worth, weights, losses = [], [], torch.zeros((), device=self.device)
        decision, row = 0, 0
        for dealer, deals, lucky in zip(dealers, dealt, luck, strict=True):
            here, rows = slice(decision, decision + len(deals.views)), slice(row, row + len(deals.packed))
            decision, row = here.stop, rows.stop
            drawn_here = drawn[here] - rows.start
            if deals.rules.has_calls:
                settled, loss = self._calls(dealer, deals, hands[rows], drawn_here, lucky[2])
                losses = losses + loss
            else:
                settled = dealer.worth(deals, drawn_here)
            worth.append(settled)
            if deals.choosers is None:
                weights.append(np.ones(len(deals.views)))
            else:
                reached, loss = self._exchanges(deals, settled[drawn_here])
                weights.append(reached)
                losses = losses + loss
        return np.concatenate(worth), np.concatenate(weights), losses

    def _tensor(self, values: npt.NDArray[Any]) -> Tensor:
        return torch.as_tensor(values, dtype=torch.float32, device=self.device)

    def _frozen_values(self, net: ValueNet, hands: Tensor, context: Tensor, owner: Tensor) -> Tensor:
        with torch.no_grad():
            return net.values(hands, context, owner)

    def _past_logits(
        self, hands: Tensor, context: Tensor, owner: npt.NDArray[np.int64], past: npt.NDArray[np.bool_]
    ) -> Floats:
        """What the average of past networks says of the arrangements of some decisions."""
        rows = torch.as_tensor(np.flatnonzero(past[owner]), device=self.device)
        renumbered = torch.as_tensor((np.cumsum(past) - 1)[owner[past[owner]]], device=self.device)
        whose = torch.as_tensor(np.flatnonzero(past), device=self.device)
        said = self._frozen_values(self.average, hands[rows], context[whose], renumbered)
        logits: Floats = said.cpu().double().numpy()
        return logits

    def _exchanges(self, deals: Deals, got: Floats) -> tuple[Floats, Tensor]:
        """How much each arrangement's decision counts, by how likely its course is, and the loss of the exchange."""
        choosing = Choosing.of(deals)
        counts = choosing.found.counts
        hands = self._basis.inputs(choosing.found)
        owner = torch.as_tensor(np.repeat(np.arange(len(counts)), counts), device=self.device)
        values = self._frozen_values(self.net, self._tensor(hands), self._tensor(contexts_of(choosing.kept)), owner)
        best = hands[choosing.found.best_rows(values.cpu().numpy())]
        said = self.net.choice("exchange", self._tensor(best), self._tensor(contexts_of(choosing.views)))
        chance = _chances(said)
        reached, asked, gain = reach_of(deals, chance, got)
        off = said - self._tensor(gain)
        return reached, (self._tensor(asked) * off * off).sum()

    def _calls(
        self,
        dealer: Dealer,
        deals: Deals,
        hands: Tensor,
        drawn: npt.NDArray[np.int64],
        uniform: Floats,
    ) -> tuple[Floats, Tensor]:
        """What arrangements are worth when crashes are called, and the loss of the calls."""
        n = deals.rules.players
        calls = np.full((deals.rounds, n), -1, np.int8)
        turn = np.repeat(deals.turn, len(deals.courses), axis=0)
        laid, said = hands[drawn], []
        contexts = np.empty((len(deals.views), CONTEXT_SIZE), np.float32)
        for place in range(n):
            seats = np.arange(deals.rounds) * n + turn[:, place]
            contexts[seats] = contexts_of(said_before(deals, calls, seats))
            said.append((seats, self.net.choice("call", laid[seats], self._tensor(contexts[seats]))))
            calls[np.arange(deals.rounds), turn[:, place]] = uniform[seats] < _chances(said[-1][1])
        passing, calling = (dealer.worth(deals, drawn, calls, own_call=own) for own in (0, 1))
        gain = calling - passing
        with torch.no_grad():
            owner = np.repeat(np.arange(len(deals.views)), deals.found.counts)
            would = _chances(self.net.choice("call", hands, self._tensor(contexts[owner])))
        loss = torch.zeros((), device=self.device)
        for seats, answer in said:
            off = answer - self._tensor(gain[drawn[seats]])
            loss = loss + (off * off).sum()
        return passing + would * gain, loss / len(deals.courses)

    def _learn(self, loss: Tensor, batch: int) -> float:
        """Take a gradient step; return the norm of the gradient before it was clipped."""
        progress = batch / self.config.iterations
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        parameters = list(self.net.parameters())
        for parameter in parameters:
            if parameter.grad is None:  # a head that these rules do not use
                parameter.grad = torch.zeros_like(parameter)
        if self._processes > 1:
            together = torch.cat([parameter.grad.reshape(-1) for parameter in parameters if parameter.grad is not None])
            torch.distributed.all_reduce(together)
            parts = torch.split(together, [parameter.numel() for parameter in parameters])
            for parameter, part in zip(parameters, parts, strict=True):
                parameter.grad = part.view_as(parameter).clone()
        norm = torch.nn.utils.clip_grad_norm_(parameters, self.config.max_grad_norm)
        rate = _LAST_RATE + (1 - _LAST_RATE) * 0.5 * (1 + math.cos(math.pi * progress))
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.learning_rate * rate
        self.optimizer.step()
        stays = min(self.config.average, batch / (batch + 10))  # at first the average is that of few
        with torch.no_grad():
            for own, new in zip(self.average.parameters(), parameters, strict=True):
                own.lerp_(new, 1 - stays)
        return float(norm)

    # ---- checkpoints ----------------------------------------------------------------------------------------------

    def weights(self) -> dict[str, Tensor]:
        """Return everything that a checkpoint keeps but the optimizer: `net.`, `average.`, `start.`."""
        nets = {"net": self.net, "average": self.average, "start": self.start}
        return {
            f"{part}.{name}": values
            for part, net in nets.items()
            if net is not None
            for name, values in net.state_dict().items()
        }

    def checkpoint(self, batch: int, progress: Progress) -> Checkpoint:
        """Return where the learner stands before a batch."""
        return Checkpoint(step=batch, weights=self.weights(), optimizer=adam_tensors(self.optimizer), state=progress)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back to a checkpoint, as `checkpoint_of_run` returns it."""
        for part, net in (("net", self.net), ("average", self.average), ("start", self.start)):
            if net is not None:
                net.load_state_dict(_part_of(checkpoint.weights, part))
        load_adam(self.optimizer, checkpoint.optimizer)


def _chances(gain: Tensor) -> Floats:
    """How likely an exchange or a call is whose gain is so much: smoothly, and never quite sure."""
    chances: Floats = torch.sigmoid(gain.detach() / _CHOICE_TEMPERATURE).cpu().double().numpy()
    return np.clip(chances, _RAREST, 1 - _RAREST)


def _part_of(weights: Mapping[str, Tensor], part: str) -> dict[str, Tensor]:
    return {name.removeprefix(f"{part}."): values for name, values in weights.items() if name.startswith(f"{part}.")}


def _seed(config: SelfPlayConfig, *branch: int) -> int:
    return int(np.random.SeedSequence(config.seed, spawn_key=branch).generate_state(1, np.uint64)[0] >> np.uint64(1))


def train_selfplay(
    config: SelfPlayConfig,
    folder: str | Path,
    *,
    resume: bool = False,
    progress: Callable[[SelfPlayProgress], None] | None = None,
) -> Path:
    """Train, or go on with a run, until all batches are done; return the run's folder.

    Started by ``torchrun``, every process calls this; the first one writes.

    Args:
        config: what to do. When resuming it must be the run's own.
        folder: of the run.
        resume: go on from the newest checkpoint.
        progress: called now and then, in the first process.

    Raises:
        ConfigFileError, SolverTableError, AgentError: no such device, rules without winning chances, an opponent that cannot
            be made; nothing has been written.
        RunError: the folder holds a run and `resume` is not asked for, or holds none to resume, or a damaged one; nothing
            has been written.
        TrainingError: no decisions arrive, or numbers that are not finite.
    """
    rank, processes = place_among_processes()
    first = rank == 0
    torch.set_num_threads(config.threads)
    check_opponents(config)
    learner = Learner(config, rank=rank, processes=processes)
    run = RunFolder(Path(folder))
    checkpoint = None
    if first and resume:
        run.about()
        checkpoint = checkpoint_of_run(run, config)
    elif first:
        run.start(config.model_dump())
    with run.going() if first else nullcontext(), process_group(processes):
        if processes > 1:
            shared = [checkpoint]
            torch.distributed.broadcast_object_list(shared, src=0)
            checkpoint = shared[0]
        state = Progress()
        if checkpoint is not None:
            learner.restore(checkpoint)
            state = checkpoint.state
        begun_at = 0 if checkpoint is None else checkpoint.step
        with closing(Watch(config, run.tensorboard, at=begun_at)) if first else nullcontext() as watch:
            _train(learner, run, watch, progress, state=state, begun_at=begun_at)
    return run.path


def _train(
    learner: Learner,
    run: RunFolder,
    watch: Watch | None,
    progress: Callable[[SelfPlayProgress], None] | None,
    *,
    state: Progress,
    begun_at: int,
) -> None:
    config = learner.config
    began, decisions, said_at = time.monotonic(), 0.0, 0.0
    facts: list[dict[str, float]] = []
    for batch in range(begun_at, config.iterations):
        facts.append(learner.step(batch))
        decisions += facts[-1]["decisions"]
        done = batch + 1
        seconds = time.monotonic() - began
        if watch is not None:
            due = done % config.evaluate_every == 0 or done == config.iterations or state.evaluated_at is None
            if due:
                watch.evaluate(learner, done)
                state.evaluated_at, state.win_share = done, watch.win_share
                seconds = time.monotonic() - began
            if done % 20 == 0 or due:
                watch.record(facts, done, decisions / seconds)
                facts.clear()
            if progress is not None and (due or seconds - said_at > 1):
                said_at = seconds
                progress(
                    SelfPlayProgress(
                        batch=done,
                        total=config.iterations,
                        seconds=seconds,
                        seconds_left=seconds / (done - begun_at) * (config.iterations - done),
                        decisions_per_second=decisions / seconds,
                        said=watch.said,
                    )
                )
            if done % config.checkpoint_every == 0 or done == config.iterations:
                run.save(learner.checkpoint(done, state))
        else:
            facts.clear()
