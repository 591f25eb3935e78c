"""The state machine: phases, privacy of the exchange, legality, copies, replay, ends (RULES sections 3 and 4)."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import generate
from play import drawing, play_on, play_round, random_action, rule_variants, state_of
from prial.envs.cards import CardError, format_cards
from prial.envs.crash.events import Deal, GameEnd, Reveal, RoundEnd, Termination
from prial.envs.crash.game import Game, IllegalActionError, Phase
from prial.envs.crash.rules import CrashRules, RulesError
from prial.envs.crash.scoring import margins

VARIANTS = rule_variants()


def _name(rules: CrashRules) -> str:
    return f"{rules.name}-{rules.players}-{rules.crash_call}-{rules.finish}"


@pytest.mark.parametrize("rules", VARIANTS, ids=_name)
def test_whole_games_keep_the_rules(rules: CrashRules) -> None:
    """Cards, phases, turns, scores and the end, step by step, over games of random play."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        game = Game(rules, seed=seed)
        dealer, rounds = game.dealer, 0
        while not game.is_over:
            assert game.pending
            assert game.turn_order[-1] == game.dealer == (dealer + rounds) % rules.players
            _check_deal_and_turns(game)
            seat = int(rng.choice(game.pending))
            happened = game.step(random_action(game, seat, rng), seat)
            for event in happened:
                if isinstance(event, RoundEnd):
                    rounds += 1
                    assert event.round_number == rounds - 1
                    assert sum(margins(event.points)) == pytest.approx(0)
        assert game.pending == ()
        assert game.result is not None
        assert game.result.winners
        assert sum(game.result.win_share(s) for s in range(rules.players)) == pytest.approx(1)
        assert isinstance(game.events[-1], GameEnd)


def _check_deal_and_turns(game: Game) -> None:
    rules = game.rules
    held = [card for cards in (*game.hands, *(c for c in game.given_up if c)) for card in cards]
    spare = [card for cards in game.spares for card in cards]
    assert len(set(held)) == len(held)
    assert set(held) <= set(rules.pack)
    assert len(set(held) | set(spare)) == rules.cards_dealt * (rules.players + rules.num_spares)
    order = game.turn_order
    if game.phase is Phase.EXCHANGE:
        assert rules.players in (2, 3)
        assert game.laid == [None] * rules.players
    if game.phase is Phase.CALL:
        assert None not in game.laid
        assert len(game.pending) == 1
        assert [game.calls[seat] is not None for seat in order] == sorted(
            (game.calls[seat] is not None for seat in order), reverse=True
        )
    assert [seat for seat in order if seat in game.pending] == list(game.pending)
    for seat in range(rules.players):
        actions = game.legal_actions(seat)
        assert actions.dtype == np.int32
        assert (len(actions) > 0) == (seat in game.pending)


# ---- phases ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("exchange", ["none", "spare"])
@pytest.mark.parametrize("crash_call", ["none", "optional", "required"])
def test_phases_follow_the_options(players: int, exchange: Any, crash_call: Any) -> None:
    rules = CrashRules(
        players=players, cards_dealt=9, exchange=exchange, crash_call=crash_call, target=1000, crash_reward=0
    )
    game = Game(rules, seed=1)
    rng = np.random.default_rng(2)
    phases = [game.phase]
    while game.rounds_played == 0:
        play_on(game, rng, steps=1)
        if game.rounds_played == 0 and game.phase is not phases[-1]:
            phases.append(game.phase)
    expected = [Phase.ARRANGE]
    if exchange == "spare" and players < 4:
        expected.insert(0, Phase.EXCHANGE)
    if crash_call != "none":
        expected.append(Phase.CALL)
    assert phases == expected
    assert game.phase is expected[0]


