"""Of a survey: when hands are exchanged and crashes called, and what either is worth.

Exchanges are those of the first to be asked. Values are `solver-fast`'s own, for every hand of the survey; a few are valued
anew by sampled spare hands (`prial.training.analysis_exchange`), which says how far the rule of thumb of `percentile` goes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..agents.percentile import crash_weight
from ..agents.percentile_table import arrangement_values, find_table
from ..envs.brag import BragClass
from ..envs.crash.game import Phase
from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import CandidateBatch
from .analysis import Analyst

__all__ = ["CallBand", "Calls", "ExchangeKind", "Exchanges", "survey_calls", "survey_exchanges"]

Floats = npt.NDArray[np.float64]

_CHECKED = 60  # hands valued both ways, kept and exchanged
_BANDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)  # of crash chances, the last one open


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeKind:
    """Hands whose best arrangement lays a certain class as Hand 1.

    Attributes:
        kind: the class.
        hands: share of all hands.
        exchanged: share of those that are exchanged.
        gain: what exchanging has more than keeping, in win share, on average over those.
    """

    kind: str
    hands: float
    exchanged: float
    gain: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanges:
    """Whether to exchange.

    >>> from .analysis_survey import survey_hands
    >>> from ..envs.crash.rules import CrashRules
    >>> found = survey_hands(CrashRules.preset("bga"), scores=(0, 0, 0), deals=20).exchange
    >>> 0 < found.exchanged < 1, found.checked
    (True, 20)

    Attributes:
        exchanged: share of hands that are exchanged by the first to be asked.
        never, always: win share given up, on average over all hands, by keeping every hand, and by exchanging every hand.
        by_rule: likewise, by going by the threshold below.
        kinds: by the class of Hand 1 in the best arrangement, the best class first.
        below: by how many have kept, the threshold in points and the share of hands below it.
        checked: how many hands were valued both ways, with sampled spare hands, for the first to be asked.
        better: share of those that win more often exchanged.
        otherwise: share of those that the threshold decides otherwise, by more than two standard errors.
        cost: win share given up by that, on average over those checked.
    """

    exchanged: float
    never: float
    always: float
    by_rule: float
    kinds: tuple[ExchangeKind, ...]
    below: tuple[tuple[float, float], ...]
    checked: int
    better: float
    otherwise: float
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBand:
    """Hands whose best arrangement crashes with about the same chance.

    Attributes:
        chance: the least of that chance; it goes up to that of the next band.
        hands: share of all hands.
        called: share of those that call.
        win_share, points: what calling has more than passing, on average over those.
    """

    chance: float
    hands: float
    called: float
    win_share: float
    points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Whether to call a crash, asked first.

    Attributes:
        called: share of hands that call.
        never: win share given up by never calling, on average over all hands, the best laid for that.
        points: likewise for points.
        rearranged: share of hands that are laid otherwise because they can call.
        bands: by the chance to crash with what is laid; only those with hands in them.
    """

    called: float
    never: float
    points: float
    rearranged: float
    bands: tuple[CallBand, ...]


def survey_exchanges(
    analyst: Analyst, views: ViewBatch, found: CandidateBatch, first: npt.NDArray[np.int8]
) -> Exchanges:
    """Return when the hands of a survey are exchanged, and what that is worth.

    Args:
        analyst: of the rules.
        views: of hands to lay, of the first to be asked, nothing said.
        found: their undominated arrangements.
        first: class of Hand 1 in the best one, -1 for none, (n,).
    """
    rules = analyst.rules
    keeping, exchanging = analyst.exchange_values(replace(views, phase=np.full(len(views), Phase.EXCHANGE, np.int8)))
    gain = exchanging - keeping
    best = np.maximum(keeping, exchanging)
    table = find_table(rules)
    values = arrangement_values(found, table.win_chances(), rules=rules, weight=crash_weight(rules))
    worth = np.maximum.reduceat(values, found.offsets[:-1])
    asked = [analyst.exchange(views[row]) for row in range(min(_CHECKED, len(views)))]
    known = [one for one in asked if one is not None]
    lost = [one.win_share.lost(exchanged=one.exchanges) for one in known]
    names = [*((kind.label, int(kind)) for kind in reversed(BragClass)), ("nothing", -1)]
    return Exchanges(
        exchanged=float((gain > 0).mean()),
        never=float((best - keeping).mean()),
        always=float((best - exchanging).mean()),
        by_rule=float((best - np.where(worth < table.exchange_below[0], exchanging, keeping)).mean()),
        kinds=tuple(
            ExchangeKind(
                kind=name,
                hands=float((first == number).mean()),
                exchanged=float((gain > 0)[first == number].mean()),
                gain=float(gain[first == number].mean()),
            )
            for name, number in names
            if (first == number).any()
        ),
        below=tuple((threshold, float((worth < threshold).mean())) for threshold in table.exchange_below),
        checked=len(known),
        better=float(np.mean([one.win_share.gain > 0 for one in known])),
        otherwise=float(np.mean([loss > 0 for loss in lost])),
        cost=float(np.mean(lost)),
    )


def survey_calls(
    found: CandidateBatch, win: Floats, points: Floats, crash: Floats, best: npt.NDArray[np.int64]
) -> Calls:
    """Return when the hands of a survey call, and what that is worth.

    Args:
        found: undominated arrangements of the hands.
        win, points: what they are worth by either measure, passing and calling, float64 (2, m).
        crash: chance to crash with the best of each hand, float64 (n,).
        best: rows of the best, (n,).
    """
    starts = found.offsets[:-1]
    gains = [(values[1] - values[0])[best] for values in (win, points)]
    lost = [
        float((np.maximum.reduceat(values.max(axis=0), starts) - np.maximum.reduceat(values[0], starts)).mean())
        for values in (win, points)
    ]
    band = np.searchsorted(_BANDS, crash, side="right") - 1
    called = gains[0] > 0
    return Calls(
        called=float(called.mean()),
        never=lost[0],
        points=lost[1],
        rearranged=float((found.best_rows(win[0]) != best).mean()),
        bands=tuple(
            CallBand(
                chance=chance,
                hands=float((band == number).mean()),
                called=float(called[band == number].mean()),
                win_share=float(gains[0][band == number].mean()),
                points=float(gains[1][band == number].mean()),
            )
            for number, chance in enumerate(_BANDS)
            if (band == number).any()
        ),
    )
