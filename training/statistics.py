"""Estimates with 95 % intervals from clusters of games that share their deals, honest for few of them too.

**The unit.** Games on the same deals are no independent observations, so all games of one board (one stream of deals,
played by every line-up in every seating) are one cluster. A ratio such as points per round is the sum of the clusters'
totals over the sum of their sizes; its standard error comes from the linearised residuals ``total - ratio * size`` of the
clusters, as in survey sampling. The mean of clusters of equal size is the special case.

**Few clusters.** After two games, or a sweep, the observed spread is nothing and the plain interval is plus or minus 0. In
the manner of Agresti and Coull, who add successes and failures to proportions, the interval is that of the data with one
more observation at each end of the range of the measure, by a quantile of Student's t. Such an observation weighs as much
as the smallest thing with luck of its own: a board for win shares, one deal in all its seatings for points. The estimate
itself stays the plain one. With many clusters the additions vanish like ``1 / n``. A test measures how often the intervals
hold the truth: from one cluster to hundreds, all-or-nothing clusters included, it is between 93 and 100 %.

Source: Agresti and Coull, "Approximate is better than 'exact'", The American Statistician 52 (1998); Cochran, "Sampling
Techniques", 3rd edition, sections 2.11 and 9A.3; Abramowitz and Stegun, 26.7.5 (quantiles of t).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Estimate", "ratio_estimate", "t_quantile"]

_Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution
_SMALL = {1: 12.7062, 2: 4.3027, 3: 3.1824}  # of t, where the expansion is too coarse


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure and its 95 % interval.

    Attributes:
        value: the plain estimate.
        low, high: the interval; it holds `value`, and is not symmetric about it where few games were played.
    """

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    @property
    def interval(self) -> tuple[float, float]:
        """The interval as a pair."""
        return self.low, self.high

    def covers(self, value: float) -> bool:
        """Return whether the interval holds a value."""
        return self.low <= value <= self.high


def t_quantile(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t, to within 0.001.

    Raises:
        ValueError: fewer than 1 degree of freedom.

    >>> round(t_quantile(10), 3)
    2.228
    """
    if degrees < 1:
        raise ValueError(f"expected 1 or more degrees of freedom, got {degrees}")
    if degrees in _SMALL:
        return _SMALL[degrees]
    z, n = _Z, float(degrees)
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    )


def ratio_estimate(
    totals: npt.ArrayLike,
    sizes: npt.ArrayLike,
    *,
    ends: tuple[float, float],
    weight: float,
    limits: tuple[float, float] | None = None,
) -> Estimate:
    """Return the sum of the totals over the sum of the sizes, with its interval.

    Args:
        totals: one a cluster, (n,).
        sizes: one a cluster, positive, (n,).
        ends: the ends of the range of the ratio, where the added observations lie.
        weight: the size of one added observation.
        limits: what the ratio cannot pass; the interval is cut there. None for no such limits.

    Raises:
        ValueError: no clusters, arrays that do not match, a size or weight that is not positive, or equal ends.

    >>> sweep = ratio_estimate([1] * 10, [1] * 10, ends=(0, 1), weight=1, limits=(0, 1))
    >>> sweep.value, round(sweep.low, 2), sweep.high
    (1.0, 0.73, 1.0)
    """
    t, s = np.asarray(totals, np.float64), np.asarray(sizes, np.float64)
    if t.ndim != 1 or t.shape != s.shape or not len(t):
        raise ValueError(f"expected one total and one size a cluster, got shapes {t.shape} and {s.shape}")
    if not (s > 0).all() or not weight > 0:
        raise ValueError("expected sizes and a weight above 0")
    if not ends[0] < ends[1]:
        raise ValueError(f"expected ends in ascending order, got {ends}")
    value = float(t.sum() / s.sum())
    t = np.append(t, [ends[0] * weight, ends[1] * weight])
    s = np.append(s, [weight, weight])
    centre = float(t.sum() / s.sum())
    squares = float(np.square(t - centre * s).sum())
    error = math.sqrt(squares * len(t) / (len(t) - 1)) / float(s.sum())
    reach = t_quantile(len(t) - 1) * error
    low, high = min(value, centre - reach), max(value, centre + reach)
    if limits is not None:
        low, high = max(low, float(limits[0])), min(high, float(limits[1]))
    return Estimate(value=value, low=low, high=high)
