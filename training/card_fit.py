"""How known cards move what opponents lay: a least-squares fit of the second order, for the tables of `solver-fast`.

For each situation, what is fitted is whether the strongest hand of the others at a position is below a strength, for every
position and strength at once. A linear fit on the features of the known cards (`_kernels_solver_cards.card_features`) says
which axes matter most; the second fit is on the places on these axes and the products of the first of them. Its slopes, over
all situations together, are kept in their strongest directions.

Source: reduced-rank regression (Izenman, "Reduced-rank regression for the multivariate linear model", 1975).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..agents.solver_table import NUM_FEATURES, num_terms

__all__ = ["CardFit", "CardSample", "fit_known_cards"]

Floats = npt.NDArray[np.float64]
_CUTS = 743
_AXES, _DIRECTIONS = 40, 40
_PAIRED, _PAIRED_OF_FEW = 16, 32  # axes that make products; where there are few situations, with many samples each
_FEW_SITUATIONS = 4
_AT_ONCE = 50_000  # rows of features
_USABLE = 1e-5  # of the largest variance: directions with less are the same feature twice


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CardSample:
    """What was known and laid in one situation.

    Attributes:
        cards, given_up: int8 (m, cards); -1 where nothing was given up.
        laid: strongest of the others' hands by position, int64 (m, hands).
    """

    cards: npt.NDArray[np.int8]
    given_up: npt.NDArray[np.int8]
    laid: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CardFit:
    """The fit, as `SolverTable` has it.

    Attributes:
        means, axes, weights, basis: ``card_means`` and so on.
        explained: share of what the fits say that the directions keep.
    """

    means: Floats
    axes: Floats
    weights: Floats
    basis: Floats
    explained: float


def fit_known_cards(samples: Sequence[CardSample], *, hands: int) -> CardFit:
    """Return the fit to samples, one for each situation.

    >>> rng = np.random.default_rng(1)
    >>> cards = np.sort(rng.permuted(np.tile(np.arange(52, dtype=np.int8), (3000, 1)), axis=1)[:, :13], axis=1)
    >>> aces = (cards >= 48).sum(axis=1)
    >>> sample = CardSample(cards=cards, given_up=np.full_like(cards, -1), laid=np.where(aces > 1, 100, 300)[:, None])
    >>> fit = fit_known_cards([sample], hands=1)
    >>> fit.axes.shape, fit.basis.shape[:2], fit.explained > 0.999
    ((1, 98, 40), (1, 743), True)
    """
    situations = len(samples)
    size = num_terms(_AXES, _PAIRED_OF_FEW if 1 < situations <= _FEW_SITUATIONS else _PAIRED)
    means, axes = np.zeros((situations, NUM_FEATURES)), np.zeros((situations, NUM_FEATURES, _AXES))
    fits: list[tuple[Floats, Floats, Floats]] = []
    for number, sample in enumerate(samples):
        mean, spread, slopes = _regressed(sample, hands, _features_of(sample), NUM_FEATURES)
        _, _, across = np.linalg.svd(slopes, full_matrices=False)
        strongest = across[:_AXES].T
        means[number], axes[number, :, : strongest.shape[1]] = mean, spread @ strongest
        fits.append(_regressed(sample, hands, _terms_of(sample, means[number], axes[number], size), size - 1))
    sizes = np.array([len(sample.laid) for sample in samples])
    shares = np.sqrt(sizes / max(1, sizes.sum()))
    stacked = np.concatenate([share * slopes for share, (_, _, slopes) in zip(shares, fits, strict=True)], axis=1)
    basis, lengths, _ = np.linalg.svd(stacked, full_matrices=False)
    basis = np.pad(basis, ((0, 0), (0, max(0, _DIRECTIONS - basis.shape[1]))))[:, :_DIRECTIONS]
    weights = np.zeros((situations, size, _DIRECTIONS))
    for number, (mean, spread, slopes) in enumerate(fits):
        weights[number, 1:] = spread @ (basis.T @ slopes).T
        weights[number, 0] = -mean @ weights[number, 1:]
    return CardFit(
        means=means,
        axes=axes,
        weights=weights,
        basis=basis.reshape(hands, _CUTS, _DIRECTIONS),
        explained=float((lengths[:_DIRECTIONS] ** 2).sum() / max(float((lengths**2).sum()), 1e-30)),
    )


def _features_of(sample: CardSample) -> Callable[[slice], Floats]:
    from ..agents import _kernels_solver_cards as kernels

    def features(rows: slice) -> Floats:
        cards = sample.cards[rows]
        found = np.empty((len(cards), NUM_FEATURES))
        kernels.card_features(cards, sample.given_up[rows], found, 0, len(cards))
        return found

    return features


def _terms_of(sample: CardSample, means: Floats, axes: Floats, size: int) -> Callable[[slice], Floats]:
    from ..agents import _kernels_solver_cards as kernels

    features_of = _features_of(sample)

    def terms(rows: slice) -> Floats:
        features = features_of(rows)
        found = np.empty((len(features), size))
        kernels.card_terms(features, np.zeros(len(features), np.int64), means[None], axes[None], found, 0, len(found))
        return found[:, 1:]

    return terms


def _regressed(
    sample: CardSample, hands: int, regressors: Callable[[slice], Floats], size: int
) -> tuple[Floats, Floats, Floats]:
    """Least squares of "less than strength s is laid" on regressors.

    Slopes are shrunk, each by how much of its size is noise as expected (James and Stein, 1961): more where samples are few.

    Args:
        sample: what was laid.
        hands: how many.
        regressors: of some rows, float64 (rows, size).
        size: how many.

    Returns:
        The regressors' means; what makes them white, (size, r); and the slopes of the white ones, (hands * 743, r).
    """
    from ..agents import _kernels_solver_cards as kernels

    count = len(sample.laid)
    total, moments, sums = np.zeros(size), np.zeros((size, size)), np.zeros((hands, _CUTS - 1, size))
    for start in range(0, count, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        some = np.ascontiguousarray(regressors(rows))
        total += some.sum(axis=0)
        moments += some.T @ some
        kernels.add_to_fit(some, np.ascontiguousarray(sample.laid[rows]), sums)
    if count < 2:
        return total, np.zeros((size, 1)), np.zeros((hands * _CUTS, 1))
    mean = total / count
    spread_by = moments / count - np.outer(mean, mean)
    deviations = np.sqrt(np.maximum(np.diag(spread_by), 0.0))
    scale = np.where(deviations > _USABLE, 1.0 / np.maximum(deviations, _USABLE), 0.0)
    sizes, directions = np.linalg.eigh(spread_by * scale[:, None] * scale)
    usable = sizes > _USABLE * max(float(sizes.max()), _USABLE)
    spread = scale[:, None] * directions[:, usable] / np.sqrt(sizes[usable])
    counts = np.stack([np.bincount(sample.laid[:, hand], minlength=_CUTS - 1) for hand in range(hands)])
    centred = sums - counts[:, :, None] * mean
    slopes = np.zeros((hands, _CUTS, spread.shape[1]))
    slopes[:, 1:] = np.cumsum(centred, axis=1) @ spread / count
    below = np.cumsum(counts, axis=1) / count
    noise = float((below * (1.0 - below)).sum()) / count
    flat = slopes.reshape(hands * _CUTS, -1)
    return mean, spread, flat * np.maximum(0.0, 1.0 - noise / np.maximum((flat**2).sum(axis=0), 1e-30))
