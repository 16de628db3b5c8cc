"""Ready calls on CUDA arrays, on a pretended GPU: what later calls have from earlier ones, and what they must notice."""

import gc
import os
import weakref
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from cuda_fixtures import general, values
from pretended_cuda import PretendedArray, PretendedArrays, PretendedDevice

import tilewright
from tilewright import gemm, matmul, prepare, transpose
from tilewright.errors import InvalidInput, LaunchFailed


@pytest.mark.parametrize("shapes", [((5, 7), (7, 3)), ((2, 3, 5, 7), (3, 7, 4)), ((64, 200), (200, 48))])
def test_later_calls_are_ready(
    shapes: Any, framework: PretendedArrays, gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = general(monkeypatch)
    for seed in range(3):
        a, b = values(*shapes[0], seed=seed), values(*shapes[1], seed=seed + 9)
        found = matmul(gpu.own(a), gpu.own(b))
        assert isinstance(found, PretendedArray)
        assert np.allclose(found.array, a @ b, atol=1e-3)
        out = gpu.own(np.full((a @ b).shape, 7, np.float32))
        assert matmul(gpu.own(a), gpu.own(b), out) is out
        assert np.array_equal(out.array, found.array)
    assert len(gone) == 3  # the first of a class of arrays, then the first without and with `out`
    assert framework.overwritten == 5  # three general calls, and two ready ones with `out`


def test_a_ready_call_takes_no_other_layout_or_alignment(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    whole = values(40, 41)
    gpu.own(whole)
    for cut in (
        np.s_[:8, :8],
        np.s_[:8, 1:9],
        np.s_[3:11, 2:10],
        np.s_[:8, :16:2],
        np.s_[7::-1, :8],
        np.s_[5:13, 33:41],
    ):
        for _ in range(2):
            found = matmul(PretendedArray(whole[cut]), PretendedArray(whole[cut]))
            assert np.allclose(found.array, whole[cut] @ whole[cut], atol=1e-3)


def test_a_ready_call_does_not_overwrite_its_operands(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    whole = values(30, 16)
    gpu.own(whole)
    apart = gpu.own(np.zeros((16, 16), np.float32))
    for place in (slice(0, 16), slice(4, 20), slice(14, 30)):
        a = whole[:16].copy()
        matmul(PretendedArray(whole[:16]), PretendedArray(whole[:16]), apart)
        matmul(PretendedArray(whole[:16]), PretendedArray(whole[:16]), PretendedArray(whole[place]))
        assert np.allclose(whole[place], a @ a, atol=1e-2)
        whole[:] = values(30, 16)


def test_a_ready_call_has_an_epilogue(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    for seed in range(3):
        a, b, bias = values(6, 5, seed=seed), values(5, 4, seed=seed + 1), values(4, seed=seed + 2)
        found = gemm(gpu.own(a), gpu.own(b), bias=gpu.own(bias), activation="relu", alpha=3)
        assert np.allclose(found.array, np.maximum(3 * a @ b + bias, 0), atol=1e-3)
        c = values(6, 4, seed=seed + 3)
        wanted, own = a @ b + 2 * c, gpu.own(c)
        gemm(gpu.own(a), gpu.own(b), own, beta=2, out=own)
        assert np.allclose(c, wanted, atol=1e-3)


def test_a_ready_call_adds_c(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    for seed in range(3):
        a, c = values(8, 8, seed=seed), values(16, 8, seed=seed + 1)
        gpu.own(c)
        wanted = a @ a + 2 * c[:8]
        found = gemm(gpu.own(a), gpu.own(a), PretendedArray(c[:8]), beta=2)
        assert np.allclose(found.array, wanted, atol=1e-3)
        gemm(gpu.own(a), gpu.own(a), PretendedArray(c[:8]), beta=2, out=PretendedArray(c[4 * (seed % 2) :][:8]))
        assert np.allclose(c[4 * (seed % 2) :][:8], wanted, atol=1e-3)


def test_a_matrix_times_its_own_transpose(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    """Ready calls know whether operands begin at one address."""
    a, b = values(70, 41), np.asfortranarray(values(41, 70, seed=1))
    own, other = gpu.own(a), gpu.own(b)
    transposed = PretendedArray(own.array.T)
    for _ in range(3):
        for second, expected in ((transposed, a @ a.T), (other, a @ b)):
            got = matmul(own, second).array
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)
        symmetric = gemm(own, own, trans_b="T").array
        assert np.array_equal(symmetric, symmetric.T)


def test_operands_that_begin_at_one_address_have_their_own_plan(
    framework: PretendedArrays, gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan for others is right for them, too, but does twice the work."""
    whole, launched = gpu.launcher, list[Any]()

    def launcher(kernel: Any, *arguments: Any) -> Any:
        launch = whole(kernel, *arguments)

        def noted() -> int:
            launched.append(kernel)
            return launch()

        return noted

    monkeypatch.setattr(gpu, "launcher", launcher)
    own = gpu.own(values(70, 41))
    transposed, other = PretendedArray(own.array.T), gpu.own(np.asfortranarray(values(41, 70, seed=1)))
    kernels: dict[str, set[int]] = {"own": set(), "other": set()}
    for _ in range(4):
        for name, second in (("other", other), ("own", transposed)):
            launched.clear()
            matmul(own, second)
            kernels[name] |= set(map(id, launched))
    assert kernels["own"]
    assert kernels["other"]
    assert not kernels["own"] & kernels["other"]


def test_a_prepared_product_takes_cuda_arrays(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    a, b, bias = values(6, 5), values(5, 4, seed=1), values(4, seed=2)
    product = prepare(gpu.own(a), gpu.own(b), bias=gpu.own(bias), alpha=3)
    assert "through copies" not in repr(product)
    for seed in range(3):
        a, out = values(6, 5, seed=seed), values(6, 4)
        wanted = 3 * a @ b + bias
        found = product(gpu.own(a), gpu.own(b), bias=gpu.own(bias))
        assert np.allclose(found.array, wanted, atol=1e-3)
        product(gpu.own(a), gpu.own(b), gpu.own(out), bias=gpu.own(bias))
        assert np.allclose(out, wanted, atol=1e-3)
    with pytest.raises(
        InvalidInput, match=r"a is pretended_cuda float32 \(4, 5\).*prepared for pretended_cuda float32 \(6, 5\)"
    ):
        product(gpu.own(values(4, 5)), gpu.own(b), bias=gpu.own(bias))
    with pytest.raises(InvalidInput, match="a is numpy float32"):
        product(a, gpu.own(b), bias=gpu.own(bias))
    square = values(8, 8)
    whole, wanted = prepare(gpu.own(square), gpu.own(square)), square @ square
    own = gpu.own(square)
    assert whole(own, own, own) is own
    assert np.allclose(square, wanted, atol=1e-3)


def test_no_array_of_the_caller_is_kept(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    a, b, bias = gpu.own(values(5, 6)), gpu.own(values(6, 7)), gpu.own(values(7))
    kept = [weakref.ref(each) for each in (a, b, bias)]
    for _ in range(3):
        found = gemm(a, b, bias=bias)
        kept.append(weakref.ref(found))
        gemm(a, b, bias=bias, out=found)
        transpose(a)
    prepared = tilewright.prepare(a, b, bias=bias)
    assert isinstance(prepared(a, b, bias=bias), PretendedArray)
    del a, b, bias, found
    framework._pending.clear()  # the operands of the last calls are kept until the next
    gc.collect()
    assert [each() for each in kept] == [None] * len(kept)


def test_layouts_that_take_turns_are_all_ready(
    framework: PretendedArrays, gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them have equal numbers of elements."""
    gone = general(monkeypatch)
    wholes = [values(64, 65, dtype=dtype) for dtype in ("float32", "float64", "int32")]
    for whole in wholes:
        gpu.own(whole)
    cuts = [np.s_[:8, :8], np.s_[:8, 1:9], np.s_[:8, :16:2], np.s_[:4, :16], np.s_[:16, :4], np.s_[7::-1, :8]]
    for turn in range(4):
        for cut in cuts:
            for whole in wholes:
                b = values(*reversed(whole[cut].shape), dtype=str(whole.dtype), seed=turn)
                found = matmul(PretendedArray(whole[cut]), gpu.own(b))
                assert found.array.dtype == whole.dtype
                assert np.allclose(found.array, whole[cut] @ b, atol=1e-3)
        if turn == 1:  # the very first call makes the kind of arrays known
            gone.clear()
    assert gone == []


def test_equal_addresses_are_told_apart_by_whose_they_are(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    """A times its own transpose takes half the work; A times B, where B is the bias, too, does not."""
    memory = values(40, 40)
    a, own = values(40, 40, seed=1), gpu.own(memory)
    other, bias = gpu.own(a), PretendedArray(memory[0])
    for _ in range(3):
        found = gemm(own, own, trans_b="T", bias=gpu.own(memory[0].copy())).array
        assert np.allclose(found, memory @ memory.T + memory[0], atol=1e-3)
        found = gemm(other, own, trans_b="T", bias=bias).array
        assert np.allclose(found, a @ memory.T + memory[0], atol=1e-3)


def test_a_call_from_within_a_call_changes_none_of_its_addresses(
    framework: PretendedArrays, gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a destructor, which Python may run wherever memory is allocated."""
    a, b, other = gpu.own(values(8, 8)), gpu.own(values(8, 8, seed=1)), gpu.own(values(8, 8, seed=2))
    bias, inside = gpu.own(values(8, seed=3)), list[Any]()
    whole = framework.maker

    def maker(*arguments: Any) -> Any:
        make = whole(*arguments)

        def made() -> Any:
            for call in inside[:]:
                inside.clear()
                call()
            return make()

        return made

    monkeypatch.setattr(framework, "maker", maker)
    for product, added in ((matmul, 0.0), (partial(gemm, bias=bias), bias.array)):
        for _ in range(2):
            product(a, b)
        inside.append(partial(product, other, other))
        found = product(a, b).array
        assert not inside
        assert np.allclose(found, a.array @ b.array + added, atol=1e-4)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("prepared_once", [False, True])
def test_forks_run_no_ready_calls(prepared_once: bool, framework: PretendedArrays, gpu: PretendedDevice) -> None:
    gpu.info = replace(gpu.info, platform="NVIDIA CUDA")
    a, b, out = gpu.own(values(8, 8)), gpu.own(values(8, 8, seed=1)), gpu.own(np.zeros((8, 8), np.float32))
    product = prepare(a, b, out) if prepared_once else matmul
    for _ in range(3):
        product(a, b, out)
    out.array.fill(7)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            product(a, b, out)
        except LaunchFailed:
            status = 0 if (out.array == 7).all() else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
