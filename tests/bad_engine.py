"""An engine that lays the strongest hand it can, then the next, and misbehaves in the way that its first argument names.

``python tests/bad_engine.py KIND [NUMBER]``: NUMBER is the decision at which it begins to, from 1. The standard library
alone, so that it starts at once; hands are compared as `record_rescorer` does, which knows nothing of the project.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

from record_rescorer import strength

FIELDS = ("seat", "dealer", "round", "scores", "cards", "givenup", "exchanges", "calls", "laid")


def say(text: str | bytes) -> None:
    """Write at once, past every buffer."""
    os.write(1, text if isinstance(text, bytes) else f"{text}\n".encode())


def sleep_for_ever() -> None:
    while True:
        time.sleep(3600)


class Engine:
    """The words of the protocol that an engine needs."""

    def __init__(self) -> None:
        self.flush_high, self.hands = "ace", 4
        self.phase, self.cards = "", [""]
        self.random = random.Random(0)  # noqa: S311 (no secret)
        self.first = ""

    def answer(self, words: list[str]) -> str:
        command = words[0]
        if command == "rules":
            options = dict(word.split("=") for word in words[2:])
            self.flush_high, self.hands = options["flush_high"], min(4, int(options["cards_dealt"]) // 3)
        if command == "seed":
            self.random.seed(int(words[1]))
        if command == "position":
            self.phase = words[1]
            start = words.index("cards") + 1
            end = next((place for place in range(start, len(words)) if words[place] in FIELDS), len(words))
            self.cards = words[start:end]
        if command == "decide":
            decision = self.decision()
            self.first = self.first or decision
            return decision
        return f"ok {command}"

    def decision(self) -> str:
        if self.phase != "arrange":
            return {"exchange": "decision keep", "call": "decision pass"}[self.phase]
        left, laid = list(self.cards), []
        while len(laid) < self.hands:
            triples = [" ".join(triple) for triple in combinations(left, 3)]
            best = max(triples, key=lambda triple: strength(triple, self.flush_high))
            if strength(best, self.flush_high)[0] < 1:  # no pair
                break
            laid.append(best)
            left = [card for card in left if card not in best.split()]
        return f"decision lay {' | '.join(laid)}"


def misbehave(kind: str, engine: Engine, answer: str) -> str | None:  # noqa: C901 (one line a kind)
    """Do what the kind says at a decision; return what is answered after all."""
    if kind == "hangs":
        sleep_for_ever()
    if kind == "slow":  # and then it answers after all
        time.sleep(0.5)
    if kind == "dies":
        os._exit(3)
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "closes-output":
        os.close(1)
        sleep_for_ever()
    if kind == "floods":
        while True:
            say("info again\n" * 1000)
    if kind == "one-endless-line":
        while True:
            say(b"x" * 65536)
    if kind == "chatters":
        say("Hello, world\n\n  \ninfo thinking\noption 1 value - lay\nok whatever\ndecisive\n")
        say(b"\xff\xfe\x00 no text\r\n")
        say(f"   {answer.upper()}  \r")  # blanks, another case, another line end, and then again
    if kind == "split-write":
        for letter in f"{answer}\n":
            say(letter.encode())
        return None
    if kind == "draws":  # by chance, from its seed alone
        return answer if engine.random.random() < 0.5 or engine.phase != "arrange" else "decision lay"
    if kind == "garbage":  # a flood of anything but answers, and then the answer
        for _ in range(10):
            say(bytes(engine.random.randrange(256) for _ in range(engine.random.randrange(200))) + b"\n")
    if kind == "dies-at-aces" and len({"As", "Ah"} & set(engine.cards)) == 2:  # by its cards alone
        os._exit(3)
    named = {
        "nonsense": "decision of mine",
        "errors": "error I do not feel like it",
        "foreign-card": "decision lay As Ah Ad | Ks Kh Kd | Qs Qh Qd",
        "repeats": engine.first,
        "nothing": "decision lay" if engine.phase == "arrange" else answer,
    }
    return named.get(kind, answer)


def note_processes() -> None:
    """Start a child that outlives, and write down both."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    with Path(os.environ["BAD_ENGINE_PIDS"]).open("a", encoding="ascii") as file:
        file.write(f"{os.getpid()} {child.pid}\n")


def main() -> None:
    """Answer until the input ends."""
    kind, number = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if kind == "silent":
        sleep_for_ever()
    if kind in {"has-a-child", "ignores-quit"}:
        note_processes()
    engine, decisions = Engine(), 0
    if kind == "version-2":
        say("ok hello 2")
    refused = {"no-hello": "hello", "no-rules": "rules", "no-seed": "seed", "no-position": "position"}
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if words[0] == "quit" and kind != "ignores-quit":
            return
        answer: str | None = engine.answer(words)
        if refused.get(kind) == words[0]:
            answer = f"error {words[0]}: not with me"
        if words[0] == "decide":
            decisions += 1
            if decisions >= number:
                answer = misbehave(kind, engine, str(answer))
        if answer is not None:
            say(answer)
    if kind == "ignores-quit":
        sleep_for_ever()


if __name__ == "__main__":
    main()
