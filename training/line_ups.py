"""Who sits where: the line-ups of an arena, and the seatings in which each of them plays a board."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

__all__ = ["labels", "line_ups", "seatings"]

Seating = tuple[int, ...]
"""Number of the agent on each seat."""


def labels(names: Sequence[str]) -> tuple[str, ...]:
    """Return a different label for each agent: the name, with a number from its second appearance on.

    >>> labels(["greedy", "random", "greedy"])
    ('greedy', 'random', 'greedy#2')
    """
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return tuple(found)


def line_ups(agents: int, players: int) -> tuple[tuple[int, ...], ...]:
    """Return the line-ups of `agents` agents at tables of `players`.

    With as many agents as seats there is one. With fewer, the missing seats go to the last agent. With more, every
    combination of different agents plays.

    >>> line_ups(2, 4), len(line_ups(5, 3))
    (((0, 1, 1, 1),), 10)
    """
    if agents <= players:
        return (tuple(min(seat, agents - 1) for seat in range(players)),)
    return tuple(combinations(range(agents), players))


def seatings(line_up: Sequence[int]) -> tuple[Seating, ...]:
    """Return the seatings of a line-up: all different orders up to three players, all different rotations above.

    Every agent sits on every seat equally often.

    >>> seatings([0, 1, 1])
    ((0, 1, 1), (1, 0, 1), (1, 1, 0))
    """
    n = len(line_up)
    orders = permutations(line_up) if n <= 3 else (tuple(line_up[(i + k) % n] for i in range(n)) for k in range(n))
    return tuple(dict.fromkeys(tuple(order) for order in orders))
