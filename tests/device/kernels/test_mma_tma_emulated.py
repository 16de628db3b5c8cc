"""mma/main_loop_tma.cl on every driver, with Hopper's instructions put into plain OpenCL C: its schedule, edges and sums.

All warps go in step here, and a panel is copied when they wait for it: what the barriers of a stage protect is not seen.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from emulation import MMA_TMA, NO_MAPS, emulated_text

from tilewright.core.kernel import Kernel, NDRange
from tilewright.core.plan import plan
from tilewright.core.problem import Gemm, Problem
from tilewright.kernels.product.mma.config_tma import MmaTmaConfig
from tilewright.kernels.product.mma.kernels import COMPLEX128_TMA, FP64_TMA
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.verify import verify

# Local memory, by which work-items exchange operands, and the work whose stage is filled next.
EDITS = (
    *NO_MAPS,
    ("INLINE int arrives_last(volatile", "INLINE int arrives_last(__local double* held, volatile"),
    ("(arrives_last(semaphores", "(arrives_last(held, semaphores"),
    ("shfl_sync_idx(arrived, 0)", "of_first(held, arrived)"),
    ("    __local uchar stages[", "    __local double held[ITEMS * 6];\n    __local uchar stages["),
    ("        int stage = 0;\n        uint parity = 0,",
     "        Work ahead = before_work(whole, tiles, steps);\n        int stage = 0;\n        uint parity = 0,"),
)  # fmt: skip


@dataclass(frozen=True)
class InStep(MmaTmaConfig):
    """Without the warps that fetch."""

    def ndrange(self, problem: Problem) -> NDRange:
        return NDRange((self.work_groups(self.oriented(problem)) * self.items,), (self.items,))

    def tensor_maps(self, problem: Problem) -> dict[str, object]:  # type: ignore[override]
        return {}


SMALL = InStep(64, 64, 2, 4, 2, GROUP_M=2, groups=3)


def emulated(kernel: Kernel, folder: Path) -> Kernel:
    """The kernel in a file of its own, that needs no feature."""
    path = folder / kernel.source.name
    path.write_text(emulated_text(kernel, MMA_TMA, EDITS))
    return replace(kernel, source=path, requires=(), target="")


def check(kernel: Kernel, config: InStep, problem: Gemm, device: Device, folder: Path) -> None:
    if not device.info.fp64:
        pytest.skip(f"{device.info.label} has no double precision")
    found = plan([replace(emulated(kernel, folder), config=config)], problem, device.info)
    verdict = verify(found, device)
    assert verdict.passed, (
        f"{config} {problem.title} {problem.a_order} {problem.b_order} on {device.info.label}: {verdict}"
    )


@pytest.mark.parametrize("b_order", ["row", "column"])
@pytest.mark.parametrize("a_order", ["row", "column"])
@pytest.mark.parametrize("kernel", [FP64_TMA, COMPLEX128_TMA], ids=lambda kernel: kernel.name)
def test_layouts_and_edges(kernel: Kernel, a_order: str, b_order: str, device: Device, tmp_path: Path) -> None:
    problem = Gemm(70, 36, 34, kernel.dtypes[0], a_order, b_order, batch=2)
    check(kernel, SMALL, problem, device, tmp_path)


def test_tiles_that_are_shared_out(device: Device, tmp_path: Path) -> None:
    config = replace(SMALL, groups=5, stream_k=True)
    check(FP64_TMA, config, Gemm(64, 64, 400, "float64"), device, tmp_path)
    check(FP64_TMA, replace(config, STAGES=3), Gemm(130, 66, 100, "float64", c_order="column"), device, tmp_path)
    check(COMPLEX128_TMA, replace(SMALL, groups=5, stream_k=True), Gemm(64, 40, 150, "complex128"), device, tmp_path)


def test_operands_that_are_packed(device: Device, tmp_path: Path) -> None:
    """They lie along k then, with room at the end of each row: here as many doubles as a panel takes."""
    found = replace(SMALL, pack=True)
    problem = Gemm(65, 33, 16, "float64", a_order="column", b_order="column")
    assert found.packed(found.orientation(problem)) == ("A",)
    check(FP64_TMA, found, problem, device, tmp_path)
