"""A ladder as one HTML page that needs nothing else: tables, the cross-table in colours, and the pictures within."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from .ladder_pictures import cross_table
from .ladder_report import headlines, verdict
from .ladder_standing import LadderStanding

__all__ = ["ladder_page"]

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: .35rem .7rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child, .words, .verdicts th { text-align: left; }
.cross td { text-align: center; border: 1px solid #fff; }
.open { font-style: italic; }
.interval { display: block; font-size: .8em; }
img { max-width: 100%; height: auto; }
"""


_CROSS = (
    "Win share of the row minus that of the column, a seat, in percentage points, in the games in which both sat. Bold: the "
    "95 % interval leaves out 0. Italic: open."
)


def ladder_page(standing: LadderStanding, ratings: bytes | None) -> str:
    """Return the page.

    Args:
        standing: what it shows.
        ratings: a PNG of the ratings, which lies within the page; None for none.

    >>> from .ladder_config import LadderConfig
    >>> from .ladder_results import LadderResults
    >>> from .ladder_standing import standing_of
    >>> page = ladder_page(standing_of(LadderConfig(agents=["greedy", "a<b"]), LadderResults()), None)
    >>> "no games link &#x27;greedy&#x27; with &#x27;a&lt;b&#x27; yet" in page
    True
    """
    title = f"Ladder: {standing.rules.name or 'own rules'}, {standing.rules.players} players"
    parts = [
        f"<h1>{escape(title)}</h1>",
        *(f"<p>{escape(line)}</p>" for line in headlines(standing)),
        "<h2>Agents</h2>",
        "<p>With 95 % intervals over boards.</p>",
        _agents(standing),
        *([] if ratings is None else [_picture("Ratings with their intervals", ratings)]),
        "<h2>Who beats whom</h2>",
        f"<p>{_CROSS}</p>",
        _cross(standing),
        "<h2>Verdicts</h2>",
        _verdicts(standing),
    ]
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _picture(title: str, png: bytes) -> str:
    return f'<p><img alt="{escape(title)}" src="data:image/png;base64,{base64.b64encode(png).decode("ascii")}"></p>'


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, of: str = "") -> str:
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in heads)
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f'<table class="{of}"><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>'


def _td(text: str) -> str:
    return f"<td>{escape(text)}</td>"


def _agents(standing: LadderStanding) -> str:
    scores = {score.agent: score for score in standing.agents}
    rows = []
    for number in standing.order:
        name = standing.config.names[number]
        if name not in scores:
            continue
        score = scores[name]
        share, points = score.win_share, score.points_per_round
        rating = None if standing.ratings is None else standing.ratings.of(number)
        texts = [
            "-" if rating is None else f"{rating.value:+.0f} ({rating.low:+.0f} to {rating.high:+.0f})",
            f"{100 * share.value:.1f} ({100 * share.low:.1f} to {100 * share.high:.1f})",
            f"{points.value:.2f} ({points.low:.2f} to {points.high:.2f})",
            f"{score.games:,}",
        ]
        rows.append([f'<th scope="row">{escape(name)}</th>', *map(_td, texts)])
    return _table(["agent", "rating", "win share %", "points a round", "games"], rows)


def _cross(standing: LadderStanding) -> str:
    names = [standing.config.names[number] for number in standing.order]
    cells = cross_table(standing)
    reach = max([1.0, *(abs(cell[0].value) for row in cells for cell in row if cell is not None)])
    rows = []
    for name, line in zip(names, cells, strict=True):
        row = [f'<th scope="row">{escape(name)}</th>']
        for cell in line:
            if cell is None:
                row.append('<td style="background:#eee"></td>')
                continue
            share, decided = cell
            hue = "33,102,172" if share.value > 0 else "178,24,43"
            strength = 0.55 * min(1, abs(share.value) / reach)  # so light that black text stays legible
            figure = f"<b>{share.value:+.1f}</b>" if decided else f'<span class="open">{share.value:+.1f}</span>'
            interval = f'<span class="interval">{share.low:+.1f} to {share.high:+.1f}</span>'
            row.append(f'<td style="background:rgba({hue},{strength:.2f})">{figure}{interval}</td>')
        rows.append(row)
    return _table(["", *names], rows, of="cross")


def _verdicts(standing: LadderStanding) -> str:
    rows = [
        [
            f'<td class="words">{escape(f"{pair.first} - {pair.second}")}</td>',
            _td(f"{100 * pair.win_share.value:+.1f}"),
            _td(f"{100 * pair.win_share.low:+.1f} to {100 * pair.win_share.high:+.1f}"),
            f'<td class="words">{escape(verdict(pair))}</td>',
        ]
        for pair in standing.pairs
    ]
    return _table(["agents", "difference", "interval", "verdict"], rows, of="verdicts")