def test_three_players_the_first_to_exchange_takes_the_spare_hand() -> None:
    rules = CrashRules.preset("bga")
    for taker in range(4):  # the place in turn order that exchanges; 3 for nobody
        game = Game(rules, seed=5)
        order, spare, before = game.turn_order, game.spares[0], list(game.hands)
        layout = game.layout
        for place, seat in enumerate(order):
            if place > taker:
                break
            assert game.phase is Phase.EXCHANGE
            assert game.pending == (seat,)
            for other in set(order) - {seat}:
                with pytest.raises(IllegalActionError, match=f"player_{other} .exchange phase.*to act: player_{seat}"):
                    game.step(layout.keep, other)
            game.step(layout.exchange if place == taker else layout.keep)
        assert game.phase is Phase.ARRANGE
        for place, seat in enumerate(order):
            took = place == taker
            assert game.hands[seat] == (spare if took else before[seat])
            assert game.given_up[seat] == (before[seat] if took else None)
            expected = True if took else False if place < taker else None
            assert game.exchanges[seat] == expected


def test_two_players_choose_at_once_each_with_a_spare_hand_of_their_own() -> None:
    rules = CrashRules.preset("bga", players=2)
    for order_of_choosing in ([0, 1], [1, 0]):
        game = Game(rules, seed=6)
        left = game.turn_order[0]
        before, spares = list(game.hands), game.spares
        assert set(game.pending) == {0, 1}
        for seat in order_of_choosing:
            game.step(game.layout.exchange, seat)
        assert game.phase is Phase.ARRANGE
        assert game.hands[left] == spares[0]
        assert game.hands[1 - left] == spares[1]
        assert game.given_up == before


def test_field_note_a_cards_given_up_are_never_dealt_again_in_the_round() -> None:
    game = Game(CrashRules.preset("bga"), seed=8)
    seat = game.pending[0]
    gone = game.hands[seat]
    game.step(game.layout.exchange)
    assert game.given_up[seat] == gone
    assert not {card for cards in game.hands for card in cards} & set(gone)


def test_arranging_is_in_any_order_and_once() -> None:
    game = Game(CrashRules.preset("traditional"), seed=3)
    for seat in (2, 0, 3):
        game.step(0, seat)
        assert seat not in game.pending
        with pytest.raises(IllegalActionError, match=f"player_{seat} .arrange phase.*to act: player_1|to act"):
            game.step(0, seat)
    assert game.pending == (1,)
    game.step(0)
    assert game.rounds_played == 1


def test_everything_laid_empty_scores_nobody() -> None:
    game = Game(CrashRules.preset("bga"), seed=3)
    for _ in range(3):
        game.step(game.layout.keep)
    for _ in range(3):
        game.step(0)
    assert game.round_points == (0, 0, 0)
    reveals = [event for event in game.events if isinstance(event, Reveal)]
    assert [event.winner for event in reveals] == [None] * 4
    assert all(event.hands == ((), (), ()) for event in reveals)


def test_whoever_alone_lays_a_hand_wins_it_and_all_of_them_crash() -> None:
    rules = CrashRules.preset("traditional", exchange="none")
    game = Game(rules, seed=4)
    star = next(seat for seat in range(4) if game.undominated(seat).strengths[0, 3] > 0)
    for seat in range(4):
        game.step(int(game.undominated(seat).partitions[0]) if seat == star else 0, seat)
    assert game.round_points == tuple(5 if seat == star else 0 for seat in range(4))


def test_max_rounds_truncates_and_the_highest_share() -> None:
    rules = CrashRules.preset("online", max_rounds=2)
    game = Game(rules, seed=1)
    for _ in range(6):
        game.step(0)
    assert game.is_over
    assert game.is_truncated
    assert game.result is not None
    assert (game.result.winners, game.result.reason) == ((0, 1, 2), Termination.MAX_ROUNDS)
    assert game.result.win_share(0) == pytest.approx(1 / 3)
    assert game.rounds_played == 2


# ---- illegal actions ------------------------------------------------------------------------------------------------


