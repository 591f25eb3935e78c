"""Random rounds for the scorer, rare cases weighted up, from an explicit `random.Random`.

`random_rules` draws options, `random_round` a round under given rules in the format of `scorer`.
What is rare in random play is made on purpose: equal strongest hands, all four cards of a rank,
crashes, called crashes, short and empty rows, deals with few hands, scores just below the target,
the last round before `max_rounds`.
"""

import random
from collections.abc import Sequence
from itertools import combinations

from . import ranking
from .cards import RANKS, SUITS, pack
from .rulesets import PRESETS, Rules, num_hands, resolve, rules_faults, spare_hands, turn_order
from .scorer import Round, comparison_winner, find_crasher

Cards = list[str]
THEMES = ("plain", "plain", "tie", "quads", "crash", "crash", "short", "poor")
SHORT_PACKS = ("9TJQKA", "23456789", "2345A", "23789TQKA")


def seeded(seed: int) -> random.Random:
    """A stream of random numbers of its own; the linter's worry about secrets is moot in tests."""
    return random.Random(seed)  # noqa: S311


def random_rules(rng: random.Random) -> Rules:
    """Options of any kind that can be played together; often a rule set as it stands."""
    while True:
        rules = resolve({"preset": rng.choice(list(PRESETS)), "players": rng.choice([2, 3, 4, 5])})
        if rng.random() < 0.7:
            rules.update(
                cards_dealt=rng.choice([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 13, 13]),
                lowest_hand=rng.choice(["high_card", "pair", "flush"]),
                flush_high=rng.choice(["ace", "three"]),
                exchange=rng.choice(["none", "spare"]),
                target=rng.choice([1, 2, 4, 7, 10, 11, 13, 15, 21]),
                finish=rng.choice(["immediate", "round_end"]),
                crash_reward=rng.choice(["game", 0, 1, 2, 3]),
                crash_call=rng.choice(["none", "optional", "required"]),
                crash_call_bonus=rng.choice([0, 1, 2, 3]),
                crash_call_penalty=rng.choice([0, 1, 2, 3]),
                quads_bonus=rng.choice([0, 1, 1, 2]),
                max_rounds=rng.choice([1, 2, 5, 200]),
                ranks=rng.choice([RANKS, RANKS, RANKS, *SHORT_PACKS]),
            )
        if not rules_faults(rules):
            return rules


def random_round(rng: random.Random, rules: Rules, *, theme: str | None = None) -> Round:
    """One round that can come about under the rules; `theme` is one of THEMES, drawn if None."""
    theme = rng.choice(THEMES) if theme is None else theme
    players = rules["players"]
    dealer = rng.randrange(players)
    choices = _choices(rng, rules, dealer)
    star, rival = rng.sample(range(players), 2)

    # The cards that each seat ends up with come first, so that a theme survives the exchange.
    wanted: dict[int, Cards] = {}
    if theme == "tie":
        wanted = dict(zip((star, rival), _equal_hands(rng, rules), strict=False))
    elif theme == "quads" and rules["cards_dealt"] >= 4:
        ranks = rng.sample(rules["ranks"], rng.choice([1, 2]))
        fours = [[rank + suit for suit in SUITS] for rank in ranks]
        wanted = dict(zip((star, rival), fours, strict=False))
    kept, others = _deal(rng, rules, wanted)
    if theme == "poor":
        deals = [_deal(rng, rules, {}) for _ in range(6)]
        kept, others = min(deals, key=lambda deal: len(_legal_hands(deal[0][star], rules)))

    laid = _lay_all(rng, rules, kept, theme=theme, star=star, rival=rival, wanted=wanted)
    hands, spares = _undo_exchange(kept, others, rules, dealer, choices)
    last = rules["max_rounds"] - 1
    return {
        "rules": dict(rules),
        "dealer": dealer,
        "scores": _scores(rng, rules),
        "rounds_played": rng.choice([0, last, rng.randint(0, last)]),
        "hands": hands,
        "spares": spares,
        "exchange": choices,
        "laid": laid,
        "calls": _calls(rng, rules, laid),
    }


