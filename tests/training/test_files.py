"""Files written whole or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from prial.training.files import whole_file, write_whole


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
