"""Where compiled kernels are kept: folders that may be used, whole files, the lock, and what is removed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prial.envs import kernel_store
from prial.envs.kernel_store import KernelStore

KEY = "0.1.0-0123456789abcdef"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes of POSIX")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The user's cache, and this user's folder among the temporary files."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("PRIAL_CACHE_DIR", str(tmp_path / "user"))
    monkeypatch.setattr(kernel_store.tempfile, "tempdir", str(tmp_path / "tmp"))
    name = "prial" if sys.platform == "win32" else f"prial-{os.geteuid()}"
    return tmp_path / "user" / "kernels", tmp_path / "tmp" / name / "kernels"


def store_in(folder: Path) -> KernelStore:
    return KernelStore(read=(folder,), write=folder, why=None)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    assert store.load("a.kernel") is None
    for payload in (b"code", b"", b"other code"):
        assert store.save("a.kernel", payload)
        assert store.load("a.kernel") == payload
    assert [path.name for path in tmp_path.iterdir()] == ["a.kernel"]


@pytest.mark.parametrize("kept", [0, 5, 20, 46, 47, 60])
def test_a_file_that_was_cut_off_is_as_if_missing(tmp_path: Path, kept: int) -> None:
    store = store_in(tmp_path)
    store.save("a.kernel", bytes(100))
    whole = (tmp_path / "a.kernel").read_bytes()
    (tmp_path / "a.kernel").write_bytes(whole[:kept])
    assert store.load("a.kernel") is None
    assert store.save("a.kernel", bytes(100))
    assert (tmp_path / "a.kernel").read_bytes() == whole


def test_a_file_with_one_wrong_bit_is_as_if_missing(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.save("a.kernel", bytes(20))
    whole = (tmp_path / "a.kernel").read_bytes()
    for place in range(len(whole)):
        (tmp_path / "a.kernel").write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        assert store.load("a.kernel") is None


def test_a_folder_removed_meanwhile_is_made_again(tmp_path: Path) -> None:
    store = store_in(tmp_path / "kernels" / KEY)
    assert store.load("a.kernel") is None
    with store.locked(patience=0) as held:
        assert held
    assert store.save("a.kernel", b"code")
    assert store.load("a.kernel") == b"code"


def test_a_disk_that_takes_no_more_costs_only_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_in(tmp_path)

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert not store.save("a.kernel", b"code")
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_nothing_is_kept_and_nothing_locked() -> None:
    store = KernelStore(read=(), write=None, why="a reason")
    assert not store.save("a.kernel", b"code")
    assert store.load("a.kernel") is None
    with store.locked(patience=0) as held:
        assert not held
    store.prune()


HOLD = """
import sys, time
from pathlib import Path
from prial.envs.kernel_store import KernelStore
with KernelStore(read=(), write=Path(sys.argv[1]), why=None).locked(patience=5) as held:
    print(held, flush=True)
    time.sleep(600)
