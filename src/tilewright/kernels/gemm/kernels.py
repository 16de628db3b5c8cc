"""The kernels of this folder as Kernel objects, and the launches that each needs."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ...dtypes import ELEMENT_TYPES
from ...kernel import Config, Kernel, Step, Steps
from ...problem import Problem
from .call import GemmCall
from .configs import ColumnsConfig, GemmConfig, ReduceConfig, RowsConfig, TileConfig

HERE = Path(__file__).parent
MAX_BATCH = 65535  # work-groups in dimension 2 that every driver takes: the limit of NVIDIA's
PARTIAL = "partial"  # the scratch buffer of split-K


def gemm_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch for up to MAX_BATCH matrices, or two with K in pieces."""
    assert isinstance(config, GemmConfig)
    return tuple(_steps(kernel, config, config.oriented(problem)))


def _steps(kernel: Kernel, config: GemmConfig, call: GemmCall) -> Iterator[Step]:
    for first in range(0, max(call.batch, 1), MAX_BATCH):
        part = call.batches(first, min(MAX_BATCH, call.batch - first))
        chunk = config.chunk(call)
        if not chunk:
            yield Step(kernel, config, part, part.buffers)
            continue
        pieces = part.in_pieces(chunk)
        names = tuple((name, each) for name, each in pieces.buffers if name not in ("C", "bias"))
        yield Step(kernel, config, pieces, (*names, ("C", PARTIAL), ("bias", PARTIAL)))
        whole = replace(part, k_chunk=chunk)
        names = tuple((name, each) for name, each in part.buffers if name not in ("A", "B"))
        yield Step(REDUCE, ReduceConfig(), whole, names)


def _kernel(file: str, config: Config) -> Kernel:
    return Kernel(HERE / file, config, dtypes=tuple(ELEMENT_TYPES), steps=gemm_steps)


TILES = _kernel("gemm.cl", TileConfig(128, 128, 8, 8, 8))
ROWS = _kernel("gemv_rows.cl", RowsConfig())
COLUMNS = _kernel("gemv_columns.cl", ColumnsConfig())
REDUCE = Kernel(HERE / "reduce.cl", ReduceConfig(), dtypes=tuple(ELEMENT_TYPES))
