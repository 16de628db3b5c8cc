"""`prepare`: what a prepared product computes, what it refuses, and that it is one with `gemm`."""

import gc
import pickle
import threading
import weakref
from copy import deepcopy
from typing import Any

import ml_dtypes
import numpy as np
import pyopencl.array as cl_array
import pytest
from places import Place

from tilewright import gemm, prepare
from tilewright.errors import InvalidInput, UnknownName, UnsupportedType
from tilewright.runtime.opencl.device import Device

RNG = np.random.default_rng(11)


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, np.float32)


def test_other_arrays_of_the_same_layout(place: Place) -> None:
    put, get, where = place
    product = prepare(put(random(17, 9)), put(random(9, 21)), **where)
    out = put(np.zeros((17, 21), np.float32))
    for _ in range(3):
        a, b = random(17, 9), random(9, 21)
        assert np.allclose(get(product(put(a), put(b))), a @ b, atol=1e-4)
        assert product(put(a), put(b), out) is out
        assert np.allclose(get(out), a @ b, atol=1e-4)


def test_everything_that_gemm_takes(place: Place) -> None:
    put, get, where = place
    a, b, c, bias = random(9, 17), random(21, 9), random(17, 21), random(21)
    named: dict[str, Any] = {"alpha": 0.5, "beta": 2.0, "trans_a": "T", "trans_b": "T", "activation": "relu"}
    product = prepare(put(a), put(b), c=put(c), bias=put(bias), **named, **where)
    expected = np.maximum(0.5 * a.T.astype(float) @ b.T + 2 * c + bias, 0)
    for _ in range(2):
        assert np.allclose(get(product(put(a), put(b), c=put(c), bias=put(bias))), expected, atol=1e-4)
        out = put(c.copy())
        product(put(a), put(b), out, c=out, bias=put(bias))
        assert np.allclose(get(out), expected, atol=1e-4)
        other, given = put(np.zeros((17, 21), np.float32)), put(c)
        product(put(a), put(b), other, c=given, bias=put(bias))
        assert np.allclose(get(other), expected, atol=1e-4)
        assert np.array_equal(get(given), c)


def test_one_array_is_added_and_nothing_else_asked_for(place: Place) -> None:
    put, get, where = place
    a, b, c, bias, side = random(17, 9), random(9, 21), random(17, 21), random(21), random(17, 1)
    for named, expected in (({"bias": bias}, a @ b + bias), ({"bias": side}, a @ b + side), ({"c": c}, a @ b)):
        product = prepare(put(a), put(b), **{name: put(each) for name, each in named.items()}, **where)
        for _ in range(2):
            got = product(put(a), put(b), **{name: put(each) for name, each in named.items()})
            assert np.allclose(get(got), expected, atol=1e-4)


def test_an_out_that_is_an_operand(place: Place) -> None:
    put, get, where = place
    a, b = random(30, 30), random(30, 30)
    left, right = put(a.copy()), put(b)
    product = prepare(left, right, **where)
    product(left, right, put(np.zeros((30, 30), np.float32)))
    assert product(left, right, left) is left
    assert np.allclose(get(left), a @ b, atol=1e-4)
    whole = put(np.zeros((30, 60), np.float32))
    product(left, right, whole[:, ::2])
    assert np.allclose(get(whole)[:, ::2], a @ b @ b, rtol=1e-3, atol=1e-2)
    assert not get(whole)[:, 1::2].any()


def test_offsets_and_alignments_may_differ(place: Place) -> None:
    put, get, where = place
    stack = random(4, 12, 12)
    lent = put(stack)
    product = prepare(lent[0], lent[1], **where)
    for index in range(3):
        assert np.allclose(get(product(lent[index], lent[index + 1])), stack[index] @ stack[index + 1], atol=1e-4)


def test_operands_that_are_converted(place: Place) -> None:
    """The slow way: types that no kernel multiplies as they are."""
    put, get, where = place
    a, b = RNG.integers(-9, 9, (8, 6)).astype(np.int16), random(6, 5)
    product = prepare(put(a), put(b), **where)
    assert "through copies" in repr(product)
    for _ in range(2):
        assert np.allclose(get(product(put(a), put(b))), a @ b, atol=1e-4)


def test_unaligned_and_complex_views(device: Device) -> None:
    raw = bytearray(8 * 64 + 4)
    a = np.frombuffer(raw, np.complex64, 64, offset=4).reshape(8, 8)
    a[...] = random(8, 8) + 1j * random(8, 8)
    b = (random(8, 8) + 1j * random(8, 8)).astype(np.complex64)
    product = prepare(b, b, queue=device.queue)
    for left, right in ((b, b), (a, b), (b, a)):
        assert np.allclose(product(left, right), left @ right, atol=1e-4)


