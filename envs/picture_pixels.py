"""Pictures as pixels, drawn with Pillow (the extra `render`), which is imported when something is drawn.

Outlines and boxes are drawn large and made smaller, which smooths their edges. Text is in the font that comes with Pillow,
which has little beyond ASCII.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .picture import Box, Contour, Outline, Picture, Shape, Text

if TYPE_CHECKING:
    from PIL import Image, ImageFont

__all__ = ["draw"]

_LARGER = 6
_STEPS = 10  # straight lines for each cubic
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def draw(picture: Picture) -> npt.NDArray[np.uint8]:
    """Return a picture as pixels on white: uint8 (height, width, 3).

    Raises:
        ModuleNotFoundError: Pillow is not installed; the message names the extra.
    """
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "drawing pixels (render_mode='rgb_array') needs Pillow: pip install 'prial[render]'", name="PIL"
        ) from None
    image = Image.new("RGB", (picture.width, picture.height), "#ffffff")
    _draw_all(image, picture.shapes)
    return np.array(image, np.uint8)


def _draw_all(image: Image.Image, shapes: Iterable[Shape]) -> None:
    for shape in shapes:
        if isinstance(shape, Box):
            _draw_box(image, shape)
        elif isinstance(shape, Outline):
            left, top = math.floor(shape.x), math.floor(shape.y)
            mask = _outline_mask(shape.contours, shape.x - left, shape.y - top, shape.size)
            image.paste(shape.fill, (left, top), mask)
        elif isinstance(shape, Text):
            _draw_text(image, shape)
        else:
            _draw_all(image, shape.shapes)


def _draw_box(image: Image.Image, box: Box) -> None:
    left, top = math.floor(box.x), math.floor(box.y)
    at = (box.x - left, box.y - top)
    if box.edge is not None:
        image.paste(box.edge, (left, top), _box_mask(*at, box.width, box.height, box.radius, 0.0))
    inset = 0.0 if box.edge is None else box.edge_width
    image.paste(box.fill, (left, top), _box_mask(*at, box.width, box.height, box.radius, inset))


@lru_cache(maxsize=256)
def _box_mask(x: float, y: float, width: float, height: float, radius: float, inset: float) -> Image.Image:
    """Return how far a rounded rectangle covers each pixel; `x` and `y` lie within the first one."""
    from PIL import Image, ImageDraw

    size = (math.ceil(x + width), math.ceil(y + height))
    large = Image.new("L", (size[0] * _LARGER, size[1] * _LARGER))
    # Pillow counts the last pixel in.
    corners = [
        round((x + inset) * _LARGER),
        round((y + inset) * _LARGER),
        round((x + width - inset) * _LARGER) - 1,
        round((y + height - inset) * _LARGER) - 1,
    ]
    ImageDraw.Draw(large).rounded_rectangle(corners, radius=max(radius - inset, 0) * _LARGER, fill=255)
    return large.reduce(_LARGER)


@lru_cache(maxsize=256)
def _outline_mask(contours: tuple[Contour, ...], x: float, y: float, size: float) -> Image.Image:
    from PIL import Image, ImageDraw

    large = Image.new("L", (math.ceil(x + size) * _LARGER, math.ceil(y + size) * _LARGER))
    pen = ImageDraw.Draw(large)
    for contour in contours:
        points = [((x + size * px) * _LARGER, (y + size * py) * _LARGER) for px, py in _flattened(contour)]
        pen.polygon(points, fill=255)
    return large.reduce(_LARGER)


def _flattened(contour: Contour) -> list[tuple[float, float]]:
    """Return the corners of a contour, its cubics as straight lines."""
    points = [contour[0][0]]
    for piece in contour[1:]:
        if len(piece) == 1:
            points.append(piece[0])
            continue
        line = np.array([points[-1], *piece])
        for t in np.linspace(0, 1, _STEPS + 1)[1:].tolist():
            weights = np.array([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3])
            x, y = (weights @ line).tolist()
            points.append((x, y))
    return points


@lru_cache(maxsize=32)
def _font(size: float) -> ImageFont.FreeTypeFont:
    from PIL import ImageFont

    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)  # because a size was asked for
    return font


def _draw_text(image: Image.Image, text: Text) -> None:
    from PIL import ImageDraw

    pen = ImageDraw.Draw(image)
    # The font has no bold face: a second print beside the first thickens it.
    for shift in (0.0, text.size / 28) if text.bold else (0.0,):
        pen.text((text.x + shift, text.y), text.text, text.fill, _font(text.size), anchor=_ANCHORS[text.anchor])
