"""Products of A times its own transpose by a kernel of one's choice, run and checked."""

import numpy as np
import pytest

from tilewright.core.kernel import Kernel
from tilewright.core.operands import Layout
from tilewright.core.plan import plan
from tilewright.core.problem import StridedGemm
from tilewright.core.types import element_type, numpy_dtype
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import LoadedPlan


def symmetric(n: int, k: int, dtype: str = "float32", batch: int = 1, order: str = "row") -> StridedGemm:
    a = Layout(0, k, 1, n * k) if order == "row" else Layout(0, 1, n, n * k)
    return StridedGemm(n, n, k, dtype, batch=batch, views=(a, a.swapped, Layout(0, n, 1, n * n)), symmetric=True)


def check_symmetric(kernel: Kernel, problem: StridedGemm, device: Device) -> None:
    """Twice, with what the first run left: bitwise symmetric, and right."""
    if problem.dtype == "float64" and not device.info.fp64:
        pytest.skip(f"{device.info.label} has no double precision")
    generator, dtype = np.random.default_rng(3), numpy_dtype(problem.dtype)
    shape = (problem.batch, problem.m, problem.k)
    integers = dtype.kind in "iu"
    a = (generator.integers(0, 99, shape) if integers else generator.standard_normal(shape)).astype(dtype)
    memory = a if problem.views[0].column == 1 else np.ascontiguousarray(a.swapaxes(1, 2))
    c = np.full((problem.batch, problem.m, problem.m), 7 if integers else np.nan, dtype)
    made = plan([kernel], problem, device.info)
    buffers = {"A": device.allocate(memory.nbytes), "C": device.allocate(c.nbytes)}
    buffers |= {"B": buffers["A"], "bias": buffers["C"]}
    device.write(buffers["A"], memory)
    device.write(buffers["C"], c)
    for name, nbytes in made.scratch.items():
        buffers[name] = device.zeroed(nbytes) if name in made.zeroed else device.allocate(nbytes)
    loaded = LoadedPlan(made, device)
    loaded.bind(buffers)
    for _ in range(2):
        loaded.enqueue()
        got = device.read(buffers["C"], c.size, dtype).reshape(c.shape)
        assert got.tobytes() == np.ascontiguousarray(got.swapaxes(1, 2)).tobytes(), f"{kernel.config} {problem.title}"
        wide = a.astype(np.int64 if integers else np.float64)
        expected = wide @ wide.swapaxes(1, 2)
        expected = expected.astype(dtype) if integers else expected  # modulo the width of the type
        rounding = 2.0 ** -element_type(problem.dtype).fraction if dtype.itemsize < 4 else 0
        allowed = 0 if integers else 1e-4 + rounding * np.abs(expected)
        assert (np.abs(got.astype(expected.dtype) - expected) <= allowed).all(), f"{kernel.config} {problem.title}"


def laid_out(a: np.ndarray) -> dict[str, np.ndarray]:
    """The matrices of `a` in layouts that a BLAS reads, cannot read, or that are converted first; the plain one comes first."""
    twice = np.repeat(np.repeat(a, 2, -2), 2, -1)
    shifted = np.zeros(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape)
    shifted[...] = a
    return {
        "plain": a, "gaps": twice[..., ::2, ::2], "rows": twice[..., ::2, : a.shape[-1]], "reversed": a[..., ::-1, ::-1],
        "unaligned": shifted, "foreign": a.astype(a.dtype.newbyteorder("S")),
    }  # fmt: skip


def is_mirrored(result: np.ndarray) -> bool:
    """Whether matrices equal their transposes to the last bit."""
    return bool(np.array_equal(result, result.swapaxes(-1, -2)))
