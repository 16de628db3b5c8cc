"""One call that explains a kernel: what it does to memory, counted without a GPU, a driver or a compiler."""

from collections.abc import Mapping, Sequence

from .access import Explanation, Model, explain_kernel, find_model
from .access.explain import Groups
from .errors import InvalidInput
from .kernel import Config, Kernel
from .kernels import find_kernel
from .ladders import check_memory, make_problem
from .problem import Problem

DEFAULT_SIZES = {"gemm": (256, 256, 64), "transpose": (256, 256), "copy": (256, 256)}
SEQUENTIAL_SIZE = (32, 32, 32)  # where a single work-item does everything, every step of it is interpreted


def default_size(kernel: Kernel) -> tuple[int, ...]:
    """The size at which a kernel is explained if none is asked for: large enough for several work-groups."""
    sizes = DEFAULT_SIZES[kernel.operation]
    geometry = kernel.config.ndrange(make_problem(kernel, sizes, "float32"))
    return SEQUENTIAL_SIZE if max(geometry.global_size) == 1 else sizes


def check_explainable(problem: Problem) -> None:
    """InvalidInput for a problem without elements, for which nothing is launched, and for one that memory cannot hold."""
    if not all(each.elements for each in problem.operands):
        raise InvalidInput(f"{problem.title} is empty: nothing is launched, and so there is nothing to explain")
    check_memory(problem)


def explain(
    kernel: Kernel | str,
    size: int | Sequence[int] | None = None,
    *,
    dtype: str = "float32",
    offset: int = 0,
    model: Model | str = "nvidia",
    config: Config | None = None,
    macros: Mapping[str, str | int] | None = None,
    pitches: Mapping[str, int] | None = None,
    groups: Groups = None,
) -> Explanation:
    """What `kernel` does to memory: its sectors, bank conflicts, races and other faults. `print` it to read it.

    `kernel` is a rung's name ("transpose/05") or a Kernel (`custom_kernel` makes one of your own file). `size` is (m, n, k)
    or (rows, columns), or one number for a square; 256 x 256 x 64 or 256 x 256 if left out (32 x 32 x 32 for the kernels
    of a single work-item). `model` names the hardware whose rules count: "nvidia" (verified on an H200), "amd64", "amd32",
    "intel8", "intel16" or "gt200".

    What if: `config` and `macros` replace the kernel's own, `pitches` the row lengths, in elements, of local arrays.
    `groups` are the work-groups to run: a list of (x, y, z), "all", or None for all if that takes about half a second at
    most, else for those at the ends, in the middle and some others. Of a kernel with several launches the last is
    explained; `access.explain_kernel` gives them all.

    UnknownName for a kernel, model, macro or array that there is not; SourceError, with file, line and column, for what
    the front end cannot read.

    >>> found = explain("transpose/05", pitches={"tile": 16})
    >>> [(each.position.line, each.operation, each.degree) for each in found.accesses if each.is_local]
    [(23, 'store', 1.0), (30, 'load', 8.0)]
    """
    chosen = find_kernel(kernel) if isinstance(kernel, str) else kernel
    sizes = default_size(chosen) if size is None else (size,) if isinstance(size, int) else size
    problem = make_problem(chosen, sizes, dtype, offset)
    check_explainable(problem)
    return explain_kernel(
        chosen,
        problem,
        config=config,
        model=find_model(model) if isinstance(model, str) else model,
        groups=groups,
        macros=macros,
        pitches=pitches,
    )[-1]
