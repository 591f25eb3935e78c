"""What good play does with many hands, in figures: what wins where, what is laid, and what other ways of playing give up.

Hands are dealt from a seed, as at any table; all stand at one score, with nothing known of the others. Good play is what
`solver-fast` lays. Figures that compare arrangements are its own, too: they say what a choice gives up by its reckoning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.heuristics import Balanced, Greedy
from ..agents.percentile import Percentile
from ..agents.percentile_table import TableError
from ..agents.protocol import BaseAgent
from ..agents.solver_table import needs_index
from ..envs.brag import NUM_STRENGTHS, BragClass, class_of_strength, describe_strength, triple_strength
from ..envs.cards import RANKS, parse_cards
from ..envs.crash.game import Phase
from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import CandidateBatch, laid_many
from ..envs.crash.rules import CrashRules
from ..envs.deals import DealStream
from .analysis import Analyst
from .analysis_survey_choices import Calls, Exchanges, survey_calls, survey_exchanges

__all__ = ["HandsSurvey", "Others", "Prial", "Rivals", "survey_hands"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_SHOWN = (
    *("3c3d3h", "AcAdAh", "8c8d8h", "2c2d2h"),
    *("Ac2c3c", "AcKcQc", "9c8c7c", "4c3c2c"),
    *("Ac2d3c", "AcKdQc", "9c8d7c", "4c3d2c"),
    *("AcKcJc", "JcTc8c", "6c5c3c"),
    *("AcAdKc", "9c9dAc", "4c4dAc"),
)
_WANTED = (0.25, 0.5, 0.75)
_CRASHES = (0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """How another way of playing compares.

    Attributes:
        name: of the agent, or `points` for the best by points.
        differs: share of hands with something better by win share.
        win_share, points: given up, on average over all hands; points against the best by points.
    """

    name: str
    differs: float
    win_share: float
    points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Prial:
    """Three or four cards of one rank in a hand.

    Attributes:
        rank: which.
        hands: how many hands hold them.
        laid: share of those in which the best lays the prial.
        cost: win share that laying it gives up where it is not the best, on average over those with such an arrangement.
        never: win share that breaking it gives up where it is the best, on average over those with another arrangement.
    """

    rank: str
    hands: int
    laid: float
    cost: float
    never: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivals:
    """Hands that can lay either a run or a flush at one position, in undominated arrangements.

    Attributes:
        hands: how many.
        flush: share of those in which the flush there is worth more.
        always_run, always_flush: win share given up, on average, by taking the best with a run there, or with a flush.
    """

    hands: int
    flush: float
    always_run: float
    always_flush: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HandsSurvey:
    """What good play does with many hands. Lists by hand start with Hand 1; shares and chances are from 0 to 1.

    Attributes:
        rules: the rules' options.
        scores: own first, then clockwise.
        deals, seed: of the hands.
        hand_worth: what winning each hand is worth, in win share, on average.
        chances: to win each hand with the best arrangement, on average.
        crash: chance of a crash, on average.
        crash_at_least: by chance, share of hands whose best arrangement crashes with at least that.
        ladder: some hands in words and their chances to win at each position.
        needed: by chance, the weakest hand that wins at each position with it ("none" if none does).
        laid: by class of hands, how often the best lays it at each position.
        prials: by rank, 3 first.
        rivals: runs against flushes, by position.
        others: other ways of playing.
        exchange: None without an exchange.
        calls: None where crashes are not called.
    """

    rules: Mapping[str, Any]
    scores: tuple[int, ...]
    deals: int
    seed: int
    hand_worth: tuple[float, ...]
    chances: tuple[float, ...]
    crash: float
    crash_at_least: Mapping[str, float]
    ladder: tuple[tuple[str, tuple[float, ...]], ...]
    needed: Mapping[str, tuple[str, ...]]
    laid: Mapping[str, tuple[float, ...]]
    prials: tuple[Prial, ...]
    rivals: tuple[Rivals, ...]
    others: tuple[Others, ...]
    exchange: Exchanges | None
    calls: Calls | None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"kind": "survey", **asdict(self)}


def survey_hands(
    rules: CrashRules,
    *,
    scores: Sequence[int],
    deals: int,
    seed: int = 1,
    table: str | Path | None = None,
) -> HandsSurvey:
    """Return what good play does with hands that are dealt.

    Args:
        rules: the rules.
        scores: own first, then clockwise.
        deals: how many hands.
        seed: of the hands.
        table: path of a solver's table; the one that ships and fits if None.

    Raises:
        SolverTableError: no table fits.

    >>> found = survey_hands(CrashRules.preset("online"), scores=(0, 0, 0), deals=20)
    >>> len(found.ladder), len(found.rivals)
    (18, 4)
    """
    analyst = Analyst(rules, table=table)
    views = _dealt(rules, scores, deals, seed)
    found = views.undominated()
    by_win, by_points = (analyst.values(views, found, of) for of in ("win", "points"))
    win, points = by_win.max(axis=0), by_points.max(axis=0)
    best, best_points = found.best_rows(win), found.best_rows(points)
    outcomes = analyst.chances(views, found)[best]
    crash = analyst.crashes(views, outcomes)
    classes = _classes()[found.strengths[:, : rules.hands]]
    won = _won_curves(rules, analyst, scores)
    return HandsSurvey(
        rules=rules.to_dict(),
        scores=tuple(scores),
        deals=deals,
        seed=seed,
        hand_worth=tuple(analyst.hand_worths(views, outcomes, found.quads[best]).mean(axis=0).tolist()),
        chances=tuple(outcomes[:, :, 0].mean(axis=0).tolist()),
        crash=float(crash.mean()),
        crash_at_least={f"{chance:.0%}": float((crash >= chance).mean()) for chance in _CRASHES},
        ladder=tuple(_ladder(rules, won)),
        needed={f"{wanted:.0%}": tuple(_needed(rules, curve, wanted) for curve in won) for wanted in _WANTED},
        laid=_laid(classes[best]),
        prials=tuple(_prials(rules, views, found, win, best)),
        rivals=tuple(_rivals(found, win, classes[:, hand]) for hand in range(rules.hands)),
        others=(
            *_others(rules, analyst, views, win[best], points[best_points]),
            _other("points", win[best], win[best_points], np.zeros(deals)),
        ),
        exchange=survey_exchanges(analyst, views, found, classes[best][:, 0]) if rules.has_exchange else None,
        calls=survey_calls(found, by_win, by_points, crash, best) if rules.has_calls else None,
    )


def _dealt(rules: CrashRules, scores: Sequence[int], deals: int, seed: int) -> ViewBatch:
    """Views of seat 0, at the dealer's left, that is to lay hands of its own."""
    stream, n = DealStream(seed, 0), rules.players
    hands = [sorted(stream.shuffle(rules.pack, deal=deal, count=rules.cards_dealt)) for deal in range(deals)]
    return ViewBatch(
        rules=rules,
        seat=np.zeros(deals, np.int8),
        phase=np.full(deals, Phase.ARRANGE, np.int8),
        dealer=np.full(deals, n - 1, np.int8),
        to_act=np.ones(deals, np.int8),
        rounds_played=np.zeros(deals, np.int32),
        scores=np.tile(np.array(scores, np.int32), (deals, 1)),
        cards=np.array(hands, np.int8),
        given_up=np.full((deals, rules.cards_dealt), -1, np.int8),
        exchanges=np.full((deals, n), -1, np.int8),
        calls=np.full((deals, n), -1, np.int8),
        laid=np.full(deals, -1, np.int32),
    )


