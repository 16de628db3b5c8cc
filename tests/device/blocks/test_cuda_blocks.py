"""Products of blocks on pretended GPUs: right in any order of their streams, in a chain of copies, and what is refused."""

import gc
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
import pyopencl.array as cl_array
import pytest
from pretended_gpus import FIRST_COPY_STREAM, GpuArray, Gpus

from tilewright.blocks import gemm, matmul, panels, running
from tilewright.errors import InvalidInput, LaunchFailed, OutOfDeviceMemory, Unsupported
from tilewright.library.cuda_arrays import frameworks, of_others
from tilewright.library.memory import cuda as cuda_memory
from tilewright.runtime.cuda import driver, peers
from tilewright.runtime.opencl.device import Device

SEEDS = range(6)


@pytest.fixture
def gpus(sharing_device: Device, monkeypatch: pytest.MonkeyPatch) -> Gpus:
    made = Gpus(sharing_device, 3)
    monkeypatch.setitem(frameworks._found, GpuArray, made.framework)
    for module in (of_others, cuda_memory):
        monkeypatch.setattr(module, "library_device", lambda ordinal: made.devices[ordinal])
    monkeypatch.setattr(peers, "relaxed_capture", nullcontext)
    monkeypatch.setattr(panels, "LEAST_COLUMNS", 256)  # several panels of small matrices
    return made


def values(*shape: int, seed: int = 0, dtype: str = "float32") -> np.ndarray:
    found = np.random.default_rng(seed).standard_normal(shape) * 4
    return found.astype(dtype)


def blocks(gpus: Gpus, a: list[np.ndarray], places: tuple[int, ...]) -> list[GpuArray]:
    return [gpus.own(each, place) for each, place in zip(a, places, strict=True)]


def check(found: list[Any], a: list[np.ndarray], b: np.ndarray) -> None:
    for got, left in zip(found, a, strict=True):
        np.testing.assert_allclose(got.array, left @ b, atol=1e-3)


def columns_first(array: np.ndarray) -> np.ndarray:
    """The same values, by columns."""
    whole = np.zeros(array.shape[::-1], array.dtype)
    whole[...] = array.T
    return whole.T


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("home", [0, 2])
def test_one_b_reaches_every_gpu(home: int, by_columns: bool, seed: int, gpus: Gpus) -> None:
    a = [values(rows, 30, seed=rows) for rows in (20, 0, 33, 7)]
    b = values(30, 900, seed=5)
    own = columns_first(b) if by_columns else b
    gpus.devices[home].own(own if own.base is None else own.base)
    found = matmul(blocks(gpus, a, (0, 1, 1, 2)), GpuArray(own, home))
    assert [each.ordinal for each in found] == [0, 1, 1, 2]
    gpus.run(seed)
    check(found, a, b)
    assert not gpus.events, "events are given back"


@pytest.mark.parametrize("seed", SEEDS)
def test_memory_may_be_used_again_right_after_the_call(seed: int, gpus: Gpus) -> None:
    """The caller's b, and the copies' memory, which later calls and the caller's own work get from the pool."""
    a, calls = [values(rows, 30, seed=rows) for rows in (20, 33, 7)], []
    left = blocks(gpus, a, (0, 1, 2))
    for number in range(3):
        b = values(30, 900, seed=number)
        made = gpus.framework.empty(b.shape, b.dtype, 0, gpus.stream(0)).given
        for _ in range(40):  # one of the GPUs is slow
            gpus.enqueue(gpus.stream(seed % 3), lambda: None)
        gpus.enqueue(gpus.stream(0), partial(np.copyto, made.array, b))
        calls.append((matmul(left, made), b))
        del made
        for place in range(3):
            for shape in ((30, 900), (30, 904)):
                other = gpus.framework.empty(shape, b.dtype, place, gpus.stream(place)).given.array
                gpus.enqueue(gpus.stream(place), partial(other.fill, np.nan))
    gpus.run(seed)
    for found, b in calls:
        check(found, a, b)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_epilogue_and_out(seed: int, gpus: Gpus) -> None:
    a, c = ([values(rows, width, seed=rows) for rows in (20, 33, 7)] for width in (30, 600))
    b, bias = values(30, 600, seed=5), values(600, seed=6)
    wanted = [np.maximum(2 * left @ b + 3 * added + bias, 0) for left, added in zip(a, c, strict=True)]
    out = blocks(gpus, c, (0, 1, 2))
    found = gemm(
        blocks(gpus, a, (0, 1, 2)),
        gpus.own(b, 1),
        out,
        alpha=2,
        beta=3,
        bias=gpus.own(bias, 2),
        activation="relu",
        out=out,
    )
    assert all(one is other for one, other in zip(found, out, strict=True))
    gpus.run(seed)
    for got, expected in zip(c, wanted, strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-2)


