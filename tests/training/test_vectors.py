"""Conformance vectors: read back as anyone would, and checked with the scorer that knows the rules alone."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from oracles import ranking
from oracles.enumerate_np import count_arrangements, undominated_values
from oracles.rulesets import num_hands
from oracles.scorer import laid_faults, score_round
from prial.agents import make
from prial.agents.engine_protocol import format_decision, read_position, read_rules
from prial.training.cli import app
from prial.training.one_file_check import level_chance
from prial.training.vectors import AGENTS, LEVELS, vector_rules, vectors

Line = dict[str, Any]
# Codes of the oracle, by those of the vectors.
FAULTS = {
    "too_many_hands": "too_many_hands",
    "not_three_cards": "hand_size",
    "repeated_card": "repeated",
    "foreign_card": "not_held",
    "not_a_hand": "below_lowest_hand",
    "wrong_order": "order",
}


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    return [json.loads(line) for line in vectors(seed=7, deals=2)]


@pytest.fixture(scope="module")
def rules(lines: list[Line]) -> dict[str, Line]:
    return {line["id"]: line["options"] for line in lines if line["kind"] == "rules"}


def of(lines: list[Line], kind: str) -> list[Line]:
    return [line for line in lines if line["kind"] == kind]


def hands_of(lay: str) -> list[list[str]]:
    """The hands of ``lay As Ks Qs | ...``."""
    text = lay.removeprefix("lay").strip()
    return [hand.split() for hand in text.split("|")] if text else []


def test_there_are_lines_of_every_kind_for_all_rules(lines: list[Line], rules: dict[str, Line]) -> None:
    assert lines[0]["kind"] == "about"
    assert list(rules) == list(vector_rules())
    assert {"online-2", "bga-5", "traditional-4"} <= set(rules)
    for name, options in rules.items():
        phases = {line["phase"] for line in of(lines, "position") if line["rules"] == name}
        exchange = options["exchange"] == "spare" and options["players"] <= 3
        assert ("exchange" in phases) == exchange
        assert ("call" in phases) == (options["crash_call"] != "none")
        assert "arrange" in phases
        rounds = [line for line in of(lines, "round") if line["rules"] == name]
        assert len(rounds) >= 2
    assert any(line["expected"]["crasher"] is not None for line in of(lines, "round"))
    assert {line["expected"]["reason"] for line in of(lines, "round")} == {None, "target", "crash"}


def test_hands_are_ranked_as_the_rules_say(lines: list[Line]) -> None:
    hands = of(lines, "hand")
    assert [hand["strength"]["ace"] for hand in hands] == list(range(1, 742))
    for hand in hands:
        assert hand["class"] == ranking.classify(hand["cards"])
        assert hand["strength"]["ace"] == ranking.strength(hand["cards"], flush_high="ace")
        assert hand["strength"]["three"] == ranking.strength(hand["cards"], flush_high="three")
    assert all(ranking.compare(a["cards"], b["cards"], flush_high="ace") == "<" for a, b in pairwise(hands))


def test_commands_and_json_say_the_same(lines: list[Line], rules: dict[str, Line]) -> None:
    known = {line["id"]: read_rules(line["command"].split()[1:]) for line in of(lines, "rules")}
    for name, options in rules.items():
        assert {option: getattr(known[name], option) for option in options} == options
    for line in of(lines, "position"):
        view = read_position(line["command"].split()[1:], known[line["rules"]])
        seen = line["view"]
        assert (view.seat, view.dealer, view.rounds_played) == (seen["seat"], seen["dealer"], seen["rounds_played"])
        assert list(view.scores) == seen["scores"]
        assert (list(view.exchanges), list(view.calls)) == (seen["exchanges"], seen["calls"])
        assert (view.laid is None) == (seen["laid"] is None)
        assert len(seen["cards"]) == len(view.cards)


def test_legal_and_undominated_answers_are_the_oracles(lines: list[Line], rules: dict[str, Line]) -> None:
    kinds = set()
    for line in of(lines, "position"):
        options, cards = rules[line["rules"]], line["view"]["cards"]
        if line["phase"] != "arrange":
            assert "undominated" not in line
            continue
        how = {"lowest_hand": options["lowest_hand"], "flush_high": options["flush_high"]}
        assert line["legal"] == count_arrangements(cards, lowest_hand=options["lowest_hand"])
        values = {(*one["strengths"], one["quads"] * options["quads_bonus"]) for one in line["undominated"]}
        assert values == undominated_values(cards, **how, quads_bonus=options["quads_bonus"])
        assert len(values) == len(line["undominated"])
        for one in line["undominated"]:
            laid = hands_of(one["lay"])
            assert laid_faults(cards, laid, options) == []
            strengths = [ranking.strength(hand, flush_high=options["flush_high"]) for hand in laid]
            assert one["strengths"] == strengths + [0] * (num_hands(options) - len(laid))
        for one in line["tries"]:
            found = {code for code, _ in laid_faults(cards, hands_of(one["lay"]), options)}
            assert one["legal"] == (not found)
            assert found <= {FAULTS[kind] for kind in one["faults"]}  # the oracle looks no further than the first kinds
            kinds |= set(one["faults"])
    assert kinds == set(FAULTS)


def test_rounds_are_scored_as_the_oracle_does(lines: list[Line], rules: dict[str, Line]) -> None:
    for line in of(lines, "round"):
        expected = score_round({**line, "rules": rules[line["rules"]]})
        stated = line["expected"]
        for name in ("revealed", "crasher", "scores", "points", "winners", "reason"):
            assert stated[name] == expected[name], (line, name)
        assert stated["comparison_winners"] == expected["comparison_winners"][: expected["revealed"]]


def test_decisions_are_those_of_the_agents(lines: list[Line]) -> None:
    known = {line["id"]: read_rules(line["command"].split()[1:]) for line in of(lines, "rules")}
    agents = {name: make(name) for name in AGENTS}
    told = set()
    for line in of(lines, "position"):
        view = read_position(line["command"].split()[1:], known[line["rules"]])
        for name, decision in line["decisions"].items():
            assert format_decision(agents[name].act(view, None), view) == decision  # type: ignore[arg-type]
            told.add((name, line["phase"]))
        assert {"greedy", "balanced"} <= set(line["decisions"])
    assert told == {(name, phase) for name in AGENTS for phase in ("exchange", "arrange", "call")} - {
        ("online", "exchange"),
        ("online", "call"),
        ("bga", "call"),
    }


def test_decisions_of_levels_are_theirs_by_the_seed(lines: list[Line]) -> None:
    known = {line["id"]: read_rules(line["command"].split()[1:]) for line in of(lines, "rules")}
    agents = {name: make(name) for name in LEVELS}
    told = set()
    for line in of(lines, "position"):
        view = read_position(line["command"].split()[1:], known[line["rules"]])
        chance = level_chance(np.array([line["seed"]], np.int32))
        for name, decision in line["decisions_by_seed"].items():
            assert format_decision(agents[name].act(view, chance), view) == decision
            told.add((name.partition(":")[0], line["phase"]))
    assert told == {
        *(("online", "arrange"), ("bga", "arrange"), ("bga", "exchange")),
        *(("traditional", phase) for phase in ("exchange", "arrange", "call")),
    }


# ---- the command ------------------------------------------------------------------------------------------------------


def test_the_command_writes_the_same_file_for_the_same_seed(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl")]
    for file, seed in zip(files, ("5", "5", "6"), strict=True):
        words = ["export", "--vectors", str(file), "--deals", "1", "--seed", seed]
        result = CliRunner().invoke(app, words, prog_name="prial")
        assert result.exit_code == 0, result.output
        assert f"Wrote {file}: " in result.stdout
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()
    assert files[0].read_bytes().isascii()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "--vectors", "v.jsonl"), "--vectors is written instead of a network; leave out 'run'"),
        ((), "expected AGENT or RUN and OUT.onnx, or --vectors FILE"),
        (("run",), "expected AGENT or RUN and OUT.onnx, or --vectors FILE"),
    ],
)
def test_what_the_command_refuses(words: tuple[str, ...], message: str) -> None:
    result = CliRunner().invoke(app, ["export", *words], prog_name="prial")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
