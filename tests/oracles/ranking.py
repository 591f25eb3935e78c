"""The ranking of three-card Brag hands, as RULES section 2 words it.

Every list below is written out best first, so that it can be read against the rules.
"""

from collections.abc import Sequence
from functools import cache
from itertools import combinations

from .cards import PACK

CLASSES = ["prial", "running flush", "run", "flush", "pair", "high card"]

# "3-3-3 is the best, then A-A-A, K-K-K, ... 4-4-4, 2-2-2"
PRIALS = "3AKQJT9876542"
# "A-2-3 is the best, then A-K-Q, K-Q-J, ... 4-3-2"
RUNS = ["A23", "AKQ", "KQJ", "QJT", "JT9", "T98", "987", "876", "765", "654", "543", "432"]
# "aces high", for pairs and high cards whatever the option `flush_high`
ACES_HIGH = "AKQJT98765432"
# `flush_high`: "`ace` (A K Q ... 2) or `three` (3 A K Q ... 4 2)"
FLUSH_RANKS = {"ace": "AKQJT98765432", "three": "3AKQJT9876542"}

# `lowest_hand`: "`high_card` (all), `pair` (no high cards), `flush` (no pairs either)"
CLASSES_THAT_COUNT = {
    "high_card": ["prial", "running flush", "run", "flush", "pair", "high card"],
    "pair": ["prial", "running flush", "run", "flush", "pair"],
    "flush": ["prial", "running flush", "run", "flush"],
}

# A key of a hand: of two hands the stronger has the larger key, equal hands have the same.
Key = tuple[int, ...]


def classify(cards: Sequence[str]) -> str:
    """The best class that fits three cards."""
    return _classify(tuple(cards))


# Kept, as `_key` below: random rounds ask for the same hands over and over.
@cache
def _classify(cards: tuple[str, ...]) -> str:
    if len(cards) != 3 or len(set(cards)) != 3:
        raise ValueError(f"a hand is exactly three different cards, not {list(cards)}")
    ranks = [card[0] for card in cards]
    one_suit = len({card[1] for card in cards}) == 1
    consecutive = any(sorted(run) == sorted(ranks) for run in RUNS)
    if ranks[0] == ranks[1] == ranks[2]:
        return "prial"
    if consecutive and one_suit:
        return "running flush"
    if consecutive:
        return "run"
    if one_suit:
        return "flush"
    if ranks[0] == ranks[1] or ranks[0] == ranks[2] or ranks[1] == ranks[2]:
        return "pair"
    return "high card"


def key(cards: Sequence[str], *, flush_high: str) -> Key:
    """What to compare two hands by: the class first, then what counts within the class.

    Places in the lists are negated, since the lists are best first and a larger key is better.
    """
    return _key(tuple(cards), flush_high)


@cache
def _key(cards: tuple[str, ...], flush_high: str) -> Key:
    name = classify(cards)
    ranks = [card[0] for card in cards]
    within: list[int]
    if name == "prial":
        within = [PRIALS.index(ranks[0])]
    elif name in {"running flush", "run"}:
        within = [place for place, run in enumerate(RUNS) if sorted(run) == sorted(ranks)]
    elif name == "flush":
        # "highest card, then second, then third"
        within = sorted(FLUSH_RANKS[flush_high].index(rank) for rank in ranks)
    elif name == "pair":
        # "rank of the pair, then the odd card; aces high"
        [paired] = [rank for rank in set(ranks) if ranks.count(rank) == 2]
        [odd] = [rank for rank in set(ranks) if ranks.count(rank) == 1]
        within = [ACES_HIGH.index(paired), ACES_HIGH.index(odd)]
    else:
        # "highest, second, third; aces high"
        within = sorted(ACES_HIGH.index(rank) for rank in ranks)
    return (-CLASSES.index(name), *(-place for place in within))


def compare(first: Sequence[str], second: Sequence[str], *, flush_high: str) -> str:
    """`>` if the first hand is the stronger, `<` if the second is, `=` if they tie."""
    first_key = key(first, flush_high=flush_high)
    second_key = key(second, flush_high=flush_high)
    if first_key > second_key:
        return ">"
    if first_key < second_key:
        return "<"
    return "="


def is_hand(cards: Sequence[str], *, lowest_hand: str) -> bool:
    """Whether three cards may be laid and may score."""
    return classify(cards) in CLASSES_THAT_COUNT[lowest_hand]


_positions: dict[str, dict[Key, int]] = {}


def positions(flush_high: str) -> dict[Key, int]:
    """Number the keys of all 22,100 triples: 1 for the weakest, one more for each stronger."""
    if flush_high not in _positions:
        keys = {key(cards, flush_high=flush_high) for cards in combinations(PACK, 3)}
        _positions[flush_high] = {one: position for position, one in enumerate(sorted(keys), start=1)}
    return _positions[flush_high]


def strength(cards: Sequence[str], *, flush_high: str) -> int:
    """Rank position of a hand among the 741 strengths: 1 is the weakest, 741 is 3-3-3."""
    return positions(flush_high)[key(cards, flush_high=flush_high)]
