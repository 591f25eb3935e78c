"""Batches of self-play: what is dealt, what arrangements are worth (by the plain scorer), and courses of the exchange."""

from __future__ import annotations

import numpy as np
import pytest

from prial.agents.solver_table import SolverTableError
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.scoring import margins, settle_round
from prial.training.selfplay_deals import Dealer, courses_of, draw_rows
from prial.training.selfplay_rounds import Choosing, reach_of

RULES = {
    "online": CrashRules.preset("online"),
    "bga-2": CrashRules.preset("bga", players=2),
    "bga-3": CrashRules.preset("bga", players=3),
    "required": CrashRules.preset("traditional", players=3, crash_call="required", quads_bonus=1),
}


def _dealer(rules: CrashRules, objective: str) -> Dealer:
    base = CrashRules.preset(rules.name, players=rules.players)
    return Dealer(rules, seed=3, from_any_score=0.7, from_nil=0.1, objective=objective, base=base)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("objective", ["points", "win"])
def test_every_arrangement_is_worth_what_the_plain_scorer_says(name: str, objective: str) -> None:
    rules = RULES[name]
    dealer, n = _dealer(rules, objective), rules.players
    deals = dealer.deal(batch=0, total=6, tables=range(6))
    rng = np.random.default_rng(1)
    drawn, _ = draw_rows(rng.normal(size=len(deals.packed)), deals.found.offsets, rng.random(len(deals.views)))
    calls = rng.integers(2, size=(deals.rounds, n)).astype(np.int8) * rules.has_calls
    got = dealer.worth(deals, drawn, calls, own_call=-1)
    flipped = dealer.worth(deals, drawn, calls, own_call=1) if rules.has_calls else got
    for number in rng.integers(deals.rounds, size=12):
        rows = drawn[number * n : number * n + n]
        view = deals.views[int(number) * n]
        order = [(view.dealer + 1 + place) % n for place in range(n)]
        for seat in range(n):
            first, end = deals.found.offsets[number * n + seat], deals.found.offsets[number * n + seat + 1]
            for row in {int(first), int(end) - 1}:
                laid = [*rows[:seat], row, *rows[seat + 1 :]]
                for own, found in ((calls[number, seat], got), (1, flipped)):
                    if not rules.has_calls and own:
                        continue
                    said = [bool(call) for call in calls[number]]
                    said[seat] = bool(own)
                    settled = settle_round(
                        rules,
                        strengths=deals.found.strengths[laid].tolist(),
                        quads=deals.found.quads[laid].tolist(),
                        called=said,
                        scores=view.scores,
                        order=order,
                    )
                    assert found[row] == pytest.approx(_worth(dealer, settled, seat, view.dealer, objective), abs=1e-5)


def _worth(dealer: Dealer, settled, seat: int, dealt: int, objective: str) -> float:
    if objective == "points":
        return margins(settled.round_points)[seat]
    if settled.result is not None:
        return 10 * (seat in settled.result.winners) / len(settled.result.winners)
    n = len(settled.scores)
    assert dealer.equity is not None
    return 10 * float(dealer.equity.shares_at(np.array([settled.scores]), np.array([(dealt + 1) % n]))[0, seat])


def test_winning_chances_to_another_target_are_refused() -> None:
    with pytest.raises(SolverTableError, match="target=10: winning chances are known to 7 points"):
        _dealer(CrashRules.preset("bga", target=10), "win")
    _dealer(CrashRules.preset("bga", target=10), "points")


def test_parts_of_a_batch_are_those_of_the_whole() -> None:
    dealer = _dealer(RULES["bga-3"], "points")
    whole = dealer.deal(batch=4, total=8, tables=range(8))
    part = dealer.deal(batch=4, total=8, tables=range(3, 8))
    rows = slice(3 * 4 * 3, None)
    assert np.array_equal(whole.views.cards[rows], part.views.cards)
    assert np.array_equal(whole.views.scores[rows], part.views.scores)
    other = dealer.deal(batch=5, total=8, tables=range(8))
    assert not np.array_equal(whole.views.cards, other.views.cards)


