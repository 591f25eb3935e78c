"""How a ladder stands, for people on a terminal and for programs as plain JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .arena_report import as_dict
from .arena_result import ArenaResult, PairScore
from .ladder_standing import LadderStanding
from .ratings import Ratings
from .statistics import Estimate

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["headlines", "show_standing", "standing_dict", "verdict"]


def standing_dict(standing: LadderStanding) -> dict[str, Any]:
    """Return a standing as plain JSON values, every figure with its interval.

    >>> from .ladder_config import LadderConfig
    >>> from .ladder_results import LadderResults
    >>> from .ladder_standing import standing_of
    >>> standing = standing_of(LadderConfig(agents=["greedy", "random"]), LadderResults())
    >>> standing_dict(standing)["ratings"] is None
    True
    """
    config = standing.config
    ratings = standing.ratings
    plain = as_dict(
        ArenaResult(
            rules=standing.rules,
            seed=config.seed,
            games_asked=config.games * len({frozenset(line_up) for line_up in config.line_ups}),
            games=standing.games,
            boards=standing.boards,
            games_per_board=standing.games // standing.boards if standing.boards else 0,
            line_ups=tuple(tuple(config.names[agent] for agent in line_up) for line_up in config.line_ups),
            agents=standing.agents,
            pairs=standing.pairs,
            forfeits=standing.forfeits,
        )
    )
    return {
        **plain,
        "config": config.model_dump(mode="json"),
        "chunks": standing.chunks,
        "chunks_in_all": standing.chunks_in_all,
        "ratings": None if ratings is None else [_rating(ratings, agent) for agent in standing.order],
        "circles": [list(circle) for circle in standing.circles],
        "played_by": list(standing.versions),
        "torn_lines": standing.torn,
    }


def _rating(ratings: Ratings, agent: int) -> dict[str, Any]:
    rating = ratings.of(agent)
    return {"agent": ratings.agents[agent], "rating": rating.value, "rating_ci": list(rating.interval)}


def headlines(standing: LadderStanding) -> list[str]:
    """Return what must be known to read the figures, a sentence a line."""
    config, rules = standing.config, standing.rules
    lines = [
        f"{rules.name or 'own rules'}, {rules.players} players, seed {config.seed}, "
        + (
            "every two, each alone against the other"
            if config.meetings == "pairs"
            else "every line-up of different ones"
        ),
        f"{standing.games:,} games on {standing.boards:,} boards, played by prial {', '.join(standing.versions) or '-'}",
    ]
    if standing.chunks < standing.chunks_in_all:
        lines.append(
            f"{standing.chunks} of {standing.chunks_in_all} chunks are played; the same command plays the rest"
        )
    if standing.torn:
        lines.append(f"{standing.torn} torn line{'s' if standing.torn > 1 else ''} of an ended run passed over")
    if standing.no_ratings:
        lines.append(f"no ratings: {standing.no_ratings}")
    lines += [line for one in standing.forfeits for line in one.lines()]
    lines += [f"in a circle: {' beats '.join([*circle, circle[0]])}" for circle in standing.circles]
    return lines


def verdict(pair: PairScore) -> str:
    """Return whether one of two is ahead, or how many more games would tell."""
    if pair.ahead is not None:
        return f"{pair.ahead} is ahead"
    if pair.more_games is None:
        return "no difference"
    return f"open; about {float(f'{pair.more_games:.2g}'):,.0f} more games"


def _interval(estimate: Estimate, form: str, scale: float = 1) -> str:
    low, high = (f"{scale * end:{form}}" for end in estimate.interval)
    return f"{low} to {high}"


def show_standing(standing: LadderStanding, console: Console) -> None:
    """Write a standing as text: the agents, the best first, and every two compared."""
    from rich.table import Table

    for line in headlines(standing):
        console.print(line, soft_wrap=True)
    console.print("with 95 % intervals; points are those of a round")
    scores = {score.agent: score for score in standing.agents}
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, title in enumerate(("agent", "rating", "", "win share %", "", "points", "games")):
        table.add_column(title, no_wrap=number > 0, justify="left" if number in {0, 2, 4} else "right", overflow="fold")
    for number in standing.order:
        name = standing.config.names[number]
        score = scores.get(name)
        if score is None:
            continue
        rating = None if standing.ratings is None else standing.ratings.of(number)
        table.add_row(
            name,
            "-" if rating is None else f"{rating.value:+.0f}",
            "" if rating is None else _interval(rating, "+.0f"),
            f"{100 * score.win_share.value:.1f}",
            _interval(score.win_share, ".1f", 100),
            f"{score.points_per_round.value:.2f}",
            f"{score.games:,}",
        )
    console.print()
    console.print(table)
    pairs = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, title in enumerate(("agents", "win share %", "", "verdict")):
        # Names and verdicts may take two lines.
        pairs.add_column(title, no_wrap=number in {1, 2}, justify="right" if number == 1 else "left", overflow="fold")
    for pair in standing.pairs:
        share = pair.win_share
        pairs.add_row(
            f"{pair.first} - {pair.second}", f"{100 * share.value:+.1f}", _interval(share, "+.1f", 100), verdict(pair)
        )
    console.print()
    console.print("First minus second, a seat, in the games in which both sat:")
    console.print(pairs)