def _some_games() -> list[Game]:
    games = []
    for number, rules in enumerate(VARIANTS[::5]):
        rng = np.random.default_rng(number)
        game = Game(rules, seed=number)
        play_on(game, rng, steps=number % 7)
        games.append(game)
    return games


@pytest.mark.parametrize("game", _some_games(), ids=lambda g: f"{_name(g.rules)}-{g.phase.label}")
def test_illegal_actions_change_nothing(game: Game) -> None:
    before = state_of(game)
    layout = game.layout
    tried = 0
    for seat in (*range(game.rules.players), None):
        legal = set(game.legal_actions(game.pending[0] if seat is None else seat).tolist())
        some = [0, 1, 5000, layout.partitions - 1, layout.keep, layout.exchange, layout.pass_, layout.call, layout.noop]
        for action in (*some, -1, layout.noop + 1, 10**30):
            assert game.is_legal(action, seat) == (action in legal)
            if action in legal:
                game.check(action, seat)
                continue
            tried += 1
            for refuse in (game.step, game.check):
                with pytest.raises(IllegalActionError, match=f"player_.*{game.phase.label} phase.*{action}"):
                    refuse(action, seat)
        for action in (True, None, 1.0, "0", np.array([0, 1]), np.zeros(())):
            with pytest.raises(IllegalActionError, match=f"{game.phase.label} phase"):
                game.step(action, seat)  # type: ignore[arg-type]
    for seat in (-1, game.rules.players, 1.0, "player_0", True):
        with pytest.raises(IllegalActionError, match="is not at the table"):
            game.step(0, seat)  # type: ignore[arg-type]
    assert tried > 10
    assert state_of(game) == before


def test_a_hand_too_weak_is_refused_with_its_cards() -> None:
    deal = ["2c 4d 6h 8s Tc Qd", "3c 3d 5h 7s 9c Jd"]
    game = Game.from_deal(CrashRules(players=2, cards_dealt=6), deal)
    with pytest.raises(IllegalActionError, match=r"player_0 \(arrange phase\).*arrangement 1.*'2c 4d 6h' is no hand"):
        game.step(1, 0)
    assert game.legal_actions(0).tolist() == [0]
    assert 1 in game.legal_actions(1)


