"""`CrashRules`: every option of a game of Crash, as one frozen, validated value.

Source: RULES sections 3 to 5 and 7.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from numbers import Integral
from typing import Any, Literal, get_args

from ..brag import BragClass, FlushHigh
from ..cards import RANKS, CardError, pack_ids, rank_index

__all__ = ["HOUSE_RULES", "CrashRules", "RulesError", "check_option_names"]

LowestHand = Literal["high_card", "pair", "flush"]
FlushHighName = Literal["ace", "three"]
ExchangeRule = Literal["none", "spare"]
Finish = Literal["immediate", "round_end"]
CrashCall = Literal["none", "optional", "required"]

MAX_PLAYERS = 5
MAX_HANDS = 4

HOUSE_RULES: Mapping[str, str] = {
    "tied_hands": "tied best hands cancel and the next hand scores: here a tie for the best hand scores nobody",
    "flush_pips": "flushes valued by pips: here flush_high='ace' or 'three' compares them card by card",
    "top_run": "A-K-Q above A-2-3: here A-2-3 is always the best run",
    "two_card_hands": "a bare pair of two cards as a hand: here a hand is exactly three cards",
    "wrong_order": "a forfeited round for a wrong order: here a wrong order is refused, naming the positions",
    "stakes": "money stakes for the exchange or the crash: here only points are played for",
    "quads_announced": "four of a kind that counts only when announced: here quads_bonus is simply paid",
    "four_threes": "four threes winning the game: here quads_bonus pays the same for every rank",
}
"""House rules that prial does not play, by the name under which asking for one is refused (RULES section 7)."""


class RulesError(ValueError):
    """Rules that cannot be played; the message names the option and the reason."""


@dataclass(frozen=True, kw_only=True)
class CrashRules:
    """The rules of one table of Crash. The defaults are the rule set `online`.

    Attributes:
        players: 2 to 5.
        cards_dealt: cards to each player, 3 to 13.
        lowest_hand: the lowest class that counts as a hand: `high_card`, `pair` or `flush`.
        flush_high: the top card when flushes are compared: `ace` or `three`.
        exchange: `none`, or `spare` (two or three players may swap their hand for a spare one; four or five never do).
        target: points that end the game, from 1.
        finish: `immediate` (reaching the target wins at once) or `round_end` (the round is played out).
        crash_reward: `game` (a crash wins the game) or extra points, from 0.
        crash_call: `none`, `optional` or `required`.
        crash_call_bonus: extra points for a called crash that succeeds, from 0.
        crash_call_penalty: points that a failed call costs, from 0.
        quads_bonus: extra points for each four of a kind laid whole, from 0.
        max_rounds: the game is cut off after so many rounds, from 1.
        ranks: ranks of the pack, e.g. ``"9TJQKA"``; gaps do not close.
        name: the rule set it came from, "" if none; not part of the comparison.

    Raises:
        RulesError: an option out of range, or a combination that cannot be played.

    >>> rules = CrashRules.preset("bga", players=5)
    >>> rules.cards_dealt, rules.hands
    (9, 3)
    >>> CrashRules(players=5)
    Traceback (most recent call last):
    ...
    prial.envs.crash.rules.RulesError: players=5 with cards_dealt=13 needs 65 cards, the pack (ranks=23456789TJQKA) has 52
    """

    players: int = 3
    cards_dealt: int = 13
    lowest_hand: LowestHand = "pair"
    flush_high: FlushHighName = "ace"
    exchange: ExchangeRule = "none"
    target: int = 7
    finish: Finish = "immediate"
    crash_reward: int | Literal["game"] = "game"
    crash_call: CrashCall = "none"
    crash_call_bonus: int = 1
    crash_call_penalty: int = 1
    quads_bonus: int = 1
    max_rounds: int = 200
    ranks: str = RANKS
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Integral) and not isinstance(value, bool):
                object.__setattr__(self, each.name, int(value))  # numpy's integers too
        _check_int("players", self.players, 2, MAX_PLAYERS)
        _check_int("cards_dealt", self.cards_dealt, 3, 13)
        _check_choice("lowest_hand", self.lowest_hand, LowestHand)
        flush_high: str = self.flush_high
        if flush_high == "pips":
            raise RulesError(f"flush_high='pips' is not played: {HOUSE_RULES['flush_pips']}")
        _check_choice("flush_high", self.flush_high, FlushHighName)
        _check_choice("exchange", self.exchange, ExchangeRule)
        _check_choice("finish", self.finish, Finish)
        _check_choice("crash_call", self.crash_call, CrashCall)
        if not (isinstance(self.crash_reward, str) and self.crash_reward == "game"):
            _check_int("crash_reward", self.crash_reward, 0, _MAX_POINTS, or_else="'game'")
        for option, low in (
            ("target", 1),
            ("crash_call_bonus", 0),
            ("crash_call_penalty", 0),
            ("quads_bonus", 0),
            ("max_rounds", 1),
        ):
            _check_int(option, getattr(self, option), low, _MAX_POINTS)
        if not isinstance(self.name, str):
            raise RulesError(f"name={self.name!r}: expected a text")
        object.__setattr__(self, "ranks", _clean_ranks(self.ranks))
        self._check_pack()

    def _check_pack(self) -> None:
        pack, dealt = len(self.pack), self.players * self.cards_dealt
        about = f"the pack (ranks={self.ranks}) has {pack}"
        if dealt > pack:
            raise RulesError(f"players={self.players} with cards_dealt={self.cards_dealt} needs {dealt} cards, {about}")
        spare = self.num_spares * self.cards_dealt
        if dealt + spare > pack:
            raise RulesError(
                f"exchange=spare with players={self.players} and cards_dealt={self.cards_dealt} needs {spare} cards for "
                f"the spare hand{'s' if self.num_spares > 1 else ''} on top of {dealt}, {about}"
            )

    @classmethod
    def preset(cls, name: str, **overrides: Any) -> CrashRules:
        """Return the rule set `name` (`online`, `bga`, `traditional`) with some options set otherwise.

        Raises:
            RulesError: an unknown name or option (the nearest known one is named), or rules that cannot be played.

        >>> CrashRules.preset("online", target=10).target
        10
        """
        from .presets import load_rules  # reads files; a room of its own

        return load_rules(name, **overrides)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> CrashRules:
        """Return the rules with these options, the rest at their defaults; the inverse of `to_dict`."""
        check_option_names(options)
        return cls(**options)

    def to_dict(self) -> dict[str, Any]:
        """Return every option as plain JSON values."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def replace(self, **options: Any) -> CrashRules:
        """Return these rules with some options set otherwise.

        >>> CrashRules().replace(target=10).target
        10
        """
        check_option_names(options)
        return CrashRules(**{**self.to_dict(), **options})

    @property
    def hands(self) -> int:
        """How many hands a player may lay: ``min(4, cards_dealt // 3)``."""
        return min(MAX_HANDS, self.cards_dealt // 3)

    @property
    def num_spares(self) -> int:
        """How many spare hands are dealt: two for two players, one for three, if there is an exchange."""
        return {2: 2, 3: 1}.get(self.players, 0) if self.exchange == "spare" else 0

    @property
    def has_exchange(self) -> bool:
        """Whether a round has an exchange phase."""
        return self.num_spares > 0

    @property
    def has_calls(self) -> bool:
        """Whether a round has a call phase."""
        return self.crash_call != "none"

    @property
    def crash_points(self) -> int:
        """What a crash adds to a round's points: `crash_reward`, 1 where it is `game` (RULES section 4)."""
        return 1 if self.crash_reward == "game" else int(self.crash_reward)

    @property
    def max_round_points(self) -> int:
        """The most points that one player can score in a round (not all rules attain it)."""
        bonus = self.crash_call_bonus if self.has_calls and self.crash_reward != "game" else 0
        crash = self.crash_points + bonus if self.hands >= 2 else 0
        return self.hands + crash + self.quads_bonus * (3 * self.hands // 4)

    @cached_property
    def pack(self) -> tuple[int, ...]:
        """The card ids of the pack, ascending."""
        return pack_ids([rank_index(rank) for rank in self.ranks])

    @cached_property
    def lowest_class(self) -> BragClass:
        """`lowest_hand` as a class of hands."""
        return BragClass[self.lowest_hand.upper()]

    @cached_property
    def flush_order(self) -> FlushHigh:
        """`flush_high` as the enum of `prial.envs.brag`."""
        return FlushHigh(self.flush_high)


_MAX_POINTS = 1_000_000  # room in int32 for anything that is added up


def _check_int(option: str, value: object, low: int, high: int, *, or_else: str = "") -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        other = f" or {or_else}" if or_else else ""
        raise RulesError(f"{option}={value!r}: expected a whole number from {low} to {high}{other}")


def _check_choice(option: str, value: object, choices: Any) -> None:
    if not isinstance(value, str) or value not in get_args(choices):
        raise RulesError(f"{option}={value!r}: expected {' or '.join(map(repr, get_args(choices)))}")


def _clean_ranks(text: object) -> str:
    if not isinstance(text, str):
        raise RulesError(f"ranks={text!r}: expected a text such as '9TJQKA'")
    try:
        ranks = [rank_index(letter) for letter in text.replace("10", "T")]
    except CardError as error:
        raise RulesError(f"ranks={text!r}: {error}") from None
    if len(set(ranks)) != len(ranks) or not ranks:
        raise RulesError(f"ranks={text!r}: expected one or more ranks, each once")
    return "".join(RANKS[rank] for rank in sorted(ranks))


def check_option_names(options: Iterable[str]) -> None:
    """Refuse names that are no option of `CrashRules`; a house rule is refused with what is there instead.

    Raises:
        RulesError: with the nearest known option.
    """
    known = [f.name for f in fields(CrashRules)]
    for name in options:
        if name in HOUSE_RULES:
            raise RulesError(f"the house rule {name!r} is not played: {HOUSE_RULES[name]}")
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            options_known = ", ".join(k for k in known if k != "name")
            raise RulesError(f"unknown option {name!r}{hint} Options of the rules: {options_known}")
