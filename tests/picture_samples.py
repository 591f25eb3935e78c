"""Pictures whose SVG is kept as files. ``python tests/picture_samples.py`` writes them anew; look before committing."""

from __future__ import annotations

from pathlib import Path

from prial.envs.card_picture import card_picture
from prial.envs.crash.arrangement import Arrangement
from prial.envs.crash.game import Game
from prial.envs.crash.render import last_round
from prial.envs.crash.round_picture import round_picture
from prial.envs.crash.rules import CrashRules
from prial.envs.crash.table_picture import table_picture
from prial.envs.hands_picture import hands_picture
from prial.envs.picture import Picture

FOLDER = Path(__file__).parent / "pictures"


def short_game() -> Game:
    """Two players with six cards, in their second round: exchange, calls, a crash and four of a kind in the first."""
    rules = CrashRules.preset("traditional", players=2, cards_dealt=6, crash_call="optional", quads_bonus=1)
    game = Game.from_deal(
        rules,
        ["2s 3d 5h 7c 9s Jd", "Ks Kd Kh Kc 2c 2d"],
        spares=["4s 4d 6h 8c Ts Qd", "3s 3h Ah Ad 6s 9c"],
        dealer=1,
        scores=[0, 4],
    )
    layout = game.layout
    game.step(layout.exchange, 0)
    game.step(layout.keep, 1)
    game.step(Arrangement.parse("4s 4d Qd").index(game.hands[0], rules), 0)
    game.step(Arrangement.parse("Ks Kd Kh | 2c 2d Kc").index(game.hands[1], rules), 1)
    game.step(layout.call, 0)
    game.step(layout.call, 1)
    return game


def tied_game() -> Game:
    """Three players with nine cards, won by the first comparison; then a tie at Hand 2 would have followed."""
    rules = CrashRules.preset("online", cards_dealt=9, target=3)
    game = Game.from_deal(
        rules,
        ["Ks Kd 2h Qs Qd 4h 5s 5h Jc", "Kh Kc 2d Qh Qc 4c 6s 6d 9s", "As Ad 7h Td Tc 8h 5d 5c 8d"],
        dealer=2,
        scores=[0, 0, 2],
    )
    for seat, text in enumerate(
        ("Ks Kd 2h | Qs Qd 4h | 5s 5h Jc", "Kh Kc 2d | Qh Qc 4c | 6s 6d 9s", "As Ad 7h | Td Tc 8h | 5d 5c 8d")
    ):
        game.step(Arrangement.parse(text).index(game.hands[seat], rules), seat)
    return game


def samples() -> dict[str, Picture]:
    """Every picture that is kept, by the name of its file."""
    laid = Arrangement.parse("3s 3d 3c | 8s 7s 6s | Ts Th Jc | 9h 9d Kc / Ad")
    short, tied = short_game(), tied_game()
    return {
        "card": card_picture("Td", colours="four"),
        "arrangement": hands_picture(laid.hands, laid.spare),
        "round": round_picture(last_round(short), rules=short.rules, names=["Ada", "<Grace> & Co"]),
        "round-not-all-compared": round_picture(last_round(tied), rules=tied.rules, colours="four"),
        "table": table_picture(short),
    }


def main() -> None:
    """Write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, picture in samples().items():
        (FOLDER / f"{name}.svg").write_text(picture.svg(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
