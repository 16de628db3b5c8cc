"""`tilewright.dask.matmul` and `transpose` in threads and in this thread: values against NumPy's, types, chunks, refusals."""

import itertools
import pickle
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

dask: Any = pytest.importorskip("dask", reason="Dask is not installed")

import dask.array as da  # noqa: E402
from dask_cases import PRODUCTS, CountedReads, chunked, numbers  # noqa: E402

from tilewright.dask import matmul, plan, schedule, tasks, transpose  # noqa: E402
from tilewright.dask.arithmetic import Arithmetic  # noqa: E402
from tilewright.errors import InvalidInput, LaunchFailed, UnknownName, UnsupportedType  # noqa: E402
from tilewright.library.products import matmul as library_matmul  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_device")
WAYS: tuple[dict[str, Any], ...] = ({}, {"split_k": 3}, {"memory": "1MB"}, {"memory": "1MB", "split_k": 2})


def check_close(found: Any, a: np.ndarray, b: np.ndarray, loss: float = 2.0**-44) -> None:
    """Compare with NumPy's product in double precision, within a bound for the rounding of sums of some 50 products."""
    wide = np.complex128 if np.iscomplexobj(a) else np.float64
    left, right = a.astype(wide), b.astype(wide)
    error = np.abs(np.asarray(found).astype(wide) - left @ right)
    assert np.all(error <= loss * (np.abs(left) @ np.abs(right)))


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of one piece of k each."""
    monkeypatch.setattr(schedule, "TASK_BYTES", 1)


def product_of(case: Any, way: dict[str, Any]) -> tuple[Any, np.ndarray, np.ndarray]:
    """The product of a case of PRODUCTS, and its operands. With limited memory, tasks have chunks to make."""
    a, left = chunked(case[0], case[1])
    b, right = chunked(case[2], case[3], seed=1)
    if "memory" in way:
        left, right = left.map_blocks(np.copy), right.map_blocks(np.copy)
    product = matmul(left, right, **way)
    expected = a @ b
    assert (product.shape, product.dtype) == (expected.shape, expected.dtype)
    return product, a, b


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_products(case: Any, way: dict[str, Any]) -> None:
    product, a, b = product_of(case, way)
    found = product.compute(scheduler="sync")
    assert (np.shape(found), found.dtype) == (product.shape, product.dtype)
    check_close(found, a, b)


@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_products_by_threads_in_large_tasks(case: Any) -> None:
    product, a, b = product_of(case, {})
    check_close(product.compute(scheduler="threads", num_workers=3), a, b)


@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_every_chunk_has_the_shape_that_the_result_tells(case: Any) -> None:
    product, _, _ = product_of(case, {})
    told = list(itertools.product(*product.chunks))
    assert [each.compute(scheduler="sync").shape for each in np.ravel(product.to_delayed())] == told


@pytest.mark.parametrize("chunks", [7, 64])
def test_random_chunks_fit_together(chunks: int) -> None:
    generator = np.random.default_rng(chunks)
    for _ in range(20):
        m, n, k = (int(each) for each in generator.integers(1, chunks, 3))
        cut = [tuple(np.diff([0, *sorted(generator.integers(0, side + 1, 3)), side]).tolist()) for side in (m, k, k, n)]
        a, left = chunked((m, k), (cut[0], cut[1]))
        b, right = chunked((k, n), (cut[2], cut[3]), seed=1)
        check_close(matmul(left, right, split_k=2).compute(scheduler="sync"), a, b)


@pytest.mark.parametrize(
    "dtype",
    ["float32", "float16", ml_dtypes.bfloat16, "complex64", "complex128"],
    ids=str,
)
def test_floats(dtype: Any) -> None:
    a, left = chunked((40, 30), (16, 7), dtype)
    b, right = chunked((30, 50), (11, 20), dtype, seed=1)
    product = matmul(left, right)
    assert product.dtype == product.compute().dtype == np.dtype(dtype)
    loss = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "complex128": 2.0**-44}.get(np.dtype(dtype).name, 2.0**-17)
    check_close(product.compute(), a, b, loss)


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16], ids=str)
def test_sums_of_short_floats_are_rounded_once(dtype: Any) -> None:
    """4096 sums of 1 and many small numbers: a sum in the type itself would lose them all."""
    small = np.full((1, 4096), 2.0**-8, dtype)
    small[0, 0] = 16
    product = matmul(da.from_array(small, chunks=(1, 64)), da.ones((4096, 1), chunks=(64, 1), dtype=dtype))
    assert float(product.compute()[0, 0]) == float(np.dtype(dtype).type(16 + 4095 * 2.0**-8))


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"], ids=str
)
def test_integers_are_the_librarys_in_any_chunks(dtype: str, way: dict[str, Any]) -> None:
    a, left = chunked((20, 30), (16, 7), dtype)
    b, right = chunked((30, 25), (11, 20), dtype, seed=1)
    left = left.map_blocks(np.copy)
    product, expected = matmul(left, right, **way), library_matmul(a, b)
    assert product.dtype == expected.dtype
    assert np.array_equal(product.compute(), expected)
    narrow = matmul(left, right, dtype=dtype, **way)
    assert narrow.dtype == np.dtype(dtype)
    assert np.array_equal(narrow.compute(), a @ b)


def test_mixed_types_and_a_numpy_operand() -> None:
    a, left = chunked((9, 8), 4, "float32")
    b = numbers((8, 7), "int16")
    product = matmul(left, b)
    assert product.dtype == np.result_type(a, b)
    check_close(product.compute(), a, b, 2.0**-17)
    check_close(matmul(a, da.from_array(b, chunks=3)).compute(), a, b, 2.0**-17)


def test_empty_numpy_operands() -> None:
    empty = np.ones((2, 1, 90, 0), np.int32)  # of which Dask's own choice of chunks divides by zero
    found = matmul(empty, da.ones((3, 0, 4), chunks=(3, -1, 2), dtype="int32")).compute()
    assert np.array_equal(found, np.zeros((2, 3, 90, 4), np.int32))


def test_reproducible_products() -> None:
    """The bits of the library, in any chunks, and with any other argument. Integers need no chunks along all of k."""
    generator = np.random.default_rng(4)
    for dtype in ("float32", "float16", "float64"):
        a, b = (generator.standard_normal(shape).astype(dtype) for shape in ((20, 700), (700, 30)))
        expected = library_matmul(a, b, precision="reproducible")
        vector = library_matmul(a, b[:, 0], precision="reproducible")
        for chunks in (((20, 700), (700, 30)), ((7, 700), (700, 11)), ((7, 90), (64, 11)), ((20, 1), (700, 30))):
            one, other = (da.from_array(each, chunks=own) for each, own in zip((a, b), chunks, strict=True))
            for way in WAYS:
                left, right = (each.map_blocks(np.copy) for each in (one, other)) if "memory" in way else (one, other)
                assert np.array_equal(matmul(left, right, precision="reproducible", **way).compute(), expected)
            assert np.array_equal(matmul(one, other[:, 0], precision="reproducible").compute(), vector)
    x, a = chunked((20, 30), 7, "int32")
    assert np.array_equal(matmul(a, a.T, precision="reproducible").compute(), x @ x.T)
    assert plan(a, a.T, precision="reproducible").pieces == plan(a, a.T).pieces > 1


def test_a_reproducible_product_of_long_chunks_is_refused_where_memory_is_short() -> None:
    a = da.ones((60, 300), chunks=(13, 13), dtype="float32").map_blocks(np.copy)
    assert plan(a, a.T, precision="reproducible").task_bytes == (2 * 13 * 300 + 13 * 13) * 4
    with pytest.raises(InvalidInput, match=r"memory=9,999 bytes: .* smaller chunks, or allow more memory"):
        matmul(a, a.T, precision="reproducible", memory=9_999)


def test_chunks_of_other_kinds_are_refused_with_what_makes_numpys() -> None:
    class Cupy(np.ndarray):
        """CuPy's asarray is refused by NumPy."""

        __cuda_array_interface__: Any = None

        def get(self) -> np.ndarray:
            return self.view(np.ndarray)

    class Sparse(np.ndarray):
        nnz = 0

        def todense(self) -> np.ndarray:
            return self.view(np.ndarray)

    for kind, way in ((Cupy, "cupy.asnumpy"), (Sparse, "lambda chunk: chunk.todense()"), (np.matrix, "numpy.asarray")):
        a = da.ones((6, 6), chunks=3)
        a._meta = np.empty((0, 0)).view(kind)
        with pytest.raises(UnsupportedType) as caught:
            matmul(a, a)
        assert str(caught.value).endswith(f"tasks multiply NumPy arrays: a.map_blocks({way}) makes them")
    with pytest.raises(UnsupportedType, match=r"b is a sparse matrix.*pass b\.todense\(\)"):
        matmul(da.ones((6, 6)), np.empty((6, 6)).view(Sparse))