"""


def test_one_process_has_the_lock_until_it_dies(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == "True"
        with store_in(tmp_path).locked(patience=0.2) as held:
            assert not held
    finally:
        other.kill()
        other.communicate()
    with store_in(tmp_path).locked(patience=60) as held:
        assert held


def test_a_file_system_without_locks_does_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(descriptor: int, *, patience: float) -> bool:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(kernel_store, "_wait_for", none)
    with store_in(tmp_path).locked(patience=60) as held:
        assert not held


def test_the_users_folder_is_preferred(places: tuple[Path, Path]) -> None:
    user, temporary = places
    store = kernel_store._open(KEY)
    assert store == KernelStore(read=(user / KEY,), write=user / KEY, why=None)
    assert (user / KEY).is_dir()
    assert not temporary.parent.exists()


def test_a_file_in_the_way_is_gone_round(places: tuple[Path, Path]) -> None:
    user, temporary = places
    user.parent.write_text("", encoding="utf-8")
    store = kernel_store._open(KEY)
    assert store.read == (temporary / KEY,)
    assert store.write == temporary / KEY
    assert str(user / KEY) in (store.why or "")


def test_no_place_at_all(places: tuple[Path, Path]) -> None:
    user, temporary = places
    user.parent.write_text("", encoding="utf-8")
    temporary.parent.write_text("", encoding="utf-8")
    store = kernel_store._open(KEY)
    assert store.read == ()
    assert store.write is None
    assert store.why


def test_no_home(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    _, temporary = places
    for name in ("PRIAL_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert kernel_store.user_cache() is None
    store = kernel_store._open(KEY)
    assert store.write == temporary / KEY
    assert store.why == "there is no home folder"


def test_neither_home_nor_temporary_folder(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(kernel_store, "user_cache", lambda: None)
    monkeypatch.setattr(kernel_store.tempfile, "gettempdir", none)
    store = kernel_store._open(KEY)
    assert store == KernelStore(read=(), write=None, why="there is no home folder")
    assert kernel_store.clear() == 0


def test_a_read_only_folder_is_read_and_another_written(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    user, temporary = places
    warm = kernel_store._open(KEY)
    warm.save("a.kernel", b"code")
    monkeypatch.setattr(kernel_store.os, "access", lambda path, mode: not Path(path).is_relative_to(user))
    store = kernel_store._open(KEY)
    assert store.read == (user / KEY, temporary / KEY)
    assert store.write == temporary / KEY
    assert store.load("a.kernel") == b"code"
    assert store.save("b.kernel", b"more")
    assert not (user / KEY / "b.kernel").exists()
    assert store.load("b.kernel") == b"more"


@POSIX
def test_what_others_can_write_is_not_run(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled kernels are code: a folder of another user's could have anything run."""
    user, _ = places
    kernel_store._open(KEY).save("a.kernel", b"code")
    uid = os.geteuid()
    monkeypatch.setattr(kernel_store.os, "geteuid", lambda: uid + 1)
    if uid == 0:  # root's is trusted; so give it away
        os.chown(user / KEY, 4321, -1)
    store = kernel_store._open(KEY)
    assert user / KEY not in store.read
    assert store.why == f"{user / KEY}: made by another user"


