"""Pictures: boxes, outlines and text at fixed places, written as SVG (standard library alone) or drawn as pixels.

A picture says once where everything goes; `Picture.svg` and `Picture.pixels` are two ways to look at it. The same picture
is always the same text. Notebooks show it by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Box", "Contour", "Group", "Outline", "Picture", "Shape", "Text", "circle", "mixed", "polygon"]

Point: TypeAlias = tuple[float, float]
Contour: TypeAlias = tuple[tuple[Point, ...], ...]
"""A closed line: the starting point, then for each piece its end (a straight line) or two controls and its end (a cubic)."""

FONTS = "Helvetica, Arial, sans-serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle; colours are ``#rrggbb``. The edge lies inside it."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    radius: float = 0.0
    edge: str | None = None
    edge_width: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """Contours filled together, given in a unit square that is drawn `size` wide and high."""

    contours: tuple[Contour, ...]
    x: float
    y: float
    size: float
    fill: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A line of text; `y` is its base line, `size` its em in pixels."""

    text: str
    x: float
    y: float
    size: float
    fill: str
    bold: bool = False
    anchor: Literal["start", "middle", "end"] = "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Shapes that are one thing, with its name for screen readers and pointers."""

    title: str
    shapes: tuple[Box | Outline | Text, ...]


Shape: TypeAlias = Box | Outline | Text | Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture: its size in pixels, its content in words, and what is drawn, from back to front.

    >>> square = Picture(width=8, height=8, title="a square", shapes=(Box(x=2, y=2, width=4, height=4, fill="#000000"),))
    >>> square.svg().splitlines()[2]
    '<rect x="2" y="2" width="4" height="4" fill="#000000"/>'
    """

    width: int
    height: int
    title: str
    shapes: tuple[Shape, ...]

    def svg(self) -> str:
        """Return the picture as SVG: one element a line, the same text every time."""
        width, height = self.width, self.height
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" font-family="{FONTS}">'
        )
        lines = [head, f"<title>{_escaped(self.title)}</title>", *_elements(self.shapes), "</svg>"]
        return "\n".join(lines) + "\n"

    def pixels(self) -> npt.NDArray[np.uint8]:
        """Return the picture as pixels on white: uint8 (height, width, 3). Needs the extra `render`.

        Raises:
            ModuleNotFoundError: Pillow is not installed; the message names the extra.
        """
        from .picture_pixels import draw

        return draw(self)

    def _repr_svg_(self) -> str:
        return self.svg()


def circle(x: float, y: float, radius: float) -> Contour:
    """Return a circle of four cubics."""
    k = 0.5523 * radius
    r = radius
    return (
        ((x + r, y),),
        ((x + r, y + k), (x + k, y + r), (x, y + r)),
        ((x - k, y + r), (x - r, y + k), (x - r, y)),
        ((x - r, y - k), (x - k, y - r), (x, y - r)),
        ((x + k, y - r), (x + r, y - k), (x + r, y)),
    )


def polygon(*corners: Point) -> Contour:
    """Return straight lines from corner to corner."""
    return tuple((corner,) for corner in corners)


def mixed(first: str, second: str, share: float) -> str:
    """Return a colour between two: `share` of the second.

    >>> mixed("#000000", "#ffffff", 0.5)
    '#808080'
    """
    pairs = zip(bytes.fromhex(first[1:]), bytes.fromhex(second[1:]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _elements(shapes: Iterable[Shape]) -> list[str]:
    lines: list[str] = []
    for shape in shapes:
        if isinstance(shape, Box):
            lines.append(_rect(shape))
        elif isinstance(shape, Outline):
            lines.append(f'<path d="{_path(shape)}" fill="{shape.fill}"/>')
        elif isinstance(shape, Text):
            lines.append(_text(shape))
        else:
            lines += ["<g>", f"<title>{_escaped(shape.title)}</title>", *_elements(shape.shapes), "</g>"]
    return lines


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _rect(box: Box) -> str:
    # SVG draws half of an edge outside.
    inset = 0.0 if box.edge is None else box.edge_width / 2
    values = {
        "x": box.x + inset,
        "y": box.y + inset,
        "width": box.width - 2 * inset,
        "height": box.height - 2 * inset,
    }
    if box.radius:
        values["rx"] = box.radius - inset
    parts = [f"{name}={quoteattr(_number(value))}" for name, value in values.items()]
    parts.append(f'fill="{box.fill}"')
    if box.edge is not None:
        parts.append(f'stroke="{box.edge}" stroke-width="{_number(box.edge_width)}"')
    return f"<rect {' '.join(parts)}/>"


def _path(outline: Outline) -> str:
    def at(point: Point) -> str:
        return f"{_number(outline.x + outline.size * point[0])} {_number(outline.y + outline.size * point[1])}"

    pieces = []
    for contour in outline.contours:
        pieces.append(f"M{at(contour[0][0])}")
        pieces += [("L" if len(piece) == 1 else "C") + " ".join(map(at, piece)) for piece in contour[1:]]
        pieces.append("Z")
    return "".join(pieces)


def _text(text: Text) -> str:
    parts = [f'x="{_number(text.x)}" y="{_number(text.y)}" font-size="{_number(text.size)}" fill="{text.fill}"']
    if text.bold:
        parts.append('font-weight="bold"')
    if text.anchor != "start":
        parts.append(f'text-anchor="{text.anchor}"')
    return f"<text {' '.join(parts)}>{_escaped(text.text)}</text>"


def _escaped(text: str) -> str:
    """Escape text for XML, which cannot hold control characters and lone surrogates at all."""
    return escape("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text))
