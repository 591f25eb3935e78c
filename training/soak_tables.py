"""The batched half of `prial soak`: random rounds at thousands of tables at once, scored again in a second way.

`CrashVectorEnv` plays single rounds from random scores, by candidates or hand by hand; when all have ended, cards, turns and
scores are checked as arrays: no card in two places, everything laid legal and in order, winners, points, scores, crashes and
the end of the game as `score_rounds` has them, which knows nothing of the engine's kernels.

>>> counts = soak_tables([CrashRules.preset("online")], rounds=50, seed=1)
>>> counts["round"], counts["game"] <= 50
(50, True)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..envs.brag import strength_table
from ..envs.crash.game import Phase
from ..envs.crash.partitions import partition_table, slot_triples
from ..envs.crash.rules import CrashRules
from ..envs.crash.vector import CrashVectorEnv, StepOutcome
from .match import Tick
from .workers import spread

__all__ = ["RoundScores", "TableFaultError", "score_rounds", "soak_tables"]

BATCH = 4096
"""Rounds played at once."""

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class TableFaultError(RuntimeError):
    """Something that must always hold did not at some table; the message says how to play it again."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RoundScores:
    """Rounds scored, one a row.

    Attributes:
        points: int64 (m, players), played to the end.
        scores: int64 (m, players), as settled.
        crasher: int64 (m,), -1 for nobody, or where a game ended before it was known.
        reason: int64 (m,), 0 goes on, 1 target, 2 crash.
        winners: bool (m, players).
    """

    points: Ints
    scores: Ints
    crasher: Ints
    reason: Ints
    winners: Flags


