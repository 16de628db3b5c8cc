"""NVIDIA's OpenCL compiler prints "1 warning generated." on the user's terminal, past all logs: no kernel makes it warn."""

from uuid import uuid4

import pytest

from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import Step, render
from tilewright.core.plan import Plan
from tilewright.core.precision import PRECISIONS
from tilewright.core.problem import Copy, Gemm, Transpose
from tilewright.core.types import ELEMENT_TYPES, storable
from tilewright.dispatch.choice import plan_copy, plan_product
from tilewright.errors import Unsupported
from tilewright.runtime.opencl.device import Device

SIDES = ((1, 4096, 4096), (4096, 3, 1000), (64, 72, 4096), (511, 515, 1031), (2048, 2048, 512), (128, 128, 128))
RECTANGLES = ((1000, 1001), (1024, 1024))
CLANGS = "warning: "  # as clang writes it; "Warning: " is another part's note on kernels that are inlined


def plans_of(dtype: str, device: DeviceInfo) -> list[Plan]:
    result, plans = dtype if dtype in storable(dtype) else "float32", []
    for precision in ("", *(name for name, dtypes in PRECISIONS.items() if dtype in dtypes)):
        for m, n, k in SIDES:
            problem = Gemm(m, n, k, dtype, out_dtype=result, precision=precision)
            try:
                plans.append(plan_product(problem, device))
            except Unsupported:
                continue
    return plans + [plan_copy(kind(*sides, dtype), device) for kind in (Copy, Transpose) for sides in RECTANGLES]


def steps_of(device: DeviceInfo) -> dict[str, Step]:
    """A launch of every kernel that the library runs on this device."""
    plans = (plan for dtype in ELEMENT_TYPES for plan in plans_of(dtype, device))
    return {step.kernel.name: step for plan in plans for step in plan.steps}


def fresh(source: str) -> str:
    """The text as the driver has never seen it: of one that it knows it keeps no log."""
    return f"// {uuid4()}\n{source}"


def test_no_kernel_makes_the_compiler_warn_or_print(nvidia: Device, capfd: pytest.CaptureFixture[str]) -> None:
    steps = steps_of(nvidia.info)
    capfd.readouterr()
    logs = {
        name: nvidia.ptx(fresh(render(step.kernel, step.config, step.problem)), name, step.kernel.options)[1]
        for name, step in steps.items()
    }
    assert tuple(capfd.readouterr()) == ("", "")
    assert not {name: log for name, log in logs.items() if CLANGS in log}
    assert len(logs) > 10


def test_a_warning_is_found(nvidia: Device, capfd: pytest.CaptureFixture[str]) -> None:
    """In the log or on the terminal, where the test above looks."""
    source = '#warning "found"\nkernel void test(global int* a, const int b) { a[0] = b; }'
    capfd.readouterr()
    log = nvidia.ptx(fresh(source), "test")[1]
    assert CLANGS in log or "warning generated" in "".join(capfd.readouterr())
