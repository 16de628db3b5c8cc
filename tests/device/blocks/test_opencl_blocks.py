"""Products of blocks of PyOpenCL arrays: of two contexts, of two queues and of two devices of one context."""

from functools import cache
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pyopencl.tools
import pytest

import tilewright
from tilewright.blocks import gemm, matmul, opencl_copies, panels
from tilewright.errors import InvalidInput
from tilewright.runtime.opencl.device import Device


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several panels, and several slabs of each, of small matrices."""
    monkeypatch.setattr(panels, "LEAST_COLUMNS", 256)
    monkeypatch.setattr(opencl_copies, "SLAB_BYTES", 20_000)


@cache
def context_of(*devices: Any) -> Any:
    """A context that lives: Intel's queues do not keep theirs."""
    return cl.Context(list(devices))


def unlike_contexts(device: Device, other: Device) -> list[Any]:
    return [cl.CommandQueue(device.context, device.device), cl.CommandQueue(context_of(other.device), other.device)]


def one_context(device: Device, other: Device) -> list[Any]:
    return [cl.CommandQueue(device.context, device.device) for _ in range(2)]


def two_devices_of_a_context(device: Device, other: Device) -> list[Any]:
    try:
        parts = device.device.create_sub_devices([cl.device_partition_property.EQUALLY, 1])
    except cl.Error as error:
        pytest.skip(f"{device.info.label} cannot be parted: {error}")
    if len(parts) < 2:
        pytest.skip("one processor")
    context = context_of(*parts[:2])
    return [cl.CommandQueue(context, part) for part in parts[:2]]


@pytest.fixture(params=[unlike_contexts, one_context, two_devices_of_a_context])
def queues(request: pytest.FixtureRequest, device: Device, one_device: Device) -> list[Any]:
    """Those of two places, on each working driver."""
    found: list[Any] = request.param(device, one_device)
    return found


