"""Reads the facts of a PyOpenCL device into a DeviceInfo."""

from typing import Any

import pyopencl as cl

from ...core.device import DeviceInfo
from ..caches import level2_bytes
from ..pci import PciPlace

WIDTHS = {"float32": "float", "float64": "double", "int32": "int", "float16": "half", "int8": "char"}


def pci_place(device: Any) -> PciPlace:
    """Where an NVIDIA GPU is."""
    try:
        domain = device.pci_domain_id_nv
    except cl.LogicError:  # an older driver does not say
        domain = 0
    return PciPlace(domain, device.pci_bus_id_nv, device.pci_slot_id_nv)


def describe(device: Any, place: int = 0) -> DeviceInfo:
    """The device's facts as plain data. `place` is its index in its platform. Other facts keep their defaults."""
    kind = _kind(device)
    extensions = device.extensions.split()
    nvidia = "cl_nv_device_attribute_query" in extensions
    return DeviceInfo(
        name=device.name.strip(),
        platform=device.platform.name.strip(),
        vendor=device.vendor.strip(),
        driver=device.driver_version.strip(),
        version=device.platform.version.strip(),
        kind=kind,
        place=place,
        compute_units=device.max_compute_units,
        clock_mhz=device.max_clock_frequency,
        max_work_group_size=device.max_work_group_size,
        max_work_item_sizes=tuple(device.max_work_item_sizes),
        local_bytes=device.local_mem_size,
        local_type=cl.device_local_mem_type.to_string(device.local_mem_type).lower(),
        global_bytes=device.global_mem_size,
        max_alloc_bytes=device.max_mem_alloc_size,
        base_align_bytes=max(device.mem_base_addr_align // 8, 1),
        timer_ns=device.profiling_timer_resolution,
        host_unified=bool(device.host_unified_memory),
        preferred_widths=_widths(device, "preferred_vector_width_"),
        native_widths=_widths(device, "native_vector_width_"),
        sub_group_width=_sub_group_width(device, nvidia),
        compute_capability=(device.compute_capability_major_nv, device.compute_capability_minor_nv) if nvidia else None,
        level2_bytes=level2_bytes(_ask(device, "global_mem_cache_size", 0)) if kind == "cpu" else 0,
        fp64=bool(_ask(device, "double_fp_config", 0)),
        fp16="cl_khr_fp16" in extensions,
        features=frozenset({kind, *(["nvidia"] if nvidia else [])}),
    )


def _kind(device: Any) -> str:
    if device.type & cl.device_type.GPU:
        return "gpu"
    return "cpu" if device.type & cl.device_type.CPU else "accelerator"


def _ask(device: Any, attribute: str, otherwise: Any) -> Any:
    """A device attribute, or `otherwise`: drivers of older OpenCL versions refuse some."""
    try:
        return getattr(device, attribute)
    except (cl.Error, AttributeError):
        return otherwise


def _widths(device: Any, prefix: str) -> dict[str, int]:
    return {dtype: int(_ask(device, prefix + word, 0)) for dtype, word in WIDTHS.items()}


def _sub_group_width(device: Any, nvidia: bool) -> int:
    if nvidia:
        return int(device.warp_size_nv)
    width = _ask(device, "wavefront_width_amd", 0) or _ask(device, "preferred_work_group_size_multiple", 0)
    return int(width)