# ---------------------------------------------------------------- deal and exchange


def _choices(rng: random.Random, rules: Rules, dealer: int) -> list[bool | None]:
    choices: list[bool | None] = [None] * rules["players"]
    if spare_hands(rules):
        for seat in turn_order(rules, dealer):
            choices[seat] = rng.random() < 0.4
            if choices[seat] and rules["players"] == 3:
                break
    return choices


def _deal(rng: random.Random, rules: Rules, wanted: dict[int, Cards]) -> tuple[list[Cards], list[Cards]]:
    """Per seat the cards it ends up with, the wanted ones among them; and the other hands dealt."""
    taken = {card for cards in wanted.values() for card in cards}
    stock = [card for card in pack(rules["ranks"]) if card not in taken]
    rng.shuffle(stock)
    dealt = []
    for seat in range(rules["players"] + spare_hands(rules)):
        cards = list(wanted.get(seat, []))
        while len(cards) < rules["cards_dealt"]:
            cards.append(stock.pop())
        rng.shuffle(cards)
        dealt.append(cards)
    return dealt[: rules["players"]], dealt[rules["players"] :]


def _undo_exchange(
    kept: list[Cards],
    others: list[Cards],
    rules: Rules,
    dealer: int,
    choices: Sequence[bool | None],
) -> tuple[list[Cards], list[Cards]]:
    """The hands and spare hands before the exchange that led to what was kept."""
    hands, spares = [list(cards) for cards in kept], [list(cards) for cards in others]
    for turn, seat in enumerate(turn_order(rules, dealer)):
        if choices[seat]:
            spare = turn if rules["players"] == 2 else 0
            hands[seat], spares[spare] = spares[spare], hands[seat]
    return hands, spares


def _equal_hands(rng: random.Random, rules: Rules) -> list[Cards]:
    """Two hands of the same strength without a common card; empty if none was found."""
    cards = pack(rules["ranks"])
    for _ in range(200):
        first = rng.sample(cards, 3)
        # The same ranks in other suits; for a flush or a running flush in one other suit.
        suits = rng.choice([[rng.choice(SUITS)] * 3, rng.choices(SUITS, k=3)])
        second = [card[0] + suit for card, suit in zip(first, suits, strict=True)]
        if (
            len({*first, *second}) == 6
            and ranking.is_hand(first, lowest_hand=rules["lowest_hand"])
            and ranking.compare(first, second, flush_high=rules["flush_high"]) == "="
        ):
            return [first, second]
    return []


# ---------------------------------------------------------------- laying


def _lay_all(
    rng: random.Random,
    rules: Rules,
    kept: list[Cards],
    *,
    theme: str,
    star: int,
    rival: int,
    wanted: dict[int, Cards],
) -> list[list[Cards]]:
    """Every seat's row, made to fit the theme."""
    players = rules["players"]
    laid = [_lay(rng, cards, rules) for cards in kept]
    if theme == "tie":
        for seat, hand in wanted.items():
            laid[seat] = _lay(rng, kept[seat], rules, first=hand)
    elif theme == "quads":
        for seat in wanted:
            laid[seat] = _lay_quads(rng, kept[seat], rules)
    elif theme == "crash":
        laid[star] = _fill(rng, kept[star], rules, [], strongest=True)
    elif theme == "short":
        for seat in rng.sample(range(players), rng.randint(1, players)):
            laid[seat] = laid[seat][: rng.randrange(len(laid[seat]) + 1)]
    if theme in {"tie", "crash"}:
        for seat in range(players):
            if seat != star and (theme == "crash" or seat != rival):
                laid[seat] = _out_of_the_way(laid[seat], laid[star], rules)
    return laid


def _legal_hands(cards: Sequence[str], rules: Rules) -> list[Cards]:
    lowest = rules["lowest_hand"]
    return [list(hand) for hand in combinations(cards, 3) if ranking.is_hand(hand, lowest_hand=lowest)]


