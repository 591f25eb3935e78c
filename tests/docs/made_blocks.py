"""Parts of Markdown pages that are made from the code, so that they cannot go stale.

Such a part stands between ``<!-- made: NAME -->`` and ``<!-- end -->`` in a page of docs/ or in the README. NAME is a block
of `BLOCKS`, or a command, as in ``<!-- made: $ prial rules -->``: then the part shows the command and what it prints.

``python tests/docs/made_blocks.py`` makes them all anew; ``make docs`` does so before it builds the site.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields
from math import comb
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PART = re.compile(r"^(<!-- made: (.+?) -->\n)(.*?)^(<!-- end -->)$", re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    """Return the pages that may have such parts."""
    return [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if page.is_file()]


def names(page: Path) -> list[str]:
    """Return the names of the parts of a page."""
    return [part[2] for part in _PART.finditer(page.read_text(encoding="utf-8"))]


def made_anew(text: str, wanted: str | None = None) -> str:
    """Return a page's text with all its parts, or those of one name, made anew."""

    def put(part: re.Match[str]) -> str:
        return part[0] if wanted not in (None, part[2]) else f"{part[1]}\n{make(part[2])}\n\n{part[4]}"

    return _PART.sub(put, text)


def make(name: str) -> str:
    """Return the content of a part, without white space around it."""
    if name.startswith("$ "):
        return _console(name.removeprefix("$ "))
    if name not in BLOCKS:
        raise KeyError(f"no block {name!r}; there are {', '.join(BLOCKS)}, and commands after '$ '")
    return BLOCKS[name]().strip()


