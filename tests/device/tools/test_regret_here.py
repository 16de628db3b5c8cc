"""Regret of a few shapes on each driver: verified, measured, and within the asked number and time."""

import pytest

from tilewright.core.problem import Gemm
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.verify import verify
from tools.regret.measured import measured
from tools.regret.plans import Shape, plans_of


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


@pytest.mark.parametrize("b_order", ["row", "column"])
def test_other_plans_are_verified_by_their_operands_order(b_order: str, device: Device) -> None:
    plans = plans_of(Gemm(1, 500, 300, "float32", b_order=b_order), device, 2)
    assert len(plans) > 1
    for plan in plans:
        verdict = verify(plan, device)
        assert verdict.passed, f"{plan}: {verdict}"
