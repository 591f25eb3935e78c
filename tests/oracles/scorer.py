"""An independent scorer of one round, sentence by sentence from RULES sections 3 and 4.

A round is a plain dict that JSON can hold:

    {"rules": {...},             every option, as `rulesets.resolve` gives them
     "dealer": 0,                seat; seats are numbered clockwise
     "scores": [0, 0, 0],        before the round
     "rounds_played": 0,         rounds fully scored before this one
     "hands": [[...], ...],      per seat the cards as dealt, before the exchange
     "spares": [[...]],          spare hands, none without an exchange
     "exchange": [...],          per seat True (exchanges), False (keeps), None (is not asked)
     "laid": [[[...], ...]],     per seat the hands in the order laid, each a list of cards
     "calls": [...]}             per seat True (calls a crash) or False (passes, or no calls)

What comes out (`score_round`) is a dict too:

    turn_order            seats, the dealer last
    kept, given_up        per seat the cards after the exchange, and those given up (or None)
    comparison_winners    per position the winner's seat or None, of the round played to the end
    full_crasher          who crashed in the round played to the end, or None
    quads                 per seat how many ranks earn the quads bonus
    points                per seat the round's points: of the round played to the end (section 4)
    revealed              how many positions were in fact compared
    crasher               as `full_crasher`, but None where the game ended before the last comparison
    scores                per seat after the round, as far as it was settled
    winners               seats in ascending order, empty while the game goes on
    reason                "target", "crash", "max_rounds" or None while the game goes on
    next_dealer           who deals next
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from . import ranking
from .cards import RANKS
from .rulesets import Rules, num_hands, rules_faults, spare_hands, turn_order

Round = dict[str, Any]
Fault = tuple[str, tuple[int, ...]]


class Step(NamedTuple):
    """One change of one score, in the order of settlement."""

    what: str  # "comparison", "crash", "call" or "quads"
    seat: int
    change: int
    position: int = 0  # of a comparison, from 1


# ---------------------------------------------------------------- exchange (section 3.2)


def must_choose(rules: Rules, dealer: int, choices: Sequence[bool | None]) -> list[int]:
    """The seats that are asked, in turn order, given what those before them chose."""
    asked: list[int] = []
    if spare_hands(rules) == 0:
        return asked
    for seat in turn_order(rules, dealer):
        asked.append(seat)
        # "The first to exchange takes the spare hand; players after that are not asked."
        if rules["players"] == 3 and choices[seat] is True:
            break
    return asked


def after_exchange(one: Round) -> tuple[list[list[str]], list[list[str] | None]]:
    """Per seat the cards held after the exchange and the cards given up."""
    rules, dealer, choices = one["rules"], one["dealer"], one["exchange"]
    asked = must_choose(rules, dealer, choices)
    for seat, choice in enumerate(choices):
        if (choice is not None) != (seat in asked):
            raise ValueError(f"seat {seat} chose {choice} where the seats asked are {asked}")
    kept = [list(cards) for cards in one["hands"]]
    given_up: list[list[str] | None] = [None] * rules["players"]
    for turn, seat in enumerate(turn_order(rules, dealer)):
        if choices[seat] is True:
            # "two players: a spare hand each, the first for the dealer's left"
            spare = one["spares"][turn if rules["players"] == 2 else 0]
            # "An exchange swaps the whole hand ... The cards given up go out of play"
            given_up[seat] = kept[seat]
            kept[seat] = list(spare)
    return kept, given_up


# ---------------------------------------------------------------- arrangement (section 3.3)


def laid_faults(cards: Sequence[str], laid: Sequence[Sequence[str]], rules: Rules) -> list[Fault]:
    """What is wrong with an arrangement: (code, positions from 1), none if it can be laid.

    Codes: too_many_hands, hand_size ("exactly three cards"), not_held, repeated (a card laid
    twice), below_lowest_hand, order ("strongest first").
    """
    faults: list[Fault] = []
    if len(laid) > num_hands(rules):
        faults.append(("too_many_hands", tuple(range(num_hands(rules) + 1, len(laid) + 1))))
    seen: dict[str, int] = {}  # card to the position where it was laid
    for position, hand in enumerate(laid, start=1):
        if len(hand) != 3:
            faults.append(("hand_size", (position,)))
        for card in hand:
            if card not in cards:
                faults.append(("not_held", (position,)))
            if card in seen:
                faults.append(("repeated", (seen[card], position)))
            seen[card] = position
    if faults:
        return faults
    for position, hand in enumerate(laid, start=1):
        if not ranking.is_hand(hand, lowest_hand=rules["lowest_hand"]):
            faults.append(("below_lowest_hand", (position,)))
    for position in range(1, len(laid)):
        before, after = laid[position - 1], laid[position]
        if ranking.compare(before, after, flush_high=rules["flush_high"]) == "<":
            faults.append(("order", (position, position + 1)))
    return faults


# ---------------------------------------------------------------- reveal (sections 3.5, 3.6)


def comparison_winner(laid: Sequence[Sequence[Sequence[str]]], position: int, rules: Rules) -> int | None:
    """Who wins the comparison at a position (from 1), if anyone."""
    # "Only those who laid the hand compete; whoever alone laid it scores."
    competing = [seat for seat, hands in enumerate(laid) if len(hands) >= position]
    beaten_by_none = []
    for seat in competing:
        mine = laid[seat][position - 1]
        others = [laid[other][position - 1] for other in competing if other != seat]
        flush_high = rules["flush_high"]
        if all(ranking.compare(mine, one, flush_high=flush_high) != "<" for one in others):
            beaten_by_none.append(seat)
    # "If the strongest are equal ... or nobody laid that hand, nobody scores."
    return beaten_by_none[0] if len(beaten_by_none) == 1 else None


def find_crasher(winners: Sequence[int | None], rules: Rules) -> int | None:
    """Who won every one of the comparisons, if anyone."""
    # "if `hands` is at least 2. A tie anywhere prevents it."
    if num_hands(rules) < 2:
        return None
    for seat in range(rules["players"]):
        if all(winner == seat for winner in winners):
            return seat
    return None


def count_quads(cards: Sequence[str], laid: Sequence[Sequence[str]]) -> int:
    """Of how many ranks a player holds all four cards and laid all four."""
    # "each player who holds all four cards of a rank and laid all four inside their hands"
    inside = [card for hand in laid for card in hand]
    held_and_laid = [card for card in inside if card in cards]
    return sum([card[0] for card in held_and_laid].count(rank) == 4 for rank in RANKS)


# ---------------------------------------------------------------- settlement (section 4)


def crash_is_rewarded(rules: Rules, *, called: bool) -> bool:
    """With `required`, "only a called crash earns crash_reward and the bonus"."""
    return called if rules["crash_call"] == "required" else True


def call_bonus(rules: Rules) -> int:
    """What a called crash earns on top.

    "With crash_reward = game the bonus is moot": it is never paid then (our reading).
    """
    return 0 if rules["crash_reward"] == "game" else int(rules["crash_call_bonus"])


def comparison_steps(winners: Sequence[int | None]) -> list[Step]:
    """The comparisons in order: "the one strongest hand scores 1 point"."""
    return [Step("comparison", seat, 1, position) for position, seat in enumerate(winners, start=1) if seat is not None]


def extra_steps(one: Round, *, crasher: int | None, quads: Sequence[int]) -> list[Step]:
    """The extras in the order of their settlement.

    "the crash ..., call bonus or penalty, quads bonus; within each, players in turn order". A
    crash that wins the game stands as a step of 1 point, what it counts in the round's points.
    """
    rules, calls = one["rules"], one["calls"]
    order = turn_order(rules, one["dealer"])
    steps = []
    if crasher is not None and crash_is_rewarded(rules, called=calls[crasher]):
        reward = 1 if rules["crash_reward"] == "game" else rules["crash_reward"]
        steps.append(Step("crash", crasher, reward))
    for seat in order:
        if calls[seat] and seat == crasher:
            steps.append(Step("call", seat, call_bonus(rules)))
        elif calls[seat]:
            steps.append(Step("call", seat, -rules["crash_call_penalty"]))
    steps.extend(Step("quads", seat, quads[seat] * rules["quads_bonus"]) for seat in order if quads[seat])
    return steps


def add(scores: list[int], step: Step) -> None:
    """Change a score: it "never falls below 0: the floor applies at each deduction"."""
    scores[step.seat] = max(0, scores[step.seat] + step.change)


def best(scores: Sequence[int]) -> list[int]:
    """Who wins by score: "the highest score wins, equal highest scores share the win"."""
    return [seat for seat, score in enumerate(scores) if score == max(scores)]


def _immediate(one: Round, steps: Sequence[Step]) -> Round:
    """`finish = immediate`: the first player to reach the target wins at once."""
    rules = one["rules"]
    hands = num_hands(rules)
    scores = list(one["scores"])
    for step in steps:
        # "the rest of the round is not played, nothing more is settled"
        revealed = step.position if step.what == "comparison" else hands
        if step.what == "crash" and rules["crash_reward"] == "game":
            # "with `game`, the crasher wins now": a win, not a point
            return {"scores": scores, "revealed": hands, "winners": [step.seat], "reason": "crash"}
        add(scores, step)
        # "the target checked after each player"
        if scores[step.seat] >= rules["target"]:
            return {
                "scores": scores,
                "revealed": revealed,
                "winners": [step.seat],
                "reason": "target",
            }
    return {"scores": scores, "revealed": hands, "winners": [], "reason": None}


def _round_end(one: Round, steps: Sequence[Step]) -> Round:
    """`finish = round_end`: the round is played out and all extras are added."""
    rules = one["rules"]
    scores = list(one["scores"])
    game_crasher = None
    for step in steps:
        if step.what == "crash" and rules["crash_reward"] == "game":
            game_crasher = step.seat
        else:
            add(scores, step)
    ended: Round = {"scores": scores, "revealed": num_hands(rules), "winners": [], "reason": None}
    if game_crasher is not None:
        # "a crash with `game` then wins alone whatever the scores"
        ended.update(winners=[game_crasher], reason="crash")
    elif max(scores) >= rules["target"]:
        # "otherwise, if anyone has reached `target`, the highest score wins"
        ended.update(winners=best(scores), reason="target")
    return ended


def check_round(one: Round) -> None:
    """Refuse, by a ValueError, a round that cannot come about."""
    rules = one["rules"]
    if rules_faults(rules):
        raise ValueError(f"rules cannot be played: {rules_faults(rules)}")
    for name in ("scores", "hands", "exchange", "laid", "calls"):
        if len(one[name]) != rules["players"]:
            raise ValueError(f"{name} has not one entry for each of {rules['players']} players")
    if any(not 0 <= score < rules["target"] for score in one["scores"]):
        raise ValueError(f"the game is over at {one['scores']}")
    if not 0 <= one["rounds_played"] < rules["max_rounds"]:
        raise ValueError(f"the game is over after {one['rounds_played']} rounds")
    if len(one["spares"]) != spare_hands(rules):
        raise ValueError(f"{len(one['spares'])} spare hands, expected {spare_hands(rules)}")
    dealt = [card for cards in [*one["hands"], *one["spares"]] for card in cards]
    if len(set(dealt)) != len(dealt):
        raise ValueError("a card was dealt twice")
    if any(card[0] not in rules["ranks"] for card in dealt):
        raise ValueError(f"a card outside the pack {rules['ranks']}")
    if any(len(cards) != rules["cards_dealt"] for cards in [*one["hands"], *one["spares"]]):
        raise ValueError(f"not {rules['cards_dealt']} cards each")
    if any(one["calls"]) and rules["crash_call"] == "none":
        raise ValueError("nobody calls with crash_call = none")


def score_round(one: Round) -> Round:
    """Score a whole round; the module's docstring has the formats."""
    check_round(one)
    rules, laid = one["rules"], one["laid"]
    kept, given_up = after_exchange(one)
    for seat, cards in enumerate(kept):
        if laid_faults(cards, laid[seat], rules):
            raise ValueError(f"seat {seat} cannot lay: {laid_faults(cards, laid[seat], rules)}")

    # "Hand 1 of all players is compared, then Hand 2, and so on."
    positions = range(1, num_hands(rules) + 1)
    winners = [comparison_winner(laid, position, rules) for position in positions]
    crasher = find_crasher(winners, rules)
    quads = [count_quads(cards, hands) for cards, hands in zip(kept, laid, strict=True)]
    steps = [*comparison_steps(winners), *extra_steps(one, crasher=crasher, quads=quads)]

    # "A round's points of a player: the round played out to the end"
    played_out = list(one["scores"])
    for step in steps:
        add(played_out, step)
    points = [after - before for after, before in zip(played_out, one["scores"], strict=True)]

    ended = _immediate(one, steps) if rules["finish"] == "immediate" else _round_end(one, steps)
    if not ended["winners"] and one["rounds_played"] + 1 >= rules["max_rounds"]:
        # "if nobody has won when that many rounds are fully scored, the game is truncated; the
        # highest score wins, equal highest scores share"
        ended.update(winners=best(ended["scores"]), reason="max_rounds")
    return {
        "turn_order": turn_order(rules, one["dealer"]),
        "kept": kept,
        "given_up": given_up,
        "comparison_winners": winners,
        "full_crasher": crasher,
        "quads": quads,
        "points": points,
        "crasher": crasher if ended["revealed"] == num_hands(rules) else None,
        **ended,
        # "the deal passes to the left each round"
        "next_dealer": (one["dealer"] + 1) % rules["players"],
    }
