"""Operands that are copied before a product by product/pack.cl, on every driver."""

from dataclasses import replace

import numpy as np
import pytest

from tilewright.core.operands import Layout
from tilewright.core.plan import Plan
from tilewright.core.problem import StridedGemm, random_array
from tilewright.kernels.product.call import GemmCall, call_of
from tilewright.kernels.product.packing import PACK, Place, across_k, on_lines, packing, room
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import LoadedPlan

FENCE = 64  # elements behind a copy that nobody may write


def check(call: GemmCall, place: Place, device: Device) -> None:
    """Whether A and B are there, as they were, and nothing else; around what is read, and what is written, lies NaN."""
    steps = packing(call, ("A", "B"), place)
    assert [step.kernel.source for step in steps] == [PACK.source]
    generator, buffers, wanted = np.random.default_rng(1), {}, {}
    for name in ("A", "B"):
        view, rows = call.sided(name)
        memory = np.full(
            view.offset + call.batch * view.batch + rows * view.row + call.k * view.column, np.nan, np.float32
        )
        strides = (4 * view.batch, 4 * view.row, 4 * view.column)
        own = np.lib.stride_tricks.as_strided(memory[view.offset :], (call.batch, rows, call.k), strides)
        own[:] = random_array(generator, own.shape, "float32")
        buffers[name], wanted[name] = device.allocate(memory.nbytes), own.copy()
        device.write(buffers[name], memory)
        beyond = np.full(room(call, name, place) + FENCE, np.nan, np.float32)
        buffers[f"packed_{name}"] = device.allocate(beyond.nbytes)
        device.write(buffers[f"packed_{name}"], beyond)
    loaded = LoadedPlan(Plan(call, steps), device)
    loaded.bind(buffers)
    loaded.enqueue()
    for name in ("A", "B"):
        layout, (_, rows) = place(call, name), call.sided(name)
        memory = device.read(buffers[f"packed_{name}"], room(call, name, place) + FENCE, np.dtype(np.float32))
        strides = (4 * layout.batch, 4 * layout.row, 4 * layout.column)
        copy = np.lib.stride_tricks.as_strided(memory, (call.batch, rows, call.k), strides)
        assert np.array_equal(copy, wanted[name]), f"{name} {layout}"
        copy[:] = np.nan
        assert np.isnan(memory).all(), f"{name}: something was written outside of its copy"


@pytest.mark.parametrize("place", [across_k, on_lines])
@pytest.mark.parametrize(("a_along", "b_along"), [(True, False), (False, False), (True, True), (False, True)])
def test_both_operands_are_packed_by_one_launch(place: Place, a_along: bool, b_along: bool, device: Device) -> None:
    m, n, k = 70, 133, 65
    for batch, (a_batch, b_batch) in ((1, (0, 0)), (3, (9001, 9999))):
        a = Layout(3, k, 1, a_batch) if a_along else Layout(3, 1, m + 1, a_batch)
        b = Layout(1, 1, k + 2, b_batch) if b_along else Layout(1, n, 1, b_batch)
        call = replace(call_of(StridedGemm(m, n, k, views=(a, b, Layout(0, n, 1, m * n)))), batch=batch)
        check(call, place, device)
