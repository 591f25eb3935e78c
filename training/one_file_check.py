"""Whether a one-file bot plays as the agent that it was made of: the same decisions, or others worth as much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..agents.levels import Level
from ..agents.one_file_agent import Feed, OneFileAgent, partitions_of
from ..agents.trained import Trained
from ..envs.crash.game import Phase
from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import laid_many, undominated_many
from ..envs.crash.rules import CrashRules

__all__ = ["Agreement", "compare", "level_chance", "random_views"]

_TIE = 1e-4
"""Up to how much two answers differ in value, in points, and count as worth the same: float32 sums in another order."""
_CHUNK = 256
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How the decisions of a phase compare.

    Attributes:
        decisions: how many were made.
        same: answers that are the same (hands of the same strengths at every position, four of a kind laid alike).
        same_cards: those of them with the same cards in each hand.
        same_candidates: decisions in which the search found every undominated arrangement.
        ties: other answers, worth as much.
        different: other answers, worth less.
        worst: by how much, at most, an answer is worth less, in points.
    """

    decisions: int
    same: int
    same_cards: int
    same_candidates: int
    ties: int
    different: int
    worst: float

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def random_views(rules: CrashRules, phase: Phase, count: int, rng: np.random.Generator) -> ViewBatch:
    """Return views of a phase as they can come about, cards, scores, dealer and history drawn at random.

    >>> rules = CrashRules.preset("bga")
    >>> views = random_views(rules, Phase.ARRANGE, 50, np.random.default_rng(0))
    >>> sorted(set(views.exchanges.ravel().tolist()))
    [-1, 0, 1]
    """
    n, dealt = rules.players, rules.cards_dealt
    pack = rng.permuted(np.tile(np.array(rules.pack, np.int8), (count, 1)), axis=1)
    cards = np.sort(pack[:, :dealt], axis=1)
    seat, dealer = (rng.integers(n, size=count).astype(np.int8) for _ in range(2))
    exchanges, calls = np.full((2, count, n), -1, np.int8)
    rows = np.arange(count)
    place = (seat - dealer - 1) % n  # in turn order
    in_turn = (dealer[:, None] + 1 + np.arange(n)) % n
    if rules.has_exchange:
        last = place if phase is Phase.EXCHANGE else np.full(count, n)
        taken = rng.integers(n + 1, size=count) if phase is not Phase.EXCHANGE else np.full(count, n)
        for turn in range(n):
            said = np.where(turn == taken, 1, 0) if n > 2 else rng.integers(2, size=count)
            known = (turn < last) & (turn <= taken) if n > 2 else (turn < last) & (phase is not Phase.EXCHANGE)
            exchanges[rows, in_turn[:, turn]] = np.where(known, said, -1)
    given_up = np.full((count, dealt), -1, np.int8)
    gave = exchanges[rows, seat] == 1
    given_up[gave] = np.sort(pack[gave, dealt : 2 * dealt], axis=1)
    laid = np.full(count, -1, np.int32)
    if phase is Phase.CALL:
        for turn in range(n):
            calls[rows, in_turn[:, turn]] = np.where(turn < place, rng.integers(2, size=count), -1)
        found = undominated_many(cards, rules)
        laid = found.partitions[found.best_rows(rng.random(len(found.partitions)))]
    return ViewBatch(
        rules=rules,
        seat=seat,
        phase=np.full(count, phase, np.int8),
        dealer=dealer,
        to_act=np.ones(count, np.int8),
        rounds_played=np.zeros(count, np.int32),
        scores=rng.integers(rules.target, size=(count, n)).astype(np.int32),
        cards=cards,
        given_up=given_up,
        exchanges=exchanges,
        calls=calls,
        laid=laid,
    )


def compare(
    agent: Trained | Level,
    bot: OneFileAgent,
    *,
    decisions: int,
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, Agreement]:
    """Return how a bot's decisions compare with the agent's, by phase.

    Args:
        agent: the original; a level draws the seeds that the file is given.
        bot: the file, at temperature 0; its rules are played.
        decisions: of each phase that the rules have.
        seed: of cards, scores and history.
        progress: told what is done and what there is in all.
    """
    rules = bot.rules
    phases = [Phase.ARRANGE] + [Phase.EXCHANGE] * rules.has_exchange + [Phase.CALL] * rules.has_calls
    done, total = 0, decisions * len(phases)
    found = {}
    for phase in phases:
        parts = []
        for start in range(0, decisions, _CHUNK):
            count = min(_CHUNK, decisions - start)
            rng = np.random.default_rng((seed, phase, start))
            views = random_views(rules, phase, count, rng)
            seeds = rng.integers(-(2**31), 2**31, size=count).astype(np.int32)
            decided = _arranged if phase is Phase.ARRANGE else _chosen
            parts.append(decided(_judge_of(agent, seeds), bot.answers(views, seeds=seeds), views))
            done += count
            if progress is not None:
                progress(done, total)
        same, cards, candidates, less = (np.concatenate(column) for column in zip(*parts, strict=True))
        tie = ~same & (less <= _TIE)
        found[phase.label] = Agreement(
            decisions=decisions,
            same=int(same.sum()),
            same_cards=int(cards.sum()),
            same_candidates=int(candidates.sum()),
            ties=int(tie.sum()),
            different=int((~same & ~tie).sum()),
            worst=float(np.where(same, 0, less).max()),
        )
    return found


