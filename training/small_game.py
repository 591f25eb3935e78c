"""Small rounds as exact matrix games: every deal looked at, suits told apart only where they matter.

No exchange and no calls: each player sees its own cards and lays an arrangement, and that is all. What a hand can lay and
earn does not change when suits are permuted, so hands fall into *classes*; a strategy is a mixture of arrangements for each
class, and only undominated arrangements need be considered (RULES section 6). Payoffs are margins: own points minus the mean
of the others', a crash and quads included (RULES section 4). Seats and the order of turns make no difference, so the game is
symmetric, and all earn 0 who play the same. What a best response gains against others who all play one mixture is how far
that is from an equilibrium: with two players its exploitability in the strict sense, with three what one gains who
deviates alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import comb, prod

import numpy as np
import numpy.typing as npt

from ..envs.crash.partitions import CandidateBatch, undominated_many
from ..envs.crash.rules import CrashRules

__all__ = [
    "Mixture",
    "SmallGame",
    "SmallGameError",
    "check_rules",
    "num_deals",
    "num_deals_up_to_suits",
    "round_options",
]

Floats = npt.NDArray[np.float64]

MAX_HANDS_OF_A_PACK = 40_000_000
MAX_MEETINGS = 400_000_000
"""Of hands up to suits with hands that they leave possible: 8 bytes each for two players; for three, work of each pass."""


class SmallGameError(ValueError):
    """Rules that are no small game, or a policy that does not fit one."""


def check_rules(rules: CrashRules) -> None:
    """Refuse rules that are no such game, or too large to look at every deal.

    Raises:
        SmallGameError: with the option and the reason.
    """
    if rules.players > 3:
        raise SmallGameError(f"players={rules.players}: a small game has 2 or 3")
    if rules.has_exchange or rules.has_calls:
        option = "exchange" if rules.has_exchange else "crash_call"
        raise SmallGameError(f"{option}={getattr(rules, option)}: a small game has none (set {option}=none)")
    hands, meetings = comb(len(rules.pack), rules.cards_dealt), num_deals(rules) // 24 // (rules.players - 1)
    if hands > MAX_HANDS_OF_A_PACK or meetings > MAX_MEETINGS:
        raise SmallGameError(
            f"players={rules.players}, cards_dealt={rules.cards_dealt} of {len(rules.pack)} cards (ranks={rules.ranks}): "
            f"{hands:,} hands and some {meetings:,} deals up to suits and opponents; at most {MAX_HANDS_OF_A_PACK:,} and "
            f"{MAX_MEETINGS:,} can be looked at"
        )


def round_options(rules: CrashRules) -> tuple[object, ...]:
    """Return what decides a round's margins: rules that agree in it are the same small game."""
    return (
        rules.players,
        rules.cards_dealt,
        rules.lowest_hand,
        rules.flush_high,
        rules.ranks,
        rules.crash_points,
        rules.quads_bonus,
        rules.exchange if rules.has_exchange else "none",
        rules.crash_call,
    )


def num_deals(rules: CrashRules) -> int:
    """Return how many deals there are.

    >>> num_deals(CrashRules(players=2, ranks="JQKA", cards_dealt=6))
    1681680
    """
    pack, size = len(rules.pack), rules.cards_dealt
    return prod(comb(pack - seat * size, size) for seat in range(rules.players))


def num_deals_up_to_suits(rules: CrashRules) -> int:
    """Return how many deals there are when permuted suits count as one (Burnside's lemma).

    >>> num_deals_up_to_suits(CrashRules(players=2, ranks="JQKA", cards_dealt=6))
    73814
    """
    size, players, total = rules.cards_dealt, rules.players, 0
    for cycles, number in (((1, 1, 1, 1), 1), ((2, 1, 1), 6), ((2, 2), 3), ((3, 1), 8), ((4,), 6)):
        # A deal stays as it is where whole cycles of cards go to one player or to none.
        ways: Counter[tuple[int, ...]] = Counter({(0,) * players: 1})
        for length in cycles * len(rules.ranks):
            more = ways.copy()
            for held, count in ways.items():
                for seat in range(players):
                    if held[seat] + length <= size:
                        more[(*held[:seat], held[seat] + length, *held[seat + 1 :])] += count
            ways = more
        total += number * ways[(size,) * players]
    return total // 24