def _classes() -> npt.NDArray[np.int8]:
    """Class of each strength, -1 for no hand: int8 (742,)."""
    return np.array([-1] + [class_of_strength(strength) for strength in range(1, NUM_STRENGTHS + 1)], np.int8)


def _won_curves(rules: CrashRules, analyst: Analyst, scores: Sequence[int]) -> Floats:
    """Chance to win each comparison by strength, cards aside, against hands like any other: float64 (hands, 742)."""
    states = [
        needs_index((*scores[seat:], *scores[:seat]), rules.target, analyst.table.cap)
        for seat in range(1, rules.players)
    ]
    curves = analyst.table.all_laid_below(0, states)[:, :-1]
    curves[:, 0] = 0.0
    return curves


def _ladder(rules: CrashRules, won: Floats) -> Iterable[tuple[str, tuple[float, ...]]]:
    shown = [text for text in _SHOWN if all(card.id in rules.pack for card in parse_cards(text))]
    strengths = {triple_strength(text, flush_high=rules.flush_order) for text in shown}
    for strength in sorted(strengths, reverse=True):
        if class_of_strength(strength) >= rules.lowest_class:
            yield describe_strength(strength, flush_high=rules.flush_order), tuple(won[:, strength].tolist())


def _needed(rules: CrashRules, curve: Floats, wanted: float) -> str:
    enough = np.flatnonzero(curve >= wanted)
    return describe_strength(int(enough[0]), flush_high=rules.flush_order) if len(enough) else "none"


