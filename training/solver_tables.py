"""Tables for `solver-fast`: its own policy played against itself at every score, iterated towards a fixed point.

Each iteration plays rounds of the policy so far, all seats alike: at even scores, to fit what the cards that one knows say
about the others' hands; near the end of a game, to count how positions hang together there; and at every score, to count
what is laid there. Counts move a part of the way to what was counted last (averaged, as in fictitious play, later ones
counting more); winning chances are solved again from the policy's own rounds, and what exchanging is worth is fitted again.
All but the last iteration are played with a part of the rounds.

What is fitted, and how well, is written into the table (`about`): the share of the variance of the curves by score and by
cards that their strongest directions explain.

Source: Brown, "Iterative solution of games by fictitious play", 1951; the fits are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from itertools import combinations_with_replacement
from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt

from ..agents.equity_table import EquityTable
from ..agents.percentile import Percentile
from ..agents.percentile_table import find_table, shares_of
from ..agents.protocol import Agent
from ..agents.solver_contexts import Objective
from ..agents.solver_fast import SolverFastPolicy
from ..agents.solver_situations import NUM_STAGES, keepers
from ..agents.solver_table import (
    NUM_FEATURES,
    OF_BASE,
    SolverTable,
    SolverTableError,
    needs_states,
    num_terms,
    read_solver_table,
    shipped_solver_tables,
    solver_options,
)
from ..envs.crash.rules import CrashRules
from .call_fit import call_chances
from .equity import COARSE_TIMES, MOST_ASKED, solve_equity
from .exchange_fit import ExchangeSample, exchange_situations, exchange_worth
from .files import write_whole
from .joint_fit import independent
from .solver_cards import curves, with_known_cards
from .solver_sizes import SolverSizes, solver_command
from .solver_survey import Survey, survey

__all__ = ["SolverProgress", "make_solver_table", "write_solver_table"]

SolverProgress = Callable[[int, int, str], None]
"""Called with steps done, steps in all, and what was done."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_CUTS = 743
_SCORE_DIRECTIONS = 8
_HANDS = ("players", "cards_dealt", "lowest_hand", "flush_high", "ranks", "exchange")
_ROUGHLY = 6  # iterations before the last are played with so many times fewer rounds
_LATE = 3  # rounds at even scores for each one near the end of a game
_KEEPS = 0.4  # of hands, about, before anything is counted
_DEALT = 200_000  # hands that are valued to see what exchanging is worth
_USUALLY = 100.0  # rounds at other scores that count beside those at a score, for how often a hand is kept there


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
        SolverTableError: the base is no table that ships, or is for other hands.

    >>> rules = CrashRules.preset("bga", players=5, target=1)
    >>> table = make_solver_table(rules, sizes=SolverSizes(rounds=5, deals=100, iterations=1))
    >>> table.fits(rules), table.below.shape
    (True, (1, 1, 3, 743))
    """
    rounds, deals, iterations = sizes.rounds, sizes.deals, sizes.iterations
    for name, number in (("rounds", rounds), ("deals", deals), ("iterations", iterations)):
        if number < 1:
            raise ValueError(f"{name}={number!r}: expected 1 or more")
    report = progress or (lambda done, total, what: None)  # noqa: ARG005 (a report that goes nowhere)
    steps = 1 + 3 * iterations
    cap = min(rules.target, {2: 10, 3: 7, 4: 6, 5: 5}[rules.players]) if cap is None else cap
    table = _first_table(rules, cap=cap, rounds=-(-rounds // _ROUGHLY), seed=seed)
    if sizes.base is not None:
        table = _on_base(table, rules, sizes.base)
    table = _with_exchange(table, rules, None, dealt=_DEALT // _ROUGHLY)
    report(1, steps, "winning chances of percentile")
    changes: list[dict[str, float]] = []
    for iteration in range(iterations):
        last = iteration == iterations - 1
        rounds_each, deals_each = (rounds, deals) if last else (-(-rounds // _ROUGHLY), -(-deals // _ROUGHLY))
        step, branch = 2.0 / (iteration + 2), seed + 1 + 3 * iteration
        policy = SolverFastPolicy(rules, table, threads=threads)
        at_even = survey(policy, rules, np.zeros((deals_each, rules.players), int), seed=branch, threads=threads)
        late = None
        if table.base is None:
            near_end = _late_scores(rules, cap, max(1, deals_each // _LATE))
            late = survey(policy, rules, near_end, seed=branch, threads=threads)
        table, explained = with_known_cards(table, rules, at_even, late, step)
        report(3 * iteration + 2, steps, "what known cards say")
        policy = SolverFastPolicy(rules, table, threads=threads)
        scores = np.repeat(_even_scores(rules, cap), rounds_each, axis=0)
        everywhere = survey(policy, rules, scores, seed=branch + 1, threads=threads)
        table, more = _with_scores(table, rules, everywhere, step)
        calls = call_chances(rules, [at_even, everywhere])
        table = replace(table, calls=table.calls + step * (calls - table.calls))
        report(3 * iteration + 3, steps, "what is laid at each score")
        equity = _equity(
            SolverFastPolicy(rules, table), rules, rounds=rounds_each, seed=branch + 2, coarse=COARSE_TIMES * last
        )
        moved = float(np.abs(equity.shares - table.equity.shares).max())
        dealt = _DEALT if last else _DEALT // _ROUGHLY
        table = _with_exchange(replace(table, equity=equity), rules, at_even, dealt=dealt, threads=threads)
        changes.append({**explained, **more, "equity_change": moved})
        report(3 * iteration + 4, steps, "winning chances")
    about = {
        "command": solver_command(rules, sizes=sizes, seed=seed),
        "prial": metadata.version("prial"),
        "iterations": changes,
    }
    return replace(table, about=about)


def write_solver_table(table: SolverTable, path: Path) -> None:
    """Write a table's file, whole."""
    write_whole(path, table.to_json())


