"""The table drawn: `render_mode="rgb_array"` of all environments, with and without Pillow."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import render_test

from picture_samples import short_game
from prial.agents import SingleSeat
from prial.envs import crash_v0
from prial.envs.cards import Card
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.render import last_round
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.table_picture import table_picture, table_size
from prial.envs.picture import Box, Group, Outline, Picture, Shape, Text
from tables import TABLES, step_random


def _frame(image: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
    assert isinstance(image, np.ndarray)
    assert image.dtype == np.uint8
    assert image.ndim == 3
    assert image.shape[2] == 3
    return image


def _positions(rules: CrashRules, steps: int) -> Iterator[Game]:
    """A game as it stands before each of some decisions, the end included."""
    env = crash_v0.raw_env(rules, reward="points")
    rng = np.random.default_rng(0)
    env.reset(seed=1)
    for _ in range(steps):
        yield env.game
        if env.game.is_over:
            return
        step_random(env, rng)


def _cards(picture: Picture) -> list[tuple[str, Box]]:
    """Return every card and where it lies."""
    found = []
    for shape in picture.shapes:
        if isinstance(shape, Group):
            ground = shape.shapes[0]
            assert isinstance(ground, Box)
            found.append((shape.title, ground))
    return found


def _inside(picture: Picture, shape: Shape) -> bool:
    if isinstance(shape, Group):
        return all(_inside(picture, one) for one in shape.shapes)
    width, height = (shape.width, shape.height) if isinstance(shape, Box) else (0.0, 0.0)
    if isinstance(shape, Outline):
        width = height = shape.size
    return 0 <= shape.x <= picture.width - width and 0 <= shape.y <= picture.height - height


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_everything_is_shown_inside_the_picture_and_no_card_covers_another(rules: CrashRules) -> None:
    for game in _positions(rules, steps=14):
        picture = table_picture(game)
        assert (picture.width, picture.height) == table_size(rules)
        assert all(_inside(picture, shape) for shape in picture.shapes)
        cards = _cards(picture)
        for i, (_, one) in enumerate(cards):
            for _, other in cards[:i]:
                apart_x = one.x + one.width <= other.x or other.x + other.width <= one.x
                assert apart_x or one.y + one.height <= other.y or other.y + other.height <= one.y
        shown = {title for title, _ in cards}
        piles = (*game.hands, *game.spares, *filter(None, game.given_up))
        assert shown >= {str(Card(i)) for pile in piles for i in pile}


def test_texts_fit_their_places() -> None:
    pytest.importorskip("PIL")
    from PIL import ImageFont

    for rules in TABLES.values():
        for game in _positions(rules, steps=14):
            picture = table_picture(game)
            left_of_hands = min(box.x for _, box in _cards(picture)) - 7
            for shape in picture.shapes:
                if not isinstance(shape, Text) or shape.anchor != "start":
                    continue
                end = shape.x + ImageFont.load_default(shape.size).getlength(shape.text)
                assert end <= picture.width
                if shape.x == 44:  # names and notes, left of the hands
                    assert end <= left_of_hands


def test_who_is_to_act_and_what_was_chosen_is_written() -> None:
    game = short_game()
    texts = [shape.text for shape in table_picture(game).shapes if isinstance(shape, Text)]
    assert texts[:2] == ["Crash (traditional)", "2 players, target 15, round 2, exchange phase"]
    assert "dealer, to act" in texts
    assert "spare, for player_0" in texts
    game.step(game.layout.exchange, 1)
    texts = [shape.text for shape in table_picture(game).shapes if isinstance(shape, Text)]
    assert "given up by player_1" in texts
    assert "spare, for player_0" in texts


def test_the_one_spare_hand_of_three_players() -> None:
    game = Game(CrashRules.preset("bga"), seed=0)
    texts = [shape.text for shape in table_picture(game).shapes if isinstance(shape, Text)]
    assert "spare hand" in texts
    first = game.pending[0]
    game.step(game.layout.keep)
    game.step(game.layout.exchange)
    assert game.phase is Phase.ARRANGE
    texts = [shape.text for shape in table_picture(game).shapes if isinstance(shape, Text)]
    assert f"given up by player_{(first + 1) % 3}" in texts


def test_before_the_first_reveal_its_place_is_empty() -> None:
    game = Game(CrashRules.preset("online"), seed=0)
    assert not last_round(game)
    texts = [shape.text for shape in table_picture(game).shapes if isinstance(shape, Text)]
    assert "No round has been compared yet" in texts


# ---- environments ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", TABLES.values(), ids=TABLES)
def test_frames_have_one_size_from_reset_to_the_end(rules: CrashRules) -> None:
    pytest.importorskip("PIL")
    env = crash_v0.env(rules, reward="points", render_mode="rgb_array")
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    width, height = table_size(rules)
    frames = []
    while env.agents and len(frames) < 12:
        frames.append(_frame(env.render()))
        if any(env.terminations.values()) or any(env.truncations.values()):
            break
        step_random(env, rng)
    assert {frame.shape for frame in frames} == {(height, width, 3)}
    assert height % 16 == width % 16 == 0  # what video encoders want
    assert all((a != b).any() for a, b in itertools.pairwise(frames))


def test_the_same_table_is_the_same_frame() -> None:
    pytest.importorskip("PIL")
    env = crash_v0.raw_env("online", render_mode="rgb_array")
    env.reset(seed=0)
    assert np.array_equal(_frame(env.render()), _frame(env.render()))
    assert np.array_equal(_frame(env.render()), table_picture(env.game).pixels())
    _frame(env.render())[:] = 0  # the caller's own
    assert _frame(env.render()).any()


def test_the_end_shows_the_reveal() -> None:
    pytest.importorskip("PIL")
    env = crash_v0.parallel_env("online", players=2, target=1, render_mode="rgb_array")
    env.reset(seed=0)
    before = _frame(env.render())
    env.step({f"player_{seat}": int(env.game.undominated(seat).partitions[0]) for seat in (0, 1)})
    assert not env.agents
    after = _frame(env.render())
    assert after.shape == before.shape
    texts = [shape.text for shape in table_picture(env.game).shapes if isinstance(shape, Text)]
    assert any("the game (target)" in text for text in texts)


def test_drawing_before_reset_is_refused() -> None:
    for env in (
        crash_v0.env(render_mode="rgb_array"),
        crash_v0.raw_env(render_mode="rgb_array"),
        crash_v0.parallel_env(render_mode="rgb_array"),
        SingleSeat(render_mode="rgb_array"),
    ):
        with pytest.raises(RuntimeError, match=r"reset\(\)"):
            env.render()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pettingzoos_render_test(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("PIL")
    render_test(lambda render_mode: crash_v0.env("online", players=2, target=1, render_mode=render_mode))
    assert "Crash (online)" in capsys.readouterr().out


def test_a_single_seat_is_drawn() -> None:
    pytest.importorskip("PIL")
    env = gymnasium.wrappers.RenderCollection(gymnasium.make("prial/Crash-v0", target=2, render_mode="rgb_array"))
    env.reset(seed=0)
    over = False
    while not over:
        mask = env.get_wrapper_attr("action_masks")()
        _, _, terminated, truncated, _ = env.step(int(np.flatnonzero(mask)[0]))
        over = terminated or truncated
    frames = env.render()
    width, height = table_size(CrashRules.preset("online", target=2))
    assert {_frame(frame).shape for frame in frames} == {(height, width, 3)}
    assert len(frames) > 1


def test_a_single_seat_as_text_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    env = SingleSeat(render_mode="ansi")
    env.reset(seed=0)
    assert "Crash (online): 3 players" in str(env.render())
    assert not capsys.readouterr().out
    env = SingleSeat(render_mode="human")
    env.reset(seed=0)
    assert capsys.readouterr().out.startswith("Crash (online): 3 players")
    env.step(0)
    assert "Round 1" in capsys.readouterr().out
    env = SingleSeat()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert env.render() is None


def test_vectors_are_drawn() -> None:
    pytest.importorskip("PIL")
    made = gymnasium.make_vec("prial/Crash-v0", num_envs=2, vectorization_mode="sync", render_mode="rgb_array")
    made.reset(seed=0)
    frames = made.render()
    assert frames is not None
    assert len(frames) == 2
    assert _frame(frames[0]).shape == _frame(frames[1]).shape
    made.close()


# ---- without Pillow -------------------------------------------------------------------------------------------------


@pytest.fixture
def no_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if Pillow were not installed."""
    import_module = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "PIL":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return import_module(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)


