"""Levels of the trained agents (`prial.agents.levels`): how much each slips, and what it comes to.

**Calibration.** A level in one seat of three plays two of the network itself, on the same boards with several amounts of
slips; the amount at which its win share is the level's aim is read off the line through those points. **Report**: other
deals, every number of players, against the network and against `greedy`, and what a wrong decision costs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..agents import trained
from ..agents.levels import LEVELS, Level, level
from ..agents.trained import Trained
from ..envs.cards import format_cards
from ..envs.crash.actions import action_layout
from ..envs.crash.game import Phase
from ..envs.crash.partitions import laid_triples
from ..envs.crash.presets import read_preset
from ..envs.crash.rules import CrashRules
from ..envs.crash.vector import CrashVectorEnv
from .arena import run_arena
from .statistics import Estimate

__all__ = [
    "AIMS",
    "GRID",
    "RULE_SETS",
    "Example",
    "LevelReport",
    "Slipping",
    "calibrated",
    "examples",
    "levels_file",
    "reports",
    "slipping",
]

RULE_SETS = ("online", "bga", "traditional")
AIMS: Mapping[str, float] = {"easy": 0.22, "medium": 0.26, "hard": 0.30}
"""Win shares in one seat of three against two of the network, who would win a third."""

GRID = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
Progress = Callable[[int, int], None]


Calibration = Mapping[str, tuple[Mapping[str, float], Mapping[float, float]]]
"""By rule set: how much each level slips, and the win share measured at each amount."""


def calibrated(
    rule_sets: Sequence[str] = RULE_SETS,
    *,
    games: int = 6000,
    seed: int = 1000,
    grid: Sequence[float] = GRID,
    progress: Progress | None = None,
) -> Calibration:
    """Return how much each level is to slip.

    Args:
        rule_sets: whose networks.
        games: for each amount, on the same boards.
        seed: of deals and agents.
        grid: the amounts, ascending.
        progress: called with the amounts tried and all of them.
    """
    found = {}
    for done, rule_set in enumerate(rule_sets):
        base: Trained = getattr(trained, rule_set)()
        rules = CrashRules.preset(rule_set, players=3)
        shares: dict[float, float] = {}
        for slips in grid:
            result = run_arena([Level(base, slips=slips), base], rules=rules, games=games, seed=seed)
            shares[slips] = result.agents[0].win_share.value
            if progress is not None:
                progress(done * len(grid) + len(shares), len(rule_sets) * len(grid))
        # A share by chance above that of fewer slips is taken for the same: shares fall, so that each aim is met once.
        measured = np.minimum.accumulate([1 / 3, *shares.values()])
        met = {name: float(np.interp(-aim, -measured, [0.0, *grid])) for name, aim in AIMS.items()}
        found[rule_set] = ({name: float(f"{slips:.3g}") for name, slips in met.items()}, shares)
    return found


def levels_file(found: Calibration, *, command: str) -> str:
    """Return the file that ships, of what `calibrated` found by rule set.

    >>> json.loads(levels_file({"online": ({"easy": 3.0}, {2.0: 0.25})}, command="prial levels"))["slips"]
    {'online': {'easy': 3.0}}
    """
    about = {
        "format": "prial levels 1",
        "command": command,
        "aims": dict(AIMS),
        "slips": {name: dict(slips) for name, (slips, _) in found.items()},
        "measured": {
            name: {f"{at:g}": round(share, 4) for at, share in shares.items()} for name, (_, shares) in found.items()
        },
    }
    return json.dumps(about, indent=1) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slipping:
    """What a level's decisions are like, where it has a choice of arrangements.

    Attributes:
        choices: decisions with two arrangements or more.
        agrees: share of them in which it lays what the network lays.
        cost: what a decision in which it does not costs, by the network's values, in win share.
        exchanges: share of its exchanges decided as the network decides; None where there are none.
    """

    choices: int
    agrees: float
    cost: float
    exchanges: float | None


def slipping(agent: Level, rules: CrashRules, *, tables: int = 300, steps: int = 12, seed: int = 3000) -> Slipping:
    """Return what a level's decisions are like, in games of the network with itself."""
    env = CrashVectorEnv(tables, rules, seed=seed)
    rng = np.random.default_rng(seed)
    agreed: list[npt.NDArray[np.bool_]] = []
    lost: list[npt.NDArray[np.float64]] = []
    swaps: list[npt.NDArray[np.bool_]] = []
    for _ in range(steps):
        _, _, views = env.views()
        actions = agent.base.act_many(views, rng)
        arranging = np.flatnonzero(views.phase == Phase.ARRANGE)
        asked = np.flatnonzero(views.phase == Phase.EXCHANGE)
        if len(asked):
            swaps.append(agent.act_many(views.select(asked), rng) == actions[asked])
        if len(arranging):
            own = views.select(arranging)
            found = own.undominated()
            several = found.counts > 1
            values = agent.base.values(own).astype(np.float64)
            laid = agent.arrange_many(own, rng)
            owner = np.repeat(np.arange(len(own)), found.counts)
            row = np.flatnonzero(found.partitions == laid[owner])
            loss = np.maximum.reduceat(values, found.offsets[:-1]) - values[row]
            agreed.append((laid == actions[arranging])[several])
            lost.append(loss[several])
        env.act_many([agent.base], [rng], seating=np.zeros(rules.players, np.int64))
    same, loss = np.concatenate(agreed), np.concatenate(lost)
    wrong = ~same
    return Slipping(
        choices=len(same),
        agrees=float(same.mean()),
        cost=float(loss[wrong].mean()) / 10 if wrong.any() else 0.0,  # values are in tenths of a win
        exchanges=float(np.concatenate(swaps).mean()) if swaps else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelReport:
    """What a level comes to under some rules.

    Attributes:
        rules: the rules.
        level: its name, or `expert`.
        against_network, against_greedy: its win share in one seat, all others taken by the network or by `greedy`.
        slipping: what its decisions are like.
    """

    rules: CrashRules
    level: str
    against_network: Estimate
    against_greedy: Estimate
    slipping: Slipping


def reports(
    *,
    rule_sets: Sequence[str] = RULE_SETS,
    players: Sequence[int] | None = None,
    games: int = 3000,
    seed: int = 2000,
    jobs: int | None = 1,
    progress: Progress | None = None,
) -> list[LevelReport]:
    """Return what each level comes to, by rule set and number of players, on deals of their own.

    Args:
        rule_sets: which.
        players: numbers of players; all that each rule set lists if None.
        games: for each figure.
        seed: of deals and agents.
        jobs: as for `run_arena`.
        progress: called with the levels measured and all of them.

    Raises:
        RulesError: a number of players that a rule set does not have.
    """
    tables = [
        CrashRules.preset(rule_set, players=number)
        for rule_set in rule_sets
        for number in players or read_preset(rule_set)["in_use"]["players"]
    ]
    found: list[LevelReport] = []
    for rules in tables:
        rule_set = rules.name
        for name in LEVELS:
            agent = f"{rule_set}:{name}"
            against = [
                run_arena([agent, other], rules=rules, games=games, seed=seed, jobs=jobs).agents[0].win_share
                for other in (rule_set, "greedy")
            ]
            found.append(
                LevelReport(
                    rules=rules,
                    level=name,
                    against_network=against[0],
                    against_greedy=against[1],
                    slipping=slipping(level(rule_set, name), rules, seed=seed + 1),
                )
            )
            if progress is not None:
                progress(len(found), len(tables) * len(LEVELS))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A decision in which a level lays something else than its network.

    Attributes:
        cards: held.
        laid, best: what the level lays, and the network, as text.
        cost: in win share, by the network's values.
        why: what a person would say of it.
    """

    cards: str
    laid: str
    best: str
    cost: float
    why: str


def examples(rule_set: str, name: str, *, number: int = 3, seed: int = 4000) -> list[Example]:
    """Return decisions at nil all, three players, in which a level does not lay what the network lays."""
    rules = CrashRules.preset(rule_set, players=3)
    agent, rng = level(rule_set, name), np.random.default_rng(seed)
    env = CrashVectorEnv(60, rules, seed=seed)
    keep = action_layout(rules).keep
    while (asked := env.column("phase") == Phase.EXCHANGE).any():
        env.step(np.where(env.pending & asked[:, None], keep, -1))
    _, _, views = env.views()
    found, values = views.undominated(), agent.base.values(views).astype(np.float64)
    laid, best = agent.arrange_many(views, rng), agent.base.arrange_many(views, rng)
    shown = []
    for row in np.flatnonzero(laid != best)[:number].tolist():
        own, worth = found[row], values[found.offsets[row] : found.offsets[row + 1]]
        chosen, wanted = (int(np.flatnonzero(own.partitions == index)[0]) for index in (laid[row], best[row]))
        cards = views.cards[row].tolist()
        shown.append(
            Example(
                cards=format_cards(cards),
                laid=_hands(int(laid[row]), cards, rules),
                best=_hands(int(best[row]), cards, rules),
                cost=float(worth.max() - worth[chosen]) / 10,
                why=_why(own.strengths[chosen, : rules.hands], own.strengths[wanted, : rules.hands], first=chosen == 0),
            )
        )
    return shown


def _why(laid: npt.NDArray[np.int16], best: npt.NDArray[np.int16], *, first: bool) -> str:
    """Return what a person would say of laying hands of some strengths instead of others."""
    better = [f"Hand {position + 1}" for position in np.flatnonzero(laid > best)]
    worse = [f"Hand {position + 1}" for position in np.flatnonzero(laid < best)]
    what = "the strongest hand first, as auto-sort" if first else "more of " + " and ".join(better)
    return f"{what}; gives up {' and '.join(worse)}"


def _hands(index: int, cards: Sequence[int], rules: CrashRules) -> str:
    """Return an arrangement as text."""
    laid = laid_triples(index, cards, rules)
    return " | ".join(format_cards([cards[slot] for slot in reversed(slots)]) for _, slots in laid)
