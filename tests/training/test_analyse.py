"""`prial analyse` on one hand and as a survey: rankings, differences and their reasons, advice, mistakes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from prial.agents.equity_table import EquityTable, round_states
from prial.agents.percentile import Percentile
from prial.agents.percentile_table import find_table
from prial.agents.solver_fast import SolverFast, SolverFastPolicy
from prial.agents.solver_table import find_solver_table, solver_options
from prial.envs.cards import parse_cards
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import ViewBatch, view_of
from prial.envs.crash.partitions import undominated
from prial.envs.crash.rules import CrashRules
from prial.envs.deals import DealStream
from prial.training.analysis import Analyst, plain_view, shapley
from prial.training.analysis_survey import survey_hands
from prial.training.cli import app
from solver_samples import random_table

RULES = CrashRules.preset("online")
KINGS = "As Ks Qs Kd Kc 9h 9d 8s 7h 5c 5d 4h 2c"
BGA = CrashRules.preset("bga")


def prial(*words: str, given: str | None = None) -> Result:
    return CliRunner().invoke(app, ["analyse", *words], prog_name="prial", input=given, env={"COLUMNS": "100"})


def as_json(*words: str) -> Any:
    result = prial(*words, "--json")
    assert result.exit_code == 0, result.output
    assert result.stdout.isascii()
    return json.loads(result.stdout)


def ids(text: str) -> list[int]:
    return [card.id for card in parse_cards(text)]


@pytest.fixture(scope="module")
def table_of(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The file of a table of nothing in particular for some rules."""

    def write(rules: CrashRules) -> str:
        file = tmp_path_factory.mktemp("tables") / "table.json"
        file.write_text(random_table(rules).to_json(), encoding="utf-8")
        return str(file)

    return write


# ---- one hand ---------------------------------------------------------------------------------------------------------


def test_every_undominated_arrangement_is_ranked_as_the_solver_values_it() -> None:
    answer = as_json(KINGS, "--score", "3,5,2")
    view = plain_view(RULES, ids(KINGS), scores=(3, 5, 2))
    assert answer["scores"] == [3, 5, 2]
    assert answer["undominated"] == len(answer["arrangements"]) == len(undominated(sorted(ids(KINGS)), RULES))
    shares = [one["win_share"] for one in answer["arrangements"]]
    assert shares == sorted(shares, reverse=True)
    policy = SolverFast().policy(RULES)
    batch = ViewBatch.of([view])
    assert sorted(shares) == pytest.approx(sorted(policy.values(batch, batch.undominated())[0]), abs=1e-6)
    first = answer["arrangements"][0]
    assert first["gives_up"]["win_share"] == 0
    for one in answer["arrangements"]:
        assert one["win_share"] + one["gives_up"]["win_share"] == pytest.approx(first["win_share"], abs=2e-6)
        assert 0 <= one["crash"] <= min(one["chances"])
        best_points = max(other["points"] for other in answer["arrangements"])
        assert one["gives_up"]["points"] == pytest.approx(best_points - one["points"], abs=2e-6)


def test_by_points_the_best_is_that_by_points() -> None:
    answer = as_json(KINGS, "--score", "6,6,6", "--objective", "points")
    points = [one["points"] for one in answer["arrangements"]]
    assert points == sorted(points, reverse=True)
    assert answer["arrangements"][0]["gives_up"]["win_share"] > 0.5  # at 6-6-6 only Hand 1 counts
    assert answer["arrangements"][0]["hands"][0] == ["As", "Ks", "Qs"]
    assert as_json(KINGS, "--score", "6,6,6")["arrangements"][0]["hands"][0] == ["Ks", "Kd", "Kc"]


def test_what_winning_a_hand_is_worth_follows_the_score() -> None:
    worth = as_json(KINGS, "--score", "6,6,6")["hand_worth"]
    assert worth[0] > 0.95
    assert worth[1:] == pytest.approx([0, 0, 0], abs=0.05)
    even = as_json(KINGS)["hand_worth"]
    assert max(even) < 0.25


