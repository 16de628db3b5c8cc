"""Rooflines from plain data: which ceiling binds, what is drawn, and pages made from saved ones."""

import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import devices
import pytest
from paths import BENCHMARKS
from says import says

from tilewright.analysis.arguments import ready_kernel
from tilewright.core.device import Peaks
from tilewright.core.problem import Gemm
from tilewright.core.records import Row, RowStatus, Samples, save_record
from tilewright.errors import InvalidInput, RecordError, Unsupported
from tilewright.kernels.settings import chosen_kernel
from tilewright.measurement import roofline
from tilewright.measurement.roofline import Roofline, Traffic, count_traffic
from tilewright.reports.plot import plot
from tilewright.reports.roofline import draw_roofline, load_roofline
from tools.pages.refresh import refresh

SAVED = BENCHMARKS / "h200-roofline-tiles-06.json"
FLOPS, NBYTES = 10**12, 10**10
GPU = Roofline(
    kernel="tiles/06",
    config="BM=128",
    problem="gemm",
    device=devices.GPU,
    dtype="float32",
    flops=FLOPS,
    compulsory_bytes=NBYTES,
    peaks=Peaks({"float32": 1000.0}, copy_gbs=100.0, local_gbs=1000.0),
    row=Row("tiles/06", "", "gemm", (1, 1, 1), FLOPS, NBYTES, samples=Samples(wall=(2.0,), device=(2.0,))),
)


def test_each_limit_binds_when_it_allows_least() -> None:
    assert GPU.binding.name == "multiply-adds"
    assert GPU.binding.seconds == 1.0
    assert GPU.fraction == 0.5
    slow_memory = replace(GPU, peaks=replace(GPU.peaks, copy_gbs=1.0))
    assert (slow_memory.binding.name, slow_memory.binding.seconds) == ("memory, each byte once", 10.0)
    reads = replace(GPU, traffic=Traffic(5 * NBYTES, 3 * 10**12, "nvidia", True))
    assert (reads.binding.name, reads.binding.seconds) == ("local memory", 3.0)


def test_what_the_caches_served_is_the_time_that_memory_did_not_need() -> None:
    heavy = replace(GPU, traffic=Traffic(10**12, 0, "nvidia", True))
    assert heavy.uncached_seconds == 10.0
    assert says(str(heavy), "80%")
    light = replace(GPU, traffic=Traffic(10**10, 0, "nvidia", True))
    assert says(str(light), "not the limit", 100)


def test_an_estimate_is_called_one() -> None:
    assert "about 50 GB" in str(replace(GPU, traffic=Traffic(5 * NBYTES, 0, "nvidia", False)))
    assert "about" not in str(replace(GPU, traffic=Traffic(5 * NBYTES, 0, "nvidia", True)))


def test_a_run_that_failed_is_said_and_not_drawn() -> None:
    failed = replace(GPU, row=replace(GPU.row, status=RowStatus.WRONG, reason="C[0] is off", samples=Samples()))
    assert says(str(failed), "C[0] is off")
    assert failed.fraction == 0.0
    with pytest.raises(Unsupported, match="C\\[0\\] is off"):
        draw_roofline(failed)


def test_a_copy_has_no_picture_and_counts_bytes() -> None:
    copy = replace(GPU, flops=0)
    assert copy.unit == "GB/s"
    assert copy.binding.name == "memory, each byte once"
    with pytest.raises(Unsupported, match=copy.kernel):
        draw_roofline(copy)


def test_the_picture_has_a_point_for_each_intensity(tmp_path: Path) -> None:
    found = replace(GPU, traffic=Traffic(5 * NBYTES, 10**11, "nvidia", True))
    plot(found, tmp_path / "roof.svg")
    root = ElementTree.parse(tmp_path / "roof.svg").getroot()
    words = " ".join(each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text"))
    for text in (
        "each byte once: 100",
        "loads and stores: 20",
        "local memory: 10",
        "1,000 GFLOP/s",
    ):
        assert text in words
    with pytest.raises(InvalidInput, match=r"\.svg"):
        plot(found, tmp_path / "roof.xyz")


def test_a_saved_roofline_fills_a_page(tmp_path: Path) -> None:
    shutil.copy(SAVED, tmp_path / "one.json")
    page = tmp_path / "page.md"
    page.write_text("<!-- roofline: one.json roof.svg -->\nold\n<!-- end roofline -->\n")
    assert refresh(page) == 1
    assert "<- limits" in page.read_text(encoding="utf-8")
    assert (tmp_path / "roof.svg").is_file()
    save_record(load_roofline(tmp_path / "one.json"), tmp_path / "two.json")
    assert load_roofline(tmp_path / "two.json") == load_roofline(SAVED)
    (tmp_path / "one.json").write_text("{}")
    with pytest.raises(RecordError, match=r"one\.json"):
        refresh(page)
    with pytest.raises(RecordError, match=r"absent\.json"):
        load_roofline(tmp_path / "absent.json")


def test_counting_ends_after_a_limit_of_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endless loop makes millions of steps, which took more than five minutes."""
    path = tmp_path / "endless.cl"
    arguments = (
        "const int M, const int N, const int K, const __global float* A, const __global float* B, __global float* C"
    )
    path.write_text(f"__kernel void gemm({arguments}) {{ for (;;) C[0] += A[0] * B[0]; }}\n")
    monkeypatch.setattr(roofline, "COUNT_LIMIT_S", 0.0)
    with pytest.raises(InvalidInput) as raised:
        count_traffic(ready_kernel(chosen_kernel(path)), Gemm(32, 16, 8), devices.GPU)
    assert says(str(raised.value), "32x16x8", "0 s", "--size")
