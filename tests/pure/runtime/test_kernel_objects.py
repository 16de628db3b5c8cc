"""Kernel objects of several threads, without a driver."""

import time
from concurrent.futures import ThreadPoolExecutor

import pyopencl as cl
import pytest

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
