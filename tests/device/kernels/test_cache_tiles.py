"""The tiles of CPUs with a large or a small level-2 cache are right on any CPU that has their vectors."""

from dataclasses import replace

import pytest
from shapes import check_kernel

from tilewright.kernels.product.cpu.config import CpuConfig
from tilewright.kernels.product.cpu.cost import LARGE_LEVEL2, SMALL_LEVEL2
from tilewright.kernels.product.cpu.elements import takes_vectors
from tilewright.kernels.product.cpu.kernels import product_kernel
from tilewright.runtime.opencl.device import Device

# Each height of a micro-kernel alone and after others, one vector and less, ragged panels, several blocks of K and none.
SHAPES = (
    (1, 1, 1), (2, 16, 5), (3, 17, 0), (4, 64, 33), (5, 63, 600), (6, 65, 512), (7, 130, 513), (13, 200, 1100),
    (64, 8, 300), (131, 331, 517), (257, 700, 1037),
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "int8"])
@pytest.mark.parametrize("vector_bytes", [32, 64])
def test_products_of_every_raggedness(one_device: Device, vector_bytes: int, dtype: str) -> None:
    info = one_device.info
    if not takes_vectors(info) or 4 * info.native_widths["float32"] < vector_bytes:
        pytest.skip("the device has no such vectors")
    kernel = product_kernel(dtype, replace(info, level2_bytes=LARGE_LEVEL2), vector_bytes)
    usual = product_kernel(dtype, replace(info, level2_bytes=0), vector_bytes)
    assert isinstance(kernel.config, CpuConfig)
    assert isinstance(usual.config, CpuConfig)
    assert (kernel.config.MR, kernel.config.NV) != (usual.config.MR, usual.config.NV)
    for shape in SHAPES:
        assert check_kernel(kernel, shape, dtype, one_device) == "passed"


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "int8"])
def test_products_of_several_tiles_in_turn(one_device: Device, dtype: str) -> None:
    info = one_device.info
    if not takes_vectors(info) or 4 * info.native_widths["float32"] < 32:
        pytest.skip("the device has no such vectors")
    kernel = product_kernel(dtype, replace(info, level2_bytes=SMALL_LEVEL2), 32)
    assert isinstance(kernel.config, CpuConfig)
    assert kernel.config.TILES > 1
    for shape in SHAPES:
        assert check_kernel(kernel, shape, dtype, one_device) == "passed"