def values(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


ROWS = (20, 0, 33, 7)
PLACES = (0, 1, 1, 0)


def blocks(queues: list[Any], arrays: list[np.ndarray]) -> list[Any]:
    return [cl_array.to_device(queues[place], array) for place, array in zip(PLACES, arrays, strict=True)]


def overwrite(array: Any) -> None:
    """The caller's next command in the queue of an array. Elementwise kernels of PyOpenCL would be compiled for it."""
    cl.enqueue_fill_buffer(array.queue, array.base_data, np.uint8(0), 0, array.base_data.size)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("home", [0, 1])
def test_one_b_reaches_every_device(home: int, order: Any, queues: list[Any]) -> None:
    a, b = [values(rows, 30, seed=rows) for rows in ROWS], values(30, 900, seed=5)
    own = cl_array.to_device(queues[home], np.asarray(b, order=order))
    found = matmul(blocks(queues, a), own)
    overwrite(own)
    del own
    for left, got, place in zip(a, found, PLACES, strict=True):
        assert got.queue == queues[place]
        np.testing.assert_allclose(got.get(), left @ b, atol=1e-3)


def test_its_producer_is_waited_for(queues: list[Any]) -> None:
    """And the memory of what was copied may be used again right after the call."""
    pool = pyopencl.tools.MemoryPool(pyopencl.tools.ImmediateAllocator(queues[0]))
    a = [values(rows, 30, seed=rows) for rows in ROWS]
    long, wide = values(30, 4000, seed=1), values(4000, 900, seed=2)
    left, factors = blocks(queues, a), [cl_array.to_device(queues[0], each, allocator=pool) for each in (long, wide)]
    for _ in range(4):
        own = tilewright.matmul(*factors)
        assert own.allocator is pool
        found = matmul(left, own)
        del own
        overwrite(cl_array.empty(queues[0], (30, 900), np.float32, allocator=pool))
        for array, got in zip(a, found, strict=True):
            np.testing.assert_allclose(got.get(), array @ (long @ wide), atol=1e-2)


@pytest.mark.parametrize("cut", [np.s_[::2, ::3], np.s_[:, 1:700], np.s_[:1, :], np.s_[:, :1], np.s_[:0, :]])
def test_any_strides_of_b(cut: Any, queues: list[Any]) -> None:
    b = values(60, 900, seed=5)
    a = [values(rows, b[cut].shape[0], seed=rows) for rows in ROWS]
    found = matmul(blocks(queues, a), cl_array.to_device(queues[0], b)[cut])
    for left, got in zip(a, found, strict=True):
        np.testing.assert_allclose(got.get(), left @ b[cut], atol=1e-3)


def test_replicas_out_and_the_epilogue(queues: list[Any]) -> None:
    a, c = ([values(rows, width, seed=rows) for rows in ROWS] for width in (30, 600))
    b, bias = values(30, 600, seed=5), values(600, seed=6)
    left, replicas = blocks(queues, a), blocks(queues, [b] * 4)
    out = [cl_array.zeros(queues[place], (rows, 600), np.float32) for rows, place in zip(ROWS, PLACES, strict=True)]
    assert all(one is other for one, other in zip(matmul(left, replicas, out), out, strict=True))
    for array, got in zip(a, out, strict=True):
        np.testing.assert_allclose(got.get(), array @ b, atol=1e-3)
    for vector in (cl_array.to_device(queues[0], bias), blocks(queues, [bias] * 4)):
        added = blocks(queues, c)
        gemm(left, replicas[0], added, alpha=2, beta=3, bias=vector, activation="relu", out=added)
        for array, before, got in zip(a, c, added, strict=True):
            np.testing.assert_allclose(got.get(), np.maximum(2 * array @ b + 3 * before + bias, 0), atol=1e-2)


def test_reproducible_products_have_the_bits_of_the_whole(queues: list[Any]) -> None:
    a, b = [values(rows, 300, seed=rows) for rows in ROWS], values(300, 900, seed=5)
    own = cl_array.to_device(queues[0], b)
    found = matmul(blocks(queues, a), own, precision="reproducible")
    whole = matmul([cl_array.to_device(queues[0], np.concatenate(a))], own, precision="reproducible")
    assert len(whole) == 1
    assert np.concatenate([each.get() for each in found]).tobytes() == whole[0].get().tobytes()


def test_parts_of_one_array_are_blocks_of_out(device: Device) -> None:
    a, b = values(50, 30), values(30, 600, seed=5)
    left, out = (cl_array.to_device(device.queue, each) for each in (a, np.zeros((50, 600), np.float32)))
    matmul([left[:20], left[20:]], cl_array.to_device(device.queue, b), [out[:20], out[20:]])
    np.testing.assert_allclose(out.get(), a @ b, atol=1e-3)


def test_what_cannot_be_is_refused_by_a_sentence(one_device: Device) -> None:
    first, second = unlike_contexts(one_device, one_device)
    a = [cl_array.to_device(queue, values(4, 5)) for queue in (first, second)]
    b = cl_array.to_device(first, values(5, 7))
    whole = cl_array.zeros(first, (4, 12), np.float32)
    cases: list[tuple[str, Any]] = [
        (r"b\[1\] .* is on .*, its block of a on .* in another OpenCL context", lambda: matmul(a, [b, b])),
        (r"out\[1\] .* in another OpenCL context", lambda: matmul(a, b, [whole[:, :7]] * 2)),
        (r"out\[0\] shares memory with a\[0\]", lambda: matmul([whole[:, :5]], b, [whole[:, 5:]])),
        ("has no queue: pass array.with_queue", lambda: matmul(a, b.with_queue(None))),
        ("c is a Array: pass a list", lambda: gemm(a, b, whole, beta=1)),
    ]
    for words, call in cases:
        with pytest.raises(InvalidInput, match=words):
            call()


def test_slabs_take_turns_also_if_a_panel_fits_one(
    device: Device, one_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise each panel's read would wait for the writes of the one before."""
    used, read = [], opencl_copies._Slab.read

    def noted(slab: Any, *given: Any) -> np.ndarray:
        used.append(id(slab))
        return read(slab, *given)

    monkeypatch.setattr(opencl_copies._Slab, "read", noted)
    queues = unlike_contexts(device, one_device)
    a, b = values(9, 8), values(8, 1024, seed=1)
    lists = [cl_array.to_device(queue, a) for queue in queues]
    found = matmul(lists, cl_array.to_device(queues[0], b))
    assert all(np.allclose(each.get(), a @ b, atol=1e-4) for each in found)
    assert len(used) == 4
    assert used[0] != used[1]
    assert used == used[:2] * 2
