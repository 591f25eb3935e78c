"""Luck taken out of single games and short matches: what players scored minus what their cards let expect.

A seat's *luck* in a round is a margin (own points minus the mean of the others') that `solver-fast` gives its cards as they
were dealt, scores level. It is the mean of two such: the margin had all played `solver-fast` from these cards (where turn
order matters, in exchanges and calls, the mean over every seat as the dealer); and what the hand is worth by itself to
`solver-fast`, minus the mean of that of the others'. The adjusted margin is the margin minus the luck.

**Unbiased, whatever the policy is.** Before a deal all seats are alike, and luck treats them alike; so it has mean 0 in
every round, whatever was played before, and so has its sum over a game however that ends. The better the policy, the more
spread it takes away; no fault in it shifts the mean. (Cards that were not dealt by chance, as in a set position, are another
matter.)

Source: the idea of control variates, as AIVAT uses it for poker: Burch, Schmid, Moravcik, Morrill and Bowling, "AIVAT: a new
variance reduction technique for agent evaluation in imperfect information games" (2018).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.solver_fast import SolverFastPolicy
from ..agents.solver_table import find_solver_table
from ..agents.world_tables import SetTables
from ..envs.crash.events import RoundEnd
from ..envs.crash.observation import ViewBatch
from ..envs.crash.record import GameRecord, RecordError
from ..envs.crash.rules import CrashRules
from ..envs.crash.scoring import margins
from ..envs.crash.searches import Searches
from .analysis import plain_view
from .statistics import Estimate, ratio_estimate

__all__ = ["DealWorth", "LuckError", "MatchLuck", "PlayerLuck", "luck_by_round", "luck_of"]

Floats = npt.NDArray[np.float64]


class LuckError(ValueError):
    """Games whose luck cannot be told."""


class DealWorth:
    """What deals are worth.

    Args:
        rules: the rules.
        table: path of a solver's table; the one that ships and fits if None.

    Raises:
        SolverTableError: no table fits.

    >>> worth = DealWorth(CrashRules.preset("online", players=3))
    >>> aces_and_more, low_cards, others = range(39, 52), range(13), range(13, 26)
    >>> luck = worth.luck(np.array([[aces_and_more, low_cards, others]]), np.zeros((1, 0, 13)))
    >>> int(luck[0].argmax()), bool(abs(luck.sum()) < 1e-9)
    (0, True)
    """

    def __init__(self, rules: CrashRules, *, table: str | Path | None = None) -> None:
        self.rules = rules
        self._policy = SolverFastPolicy(rules, find_solver_table(rules, path=table), objective="points")

    def luck(self, hands: npt.NDArray[Any], spares: npt.NDArray[Any]) -> Floats:
        """Return the luck of every seat in every deal: float64 (deals, players).

        Args:
            hands: ascending card ids of each seat as dealt, (deals, players, cards).
            spares: spare hands, (deals, spare hands, cards).
        """
        luck: Floats = (self._played(hands, spares) + self._by_itself(hands)) / 2
        return luck

    def _played(self, hands: npt.NDArray[Any], spares: npt.NDArray[Any]) -> Floats:
        """Return the margins where all play the policy: float64 (deals, players)."""
        rules, n = self.rules, self.rules.players
        dealers = range(n) if rules.has_exchange or rules.has_calls else range(1)
        margin = np.zeros((len(hands), n))
        rng = np.random.default_rng(0)  # the policy draws no chance
        for dealer in dealers:
            tables = SetTables(
                rules,
                hands.astype(np.int8),
                spares.astype(np.int8),
                scores=np.zeros((len(hands), n)),
                dealer=np.full(len(hands), dealer),
            )
            searches = Searches(rules)
            while tables.pending.any():
                rows, seats = np.nonzero(tables.pending)
                actions = np.full((len(hands), n), -1, np.int32)
                actions[rows, seats] = self._policy.act_many(tables.views_at(rows, seats).sharing(searches), rng)
                margin += tables.step(actions).margins
        margin /= len(dealers)
        return margin

    def _by_itself(self, hands: npt.NDArray[Any]) -> Floats:
        """Return what each hand is worth by itself, minus the mean of the others': float64 (deals, players)."""
        n = self.rules.players
        views = ViewBatch.of([plain_view(self.rules, hand) for deal in hands.tolist() for hand in deal])
        found = views.undominated()
        worth = np.maximum.reduceat(self._policy.values(views, found).max(axis=0), found.offsets[:-1])
        if self.rules.has_exchange:
            worth = np.maximum(worth, 0)  # who has less than an even hand takes another
        by_seat = worth.reshape(-1, n)
        margin: Floats = by_seat - (by_seat.sum(axis=1, keepdims=True) - by_seat) / (n - 1)
        return margin


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerLuck:
    """One player's margins, a round, over all games.

    Attributes:
        player: the name.
        games: games in which it sat.
        rounds: rounds it played, seat by seat.
        scored: the margin as it was.
        luck: what the cards let expect.
        adjusted: the margin minus the luck.
    """

    player: str
    games: int
    rounds: int
    scored: Estimate
    luck: Estimate
    adjusted: Estimate

    @property
    def gain(self) -> float:
        """As how many times as many games the adjustment counts, by the intervals."""
        return (self.scored.half_width / self.adjusted.half_width) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchLuck:
    """Some games of the same rules.

    Attributes:
        rules: as played.
        games: how many.
        deals: streams of deals; games on the same one count together.
        players: by name, the best adjusted first.
    """

    rules: CrashRules
    games: int
    deals: int
    players: tuple[PlayerLuck, ...]


