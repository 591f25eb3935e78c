"""A second scorer of game records, written from `docs/records.md` alone: the standard library, nothing of the project.

``python tests/record_rescorer.py FILE`` says of each game whether what it states is what follows from its cards.
"""

from __future__ import annotations

import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

RANKS = "23456789TJQKA"
CLASSES = ("high_card", "pair", "flush", "run", "running_flush", "prial")


def games_of(text: str) -> list[list[tuple[str, str]]]:
    """The statements of each game."""
    games: list[list[tuple[str, str]]] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        key, _, value = line.partition(":")
        if key == "crash-record":
            games.append([])
        games[-1].append((key, value.strip()))
    return games


def strength(hand: str, flush_high: str) -> tuple[int, tuple[int, ...]]:
    """A hand as something that compares: its class, then what counts within."""
    cards = hand.split()
    assert len(cards) == 3
    ranks = sorted((RANKS.index(card[0]) for card in cards), reverse=True)
    one_suit = len({card[1] for card in cards}) == 1
    if ranks[0] == ranks[2]:
        return CLASSES.index("prial"), (13 if ranks[0] == 1 else ranks[0],)
    low_ace = ranks == [12, 1, 0]
    if low_ace or ranks[0] - 1 == ranks[1] == ranks[2] + 1:
        return CLASSES.index("running_flush" if one_suit else "run"), (13 if low_ace else ranks[0],)
    if one_suit:
        order = [13 if rank == 1 and flush_high == "three" else rank for rank in ranks]
        return CLASSES.index("flush"), tuple(sorted(order, reverse=True))
    if len(set(ranks)) == 2:
        pair = ranks[1]
        return CLASSES.index("pair"), (pair, next(rank for rank in ranks if rank != pair))
    return CLASSES.index("high_card"), tuple(ranks)


def rescore(game: list[tuple[str, str]]) -> tuple[list[dict[str, Any]], str]:
    """What should be stated of each round that is over, and the result."""
    starts = [i for i, (key, _) in enumerate(game) if key.startswith("round ")] + [len(game)]
    header = dict(game[: starts[0]])
    scores = [int(score) for score in header["start_scores"].split()]
    rounds: list[dict[str, Any]] = []
    result = "*"
    for begin, end in pairwise(starts):
        lines = game[begin:end]
        if not any(key == "scores" for key, _ in lines):
            break
        assert result == "*", "a round after the end"
        told, result = _round(header, lines, scores)
        rounds.append(told)
        scores = told["scores"]
        if result == "*" and int(lines[0][0].split()[1]) == int(header["max_rounds"]):
            result = _highest("max_rounds", scores)
        if result == "*" and header["episode"] == "round":
            result = "round"
    return rounds, result


def _highest(reason: str, scores: list[int]) -> str:
    return " ".join([reason, *(str(seat) for seat, score in enumerate(scores) if score == max(scores))])


def _round(header: dict[str, str], lines: list[tuple[str, str]], before: list[int]) -> tuple[dict[str, Any], str]:
    players, target = int(header["players"]), int(header["target"])
    at_once = header["finish"] == "immediate"
    told = dict(lines)
    laid = []
    for seat in range(players):
        hands = told[f"arrange {seat}"].partition("/")[0].strip()
        laid.append([] if hands == "-" else [hand.strip() for hand in hands.split("|")])
    now = list(before)
    winners: list[str] = []
    awards: list[str] = []
    this = {"winners": winners, "awards": awards, "scores": now}
    for position in range(min(4, int(header["cards_dealt"]) // 3)):
        winners.append(_winner(header, [hands[position] if position < len(hands) else "" for hands in laid]))
        if winners[-1] != "-":
            now[int(winners[-1])] += 1
            if at_once and now[int(winners[-1])] >= target:
                return this, f"target {winners[-1]}"
    crash_won = ""
    for seat, reason, points in _extras(header, told, laid, winners):
        paid = max(0, now[seat] + points) - now[seat]
        now[seat] += paid
        awards.append(f"{seat} {reason} {paid:+d} = {now[seat]}")
        if reason == "crash" and header["crash_reward"] == "game":
            crash_won = f"crash {seat}"
        if at_once and (crash_won or now[seat] >= target):
            return this, crash_won or f"target {seat}"
    if crash_won:
        return this, crash_won
    return this, _highest("target", now) if not at_once and max(now) >= target else "*"


def _winner(header: dict[str, str], hands: list[str]) -> str:
    values = {seat: strength(hand, header["flush_high"]) for seat, hand in enumerate(hands) if hand}
    lowest = CLASSES.index(header["lowest_hand"])
    assert all(value[0] >= lowest for value in values.values())
    best = [seat for seat, value in values.items() if value == max(values.values())]
    return str(best[0]) if len(best) == 1 else "-"


def _extras(
    header: dict[str, str], told: dict[str, str], laid: list[list[str]], winners: list[str]
) -> list[tuple[int, str, int]]:
    players = int(header["players"])
    dealer = next(int(value.split()[1]) for key, value in told.items() if key.startswith("round "))
    order = [(dealer + 1 + i) % players for i in range(players)]
    crashed = len(winners) >= 2 and len(set(winners)) == 1 and winners[0] != "-"
    crasher = int(winners[0]) if crashed else None
    called = [seat for seat in order if told.get(f"call {seat}") == "call"]
    reward = header["crash_reward"]
    extras: list[tuple[int, str, int]] = []
    if crasher is not None and (header["crash_call"] != "required" or crasher in called):
        extras.append((crasher, "crash", 0 if reward == "game" else int(reward)))
    for seat in called:
        if seat != crasher:
            extras.append((seat, "call_penalty", -int(header["crash_call_penalty"])))
        elif reward != "game":
            extras.append((seat, "call_bonus", int(header["crash_call_bonus"])))
    for seat in order:
        ranks = Counter(card[0] for hand in laid[seat] for card in hand.split())
        quads = int(header["quads_bonus"]) * sum(count == 4 for count in ranks.values())
        if quads:
            extras.append((seat, "quads", quads))
    return extras


def stated(game: list[tuple[str, str]]) -> tuple[list[dict[str, Any]], str]:
    """What a record states, in the same form."""
    rounds: list[dict[str, Any]] = []
    for key, value in game:
        if key == "reveal":
            rounds.append({"winners": value.split(), "awards": [], "scores": []})
        elif key == "award":
            rounds[-1]["awards"].append(value)
        elif key == "scores":
            rounds[-1]["scores"] = [int(score) for score in value.split()]
    return rounds, dict(game)["result"]


def main() -> None:
    """Check files of records."""
    for path in sys.argv[1:]:
        for number, game in enumerate(games_of(Path(path).read_text(encoding="ascii")), start=1):
            print(path, number, "agrees" if stated(game) == rescore(game) else f"differs: {rescore(game)}")


if __name__ == "__main__":
    main()
