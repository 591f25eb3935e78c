"""Agents and small games: an equilibrium as an agent, and the exact exploitability of any agent.

What an agent plays is found by asking it: an agent without chance once for every hand of the pack (beyond `EVERY_HAND` of
them, once for each class), one that draws chance `samples` times for each hand. An agent that knows its chances may say
them instead, by a method `arrangement_chances(views)`: float64, one for each row of ``views.undominated()``, adding up to 1
for each view. Chances that are sampled make an agent look easier to exploit than it is: a best response fits the sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..agents.answers import ask
from ..agents.heuristics import RandomLegal, RandomUndominated
from ..agents.protocol import Actions, Agent, BaseAgent, Choices
from ..agents.strengths import all_triple_strengths, laid_strengths
from ..envs.crash.game import Phase
from ..envs.crash.observation import ViewBatch
from ..envs.crash.partitions import num_partitions, partition_table, slot_triples
from ..envs.crash.rules import CrashRules
from .small_game import Floats, Mixture, SmallGame, SmallGameError, check_rules, round_options
from .small_game_solve import GAP, Solution, solve

__all__ = [
    "EVERY_HAND",
    "Equilibrium",
    "ExactExploitability",
    "KnowsChances",
    "SmallGamePolicy",
    "exact_exploitability",
    "mixture_of",
    "small_views",
]

EVERY_HAND = 1_000_000
_CHUNK = 20_000  # hands asked about at once
_ROWS = 250_000  # partitions of hands looked at at once
Asked = Literal["chances", "every hand", "a hand of each class", "samples"]


@runtime_checkable
class KnowsChances(Protocol):
    """An agent that says with which chances it arranges."""

    def arrangement_chances(self, views: ViewBatch) -> Floats:
        """Return the chance of each row of ``views.undominated()``: float64 (m,)."""


class SmallGamePolicy(BaseAgent):
    """A strategy of a small game as an agent, for every game whose rounds have the same margins.

    It plays for margin round by round; scores mean nothing to it.

    Args:
        game: the small game.
        chances: of its undominated arrangements, float64 (m,), adding up to 1 in each class.
        name: as an agent.

    Raises:
        SmallGameError: chances that do not fit the game.

    >>> from ..agents.check import check_agent
    >>> rules = CrashRules(players=2, ranks="QKA", cards_dealt=6)
    >>> policy = SmallGamePolicy.of(solve(SmallGame.of(rules)))
    >>> check_agent(policy, rules=rules, games=1)
    >>> exact_exploitability(policy, rules).points < 1e-6
    True
    """

    def __init__(self, game: SmallGame, chances: Floats, *, name: str = "small-game") -> None:
        found = game.arrangements
        given = np.asarray(chances, np.float64)
        if given.shape != game.owner.shape or (given < 0).any() or not np.isfinite(given).all():
            raise SmallGameError(f"chances: expected {len(game.owner)} numbers from 0 up, got shape {given.shape}")
        if np.abs(np.add.reduceat(given, found.offsets[:-1]) - 1).max() > 1e-6:
            raise SmallGameError("chances: expected them to add up to 1 in each class")
        self.name = name
        self.game = game
        self.chances = given
        self._upto = np.zeros((game.num_classes, int(found.counts.max())))  # sums of the chances before each row
        for place in range(self._upto.shape[1] - 1):
            has = found.counts > place
            self._upto[:, place + 1] = np.where(
                has, self._upto[:, place] + given[np.minimum(found.offsets[:-1] + place, len(given) - 1)], np.inf
            )
        self._upto[np.arange(self._upto.shape[1]) >= found.counts[:, None]] = np.inf

    @classmethod
    def of(cls, solution: Solution, *, name: str = "equilibrium") -> SmallGamePolicy:
        """Return a solution as an agent."""
        return cls(solution.game, solution.chances, name=name)

    def check_rules(self, rules: CrashRules) -> None:
        """Refuse rules under which rounds are another game.

        Raises:
            SmallGameError: with both games.
        """
        if round_options(rules) != round_options(self.game.rules):
            raise SmallGameError(
                f"{self.name} was made for players={self.game.rules.players}, cards_dealt={self.game.rules.cards_dealt}, "
                f"ranks={self.game.rules.ranks}: {self.game.rules.to_dict()}, not {rules.to_dict()}"
            )

    def arrangement_chances(self, views: ViewBatch) -> Floats:
        """Return the chance of each row of ``views.undominated()``: float64 (m,)."""
        self.check_rules(views.rules)
        found, classes = views.undominated(), self.game.classes_of(views.cards)
        within = np.arange(len(found.partitions)) - np.repeat(found.offsets[:-1], found.counts)
        chances: Floats = self.chances[np.repeat(self.game.arrangements.offsets[classes], found.counts) + within]
        return chances

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Draw an arrangement for each view: int32 (n,)."""
        self.check_rules(views.rules)
        found, upto = views.undominated(), self._upto[self.game.classes_of(views.cards)]
        # The last row that begins at or below the draw; rows without a chance begin where the next one does.
        picks = (upto <= rng.random(len(views))[:, None]).sum(axis=1) - 1
        chosen: Actions = found.partitions[found.offsets[:-1] + picks]
        return chosen

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002
        """Small games have no exchange."""
        raise SmallGameError(f"{self.name}: small games have no exchange")

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:  # noqa: ARG002
        """Small games have no calls."""
        raise SmallGameError(f"{self.name}: small games have no calls")


