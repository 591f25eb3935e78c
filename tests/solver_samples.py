"""Tables for the solver of nothing in particular, for any rules."""

from __future__ import annotations

import numpy as np

from prial.agents.equity_table import EquityTable, round_states
from prial.agents.solver_table import SolverTable, needs_states, num_features, solver_options
from prial.envs.crash.rules import CrashRules


def random_table(rules: CrashRules, seed: int = 0) -> SolverTable:
    """A table of nothing in particular: opponents lay a few strengths, shares are any that add up to 1."""
    generator = np.random.default_rng(seed)
    kinds, hands = 2 if rules.has_exchange else 1, rules.hands
    below = np.zeros((kinds, hands, 743))
    for row in below.reshape(-1, 743):
        laid = generator.choice(np.arange(0, 742), 3, replace=False)
        masses = generator.dirichlet(np.ones(3))
        row[:] = [masses[laid < cut].sum() for cut in range(743)]
    ordered = rules.has_exchange or rules.has_calls
    states = round_states(rules.players, rules.target, ordered=ordered)
    shares = generator.dirichlet(np.ones(rules.players), len(states)).T
    if not ordered:
        for number, state in enumerate(states):
            for score in set(state.tolist()):
                shares[state == score, number] = shares[state == score, number].mean()
    cap = min(3, rules.target)
    return SolverTable(
        options=solver_options(rules),
        equity=EquityTable.known(rules, shares),
        below=below,
        cap=cap,
        by_score=np.zeros((len(needs_states(cap, rules.players)), 1)),
        score_basis=np.zeros((1, hands, 743)),
        card_means=np.zeros(num_features(rules)),
        card_axes=np.zeros((num_features(rules), 1)),
        card_basis=np.zeros((kinds, hands, 743, 1)),
        about={},
    )