def _console(command: str) -> str:
    from typer.testing import CliRunner

    from prial.training.cli import app

    program, *words = shlex.split(command)
    assert program == "prial", f"only prial's own commands are run, not {command!r}"
    plain = {"COLUMNS": "80", "NO_COLOR": "1", "FORCE_COLOR": None, "TERM": "dumb"}
    result = CliRunner().invoke(app, words, prog_name="prial", env=plain)
    if result.exit_code:
        raise RuntimeError(f"{command!r} ended with {result.exit_code}: {result.output}")
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    return "\n".join(["```console", f"$ {command}", *lines, "```"])


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""

    def line(cells: Iterable[object]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    titles = list(head)
    return "\n".join([line(titles), "|" + "---|" * len(titles), *map(line, rows)])


def _rule_sets() -> str:
    from prial.envs.crash.presets import preset_names, read_preset
    from prial.envs.crash.rules import CrashRules

    found = {name: (CrashRules.preset(name), read_preset(name)) for name in preset_names()}

    def cell(option: str, name: str) -> str:
        rules, content = found[name]
        value = getattr(rules, option)
        others = [f"`{other}`" for other in content["in_use"].get(option, ()) if other != value]
        return f"`{value}`" + (f" (also {', '.join(others)})" if others else "")

    options = [f.name for f in fields(CrashRules) if f.name != "name"]
    summaries = [("", *(content["summary"] for _, content in found.values()))]
    rows = [(f"`{option}`", *(cell(option, name) for name in found)) for option in options]
    return _table(("Option", *(f"`{name}`" for name in found)), [*summaries, *rows])


def _house_rules() -> str:
    from prial.envs.crash.rules import HOUSE_RULES

    rows = [(f"`{name}`", *re.split(r": here ", text, maxsplit=1)) for name, text in HOUSE_RULES.items()]
    return _table(("Name", "What some tables play", "Here"), rows)


def _page_of(docstring: str | None, *, drop_title: bool = False) -> str:
    """Return a docstring's Markdown with its headings one level up, where they begin at the third."""
    lines = (docstring or "").strip().splitlines()
    if drop_title:
        lines = lines[1:]
    return "\n".join(re.sub(r"^#(#{2,}) ", r"\1 ", line) for line in lines)


def _crash_v0() -> str:
    from prial.envs import crash_v0

    return _page_of(crash_v0.__doc__, drop_title=True)


def _wrappers() -> str:
    from prial.envs.crash import wrappers

    return _page_of(wrappers.__doc__)


def _hand_by_hand() -> str:
    from prial.envs.crash import hand_by_hand

    return _page_of(hand_by_hand.__doc__)


def _single_seat() -> str:
    from prial.agents import single_seat

    return _page_of(single_seat.__doc__)


def _vector_columns() -> str:
    from prial.envs.crash import tables

    lines = (tables.__doc__ or "").splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


def _features() -> str:
    from prial.envs.brag import BragClass
    from prial.envs.crash.features import CANDIDATE_FEATURES

    kinds = [kind.name.lower() for kind in BragClass]
    meanings = {
        "present": "1 for a candidate, 0 for padding",
        "strength": "the strength, 0 to 1",
        "weaker_share": "share of all 22,100 triples that are weaker",
        "quads": "number of four of a kind laid whole (0 where `quads_bonus` does not pay)",
    }
    for kind in kinds:
        meanings[kind] = f"1 for a {kind.replace('_', ' ')}"
    rows = []
    for column, name in enumerate(CANDIDATE_FEATURES):
        place = re.match(r"hand_(\d)_(.*)", name)
        text = f"Hand {place[1]}: {meanings[place[2]]}" if place else meanings[name]
        rows.append((column, f"`{name}`", text))
    first = [row for row in rows if not str(row[1]).startswith(("`hand_2", "`hand_3", "`hand_4"))]
    per_hand = len(kinds) + 2
    after = (f"{1 + per_hand} - {4 * per_hand}", "`hand_2_...` to `hand_4_...`", "likewise for the other positions")
    return _table(("Column", "Name", "Meaning"), [*first[:-1], after, first[-1]])


def _ppo_keys() -> str:
    from prial.training.ppo_config import PPOConfig

    rows = []
    for key, field in PPOConfig.model_fields.items():
        default = field.get_default(call_default_factory=True)
        text = " ".join(map(str, default)) if isinstance(default, list) else default
        rows.append((f"`{key}`", f"`{text}`" if text != {} else "none", field.description))
    return _table(("Key", "Default", "Meaning"), rows)


def _partitions() -> str:
    from prial.envs.crash.partitions import num_partitions

    splits = (1, 1, 10, 280, 15_400)
    rows = []
    for cards in (6, 7, 9, 10, 13):
        counts = [comb(cards, 3 * m) * splits[m] for m in range(5)]
        assert sum(counts) == num_partitions(cards)
        rows.append((cards, *(f"{count:,}" if count else "" for count in counts), f"{sum(counts):,}"))
    return _table(("Cards", "no hand", "1 hand", "2 hands", "3 hands", "4 hands", "all"), rows)


_TALK = """\
hello
rules online
position arrange seat 0 dealer 2 scores 3 5 2 cards As Ks Qs Jh Jd 9c 8c 7c 5h 5d 4s 3s 2s
decide movetime 500
analyse top 3
rules bga
position exchange seat 1 dealer 0 round 2 scores 1 0 4 cards As Ks Qs Jh Jd 9c 8c 7c 5h 5d 4s 3s 2s
analyse
decide
position arrange seat 0 dealer 0 cards 3d 3d 5h 5s 6c 7c 8h 9s Tc Td Jh Qd Ad
castle
quit
"""


def _engine_transcript() -> str:
    from importlib.metadata import version

    from prial.agents import make as make_agent
    from prial.agents.engine_server import EngineServer

    server = EngineServer(make_agent("solver-fast"), version=version("prial"))
    lines = []
    for command in _TALK.splitlines():
        lines += [f"> {command}", *server.answer(command.encode())]
    return "\n".join(["```text", *lines, "```"])


def _trained_agents() -> str:
    from prial.training.model_card import cards_table

    cards = (ROOT / "docs" / f"model-{name}.json" for name in ("online", "bga", "traditional"))
    return cards_table([json.loads(card.read_text(encoding="utf-8"))["card"] for card in cards])


BLOCKS: dict[str, Callable[[], str]] = {
    "crash-v0": _crash_v0,
    "engine-transcript": _engine_transcript,
    "features": _features,
    "hand-by-hand": _hand_by_hand,
    "house-rules": _house_rules,
    "partitions": _partitions,
    "ppo-keys": _ppo_keys,
    "rule-sets": _rule_sets,
    "single-seat": _single_seat,
    "trained-agents": _trained_agents,
    "vector-columns": _vector_columns,
    "wrappers": _wrappers,
}


def main() -> None:
    """Make all parts of all pages anew."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        fresh = made_anew(text)
        if fresh != text:
            page.write_text(fresh, encoding="utf-8")
            sys.stdout.write(f"{os.path.relpath(page, ROOT)}: made anew\n")


if __name__ == "__main__":
    main()
