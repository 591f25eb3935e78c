"""The batched engine with odd arrays and generators, several threads, copies and forks, and kinds of acts by turns."""

from __future__ import annotations

import copy
import os
import pickle
import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from prial.envs.crash.game import IllegalActionError, Phase
from prial.envs.crash.observation import ViewBatch
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.vector import CrashVectorEnv
from prial.envs.threads import split_rows, usable_threads
from prial.envs.whole_arrays import random_words


def columns(env: CrashVectorEnv) -> dict[str, npt.NDArray[Any]]:
    return {name: env.column(name) for name in env._state._fields}


def assert_same(one: CrashVectorEnv, other: CrashVectorEnv) -> None:
    for name, column in columns(one).items():
        np.testing.assert_array_equal(column, other.column(name), err_msg=name)
    np.testing.assert_array_equal(one.acting, other.acting)
    np.testing.assert_array_equal(one.pending, other.pending)


# ---- arrays ---------------------------------------------------------------------------------------------------------


def read_only(values: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    values.flags.writeable = False
    return values


@pytest.mark.parametrize(
    "form",
    [
        lambda a: a.astype(np.int64),
        lambda a: a.astype(np.uint64),
        lambda a: a.astype(">i4"),
        lambda a: a.tolist(),
        lambda a: np.repeat(a, 2)[::2],
        lambda a: a[::-1].copy()[::-1],
        read_only,
    ],
    ids=["int64", "uint64", "big-endian", "list", "strided", "backwards", "read-only"],
)
def test_whole_numbers_of_any_form_are_the_same_decisions(form: Any) -> None:
    from prial.envs.crash import _kernels_rounds as kernels

    plain, odd = (CrashVectorEnv(4, "online", seed=7) for _ in range(2))
    actions = plain.sample(np.random.default_rng(0))
    plain.step(actions)
    compiled = len(kernels.take_decisions.signatures)
    odd.step(form(actions.copy()))
    assert_same(plain, odd)
    assert len(kernels.take_decisions.signatures) == compiled  # nothing is compiled for another form


def test_small_types_hold_minus_one_or_not() -> None:
    env = CrashVectorEnv(2, "online", seed=7)
    assert not env.step(np.array([-1, -1], np.int8)).round_ended.any()
    env.step(np.zeros(2, np.uint8))  # lay nothing
    assert (env.column("laid") == 0).sum() == 2


@pytest.mark.parametrize("number", [2**63 - 1, 2**64 - 1, -5, -(2**62)])
def test_a_refusal_names_the_number_that_was_given(number: int) -> None:
    env = CrashVectorEnv(2, "online", seed=7)
    given = np.array([number, number])
    with pytest.raises(IllegalActionError, match=rf"action {number} \("):
        env.step(given)
    with pytest.raises(IllegalActionError, match=rf"pick {number} is not"):
        env.pick(given)
    matrix = np.full((2, 3), number)
    with pytest.raises(IllegalActionError, match=rf"action {number} \("):
        env.step(matrix)


@pytest.mark.parametrize(
    ("tables", "kept"),
    [([2**63, 1], [2**63, 1]), ([2**64 - 1, 2**63], [2**64 - 1, 2**63])],
    ids=str,
)
def test_tables_have_numbers_of_64_bits(tables: Any, kept: list[int]) -> None:
    assert CrashVectorEnv(2, seed=1, tables=tables).column("table").tolist() == kept


@pytest.mark.parametrize("tables", [[2**64, 1], [2**63, -1], [-1, 0], [0.0, 1.0], [True, False], [[1], [1, 2]], "ab"])
def test_other_numbers_of_tables_are_refused(tables: Any) -> None:
    with pytest.raises(ValueError, match=r"tables: expected whole numbers \(2,\)"):
        CrashVectorEnv(2, seed=1, tables=tables)


@pytest.mark.parametrize(
    "call",
    [
        lambda env: env.observations([0.5, 1, 1]),
        lambda env: env.observations(np.array([256, 0, 0])),
        lambda env: env.observations([0, 1, 3]),
        lambda env: env.observations([2**70, 0, 0]),
        lambda env: env.views(np.ones((3, 2), bool)),
        lambda env: env.views(np.ones((3, 3), int)),
        lambda env: env.views_at([0, 1], [0]),
        lambda env: env.views_at([-1], [0]),
        lambda env: env.views_at([3], [0]),
        lambda env: env.views_at([0], [-1]),
        lambda env: env.views_at([0], [3]),
        lambda env: env.views_at(0, 0),
        lambda env: env.offers().padded(0),
        lambda env: env.offers().padded(1.5),
        lambda env: env.act_many(_Answer(None), np.random.default_rng(0), seating=[0.5, 0.0, 0.0]),
        lambda env: env.act_many(_Answer(None), np.random.default_rng(0), seating=[0, 0]),
    ],
)
def test_what_is_not_there_is_not_shown(call: Any) -> None:
    env = CrashVectorEnv(3, "online", seed=8)
    with pytest.raises(ValueError, match="expected"):
        call(env)


def test_seats_below_nought_are_not_seen_and_lists_will_do() -> None:
    env = CrashVectorEnv(2, "online", seed=8)
    seen = env.observations(np.array([-300, 1]))
    assert not seen[0].any()
    assert seen[1].any()
    np.testing.assert_array_equal(env.views_at([1, 0], [2, 0]).cards, env.column("cards")[[1, 0], [2, 0]])
    with pytest.raises(IndexError, match="table 2: there are 2"):
        env.game(2)


# ---- chance ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.SFC64, np.random.Philox], ids=lambda bits: bits.__name__)
def test_words_are_what_a_generator_of_64_bits_puts_out(bits: Any) -> None:
    np.testing.assert_array_equal(
        random_words(np.random.Generator(bits(5)), 3, 4).ravel(), bits(5).random_raw(12), strict=True
    )


@pytest.mark.parametrize("mask", ["legal", "undominated"])
def test_generators_of_32_bits_draw_from_all_there_is(mask: Any) -> None:
    env = CrashVectorEnv(300, "online", seed=5, mask=mask)
    rng = np.random.Generator(np.random.MT19937(1))
    allowed = [np.flatnonzero(row) for row in env.pick_masks()]
    drawn = env.sample_picks(rng)
    places = [
        np.searchsorted(row, pick) / (len(row) - 1) for row, pick in zip(allowed, drawn, strict=True) if len(row) > 1
    ]
    assert 0.4 < np.mean(places) < 0.6
    offers = env.offers()
    chosen = env.sample(rng)
    last = [offers.actions[offers.offsets[t + 1] - 1] == chosen[t] for t in range(300) if offers.counts[t] > 1]
    assert any(last)


def test_other_sources_of_chance_are_refused() -> None:
    env = CrashVectorEnv(2, "online", seed=5)
    for rng in (np.random.RandomState(1), None, 3):
        for draw in (env.sample, env.sample_picks, lambda given: env.play_random(1, given)):
            with pytest.raises(TypeError, match=r"expected a numpy\.random\.Generator"):
                draw(rng)  # type: ignore[arg-type]


# ---- agents ---------------------------------------------------------------------------------------------------------


class _Answer:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act_many(self, views: ViewBatch, rng: np.random.Generator) -> Any:
        return self.answer(len(views)) if callable(self.answer) else self.answer


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (np.zeros, ValueError, r"act_many of agent 0: expected whole numbers \(6,\), got float64 \(6,\)"),
        (lambda n: np.zeros(n - 1, int), ValueError, r"got int64 \(5,\)"),
        (lambda n: np.zeros((n, 1), int), ValueError, r"got int64 \(6, 1\)"),
        (lambda n: np.ones(n, bool), ValueError, "got bool"),
        (0, ValueError, r"got int64 \(\)"),
        (None, ValueError, r"got object \(\)"),
        (lambda n: np.full(n, 2**40), IllegalActionError, rf"action {2**40} \("),
        (lambda n: np.full(n, -1), IllegalActionError, r"action -1 \("),
        (lambda n: np.full(n, 417_847), IllegalActionError, "action 417847 "),
    ],
)
def test_wrong_answers_of_agents_are_named_and_change_nothing(
    answer: Any, error: type[Exception], message: str
) -> None:
    env = CrashVectorEnv(2, "online", seed=1)
    before = copy.deepcopy(env)
    with pytest.raises(error, match=message):
        env.act_many(_Answer(answer), np.random.default_rng(0))
    assert_same(env, before)