def _laid(classes: npt.NDArray[np.int8]) -> Mapping[str, tuple[float, ...]]:
    """How often each class is laid: of classes (deals, hands)."""
    shares = {kind.label: (classes == kind).mean(axis=0) for kind in reversed(BragClass)}
    shares["nothing"] = (classes < 0).mean(axis=0)
    return {name: tuple(share.tolist()) for name, share in shares.items() if share.any()}


def _best_with(found: CandidateBatch, values: Floats, having: Flags) -> Floats:
    """Highest value of each deal's arrangements that have something; -inf where none has: float64 (deals,)."""
    best: Floats = np.maximum.reduceat(np.where(having, values, -np.inf), found.offsets[:-1])
    return best


def _prials(
    rules: CrashRules, views: ViewBatch, found: CandidateBatch, win: Floats, best: npt.NDArray[np.int64]
) -> Iterable[Prial]:
    held = np.stack([(views.cards >> 2 == rank).sum(axis=1) >= 3 for rank in range(len(RANKS))], axis=1)
    for rank in sorted(range(len(RANKS)), key=lambda rank: (rank != RANKS.index("3"), -rank)):
        hands = held[:, rank]
        if not hands.any():
            continue
        letter = RANKS[rank]
        strength = triple_strength(f"{letter}c{letter}d{letter}h", flush_high=rules.flush_order)
        having = (found.strengths == strength).any(axis=1)
        with_it, without = _best_with(found, win, having), _best_with(found, win, ~having)
        broken = hands & ~having[best] & np.isfinite(with_it)
        kept = hands & having[best] & np.isfinite(without)
        yield Prial(
            rank=letter,
            hands=int(hands.sum()),
            laid=float(having[best][hands].mean()),
            cost=float((win[best] - with_it)[broken].mean()) if broken.any() else 0.0,
            never=float((win[best] - without)[kept].mean()) if kept.any() else 0.0,
        )


def _rivals(found: CandidateBatch, win: Floats, classes: npt.NDArray[np.int8]) -> Rivals:
    run, flush = (_best_with(found, win, classes == kind) for kind in (BragClass.RUN, BragClass.FLUSH))
    both = np.isfinite(run) & np.isfinite(flush)
    if not both.any():
        return Rivals(hands=0, flush=0.0, always_run=0.0, always_flush=0.0)
    gain = flush[both] - run[both]
    return Rivals(
        hands=int(both.sum()),
        flush=float((gain > 0).mean()),
        always_run=float(np.maximum(gain, 0).mean()),
        always_flush=float(np.maximum(-gain, 0).mean()),
    )


def _others(
    rules: CrashRules, analyst: Analyst, views: ViewBatch, best: Floats, best_points: Floats
) -> Iterable[Others]:
    agents: list[BaseAgent] = [Greedy(), Balanced(), Percentile()]
    for agent in agents:
        try:
            agent.check_rules(rules)
        except TableError:
            continue
        laid = laid_many(agent.arrange_many(views, np.random.default_rng(0)), views.cards, rules)
        win, points = (analyst.values(views, laid, of).max(axis=0) for of in ("win", "points"))
        yield _other(agent.name, best, win, best_points - points)


def _other(name: str, best: Floats, win: Floats, points_lost: Floats) -> Others:
    lost = best - win
    return Others(
        name=name,
        differs=float((lost > 1e-9).mean()),
        win_share=float(lost.mean()),
        points=float(points_lost.mean()),
    )
