"""Tables for the solver of nothing in particular, for any rules."""

from __future__ import annotations

import numpy as np

from prial.agents import _kernels_solver_cards as kernels
from prial.agents.equity_table import EquityTable, dealer_matters, round_states
from prial.agents.solver_situations import NUM_STAGES, num_situations
from prial.agents.solver_table import NUM_FEATURES, SolverTable, joint_marks, needs_states, num_terms, solver_options
from prial.envs.crash.rules import CrashRules


def random_table(rules: CrashRules, seed: int = 0) -> SolverTable:
    """A table of nothing in particular: opponents lay a few strengths, shares are any that add up to 1.

    All of them lay less than a strength about as often as if they were independent, not quite.
    """
    generator = np.random.default_rng(seed)
    situations, hands = num_situations(rules), rules.hands
    others, groups = (rules.players - 1, 2) if rules.has_exchange else (1, 1)
    below = np.zeros((situations, others, hands, 743))
    for row in below.reshape(-1, 743):
        laid = generator.choice(np.arange(0, 742), 3, replace=False)
        masses = generator.dirichlet(np.ones(3))
        row[:] = [masses[laid < cut].sum() for cut in range(743)]
    independent = below.prod(axis=1) if rules.has_exchange else below[:, 0] ** (rules.players - 1)
    ordered = dealer_matters(rules)
    states = round_states(rules.players, rules.target, ordered=ordered)
    shares = generator.dirichlet(np.ones(rules.players), len(states)).T
    if not ordered:
        for number, state in enumerate(states):
            for score in set(state.tolist()):
                shares[state == score, number] = shares[state == score, number].mean()
    cap = min(3, rules.target)
    numbers = len(needs_states(cap, rules.players))
    parts = len(joint_marks(hands)) - 1
    joint = generator.uniform(0.0, 1.0, (NUM_STAGES * situations, *(parts,) * hands)) ** 4
    return SolverTable(
        options=solver_options(rules),
        equity=EquityTable.known(rules, shares),
        calls=generator.uniform(0.0, 0.2, (NUM_STAGES * situations, rules.players - 1, hands + 1)) * rules.has_calls,
        keeps=generator.uniform(0.2, 0.6, (rules.players, numbers)) * rules.has_exchange,
        exchange_win=generator.normal(0.0, 0.01, (situations, 1 + NUM_FEATURES)) * rules.has_exchange,
        exchange_points=generator.normal(0.0, 0.1, (situations, 1 + NUM_FEATURES)) * rules.has_exchange,
        below=below,
        all_below=independent ** (0.9 if rules.players > 2 else 1.0),
        cap=cap,
        by_score=np.zeros((groups, numbers, 1)),
        score_basis=np.zeros((1, hands, 743)),
        card_means=np.zeros((situations, NUM_FEATURES)),
        card_axes=np.zeros((situations, NUM_FEATURES, 1)),
        card_weights=np.zeros((situations, num_terms(1, 1), 1)),
        card_basis=np.zeros((hands, 743, 1)),
        joint=joint / joint.sum(axis=tuple(range(1, 1 + hands)), keepdims=True),
        pair_same=generator.uniform(0.8, 3.0, (NUM_STAGES * situations, hands - 1)),
        about={},
    )


def moved_by_cards(means, axes, weights, basis, situation: int, cards):
    """By how much known cards move the chances of less than each strength: (rows, hands, 743)."""
    size = len(cards)
    where = np.full(size, situation)
    features = np.empty((size, NUM_FEATURES))
    terms, places = np.empty((size, weights.shape[1])), np.empty((size, weights.shape[2]))
    kernels.card_features(cards, np.full_like(cards, -1), features, 0, size)
    kernels.card_terms(features, where, means, axes, terms, 0, size)
    kernels.card_places(terms, where, weights, places, 0, size)
    return np.tensordot(places, basis, axes=(1, 2))
