"""`transpose`, `matrix_transpose` and `copy` against NumPy, bit by bit, for every element size and many strides."""

from typing import Any

import numpy as np
import pyopencl.array as cl_array
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright import copy, matrix_transpose, transpose
from tilewright.errors import InvalidInput, Unsupported
from tilewright.library.views import has_gaps
from tilewright.runtime.opencl.device import Device

TYPES = ("uint8", "bool", "float16", "int32", "float64", "complex128", "U1", "M8[s]")
SHAPES = ((1, 1), (37, 41), (513, 3), (3, 517), (128, 64), (0, 5), (7,), (5, 6, 7), (2, 3, 4, 5), (1, 300, 1, 2), ())


def bits(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Random bytes as elements: NaN payloads must survive a move too."""
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return np.random.default_rng(1).integers(0, 2, shape).astype(bool)
    count = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    raw = np.random.default_rng(count).integers(0, 100 if kind.kind == "U" else 256, count, dtype=np.uint8)
    if kind.kind == "U":
        raw.reshape(-1, 4)[:, 1:] = 0
    return raw.view(kind).reshape(shape)


def assert_same_bits(result: np.ndarray, expected: np.ndarray) -> None:
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", TYPES)
def test_every_element_size(dtype: str, device: Device) -> None:
    for shape in SHAPES:
        a = bits(shape, dtype)
        assert_same_bits(transpose(a, queue=device.queue), a.T)
        assert_same_bits(copy(a, queue=device.queue), a)
        if len(shape) > 1:
            assert_same_bits(matrix_transpose(a, queue=device.queue), np.swapaxes(a, -1, -2))


def test_records_stay_records_beside_structures_of_the_same_fields(device: Device) -> None:
    """NumPy says that both types are equal, and hashes them alike."""
    structure = np.dtype([("x", "i4"), ("y", "i4")])
    records = np.dtype((np.record, structure))
    arrays = [bits((3, 4), "int64").view(kind) for kind in (structure, records)]
    for _ in range(2):
        for a in arrays:
            for put in (copy, transpose):
                assert put(a, queue=device.queue).dtype.type is a.dtype.type
                lent = cl_array.to_device(device.queue, a)
                assert put(lent).dtype.type is a.dtype.type
                assert put(lent).get().tobytes() == (a if put is copy else a.T).tobytes()


PAIR = np.dtype([("x", "f4"), ("y", "i4")])
NESTED = np.dtype([("x", PAIR, (1,)), ("y", "i8")])
WITH_A_GAP = np.dtype({"names": ["x", "y"], "formats": ["i2", "i2"], "offsets": [0, 6], "itemsize": 8})


@pytest.mark.parametrize("kind", [PAIR, NESTED], ids=["pair", "nested"])
@pytest.mark.parametrize("put", [copy, transpose])
def test_the_other_fields_of_a_structure_stay(put: Any, kind: np.dtype, device: Device) -> None:
    """Elements were copied with the bytes between their fields, which are the fields that a view leaves out."""
    raw = bits((33, 33), "complex128").view(np.uint8).reshape(33, -1)[:, : 33 * kind.itemsize]
    table = np.ascontiguousarray(raw).view(kind)
    target, before = np.zeros_like(table), np.full((33, 33), 7, kind["y"])
    target["y"] = before
    for _ in range(2):
        put(table[["x"]], target[["x"]], queue=device.queue)
        assert np.array_equal(target["y"], before)
        assert target["x"].tobytes() == (table if put is copy else table.T)["x"].tobytes()
    own = table.copy()
    put(own[["x"]], own[["x"]], queue=device.queue)
    assert own["y"].tobytes() == table["y"].tobytes()
    assert own["x"].tobytes() == (table if put is copy else table.T)["x"].tobytes()


def test_bytes_between_fields() -> None:
    assert has_gaps(WITH_A_GAP)
    assert has_gaps(PAIR[["x"]])
    assert has_gaps(np.dtype([("x", WITH_A_GAP, (2,))]))
    assert not any(map(has_gaps, (PAIR, NESTED, np.dtype("f4"), np.dtype("V8"), np.dtype((np.record, PAIR)))))


def test_results_are_dense(device: Device) -> None:
    assert transpose(bits((9, 8), "int32"), queue=device.queue).flags.c_contiguous


def test_views(device: Device) -> None:
    whole = bits((120, 130), "float32")
    for view in (
        whole[3:67, 5:99],
        whole[::2, ::3],
        whole[::-1, 4:],
        whole.T[7:50],
        np.broadcast_to(whole[0], (9, 130)),
    ):
        assert_same_bits(transpose(view, queue=device.queue), view.T)
        assert_same_bits(copy(view, queue=device.queue), view)


def test_out(device: Device) -> None:
    a = bits((45, 31), "int32")
    whole = np.zeros((62, 90), np.int32)
    out = whole[::2, ::2]
    assert transpose(a, out, queue=device.queue) is out
    assert np.array_equal(out, a.T)
    assert not whole[1::2].any()
    square = bits((50, 50), "int32")
    expected = square.T.copy()
    assert transpose(square, square, queue=device.queue) is square
    assert np.array_equal(square, expected)
    with pytest.raises(InvalidInput, match=r"\(45, 31\).*\(31, 45\)"):
        transpose(a, np.empty((45, 31), np.int32), queue=device.queue)


@pytest.mark.parametrize("options", [{}, {"max_device_bytes": "1MB"}], ids=["one piece", "tiles"])
def test_an_out_of_another_type_is_refused(options: dict[str, Any], device: Device) -> None:
    """The sentence named a `casting`, which copies do not have."""
    where: dict[str, Any] = {"device": device.info.label, **options}
    with pytest.raises(
        InvalidInput, match="out is >f4, and a is float32; copies convert nothing: pass an out of float32"
    ):
        transpose(bits((5, 4), "float32"), np.zeros((4, 5), ">f4"), **where)


def test_other_sizes_are_refused(device: Device) -> None:
    with pytest.raises(Unsupported, match=r"\b3\b"):
        transpose(np.zeros((4, 4), "S3"), queue=device.queue)
    with pytest.raises(InvalidInput, match=r"\(4,\)"):
        matrix_transpose(np.zeros(4), queue=device.queue)


def test_device_arrays(device: Device) -> None:
    host = bits((60, 70), "int32")
    array = cl_array.to_device(device.queue, host)
    assert_same_bits(transpose(array).get(), host.T)
    window = array[5:40, 3:33]
    assert_same_bits(transpose(window).get(), host[5:40, 3:33].T)
    out = cl_array.zeros(device.queue, (100, 90), np.int32)
    transpose(window, out=out[10:40, 20:55])
    assert np.array_equal(out.get()[10:40, 20:55], host[5:40, 3:33].T)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    shape=st.lists(st.integers(0, 40), min_size=1, max_size=4).filter(lambda sides: np.prod(sides) <= 40000),
    data=st.data(),
    dtype=st.sampled_from(("uint8", "float16", "int32", "float64", "complex128")),
)
def test_property_any_permutation(shape: list[int], data: st.DataObject, dtype: str, device: Device) -> None:
    order = data.draw(st.permutations(range(len(shape))))
    step = data.draw(st.sampled_from((1, 2, -1)))
    a = bits(tuple(shape), dtype)[::step].transpose(order)
    assert_same_bits(copy(a, queue=device.queue), a)
