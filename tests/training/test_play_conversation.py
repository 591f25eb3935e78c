"""The conversation at the table, line by line, without a terminal."""

from __future__ import annotations

import re

import pytest

from prial.envs.cards import format_cards, parse_cards
from prial.envs.crash.arrangement import Arrangement
from prial.envs.crash.events import Award, AwardReason
from prial.envs.crash.game import Game
from prial.envs.crash.observation import view_of
from prial.envs.crash.partitions import undominated
from prial.envs.crash.rules import CrashRules
from prial.training.table_arranging import ArrangeQuestion
from prial.training.table_hints import best_known_agent, hint_for
from prial.training.table_questions import CallQuestion, ExchangeQuestion, Request
from prial.training.table_style import Style, visible_length
from prial.training.table_typing import read_hands
from prial.training.table_words import Teller

ONLINE = CrashRules.preset("online", players=2)
HELD = "9s 9h Kd 8s 7h 6d 2c 2d 4h 4s Js Tc Ah"
OTHER = "3c 3h 5h 6c 6h 7d 7s 9c Th Ts Qh Kh Ac"


def question(held: str = HELD, other: str = OTHER, *, rules: CrashRules = ONLINE, style: Style | None = None):
    game = Game.from_deal(rules, [held, other], dealer=1)
    teller = Teller(rules, names=["you", "greedy"], seat=0, style=style or Style())
    return ArrangeQuestion(view_of(game, 0), teller)


def flat(text: str) -> str:
    return " ".join(text.split())


# ---- typed hands ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "typed",
    [
        "8s 7h 6d | 9s 9h Kd | 4h 4s Ah | 2c 2d Js",
        "8S7H6D|9S9HKD|4h 4s ah|2c,2d,js /10c",
        "8♠ 7♥ 6♦ 9♠ 9♥ K♦ 4♥ 4♠️ A♥ 2♣ 2♦ J♠",
        "8s 7h 6d 9s 9h Kd 4h 4s Ah 2c 2d Js 10c",
        "| 8s 7h 6d | 9s 9h Kd | 4h 4s Ah | 2c 2d Js |",
        "876 99K 44A 22J",
        "8 7 6 | k 9 9 | 4 4 a | 2 j 2",
    ],
)
def test_hands_can_be_typed_in_many_ways(typed: str) -> None:
    asked = question()
    shown = asked.answer(typed)
    assert shown.action is None
    assert "run 8-7-6" in shown.text
    assert "pair of 9s with K" in shown.text
    assert asked.prompt == "Enter to lay, or more: "
    laid = Arrangement.from_index(asked.answer("").action, HELD, ONLINE)
    assert str(laid) == "8s 7h 6d | Kd 9s 9h | Ah 4s 4h | Js 2d 2c / Tc"


def test_hands_are_gathered_until_enter() -> None:
    asked = question()
    assert "1 of 4 hands" in asked.answer("8s 7h 6d").text
    assert "could still make Hand 3, such as" in flat(asked.answer("9s 9h Kd").text)
    assert "2 of 4" not in asked.answer("4h 4s Ah").text
    assert "2 of 4" in asked.answer("undo").text
    laid = Arrangement.from_index(asked.answer("ok").action, HELD, ONLINE)
    assert str(laid) == "8s 7h 6d | Kd 9s 9h / Ah Js Tc 4s 4h 2d 2c"


def test_ranks_alone_take_the_suits_that_make_the_strongest_hands() -> None:
    held = "As Ks Qd Qs 9d 4d 8c 7c 6c 8h 5h 3h 2h"
    asked = question(held, "2c 3c 4c 5c 9c Tc Jc 2d 3d 5d 6d 7d 8d")
    told = asked.answer("876 AKQ").text  # Hand 2 is the stronger one only because both could be running flushes
    assert "running flush A-K-Q" in told
    asked.answer("clear")
    asked.answer("AKQ")
    asked.answer("Q94")  # what is chosen already is not taken again
    laid = str(Arrangement.from_index(asked.answer("").action, sorted(c.id for c in parse_cards(held)), ONLINE))
    assert laid.startswith("As Ks Qs | Qd 9d 4d /")


