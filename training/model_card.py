"""Model cards of trained agents: how strong, how exploitable, how quick, as JSON and as a page made from it."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from ..agents.protocol import BaseAgent
from ..agents.registry import make
from ..agents.safetensors_file import read_safetensors
from ..agents.trained import Trained, TrainedError
from ..envs.crash.presets import read_preset
from ..envs.crash.rules import CrashRules, RulesError
from ..envs.crash.vector import CrashVectorEnv
from .arena import run_arena
from .config_files import shipped_configs, validated
from .equity import solve_equity
from .exploit import run_exploit
from .selfplay_config import SelfPlayConfig, load_selfplay_config
from .standings import plays
from .statistics import Estimate

__all__ = ["card_page", "cards_table", "measure_agent", "measure_options", "plain_rules"]

Said = Callable[[str], None]
_EQUITY_ROUNDS, _EQUITY_ASKED = 2000, 256
_SPEED_TABLES, _SINGLE = 400, 60


def plain_rules(agent: Trained) -> tuple[CrashRules, ...]:
    """Return the rules that a card measures: one for each number of players, without the variants.

    >>> from ..agents.trained import online
    >>> [rules.players for rules in plain_rules(online())]
    [2, 3, 4]
    """
    first: dict[int, CrashRules] = {}
    for rules in agent.rules:
        first.setdefault(rules.players, rules)
    return tuple(first[players] for players in sorted(first))


def measure_agent(
    name: str,
    path: Path,
    *,
    opponents: Sequence[str],
    games: int,
    deals: int,
    exploit_games: int,
    worlds: int,
    seed: int,
    jobs: int = 1,
    progress: Said | None = None,
) -> dict[str, Any]:
    """Return what a card says, in JSON values.

    Args:
        name: of the agent, or the path of its file.
        path: of its file.
        opponents: who sits on every other seat.
        games: against each opponent; every deal is played from each seat.
        deals: rounds of the exploitability in points.
        exploit_games: games of that in win share; 0 for none.
        worlds: of the exploitability.
        seed: of all this; another than in training and evaluation.
        jobs: processes.
        progress: told what comes next.

    Raises:
        TrainedError: no file of a trained agent, or one that does not say how it was trained.
        ValueError: an opponent that cannot be made or does not play the rules; of its own kind.
    """
    say = progress or (lambda what: None)  # noqa: ARG005 (nobody listens)
    agent = Trained.from_file(path, name=name)
    config, batches = _how_trained(path)
    for other in map(make, opponents):  # refused now, not when the others have been played
        for rules in plain_rules(agent):
            if isinstance(other, BaseAgent):
                other.check_rules(rules)
    tables = []
    for rules in plain_rules(agent):
        label = f"{rules.name}, {rules.players} players"
        met: dict[str, Any] = {}
        for opponent in opponents:
            say(f"{label}: {opponent}")
            score = run_arena([name, opponent], rules=rules, games=games, seed=seed, jobs=jobs).agents[0]
            met[opponent] = {**_estimate(score.win_share), "games": score.games}
        say(f"{label}: exploitability")
        measured = run_exploit(
            name, rules, deals=deals, measures=["points"], worlds=worlds, seed=seed, jobs=jobs
        ).measured
        exploited = {"points": {**_estimate(measured["points"].gain), "episodes": measured["points"].episodes}}
        if exploit_games:
            say(f"{label}: exploitability in games")
            equity = solve_equity(
                name, rules, rounds_per_state=_EQUITY_ROUNDS, max_asked=_EQUITY_ASKED, seed=seed, jobs=jobs
            )
            found = run_exploit(
                name, rules, games=exploit_games, measures=["win"], equity=equity, worlds=worlds, seed=seed, jobs=jobs
            ).measured["win"]
            exploited["win"] = {**_estimate(found.gain), "episodes": found.episodes}
        tables.append({"rules": rules.name, "players": rules.players, "against": met, "exploited": exploited})
    say("speed")
    return {
        "agent": agent.name,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, prial {metadata.version('prial')}, numpy {metadata.version('numpy')}",
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "seed": seed,
        "worlds": worlds,
        "bytes": path.stat().st_size,
        "batches": batches,
        "config": config.model_dump(),
        "options": _options_of(agent),
        "tables": tables,
        "speed": _speed(agent),
    }


def _how_trained(path: Path) -> tuple[SelfPlayConfig, int]:
    """The configuration of the run that a file came from, and its batches.

    Raises:
        TrainedError: the file does not say.
        ConfigFileError: a configuration that this version cannot use.
    """
    about = read_safetensors(path).metadata
    try:
        content, batches = json.loads(about["config"]), int(about["batches"])
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        raise TrainedError(
            f"{str(path)!r} does not say how it was trained ({error!r}); expected a file that prial train ship wrote"
        ) from None
    return validated(SelfPlayConfig, content, where=str(path)), batches


def measure_options(
    name: str, rules_name: str, *, games: int, seed: int, jobs: int = 1, progress: Said | None = None
) -> list[dict[str, Any]]:
    """Return the win share with each option set otherwise that a rule set lists, one at a time, in JSON values.

    Against `solver-fast` where it plays such rules, else against `percentile`, else `greedy`.

    Args:
        name: of the agent, or the path of its file.
        rules_name: of the rule set.
        games, seed, jobs, progress: as for `measure_agent`.

    Raises:
        RulesError: no such rules, or they do not list options in use as lists.

    >>> measure_options("online", "online", games=6, seed=1)
    []
    """
    base = CrashRules.preset(rules_name)
    in_use = read_preset(rules_name).get("in_use", {})
    if not isinstance(in_use, dict) or not all(isinstance(values, list) for values in in_use.values()):
        raise RulesError(f"in_use of {rules_name!r}: expected lists of values, as in target: [7, 10]")
    found = []
    for option, values in in_use.items():
        for value in values:
            if option == "players" or value == getattr(base, option):
                continue
            rules = CrashRules.preset(rules_name, **{option: value})
            opponent = next(who for who in ("solver-fast", "percentile", "greedy") if plays(who, rules))
            if progress is not None:
                progress(f"{option}={value}: {opponent}")
            score = run_arena([name, opponent], rules=rules, games=games, seed=seed, jobs=jobs).agents[0]
            about = {"option": option, "setting": value, "players": rules.players, "opponent": opponent}
            found.append({**about, **_estimate(score.win_share), "games": score.games})
    return found


def _estimate(found: Estimate) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high}


def _options_of(agent: Trained) -> dict[str, list[Any]]:
    """Options of which it has met several values."""
    every = [rules.to_dict() for rules in agent.rules]
    found = {key: sorted({rules[key] for rules in every}, key=str) for key in every[0]}
    return {key: values for key, values in found.items() if len(values) > 1 and not key.startswith("crash_call_")}


def _speed(agent: Trained) -> dict[str, float]:
    """Microseconds a decision, search included: of many at once, and of single ones."""
    rules = plain_rules(agent)[0]
    env = CrashVectorEnv(_SPEED_TABLES, rules, seed=1, threads=1)
    rng = np.random.default_rng(0)
    while (env.phase == 0).any():
        env.act_many(agent, rng)
    _, _, views = env.views()
    best = {"batched": np.inf, "single": np.inf}
    for _ in range(3):
        began = time.perf_counter()
        agent.act_many(views.select(np.arange(len(views))), rng)
        best["batched"] = min(best["batched"], (time.perf_counter() - began) / len(views))
        began = time.perf_counter()
        for row in range(_SINGLE):
            agent.act(views[row], rng)
        best["single"] = min(best["single"], (time.perf_counter() - began) / _SINGLE)
    return {kind: round(float(seconds) * 1e6, 1) for kind, seconds in best.items()}


def _percent(found: Mapping[str, Any], digits: int = 1) -> str:
    return f"{found['value'] * 100:.{digits}f} ({found['low'] * 100:.{digits}f} to {found['high'] * 100:.{digits}f})"


def _exploited(table: Mapping[str, Any]) -> tuple[str, str]:
    """What a responder gains, in points a round and in win share a game."""
    points, win = table["exploited"]["points"], table["exploited"].get("win")
    in_points = f"{points['value']:.4f} ({points['low']:.4f} to {points['high']:.4f})"
    return in_points, "not measured" if win is None else _percent(win, 3)


def cards_table(cards: Sequence[Mapping[str, Any]]) -> str:
    """Return one Markdown table of what several cards found: a row for each rule set and number of players."""
    opponents = list(cards[0]["tables"][0]["against"])
    heads = ["agent", "players", "even", *(f"against `{name}`" for name in opponents)]
    heads += ["responder gains, points a round", "responder gains, % of a game"]
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (len(heads) - 1)]
    for card in cards:
        for table in card["tables"]:
            shares = [_percent(table["against"][name]) for name in opponents]
            cells = [
                f"`{card['agent']}`",
                str(table["players"]),
                f"{100 / table['players']:.1f}",
                *shares,
                *_exploited(table),
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _trained_by(config: Mapping[str, Any]) -> str:
    """The command that trains by a configuration: that which ships for the rules, and the keys that are set otherwise."""
    name = config["rules"] if config["rules"] in shipped_configs("selfplay") else "online"
    ships = load_selfplay_config(name).model_dump()
    own = [shlex.quote(f"{key}={json.dumps(value)}") for key, value in config.items() if value != ships.get(key)]
    settings = "".join(f" --set {setting}" for setting in own if not setting.startswith("seed="))
    return f"prial train selfplay --config {name}{settings} --seed {config['seed']}"


def card_page(
    card: Mapping[str, Any], *, command: str, options: Sequence[Mapping[str, Any]] = (), options_command: str = ""
) -> str:
    """Return the page of a card, Markdown.

    Args:
        card: as `measure_agent` returned it.
        command: that measured it.
        options: as `measure_options` returned it.
        options_command: that measured these.
    """
    config, tables = card["config"], card["tables"]
    stopped = f"of {config['iterations']:,} " if card["batches"] < config["iterations"] else ""
    own = str(card["agent"]).endswith(".safetensors")
    file = card["agent"] if own else f"agents/data/trained/{card['agent']}.safetensors"
    opponents = list(tables[0]["against"])
    met = ", ".join(f"`{key}` {', '.join(map(str, values))}" for key, values in card["options"].items()).replace(
        ", `", "; `"
    )
    lines = [
        f"# Model card: `{card['agent']}`",
        "",
        (
            f"A value network that learned `{config['rules']}` by [self-play](selfplay.md), from nothing but the rules and "
            "winning chances by score (those of `solver-fast`'s tables). It lays the arrangement that it values most, "
            "exchanges and calls where that is worth more. NumPy alone plays it."
        ),
        "",
        f"- **For**: {met}. Any target: larger needs count as the largest trained for.",
        (
            f"- **Trained by**: `{_trained_by(config)}`, "
            f"{card['batches']:,} {stopped}batches of {config['tables']:,} rounds; the average of past networks."
        ),
        f"- **File**: `{file}`, {card['bytes']:,} bytes, no pickle.",
        (
            f"- **Speed**: {card['speed']['batched']:,.0f} microseconds a decision in a batch, "
            f"{card['speed']['single']:,.0f} for a single one, search included, on one core (load {card['load']})."
        ),
        "",
        "## Strength",
        "",
        (
            f"One seat against the same opponent on every other; win share in %, 95 % intervals, seed {card['seed']}, which "
            "neither training nor the choice among networks has seen."
        ),
        "",
        "| players | even | " + " | ".join(f"`{name}`" for name in opponents) + " |",
        "| --- | ---: |" + " ---: |" * len(opponents),
    ]
    for table in tables:
        shares = " | ".join(_percent(table["against"][name]) for name in opponents)
        lines.append(f"| {table['players']} | {100 / table['players']:.1f} | {shares} |")
    if options:
        lines += [
            "",
            f"With one option set otherwise, {options[0]['games']:,} games each (`{options_command}`):",
            "",
            "| option | players | even | against | win share, % |",
            "| --- | ---: | ---: | --- | ---: |",
        ]
        lines += [
            f"| `{one['option']}={one['setting']}` | {one['players']} | {100 / one['players']:.1f} | `{one['opponent']}` | "
            f"{_percent(one)} |"
            for one in options
        ]
    lines += [
        "",
        "## Exploitability",
        "",
        (
            f"What one responder gains who knows the agent ([Exploitability](exploitability.md)), {card['worlds']} worlds: "
            "a lower bound on a best response."
        ),
        "",
        "| players | points a round | win share a game, % |",
        "| --- | ---: | ---: |",
    ]
    lines += [f"| {table['players']} | {' | '.join(_exploited(table))} |" for table in tables]
    lines += [
        "",
        "## Limits",
        "",
        "- It plays pure strategies: the same view gives the same choice (`temperature` draws among them).",
        "- It does not look at how others played in earlier rounds, and does not adapt to them.",
        (
            "- Options beside those above are refused by name; several that differ from the rule set at once were never "
            "trained together. Under variants, too, outcomes are valued by the winning chances of the rule set itself."
        ),
        "",
        f"Measured by `{command}`, {card['date']}, {card['machine']}.",
        "",
    ]
    return "\n".join(lines)
