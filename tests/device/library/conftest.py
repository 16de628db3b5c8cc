"""Fixtures of the library's tests."""

from collections.abc import Iterator

import pytest
import separate

from tilewright.runtime.opencl.device import Device
from tilewright.runtime.opencl.staging import Limits


@pytest.fixture(params=[1, 3], ids=["one-thread", "three-threads"])
def limits(request: pytest.FixtureRequest, device: Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[Limits]:
    """Those of copies between the host and a device that pretends to have memory of its own."""
    yield separate.pretend(device, request.param, monkeypatch)
    separate.forget(device)
