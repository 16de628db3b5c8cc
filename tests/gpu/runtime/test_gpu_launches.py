"""Launches that begin early, on an NVIDIA GPU: chains of dependent products, and a control that shows that they could fail."""

import re
from typing import Any

import numpy as np
import pytest

from tilewright import matmul
from tilewright.core.kernel import NDRange
from tilewright.core.source import Parameter, Signature
from tilewright.runtime.cuda import device as device_module
from tilewright.runtime.cuda.compilers import NvrtcCompiler
from tilewright.runtime.cuda.dependent import FIRST_ARCHITECTURE, WAIT, dependent
from tilewright.runtime.cuda.device import Device
from tilewright.runtime.cuda.information import architecture

STEPS = 60
# Batch, rows, side: one wave and many, vectors, batches, unaligned sides; the last two have parts of K added up by their groups.
CHAINS = [(1, 128, 128), (1, 512, 512), (1, 1, 4096), (1, 64, 2048), (256, 64, 64), (4000, 31, 31), (1, 509, 509),
          (1, 16, 4096), (1, 1021, 1021)]  # fmt: skip
HOWS = ("stream", "side stream", "graph", "mixed")

TURNS = 20000  # of a load from the L2 cache each: some milliseconds, while a launch takes microseconds
SLOW = """extern "C" __global__ void slow(volatile int* flag, const int turns, const int value)
{
    int seen = 0;
    for (int turn = 0; turn < turns; turn++)
        seen |= flag[1];
    flag[0] = value + seen;
}
"""
TINY = """extern "C" __global__ void tiny(const volatile int* flag, int* copy)
{
    copy[0] = flag[0];
}
"""


@pytest.fixture
def torch() -> Any:
    found = pytest.importorskip("torch")
    if not found.cuda.is_available():
        pytest.skip("PyTorch has no GPU here")
    return found


@pytest.fixture
def early(cuda: Device) -> Device:
    """A device of its own, which loads its programs anew."""
    if (cuda.info.compute_capability or (0, 0)) < (FIRST_ARCHITECTURE // 10, 0):
        pytest.skip("kernels begin early since sm_90")
    return Device(cuda.info, NvrtcCompiler(architecture(cuda.info.compute_capability), as_ptx=True))


def copies(device: Device) -> list[int]:
    """What the tiny kernel read behind the slow one, eight times: the right values are 1 to 8."""
    flag, copy, one = device.zeroed(8), device.zeroed(4 * 8), NDRange((1,), (1,))
    pointer, numbers = Parameter("flag", "int", "global"), (Parameter("turns", "int"), Parameter("value", "int"))
    slow = device.build(SLOW, "slow", Signature("slow", (pointer, *numbers)), "int32").new_kernel()
    both = (pointer, Parameter("copy", "int", "global"))
    tiny = device.build(TINY, "tiny", Signature("tiny", both), "int32").new_kernel()
    slow.set_arg(0, flag)
    slow.set_arg(1, np.int32(TURNS))
    tiny.set_arg(0, flag)
    for value in range(1, 9):
        slow.set_arg(2, np.int32(value))
        tiny.set_arg(1, device.part(copy, 4 * (value - 1), 4))
        device.launch(slow, one, "slow", device.stream)
        device.launch(tiny, one, "tiny", device.stream)
    device.finish("the copies")
    return [int(each) for each in device.read(copy, 8, np.dtype(np.int32))]


def test_a_kernel_behind_a_slow_one_reads_what_that_wrote(early: Device) -> None:
    assert copies(early) == [*range(1, 9)]


def test_without_the_wait_it_reads_too_early(early: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsafe(ptx: str) -> str | None:
        found = dependent(ptx)
        return None if found is None else re.sub(re.escape(WAIT), "", found)

    monkeypatch.setattr(device_module, "dependent", unsafe)
    assert copies(early) != [*range(1, 9)]


def permuted(torch: Any, dtype: str, batch: int, rows: int, side: int) -> tuple[Any, Any, Any]:
    """A first matrix of small integers, a permutation matrix, and the order of columns of their product, which is exact."""
    own, stack = getattr(torch, dtype), (batch,) if batch > 1 else ()
    order = torch.randperm(side, device="cuda")
    right = torch.zeros((side, side), device="cuda", dtype=own)
    right[order, torch.arange(side, device="cuda")] = 1
    first = torch.randint(-8, 9, (*stack, rows, side), device="cuda").to(own)
    return first, right.expand(*stack, side, side).contiguous(), order


def run_chain(torch: Any, first: Any, right: Any, targets: list[Any], how: str) -> Any:
    """STEPS products, each of the one before. Mixed: some by PyTorch, some on another stream, some behind a copy."""
    now, other, main = first, torch.cuda.Stream(), torch.cuda.current_stream()
    for step in range(STEPS):
        out = targets[step % 2]
        if how == "mixed" and step % 3 == 1:
            torch.matmul(now, right, out=out)
        elif how == "mixed" and step % 7 == 3:
            other.wait_stream(main)
            with torch.cuda.stream(other):
                matmul(now, right, out)
            main.wait_stream(other)
        else:
            matmul(now, right, out)
        if how == "mixed" and step % 5 == 2:
            out.copy_(out.clone())
        now = out
    return now


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("sizes", CHAINS, ids=str)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_chains_of_dependent_products_are_right(dtype: str, sizes: tuple[int, int, int], how: str, torch: Any) -> None:
    first, right, order = permuted(torch, dtype, *sizes)
    wanted = torch.arange(first.shape[-1], device="cuda")
    for _ in range(STEPS):
        wanted = wanted[order]
    targets = [torch.full_like(first, float("nan")) for _ in range(2)]
    matmul(first, right, targets[0])
    torch.cuda.synchronize()
    if how == "graph":
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            last = run_chain(torch, first, right, targets, how)
        for _ in range(3):
            for each in targets:
                each.fill_(float("nan"))
            graph.replay()
            assert torch.equal(last, first[..., wanted])
        return
    side = torch.cuda.Stream() if how == "side stream" else torch.cuda.current_stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        last = run_chain(torch, first, right, targets, how)
    torch.cuda.current_stream().wait_stream(side)
    assert torch.equal(last, first[..., wanted])
