"""Tables for the agent `percentile`: what players lay who all play that very policy, iterated to a fixed point.

Starting from what `greedy` lays and from exchanging below the mean hand, the policy plays against the distribution so far,
and distribution and thresholds move a part of the way (`DAMPING`) to what it lays then and to where exchanging comes out
even then. It stops when the policy lays what it plays against: when, at every position, no cumulative share differs by more
than `TOLERANCE`, and no threshold by more than `EXCHANGE_TOLERANCE`. All iterations look at the same deals, whose
arrangements are searched once.

What is modelled of the exchange: whole rounds, in turn order, on deals with their spare hands (`exchange_courses`). Every
player knows how many others have kept their hands and arranges accordingly, but not which of them, nor when.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.percentile import crash_weight
from ..agents.percentile_table import (
    TABLE_FORMAT,
    arrangement_values,
    shares_of,
    table_options,
    win_chances,
)
from ..envs.brag import NUM_STRENGTHS
from ..envs.crash.partitions import CandidateBatch, undominated_many
from ..envs.crash.presets import load_rules, preset_names, read_preset
from ..envs.crash.rules import MAX_HANDS, CrashRules, RulesError
from ..envs.threads import usable_threads
from .exchange_courses import Rounds
from .files import write_whole
from .match import Tick
from .workers import spread

__all__ = [
    "DAMPING",
    "EXCHANGE_TOLERANCE",
    "TOLERANCE",
    "TableProgress",
    "make_table",
    "make_tables",
    "standard_tables",
    "table_command",
    "write_table",
]

DAMPING = 0.5
TOLERANCE = 5e-4
EXCHANGE_TOLERANCE = 0.01
_CHUNK = 20_000  # hands searched at once

TableProgress = Callable[[int, int, str], None]
"""Called with steps done, steps at most, and what was done."""

Floats = npt.NDArray[np.float64]


def standard_tables() -> Mapping[str, CrashRules]:
    """Return the rules that a table ships for, by its name: every rule set with the options in use that matter to it.

    Rules that a table before fits are left out: `traditional` with four players lays like `online`.

    >>> list(standard_tables())[:4]
    ['online-2', 'online-3', 'online-4', 'bga-2']
    """
    found: dict[str, CrashRules] = {}
    seen: list[dict[str, Any]] = []
    for name in preset_names():
        in_use = read_preset(name)["in_use"]
        options = [option for option in ("players", "cards_dealt", "lowest_hand") if option in in_use]
        for values in product(*(in_use[option] for option in options)):
            try:
                rules = load_rules(name, **dict(zip(options, values, strict=True)))
            except RulesError:
                continue  # five players with 13 cards each
            if table_options(rules) not in seen:
                seen.append(table_options(rules))
                found[_table_name(rules)] = rules
    usual = {name: rules for name, rules in found.items() if rules == load_rules(rules.name, players=rules.players)}
    return usual | found


def _table_name(rules: CrashRules) -> str:
    plain = load_rules(rules.name, players=rules.players)
    words = [rules.name, str(rules.players)]
    if rules.cards_dealt != plain.cards_dealt:
        words.append(f"{rules.cards_dealt}-cards")
    if rules.lowest_hand != plain.lowest_hand:
        words.append(rules.lowest_hand.replace("_", "-"))
    return "-".join(words)


def table_command(rules: CrashRules, *, deals: int, iterations: int, seed: int, weight: float | None) -> str:
    """Return the command that makes a table."""
    ships = rules.name in preset_names()
    plain = CrashRules.preset(rules.name) if ships else CrashRules()
    overrides = [
        f"{name}={value}" for name, value in rules.to_dict().items() if value != getattr(plain, name) and name != "name"
    ]
    words = [
        "prial tables percentile",
        f"--rules {rules.name if ships else 'online'}",
        *(f"--set {text}" for text in overrides),
    ]
    words += [f"--deals {deals}", f"--iterations {iterations}", f"--seed {seed}"]
    return " ".join([*words, *([] if weight is None else [f"--weight {weight:g}"])])


def make_table(
    rules: CrashRules,
    *,
    deals: int = 100_000,
    iterations: int = 40,
    seed: int = 1,
    weight: float | None = None,
    threads: int | None = None,
    progress: TableProgress | None = None,
) -> dict[str, Any]:
    """Return the content of a table's file.

    Args:
        rules: what it is for.
        deals: how many deals to look at; every player's hand counts.
        iterations: at most so many; fewer where it settles before.
        seed: of the deals.
        weight: what a crash is worth to the policy, in points; by `crash_weight` if None.
        threads: that search the deals; one a core if None. They change nothing.
        progress: called after each chunk of deals and each iteration.

    Raises:
        ValueError: numbers out of range.
    """
    for name, number in (("deals", deals), ("iterations", iterations)):
        if number < 1:
            raise ValueError(f"{name}={number!r}: expected 1 or more")
    crash = crash_weight(rules) if weight is None else weight
    report = progress or (lambda done, total, what: None)  # noqa: ARG005 (a report that goes nowhere)
    hands = _deal(rules, deals, np.random.default_rng(seed))
    chunks = -(-len(hands) // _CHUNK)
    total = chunks + iterations
    found = _search(hands, rules, usable_threads(threads), lambda done: report(done, total, "searched"))
    shares = [shares_of(_counts(found.strengths[found.offsets[:-1]]))] * 2  # of fresh and of kept hands
    below: tuple[float, ...] | None = None
    counts = (np.zeros((MAX_HANDS, NUM_STRENGTHS + 1), np.int64),) * 2
    changes: list[float] = []
    settled = False
    for done in range(1, iterations + 1):
        rounds = _play(found, shares, rules=rules, weight=crash, below=below)
        counts = rounds.count()
        laid = [shares_of(some) for some in counts]
        apart = [np.abs(np.cumsum(new - old, axis=1)).max() for new, old in zip(laid, shares, strict=True) if new.any()]
        changes.append(float(max(apart)))
        below = rounds.below
        even = rounds.even_scores() if below else ()
        moved = max((abs(new - old) for new, old in zip(even, below, strict=True)), default=0.0)
        report(chunks + done, total, f"iteration {done}: change {changes[-1]:.5f}")
        settled = changes[-1] <= TOLERANCE and moved <= EXCHANGE_TOLERANCE
        if settled or done == iterations:
            break
        shares = [old + DAMPING * (new - old) for new, old in zip(laid, shares, strict=True)]
        below = tuple(round(old + DAMPING * (new - old), 4) for new, old in zip(even, below, strict=True))
    kept = {"kept": counts[1].tolist()} if below else {}
    return {
        "format": TABLE_FORMAT,
        "options": table_options(rules),
        "weight": crash,
        "exchange_below": list(below or ()),
        "made": {
            "command": table_command(rules, deals=deals, iterations=iterations, seed=seed, weight=weight),
            "rules": rules.to_dict(),
            "deals": deals,
            "seed": seed,
            "iterations": len(changes),
            "changes": [round(change, 6) for change in changes],
            "settled": settled,
            "prial": metadata.version("prial"),
            "numpy": np.__version__,
        },
        "counts": {"fresh": counts[0].tolist(), **kept},
    }


def write_table(content: dict[str, Any], path: str | Path) -> None:
    """Write a table's file, whole or not at all: one line an item and a position, and its size in bytes in ``made``."""
    size = 0
    while len(text := _text(content, size)) != size:  # the figure is part of what it counts
        size = len(text)
    write_whole(path, text)


