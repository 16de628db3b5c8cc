"""Waiting for the threads of this process."""

import hashlib
import threading
from pathlib import Path
from time import monotonic

import pytest

from tilewright.runtime import resting
from tilewright.runtime.resting import let_threads_rest

linux = pytest.mark.skipif(not resting.TASKS.is_dir(), reason="this system does not tell what threads do")


@linux
def test_it_returns_when_a_busy_thread_has_ended() -> None:
    began, end = threading.Event(), monotonic() + 0.3

    def work() -> None:
        began.set()
        while monotonic() < end:
            hashlib.sha256(bytes(2**20)).digest()  # without Python's lock

    thread = threading.Thread(target=work)
    thread.start()
    began.wait()
    let_threads_rest(limit_s=20.0)
    assert monotonic() >= end
    thread.join()


@linux
def test_threads_that_sleep_are_not_waited_for() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    assert let_threads_rest(limit_s=20.0) < 10.0
    done.set()
    thread.join()


def test_it_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resting, "_states_of_others", lambda: iter("SR"))
    assert 0.05 <= let_threads_rest(limit_s=0.05) < 10.0


def test_where_nothing_is_told_it_waits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resting, "TASKS", tmp_path / "nothing")
    assert let_threads_rest(limit_s=0.05) >= 0.05