def test_numpys_own_subclasses_are_plain_arrays_as_elsewhere() -> None:
    a, b = numbers((6, 8)), numbers((8, 5), seed=1)
    for kind in (np.matrix, np.recarray):
        found = matmul(a.view(kind), da.from_array(b, chunks=4)).compute()
        assert type(found) is np.ndarray
        assert np.allclose(found, a @ b)
    with pytest.raises(UnsupportedType, match=r"b is a masked array.*pass b\.filled"):
        matmul(da.from_array(a, chunks=4), np.ma.masked_array(b))


def test_nan_and_infinity_stay_in_their_rows() -> None:
    a, _ = chunked((6, 8), 4)
    b = numbers((8, 5), seed=1)
    a[1, 3], a[4, 6] = np.nan, np.inf
    found = matmul(da.from_array(a, chunks=(4, 3)), da.from_array(b, chunks=(5, 2)), split_k=2).compute()
    assert np.isnan(found[1]).all()
    assert np.isinf(found[4]).all()
    assert np.isfinite(np.delete(found, [1, 4], axis=0)).all()


def test_views_are_operands() -> None:
    a, left = chunked((20, 30), (7, 9), "float32")
    check_close(matmul(left.T, left).compute(), a.T, a, 2.0**-17)
    check_close(matmul(left[::-2, 3:], left[:, 3:].T).compute(), a[::-2, 3:], a[:, 3:].T, 2.0**-17)
    check_close(matmul(left.rechunk(11), left.T).compute(), a, a.T, 2.0**-17)


