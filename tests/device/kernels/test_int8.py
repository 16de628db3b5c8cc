"""int8 on CPU devices: both ways to multiply, whichever the machine would take, against exact integers; and uint8."""

from dataclasses import replace

import numpy as np
import pytest

from tilewright.core.device import DeviceInfo
from tilewright.core.problem import Gemm
from tilewright.dispatch.choice import plan_product
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.opencl.vpdpbusd import VPDPBUSD, equipped
from tilewright.runtime.run import run_plan

# Each K leaves another rest in quads, in vectors of quads and in blocks of K; N goes from below a vector to two blocks.
SHAPES = (
    (1, 1, 1), (5, 3, 2), (13, 7, 3), (37, 41, 31), (48, 33, 64), (100, 17, 63), (16, 65, 130), (12, 32, 1536),
    (25, 48, 1537), (50, 700, 4099), (500, 31, 257),
)  # fmt: skip


def ways(info: DeviceInfo) -> list[DeviceInfo]:
    """The device as it is, and without the instruction if it has that."""
    own = equipped(info, "int8")
    return [own, replace(own, features=own.features - {VPDPBUSD})] if VPDPBUSD in own.features else [own]


@pytest.mark.parametrize("b_order", ["row", "column"])
@pytest.mark.parametrize("a_order", ["row", "column"])
def test_products_of_bytes_are_exact(a_order: str, b_order: str, device: Device) -> None:
    random = np.random.default_rng(5)
    for info in ways(device.info):
        for m, n, k in SHAPES:
            problem = Gemm(m, n, k, "int8", a_order, b_order, out_dtype="int32")
            a, b = random.integers(-128, 128, (m, k), np.int8), random.integers(-128, 128, (k, n), np.int8)
            result, _ = run_plan(plan_product(problem, info), {"A": a, "B": b}, device)
            np.testing.assert_array_equal(result, a.astype(np.int64) @ b, err_msg=f"{m}x{n}x{k}")


def test_sums_of_the_largest_products_wrap_and_do_not_saturate(device: Device) -> None:
    """-128 * -128 * 131072 is 2^31, one more than an int holds."""
    a, b = np.full((3, 2**17), -128, np.int8), np.full((2**17, 5), -128, np.int8)
    for info in ways(device.info):
        plan = plan_product(Gemm(3, 5, 2**17, "int8", out_dtype="int32"), info)
        result, _ = run_plan(plan, {"A": a, "B": b}, device)
        np.testing.assert_array_equal(result, np.full((3, 5), -(2**31)))


def test_stacks_strides_and_sums_with_c(device: Device) -> None:
    """Everything that the epilogue does with ints, on views with gaps, turned round and stacked."""
    from tilewright import gemm

    random = np.random.default_rng(6)
    a = random.integers(-128, 128, (3, 40, 301), np.int8)[:, ::2, ::-1]
    b = random.integers(-128, 128, (3, 70, 602), np.int8)[:, :, ::2].transpose(0, 2, 1)
    c = random.integers(-999, 999, (3, 20, 70), np.int32)
    result = gemm(a, b, c, alpha=3, beta=-2, queue=device.queue)
    np.testing.assert_array_equal(result, 3 * (a.astype(np.int64) @ b) - 2 * c)


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 2999), (37, 65, 2999), (12, 32, 258), (12, 32, 259)])
def test_products_of_a_wider_type_are_exact_too(m: int, n: int, k: int, device: Device) -> None:
    """Products of uint8 are larger than those of int8: float32 adds up 258 of them exactly, not 1024."""
    arrays = {"A": np.full((m, k), 255, np.uint8), "B": np.full((k, n), 255, np.uint8)}
    arrays["A"][:, -1] = 254  # an odd sum beyond 2**24, which float32 rounds
    for info in ways(device.info):
        result, _ = run_plan(plan_product(Gemm(m, n, k, "uint8", out_dtype="int32"), info), arrays, device)
        np.testing.assert_array_equal(result, 255 * (255 * (k - 1) + 254))
