"""The file that a ladder's results go into: JSON lines, only ever added to, whole lines at a time.

The first line says what is played. A line for each agent says what it is made from, and a line for each chunk (a line-up
on some boards) what came of it. A line is written in one go and forced to the disk; whoever is killed at that moment leaves
at most a torn line, which is passed over, and the chunk is played again. A chunk that comes twice counts once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Self

import numpy as np

from .arena_result import BoardSums
from .forfeited import AgentForfeits
from .ladder_config import LadderConfig

__all__ = ["Chunk", "LadderFileError", "LadderResults", "ResultsFile", "read_results"]

FORMAT = 1
_HEAD = b'{"ladder":'

Key = tuple[tuple[str, ...], int]
"""Names at the table, and the number of the chunk."""


class LadderFileError(ValueError):
    """A file of results that does not fit the ladder, or is none."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Chunk:
    """What came of one line-up on the boards of one chunk.

    Attributes:
        table: names of the agents at the table.
        number: of the chunk: its boards are `number * chunk_boards` and the following.
        games: on each board.
        sums: of each board, for the different agents of the table in order.
        version: of prial, that played it.
        forfeits: what agents forfeited in it.
    """

    table: tuple[str, ...]
    number: int
    games: int
    sums: BoardSums
    version: str
    forfeits: tuple[AgentForfeits, ...] = ()

    @property
    def key(self) -> Key:
        """What tells it from other chunks of the ladder."""
        return self.table, self.number

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        forfeits = {"forfeits": [one.to_dict() for one in self.forfeits]} if self.forfeits else {}
        return {
            "chunk": self.number,
            "table": list(self.table),
            "games": self.games,
            "agents": self.sums.agents.tolist(),
            "pairs": self.sums.pairs.tolist(),
            "prial": self.version,
            **forfeits,
        }

    @classmethod
    def of(
        cls,
        table: tuple[str, ...],
        number: int,
        games: int,
        sums: BoardSums,
        *,
        forfeits: tuple[AgentForfeits, ...] = (),
    ) -> Chunk:
        """Return what this version of prial has played."""
        version = metadata.version("prial")
        return cls(table=table, number=number, games=games, sums=sums, version=version, forfeits=forfeits)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], *, boards: int) -> Chunk:
        """Return a chunk from what `to_dict` made.

        Raises:
            ValueError, KeyError, TypeError: it is none.
        """
        table = tuple(map(str, content["table"]))
        members = len(set(table))
        agents, pairs = np.array(content["agents"], float), np.array(content["pairs"], float)
        number_of_pairs = members * (members - 1) // 2
        pairs = pairs.reshape(boards, number_of_pairs, 4)
        if agents.shape != (boards, members, 7):
            raise ValueError(f"expected sums of {boards} boards and {members} agents, got {agents.shape}")
        sums = BoardSums(agents=agents, pairs=pairs)
        number, games = int(content["chunk"]), int(content["games"])
        named = list(dict.fromkeys(table))
        forfeits = tuple(
            AgentForfeits.from_dict(one, number=named.index(one["agent"])) for one in content.get("forfeits", ())
        )
        version = str(content["prial"])
        return cls(table=table, number=number, games=games, sums=sums, version=version, forfeits=forfeits)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LadderResults:
    """What a file holds.

    Attributes:
        chunks: by key.
        agents: what each agent was made from.
        torn: lines that are not whole.
        headed: whether it says what is played.
    """

    chunks: dict[Key, Chunk] = field(default_factory=dict)
    agents: dict[str, Any] = field(default_factory=dict)
    torn: int = 0
    headed: bool = False


def _head(config: LadderConfig) -> dict[str, Any]:
    rules = config.made_rules().to_dict()
    return {"ladder": FORMAT, "rules": rules, "seed": config.seed, "chunk_boards": config.chunk_boards}


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield every line that is not empty with its number; None for a torn one."""
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            content = json.loads(line)
        except ValueError:
            content = None
        yield number, content if isinstance(content, dict) else None


def read_results(path: str | Path, config: LadderConfig) -> LadderResults:
    """Return the results in a file; none if it is not there or empty.

    Raises:
        LadderFileError: it is of another ladder (rules, seed or boards of a chunk), an agent in it was another than the one
            of the same name now, or it is no such file.
        OSError: it cannot be read.

    >>> read_results("nowhere.jsonl", LadderConfig(agents=["greedy", "random"])).chunks
    {}
    """
    path = Path(path)
    results = LadderResults()
    if not path.exists():
        return results
    torn, headed, head = 0, False, _head(config)
    for number, content in _lines(path):
        where = f"{path}, line {number}"
        if content is None:
            torn += 1
        elif "ladder" in content:
            _check_head(content, head, where)
            headed = True
        elif not headed:
            raise LadderFileError(f"{where}: expected what the ladder plays; this is no file of a ladder's results")
        elif "agent" in content:
            results.agents[str(content["agent"])] = content.get("made")
        else:
            try:
                chunk = Chunk.from_dict(content, boards=config.chunk_boards)
            except (ValueError, KeyError, TypeError) as error:
                raise LadderFileError(f"{where} is no chunk of a ladder: {error!r}") from None
            results.chunks.setdefault(chunk.key, chunk)
    if torn and not headed and not _HEAD.startswith(path.read_bytes()[: len(_HEAD)]):
        raise LadderFileError(f"{path} is no file of a ladder's results")
    for agent in config.agents:
        if results.agents.get(agent.name, agent.identity) != agent.identity:
            raise LadderFileError(
                f"{path}: {agent.name!r} was {results.agents[agent.name]} and is now {agent.identity}; give it another "
                "name, or start another file"
            )
    return LadderResults(chunks=results.chunks, agents=results.agents, torn=torn, headed=headed)


def _check_head(found: Mapping[str, Any], wanted: Mapping[str, Any], where: str) -> None:
    for key, value in wanted.items():
        if found.get(key) != value:
            what = key
            if key == "rules" and isinstance(found.get(key), dict):
                different = [name for name in value if found["rules"].get(name) != value[name]]
                what = f"rules ({', '.join(different)})"
            raise LadderFileError(f"{where}: these are results of another ladder: {what} differs; start another file")


class ResultsFile:
    """A file of results open to be added to; what is missing at its head is written.

    Args:
        path: of the file; folders are made.
        config: of the ladder.
        known: what is in the file, from `read_results`.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, path: str | Path, config: LadderConfig, known: LadderResults) -> None:
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Unbuffered and at the end, so that every line is one write, also where several processes add to one file.
        self._file = path.open("ab", buffering=0)
        size = path.stat().st_size
        if size and path.read_bytes()[-1:] != b"\n":
            self._file.write(b"\n")  # a torn line stays, and ends here
        if not known.headed:
            self._write(_head(config))
        for agent in config.agents:
            if agent.name not in known.agents:
                self._write({"agent": agent.name, "made": agent.identity})

    def _write(self, content: Mapping[str, Any]) -> None:
        line = json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"
        while line:
            line = line[self._file.write(line) :]
        os.fsync(self._file.fileno())

    def add(self, chunk: Chunk) -> None:
        """Write a chunk; when this returns it is on the disk."""
        self._write(chunk.to_dict())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