def test_the_bits_do_not_depend_on_the_scheduler() -> None:
    _, left = chunked((200, 300), (64, 70), "float32")
    product = matmul(left, left.T, split_k=3)
    assert np.array_equal(product.compute(scheduler="sync"), product.compute(scheduler="threads", num_workers=4))


def test_nothing_is_computed_by_the_call() -> None:
    def fail(block: np.ndarray) -> np.ndarray:
        raise RuntimeError("it was computed")

    left = da.ones((8, 8), chunks=4).map_blocks(fail, dtype=float, meta=np.empty((0, 0)))
    for way in WAYS:
        product = matmul(left, left, **way)
        with pytest.raises(RuntimeError, match="it was computed"):
            product.compute()


@pytest.mark.parametrize("split_k", [1, 3])
def test_chunks_are_read_as_often_as_the_plan_says(split_k: int) -> None:
    """From one source, which all chunks share, as those of a file do."""
    sources = CountedReads(numbers((40, 30))), CountedReads(numbers((30, 50), seed=1))
    left = da.from_array(sources[0], chunks=(16, 7), meta=np.empty((0, 0)))
    right = da.from_array(sources[1], chunks=(11, 20), meta=np.empty((0, 0))) + 0
    a, b = (each.whole for each in sources)
    check_close(matmul(left, right, split_k=split_k).compute(scheduler="sync"), a, b)
    assert [each.reads for each in sources] == [left.npartitions, right.npartitions]
    sources[0].reads = sources[1].reads = 0
    told = plan(left, right, split_k=split_k, memory="1MB")
    check_close(matmul(left, right, split_k=split_k, memory="1MB").compute(scheduler="sync"), a, b)
    assert sum(each.reads for each in sources) == told.made_chunks
    assert told.given_bytes == 0