class Equilibrium(BaseAgent):
    """The equilibrium of whatever small game it is asked to play, solved on first use.

    It can be named where agents are: ``prial.training.small_game_policy:Equilibrium``.

    Args:
        gap: as for `solve`.
    """

    name = "equilibrium"

    def __init__(self, *, gap: float = GAP) -> None:
        self._gap = gap
        self._policies: dict[tuple[object, ...], SmallGamePolicy] = {}

    def check_rules(self, rules: CrashRules) -> None:
        """Refuse rules that are no small game."""
        check_rules(rules)

    def policy(self, rules: CrashRules) -> SmallGamePolicy:
        """Return the equilibrium of some rules."""
        key = round_options(rules)
        if key not in self._policies:
            self._policies[key] = SmallGamePolicy.of(solve(SmallGame.of(rules), gap=self._gap))
        return self._policies[key]

    def arrangement_chances(self, views: ViewBatch) -> Floats:
        """Return the chance of each row of ``views.undominated()``: float64 (m,)."""
        return self.policy(views.rules).arrangement_chances(views)

    def arrange_many(self, views: ViewBatch, rng: np.random.Generator) -> Actions:
        """Draw an arrangement for each view: int32 (n,)."""
        return self.policy(views.rules).arrange_many(views, rng)

    def exchange_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Small games have no exchange."""
        return self.policy(views.rules).exchange_many(views, rng)

    def call_many(self, views: ViewBatch, rng: np.random.Generator) -> Choices:
        """Small games have no calls."""
        return self.policy(views.rules).call_many(views, rng)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactExploitability:
    """How much a best responder gains against others who all play an agent.

    Attributes:
        points: its margin, in points a round; it would earn 0 if it played the agent too.
        asked: how the agent's choices were found.
        by_suits: whether the agent tells hands apart that differ in suits only.
    """

    points: float
    asked: Asked
    by_suits: bool


def small_views(rules: CrashRules, cards: npt.NDArray[np.int8], *, seat: int = 0, dealer: int = 0) -> ViewBatch:
    """Return the views of a seat that is to arrange each of some hands, in the first round at nil all.

    Args:
        rules: of a small game.
        cards: ascending card ids, int8 (n, cards_dealt).
        seat, dealer: who is asked, and who deals.
    """
    n, players = len(cards), rules.players
    unknown = np.full((n, players), -1, np.int8)
    return ViewBatch(
        rules=rules,
        seat=np.full(n, seat, np.int8),
        phase=np.full(n, Phase.ARRANGE, np.int8),
        dealer=np.full(n, dealer, np.int8),
        to_act=np.ones(n, np.int8),
        rounds_played=np.zeros(n, np.int32),
        scores=np.zeros((n, players), np.int32),
        cards=np.ascontiguousarray(cards, np.int8),
        given_up=np.full((n, rules.cards_dealt), -1, np.int8),
        exchanges=unknown,
        calls=unknown.copy(),
        laid=np.full(n, -1, np.int32),
    )


def exact_exploitability(
    agent: Agent, rules: CrashRules, *, game: SmallGame | None = None, samples: int = 256, seed: int = 0
) -> ExactExploitability:
    """Return how much a best responder gains against an agent in a small game, every deal looked at.

    Args:
        agent: whom to exploit.
        rules: of the small game.
        game: the small game of those rules, if it is there already.
        samples: how often an agent that draws chance, and does not say which, is asked about each hand.
        seed: of its chance.

    Raises:
        SmallGameError: rules that are no small game.

    >>> from ..agents.heuristics import Greedy
    >>> round(exact_exploitability(Greedy(), CrashRules(players=2, ranks="QKA", cards_dealt=6)).points, 4)
    0.0195
    """
    small = game or SmallGame.of(rules)
    played, mixture, asked = mixture_of(agent, small, samples=samples, seed=seed)
    return ExactExploitability(points=played.best_margin(mixture), asked=asked, by_suits=played is not small)


def mixture_of(agent: Agent, game: SmallGame, *, samples: int = 256, seed: int = 0) -> tuple[SmallGame, Mixture, Asked]:
    """Return what an agent plays in a small game.

    Args:
        agent: whom to ask.
        game: up to suits.
        samples, seed: as for `exact_exploitability`.

    Returns:
        The game to value the mixture in: the one given, or, for an agent to whom suits matter, one with every hand a class
        of its own; the mixture; how the agent was asked.
    """
    told = _told(agent, game)
    if told is not None:
        return game, told, "chances"
    rng = np.random.default_rng(seed)
    before = rng.bit_generator.state
    every = len(game.class_of) <= EVERY_HAND
    cards = game.every_hand() if every else game.cards
    classes = game.class_of if every else np.arange(game.num_classes, dtype=np.int32)
    laid = _laid(agent, game.rules, cards, rng)
    if rng.bit_generator.state != before:
        found = [laid, *(_laid(agent, game.rules, cards, rng) for _ in range(samples - 1))]
        return game, _gathered(game, np.tile(classes, samples), np.concatenate(found)), "samples"
    mixture = _gathered(game, classes, laid)
    if not every:
        return game, mixture, "a hand of each class"
    if len(mixture.chances) == game.num_classes:
        return game, mixture, "every hand"
    apart = SmallGame.of(game.rules, up_to_suits=False)
    return apart, _gathered(apart, apart.class_of, laid), "every hand"


def _told(agent: Agent, game: SmallGame) -> Mixture | None:
    """Return what an agent plays whose chances are known, None for the others."""
    if isinstance(agent, KnowsChances):
        return game.mixture(agent.arrangement_chances(small_views(game.rules, game.cards)))
    if isinstance(agent, RandomUndominated):
        return game.mixture(game.uniform())
    return _any_legal(game) if isinstance(agent, RandomLegal) else None


def _laid(
    agent: Agent, rules: CrashRules, cards: npt.NDArray[np.int8], rng: np.random.Generator
) -> npt.NDArray[np.int16]:
    """Return what an agent lays with each hand: int16 (n, 5), the strengths of four positions, then quads."""
    found = np.empty((len(cards), 5), np.int16)
    for start in range(0, len(cards), _CHUNK):
        some = slice(start, start + _CHUNK)
        views = small_views(rules, cards[some])
        views.laid[:] = ask(agent, views, rng)
        found[some] = _values(views)
    return found


def _values(views: ViewBatch) -> npt.NDArray[np.int16]:
    """Return strengths of four positions and quads of what is laid: int16 (n, 5)."""
    strengths = laid_strengths(views)
    quads = np.zeros(len(views), np.int16)
    if views.rules.quads_bonus:
        used = _slots_used(views.rules.cards_dealt)[views.laid]
        for rank in np.unique(views.cards // 4).tolist():
            quads += np.sum(used & (views.cards // 4 == rank), axis=1) == 4
    return np.column_stack([strengths, quads]).astype(np.int16)


@cache
def _slots_used(num_cards: int) -> npt.NDArray[np.bool_]:
    """Return which slots each partition lays: bool (partitions, num_cards)."""
    used = np.zeros((num_partitions(num_cards), num_cards), bool)
    slots = np.array(slot_triples(num_cards))
    for triples in partition_table(num_cards).T:  # hand by hand
        laid = np.flatnonzero(triples >= 0)
        used[laid[:, None], slots[triples[laid]]] = True
    return used


def _any_legal(game: SmallGame) -> Mixture:
    """Return the mixture of every legal partition, each equally likely."""
    size = game.rules.cards_dealt
    table = partition_table(size)
    step = max(1, _ROWS // len(table))
    owners, found = [], []
    for start in range(0, game.num_classes, step):
        cards = game.cards[start : start + step]
        # One column more, for the -1 of no hand: always valid.
        strong = all_triple_strengths(small_views(game.rules, cards)) > 0
        valid = np.pad(strong, ((0, 0), (0, 1)), constant_values=True)
        rows, legal = np.nonzero(valid[:, table].all(axis=2))
        views = small_views(game.rules, cards[rows])
        views.laid[:] = legal
        owners.append(start + rows)
        found.append(_values(views))
    return _gathered(game, np.concatenate(owners), np.concatenate(found))


def _gathered(game: SmallGame, classes: npt.NDArray[np.integer], laid: npt.NDArray[np.int16]) -> Mixture:
    """Return how often each class lays what, as chances.

    Args:
        game: of the classes.
        classes: (n,), every class at least once.
        laid: int16 (n, 5), as `_laid` returns it.
    """
    # In one word: strengths of 10 bits, quads of 2, and what is left is room for two million classes.
    assert game.num_classes <= 1 << 21
    packed = classes.astype(np.int64)
    for column in range(4):
        packed = packed << 10 | laid[:, column]
    packed = packed << 2 | laid[:, 4]
    words, first, number = np.unique(packed, return_index=True, return_counts=True)
    owner = words >> 42
    offsets = np.searchsorted(owner, np.arange(game.num_classes + 1))
    shares = number / np.add.reduceat(number, offsets[:-1])[owner]
    return Mixture(
        offsets=offsets.astype(np.int64),
        strengths=np.ascontiguousarray(laid[first, :4]),
        quads=laid[first, 4].astype(np.int8),
        chances=shares,
    )
