"""Devices dealt to the processes of a host."""

import pytest
from devices import CPU, GPU, NVIDIA

from tilewright.runtime.opencl import dealt


def test_processes_are_dealt_the_devices_that_are_like_the_default_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEWRIGHT_DEVICE", raising=False)
    assert dealt.alike_devices((NVIDIA, NVIDIA, CPU, NVIDIA)) == ["0", "1", "3"]
    assert dealt.alike_devices((CPU, GPU)) == ["0"]
    assert dealt.alike_devices(()) == []
    monkeypatch.setattr(dealt, "list_devices", lambda: (NVIDIA, CPU, NVIDIA))
    assert [dealt.dealt_device(place) for place in range(5)] == ["0", "2", "0", "2", "0"]
    monkeypatch.setattr(dealt, "list_devices", lambda: ())
    assert dealt.dealt_device(0) is None