def test_keys_have_names_for_dashboards_and_equal_products_equal_keys() -> None:
    _, left = chunked((8, 32), (4, 4))
    assert matmul(left, left.T).name == matmul(left, left.T).name != matmul(left, left.T, split_k=2).name
    found = {dask.utils.key_split(key) for key in dict(matmul(left, left.T, split_k=4).dask)}
    assert {"tilewright-matmul-tile", "tilewright-matmul-sum", "tilewright-matmul-merge"} < found
    assert dask.utils.key_split(transpose(left).name) == "tilewright-transpose-tile"


def test_the_result_is_an_array_as_any_other() -> None:
    a, left = chunked((20, 30), (7, 9))
    check_close((matmul(left, left.T) + 1).sum(axis=0).compute() - 20, np.ones((1, 20)) @ a, a.T)
    check_close(matmul(matmul(left, left.T), left).compute(), a @ a.T, a)


@pytest.mark.parametrize("way", [{}, {"memory": "1MB"}], ids=str)
def test_chunks_of_other_shapes_than_their_array_says_are_refused(way: dict[str, Any]) -> None:
    """Parts of them were multiplied, and the rest was left out."""
    _, left = chunked((20, 12), (10, 4))
    _, right = chunked((12, 8), (4, 8), seed=1)

    def mapped(array: Any, function: Callable[[np.ndarray], Any]) -> Any:
        return array.map_blocks(function, dtype=array.dtype, meta=array._meta)

    wider = mapped(left, lambda chunk: np.hstack([chunk, chunk]))
    with pytest.raises(InvalidInput, match=r"a chunk of a has the shape \(10, 8\), and its array says \(10, 4\)"):
        matmul(wider, right, **way).compute()
    with pytest.raises(InvalidInput, match=r"a chunk of b has the shape \(4,\), and its array says \(4, 8\)"):
        matmul(left, mapped(right, lambda chunk: chunk[:, 0]), **way).compute()
    whole = mapped(left, np.ndarray.tolist)
    assert np.array_equal(matmul(whole, right, **way).compute(), matmul(left, right).compute())


def test_a_task_may_run_again() -> None:
    """A sum has each product once, however often a task of its is repeated."""
    a, b = numbers((4, 6)), numbers((6, 5))
    arithmetic = Arithmetic("float64", "float64", None)
    factors = [
        tasks.Factors(
            tasks.Taken(0, (4, 6), (slice(None), slice(at, at + 2))),
            tasks.Taken(0, (6, 5), (slice(at, at + 2), slice(None))),
        )
        for at in (0, 2, 4)
    ]

    def add(before: Any, begin: int, end: int, last: bool = False) -> Any:
        return tasks.add_products(before, (4, 5), begin, factors[begin:end], ([a], [b]), ([], []), arithmetic, last)

    first = add(None, 0, 2)
    check_close(add(first, 2, 3, last=True), a, b)
    assert add(first, 1, 2) is first
    check_close(add(first, 2, 3, last=True), a, b)
    check_close(add(pickle.loads(pickle.dumps(first)), 2, 3, last=True), a, b)


def test_a_product_that_failed_half_way_spoils_its_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    a = numbers((4, 4))
    arithmetic = Arithmetic("float64", "float64", None)
    whole = (slice(None), slice(None))
    total = tasks.RunningSum(np.empty((4, 4)), 0)

    def failing(*given: Any, **named: Any) -> None:
        raise LaunchFailed("the device is gone")

    def add() -> Any:
        factors = [tasks.Factors(tasks.Taken(0, (4, 4), whole), tasks.Taken(0, (4, 4), whole))]
        return tasks.add_products(total, (4, 4), 0, factors, ([a], [a]), ([], []), arithmetic, True)

    with monkeypatch.context() as changed:
        changed.setattr(tasks, "gemm", failing)
        with pytest.raises(LaunchFailed, match="the device is gone"):
            add()
    with pytest.raises(LaunchFailed, match="compute again"):
        add()


