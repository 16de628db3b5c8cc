"""What the claims are judged by: counts of `explain` for the kernel of a source, by the rules of one device."""

from dataclasses import dataclass
from functools import cache

from tilewright.analysis.explain.explanation import Explanation
from tilewright.analysis.explain.models import find_model
from tilewright.analysis.explain.plans import explain_kernel
from tilewright.analysis.explain.profile import LineAccess
from tilewright.analysis.explain.totals import Totals, totals
from tilewright.core.kernel import Kernel
from tilewright.core.problem import Copy, Gemm, Problem, Transpose
from tilewright.kernels import find_kernel

PRODUCT = (256, 256, 64)
MATRIX = (256, 256)
Macros = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Judgement:
    """`holds` is "true", "false" or "in part"."""

    holds: str
    because: str


def judged(holds: bool, because: str, in_part: bool = False) -> Judgement:
    return Judgement(("in part" if in_part else "true") if holds else "false", because)


def problem_of(kernel: Kernel, product: tuple[int, int, int] = PRODUCT) -> Problem:
    """The problem of the page that a kernel solves."""
    if kernel.operation == "gemm":
        return Gemm(*product, "float32", *kernel.orders)
    return (Copy if kernel.operation == "copy" else Transpose)(*MATRIX, "float32")


@cache
def explained(name: str, model: str = "nvidia", macros: Macros = ()) -> Explanation:
    """A kernel's own launch at the size of the page."""
    kernel = find_kernel(name)
    return explain_kernel(kernel, problem_of(kernel), model=find_model(model), macros=dict(macros))[-1]


def sums(name: str, model: str, macros: Macros = ()) -> Totals:
    return totals(explained(name, model, macros))


def accesses(explanation: Explanation, buffer: str, operation: str = "") -> list[LineAccess]:
    """The accesses of one buffer, or those of one operation among them."""
    return [each for each in explanation.accesses if each.buffer == buffer and operation in ("", each.operation)]


def per_request(explanation: Explanation, buffer: str, operation: str = "load") -> float:
    """Sectors or wavefronts of a request, on average."""
    chosen = accesses(explanation, buffer, operation)
    return sum(each.cost for each in chosen) / sum(each.requests for each in chosen)


def is_ideal(explanation: Explanation, buffer: str, operation: str = "load") -> bool:
    """Whether each request moves no more sectors than its bytes need."""
    return all(each.cost == each.ideal for each in accesses(explanation, buffer, operation))


def requests(explanation: Explanation, buffer: str) -> int:
    """Requests to a buffer, of all work-groups."""
    factor = explanation.group_count / len(explanation.groups)
    return round(factor * sum(each.requests for each in accesses(explanation, buffer)))


def sectors(explanation: Explanation, buffer: str) -> int:
    """Sectors of a buffer, of all work-groups."""
    factor = explanation.group_count / len(explanation.groups)
    return round(factor * sum(each.cost for each in accesses(explanation, buffer)))


def local_reads_per_product(name: str, model: str) -> float:
    """Requests to local memory for each multiply-add of a whole sub-group."""
    m, n, k = PRODUCT
    return sums(name, model).local_load_requests / (m * n * k / find_model(model).lanes)
