"""A set of rules in plain words: every option, the ranking of hands with reasons, a round, and how the game ends.

What ``prial rules`` prints and what the rules page of the documentation shows. The words follow the values: a test goes
through every value of every option.

Source: RULES sections 2 to 5 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ..envs.brag import BragClass, brag_class, describe_strength, strength_table, triple_index
from ..envs.cards import RANKS, parse_cards
from ..envs.crash.presets import load_rules, read_preset
from ..envs.crash.rules import HOUSE_RULES, CrashRules, RulesError

__all__ = ["Comparison", "Explanation", "OptionExplained", "explain", "explain_option", "how_ranked", "option_names"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionExplained:
    """One option.

    Attributes:
        option, value: as in `CrashRules`.
        rule_set_value: what the rule set has, where something else was asked for.
        meaning: what the value means at this table.
        also_played: other values that tables of this rule set play.
    """

    option: str
    value: int | str
    rule_set_value: int | str
    meaning: str
    also_played: tuple[int | str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two hands, and which is better.

    Attributes:
        better, worse: cards as text; equal hands where `tie`.
        tie: whether nobody scores.
        reason: why.
    """

    better: str
    worse: str
    tie: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything about one set of rules.

    Attributes:
        name, summary: of the rule set.
        rules: as they are played.
        options: every option of `CrashRules`, in its order.
        hands: the classes that count, best first, each with the order within it.
        comparisons: where tables differ, settled.
        round: steps of a round, each with its name.
        end: how the game ends.
    """

    name: str
    summary: str
    rules: CrashRules
    options: tuple[OptionExplained, ...]
    hands: Mapping[str, str]
    comparisons: tuple[Comparison, ...]
    round: Mapping[str, str]
    end: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values, with the house rules that are not played."""
        return {
            "rule_set": self.name,
            "summary": self.summary,
            "rules": self.rules.to_dict(),
            "options": [{**asdict(option), "also_played": list(option.also_played)} for option in self.options],
            "hands": [{"class": name, "order": order} for name, order in self.hands.items()],
            "comparisons": [asdict(comparison) for comparison in self.comparisons],
            "round": [{"step": step, "text": text} for step, text in self.round.items()],
            "end": list(self.end),
            "house_rules_not_played": dict(HOUSE_RULES),
        }


def explain(source: str | Path, rules: CrashRules) -> Explanation:
    """Return an explanation of rules.

    Args:
        source: the rule set or YAML file that they come from.
        rules: as they are played.

    Raises:
        RulesError: notes for people in a file that cannot be read.

    >>> explain("bga", CrashRules.preset("bga", players=4)).options[4].meaning
    'Nobody exchanges: only two or three players ever do.'
    """
    content = read_preset(source)
    played = _in_use(content.get("in_use", {}), source)
    own = load_rules(source).to_dict()
    return Explanation(
        name=rules.name,
        summary=str(content.get("summary", "")),
        rules=rules,
        options=tuple(
            OptionExplained(
                option=option,
                value=getattr(rules, option),
                rule_set_value=own[option],
                meaning=explain_option(option, rules),
                also_played=tuple(value for value in played.get(option, ()) if value != getattr(rules, option)),
            )
            for option in option_names()
        ),
        hands={
            kind.label: how_ranked(kind, rules)
            for kind in sorted(BragClass, reverse=True)
            if kind >= rules.lowest_class
        },
        comparisons=_comparisons(rules),
        round=_round(rules),
        end=_end(rules),
    )


def option_names() -> tuple[str, ...]:
    """Return the names of the options of `CrashRules`.

    >>> option_names()[:2]
    ('players', 'cards_dealt')
    """
    return tuple(f.name for f in fields(CrashRules) if f.name != "name")


def explain_option(option: str, rules: CrashRules) -> str:
    """Return what an option's value means at this table, in a sentence or two.

    >>> explain_option("target", CrashRules(target=10))
    'Points to reach: the game is to 10.'
    """
    return _MEANINGS[option](rules)


