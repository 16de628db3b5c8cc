"""Products that are NumPy's own: the same results, rules and errors as by kernels, and when they are not NumPy's."""

import os
from typing import Any

import numpy as np
import pytest
from symmetric_products import is_mirrored, laid_out

import tilewright
from tilewright import gemm, matmul
from tilewright.core.plan import Plan
from tilewright.dispatch.numpys_own import BLAS_TYPES, TYPES, Asked, Costs, Limit
from tilewright.errors import InvalidInput, LaunchFailed, UnsupportedType
from tilewright.library import engine, numpy_call, numpy_first, numpy_limits
from tilewright.library.memory.host import HostReady
from tilewright.runtime.cache import BinaryCache
from tilewright.runtime.load import OtherLoad
from tilewright.runtime.opencl.device import Device

RNG = np.random.default_rng(5)
SHAPES = (
    ((7, 9), (9, 5)), ((9,), (9, 5)), ((7, 9), (9,)), ((9,), (9,)), ((3, 7, 9), (9, 5)), ((3, 7, 9), (3, 9, 5)),
    ((2, 1, 7, 9), (3, 9, 1)), ((1, 9), (9, 1)), ((7, 1), (1, 5)), ((1, 1), (1, 1)), ((40, 33), (33, 50)), ((4, 9), (2, 9, 5)),
)  # fmt: skip
EMPTY = (((0, 9), (9, 5)), ((7, 0), (0, 5)), ((3, 7, 0), (0, 5)), ((0, 7, 9), (9, 5)), ((0,), (0,)))


