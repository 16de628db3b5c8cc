"""Whether a plan's product has the bits of one chain of fused multiply-adds, as reproducible products promise."""

import numpy as np

from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import Kernel
from tilewright.core.plan import Plan, plan
from tilewright.core.problem import Gemm
from tilewright.core.types import numpy_dtype
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import LoadedPlan
from tools.reproducible.cases import Case
from tools.reproducible.oracle import bits, expected

EPILOGUES = ((1.0, 0.0), (0.7, -1.3))  # alpha and beta


def plain(a: np.ndarray, b: np.ndarray) -> Case:
    """A B alone."""
    return Case(0, a.dtype.name, a, b, np.zeros((a.shape[0], b.shape[1]), a.dtype), 1.0, 0.0, None, None)


def has_promised_bits(found: Plan, device: Device, seed: int = 0) -> bool:
    """Of a plan for a product of single matrices."""
    problem = found.problem
    assert isinstance(problem, Gemm)
    random = np.random.default_rng(seed)
    a, b, c = (
        random.normal(size=shape).astype(numpy_dtype(problem.dtype))
        for shape in ((problem.m, problem.k), (problem.k, problem.n), (problem.m, problem.n))
    )
    result = run_with_c(found, {"A": a, "B": b, "C": c}, device)
    alpha, beta = problem.alpha.real, problem.beta.real
    return bits(result) == bits(expected(Case(0, problem.dtype, a, b, c, alpha, beta, None, None), device.queue))


def run_with_c(found: Plan, arrays: dict[str, np.ndarray], device: Device) -> np.ndarray:
    """The product, where C holds what beta multiplies."""
    buffers = {name: device.allocate(values.nbytes) for name, values in arrays.items()}
    for name, values in arrays.items():
        device.write(buffers[name], values)
    scratch = {name: device.allocate(nbytes) for name, nbytes in found.scratch.items()}
    loaded = LoadedPlan(found, device)
    loaded.bind({"bias": buffers["C"], **buffers, **scratch})
    loaded.enqueue()
    device.finish(found.problem.title)
    c = arrays["C"]
    return device.read(buffers["C"], c.size, c.dtype).reshape(c.shape)


def kernel_has_promised_bits(kernel: Kernel, problem: Gemm, info: DeviceInfo, device: Device) -> bool:
    """Of one kernel, as if the device were another."""
    return has_promised_bits(plan([kernel], problem, info), device)