@pytest.mark.parametrize("cut", [np.s_[::2, ::-1], np.s_[:, ::2], np.s_[:, 1:900], np.s_[:1, :], np.s_[:, :1]])
def test_any_strides_of_b(cut: Any, gpus: Gpus) -> None:
    whole = values(60, 1000)
    gpus.own(whole, 0)
    b = whole[cut]
    a = [values(20, b.shape[0], seed=each) for each in range(3)]
    found = matmul(blocks(gpus, a, (0, 1, 2)), GpuArray(b, 0))
    gpus.run(0)
    check(found, a, b)


def test_operands_of_two_types_and_without_elements(gpus: Gpus) -> None:
    a = [values(9, 8, seed=each) for each in range(2)]
    b = values(8, 700, dtype="int16")
    found = matmul(blocks(gpus, a, (0, 1)), gpus.own(b, 0))
    nothing = matmul(
        blocks(gpus, [np.zeros((4, 0), np.float32)] * 2, (0, 1)), gpus.own(np.zeros((0, 5), np.float32), 0)
    )
    gpus.run(1)
    check(found, a, b.astype(np.float32))
    assert [each.array.tolist() for each in nothing] == [np.zeros((4, 5)).tolist()] * 2


def test_copies_go_in_a_chain_and_before_products_of_later_panels(gpus: Gpus) -> None:
    a = [values(20, 30, seed=each) for each in range(4)]
    matmul(blocks(gpus, a, (1, 0, 2, 2)), gpus.own(values(30, 1024), 1))
    copies = [each for each in gpus.log if each[0] == "copy"]
    assert copies == [("copy", 1, 0, FIRST_COPY_STREAM), ("copy", 0, 2, FIRST_COPY_STREAM + 2)] * 4
    whats = [each[0] for each in gpus.log if each[0] in ("copy", "product")]
    assert whats == ["copy", "copy", "product", *["product"] * 3, *(["copy"] * 2 + ["product"] * 3) * 3]
    assert {each[1:] for each in gpus.log if each[0] == "peer"} == {(100, 101), (101, 100), (100, 102), (102, 100)}


def test_replicas_are_not_copied(gpus: Gpus) -> None:
    a, b = [values(20, 30, seed=each) for each in range(3)], values(30, 600, seed=5)
    found = matmul(blocks(gpus, a, (0, 1, 2)), blocks(gpus, [b.copy() for _ in a], (0, 1, 2)))
    assert {each[0] for each in gpus.log} == {"product"}
    gpus.run(0)
    check(found, a, b)


def test_captured_streams_take_replicas_alone(gpus: Gpus) -> None:
    a, b = [values(20, 30, seed=each) for each in range(2)], values(30, 600, seed=5)
    gpus.capturing = {gpus.stream(1)}
    with pytest.raises(Unsupported, match="GPU 1 is being captured: pass b as a list"):
        matmul(blocks(gpus, a, (0, 1)), gpus.own(b, 0))
    assert not any(gpus.streams.values())


def test_gpus_without_peers_are_copied_by_the_driver(gpus: Gpus) -> None:
    gpus.peers = False
    a, b = [values(20, 30, seed=each) for each in range(2)], values(30, 600, seed=5)
    found = matmul(blocks(gpus, a, (0, 1)), gpus.own(b, 0))
    gpus.run(0)
    check(found, a, b)
    assert not [each for each in gpus.log if each[0] == "peer"]


def test_a_copy_that_the_driver_refuses(gpus: Gpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "driver_calls", lambda: None)
    monkeypatch.setattr(driver, "_meaning", lambda calls, code: f"status {code}")
    gpus.refused = {2: 217}
    a, b = [values(20, 30, seed=each) for each in range(3)], values(30, 600, seed=5)
    with pytest.raises(LaunchFailed, match=r"copying 61,440 bytes from GPU 1 to GPU 2 .*a list.*status 217"):
        matmul(blocks(gpus, a, (0, 1, 2)), gpus.own(b, 0))
    assert not gpus.events


