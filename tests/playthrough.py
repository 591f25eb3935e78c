"""Playthroughs: one short random game a table, with what the environment answers on the way, as text files.

``python tests/playthrough.py`` writes them anew; read the difference before it is committed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from prial.envs import crash_v0
from prial.envs.crash.observation import observation_layout
from prial.envs.crash.render import format_round, split_rounds
from prial.envs.crash.rules import CrashRules
from tables import choose_by_view

FOLDER = Path(__file__).parent / "playthroughs"
# A name, the options and the seed of each.
GAMES: dict[str, tuple[dict[str, Any], int]] = {
    "online": ({"rules": "online", "target": 4}, 1),
    "online-legal": ({"rules": "online", "players": 2, "target": 2, "mask": "legal", "reward": "points"}, 2),
    "bga": ({"rules": "bga", "target": 3}, 3),
    "bga-two-players": ({"rules": "bga", "players": 2, "target": 3, "reward": "points"}, 4),
    "bga-five-players": ({"rules": "bga", "players": 5, "target": 3}, 5),
    "traditional": ({"rules": "traditional", "target": 3}, 6),
    "traditional-calls": ({"rules": "traditional", "players": 2, "target": 4, "crash_call": "required"}, 7),
    "one-round": (
        {"rules": "traditional", "players": 3, "reward": "points", "episode": "round", "scores": [1, 2, 3]},
        8,
    ),
    "cut-off": ({"rules": "online", "target": 100, "max_rounds": 2, "crash_reward": 0}, 9),
}


def _digest(array: np.ndarray) -> str:
    return f"{zlib.crc32(array.tobytes()):08x}"


def _told(rules: CrashRules, observation: np.ndarray) -> Iterator[str]:
    """The parts of an observation that are not 0; cards by number."""
    start = 0
    for piece in observation_layout(rules):
        part = observation[start : start + piece.size]
        start += piece.size
        if not part.any():
            continue
        if piece.shape[-1] == 52:
            yield f"{piece.name} {' '.join(map(str, np.flatnonzero(part).tolist()))}"
        else:
            yield f"{piece.name} {' '.join(f'{value:g}' for value in part.tolist())}"


def playthrough(options: dict[str, Any], seed: int) -> str:
    """Return one game as text; each action follows from the view of who takes it."""
    env = crash_v0.raw_env(**options)
    env.reset(seed=seed)
    lines = [f"options: {options}", f"seed: {seed}", f"rules: {env.rules.to_dict()}"]
    lines += [
        f"actions: {env.action_space('player_0')}",
        f"observation: {env.observation_space('player_0')['observation'].shape}",
    ]
    lines += [f"state: {env.state_space.shape}"]
    finished = 0
    while env.agents:
        agent = env.agent_selection
        observation, reward, terminated, truncated, info = env.last()
        mask = observation["action_mask"]
        lines += [
            "",
            f"{agent}: {env.game.phase.label} phase, pending {env.game.pending}, reward {reward:g}, info {info}",
        ]
        lines += [f"  {part}" for part in _told(env.rules, observation["observation"])]
        lines.append(f"  observation {_digest(observation['observation'])}, state {_digest(env.state())}")
        if terminated or truncated:
            lines.append(f"  terminated {terminated}, truncated {truncated}")
            env.step(None)
            continue
        legal = np.flatnonzero(mask)
        action = choose_by_view(env.view(agent), mask)
        lines.append(f"  {len(legal)} legal, mask {_digest(mask)}")
        lines.append(f"  takes {action}, {env.layout.describe(action)}")
        env.step(action)
        rounds = [
            events for events in split_rounds(env.game.events) if "Scores" in format_round(events, rules=env.rules)
        ]
        if len(rounds) > finished:
            finished = len(rounds)
            lines += ["", format_round(rounds[-1], rules=env.rules), f"  rewards {env.rewards}"]
    return "\n".join([*lines, "", f"result: {env.game.result}"]) + "\n"


def main() -> None:
    """Write every playthrough anew."""
    FOLDER.mkdir(exist_ok=True)
    for name, (options, seed) in GAMES.items():
        (FOLDER / f"{name}.txt").write_text(playthrough(options, seed), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