def test_what_is_refused() -> None:
    _, a = chunked((6, 4), 3)
    unknown = a[da.from_array(np.ones(6, bool), chunks=3)]
    half: Any = 1.5
    masked = da.ma.masked_array(a, mask=a > 0)
    short = a.astype(ml_dtypes.float8_e5m2)
    refusals: tuple[tuple[Callable[[], Any], type[Exception], str], ...] = (
        (lambda: matmul(a, a), InvalidInput, "the k of a is 4, the k of b is 6"),
        (lambda: matmul(a, 1.0), InvalidInput, "at least one dimension"),
        (lambda: matmul(None, a), UnsupportedType, "a is None: pass a Dask array"),
        (lambda: transpose("x"), UnsupportedType, "a is 'x': pass a Dask array"),
        (lambda: matmul(da.ones((2, 3, 4)), da.ones((3, 4, 5))), InvalidInput, "do not broadcast"),
        (lambda: matmul(unknown, a.T), InvalidInput, r"a has chunks of unknown sizes.*a\.compute_chunk_sizes\(\)"),
        (lambda: matmul(a.T, unknown), InvalidInput, r"b has chunks of unknown sizes"),
        (lambda: transpose(unknown), InvalidInput, "unknown sizes"),
        (lambda: matmul(masked, a.T), UnsupportedType, r"MaskedArray.*map_blocks\(numpy\.ma\.filled\)"),
        (lambda: matmul(short, short.T), UnsupportedType, r"cannot send.*astype\('float16'\)"),
        (lambda: matmul(a.astype("U3"), a.T), UnsupportedType, "no numbers"),
        (lambda: matmul(a.astype("O"), a.T), UnsupportedType, "no numbers"),
        (lambda: transpose(a.astype("O")), UnsupportedType, "Python objects"),
        (lambda: matmul(a, a.T, precision="tf32"), InvalidInput, "float64 does not support precision='tf32'"),
        (lambda: matmul(a, a.T, precision="exact"), UnknownName, "exact"),
        (lambda: matmul(a, a.T, dtype="nothing"), InvalidInput, "not a type"),
        (lambda: matmul(a, a.T, dtype="int32"), InvalidInput, "a is float64, which.* does not convert to int32"),
        (lambda: matmul(a, a.T, split_k=0), InvalidInput, "split_k=0"),
        (lambda: matmul(a, a.T, split_k=half), InvalidInput, r"split_k=1\.5"),
        (lambda: plan(a, a.T, workers=True), InvalidInput, "workers=True"),
        (lambda: matmul(a, a.T, memory="much"), InvalidInput, "memory='much'.*2GB"),
        (lambda: matmul(a, a.T, memory=0), InvalidInput, "memory=0"),
        (lambda: matmul(a, a.T, memory=100), InvalidInput, r"memory=100 bytes: .* holds 216 bytes.*smaller chunks"),
        (lambda: matmul(da.ones((6, 4), chunks=6).rechunk((2, 3)), a.T, memory=999), InvalidInput, "makes several.*to_zarr"),
    )  # fmt: skip
    for call, error, words in refusals:
        with pytest.raises(error, match=words):
            call()


def test_arrays_of_query_plans_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _, a = chunked((6, 4), 3)
    monkeypatch.setattr(da, "ARRAY_EXPR_ENABLED", True)
    with pytest.raises(Exception, match=r"array\.query-planning"):
        matmul(a, a.T)


@pytest.mark.parametrize("shape", [(), (5,), (5, 7), (3, 4, 5), (0, 4)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128", "M8[s]"])
def test_transposes(shape: tuple[int, ...], dtype: str) -> None:
    whole = np.arange(int(np.prod(shape)), dtype="int64").reshape(shape).astype(dtype)
    array = da.from_array(whole, chunks=3)
    found = transpose(array)
    assert (found.shape, found.dtype, found.chunks) == (whole.T.shape, whole.dtype, array.chunks[::-1])
    assert np.array_equal(found.compute(), whole.T)
    assert all(each.compute().flags.c_contiguous for each in found.to_delayed().ravel())
