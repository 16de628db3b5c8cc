"""Inspection and roofline by each working driver: its own code of real rungs, counted."""

import json
import math
from pathlib import Path
from xml.etree import ElementTree

import pytest
from says import says

from tilewright.analysis.inspect import Inspection, inspect
from tilewright.analysis.inspect import instruction_kinds as kinds
from tilewright.cli.main import main
from tilewright.core.problem import Gemm
from tilewright.errors import UnknownName, Unsupported
from tilewright.kernels import find_kernel
from tilewright.measurement.roofline import count_traffic, roofline_kernel
from tilewright.reports.roofline import draw_roofline
from tilewright.runtime.opencl.device import Device

CapturedOutput = pytest.CaptureFixture[str]
MINE = """// A product of one's own.
__kernel void mine(const int M, const int N, const int K,
                   __global const float* A, __global const float* B, __global float* C)
{
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum = fma(A[get_global_id(0) * K + k], B[k * N + get_global_id(1)], sum);
    C[get_global_id(0) * N + get_global_id(1)] = sum * FACTOR;
}
"""


def inspected(device: Device, rung: str) -> Inspection:
    return inspect(rung, size=(64,), device=device.info.label)


@pytest.fixture
def cpu(device: Device) -> Device:
    """A driver whose code can be read without more than capstone."""
    pytest.importorskip("capstone")
    if device.info.kind != "cpu":
        pytest.skip("the code of GPU drivers is tested with the GPUs")
    return device


def test_the_drivers_own_code_of_the_vector_kernel(cpu: Device) -> None:
    found = inspected(cpu, "cpu/03")
    assert found.form == "x86"
    assert found.loop is not None
    assert found.mix is not None
    assert found.loop.mix.multiply_adds >= 12  # rows of vectors, in registers
    assert not found.mix.count(kinds.OTHER) > found.mix.instructions // 20
    assert cpu.info.driver in found.origin


def test_a_kernel_with_barriers_shows_the_loops_over_its_work_items(cpu: Device) -> None:
    found = inspected(cpu, "tiles/02")
    assert found.loops >= 2
    assert found.resources is not None
    assert found.resources.local_bytes == 2 * 32 * 32 * 4
    assert found.occupancy is None  # no table speaks of CPUs


def test_functions_that_are_not_inlined_are_counted(cpu: Device) -> None:
    found = inspected(cpu, "cpu/06")
    assert found.loop is not None
    assert found.loop.mix.multiply_adds >= 16
    assert not any("not in the counts" in note for note in found.notes)


def test_another_level_of_x86_by_intels_runtime(one_device: Device) -> None:
    pytest.importorskip("capstone")
    if not one_device.info.platform.startswith("Intel"):
        pytest.skip("Intel's CPU runtime is not here")
    old, new = (inspect("rows/03", level, (64,)) for level in ("x86-64-v2", "x86-64-v4"))
    assert old.mix is not None
    assert new.mix is not None
    assert old.mix.count(kinds.FMA) == 0
    assert old.mix.count(kinds.FLOAT) > 0
    assert new.mix.multiply_adds >= 16 * new.mix.count(kinds.FMA) // 2
    assert not any("zmm" in text for text in old.texts.values())


def test_macros_are_for_architectures_by_name(cpu: Device) -> None:
    with pytest.raises(UnknownName, match="REAL"):
        inspect("tiles/02", device=cpu.info.label, settings={"REAL": "float"})


def test_the_command_prints_one_kernel_and_its_code(device_number: str, tmp_path: Path, capsys: CapturedOutput) -> None:
    pytest.importorskip("capstone")
    own = tmp_path / "mine.cl"
    own.write_text(MINE)
    device = ["--device", device_number]
    assert main(["inspect", "tiles/02", *device]) == 0
    assert "instructions (" in capsys.readouterr().out
    assert main(["inspect", "tiles/02", "--isa", *device]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 50
    assert main(["inspect", "tiles/02", "--diff", "tiles/03", *device]) == 0
    assert "tiles/03_more_work_per_item" in capsys.readouterr().out
    assert main(["inspect", "tiles/02", "--json", *device]) == 0
    assert json.loads(capsys.readouterr().out)["kernel"] == "tiles/02_tiled"
    assert main(["inspect", str(own), "-D", "FACTOR=2", *device]) == 0
    assert "give --local" in capsys.readouterr().out
    assert main(["inspect", "tiles/02", "--ptx", *device]) == 1
    assert says(capsys.readouterr().err, "PTX")


def test_a_roofline_names_the_limit_that_binds(device: Device) -> None:
    found = roofline_kernel("tiles/02", (128,), device, seconds=0.1)
    assert found.row.status == "ok"
    assert found.traffic is not None
    assert found.traffic.exact
    assert found.traffic.local_bytes >= 128**3 * 4
    assert found.binding.seconds == max(each.seconds for each in found.limits)
    assert found.fraction > 0
    assert "<- limits" in str(found)
    ElementTree.fromstring(draw_roofline(found))


def test_what_computes_nothing_has_a_roof_of_memory_alone(device: Device) -> None:
    found = roofline_kernel("transpose/05", (128,), device, seconds=0.1)
    assert next(each.name for each in found.limits) == "memory, each byte once"
    assert "GB/s" in str(found)
    with pytest.raises(Unsupported, match="transpose/05"):
        draw_roofline(found)


def test_the_traffic_of_a_deep_product_is_that_of_two_shallower_ones_drawn_on(one_device: Device) -> None:
    kernel = find_kernel("tiles/06")
    deep = Gemm(256, 256, 800, "float32", "column", "column", "column")
    found = count_traffic(kernel, deep, one_device.info)
    from tilewright.measurement.roofline import _explained

    whole = _explained(kernel, deep, one_device.info, math.inf)
    assert (found.requested_bytes, found.local_bytes) == (whole.requested_bytes, whole.local_bytes)


def test_the_command_draws_a_roofline(device_number: str, tmp_path: Path, capsys: CapturedOutput) -> None:
    picture = tmp_path / "roof.svg"
    command = ["roofline", "tiles/06", "--size", "128", "--seconds", "0.1", "--device", device_number]
    assert main([*command, "--plot", str(picture)]) == 0
    assert "flops per byte" in picture.read_text(encoding="utf-8")
    assert "of that limit" in capsys.readouterr().out
    assert main([*command, "--plot", str(tmp_path / "roof.doc")]) == 2