def test_three_digits_are_a_hand_where_there_are_not_so_many_suggestions() -> None:
    held = "4c 3c 2c 4d 3d Kd Ks 9s 8h 7h Jd Js 5s"
    asked = question(held, "2d 5c 6c 7c 8c 9c Tc Jc Qc Kc Ac 5d 6d")
    assert "running flush 4-3-2" in asked.answer("432").text
    assert "no suggestion" in asked.answer("88").text


def test_a_wrong_order_is_explained_and_sorted_if_wanted() -> None:
    asked = question()
    told = flat(asked.answer("9s 9h Kd | 8s 7h 6d").text)
    assert "Hand 2 (8s 7h 6d, run 8-7-6) is stronger than Hand 1 (Kd 9s 9h, pair of 9s with K)" in told
    assert "Hands 1 and 2 are in the wrong order" in told
    assert asked.prompt == "sort them? [Y/n] "
    assert asked.answer("n").action is None
    assert asked.prompt == "lay? "
    asked.answer("9s 9h Kd | 8s 7h 6d")
    assert "run 8-7-6" in asked.answer("").text.splitlines()[0]
    assert str(Arrangement.from_index(asked.answer("").action, HELD, ONLINE)).startswith("8s 7h 6d | Kd 9s 9h")


def test_equal_hands_may_be_typed_in_either_order() -> None:
    held = "8s 7h 6d 8c 7d 6h 2c 2d 4h 4s Js Tc Ah"
    actions = []
    for typed in ("8s 7h 6d | 8c 7d 6h", "8c 7d 6h | 8s 7h 6d"):
        asked = question(held, "3c 3h 5h 6c 5c 7c 7s 9c Th Ts Qh Kh Ac")
        asked.answer(typed)
        actions.append(asked.answer("").action)
    assert actions[0] == actions[1] is not None


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("9s 9h", "has 2 cards, expected exactly three"),
        ("9s 9h Kd 8s", "has 4 cards, expected exactly three"),
        ("9s 9h 9d", "9d, which is not among your cards"),
        ("8s 7h 6d | 8s 9s 9h", "8s is in Hand 1 and in Hand 2"),
        ("8s 8s 9h", "8s is given twice"),
        ("Kd 8s 2c", "is no hand; expected pair or better"),
        ("8s 7h 6d | 9s 9h Kd | 4h 4s Ah | 2c 2d Js | Tc", "5 hands, expected at most 4"),
        ("8s 7h 6d | | 9s 9h Kd", "There is nothing between two '|'"),
        ("8s 7h 6d / 9d", "The spare 9d is not among your cards"),
        ("8s 7h 6d / 8s", "8s is in a hand and among the spare cards"),
        ("1Os 9s 9h", "'1Os' is not a card; a card is a rank and a suit, such as As or 10d."),
        ("8s 7h 6d | Zz 9s 9h", "'Zz' is not a card; a card is a rank and a suit, such as As or 10d."),
        ("hint please", "Type hint alone, with nothing behind it."),
        ("|", "Type hands, list, hint or help."),
        ("999", "There are 2 of rank 9 to take, and 3 would be needed."),
        ("QJ10", "There is no Q to take, and 1 would be needed."),
        ("99", "There is no suggestion 99"),
        ("K 9", "has 2 cards, expected exactly three"),
        ("6\u0441 6d 6h", "U+0441"),
        ("0", "There is no suggestion 0"),
        ("keep", "'keep' is nothing to be done here"),
        ("hnit", "Did you mean hint?"),
        ("", "Type hands, list, hint or help."),
        ("/", "Type hands, list, hint or help."),
    ],
)
def test_what_is_wrong_is_said(typed: str, told: str) -> None:
    asked = question()
    answer = asked.answer(typed)
    assert answer.action is None
    assert told in flat(answer.text)
    assert asked.prompt == "lay? "


