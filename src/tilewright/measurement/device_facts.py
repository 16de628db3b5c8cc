"""The table of a device's facts that `predict` needs: what can be measured here, and the rest from a related device's table."""

import msgspec

from ..analysis.predict.facts import DeviceFacts, Figure
from ..core.device import DeviceInfo, Peaks
from ..errors import Unsupported

SOURCE = "kernels/peaks"
BANKED = 128  # bytes of a wavefront of local memory


def check_gpu(info: DeviceInfo) -> None:
    """Unsupported for a device that is no GPU."""
    if info.kind != "gpu":
        raise Unsupported(f"{info.label} is no GPU: predict has no model of it, so there is no table to write")


def facts_from(info: DeviceInfo, peaks: Peaks, like: DeviceFacts) -> DeviceFacts:
    """The facts of the device `info` with the measured `peaks`. What they do not say is taken from `like`, as assumed.

    Lanes of the multiply-add unit follow from GFLOP/s / (2 x multiprocessors x GHz), wavefronts of local memory from GB/s /
    (128 bytes x multiprocessors x GHz). Unsupported for a device that is no GPU.
    """
    check_gpu(info)
    taken = {
        name: Figure(figure.value, "assumed", f"the table of the {like.title}")
        for name, figure in like.figures().items()
    }
    cycles = info.compute_units * info.clock_mhz * 1e-3  # G a second, of all multiprocessors
    driver = f"the driver, {info.driver}" if info.driver else "the driver"
    arch = "sm_{}{}".format(*info.compute_capability) if info.compute_capability else like.arch
    measured = {
        "multiprocessors": Figure(info.compute_units, "measured", driver),
        "clock_ghz": Figure(info.clock_mhz * 1e-3, "measured", f"{driver}: the highest"),
        "multiply_adds": Figure(peaks.gflops["float32"] / (2 * cycles), "measured", f"{SOURCE}: multiply-adds"),
        "local_wavefronts": Figure(peaks.local_gbs / (BANKED * cycles), "measured", f"{SOURCE}: reads of local memory"),
        "dram_gbs": Figure(peaks.copy_gbs, "measured", f"{SOURCE}: copy"),
    }
    words = {"name": info.name, "title": info.name, "arch": arch, "rules": like.rules}
    return msgspec.convert({**words, **taken, **measured}, DeviceFacts)