def _text(content: dict[str, Any], size: int) -> str:
    items = {**content, "made": {**content["made"], "bytes": size}}
    counts = ",\n".join(
        f"  {json.dumps(kind)}: [\n"
        + ",\n".join(f"   {json.dumps(row, separators=(',', ':'))}" for row in rows)
        + "\n  ]"
        for kind, rows in items.pop("counts").items()
    )
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in items.items()]
    return "{\n" + ",\n".join([*lines, f' "counts": {{\n{counts}\n }}']) + "\n}\n"


def make_tables(
    tables: Mapping[str, CrashRules],
    folder: str | Path,
    *,
    deals: int = 100_000,
    iterations: int = 40,
    seed: int = 1,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[str]:
    """Make a table's file for each of some rules, and return the names of those made.

    What is in the folder already, made by the same command with the same versions, is left as it is: an unbroken run and
    one that goes on after a break leave the same files, with any number of jobs.

    Args:
        tables: rules by name of the file.
        folder: where to write.
        deals, iterations, seed: as for `make_table`.
        jobs: processes.
        progress: called with tables done and tables to make.
    """
    target = Path(folder)
    missing = {}
    for name, rules in tables.items():
        command = table_command(rules, deals=deals, iterations=iterations, seed=seed, weight=None)
        if not _is_made(target / f"{name}.json", command):
            missing[name] = rules
    plan = _TablesPlan(folder=str(target), tables=tuple(missing.items()), deals=deals, iterations=iterations, seed=seed)
    report = progress or (lambda done, total: None)  # noqa: ARG005
    if missing:
        for _ in spread(
            _make_one,
            plan,
            len(missing),
            make_state=_no_state,
            jobs=jobs,
            progress=lambda done: report(done, len(missing)),
        ):
            pass
    return list(missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TablesPlan:
    """What `make_tables` has to make, as it is sent to workers."""

    folder: str
    tables: tuple[tuple[str, CrashRules], ...]
    deals: int
    iterations: int
    seed: int


def _no_state(plan: _TablesPlan) -> None:  # noqa: ARG001
    return None


def _make_one(plan: _TablesPlan, state: None, number: int, tick: Tick) -> str:  # noqa: ARG001
    name, rules = plan.tables[number]
    content = make_table(
        rules,
        deals=plan.deals,
        iterations=plan.iterations,
        seed=plan.seed,
        threads=1,  # the tables are spread over processes
        progress=lambda done, total, what: tick(0),  # noqa: ARG005 (a chance to stop)
    )
    write_table(content, Path(plan.folder) / f"{name}.json")
    tick(1)
    return name


def _is_made(path: Path, command: str) -> bool:
    """Whether a file holds the table that a command makes with these versions."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        made = content["made"]
        same: bool = (content["format"], made["command"], made["prial"], made["numpy"]) == (
            TABLE_FORMAT,
            command,
            metadata.version("prial"),
            np.__version__,
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return same


def _deal(rules: CrashRules, deals: int, rng: np.random.Generator) -> npt.NDArray[np.int8]:
    """Deal hands, then spare hands, deal by deal: int8 (deals * (players + spares), cards), ascending.

    By NumPy's generator rather than as `CrashVectorEnv` deals: the tables that ship were counted on these deals, and are to
    be made again to the byte. Dealing is a tenth of the time that searching takes.
    """
    piles, size = rules.players + rules.num_spares, rules.cards_dealt
    packs = np.tile(np.array(rules.pack, np.int8), (deals, 1))
    dealt = rng.permuted(packs, axis=1)[:, : piles * size].reshape(-1, size)
    dealt.sort(axis=1)
    return dealt


def _search(
    hands: npt.NDArray[np.int8], rules: CrashRules, threads: int, tick: Callable[[int], None]
) -> CandidateBatch:
    """Return the undominated arrangements of all hands, searched chunk by chunk."""
    parts = []
    for done, start in enumerate(range(0, len(hands), _CHUNK), start=1):
        parts.append(undominated_many(hands[start : start + _CHUNK], rules, threads=threads))
        tick(done)
    counts = np.concatenate([part.counts for part in parts])
    return CandidateBatch(
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        partitions=np.concatenate([part.partitions for part in parts]),
        strengths=np.concatenate([part.strengths for part in parts]),
        quads=np.concatenate([part.quads for part in parts]),
    )


def _play(
    found: CandidateBatch,
    shares: Sequence[Floats],
    *,
    rules: CrashRules,
    weight: float,
    below: tuple[float, ...] | None,
) -> Rounds:
    """Return what the policy lays against fresh and kept hands with some shares; it exchanges below the mean if None."""
    fresh, kept = shares
    others, piles = rules.players - 1, rules.players + rules.num_spares
    chances = np.array(
        [win_chances([kept] * k + [fresh] * (others - k)) for k in range(rules.players if rules.has_exchange else 1)]
    )
    strengths, quads, scores = [], [], []
    for k in range(len(chances)):
        values = arrangement_values(found, chances, rules=rules, weight=weight, kept=k)
        best = found.best_rows(values)
        scores.append(values[best].reshape(-1, piles))
        strengths.append(found.strengths[best].reshape(-1, piles, MAX_HANDS))
        quads.append(found.quads[best].reshape(-1, piles))
    if below is None:
        mean = round(float(scores[0].mean()), 4)
        below = (mean,) * {0: 0, 1: rules.players}.get(rules.num_spares, 1)
    return Rounds(
        rules=rules,
        weight=weight,
        strengths=np.array(strengths),
        quads=np.array(quads),
        scores=scores[0][:, : rules.players],  # against fresh hands
        below=below,
    )


def _counts(strengths: npt.NDArray[np.int16]) -> npt.NDArray[np.int64]:
    rows = [np.bincount(strengths[:, position], minlength=NUM_STRENGTHS + 1) for position in range(MAX_HANDS)]
    return np.array(rows, np.int64)
