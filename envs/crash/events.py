"""What happens in a game, as frozen events in order. The deals and decisions among them suffice to replay it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

__all__ = [
    "Arrange",
    "Award",
    "AwardReason",
    "Call",
    "Deal",
    "Event",
    "Exchange",
    "GameEnd",
    "GameResult",
    "Reveal",
    "RoundEnd",
    "Termination",
]

Ids: TypeAlias = tuple[int, ...]


class AwardReason(Enum):
    """Why a score changes."""

    COMPARISON = "comparison"
    CRASH = "crash"
    CALL_BONUS = "call bonus"
    CALL_PENALTY = "call penalty"
    QUADS = "quads"


class Termination(Enum):
    """Why a game is over."""

    TARGET = "target"
    CRASH = "crash"
    MAX_ROUNDS = "max_rounds"
    ROUND = "round"  # a single round was asked for, and nobody had won the game by its end


@dataclass(frozen=True, slots=True, kw_only=True)
class GameResult:
    """How a game ended: the winners (several share the win) and why.

    >>> result = GameResult(winners=(0, 2), reason=Termination.TARGET)
    >>> [result.win_share(seat) for seat in range(3)]
    [0.5, 0.0, 0.5]
    """

    winners: tuple[int, ...]
    reason: Termination

    def win_share(self, seat: int) -> float:
        """Return 1 for a win, 1/k for a win shared by k, else 0."""
        return 1 / len(self.winners) if seat in self.winners else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """A round begins: every seat's ascending card ids, and the spare hands in turn order."""

    round_number: int
    dealer: int
    scores: tuple[int, ...]
    hands: tuple[Ids, ...]
    spares: tuple[Ids, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A seat keeps its hand or exchanges it."""

    seat: int
    exchanged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrange:
    """A seat lays its hands, in secret: the partition index, and card ids strongest hand first."""

    seat: int
    partition: int
    hands: tuple[Ids, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A seat calls a crash or passes."""

    seat: int
    called: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal:
    """One comparison: what each seat laid there (empty for nothing), its strength, and who won it alone."""

    position: int
    hands: tuple[Ids, ...]
    strengths: tuple[int, ...]
    winner: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Award:
    """A score changes by `points` (after the floor at 0) to `score`."""

    seat: int
    reason: AwardReason
    points: int
    score: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEnd:
    """A round is over: the scores, and each seat's points had it been played to the end (RULES section 4)."""

    round_number: int
    scores: tuple[int, ...]
    points: tuple[int, ...]
    crasher: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnd:
    """The game is over."""

    result: GameResult
    scores: tuple[int, ...]


Event: TypeAlias = Deal | Exchange | Arrange | Call | Reveal | Award | RoundEnd | GameEnd
