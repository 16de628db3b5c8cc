"""Which compiler takes which kernels of CUDA arrays, and the languages that devices say."""

from dataclasses import replace
from functools import partial
from typing import Any, cast

import devices
import pytest

from tilewright.core.kernel import Dialect, render
from tilewright.core.problem import Gemm
from tilewright.dispatch.choice import plan_product
from tilewright.runtime.cuda import compilers
from tilewright.runtime.cuda.compilers import Compiler, NvrtcCompiler, OpenCLCompiler, compiler_for_targets
from tilewright.runtime.cuda.device import Device
from tilewright.runtime.cuda.nvrtc import OLDEST_NVRTC, find_nvrtc
from tilewright.runtime.pci import PciPlace

OPENCL = OpenCLCompiler(PciPlace(0, 0, 0))


def device_with(for_targets: Compiler | None) -> Device:
    """A device that can say what it compiles, and nothing else: there is no GPU."""
    made = cast(Any, Device.__new__(Device))
    made.compiler, made.for_targets = OPENCL, for_targets or OPENCL
    return cast(Device, made)


def test_kernels_with_a_target_are_compiled_by_nvrtc_where_it_is() -> None:
    nvrtc = compiler_for_targets("sm_90")
    if nvrtc is None:
        pytest.skip("no NVRTC for sm_90")
    device = device_with(nvrtc)
    assert (device.dialect(), device.dialect("sm_90a")) == (Dialect.OPENCL, Dialect.CUDA)
    (step,) = plan_product(Gemm(256, 256, 256, "float16"), devices.HOPPER).steps
    source = render(step.kernel, step.config, step.problem, device.dialect(step.kernel.target))
    code = nvrtc.compile(source, step.kernel.name, step.kernel.options, step.kernel.target)
    assert b".target sm_90a" in code.image


def test_without_nvrtc_one_compiler_takes_all() -> None:
    assert device_with(None).dialect("sm_90a") == Dialect.OPENCL


def test_an_nvrtc_that_does_not_know_the_instructions_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_nvrtc("sm_90")
    if found is None:
        pytest.skip("no NVRTC for sm_90")
    assert found.number >= OLDEST_NVRTC
    for version, taken in (("NVRTC 12.2", False), ("NVRTC 12.3", True), ("NVRTC 13.0", True)):
        monkeypatch.setattr(compilers, "find_nvrtc", partial(lambda own, _: own, replace(found, version=version)))
        assert isinstance(compiler_for_targets("sm_90"), NvrtcCompiler) == taken
    monkeypatch.setattr(compilers, "find_nvrtc", lambda _: None)
    assert compiler_for_targets("sm_90") is None