def score_rounds(
    rules: CrashRules, *, strengths: Ints, quads: Ints, called: Flags, scores: Ints, dealer: Ints
) -> RoundScores:
    """Score rounds by applying one change after the other to all of them.

    Args:
        rules: the rules.
        strengths: (m, players, hands), 0 for no hand.
        quads: (m, players), four of a kind laid whole.
        called: (m, players).
        scores: (m, players), before the round.
        dealer: (m,).
    """
    m, n = scores.shape
    rows = np.arange(m)
    best = strengths.max(axis=1, keepdims=True)
    alone = (strengths == best) & ((strengths == best).sum(axis=1, keepdims=True) == 1) & (best > 0)
    winner = np.where(alone.any(axis=1), alone.argmax(axis=1), -1)  # (m, hands)
    everywhere = (winner == winner[:, :1]).all(axis=1) & (rules.hands >= 2)
    crasher = np.where(everywhere, winner[:, 0], -1)
    says = np.zeros(m, np.bool_)
    says[crasher >= 0] = called[rows, crasher][crasher >= 0]
    paid = (crasher >= 0) & (says | (rules.crash_call != "required"))

    game, immediate = rules.crash_reward == "game", rules.finish == "immediate"
    turn = (dealer[:, None] + 1 + np.arange(n)) % n
    changes: list[tuple[Ints, Ints, bool]] = [
        (winner[:, h], (winner[:, h] >= 0).astype(int), False) for h in range(rules.hands)
    ]
    changes.append((crasher, paid * rules.crash_points, game))
    for place in range(n):
        seat = turn[:, place]
        right = seat == crasher
        bonus = 0 if game else rules.crash_call_bonus
        changes.append((seat, called[rows, seat] * np.where(right, bonus, -rules.crash_call_penalty), False))
    for place in range(n):
        seat = turn[:, place]
        changes.append((seat, quads[rows, seat] * rules.quads_bonus, False))

    points, now = scores.copy(), scores.copy()
    reason, winners = np.zeros(m, np.int64), np.zeros((m, n), np.bool_)
    shown = np.ones(m, np.bool_)
    for number, (seat, change, wins) in enumerate(changes):
        there = seat >= 0
        at = (rows[there], seat[there])
        points[at] = np.maximum(0, points[at] + change[there])
        live = there & ~(immediate & (reason > 0))
        at = (rows[live], seat[live])
        if wins:
            struck = live & paid
            reason[struck] = 2
            winners[rows[struck], seat[struck]] = True
            continue
        now[at] = np.maximum(0, now[at] + change[live])
        if immediate:
            over = np.zeros(m, np.bool_)
            over[live] = (now[at] >= rules.target) & (change[live] > 0)
            reason[over] = 1
            winners[rows[over], seat[over]] = True
            if number < rules.hands - 1:
                shown &= ~over
    if not immediate:
        over = (reason == 0) & (now.max(axis=1) >= rules.target)
        reason[over] = 1
        winners[over] = now[over] == now[over].max(axis=1, keepdims=True)
    return RoundScores(
        points=points - scores,
        scores=now,
        crasher=np.where(shown, crasher, -1),
        reason=reason,
        winners=winners,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    rules: tuple[CrashRules, ...]
    seed: int
    rounds: int

    @property
    def batches(self) -> int:
        return -(-self.rounds // BATCH)


def soak_tables(
    rules: Sequence[CrashRules],
    *,
    rounds: int,
    seed: int,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Counter[str]:
    """Play random rounds and return how often things happened.

    Args:
        rules: come round batch by batch.
        rounds: how many in all.
        seed: of everything; the same rounds with any number of jobs.
        jobs: processes.
        progress: called with the rounds played.

    Raises:
        TableFaultError: a check failed; the message has rules, seed and table.
    """
    plan = _Plan(rules=tuple(rules), seed=seed, rounds=rounds)
    counts: Counter[str] = Counter()
    report = progress or (lambda done: None)  # noqa: ARG005 (a report that goes nowhere)
    workers = min(jobs, plan.batches)
    if workers <= 1:
        for number in range(plan.batches):
            counts += _play_batch(plan, None, number, lambda _: None)
            report(counts["round"])
    else:
        for _, batch in spread(_play_batch, plan, plan.batches, make_state=_nothing, jobs=workers, progress=report):
            counts += batch
    return counts


def _nothing(plan: _Plan) -> None:
    """Workers keep nothing from batch to batch."""


def _play_batch(plan: _Plan, _state: None, number: int, tick: Tick) -> Counter[str]:
    rules = plan.rules[number % len(plan.rules)]
    size = min(BATCH, plan.rounds - number * BATCH)
    rng = np.random.default_rng([plan.seed, number])
    scores = rng.integers(0, rules.target, (size, rules.players))
    scores[: size // 2] = np.maximum(rules.target - rng.integers(1, 6, (size // 2, rules.players)), 0)
    first = number * BATCH
    env = CrashVectorEnv(
        size,
        rules,
        seed=plan.seed,
        tables=np.arange(first, first + size),
        episode="round",
        scores=scores,
        rounds_played=int(rng.integers(rules.max_rounds)),
        autoreset=False,
        threads=1,
    )
    before = env.column("rounds_played")
    try:
        outcome = _play_out(env, rng, by_hand=number % 4 == 3)
        counts = _check(env, outcome, before)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise TableFaultError(
            f"{error} (seed={plan.seed}, tables {first} to {first + size - 1}, rules={rules!r})"
        ) from error
    tick(size)
    return counts


def _play_out(env: CrashVectorEnv, rng: np.random.Generator, *, by_hand: bool) -> StepOutcome:
    """Play every table's round, and return what each came to."""
    ended: dict[str, npt.NDArray[np.generic]] = {}
    seen = np.zeros(env.num_envs, np.bool_)
    while True:
        acting, pending = env.acting, env.pending
        live = acting >= 0
        _expect(env, pending[np.flatnonzero(live), acting[live]], "the seat to act is not pending")
        _expect(env, pending.any(axis=1) == live, "seats are pending and none is to act")
        if not live.any():
            return StepOutcome(**ended)  # type: ignore[arg-type]
        outcome = env.pick(env.sample_picks(rng)) if by_hand else env.step(env.sample(rng))
        _expect(env, ~(outcome.round_ended & seen), "a round ended twice")
        seen |= outcome.round_ended
        for name in StepOutcome.__dataclass_fields__:
            values = getattr(outcome, name)
            if name not in ended:
                ended[name] = values
            else:
                ended[name][outcome.round_ended] = values[outcome.round_ended]


def _expect(env: CrashVectorEnv, holds: Flags, what: str) -> None:
    """Raise what went wrong, with the first table at which it did."""
    if not holds.all():
        bad = np.flatnonzero(~holds.reshape(len(holds), -1).all(axis=1))[0] if len(holds) == env.num_envs else 0
        table = int(env.column("table")[bad])
        raise TableFaultError(f"{what} (seed={env.seed}, table={table}, rules={env.rules!r})")


def _check(env: CrashVectorEnv, outcome: StepOutcome, before: npt.NDArray[np.int32]) -> Counter[str]:
    rules = env.rules
    _expect(env, outcome.round_ended, "a round did not end")
    _expect(env, env.phase == Phase.OVER, "a round is over and its table is not")
    cards, given_up, exchanged = env.column("cards"), env.column("given_up"), env.column("exchanges") == 1
    _expect(env, (given_up >= 0).all(axis=2) == exchanged, "a hand was given up and not exchanged")
    held = np.where(
        np.concatenate([np.ones_like(exchanged), exchanged], axis=1)[..., None],
        np.concatenate([cards, given_up], axis=1),
        -1,
    )
    bits = np.where(held >= 0, np.uint64(1) << np.maximum(held, 0).astype(np.uint64), np.uint64(0))
    union = np.bitwise_or.reduce(bits.reshape(len(bits), -1), axis=1)
    _expect(env, np.bitwise_count(union) == (held >= 0).sum(axis=(1, 2)), "a card is in two places")
    _expect(env, np.isin(cards, rules.pack), "a card is not of the pack")
    _expect(env, cards[..., 1:] > cards[..., :-1], "cards are not in order")
    strengths, quads, legal = _laid(env.column("laid"), cards, rules)
    _expect(env, legal, "something laid is no hand")
    scores = env.column("start_scores").astype(np.int64)
    expected = score_rounds(
        rules,
        strengths=strengths,
        quads=quads,
        called=env.column("calls") == 1,
        scores=scores,
        dealer=env.column("dealer").astype(np.int64),
    )
    for what, found, wanted in (
        ("points", outcome.points, expected.points),
        ("scores", outcome.scores, expected.scores),
        ("crasher", outcome.crasher, expected.crasher),
    ):
        _expect(env, found == wanted, f"{what} are not as scored again")
    cut = (expected.reason == 0) & (before + 1 >= rules.max_rounds)
    reason = np.where(cut, 3, np.where(expected.reason == 0, 4, expected.reason))
    _expect(env, outcome.reason == reason, "the game did not end as scored again")
    winners = np.where(cut[:, None], expected.scores == expected.scores.max(axis=1, keepdims=True), expected.winners)
    shares = winners / np.maximum(winners.sum(axis=1, keepdims=True), 1)
    _expect(env, np.abs(outcome.win_shares - shares) < 1e-12, "shares of the win are not as scored again")
    _expect(env, np.abs(outcome.margins.sum(axis=1)) < 1e-9, "margins do not add up to 0")
    _expect(env, expected.points.max(axis=1) <= rules.max_round_points, "more points than a round has")
    _expect(env, expected.scores >= 0, "a score below 0")
    counts = {"round": len(cards), "game": int((reason < 4).sum()), "crash": int((expected.crasher >= 0).sum())}
    counts |= {"target": int((reason == 1).sum()), "max_rounds": int(cut.sum()), "exchange": int(exchanged.sum())}
    counts |= {"quads": int(quads.sum()), "call": int((env.column("calls") == 1).sum())}
    counts["shared win"] = int((winners.sum(axis=1) > 1).sum())
    return Counter({name: count for name, count in counts.items() if count})


def _laid(laid: npt.NDArray[np.int32], cards: npt.NDArray[np.int8], rules: CrashRules) -> tuple[Ints, Ints, Flags]:
    """Strengths (m, players, hands), strongest first, four of a kind laid whole, and whether all that is laid are hands."""
    triples = partition_table(rules.cards_dealt)[laid][..., : rules.hands]
    slots = np.array(slot_triples(rules.cards_dealt))[triples]  # (m, players, hands, 3)
    held = np.take_along_axis(cards[:, :, None, :].astype(np.int64), slots, axis=3)
    first, second, third = held[..., 0], held[..., 1], held[..., 2]
    index = third * (third - 1) * (third - 2) // 6 + second * (second - 1) // 2 + first
    found = strength_table(rules.flush_order, rules.lowest_class)[index].astype(np.int64)
    there = triples >= 0
    legal = (found > 0) | ~there
    strengths = -np.sort(-np.where(there, found, 0), axis=2)
    ranks = np.where(there[..., None], held // 4, 13).reshape(*laid.shape, -1)
    quads: Ints = (np.sum(ranks[..., None] == np.arange(13), axis=2) == 4).sum(axis=2)
    return strengths, quads, legal
