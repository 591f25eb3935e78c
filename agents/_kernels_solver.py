"""Compiled parts of the solver: outcomes of a round, their chances, and values of arrangements. Private.

Seats are relative here: 0 is the seat that decides, the others follow clockwise. A *leaf* says who wins each comparison:
digits in base ``players + 1``, Hand 1 the most significant, the digit `players` for nobody.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.crash._kernels_settling import NO_REASON, settle_winners
from ..envs.kernel_cache import kernel

_MOST_HANDS = 4
_SCALINGS = 4  # until both keep their shares to about a hundredth


@kernel(nogil=True)
def leaf_worths(
    r: Any, quads: Any, calls: Any, scores: Any, dealer: Any, shares: Any, ordered: Any, for_points: Any, worths: Any
) -> None:
    """Settle every leaf and write what it is worth to oneself: float64 (leaves,).

    Args:
        r: the rules, `Numbers`.
        quads, calls, scores: (players,), relative seats.
        dealer: relative seat.
        shares: winning chances as `EquityTable.dense` has them, flat, float64.
        ordered: whether these depend on the turn order.
        for_points: the round's margin instead of the share of the win.
    """
    n, base = r.players, r.players + 1
    winners = np.empty(_MOST_HANDS, np.int64)
    played, now, wins = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int8)
    first = (dealer + 2) % n if ordered else 0  # of the next round, at its dealer's left; without an order, oneself
    for leaf in range(len(worths)):
        rest = leaf
        for hand in range(r.hands - 1, -1, -1):
            digit = rest % base
            winners[hand] = -1 if digit == n else digit
            rest //= base
        reason, _ = settle_winners(r, winners, quads, calls, scores, dealer, played, now, wins)
        if for_points:
            others = 0
            for seat in range(1, n):
                others += played[seat] - scores[seat]
            worths[leaf] = played[0] - scores[0] - others / (n - 1)
        elif reason != NO_REASON:
            shared = 0
            for seat in range(n):
                shared += wins[seat]
            worths[leaf] = wins[0] / max(shared, 1)
        else:
            at = (n - first) % n  # the own place
            for seat in range(n):
                at = at * r.target + now[(first + seat) % n]
            worths[leaf] = shares[at]


@kernel(nogil=True, makes_arrays=False)
def _chances(strength: Any, all_below: Any, alone: Any, basis: Any, place: Any, chances: Any) -> None:
    """Write who wins one comparison, given the own strength: float64 (players + 1,), nobody last.

    Args:
        all_below: (743,). alone: (others, 743). basis: (743, k). place: (k,).
    """
    others = len(alone)
    less, at_most = float(all_below[strength]), float(all_below[strength + 1])
    for k in range(len(place)):
        less += basis[strength, k] * place[k]
        at_most += basis[strength + 1, k] * place[k]
    less = min(max(less, 0.0), 1.0)
    more = 1.0 - min(max(at_most, less), 1.0)
    chances[0] = less if strength > 0 else 0.0
    left = 1.0 - chances[0]
    for j in range(others):
        chances[j + 1] = min(more * alone[j, strength], left)
        left -= chances[j + 1]
    chances[others + 1] = left


@kernel(nogil=True, makes_arrays=False)
def _own_wins(chances: Any, below: Any, marks: Any, hands: Any, places: Any, room: Any, wins: Any) -> None:
    """Write the chance of each set of positions to be those that oneself wins; each position keeps its own chance.

    Args:
        chances: who wins each comparison, float64 (hands, players + 1).
        below: chance that the others are weak at all positions at once, by how weak at each, float64
            ((parts + 1) ** hands,), and marks: how weak, float64 (parts + 1,), as `SolverTable` has them.
        places: room, int64 (3 ** hands,). room: float64 (2, 3 ** hands).
        wins: float64 (2 ** hands,), to be written; Hand 1 is the most significant bit.
    """
    parts, size, stride = len(marks) - 1, 1, 1
    for _ in range(hands - 1):
        stride *= parts + 1
    # Needed of `below`: at each position the marks to either side, and 1.
    places[0] = 0
    for hand in range(hands):
        cell = _cell(chances[hand, 0], marks)
        for i in range(size - 1, -1, -1):
            at = places[i]
            places[3 * i] = at + stride * cell
            places[3 * i + 1] = at + stride * (cell + 1)
            places[3 * i + 2] = at + stride * parts
        size *= 3
        stride //= parts + 1
    for i in range(size):
        room[0, i] = below[places[i]]
    # Position by position: won is what lies below the own chance, lost the rest.
    sets = 1
    for hand in range(hands):
        size //= 3
        cell = _cell(chances[hand, 0], marks)
        x = (chances[hand, 0] - marks[cell]) / (marks[cell + 1] - marks[cell])
        now, then = room[hand % 2], room[1 - hand % 2]
        for one in range(sets):
            for i in range(size):
                at = 3 * one * size + i
                won = (1.0 - x) * now[at] + x * now[at + size]
                then[2 * one * size + i] = now[at + 2 * size] - won
                then[(2 * one + 1) * size + i] = won
        sets *= 2
    for one in range(sets):
        wins[one] = room[hands % 2, one]


@kernel(nogil=True, makes_arrays=False)
def _cell(chance: Any, marks: Any) -> Any:
    """Between which marks a chance lies: the number of the lower one."""
    cell = 0
    while cell < len(marks) - 2 and chance >= marks[cell + 1]:
        cell += 1
    return cell


@kernel(nogil=True, makes_arrays=False)
def _winners(first: Any, second: Any, same: Any, shares: Any, follow: Any) -> None:
    """Write who wins a position that oneself does not: by shares, and if oneself did not win the one before either.

    Of the others the same winner is likelier: rows and columns are scaled in turn until both keep their shares (Sinkhorn).

    Args:
        first, second: who wins the one before, and this one, float64 (players + 1,), nobody last.
        same: how much likelier.
        shares: float64 (2, players), of the one before, and of this one, the second to be written.
        follow: float64 (players, players), to be written: by who won the one before; adding up to 1.
    """
    rest = len(first) - 1
    _shares(second, shares[1])
    for m in range(rest):
        follow[0, m] = shares[1, m]
    if same != 1.0:
        row, column = follow[1], follow[0]  # the factors, before the rows are written
        for _ in range(_SCALINGS):
            for k in range(rest):
                total = 0.0
                for m in range(rest):
                    total += column[m] * (same if m == k and k < rest - 1 else 1.0)
                row[k] = shares[0, k] / total if total > 0.0 else 0.0
            for m in range(rest):
                total = 0.0
                for k in range(rest):
                    total += row[k] * (same if m == k and k < rest - 1 else 1.0)
                column[m] = shares[1, m] / total if total > 0.0 else 0.0
    for k in range(rest - 1, -1, -1):  # the first last: it holds the factors
        total = 0.0
        for m in range(rest):
            total += follow[0, m] * (same if m == k and k < rest - 1 else 1.0)
        for m in range(rest):
            likelier = same if m == k and k < rest - 1 else 1.0
            follow[k, m] = follow[0, m] * likelier / total if total > 0.0 else 1.0 / rest


@kernel(nogil=True, makes_arrays=False)
def _shares(chances: Any, shares: Any) -> None:
    """Write who wins a position that oneself does not, as shares; even ones where there is nothing to tell them apart."""
    rest, own = len(chances) - 1, chances[0]
    for k in range(rest):
        shares[k] = chances[1 + k] / (1.0 - own) if own < 1.0 else 1.0 / rest


@kernel(nogil=True, makes_arrays=False)
def _weigh(chances: Any, same: Any, hands: Any, shares: Any, follow: Any, weights: Any) -> Any:
    """Write how likely the others share the positions so that a leaf comes out, given those that oneself wins.

    Args:
        chances: who wins each comparison, float64 (hands, players + 1).
        same: float64 (hands - 1,).
        shares: room, float64 (2, players). follow: room, float64 (players, players).
        weights: float64 (leaves,), to be written.
    """
    base = chances.shape[1]
    _shares(chances[0], shares[0])
    weights[0] = 1.0
    for k in range(base - 1):
        weights[1 + k] = shares[0, k]
    size = base
    for hand in range(1, hands):
        _winners(chances[hand - 1], chances[hand], same[hand - 1], shares, follow)
        for i in range(size - 1, -1, -1):
            weight, before = weights[i], i % base
            weights[i * base] = weight
            for m in range(base - 1):
                weights[i * base + 1 + m] = weight * (shares[1, m] if before == 0 else follow[before - 1, m])
        for k in range(base - 1):
            shares[0, k] = shares[1, k]
        size *= base


@kernel(nogil=True, makes_arrays=False)
def _own_sets(base: Any, hands: Any, sets: Any) -> None:
    """Write which positions oneself wins in each leaf: int64 (leaves,), Hand 1 the most significant bit."""
    sets[0], size = 0, 1
    for _ in range(hands):
        for i in range(size - 1, -1, -1):
            before = sets[i]
            for digit in range(base):
                sets[i * base + digit] = 2 * before + (digit == 0)
        size *= base


@kernel(nogil=True)
def arrangement_values(
    offsets: Any,
    strengths: Any,
    quads: Any,
    opponents: Any,
    stakes: Any,
    places: Any,
    all_below: Any,
    alone: Any,
    basis: Any,
    joint_rows: Any,
    below: Any,
    marks: Any,
    same: Any,
    leaves: Any,
    hands: Any,
    values: Any,
    start: Any,
    stop: Any,
) -> None:
    """Write the value of each arrangement of many seats, by whether its owner calls a crash: float64 (options, m).

    Args:
        offsets, strengths, quads: a `CandidateBatch`.
        opponents, stakes: int64 (rows,), which row of the arrays below is each seat's.
        places: float64 (rows, k), where the known cards lie among the directions of `basis`.
        all_below: float32 (opponents, hands, 743), chance that all opponents lay less than each strength.
        alone: float32 (opponents, others, hands, 743), that one lays most alone, given that somebody lays more.
        basis: float64 (hands, 743, k), what known cards change about `all_below`.
        joint_rows: int64 (rows,), which row of `below` and `same` is each seat's.
        below, marks, same: how positions hang together, as `SolverTable` has it.
        leaves: float32 (stakes, options, quads, leaves), value of every leaf.
    """
    base, size = alone.shape[1] + 2, leaves.shape[3]
    chances = np.empty((hands, base))
    shares, follow = np.empty((2, base - 1)), np.empty((base - 1, base - 1))
    weights, sets = np.empty(size), np.empty(size, np.int64)
    needed, room, wins = np.empty(3**_MOST_HANDS, np.int64), np.empty((2, 3**_MOST_HANDS)), np.empty(2**_MOST_HANDS)
    _own_sets(base, hands, sets)
    for row in range(start, stop):
        faced, stake, joint = opponents[row], stakes[row], joint_rows[row]
        for i in range(offsets[row], offsets[row + 1]):
            for hand in range(hands):
                strength = np.int64(strengths[i, hand])
                _chances(
                    strength, all_below[faced, hand], alone[faced, :, hand], basis[hand], places[row], chances[hand]
                )
            _own_wins(chances, below[joint], marks, hands, needed, room, wins)
            _weigh(chances, same[joint], hands, shares, follow, weights)
            for leaf in range(size):
                weights[leaf] *= wins[sets[leaf]]
            laid = min(np.int64(quads[i]), leaves.shape[2] - 1)
            for option in range(leaves.shape[1]):
                worth, total = leaves[stake, option, laid], 0.0
                for leaf in range(size):
                    total += weights[leaf] * worth[leaf]
                values[option, i] = total


@kernel(nogil=True)
def outcome_chances(
    chances: Any, joint_rows: Any, below: Any, marks: Any, same: Any, joint: Any, start: Any, stop: Any
) -> None:
    """Write the chance of every leaf: float64 (rows, leaves).

    Args:
        chances: who wins each comparison, float64 (rows, hands, players + 1).
        joint_rows, below, marks, same: as `arrangement_values` takes them.
    """
    hands, base = chances.shape[1], chances.shape[2]
    shares, follow = np.empty((2, base - 1)), np.empty((base - 1, base - 1))
    sets = np.empty(joint.shape[1], np.int64)
    needed, room, wins = np.empty(3**_MOST_HANDS, np.int64), np.empty((2, 3**_MOST_HANDS)), np.empty(2**_MOST_HANDS)
    _own_sets(base, hands, sets)
    for row in range(start, stop):
        _own_wins(chances[row], below[joint_rows[row]], marks, hands, needed, room, wins)
        _weigh(chances[row], same[joint_rows[row]], hands, shares, follow, joint[row])
        for leaf in range(len(sets)):
            joint[row, leaf] *= wins[sets[leaf]]


@kernel(nogil=True)
def arrangement_chances(
    offsets: Any,
    strengths: Any,
    opponents: Any,
    places: Any,
    all_below: Any,
    alone: Any,
    basis: Any,
    chances: Any,
    start: Any,
    stop: Any,
) -> None:
    """Write who wins each comparison with each arrangement of many seats: float64 (m, hands, players + 1), nobody last.

    Args:
        offsets, strengths, opponents, places, all_below, alone, basis: as `arrangement_values` takes them.
    """
    for row in range(start, stop):
        faced = opponents[row]
        for i in range(offsets[row], offsets[row + 1]):
            for hand in range(chances.shape[1]):
                strength = np.int64(strengths[i, hand])
                _chances(
                    strength, all_below[faced, hand], alone[faced, :, hand], basis[hand], places[row], chances[i, hand]
                )
