"""The table as text: complete, plain, pasteable into a bug report."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from prial.envs import crash_v0
from prial.envs.cards import format_cards, parse_cards
from prial.envs.crash.arrangement import Arrangement
from prial.envs.crash.events import Reveal
from prial.envs.crash.game import Game
from prial.envs.crash.render import format_round, print_text, render_table, split_rounds
from prial.envs.crash.rules import CrashRules
from tables import TABLES, step_random


def _won_game() -> Game:
    """A game of two players that ends in its first round, after an exchange and calls."""
    rules = CrashRules.preset("traditional", players=2, crash_call="optional", cards_dealt=6, target=5, quads_bonus=1)
    game = Game.from_deal(
        rules,
        ["2s 3d 5h 7c 9s Jd", "Ks Kd Kh Kc 2c 2d"],
        spares=["4s 4d 6h 8c Ts Qd", "3s 3h Ah Ad 6s 9c"],
        dealer=1,
        scores=[0, 4],
    )
    layout = game.layout
    game.step(layout.exchange, 0)
    game.step(layout.keep, 1)
    game.step(Arrangement.parse("4s 4d Qd").index(game.hands[0], rules), 0)
    game.step(Arrangement.parse("Ks Kd Kh | 2c 2d Kc").index(game.hands[1], rules), 1)
    game.step(layout.pass_, 0)
    game.step(layout.call, 1)
    return game


EXPECTED = """\
Crash (traditional): 2 players, target 5, round 1, game over
  player_0: 0 points
    cards     Qd Ts 8c 6h 4d 4s
    given up  Jd 9s 7c 5h 3d 2s
    laid      Qd 4s 4d / Ts 8c 6h
    chose     exchange, pass
  player_1: 5 points, dealer
    cards     Ks Kh Kd Kc 2d 2c
    laid      Ks Kh Kd | Kc 2d 2c
    chose     keep, call
  spare hand 1: Qd Ts 8c 6h 4d 4s
  spare hand 2: Ad Ah 9c 6s 3h 3s

Round 1, dealt by player_1, scores 0 - 4
  player_0 exchanges
  player_1 keeps
  player_0 lays Qd 4s 4d / Ts 8c 6h
  player_1 lays Ks Kh Kd | Kc 2d 2c
  player_0 passes
  player_1 calls a crash
  Hand 1   player_0  Qd 4s 4d  pair of 4s with Q
         * player_1  Ks Kh Kd  prial of Ks
  Scores: player_0 0, player_1 5
  player_1 wins the game (target)"""


def _sorted_cards(text: str) -> str:
    """Cards of equal rank in any order of suits are the same text."""
    return "\n".join(" ".join(sorted(line.split())) for line in text.splitlines())


def test_a_whole_table_as_text() -> None:
    text = render_table(_won_game())
    assert _sorted_cards(text) == _sorted_cards(EXPECTED)
    assert text.isascii()


def test_symbols_are_for_those_who_can_see_them() -> None:
    game = _won_game()
    text = render_table(game, symbols=True)
    assert "Q♦ 10♠ 8♣" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("encoding", "symbols"), [("utf-8", True), ("ascii", False), ("cp1252", False), ("cp437", False)]
)
def test_old_consoles_get_plain_text(encoding: str, symbols: bool) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="")
    print_text("A♠", plain="As", stream=stream)
    assert raw.getvalue().decode(encoding) == ("A♠\n" if symbols else "As\n")


def test_human_prints_every_step_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    env = crash_v0.env("online", players=2, render_mode="human", target=1)
    env.reset(seed=0)
    first = capsys.readouterr().out
    assert first.startswith("Crash (online): 2 players, target 1, round 1, arrange phase")
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    assert "laid" in capsys.readouterr().out
    assert env.render() is None
    parallel = crash_v0.parallel_env("online", players=2, render_mode="human")
    parallel.reset(seed=0)
    capsys.readouterr()
    parallel.step({f"player_{seat}": int(parallel.game.undominated(seat).partitions[0]) for seat in (0, 1)})
    assert "Round 1, dealt by" in capsys.readouterr().out


def test_ansi_returns_text_and_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    env = crash_v0.env(render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == render_table(env.unwrapped.game)
    assert not capsys.readouterr().out


def test_without_a_mode_rendering_says_so() -> None:
    env = crash_v0.raw_env()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert env.render() is None


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_every_card_and_choice_is_shown_in_every_phase(rules: CrashRules) -> None:
    env = crash_v0.raw_env(rules, reward="points", render_mode="ansi")
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(20):
        text: Any = env.render()
        for pile in (*env.game.hands, *env.game.spares):
            assert format_cards(reversed(pile)) in text
        for seat in range(rules.players):
            laid = env.game.arrangement(seat)
            assert laid is None or str(laid) in text or laid.hands == ()
        assert ("game over" in text) == env.game.is_over
        assert text.isascii()
        if env.game.is_over:
            break
        step_random(env, rng)


def test_a_round_told_from_events_alone() -> None:
    game = _won_game()
    (events,) = split_rounds(game.events)
    told = format_round(events, rules=game.rules, names=["Ann", "Bo"], symbols=True)
    assert told.startswith("Round 1, dealt by Bo, scores 0 - 4\n  Ann exchanges")
    assert "* Bo   K♠ K♥ K♦  prial of Ks" in told
    assert told.endswith("Bo wins the game (target)")
    with pytest.raises(ValueError, match="expected 2 names, one a seat, got 1"):
        format_round(events, rules=game.rules, names=["Ann"])


def test_a_finished_game_tells_every_round() -> None:
    env = crash_v0.raw_env("bga")
    env.reset(seed=5)
    rng = np.random.default_rng(0)
    while not env.game.is_over:
        step_random(env, rng)
    rounds = split_rounds(env.game.events)
    assert len(rounds) == env.game.rounds_played + 1
    for number, events in enumerate(rounds, start=1):
        told = format_round(events, rules=env.rules)
        assert told.startswith(f"Round {number}, ")
        assert told.count("player_0 lays") == 1
        shown = sum(isinstance(event, Reveal) for event in events)
        assert [f"Hand {i}" in told for i in range(1, 5)] == [i <= shown for i in range(1, 5)]
        for line in told.splitlines():
            if " lays " in line:
                parse_cards(line.split(" lays ")[1].replace("|", " ").replace("/", " ").replace("nothing", ""))


def test_nobody_scores_a_tie_and_nothing_laid_is_said() -> None:
    rules = CrashRules.preset("online", players=2, cards_dealt=6, quads_bonus=0)
    game = Game.from_deal(rules, ["As Ad Kc 2s 2d 4c", "Ah Ac Kd 3s 5d 9c"], dealer=1)
    game.step(Arrangement.parse("As Ad Kc | 2s 2d 4c").index(game.hands[0], rules), 0)
    game.step(Arrangement.parse("Ah Ac Kd").index(game.hands[1], rules), 1)
    told = format_round(split_rounds(game.events)[0], rules=rules)
    hand_1, hand_2 = told.split("Hand 1")[1].split("Hand 2")
    assert "nobody scores" in hand_1
    assert "*" not in hand_1
    assert "* player_0" in hand_2
    assert "nothing" in hand_2
