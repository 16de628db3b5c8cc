"""Programs that let NumPy raise errors for underflow and the like: they get them for their own numbers, not for ours."""

from typing import Any

import numpy as np
import pytest

from tilewright import matmul
from tilewright.core.problem import Gemm
from tilewright.dispatch.numpys_own import Limit
from tilewright.library import numpy_limits
from tilewright.measurement.accuracy import measure_accuracy
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.verify import Reference


def test_a_measurement_raises_none(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small elements of its own operands made the first product of float16 fail."""
    seen: list[dict[str, object]] = []

    def measured(*given: Any) -> Limit:
        seen.append(dict(np.geterr()))
        return Limit(1.0, "1x1x1")

    monkeypatch.setattr(numpy_limits, "_measured", measured)
    with np.errstate(all="raise"):
        numpy_limits.measured_for(device, "float16", "float16", "looped")
        assert set(np.geterr().values()) == {"raise"}
    assert [set(each.values()) for each in seen] == [{"ignore"}]


def test_products_of_every_kind_raise_none(device: Device) -> None:
    a = np.ones((70, 70), np.float16)
    with np.errstate(all="raise"):
        assert np.all(matmul(a, a) == 70)
        assert np.all(matmul(a, a, device=device.info.label) == 70)


def test_a_verification_raises_none() -> None:
    problem = Gemm(2, 2, 2, "float16")
    small = np.full((2, 2), 6e-8, np.float16)
    with np.errstate(all="raise"):
        verdict = Reference(problem, {"A": small, "B": small}).judge(np.zeros((2, 2), np.float16))
    assert verdict.passed


def test_measured_errors_raise_none(device: Device) -> None:
    with np.errstate(all="raise"):
        assert measure_accuracy((16, 16, 16), device).rows
