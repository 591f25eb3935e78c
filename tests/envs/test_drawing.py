"""Pictures as SVG: cards, arrangements and rounds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as ET

import pytest

from picture_samples import FOLDER, samples, short_game, tied_game
from prial.envs.card_picture import SUIT_OUTLINES, SuitColours, card_back, card_picture
from prial.envs.cards import Card, CardError
from prial.envs.crash.arrangement import Arrangement
from prial.envs.crash.render import last_round, split_rounds
from prial.envs.crash.round_picture import round_picture
from prial.envs.hands_picture import hands_picture
from prial.envs.picture import Group, Outline, Picture, Shape, Text

SVG = "{http://www.w3.org/2000/svg}"


def _flat(shapes: Sequence[Shape]) -> Iterator[Shape]:
    for shape in shapes:
        if isinstance(shape, Group):
            yield from _flat(shape.shapes)
        else:
            yield shape


def _texts(picture: Picture) -> list[str]:
    """Return the texts that stand beside the cards."""
    return [shape.text for shape in picture.shapes if isinstance(shape, Text)]


def _groups(picture: Picture) -> list[str]:
    return [shape.title for shape in picture.shapes if isinstance(shape, Group)]


@pytest.mark.parametrize("name", samples())
def test_pictures_are_those_on_file(name: str) -> None:
    kept = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert samples()[name].svg() == kept, "if it should change: python tests/picture_samples.py, and look at it"


def test_every_file_is_a_sample() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(samples())


@pytest.mark.parametrize("picture", samples().values(), ids=samples())
def test_pictures_are_well_formed_and_need_nothing_else(picture: Picture) -> None:
    text = picture.svg()
    root = ET.fromstring(text)  # noqa: S314 (our own text)
    assert root.tag == f"{SVG}svg"
    assert root.attrib["viewBox"] == f"0 0 {picture.width} {picture.height}"
    assert root.find(f"{SVG}title").text == picture.title  # type: ignore[union-attr]
    # No references, so that many pictures in one page do not disturb each other.
    assert not {"href", "id", "class", "style"} & {key for element in root.iter() for key in element.attrib}
    assert picture._repr_svg_() == text


def test_suits_are_shapes_of_their_own_not_characters() -> None:
    drawn = []
    for suit in "cdhs":
        picture = card_picture(f"A{suit}")
        assert picture.svg().isascii()
        (outline,) = (shape for shape in picture.shapes if isinstance(shape, Outline))
        drawn.append(outline.contours)
    assert tuple(drawn) == SUIT_OUTLINES
    assert len(set(drawn)) == 4


def test_contours_turn_the_same_way_so_that_overlaps_leave_no_holes() -> None:
    for outline in SUIT_OUTLINES:
        for contour in outline:
            points = [piece[-1] for piece in contour]
            pairs = zip(points, points[1:] + points[:1], strict=True)
            assert sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairs) > 0
            assert all(0 <= value <= 1 for piece in contour for point in piece for value in point)


@pytest.mark.parametrize(("colours", "inks"), [("two", 2), ("four", 4)])
def test_colours_of_suits(colours: SuitColours, inks: int) -> None:
    fills = {
        shape.fill
        for card in ("Ac", "Ad", "Ah", "As")
        for shape in card_picture(card, colours=colours).shapes
        if isinstance(shape, Outline)
    }
    assert len(fills) == inks


def test_a_ten_is_written_out() -> None:
    assert _texts(card_picture("Td")) == ["1", "0"]
    assert _texts(card_picture(Card.from_text("9c"))) == ["9"]


def test_what_is_no_card_is_refused() -> None:
    with pytest.raises(CardError, match="expected 1 cards, got 2"):
        card_picture("As Ad")
    with pytest.raises(ValueError, match=r"width=10: expected at least 20"):
        card_picture("As", width=10)


def test_a_back_says_nothing_of_the_card() -> None:
    assert card_back(0, 0, width=40).title == "face down"


# ---- arrangements ---------------------------------------------------------------------------------------------------


def test_an_arrangement_shows_itself_in_a_notebook() -> None:
    laid = Arrangement.parse("Ks Kd 9c | 8s 8h 2c / Ah")
    assert laid._repr_svg_() == hands_picture(laid.hands, laid.spare).svg()
    picture = hands_picture(laid.hands, laid.spare)
    assert picture.title == str(laid)
    assert _groups(picture) == str(laid).replace("|", "").replace("/", "").split()
    assert _texts(picture) == ["Hand 1", "pair", "Hand 2", "pair", "Spare"]


def test_spare_cards_are_dimmed_in_ink_and_ground() -> None:
    faces = [
        {shape.fill for shape in _flat(group.shapes) if not isinstance(shape, Text)}
        for group in hands_picture([[Card(51)]], [Card(51)]).shapes
        if isinstance(group, Group)
    ]
    assert len(faces) == 2
    assert not faces[0] & faces[1]


def test_an_arrangement_of_any_kind_can_be_shown() -> None:
    assert _texts(hands_picture([])) == ["nothing laid"]
    assert hands_picture([]).title == "nothing laid"
    assert _texts(hands_picture([[Card(0)], [Card(4), Card(8)]])) == ["Hand 1", "Hand 2"]
    assert hands_picture((), [Card(0)]).title == " / 2c"


def test_drawing_loads_when_asked_for() -> None:
    program = (
        "import sys\nfrom prial.envs import crash_v0\nfrom prial.envs.crash.arrangement import Arrangement\n"
        "drawing = ('prial.envs.picture', 'prial.envs.hands_picture', 'prial.envs.crash.table_picture', 'PIL')\n"
        "print(*[m for m in drawing if m in sys.modules])\n"
        "Arrangement.parse('Ks Kd 9c')._repr_svg_()\n"
        "print(*[m for m in drawing if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["", "prial.envs.picture prial.envs.hands_picture"]


# ---- rounds ---------------------------------------------------------------------------------------------------------


def test_a_round_says_who_won_what() -> None:
    game = short_game()
    picture = round_picture(last_round(game), rules=game.rules)
    assert picture.title == "Round 1; player_0 0; player_1 9"
    texts = _texts(picture)
    assert texts[:4] == ["Round 1", "Hand 1", "Hand 2", "Score"]
    assert texts[4:] == [
        *("player_0", "exchanges, calls a crash", "call penalty", "pair of 4s with Q", "nothing laid", "0", "+0"),
        *("player_1", "dealer, keeps", "calls a crash, crash +1", "call bonus +1, quads +1"),
        *("prial of Ks", "+1", "pair of 2s with K", "+1", "9", "+5"),
    ]
    assert _groups(picture) == ["Qd", "4s", "4d", "Ks", "Kh", "Kd", "Kc", "2d", "2c"]


def test_what_was_not_compared_stays_face_down() -> None:
    game = tied_game()
    picture = round_picture(last_round(game), rules=game.rules)
    texts = _texts(picture)
    assert "player_2 wins the game (target)" in texts
    assert texts.count("not compared") == 2
    assert _groups(picture).count("face down") == 3 * 3 * 2
    assert not {"Qs", "5d"} & set(_groups(picture))


def test_ties_and_hands_that_nobody_laid_are_told_apart() -> None:
    game = tied_game()
    rules = game.rules.replace(target=7, cards_dealt=9)
    again = type(game).from_deal(rules, game.hands, dealer=2, scores=[0, 0, 0])
    for seat, text in enumerate(("Ks Kd 2h | Qs Qd 4h", "Kh Kc 2d | Qh Qc 4c", "5d 5c 8d | Td Tc 8h")):
        order = text if seat < 2 else "Td Tc 8h | 5d 5c 8d"
        again.step(Arrangement.parse(order).index(again.hands[seat], rules), seat)
    texts = _texts(round_picture(split_rounds(again.events)[0], rules=rules))
    assert texts.count("tie") == 2
    assert texts.count("=") == 4
    assert texts.count("not laid") == 1
    assert texts.count("nothing laid") == 3


def test_a_round_under_way_shows_no_cards() -> None:
    game = short_game()
    picture = round_picture(split_rounds(game.events)[-1], rules=game.rules)
    assert set(_groups(picture)) == {"face down"}
    assert "Round 2" in _texts(picture)


def test_names_are_text_however_odd() -> None:
    game = short_game()
    names = ["</text><script>", "Zo\u00eb \x00\ud800 of a very long name indeed"]
    text = round_picture(last_round(game), rules=game.rules, names=names).svg()
    ET.fromstring(text)  # noqa: S314 (our own text)
    assert "<script" not in text
    assert "Zo\u00eb \ufffd\ufffd of a very\u2026" in text


def test_a_round_that_is_none_is_refused() -> None:
    game = short_game()
    with pytest.raises(ValueError, match="expected 2 names, one a seat, got 1"):
        round_picture(last_round(game), rules=game.rules, names=["Ada"])
    for events in ((), game.events, last_round(game)[1:]):
        with pytest.raises(ValueError, match="expected the events of one round, its deal first"):
            round_picture(events, rules=game.rules)