def luck_of(records: Iterable[GameRecord], *, table: str | Path | None = None) -> MatchLuck:
    """Return what players scored in recorded games, with luck and without. Unfinished rounds are left out.

    Games on the same deals (the same seed and table) are one cluster of the intervals.

    Args:
        records: whole ones of the same rules.
        table: path of a solver's table; the one that ships and fits if None.

    Raises:
        LuckError: no finished rounds, games of different rules, or a redacted record.
        RecordError: a decision that the rules do not allow.
        SolverTableError: no table fits the rules.
    """
    rules: CrashRules | None = None
    names: list[Sequence[str]] = []
    clusters: list[object] = []
    hands: _Hands = []
    spares: _Hands = []
    scored: list[tuple[float, ...]] = []
    game_of: list[int] = []
    for game, record in enumerate(records):
        rules = record.rules if rules is None else rules
        if record.rules != rules:
            raise LuckError(f"game {game + 1} has other rules than those before it")
        try:
            points = _margins(record)
        except RecordError as error:
            raise LuckError(f"game {game + 1}: {error}") from error
        names.append(_names(record))
        clusters.append((game,) if record.seed is None else (record.seed, record.table))
        dealt = _dealt(record, len(points))
        hands += dealt[0]
        spares += dealt[1]
        scored += points
        game_of += [game] * len(points)
    if rules is None or not scored:
        raise LuckError("no finished round in any game")
    luck = _luck(DealWorth(rules, table=table), hands, spares)
    return _match(rules, names, clusters, np.array(game_of), np.array(scored), luck)


def luck_by_round(record: GameRecord, worth: DealWorth) -> tuple[Floats, Floats]:
    """Return the margins of a game's finished rounds and the luck in them: float64 (rounds, players) each, by seat.

    Args:
        record: a whole one.
        worth: what deals are worth under its rules.

    Raises:
        LuckError: a redacted record.
        RecordError: a decision that the rules do not allow.
    """
    if record.is_redacted:
        raise LuckError("a redacted record hides cards, and so their luck")
    scored = _margins(record)
    if not scored:
        nothing = np.zeros((0, record.rules.players))
        return nothing, nothing
    return np.array(scored), _luck(worth, *_dealt(record, len(scored)))


_Hands = list[tuple[tuple[int, ...], ...]]


def _margins(record: GameRecord) -> list[tuple[float, ...]]:
    """Return the margins of the finished rounds."""
    return [margins(event.points) for event in record.replay().events if isinstance(event, RoundEnd)]


def _dealt(record: GameRecord, rounds: int) -> tuple[_Hands, _Hands]:
    """Return the hands as dealt, and the spare hands, of the first so many rounds."""
    some = record.rounds[:rounds]
    hands = [tuple(hand for hand in one.hands if hand is not None) for one in some]
    return hands, [tuple(spare for spare in one.spares if spare is not None) for one in some]


def _luck(worth: DealWorth, hands: _Hands, spares: _Hands) -> Floats:
    return worth.luck(np.array(hands), np.array(spares).reshape(len(hands), -1, worth.rules.cards_dealt))


def _names(record: GameRecord) -> list[str]:
    return [
        player or agent or f"seat {seat}"
        for seat, (player, agent) in enumerate(zip(record.players, record.agents, strict=True))
    ]


def _match(
    rules: CrashRules,
    names: Sequence[Sequence[str]],
    clusters: Sequence[object],
    game_of: npt.NDArray[np.int64],
    scored: Floats,
    luck: Floats,
) -> MatchLuck:
    numbers = dict(zip(dict.fromkeys(clusters), count(), strict=False))
    cluster_of = np.array([numbers[cluster] for cluster in clusters])
    played = np.bincount(game_of, minlength=len(names))
    # The most points of a round, four of a kind left out: they are rare.
    reach = float(rules.hands + rules.crash_points + (rules.crash_call_bonus if rules.has_calls else 0))
    found = []
    for player in dict.fromkeys(name for seats in names for name in seats):
        sits = np.array([[name == player for name in seats] for seats in names], float)
        sums = np.zeros((3, len(numbers)))
        np.add.at(sums[0], cluster_of[game_of], (sits[game_of] * scored).sum(axis=1))
        np.add.at(sums[1], cluster_of[game_of], (sits[game_of] * luck).sum(axis=1))
        sizes, seats_taken = np.zeros(len(numbers)), np.zeros(len(numbers))
        np.add.at(sizes, cluster_of, sits.sum(axis=1) * played)
        np.add.at(seats_taken, cluster_of, sits.sum(axis=1))
        sums[2] = sums[0] - sums[1]
        own = sizes > 0
        weight = float(seats_taken[own].mean())  # an added observation is one deal

        measured = [ratio_estimate(totals[own], sizes[own], ends=(-reach, reach), weight=weight) for totals in sums]
        found.append(
            PlayerLuck(
                player=player,
                games=int((sits.sum(axis=1) > 0).sum()),
                rounds=int(sizes.sum()),
                scored=measured[0],
                luck=measured[1],
                adjusted=measured[2],
            )
        )
    return MatchLuck(
        rules=rules,
        games=len(names),
        deals=len(numbers),
        players=tuple(sorted(found, key=lambda one: -one.adjusted.value)),
    )
