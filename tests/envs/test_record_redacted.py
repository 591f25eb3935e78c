"""Redacted records show what a view knows, and nothing else."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from play import play_on, random_action, rule_variants
from prial.envs.crash.events import Arrange, Deal, Event, Exchange, Reveal
from prial.envs.crash.game import Game, Phase
from prial.envs.crash.observation import view_of
from prial.envs.crash.record import RecordError, from_json, parse_record, record_of, rescore, shown_rounds
from prial.envs.crash.render import format_round, split_rounds
from prial.envs.crash.rules import CrashRules
from tables import TABLES

CARD = re.compile(r"\b[2-9TJQKA][cdhs]\b")
RULES = [*TABLES.values(), *rule_variants()]


def text_of(card: int) -> str:
    return "23456789TJQKA"[card // 4] + "cdhs"[card % 4]


def known_cards(events: tuple[Event, ...], seat: int | None, players: int) -> set[int]:
    """The cards of one round that somebody has seen: own ones, and those revealed."""
    known: set[int] = set()
    for event in events:
        if isinstance(event, Deal):
            deal = event
            if seat is not None:
                known |= set(event.hands[seat])
        elif isinstance(event, Exchange) and event.exchanged and event.seat == seat:
            mine = (seat - deal.dealer - 1) % players if players == 2 else 0
            known |= set(deal.spares[mine])
        elif isinstance(event, Reveal):
            known |= {card for hand in event.hands for card in hand}
    return known


@given(st.data())
def test_redacted_records_hide_exactly_what_is_not_known(data: st.DataObject) -> None:
    rules = data.draw(st.sampled_from(RULES))
    seed = data.draw(st.integers(0, 10**6))
    game = Game(rules, seed=seed)
    play_on(game, np.random.default_rng(seed), steps=data.draw(st.integers(0, 40)))
    whole = record_of(game, agents=["x"] * rules.players)
    for seat in (None, *range(rules.players)):
        record = whole.redacted(seat)
        text = str(record)
        # There and back, in both forms.
        assert parse_record(text) == from_json(record.to_json()) == record
        assert str(parse_record(text)) == text
        # Cards: all that are known are there, and no other.
        rounds = re.split(r"^round .*$", text, flags=re.MULTILINE)[1:]
        for shown, events in zip(rounds, split_rounds(game.events), strict=True):
            assert set(CARD.findall(shown)) == {text_of(c) for c in known_cards(events, seat, rules.players)}
        # Nothing else from which hidden cards follow.
        assert "seed" not in text
        assert record.seed is record.table is record.first_deal is None
        for events in shown_rounds(record):
            assert format_round(events, rules=rules)
        # The round in progress says of others what the view says, no more and no less.
        if seat is not None and not game.is_over:
            view, last = view_of(game, seat), record.rounds[-1]
            assert last.exchanges == view.exchanges
            assert last.calls == view.calls
            assert last.held(seat) == view.cards
            assert (last.arrangements[seat] is None) == (view.laid is None)
            if game.phase <= Phase.ARRANGE:
                assert [
                    other for other, laid in enumerate(last.arrangements) if laid is not None and other != seat
                ] == []
        rescored = rescore(record)
        assert [one.scores for one in rescored.rounds] == [one.scores for one in whole.rounds if one.scores]
        assert rescored.result == game.result


@pytest.mark.parametrize("rules", [TABLES["bga-2"], TABLES["traditional-3"], TABLES["required-call-2"]], ids=str)
def test_simultaneous_choices_of_others_leave_no_trace(rules: CrashRules) -> None:
    """Until a phase is over, the record of a seat is the same whether others have chosen or not, and what."""
    rng = np.random.default_rng(1)
    game = Game(rules, seed=1)
    compared = 0
    while not game.is_over:
        together = game.phase is Phase.ARRANGE or (game.phase is Phase.EXCHANGE and rules.players == 2)
        if together and len(game.pending) > 1:
            for acting, watching in [game.pending[:2], game.pending[:2][::-1]]:
                for choice in (0, -1):
                    other = game.copy()
                    actions = other.legal_actions(acting)
                    other.step(int(actions[choice]), acting)
                    assert record_of(other).redacted(watching) == record_of(game).redacted(watching)
                    assert record_of(other).redacted() == record_of(game).redacted()
                    compared += 1
        seat = game.pending[0]
        game.step(random_action(game, seat, rng), seat)
    assert compared


def test_an_early_end_leaves_later_hands_hidden() -> None:
    rules = CrashRules.preset("online", target=1)
    ended = [Game(rules, seed=seed) for seed in range(20)]
    for game in ended:
        play_on(game, np.random.default_rng(0))
    (early, *_) = [g for g in ended if len(record_of(g).rounds[-1].winners) == 1]
    record = record_of(early).redacted()
    last = record.rounds[-1]
    assert all(laid is not None and len(laid.hands) <= 1 and laid.rest is None for laid in last.arrangements)
    laid_one = sum(isinstance(e, Arrange) and bool(e.hands) for e in early.events if isinstance(e, Arrange))
    assert laid_one
    assert any("what player_0 laid after Hand 1" in line for line in rescore(record).unchecked)
    assert str(record).count("| ") == 0


def test_redacted_again() -> None:
    game = Game(TABLES["bga-3"], seed=3)
    play_on(game, np.random.default_rng(3))
    whole = record_of(game)
    one = whole.redacted(1)
    assert one.redacted(1) == one
    assert one.redacted() == whole.redacted()
    assert whole.redacted().redacted() == whole.redacted()
    for record in (one, whole.redacted()):
        with pytest.raises(RecordError, match="redacted already and shows less than seat 0 knows"):
            record.redacted(0)
        with pytest.raises(RecordError, match="a redacted record hides cards, so it cannot be replayed"):
            record.replay()
    with pytest.raises(RecordError, match="seat 3: expected 0 to 2, or None for a spectator"):
        whole.redacted(3)
    with pytest.raises(RecordError, match="seat True"):
        whole.redacted(True)
    unfinished = record_of(Game(TABLES["bga-3"], seed=3)).redacted(1)
    with pytest.raises(RecordError, match="a redacted record hides cards"):
        unfinished.resume()


def test_views_grow_with_the_game() -> None:
    """Whatever a seat's record shows of a round, a later record shows too."""
    rng = np.random.default_rng(2)
    game = Game(TABLES["required-call-3"], seed=2)
    seen = [str(record_of(game).redacted(0))]
    while not game.is_over:
        seat = game.pending[0]
        game.step(random_action(game, seat, rng), seat)
        seen.append(str(record_of(game).redacted(0)))
    for before, after in pairwise(seen):
        assert set(CARD.findall(before)) <= set(CARD.findall(after))