def test_an_agent_that_moves_the_tables_on_is_refused_and_one_that_copies_them_is_not() -> None:
    env = CrashVectorEnv(2, "online", seed=1)

    class Looks:
        def __init__(self, there: Any) -> None:
            self.there = there

        def act_many(self, views: ViewBatch, rng: np.random.Generator) -> npt.NDArray[np.int32]:
            there = self.there()
            there.step(there.sample(rng))
            found = views.undominated()
            return found.partitions[found.offsets[:-1]]

    before = copy.deepcopy(env)
    with pytest.raises(RuntimeError, match="being changed already"):
        env.act_many(Looks(lambda: env), np.random.default_rng(0))
    assert_same(env, before)
    assert env.act_many(Looks(lambda: copy.deepcopy(env)), np.random.default_rng(0)).round_ended.all()


# ---- threads, copies, forks -----------------------------------------------------------------------------------------


def test_a_second_thread_is_refused_while_the_first_acts() -> None:
    env = CrashVectorEnv(2, "online", seed=1)
    errors: list[str] = []

    class Waits:
        def act_many(self, views: ViewBatch, rng: np.random.Generator) -> npt.NDArray[np.int32]:
            def second() -> None:
                for act in (env.reset, lambda: env.pick([-1, -1]), lambda: env.play_random(1, rng)):
                    try:
                        act()
                    except RuntimeError as error:
                        errors.append(str(error))

            thread = threading.Thread(target=second)
            thread.start()
            thread.join()
            found = views.undominated()
            return found.partitions[found.offsets[:-1]]

    assert env.act_many(Waits(), np.random.default_rng(0)).round_ended.all()
    assert len(errors) == 3
    assert all("another thread" in error for error in errors)
    env.play_random(1, np.random.default_rng(0))  # and nothing is held for good


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])  # noqa: S301
def test_copies_go_on_alike_and_apart(twin: Any) -> None:
    env = CrashVectorEnv(3, "bga", seed=1, target=3)
    env.play_random(5, np.random.default_rng(0))
    before, other = columns(env), twin(env)
    assert_same(env, other)
    assert len(pickle.dumps(env)) < 20_000  # what all share is not in it
    other.play_random(200, np.random.default_rng(1))
    for name, column in before.items():
        np.testing.assert_array_equal(column, env.column(name))
    env.play_random(200, np.random.default_rng(1))
    assert_same(env, other)
    assert env.seed == other.seed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_plays_on_while_the_pool_lives() -> None:
    env = CrashVectorEnv(600, "online", seed=3, threads=2)
    env.pick(env.sample_picks(np.random.default_rng(0)))  # the pool has been used
    child = os.fork()
    if child == 0:
        code = 1
        try:
            env.pick(env.sample_picks(np.random.default_rng(1)))
            code = int(env.column("picks").sum() % np.uint64(97)) + 10
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    env.pick(env.sample_picks(np.random.default_rng(1)))
    assert os.waitstatus_to_exitcode(status) == int(env.column("picks").sum() % np.uint64(97)) + 10