def test_what_the_rest_still_makes_is_said() -> None:
    held, other = "9c 6s 6h Qh Jh Th As Ac Kd 7c 3s 2c 8d", "3c 3h 5h 6c 6d 7d 7s 9h Ts Qs Kh Ad Js"
    asked = question(held, other)
    asked.answer("Qh Jh Th | 9c 6s 6h")
    assert "which would go before" in flat(asked.answer("undo").text + asked.answer("9c 6s 6h").text)
    assert "The rest could still make Hand 2, such as As 3s 2c (run A-2-3)" in flat(asked.answer("undo").text)
    alone = question("As Kd Jc 9h 7s 5d 3s 2h Qs 4s 8h Tc 6h", other="3h 5h 6c 6d 7d 9c Ts Qd Kh Ad Js 2d 2s")
    assert "The rest makes no further hand" in flat(alone.answer("As Kd Qs | 9h 8h 7s | 6h 5d 4s").text)


def test_a_fault_leaves_what_was_chosen() -> None:
    asked = question()
    asked.answer("8s 7h 6d")
    assert "What you had stays as it was" in asked.answer("9s 9h").text
    assert asked.answer("").action is not None


def test_nothing_can_be_laid() -> None:
    asked = question()
    assert "You lay nothing" in asked.answer("nothing").text
    assert asked.answer("").action == 0


def test_read_hands_keeps_spare_cards_apart() -> None:
    hands, spare = read_hands("AsAdAc / 2c", hands=4, cards_dealt=13)
    assert (hands, spare) == ((parse_cards("AsAdAc"),), parse_cards("2c"))


# ---- suggestions and hints --------------------------------------------------------------------------------------------


def test_suggestions_are_paged_and_picked() -> None:
    held = "3c 3h 4h 6c 6h 7d 7h 9h Th Ts Qh Kh Ah"
    asked = question(held, "2c 2d 2h 5c 5d 5h 8c 8d 8h Jc Jd Jh As")
    assert "1 to 5 of 676" in asked.answer("list").text
    assert "6 to 10 of 676" in asked.answer("more").text
    assert "1 to 5 of 676" in asked.answer("list").text
    asked.answer("676")
    found = undominated(sorted(card.id for card in parse_cards(held)), ONLINE)
    assert asked.answer("").action == found.partitions[675]


def test_a_hint_names_a_suggestion_and_why() -> None:
    asked = question()
    hint = hint_for(asked.view)
    told = asked.answer("hint").text
    number = int(re.search(r"type (\d+)", flat(told))[1])
    asked.answer(str(number))
    assert asked.answer("").action == hint.action
    if best_known_agent(ONLINE) == "percentile":
        assert len(hint.chances) == 4
        assert "wins" in told


@pytest.mark.parametrize(
    ("scores", "told"),
    [((0, 0, 0), r"nothing does better\."), ((6, 6, 6), r"number \d+ wins it \d+\.\d%\.")],
)
def test_a_hint_says_what_wins_the_game_more_often(scores: tuple[int, int, int], told: str) -> None:
    held = "As Ks Qs Kd Kc 9h 9d 8s 7h 5c 5d 4h 2c"  # the best three of a kind is broken unless only Hand 1 counts
    others = ("2d 2h 2s 3c 3d 3h 3s 4c 4d 4s 5h 5s Ac", "6c 6d 6h 6s 7c 7d 7s 8c 8d 8h 9c 9s Tc")
    game = Game.from_deal(CrashRules.preset("online"), [held, *others], scores=scores)
    reasons = " ".join(hint_for(view_of(game, 0)).reasons)
    assert re.search(r"By solver-fast it wins the game \d+\.\d% of the time at this score; " + told, reasons)


def test_without_a_table_the_hint_is_greedys() -> None:
    rules = CrashRules.preset("online", players=2, cards_dealt=7)
    assert best_known_agent(rules) == "greedy"
    asked = question("9s 9h Kd 8s 7h 6d 2c", "3c 3h 5h 6c 6h 7d 7s", rules=rules)
    told = flat(asked.answer("hint").text)
    assert "greedy would lay number 1" in told
    assert "The strongest Hand 1" in told


def test_common_words_answer_everywhere() -> None:
    asked = question()
    assert asked.answer("help").text.startswith("You can type:")
    assert "prial:" in asked.answer("rules").text
    assert "(to 7)" in asked.answer("score").text
    assert asked.answer("suits").text.splitlines()[0].split() == ["s", "J", "9", "8", "4"]
    assert asked.answer("cards").text.split()[0] == "Ah"
    assert asked.answer("q").request is Request.QUIT
    saved = asked.answer("save my game.txt")
    assert (saved.request, saved.file) == (Request.SAVE, "my game.txt")


