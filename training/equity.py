"""Making tables of winning chances by score: an agent's rounds against itself, and the shares that fit them all.

From every score the same deals are played, by the agent in every seat. What a round leads to gives the chance of each next
score; a share is the mean of the shares to which its rounds lead. The equations are solved by iteration: scores hardly
ever stay as they are, so that it settles within a few rounds' worth of steps. Seats with equal scores are averaged, where
turn order does not count; there every deal is played with the scores in every rotation, so that luck with cards cancels
(for the same time the variance is 1.3 to 1.7 times smaller, with 2 to 4 players of `online`).

**Errors.** Deals are played in batches. The error of the solution follows from how much the mean outcome of a batch differs
from the solution, carried through the same equations (the delta method). All scores share their deals: neighbouring shares
err alike, and their differences are better known than the shares.

**Many scores.** Where there are more than `max_asked`, the agent is asked at some of them only: scores are rounded to
levels, close together near the target. A round at another score is settled, by the rules, from that score itself; only what
is laid, exchanged and called is taken from the nearest score asked for, on the same deal. How much that changes is measured
at scores that were left out: see `made["held_out"]`.

**Many deals.** Most of what is laid does not depend on the score. With `coarse_rounds` more deals are played, with decisions
asked for at `coarse_asked` scores only, and the rounds from every score are taken as the difference to those, on the same
deals. The figures are those of the agent, whatever the coarse scores are; the closer, the smaller the error.

Source: Giles, "Multilevel Monte Carlo path simulation", 2008 (two levels).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.answers import ask
from ..agents.equity_table import EquityTable, dealer_matters, round_states, state_and_place
from ..agents.protocol import Agent, BaseAgent
from ..agents.registry import make
from ..envs.crash.rules import CrashRules
from ..envs.crash.searches import Searches
from ..envs.crash.vector import CrashVectorEnv
from .match import Tick
from .workers import Spread, spread

__all__ = ["COARSE_TIMES", "MOST_ASKED", "EquitySetupError", "equity_command", "score_levels", "solve_equity"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_ASKED, COARSE_TIMES = 500, 8
"""Scores at which it is usual to ask, and how many times their deals to play with few (`coarse_rounds`)."""

_BATCHES = 20  # for the errors
_TABLES = 40_000  # played at once
_ROOM = 20_000_000  # steps carried at once
_EXACT = 1e-12  # change of a share at which the iteration ends
_FEWEST_ASKED = 20  # scores for many deals
_HELD_OUT = 24  # scores that were not asked for, looked at
_AGENT_BRANCH = 0x45515549  # keeps the agent's chance apart from any other branch of the same seed


class EquitySetupError(ValueError):
    """A table that cannot be made."""


def equity_command(
    agent: str, rules: CrashRules, *, rounds: int, seed: int, base: str = "online", settings: Iterable[str] = ()
) -> str:
    """Return the command that makes a table.

    >>> equity_command("percentile", CrashRules.preset("online"), rounds=1000, seed=1)
    'prial tables equity --agent percentile --rules online --players 3 --rounds 1000 --seed 1'
    """
    extra = "".join(f" --set {setting}" for setting in settings)
    return (
        f"prial tables equity --agent {agent} --rules {rules.name or base} --players {rules.players}{extra} "
        f"--rounds {rounds} --seed {seed}"
    )


def score_levels(players: int, target: int, *, ordered: bool, most: int) -> npt.NDArray[np.int32]:
    """Return the score whose decisions stand for each score: int32 (target,), itself where there is room for all.

    Levels are spaced evenly in the logarithm of the points that are missing.

    Args:
        players, target, ordered: as for `round_states`.
        most: how many states may be asked for.

    >>> score_levels(3, 7, ordered=False, most=100).tolist(), score_levels(3, 7, ordered=False, most=20).tolist()
    ([0, 1, 2, 3, 4, 5, 6], [0, 0, 3, 3, 3, 5, 6])
    """
    missing = levels = np.arange(target, 0, -1, dtype=np.float64)
    for count in range(target, 0, -1):
        if count < target:
            levels = np.unique(np.round(np.geomspace(1, target, count)))
        states = len(levels) ** players if ordered else math.comb(len(levels) + players - 1, players)
        if states <= most:
            break
    nearest = levels[np.abs(np.log(missing[:, None] / levels)).argmin(axis=1)]
    scores: npt.NDArray[np.int32] = (target - nearest).astype(np.int32)
    return scores


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Plan:
    """What is to be played, small enough to send to workers.

    Attributes:
        asked: number of the state whose decisions are taken, int64 (states,).
        deals: in each batch.
        coarse: likewise `asked`, for the deals of which there are many.
        coarse_deals: in each batch; 0 for none.
    """

    rules: CrashRules
    agent: str
    seed: int
    asked: Ints
    deals: int
    coarse: Ints
    coarse_deals: int

    @property
    def turns(self) -> int:
        """How many rotations of the scores play each deal."""
        return 1 if dealer_matters(self.rules) else self.rules.players

    @property
    def states(self) -> npt.NDArray[np.int32]:
        return round_states(self.rules.players, self.rules.target, ordered=dealer_matters(self.rules))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Flow:
    """Where rounds lead: `counts` of steps from cell `key // cells` to cell ``key % cells``, and shares won at once."""

    keys: Ints
    counts: Floats
    won: Floats

    def times(self, factor: float) -> _Flow:
        """Return the flow of so many times the rounds."""
        return _Flow(keys=self.keys, counts=factor * self.counts, won=factor * self.won)

    @classmethod
    def joined(cls, flows: Iterable[_Flow]) -> _Flow:
        parts = list(flows)
        keys, where = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
        counts = np.bincount(where, np.concatenate([part.counts for part in parts]), len(keys)).astype(np.float64)
        return cls(keys=keys, counts=counts, won=np.sum([part.won for part in parts], axis=0))


def solve_equity(
    agent: str | Path | Agent,
    rules: CrashRules,
    *,
    rounds_per_state: int = 4000,
    seed: int = 1,
    jobs: int = 1,
    workers: Spread | None = None,
    max_asked: int = 4096,
    coarse_rounds: int = 0,
    coarse_asked: int | None = None,
    command: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> EquityTable:
    """Return the winning chances by score where an agent plays all seats.

    Args:
        agent: by name, as `prial.agents.make` takes it, or as an object, which plays in this process.
        rules: the rules.
        rounds_per_state: deals from every score, rounded up to whole batches.
        seed: of the deals and of the agent's chance.
        jobs: processes; the table does not depend on it.
        workers: where batches are played, such as on a cluster (`prial.training.ray_workers`); processes here if None.
        max_asked: at most so many scores at which the agent is asked.
        coarse_rounds: further deals from every score, for which the agent is asked at few scores; rounded up, too.
        coarse_asked: at so many at most; a quarter of the others, but 20, if None.
        command: that made the table, for its file.
        progress: called with the batches played and to be played.

    Raises:
        AgentError: an agent that cannot be made.
        EquitySetupError: numbers out of range.

    >>> table = solve_equity("greedy", CrashRules(players=2, target=1), rounds_per_state=40)
    >>> table.shares.tolist()
    [[0.5], [0.5]]
    """
    ordered = dealer_matters(rules)
    states = round_states(rules.players, rules.target, ordered=ordered)
    if coarse_asked is None:
        coarse_asked = max(_FEWEST_ASKED, min(len(states), max_asked) // 4)
    numbers = {"rounds": rounds_per_state, "jobs": jobs, "max_asked": max_asked, "coarse_asked": coarse_asked}
    for name, number in numbers.items():
        if number < 1:
            raise EquitySetupError(f"{name}={number!r}: expected 1 or more")
    if coarse_rounds < 0:
        raise EquitySetupError(f"coarse_rounds={coarse_rounds!r}: expected 0 or more")
    player = make(agent) if isinstance(agent, str | Path) else agent
    if isinstance(player, BaseAgent):
        player.check_rules(rules)
    levels, coarse = (
        score_levels(rules.players, rules.target, ordered=ordered, most=most) for most in (max_asked, coarse_asked)
    )
    plan = _Plan(
        rules=rules,
        agent=str(agent) if isinstance(agent, str | Path) else player.name,
        seed=seed,
        asked=_state_numbers(states, levels[states], rules.target),
        deals=-(-rounds_per_state // _BATCHES),
        coarse=_state_numbers(states, coarse[states], rules.target),
        coarse_deals=-(-coarse_rounds // _BATCHES),
    )
    report = progress or (lambda done, total: None)  # noqa: ARG005
    spread_out = isinstance(agent, str | Path) and (jobs > 1 or workers is not None)
    pieces = (
        (workers or spread)(
            _batch,
            plan,
            _BATCHES,
            make_state=_made_agent,
            jobs=min(jobs, _BATCHES),
            progress=lambda done: report(done, _BATCHES),
        )
        if spread_out
        else _in_this_process(plan, player, report)
    )
    flows = [flow for _, flow in sorted(pieces, key=lambda piece: piece[0])]
    rows = _cells(states, states, ordered=ordered)
    weights = np.bincount(rows.reshape(-1), minlength=states.size).astype(np.float64) * plan.deals * plan.turns
    values, errors = _solved(flows, weights)
    shares = values[rows].T
    asked = np.unique(plan.asked)
    made = {
        "command": command,
        "agent": plan.agent,
        "rounds": plan.deals * _BATCHES,
        "coarse_rounds": plan.coarse_deals * _BATCHES,
        "seed": seed,
        "states": len(states),
        "asked": len(asked),
        "prial": metadata.version("prial"),
        "numpy": np.__version__,
    }
    if len(asked) < len(states):
        made["held_out"] = _held_out(plan, player, EquityTable.known(rules, shares))
    return EquityTable.known(rules, shares, errors=errors[rows].T, made=made)


def _state_numbers(states: npt.NDArray[np.int32], scores: npt.NDArray[np.integer[Any]], target: int) -> Ints:
    """Return the numbers of states given as rows of their own form."""
    weights = target ** np.arange(states.shape[1] - 1, -1, -1)
    numbers: Ints = np.searchsorted(states @ weights, scores @ weights).astype(np.int64)
    return numbers


def _made_agent(plan: _Plan) -> Agent:
    return make(plan.agent)


def _in_this_process(plan: _Plan, agent: Agent, report: Callable[[int, int], None]) -> Iterator[tuple[int, _Flow]]:
    for number in range(_BATCHES):
        yield number, _batch(plan, agent, number, lambda _: None)
        report(number + 1, _BATCHES)


def _batch(plan: _Plan, agent: Agent, number: int, tick: Tick) -> _Flow:
    """Play one batch of deals from every state."""
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(_AGENT_BRANCH, number)))
    deals = np.arange(number * plan.deals, (number + 1) * plan.deals)
    flow = _flow(plan, agent, plan.asked, deals, rng, tick)
    if plan.coarse_deals:
        first = _BATCHES * plan.deals + number * plan.coarse_deals
        more = np.arange(first, first + plan.coarse_deals)
        same, many = (_flow(plan, agent, plan.coarse, some, rng, tick) for some in (deals, more))
        flow = _Flow.joined([flow, same.times(-1.0), many.times(plan.deals / plan.coarse_deals)])
    tick(1)
    return flow


def _flow(plan: _Plan, agent: Agent, asked: Ints, deals: Ints, rng: np.random.Generator, tick: Tick) -> _Flow:
    """Play deals from every state, with the decisions of the states `asked`."""
    states, ordered = plan.states, dealer_matters(plan.rules)
    rows = _cells(states, states, ordered=ordered)
    seated = np.concatenate([np.roll(states, turn, axis=1) for turn in range(plan.turns)])
    cells = np.concatenate([np.roll(rows, turn, axis=1) for turn in range(plan.turns)])
    turned = np.concatenate([asked + turn * len(states) for turn in range(plan.turns)])
    at_once = max(1, _TABLES // len(seated))
    flows = []
    for start in range(0, len(deals), at_once):
        tick(0)
        some = deals[start : start + at_once]
        ended, scores, shares = _rounds(plan.rules, agent, seated, turned, some, seed=plan.seed, rng=rng)
        where = np.repeat(cells, len(some), axis=0)
        won = np.bincount(where[ended].reshape(-1), shares[ended].reshape(-1), states.size).astype(np.float64)
        steps = where[~ended].astype(np.int64) * states.size + _next_cells(states, scores[~ended], ordered=ordered)
        keys, counts = np.unique(steps, return_counts=True)
        flows.append(_Flow(keys=keys, counts=counts.astype(np.float64), won=won))
    return _Flow.joined(flows)


def _rounds(
    rules: CrashRules,
    agent: Agent,
    states: npt.NDArray[np.int32],
    asked: Ints,
    deals: Ints,
    *,
    seed: int,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int32], Floats]:
    """Play every deal from every state, deals fastest; return whether that ended the game, the scores and the shares.

    Args:
        rules, agent, seed, rng: who plays what.
        states: scores by seat, (states, players); the last seat deals where turn order counts.
        asked: number of the state whose decisions each state takes.
        deals: numbers of the tables in the stream of deals.
    """
    n, count = rules.players, len(states)
    env = CrashVectorEnv(
        count * len(deals),
        rules,
        seed=seed,
        tables=np.tile(deals, count),
        episode="round",
        scores=np.repeat(states, len(deals), axis=0),
        dealer=n - 1 if dealer_matters(rules) else None,
        autoreset=False,
        threads=1,
    )
    asking = np.zeros((count, len(deals), n), np.bool_)
    asking[np.unique(asked)] = True
    searches = Searches(rules)
    ended = np.zeros(env.num_envs, np.bool_)
    scores, shares = np.zeros((env.num_envs, n), np.int32), np.zeros((env.num_envs, n))
    while (pending := env.pending).any():
        tables, seats = np.nonzero(pending & asking.reshape(-1, n))
        actions = np.full((env.num_envs, n), -1, np.int32)
        actions[tables, seats] = ask(agent, env.views_at(tables, seats).sharing(searches), rng)
        outcome = env.step(actions.reshape(count, len(deals), n)[asked].reshape(-1, n))
        done = outcome.round_ended
        scores[done], shares[done] = outcome.scores[done], outcome.win_shares[done]
        ended |= done & (outcome.win_shares.sum(axis=1) > 0)
    return ended, scores, shares


def _cells(states: npt.NDArray[np.int32], scores: npt.NDArray[np.integer[Any]], *, ordered: bool) -> Ints:
    """Return the cell of each seat, (m, players): place times states plus state; equal scores share one without order."""
    n = scores.shape[1]
    if ordered:
        number = _state_numbers(states, scores, int(states.max()) + 1)
        cells: Ints = number[:, None] + np.arange(n) * len(states)
        return cells
    found = [state_and_place(states, np.roll(scores, -seat, axis=1)) for seat in range(n)]
    return np.stack([place * len(states) + state for state, place in found], axis=1).astype(np.int64)


def _next_cells(states: npt.NDArray[np.int32], scores: npt.NDArray[np.integer[Any]], *, ordered: bool) -> Ints:
    """Return the cell of each seat at the start of the next round."""
    if not ordered:
        return _cells(states, scores, ordered=False)
    # The deal passes to the left: who was first in turn order deals, and everyone else moves up.
    return np.roll(_cells(states, np.roll(scores, -1, axis=1), ordered=True), 1, axis=1)


def _solved(flows: list[_Flow], weights: Floats) -> tuple[Floats, Floats]:
    """Return the shares of all cells that fit the flows, and their standard errors.

    Args:
        flows: one a batch.
        weights: rounds of each cell in a batch; 0 where it shares another cell.
    """
    cells = len(weights)
    whole = _Flow.joined(flows)
    known = np.where(weights > 0, weights, 1.0)
    chances = whole.counts / (known[whole.keys // cells] * len(flows))
    values = _iterated(whole.keys, chances, (whole.won / (known * len(flows)))[:, None])[:, 0]
    surprises = np.empty((cells, len(flows)))
    for number, flow in enumerate(flows):
        led = np.bincount(flow.keys // cells, flow.counts * values[flow.keys % cells], cells)
        surprises[:, number] = (led + flow.won) / known - np.where(weights > 0, values, 0.0)
    at_once = max(1, _ROOM // max(1, len(whole.keys)))
    parts = [surprises[:, first : first + at_once] for first in range(0, len(flows), at_once)]
    carried = np.concatenate([_iterated(whole.keys, chances, part) for part in parts], axis=1)
    return values, carried.std(axis=1, ddof=1) / math.sqrt(len(flows))


def _iterated(keys: Ints, chances: Floats, sources: Floats) -> Floats:
    """Return the solution of ``x = T x + sources``, (cells, k), for the steps `keys` with their chances."""
    cells = len(sources)
    rows, columns = keys // cells, keys % cells
    starts = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]])) if len(keys) else rows
    values = sources.copy()
    while len(keys):
        new = sources.copy()
        new[rows[starts]] += np.add.reduceat(chances[:, None] * values[columns], starts, axis=0)
        change = float(np.abs(new - values).max())
        values = new
        if change < _EXACT:
            break
    return values


def _held_out(plan: _Plan, agent: Agent, table: EquityTable) -> dict[str, Any]:
    """Return how far off the means of rounds are at scores that were not asked for."""
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(_AGENT_BRANCH, _BATCHES)))
    rest = np.flatnonzero(plan.asked != np.arange(len(plan.asked)))
    chosen = np.sort(rng.choice(rest, min(_HELD_OUT, len(rest)), replace=False))
    states = plan.states[np.concatenate([chosen, plan.asked[chosen]])]
    count = len(chosen)
    deals = np.arange(min(plan.deals * _BATCHES, 2000))
    dealer = np.full(count * len(deals), plan.rules.players - 1)
    means = []
    for asked in (np.arange(2 * count), np.concatenate([np.arange(count, 2 * count)] * 2)):
        played = _rounds(plan.rules, agent, states, asked, deals, seed=plan.seed, rng=rng)
        first = slice(count * len(deals))
        ended, scores, shares = played[0][first], played[1][first], played[2][first]
        # The next dealer is the first in turn order.
        shares[~ended] = table.shares_at(scores[~ended], (dealer[~ended] + 1) % plan.rules.players)
        means.append(shares.reshape(count, len(deals), -1).mean(axis=1))
    apart = np.abs(means[0] - means[1])
    return {
        "scores": count,
        "rounds": len(deals),
        "mean": round(float(apart.mean()), 6),
        "most": round(float(apart.max()), 6),
    }
