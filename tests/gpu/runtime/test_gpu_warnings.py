"""NVIDIA's OpenCL compiler prints "1 warning generated." on the user's terminal, past all logs: no kernel makes it warn.

What it was told before in a process stays with it: after a build with "-w" it is silent about others. So each test asks it in a
process of its own, which runs this file.
"""

import json
import subprocess
import sys
from uuid import uuid4

from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import Step, render
from tilewright.core.plan import Plan
from tilewright.core.precision import PRECISIONS
from tilewright.core.problem import Copy, Gemm, Transpose
from tilewright.core.types import ELEMENT_TYPES, storable
from tilewright.dispatch.choice import plan_copy, plan_product
from tilewright.errors import Unsupported
from tilewright.runtime.opencl.device import Device, open_device

SIDES = (
    (1, 4096, 4096), (4096, 3, 1000), (64, 72, 4096), (511, 515, 1031), (2048, 2048, 512), (128, 128, 128), (4096, 4096, 4096)
)  # fmt: skip
RECTANGLES = ((1000, 1001), (1024, 1024))
CLANGS = "warning: "  # as clang writes it; "Warning: " is another part's note on kernels that are inlined
WARNS = '#warning "found"\nkernel void test(global int* a, const int b) { a[0] = b; }'


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
    """A launch of every program of these plans, by its text: a kernel may warn in one configuration alone."""
    plans = (plan for dtype in ELEMENT_TYPES for plan in plans_of(dtype, device))
    steps = (step for plan in plans for step in plan.steps)
    return {render(step.kernel, step.config, step.problem): step for step in steps}


def log_of(device: Device, source: str, name: str, options: tuple[str, ...] = ()) -> str:
    """The compiler's log of a text that the driver has never seen: of one that it knows it keeps none."""
    return device.ptx(f"// {uuid4()}\n{source}", name, options)[1]


def main() -> None:
    """The child: prints the logs of the kernels, or of a text that warns, as JSON."""
    device = open_device(sys.argv[2])
    if sys.argv[1] == "warns":
        logs = {"test": log_of(device, WARNS, "test")}
    else:
        logs = {
            f"{step.kernel.name} {step.config}": log_of(device, text, step.kernel.name, step.kernel.options)
            for text, step in steps_of(device.info).items()
        }
    print(json.dumps(logs))


def asked(what: str, device: Device) -> tuple[dict[str, str], str]:
    """The logs, and what was printed beside them."""
    child = subprocess.run([sys.executable, __file__, what, device.info.label], capture_output=True, text=True)
    assert child.returncode == 0, child.stderr
    printed, _, logs = child.stdout.rstrip("\n").rpartition("\n")
    return json.loads(logs), printed + child.stderr


def test_no_kernel_makes_the_compiler_warn_or_print(nvidia: Device) -> None:
    logs, printed = asked("kernels", nvidia)
    assert not {name: log for name, log in logs.items() if CLANGS in log}
    assert printed == ""
    assert len(logs) > 50


def test_a_warning_is_found(nvidia: Device) -> None:
    """Where the test above looks: in the log and on the terminal."""
    logs, printed = asked("warns", nvidia)
    assert CLANGS in logs["test"]
    assert "warning generated" in printed


if __name__ == "__main__":
    main()
