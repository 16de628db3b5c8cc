"""`matmul` against NumPy's documented behaviour: shapes, strides, types, out=, aliasing, NaN and infinities."""

import threading
from collections.abc import Callable

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright import matmul
from tilewright.errors import InvalidInput, Unsupported
from tilewright.library.memory.host import HostMemory
from tilewright.library.multiply import Epilogue, Product, multiply
from tilewright.runtime.opencl.device import Device

REAL = ("float32", "float64")
RNG = np.random.default_rng(7)


def random(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    kind = np.dtype(dtype)
    if kind.kind == "i":
        limits = np.iinfo(kind)
        return RNG.integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)
    if kind.kind == "c":
        return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(kind)
    return RNG.standard_normal(shape).astype(kind)


def assert_product(result: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    """Every element within (k + 2) eps of |a| |b|, the bound of any order of summation."""
    wide = np.complex128 if np.iscomplexobj(a) else np.float64
    expected = np.matmul(a.astype(wide), b.astype(wide))
    size = np.matmul(np.abs(a).astype(np.float64), np.abs(b).astype(np.float64))
    epsilon = np.finfo(result.dtype).eps
    assert result.shape == expected.shape
    bound = (2 * a.shape[-1] + 4) * epsilon * size
    wrong = np.abs(result - expected) > bound
    assert not np.any(wrong), f"{np.count_nonzero(wrong)} of {wrong.size} elements, first at {np.argwhere(wrong)[:1]}"
    assert np.isfinite(result).all()


SHAPES = [
    ((1, 1), (1, 1)),
    ((37, 41), (41, 43)),
    ((513, 3), (3, 17)),
    ((3, 517), (517, 29)),
    ((128, 256), (256, 64)),
    ((1, 300), (300, 1)),
    ((300, 1), (1, 300)),
    ((5,), (5,)),
    ((7, 5), (5,)),
    ((5,), (5, 7)),
    ((2, 3, 4, 5), (5,)),
    ((5,), (2, 3, 5, 4)),
    ((4, 9, 8), (8, 7)),
    ((9, 8), (4, 8, 7)),
    ((4, 9, 8), (4, 8, 7)),
    ((2, 1, 9, 8), (3, 8, 7)),
    ((2, 1, 4, 9, 8), (3, 1, 8, 7)),
    ((0, 5), (5, 3)),
    ((3, 5), (5, 0)),
    ((3, 0), (0, 4)),
    ((0, 3, 5), (5, 4)),
    ((0,), (0,)),
]


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes_follow_numpy(shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: str, device: Device) -> None:
    a, b = random(shapes[0], dtype), random(shapes[1], dtype)
    result = matmul(a, b, queue=device.queue)
    expected = np.matmul(a, b)
    assert type(result) is type(expected)
    assert result.dtype == expected.dtype
    assert_product(np.asarray(result), a, b)


def test_inner_dimensions_must_match(device: Device) -> None:
    with pytest.raises(InvalidInput, match=r"\(2, 3\) and \(4, 5\).*3.*4"):
        matmul(random((2, 3)), random((4, 5)), queue=device.queue)
    with pytest.raises(InvalidInput, match=r"\(2, 2, 3\).*\(3, 3, 5\)"):
        matmul(random((2, 2, 3)), random((3, 3, 5)), queue=device.queue)
    with pytest.raises(InvalidInput, match=r"\(\)"):
        matmul(np.float32(2), random((4, 5)), queue=device.queue)


VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "contiguous": lambda a: a,
    "fortran": np.asfortranarray,
    "every second row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "every second column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "reversed rows": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "reversed columns": lambda a: np.ascontiguousarray(a[:, ::-1])[:, ::-1],
    "both reversed": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
    "inside a larger array": lambda a: np.pad(a, 3, constant_values=np.nan)[3:-3, 3:-3],
    "inside, transposed": lambda a: np.pad(a.T, 2, constant_values=np.nan)[2:-2, 2:-2].T,
    "read-only": lambda a: _readonly(a),
    "misaligned": lambda a: _misaligned(a),
    "byte-swapped": lambda a: a.astype(a.dtype.newbyteorder()),
}