def test_parts_add_up_to_the_difference_and_unchanged_hands_have_none() -> None:
    analyst = Analyst(RULES)
    ranking = analyst.ranked(plain_view(RULES, ids(KINGS), scores=(3, 5, 2)))
    best = ranking.rated[0]
    for other in ranking.rated[1:]:
        for objective in ("win", "points"):
            parts = analyst.parts(ranking.view, best, other, objective)
            assert sum(parts) == pytest.approx(best.worth(objective) - other.worth(objective), abs=1e-5)
            same = [mine == theirs for mine, theirs in zip(best.strengths, other.strengths, strict=True)]
            assert [parts[hand] for hand in range(4) if same[hand]] == pytest.approx([0.0] * sum(same), abs=1e-12)
            assert parts[4] == pytest.approx(0, abs=1e-12)  # no quads, no call


def test_shapley_is_the_mean_over_orders() -> None:
    worth = {frozenset(s): v for s, v in (((), 1.0), ((0,), 2.0), ((1,), 5.0), ((2,), 0.5), ((0, 1), 4.0))}
    worth |= {frozenset(s): v for s, v in (((0, 2), 7.0), ((1, 2), -3.0), ((0, 1, 2), 6.0))}
    slow = np.zeros(3)
    for order in permutations(range(3)):
        for place, one in enumerate(order):
            slow[one] += worth[frozenset(order[: place + 1])] - worth[frozenset(order[:place])]
    assert shapley(worth.__getitem__, 3) == pytest.approx(slow / 6)


def test_text_tells_cards_chances_losses_and_reasons() -> None:
    result = prial(KINGS, "--score", "3 5 2", "--top", "2")
    assert result.exit_code == 0
    text = result.stdout
    assert "Score: you 3, seat 1 5, seat 2 2 (clockwise), target 7; seat 2 deals." in text
    assert "undominated arrangements, the best first, by win share; the first 2:" in text
    assert " 1. A♠ K♠ Q♠ | 9♥ 8♠ 7♥ | K♦ 9♦ 5♦ | K♣ 5♣ 2♣ / 4♥" in text
    assert " 3. " not in text
    flat = " ".join(text.split())
    assert "Best. Against number 2 Hand 4 (" in flat
    assert "gives up" in flat
    assert "Against the best Hand 1 (" in flat
    assert result.stdout == prial(KINGS, "--score", "3 5 2", "--top", "2").stdout


def test_the_only_arrangement_says_so() -> None:
    held = "3c 3d 3h Ac Ad Ah Kc Kd Kh Qc Qd Qh 2s"
    assert len(undominated(sorted(ids(held)), RULES)) == 1
    assert "The only one worth laying" in prial(held).stdout


def test_a_four_of_a_kind_and_its_bonus_are_told() -> None:
    held = "2h 2s 5c 5h 7h 7s 8d 9c Kc Ac Ad Ah As"
    found = as_json(held)["arrangements"]
    reasons = " ".join(one["why"] for one in found)
    assert "the quads bonus (" in reasons


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["As Kd"], "expected 13 cards (cards_dealt), got 2"),
        (["As As " + KINGS[6:]], "As"),
        ([KINGS, "--score", "3,5"], "expected 3 whole numbers, own score first"),
        ([KINGS, "--score", "3,x,1"], "expected 3 whole numbers, own score first"),
        ([KINGS, "--score", "7,1,1"], "7 has reached the target, 7"),
        ([KINGS, "--score", "1,9,1"], "9 has reached the target, 7"),
        ([KINGS, "--dealer", "3"], "--dealer 3: expected a seat from 0, you, to 2"),
        ([KINGS, "--objective", "luck"], "expected win or points"),
        ([KINGS, "--kept", "1"], "nobody exchanges under these rules"),
        ([KINGS, "--given-up", KINGS], "nobody exchanges under these rules"),
        ([KINGS, "--set", "target=9"], "no solver table for these rules"),
        ([KINGS, "--game", "2"], "--game: does not go with cards"),
        ([KINGS, "--table", "nowhere.json"], "cannot read the table 'nowhere.json'"),
        ([], "give the cards of a hand"),
        (["nowhere.txt"], "nowhere.txt"),
        (["--survey", "10", KINGS], "--survey deals its own hands"),
        (["--survey", "10", "--part", "luck"], "--part 'luck': there are hands, crash,"),
        ([KINGS, "--part", "hands"], "--part: does not go with one hand or a record"),
        (["--survey", "10", "--dealer", "1"], "--dealer: does not go with --survey"),
    ],
)
def test_mistakes_are_told_in_a_line(words: list[str], told: str) -> None:
    result = prial(*words)
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
    assert not result.stdout


