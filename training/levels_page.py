"""The page of what levels come to (docs/levels.md), and its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ..agents.levels import LEVELS, calibration_command
from .levels import AIMS, LevelReport, examples
from .statistics import Estimate

__all__ = ["levels_dict", "levels_page", "levels_table"]


_PAGE = """# Levels

`online`, `bga` and `traditional` are hard to beat. Each has three weaker levels, for people: `online:easy`, \
`online:medium`, `online:hard` and so on; `online:expert` is `online` itself. A level is named wherever an agent is; \
`prial play` plays against `medium` unless told otherwise.

```
prial play --rules bga --against bga:easy
prial arena online:hard online greedy
prial bot --agent online:medium
prial arena 'online:easy[slips=3]' online
```

The last one says itself how much it slips; 0 plays as the network.

## How a level errs

A level has its network's sense of what an arrangement is worth, and sees and judges as people do. The more it slips, the \
more of this happens:

- It **overlooks** hands: runs and flushes hide among 13 cards, pairs and prials hardly. The strongest hand, then the \
strongest of the rest, is what everybody sees.
- It **misjudges** hands: a class of hands in a position (runs as Hand 2, say), and single hands, are thought better or \
worse than they are. Hands that all its arrangements share do not matter, and where much is at stake the best choice stays \
plain.
- It **likes** a strong Hand 1, all hands laid so, and flushes, which poker puts above runs.
- It **forgets the score**, and plays as at the start of the game.
- It exchanges and calls **by feeling**: by a threshold on one hand, as `balanced` does, or by a worth that it misjudges.

It lays undominated arrangements only, and where there is but one, that one. All of its chance comes from one number a \
decision, drawn from the generator passed, so games repeat by their seed. `prial.agents.level_errors` has the figures. They \
were chosen, not taken from people's games; only the amount of slips was measured.

## How strong they are

How much each level slips was measured with three players, one seat against two of the network: AIMS, where an even share \
is 33.3 %. (Arrangements drawn at random from the undominated ones win 17.9 % in `online` (16.1 to 20.1; 900 games, seed \
77): a level much below `easy` could not be told from chance there.) The amounts are in `agents/data/levels.json`, made by

```
CALIBRATION
```

The same amounts serve every number of players. On other deals, one seat against others all of one kind, win shares in % \
with 95 % intervals:

```
COMMAND
```

DATE. *Agrees*: of decisions among two arrangements or more, those in which it lays what the network lays. *An error \
costs*: what one of the others loses, in percentage points of win share, by the network's own values. \
*Exchanges agree*: likewise, keeping or exchanging.

TABLE

## Errors

Decisions at nil all with three players, the first in which each level lays something else than the network \
(`prial.training.levels.examples`).
EXAMPLES
"""


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _percent(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.1f} ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})"


def levels_table(found: Sequence[LevelReport]) -> list[tuple[str, ...]]:
    """Return the rows of the table: head, then one a report.

    >>> levels_table([])[0][:3]
    ('rules', 'level', 'even')
    """
    head = (
        "rules",
        "level",
        "even",
        "against the network",
        "against greedy",
        "agrees",
        "an error costs",
        "exchanges agree",
    )
    rows: list[tuple[str, ...]] = [head]
    for report in found:
        rules, ways = report.rules, report.slipping
        cards = "" if rules.cards_dealt == 13 else f", {rules.cards_dealt} cards"
        rows.append(
            (
                f"`{rules.name}`, {rules.players} players{cards}",
                report.level,
                f"{100 / rules.players:.1f}",
                _percent(report.against_network),
                _percent(report.against_greedy),
                f"{100 * ways.agrees:.0f}",
                f"{100 * ways.cost:.1f}",
                "" if ways.exchanges is None else f"{100 * ways.exchanges:.0f}",
            )
        )
    return rows


def levels_dict(report: LevelReport) -> dict[str, Any]:
    """Return a report as plain values."""
    against = {"network": report.against_network, "greedy": report.against_greedy}
    return {
        "rules": report.rules.name,
        "players": report.rules.players,
        "level": report.level,
        "against": {name: {"value": share.value, "interval": list(share.interval)} for name, share in against.items()},
        "slipping": asdict(report.slipping),
    }


def levels_page(found: Sequence[LevelReport], *, command: str, date: str) -> str:
    """Return what levels come to as a page of Markdown.

    Args:
        found: `reports`.
        command: that made the page.
        date: on which.
    """
    head, *rows = levels_table(found)
    aims = ", ".join(f"`{name}` {100 * aim:.0f} %" for name, aim in AIMS.items())
    sets = list(dict.fromkeys(report.rules.name for report in found if report.rules.players == 3))
    table = [_row(head), "| --- | --- " + "| ---: " * (len(head) - 2) + "|", *map(_row, rows)]
    shown = [line for rule_set in sets for line in _examples(rule_set)]
    text = _PAGE.replace("AIMS", aims).replace("CALIBRATION", calibration_command()).replace("COMMAND", command)
    return text.replace("DATE", date).replace("TABLE", "\n".join(table)).replace("EXAMPLES", "\n".join(shown))


def _examples(rule_set: str) -> list[str]:
    """Return the examples of a rule set as lines."""
    lines = [
        "",
        f"### {rule_set}",
        "",
        "| level | cards | lays | the network lays | costs | why |",
        "| --- | --- | --- | --- | ---: | --- |",
    ]
    for name in LEVELS:
        lines += [
            f"| {name} | {one.cards} | {_cell(one.laid)} | {_cell(one.best)} | {100 * one.cost:.1f} | {one.why} |"
            for one in examples(rule_set, name, number=2)
        ]
    return lines


def _cell(hands: str) -> str:
    return hands.replace(" | ", ", ")
