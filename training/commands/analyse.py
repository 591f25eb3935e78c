"""`prial analyse`: what a hand's arrangements are worth, and what the decisions of a recorded game gave up."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..console import CommandError, output, require_extra, show_json, shows_symbols
from .options import GivenRulesOption, JsonOption, PlayersOption, SeedOption, SetOption, held_from, rules_from

if TYPE_CHECKING:
    from ...envs.crash.observation import PlayerView
    from ...envs.crash.rules import CrashRules

__all__ = ["analyse"]

_TOP_HANDS, _TOP_DECISIONS = 5, 3


def analyse(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CARDS|FILE",
            help='The cards of a hand, such as "As Ks Qs ...", or a file of game records (- reads standard input).',
            show_default=False,
        ),
    ] = None,
    *,
    rules: GivenRulesOption = None,
    players: PlayersOption = None,
    settings: SetOption = None,
    score: Annotated[
        str | None,
        typer.Option("--score", metavar="N,N,...", help="Own score first, then clockwise; zeros if not given."),
    ] = None,
    dealer: Annotated[
        int | None,
        typer.Option("--dealer", metavar="N", help="Who deals: 0 you, 1 the next clockwise; the last if not given."),
    ] = None,
    kept: Annotated[
        str | None, typer.Option("--kept", metavar="N,...", help="Seats known to have kept their hands.")
    ] = None,
    exchanged: Annotated[
        str | None, typer.Option("--exchanged", metavar="N,...", help="Seats known to have exchanged.")
    ] = None,
    given_up: Annotated[
        str | None, typer.Option("--given-up", metavar="CARDS", help="Your cards before you exchanged.")
    ] = None,
    objective: Annotated[
        str | None, typer.Option("--objective", metavar="win|points", help="What arrangements are ranked by; win.")
    ] = None,
    survey: Annotated[
        int | None,
        typer.Option("--survey", min=1, metavar="DEALS", help="Instead of one hand: what good play does with so many."),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            "--part", metavar="NAME", help="Of a survey, only this part; a wrong name lists them. Repeatable."
        ),
    ] = None,
    seed: SeedOption = 1,
    game: Annotated[
        int | None, typer.Option("--game", min=1, metavar="N", help="Of a file, only the Nth game; all if not given.")
    ] = None,
    top: Annotated[
        int | None,
        typer.Option("--top", min=1, metavar="N", help="How many arrangements, or costly decisions, are shown."),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--table", metavar="FILE", help="A table of prial tables solver; the one that ships if not given."
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw it into a PNG file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Rank what a hand can lay, grade recorded games, or survey what good play does.

    Win shares and points (own minus the mean of the others') are those of the agent solver-fast. With --json, one object a
    hand, game or survey and line.
    """
    if plot is not None:
        require_extra("prial analyse --plot", "plot", "matplotlib")
    about_hand = {"--kept": kept, "--exchanged": exchanged, "--given-up": given_up, "--dealer": dealer}
    about_table = {"--rules": rules, "--players": players, "--set": settings, "--score": score}
    if survey is not None:
        if what:
            raise CommandError("--survey deals its own hands; leave out the cards")
        _refuse("--survey", {**about_hand, "--game": game, "--plot": plot, "--top": top, "--objective": objective})
        asked = rules_from(rules or "online", players, settings)
        _survey(asked, _scores(score, asked), deals=survey, seed=seed, parts=part, table=table, as_json=as_json)
        return
    _refuse("one hand or a record", {"--part": part})
    if not what:
        raise CommandError('give the cards of a hand ("As Kd ..."), a file of game records, or --survey DEALS')
    if _is_file(what):
        _refuse("a file of records", {**about_table, **about_hand, "--objective": objective})
        _record(Path(what[0]), game=game, top=top or _TOP_DECISIONS, table=table, plot=plot, as_json=as_json)
        return
    _refuse("cards", {"--game": game})
    asked = rules_from(rules or "online", players, settings)
    view = _view(
        " ".join(what),
        asked,
        scores=_scores(score, asked),
        dealer=dealer,
        kept=_seats("--kept", kept, asked),
        exchanged=_seats("--exchanged", exchanged, asked),
        given_up=given_up,
    )
    _hand(view, objective=objective or "win", top=top, table=table, plot=plot, as_json=as_json)


def _refuse(beside: str, options: dict[str, object]) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise CommandError(f"{', '.join(given)}: does not go with {beside}")


def _is_file(what: list[str]) -> bool:
    if len(what) != 1:
        return False
    return what[0] == "-" or "." in what[0] or os.sep in what[0] or Path(what[0]).is_file()


def _scores(text: str | None, rules: CrashRules) -> tuple[int, ...]:
    if text is None:
        return (0,) * rules.players
    pieces = [piece for piece in re.split(r"[\s,:-]+", text.strip()) if piece]
    if not all(piece.isascii() and piece.isdigit() for piece in pieces) or len(pieces) != rules.players:
        raise CommandError(f"--score {text!r}: expected {rules.players} whole numbers, own score first, such as 3,5,2")
    scores = tuple(map(int, pieces))
    if max(scores) >= rules.target:
        raise CommandError(f"--score {text!r}: {max(scores)} has reached the target, {rules.target}; that game is over")
    return scores