@pytest.mark.parametrize("name", ["bga-2", "bga-3"])
def test_courses_of_the_exchange(name: str) -> None:
    rules = RULES[name]
    n = rules.players
    deals = _dealer(rules, "points").deal(batch=0, total=5, tables=range(5))
    cards = deals.views.cards.reshape(5, len(courses_of(rules)), n, 13)
    given_up = deals.views.given_up.reshape(cards.shape)
    exchanges = deals.views.exchanges.reshape(5, len(cards[0]), n, n)
    kept = cards[:, -1]  # nobody exchanges in the last course
    assert (given_up[:, -1] == -1).all()
    for table in range(5):
        for course, said in enumerate(courses_of(rules)):
            for place, seat in enumerate(deals.turn[table]):
                assert (exchanges[table, course, :, seat] == said[place]).all()
                swapped = said[place] == 1
                assert np.array_equal(given_up[table, course, seat], kept[table, seat]) == swapped
                assert np.array_equal(cards[table, course, seat], kept[table, seat]) != swapped
            held = {int(card) for hand in cards[table, course] for card in hand}
            assert len(held) == 13 * n


def test_what_exchanging_gains_three_players() -> None:
    deals = _dealer(RULES["bga-3"], "points").deal(batch=0, total=1, tables=range(1))
    chance = np.array([0.2, 0.5, 0.75])  # by place in turn order
    by_place = np.array([[5.0, 1, 2], [7.0, 3, 4], [6.0, 0, 9], [8.0, 2, 1]])  # courses: X, KX, KKX, KKK
    got = np.empty((4, 3))
    got[:, deals.turn[0]] = by_place
    weights, asked, gain = reach_of(deals, chance, got.reshape(-1))
    kept_by_first = 0.5 * 7 + 0.5 * (0.75 * 6 + 0.25 * 8)
    assert gain.tolist() == pytest.approx([5 - kept_by_first, 3 - (0.75 * 0 + 0.25 * 2), 9 - 1])
    assert asked.tolist() == pytest.approx([1.0, 0.8, 0.8 * 0.5])
    reached = np.array([0.2, 0.8 * 0.5, 0.8 * 0.5 * 0.75, 0.8 * 0.5 * 0.25])
    assert weights.reshape(4, 3) == pytest.approx(np.tile(reached[:, None], 3))


def test_what_exchanging_gains_two_players() -> None:
    deals = _dealer(RULES["bga-2"], "points").deal(batch=0, total=1, tables=range(1))
    by_place = np.array([[1.0, -1], [2.0, -2], [-3.0, 3], [0.5, -0.5]])  # XX, XK, KX, KK
    got = np.empty((4, 2))
    got[:, deals.turn[0]] = by_place
    _, asked, gain = reach_of(deals, np.array([0.25, 0.6]), got.reshape(-1))
    first = (0.6 * 1 + 0.4 * 2) - (0.6 * -3 + 0.4 * 0.5)
    second = (0.25 * -1 + 0.75 * 3) - (0.25 * -2 + 0.75 * -0.5)
    assert gain.tolist() == pytest.approx([first, second])
    assert asked.tolist() == [1.0, 1.0]


def test_who_chooses_sees_what_was_kept_before() -> None:
    deals = _dealer(RULES["bga-3"], "points").deal(batch=0, total=4, tables=range(4))
    choosing = Choosing.of(deals)
    for row in range(len(choosing.views)):
        table, place = divmod(row, 3)
        said = choosing.views.exchanges[row][deals.turn[table]]
        assert said.tolist() == [0] * place + [-1] * (3 - place)
        assert choosing.kept.exchanges[row, choosing.views.seat[row]] == 0


def test_draws_follow_the_softmax() -> None:
    logits = np.log(np.array([0.2, 0.8, 1.0, 0.5, 0.25, 0.25]))
    offsets = np.array([0, 2, 3, 6])
    rng = np.random.default_rng(5)
    rows = np.array([draw_rows(logits, offsets, rng.random(3))[0] for _ in range(4000)])
    assert np.bincount(rows[:, 0])[1] / 4000 == pytest.approx(0.8, abs=0.03)
    assert set(rows[:, 1]) == {2}
    assert np.bincount(rows[:, 2])[3] / 4000 == pytest.approx(0.5, abs=0.04)