def _in_use(notes: object, source: str | Path) -> Mapping[str, list[int | str]]:
    if not isinstance(notes, dict) or not all(isinstance(values, list) for values in notes.values()):
        raise RulesError(f"in_use in {str(source)!r}: expected a list of values for each option")
    return notes


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# ---- options ----------------------------------------------------------------------------------------------------------


def _cards_dealt(rules: CrashRules) -> str:
    left = rules.cards_dealt - 3 * rules.hands
    text = f"Cards to each player: enough for {_count(rules.hands, 'hand')} of three"
    text += f" and {left} to spare." if left else "."
    return text + f" {len(rules.pack) - rules.players * rules.cards_dealt} of {len(rules.pack)} stay undealt."


def _lowest_hand(rules: CrashRules) -> str:
    return {
        "high_card": "Any three cards are a hand, high cards included.",
        "pair": "A hand is a pair or better; three cards that make no pair or better cannot be laid.",
        "flush": "A hand is a flush or better; pairs and high cards cannot be laid.",
    }[rules.lowest_hand]


def _flush_high(rules: CrashRules) -> str:
    if rules.flush_high == "ace":
        return "When flushes are compared, the ace is the highest card and the two the lowest."
    return "When flushes are compared, the three is the highest card, then ace, king, ... 4, 2. Nothing else changes."


def _exchange(rules: CrashRules) -> str:
    if rules.exchange == "none":
        return "Everybody plays the hand that was dealt."
    if rules.players == 3:
        return "There is one spare hand. In turn, each may swap the whole hand for it, unseen, until one has done so."
    if rules.players == 2:
        return "Each has a spare hand and may swap the whole hand for it, unseen. Both choose before either is told."
    return "Nobody exchanges: only two or three players ever do."


def _finish(rules: CrashRules) -> str:
    if rules.finish == "immediate":
        return "Whoever reaches the target first wins at once, even between two hands of a round."
    return "The round in which the target is reached is played out; then the highest score wins, equal ones share."


def _crash_reward(rules: CrashRules) -> str:
    if rules.hands < 2:
        return "There is no crash with a single hand."
    crash = "A called crash" if rules.crash_call == "required" else "A crash"
    crash += f" (winning all {rules.hands} hands of a round)"
    if rules.crash_reward == "game":
        return f"{crash} wins the game."
    if rules.crash_reward == 0:
        return f"{crash} earns nothing extra."
    return f"{crash} earns {_count(int(rules.crash_reward), 'extra point')}."


def _crash_call(rules: CrashRules) -> str:
    if rules.has_calls and rules.hands < 2:
        return (
            "Before the hands are shown each may call a crash; with a single hand there is none, so every call fails."
        )
    return {
        "none": "Nobody calls a crash before the hands are shown.",
        "optional": "Before the hands are shown each may call a crash; a crash that was not called counts as well.",
        "required": "Before the hands are shown each may call a crash; only a crash that was called earns anything.",
    }[rules.crash_call]


def _crash_call_bonus(rules: CrashRules) -> str:
    if not rules.has_calls:
        return "Not used: no crash is called (crash_call)."
    if rules.crash_reward == "game":
        return "Of no matter: a crash wins the game (crash_reward)."
    return f"A called crash that succeeds earns {_count(rules.crash_call_bonus, 'point')} on top of crash_reward."


def _crash_call_penalty(rules: CrashRules) -> str:
    if not rules.has_calls:
        return "Not used: no crash is called (crash_call)."
    return f"A call that fails costs {_count(rules.crash_call_penalty, 'point')}; no score falls below 0."


def _quads_bonus(rules: CrashRules) -> str:
    if rules.quads_bonus == 0:
        return "Four of a kind earn nothing extra."
    if rules.hands < 2:
        return "Four of a kind do not fit into a single hand: it is never earned."
    return (
        f"Whoever lays all four cards of a rank inside the hands earns {_count(rules.quads_bonus, 'extra point')} for each "
        "such rank."
    )


