"""Rounds of many deals at once, in every way that the exchange can go: what is laid, by whom, and who gains by exchanging.

Seats are in turn order. The piles of a deal are the players' hands, then the spare ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from ..envs.brag import NUM_STRENGTHS
from ..envs.crash.rules import MAX_HANDS, CrashRules

__all__ = ["Course", "Rounds", "courses_of"]

Floats = npt.NDArray[np.float64]
Strengths = npt.NDArray[np.int16]

_WINDOW = 0.5  # points to either side of a threshold, within which what is gained is taken as a straight line


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One way that an exchange can go.

    Attributes:
        choices: of each seat: True exchanged, False kept, None not asked.
        piles: that each seat ends up with.
    """

    choices: tuple[bool | None, ...]
    piles: tuple[int, ...]

    def others_kept(self, seat: int) -> int:
        """Return how many others have kept their hands."""
        return sum(choice is False for other, choice in enumerate(self.choices) if other != seat)


def courses_of(rules: CrashRules) -> tuple[Course, ...]:
    """Return every way that an exchange can go, in the order of `Rounds.courses`.

    >>> [course.piles for course in courses_of(CrashRules.preset("bga"))]
    [(3, 1, 2), (0, 3, 2), (0, 1, 3), (0, 1, 2)]
    """
    n = rules.players
    if rules.num_spares == n:  # a spare hand each
        every: list[tuple[bool | None, ...]] = list(product((False, True), repeat=n))
    elif rules.num_spares:  # one, for the first who wants it
        every = [(False,) * seat + (True,) + (None,) * (n - seat - 1) for seat in range(n)] + [(False,) * n]
    else:
        every = [(None,) * n]
    spare = [n + (seat if rules.num_spares == n else 0) for seat in range(n)]
    return tuple(
        Course(choices=choices, piles=tuple(spare[seat] if choice else seat for seat, choice in enumerate(choices)))
        for choices in every
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rounds:
    """What is laid from every pile of many deals, and who would exchange.

    Attributes:
        rules: the rules.
        weight: what a crash is worth, in points.
        strengths: int16 (k, deals, piles, 4): what is laid where 0, 1, ... opponents have kept (k = 1 without an exchange).
        quads: four of a kind laid, int8 (k, deals, piles).
        scores: what the hands are worth to those who may exchange, float64 (deals, players).
        below: the thresholds, as `PercentileTable.exchange_below`.
    """

    rules: CrashRules
    weight: float
    strengths: Strengths
    quads: npt.NDArray[np.int8]
    scores: Floats
    below: tuple[float, ...]

    def count(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return how often each strength is laid at each position, of fresh and of kept hands: int64 (4, 742) each."""
        counts = np.zeros((2, MAX_HANDS, NUM_STRENGTHS + 1), np.int64)
        taken = self._taken(self._wants())
        for number, course in enumerate(courses_of(self.rules)):
            laid = self._laid(course)[taken == number]
            for seat, choice in enumerate(course.choices):
                for position in range(MAX_HANDS):
                    some = np.bincount(laid[:, seat, position], minlength=NUM_STRENGTHS + 1)
                    counts[int(choice is False), position] += some
        return counts[0], counts[1]

    def even_scores(self) -> tuple[float, ...]:
        """Return the scores at which keeping and exchanging come out even, one for each of `below`.

        What keeping gains, in the round's margin, is fitted by a straight line of the score near the threshold so far.
        """
        rules, n = self.rules, self.rules.players
        margins = np.array([self._margins(course) for course in courses_of(rules)])  # (courses, deals, players)
        wants, deals = self._wants(), np.arange(len(self.scores))
        even = []
        for kept, threshold in enumerate(self.below):
            scores, gains = [], []
            for seat in range(n) if rules.num_spares == n else (kept,):
                asked = deals if rules.num_spares == n else deals[~wants[:, :seat].any(axis=1)]
                choice = wants.copy()
                choice[:, seat] = False
                keeping = margins[self._taken(choice), deals, seat]
                choice[:, seat] = True
                exchanging = margins[self._taken(choice), deals, seat]
                scores.append(self.scores[asked, seat])
                gains.append((keeping - exchanging)[asked])
            even.append(_root(np.concatenate(scores), np.concatenate(gains), near=threshold))
        return tuple(even)

    def _wants(self) -> npt.NDArray[np.bool_]:
        """Return who exchanges if asked: bool (deals, players)."""
        if not self.below:
            return np.zeros(self.scores.shape, np.bool_)
        wants: npt.NDArray[np.bool_] = self.scores < np.array(self.below)
        return wants

    def _taken(self, wants: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Return the number of the course that each deal takes: int64 (deals,)."""
        n = self.rules.players
        if self.rules.num_spares == n:
            number = np.zeros(len(wants), np.int64)
            for seat in range(n):
                number = 2 * number + wants[:, seat]
            return number
        if self.rules.num_spares:
            return np.where(wants.any(axis=1), wants.argmax(axis=1), n)
        return np.zeros(len(wants), np.int64)

    def _laid(self, course: Course) -> Strengths:
        """Return what is laid in a course: int16 (deals, players, 4)."""
        seats = [self.strengths[course.others_kept(seat), :, pile] for seat, pile in enumerate(course.piles)]
        return np.stack(seats, axis=1)

    def _margins(self, course: Course) -> Floats:
        """Return the margins of a course, a crash counted as `weight`: float64 (deals, players)."""
        rules, n = self.rules, self.rules.players
        laid = self._laid(course)[:, :, : rules.hands]
        best = (laid == laid.max(axis=1, keepdims=True)) & (laid > 0)
        won = best & (best.sum(axis=1, keepdims=True) == 1)
        points = won.sum(axis=2).astype(np.float64)
        if rules.hands > 1:
            points += self.weight * won.all(axis=2)
        quads = [self.quads[course.others_kept(seat), :, pile] for seat, pile in enumerate(course.piles)]
        points += rules.quads_bonus * np.stack(quads, axis=1)
        margins: Floats = points - (points.sum(axis=1, keepdims=True) - points) / (n - 1)
        return margins


def _root(scores: Floats, gains: Floats, *, near: float) -> float:
    """Return where gains cross 0 upwards, by a straight line through those within the window; `near` if none does."""
    within = np.abs(scores - near) <= _WINDOW
    scores, gains = scores[within], gains[within]
    if len(scores) < 2:
        return near
    middle, gain = float(scores.mean()), float(gains.mean())
    spread = float(((scores - middle) ** 2).sum())
    slope = float(((scores - middle) * gains).sum()) / spread if spread else 0.0
    if slope <= 0:
        return near
    return min(near + _WINDOW, max(near - _WINDOW, middle - gain / slope))
