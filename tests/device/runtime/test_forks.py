"""Processes that are forked after OpenCL had been used: what works there works, what would hang is refused."""

import os
import sys

import pytest

from tilewright.errors import LaunchFailed
from tilewright.runtime import forks
from tilewright.runtime.children import run_child
from tilewright.runtime.opencl.device import Device

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")


def forked(device: Device, before: str) -> list[str]:
    """What a fork says of a call, made after the code `before`; it may hang, and then says nothing."""
    code = (
        f"import os, sys\nplatform = {device.info.platform!r}\n"
        "from tilewright.runtime.forks import refuse_if_forked\n"
        "from tilewright.errors import LaunchFailed\n"
        "import tilewright, numpy\n"
        "a = numpy.arange(12, dtype='f4').reshape(3, 4)\n"
        f"{before}\n"
        "if os.fork() == 0:\n"
        "    try:\n"
        "        refuse_if_forked(platform)\n"
        "        right = (tilewright.transpose(a, device=platform) == a.T).all()\n"
        "        print('right' if right else 'wrong', flush=True)\n"
        "    except LaunchFailed as refusal:\n"
        "        print('refused:', refusal, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    child = run_child([sys.executable, "-c", code], 60, {"PYOPENCL_NO_CACHE": "0", "POCL_KERNEL_CACHE": "1"})
    return child.stdout.splitlines() or [child.ending]


def test_a_call_in_a_fork_works_or_is_refused(device: Device) -> None:
    (said,) = forked(device, "tilewright.transpose(a, device=platform)")
    if device.info.platform in forks.SURVIVORS:
        assert said == "right"
    else:
        assert said.startswith("refused: this process was forked after OpenCL had been used")
        assert device.info.platform in said


def test_a_fork_from_before_the_first_call_works(device: Device) -> None:
    assert forked(device, "") == ["right"]


def test_the_flag_is_set_by_a_fork_after_use_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for flag, value in (("_forked", False), ("_used", False), ("alert", True)):
        monkeypatch.setattr(forks, flag, value)
    forks._after_fork()
    for _ in range(2):
        forks.refuse_if_forked("Portable Computing Language")
    forks._after_fork()
    for _ in range(2):
        with pytest.raises(LaunchFailed, match="Portable Computing Language"):
            forks.refuse_if_forked("Portable Computing Language")
    forks._after_fork()  # a fork of the fork
    with pytest.raises(LaunchFailed, match="Oclgrind"):
        forks.refuse_if_forked("Oclgrind")
    forks.refuse_if_forked("Intel(R) OpenCL")
