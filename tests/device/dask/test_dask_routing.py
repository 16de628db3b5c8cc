"""The context `tilewright.dask.products`: what is routed, what stays Dask's, and that nothing is left behind."""

import threading
from typing import Any

import numpy as np
import pytest

pytest.importorskip("dask", reason="Dask is not installed")

import dask.array as da
from dask.array import routines
from dask_cases import chunked

from tilewright import matmul
from tilewright.dask import products
from tilewright.errors import InvalidInput, UnknownName

pytestmark = pytest.mark.usefixtures("one_device")
OWN = routines.matmul


def is_routed(array: Any) -> bool:
    return str(array.name).startswith("tilewright-matmul")


def test_all_spellings_of_a_product_are_routed() -> None:
    a, left = chunked((8, 6), (3, 4))
    with products():
        made = [left @ left.T, np.matmul(left, left.T), da.matmul(left, left.T), left @ a.T, a @ left.T]
    assert all(map(is_routed, made))
    for each in made:
        assert np.allclose(each.compute(), a @ a.T)
    assert not is_routed(left @ left.T)


def test_nothing_is_left_behind() -> None:
    with pytest.raises(RuntimeError, match="within"), products(), products(precision="ieee"):
        raise RuntimeError("within")
    assert routines.matmul is da.matmul is OWN


def test_the_inner_context_comes_first_and_its_arguments_are_used() -> None:
    _, left = chunked((8, 6), (3, 4), "float32")
    with products(memory="1MB"):
        outer = left @ left.T
        with products(precision="tf32"):
            inner = left @ left.T
        assert (left @ left.T).name == outer.name != inner.name


def test_other_threads_have_dasks_own() -> None:
    _, left = chunked((8, 6), (3, 4))
    found = []
    with products():
        thread = threading.Thread(target=lambda: found.append(left @ left.T))
        thread.start()
        thread.join()
    assert not is_routed(found[0])


def test_types_are_numpys() -> None:
    for dtype in ("int8", "uint8", "bool", "float16", "complex64", "int64"):
        a, left = chunked((8, 6), (3, 4), dtype)
        with products():
            made = left @ left.T
        assert is_routed(made)
        assert made.dtype == made.compute().dtype == (a @ a.T).dtype
        if np.dtype(dtype).kind in "iub":
            assert np.array_equal(made.compute(), a @ a.T)


def test_reproducible_products_are_routed_in_any_chunks() -> None:
    for dtype in ("float32", "int8", "bool"):
        a, left = chunked((8, 60), (3, 7), dtype)
        with products(precision="reproducible"):
            made = left @ left.T
        assert is_routed(made)
        assert made.dtype == (a @ a.T).dtype
        assert np.array_equal(made.compute(), matmul(a, a.T, dtype=a.dtype, precision="reproducible"))


def test_what_stays_dasks() -> None:
    _, left = chunked((6, 6), 3)
    unknown = left[da.from_array(np.ones(6, bool), chunks=3)]
    masked = da.ma.masked_array(left, mask=left > 0)
    with products():
        stay = [masked @ left, left.astype("O") @ left.astype("O"), left.dot(left), da.tensordot(left, left, 1)]
        stay += [da.einsum("ij,jk", left, left), unknown @ left]
        with pytest.raises(ValueError, match="scalars"):
            left @ da.asarray(1.0)
    with products(precision="tf32"):
        stay.append(left @ left)
    assert not any(map(is_routed, stay))
    with pytest.raises(UnknownName, match="exact"), products(precision="exact"):
        pass
    wrong: Any = np.ones(3)
    with pytest.raises(InvalidInput, match=r"memory=array.* is no amount of bytes"), products(memory=wrong):
        pass
