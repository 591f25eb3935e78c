"""`prial tables`: what agents look up, made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..console import CommandError, output, progress_bar
from .options import PlayersOption, RulesOption, SeedOption, SetOption, rules_from
from .solver_tables import solver

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Make the tables that agents look up.")


@app.callback()
def _group() -> None:
    """Make the tables that agents look up."""


app.command()(solver)


@app.command()
def percentile(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="PATH",
            help="Where to write the table, percentile_RULES_PLAYERS.json if not given; with --all a folder, percentile.",
        ),
    ] = None,
    *,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Make the tables that ship: every rule set, number of players and option in use. Those that are there "
            "already, made the same way, stay: start it again after a break.",
        ),
    ] = False,
    rules: RulesOption = "online",
    players: PlayersOption = None,
    settings: SetOption = None,
    deals: Annotated[int, typer.Option("--deals", min=1, metavar="N", help="Deals to look at.")] = 100_000,
    iterations: Annotated[int, typer.Option("--iterations", min=1, metavar="N", help="Iterations at most.")] = 40,
    seed: SeedOption = 1,
    weight: Annotated[
        float | None,
        typer.Option(
            "--weight",
            min=0.0,
            metavar="X",
            help="Points that a crash is worth; by the rules if not given.",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="N", help="Processes, with --all.")] = 1,
) -> None:
    """Make the table of the agent percentile: its own policy's hands, iterated to a fixed point."""
    if every:
        if (rules, players, settings, weight) != ("online", None, None, None):
            raise CommandError("--all makes the tables of all rules, at their own weights: leave the rules out")
        _make_all(out or Path("percentile"), deals=deals, iterations=iterations, seed=seed, jobs=jobs)
        return
    asked = rules_from(rules, players, settings)
    from ..files import check_target
    from ..percentile_tables import make_table, write_table

    target = out or Path(f"percentile_{asked.name}_{asked.players}.json")
    check_target(target)
    with progress_bar("Making the table") as report:
        content = make_table(
            asked,
            deals=deals,
            iterations=iterations,
            seed=seed,
            weight=weight,
            progress=lambda done, total, _: report(done, total),
        )
    write_table(content, target)
    made = content["made"]
    console = output()
    console.print(
        f"Wrote {target}: {made['iterations']} iterations, last change {made['changes'][-1]:.5f}", soft_wrap=True
    )
    if not made["settled"]:
        console.print("It has not settled; more --iterations would.", soft_wrap=True)


@app.command()
def equity(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="PATH", help="Where to write the table, equity_RULES_PLAYERS.npz if not given."),
    ] = None,
    *,
    agent: Annotated[
        str, typer.Option("--agent", metavar="AGENT", help="Who plays all seats: as for prial arena.")
    ] = "percentile",
    rules: RulesOption = "online",
    players: PlayersOption = None,
    settings: SetOption = None,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, metavar="N", help="Deals from every score, the same for all.")
    ] = 4000,
    seed: SeedOption = 1,
    most_asked: Annotated[
        int,
        typer.Option(
            "--most-asked", min=1, metavar="N", help="Ask the agent at so many scores at most; others use the nearest."
        ),
    ] = 4096,
    jobs: Annotated[int, typer.Option("--jobs", min=1, metavar="N", help="Processes.")] = 1,
) -> None:
    """Make a table of winning chances by score: the agent against itself, solved over the rounds from every score."""
    asked = rules_from(rules, players, settings)
    from ..equity import equity_command, solve_equity
    from ..files import check_target, write_whole

    target = out or Path(f"equity_{asked.name}_{asked.players}.npz")
    check_target(target)
    command = equity_command(agent, asked, rounds=rounds, seed=seed, settings=settings or ())
    if most_asked != 4096:
        command += f" --most-asked {most_asked}"
    with progress_bar("Playing") as report:
        table = solve_equity(
            agent,
            asked,
            rounds_per_state=rounds,
            seed=seed,
            jobs=jobs,
            max_asked=most_asked,
            command=command,
            progress=report,
        )
    content = table.to_bytes()
    write_whole(target, content)
    console = output()
    console.print(
        f"Wrote {target}, {len(content):,} bytes: {len(table.states)} scores, the agent asked at {table.made['asked']}; "
        f"standard error {float(table.errors.mean()):.5f} on average, {float(table.errors.max()):.5f} at most",
        soft_wrap=True,
    )
    if "held_out" in table.made:
        left = table.made["held_out"]
        console.print(
            f"At {left['scores']} scores that were left out, asking there changes the mean over {left['rounds']} rounds by "
            f"{left['mean']:.5f} on average, {left['most']:.5f} at most",
            soft_wrap=True,
        )


def _make_all(folder: Path, *, deals: int, iterations: int, seed: int, jobs: int) -> None:
    from ..percentile_tables import make_tables, standard_tables

    tables = standard_tables()
    with progress_bar("Making the tables") as report:
        made = make_tables(tables, folder, deals=deals, iterations=iterations, seed=seed, jobs=jobs, progress=report)
    size = sum((folder / f"{name}.json").stat().st_size for name in tables)
    output().print(
        f"{len(tables)} tables in {folder}, {size:,} bytes: {len(made)} made, {len(tables) - len(made)} there already",
        soft_wrap=True,
    )