@POSIX
def test_a_temporary_folder_of_anothers_is_left_alone(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    user, temporary = places
    user.parent.write_text("", encoding="utf-8")
    uid = os.geteuid() + 1
    monkeypatch.setattr(kernel_store.os, "geteuid", lambda: uid)
    other = temporary.parent.with_name(f"prial-{uid}")
    other.mkdir()
    if uid == 1:  # root's is trusted; so give it away
        os.chown(other, 4321, -1)
    store = kernel_store._open(KEY)
    assert store.write is None
    assert list(other.iterdir()) == []


@POSIX
def test_an_own_folder_is_closed_to_others(places: tuple[Path, Path]) -> None:
    user, _ = places
    (user / KEY).mkdir(parents=True)
    (user / KEY).chmod(0o777)
    assert kernel_store._open(KEY).write == user / KEY
    assert (user / KEY).stat().st_mode & 0o777 == 0o700


@POSIX
def test_a_link_is_not_followed(places: tuple[Path, Path], tmp_path: Path) -> None:
    user, temporary = places
    (tmp_path / "elsewhere").mkdir()
    user.mkdir(parents=True)
    (user / KEY).symlink_to(tmp_path / "elsewhere")
    store = kernel_store._open(KEY)
    assert store.write == temporary / KEY
    assert store.why == f"{user / KEY}: no folder"


def test_versions_in_use_side_by_side_stay(places: tuple[Path, Path]) -> None:
    """Several checkouts at once: none compiles the kernels of another away, unless there are very many."""
    user, _ = places
    ages = [0, 1, 2, 3, 4, 5, 6, 6.5]
    for age in ages:
        store_in(user / f"0.{age}-0123456789abcdef").save("a.kernel", b"code")
        os.utime(user / f"0.{age}-0123456789abcdef", (time.time() - 86400 * age,) * 2)
    store = kernel_store._open(KEY)
    store.prune()
    left = {folder.name for folder in user.iterdir()}
    assert left == {KEY, *(f"0.{age}-0123456789abcdef" for age in ages[:7])}


def test_a_version_that_is_used_again_is_the_last_to_go(places: tuple[Path, Path]) -> None:
    user, _ = places
    other = "0.2.0-0000000000000000"
    for name, hours in ((KEY, 5), (other, 3)):
        (user / name).mkdir(parents=True)
        os.utime(user / name, (time.time() - 3600 * hours,) * 2)
    assert [folder.name for folder in kernel_store.folders(user)] == [other, KEY]
    kernel_store._open(KEY)
    assert [folder.name for folder in kernel_store.folders(user)] == [KEY, other]


def test_what_is_not_used_any_more_is_pruned_but_one_and_nothing_else(tmp_path: Path) -> None:
    names = [f"0.{minor}.0-{minor:016x}" for minor in range(1, 5)]
    for age, name in enumerate(names):
        folder = tmp_path / name
        (folder / "crash_c361").mkdir(parents=True)
        for file in ("lock", "a.kernel", "a.kernelx.kernel-tmp", "crash_c361/k.nbi", "crash_c361/k.1.nbc"):
            (folder / file).write_text("x", encoding="utf-8")
        os.utime(folder, (time.time() - 86400 * (10 + age),) * 2)
    (tmp_path / names[3] / "notes.txt").write_text("the user's", encoding="utf-8")
    for other in ("numba", "0.9.0", "0.1.0-xyz", "photos-0123456789abcdef"):
        (tmp_path / other).mkdir()
        (tmp_path / other / "a.kernel").write_text("x", encoding="utf-8")
    os.utime(tmp_path / names[3], (1.0, 1.0))
    current = store_in(tmp_path / KEY)
    current.save("a.kernel", b"code")
    current.prune()
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    kept = {f"{names[0]}/{file}" for file in ("lock", "a.kernel", "a.kernelx.kernel-tmp")}
    kept |= {f"{names[0]}/crash_c361/k.nbi", f"{names[0]}/crash_c361/k.1.nbc", f"{names[3]}/notes.txt"}
    kept |= {f"{other}/a.kernel" for other in ("numba", "0.9.0", "0.1.0-xyz", "photos-0123456789abcdef")}
    assert left == kept | {f"{KEY}/a.kernel"}
    assert not (tmp_path / names[1]).exists()


def test_what_killed_processes_left_is_pruned(tmp_path: Path) -> None:
    store = store_in(tmp_path / KEY)
    store.save("a.kernel", b"code")
    for name, age in (("old.kernel-tmp", 4000), ("young.kernel-tmp", 10)):
        (tmp_path / KEY / name).write_text("x", encoding="utf-8")
        os.utime(tmp_path / KEY / name, (time.time() - age,) * 2)
    store.prune()
    assert sorted(path.name for path in (tmp_path / KEY).iterdir()) == ["a.kernel", "young.kernel-tmp"]


def test_clear_removes_every_version(places: tuple[Path, Path]) -> None:
    user, temporary = places
    for place in places:
        for key in (KEY, "0.0.9-0000000000000000"):
            store_in(place / key).save("a.kernel", b"12345")
    (user / "notes.txt").write_text("the user's", encoding="utf-8")
    size = (user / KEY / "a.kernel").stat().st_size
    assert kernel_store.clear() == 4 * size
    assert [path.name for path in user.iterdir()] == ["notes.txt"]
    assert list(temporary.iterdir()) == []
    assert kernel_store.clear() == 0


def test_the_key_changes_with_every_kernel_source(tmp_path: Path) -> None:
    for folder in ("envs/crash", "agents", "training"):
        (tmp_path / folder).mkdir(parents=True)
    sources = ("envs/kernel_cache.py", "envs/_kernels.py", "envs/crash/_kernels_more.py", "training/_kernels_scan.py")
    for name in (*sources, "envs/other.py"):
        (tmp_path / name).write_text("old", encoding="utf-8")
    keys = [kernel_store._sources_key(tmp_path / "envs")]
    for name in sources:
        (tmp_path / name).write_text("new", encoding="utf-8")
        keys.append(kernel_store._sources_key(tmp_path / "envs"))
    assert len(set(keys)) == 5
    assert all(kernel_store._FOLDER.fullmatch(key) for key in keys)
    (tmp_path / "envs/other.py").write_text("new", encoding="utf-8")
    assert kernel_store._sources_key(tmp_path / "envs") == keys[-1]


def test_the_folder_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PRIAL_CACHE_DIR", str(tmp_path / "own"))
    assert kernel_store.user_cache() == tmp_path / "own"
    monkeypatch.delenv("PRIAL_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert kernel_store.user_cache() == tmp_path / "prial"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # the specification has it ignored
    assert kernel_store.user_cache() == Path.home() / ".cache" / "prial"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert kernel_store.user_cache() == tmp_path / "local" / "prial" / "Cache"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert kernel_store.user_cache() == Path.home() / "Library" / "Caches" / "prial"