def _ranks(rules: CrashRules) -> str:
    if rules.ranks == RANKS:
        return "The full pack of 52 cards."
    return (
        f"A short pack of {len(rules.pack)} cards, for study. Gaps are not closed: a run is still three neighbours of the "
        "full order."
    )


_MEANINGS: Mapping[str, Callable[[CrashRules], str]] = {
    "players": lambda rules: f"{rules.players} at the table, each for themselves.",
    "cards_dealt": _cards_dealt,
    "lowest_hand": _lowest_hand,
    "flush_high": _flush_high,
    "exchange": _exchange,
    "target": lambda rules: f"Points to reach: the game is to {rules.target}.",
    "finish": _finish,
    "crash_reward": _crash_reward,
    "crash_call": _crash_call,
    "crash_call_bonus": _crash_call_bonus,
    "crash_call_penalty": _crash_call_penalty,
    "quads_bonus": _quads_bonus,
    "max_rounds": lambda rules: (
        f"After {_count(rules.max_rounds, 'round')} without a winner the game is cut off: the highest score wins, equal "
        "ones share."
    ),
    "ranks": _ranks,
}


# ---- hands ------------------------------------------------------------------------------------------------------------


def how_ranked(kind: BragClass, rules: CrashRules) -> str:
    """Return what a class of hands is, and the order within it.

    >>> how_ranked(BragClass.PAIR, CrashRules())
    'two of one rank: the higher pair, then the odd card; aces high'
    """
    if kind is BragClass.FLUSH:
        top = "aces high" if rules.flush_high == "ace" else "3 A K Q ... 4 2, the three on top"
        return f"one suit, not consecutive: the highest card, then the second, then the third; {top}"
    return {
        BragClass.PRIAL: "three of one rank: 3-3-3 is the best, then A-A-A, K-K-K ... 4-4-4, 2-2-2",
        BragClass.RUNNING_FLUSH: "three consecutive ranks of one suit: A-2-3 is the best, then A-K-Q, K-Q-J ... 4-3-2",
        BragClass.RUN: "three consecutive ranks of mixed suits, ordered likewise; K-A-2 is none",
        BragClass.PAIR: "two of one rank: the higher pair, then the odd card; aces high",
        BragClass.HIGH_CARD: "anything else: the highest card, then the second, then the third; aces high",
    }[kind]


# Hands on which pages about the game disagree, with what is to be said beyond the classes.
_DISPUTED = (
    ("3c 3d 3h", "Ac Ad Ah", "3-3-3 is the best prial"),
    ("As 2h 3d", "Ac Kd Qh", "A-2-3 is the best run"),
    ("Ac Kd Qh", "9s 5s 2s", "the reverse of poker"),
    ("9s 5s 2s", "Kc Ad 2h", "K-A-2 is no run"),
    ("Qs 7s 2s", "Jh 8h 3h", "never by pips"),
    ("Ac Kc 9c", "9d 5d 3d", ""),
    ("Kc Qd Jh", "Kd Qh Js", "suits never count"),
)


def _comparisons(rules: CrashRules) -> tuple[Comparison, ...]:
    pack = set(rules.pack)
    return tuple(
        _compare(first, second, note, rules)
        for first, second, note in _DISPUTED
        if all(card.id in pack for card in parse_cards(f"{first} {second}"))
    )


def _compare(first: str, second: str, note: str, rules: CrashRules) -> Comparison:
    table = strength_table(rules.flush_order, rules.lowest_class)
    ranked = [
        (int(table[triple_index(*sorted(card.id for card in parse_cards(hand)))]), hand) for hand in (first, second)
    ]
    (strong, better), (weak, worse) = sorted(ranked, key=lambda pair: -pair[0])
    names = [describe_strength(strength, flush_high=rules.flush_order) for strength in (strong, weak)]
    above, below = brag_class(better), brag_class(worse)
    if strong == weak:
        reason = f"a tie: {names[0]} both"
    elif above is not below:
        reason = f"{above.label} beats {below.label}"
        if weak == 0:
            reason += ", which is no hand here"
    elif above is BragClass.FLUSH:
        top = "the ace" if rules.flush_high == "ace" else "the three"
        reason = f"{names[0]} beats {names[1]}: the highest card decides, {top} on top"
    else:
        reason = f"{names[0]} beats {names[1]}"
    return Comparison(better=better, worse=worse, tie=strong == weak, reason=f"{reason}; {note}" if note else reason)


