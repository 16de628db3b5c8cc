"""Kernels that wait for their predecessor by themselves, and what a launch with attributes hands to CUDA's driver."""

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest

from tilewright.core.kernel import NDRange
from tilewright.errors import LaunchFailed
from tilewright.runtime.cuda import driver as driver_module
from tilewright.runtime.cuda.dependent import LAUNCH, WAIT, dependent
from tilewright.runtime.cuda.device import Device
from tilewright.runtime.cuda.driver import TOO_MANY_TOGETHER, failure
from tilewright.runtime.cuda.launches import (
    CLUSTER_DIMENSION,
    COOPERATIVE,
    PROGRAMMATIC_STREAM_SERIALIZATION,
    launcher,
)

PTX = """
.version {version}
.target {target}, texmode_independent
.address_size 64

.func helper()
{{
\tret;
}}

\t// .globl\tgemm
.entry gemm(
\t.param .u64 .ptr .global .align 4 gemm_param_0
)
.reqntid 128, 1, 1
{{
\t.reg .b64 \t%rd<3>;
\tld.param.u64 %rd1, [gemm_param_0];
\tmbarrier.init.shared::cta.b64 [%r1], 1;
\tld.global.u64 %rd2, [%rd1];
}}
"""


def ptx(version: str = "9.0", target: str = "sm_90") -> str:
    return PTX.format(version=version, target=target)


def lines(text: str | None) -> list[str]:
    assert text is not None
    return [line.strip() for line in text.splitlines() if line.strip()]


def test_the_wait_is_the_first_instruction_of_the_kernel() -> None:
    found = lines(dependent(ptx()))
    begin = found.index(".reqntid 128, 1, 1")
    assert found[begin + 1 : begin + 4] == ["{", WAIT, LAUNCH]
    assert [line for line in found if line not in (WAIT, LAUNCH)] == lines(ptx())


def test_every_kernel_of_a_file_waits() -> None:
    second = ptx().partition(".entry")
    two = ptx() + ".visible .entry" + second[2].replace("gemm", "other")
    found = lines(dependent(two))
    assert (found.count(WAIT), found.count(LAUNCH)) == (2, 2)


def test_a_kernel_whose_body_is_not_found_is_left_as_it_is() -> None:
    assert dependent(ptx() + ".visible .entry other();\n") is None
    assert dependent(ptx().split("\t// .globl")[0]) is None


@pytest.mark.parametrize(("version", "target"), [("7.7", "sm_90"), ("8.3", "sm_80"), ("8.3", "sm_89")])
def test_where_the_instructions_are_missing_nothing_is_changed(version: str, target: str) -> None:
    assert dependent(ptx(version, target)) is None


@pytest.mark.parametrize("target", ["sm_90", "sm_90a", "sm_100", "sm_120a"])
def test_later_architectures_have_them(target: str) -> None:
    assert dependent(ptx("7.8", target)) is not None


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute of `cuda.h`: the value is a union of 64 bytes."""

    _fields_ = (("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_int * 16))


SIZES = ("gx", "gy", "gz", "bx", "by", "bz", "shared", "stream")


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig of `cuda.h`."""

    _fields_ = (
        *((name, ctypes.c_uint) for name in SIZES[:-1]),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint),
    )  # fmt: skip


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {PROGRAMMATIC_STREAM_SERIALIZATION: (1,)},
        {COOPERATIVE: (1,)},
        {COOPERATIVE: (1,), CLUSTER_DIMENSION: (2, 1, 3), 6: (1,)},
    ],
)
def test_a_launch_with_attributes_hands_over_what_cuda_h_says(attributes: dict[int, tuple[int, ...]]) -> None:
    seen: list[Any] = []

    def launch(config: int, function: int, arguments: int, extra: int) -> int:
        own = LaunchConfig.from_address(config)
        given = {each.id: tuple(each.value[: len(attributes[each.id])]) for each in own.attributes[: own.count]}
        seen.append(([getattr(own, name) for name in SIZES], given, function, arguments, extra))
        return 7

    assert (ctypes.sizeof(LaunchAttribute), ctypes.sizeof(LaunchConfig)) == (72, 56)
    function = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(launch)
    driver: Any = SimpleNamespace(library={"cuLaunchKernelEx": function})
    call = launcher(driver, 2**40 + 1, ((5, 6, 7), (128, 2, 1)), 232448, 2**41, 2**42, attributes)
    assert call() == 7
    sizes = [5, 6, 7, 128, 2, 1, 232448, 2**41]
    assert seen == [(sizes, attributes, 2**40 + 1, 2**42, None)]


