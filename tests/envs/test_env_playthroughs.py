"""One stored game a rule set, with everything the environment answered, so that a change shows as a readable difference."""

from __future__ import annotations

import pytest

from playthrough import FOLDER, GAMES, playthrough
from prial.envs.crash.presets import preset_names


@pytest.mark.parametrize("name", GAMES)
def test_the_stored_game_is_played_again(name: str) -> None:
    options, seed = GAMES[name]
    stored = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    played = playthrough(options, seed)
    # Line by line, so that the first difference is what a failure shows.
    for number, (now, then) in enumerate(zip(played.splitlines(), stored.splitlines(), strict=False), start=1):
        assert now == then, f"line {number} of {name}.txt; if this is meant, run python tests/playthrough.py"
    assert played == stored


def test_every_rule_set_has_one_and_no_file_is_left_over() -> None:
    assert {options["rules"] for options, _ in GAMES.values()} == set(preset_names())
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(GAMES)
