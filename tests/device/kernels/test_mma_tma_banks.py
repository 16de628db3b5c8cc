"""Where mma/main_loop_tma.cl's work-items look for their doubles: what TMA put there, and no bank twice."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.core.includes import with_includes
from tilewright.core.kernel import Dialect, Kernel, NDRange, render
from tilewright.core.problem import Gemm
from tilewright.core.source import read_source, without_comments
from tilewright.kernels.product.mma.config_tma import MmaTmaConfig
from tilewright.kernels.product.mma.kernels import COMPLEX128_TMA, FP64_TMA
from tilewright.runtime.opencl.device import Device

# Every read of eight rows number 0 to 3: by each work-item, of each of its four doubles. Panels hold their own addresses.
PROBE = """
__kernel void product(__global double* out)
{
    __local double panel[64 * 16];
    const int lane = get_local_id(0);
    for (int i = lane; i < 64 * 16; i += 32)
        panel[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int octet = 0; octet < 4; octet++)
        for (int slot = 0; slot < 4; slot++)
            out[(octet * 4 + slot) * 32 + lane] =
                panel_double((const __local uchar*)panel, first_place(SIDE_ACROSS, lane), SIDE_ACROSS, octet, slot);
}
"""
INSTRUCTIONS = ("mma_sync", "cp_async", "mbarrier", "tensormap")


@dataclass(frozen=True)
class Probe(MmaTmaConfig):
    """One warp, with the macros of main_loop_tma.cl."""

    SIDE_ACROSS: int = 0

    def ndrange(self, problem: object) -> NDRange:
        return NDRange((32,), (32,))


def own_functions(kernel: Kernel) -> str:
    """main_loop_tma.cl up to the function that reads one double."""
    text = without_comments(with_includes(read_source(kernel.source), kernel.source, {}))
    end = text.index("INLINE void read_a(")
    assert not any(f"{word}_" in text[:end].partition("#define WARPS")[2] for word in INSTRUCTIONS)
    return text[:end]


def places(kernel: Kernel, across: bool, device: Device, folder: Path) -> np.ndarray:
    """Which double of a panel work-item `lane` reads of eight rows: an array [octet, slot, lane]."""
    path = folder / "main_loop_tma.cl"
    path.write_text(own_functions(kernel) + PROBE)
    config = Probe(**{**vars(kernel.config), "SIDE_ACROSS": int(across)})
    own = replace(kernel, source=path, config=config, requires=(), target="")
    problem = Gemm(128, 128, 64, kernel.dtypes[0])
    source = render(own, config, problem, Dialect.OPENCL)
    program = device.build(source, own.name, own.signature, "float64")
    out, bound = device.allocate(16 * 32 * 8), program.new_kernel()
    bound.set_arg(0, out)
    device.launch(bound, config.ndrange(problem), own.name)
    device.finish(own.name)
    return device.read(out, 16 * 32, np.dtype(np.float64)).astype(int).reshape(4, 4, 32)


def fetched_panel(rows: int, parts: int, across: bool) -> np.ndarray:
    """What TMA leaves of a matrix of `rows` rows whose double number d of row r is (r, d): lines of 16, whose
    pieces of two are exchanged within eight lines."""
    depth = 16 // parts
    if across:
        boxes = [[(box * depth + e // parts, k * parts + e % parts) for e in range(16)]
                 for box in range(rows // depth) for k in range(depth)]  # fmt: skip
    else:
        boxes = [[(row, d) for d in range(16)] for row in range(rows)]
    panel = np.zeros((rows * 16, 2), int)
    for number, line in enumerate(boxes):
        for place, element in enumerate(line):
            panel[number * 16 + (place // 2 ^ number % 8) * 2 + place % 2] = element
    return panel


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("kernel", [FP64_TMA, COMPLEX128_TMA], ids=lambda kernel: kernel.name)
def test_reads_are_complete_and_meet_every_bank_once(
    kernel: Kernel, across: bool, device: Device, tmp_path: Path
) -> None:
    if not device.info.fp64:
        pytest.skip(f"{device.info.label} has no double precision")
    read = places(kernel, across, device, tmp_path)
    panel = fetched_panel(32, 2 if kernel is COMPLEX128_TMA else 1, across)
    for octet in range(4):
        for slot in range(4):
            rows, _ = panel[read[octet, slot]].T
            assert (rows == octet * 8 + np.arange(32) // 4).all()  # lane 4 g + q: row g
            for half in np.split(read[octet, slot] % 16, 2):
                assert len(set(half)) == 16, "two of 16 work-items meet in a bank"
        depths = panel[read[octet]][..., 1].reshape(4, 8, 4)  # [slot, g, q]
        assert (depths == depths[:, :1]).all(), "k does not depend on the row"
        assert sorted(depths[:, 0].flat) == list(range(16))


@pytest.mark.parametrize("kernel", [FP64_TMA, COMPLEX128_TMA], ids=lambda kernel: kernel.name)
def test_both_directions_agree_on_k(kernel: Kernel, device: Device, tmp_path: Path) -> None:
    if not device.info.fp64:
        pytest.skip(f"{device.info.label} has no double precision")
    parts = 2 if kernel is COMPLEX128_TMA else 1
    found = [fetched_panel(32, parts, across)[places(kernel, across, device, tmp_path)] for across in (False, True)]
    assert (found[0] == found[1]).all()
    if parts == 2:  # a work-item's doubles are the two parts of a number, the imaginary one first where q is odd
        depths = found[0][0][..., 1]
        assert (depths[0::2] // 2 == depths[1::2] // 2).all()
        assert (depths[0::2] % 2 == np.arange(32) % 2).all()