def _readonly(a: np.ndarray) -> np.ndarray:
    copy = a.copy()
    copy.flags.writeable = False
    return copy


def _misaligned(a: np.ndarray) -> np.ndarray:
    raw = np.empty(a.nbytes + 1, np.uint8)[1:]
    view = raw.view(a.dtype).reshape(a.shape)
    view[...] = a
    return view


@pytest.mark.parametrize("view_b", VIEWS)
@pytest.mark.parametrize("view_a", VIEWS)
def test_any_view_will_do(view_a: str, view_b: str, device: Device) -> None:
    for m, n, k in ((37, 29, 41), (64, 48, 32)):
        a, b = random((m, k)), random((k, n))
        result = matmul(VIEWS[view_a](a), VIEWS[view_b](b), queue=device.queue)
        assert_product(result, a, b)


def test_as_many_dimensions_as_numpy_has(device: Device) -> None:
    a, b = random((4, 5)), random((2, 5, 3))
    stack = a.reshape((1,) * 62 + a.shape)
    for one, other in ((stack, b[0]), (stack, b), (a, b.reshape((2,) + (1,) * 61 + (5, 3)))):
        got = matmul(one, other, queue=device.queue)
        assert got.shape == np.matmul(one, other).shape
        assert np.allclose(got, np.matmul(one, other), atol=1e-5)
    with pytest.raises(InvalidInput, match="do not broadcast"):
        matmul(np.ones((3, *stack.shape[1:]), np.float32), b.reshape((2,) + (1,) * 61 + (5, 3)), queue=device.queue)


def test_broadcast_strides(device: Device) -> None:
    a = np.broadcast_to(random((1, 33)), (21, 33))
    b = np.broadcast_to(random((33, 1)), (33, 18))
    assert_product(matmul(a, b, queue=device.queue), a, b)


@pytest.mark.parametrize("layout", ["C", "F", "strided", "negative"])
def test_out_is_filled_and_returned(layout: str, device: Device) -> None:
    a, b = random((45, 31)), random((31, 27))
    whole = np.full((90, 54), np.nan, np.float32)
    out = {
        "C": np.full((45, 27), np.nan, np.float32),
        "F": np.full((45, 27), np.nan, np.float32, order="F"),
        "strided": whole[::2, ::2],
        "negative": whole[:45, :27][::-1, ::-1],
    }[layout]
    returned = matmul(a, b, out, queue=device.queue)
    assert returned is out
    assert_product(out, a, b)
    if layout == "strided":
        assert np.isnan(whole[1::2]).all()
        assert np.isnan(whole[:, 1::2]).all()


def test_out_may_overlap_an_operand(device: Device) -> None:
    for which in (0, 1):
        operands = [random((64, 64)), random((64, 64))]
        expected = np.matmul(*(each.astype(np.float64) for each in operands))
        matmul(operands[0], operands[1], operands[which], queue=device.queue)
        assert np.allclose(operands[which], expected, atol=1e-4)
    memory = random((96, 64))
    a, out = memory[:64], memory[32:]
    before, b = a.copy(), random((64, 64))
    matmul(a, b, out=out, queue=device.queue)
    assert_product(out, before, b)


def test_out_of_another_type_is_cast_as_numpy_does(device: Device) -> None:
    a, b = random((9, 8), "float64"), random((8, 7), "float64")
    out = np.empty((9, 7), np.float32)
    assert matmul(a, b, out=out, queue=device.queue) is out
    assert np.allclose(out, a @ b, rtol=1e-6)
    with pytest.raises(InvalidInput, match="same_kind"):
        matmul(a, b, out=np.empty((9, 7), np.int32), queue=device.queue)
    with pytest.raises(InvalidInput, match=r"\(9, 6\).*\(9, 7\)"):
        matmul(a, b, out=np.empty((9, 6)), queue=device.queue)


def test_mixed_types_are_promoted(device: Device) -> None:
    a, b = random((9, 8), "float32"), random((8, 7), "float64")
    result = matmul(a, b, queue=device.queue)
    assert result.dtype == np.float64
    assert_product(result, a.astype(np.float64), b)
    widened = matmul(a, a.T, dtype="float64", queue=device.queue)
    assert widened.dtype == np.float64


