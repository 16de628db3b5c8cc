"""The launches of the ladder `tiles` that are more than one: B transposed first, operands brought to whole tiles."""

from collections.abc import Callable

from ....core.kernel import Config, Kernel, Step, Steps, round_up
from ....core.problem import Gemm, Problem, Transpose
from ...sizes import size
from ..transpose import LADDER as TRANSPOSES
from ..transpose import LocalBlock
from .configs import Tile
from .padding import PAD, PAD_TRANSPOSE, Resize

StepsOf = Callable[[Kernel, Config, Problem], Steps]

# 32 x 2 = 64 work-items: few enough for any device that the smallest rung runs on.
TRANSPOSE = next(each for each in TRANSPOSES.kernels if each.source.stem == "07_rows_per_item")
TRANSPOSE_BLOCK = LocalBlock(32, 16, PAD=1)


def transpose_first(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """B transposed into the scratch buffer BT, then the product. B by columns is an N x K matrix by rows."""
    n, k = size(problem, "N"), size(problem, "K")
    buffers = (("input", "B"), ("output", "BT"))
    return (
        Step(TRANSPOSE, TRANSPOSE_BLOCK, Transpose(n, k, problem.dtype), buffers),
        Step(kernel, config, problem),
    )


def pad_first(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """A and B brought to whole tiles, the product of those, and C cut back; what has whole tiles already is not copied.

    Every size is rounded up, K too: the zeros beyond K in A_padded and BT add nothing, so C needs no more care.
    """
    assert isinstance(config, Tile)
    dtype = problem.dtype
    m, n, k = (size(problem, name) for name in "MNK")
    whole_m, whole_n, whole_k = round_up(m, config.BM), round_up(n, config.BN), round_up(k, config.BK)
    pads_a, cuts_c = (m, k) != (whole_m, whole_k), (m, n) != (whole_m, whole_n)
    a, c = "A_padded" if pads_a else "A", "C_padded" if cuts_c else "C"

    pad_a = Step(PAD, PAD.config, Resize(k, m, whole_k, whole_m, dtype), (("input", "A"), ("output", a)))
    turn_b = Resize(n, k, whole_k, whole_n, dtype, transposed=True)
    pad_b = Step(PAD_TRANSPOSE, PAD_TRANSPOSE.config, turn_b, (("input", "B"), ("output", "BT")))
    product = Gemm(whole_m, whole_n, whole_k, dtype, *kernel.orders)
    multiply = Step(kernel, config, product, (("A", a), ("B", "BT"), ("C", c)))
    cut_c = Step(PAD, PAD.config, Resize(whole_n, whole_m, n, m, dtype), (("input", c), ("output", "C")))
    return (*((pad_a,) if pads_a else ()), pad_b, multiply, *((cut_c,) if cuts_c else ()))
