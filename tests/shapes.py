"""The sizes that every rung has to pass or refuse with a sentence, the check itself, and a kernel of the tests' own."""

import re

from tilewright.core.kernel import Kernel
from tilewright.core.plan import plan_kernel
from tilewright.core.problems import make_problem
from tilewright.errors import Unsupported
from tilewright.runtime.device import Device
from tilewright.runtime.verify import verify

DTYPES = ("float32", "float64", "int32", "float16")

NAIVE = """// One work-item per element of C, written for the tests.
__kernel void naive(const int M, const int N, const int K,
                    __global const REAL* A, __global const REAL* B, __global REAL* C)
{
    const int row = get_global_id(0), column = get_global_id(1);
    if (row >= M || column >= N)
        return;
    REAL sum = 0;
    for (int k = 0; k < K; k++)
        sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}
"""

# M, N, K. Few different K, since some rungs are compiled anew for each; 1104 is longer than any tile or chunk.
GEMM_SHAPES = (
    (1, 1, 1),
    (37, 41, 31),  # primes
    (263, 3, 31),  # tall
    (3, 263, 31),  # wide
    (5, 7, 1104),  # deep
    (72, 40, 64),  # multiples of 8, but of no tile
    (128, 256, 64),  # multiples of every tile
    (0, 5, 31),  # nothing to compute
    (5, 0, 31),
    (7, 6, 0),  # a sum of no products is zero
)

# rows, columns, and the columns left out at the start of each row
MATRIX_SHAPES = (
    (1, 1, 0),
    (37, 41, 0),
    (263, 3, 0),
    (3, 263, 0),
    (72, 40, 0),
    (128, 256, 0),
    (0, 5, 0),
    (5, 0, 0),
    (64, 64, 1),
    (41, 37, 36),
    (9, 8, 8),  # nothing is left
)


def shapes_of(kernel: Kernel) -> tuple[tuple[int, int, int], ...]:
    return GEMM_SHAPES if kernel.operation == "gemm" else MATRIX_SHAPES


def check_kernel(kernel: Kernel, shape: tuple[int, int, int], dtype: str, device: Device) -> str:
    """Verify one kernel at one shape: "passed", or the refusal. AssertionError says which and why otherwise."""
    where = f"{kernel.name} at {'x'.join(map(str, shape))} {dtype} on {device.info.label}"
    size, offset = (shape, 0) if kernel.operation == "gemm" else (shape[:2], shape[2])
    problem = make_problem(kernel, size, dtype, offset)
    try:
        plan = plan_kernel(kernel, problem, device.info)
    except Unsupported as reasons:
        refusal = str(reasons)
    else:
        refusal = ""
    if refusal:
        assert re.search(r"\d|needs '|has no ", refusal), f"{where} is refused without a figure: {refusal}"
        return refusal
    verdict = verify(plan, device)
    assert verdict.passed, f"{where}: {verdict}"
    return "passed"