# ---- the round and the end --------------------------------------------------------------------------------------------


def _round(rules: CrashRules) -> dict[str, str]:
    steps = {
        "Deal": f"{rules.cards_dealt} cards to each of {rules.players} players. The first dealer is drawn; the deal passes "
        "to the left each round. Turns go clockwise from the dealer's left, the dealer last."
    }
    if rules.has_exchange:
        given = "The cards given up go out of play; their owner alone knows them."
        if rules.players == 3:
            steps["Exchange"] = (
                f"The next {rules.cards_dealt} cards are the one spare hand. In turn, each player keeps or exchanges, "
                f"seeing the choices before. The first to exchange takes it; those after are not asked. {given}"
            )
        else:
            steps["Exchange"] = (
                f"Each player has a spare hand of {rules.cards_dealt} cards and keeps or exchanges, without knowing the "
                f"other's choice; then both choices are public. {given}"
            )
    if rules.hands == 1:
        laid = "one hand of exactly three cards"
        order = ""
    else:
        laid = f"up to {rules.hands} hands of exactly three cards"
        order = ", strongest first (equal ones in either order)"
    least = "" if rules.lowest_hand == "high_card" else f", each a {rules.lowest_class.label} or better"
    steps["Arrange"] = (
        f"All at once and in secret, each lays {laid}{least}{order}. Fewer hands, or none, are allowed. What is laid is "
        "final."
    )
    if rules.has_calls:
        steps["Call"] = "In turn and in public, each calls a crash or passes, whatever they laid; several may call."
    steps["Reveal"] = (
        ("Hand 1 of all is compared, then Hand 2, and so on: the" if rules.hands > 1 else "The hands are compared: the")
        + " one strongest scores 1 point. If the strongest are equal, nobody scores. Who lays no hand there does not "
        "compete; whoever alone laid one scores."
    )
    extras = _extras(rules)
    if extras:
        steps["Extras"] = extras
    return steps


def _extras(rules: CrashRules) -> str:
    parts = []
    if rules.hands > 1 and rules.crash_reward != 0:
        parts.append(f"the crash, for winning every one of the {rules.hands} hands (a tie anywhere prevents it)")
    if rules.has_calls:
        parts.append("calls, won or lost")
    if rules.quads_bonus and rules.hands > 1:
        parts.append("four of a kind")
    if not parts:
        return ""
    if len(parts) == 1:
        return f"Then is settled: {parts[0]}."
    return f"Then are settled, in this order: {'; '.join(parts)}."


def _end(rules: CrashRules) -> tuple[str, ...]:
    crash = "A crash wins the game"
    if rules.crash_call == "required":
        crash = "A crash that was called wins the game"
    by_crash = rules.crash_reward == "game" and rules.hands > 1
    lines = []
    if rules.finish == "immediate":
        lines.append(
            f"The first player with {_count(rules.target, 'point')} wins at once; the rest of the round is not played, and "
            "hands not yet shown stay hidden. Within the extras, players are settled in turn order."
        )
        if by_crash:
            lines.append(f"{crash}, once all hands are compared.")
    else:
        lines.append(
            f"When a round has been played out and somebody has {_count(rules.target, 'point')}, the highest score wins; "
            "equal highest scores share the win."
        )
        if by_crash:
            lines.append(f"{crash}, alone and whatever the scores, once its round has been played out.")
    lines.append(
        f"If nobody has won after {_count(rules.max_rounds, 'round')}, the game is cut off: the highest score wins, equal "
        "highest scores share."
    )
    return tuple(lines)