@pytest.mark.parametrize("seed", SEEDS)
def test_memory_of_copies_is_safe_after_an_error(seed: int, gpus: Gpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are on their way, and their memory is in the pool again, before any product has waited for them."""

    def fail(*arguments: Any) -> None:
        raise OutOfDeviceMemory("no memory for a copy of a")

    monkeypatch.setattr(running, "multiply", fail)
    a, b = [values(20, 30, seed=each) for each in range(2)], values(30, 600, seed=5)
    with pytest.raises(OutOfDeviceMemory) as raised:
        matmul(blocks(gpus, a, (0, 1)), gpus.own(b, 0))
    del raised
    gc.collect()
    assert gpus.pool[1, gpus.stream(1), b.nbytes]
    again = gpus.framework.empty((30, 600), b.dtype, 1, gpus.stream(1)).given.array
    gpus.enqueue(gpus.stream(1), lambda: again.fill(1))
    gpus.run(seed)
    assert (again == 1).all()


def test_what_cannot_be_is_refused_by_a_sentence(gpus: Gpus, one_device: Device) -> None:
    foreign = cl_array.to_device(one_device.queue, values(6, 5))
    a = blocks(gpus, [values(4, 5), values(6, 5)], (0, 1))
    b, other = gpus.own(values(5, 7), 0), gpus.own(values(5, 7), 1)
    wide = gpus.own(values(40, 7), 1)
    parts = GpuArray(wide.array[:4], 1), GpuArray(wide.array[2:8], 1)
    out = [gpus.own(values(4, 7), 0), gpus.own(values(6, 7), 1)]
    read_only = gpus.own(values(6, 7), 1, read_only=True)
    cases: list[tuple[type[Exception], str, Any]] = [
        (InvalidInput, "a is an empty list", lambda: matmul([], b)),
        (InvalidInput, "a is a GpuArray: pass a list", lambda: matmul(a[0], b)),  # type: ignore[arg-type]
        (InvalidInput, r"a\[1\] is a numpy ndarray, which lies on no device", lambda: matmul([a[0], values(4, 5)], b)),
        (InvalidInput, "b is a numpy ndarray", lambda: matmul(a, values(5, 7))),
        (InvalidInput, "b has 1 arrays, a has 2 blocks", lambda: matmul(a, [b])),
        (InvalidInput, r"b\[1\] \(\(5, 7\)\) is on GPU 0, its block of a on GPU 1", lambda: matmul(a, [b, b])),
        (InvalidInput, r"out\[0\] \(\(6, 7\)\) is on GPU 1", lambda: matmul(a, b, out[::-1])),
        (InvalidInput, r"a\[1\] has the shape \(6, 4\), a\[0\] \(4, 5\)", lambda: matmul([a[0], gpus.own(values(6, 4), 1)], b)),
        (InvalidInput, r"a\[1\] is float64, a\[0\] is float32",
         lambda: matmul([a[0], gpus.own(values(6, 5, dtype="float64"), 1)], b)),
        (InvalidInput, r"b\[1\] has the shape \(5, 6\), b\[0\] \(5, 7\)", lambda: matmul(a, [b, gpus.own(values(5, 6), 1)])),
        (InvalidInput, r"the k of a is 5, the k of b is 6", lambda: matmul(a, gpus.own(values(6, 7), 0))),
        (InvalidInput, r"b has the shape \(5,\)", lambda: matmul(a, gpus.own(values(5), 0))),
        (InvalidInput, r"a\[0\] has the shape \(2, 2, 5\)", lambda: matmul([gpus.own(values(2, 2, 5), 0)], b)),
        (InvalidInput, r"block 1: out has the shape \(4, 7\)", lambda: matmul(a, b, [out[0], gpus.own(values(4, 7), 1)])),
        (InvalidInput, "block 1: out is read-only", lambda: matmul(a, b, [out[0], read_only])),
        (InvalidInput, r"out\[1\] shares memory with a\[1\]", lambda: shared_with_a(gpus)),
        (InvalidInput, r"out\[0\] shares memory with out\[1\]", lambda: matmul([gpus.own(values(4, 5), 1), a[1]], b, parts)),
        (InvalidInput, r"bias has the shape \(6,\)", lambda: gemm(a, b, bias=gpus.own(values(6), 0))),
        (InvalidInput, r"a\[0\] is one of CUDA arrays, a\[1\] of PyOpenCL arrays", lambda: matmul([a[0], foreign], b)),
        (InvalidInput, "beta=2 needs c", lambda: gemm(a, b, beta=2)),
    ]  # fmt: skip
    for error, words, call in cases:
        with pytest.raises(error, match=words):
            call()
    assert not any(gpus.streams.values()), "nothing was enqueued"
    assert other.ordinal == 1


def shared_with_a(gpus: Gpus) -> Any:
    square = values(6, 6)
    left = [gpus.own(values(4, 6), 0), gpus.own(square, 1)]
    return matmul(left, gpus.own(values(6, 6), 0), [gpus.own(values(4, 6), 0), gpus.own(square, 1)])