# ---- exchange and calls -----------------------------------------------------------------------------------------------


def test_the_exchange_is_advised_as_percentile_decides(table_of: Any) -> None:
    table = table_of(BGA)
    percentile = Percentile()
    seen = set()
    for seed in range(12):
        game = Game(BGA, seed=seed, dealer=2)
        view = view_of(game, 0)
        assert view.phase is Phase.EXCHANGE
        advice = Analyst(BGA, table=table).exchange(view)
        assert advice is not None
        exchanges = percentile.act(view, np.random.default_rng(0)) == game.layout.exchange
        assert advice.exchanges == exchanges
        seen.add(exchanges)
    assert seen == {True, False}


def test_good_hands_are_kept_and_poor_ones_exchanged() -> None:
    analyst = Analyst(BGA)
    good = analyst.exchange(plain_view(BGA, ids("3c 3d 3h Ac Ad Ah Kc Kd Kh Qc Qd Qh 2s")))
    poor = analyst.exchange(plain_view(BGA, ids("2c 2d 4h 4s 6c 6d 7h 9s 9d Jh Jc Qd Ks")))
    assert good is not None
    assert poor is not None
    for side in (good.win_share, good.points):
        assert side.gain < -10 * side.error
    for side in (poor.win_share, poor.points):
        assert side.gain > 10 * side.error


@pytest.mark.parametrize("players", [2, 3])
def test_keeping_is_the_mean_over_what_the_others_may_do(players: int, table_of: Any) -> None:
    rules = CrashRules.preset("bga", players=players)
    analyst = Analyst(rules, table=table_of(rules))
    view = plain_view(rules, ids(KINGS))
    found = analyst.exchange(view)
    assert found is not None
    # How often others exchange, from the same sample of hands, worked out the long way.
    rng = np.random.default_rng(7)
    unseen = np.array([card for card in rules.pack if card not in view.cards], np.int8)
    hands = rng.permuted(np.tile(unseen, (400, 1)), axis=1)[:, :13]
    table = find_table(rules)
    chances, worth = table.win_chances()[0], []
    for hand in hands.tolist():
        laid = undominated(sorted(hand), rules)
        wins = np.stack([chances[at, laid.strengths[:, at]] for at in range(4)])
        worth.append(float((wins.sum(axis=0) + wins.prod(axis=0)).max()))
    share = [float(np.mean(np.array(worth) < threshold)) for threshold in table.exchange_below]

    def kept(*known: bool | None) -> float:
        after = plain_view(rules, ids(KINGS), exchanges=known)
        return max(one.win_share for one in analyst.ranked(after).rated)

    if players == 2:
        expected = share[0] * kept(False, True) + (1 - share[0]) * kept(False, False)
    else:
        first, second = share[1], share[2]
        expected = first * kept(False, True, None) + (1 - first) * (
            second * kept(False, False, True) + (1 - second) * kept(False, False, False)
        )
    assert found.win_share.keep == pytest.approx(expected, abs=1e-6)


