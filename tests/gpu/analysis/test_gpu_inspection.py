"""Inspection on an NVIDIA GPU: the driver's own code, and the driver's own word on occupancy."""

import ctypes

import pytest

from tilewright.analysis.inspect import inspect
from tilewright.analysis.inspect import instruction_kinds as kinds
from tilewright.analysis.inspect.cuda_linker import link_ptx
from tilewright.analysis.inspect.nvidia import PTX, SASS, read_report
from tilewright.analysis.inspect.occupancy import find_multiprocessor, occupancy
from tilewright.measurement.roofline import roofline_kernel
from tilewright.runtime.opencl.device import Device

RUNGS = ("tiles/02", "tiles/06", "tiles/08")


def architecture(device: Device) -> str:
    major, minor = device.info.compute_capability or (0, 0)
    return f"sm_{major}{minor}"


@pytest.mark.parametrize("rung", RUNGS)
def test_the_drivers_code_has_registers_and_counts(nvidia: Device, rung: str) -> None:
    found = inspect(rung, device=nvidia.info.label)
    assert found.form in (SASS, PTX), found.notes
    assert PTX in found.texts
    assert found.resources is not None
    assert 8 <= found.resources.registers <= 255
    assert found.occupancy is not None
    assert found.mix is not None
    if rung.startswith("tiles"):
        assert found.loop is not None
        assert found.loop.mix.count(kinds.FMA) > 0
    if rung == "tiles/08":
        assert found.mix.count(kinds.SHUFFLE) > 0


@pytest.mark.parametrize("rung", RUNGS)
def test_the_driver_reckons_the_same_occupancy(nvidia: Device, rung: str) -> None:
    """cuOccupancyMaxActiveBlocksPerMultiprocessor for groups of many sizes, with and without more local memory."""
    found = inspect(rung, device=nvidia.info.label)
    linked = link_ptx(found.texts[PTX], nvidia.info.place)
    assert linked.cubin, linked.log
    resources = read_report(linked.log, "gemm") or found.resources
    assert resources is not None
    driver, module, function = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
    context, device = ctypes.c_void_p(), ctypes.c_int()
    assert driver.cuDeviceGet(ctypes.byref(device), nvidia.info.place) == 0
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    assert driver.cuCtxPushCurrent_v2(context) == 0
    try:
        assert driver.cuModuleLoadData(ctypes.byref(module), linked.cubin) == 0
        entry = found.texts[PTX].partition(".entry ")[2].partition("(")[0].strip().encode()
        assert driver.cuModuleGetFunction(ctypes.byref(function), module, entry) == 0
        used = ctypes.c_int()
        registers_attribute = 4  # CU_FUNC_ATTRIBUTE_NUM_REGS
        assert driver.cuFuncGetAttribute(ctypes.byref(used), registers_attribute, function) == 0
        assert used.value == resources.registers
        local_attribute = 1  # CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
        assert driver.cuFuncGetAttribute(ctypes.byref(used), local_attribute, function) == 0
        local_bytes = used.value
        chip = find_multiprocessor(architecture(nvidia))
        for items in (32, 64, 96, 128, 192, 256, 320, 512, 768, 1024):
            for more in (0, 1000, 20000):
                groups = ctypes.c_int()
                status = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                    ctypes.byref(groups), function, items, ctypes.c_size_t(more)
                )
                if status == 0 and local_bytes + more <= chip.group_local_bytes:
                    ours = occupancy(chip, items, resources.registers, local_bytes + more)
                    assert ours.groups == groups.value, (items, more, ours)
    finally:
        driver.cuCtxPopCurrent_v2(ctypes.byref(context))
        driver.cuDevicePrimaryCtxRelease_v2(device)


def test_a_roofline_of_a_gpu(nvidia: Device) -> None:
    found = roofline_kernel("tiles/02", (1024,), nvidia, seconds=0.2)
    assert found.row.status == "ok"
    assert found.binding.name == "local memory"  # two reads of local memory for each multiply-add
    assert 0.05 < found.fraction <= 1.02
