"""The library's calls hand the tuned tables to the planning, which reads no file itself."""

import numpy as np
import pytest

from tilewright import matmul
from tilewright.core.device import DeviceInfo
from tilewright.core.plan import Plan
from tilewright.core.problem import Problem
from tilewright.dispatch.choice import plan_product
from tilewright.dispatch.tuned import Tables
from tilewright.library import multiply
from tilewright.runtime.opencl.device import Device


def test_a_call_of_a_new_shape_is_planned_with_the_tables(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    tables, seen = Tables(unusable=("a file that is no table",)), list[Tables]()

    def planned(problem: Problem, device: DeviceInfo, handed: Tables) -> Plan:
        seen.append(handed)
        return plan_product(problem, device, handed)

    monkeypatch.setattr(multiply, "load_tables", lambda: tables)
    monkeypatch.setattr(multiply, "plan_product", planned)
    a, b = np.ones((3, 41), np.float32), np.ones((41, 23), np.float32)
    np.testing.assert_array_equal(matmul(a, b, device=one_device.info.label), np.full((3, 23), 41.0))
    assert seen == [tables]
