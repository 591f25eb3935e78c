"""The words of the engine protocol: lines that a host and an engine exchange, written and read by both sides.

`docs/engine-protocol.md` is its grammar. One line is one command or one answer. A host's command gets any number of `info`
and `option` lines, then exactly one final line: ``ok COMMAND ...``, ``decision ...`` or ``error ...``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from ..envs.cards import CardError, format_cards, parse_cards
from ..envs.crash.actions import action_layout
from ..envs.crash.arrangement import Arrangement, ArrangementError
from ..envs.crash.game import Phase
from ..envs.crash.observation import PlayerView
from ..envs.crash.presets import load_rules, preset_names
from ..envs.crash.rules import CrashRules, RulesError
from ..envs.crash.starts import turn_order

__all__ = [
    "MAX_LINE",
    "PROTOCOL",
    "ProtocolError",
    "ascii_line",
    "format_decision",
    "format_position",
    "format_rules",
    "quoted",
    "read_decision",
    "read_line",
    "read_position",
    "read_rules",
    "whole",
]

PROTOCOL = 1
"""Version of the protocol."""

MAX_LINE = 8192
"""Longest line that is read, in bytes; the longest that there is needs some 500."""

_MAX_ANSWER = 800
_PHASES = {"exchange": Phase.EXCHANGE, "arrange": Phase.ARRANGE, "call": Phase.CALL}
_EXCHANGES: Mapping[str, bool | None] = {"exchanged": True, "kept": False, "-": None}
_CALLS: Mapping[str, bool | None] = {"called": True, "passed": False, "-": None}
_FIELDS = ("seat", "dealer", "round", "scores", "cards", "givenup", "exchanges", "calls", "laid")
Value = TypeVar("Value")


class ProtocolError(ValueError):
    """A line that is no such command or answer; the message says what came and what was expected."""


# ---- lines ------------------------------------------------------------------------------------------------------------


def read_line(data: bytes) -> str:
    r"""Return a line without what tolerance overlooks: a byte order mark, line ends, blanks at its ends, repeated blanks.

    Raises:
        ProtocolError: longer than `MAX_LINE`, a null byte, or no UTF-8.

    >>> read_line(b"\xef\xbb\xbf  Decide \t movetime 500 \r\n")
    'Decide movetime 500'
    """
    if len(data.rstrip(b"\r\n")) > MAX_LINE:
        raise ProtocolError(f"a line of more than {MAX_LINE} bytes")
    if b"\0" in data:
        raise ProtocolError(f"a null byte in {quoted(data.decode('utf-8', 'replace'))}; expected text")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ProtocolError(f"byte {error.start} of the line is no UTF-8; expected ASCII text") from None
    return " ".join(text.replace("\ufeff", " ").split())


def ascii_line(text: str) -> str:
    r"""Return text as one line of printable ASCII, cut where it is very long.

    >>> ascii_line("no card '♠'\nat all")
    "no card '\\u2660' at all"
    """
    plain = " ".join(text.split()).encode("ascii", "backslashreplace").decode("ascii")
    plain = re.sub(r"[^ -~]", lambda found: f"\\x{ord(found[0]):02x}", plain)
    return plain if len(plain) <= _MAX_ANSWER else f"{plain[: _MAX_ANSWER - 4]} ..."


def quoted(text: str) -> str:
    """Return the beginning of some text in quotes, for messages."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def whole(word: str, *, low: int, high: int, what: str) -> int:
    """Return the whole number that a word is.

    Raises:
        ProtocolError: it is none, or outside the bounds.

    >>> whole("7", low=0, high=9, what="seat")
    7
    """
    number = int(word) if re.fullmatch(r"\+?[0-9]{1,18}", word) else -1
    if not low <= number <= high:
        raise ProtocolError(f"{what}: expected a whole number from {low} to {high}, got {quoted(word)}")
    return number


# ---- rules ------------------------------------------------------------------------------------------------------------