_Flags = npt.NDArray[np.bool_]
_Floats = npt.NDArray[np.floating[Any]]
_Compared = tuple[_Flags, _Flags, _Flags, npt.NDArray[np.float64]]


class _Judge:
    """What an agent decides, and what its options look worth to it."""

    def __init__(self, agent: Trained) -> None:
        self._agent = agent

    def arranges(self, views: ViewBatch) -> npt.NDArray[np.int32]:
        return self._agent.arrange_many(views, np.random.default_rng(0))

    def looks(self, views: ViewBatch) -> _Floats:
        return self._agent.values(views)

    def chooses(self, views: ViewBatch) -> _Flags:
        return self.seems(views) > 0

    def seems(self, views: ViewBatch) -> _Floats:
        agent = self._agent
        return agent.exchange_gains(views) if views.phase[0] == Phase.EXCHANGE else agent.call_gains(views)


class _LevelJudge(_Judge):
    """The same of a level, by seeds."""

    def __init__(self, agent: Level, seeds: npt.NDArray[np.int32]) -> None:
        super().__init__(agent.base)
        self._level = agent
        self._keys = _keys_of(seeds)
        self._chance = level_chance(seeds)

    def arranges(self, views: ViewBatch) -> npt.NDArray[np.int32]:
        return self._level.arrange_many(views, self._chance)

    def looks(self, views: ViewBatch) -> _Floats:
        return self._level.looks(views, self._keys)

    def chooses(self, views: ViewBatch) -> _Flags:
        level = self._level
        asked = level.exchange_many if views.phase[0] == Phase.EXCHANGE else level.call_many
        return asked(views, self._chance)

    def seems(self, views: ViewBatch) -> _Floats:
        level = self._level
        asked = level.exchange_seems if views.phase[0] == Phase.EXCHANGE else level.call_seems
        return asked(views, self._keys)


def level_chance(seeds: npt.NDArray[np.int32]) -> np.random.Generator:
    """Return chance that makes a level err in Python as its file does with some seeds, one a decision.

    >>> level_chance(np.array([-1], np.int32)).integers(2).tolist()
    [4294967295]
    """
    return cast(np.random.Generator, _Given(_keys_of(seeds)))


class _Given:
    """Chance that is not: the keys that a level would draw."""

    def __init__(self, keys: npt.NDArray[np.uint64]) -> None:
        self._keys = keys

    def integers(self, *_: object, **__: object) -> npt.NDArray[np.uint64]:
        return self._keys


def _keys_of(seeds: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]:
    return seeds.astype(np.uint32).astype(np.uint64)


def _judge_of(agent: Trained | Level, seeds: npt.NDArray[np.int32]) -> _Judge:
    return _LevelJudge(agent, seeds) if isinstance(agent, Level) else _Judge(agent)


def _arranged(judge: _Judge, answers: Feed, views: ViewBatch) -> _Compared:
    """Which arrangements are the same, in cards too, of as many, and by how much the bot's are worth less."""
    partitions, expected = partitions_of(answers["hands"], views), judge.arranges(views)
    laid = laid_many(partitions, views.cards, views.rules)
    found, looks = views.undominated(), judge.looks(views)
    best = np.flatnonzero(found.partitions == np.repeat(expected, found.counts))
    alike = (found.strengths == np.repeat(laid.strengths, found.counts, axis=0)).all(axis=1)
    alike &= found.quads == np.repeat(laid.quads, found.counts)
    # What is not among the undominated ones is worth infinitely less.
    worth = np.maximum.reduceat(np.where(alike, looks, -np.inf), found.offsets[:-1]).astype(np.float64)
    complete = answers["candidates"] == found.counts
    return alike[best], expected == partitions, complete, looks[best] - worth


def _chosen(judge: _Judge, answers: Feed, views: ViewBatch) -> _Compared:
    """The same for exchanges and calls."""
    complete = answers["candidates"] == views.undominated().counts
    name = "exchange" if views.phase[0] == Phase.EXCHANGE else "call"
    same = judge.chooses(views) == (answers[name] == 1)
    return same, same, complete, np.abs(judge.seems(views)).astype(np.float64)
