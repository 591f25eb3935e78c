"""A one-file bot played from Python: onnxruntime and numpy, nothing of prial.

python bot.py bot.onnx "3c 3d 3s 8h 9h Th Jd Qs Kc 4d 4h 2s As" 5 6 2     own cards; scores, own first
python bot.py bot.onnx --check vectors.jsonl online-3                      prial export --vectors vectors.jsonl
python bot.py bot.onnx --time 100 "3c 3d 3s 8h 9h Th Jd Qs Kc 4d 4h 2s As" milliseconds for a decision
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime as ort

RANKS, SUITS = "23456789TJQKA", "cdhs"


class WordsError(Exception):
    """What was asked for cannot be; the message is one line."""


def card_id(text):
    return 4 * RANKS.index(text[0]) + SUITS.index(text[1])


def cards_of(text, rules):
    """Card ids of words such as "3c Th"."""
    cards = text.split()
    for card in cards:
        if len(card) != 2 or card[0] not in RANKS or card[1] not in SUITS:
            raise WordsError(f"cards: no card '{card}'; expected rank and suit, such as As Td 2c")
    if len(cards) != rules["cards_dealt"]:
        raise WordsError(f"cards: expected {rules['cards_dealt']}, got {len(cards)}")
    return [card_id(card) for card in cards]


def whole(text, what, least=0):
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
    if number < least:
        raise WordsError(f"{what}: expected a whole number from {least}, got '{text}'")
    return number


def existing(path):
    if not Path(path).is_file():
        raise WordsError(f"{path}: no such file")
    return path


def card_text(card):
    return RANKS[card // 4] + SUITS[card % 4]


class Bot:
    def __init__(self, path):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.enable_mem_pattern = False  # onnxruntime before 1.19 answers wrongly with it
        self.session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.about = json.loads(self.session.get_modelmeta().custom_metadata_map["prial"])
        self.rules = self.about["rules"]

    def decide(self, cards, *, scores, dealer=0, target=None, temperature=None, seed=0, **history):
        """All answers for one decision. History: given_up, exchanges, calls, laid, where the rules have them."""
        players, dealt = self.rules["players"], self.rules["cards_dealt"]
        given = {
            "cards": cards,
            "given_up": history.get("given_up") or [-1] * dealt,
            "scores": scores,
            "target": target or self.rules["target"],
            "dealer": dealer,
            "exchanges": history.get("exchanges") or [-1] * players,
            "calls": history.get("calls") or [-1] * players,
            "laid": history.get("laid") or [[-1] * 3] * 4,
            "temperature": self.about["temperature"] if temperature is None else temperature,
            "seed": seed,
        }
        kinds = {name: np.float32 if name == "temperature" else np.int32 for name in given}
        feed = {name: np.array([value], kinds[name]) for name, value in given.items()}
        names = [output.name for output in self.session.get_outputs()]
        return {name: value[0].tolist() for name, value in zip(names, self.session.run(names, feed), strict=True)}


def relative(values, seat):
    """What is told by seat at the table, own first; True, False and None as 1, 0 and -1."""
    return [-1 if value is None else int(value) for value in values[seat:] + values[:seat]]


def check(bot, path, rules_id):
    """Compare with conformance vectors: what is laid has to be undominated; decisions as the bot's own agent's.

    Those of a level come by the seed.
    """
    agent = bot.about["agent"]
    faults, done, compared = [], 0, 0
    lines = [json.loads(line) for line in Path(existing(path)).read_text(encoding="ascii").splitlines()]
    rules = next((line["options"] for line in lines if line["kind"] == "rules" and line["id"] == rules_id), None)
    if rules is None:
        raise WordsError(f"{path}: no rules '{rules_id}'")
    if any(bot.rules[option] != value for option, value in rules.items()):
        raise WordsError(f"{rules_id}: not the rules that the bot was made for")
    for position in lines:
        if position["kind"] != "position" or position["rules"] != rules_id or position["phase"] == "call":
            continue
        view, seat = position["view"], position["view"]["seat"]
        found = bot.decide(
            [card_id(card) for card in view["cards"]],
            scores=relative(view["scores"], seat),
            dealer=(view["dealer"] - seat) % bot.rules["players"],
            given_up=[card_id(card) for card in view["given_up"]],
            exchanges=relative(view["exchanges"], seat),
            temperature=0,
            seed=position["seed"],
        )
        done += 1
        decision = {**position["decisions"], **position["decisions_by_seed"]}.get(agent)
        compared += decision is not None
        if position["phase"] == "exchange":
            if decision not in (None, ["keep", "exchange"][found["exchange"]]):
                faults.append(f"{position['command']}: expected {decision}")
            continue
        hands = sum(strength > 0 for strength in found["strengths"])
        laid = {tuple(one["strengths"]): one["lay"] for one in position["undominated"]}
        strengths = tuple(found["strengths"][: len(next(iter(laid)))])
        if strengths not in laid or found["candidates"] != len(position["undominated"]) or not hands:
            faults.append(f"{position['command']}: laid {strengths}, {found['candidates']} candidates")
        if decision is not None and strengths not in [key for key, lay in laid.items() if lay == decision]:
            faults.append(f"{position['command']}: laid {strengths}, expected {decision}")
    for fault in faults:
        print(fault)
    print(f"{done} positions, {compared} decisions compared, {len(faults)} faults")
    return not faults


def measure(bot, count, cards):
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        bot.decide(cards, scores=[0] * bot.rules["players"])
        taken.append(1000 * (time.perf_counter() - start))
    taken.sort()
    print(f"median {taken[count // 2]:.1f} ms, fastest {taken[0]:.1f} ms of {count}")


def main(*words):
    option = words[1] if len(words) > 1 and words[1].startswith("--") else None
    if len(words) < 2 or (option and (option not in {"--check", "--time"} or len(words) != 4)):
        print(__doc__, file=sys.stderr)
        return False
    path, first, *rest = words
    bot = Bot(existing(path))
    if option == "--check":
        return check(bot, *rest)
    if option == "--time":
        measure(bot, whole(rest[0], "--time", 1), cards_of(rest[1], bot.rules))
        return True
    scores = [whole(score, "scores") for score in rest] or [0] * bot.rules["players"]
    if len(scores) != bot.rules["players"]:
        raise WordsError(f"scores: expected {bot.rules['players']}, got {len(scores)}")
    found = bot.decide(cards_of(first, bot.rules), scores=scores)
    hands = [" ".join(map(card_text, hand)) for hand in found["hands"] if hand[0] >= 0]
    print("lay", " | ".join(hands))
    print("spare", " ".join(card_text(card) for card in found["spare"] if card >= 0))
    print("chances", " ".join(f"{chance:.2f}" for chance in found["chances"]))
    return found["ok"] == 1


if __name__ == "__main__":
    try:
        sys.exit(not main(*sys.argv[1:]))
    except WordsError as error:
        sys.exit(str(error))
