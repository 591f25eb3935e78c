"""`prial solve-small`: a small round solved exactly, and how much agents lose in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from ..console import output, progress_bar, show_json
from .options import JsonOption, RulesOption, SeedOption, SetOption, rules_from

if TYPE_CHECKING:
    from ...agents.protocol import Agent
    from ...envs.crash.rules import CrashRules
    from ..small_game import SmallGame
    from ..small_game_solve import Solution

__all__ = ["solve_small"]

_FIRST_SHOWN = (1, 2, 3, 5)  # then 8, 16, 32, ...


def solve_small(
    ranks: Annotated[str, typer.Option("--ranks", metavar="RANKS", help="Ranks of the pack.")] = "JQKA",
    cards: Annotated[int, typer.Option("--cards", min=3, max=13, metavar="N", help="Cards dealt to each.")] = 6,
    players: Annotated[int, typer.Option("--players", min=2, max=3, metavar="N", help="Two or three.")] = 2,
    lowest_hand: Annotated[
        str | None,
        typer.Option(
            "--lowest-hand", metavar="CLASS", help="high_card, pair or flush; as the rule set has it if not given."
        ),
    ] = None,
    *,
    rules: RulesOption = "online",
    settings: SetOption = None,
    agents: Annotated[
        list[str] | None,
        typer.Option("--agent", metavar="AGENT", help="An agent to exploit, by name as in `prial agents`. Repeatable."),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--table", metavar="FILE", help="The agent percentile's table; `prial tables percentile` makes one."
        ),
    ] = None,
    gap: Annotated[
        float, typer.Option("--gap", min=0.0, metavar="X", help="How near to an equilibrium, in points a round.")
    ] = 1e-6,
    iterations: Annotated[int, typer.Option("--iterations", min=1, metavar="N", help="Iterations at most.")] = 20_000,
    samples: Annotated[
        int,
        typer.Option(
            "--samples", min=1, metavar="N", help="How often to ask about each hand an agent whose choices are chance."
        ),
    ] = 256,
    iterate: Annotated[
        int | None,
        typer.Option(
            "--iterate",
            min=1,
            metavar="N",
            help="Also show so many iterations of the solver, what it approximates being exact, or not.",
        ),
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Solve the round with a short pack exactly, without exchange and calls, every deal looked at.

    For each agent: what a best responder gains against others who all play it, and what the solution earns against them, in
    points a round. With --iterate: what a best responder gains against each iteration of the solver.
    """
    given = [f"ranks={ranks}", f"cards_dealt={cards}", *([f"lowest_hand={lowest_hand}"] if lowest_hand else [])]
    asked = rules_from(rules, players, [*given, *(settings or [])])
    from ..small_game import SmallGame, check_rules
    from ..small_game_solve import solve

    check_rules(asked)
    measurable = [_made(name, table) for name in agents or ()]
    for agent in measurable:
        if (check := getattr(agent, "check_rules", None)) is not None:
            check(asked)
    with progress_bar("Solving") as report:
        solution = solve(
            SmallGame.of(asked),
            gap=gap,
            max_iterations=iterations,
            progress=lambda done, _: report(done, iterations),
        )
    measured = [_measured(agent, solution, samples, seed) for agent in measurable]
    steps = _iterated(solution.game, iterate) if iterate is not None else {}
    if as_json:
        show_json(_content(asked, solution, gap, measured) | ({"iterated": steps} if steps else {}), indent=1)
    else:
        _show(asked, solution, gap, measured)
        if steps:
            _show_iterated(steps)


def _made(name: str, table: Path | None) -> Agent:
    from ...agents.registry import make

    return make(name, table=table) if name == "percentile" and table is not None else make(name)


def _measured(agent: Agent, solution: Solution, samples: int, seed: int) -> dict[str, Any]:
    from ..small_game_policy import SmallGamePolicy, mixture_of

    played, mixture, asked = mixture_of(agent, solution.game, samples=samples, seed=seed)
    own = solution.mixture
    if played is not solution.game:  # every hand a class of its own
        own = mixture_of(SmallGamePolicy.of(solution), played)[1]
    return {
        "agent": agent.name,
        "exploitability": max(played.best_margin(mixture), 0.0),
        "margin_of_solution": played.margin(own, mixture),
        "asked": asked,
        "by_suits": played is not solution.game,
    }


