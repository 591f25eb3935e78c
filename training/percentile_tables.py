"""Tables for the agent `percentile`: what players lay who all play that very policy, iterated to a fixed point.

Starting from what `greedy` lays, the policy plays against the distribution so far, and the distribution moves a part of the
way (`DAMPING`) to what it lays then. It stops when the policy lays what it plays against: when, at every position, no
cumulative share differs by more than the tolerance. All iterations look at the same deals, whose arrangements are searched
once.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.percentile import crash_weight
from ..agents.percentile_table import TABLE_FORMAT, arrangement_values, table_options, win_chances
from ..envs.brag import NUM_STRENGTHS
from ..envs.crash.partitions import CandidateBatch, undominated_many
from ..envs.crash.rules import MAX_HANDS, CrashRules

__all__ = ["DAMPING", "TOLERANCE", "TableProgress", "make_table", "table_command", "write_table"]

DAMPING = 0.5
TOLERANCE = 5e-4
_CHUNK = 20_000  # hands searched at once

TableProgress = Callable[[int, int, str], None]
"""Called with steps done, steps at most, and what was done."""

Floats = npt.NDArray[np.float64]


def table_command(rules: CrashRules, *, deals: int, iterations: int, seed: int, weight: float | None) -> str:
    """Return the command that makes a table."""
    plain = CrashRules.preset(rules.name) if rules.name else CrashRules()
    overrides = [
        f"{name}={value}" for name, value in rules.to_dict().items() if value != getattr(plain, name) and name != "name"
    ]
    words = ["prial tables percentile", f"--rules {rules.name or 'online'}", *(f"--set {text}" for text in overrides)]
    words += [f"--deals {deals}", f"--iterations {iterations}", f"--seed {seed}"]
    return " ".join([*words, *([] if weight is None else [f"--weight {weight:g}"])])


def make_table(
    rules: CrashRules,
    *,
    deals: int = 200_000,
    iterations: int = 40,
    seed: int = 1,
    weight: float | None = None,
    progress: TableProgress | None = None,
) -> dict[str, Any]:
    """Return the content of a table's file.

    Args:
        rules: what it is for.
        deals: how many deals to look at; every player's hand counts.
        iterations: at most so many; fewer where it settles before.
        seed: of the deals.
        weight: what a crash is worth to the policy, in points; by `crash_weight` if None.
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
    found = _search(hands, rules, lambda done: report(done, total, "searched"))
    place = _Places(rules=rules, deals=deals)
    first = found.offsets[:-1]
    shares = _shares(_counts(place.in_play(found.strengths[first], None)))
    changes: list[float] = []
    counts = np.zeros((MAX_HANDS, NUM_STRENGTHS + 1), np.int64)
    for done in range(1, iterations + 1):
        values = arrangement_values(found, win_chances(shares, rules.players), rules=rules, weight=crash)
        best = found.best_rows(values)
        counts = _counts(place.in_play(found.strengths[best], values[best]))
        laid = _shares(counts)
        changes.append(float(np.abs(np.cumsum(laid - shares, axis=1)).max()))
        report(chunks + done, total, f"iteration {done}: change {changes[-1]:.5f}")
        if changes[-1] <= TOLERANCE:
            break
        shares = shares + DAMPING * (laid - shares)
    return {
        "format": TABLE_FORMAT,
        "options": table_options(rules),
        "weight": crash,
        "made": {
            "command": table_command(rules, deals=deals, iterations=iterations, seed=seed, weight=weight),
            "rules": rules.to_dict(),
            "deals": deals,
            "seed": seed,
            "iterations": len(changes),
            "changes": [round(change, 6) for change in changes],
            "settled": changes[-1] <= TOLERANCE,
            "prial": metadata.version("prial"),
            "numpy": np.__version__,
        },
        "counts": counts.tolist(),
    }


def write_table(content: dict[str, Any], path: str | Path) -> None:
    """Write a table's file, whole or not at all; one line an item, and one a position."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    rows = ",\n".join(f"  {json.dumps(row, separators=(',', ':'))}" for row in content["counts"])
    items = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items() if key != "counts"]
    text = "{\n" + ",\n".join([*items, f' "counts": [\n{rows}\n ]']) + "\n}\n"
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _deal(rules: CrashRules, deals: int, rng: np.random.Generator) -> npt.NDArray[np.int8]:
    """Deal hands, then spare hands, deal by deal: int8 (deals * (players + spares), cards), ascending."""
    piles, size = rules.players + rules.num_spares, rules.cards_dealt
    packs = np.tile(np.array(rules.pack, np.int8), (deals, 1))
    dealt = rng.permuted(packs, axis=1)[:, : piles * size].reshape(-1, size)
    dealt.sort(axis=1)
    return dealt


def _search(hands: npt.NDArray[np.int8], rules: CrashRules, tick: Callable[[int], None]) -> CandidateBatch:
    """Return the undominated arrangements of all hands, searched chunk by chunk."""
    parts = []
    for done, start in enumerate(range(0, len(hands), _CHUNK), start=1):
        parts.append(undominated_many(hands[start : start + _CHUNK], rules))
        tick(done)
    counts = np.concatenate([part.counts for part in parts])
    return CandidateBatch(
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        partitions=np.concatenate([part.partitions for part in parts]),
        strengths=np.concatenate([part.strengths for part in parts]),
        quads=np.concatenate([part.quads for part in parts]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    """Which of the hands dealt are in play after the exchange. Seats are in turn order."""

    rules: CrashRules
    deals: int

    def in_play(self, strengths: npt.NDArray[np.int16], values: Floats | None) -> npt.NDArray[np.int16]:
        """Return what the players lay: int16 (deals * players, 4).

        Args:
            strengths: what would be laid from each hand dealt, spare hands included.
            values: what each is worth; a player exchanges one below the mean. No one does if None.
        """
        players, spares = self.rules.players, self.rules.num_spares
        piles = strengths.reshape(self.deals, players + spares, MAX_HANDS)
        held = piles[:, :players].copy()
        if spares and values is not None:
            unhappy = values.reshape(self.deals, -1)[:, :players] < values.mean()
            if players == 3:  # one spare hand, for the first who wants it
                unhappy &= np.cumsum(unhappy, axis=1) == 1
            deal, seat = np.nonzero(unhappy)
            held[deal, seat] = piles[deal, players + (seat if spares == players else 0)]
        return held.reshape(-1, MAX_HANDS)


def _counts(strengths: npt.NDArray[np.int16]) -> npt.NDArray[np.int64]:
    rows = [np.bincount(strengths[:, position], minlength=NUM_STRENGTHS + 1) for position in range(MAX_HANDS)]
    return np.array(rows, np.int64)


def _shares(counts: npt.NDArray[np.int64]) -> Floats:
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares
