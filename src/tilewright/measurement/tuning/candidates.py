"""The candidates that tuning measures for a problem: the cost model's choice, then the best of every family."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from ...core.device import DeviceInfo
from ...core.kernel import Kernel
from ...core.plan import violations
from ...core.problem import Gemm
from ...dispatch.choice import product_candidates

# Candidates are alike if they differ only in split-K, stream-K, transposed operands or the even/odd row split.
MOST_ALIKE = 2
ALIKE = {"split_k", "tail_split", "stream_k", "transpose", "even_odd_rows"}


def name_of(kernel: Kernel, without: Collection[str] = ()) -> str:
    """What names a candidate to child processes: the kernel and its configuration's key, `without` some of its fields."""
    fields = (f"{name}={value}" for name, value in kernel.config.key.items() if name not in without)
    return f"{kernel.name} ({' '.join(fields)})"


def tuning_candidates(problem: Gemm, info: DeviceInfo, skip: Sequence[str] = ()) -> Iterator[Kernel]:
    """The candidates whose constraints all hold, without those whose names are in `skip`.

    The first is the cost models' choice, as the library runs it where a table has settled the problem. Then follow two of its
    family for one of each other family, the most promising first.
    """
    ranked = (each for each in product_candidates(problem, info) if _fits(each, problem, info, skip))
    own = next(ranked, None)
    if own is None:
        return
    yield own
    families: dict[Path, list[Kernel]] = {}
    seen, alike = {name_of(own)}, Counter((name_of(own, ALIKE),))
    for kernel in product_candidates(problem, info):
        name, shape = name_of(kernel), name_of(kernel, ALIKE)
        if name in seen or alike[shape] >= MOST_ALIKE or not _fits(kernel, problem, info, skip):
            continue
        seen.add(name)
        alike[shape] += 1
        families.setdefault(kernel.source.parent, []).append(kernel)
    queues = {folder: iter(kernels) for folder, kernels in families.items()}
    turns = [folder for folder in queues for _ in range(1 + (folder == own.source.parent))]
    for _ in range(max(map(len, families.values()), default=0)):
        yield from (each for folder in turns if (each := next(queues[folder], None)) is not None)


def _fits(kernel: Kernel, problem: Gemm, info: DeviceInfo, skip: Sequence[str]) -> bool:
    return name_of(kernel) not in skip and not any(violations(kernel, kernel.config, problem, info))
