"""On an NVIDIA GPU: every ladder at 256 and at odd sizes, and what the driver tells about the device."""

import pytest
from shapes import DTYPES, check_kernel

from tilewright.core.kernel import Kernel
from tilewright.kernels import LADDERS, find_kernel
from tilewright.measurement.ladders import run_ladder
from tilewright.runtime.opencl.device import Device

RUNGS = [kernel for ladder in LADDERS.values() for kernel in ladder.with_originals]
GEMM_SHAPES = ((256, 256, 256), (251, 509, 127), (1000, 36, 68))
MATRIX_SHAPES = ((256, 256, 0), (251, 509, 0), (1000, 36, 5))


def runs_on(kernel: Kernel, device: Device) -> bool:
    return all(feature in device.info.features for feature, _ in kernel.requires)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", RUNGS, ids=lambda kernel: kernel.name)
def test_every_rung_is_right_or_refuses(kernel: Kernel, dtype: str, nvidia: Device) -> None:
    shapes = GEMM_SHAPES if kernel.operation == "gemm" else MATRIX_SHAPES
    outcomes = {shape: check_kernel(kernel, shape, dtype, nvidia) for shape in shapes}
    if runs_on(kernel, nvidia) and dtype in kernel.dtypes:
        assert outcomes[shapes[0]] == "passed", f"{kernel.name} {dtype} on {nvidia.info.label}: {outcomes}"


@pytest.mark.parametrize("name", LADDERS)
def test_a_ladder_is_measured(name: str, nvidia: Device) -> None:
    record = run_ladder(name, nvidia, [(256,)], seconds=0.5, baselines=False)
    for row in record.rows:
        wanted = "ok" if runs_on(find_kernel(row.name), nvidia) else "not here"
        assert row.status == wanted, f"{row.name} on {nvidia.info.label}: {row.status}: {row.reason}"
        assert (row.rate > 0) == (row.status == "ok")


def test_the_device_tells_its_compute_capability_and_warp_size(nvidia: Device) -> None:
    info = nvidia.info
    assert info.compute_capability is not None
    major, minor = info.compute_capability
    assert 3 <= major < 100
    assert 0 <= minor < 10
    assert info.sub_group_width == 32
    assert info.kind == "gpu"
    assert info.local_type == "local"
    assert {"gpu", "nvidia"} <= info.features


def test_an_nvidia_gpu_is_preferred_to_every_cpu(nvidia: Device) -> None:
    from tilewright.runtime.opencl.device import list_devices

    assert list_devices()[0].kind == "gpu"


def test_clock_and_power_are_read_where_the_system_tells_them(nvidia: Device) -> None:
    from tilewright.runtime.environment import read_environment

    environment = read_environment(nvidia.info)
    for figure in (environment.clock_mhz, environment.power_w):
        assert figure is None or figure > 0
