"""Tables for `solver-fast`: its own policy played against itself at every score, iterated towards a fixed point.

Each iteration plays rounds of the policy so far, all seats alike: at even scores, to fit what the cards that one knows say
about the others' hands, and at every score, to count what is laid there. Counts move a part of the way to what was counted
last (averaged, as in fictitious play); winning chances are solved again from the policy's own rounds.

What is fitted, and how well, is written into the table (`about`): the share of the variance of the curves by score and by
cards that their strongest directions explain.

Source: Brown, "Iterative solution of games by fictitious play", 1951; the fits are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.equity_table import EquityTable
from ..agents.percentile import Percentile
from ..agents.percentile_table import find_table, shares_of
from ..agents.protocol import Agent
from ..agents.solver_fast import SolverFastPolicy
from ..agents.solver_situations import keepers, situations_of
from ..agents.solver_table import NUM_FEATURES, PAIR_GRID, SolverTable, needs_states, num_terms, solver_options
from ..envs.crash.presets import load_rules, preset_names, read_preset
from ..envs.crash.rules import CrashRules
from ..envs.crash.vector import CrashVectorEnv
from .card_fit import CardSample, fit_known_cards
from .equity import COARSE_TIMES, MOST_ASKED, solve_equity
from .files import write_whole
from .pair_fit import same_winner, weak_together

__all__ = [
    "SHIPPED_SIZES",
    "SolverProgress",
    "SolverSizes",
    "Survey",
    "make_solver_table",
    "solver_command",
    "solver_sizes",
    "standard_solver_rules",
    "survey",
    "write_solver_table",
]

SolverProgress = Callable[[int, int, str], None]
"""Called with steps done, steps in all, and what was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverSizes:
    """How much is played for a table.

    Attributes:
        rounds: from each score, in each iteration.
        deals: rounds at even scores for the fit on known cards, in each iteration.
        iterations: how many.
    """

    rounds: int = 2000
    deals: int = 200_000
    iterations: int = 4


SHIPPED_SIZES: Mapping[str, SolverSizes] = {
    "online-2": SolverSizes(rounds=4000, deals=500_000, iterations=3),
    "online-3": SolverSizes(rounds=6000, deals=800_000, iterations=3),
    "online-4": SolverSizes(rounds=1500, deals=300_000, iterations=2),
    "bga-2": SolverSizes(rounds=2000, deals=1_200_000, iterations=2),
    "bga-3": SolverSizes(rounds=1000, deals=1_000_000, iterations=2),
    "bga-4": SolverSizes(rounds=1000, deals=300_000, iterations=2),
    "bga-5": SolverSizes(rounds=1000, deals=300_000, iterations=2),
    "traditional-2": SolverSizes(rounds=1000, deals=800_000, iterations=2),
    "traditional-3": SolverSizes(rounds=600, deals=800_000, iterations=2),
    "traditional-4": SolverSizes(rounds=600, deals=200_000, iterations=2),
}
"""Those of the tables that ship, by name: minutes of processor time each."""

Floats = npt.NDArray[np.float64]
_TABLES = 16_384  # played at once
_CUTS = 743
_SURVEYED = ("cards", "given_up", "dealer", "exchanges", "values")
_SCORE_DIRECTIONS = 8
_ROUGHLY = 4  # winning chances come from so many times fewer rounds until the last iteration
_KEEPS = 0.4  # of hands, about, before anything is counted
_AGENT_BRANCH = 0x534F4C56  # keeps the agent's chance apart from any other branch of the same seed


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Survey:
    """What was laid in many rounds.

    Attributes:
        scores: int32 (rounds, players), before the round.
        cards, given_up: int8 (rounds, players, cards).
        dealers: int8 (rounds,).
        exchanges: int8 (rounds, players), 0 kept, 1 exchanged, -1 not asked.
        values: uint64 (rounds, players), packed as in `prial.envs.crash.tables`.
    """

    scores: npt.NDArray[np.int32]
    cards: npt.NDArray[np.int8]
    given_up: npt.NDArray[np.int8]
    dealers: npt.NDArray[np.int8]
    exchanges: npt.NDArray[np.int8]
    values: npt.NDArray[np.uint64]