def format_rules(rules: CrashRules) -> str:
    """Return the command that sets some rules: every option, so that an engine needs to know no rule set.

    >>> format_rules(CrashRules.preset("online"))[:52]
    'rules online players=3 cards_dealt=13 lowest_hand=pa'
    """
    options = [f"{name}={value}" for name, value in rules.to_dict().items() if name != "name"]
    return " ".join(["rules", rules.name if rules.name in preset_names() else "online", *options])


def read_rules(words: Sequence[str]) -> CrashRules:
    """Return the rules of a command's words, without the first.

    Raises:
        ProtocolError: words that are no ``option=value``, an option set twice, or no rules that can be played.

    >>> read_rules(["BGA", "players=2", "target=10"]).target
    10
    """
    name, settings = "online", list(words)
    if settings and "=" not in settings[0]:
        name = settings.pop(0).lower()
        if name not in preset_names():
            near = difflib.get_close_matches(name, preset_names(), n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ProtocolError(f"no rule set {quoted(name)}{hint} (expected {', '.join(preset_names())})")
    options: dict[str, int | str] = {}
    for setting in settings:
        option, equals, value = setting.partition("=")
        option = option.lower()
        if not (option and equals and value) or option == "name":
            raise ProtocolError(f"expected option=value, such as target=10, got {quoted(setting)}")
        if option in options:
            raise ProtocolError(f"{option} is set twice")
        number = option != "ranks" and re.fullmatch(r"[+-]?[0-9]{1,18}", value)
        options[option] = int(value) if number else value if option == "ranks" else value.lower()
    try:
        return load_rules(name, **options)
    except RulesError as error:
        raise ProtocolError(str(error)) from None


# ---- positions --------------------------------------------------------------------------------------------------------


def format_position(view: PlayerView) -> str:
    """Return the command that tells an engine what a seat knows.

    >>> from ..envs.crash.game import Game
    >>> from ..envs.crash.observation import view_of
    >>> format_position(view_of(Game(CrashRules.preset("online"), seed=7), 0))
    'position arrange seat 0 dealer 2 round 1 scores 0 0 0 cards 4h 5c 5h 6c 6s 7c 7h 8c 9d Tc Qd Qs As'
    """
    rules = view.rules
    words = ["position", view.phase.label, "seat", view.seat, "dealer", view.dealer, "round", view.rounds_played + 1]
    words += ["scores", *view.scores, "cards", format_cards(view.cards)]
    if view.given_up:
        words += ["givenup", format_cards(view.given_up)]
    if rules.has_exchange:
        words += ["exchanges", *_words_for(view.exchanges, _EXCHANGES)]
    if rules.has_calls:
        words += ["calls", *_words_for(view.calls, _CALLS)]
    if view.laid is not None:
        words += ["laid", _hands_text(view.laid, view)]
    return " ".join(map(str, words)).rstrip()


def _words_for(choices: Sequence[bool | None], words: Mapping[str, bool | None]) -> Iterator[str]:
    for choice in choices:
        yield next(word for word, meaning in words.items() if meaning is choice)


def _hands_text(index: int, view: PlayerView) -> str:
    laid = Arrangement.from_index(index, list(view.cards), view.rules)
    return " | ".join(format_cards(hand) for hand in laid.hands)


def read_position(words: Sequence[str], rules: CrashRules) -> PlayerView:
    """Return what a seat knows, of a command's words without the first.

    Raises:
        ProtocolError: a word that is out of place, a missing or repeated field, or what cannot be under the rules.

    >>> words = "arrange dealer 1 seat 0 cards As Ks Qs 2c 2d 2h".split()
    >>> read_position(words, CrashRules(cards_dealt=6)).scores
    (0, 0, 0)
    """
    if not words or words[0].lower() not in _PHASES:
        raise ProtocolError(
            f"expected a phase ({', '.join(_PHASES)}) first, got {quoted(words[0]) if words else 'nothing'}"
        )
    phase = _PHASES[words[0].lower()]
    if (phase is Phase.EXCHANGE and not rules.has_exchange) or (phase is Phase.CALL and not rules.has_calls):
        what = f"exchange={rules.exchange}" if phase is Phase.EXCHANGE else f"crash_call={rules.crash_call}"
        raise ProtocolError(f"there is no {phase.label} phase with {what} and players={rules.players}")
    given = _fields_of(words[1:])
    n = rules.players

    def field(name: str, read: Callable[[list[str]], Value], default: Value | None = None) -> Value:
        if name not in given:
            if default is None:
                raise ProtocolError(f"{name} is missing")
            return default
        try:
            return read(given[name])
        except (CardError, ArrangementError) as error:
            raise ProtocolError(f"{name}: {error}") from None

    nobody: tuple[bool | None, ...] = (None,) * n
    cards = field("cards", lambda words: _cards(words, rules, "cards"))
    view = PlayerView(
        rules=rules,
        seat=field("seat", lambda words: _numbers(words, 1, "seat", 0, n - 1)[0]),
        phase=phase,
        to_act=True,
        dealer=field("dealer", lambda words: _numbers(words, 1, "dealer", 0, n - 1)[0]),
        rounds_played=field("round", lambda words: _numbers(words, 1, "round", 1, rules.max_rounds)[0], 1) - 1,
        scores=field("scores", lambda words: _numbers(words, n, "scores", 0, rules.target - 1), (0,) * n),
        cards=cards,
        given_up=field("givenup", lambda words: _cards(words, rules, "givenup"), ()),
        exchanges=field("exchanges", lambda words: _choices(words, n, "exchanges", _EXCHANGES), nobody),
        calls=field("calls", lambda words: _choices(words, n, "calls", _CALLS), nobody),
        laid=field("laid", lambda words: _laid(words, cards, rules), -1) if phase is Phase.CALL else None,
    )
    _check_history(view, given)
    return view


def _fields_of(words: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    values: list[str] | None = None
    for word in words:
        if word.lower() in _FIELDS:
            if word.lower() in found:
                raise ProtocolError(f"{word.lower()} is given twice")
            values = found[word.lower()] = []
        elif values is None:
            raise ProtocolError(f"expected a field ({', '.join(_FIELDS)}), got {quoted(word)}")
        else:
            values.append(word)
    return found


def _numbers(words: list[str], count: int, name: str, low: int, high: int) -> tuple[int, ...]:
    if len(words) != count:
        raise ProtocolError(f"{name}: expected {count} whole number{'s'[: count > 1]}, got {quoted(' '.join(words))}")
    return tuple(whole(word, low=low, high=high, what=name) for word in words)


def _choices(words: list[str], count: int, name: str, known: Mapping[str, bool | None]) -> tuple[bool | None, ...]:
    said = [word.lower() for word in words]
    if len(said) != count or not set(said) <= set(known):
        raise ProtocolError(
            f"{name}: expected one of {', '.join(known)} for each of {count} seats, got {quoted(' '.join(words))}"
        )
    return tuple(known[word] for word in said)


def _cards(words: list[str], rules: CrashRules, name: str) -> tuple[int, ...]:
    ids = tuple(sorted(card.id for card in parse_cards(" ".join(words))))
    if len(ids) != rules.cards_dealt:
        raise ProtocolError(f"{name}: expected {rules.cards_dealt} cards (cards_dealt), got {len(ids)}")
    foreign = [card for card in ids if card not in rules.pack]
    if foreign:
        raise ProtocolError(f"{name}: {format_cards(foreign)} is not in the pack (ranks={rules.ranks})")
    return ids


def _laid(words: list[str], cards: tuple[int, ...], rules: CrashRules) -> int:
    return Arrangement.parse(" ".join(words)).index(list(cards), rules)


def _check_history(view: PlayerView, given: Mapping[str, list[str]]) -> None:
    """Refuse cards, exchanges and calls that do not fit each other, or the phase."""
    rules, seat = view.rules, view.seat
    twice = set(view.cards) & set(view.given_up)
    if twice:
        raise ProtocolError(f"givenup: {format_cards(sorted(twice))} is among cards as well")
    if "exchanges" in given and not _possible_exchanges(view):
        raise ProtocolError(f"exchanges: {' '.join(given['exchanges'])} cannot be in the {view.phase.label} phase")
    if bool(view.given_up) != (view.exchanges[seat] is True):
        raise ProtocolError(f"givenup: expected where seat {seat} has exchanged, and only there")
    order = turn_order(view.dealer, rules.players)
    spoken = order[: order.index(seat)] if view.phase is Phase.CALL else ()
    if any((view.calls[other] is not None) != (other in spoken) for other in order):
        raise ProtocolError(
            f"calls: expected called or passed for the seats before {seat} in turn order, in the call phase alone"
        )
    if (view.laid is None) == ("laid" in given):
        raise ProtocolError("laid: expected in the call phase, and only there")


def _possible_exchanges(view: PlayerView) -> bool:
    rules, seat, said = view.rules, view.seat, view.exchanges
    if not rules.has_exchange:
        return set(said) == {None}
    asking = view.phase is Phase.EXCHANGE
    if rules.players == 2:
        return (None in said) == asking and (not asking or set(said) == {None})
    if set(said) == {None}:  # not known, or the first is asked
        return not asking or turn_order(view.dealer, 3)[0] == seat
    in_turn = [said[other] for other in turn_order(view.dealer, 3)]
    if asking:
        before = turn_order(view.dealer, 3).index(seat)
        return in_turn == [False] * before + [None] * (3 - before)
    if True not in in_turn:
        return in_turn == [False] * 3
    asked = in_turn.index(True)
    return in_turn == [False] * asked + [True] + [None] * (2 - asked)


# ---- decisions --------------------------------------------------------------------------------------------------------


def format_decision(action: int, view: PlayerView) -> str:
    """Return a decision in words: ``keep``, ``exchange``, ``pass``, ``call`` or ``lay`` and the hands.

    >>> words = "arrange dealer 1 seat 0 cards As Ks Qs 2c 2d 2h".split()
    >>> format_decision(21, read_position(words, CrashRules(cards_dealt=6)))
    'lay 2h 2d 2c | As Ks Qs'
    """
    layout = action_layout(view.rules)
    if 0 <= action < layout.partitions:
        return f"lay {_hands_text(action, view)}".rstrip()
    return layout.describe(action)


def read_decision(words: Sequence[str], view: PlayerView) -> int:
    """Return the action that a decision's words name.

    Raises:
        ProtocolError: no decision of the view's phase, or hands that cannot be laid.

    >>> words = "arrange dealer 1 seat 0 cards As Ks Qs 2c 2d 2h".split()
    >>> read_decision("LAY 2c 2d 2h".split(), read_position(words, CrashRules(cards_dealt=6)))
    1
    """
    layout = action_layout(view.rules)
    simple: dict[Phase, dict[str, int]] = {
        Phase.EXCHANGE: {"keep": layout.keep, "exchange": layout.exchange},
        Phase.CALL: {"pass": layout.pass_, "call": layout.call},
    }
    word = words[0].lower() if words else ""
    known = simple.get(view.phase)
    if known is not None:
        if word not in known or len(words) != 1:
            raise ProtocolError(f"expected {' or '.join(known)}, got {quoted(' '.join(words))}")
        return known[word]
    if word != "lay":
        raise ProtocolError(f"expected lay and the hands, strongest first, got {quoted(' '.join(words))}")
    try:
        return Arrangement.parse(" ".join(words[1:])).index(list(view.cards), view.rules)
    except (CardError, ArrangementError) as error:
        raise ProtocolError(str(error)) from None
