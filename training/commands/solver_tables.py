"""`prial tables solver`: what `solver-fast` knows, made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..console import CommandError, output, progress_bar
from .options import PlayersOption, RulesOption, SeedOption, SetOption, rules_from

__all__ = ["solver"]

_AS = " As for the table that ships for the rules, if not given."


def solver(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="PATH",
            help="Where to write the table, solver_RULES_PLAYERS.json if not given; with --all a folder, solver.",
        ),
    ] = None,
    *,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Make the tables that ship: every rule set and number of players. Those that are there already, made "
            "the same way, stay: start it again after a break.",
        ),
    ] = False,
    rules: RulesOption = "online",
    players: PlayersOption = None,
    settings: SetOption = None,
    rounds: Annotated[
        int | None,
        typer.Option("--rounds", min=1, metavar="N", help=f"Rounds from each score, in the last iteration.{_AS}"),
    ] = None,
    deals: Annotated[
        int | None,
        typer.Option("--deals", min=1, metavar="N", help=f"Rounds at even scores, to fit what known cards say.{_AS}"),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option("--iterations", min=1, metavar="N", help=f"Iterations.{_AS}")
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="TABLE",
            help="Take what cards say from a table that ships, such as traditional-3, for rules that differ in what is paid "
            f"or the target alone: quicker, and a small file.{_AS}",
        ),
    ] = None,
    seed: SeedOption = 1,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, metavar="N", help="Threads, one a core if not given.")
    ] = None,
) -> None:
    """Make the table of the agent solver-fast: its own policy at every score, iterated towards a fixed point."""
    from ...agents.percentile_table import TableError
    from ...agents.solver_table import SolverTableError
    from ...envs.threads import usable_threads
    from ..files import check_target
    from ..solver_sizes import solver_command, solver_sizes, standard_solver_rules
    from ..solver_tables import make_solver_table, write_solver_table

    if every and (rules, players, settings) != ("online", None, None):
        raise CommandError("--all makes the tables of all rules: leave the rules out")
    if every and base is not None:
        raise CommandError("--all takes the base of each table that ships: leave --base out")
    folder = out or Path("solver")
    asked = standard_solver_rules() if every else {"": rules_from(rules, players, settings)}
    console = output()
    for name, one in asked.items():
        target = folder / f"{name}.json" if every else out or Path(f"solver_{one.name}_{one.players}.json")
        check_target(target)
        sizes = solver_sizes(one, rounds=rounds, deals=deals, iterations=iterations, base=base)
        command = solver_command(one, sizes=sizes, seed=seed)
        if every and _made_by(target) == command:
            console.print(f"{target} is there already", soft_wrap=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with progress_bar(f"Making {target.name}") as report:
                table = make_solver_table(
                    one,
                    sizes=sizes,
                    seed=seed,
                    threads=usable_threads(threads),
                    progress=lambda done, total, _: report(done, total),
                )
        except (SolverTableError, TableError) as error:
            raise CommandError(str(error)) from None
        write_solver_table(table, target)
        last = table.about["iterations"][-1]
        cards = (
            "" if "cards_explained" not in last else f" and {100 * last['cards_explained']:.1f} % of what known cards"
        )
        console.print(
            f"Wrote {target}, {target.stat().st_size:,} bytes: winning chances changed by {last['equity_change']:.5f} at "
            f"most in the last iteration; the directions kept explain {100 * last['scores_explained']:.1f} % of what the "
            f"score{cards} change",
            soft_wrap=True,
        )


def _made_by(path: Path) -> str | None:
    """Return the command that made a table, None if there is no such table."""
    from ...agents.solver_table import SolverTableError, read_solver_table

    try:
        return str(read_solver_table(path.read_text(encoding="utf-8"), str(path)).about.get("command"))
    except (OSError, UnicodeDecodeError, SolverTableError):
        return None
