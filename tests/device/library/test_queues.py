"""Device arrays on queues: who waits for whom, other contexts, conversions on the device, and calls that are refused."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pytest

from tilewright import copy, gemm, matmul, matrix_transpose, transpose
from tilewright.errors import InvalidInput, LaunchFailed, UnknownName, Unsupported
from tilewright.library.engine import default_device
from tilewright.library.memory.opencl import OpenCLMemory
from tilewright.runtime.opencl.adopted import KEPT_CONTEXTS, adopt
from tilewright.runtime.opencl.device import Device

RNG = np.random.default_rng(5)
A, B = RNG.standard_normal((3, 4), np.float32), RNG.standard_normal((4, 5), np.float32)


def test_queues_out_of_order_are_refused(one_device: Device) -> None:
    """D5: launches of one call, and scratch memory of several, need their order."""
    properties = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    queue = cl.CommandQueue(one_device.context, one_device.device, properties)
    operand = cl_array.to_device(queue, np.ones((4, 4), np.float32))
    calls: tuple[Callable[[], Any], ...] = (
        lambda: matmul(A, B, queue=queue), lambda: matmul(operand, operand), lambda: transpose(operand),
    )  # fmt: skip
    for call in calls:
        with pytest.raises(Unsupported, match="OUT_OF_ORDER"):
            call()


VIEWS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda x: x.T, "every second column": lambda x: x[:, ::2],
    "reversed rows": lambda x: x[::-1], "middle": lambda x: x[1:5, 2:6],
}  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_operands_of_other_types_are_converted_as_they_lie(view: str, device: Device) -> None:
    """D6: PyOpenCL's conversion keeps the order in memory and claims another."""
    values = np.arange(48, dtype=np.float32).reshape(6, 8)
    seen = VIEWS[view]
    host, lent = seen(values), seen(cl_array.to_device(device.queue, values))
    doubles = RNG.standard_normal((host.shape[1], 2))
    assert np.allclose(matmul(lent, cl_array.to_device(device.queue, doubles)).get(), host @ doubles)
    assert np.array_equal(gemm(lent, lent, trans_a="T", dtype="float64").get(), host.astype(float).T @ host)
    bytes_ = seen(cl_array.to_device(device.queue, values.astype(np.int8)))
    integers = cl_array.to_device(device.queue, np.ones((host.shape[1], 2), np.int32))
    assert np.array_equal(matmul(bytes_, integers).get(), host @ np.ones((host.shape[1], 2)))
    whole = cl_array.zeros(device.queue, (host.shape[0], 4), np.float64)
    matmul(lent, cl_array.to_device(device.queue, doubles.astype(np.float32)), whole[:, ::2])
    assert np.allclose(whole.get()[:, ::2], host @ doubles, atol=1e-3)
    assert not whole.get()[:, 1::2].any()


NUMBERS = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
           "complex64", "complex128")  # fmt: skip


@pytest.mark.parametrize("source", NUMBERS)
def test_every_type_is_converted_on_the_device_as_numpy_does(source: str, device: Device) -> None:
    values = np.array([[0, 1, 2, 100], [3, 7, 120, 1]]).astype(source)
    if np.dtype(source).kind == "f":
        values = np.array([[0.1, -1.5, 65519.0, np.inf], [np.nan, 1e-7, 2049.0, 3.0]]).astype(source)
    if np.dtype(source).kind == "c":
        values = np.array([[0.1 - 2j, 1j, 3, 4]], source)
    memory = OpenCLMemory(device, device.queue, ())
    lent = cl_array.to_device(device.queue, values)
    for target in (each for each in NUMBERS if np.can_cast(source, each, "same_kind") and each != "bool"):
        with np.errstate(over="ignore"):
            expected = values.T.astype(target)
        found = memory.as_operand(lent.T, np.dtype(target)).get()
        assert found.dtype == target
        assert np.array_equal(found, expected, equal_nan=True), target
    for shape in ((), (1,), (1, 1)):
        single = memory.as_operand(
            cl_array.to_device(device.queue, np.ones(shape, source)), np.dtype("complex128")
        ).get()
        assert single.shape == shape
        assert single == 1


def test_whoever_overwrites_an_operand_on_another_queue_waits(device: Device) -> None:
    """D9: the event of a product was left on its result alone."""
    first, second = (cl.CommandQueue(device.context, device.device) for _ in range(2))
    values, others = RNG.random((700, 700), np.float32), RNG.random((700, 700), np.float32)
    for _ in range(3):
        operand = cl_array.to_device(first, values)
        other = cl_array.to_device(second, others)
        result = matmul(operand, operand, queue=first)
        copy(other, out=operand, queue=second)
        assert np.allclose(result.get(queue=first), values @ values, rtol=1e-4)
        assert np.array_equal(operand.get(queue=second), others)