def _seats(option: str, text: str | None, rules: CrashRules) -> tuple[int, ...]:
    if text is None:
        return ()
    if not rules.has_exchange:
        raise CommandError(f"{option}: nobody exchanges under these rules")
    pieces = [piece for piece in re.split(r"[\s,]+", text.strip()) if piece]
    seats = [int(piece) for piece in pieces if piece.isascii() and piece.isdigit()]
    if len(seats) != len(pieces) or not all(0 < seat < rules.players for seat in seats):
        raise CommandError(f"{option} {text!r}: expected seats from 1, the next clockwise, to {rules.players - 1}")
    return tuple(seats)


def _view(
    text: str,
    rules: CrashRules,
    *,
    scores: tuple[int, ...],
    dealer: int | None,
    kept: tuple[int, ...],
    exchanged: tuple[int, ...],
    given_up: str | None,
) -> PlayerView:
    from ...envs.cards import format_cards
    from ...envs.crash.starts import turn_order
    from ..analysis import plain_view

    held = held_from(text, rules)
    n = rules.players
    if dealer is not None and not 0 <= dealer < n:
        raise CommandError(f"--dealer {dealer}: expected a seat from 0, you, to {n - 1}")
    if given_up is not None and not rules.has_exchange:
        raise CommandError("--given-up: nobody exchanges under these rules")
    before = () if given_up is None else held_from(given_up, rules)
    both = [card for card in held if card in before]
    if both:
        raise CommandError(f"{format_cards(both)}: held and given up")
    twice = sorted(set(kept) & set(exchanged))
    if twice:
        raise CommandError(f"seat {twice[0]}: kept and exchanged")
    if rules.num_spares == 1 and len(exchanged) + bool(before) > 1:
        raise CommandError("there is one spare hand: only one player can have exchanged")
    if rules.num_spares == 1 and not (kept or exchanged or before):
        # Whoever is asked knows that all before have kept: after an exchange nobody is asked.
        order = turn_order(n - 1 if dealer is None else dealer, n)
        kept = order[: order.index(0)]
    known: list[bool | None] = [None] * n
    for seat in kept:
        known[seat] = False
    for seat in exchanged:
        known[seat] = True
    if before:
        known[0] = True
    return plain_view(
        rules,
        [card.id for card in held],
        scores=scores,
        dealer=dealer,
        exchanges=known,
        given_up=[card.id for card in before],
    )


def _hand(
    view: PlayerView, *, objective: str, top: int | None, table: Path | None, plot: Path | None, as_json: bool
) -> None:
    from ..analysis import Analyst
    from ..analysis_report import ranking_json, ranking_text

    of: Literal["win", "points"]
    if objective == "win":
        of = "win"
    elif objective == "points":
        of = "points"
    else:
        raise CommandError(f"--objective {objective!r}: expected win or points")
    analyst = Analyst(view.rules, table=table)
    ranking = analyst.ranked(view, of)
    if plot is not None:
        from ..analysis_plot import ranking_picture
        from ..files import write_whole

        write_whole(plot, ranking_picture(ranking, top=top or 12))
    if as_json:
        show_json(ranking_json(analyst, ranking, top=top))
    else:
        text = ranking_text(analyst, ranking, top=top or _TOP_HANDS, width=output().width, symbols=shows_symbols())
        typer.echo(text, nl=False)


def _record(file: Path, *, game: int | None, top: int, table: Path | None, plot: Path | None, as_json: bool) -> None:
    from ..analysis import Analyst
    from ..analysis_record import grade_record
    from ..analysis_report import grades_json, grades_text
    from .replay import chosen_games, opened_records, seat_names

    analyst: Analyst | None = None
    shown = 0
    with opened_records(file) as lines:
        for number, record in chosen_games(lines, file, game):
            if analyst is None or analyst.rules != record.rules:
                analyst = Analyst(record.rules, table=table)
            grades, names = grade_record(record, analyst), seat_names(record)
            if plot is not None:
                if shown:
                    raise CommandError(f"{file}: several games; --plot draws one, --game N says which")
                from ..analysis_plot import grades_picture
                from ..files import write_whole

                write_whole(plot, grades_picture(grades, names))
            if as_json:
                show_json(grades_json(grades, game=number))
            else:
                text = grades_text(
                    analyst,
                    grades,
                    game=number,
                    names=names,
                    top=top,
                    width=output().width,
                    symbols=shows_symbols(),
                )
                typer.echo(("\n" if shown else "") + text, nl=False)
            shown += 1
    if not shown:
        raise CommandError(f"{file}: no game {game}" if game is not None else f"{file}: no game in it")


def _survey(
    rules: CrashRules,
    scores: tuple[int, ...],
    *,
    deals: int,
    seed: int,
    parts: list[str] | None,
    table: Path | None,
    as_json: bool,
) -> None:
    from ..analysis_survey import survey_hands
    from ..analysis_survey_text import SURVEY_PARTS, survey_text

    for name in parts or ():
        if name not in SURVEY_PARTS:
            raise CommandError(f"--part {name!r}: there are {', '.join(SURVEY_PARTS)}")
    found = survey_hands(rules, scores=scores, deals=deals, seed=seed, table=table)
    if as_json:
        show_json(found.to_dict())
    else:
        typer.echo(survey_text(found, parts=parts or SURVEY_PARTS, width=output().width), nl=False)