def _binomials(pack: int, size: int) -> npt.NDArray[np.int64]:
    """Return C(n, i) for n up to `pack` and i up to `size`: int64 (pack + 1, size + 1)."""
    return np.array([[comb(n, i) for i in range(size + 1)] for n in range(pack + 1)], np.int64)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Mixture:
    """What a player lays with which chance, class by class.

    Attributes:
        offsets: class `i` owns rows ``offsets[i]:offsets[i + 1]``, int64 (classes + 1,).
        strengths: of each position, 0 for no hand, int16 (m, 4).
        quads: four of a kind laid whole, int8 (m,).
        chances: float64 (m,), adding up to 1 in each class.
    """

    offsets: npt.NDArray[np.int64]
    strengths: npt.NDArray[np.int16]
    quads: npt.NDArray[np.int8]
    chances: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class SmallGame:
    """One small round, all of it.

    Attributes:
        rules: the rules.
        class_of: the class of each hand, int32 (hands,), by colex rank of its cards' places in the pack.
        masks: one hand of each class as a set of places in the pack, int64 (classes,).
        weights: hands in each class, int64 (classes,).
        cards: ascending card ids of those hands, int8 (classes, cards_dealt).
        arrangements: their undominated arrangements.
        starts, others, counts: class `i` meets each class of ``others[starts[i]:starts[i + 1]]`` in as many hands as
            `counts` says: int64 (classes + 1,), int32 (k,), int32 (k,).

    >>> game = SmallGame.of(CrashRules(players=2, ranks="QKA", cards_dealt=6))
    >>> len(game.class_of), game.num_classes, len(game.arrangements.partitions)
    (924, 66, 87)
    """

    rules: CrashRules
    class_of: npt.NDArray[np.int32]
    masks: npt.NDArray[np.int64]
    weights: npt.NDArray[np.int64]
    cards: npt.NDArray[np.int8]
    arrangements: CandidateBatch
    starts: npt.NDArray[np.int64]
    others: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int32]

    @classmethod
    def of(cls, rules: CrashRules, *, up_to_suits: bool = True) -> SmallGame:
        """Return the small game of some rules.

        Args:
            rules: two or three players, no exchange, no calls, a short pack.
            up_to_suits: False makes every hand a class of its own, for policies to whom suits matter.

        Raises:
            SmallGameError: rules that are no small game.
        """
        from . import _kernels_small_game

        check_rules(rules)
        pack, size = len(rules.pack), rules.cards_dealt
        hands, binomials = comb(pack, size), _binomials(pack, size)
        if not up_to_suits and num_deals(rules) > MAX_MEETINGS:
            raise SmallGameError(f"{num_deals(rules):,} deals, at most {MAX_MEETINGS:,} can be looked at one by one")
        orders = list(permutations(range(4))) if up_to_suits else [tuple(range(4))]
        suits = np.array(
            [[sum((bits >> s & 1) << order[s] for s in range(4)) for bits in range(16)] for order in orders], np.int64
        )
        class_of, masks, weights = _kernels_small_game.hand_classes(hands, size, binomials, suits)
        starts, others, counts = _kernels_small_game.opponents(masks, pack, size, binomials, class_of, len(masks))
        held = np.nonzero(masks[:, None] >> np.arange(pack) & 1)[1].reshape(len(masks), size)
        cards = np.array(rules.pack, np.int8)[held]
        return cls(
            rules=rules,
            class_of=class_of,
            masks=masks,
            weights=weights,
            cards=cards,
            arrangements=undominated_many(cards, rules),
            starts=starts,
            others=others,
            counts=counts,
        )

    @property
    def num_classes(self) -> int:
        """How many hands there are up to suits."""
        return len(self.weights)

    @cached_property
    def owner(self) -> npt.NDArray[np.int64]:
        """The class of each row of `arrangements`: int64 (m,)."""
        return np.repeat(np.arange(self.num_classes), self.arrangements.counts)

    def classes_of(self, cards: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
        """Return the class of each hand: int32 (n,).

        Args:
            cards: ascending card ids of the pack, (n, cards_dealt).

        Raises:
            SmallGameError: a card outside the pack.
        """
        places = np.full(52, -1, np.int64)
        places[list(self.rules.pack)] = np.arange(len(self.rules.pack))
        held = places[np.asarray(cards, np.int64)]
        if (held < 0).any():
            raise SmallGameError(f"a card outside the pack (ranks={self.rules.ranks})")
        size = self.rules.cards_dealt
        ranks = _binomials(len(self.rules.pack), size)[held, np.arange(1, size + 1)].sum(axis=1)
        classes: npt.NDArray[np.int32] = self.class_of[ranks]
        return classes

    def every_hand(self) -> npt.NDArray[np.int8]:
        """Return every hand of the pack, in the order of `class_of`: int8 (hands, cards_dealt), ascending card ids."""
        pack, size = len(self.rules.pack), self.rules.cards_dealt
        # Place by place, hands that hold it after those that do not: the colex order.
        tails = {0: np.zeros((1, 0), np.int8)}
        for place in range(pack):
            grown = dict(tails)
            for length, rows in tails.items():
                if length < size:
                    longer = np.column_stack([rows, np.full(len(rows), place, np.int8)])
                    shorter = tails.get(length + 1)
                    grown[length + 1] = longer if shorter is None else np.concatenate([shorter, longer])
            tails = grown
        return np.array(self.rules.pack, np.int8)[tails[size]]

    def mixture(self, chances: Floats) -> Mixture:
        """Return the mixture that lays the undominated arrangements with these chances: float64 (m,)."""
        found = self.arrangements
        return Mixture(offsets=found.offsets, strengths=found.strengths, quads=found.quads, chances=chances)

    def uniform(self) -> Floats:
        """Return the same chance for each undominated arrangement of a class: float64 (m,)."""
        return (1.0 / self.arrangements.counts)[self.owner]

    def margins(self, against: Mixture, own: Mixture | CandidateBatch | None = None) -> Floats:
        """Return the expected margin of each arrangement, own cards known, the others' not: float64 (m,).

        Args:
            against: what each opponent plays.
            own: whose rows are asked about; the undominated arrangements if None.
        """
        from . import _kernels_small_game

        rules, rows = self.rules, self.arrangements if own is None else own
        bonus = float(rules.quads_bonus)
        margins = np.empty(len(rows.quads))
        played = (
            rows.offsets,
            rows.strengths,
            bonus * rows.quads,
            against.offsets,
            against.strengths,
            bonus * against.quads,
            against.chances,
            rules.hands,
            float(rules.crash_points) if rules.hands > 1 else 0.0,
            margins,
        )
        if rules.players == 2:
            _kernels_small_game.expected_margins(self.starts, self.others, self.counts, *played)
        else:
            pack, size = len(rules.pack), rules.cards_dealt
            _kernels_small_game.expected_margins_of_three(
                self.masks, pack, size, _binomials(pack, size), self.class_of, *played
            )
        return margins

    def mean(self, by_class: Floats) -> float:
        """Return the mean over all hands of a figure given by class (classes,)."""
        return float(self.weights @ by_class / self.weights.sum())

    def margin(self, own: Mixture, against: Mixture) -> float:
        """Return the expected margin of one mixture against another (which two play, of three), in points a round."""
        earned = own.chances * self.margins(against, own)
        return self.mean(np.add.reduceat(earned, own.offsets[:-1]))

    def best_margin(self, against: Mixture) -> float:
        """Return what a best response earns against others who all play a mixture, in points a round.

        All who play the same earn 0, so this is the mixture's exploitability, exact but for rounding.
        """
        return self.mean(np.maximum.reduceat(self.margins(against), self.arrangements.offsets[:-1]))

    def best_response(self, against: Mixture) -> Floats:
        """Return a best response, the first of equals, as chances of the undominated arrangements: float64 (m,)."""
        chances = np.zeros(len(self.owner))
        chances[self.arrangements.best_rows(self.margins(against))] = 1.0
        return chances