def test_int32_wraps_exactly(device: Device) -> None:
    for m, n, k in ((1, 1, 1), (33, 47, 129), (64, 64, 64), (5, 300, 77)):
        a, b = random((m, k), "int32"), random((k, n), "int32")
        assert np.array_equal(matmul(a, b, queue=device.queue), np.matmul(a, b))


def test_int8_gives_exact_int32(device: Device) -> None:
    for m, n, k in ((1, 1, 1), (33, 47, 129), (17, 19, 3000), (64, 64, 64)):
        a, b = random((m, k), "int8"), random((k, n), "int8")
        result = matmul(a, b, queue=device.queue)
        assert result.dtype == np.int32
        assert np.array_equal(result, np.matmul(a.astype(np.int32), b.astype(np.int32)))
    extreme = np.full((20, 5000), -128, np.int8)
    assert np.array_equal(matmul(extreme, extreme.T, queue=device.queue), np.full((20, 20), 5000 * 128 * 128))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex(dtype: str, device: Device) -> None:
    for m, n, k in ((1, 1, 1), (33, 47, 129), (64, 64, 64), (5, 300, 77)):
        a, b = random((m, k), dtype), random((k, n), dtype)
        result = matmul(a, b, queue=device.queue)
        assert result.dtype == dtype
        expected = a.astype(np.complex128) @ b
        bound = (4 * k + 8) * np.finfo(dtype).eps * (np.abs(a) @ np.abs(b))
        assert (np.abs(result - expected) <= bound).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_storage_is_summed_in_float32(dtype: str, device: Device) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind = np.dtype(np.float16 if dtype == "float16" else ml_dtypes.bfloat16)
    digits = 11 if dtype == "float16" else 8
    for m, n, k in ((1, 1, 1), (33, 47, 129), (64, 64, 1024)):
        a, b = RNG.standard_normal((m, k)).astype(kind), RNG.standard_normal((k, n)).astype(kind)
        expected = a.astype(np.float64) @ b.astype(np.float64)
        size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
        wide = matmul(a, b, dtype="float32", queue=device.queue)
        assert wide.dtype == np.float32
        assert (np.abs(wide - expected) <= (k + 2) * 2.0**-23 * size).all()
        stored = matmul(a, b, queue=device.queue)
        assert stored.dtype == kind
        bound = (k + 2) * 2.0**-23 * size + 2.0**-digits * np.abs(expected) * 1.01
        assert (np.abs(stored.astype(np.float64) - expected) <= bound).all()


def test_types_without_kernels_are_refused_by_a_sentence(device: Device) -> None:
    for dtype in ("longdouble", "clongdouble"):
        a = np.ones((3, 3), dtype)
        with pytest.raises(Unsupported, match=a.dtype.name):
            matmul(a, a, queue=device.queue)


def test_nan_and_infinity_go_where_ieee_says(device: Device) -> None:
    a, b = random((20, 30)), random((30, 25))
    a[3, 4], a[7, 8], b[5, 6] = np.nan, np.inf, -np.inf
    result = matmul(a, b, queue=device.queue)
    with np.errstate(invalid="ignore"):
        expected = a.astype(np.float64) @ b.astype(np.float64)
    assert np.array_equal(np.isnan(result), np.isnan(expected))
    infinite = np.isinf(expected)
    assert np.array_equal(result[infinite], expected[infinite].astype(np.float32))
    assert np.allclose(result[np.isfinite(expected)], expected[np.isfinite(expected)], atol=1e-4)