def _fill(
    rng: random.Random,
    cards: Sequence[str],
    rules: Rules,
    start: list[Cards],
    *,
    strongest: bool,
    below: Cards | None = None,
) -> list[Cards]:
    """Add disjoint hands to those laid so far, the strongest left or any, none above `below`."""
    flush_high = rules["flush_high"]
    laid = [list(hand) for hand in start]
    left = _legal_hands(cards, rules)
    rng.shuffle(left)
    if below is not None:
        left = [hand for hand in left if ranking.compare(hand, below, flush_high=flush_high) != ">"]
    if strongest:
        left.sort(key=lambda hand: ranking.key(hand, flush_high=flush_high), reverse=True)
    for hand in left:
        if len(laid) < num_hands(rules) and not any(set(hand) & set(other) for other in laid):
            laid.append(hand)
    # Equal hands and the cards within a hand may come in any order.
    for hand in laid:
        rng.shuffle(hand)
    rng.shuffle(laid)
    laid.sort(key=lambda hand: ranking.key(hand, flush_high=flush_high), reverse=True)
    return laid


def _lay(rng: random.Random, cards: Sequence[str], rules: Rules, *, first: Cards | None = None) -> list[Cards]:
    """Lay as somebody might: the best hands one after another, any hands, one hand, nothing."""
    start = [] if first is None else [first]
    laid = _fill(rng, cards, rules, start, strongest=rng.random() < 0.5, below=first)
    if first is None and rng.random() < 0.1:
        laid = laid[: rng.choice([0, 1])]
    return laid


def _lay_quads(rng: random.Random, cards: Sequence[str], rules: Rules) -> list[Cards]:
    """Try to lay all four cards of a rank, as two pairs or as a prial and one more, or do not."""
    ranks = [card[0] for card in cards]
    fours = [card for card in cards if ranks.count(card[0]) == 4]
    rest = [card for card in cards if card not in fours]
    rng.shuffle(rest)
    start: list[Cards] = []
    way = rng.choice(["two pairs", "two pairs", "prial and one", "as it comes"])
    if len(fours) == 4 and num_hands(rules) >= 2:
        if way == "two pairs":
            start = [[*fours[:2], rest[0]], [*fours[2:], rest[1]]]
        elif way == "prial and one":
            with_fourth = [hand for hand in _legal_hands([fours[3], *rest], rules) if fours[3] in hand]
            start = [fours[:3], rng.choice(with_fourth)] if with_fourth else []
    if not all(ranking.is_hand(hand, lowest_hand=rules["lowest_hand"]) for hand in start):
        start = []
    return _fill(rng, cards, rules, start, strongest=True)


def _out_of_the_way(laid: list[Cards], star: list[Cards], rules: Rules) -> list[Cards]:
    """Of a row only hands that lose to the star's hand where they then stand."""
    flush_high = rules["flush_high"]
    row: list[Cards] = []
    for hand in laid:
        if len(row) < len(star) and (ranking.compare(hand, star[len(row)], flush_high=flush_high) == "<"):
            row.append(hand)
    return row


# ---------------------------------------------------------------- scores and calls


def _scores(rng: random.Random, rules: Rules) -> list[int]:
    players, most = rules["players"], rules["target"] - 1
    near = [max(0, most - rng.randint(0, 3)) for _ in range(players)]
    return rng.choice(
        [
            [0] * players,
            [most] * players,
            near,
            [rng.choice([score, 0]) for score in near],
            [rng.randint(0, most) for _ in range(players)],
            [rng.randint(0, min(2, most)) for _ in range(players)],
        ]
    )


def _calls(rng: random.Random, rules: Rules, laid: list[list[Cards]]) -> list[bool]:
    players = rules["players"]
    if rules["crash_call"] == "none":
        return [False] * players
    winners = [comparison_winner(laid, place, rules) for place in range(1, num_hands(rules) + 1)]
    crasher = find_crasher(winners, rules)
    return rng.choice(
        [
            [False] * players,
            [True] * players,
            [seat == crasher for seat in range(players)],
            [seat == crasher for seat in range(players)],
            [seat != crasher for seat in range(players)],
            [rng.random() < 0.5 for _ in range(players)],
        ]
    )
