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


def card_id(text):
    return 4 * RANKS.index(text[0]) + SUITS.index(text[1])


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
    positions = [json.loads(line) for line in Path(path).read_text(encoding="ascii").splitlines()]
    for position in positions:
        if position["kind"] != "position" or position["rules"] != rules_id or position["phase"] == "call":
            continue
        view, seat = position["view"], position["view"]["seat"]
        found = bot.decide(
            [card_id(card) for card in view["cards"]],
            scores=relative(view["scores"], seat),
            dealer=(view["dealer"] - seat) % bot.rules["players"],
            given_up=[card_id(card) for card in view["given_up"]],
            exchanges=relative(view["exchanges"], seat),
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
    if len(words) < 2:
        print(__doc__, file=sys.stderr)
        return False
    path, *words = words
    bot = Bot(path)
    if words[0] == "--check":
        return check(bot, *words[1:])
    if words[0] == "--time":
        measure(bot, int(words[1]), [card_id(text) for text in words[2].split()])
        return True
    cards, *scores = words
    scores = [int(score) for score in scores] or [0] * bot.rules["players"]
    found = bot.decide([card_id(text) for text in cards.split()], scores=scores)
    hands = [" ".join(map(card_text, hand)) for hand in found["hands"] if hand[0] >= 0]
    print("lay", " | ".join(hands))
    print("spare", " ".join(card_text(card) for card in found["spare"] if card >= 0))
    print("chances", " ".join(f"{chance:.2f}" for chance in found["chances"]))
    return found["ok"] == 1


if __name__ == "__main__":
    sys.exit(not main(*sys.argv[1:]))
