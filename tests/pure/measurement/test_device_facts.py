"""The table of a device at hand, from its limits and peaks."""

import pytest

from tilewright.analysis.predict.devices import find_device
from tilewright.core.device import DeviceInfo, Peaks
from tilewright.errors import Unsupported
from tilewright.measurement.device_facts import facts_from

PEAKS = Peaks({"float32": 65_070.0}, copy_gbs=4183.0, local_gbs=33_301.0)


def test_an_h200_measured_again_is_the_h200() -> None:
    info = DeviceInfo("GPU", "platform", kind="gpu", compute_units=132, clock_mhz=1980, compute_capability=(9, 0))
    found, known = facts_from(info, PEAKS, find_device("a100")), find_device("h200")
    assert found.arch == "sm_90"
    for name in ("multiprocessors", "clock_ghz", "multiply_adds", "local_wavefronts", "dram_gbs"):
        own = found.figures()[name]
        assert own.origin == "measured"
        assert own.value == pytest.approx(known.figures()[name].value, rel=0.03)
    assert {each.origin for name, each in found.figures().items() if name.startswith("l2")} == {"assumed"}


def test_a_cpu_has_no_table() -> None:
    with pytest.raises(Unsupported, match="no GPU"):
        facts_from(DeviceInfo("CPU", "platform", kind="cpu"), PEAKS, find_device("h200"))
