"""Regret of a few shapes on each driver: verified, measured, and within the asked number and time."""

from tilewright.runtime.opencl.device import Device
from tools.regret.measured import Shape, measured


def test_some_shapes_are_measured(device: Device) -> None:
    seen: list[Shape] = []
    record = measured("float32", device, 4, 3, 2, 0.05, 300.0, seen.append)
    assert record.shapes == tuple(seen)
    assert len(seen) == 4
    for each in seen:
        assert not each.reason
        assert each.chosen
        assert each.seconds > 0
        assert each.rivals
        assert each.regret >= 1


def test_time_ends_it_after_the_first_shape(one_device: Device) -> None:
    record = measured("float32", one_device, 1000, 3, 1, 0.01, 0.0, lambda shape: None)
    assert len(record.shapes) == 1
    assert record.drawn == 1000
