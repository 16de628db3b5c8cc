"""Copies and transposes of strided, batched matrices for any GPU: the library's end of the ladder `transpose`."""

from dataclasses import replace
from pathlib import Path

from ...core.device import DeviceInfo
from ...core.kernel import MOST_GROUPS, Config, Kernel, Step, Steps
from ...core.problem import Problem
from ...core.types import ELEMENT_TYPES
from .configs import CopyConfig, StridedCopyConfig, TransposeConfig
from .copy_unaligned import CopyUnalignedConfig
from .strided_copy import StridedCopy, nearer_rows, strided_copy_of, width
from .transpose_unaligned import TransposeUnalignedConfig

__all__ = [
    "COPY",
    "COPY_UNALIGNED",
    "TRANSPOSE",
    "TRANSPOSE_UNALIGNED",
    "StridedCopy",
    "StridedCopyConfig",
    "candidates",
    "copy_steps",
    "nearer_rows",
    "nearest",
    "packing_steps",
    "strided_copy_of",
    "width",
]

HERE = Path(__file__).parent
GROUP = 256  # work-items of a group that every GPU takes


def copy_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch for up to MOST_GROUPS matrices."""
    assert isinstance(config, StridedCopyConfig)
    copy = config.oriented(problem)
    parts = range(0, max(copy.batch, 1), MOST_GROUPS)
    return tuple(Step(kernel, config, copy.batches(first, min(MOST_GROUPS, copy.batch - first))) for first in parts)


def _kernel(file: str, config: Config, *smaller: Config) -> Kernel:
    return Kernel(HERE / file, config, StridedCopy.operation, smaller, dtypes=tuple(ELEMENT_TYPES), steps=copy_steps)


COPY = _kernel("copy.cl", CopyConfig(), CopyConfig(32, 2))
TRANSPOSE = _kernel(
    "transpose.cl", TransposeConfig(1024, 512), TransposeConfig(1024, 256), TransposeConfig(128, 64, 128)
)
COPY_UNALIGNED = _kernel("copy_unaligned.cl", CopyUnalignedConfig(), CopyUnalignedConfig(32, 2))
TRANSPOSE_UNALIGNED = _kernel(
    "transpose_unaligned.cl", TransposeUnalignedConfig(256, 256), TransposeUnalignedConfig(128, 64)
)


def nearest(problem: Problem) -> Kernel:
    """The kernel that fits the layouts: a copy if both sides have neighbouring elements in the same direction, else a
    transpose; the one for an unaligned leading dimension where vectors do not fit."""
    copy = strided_copy_of(problem).output_by_rows
    if nearer_rows(copy.source, copy.rows, copy.columns):
        plain, anywhere = TRANSPOSE, TRANSPOSE_UNALIGNED
    else:
        plain, anywhere = COPY, COPY_UNALIGNED
    assert isinstance(anywhere.config, (TransposeUnalignedConfig, CopyUnalignedConfig))
    return plain if any(anywhere.config.refusals(copy)) else anywhere


def packing_steps(copy: StridedCopy, source: str, packed: str) -> Steps:
    """The launches that copy an operand from the buffer `source` into the scratch memory `packed`.

    They have one configuration for every GPU: steps are listed before the device is known.
    """
    kernel = nearest(copy)
    config = next(each for each in kernel.configs if isinstance(each, StridedCopyConfig) and each.items <= GROUP)
    buffers = (("input", source), ("output", packed))
    return tuple(replace(step, buffers=buffers) for step in copy_steps(kernel, config, copy))


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernels for a StridedCopy, or a core Copy or Transpose, ranked: `plan` takes the first whose constraints hold.

    COPY and TRANSPOSE take any strides.
    """
    first = nearest(problem)
    plain = (COPY, TRANSPOSE) if first in (COPY, COPY_UNALIGNED) else (TRANSPOSE, COPY)
    return tuple(replace(kernel, operation=problem.operation) for kernel in dict.fromkeys((first, *plain)))
