"""What a failed kernel's row tells: the kind of the failure, and the faults that `explain` finds at a small size."""

import re
from pathlib import Path

import pytest
from devices import CPU
from faulty import STORE, MakeKernel
from says import says
from shapes import NAIVE

from tilewright.analysis.diagnosis import diagnosed, small_plan, smaller
from tilewright.cli.main import main
from tilewright.core.device import Peaks
from tilewright.core.kernel import Kernel
from tilewright.core.problem import Copy, Gemm, Problem, Transpose
from tilewright.core.records import Record, Row, RowStatus, load_record, save_record
from tilewright.kernels import find_kernel
from tilewright.measurement import session
from tilewright.measurement.ladders import run_kernel
from tilewright.runtime.opencl.device import Device


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ceilings are not what is looked at, and take seconds to measure."""
    monkeypatch.setattr(session, "measured_peaks", lambda device, dtype, *_: Peaks({dtype: 1.0}, 1.0, 1.0))


def failed_row(kernel: Kernel, device: Device, size: tuple[int, ...] = (40, 24, 20), dtype: str = "float32") -> Row:
    record, verdict = run_kernel(kernel, size, device, dtype, seconds=0, baselines=False)
    assert verdict is not None
    assert not verdict.passed
    assert record.rows[-1].status == "wrong"
    assert record.rows[-1].reason == verdict.reason
    return record.rows[-1]


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_elements_that_were_never_written_are_counted_apart(faulty: MakeKernel, dtype: str, device: Device) -> None:
    row = failed_row(faulty(STORE, f"if (row != 3 || column > 4) {STORE}"), device, dtype=dtype)
    assert row.reason == "5 of 960 elements, the first at [3, 0], were never written"


def test_one_element_that_was_never_written_and_a_wrong_one(faulty: MakeKernel, one_device: Device) -> None:
    fault = "if (row != 7 || column != 11) C[row * N + column] = row == 1 && column == 2 ? sum + 1 : sum;"
    row = failed_row(faulty(STORE, fault), one_device)
    assert row.reason.startswith(
        "1 of 960 elements, that at [7, 11] was never written; 1 of 960 elements; the worst is [1, 2]"
    )


def test_wrong_elements_are_not_called_unwritten(faulty: MakeKernel, one_device: Device) -> None:
    row = failed_row(faulty(STORE, "C[row * N + column] = sum + 1;"), one_device)
    assert row.reason.startswith("960 of 960 elements; the worst is ")
    integers = failed_row(faulty(STORE, "C[row * N + column] = 0xA5A5A5A5;"), one_device, dtype="int32")
    assert "written" not in integers.reason, "the poison of integers is a number as any other"


def test_sums_of_what_nobody_wrote_are_told(faulty: MakeKernel, one_device: Device) -> None:
    row = failed_row(faulty("k < K;", "k <= K;"), one_device)
    if "nvidia" in one_device.info.features:
        pytest.skip("an NVIDIA GPU's arithmetic gives one NaN whatever NaN it reads: the poison cannot be told from it")
    assert re.search(r"elements, the first at \[\d+, \d+\], were computed from memory", row.reason)
    kinds = {(fault.kind, fault.line, fault.file) for fault in row.faults}
    assert kinds >= {("out of bounds", 10, f"{Path(row.faults[0].file).parent.name}/product.cl")}


@pytest.mark.parametrize(
    ("right", "fault", "kind"),
    [
        (STORE, f"{STORE} if (row == 0) C[M * N + 4096 + column] = 1;", "out of bounds"),
        ("REAL sum = 0;", "REAL sum; if (row == 3) sum = 1;", "uninitialised read"),
        (STORE, "C[column] = sum;", "race between groups"),
    ],
)
def test_faults_are_found_in_what_is_wrong(
    right: str, fault: str, kind: str, faulty: MakeKernel, one_device: Device
) -> None:
    changed = fault if kind != "out of bounds" else fault.replace("= sum;", "= sum + 1;", 1)
    row = failed_row(faulty(right, changed), one_device)
    assert kind in {each.kind for each in row.faults}
    assert re.search(r"explain ran \S+ on gemm 40x24x20 float32, all work-groups, and found \d faults?$", row.explained)


def test_a_miscalculation_is_said_to_be_one(faulty: MakeKernel, one_device: Device) -> None:
    row = failed_row(faulty("B[k * N + column]", "B[column * K + k]"), one_device, (24, 24, 24))
    assert row.faults == ()
    assert says(row.explained, "no faults", "wrong there")


def test_what_explain_cannot_run_is_said(faulty: MakeKernel, one_device: Device) -> None:
    kernel = faulty(STORE, f'{STORE} if (row == 7) C[row * N + column] = 0; __asm__ volatile ("nop");')
    row = Row("product", "", "", (), 0, 0, status=RowStatus.WRONG, reason="made up")
    found = diagnosed(row, kernel, Gemm(8, 8, 8), one_device.info)
    assert found.faults == ()
    assert re.match(r"explain cannot run \S+, so its faults are not known: \S+product\.cl:\d+:\d+: ", found.explained)


def test_a_kernel_that_does_not_end_is_soon_given_up(faulty: MakeKernel, one_device: Device) -> None:
    kernel = faulty("k < K; k++", "k < K; ")
    row = Row("product", "", "", (), 0, 0, status=RowStatus.LAUNCH_FAILED, reason="made up")
    found = diagnosed(row, kernel, Gemm(2000, 8, 8), one_device.info)
    assert says(found.explained, "line 9", "stopped", 0)


def test_few_work_items_get_a_tiny_problem() -> None:
    """Since every turn of their loops is interpreted by itself."""
    sequential = find_kernel("rows/00_sequential[r-k-c]")
    assert small_plan(sequential, Gemm(1003, 1000, 1000), CPU).problem == Gemm(11, 8, 8)
    assert small_plan(find_kernel("rows/01"), Gemm(1003, 1000, 1000), CPU).problem == Gemm(75, 72, 72)


def test_a_right_kernel_is_not_explained(faulty: MakeKernel, one_device: Device) -> None:
    record, _ = run_kernel(faulty(STORE, STORE), (8, 8, 8), one_device, seconds=0, baselines=False)
    assert (record.rows[-1].faults, record.rows[-1].explained) == ((), "")


@pytest.mark.parametrize(
    ("problem", "cut"),
    [
        (Gemm(1000, 17, 4096), Gemm(72, 17, 64)),
        (Gemm(96, 97, 64), Gemm(96, 65, 64)),
        (Transpose(1000, 2000, offset=3), Transpose(72, 80, offset=3)),
        (Copy(5, 10, offset=40), Copy(5, 40, offset=40)),
    ],
)
def test_small_problems_keep_their_ragged_edges(problem: Problem, cut: Problem) -> None:
    assert smaller(problem, 64) == cut


def test_the_command_prints_the_faults_and_saves_them(
    device_number: str, wide_terminal: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, saved = tmp_path / "mine.cl", tmp_path / "mine.json"
    path.write_text(NAIVE.replace("k < K;", "k <= K;"))
    arguments = ["--global", "M,N", "--local", "8,8", "--size", "16", "--seconds", "0.05", "--no-baselines"]
    assert main(["run", str(path), *arguments, "--device", device_number, "--json", str(saved)]) == 1
    output = capsys.readouterr().out
    assert re.search(r"^explain ran \S+ on gemm 16x16x16 float32, all work-groups, and found 2 faults:$", output, re.M)
    assert re.search(
        rf"^  {tmp_path.name}/mine\.cl:10: out of bounds: load of 4 bytes outside global 'A'", output, re.M
    )
    row = load_record(saved).rows[-1]
    assert [fault.kind for fault in row.faults] == ["out of bounds"] * 2
    assert str(row.faults[0]) in output


def test_faults_go_to_json_and_back_and_old_records_have_none(tmp_path: Path, one_device: Device) -> None:
    record, _ = run_kernel("tiles/01", (8, 8, 8), one_device, seconds=0, baselines=False)
    path = tmp_path / "r.json"
    save_record(record, path)
    text = path.read_text()
    assert load_record(path) == record
    path.write_text(re.sub(r',\s*"(faults|explained)": (\[\]|"")', "", re.sub(r'"faults": \[\],\s*', "", text)))
    assert '"faults"' not in path.read_text()
    old: Record = load_record(path)
    assert old.rows[-1].faults == ()


def test_what_nobody_read_is_told_of_a_wrong_result(one_device: Device) -> None:
    row = failed_row(find_kernel("known_bad/08"), one_device, (60, 52, 40))
    assert not row.faults
    assert "A: 80% of its 2,400 elements are read, 480 never" in row.explained
