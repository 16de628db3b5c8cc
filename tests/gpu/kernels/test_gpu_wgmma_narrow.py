"""On a Hopper GPU: products narrower than a tile, or with little in the last one. Only the rows that exist are fetched, and
what local memory holds behind them must not matter."""

import warnings
from dataclasses import replace

import numpy as np
import pyopencl as cl
import pytest

from tilewright.core.kernel import Kernel
from tilewright.core.plan import plan
from tilewright.core.problem import Gemm, random_arrays
from tilewright.dispatch.choice import plan_product
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.wgmma.kernels import KERNELS
from tilewright.kernels.product.wgmma.search import configurations
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import Execution
from tilewright.runtime.verify import Reference, verify_execution

ORDERS = [(a, b) for a in ("row", "column") for b in ("row", "column")]
RESULTS = {"int8": "int32", "float8_e4m3fn": "bfloat16", "float8_e5m2": "float32"}
NARROW = (
    (3, 200, 300), (8, 136, 256), (17, 256, 64), (40, 72, 520), (200, 5, 300), (136, 24, 128), (9, 13, 90), (70, 136, 200),
    (260, 264, 72),
)  # fmt: skip
GARBAGE = 0x7FFF7FFF  # NaN in every type that has one
FILL = """
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void fill(__global uint* differs, const uint value)
{
    __local volatile uint held[WORDS];
    for (int i = get_local_id(0); i < WORDS; i += 256)
        held[i] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (held[(value + get_local_id(0)) % WORDS] != value)
        differs[0] = 1;
}
"""


def spoil(device: Device) -> None:
    """Leave garbage in the local memory of every compute unit."""
    words = device.info.static_local_bytes // 4 - 256
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        fill = cl.Kernel(cl.Program(device.context, FILL).build([f"-DWORDS={words}"]), "fill")
    differs = device.allocate(4)
    device.fill(differs, 0, 0, 4)
    fill.set_args(differs, np.uint32(GARBAGE))
    cl.enqueue_nd_range_kernel(device.queue, fill, (256 * 4 * device.info.compute_units,), (256,))
    assert not device.read(differs, 1, np.dtype(np.uint32)).any()


@pytest.mark.parametrize(("a_order", "b_order"), ORDERS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_narrow_products_in_several_tiles(kernel: Kernel, a_order: str, b_order: str, hopper: Device) -> None:
    dtype = kernel.dtypes[0]
    for m, n, k in NARROW:
        problem = Gemm(
            m, n, k, dtype, a_order, b_order, out_dtype=RESULTS.get(dtype), precision=kernel.precision
        )  # fmt: skip
        found = list(configurations(call_of(problem).row_major, hopper.info))
        assert found, f"no configuration of {kernel.name} takes {problem.title}, {a_order} and {b_order}"
        reference = Reference(problem, random_arrays(problem))
        for config in {(each.BM, each.even_odd_rows): each for each in found}.values():
            execution = Execution(plan([replace(kernel, config=config)], problem, hopper.info), hopper)
            spoil(hopper)
            verdict = verify_execution(execution, reference)
            assert verdict.passed, f"{problem.title} {a_order} {b_order}, {config}: {verdict.reason}"


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 8, 9])
def test_what_is_chosen_for_few_rows_or_columns(columns: int, hopper: Device) -> None:
    for dtype in ("float16", "float32", "float64", "complex64", "int8"):
        for m, n in ((columns, 1000), (1000, columns)):
            for b_order in ("row", "column"):
                problem = Gemm(m, n, 520, dtype, b_order=b_order, out_dtype=RESULTS.get(dtype))
                execution = Execution(plan_product(problem, hopper.info), hopper)
                spoil(hopper)
                verdict = verify_execution(execution, Reference(problem, random_arrays(problem)))
                assert verdict.passed, f"{problem.title} {b_order}: {verdict.reason}"
