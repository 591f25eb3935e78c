"""`prial soak`: random rounds of every rule set, with everything that must always hold checked at every step.

Rare rule faults show themselves once in ten thousand rounds. Play is random: mostly undominated arrangements, now and then
any legal one or nothing at all, random exchanges and calls, rounds from scores near the target. What is checked: cards and
turns, masks against legality, what each seat may know, scores and their floor, margins, the end of the game, replay from
events, copies.

>>> run_soak(rounds=3, seed=2, jobs=1, rules=[CrashRules.preset("online")]).rounds
3
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..envs.crash.events import Award, Event, GameEnd, RoundEnd, Termination
from ..envs.crash.game import Game, Phase, replay
from ..envs.crash.observation import view_of
from ..envs.crash.presets import preset_names, read_preset
from ..envs.crash.rules import CrashRules
from ..envs.crash.scoring import highest_seats, margins
from ..envs.crash.worlds import sample_world
from .match import Tick
from .workers import spread

__all__ = ["SoakError", "SoakResult", "run_soak", "soak_rules"]

CHUNK = 500
"""Rounds of one piece of work."""


class SoakError(RuntimeError):
    """Something that must always hold did not; the message says how to play it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakResult:
    """What a soak played.

    Attributes:
        rounds: rounds played.
        games: games that came to an end.
        seconds: how long it took.
        counts: how often things happened, such as ``crash`` or ``shared win``.
    """

    rounds: int
    games: int
    seconds: float
    counts: dict[str, int]


def soak_rules(*names: str) -> tuple[CrashRules, ...]:
    """Return what is played: rule sets with every number of players they are for, calls and finishes, and table options.

    Args:
        names: of shipped rule sets; all of them if there are none.

    Raises:
        RulesError: there is no such rule set.

    >>> {rules.players for rules in soak_rules("bga")}
    {2, 3, 4, 5}
    """
    tables = [(name, players) for name in names or preset_names() for players in read_preset(name)["in_use"]["players"]]
    variants: list[dict[str, Any]] = [
        {},
        {"quads_bonus": 1, "max_rounds": 3},
        {"crash_reward": 2},
        {"lowest_hand": "high_card", "cards_dealt": 9},
        {"lowest_hand": "flush"},
    ]
    return tuple(
        CrashRules.preset(name, players=players, crash_call=crash_call, finish=finish, **variant)
        for crash_call, finish, variant in product(
            ("none", "optional", "required"), ("immediate", "round_end"), variants
        )
        for name, players in tables
    )


def _expect(holds: bool, what: str) -> None:  # noqa: FBT001 (reads like assert)
    if not holds:
        raise SoakError(what)


def _action(game: Game, seat: int, rng: np.random.Generator) -> int:
    if game.phase is not Phase.ARRANGE:
        return int(rng.choice(game.legal_actions(seat)))
    kind = rng.random()
    if kind < 0.005:
        return int(rng.choice(game.legal_actions(seat)))
    if kind < 0.03:
        return 0
    partitions = game.undominated(seat).partitions
    return int(partitions[rng.integers(len(partitions))])


def _check_step(game: Game, seat: int, action: int) -> None:
    """What holds before a step: whose turn it is, and that everybody knows only what is theirs to know."""
    rules = game.rules
    _expect(game.is_legal(action, seat), "a legal action is refused")
    _expect(not game.is_legal(game.layout.noop, seat), "noop is legal")
    _expect(
        all(not game.is_legal(action, other) for other in range(rules.players) if other not in game.pending),
        "a seat that is not to act may act",
    )
    held = [card for cards in (*game.hands, *(given for given in game.given_up if given)) for card in cards]
    _expect(len(set(held)) == len(held), "a card is in two places")
    view = view_of(game, seat)
    _expect(view.cards == game.hands[seat] and len(view.cards) == rules.cards_dealt, "a view has other cards")
    _expect(view.to_act, "a view does not know that its seat is to act")
    if game.phase is Phase.EXCHANGE and rules.players == 2:
        _expect(view.exchanges[1 - seat] is None, "a choice shows before both have chosen")


def _check_masks_and_worlds(game: Game, seat: int, rng: np.random.Generator) -> None:
    """Legality by the mask and by asking; every seat sees the same in a world that it cannot tell from this one."""
    legal = set(game.legal_actions(seat).tolist())
    _expect(bool(legal), "a seat is to act and has no legal action")
    probes = {0, 1, game.layout.partitions - 1, *range(game.layout.keep, game.layout.noop + 2), *list(legal)[::997]}
    _expect(all(game.is_legal(probe, seat) == (probe in legal) for probe in probes), "mask and check disagree")
    if game.phase is Phase.ARRANGE:
        _expect(legal.issuperset(game.undominated(seat).partitions.tolist()), "an undominated arrangement is illegal")
    for other in range(game.rules.players):
        same = view_of(sample_world(game, other, rng), other) == view_of(game, other)
        _expect(same, "a seat sees what it cannot know")