def test_the_exchange_in_text_and_json(table_of: Any) -> None:
    words = [KINGS, "--rules", "bga", "--table", table_of(BGA)]
    first = as_json(*words)
    assert first["exchanges"] == [None, None, None]
    assert set(first["exchange"]) == {"worth", "threshold", "win_share", "points"}
    assert set(first["exchange"]["points"]) == {"keep", "exchange", "error"}
    last = as_json(*words, "--dealer", "0")  # whoever is asked last knows that both others have kept
    assert last["exchanges"] == [None, False, False]
    assert last["exchange"]["threshold"] != first["exchange"]["threshold"]
    text = " ".join(prial(*words).stdout.split())
    assert re.search(r"(Keep|Exchange|Keep or exchange, there is little in it): keeping wins the game", text)
    assert "By the rule of thumb this hand can make" in text
    assert "If the hand is kept, and nothing more is known of the others:" in text
    after = "2s 2h 3s 3h 4s 4d 6s 6h 7s 7d 8h 8d Th"
    done = as_json(after, *words[1:], "--given-up", KINGS, "--kept", "1")
    assert done["exchange"] is None
    assert done["exchanges"] == [True, False, None]
    assert done["given_up"] == sorted(KINGS.split(), key=ids)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--kept", "3"], "expected seats from 1"),
        (["--kept", "1", "--exchanged", "1"], "seat 1: kept and exchanged"),
        (["--exchanged", "1,2"], "one spare hand"),
        (["--given-up", KINGS], "held and given up"),
    ],
)
def test_an_exchange_that_cannot_be_is_refused(words: list[str], told: str) -> None:
    result = prial(KINGS, "--rules", "bga", *words)
    assert result.exit_code == 2
    assert told in result.stderr


def test_whether_to_call_is_told(table_of: Any) -> None:
    rules = CrashRules.preset("traditional", players=2, target=5, crash_call="optional")
    path = table_of(rules)
    words = ["--rules", "traditional", "--players", "2", "--set", "target=5", "--set", "crash_call=optional"]
    answer = as_json(KINGS, *words, "--table", path)
    view = plain_view(rules, ids(KINGS))
    batch = ViewBatch.of([view])
    passing, calling = SolverFastPolicy(rules, random_table(rules)).values(batch, batch.undominated())
    assert sorted(one["call_gain"] for one in answer["arrangements"]) == pytest.approx(
        sorted(calling - passing), abs=1e-3
    )
    text = prial(KINGS, *words, "--table", path).stdout
    assert "calling is worth" in text


# ---- surveys ----------------------------------------------------------------------------------------------------------


def test_a_survey_says_what_good_play_does() -> None:
    found = survey_hands(RULES, scores=(0, 0, 0), deals=60, seed=4)
    assert [sum(shares[hand] for shares in found.laid.values()) for hand in range(4)] == pytest.approx([1] * 4)
    others = {one.name: one for one in found.others}
    assert set(others) == {"greedy", "balanced", "percentile", "points"}
    assert 0 <= others["percentile"].win_share < others["greedy"].win_share
    assert others["points"].points == 0
    assert all(one.points >= 0 for one in found.others)
    assert sum(one.hands for one in found.prials) > 0
    assert all(one.cost >= 0 for one in found.prials)
    chances = [chances for _, chances in found.ladder]
    assert chances == sorted(chances, reverse=True)  # the ladder goes down, and chances with it
    # The mean of chances that a hand of the survey has is the mean that the solver gives for the best arrangements.
    analyst = Analyst(RULES)
    one = survey_hands(RULES, scores=(3, 5, 2), deals=1, seed=9)
    held = [int(card) for card in _hand_of(seed=9)]
    best = analyst.ranked(plain_view(RULES, held, scores=(3, 5, 2)))
    assert one.chances == pytest.approx(best.rated[0].chances)
    assert one.hand_worth == pytest.approx(best.hand_worth)


def _hand_of(seed: int) -> list[int]:
    return sorted(DealStream(seed, 0).shuffle(RULES.pack, deal=0, count=13))


