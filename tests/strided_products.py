"""Products of views in large buffers: computed by one kernel, judged by float64, with what lies around C."""

import numpy as np

from tilewright.core.kernel import Kernel
from tilewright.core.operands import Layout
from tilewright.core.plan import plan
from tilewright.core.problem import StridedGemm, random_array
from tilewright.core.types import FROM_ML_DTYPES, element_type
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import LoadedPlan

COARSE = {
    "float16": 2.0**-9,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-9,
    "float64": 1e-13,
    "complex128": 1e-13,
}
ELEMENTS = 60000  # of each buffer: room for the views


def check_strided(problem: StridedGemm, kernel: Kernel, device: Device) -> None:
    """Run a problem whose operands are views, on buffers filled here, and compare by the bound."""
    flat, exact = filled(problem), element_type(problem.dtype).exact
    for name, layout in zip("AB", problem.views, strict=False):
        outside = np.ones(ELEMENTS, bool)
        view(outside, layout, problem)[...] = False
        flat[name][outside] = 99 if exact else np.nan
    result = run_on(flat, problem, kernel, device)
    wide = np.complex128 if problem.dtype == "complex128" else np.int64 if exact else np.float64
    a, b, c = (view(flat[name], each, problem).astype(wide) for name, each in zip("ABC", problem.views, strict=True))
    if problem.conjugate_a:
        a = a.conj()
    if problem.conjugate_b:
        b = b.conj()
    expected = problem.alpha * (a @ b) + problem.beta * c
    size = np.abs(problem.alpha) * (np.abs(a) @ np.abs(b)) + np.abs(problem.beta * c) + 1
    if problem.bias:
        vector = flat["bias"][: problem.n if problem.bias == "row" else problem.m].astype(wide)
        expected = expected + (vector if problem.bias == "row" else vector[:, None])
    if problem.activation:
        expected = np.maximum(expected, 0)
    if exact:
        expected = expected.astype(np.int64).astype(flat["C"].dtype).astype(wide)  # modulo the width
    got = view(result, problem.views[2], problem).astype(wide)
    limit = 0 if exact else COARSE[problem.out_dtype or problem.dtype] * size
    assert (np.abs(got - expected) <= limit).all(), f"{kernel.name}: {problem}"
    outside = np.ones(ELEMENTS, bool)
    view(outside, problem.views[2], problem)[...] = False
    assert (result[outside] == flat["C"][outside]).all(), f"{kernel.name} wrote outside of C"


def filled(problem: StridedGemm) -> dict[str, np.ndarray]:
    """Random contents of all buffers; integers of C and bias so small that nothing wraps."""
    generator, result = np.random.default_rng(5), problem.out_dtype or problem.dtype
    kinds = {"A": problem.dtype, "B": problem.dtype, "C": result, "bias": result}
    flat = {name: random_array(generator, (ELEMENTS,), kind) for name, kind in kinds.items()}
    if element_type(problem.dtype).exact:
        most = min(1000, int(np.iinfo(flat["C"].dtype).max))
        flat |= {name: flat[name] % most for name in ("C", "bias")}
    return flat


def run_on(
    flat: dict[str, np.ndarray], problem: StridedGemm, kernel: Kernel, device: Device, elements: int = ELEMENTS
) -> np.ndarray:
    """What the buffer of C holds after the product."""
    found = plan([kernel], problem, device.info)
    buffers = {name: device.allocate(values.nbytes) for name, values in flat.items()}
    for name, nbytes in found.scratch.items():
        if name not in buffers:
            buffers[name] = device.allocate(nbytes)
            device.fill(buffers[name], 0, 0, nbytes)
    for name, values in flat.items():
        device.write(buffers[name], values)
    loaded = LoadedPlan(found, device)
    loaded.bind(buffers)
    loaded.enqueue()
    device.finish(problem.title)
    return device.read(buffers["C"], elements, flat["C"].dtype)


def view(flat: np.ndarray, layout: Layout, problem: StridedGemm) -> np.ndarray:
    """The matrices that a layout of `problem` finds in a buffer."""
    shapes = dict(
        zip(problem.views, ((problem.m, problem.k), (problem.k, problem.n), (problem.m, problem.n)), strict=True)
    )
    strides = tuple(stride * flat.itemsize for stride in (layout.batch, layout.row, layout.column))
    plain = (
        flat[layout.offset :].view(f"u{flat.itemsize}") if flat.dtype.name in FROM_ML_DTYPES else flat[layout.offset :]
    )
    seen = np.lib.stride_tricks.as_strided(
        plain, (problem.batch, *shapes[layout]), strides
    )  # knows NumPy's own types alone
    return seen.view(flat.dtype)
