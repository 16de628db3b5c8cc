"""Kernel objects of several threads and without PyOpenCL's database, without a driver."""

import importlib
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyopencl as cl
import pytest
from pyopencl import invoker

from tilewright.runtime.opencl.kernel_objects import kernel_object


def test_threads_make_kernels_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyOpenCL warns of names that two threads take at once."""
    inside: list[str] = []
    seen: list[int] = []

    def make(program: str, entry: str) -> str:
        inside.append(program)
        seen.append(len(inside))
        time.sleep(0.002)
        inside.remove(program)
        return f"{program} {entry}"

    monkeypatch.setattr(cl, "Kernel", make)
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda number: kernel_object(str(number), "gemm"), range(16)))
    assert made == [f"{number} gemm" for number in range(16)]
    assert set(seen) == {1}


class Opened:
    """PyOpenCL's database while this thread is inside it: whoever wants its lock waits for ever."""

    def __getitem__(self, key: Any) -> Any:
        raise AssertionError(f"the database was asked for {key}")

    store_if_not_present = __getitem__


def test_kernels_do_without_pyopencls_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """A destructor that multiplied while its thread was inside waited for ever."""
    monkeypatch.setattr(invoker, "invoker_cache", Opened(), raising=False)
    monkeypatch.setattr(invoker, "_check_arg_size", lambda *given: None)  # it asks a driver
    monkeypatch.setattr(cl, "_PYOPENCL_NO_CACHE", False)

    def make(program: str, entry: str) -> Any:
        return invoker.generate_enqueue_and_set_args(entry, 1, 1, (None,), False, False, ())

    monkeypatch.setattr(cl, "Kernel", make)
    assert kernel_object("", "gemm")
    assert not cl._PYOPENCL_NO_CACHE, "PyOpenCL's other callers keep it"


def test_a_database_that_cannot_be_opened_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[bool] = []

    def imported(name: str) -> None:
        tried.append(cl._PYOPENCL_NO_CACHE)
        if not cl._PYOPENCL_NO_CACHE:
            raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(cl, "_PYOPENCL_NO_CACHE", False)
    monkeypatch.setattr(cl, "Kernel", lambda program, entry: entry)
    monkeypatch.setattr(importlib, "import_module", imported)
    assert kernel_object("", "gemm") == "gemm"
    assert tried == [False, True]
    assert cl._PYOPENCL_NO_CACHE