def _first_table(rules: CrashRules, *, cap: int, rounds: int, seed: int) -> SolverTable:
    """What `percentile` knows: no score, no cards, and its own winning chances; not yet what exchanging is worth."""
    counts = find_table(rules)
    shares = [shares_of(counts.fresh)] + ([] if counts.kept is None else [shares_of(counts.kept)])
    curves = np.zeros((len(shares), rules.hands, _CUTS))
    for kind, share in enumerate(shares):
        curves[kind, :, 1:] = np.cumsum(share[: rules.hands], axis=1)
    kept = keepers(rules)[:, 1:].astype(np.int64)
    below = curves[kept]
    situations, groups = len(kept), 2 if rules.has_exchange else 1
    states = len(needs_states(cap, rules.players))
    return SolverTable(
        options=solver_options(rules),
        equity=_equity(Percentile(), rules, rounds=rounds, seed=seed),
        keeps=np.full((rules.players, states), _KEEPS if rules.has_exchange else 0.0),
        calls=np.zeros((NUM_STAGES * situations, rules.players - 1, rules.hands + 1)),
        exchange_win=np.zeros((situations, 1 + NUM_FEATURES)),
        exchange_points=np.zeros((situations, 1 + NUM_FEATURES)),
        below=below if rules.has_exchange else below[:, :1],
        all_below=below.prod(axis=1),
        cap=cap,
        by_score=np.zeros((groups, states, 1)),
        score_basis=np.zeros((1, rules.hands, _CUTS)),
        card_means=np.zeros((situations, NUM_FEATURES)),
        card_axes=np.zeros((situations, NUM_FEATURES, 1)),
        card_weights=np.zeros((situations, num_terms(1, 1), 1)),
        card_basis=np.zeros((rules.hands, _CUTS, 1)),
        joint=np.stack([independent(rules.hands)] * (NUM_STAGES * situations)),
        pair_same=np.ones((NUM_STAGES * situations, rules.hands - 1)),
        about={},
    )


def _on_base(table: SolverTable, rules: CrashRules, base: str) -> SolverTable:
    """The table with what another one knows of cards, and begun with what is laid there."""
    file = shipped_solver_tables().get(base)
    if file is None:
        raise SolverTableError(f"no table {base!r}; those that ship: {', '.join(shipped_solver_tables())}")
    other = read_solver_table(file.read_text(encoding="utf-8"), file.name)
    options = solver_options(rules)
    different = [name for name in _HANDS if other.options[name] != options[name]]
    if different or other.base is not None:
        raise SolverTableError(
            f"the table {base!r} is for other hands: {', '.join(different) or 'it has a base itself'}"
        )
    known = {name: getattr(other, name) for name in OF_BASE}
    return replace(table, below=other.below, all_below=other.all_below, base=base, **known)


def _equity(agent: Agent, rules: CrashRules, *, rounds: int, seed: int, coarse: int = 0) -> EquityTable:
    return solve_equity(
        agent, rules, rounds_per_state=rounds, seed=seed, max_asked=MOST_ASKED, coarse_rounds=coarse * rounds
    )


def _even_scores(rules: CrashRules, cap: int) -> npt.NDArray[np.int64]:
    """One row of scores for each set of needs: (states, players)."""
    return rules.target - np.array(list(combinations_with_replacement(range(1, cap + 1), rules.players)))


