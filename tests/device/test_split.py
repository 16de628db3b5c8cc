"""The portable part of "fp32_split" on every driver: how vectors are measured and cut, and the tiles that halves cannot hold."""

from dataclasses import replace

import numpy as np
import pytest

from tilewright.backend.opencl import Device
from tilewright.kernel import Step
from tilewright.kernels.split.product import CUT, EXACT, PRODUCT, split_steps
from tilewright.plan import Plan
from tilewright.problem import Gemm
from tilewright.run import Execution

pytestmark = pytest.mark.device
UNFIT = 0xFF


def cut(problem: Gemm, arrays: dict[str, np.ndarray], device: Device, name: str) -> tuple[np.ndarray, ...]:
    """shift, small and share of each vector of operand `name`, and its high and low halves."""
    steps = [each for each in split_steps(PRODUCT, PRODUCT.config, problem) if each.kernel is CUT]
    execution = Execution(Plan(problem, tuple(steps)), device)
    execution.write(arrays)
    execution.launch()
    word, vectors = name.lower(), problem.m if name == "A" else problem.n
    pitch = -(-problem.k // 8) * 8

    def scratch(what: str, dtype: type, shape: tuple[int, int]) -> np.ndarray:
        buffer = execution._buffers[f"{what}_{word}"].inner
        return device.read(buffer, shape[0] * shape[1], np.dtype(dtype)).reshape(shape)

    ranges = scratch("ranges", np.int32, (vectors, 2))
    halves = scratch("halves", np.float16, (2 * vectors, pitch))[:, : problem.k]
    high, low = halves[:vectors], halves[vectors:]
    return ranges[:, 0], ranges[:, 1] & 0xFF, ranges[:, 1] >> 8, high.astype(np.float64), low.astype(np.float64)


def matrices(m: int, n: int, k: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    return {"A": random.normal(size=(m, k)).astype(np.float32), "B": random.normal(size=(k, n)).astype(np.float32)}


@pytest.mark.parametrize("orders", [("row", "row"), ("column", "column")])
@pytest.mark.parametrize("shape", [(33, 65, 130), (1, 200, 129), (150, 40, 1000)])
def test_halves_hold_every_element_to_22_bits(
    device: Device, shape: tuple[int, int, int], orders: tuple[str, str]
) -> None:
    problem = Gemm(shape[0], shape[1], shape[2], a_order=orders[0], b_order=orders[1], precision="fp32_split")
    arrays = matrices(*shape)
    arrays["A"][0] *= np.float32(2.0**100)
    arrays["B"][:, -1] *= np.float32(2.0**-90)
    for name, vectors in (("A", arrays["A"]), ("B", arrays["B"].T)):
        shift, small, share, high, low = cut(problem, arrays, device, name)
        exact = vectors.astype(np.float64)
        largest = np.abs(exact * 2.0 ** shift[:, None].astype(float)).max(axis=1)
        assert ((largest >= 2**14) & (largest < 2**15)).all()
        again = (high + low * 2.0**-11) * 2.0 ** -shift[:, None].astype(float)
        allowed = 2.0**-23 * np.abs(exact) + 2.0**-36 * 2.0 ** -shift[:, None].astype(float)
        assert (np.abs(again - exact) <= allowed).all()
        largest_of = np.abs(exact).max(axis=1, keepdims=True)
        assert (small == 0).all()
        assert (share == 255 * (np.abs(exact) >= largest_of * 2.0**-7).sum(axis=1) // problem.k).all()


def test_vectors_that_halves_cannot_hold_are_named(device: Device) -> None:
    problem = Gemm(8, 32, 256, precision="fp32_split")
    arrays = matrices(8, 32, 256)
    a = arrays["A"]
    a[0, 3], a[1, 4], a[2] = np.inf, np.nan, a[2] * np.float32(1e-38)
    a[3] = 0
    a[4, :5] = np.float32(2.0**-40)
    a[5, 7] = 0
    shift, small, share, _, _ = cut(problem, arrays, device, "A")
    assert (small[:3] == UNFIT).all()
    assert (shift[3], small[3], share[3]) == (0, 0, 0)
    assert small[4] == 1 + 3
    assert (small[5:] == 0).all()


@pytest.mark.parametrize("shape", [(150, 140, 130), (129, 257, 128)])
def test_tiles_that_halves_cannot_hold_are_multiplied_as_floats(device: Device, shape: tuple[int, int, int]) -> None:
    """Every row of A has an infinity of its own, or is too small, so that nothing is left to the tensor cores."""
    problem = Gemm(shape[0], shape[1], shape[2], precision="fp32_split")
    arrays = matrices(*shape)
    arrays["A"] *= np.float32(1e-37)
    steps = tuple(each for each in split_steps(PRODUCT, PRODUCT.config, problem) if each.kernel != PRODUCT)
    execution = Execution(Plan(problem, steps), device)
    execution.write(arrays)
    execution.poison()
    execution.launch()
    reference = problem.reference(arrays)
    assert (np.abs(execution.read() - reference) <= problem.error_bound(arrays, reference) + 2.0**-149).all()


def test_what_halves_can_hold_is_left_alone(device: Device) -> None:
    problem = Gemm(130, 128, 128, precision="fp32_split")
    arrays = matrices(130, 128, 128)
    arrays["A"][129, 0] = np.inf
    steps: tuple[Step, ...] = tuple(
        replace(each) for each in split_steps(PRODUCT, PRODUCT.config, problem) if each.kernel is not PRODUCT
    )
    assert steps[-1].kernel is EXACT
    execution = Execution(Plan(problem, steps), device)
    execution.write(arrays)
    execution.poison()
    execution.launch()
    result = execution.read()
    assert np.isnan(result[:129]).all()
    assert np.isinf(result[129]).all()