class OldLibrary:
    """A driver's library before CUDA 11.8."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __getitem__(self, name: str) -> Any:
        if name != "cuLaunchKernel":
            raise AttributeError(name)
        return self._function


def test_an_old_driver_gets_the_same_by_its_own_call() -> None:
    seen: list[Any] = []

    def launch(*arguments: Any) -> int:
        seen.append(arguments)
        return 7

    kinds = (ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3)
    driver: Any = SimpleNamespace(library=OldLibrary(ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(launch)))
    assert launcher(driver, 2**40 + 1, ((5, 6, 7), (128, 2, 1)), 232448, 2**41, 2**42, {})() == 7
    assert seen == [(2**40 + 1, 5, 6, 7, 128, 2, 1, 232448, 2**41, 2**42, None)]


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("together", [True, False])
def test_a_kernel_begins_early_if_it_waits_and_its_launch_allows_it(together: bool, early: bool, waits: bool) -> None:
    seen: list[Any] = []

    def launch(config: int, function: int, arguments: int, extra: int) -> int:
        own = LaunchConfig.from_address(config)
        seen.append(sorted(own.attributes[place].id for place in range(own.count)))
        return 0

    function = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(launch)
    library = {"cuLaunchKernelEx": function}
    device: Any = SimpleNamespace(driver=SimpleNamespace(library=library))
    kernel: Any = SimpleNamespace(function=1, dynamic_bytes=0, dependent=waits, arguments=(ctypes.c_void_p * 1)())
    ndrange = NDRange((256,), (128,), together=together, early=early)
    assert Device.launcher(device, kernel, ndrange, "one", 0)() == 0
    assert seen == [[COOPERATIVE] * together + [PROGRAMMATIC_STREAM_SERIALIZATION] * (waits and early)]


@pytest.mark.parametrize(("cluster", "wanted"), [((2,), [2, 1, 1]), ((1, 2, 1), [1, 2, 1])])
def test_a_launch_in_clusters_says_how_large_they_are(cluster: tuple[int, ...], wanted: list[int]) -> None:
    seen: list[Any] = []

    def launch(config: int, function: int, arguments: int, extra: int) -> int:
        own = LaunchConfig.from_address(config)
        seen.extend((each.id, each.value[:3]) for each in own.attributes[: own.count])
        return 0

    library = {"cuLaunchKernelEx": ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(launch)}
    device: Any = SimpleNamespace(driver=SimpleNamespace(library=library))
    kernel: Any = SimpleNamespace(function=1, dynamic_bytes=0, dependent=False, arguments=(ctypes.c_void_p * 1)())
    Device.launcher(device, kernel, NDRange((256, 2, 1), (128, 1, 1), cluster=cluster), "one", 0)()
    assert seen == [(CLUSTER_DIMENSION, wanted)]


def test_too_many_work_groups_together_are_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    named = SimpleNamespace(cuGetErrorName=lambda *_: 0, cuGetErrorString=lambda *_: 0)
    monkeypatch.setattr(driver_module, "driver_calls", lambda: named)
    found = failure("launching wgmma", TOO_MANY_TOGETHER)
    assert isinstance(found, LaunchFailed)
    assert "wait for each other" in str(found)