def _late_scores(rules: CrashRules, cap: int, rounds: int) -> npt.NDArray[np.int64]:
    """Rows of scores with somebody one point from the target, every set of needs alike: (rounds, players)."""
    even = _even_scores(rules, cap)
    late = even[(even == rules.target - 1).any(axis=1)]
    rows: npt.NDArray[np.int64] = late[np.arange(rounds) % len(late)]
    return rows


def _keeps(rules: CrashRules, seen: Survey, states: Ints, count: int) -> Floats:
    """How often those who were asked kept their hand, by how many had kept theirs before and by state: (players, count).

    Args:
        rules: the rules.
        seen: what was played.
        states: of each seat in each round, (rounds, players).
        count: how many states there are.
    """
    n = rules.players
    found = np.zeros((n, count))
    if not rules.has_exchange:
        return found
    asked, kept = seen.exchanges >= 0, seen.exchanges == 0
    before = np.zeros_like(asked, np.int64)
    if n > 2:  # two choose without knowing the other's choice
        place = (np.arange(n) - seen.dealers[:, None] - 1) % n
        before = np.where(asked, place, 0)
    for number in range(n):
        some = asked & (before == number)
        usual = kept[some].mean() if some.any() else kept[asked].mean()
        asked_there = np.bincount(states[some], minlength=count)
        kept_there = np.bincount(states[some & kept], minlength=count)
        found[number] = (kept_there + _USUALLY * usual) / (asked_there + _USUALLY)
    return found


def _with_exchange(
    table: SolverTable, rules: CrashRules, seen: Survey | None, *, dealt: int, threads: int = 1
) -> SolverTable:
    """The table with what exchanging is worth, by what it brought in rounds at even scores, if there have been any."""
    if not rules.has_exchange:
        return table
    given_up: dict[int, npt.NDArray[np.int8]] = {}
    brought: dict[int, dict[Objective, Floats]] = {}
    if seen is not None:
        where = seen.situations(rules)
        shares = seen.won.copy()
        on = np.flatnonzero(shares.sum(axis=1) == 0)
        shares[on] = table.equity.shares_at(seen.after[on], (seen.dealers[on].astype(np.int64) + 1) % rules.players)
        for situation in exchange_situations(rules):
            rows, seats = np.nonzero(where == situation)
            given_up[situation] = seen.given_up[rows, seats]
            brought[situation] = {"win": shares[rows, seats], "points": seen.margins[rows, seats]}
    win, points = (
        exchange_worth(
            rules,
            table,
            objective=objective,
            samples={
                one: ExchangeSample(given_up=cards, brought=brought[one][objective]) for one, cards in given_up.items()
            },
            dealt=dealt,
            threads=threads,
        )
        for objective in get_args(Objective)
    )
    return replace(table, exchange_win=win, exchange_points=points)


def _with_scores(
    table: SolverTable, rules: CrashRules, seen: Survey, step: float
) -> tuple[SolverTable, dict[str, float]]:
    """The table with what is laid at each score, in its strongest directions."""
    cap, n = table.cap, rules.players
    states = needs_states(cap, n)
    needs = np.minimum(rules.target - seen.scores, cap)
    strengths = seen.strengths(rules.hands)
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
    keeps = _keeps(rules, seen, numbers, len(states))
    flat = (numbers + len(states) * (seen.exchanges == 0) * (groups > 1)).reshape(-1)
    order = np.argsort(flat, kind="stable")
    bounds = np.searchsorted(flat[order], np.arange(groups * len(states) + 1))
    even = states[(cap,) * n]
    shifts = np.zeros((groups, len(states), rules.hands, _CUTS))
    for group in range(groups):
        usual = group * len(states) + even
        if bounds[usual] == bounds[usual + 1]:
            continue
        at_even = curves(laid[order[bounds[usual] : bounds[usual + 1]]])
        for state in range(len(states)):
            one = group * len(states) + state
            if bounds[one] < bounds[one + 1]:
                shifts[group, state] = curves(laid[order[bounds[one] : bounds[one + 1]]]) - at_even
    before = np.tensordot(table.by_score, table.score_basis, axes=1)
    mixed = (before + step * (shifts - before)).reshape(groups * len(states), -1)
    left, lengths, basis = np.linalg.svd(mixed, full_matrices=False)
    k = min(_SCORE_DIRECTIONS, len(lengths))
    explained = float((lengths[:k] ** 2).sum() / max((lengths**2).sum(), 1e-30))
    by_score = (left[:, :k] * lengths[:k]).reshape(groups, len(states), k)
    fitted = replace(
        table,
        keeps=table.keeps + step * (keeps - table.keeps),
        by_score=by_score,
        score_basis=basis[:k].reshape(k, rules.hands, _CUTS),
    )
    return fitted, {"scores_explained": explained, "largest_shift": float(np.abs(mixed).max())}