def test_a_survey_of_an_exchange_and_its_text(table_of: Any, tmp_path: Path) -> None:
    path = table_of(BGA)
    found = survey_hands(BGA, scores=(0, 0, 0), deals=40, table=path)
    assert found.exchange is not None
    below = found.exchange.below
    assert sorted(below) == sorted(below, key=lambda row: row[1])  # a higher threshold, more hands
    assert found.exchange.checked == 40
    assert 0 < found.exchange.better < 1
    assert (found.exchange.cost > 0) == (found.exchange.otherwise > 0)
    # The better of both choices, hand by hand, is never worse than either one for all hands, nor than the rule.
    assert min(found.exchange.never, found.exchange.always, found.exchange.by_rule) >= 0
    kinds = found.exchange.kinds
    assert sum(one.hands for one in kinds) == pytest.approx(1)
    assert sum(one.hands * one.exchanged for one in kinds) == pytest.approx(found.exchange.exchanged)
    gain = sum(one.hands * one.gain for one in kinds)
    assert gain == pytest.approx(found.exchange.never - found.exchange.always)
    analyst = Analyst(BGA, table=path)
    held = _hand_of(seed=1)
    asked = replace(ViewBatch.of([plain_view(BGA, held)]), phase=np.array([Phase.EXCHANGE], np.int8))
    keep, exchange = SolverFastPolicy(BGA, analyst.table).exchange_values(asked)
    one = survey_hands(BGA, scores=(0, 0, 0), deals=1, table=path).exchange
    assert one is not None
    assert one.never == pytest.approx(max(exchange[0] - keep[0], 0))
    assert one.always == pytest.approx(max(keep[0] - exchange[0], 0))
    result = prial("--survey", "40", "--rules", "bga", "--table", path)
    assert result.exit_code == 0
    for title in ("What it lays", "Three of a kind", "A run or a flush", "Other ways", "exchange a hand whose best"):
        assert title in result.stdout
    only = prial("--survey", "40", "--rules", "bga", "--table", path, "--part", "exchange", "--part", "crash").stdout
    assert "exchange a hand whose best" in only
    assert "Crashes: " in only
    assert "What it lays" not in only
    answer = as_json("--survey", "40", "--rules", "bga", "--table", path)
    assert answer["kind"] == "survey"
    assert answer["deals"] == 40


@pytest.mark.parametrize("call", ["optional", "required"])
def test_a_survey_of_calls_and_its_text(call: str, tmp_path: Path) -> None:
    rules = CrashRules.preset("traditional", players=2, crash_call=call)
    ahead = np.diff(round_states(2, 15, ordered=True), axis=1)[:, 0] / 30
    shipped = find_solver_table(CrashRules.preset("traditional", players=2))
    equity = EquityTable.known(rules, [0.5 - ahead, 0.5 + ahead])
    file = tmp_path / "table.json"
    file.write_text(replace(shipped, options=solver_options(rules), equity=equity).to_json(), encoding="utf-8")
    calls = survey_hands(rules, scores=(2, 2), deals=600, table=file).calls
    assert calls is not None
    assert sum(band.hands for band in calls.bands) == pytest.approx(1)
    assert sum(band.hands * band.called for band in calls.bands) == pytest.approx(calls.called)
    assert 0 < calls.called < 1
    assert 0 < calls.never < 0.1
    assert calls.points > 0
    # With scores that nothing can take below 0 a call needs, by points, the penalty's share of all that is at stake.
    needed = 1 / 2 if call == "optional" else 1 / 3
    for band in calls.bands:
        assert (band.points > 0) == (band.chance >= needed) or band.chance < needed < band.chance + 0.1
    words = ["--rules", "traditional", "--players", "2", "--set", f"crash_call={call}"]
    words += ["--score", "2,2", "--table", str(file), "--part", "calls"]
    shown = " ".join(prial("--survey", "600", *words).stdout.split())
    assert "call a crash. By the chance to crash" in shown
    assert f"Never calling would give up {100 * calls.never:.2f} pp" in shown
    assert survey_hands(RULES, scores=(0, 0, 0), deals=1).calls is None


def test_pictures_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "hand.png"
    assert prial(KINGS, "--plot", str(file)).exit_code == 0
    assert file.read_bytes().startswith(b"\x89PNG")