def test_exchange_and_call_take_beginnings_of_words() -> None:
    rules = CrashRules.preset("traditional", players=2, crash_call="required", exchange="spare")
    game = Game(rules, seed=1)
    teller = Teller(rules, names=["you", "greedy"], seat=0, style=Style())
    asked = ExchangeQuestion(view_of(game, 0), teller)
    assert "without knowing" in flat(asked.ask())
    assert asked.answer("k").action == game.layout.keep
    assert asked.answer("EXCH").action == game.layout.exchange
    assert asked.answer("hint").text.startswith("Hint: ")
    assert "is nothing to be done here" in flat(asked.answer("call").text)
    for seat in (0, 1):
        game.step(game.layout.keep, seat)
    for seat in (0, 1):
        game.step(int(game.undominated(seat).partitions[0]), seat)
    call = CallQuestion(view_of(game, 0), teller)
    assert "A crash that is not called earns nothing" in flat(call.ask())
    laid = Arrangement.from_index(game.laid[0], game.hands[0], rules)
    assert all(f"Hand {i} {format_cards(hand)}" in flat(call.ask()) for i, hand in enumerate(laid.hands, start=1))
    assert call.answer("c").action == game.layout.call
    assert call.answer("p").action == game.layout.pass_
    assert call.answer("hint").text.startswith("Hint: ")


def test_who_laid_nothing_is_told_so_before_the_call() -> None:
    rules = CrashRules.preset("traditional", players=2, crash_call="optional", exchange="none")
    game = Game(rules, seed=1)
    for seat in (0, 1):
        game.step(0, seat)
    call = CallQuestion(view_of(game, 0), Teller(rules, names=["you", "greedy"], seat=0, style=Style()))
    assert "Yours: no hand at all" in flat(call.ask())


# ---- what it looks like ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("colours", ["none", "two", "four"])
def test_everything_fits_the_width(width: int, colours) -> None:
    asked = question(style=Style(width=width, symbols=True, colours=colours))
    for text in (asked.ask(), *(asked.answer(line).text for line in ("list", "hint", "help", "rules", "suits", "1"))):
        assert max(map(visible_length, text.splitlines())) <= width
        assert ("\x1b" in text) <= (colours != "none")


def test_without_symbols_it_is_ascii() -> None:
    asked = question()
    for text in (asked.ask(), *(asked.answer(line).text for line in ("list", "hint", "help", "rules", "suits", "1"))):
        assert text.isascii()


def test_red_suits_are_red() -> None:
    style = Style(symbols=True, colours="two")
    assert style.cards("Ah Ks") == "\x1b[91mA♥\x1b[0m K♠"


def test_what_others_hold_changes_nothing_that_is_said() -> None:
    swapped = "5c 5d 8c 8d 8h Jc Jd Qc Qd Kc Ks As Ad"
    one, other = question(HELD, OTHER), question(HELD, swapped)
    assert one.ask() == other.ask()
    for line in ("list", "hint", "score", "1", ""):
        assert one.answer(line) == other.answer(line)


@pytest.mark.parametrize(
    ("seat", "reason", "points", "told"),
    [
        (0, AwardReason.CRASH, 1, "You get 1 point for the crash."),
        (1, AwardReason.CALL_BONUS, 2, "greedy called it and gets 2 points more."),
        (0, AwardReason.CALL_PENALTY, -1, "You called a crash that failed: 1 point lost."),
        (1, AwardReason.CALL_PENALTY, 0, "greedy called a crash that failed: there is nothing to lose."),
        (0, AwardReason.QUADS, 1, "You get 1 point for four of a kind, all laid."),
    ],
)
def test_awards_in_words(seat: int, reason: AwardReason, points: int, told: str) -> None:
    teller = Teller(CrashRules.preset("traditional"), names=["you", "greedy"], seat=0, style=Style())
    assert teller._award(Award(seat=seat, reason=reason, points=points, score=3)) == told
