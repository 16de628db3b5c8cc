"""Whether a part of a product has the bits of the whole: rows of `matmul(a[:m], b)` beside rows of `matmul(a, b)`."""

from ..core.plan import Plan
from ..core.precision import REPRODUCIBLE
from ..core.types import element_type
from ..kernels.product.call import GemmCall, call_of
from ..kernels.product.cpu.config import CpuConfig
from ..kernels.product.cpu.config_few_columns import CpuFewColumnsConfig
from ..kernels.product.cpu.config_few_columns_down import CpuFewColumnsDownConfig
from ..kernels.product.cpu.config_gemv import CpuGemvConfig
from ..kernels.product.cpu.config_outer import CpuOuterConfig
from .numpys_own import TYPES

REMEDY = f'precision="{REPRODUCIBLE}" gives each element the same bits in any product'
NUMPYS = "rows of a part of A may get other bits, because small products are NumPy's own: device= asks for kernels"


def note_on_parts(plan: Plan, numpys_too: bool = False) -> str:
    """Why rows of a part of this product may have other bits, and what to do; "" if they have the same from two rows on.

    `numpys_too`: small products are NumPy's own, because the caller named no device.
    """
    call = call_of(plan.problem)
    if element_type(call.dtype).exact or call.precision == REPRODUCIBLE or 0 in (call.m, call.n, call.k, call.batch):
        return ""
    return _note_on_kernels(plan, call) or (NUMPYS if numpys_too and call.k > 1 and call.dtype in TYPES else "")


def _note_on_kernels(plan: Plan, call: GemmCall) -> str:
    config = plan.steps[-1].config
    if isinstance(config, CpuOuterConfig):
        return ""  # nothing is summed
    if isinstance(config, CpuFewColumnsConfig):
        # its blocks of k depend on k and on the few columns alone
        few_rows = config.oriented(call).is_transposed
        return f"few rows of A are summed in another order than more of them: {REMEDY}" if few_rows else ""
    if isinstance(config, CpuFewColumnsDownConfig):
        # in ascending k, as more rows are if their k is not cut
        few_rows = config.oriented(call).is_transposed and call.k > config.uncut_depth
        return f"few rows of A are summed in another order than more of them: {REMEDY}" if few_rows else ""
    if isinstance(config, CpuGemvConfig):
        return f"a single row or column is summed in another order than more of them: {REMEDY}"
    if not isinstance(config, CpuConfig):
        return f"rows of a part of A may get other bits, as other sizes may be summed by other kernels: {REMEDY}"
    if call.k <= config.uncut_depth:
        return ""
    block = config.blocks(config.oriented(call)).kb
    cut = f"k={call.k} is summed in blocks of {block}, which other sizes change"
    return f"rows of a part of A may get other bits: {cut}: {REMEDY}"
