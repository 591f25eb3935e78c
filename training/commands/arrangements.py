"""`prial arrangements`: the undominated arrangements of hands."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import CommandError, output, show_json, shows_symbols
from .options import JsonOption, PlayersOption, RulesOption, SetOption, held_from, rules_from

if TYPE_CHECKING:
    from ...envs.cards import Card
    from ...envs.crash.arrangement import Arrangement
    from ...envs.crash.rules import CrashRules

__all__ = ["arrangements"]


def arrangements(
    cards: Annotated[
        list[str],
        typer.Argument(
            metavar="CARDS",
            help='The cards of a hand, such as "As Ks Qs ..."; - reads hands from standard input, one a line '
            "(empty lines and lines that start with # are skipped).",
            show_default=False,
        ),
    ],
    *,
    rules: RulesOption = "online",
    players: PlayersOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the undominated arrangements of a hand: all that can be worth laying.

    With --json, one object a hand and line.
    """
    asked = rules_from(rules, players, settings)
    if cards != ["-"]:
        _answer(" ".join(cards), asked, as_json=as_json)
        return
    first = True
    for number, line in enumerate(sys.stdin, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not first and not as_json:
            typer.echo()
        first = False
        try:
            _answer(line.strip(), asked, as_json=as_json)
        except ValueError as error:
            raise CommandError(f"line {number}: {error}") from error


def _answer(text: str, rules: CrashRules, *, as_json: bool) -> None:
    held = held_from(text, rules)
    found = _undominated(held, rules)
    if as_json:
        show_json(
            {
                "cards": [str(card) for card in held],
                "arrangements": [
                    {
                        "hands": [[str(card) for card in hand] for hand in laid.hands],
                        "spare": [str(card) for card in laid.spare],
                    }
                    for laid in found
                ],
            }
        )
    else:
        _show(held, found, rules)


def _undominated(held: tuple[Card, ...], rules: CrashRules) -> list[Arrangement]:
    from ...envs.crash.arrangement import Arrangement
    from ...envs.crash.partitions import undominated

    candidates = undominated(sorted(card.id for card in held), rules)
    return [Arrangement.from_index(index, held, rules) for index in candidates.partitions.tolist()]


def _show(held: tuple[Card, ...], found: list[Arrangement], rules: CrashRules) -> None:
    """Write one line an arrangement where that fits, else one line a hand."""
    from rich.cells import cell_len

    from ...envs.brag import describe_strength
    from ...envs.cards import format_cards

    console, symbols = output(), shows_symbols()
    console.print(format_cards(sorted(held, reverse=True), symbols=symbols))
    count = f"{len(found)} undominated arrangement{'' if len(found) == 1 else 's'}"
    console.print(f"{count}, strongest Hand 1 first" if len(found) > 1 else count)
    words = [
        [describe_strength(strength, flush_high=rules.flush_order) for strength in laid.strengths(rules)]
        for laid in found
    ]
    lines = [
        f"{number:>3}  {laid.format(symbols=symbols) if laid.hands else 'nothing laid'}  {', '.join(names)}".rstrip()
        for number, (laid, names) in enumerate(zip(found, words, strict=True), start=1)
    ]
    if max(map(cell_len, lines)) <= console.width:
        for line in lines:
            console.print(line)
        return
    for number, (laid, names) in enumerate(zip(found, words, strict=True), start=1):
        rows = [(format_cards(hand, symbols=symbols), name) for hand, name in zip(laid.hands, names, strict=True)]
        if laid.spare:
            rows.append((format_cards(laid.spare, symbols=symbols), "spare"))
        for place, (text, name) in enumerate(rows):
            lead = f"{number:>3}" if place == 0 else "   "
            console.print(f"{lead}  {text}{' ' * max(0, 11 - cell_len(text))}  {name}", soft_wrap=True)
