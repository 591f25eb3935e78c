"""Which tables of `solver-fast` ship, and how much is played for each: what `prial tables solver` goes by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..envs.crash.presets import load_rules, preset_names, read_preset
from ..envs.crash.rules import CrashRules

__all__ = ["SHIPPED_SIZES", "SolverSizes", "solver_command", "solver_sizes", "standard_solver_rules"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverSizes:
    """How much is played for a table.

    Attributes:
        rounds: from each score, in the last iteration.
        deals: rounds at even scores for the fit on known cards, in the last iteration.
        iterations: how many.
        base: name of a table that ships whose figures on cards are taken; its own are fitted if None.
    """

    rounds: int = 2000
    deals: int = 200_000
    iterations: int = 4
    base: str | None = None


SHIPPED_SIZES: Mapping[str, SolverSizes] = {
    "online-2": SolverSizes(rounds=6000, deals=1_000_000, iterations=3),
    "online-3": SolverSizes(rounds=8000, deals=1_200_000, iterations=3),
    "online-4": SolverSizes(rounds=1500, deals=300_000, iterations=2),
    "bga-2": SolverSizes(rounds=3000, deals=4_000_000, iterations=4),
    "bga-3": SolverSizes(rounds=2000, deals=2_000_000, iterations=4),
    "bga-4": SolverSizes(rounds=800, deals=300_000, iterations=2),
    "bga-5": SolverSizes(rounds=700, deals=200_000, iterations=2),
    "traditional-2": SolverSizes(rounds=1500, deals=2_000_000, iterations=4),
    "traditional-3": SolverSizes(rounds=1000, deals=1_600_000, iterations=4),
    "traditional-4": SolverSizes(rounds=400, deals=250_000, iterations=2),
    "traditional-2-optional": SolverSizes(rounds=1000, deals=200_000, iterations=2, base="traditional-2"),
    "traditional-2-required": SolverSizes(rounds=1000, deals=200_000, iterations=2, base="traditional-2"),
    "traditional-3-optional": SolverSizes(rounds=250, deals=200_000, iterations=2, base="traditional-3"),
    "traditional-3-required": SolverSizes(rounds=250, deals=200_000, iterations=2, base="traditional-3"),
    "traditional-4-optional": SolverSizes(rounds=150, deals=100_000, iterations=2, base="traditional-4"),
    "traditional-4-required": SolverSizes(rounds=150, deals=100_000, iterations=2, base="traditional-4"),
}
"""Those of the tables that ship, by name: minutes of processor time each."""


def solver_command(rules: CrashRules, *, sizes: SolverSizes, seed: int) -> str:
    """Return the command that makes a table.

    >>> solver_command(CrashRules.preset("bga", players=2), sizes=SolverSizes(rounds=10, deals=20, iterations=3), seed=1)
    'prial tables solver --rules bga --players 2 --rounds 10 --deals 20 --iterations 3 --seed 1'
    """
    ships = rules.name in preset_names()
    plain = CrashRules.preset(rules.name, players=rules.players) if ships else CrashRules()
    settings = [
        f"--set {name}={value}"
        for name, value in rules.to_dict().items()
        if value != getattr(plain, name) and name not in ("name", "players")
    ]
    words = [f"prial tables solver --rules {rules.name if ships else 'online'} --players {rules.players}", *settings]
    base = [] if sizes.base is None else [f"--base {sizes.base}"]
    numbers = f"--rounds {sizes.rounds} --deals {sizes.deals} --iterations {sizes.iterations} --seed {seed}"
    return " ".join([*words, *base, numbers])


def solver_sizes(
    rules: CrashRules,
    *,
    rounds: int | None = None,
    deals: int | None = None,
    iterations: int | None = None,
    base: str | None = None,
) -> SolverSizes:
    """Return how much is played for a table: as asked for, otherwise as for the one that ships for the rules.

    >>> solver_sizes(CrashRules.preset("online"), rounds=10)
    SolverSizes(rounds=10, deals=1200000, iterations=3, base=None)
    """
    usual = SHIPPED_SIZES.get(_table_name(rules), SolverSizes())
    return SolverSizes(
        rounds=usual.rounds if rounds is None else rounds,
        deals=usual.deals if deals is None else deals,
        iterations=usual.iterations if iterations is None else iterations,
        base=usual.base if base is None else base,
    )


def standard_solver_rules() -> Mapping[str, CrashRules]:
    """Return the rules that a table ships for, by its name: every rule set with every number of players.

    >>> list(standard_solver_rules())[:4], list(standard_solver_rules())[-1]
    (['online-2', 'online-3', 'online-4', 'bga-2'], 'traditional-4-required')
    """
    plain = [
        load_rules(name, players=players)
        for name in preset_names()
        for players in read_preset(name)["in_use"]["players"]
    ]
    calling = [
        replace(rules, crash_call=call)
        for rules in plain
        for call in read_preset(rules.name or "")["in_use"].get("crash_call", ())
        if call != rules.crash_call
    ]
    return {_table_name(rules): rules for rules in (*plain, *calling)}


def _table_name(rules: CrashRules) -> str:
    return f"{rules.name}-{rules.players}" + (f"-{rules.crash_call}" if rules.has_calls else "")
