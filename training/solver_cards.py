"""What the tables of `solver-fast` say of known cards and of all positions at once, fitted to rounds of the policy itself.

At even scores it is counted what is laid in each situation; the cards that one knows move it (`card_fit`), and positions
hang together (`joint_fit`), which is counted apart for the stages near the end of a game, in rounds from such scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..agents.solver_situations import NUM_STAGES, clockwise, num_situations, stages_of
from ..agents.solver_table import SolverTable
from ..envs.crash.rules import CrashRules
from .card_fit import CardSample, fit_known_cards
from .joint_fit import same_winner, weak_together
from .solver_survey import Survey

__all__ = ["curves", "with_known_cards"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_CUTS = 743


def curves(strengths: Ints, weights: Floats | None = None) -> Floats:
    """Return the chance of less than each strength, from samples (n, hands): float64 (hands, 743).

    >>> curves(np.array([[1], [3]]))[0, :5].tolist()
    [0.0, 0.0, 0.5, 0.5, 1.0]
    """
    found = np.zeros((strengths.shape[1], _CUTS))
    for hand in range(strengths.shape[1]):
        counts = np.bincount(strengths[:, hand], weights, _CUTS - 1)
        found[hand, 1:] = np.cumsum(counts) / counts.sum()
    return found


def with_known_cards(
    table: SolverTable, rules: CrashRules, even: Survey, late: Survey | None, step: float
) -> tuple[SolverTable, dict[str, float]]:
    """Return the table with what is laid at even scores in each situation, and fits of it.

    Args:
        table: so far.
        rules: the rules.
        even: rounds at even scores.
        late: rounds with somebody one point from the target; None where a base says how positions hang together.
        step: how far counts move.

    Returns:
        The table; and how much of what the fit says its directions keep, nothing where a base says it.
    """
    below, all_below = table.below.copy(), table.all_below.copy()
    samples, joint, same = [], [], []
    for row, seen in enumerate(_seen(even, rules, range(1))):
        if len(seen.own):
            laid = [seen.others.reshape(-1, rules.hands)] if below.shape[1] == 1 else list(seen.others.swapaxes(0, 1))
            below[row] = [curves(one) for one in laid]
            all_below[row] = curves(seen.strongest)
        if late is not None:
            samples.append(CardSample(cards=seen.cards, given_up=seen.given_up, laid=seen.strongest))
            joint.append(weak_together(seen.strongest))
            same.append(same_winner(seen.own, seen.others))
    counted = replace(
        table,
        below=table.below + step * (below - table.below),
        all_below=table.all_below + step * (all_below - table.all_below),
    )
    if late is None:
        return counted, {}
    for row, seen in enumerate(_seen(late, rules, range(1, NUM_STAGES))):
        joint.append(weak_together(seen.strongest, usual=joint[row % len(below)]))
        same.append(same_winner(seen.own, seen.others))
    fit = fit_known_cards(samples, hands=rules.hands)
    fitted = replace(
        counted,
        card_means=fit.means,
        card_axes=fit.axes,
        card_weights=fit.weights,
        card_basis=fit.basis,
        joint=np.stack(joint),
        pair_same=np.stack(same),
    )
    return fitted, {"cards_explained": fit.explained}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Seen:
    """What seats of one kind saw: the hands that they laid, (m, hands), the others', (m, others, hands), and cards."""

    own: Ints
    others: Ints
    cards: npt.NDArray[np.int8]
    given_up: npt.NDArray[np.int8]

    @property
    def strongest(self) -> Ints:
        """The strongest of the others' hands at each position, (m, hands)."""
        best: Ints = self.others.max(axis=1, initial=0)
        return best


def _seen(rounds: Survey, rules: CrashRules, stages: range) -> Iterator[_Seen]:
    """What was seen in each situation of each of these stages, in turn; in the first stage, at all scores."""
    n, where, laid = rules.players, rounds.situations(rules), rounds.strengths(rules.hands)
    needs = rules.target - rounds.scores
    stage_of = np.stack([stages_of(np.roll(needs, -seat, axis=1)) for seat in range(n)], axis=1)
    for stage in stages:
        for situation in range(num_situations(rules)):
            rows, seats = np.nonzero((where == situation) & ((stage_of == stage) | (stage == 0)))
            yield _Seen(
                own=laid[rows, seats],
                others=laid[rows[:, None], clockwise(seats, n)[:, 1:]],
                cards=rounds.cards[rows, seats],
                given_up=rounds.given_up[rows, seats],
            )