@pytest.fixture(autouse=True)
def on_a_cpu(numpys: None) -> None:
    if engine.default_device().info.kind != "cpu":
        pytest.skip("the default device is no CPU, so NumPy's own product is never called")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was computed by NumPy."""
    seen: list[str] = []
    real = numpy_call.host_call

    def watched(epilogue: Any, asked: Asked) -> Any:
        compute = real(epilogue, asked)

        def counted(arrays: Any) -> None:
            seen.append(asked.result)
            compute(arrays)

        return counted

    monkeypatch.setattr("tilewright.library.multiply.host_call", watched)
    return seen


def random(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    if dtype == "bool":
        return RNG.random(shape) < 0.3
    if dtype[0] in "iu":
        return RNG.integers(0, 100, shape).astype(dtype)
    values = RNG.standard_normal(shape)
    return (values + 1j * RNG.standard_normal(shape) if dtype.startswith("complex") else values).astype(dtype)


def by_kernels(*arrays: Any, **named: Any) -> Any:
    return gemm(*arrays, device="cpu", **named)


def same(one: Any, other: Any) -> None:
    """Equal, but for rounding; the same type of array and of elements."""
    assert type(one) is type(other)
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    if one.dtype.kind in "fc":
        epsilon = float(np.finfo(one.dtype).eps)
        np.testing.assert_allclose(one, other, rtol=50 * epsilon, atol=200 * epsilon)
    else:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", TYPES)
def test_results_are_those_of_kernels(dtype: str, calls: list[str]) -> None:
    for left, right in (*SHAPES, *EMPTY):
        a, b = random(left, dtype), random(right, dtype)
        for _ in range(3):  # the general way, a ready call, and NumPy called at once
            same(matmul(a, b), by_kernels(a, b))
    assert calls
    if dtype != "int8":
        assert (np.dot if dtype in BLAS_TYPES else np.matmul) in numpy_first.NUMPYS.values()


@pytest.mark.parametrize(
    "types", [("float32", "float64"), ("int8", "float32"), ("int32", "int64"), ("uint64", "int64"), ("bool", "int8")]
)
def test_two_types(types: tuple[str, str], calls: list[str]) -> None:
    a, b = random((7, 9), types[0]), random((9, 5), types[1])
    for _ in range(3):
        same(matmul(a, b), by_kernels(a, b))
    assert len(calls) >= 1


def test_a_wider_result(calls: list[str]) -> None:
    small = np.full((1, 1000), 100, np.int8)
    for _ in range(3):
        assert matmul(small, small.T).item() == 10_000_000
        assert matmul(small, small.T, dtype="int8").item() == -128
    counts = np.full((1, 3), 200, np.uint8)
    assert [matmul(counts, counts.T, dtype="int32").item() for _ in range(3)] == [120000] * 3
    assert len(calls) == 9


VIEWS: dict[str, Any] = {
    "columns": lambda x: np.asfortranarray(x), "reversed": lambda x: x[::-1, ::-1], "gaps": lambda x: np.repeat(x, 2, 1)[:, ::2],
    "transposed": lambda x: x.T.copy().T, "repeated": lambda x: np.broadcast_to(x[:1], x.shape),
    "unaligned": lambda x: np.frombuffer(b"_" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape),
    "swapped": lambda x: x.astype(x.dtype.newbyteorder()), "list": lambda x: x.tolist(), "read-only": lambda x: frozen(x),
}  # fmt: skip


def frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("how", VIEWS)
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int32"])
def test_operands_of_any_layout(how: str, dtype: str) -> None:
    a, b = random((7, 9), dtype), random((9, 5), dtype)
    for _ in range(3):
        same(matmul(VIEWS[how](a), VIEWS[how](b)), by_kernels(VIEWS[how](a), VIEWS[how](b)))


def test_out_of_any_layout_and_overlap() -> None:
    a, b = random((8, 8), "float32"), random((8, 8), "float32")
    expected = by_kernels(a, b)
    outs = {
        "rows": np.empty((8, 8), "f4"), "columns": np.empty((8, 8), "f4", order="F"), "gaps": np.empty((8, 16), "f4")[:, ::2],
        "reversed": np.empty((8, 8), "f4")[::-1], "wider": np.empty((8, 8), "f8"),
    }  # fmt: skip
    for out in outs.values():
        for _ in range(3):
            out[...] = np.nan
            assert matmul(a, b, out) is out
            same(out.astype("f4"), expected)
            assert matmul(a, b, (out,)) is out
    for _ in range(3):
        left = a.copy()
        assert matmul(left, b, left) is left
        same(left, expected)
    block = random((16, 8), "float32")
    half = block[:8].copy()
    for _ in range(3):
        block[:8] = half
        same(matmul(block[:8], b, block[4:12]).copy(), by_kernels(half, b))


def test_nan_and_infinities() -> None:
    a, b = random((6, 6), "float64"), random((6, 6), "float64")
    a[0, 0], a[1, 1], b[2, 2] = np.nan, np.inf, -np.inf
    b[:, 5], a[5] = 0, 0
    with np.errstate(invalid="ignore"):
        for _ in range(3):
            same(matmul(a, b), by_kernels(a, b))


GEMMS: tuple[dict[str, Any], ...] = (
    {}, {"alpha": 2.5}, {"alpha": -1, "beta": 0.5}, {"beta": 1}, {"beta": 2}, {"bias": 0}, {"bias": 1, "alpha": 3, "beta": -1},
    {"trans_a": "T"}, {"trans_b": "C"}, {"trans_a": "C", "trans_b": "T", "alpha": 2}, {"alpha": 0, "beta": 1},
    {"activation": "relu", "bias": 0},
)  # fmt: skip


@pytest.mark.parametrize("named", GEMMS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_gemm(named: dict[str, Any], dtype: str) -> None:
    if "activation" in named and dtype.startswith("complex"):
        with pytest.raises(UnsupportedType):
            gemm(random((2, 2), dtype), random((2, 2), dtype), activation="relu")
        return
    named = dict(named)
    a, b, c = random((6, 6), dtype), random((6, 6), dtype), random((6, 6), dtype)
    if "bias" in named:
        named["bias"] = random(((6,), (6, 1))[named["bias"]], dtype)
    for _ in range(3):
        given = c.copy()
        same(gemm(a, b, given, **named), by_kernels(a, b, c, **named))
        np.testing.assert_array_equal(given, c)
        same(gemm(a, b, given, out=given, **named), by_kernels(a, b, c, **named))


def test_a_bias_of_a_result_that_lost_a_dimension() -> None:
    a, row = random((6, 9), "float32"), random((9,), "float32")
    bias = random((6, 1), "float32")
    for _ in range(3):
        same(gemm(a, row, bias=bias), by_kernels(a, row, bias=bias))
        same(gemm(row, a.T, bias=bias[:, 0]), by_kernels(row, a.T, bias=bias[:, 0]))


def test_what_is_refused_is_still_refused() -> None:
    a, out = random((4, 4), "float32"), np.empty((4, 4), "f4")
    for _ in range(3):
        matmul(a, a)
        matmul(a, a, out)
    refused: tuple[tuple[Any, ...], ...] = (
        (a, random((3, 4), "float32")), (a, a, np.empty((3, 4, 4), "f4")), (a, a, np.empty((4, 4), "i4")), (a, a, frozen(out)),
        (a, 2.0), (a, a, [[0.0] * 4] * 4),
    )  # fmt: skip
    for arguments in refused:
        with pytest.raises(InvalidInput):
            matmul(*arguments)
    with pytest.raises(InvalidInput):
        matmul(a, a, dtype="int32")
    with pytest.raises(InvalidInput):
        matmul(a, a, casting="perhaps")  # type: ignore[call-overload]
    with pytest.raises(InvalidInput):
        matmul(a, a.astype("f8"), casting="no")
    for value in (np.array([[None]]), np.ma.ones((4, 4)), a.astype(np.longdouble)):
        with pytest.raises(UnsupportedType):
            matmul(value, value)


class Own(np.ndarray):
    """A subclass, whose products NumPy would give the same class."""


def test_a_subclass_is_a_plain_array() -> None:
    a = random((4, 4), "float32")
    for _ in range(3):
        matmul(a, a)
        assert type(matmul(a.view(Own), a)) is np.ndarray


def test_who_names_a_device_or_a_queue_gets_kernels(calls: list[str]) -> None:
    a = random((4, 4), "float32")
    device = engine.default_device()
    for _ in range(3):
        matmul(a, a, device="cpu")
        matmul(a, a, queue=device.plain_queue)
        gemm(a, a, device=device.info.place if device.info.place else "cpu")
    assert not calls
    matmul(a, a)
    assert calls


def test_prepared_products(calls: list[str]) -> None:
    a, b, c = random((6, 9), "float32"), random((6, 5), "float32"), random((9, 5), "float32")
    product = tilewright.prepare(a, b, trans_a="T", c=c, beta=1, alpha=2)
    assert "numpy.dot" in repr(product)
    assert [plan.host_call for plan in product.plans] == ["numpy.dot"]
    for _ in range(3):
        same(product(a, b, c=c), by_kernels(a, b, c, trans_a="T", alpha=2, beta=1))
    assert len(calls) == 3
    plain = tilewright.prepare(a.T, b)
    for other in (a, a + 1):
        same(plain(other.T, b), by_kernels(other.T, b))
        same(plain(other.T, b, np.empty((9, 5), "f4")), by_kernels(other.T, b))
    with pytest.raises(InvalidInput):
        plain(a, b)
    for left, right in ((np.ascontiguousarray(a.T), b), (a.T, np.asfortranarray(b))):
        for out in (None, np.empty((9, 5), "f4")):
            with pytest.raises(InvalidInput, match=r"strides .* was prepared for numpy float32 .* with strides"):
                plain(left, right, out)
    doubled = tilewright.prepare(np.full((1, 3), 100, "i1"), np.full((3, 1), 100, "i1"))
    assert doubled(np.full((1, 3), 100, "i1"), np.full((3, 1), 100, "i1")).item() == 30000
    asked = tilewright.prepare(a, b, trans_a="T", device="cpu")
    assert not any(plan.host_call for plan in asked.plans)


def test_the_plan_says_so() -> None:
    own, asked = tilewright.plan(8), tilewright.plan(8, device="cpu")
    assert isinstance(own, Plan)
    assert isinstance(asked, Plan)
    assert own.host_call == "numpy.dot"
    assert "calls numpy.dot" in str(own)
    assert not own.steps
    assert own.rejected[0].kernel == asked.steps[0].kernel.name
    assert not asked.host_call
    assert any("part of A" in note for note in own.notes)
    assert not any("part of A" in note for note in asked.notes)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forks_forget_what_numpy_computes() -> None:
    a = random((4, 4), "float32")
    for _ in range(3):
        matmul(a, a)
    assert numpy_first.NUMPYS
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 2 if numpy_first.NUMPYS else 0
            matmul(a, a)
        except LaunchFailed:
            pass
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    ("kind", "dtype"), [("loops", "int32"), ("outers", "float32"), ("stack", "float64"), ("product", "float32")]
)
def test_answers_are_measured_once_and_kept(kind: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A measurement by the real clock: it ends, it is kept if the machine was quiet, and the next answer is the same."""
    device, count = engine.default_device(), 1 if kind in ("loops", "product") else 3
    numpy_limits._measured.cache_clear()
    kept: list[str] = []
    with monkeypatch.context() as busy:
        busy.setattr(BinaryCache, "get", lambda cache, key: None)
        busy.setattr(BinaryCache, "put", lambda cache, key, payload: kept.append(cache.folder.name))
        busy.setattr(OtherLoad, "cores", lambda load: 1.0)
        busy.setattr(numpy_limits, "_times", lambda *asked: (2.0, 1.0))
        busy.setattr(numpy_limits, "least_times", lambda pairs, rest: [(2.0, 1.0)] * len(pairs))
        slower = numpy_limits.measured_for(device, dtype, dtype, kind)
        assert not slower.reason(kind, Asked(count, 50, 50, 50, dtype, dtype, count))
    assert "numpy" not in kept, "other programs were busy"
    numpy_limits._measured.cache_clear()
    monkeypatch.setattr(OtherLoad, "cores", lambda load: 0.0)
    monkeypatch.setattr(numpy_limits, "WOKEN", float("inf"))
    first = numpy_limits.measured_for(device, dtype, dtype, kind)
    assert isinstance(first, Limit if kind == "loops" else Costs)
    numpy_limits._measured.cache_clear()
    for times in ("_times", "least_times"):
        monkeypatch.setattr(numpy_limits, times, lambda *asked: pytest.fail("measured again"))
    again = numpy_limits.measured_for(device, dtype, dtype, kind)
    assert again == first
    numpy_limits._measured.cache_clear()


