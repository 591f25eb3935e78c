"""`prial rules`: the rule sets, and one of them in plain words."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import CommandError, output, show_json, shows_symbols
from .options import JsonOption, PlayersOption, SetOption, rules_from

if TYPE_CHECKING:
    from ..rules_explained import Explanation

__all__ = ["rules"]

_WIDEST = 100  # lines of prose longer than this are hard to read


def rules(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="A rule set, or a YAML file of rules; all rule sets are listed if not given.",
            show_default=False,
        ),
    ] = None,
    *,
    players: PlayersOption = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the rule sets, or explain one: its options, which hand beats which and why, a round, the end of the game.

    With --players and --set, as they are played at that table.
    """
    if name is None:
        if players is not None or settings:
            raise CommandError("--players and --set need a rule set, as in: prial rules online --players 2")
        _list_all(as_json=as_json)
        return
    asked = rules_from(name, players, settings)
    from ..rules_explained import explain

    explanation = explain(name, asked)
    if as_json:
        show_json(explanation.to_dict(), indent=2)
    else:
        _Page().show(explanation)


def _list_all(*, as_json: bool) -> None:
    from ...envs.crash.presets import preset_names, read_preset

    summaries = {name: str(read_preset(name)["summary"]) for name in preset_names()}
    if as_json:
        show_json([{"rule_set": name, "summary": summary} for name, summary in summaries.items()], indent=2)
        return
    page = _Page()
    for name, summary in summaries.items():
        page.entry(name, summary)
    page.text("")
    page.text("prial rules NAME explains one, prial rules NAME --players 2 for two players. A YAML file will do, too.")


class _Page:
    """Plain text, wrapped to the console."""

    def __init__(self) -> None:
        self._console = output()
        self._width = min(self._console.width, _WIDEST)

    def text(self, text: str, indent: str = "") -> None:
        """Write a paragraph."""
        wrapped = textwrap.fill(text, self._width, initial_indent=indent, subsequent_indent=indent)
        self._console.print(wrapped, soft_wrap=True)

    def heading(self, text: str) -> None:
        """Write a heading after an empty line."""
        self._console.print("\n" + textwrap.fill(text, self._width), style="bold", soft_wrap=True)

    def entry(self, name: str, text: str, indent: str = "") -> None:
        """Write a name on a line of its own, and what is to be said below it."""
        self._console.print(indent + name, style="bold", soft_wrap=True)
        self.text(text, indent + "    ")

    def show(self, explained: Explanation) -> None:
        """Write the whole explanation."""
        from ...envs.cards import format_cards, parse_cards
        from ...envs.crash.rules import HOUSE_RULES

        symbols = shows_symbols()
        self.text(": ".join(filter(None, (explained.name, explained.summary))))
        self.heading("Options")
        for option in explained.options:
            notes = []
            if option.value != option.rule_set_value:
                notes.append(f"{explained.name} itself: {option.rule_set_value}.")
            if option.also_played:
                notes.append(f"Also played: {', '.join(map(str, option.also_played))}.")
            self.entry(f"{option.option} = {option.value}", " ".join((option.meaning, *notes)), "  ")
        self.heading("Hands, best first")
        for number, (kind, order) in enumerate(explained.hands.items(), start=1):
            self.entry(f"{number} {kind}", order, "  ")
        self.heading("Which hand is better, and why")
        for found in explained.comparisons:
            better, worse = (format_cards(parse_cards(hand), symbols=symbols) for hand in (found.better, found.worse))
            self.entry(f"{better} {'=' if found.tie else '>'} {worse}", found.reason, "  ")
        self.heading(f"A round with {explained.rules.players} players")
        for step, text in explained.round.items():
            self.entry(step, text, "  ")
        self.heading("The end of the game")
        for line in explained.end:
            self.text(line, "  ")
        self.heading("House rules that are not played, by name")
        for name, text in HOUSE_RULES.items():
            self.entry(name, text, "  ")
