"""Options that several commands take, so that they read alike everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from ..console import CommandError, complain, require_extra

if TYPE_CHECKING:
    from ...envs.cards import Card
    from ...envs.crash.rules import CrashRules
    from ..workers import Spread

__all__ = [
    "DateOption",
    "GivenRulesOption",
    "JobsOption",
    "JsonOption",
    "PlayersOption",
    "RayOption",
    "RulesOption",
    "SeedOption",
    "SetOption",
    "figures_beside",
    "held_from",
    "rules_from",
    "workers_from",
]

RulesOption: TypeAlias = Annotated[
    str, typer.Option("--rules", metavar="RULES", help="Rule set (online, bga, traditional) or a YAML file of rules.")
]
GivenRulesOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--rules", metavar="RULES", help="Rule set (online, bga, traditional) or a YAML file; online if not given."
    ),
]
PlayersOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--players", metavar="N", help="Seats at the table, 2 to 5; the rule set's own if not given."),
]
SetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="OPTION=VALUE", help="Set an option of the rules, such as target=10. Repeatable."),
]
SeedOption: TypeAlias = Annotated[
    int, typer.Option("--seed", min=0, metavar="N", help="Seed of all chance; the same seed gives the same figures.")
]
JobsOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, metavar="N", help="Processes; if not given, one a core where that is worth its while."
    ),
]
RayOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Work on a Ray cluster, by HOST:PORT of its head, auto, or local for one that is started here.",
    ),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Write JSON instead of text.")]
DateOption: TypeAlias = Annotated[
    str | None, typer.Option("--date", metavar="DATE", help="Date to state; today's if not given.")
]


def rules_from(source: str, players: int | None, settings: list[str] | None) -> CrashRules:
    """Return the rules that the options ask for.

    Raises:
        CommandError: a setting that is not ``option=value``, or an option set twice.
        RulesError: rules that there are not, or that cannot be played.

    >>> rules_from("online", None, ["target=10"]).target
    10
    """
    from ...envs.crash.presets import load_rules
    from ...envs.crash.rules import CrashRules

    kinds = {field.name: str(field.type) for field in fields(CrashRules)}
    overrides: dict[str, int | str] = {} if players is None else {"players": players}
    for setting in settings or ():
        option, equals, value = (part.strip() for part in setting.partition("="))
        if not (option and equals and value):
            raise CommandError(f"--set {setting!r}: expected OPTION=VALUE, such as target=10")
        if option in overrides:
            raise CommandError(f"--set {setting!r}: {option} is set already, to {overrides[option]}")
        whole = "int" in kinds.get(option, "") and re.fullmatch(r"[+-]?\d+", value)
        overrides[option] = int(value) if whole else value
    return load_rules(source, **overrides)


def held_from(text: str, rules: CrashRules) -> tuple[Card, ...]:
    """Return the cards of a whole hand, as they were typed.

    Raises:
        CardError: an unreadable or repeated card.
        CommandError: a wrong number, or cards that are not in the pack.

    >>> len(held_from("As Ks Qs 2c 2d 2h", rules_from("online", 2, ["cards_dealt=6"])))
    6
    """
    from ...envs.cards import format_cards, parse_cards

    held = parse_cards(text)
    if len(held) != rules.cards_dealt:
        raise CommandError(f"expected {rules.cards_dealt} cards (cards_dealt), got {len(held)} in {text!r}")
    foreign = [card for card in held if card.id not in rules.pack]
    if foreign:
        raise CommandError(f"{format_cards(foreign)} in {text!r}: not in the pack (ranks={rules.ranks})")
    return held


def figures_beside(out: Path) -> Path:
    """Return the path of the figures of a page or a picture: the same with the ending .json. Both can be written.

    Raises:
        CommandError: they would be one file.
        OSError: one of them cannot be written.

    >>> figures_beside(Path("rules.png")).name
    'rules.json'
    """
    from ..files import check_target

    check_target(out)
    if out.suffix.lower() == ".json":
        raise CommandError(f"--out {out}: expected another ending than .json, the figures' own")
    figures = out.with_suffix(".json")
    check_target(figures)
    return figures


@contextmanager
def workers_from(address: str | None, jobs: int | None) -> Iterator[Spread | None]:
    """Yield where pieces are to be done: on the Ray cluster that was asked for; None for processes here.

    Raises:
        ClusterError: the cluster cannot be reached.
        CommandError: the extra is missing.

    >>> with workers_from(None, 2) as workers:
    ...     print(workers)
    None
    """
    if address is None:
        yield None
        return
    require_extra("--ray", "cluster", "ray")
    from ..ray_workers import ray_workers

    with ray_workers(address, jobs=jobs) as workers:
        yield workers.spread
    if workers.deaths:
        died = "1 worker" if workers.deaths == 1 else f"{workers.deaths} workers"
        complain(f"{died} died; what they had begun was done again.")