def _check_events(game: Game, before: tuple[int, ...], happened: Sequence[Event], counts: Counter[str]) -> None:
    """Scores follow from the awards and never fall below 0; margins add up to nothing."""
    scores = list(before)
    for event in happened:
        if isinstance(event, Award):
            scores[event.seat] += event.points
            _expect(scores[event.seat] == event.score >= 0, "awards and scores disagree")
            counts[event.reason.value] += 1
        elif isinstance(event, RoundEnd):
            _expect(tuple(scores) == event.scores, "the scores of a round are not those of its awards")
            _expect(abs(sum(margins(event.points))) < 1e-9, "margins do not add up to 0")
            _expect(max(event.points) <= game.rules.max_round_points, "more points than a round has")
            counts["round"] += 1


def _check_end(game: Game, counts: Counter[str]) -> None:
    rules, result = game.rules, game.result
    assert result is not None
    counts[result.reason.value] += 1
    counts["shared win"] += len(result.winners) > 1
    _expect(bool(result.winners), "a game has no winner")
    _expect(isinstance(game.events[-1], GameEnd), "the last event is not the end")
    if result.reason is Termination.TARGET:
        _expect(all(game.scores[seat] >= rules.target for seat in result.winners), "a winner is below the target")
    if result.reason is not Termination.CRASH and rules.finish == "round_end":
        _expect(result.winners == highest_seats(game.scores), "the highest score does not win")
    if result.reason is Termination.MAX_ROUNDS:
        _expect(game.rounds_played == rules.max_rounds, "a game was cut off too early")
    again = replay(rules, game.events)
    _expect(again.events == game.events and again.result == result, "the events do not replay the game")


def _play_game(rules: CrashRules, seed: int, table: int, most: int, counts: Counter[str]) -> None:
    """Play one game, or its first `most` rounds."""
    rng = np.random.default_rng([seed, table])
    scores = [int(rng.integers(rules.target)) for _ in range(rules.players)] if rng.random() < 0.5 else None
    game = Game(rules, seed=seed, table=table, scores=scores)
    dear = rng.random() < 0.02  # masks of all partitions and sampled worlds cost much
    until = game.rounds_played + most
    copied: tuple[Game, int] | None = None
    while not game.is_over and game.rounds_played < until:
        seat = int(rng.choice(game.pending))
        action = _action(game, seat, rng)
        _check_step(game, seat, action)
        if dear:
            _check_masks_and_worlds(game, seat, rng)
        if copied is None and rng.random() < 0.05:
            copied = (game.copy(), len(game.events))
        before = game.scores
        _check_events(game, before, game.step(action, seat), counts)
    if copied is not None:
        _expect(copied[0].events == game.events[: copied[1]], "a copy went on with its game")
    if game.is_over:
        counts["game"] += 1
        _check_end(game, counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    rules: tuple[CrashRules, ...]
    seed: int
    rounds: int


def _no_tick(units: int) -> None:
    """In this process the pieces themselves are progress enough."""


def _nothing(plan: _Plan) -> None:
    """Workers keep nothing from piece to piece."""


def _play_piece(plan: _Plan, _state: None, number: int, tick: Tick) -> Counter[str]:
    """Play piece `number`: up to CHUNK rounds under rules that come round piece by piece."""
    rules = plan.rules[number % len(plan.rules)]
    wanted = min(CHUNK, plan.rounds - number * CHUNK)
    counts: Counter[str] = Counter()
    game = 0
    while counts["round"] < wanted:
        table = number << 20 | game
        done = counts["round"]
        try:
            _play_game(rules, plan.seed, table, wanted - done, counts)
        except (SoakError, AssertionError, ArithmeticError, LookupError, TypeError, ValueError, RuntimeError) as error:
            raise SoakError(f"{error} (seed={plan.seed}, table={table}, rules={rules!r})") from error
        tick(counts["round"] - done)
        game += 1
    return counts


def run_soak(
    *,
    rounds: int = 1_000_000,
    seed: int = 1,
    jobs: int | None = None,
    rules: Sequence[CrashRules] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SoakResult:
    """Play random rounds and check what must always hold.

    Args:
        rounds: how many, spread evenly over the rules in pieces of 500.
        seed: of everything; the same rounds with any number of jobs.
        jobs: processes; None for all cores, 1 for this one alone.
        rules: what to play; `soak_rules` if None.
        progress: called with the rounds played and all there are.

    Raises:
        SoakError: a check failed; the message has seed, table and rules.
    """
    plan = _Plan(rules=tuple(rules) if rules is not None else soak_rules(), seed=seed, rounds=rounds)
    pieces = -(-rounds // CHUNK)
    counts: Counter[str] = Counter()
    start = time.perf_counter()

    def report(done: int) -> None:
        if progress is not None:
            progress(done, rounds)

    workers = min(jobs or os.cpu_count() or 1, pieces)
    if workers == 1:
        for number in range(pieces):
            counts += _play_piece(plan, None, number, _no_tick)
            report(counts["round"])
    else:
        for _, piece in spread(_play_piece, plan, pieces, make_state=_nothing, jobs=workers, progress=report):
            counts += piece
    seconds = time.perf_counter() - start
    happened = {name: counts[name] for name in sorted(counts) if name not in ("round", "game")}
    return SoakResult(rounds=counts["round"], games=counts["game"], seconds=seconds, counts=happened)