def test_the_events_of_an_operand_do_not_pile_up(one_device: Device) -> None:
    first, second = (cl.CommandQueue(one_device.context, one_device.device) for _ in range(2))
    weights = cl_array.to_device(first, B)
    for _ in range(50):
        for queue in (first, second):
            matmul(cl_array.to_device(queue, A), weights, queue=queue)
    assert len(weights.events) <= 3
    users = cl.UserEvent(one_device.context)
    weights.events.append(users)
    users.set_status(cl.command_execution_status.COMPLETE)
    matmul(cl_array.to_device(first, A), weights, queue=first)
    assert any(event is users for event in weights.events), "another's event is not ours to drop"


def test_an_empty_product_waits_and_has_an_event(one_device: Device) -> None:
    """D27: it dropped `wait_for`."""
    queue = one_device.queue
    gate = cl.UserEvent(one_device.context)
    operand = cl_array.to_device(queue, np.ones((0, 4), np.float32))
    result = matmul(operand, cl_array.to_device(queue, B), wait_for=[gate])
    assert result.shape == (0, 5)
    complete = cl.command_execution_status.COMPLETE
    assert result.events[-1].command_execution_status != complete
    gate.set_status(complete)
    result.events[-1].wait()


@pytest.mark.parametrize("place", ["wait_for", "an array's events"])
def test_a_call_that_waits_for_a_failed_command_fails(place: str, device: Device) -> None:
    """Intel's driver did not run the launch, and said that it was complete: the result held what was there before."""
    failed = cl.UserEvent(device.context)
    failed.set_status(-5)
    a, b = cl_array.to_device(device.queue, A), cl_array.to_device(device.queue, B)
    waits = [failed] if place == "wait_for" else None
    if waits is None:
        b.events.append(failed)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: matmul(a, b, wait_for=waits),
        lambda: gemm(a, b, alpha=2, wait_for=waits),
        lambda: transpose(b, wait_for=waits),
    )
    on_host: tuple[Callable[[], Any], ...] = (lambda: matmul(A, B, wait_for=waits), lambda: copy(A, wait_for=waits))
    for call in (*calls, *(on_host if waits else ())):
        with pytest.raises(LaunchFailed, match=r"waits for has failed: OpenCL OUT_OF_RESOURCES \(-5\)"):
            call()
    b.events.clear()
    assert np.allclose(matmul(a, b).get(), A @ B, atol=1e-5)


def test_arrays_of_another_context_are_refused(device: Device) -> None:
    """D22: the driver said INVALID_MEM_OBJECT, or nothing."""
    context = cl.Context([device.device])
    other = cl.CommandQueue(context)
    a, b = cl_array.to_device(device.queue, A), cl_array.to_device(device.queue, B)
    calls: tuple[tuple[Callable[[], Any], str], ...] = (
        (lambda: matmul(a, cl_array.to_device(other, B)), "(4, 5)"),
        (lambda: matmul(a, b, queue=other), "(3, 4)"),
        (lambda: matmul(a, b, cl_array.empty(other, (3, 5), np.float32)), "(3, 5)"),
        (lambda: transpose(a, queue=other), "(3, 4)"),
    )
    for call, shape in calls:
        with pytest.raises(InvalidInput, match=rf"{re.escape(shape)}.*context"):
            call()