def test_what_does_not_fit_is_named_with_both_descriptions(device: Device) -> None:
    a, b = random(4, 6), random(6, 5)
    product = prepare(a, b, queue=device.queue)
    bad: Any
    for bad, words in (
        (random(4, 7), r"a is numpy float32 \(4, 7\).*prepared for numpy float32 \(4, 6\)"),
        (a.astype(np.float64), r"float64 \(4, 6\).*float32 \(4, 6\)"),
        (np.asfortranarray(a), r"strides \(4, 16\).*strides \(24, 4\)"),
        (a.tolist(), "a is a list"),
        (np.ma.masked_array(a), "a is a MaskedArray"),
        (cl_array.to_device(device.queue, a), r"a is pyopencl float32.*prepared for numpy"),
        (None, "a is a NoneType"),
    ):
        with pytest.raises(InvalidInput, match=words):
            product(bad, b)
    with pytest.raises(InvalidInput, match=r"c is numpy float32 .*prepared for None"):
        product(a, b, c=random(4, 5))
    with pytest.raises(InvalidInput, match="bias is a list"):
        product(a, b, bias=[1.0] * 5)
    with pytest.raises(InvalidInput, match=r"out has the shape \(5, 5\)"):
        product(a, b, random(5, 5))
    out = random(4, 5)
    out.flags.writeable = False
    with pytest.raises(InvalidInput, match="read-only"):
        product(a, b, out)
    with pytest.raises(InvalidInput, match="c is None; the product was prepared for numpy"):
        prepare(a, b, c=random(4, 5), beta=1, queue=device.queue)(a, b)


def test_prepare_refuses_what_gemm_refuses(device: Device) -> None:
    a, b = random(4, 6), random(6, 5)
    with pytest.raises(InvalidInput, match="do not fit"):
        prepare(a, a, queue=device.queue)
    with pytest.raises(UnknownName, match="relo"):
        prepare(a, b, activation="relo", queue=device.queue)
    with pytest.raises(UnsupportedType):
        prepare(a.astype("M8[s]"), b, queue=device.queue)
    with pytest.raises(InvalidInput, match="beta=2 needs c"):
        prepare(a, b, beta=2, queue=device.queue)
    with pytest.raises(InvalidInput, match="b is a list"):
        prepare(a, b.tolist(), queue=device.queue)


def test_numbers_are_fixed_also_those_in_arrays(device: Device) -> None:
    a, number = random(5, 5), np.array(2.0)
    product = prepare(a, a, a, c=a, alpha=number, beta=number, queue=device.queue)
    expected = product(a, a, c=a)
    number[...] = 5
    for out in (None, np.empty((5, 5), np.float32, order="F"), np.empty((5, 5), np.float64)):
        assert np.array_equal(product(a, a, out, c=a), expected)


def test_scales_are_numbers_or_arrays(place: Place) -> None:
    put, get, where = place
    a, b = (random(*shape).astype(ml_dtypes.float8_e4m3fn) for shape in ((9, 17), (17, 21)))
    exact, columns = a.astype(float) @ b.astype(float), np.arange(1, 22, dtype=np.float32)
    product = prepare(put(a), put(b), scale_a=2.0, **where)
    for number in (2.0, 0.5, np.float32(3), 4):
        assert np.allclose(get(product(put(a), put(b), scale_a=number)), number * exact, atol=1e-3)
    product = prepare(put(a), put(b), scale_a=np.float64(2), scale_b=put(columns), alpha=0.5, **where)
    for number in (2.0, 0.5):
        found = product(put(a), put(b), scale_a=number, scale_b=put(columns))
        assert np.allclose(get(found), number * exact * columns / 2, atol=1e-2)
    with pytest.raises(InvalidInput, match=r"scale_a is None; the product was prepared for a number"):
        product(put(a), put(b), scale_b=put(columns))
    with pytest.raises(InvalidInput, match=r"scale_b is a number; the product was prepared for .*float32 \(21,\)"):
        product(put(a), put(b), scale_a=2.0, scale_b=2.0)
    with pytest.raises(InvalidInput, match="scale_a=True is a bool; pass a real number"):
        prepare(put(a), put(b), scale_a=True, **where)
    assert "scale_a a number; " in repr(product)


def test_nothing_is_computed_or_kept(device: Device) -> None:
    a, b = random(12, 12), random(12, 12)
    out = np.full((12, 12), 7, np.float32)
    product = prepare(a, b, out, c=out, beta=1, queue=device.queue)
    assert (out == 7).all()
    product(a, b, out, c=out)
    gone = [weakref.ref(each) for each in (a, b, out)]
    del a, b, out
    gc.collect()
    assert not any(each() is not None for each in gone)
    assert "cpu/" in repr(product) or device.info.kind != "cpu"
    assert len(product.plans) == 1


def test_device_results_are_let_go(device: Device) -> None:
    """A ready call is made from a result: it must not keep it."""
    a = cl_array.to_device(device.queue, random(12, 12))
    product = prepare(a, a)
    results = [product(a, a) for _ in range(3)]
    gone = [weakref.ref(each) for each in results]
    bases = {each.base_data.int_ptr for each in results}
    assert len(bases) == 3
    del results
    gc.collect()
    assert not any(each() is not None for each in gone)


def test_threads_share_a_prepared_product(place: Place) -> None:
    put, get, where = place
    product = prepare(put(random(40, 30)), put(random(30, 50)), **where)
    wrong: list[int] = []

    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        for _ in range(25):
            a, b = generator.standard_normal((40, 30), np.float32), generator.standard_normal((30, 50), np.float32)
            if not np.allclose(get(product(put(a), put(b))), a @ b, atol=1e-3):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_it_is_gemm(place: Place) -> None:
    put, get, where = place
    a, b = random(33, 65), random(65, 20)
    assert np.array_equal(
        get(prepare(put(a), put(b), alpha=2, **where)(put(a), put(b))), get(gemm(put(a), put(b), alpha=2, **where))
    )


@pytest.mark.parametrize("copied", [pickle.dumps, deepcopy])
def test_it_is_for_one_process(copied: Any) -> None:
    product = prepare(random(5, 6), random(6, 7))
    with pytest.raises(InvalidInput, match="call prepare again"):
        copied(product)