def survey(
    agent: Agent, rules: CrashRules, scores: npt.NDArray[np.integer[Any]], *, seed: int, threads: int = 1
) -> Survey:
    """Play one round from each row of scores, the agent in every seat, and return what was laid.

    Args:
        agent: who plays.
        rules: the rules.
        scores: (rounds, players).
        seed: of deals and chance; round `i` is deal 0 of table `i`.
        threads: how many at most.

    >>> from ..agents.registry import make
    >>> seen = survey(make("greedy"), CrashRules.preset("online"), np.zeros((2, 3), int), seed=1)
    >>> seen.values.shape, bool((seen.values > 0).all())
    ((2, 3), True)
    """
    columns: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in _SURVEYED}
    for part, start in enumerate(range(0, len(scores), _TABLES)):
        rows = np.asarray(scores[start : start + _TABLES])
        env = CrashVectorEnv(
            len(rows),
            rules,
            seed=seed,
            tables=np.arange(start, start + len(rows)),
            episode="round",
            scores=rows,
            autoreset=False,
            threads=threads,
        )
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_AGENT_BRANCH, part)))
        while env.pending.any():
            env.act_many(agent, rng)
        for name, seen in columns.items():
            seen.append(env.column(name))
    joined = {name: np.concatenate(seen) for name, seen in columns.items()}
    return Survey(
        scores=np.asarray(scores, np.int32),
        cards=joined["cards"],
        given_up=joined["given_up"],
        dealers=joined["dealer"],
        exchanges=joined["exchanges"],
        values=joined["values"],
    )


def solver_command(rules: CrashRules, *, sizes: SolverSizes, seed: int) -> str:
    """Return the command that makes a table.

    >>> solver_command(CrashRules.preset("bga", players=2), sizes=SolverSizes(rounds=10, deals=20, iterations=3), seed=1)
    'prial tables solver --rules bga --players 2 --rounds 10 --deals 20 --iterations 3 --seed 1'
    """
    plain = CrashRules.preset(rules.name, players=rules.players) if rules.name else CrashRules(players=rules.players)
    settings = [
        f"--set {name}={value}"
        for name, value in rules.to_dict().items()
        if value != getattr(plain, name) and name != "name"
    ]
    words = [f"prial tables solver --rules {rules.name or 'online'} --players {rules.players}", *settings]
    numbers = f"--rounds {sizes.rounds} --deals {sizes.deals} --iterations {sizes.iterations} --seed {seed}"
    return " ".join([*words, numbers])


def solver_sizes(
    rules: CrashRules, *, rounds: int | None = None, deals: int | None = None, iterations: int | None = None
) -> SolverSizes:
    """Return how much is played for a table: as asked for, otherwise as for the one that ships for the rules.

    >>> solver_sizes(CrashRules.preset("online"), rounds=10)
    SolverSizes(rounds=10, deals=800000, iterations=3)
    """
    usual = SHIPPED_SIZES.get(f"{rules.name}-{rules.players}", SolverSizes())
    asked = {"rounds": rounds, "deals": deals, "iterations": iterations}
    return replace(usual, **{name: number for name, number in asked.items() if number is not None})


