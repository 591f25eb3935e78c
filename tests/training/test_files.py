"""Files written whole or not at all."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from typer.testing import CliRunner

from prial.training.cli import app
from prial.training.files import check_target, whole_file, write_whole


def test_a_failed_body_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "made" / "a.txt"
    write_whole(target, "old")

    def stop_halfway() -> None:
        with whole_file(target) as file:
            file.write(b"new")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        stop_halfway()
    assert target.read_text() == "old"
    assert [path.name for path in target.parent.iterdir()] == ["a.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_disk_that_takes_no_more_is_named_with_the_file(tmp_path: Path) -> None:
    import resource

    target = tmp_path / "a.txt"
    write_whole(target, "old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            write_whole(target, b"n" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.filename == str(target)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "a.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_folders_and_what_is_no_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, "x")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(FileExistsError, match="no regular file"):
            write_whole(tmp_path / "pipe", "x")
        assert not (tmp_path / "pipe").is_file()


def test_a_target_is_checked_before_the_work_and_left_alone(tmp_path: Path) -> None:
    check_target(None)
    check_target(tmp_path / "a" / "b" / "c.txt")
    (tmp_path / "old.txt").write_text("old")
    check_target(tmp_path / "old.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]
    assert (tmp_path / "old.txt").read_text() == "old"
    with pytest.raises(IsADirectoryError) as folder:
        check_target(tmp_path)
    assert folder.value.filename == str(tmp_path)
    below = tmp_path / "old.txt" / "new.txt"
    with pytest.raises(NotADirectoryError) as no_folder:
        check_target(below)
    assert no_folder.value.filename == str(below)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that takes no files")
def test_a_folder_that_takes_no_files_is_refused() -> None:
    with pytest.raises(OSError, match=r"/proc/vectors\.jsonl"):
        check_target("/proc/vectors.jsonl")


def _working(*_: object, **__: object) -> NoReturn:
    raise AssertionError("it has begun to work")


@pytest.mark.parametrize(
    ("words", "work"),
    [
        ("export --vectors {}", "vectors.vectors"),
        ("duel greedy random --out {}", "duel.play_duel"),
        ("standings --out {}", "standings.play_standings"),
        ("levels --out {}", "levels.reports"),
        ("levels --calibrate {}", "levels.calibrated"),
        ("tables percentile --out {}", "percentile_tables.make_table"),
        ("tables equity --out {}", "equity.solve_equity"),
        ("benchmark greedy --out {}", "suite.run_suite"),
    ],
)
def test_long_commands_refuse_their_target_before_they_work(
    words: str, work: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"prial.training.{work}", _working)
    (tmp_path / "file").write_text("old")
    target = tmp_path / "file" / "new"
    result = CliRunner().invoke(app, words.format(target).split(), prog_name="prial")
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.fullmatch(rf"Error: {re.escape(str(target))}\S*: Not a directory\n", result.stderr), result.stderr


def test_a_bot_is_not_made_for_a_target_that_takes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prial.agents.registry.make", _working)
    (tmp_path / "bot.onnx").mkdir()
    result = CliRunner().invoke(app, ["export", "online", str(tmp_path / "bot.onnx")], prog_name="prial")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"Error: {tmp_path / 'bot.onnx'}: Is a directory\n"