ANYTHING: Any = 3
FRACTION: Any = 1.5
ANY_VIEW: Any = memoryview(bytes(4)).cast("B", (2, 2))
# What is wrong, the call, its error, and names and values of the sentence.
WRONG_CALLS: dict[str, tuple[Any, type[Exception], str]] = {
    "out is a list": (lambda a, b: matmul(A, B, [[0]]), InvalidInput, "out is a list"),
    "transpose into a list": (lambda a, b: transpose(A, [1]), InvalidInput, "out is a list"),
    "device operands, host out": (
        lambda a, b: matmul(a, b, np.zeros((3, 5), np.float32)),
        InvalidInput,
        "out.*ndarray",
    ),
    "device operand, host out": (
        lambda a, b: transpose(a, out=np.zeros((4, 3), np.float32)),
        InvalidInput,
        "out.*ndarray",
    ),
    "queue is a number": (lambda a, b: matmul(A, B, queue=3), InvalidInput, "queue.*int.*CommandQueue"),
    "wait_for holds a number": (lambda a, b: matmul(A, B, wait_for=[1]), InvalidInput, r"wait_for=\[1\].*Event"),
    "wait_for is a number": (lambda a, b: matmul(A, B, wait_for=ANYTHING), InvalidInput, "wait_for=3.*Event"),
    "wait_for is a memoryview": (
        lambda a, b: matmul(a, b, wait_for=ANY_VIEW),
        InvalidInput,
        "wait_for=<memory at .*Event",
    ),
    "wait_for is a text": (lambda a, b: matmul(a, b, wait_for=""), InvalidInput, "wait_for='': .*Event"),
    "dtype has no meaning": (lambda a, b: matmul(A, B, dtype="nonsense"), InvalidInput, "dtype='nonsense'"),
    "device is a number with a fraction": (lambda a, b: matmul(A, B, device=FRACTION), InvalidInput, r"device=1\.5"),
    "device beside device arrays": (lambda a, b: matmul(a, b, device="cpu"), InvalidInput, "device='cpu'"),
    "device number 77": (lambda a, b: matmul(A, B, device=77), UnknownName, "'77'"),
    "axes is a number": (lambda a, b: matmul(A, B, axes=ANYTHING), InvalidInput, "axes=3"),
    "axes for one operand": (lambda a, b: matmul(A, B, axes=[(0, 1)]), InvalidInput, r"axes=\[\(0, 1\)\]"),
    "axes out of range": (lambda a, b: matmul(A, B, axes=[(0, 7), (0, 1), (0, 1)]), InvalidInput, r"\(0, 7\)"),
    "axes beyond integers": (lambda a, b: matmul(A, B, axes=[(0, 10**99)] * 3), InvalidInput, r"\(0, 1000+\.\.\.: "),
    "axes of many digits": (
        lambda a, b: matmul(A, B, axes=[(0, 10**5000)] * 3),
        InvalidInput,
        "axes of a: <tuple of too many digits>",
    ),
    "an alpha of many digits": (
        lambda a, b: gemm(A, B, alpha=10**5000),
        InvalidInput,
        "alpha=<int of too many digits> does not fit",
    ),
    "axes twice": (lambda a, b: matmul(A, B, axes=[(0, 0), (0, 1), (0, 1)]), InvalidInput, r"\(0, 0\)"),
    "scalars": (lambda a, b: matmul(A, 3.0), InvalidInput, r"\(3, 4\) and \(\)"),
    "ragged lists": (lambda a, b: matmul([[1.0, 2.0], [3.0]], B), ValueError, r"\(2,\)"),
}


@pytest.mark.parametrize("what", WRONG_CALLS)
def test_a_wrong_call_is_refused_by_a_sentence(what: str, one_device: Device) -> None:
    """D21 and D22: each was an exception from inside."""
    a, b = cl_array.to_device(one_device.queue, A), cl_array.to_device(one_device.queue, B)
    call, kind, words = WRONG_CALLS[what]
    with pytest.raises(kind, match=words):
        call(a, b)


def test_byte_swapped_arrays_beside_device_arrays(device: Device) -> None:
    b = cl_array.to_device(device.queue, B)
    assert np.allclose(matmul(A.astype(">f4"), b).get(), A @ B, atol=1e-5)
    swapped = cl_array.Array(device.queue, (3, 4), np.dtype(">f4"))
    with pytest.raises(Unsupported, match=">f4"):
        matmul(swapped, b)


def test_one_device_under_all_its_names() -> None:
    """D21: each name opened a context of its own."""
    first = default_device()
    name = first.info.name
    assert {id(default_device(wanted)) for wanted in (None, name, name.lower())} == {id(first)}
    numbered = default_device(0)
    assert default_device("0") is numbered
    assert np.allclose(matmul(A, B, device=0), A @ B, atol=1e-5)


def test_contexts_of_callers_are_let_go(one_device: Device) -> None:
    """D17: a Device with its programs was kept for every context there had ever been."""
    devices, contexts = [], [cl.Context([one_device.device]) for _ in range(KEPT_CONTEXTS + 2)]
    for context in contexts:
        queue = cl.CommandQueue(context)
        matmul(A, B, queue=queue)
        devices.append(adopt(queue))
    assert adopt(cl.CommandQueue(contexts[0])) is not devices[0]
    assert adopt(cl.CommandQueue(contexts[-1])) is devices[-1]


def test_every_array_of_a_call_waits_for_its_last_launch(device: Device) -> None:
    """Another array over the same elements got no event: who waited for it read too early."""
    values = RNG.random((300, 300), np.float32)
    first = cl_array.to_device(device.queue, values)
    again = cl_array.Array(device.queue, first.shape, first.dtype, data=first.base_data)
    turned = matrix_transpose(first, again)
    assert turned is again
    assert first.events[-1] == again.events[-1]
    assert np.array_equal(again.get(), values.T)
    gemm(cl_array.to_device(device.queue, values), values, first, beta=1, out=again)
    assert first.events[-1] == again.events[-1]
    assert np.allclose(again.get(), values @ values + values.T, rtol=1e-4)
