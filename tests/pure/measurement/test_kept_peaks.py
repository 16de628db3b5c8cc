"""Peaks are kept from quiet moments alone."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tilewright.core.device import DeviceInfo, Peaks
from tilewright.measurement import peaks


class FakeDevice:
    def __init__(self, kind: str = "cpu") -> None:
        self.info = DeviceInfo("Device", "Platform", kind=kind)


class FakeLoad:
    others = 0.0

    def cores(self) -> float:
        return self.others


@pytest.fixture
def rates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The GFLOP/s of the next measurements."""
    wanted: list[float] = []
    monkeypatch.setattr(peaks, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(peaks, "OtherLoad", FakeLoad)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(
        peaks, "measure_peaks", lambda device, dtype: Peaks({dtype: (rate := wanted.pop(0))}, rate / 10, rate / 5)
    )
    yield wanted
    FakeLoad.others = 0.0


def measured(device: FakeDevice, earlier: Peaks | None = None) -> tuple[float, bool]:
    found = peaks.measured_peaks(device, "float32", earlier)  # type: ignore[arg-type]
    return found.gflops["float32"], found.quiet


def kept(device: FakeDevice) -> Peaks | None:
    return peaks.kept_peaks(device, "float32")  # type: ignore[arg-type]


def test_peaks_of_a_busy_moment_are_marked_and_measured_again(rates: list[float]) -> None:
    device = FakeDevice()
    FakeLoad.others, rates[:] = 1.8, [50.0, 60.0]
    assert measured(device) == (50.0, False)
    assert kept(device) is None
    FakeLoad.others = 0.1
    assert measured(device) == (60.0, True)
    found = kept(device)
    assert found is not None
    assert found.gflops == {"float32": 60.0}


@pytest.mark.parametrize(
    "content",
    [
        '{"gflops": {}, "copy_gbs": 1, "local_gbs": 1}',
        '{"gflops": {"float64": 1}, "copy_gbs": 1, "local_gbs": 1}',
        '{"gflops": {"float32": 900}, "copy_gbs": -1, "local_gbs": 1}',
        '{"gflops": {"float32": 0}, "copy_gbs": 1, "local_gbs": 900}',
        "[]",
        "",
    ],
)
def test_a_damaged_file_has_no_peaks(content: str, rates: list[float], tmp_path: Path) -> None:
    device = FakeDevice()
    rates[:] = [50.0, 60.0]
    measured(device)
    (file,) = (tmp_path / "peaks").iterdir()
    file.write_text(content)
    assert kept(device) is None
    assert measured(device) == (60.0, True)
    assert kept(device) == Peaks({"float32": 60.0}, 6.0, 12.0)


def test_the_highest_counts_and_a_quiet_one_stays(rates: list[float]) -> None:
    device = FakeDevice()
    rates[:] = [60.0, 40.0, 70.0, 80.0]
    assert measured(device) == (60.0, True)
    assert measured(device) == (60.0, True), "lower now"
    FakeLoad.others = 1.5
    assert measured(device) == (70.0, True), "higher even though others were busy"
    found = kept(device)
    assert found is not None
    assert found.gflops["float32"] == 60.0, "busy moments are not kept"
    assert measured(device, Peaks({"float32": 90.0}, 1.0, 1.0, quiet=False))[0] == 90.0, "of the same run"


@pytest.mark.parametrize("damaged", [b"{broken", b'{"gflops": {"\xff": 1}}', b'{"x": ' + b"[" * 100_000])
def test_damaged_peaks_are_measured_again(damaged: bytes, rates: list[float], tmp_path: Path) -> None:
    device = FakeDevice()
    rates[:] = [60.0, 40.0]
    measured(device)
    (file,) = tmp_path.rglob("*.json")
    file.write_bytes(damaged)
    assert kept(device) is None
    assert measured(device) == (40.0, True)


def test_a_gpu_does_not_notice_what_the_host_does(rates: list[float]) -> None:
    device = FakeDevice("gpu")
    FakeLoad.others, rates[:] = 1.8, [50.0]
    assert measured(device) == (50.0, True)
    assert kept(device) is not None