def test_after_the_end_nothing_is_to_do() -> None:
    game = Game(CrashRules.preset("online"), seed=1)
    play_on(game, np.random.default_rng(1))
    before = state_of(game)
    for seat in (None, 0, 1):
        for refuse in (game.step, game.check):
            with pytest.raises(RuntimeError, match="the game is over"):
                refuse(0, seat)
        assert not game.is_legal(0, seat)
    assert len(game.legal_actions(0)) == 0
    assert state_of(game) == before


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"dealer": 3}, RulesError, "dealer=3: expected a seat from 0 to 2"),
        ({"dealer": -1}, RulesError, "dealer=-1"),
        ({"dealer": True}, RulesError, "dealer=True"),
        ({"dealer": 1.5}, RulesError, "dealer=1.5"),
        ({"scores": [0, 0]}, RulesError, "scores=.*3 whole numbers"),
        ({"scores": [0, 0, 7]}, RulesError, "below the target"),
        ({"scores": [0, 0, -1]}, RulesError, "from 0 to 6"),
        ({"scores": [0, 0, 1.0]}, RulesError, "whole numbers"),
        ({"scores": [0, 0, True]}, RulesError, "whole numbers"),
        ({"rounds_played": 200}, RulesError, "expected 0 to 199"),
        ({"rounds_played": -1}, RulesError, "rounds_played=-1"),
        ({"rounds_played": 0.5}, RulesError, "rounds_played=0.5"),
        ({"rounds_played": True}, RulesError, "rounds_played=True"),
        ({"episode": "match"}, RulesError, "episode='match'"),
        ({"seed": -1}, ValueError, "seed is 0 or more"),
        ({"table": -1}, ValueError, "table is 0 or more"),
    ],
)
def test_what_a_game_cannot_start_from(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Game(CrashRules(), **options)


NINE = CrashRules(players=2, cards_dealt=3)


@pytest.mark.parametrize(
    ("rules", "hands", "spares", "message"),
    [
        (NINE, ["AsKsQs"], [], "hands: expected 2 for players=2, got 1"),
        (NINE, ["AsKsQs", "2c2d2h", "3c3d3h"], [], "hands: expected 2"),
        (NINE, ["AsKsQs", "2c2d"], [], r"hands\[1\] has 2 cards .*expected 3"),
        (NINE, ["AsKsQs", "2c2dAs"], [], "As is dealt twice"),
        (NINE, ["AsKsQs", "2c2d2d"], [], "2d is given twice"),
        (NINE, ["AsKsQs", "2c2dXd"], [], "'Xd' is not a card"),
        (NINE, ["AsKsQs", "2c2d2h"], ["3c3d3h"], "spares: expected 0"),
        (NINE.replace(exchange="spare"), ["AsKsQs", "2c2d2h"], ["3c3d3h"], "spares: expected 2 for players=2, got 1"),
        (NINE.replace(exchange="spare"), ["AsKsQs", "2c2d2h"], ["3c3d3h", "3c4d4h"], "3c is dealt twice"),
        (NINE.replace(ranks="9TJQKA"), ["AsKsQs", "2c9d9h"], [], r"2c is not in the pack \(ranks=9TJQKA\)"),
    ],
)
def test_what_is_no_deal(rules: CrashRules, hands: list[str], spares: list[str], message: str) -> None:
    with pytest.raises((CardError, RulesError), match=message):
        Game.from_deal(rules, hands, spares=spares)


def test_given_deals_come_with_a_dealer_and_ascending_ids() -> None:
    good = {"round_number": 0, "scores": (), "spares": ()}
    with pytest.raises(RulesError, match="dealer=2"):
        Game(NINE, deals=[Deal(dealer=2, hands=((0, 1, 2), (3, 4, 5)), **good)])  # type: ignore[arg-type]
    with pytest.raises(CardError, match=r"hands\[0\]: expected ascending ids"):
        Game(NINE, deals=[Deal(dealer=0, hands=((2, 1, 0), (3, 4, 5)), **good)])  # type: ignore[arg-type]
    game = Game(NINE, deals=[Deal(dealer=1, hands=((0, 1, 2), (3, 4, 5)), **good)])  # type: ignore[arg-type]
    assert (game.dealer, game.hands) == (1, [(0, 1, 2), (3, 4, 5)])


def test_numpy_numbers_are_numbers() -> None:
    game = Game(CrashRules(), scores=np.array([1, 2, 3]), dealer=np.int64(2), rounds_played=np.int8(4))  # type: ignore[arg-type]
    [event] = game.step(np.int64(0), np.int64(1))  # type: ignore[arg-type]
    assert json.dumps(asdict(event)) == '{"seat": 1, "partition": 0, "hands": []}'
    assert json.dumps([game.scores, game.dealer, game.rounds_played]) == "[[1, 2, 3], 2, 4]"
    deal = [format_cards(cards) for cards in game.hands]
    assert Game.from_deal(CrashRules(), deal, scores=np.array([1, 2, 3])).scores == (1, 2, 3)  # type: ignore[arg-type]


# ---- deals ----------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_game_and_others_others() -> None:
    rules = CrashRules.preset("bga")
    first = [Game(rules, seed=0, table=table).hands for table in range(50)]
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 (shows that it does not matter)
    assert [Game(rules, seed=0, table=table).hands for table in range(50)] == first
    assert len({str(hands) for hands in first}) == 50
    assert Game(rules, seed=1).hands != Game(rules, seed=0).hands


def test_deal_numbers_run_on_round_by_round() -> None:
    rules = CrashRules.preset("online")
    game = Game(rules, seed=3)
    for _ in range(3):
        game.step(0)
    assert game.deal_number == 2
    later = Game(rules, seed=3, first_deal=1, dealer=game.dealer)
    assert later.hands == game.hands
    assert later.deal_number == 2


def test_dealing_goes_round_from_the_dealers_left() -> None:
    rules = CrashRules.preset("bga")
    deals = [Game(rules, seed=9, dealer=dealer) for dealer in range(3)]
    assert len({game.spares for game in deals}) == 1
    for game in deals:
        assert [game.hands[seat] for seat in game.turn_order] == [deals[0].hands[seat] for seat in deals[0].turn_order]


def test_the_first_dealer_is_drawn() -> None:
    assert {Game(CrashRules(), seed=seed).dealer for seed in range(40)} == {0, 1, 2}


# ---- the same round told otherwise ----------------------------------------------------------------------------------


def _turned(one: dict[str, Any], by: int) -> dict[str, Any]:
    """The round with every player `by` seats further round the table."""
    n = one["rules"]["players"]
    moved = dict(one)
    for name in ("scores", "hands", "exchange", "laid", "calls"):
        moved[name] = [one[name][(seat - by) % n] for seat in range(n)]
    moved["dealer"] = (one["dealer"] + by) % n
    return moved


def _in_other_suits(one: dict[str, Any], suits: str) -> dict[str, Any]:
    def moved(x: Any) -> Any:
        if isinstance(x, list):
            return [moved(y) for y in x]
        return x[0] + suits["cdhs".index(x[1])] if isinstance(x, str) else x

    return {**one, **{name: moved(one[name]) for name in ("hands", "spares", "laid")}}


def _outcome(game: Game) -> tuple[Any, ...]:
    return game.scores, game.round_points, game.result, len(game.events)


@given(st.integers(0, 10**9), st.permutations("cdhs"))
def test_suits_are_interchangeable_in_whole_rounds(seed: int, suits: list[str]) -> None:
    rng = drawing(seed)
    one = generate.random_round(rng, generate.random_rules(rng))
    assert _outcome(play_round(_in_other_suits(one, "".join(suits)))) == _outcome(play_round(one))


@given(st.integers(0, 10**9), st.integers(1, 4))
def test_moving_everyone_round_the_table_moves_the_result(seed: int, by: int) -> None:
    rng = drawing(seed)
    one = generate.random_round(rng, generate.random_rules(rng))
    before, after = play_round(one), play_round(_turned(one, by))
    n = before.rules.players
    assert after.scores == tuple(before.scores[(seat - by) % n] for seat in range(n))
    assert after.round_points is not None
    assert before.round_points is not None
    assert after.round_points == tuple(before.round_points[(seat - by) % n] for seat in range(n))
    assert (after.result is None) == (before.result is None)
    if after.result is not None and before.result is not None:
        assert sorted(after.result.winners) == sorted((seat + by) % n for seat in before.result.winners)


def test_one_games_rules_do_not_leak_into_anothers() -> None:
    """`bga`, `online`, `bga` again in one process: 9-5-3 against A-K-9, both flushes."""
    hands = ["9s5s3s", "AhKh9h"]
    winners = []
    for flush_high in ("three", "ace", "three"):
        game = Game.from_deal(NINE.replace(flush_high=flush_high), hands, episode="round")
        for seat in range(2):
            game.step(1, seat)
        winners.append(next(event.winner for event in game.events if isinstance(event, Reveal)))
    assert winners == [0, 1, 0]


def test_undominated_arrangements_follow_the_cards_after_an_exchange() -> None:
    game = Game(CrashRules.preset("bga"), seed=2)
    seat = game.pending[0]
    before = game.undominated(seat)
    assert game.undominated(seat) is before
    game.step(game.layout.exchange)
    after = game.undominated(seat)
    assert after is not before
    assert game.is_legal(int(after.partitions[0]), seat)
