"""The table for people: as it stands, and one round told from its events. Everything is shown, hidden cards too.

Text is plain, without colours, made to be pasted into a bug report: cards are `As Td`, or `A♠ 10♦` where asked for.
`prial.envs.crash.table_picture` and `round_picture` draw the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Literal, TextIO, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt

from ..brag import describe_strength
from ..cards import format_cards
from .arrangement import Arrangement
from .events import Arrange, Award, AwardReason, Call, Deal, Event, Exchange, GameResult, Reveal, RoundEnd
from .game import Game, Phase
from .rules import CrashRules

__all__ = [
    "RenderMode",
    "Rendered",
    "choices",
    "ending",
    "format_round",
    "heading",
    "last_round",
    "print_text",
    "render_game",
    "render_table",
    "seat_names",
    "split_rounds",
]

RenderMode = Literal["ansi", "human", "rgb_array"]
Rendered: TypeAlias = "str | npt.NDArray[np.uint8]"

_NOTHING = "-"


def render_game(game: Game, mode: RenderMode | None) -> Rendered | None:
    """Return or print the table: what the environments' `render` does.

    Args:
        game: what to show.
        mode: `ansi` returns text, `rgb_array` pixels (uint8 (height, width, 3), one size for the rules), `human` prints
            text to standard output; None warns.

    Raises:
        ModuleNotFoundError: `rgb_array` without Pillow; the message names the extra.
    """
    if mode == "ansi":
        return render_table(game)
    if mode == "rgb_array":
        from .table_picture import table_picture  # drawing loads on demand

        return table_picture(game).pixels()
    if mode == "human":
        print_text(render_table(game, symbols=True), plain=render_table(game))
    else:
        modes = "'ansi', 'human' or 'rgb_array'"
        gymnasium.logger.warn(f"render() does nothing without a render_mode: make the environment with {modes}")
    return None


def render_table(game: Game, *, symbols: bool = False) -> str:
    """Return the table as text: rules, phase, every seat's cards and choices, the last reveal, the winner.

    Args:
        game: what to show.
        symbols: suits as ♣ ♦ ♥ ♠.

    >>> from .rules import CrashRules
    >>> print(render_table(Game(CrashRules.preset("online", players=2), seed=0)).splitlines()[0])
    Crash (online): 2 players, target 7, round 1, arrange phase
    """
    lines = [": ".join(heading(game))]
    for seat, name in enumerate(seat_names(game.rules.players)):
        marks = [f"{game.scores[seat]} points"]
        marks += ["dealer"] if seat == game.dealer else []
        marks += ["to act"] if seat in game.pending else []
        lines.append(f"  {name}: {', '.join(marks)}")
        lines.append(f"    cards     {format_cards(reversed(game.hands[seat]), symbols=symbols)}")
        given_up = game.given_up[seat]
        if given_up:
            lines.append(f"    given up  {format_cards(reversed(given_up), symbols=symbols)}")
        laid = game.arrangement(seat)
        if laid is not None:
            lines.append(f"    laid      {laid.format(symbols=symbols) or 'nothing'}")
        chosen = choices(game, seat)
        if chosen:
            lines.append(f"    chose     {', '.join(chosen)}")
    for number, spare in enumerate(game.spares, start=1):
        lines.append(f"  spare hand {number}: {format_cards(reversed(spare), symbols=symbols)}")
    last = last_round(game)
    if last:
        lines += ["", format_round(last, rules=game.rules, symbols=symbols)]
    return "\n".join(lines)


def format_round(
    events: Iterable[Event], *, rules: CrashRules, names: Sequence[str] | None = None, symbols: bool = False
) -> str:
    """Return one round, told from its events: deal, choices, arrangements, every comparison, points, scores.

    Args:
        events: of one round, as `split_rounds` gives them.
        rules: the rules.
        names: what the seats are called; `player_0`, `player_1`, ... if None.
        symbols: suits as ♣ ♦ ♥ ♠.

    Raises:
        ValueError: not as many names as players.
    """
    names = seat_names(rules.players) if names is None else names
    if len(names) != rules.players:
        raise ValueError(f"expected {rules.players} names, one a seat, got {len(names)}: {list(names)!r}")
    width = max(map(len, names))
    hands: list[tuple[int, ...]] = []
    spares: list[tuple[int, ...]] = []
    order: list[int] = []
    lines: list[str] = []
    for event in events:
        if isinstance(event, Deal):
            hands, spares = list(event.hands), list(event.spares)
            order = [(event.dealer + 1 + i) % rules.players for i in range(rules.players)]
            scores = " - ".join(map(str, event.scores))
            lines.append(f"Round {event.round_number + 1}, dealt by {names[event.dealer]}, scores {scores}")
        elif isinstance(event, Exchange):
            lines.append(f"  {names[event.seat]} {'exchanges' if event.exchanged else 'keeps'}")
            if event.exchanged:
                hands[event.seat] = spares[order.index(event.seat) if rules.players == 2 else 0]
        elif isinstance(event, Arrange):
            laid = Arrangement.of(event.hands, hands[event.seat])
            lines.append(f"  {names[event.seat]:<{width}} lays {laid.format(symbols=symbols)}")
        elif isinstance(event, Call):
            lines.append(f"  {names[event.seat]} {'calls a crash' if event.called else 'passes'}")
        elif isinstance(event, Reveal):
            lines += _reveal(event, rules, names, symbols=symbols)
        elif isinstance(event, Award):
            if event.reason is not AwardReason.COMPARISON:
                lines.append(f"  {names[event.seat]}: {event.reason.value} {event.points:+d}, now {event.score}")
        elif isinstance(event, RoundEnd):
            shown = ", ".join(f"{name} {score}" for name, score in zip(names, event.scores, strict=True))
            lines.append(f"  Scores: {shown}")
        else:
            lines.append(f"  {ending(event.result, names)}")
    return "\n".join(lines)


def split_rounds(events: Iterable[Event]) -> tuple[tuple[Event, ...], ...]:
    """Return the events of a game round by round; each round begins with its deal."""
    rounds: list[list[Event]] = []
    for event in events:
        if isinstance(event, Deal) or not rounds:
            rounds.append([])
        rounds[-1].append(event)
    return tuple(tuple(some) for some in rounds)


def last_round(game: Game) -> tuple[Event, ...]:
    """Return the events of the last round that was scored, none before."""
    scored = [events for events in split_rounds(game.events) if any(isinstance(event, RoundEnd) for event in events)]
    return scored[-1] if scored else ()


def print_text(text: str, *, plain: str, stream: TextIO | None = None) -> None:
    """Write a text with suit symbols, or its plain twin where the stream cannot show them.

    Args:
        text: with symbols.
        plain: without.
        stream: standard output if None.
    """
    out = sys.stdout if stream is None else stream
    try:
        text.encode(out.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        text = plain
    out.write(text + "\n")
    out.flush()


def seat_names(players: int) -> list[str]:
    """Return what the seats are called where nobody has named them."""
    return [f"player_{seat}" for seat in range(players)]


def _won(game: Game) -> bool:
    """Whether the last round ended the game, so that it is not among `rounds_played`."""
    last = [event for event in game.events if isinstance(event, RoundEnd)][-1]
    return last.round_number == game.rounds_played


def heading(game: Game) -> tuple[str, str]:
    """Return the name of the game with its rule set, and where it stands."""
    rules = game.rules
    played = game.rounds_played + (game.phase is not Phase.OVER or _won(game))
    phase = "game over" if game.is_over else f"{game.phase.label} phase"
    standing = f"{rules.players} players, target {rules.target}, round {played}, {phase}"
    return f"Crash ({rules.name or 'own rules'})", standing


def choices(game: Game, seat: int) -> list[str]:
    """Return what a seat has chosen this round, in exchange and call."""
    exchanged, called = game.exchanges[seat], game.calls[seat]
    chosen = [] if exchanged is None else ["exchange" if exchanged else "keep"]
    return chosen if called is None else [*chosen, "call" if called else "pass"]


def _reveal(event: Reveal, rules: CrashRules, names: Sequence[str], *, symbols: bool) -> list[str]:
    width = max(map(len, names))
    texts = [format_cards(sorted(hand, reverse=True), symbols=symbols) or _NOTHING for hand in event.hands]
    wide = max(map(len, texts))
    lines = []
    for seat, text in enumerate(texts):
        head = f"Hand {event.position + 1}" if seat == 0 else ""
        mark = "*" if seat == event.winner else " "
        words = (
            describe_strength(event.strengths[seat], flush_high=rules.flush_order) if event.hands[seat] else "nothing"
        )
        lines.append(f"  {head:<6} {mark} {names[seat]:<{width}}  {text:<{wide}}  {words}")
    if event.winner is None:
        lines.append("           nobody scores")
    return lines


def ending(result: GameResult, names: Sequence[str]) -> str:
    """Return how a game ended, in words."""
    winners = " and ".join(names[seat] for seat in result.winners)
    if not winners:
        return "End of the round"
    return f"{winners} win{'' if len(result.winners) > 1 else 's'} the game ({result.reason.value})"
