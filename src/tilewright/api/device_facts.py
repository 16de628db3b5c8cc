"""The facts of the device at hand, for `predict`: `peaks`."""

from __future__ import annotations

from ..analysis.predict.devices import find_device
from ..analysis.predict.facts import DeviceFacts
from ..measurement.device_facts import check_gpu, facts_from
from ..measurement.peaks import measured_peaks
from ..runtime.opencl.device import open_device


def peaks(device: str | int | None = None, *, like: str = "h200") -> DeviceFacts:
    """Measure a GPU's peaks, and make the table that `predict` needs to know it.

    `device` is an index, "gpu" or part of a name. What is not measured is taken from the table of `like`, one of
    `predict`'s devices or a file, and marked as assumed. `save_record` writes the table.

    NoDevice without a device; Unsupported for a CPU; UnknownName for a table that does not exist.
    """
    related = find_device(like)
    opened = open_device(device)
    check_gpu(opened.info)
    return facts_from(opened.info, measured_peaks(opened, "float32"), related)