def test_ready_calls_hold_no_result() -> None:
    a = random((4, 4), "float32")
    matmul(a, a)
    assert all(
        each._recipe.like is None
        for each in engine.kept_on(engine.default_device()).ready.values()
        if isinstance(each, HostReady)
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_a_matrix_times_its_own_transpose_is_symmetric_in_every_layout(dtype: str) -> None:
    """NumPy's is not where a BLAS cannot read the matrix; and a call of one layout may not stand for those of others."""
    for shape in ((6, 6), (17, 5), (5, 1), (50, 70), (100, 100), (2, 33, 20)):
        apart = random(shape, dtype)
        for name, a in laid_out(random(shape, dtype)).items():
            turned = a.swapaxes(-1, -2)
            prepared = tilewright.prepare(a, turned)
            for _ in range(3):
                matmul(laid_out(apart)[name], turned)
                assert is_mirrored(matmul(a, turned)), (shape, name)
                assert is_mirrored(gemm(a, a, trans_b="T", alpha=2)), (shape, name)
                assert is_mirrored(prepared(a, turned)), (shape, name)
    half = random((40, 64), "float16")
    assert is_mirrored(matmul(half, half.T, dtype="float32"))


def test_a_call_that_was_prepared_apart_is_symmetric_where_its_operands_are_one(calls: list[str]) -> None:
    gaps = laid_out(random((50, 70), "complex128"))["gaps"]
    other = laid_out(random((50, 70), "complex128"))["gaps"]
    prepared = tilewright.prepare(gaps, other.T)
    for _ in range(3):
        prepared(gaps, other.T)
        matmul(gaps, other.T)
        assert is_mirrored(prepared(gaps, gaps.T))
        assert is_mirrored(matmul(gaps, gaps.T))


def test_types_that_numpy_has_no_common_type_for() -> None:
    """The second call finds a ready one, and asks whether NumPy would give its type by itself."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    one, other = np.ones((3, 4), ml_dtypes.float8_e4m3fn), np.ones((4, 3), ml_dtypes.float8_e5m2)
    prepared = tilewright.prepare(one, other)
    for _ in range(3):
        for got in (matmul(one, other), prepared(one, other)):
            same(got, np.full((3, 3), 4, np.float32))


def test_a_system_that_does_not_tell_the_blas(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def untold() -> list[dict[str, Any]]:
        raise FileNotFoundError(2, "No such file or directory", "/proc/self/maps")

    monkeypatch.setattr("threadpoolctl.threadpool_info", untold)
    assert np.__version__ in numpy_limits.machine(one_device)
