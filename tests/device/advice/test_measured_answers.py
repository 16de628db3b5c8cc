"""`why` on a device: a kernel is verified and measured, its machine code is read, and a wrong one gets its cause."""

from pathlib import Path

from faulty import STORE, MakeKernel
from says import says

import tilewright
from tilewright.advice.answer import report
from tilewright.core.custom import custom_kernel
from tilewright.runtime.opencl.device import Device

EXAMPLE = Path(__file__).parents[3] / "examples" / "my_gemm.cl"


def test_a_kernel_of_the_users_own_is_answered(one_device: Device, tmp_path: Path) -> None:
    page = tmp_path / "why.html"
    kernel = custom_kernel(EXAMPLE, ("N", "M/ROWS"), ("32", "4"), {"ROWS": 8})
    found = tilewright.why(kernel, 128, device=one_device, seconds=0.2, baselines=False, html=page)
    assert found.measured
    assert not found.failed
    assert says(report(found)[0].text, "examples/my_gemm", "right", "128x128x128")
    assert found.limits
    assert found.roofline is not None
    assert found.source
    assert all(each.gain > 1 and 0 < each.part <= 1 for each in found.causes)
    assert "<svg" in page.read_text()


def test_a_wrong_kernel_gets_its_cause_and_no_speed(one_device: Device, faulty: MakeKernel) -> None:
    found = tilewright.why(
        faulty(STORE, "C[column * M + row] = sum;"), 64, device=one_device, seconds=0.2, baselines=False
    )
    assert found.failed
    assert found.causes == ()
    lines = [line.text for line in report(found)]
    assert says(lines[0], "wrong")
    assert lines[1].startswith("likely cause")
    assert says(lines[1], "transposed") or "transpose" in lines[1]
