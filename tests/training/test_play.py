"""`prial play`: whole games, leaving and resuming, interrupts, encodings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from messages import without_compiling
from prial.agents.registry import AgentError
from prial.envs.crash.record import parse_record
from prial.envs.crash.rules import CrashRules
from prial.training.cli import app
from prial.training.table_game import HUMAN, PlayedGame, PlayError, SavedGameError, read_saved
from prial.training.table_session import Session
from prial.training.table_style import Style

# One decision of each kind; what does not fit is answered with a sentence and changes nothing.
ROUND = "keep\n1\n\npass\n"
GAMES = {
    "online": ["--rules", "online"],
    "bga two": ["--rules", "bga", "--players", "2"],
    "bga three": ["--rules", "bga", "--against", "greedy", "random"],
    "bga five": ["--rules", "bga", "--players", "5", "--against", "greedy"],
    "traditional": ["--rules", "traditional", "--set", "crash_call=optional", "--set", "target=4"],
    "required": [
        "--rules",
        "traditional",
        "--players",
        "2",
        "--set",
        "crash_call=required",
        "--set",
        "crash_reward=game",
    ],
    "rounds": ["--rules", "online", "--set", "max_rounds=2"],
    "small": ["--rules", "online", "--set", "cards_dealt=3", "--set", "target=2"],
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def play(*words: str, typed: str = "") -> Result:
    return CliRunner().invoke(app, ["play", *words], input=typed, prog_name="prial")


def command() -> list[str]:
    return [sys.executable, "-c", "from prial.training.cli import main; main()", "play"]


def environment(**more: str) -> dict[str, str]:
    plain = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "FORCE_COLOR", "NO_COLOR"}}
    return {**plain, "PYTHONUTF8": "0", **more}


class Script:
    """Answers questions by their prompt; raises what it is told to, at the question it is told."""

    ANSWERS: ClassVar = {
        "lay? ": "2",
        "Enter to lay, or more: ": "",
        "keep or exchange? ": "exchange",
        "call or pass? ": "call",
    }

    def __init__(self, *, end: type[BaseException] | str = "", after: int = 10**6) -> None:
        self.end, self.left, self.text = end, after, ""

    def read(self, prompt: str) -> str:
        self.left -= 1
        if self.left < 0:
            if isinstance(self.end, str):
                return self.end if prompt in self.ANSWERS else ""
            raise self.end
        if prompt == "lay? " and " 1 suggestion" in " ".join(self.text.split()[-12:]):
            return "1"
        return self.ANSWERS[prompt]

    def write(self, text: str) -> None:
        self.text += text + "\n"

    def pause(self) -> bool:
        return True


def sit(played: PlayedGame, script: Script, path: Path | None = None) -> bool:
    return Session(played, script, style=Style(), path=path).run()


# ---- whole games ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_a_whole_game(name: str) -> None:
    result = play(*GAMES[name], "--seed", "5", "--save", "game.txt", typed=ROUND * 200)
    assert result.exit_code == 0, result.output
    assert result.output.isascii() or "♠" in result.output
    record = parse_record(Path("game.txt").read_text())
    assert record.result is not None
    end = result.output.splitlines()
    assert any("win" in line for line in end[-4:])
    assert end[-1] == "The game is recorded in game.txt."
    assert f"Round {len(record.rounds)}: the reveal" in result.output


def test_who_is_not_asked_to_exchange_is_told() -> None:
    result = play("--rules", "bga", "--seed", "11", "--against", "random-legal", typed="rules\n")
    told = " ".join(result.output.split())
    assert "random-legal exchanged. The spare hand is gone; you are not asked." in told
    assert "Not used" not in told


def test_the_same_seed_is_the_same_game() -> None:
    options = ["--rules", "bga", "--players", "2", "--against", "random", "--set", "target=2", "--seed", "9"]
    first, second = (play(*options, typed=ROUND * 100).output for _ in range(2))
    assert first == second


def test_seats_are_filled_with_the_last_opponent() -> None:
    rules = CrashRules.preset("traditional", players=4)
    assert PlayedGame.new(rules, ["greedy", "random"], seed=1, seat=2).agents == ("random", "random", HUMAN, "greedy")
    assert len({PlayedGame.new(rules, ["greedy"], seed=seed).seat for seed in range(20)}) == 4


# ---- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--against", "greeedy"], "did you mean 'greedy'"),
        (
            ["--against", "greedy", "random", "greedy"],
            "3 opponents (greedy random greedy): there are seats for 2; players=4 makes room",
        ),
        (["--against", *["greedy"] * 4], "4 opponents (greedy greedy greedy greedy): there are seats for 2\n"),
        (["greedy"], "opponents go behind --against"),
        (["--seat", "3"], "seat 3: expected 0 to 2"),
        (["--rules", "bgaa"], "bgaa"),
        (["--players", "9"], "players"),
        (["--save", "taken.txt"], "--save taken.txt: there is such a file"),
        (["--save", "none/../taken.txt/game"], "taken.txt"),
        (["--resume", "none.record"], "none.record"),
        (["--resume", "none.record", "--seed", "1"], "--resume goes on with the game as it was"),
        (["--rules", "online", "--set", "cards_dealt=7", "--against", "percentile"], "no percentile table"),
    ],
)
def test_mistakes_end_with_one_line(words: list[str], told: str) -> None:
    Path("taken.txt").write_text("mine")
    result = play(*words)
    assert Path("taken.txt").read_text() == "mine"
    assert result.exit_code == 2, result.output
    assert told in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected one game, got 0"),
        ("crash-record: 2\n", "version"),
        (b"\xff\xfe nonsense", "damaged.record"),
    ],
)
def test_files_that_are_no_games(text: str | bytes, told: str) -> None:
    Path("damaged.record").write_bytes(text.encode() if isinstance(text, str) else text)
    result = play("--resume", "damaged.record")
    assert (result.exit_code, told in result.stderr) == (2, True), result.stderr


def test_a_game_that_is_over_or_of_agents_alone_is_not_resumed() -> None:
    play(*GAMES["small"], "--seed", "1", "--save", "over.txt", typed=ROUND * 99)
    assert "the game is over" in play("--resume", "over.txt").stderr
    played = PlayedGame.new(CrashRules.preset("online"), ["greedy"], seed=1, seat=0)
    Path("agents.txt").write_text(str(played.record()).replace('"human"', '"greedy"'))
    with pytest.raises(SavedGameError, match="expected one seat of agent 'human'"):
        read_saved(Path("agents.txt"))


# ---- leaving and resuming ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["online", "bga", "traditional"])
@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_resumed_anywhere_it_is_the_same_game(preset: str, agent: str) -> None:
    options = {"crash_call": "optional"} if preset == "traditional" else {}
    rules = CrashRules.preset(preset, players=3, target=2, **options)

    def new() -> PlayedGame:
        return PlayedGame.new(rules, [agent], seed=4)

    unbroken = new()
    sit(unbroken, Script())
    assert unbroken.game.is_over
    for after in range(0, 12, 2):
        broken = new()
        path = Path(f"{after}.record")
        script = Script(end="quit", after=after)
        sit(broken, script, path)
        if broken.game.is_over:
            break
        again = read_saved(path)
        sit(again, Script(), path)
        assert str(again.record()) == str(unbroken.record()) == path.read_text()


@pytest.mark.parametrize("word", ["quit", "q", "Quit"])
def test_quit_twice_saves_under_the_offered_name(word: str) -> None:
    result = play("--seed", "1", typed=f"quit\n{word}\n")
    assert "To go on:\n  prial play --resume crash.record" in result.output
    assert not Path(word).exists()


def test_quit_offers_a_file_and_replaces_none() -> None:
    Path("crash.record").write_text("something else")
    result = play("--seed", "1", typed="quit\n\n")
    assert "Save the game in crash-2.record?" in result.output
    assert "To go on:\n  prial play --resume crash-2.record" in result.output
    assert Path("crash.record").read_text() == "something else"
    assert read_saved(Path("crash-2.record")).seed == 1
    assert "already" in play("--seed", "1", typed="save crash.record\nquit\ncrash.record\nquit\nn\n").output
    assert Path("crash.record").read_text() == "something else"


class Leaving(Script):
    """Leaves in the middle of the first reveal."""

    def pause(self) -> bool:
        return False

    def read(self, prompt: str) -> str:
        return "" if prompt.startswith("[Y") else super().read(prompt)


def test_a_reveal_can_be_left() -> None:
    played = PlayedGame.new(CrashRules.preset("online"), ["greedy"], seed=1)
    script = Leaving()
    assert not sit(played, script)
    assert "Hand 1" in script.text.partition("the reveal")[2]
    assert "Hand 2\n" not in script.text.partition("the reveal")[2]
    assert read_saved(Path("crash.record")).game.rounds_played == 1


@pytest.mark.parametrize(("name", "typed"), [("my game.txt", '"my game.txt"'), ("a/b-1.txt", "a/b-1.txt")])
def test_how_to_go_on_can_be_typed_to_a_shell(name: str, typed: str) -> None:
    assert play("--seed", "1", "--save", name).output.endswith(f"To go on:\n  prial play --resume {typed}\n")
    assert read_saved(Path(name)).seed == 1


def test_quit_without_saving() -> None:
    result = play("--seed", "1", typed="quit\nn\n")
    assert result.exit_code == 0
    assert "The game is not saved." in result.output
    assert not list(Path().iterdir())


def test_a_file_that_cannot_be_written_is_said_and_the_game_goes_on() -> None:
    Path("folder").mkdir()
    Path("file").write_text("")
    result = play("--seed", "1", typed="save file/game\nscore\nquit\nfile/game\nquit\nn\n")
    assert "file/game cannot be written" in result.output
    assert result.exit_code == 0


def test_the_end_of_input_saves() -> None:
    result = play("--seed", "1", typed="1\n")
    assert result.exit_code == 0
    assert "Saved. To go on:\n  prial play --resume crash.record" in result.output
    assert read_saved(Path("crash.record")).game.rounds_played == 0


def test_a_reader_that_is_gone_loses_no_game() -> None:
    played = PlayedGame.new(CrashRules.preset("online"), ["greedy"], seed=1)
    with pytest.raises(BrokenPipeError):
        sit(played, Script(end=BrokenPipeError, after=5))
    assert str(read_saved(Path("crash.record")).record()) == str(played.record())


def test_an_interrupt_saves() -> None:
    played = PlayedGame.new(CrashRules.preset("online"), ["greedy"], seed=1)
    assert sit(played, Script(end=KeyboardInterrupt, after=5))
    assert str(read_saved(Path("crash.record")).record()) == str(played.record())


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_ctrl_c_and_a_closed_terminal_leave_without_a_traceback(name: str) -> None:
    if not hasattr(signal, name):
        pytest.skip(f"no {name} here")
    process = subprocess.Popen(
        [*command(), "--seed", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(PYTHONUNBUFFERED="1"),
        # A test run in the background ignores SIGINT, one under nohup SIGHUP, and its children would too.
        preexec_fn=None if os.name == "nt" else lambda: signal.signal(getattr(signal, name), signal.SIG_DFL),  # noqa: PLW1509
    )
    assert process.stdin is not None
    assert process.stdout is not None
    seen = b""
    while not seen.endswith(b"lay? "):
        seen += process.stdout.read(1)
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"--resume crash.record" in out
    assert b"Traceback" not in err
    assert Path("crash.record").exists()


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_a_closed_terminal_saves() -> None:
    """Its end of input and its signal come one right after the other."""
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [*command(), "--seed", "1"])  # noqa: S606 (the terminal is this process's own)
    seen = b""
    while not seen.endswith(b"lay? "):
        seen += os.read(terminal, 4096)
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.WIFEXITED(status)
    assert read_saved(Path("crash.record")).seed == 1


class Failing:
    """Lays greedily at first, then fails."""

    name = "failing"

    def __init__(self) -> None:
        self.acted = 0

    def act_many(self, views, rng):
        raise NotImplementedError

    def act(self, view, rng) -> int:
        self.acted += 1
        if self.acted > 1:
            raise ArithmeticError("out of ideas")
        return 0


class Illegal(Failing):
    def act(self, view, rng) -> int:
        return -1


def test_an_opponent_that_fails_is_named_and_the_game_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prial.training.table_game.make", lambda name: Failing())
    played = PlayedGame.new(CrashRules.preset("online", players=2, crash_reward=0), ["failing"], seed=1, seat=0)
    with pytest.raises(PlayError, match=r"'failing' at seat 1, round 2, arrange phase: ArithmeticError: out of ideas"):
        sit(played, Script())
    assert Path("crash.record").exists()
    monkeypatch.setattr("prial.training.table_game.make", lambda name: Illegal())
    with pytest.raises(PlayError, match="is illegal"):
        PlayedGame.new(CrashRules.preset("online", players=2), ["x"], seed=1)


def test_too_many_opponents_are_refused() -> None:
    with pytest.raises(AgentError, match="2 opponents"):
        PlayedGame.new(CrashRules.preset("online", players=2), ["greedy", "greedy"], seed=1)


# ---- consoles ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_consoles(encoding: str) -> None:
    typed = "suits\nA♠ K♠\nlist\n1\n\n".encode()
    result = subprocess.run(
        [*command(), "--seed", "1", "--against", "greedy"],
        input=typed + b"\xff\n",
        capture_output=True,
        env=environment(PYTHONIOENCODING=encoding, NO_COLOR="1", COLUMNS="40"),
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert without_compiling(result.stderr.decode()) == ""
    assert b"\x1b" not in result.stdout
    text = result.stdout.decode(encoding)
    assert "Round 1: the reveal" in text
    assert ("♠" in text.partition("A♠")[0] or "A♠" in text) == (encoding == "utf-8")


def test_seeds_of_any_size() -> None:
    played = PlayedGame.new(CrashRules.preset("online"), ["random"], seed=2**70)
    assert np.array_equal(PlayedGame.resumed(played.record()).game.hands, played.game.hands)
