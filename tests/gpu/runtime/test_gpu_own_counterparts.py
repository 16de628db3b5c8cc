"""On an NVIDIA GPU: usual kernels of users' own give by CUDA what they give by OpenCL."""

from pathlib import Path

import numpy as np
import pytest
from usual_kernels import BODIES, around

from tilewright.core.custom import custom_kernel
from tilewright.core.kernel import Dialect, NDRange, render
from tilewright.core.problem import Gemm
from tilewright.core.source import parse_signature
from tilewright.runtime.cuda.device import Device
from tilewright.runtime.opencl.device import Device as OpenCLDevice

ITEMS = 64
OF_A_GROUP = ("softmax", "layer norm", "conditions", "fences", "counts")
# Work-items of the others read what another writes, so they run one by one. NVIDIA's OpenCL has no atom_dec without a pragma.
COUNTS = """local uint t[64]; t[l] = 0; barrier(CLK_LOCAL_MEM_FENCE); atomic_inc(&t[u[l] & 63]);
barrier(CLK_LOCAL_MEM_FENCE); u[l] = t[l]; atomic_add(&n[0], 3); atomic_max(&n[1], (int)l);"""
VALUES = {"counts": COUNTS, **{name: body for name, body in BODIES.items() if name != "histogram"}}
LOOSE = ("softmax", "gelu")  # native functions and division differ between the compilers in their last bits


def operands(seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    n = generator.integers(-99, 99, 4 * ITEMS).astype(np.int32)
    u = generator.integers(0, 2**32, 4 * ITEMS).astype(np.uint32)
    o, x, d, h = (generator.normal(size=4 * ITEMS).astype(kind) for kind in ("f4", "f4", "f8", "f2"))
    return [o, x, n, u, d, h]


def results(
    device: Device | OpenCLDevice, dialect: str, file: Path, arrays: list[np.ndarray], items: int
) -> list[np.ndarray]:
    kernel = custom_kernel(file, str(items), str(items))
    text = render(kernel, kernel.config, Gemm(1, 1, 1), dialect)
    launched = device.build(text, "own", parse_signature(file.read_text(), file.name), "float32").new_kernel()
    buffers = [device.allocate(array.nbytes) for array in arrays]
    for place, (buffer, array) in enumerate(zip(buffers, arrays, strict=True)):
        device.write(buffer, array)
        launched.set_arg(place, buffer)
    device.launch(launched, NDRange((items,), (items,)), file.name)
    device.finish(file.name)
    return [device.read(buffer, len(array), array.dtype) for buffer, array in zip(buffers, arrays, strict=True)]


@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_opencl(name: str, nvidia: OpenCLDevice, cuda: Device, tmp_path: Path) -> None:
    file = tmp_path / "own.cl"
    file.write_text(around(VALUES[name]))
    together = name in OF_A_GROUP
    written = False
    for seed in range(3 if together else 24):
        arrays = operands(seed)
        of_opencl, of_cuda = (
            results(device, dialect, file, arrays, ITEMS if together else 1)
            for device, dialect in ((nvidia, Dialect.OPENCL), (cuda, Dialect.CUDA))
        )
        tolerance = 2e-6 if name in LOOSE else 1e-6
        for given, expected, found in zip(arrays, of_opencl, of_cuda, strict=True):
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-7)
            written |= not np.array_equal(given, expected, equal_nan=True)
    assert written
