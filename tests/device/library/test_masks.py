"""Masks are never ignored, wherever an array comes from."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright import gemm, matmul, transpose
from tilewright.errors import InvalidInput, UnsupportedType
from tilewright.library.engine import default_device

pytestmark = pytest.mark.usefixtures("one_device")
VALUES = np.arange(12, dtype=np.float32).reshape(3, 4)
TILES: dict[str, Any] = {"max_device_bytes": "1MB"}


class Variable:
    """Gives masked arrays, as netCDF4's variables do, whether or not elements are masked."""

    def __init__(self, masked: bool) -> None:
        self.shape, self.dtype, self.ndim = VALUES.shape, VALUES.dtype, VALUES.ndim
        self._values = np.ma.masked_array(VALUES, VALUES > 5 if masked else False)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self._values

    def __getitem__(self, index: Any) -> np.ndarray:
        found: np.ndarray = self._values[index]
        return found


@pytest.mark.parametrize("options", [{}, TILES], ids=["one piece", "tiles"])
def test_masked_elements_are_refused(options: dict[str, Any]) -> None:
    where = {"device": default_device().info.label, **options}
    assert np.array_equal(matmul(Variable(False), VALUES.T, **where), VALUES @ VALUES.T)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: matmul(Variable(True), VALUES.T, **where),
        lambda: matmul(VALUES.T, Variable(True), **where),
        lambda: gemm(VALUES[:, :3], VALUES[:3], Variable(True), beta=1, **where),
        lambda: transpose(Variable(True), **where),
    )
    for call in calls:
        with pytest.raises(UnsupportedType, match="mask"):
            call()


@pytest.mark.parametrize("options", [{}, TILES], ids=["one piece", "tiles"])
def test_lists_of_masked_rows_are_refused(options: dict[str, Any]) -> None:
    """NumPy makes one array of them, without their masks."""
    rows = list(np.ma.masked_array(VALUES, VALUES > 5))
    for given in (rows, tuple(rows), [rows, rows], [[1.0] * 4, *rows]):
        with pytest.raises(UnsupportedType, match="masked elements"):
            matmul(given, VALUES.T, **options)
    plain = list(np.ma.masked_array(VALUES))
    assert np.array_equal(matmul(plain, VALUES.T, **options), VALUES @ VALUES.T)


@pytest.mark.parametrize("options", [{}, TILES], ids=["one piece", "tiles"])
@pytest.mark.parametrize("beta", [0, 0.0, np.float32(0), np.array(0)], ids=repr)
def test_a_c_that_is_not_read_may_be_anything(options: dict[str, Any], beta: Any) -> None:
    where = {"device": default_device().info.label, **options}
    for c in (np.ma.masked_array(VALUES, VALUES > 5), "text", object(), [[1.0], [2.0, 3.0]]):
        found = gemm(VALUES[:, :3], VALUES[:3], c, beta=beta, **where)
        assert np.array_equal(found, VALUES[:, :3] @ VALUES[:3])


@pytest.mark.parametrize("options", [{}, TILES], ids=["one piece", "tiles"])
@pytest.mark.parametrize("beta", ["0", None, [0], [[1], [2, 3]], np.zeros(1)], ids=repr)
def test_a_beta_that_is_no_number_is_refused_first(options: dict[str, Any], beta: Any) -> None:
    with pytest.raises(InvalidInput, match="beta"):
        gemm(VALUES[:, :3], VALUES[:3], VALUES, beta=beta, **options)


def test_masked_chunks_of_dask_are_refused() -> None:
    da: Any = pytest.importorskip("dask.array", reason="Dask is not installed")
    import tilewright.dask

    masked = da.from_array(VALUES, chunks=2).map_blocks(lambda chunk: np.ma.masked_array(chunk, chunk > 5), dtype="f4")
    unsaid = masked.map_blocks(lambda chunk: chunk, meta=np.empty((0, 0), np.float32))
    for product in (tilewright.dask.transpose(unsaid), tilewright.dask.matmul(unsaid, VALUES.T)):
        with pytest.raises(UnsupportedType, match="mask"):
            product.compute(scheduler="sync")
    with pytest.raises(UnsupportedType, match=r"map_blocks\(numpy.ma.filled\)"):
        tilewright.dask.matmul(masked, VALUES.T)
    with pytest.raises(UnsupportedType, match="mask"):
        matmul(masked, VALUES.T)


def test_an_array_of_dask_in_tiles() -> None:
    da: Any = pytest.importorskip("dask.array", reason="Dask is not installed")
    array = da.from_array(VALUES, chunks=((1, 2), (3, 1)))
    assert np.array_equal(matmul(array, VALUES.T, **TILES), VALUES @ VALUES.T)


def test_an_array_of_dask_with_unknown_lengths_in_tiles() -> None:
    da: Any = pytest.importorskip("dask.array", reason="Dask is not installed")
    array = da.from_array(VALUES, chunks=2)
    some = array[array[:, 0] > 1]
    assert np.array_equal(matmul(some, VALUES.T, **TILES), VALUES[1:] @ VALUES.T)


@pytest.mark.parametrize("options", [{}, TILES], ids=["one piece", "tiles"])
@pytest.mark.parametrize(("shape", "dtype"), [((3, 4), "another package's"), (("m", "k"), np.float32)], ids=str)
def test_what_has_slices_and_no_numbers_is_refused(options: dict[str, Any], shape: Any, dtype: Any) -> None:
    sliced = type("Other", (), {"shape": shape, "dtype": dtype, "__getitem__": lambda self, index: VALUES[index]})()
    with pytest.raises(UnsupportedType, match="a is of type Other and holds no array of numbers"):
        matmul(sliced, VALUES.T, **options)


def test_arrays_without_values_are_refused() -> None:
    """Such as those that JAX traces."""

    class Tracer:
        def __dlpack__(self) -> Any:
            raise AssertionError

    with pytest.raises(UnsupportedType, match="Tracer stands for an array without values"):
        matmul(Tracer(), VALUES.T)


def test_what_refuses_to_be_an_array_is_told() -> None:
    """A tensor of PyTorch that requires grad."""

    class Tensor:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")

    with pytest.raises(ValueError, match=r"a is a Tensor of which NumPy makes no array: Can't call numpy\(\)"):
        matmul(Tensor(), VALUES.T)