def make_solver_table(
    rules: CrashRules,
    *,
    sizes: SolverSizes,
    seed: int = 1,
    cap: int | None = None,
    threads: int = 1,
    progress: SolverProgress | None = None,
) -> SolverTable:
    """Return a table.

    Args:
        rules: what it is for.
        sizes: how much is played.
        seed: of everything.
        cap: largest need told apart; by the number of players if None.
        threads: how many at most; it changes nothing.
        progress: called after each step.

    Raises:
        ValueError: numbers out of range.
        TableError: there is no percentile table to start from.
    """
    rounds, deals, iterations = sizes.rounds, sizes.deals, sizes.iterations
    for name, number in (("rounds", rounds), ("deals", deals), ("iterations", iterations)):
        if number < 1:
            raise ValueError(f"{name}={number!r}: expected 1 or more")
    report = progress or (lambda done, total, what: None)  # noqa: ARG005 (a report that goes nowhere)
    steps = 1 + 3 * iterations
    cap = min(rules.target, {2: 10, 3: 7, 4: 6, 5: 5}[rules.players]) if cap is None else cap
    table = _first_table(rules, cap=cap, rounds=-(-rounds // _ROUGHLY), seed=seed)
    report(1, steps, "winning chances of percentile")
    changes: list[dict[str, float]] = []
    for iteration in range(iterations):
        step, branch = 1.0 / (iteration + 1), seed + 1 + 3 * iteration
        policy = SolverFastPolicy(rules, table, threads=threads)
        at_even = survey(policy, rules, np.zeros((deals, rules.players), int), seed=branch, threads=threads)
        table, explained = _with_cards(table, rules, at_even, step)
        report(3 * iteration + 2, steps, "what known cards say")
        policy = SolverFastPolicy(rules, table, threads=threads)
        scores = np.repeat(_even_scores(rules, cap), rounds, axis=0)
        everywhere = survey(policy, rules, scores, seed=branch + 1, threads=threads)
        table, more = _with_scores(table, rules, everywhere, step)
        report(3 * iteration + 3, steps, "what is laid at each score")
        last = iteration == iterations - 1
        deals_each = rounds if last else -(-rounds // _ROUGHLY)
        equity = _equity(
            SolverFastPolicy(rules, table), rules, rounds=deals_each, seed=branch + 2, coarse=COARSE_TIMES * last
        )
        moved = float(np.abs(equity.shares - table.equity.shares).max())
        table = replace(table, equity=equity)
        changes.append({**explained, **more, "equity_change": moved})
        report(3 * iteration + 4, steps, "winning chances")
    about = {
        "command": solver_command(rules, sizes=sizes, seed=seed),
        "prial": metadata.version("prial"),
        "iterations": changes,
    }
    return replace(table, about=about)


def standard_solver_rules() -> Mapping[str, CrashRules]:
    """Return the rules that a table ships for, by its name: every rule set with every number of players.

    >>> list(standard_solver_rules())[:4]
    ['online-2', 'online-3', 'online-4', 'bga-2']
    """
    return {
        f"{name}-{players}": load_rules(name, players=players)
        for name in preset_names()
        for players in read_preset(name)["in_use"]["players"]
    }


def write_solver_table(table: SolverTable, path: Path) -> None:
    """Write a table's file, whole."""
    write_whole(path, table.to_json())


def _first_table(rules: CrashRules, *, cap: int, rounds: int, seed: int) -> SolverTable:
    """What `percentile` knows: no score, no cards, and the winning chances of percentile itself."""
    counts = find_table(rules)
    shares = [shares_of(counts.fresh)] + ([] if counts.kept is None else [shares_of(counts.kept)])
    curves = np.zeros((len(shares), rules.hands, _CUTS))
    for kind, share in enumerate(shares):
        curves[kind, :, 1:] = np.cumsum(share[: rules.hands], axis=1)
    kept = keepers(rules)[:, 1:].astype(np.int64)
    below = curves[kept]
    situations, groups = len(kept), 2 if rules.has_exchange else 1
    return SolverTable(
        options=solver_options(rules),
        equity=_equity(Percentile(), rules, rounds=rounds, seed=seed),
        keeps=np.full(rules.players, _KEEPS if rules.has_exchange else 0.0),
        below=below if rules.has_exchange else below[:, :1],
        all_below=below.prod(axis=1),
        cap=cap,
        by_score=np.zeros((groups, len(needs_states(cap, rules.players)), 1)),
        score_basis=np.zeros((1, rules.hands, _CUTS)),
        card_means=np.zeros((situations, NUM_FEATURES)),
        card_axes=np.zeros((situations, NUM_FEATURES, 1)),
        card_weights=np.zeros((situations, num_terms(1), 1)),
        card_basis=np.zeros((rules.hands, _CUTS, 1)),
        pair_weak=np.zeros((situations, rules.hands - 1, PAIR_GRID + 1, PAIR_GRID + 1)),
        pair_same=np.ones((situations, rules.hands - 1)),
        about={},
    )


def _equity(agent: Agent, rules: CrashRules, *, rounds: int, seed: int, coarse: int = 0) -> EquityTable:
    return solve_equity(
        agent, rules, rounds_per_state=rounds, seed=seed, max_asked=MOST_ASKED, coarse_rounds=coarse * rounds
    )


def _even_scores(rules: CrashRules, cap: int) -> npt.NDArray[np.int64]:
    """One row of scores for each set of needs: (states, players)."""
    return rules.target - np.array(list(combinations_with_replacement(range(1, cap + 1), rules.players)))


def _strengths(values: npt.NDArray[np.uint64], hands: int) -> npt.NDArray[np.int64]:
    """Strengths of packed values: (..., hands)."""
    shifts = np.array([48 - 12 * hand for hand in range(hands)], np.uint64)
    return (values[..., None] >> shifts & np.uint64(0xFFF)).astype(np.int64)


def _curves(strengths: npt.NDArray[np.int64], weights: Floats | None = None) -> Floats:
    """Chance of less than each strength, from samples (n, hands): float64 (hands, 743)."""
    curves = np.zeros((strengths.shape[1], _CUTS))
    for hand in range(strengths.shape[1]):
        counts = np.bincount(strengths[:, hand], weights, _CUTS - 1)
        curves[hand, 1:] = np.cumsum(counts) / counts.sum()
    return curves


def _situations(rules: CrashRules, seen: Survey) -> npt.NDArray[np.int64]:
    """Situation of each seat in each round: (rounds, players)."""
    seats = [np.full(len(seen.scores), seat) for seat in range(rules.players)]
    return np.stack([situations_of(rules, seen.exchanges, seen.dealers, seat) for seat in seats], axis=1)


def _keeps(rules: CrashRules, seen: Survey) -> Floats:
    """How often those who were asked kept their hand, by how many had kept theirs before: (players,)."""
    found = np.zeros(rules.players)
    if rules.has_exchange:
        asked, kept = seen.exchanges >= 0, seen.exchanges == 0
        before = np.zeros_like(asked, np.int64)
        if rules.players > 2:  # two choose without knowing the other's choice
            place = (np.arange(rules.players) - seen.dealers[:, None] - 1) % rules.players
            before = np.where(asked, place, 0)
        for number in range(rules.players):
            some = asked & (before == number)
            found[number] = kept[some].mean() if some.any() else kept[asked].mean()
    return found


def _with_cards(
    table: SolverTable, rules: CrashRules, seen: Survey, step: float
) -> tuple[SolverTable, dict[str, float]]:
    """The table with what is laid at even scores in each situation, and a fit of it on the cards one knows."""
    n, hands = rules.players, rules.hands
    where, strengths = _situations(rules, seen), _strengths(seen.values, hands)
    below, all_below = table.below.copy(), table.all_below.copy()
    samples = []
    weak, same = np.zeros_like(table.pair_weak), np.ones_like(table.pair_same)
    for situation in range(len(below)):
        rows, seats = np.nonzero(where == situation)
        others = strengths[rows[:, None], (seats[:, None] + np.arange(1, n)) % n]  # (m, others, hands)
        strongest = others.max(axis=1, initial=0)
        if len(rows):
            laid = [others.reshape(-1, hands)] if below.shape[1] == 1 else [others[:, j] for j in range(n - 1)]
            below[situation] = [_curves(one) for one in laid]
            all_below[situation] = _curves(strongest)
            weak[situation] = weak_together(strongest)
            same[situation] = same_winner(strengths[rows, seats], others)
        cards, given_up = seen.cards[rows, seats], seen.given_up[rows, seats]
        samples.append(CardSample(cards=cards, given_up=given_up, laid=strongest))
    fit = fit_known_cards(samples, hands=hands)
    fitted = replace(
        table,
        keeps=_keeps(rules, seen),
        below=table.below + step * (below - table.below),
        all_below=table.all_below + step * (all_below - table.all_below),
        card_means=fit.means,
        card_axes=fit.axes,
        card_weights=fit.weights,
        card_basis=fit.basis,
        pair_weak=weak,
        pair_same=same,
    )
    return fitted, {"cards_explained": fit.explained}


def _with_scores(
    table: SolverTable, rules: CrashRules, seen: Survey, step: float
) -> tuple[SolverTable, dict[str, float]]:
    """The table with what is laid at each score, in its strongest directions."""
    cap, n = table.cap, rules.players
    states = needs_states(cap, n)
    needs = np.minimum(rules.target - seen.scores, cap)
    strengths = _strengths(seen.values, rules.hands)
    numbers = np.empty_like(needs)
    different, inverse = np.unique(needs, axis=0, return_inverse=True)
    for seat in range(n):
        of_state = [
            states[(int(key[seat]), *sorted(int(need) for other, need in enumerate(key) if other != seat))]
            for key in different
        ]
        numbers[:, seat] = np.array(of_state)[inverse.reshape(-1)]
    laid = strengths.reshape(-1, rules.hands)
    groups = len(table.by_score)
    flat = (numbers + len(states) * (seen.exchanges == 0) * (groups > 1)).reshape(-1)
    order = np.argsort(flat, kind="stable")
    bounds = np.searchsorted(flat[order], np.arange(groups * len(states) + 1))
    even = states[(cap,) * n]
    shifts = np.zeros((groups, len(states), rules.hands, _CUTS))
    for group in range(groups):
        usual = group * len(states) + even
        if bounds[usual] == bounds[usual + 1]:
            continue
        at_even = _curves(laid[order[bounds[usual] : bounds[usual + 1]]])
        for state in range(len(states)):
            one = group * len(states) + state
            if bounds[one] < bounds[one + 1]:
                shifts[group, state] = _curves(laid[order[bounds[one] : bounds[one + 1]]]) - at_even
    before = np.tensordot(table.by_score, table.score_basis, axes=1)
    mixed = (before + step * (shifts - before)).reshape(groups * len(states), -1)
    left, lengths, basis = np.linalg.svd(mixed, full_matrices=False)
    k = min(_SCORE_DIRECTIONS, len(lengths))
    explained = float((lengths[:k] ** 2).sum() / max((lengths**2).sum(), 1e-30))
    by_score = (left[:, :k] * lengths[:k]).reshape(groups, len(states), k)
    fitted = replace(table, by_score=by_score, score_basis=basis[:k].reshape(k, rules.hands, _CUTS))
    return fitted, {"scores_explained": explained, "largest_shift": float(np.abs(mixed).max())}