def test_parts_end_before_an_interruption_is_passed_on() -> None:
    ended = []

    def loop(start: int, stop: int) -> None:
        if start == 0:
            raise KeyboardInterrupt
        time.sleep(0.2)
        ended.append((start, stop))

    with pytest.raises(KeyboardInterrupt):
        split_rows(loop, 600, 2)
    assert ended == [(300, 600)]


def test_threads_are_any_whole_number() -> None:
    assert usable_threads(np.int64(2)) == 2  # type: ignore[arg-type]
    for wrong in (0, True, 1.0, "2"):
        with pytest.raises(ValueError, match="threads="):
            usable_threads(wrong)  # type: ignore[arg-type]


# ---- acts by turns --------------------------------------------------------------------------------------------------

EXTREME = [
    CrashRules(players=3, target=1, max_rounds=1),
    CrashRules(players=2, cards_dealt=3, target=1),
    CrashRules(players=2, cards_dealt=6, ranks="A23", lowest_hand="high_card"),
    CrashRules(players=5, cards_dealt=9, exchange="spare", lowest_hand="high_card"),
    CrashRules(players=2, quads_bonus=1_000_000, target=1_000_000),
    CrashRules(players=4, crash_call="required", crash_call_penalty=1_000_000, crash_call_bonus=1_000_000, target=1000),
]


@pytest.mark.parametrize("rules", EXTREME, ids=str)
def test_ways_to_act_may_be_mixed(rules: CrashRules) -> None:
    """Hands picked, then arrangements laid whole, at the same tables: always what `Game` says."""
    env = CrashVectorEnv(3, rules, seed=5)
    rng = np.random.default_rng(2)
    for _ in range(25):
        env.pick(env.sample_picks(rng))  # leaves picks half-way, which a whole arrangement then overrules
        games = [env.game(table) for table in range(3)]
        actions, acting = env.sample(rng), env.acting
        outcome = env.step(actions)
        for table, game in enumerate(games):
            game.step(int(actions[table]), int(acting[table]))
            assert game.result == outcome.result(table)
            if outcome.game_ended[table]:
                assert game.scores == tuple(outcome.scores[table].tolist())
            else:
                there = env.game(table)
                assert (game.scores, game.phase, game.pending) == (there.scores, there.phase, there.pending)
        assert (env.pick_masks().sum(axis=1) > 0).all()


@pytest.mark.parametrize("rules", EXTREME, ids=str)
def test_random_play_goes_on_from_half_a_hand(rules: CrashRules) -> None:
    env = CrashVectorEnv(3, rules, seed=5)
    rng = np.random.default_rng(2)
    env.pick(env.sample_picks(rng))
    twin, again = copy.deepcopy(env), copy.deepcopy(rng)
    env.play_random(60, rng)
    for _ in range(60):
        twin.pick(twin.sample_picks(again))
    assert_same(env, twin)


def test_a_table_at_rest_is_left_alone_by_all_draws() -> None:
    env = CrashVectorEnv(2, "online", seed=1, autoreset=False, episode="round")
    rng = np.random.default_rng(0)
    while (env.acting >= 0).any():
        env.step(env.sample(rng))
    before = copy.deepcopy(env)
    assert env.phase.tolist() == [Phase.OVER] * 2
    assert env.play_random(5, rng) == (0, 0)
    env.pick(env.sample_picks(rng))
    env.step(env.sample(rng))
    env.act_many(_Answer(None), rng)  # nobody is asked
    assert not env.offers().counts.any()
    assert_same(env, before)
