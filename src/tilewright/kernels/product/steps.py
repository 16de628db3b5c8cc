"""The launches of a product: copies of operands, the kernel itself, and what adds up splits of K."""

from collections.abc import Iterator
from dataclasses import replace

from ...core.kernel import MOST_GROUPS, Config, Kernel, Step, Steps
from ...core.problem import Problem
from .call import GemmCall
from .config import PARTIAL, SEMAPHORES, SplitKConfig, TiledConfig
from .packing import across_k, packing
from .reduction import REDUCE, reduction
from .symmetric import mirrored


def split_k_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch for up to MOST_GROUPS matrices, or two with split-K."""
    assert isinstance(config, SplitKConfig)
    call = config.orientation(problem)
    return (*_steps(kernel, config, call), *mirrored(call))


def _steps(kernel: Kernel, config: SplitKConfig, call: GemmCall) -> Iterator[Step]:
    for first in range(0, max(call.batch, 1), MOST_GROUPS):
        part = call.batches(first, min(MOST_GROUPS, call.batch - first))
        yield from packing(part, config.packed(part), across_k)
        part = config.after_packing(part)
        chunk = config.chunk(part)
        if not chunk:
            yield Step(kernel, config, part, part.buffers)
            continue
        sums = part.with_split_k(chunk)
        yield Step(kernel, config, sums, _renamed(sums, C=PARTIAL, bias=PARTIAL))
        reduced = replace(part, k_chunk=chunk)
        yield Step(REDUCE, reduction(reduced.splits), reduced, reduced.buffers)


def _renamed(call: GemmCall, **names: str) -> tuple[tuple[str, str], ...]:
    return tuple({**dict(call.buffers), **names}.items())


def tiled_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch, after a copy of each operand that is packed, with scratch memory for tiles that are split."""
    assert isinstance(config, TiledConfig)
    plain, call = config.orientation(problem), config.oriented(problem)
    copies = packing(plain, config.packed(plain), config.place)
    completed = () if config.mirrors(call) else mirrored(plain)
    semaphores = config.semaphores(call)
    if not semaphores:  # then the kernel gets arguments that it does not use
        unused = {**dict(call.buffers), PARTIAL: "C", SEMAPHORES: "C"}
        return (*copies, Step(kernel, config, call, tuple(unused.items())), *completed)
    scratch = ((PARTIAL, config.partial_bytes(call)), (SEMAPHORES, 4 * semaphores))
    return (*copies, Step(kernel, config, call, call.buffers, scratch, (SEMAPHORES,)), *completed)
