"""PyOpenCL before 2026.1.1 takes source code as str alone, and no None as an argument."""

from typing import Any
from uuid import uuid4

import numpy as np
import pyopencl as cl
import pytest

import tilewright
from tilewright.core.source import parse_signature
from tilewright.runtime.opencl.device import Device


class OldProgram(cl._cl._Program):  # type: ignore[misc]
    def __init__(self, context: Any, *given: Any) -> None:
        if isinstance(given[0], bytes):
            raise TypeError("__init__(): incompatible function arguments")
        super().__init__(context, *given)


@pytest.fixture(autouse=True)
def old(monkeypatch: pytest.MonkeyPatch) -> None:
    set_arg = cl.Kernel.set_arg

    def old_set_arg(kernel: Any, index: int, value: Any) -> None:
        if value is None:
            raise TypeError("set_arg(): incompatible function arguments")
        set_arg(kernel, index, value)

    monkeypatch.setattr(cl._cl, "_Program", OldProgram)
    monkeypatch.setattr(cl.Kernel, "set_arg", old_set_arg)


def test_programs_are_built(device: Device) -> None:
    source = "__kernel void k(__global float* x) { x[0] = 1; }"
    assert device.build(source, "k", parse_signature(source, "k"), "float32", (f"-DUNIQUE_{uuid4().hex}",)).new_kernel()


def test_arguments_are_let_go_after_calls_in_tiles(device: Device) -> None:
    a = np.arange(200 * 100, dtype=np.float32).reshape(200, 100) % 7
    found = tilewright.matmul(a, a.T, max_device_bytes=150_000, device=device.info.name)
    assert np.array_equal(found, a @ a.T)