@pytest.mark.usefixtures("no_pillow")
def test_without_pillow_only_drawing_fails_and_names_the_extra() -> None:
    message = r"^drawing pixels \(render_mode='rgb_array'\) needs Pillow: pip install 'prial\[render\]'$"
    single = gymnasium.make("prial/Crash-v0", render_mode="rgb_array")
    single.reset(seed=0)
    single.step(0)
    with pytest.raises(ModuleNotFoundError, match=message):
        single.render()
    env = crash_v0.env(render_mode="rgb_array")
    env.reset(seed=0)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    with pytest.raises(ModuleNotFoundError, match=message):
        env.render()
    parallel = crash_v0.parallel_env(render_mode="rgb_array")
    parallel.reset(seed=0)
    with pytest.raises(ModuleNotFoundError, match=message):
        parallel.render()


@pytest.mark.usefixtures("no_pillow")
def test_without_pillow_svg_and_text_work() -> None:
    assert table_picture(short_game()).svg().startswith("<svg")
    env = crash_v0.env(render_mode="ansi")
    env.reset(seed=0)
    assert "Crash" in str(env.render())


@pytest.mark.usefixtures("no_pillow")
def test_vectors_without_pillow_play() -> None:
    made = gymnasium.make_vec("prial/Crash-v0", num_envs=2, vectorization_mode="sync", render_mode="rgb_array")
    made.reset(seed=0)
    made.step(np.zeros(2, np.int64))
    made.close()