def _iterated(game: SmallGame, number: int) -> dict[str, list[dict[str, float]]]:
    """Return what a best responder gains against each iteration, by reckoning."""
    from ..small_game_iteration import Reckoning, iterate

    kinds: tuple[Reckoning, ...] = get_args(Reckoning) if game.rules.players == 2 else ("deals",)
    found: dict[str, list[dict[str, float]]] = {}
    with progress_bar("Iterating") as report:

        def reported(done: int, total: int) -> None:
            report(len(found) * total + done, len(kinds) * total)

        for kind in kinds:
            steps = iterate(game, iterations=number, reckoning=kind, progress=reported)
            found[kind] = [
                {"last": max(one.last, 0.0), "average": max(one.average, 0.0), "explained": one.explained}
                for one in steps
            ]
    return found


def _content(rules: CrashRules, solution: Solution, gap: float, measured: list[dict[str, Any]]) -> dict[str, Any]:
    from ..small_game import num_deals, num_deals_up_to_suits

    game = solution.game
    return {
        "rules": rules.to_dict(),
        "deals": num_deals(rules),
        "deals_up_to_suits": num_deals_up_to_suits(rules),
        "hands": len(game.class_of),
        "hands_up_to_suits": game.num_classes,
        "arrangements": len(game.owner),
        "value": 0.0,
        "gap": solution.gap,
        "iterations": solution.iterations,
        "solved": solution.gap <= gap,
        "agents": measured,
    }


def _show(rules: CrashRules, solution: Solution, gap: float, measured: list[dict[str, Any]]) -> None:
    from rich.table import Table

    content = _content(rules, solution, gap, measured)
    console = output()

    def say(text: str) -> None:
        console.print(text, soft_wrap=True)

    number = "Two" if rules.players == 2 else "Three"
    say(
        f"{number} players, {rules.cards_dealt} of {len(rules.pack)} cards each ({rules.ranks}), {rules.hands} "
        f"hand{'s' if rules.hands > 1 else ''}, {rules.lowest_hand.replace('_', ' ')} or better"
    )
    say(f"{content['deals']:,} deals, {content['deals_up_to_suits']:,} up to suits")
    say(
        f"{content['hands']:,} hands, {content['hands_up_to_suits']:,} up to suits, with {content['arrangements']:,} "
        "undominated arrangements"
    )
    value = "the value is 0, by symmetry" if rules.players == 2 else "all who play the same earn 0, by symmetry"
    if content["solved"]:
        say(f"Solved: {value}; a best response gains at most {gap:g}")
    else:
        say(
            f"Not solved: {value}; after {solution.iterations:,} iterations a best response gains "
            f"{solution.gap:.2g}, which is more than {gap:g}"
        )
    if not measured:
        return
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("Agent", "Exploitability", "Solution earns"):
        shown.add_column(title, justify="left" if title == "Agent" else "right", no_wrap=True)
    for each in measured:
        shown.add_row(each["agent"], f"{each['exploitability']:.6f}", f"{each['margin_of_solution']:+.6f}")
    console.print(shown)
    for how, words in (
        ("samples", "sampled, so somewhat too high"),
        ("a hand of each class", "one hand of each class asked"),
    ):
        names = ", ".join(each["agent"] for each in measured if each["asked"] == how)
        if names:
            say(f"{names}: {words}")


def _show_iterated(steps: dict[str, list[dict[str, float]]]) -> None:
    from rich.table import Table

    columns = {
        "Every deal": [f"{one['last']:.6f}" for one in steps["deals"]],
        "averaged": [f"{one['average']:.6f}" for one in steps["deals"]],
    }
    if "fit" in steps:
        columns["Hand by hand"] = [f"{one['last']:.6f}" for one in steps["hands"]]
        columns["fitted"] = [f"{one['last']:.6f}" for one in steps["fit"]]
        columns["explained"] = [f"{100 * one['explained']:.1f} %" for one in steps["fit"]]
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    shown.add_column("Iteration", no_wrap=True)
    for title in columns:
        shown.add_column(title, justify="right", no_wrap=True)
    done = len(steps["deals"])
    for number in (*_FIRST_SHOWN, *(8 << more for more in range(20))):
        if number <= done:
            shown.add_row(str(number), *(column[number - 1] for column in columns.values()))
    console = output()
    console.print()
    console.print("What a best response gains against each iteration of the solver:", soft_wrap=True)
    console.print(shown)