def test_anything_that_numpy_takes(device: Device) -> None:
    result = matmul([[1.0, 2.0], [3.0, 4.0]], ((5.0,), (6.0,)), queue=device.queue)
    assert result.tolist() == [[17.0], [39.0]]

    class Wrapped:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return np.eye(3, dtype=np.float32)

    assert np.array_equal(matmul(Wrapped(), Wrapped(), queue=device.queue), np.eye(3))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    m=st.integers(0, 70),
    n=st.integers(0, 70),
    k=st.integers(0, 70),
    batch=st.integers(1, 3),
    transposed=st.tuples(st.booleans(), st.booleans()),
    step=st.sampled_from((1, -1, 2, -3)),
    dtype=st.sampled_from(REAL),
)
def test_property_any_shape_and_stride(
    m: int, n: int, k: int, batch: int, transposed: tuple[bool, bool], step: int, dtype: str, device: Device
) -> None:
    a = random((batch, k, m), dtype).swapaxes(1, 2) if transposed[0] else random((batch, m, k), dtype)
    b = random((n, k), dtype).T if transposed[1] else random((k, n), dtype)
    left = np.repeat(a, abs(step), axis=1)[:, ::step]
    assert_product(matmul(left, b, queue=device.queue), left, b)


def test_device_arrays_come_back_as_device_arrays(device: Device) -> None:
    queue = device.queue
    a, b = random((45, 31)), random((31, 27))
    result = matmul(cl_array.to_device(queue, a), cl_array.to_device(queue, b))
    assert isinstance(result, cl_array.Array)
    assert result.events
    assert_product(result.get(), a, b)


def test_device_arrays_with_offset_and_strides(device: Device) -> None:
    queue = device.queue
    whole = random((80, 70))
    on_device = cl_array.to_device(queue, whole)
    a, b = on_device[5:45, 3:33], on_device[10:40, 7:57]
    assert_product(matmul(a, b).get(), whole[5:45, 3:33], whole[10:40, 7:57])
    out = cl_array.zeros(queue, (60, 90), np.float32)
    window = out[4:44, 8:58]
    assert matmul(a, b, out=window) is window
    host = out.get()
    assert_product(host[4:44, 8:58], whole[5:45, 3:33], whole[10:40, 7:57])
    host[4:44, 8:58] = 0
    assert not host.any()
    assert_product(matmul(a.T, a).get(), whole[5:45, 3:33].T, whole[5:45, 3:33])


def test_device_out_may_be_an_operand(device: Device) -> None:
    a = random((40, 40))
    on_device = cl_array.to_device(device.queue, a)
    matmul(on_device, on_device, out=on_device)
    assert_product(on_device.get(), a, a)


def test_wait_for_is_honoured(device: Device) -> None:
    gate = cl.UserEvent(device.context)
    a = cl_array.to_device(device.queue, random((32, 32)))
    second = cl.CommandQueue(device.context, device.device)
    result = matmul(a, a, queue=second, wait_for=[gate])
    assert result.events[-1].command_execution_status != cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    assert_product(result.get(queue=second), a.get(), a.get())


def test_the_librarys_own_queue_is_not_profiled(device: Device) -> None:
    memory = HostMemory(device, None)
    assert not memory.queue.properties & cl.command_queue_properties.PROFILING_ENABLE
    assert device.queue.properties & cl.command_queue_properties.PROFILING_ENABLE, "measuring needs it"
    assert HostMemory(device, device.queue).queue == device.queue


@pytest.mark.parametrize("profiled", [False, True])
def test_operands_are_copied_on_the_calls_own_queue(profiled: bool, device: Device) -> None:
    memory = HostMemory(device, device.queue if profiled else None)
    memory.shares_memory = False  # as with a GPU
    a, b, c = random((70, 50)), random((50, 90)), random((70, 90))
    result = c.copy()
    multiply(memory, Product(a, b, ("float32", "float32"), epilogue=Epilogue(beta=1.0), c=c), result)
    assert_product(result - c, a, b)


def test_threads_and_queues_do_not_disturb_each_other(device: Device) -> None:
    failures: list[str] = []

    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        queue = cl.CommandQueue(device.context, device.device) if seed % 2 else device.queue
        for _ in range(12):
            m, n, k = generator.integers(1, 90, 3)
            a = generator.standard_normal((m, k), dtype=np.float32)
            b = generator.standard_normal((k, n), dtype=np.float32)
            try:
                assert_product(matmul(a, b, queue=queue), a, b)
            except AssertionError as wrong:
                failures.append(f"seed {seed}, {m}x{n}x{k}: {wrong}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
