"""What learners need of torch: which process this is, and processes that speak with each other."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from prial.training.config_files import ConfigFileError  # noqa: E402
from prial.training.torch_state import place_among_processes, process_group  # noqa: E402

TORCHRUN = {"RANK": "1", "WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}


def under(monkeypatch: pytest.MonkeyPatch, **changed: str | None) -> None:
    for name, value in {**TORCHRUN, **changed}.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)


def test_torchrun_says_which_process_this_is(monkeypatch: pytest.MonkeyPatch) -> None:
    under(monkeypatch)
    assert place_among_processes() == (1, 3)


@pytest.mark.parametrize("lacking", TORCHRUN)
def test_a_machine_that_sets_some_of_it_is_not_torchrun(lacking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    under(monkeypatch, **{lacking: None})
    assert place_among_processes() == (0, 1)


@pytest.mark.parametrize("wrong", [{"RANK": "x"}, {"RANK": "-1"}, {"RANK": "3"}, {"WORLD_SIZE": ""}])
def test_numbers_that_are_none_are_refused(wrong: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    under(monkeypatch, **wrong)
    with pytest.raises(ConfigFileError, match="expected a process of so many, as torchrun sets them"):
        place_among_processes()


def test_one_process_needs_no_others() -> None:
    with process_group(1):
        assert not torch.distributed.is_initialized()
