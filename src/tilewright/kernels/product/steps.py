"""The launches of a product whose K may be cut into pieces that a launch of its own adds up."""

from collections.abc import Iterator
from dataclasses import replace

from ...core.kernel import MOST_GROUPS, Config, Kernel, Step, Steps
from ...core.problem import Problem
from .call import GemmCall
from .config import PARTIAL, GemmConfig
from .packing import across_k, packing
from .reduction import REDUCE, reduction


def gemm_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch for up to MOST_GROUPS matrices, or two with K in pieces."""
    assert isinstance(config, GemmConfig)
    return tuple(_steps(kernel, config, config.orientation(problem)))


def _steps(kernel: Kernel, config: GemmConfig, call: GemmCall) -> Iterator[Step]:
    for first in range(0, max(call.batch, 1), MOST_GROUPS):
        part = call.batches(first, min(MOST_GROUPS, call.batch - first))
        yield from packing(part, config.packed(part), across_k)
        part = config.after_packing(part)
        chunk = config.chunk(part)
        if not chunk:
            yield Step(kernel, config, part, part.buffers)
            continue
        pieces = part.in_pieces(chunk)
        yield Step(kernel, config, pieces, _renamed(pieces, C=PARTIAL, bias=PARTIAL))
        whole = replace(part, k_chunk=chunk)
        yield Step(REDUCE, reduction(whole.pieces), whole, whole.buffers)


def _renamed(call: GemmCall, **names: str) -> tuple[tuple[str, str], ...]:
    return tuple({**dict(call.buffers), **names}.items())
