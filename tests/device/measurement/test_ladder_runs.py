"""Running ladders and single kernels from Python: records with every row, new rungs, failures as rows."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from says import says
from shapes import NAIVE

from tilewright.core.custom import custom_kernel
from tilewright.core.kernel import Config, Kernel, Ladder, NDRange, round_up
from tilewright.core.problem import Problem
from tilewright.core.problems import make_problem
from tilewright.core.records import Record, Row, load_record, save_record
from tilewright.errors import InvalidInput, UnknownName
from tilewright.kernels import LADDERS, find_kernel, find_ladder
from tilewright.kernels.sizes import size
from tilewright.measurement.ladders import check_together, run_kernel, run_ladder
from tilewright.runtime.opencl.device import Device

SECONDS = 0.2


@dataclass(frozen=True)
class Square(Config):
    SIDE: int

    def ndrange(self, problem: Problem) -> NDRange:
        m, n = (round_up(size(problem, name), self.SIDE) for name in "MN")
        return NDRange((m, n), (self.SIDE, self.SIDE))


def by_name(record: Record) -> dict[str, Row]:
    return {row.name: row for row in record.rows}


@pytest.mark.parametrize("name", LADDERS)
def test_a_ladder_gives_a_row_for_every_rung(name: str, device: Device, tmp_path: Path) -> None:
    record = run_ladder(name, device, [(64,)], seconds=SECONDS)
    rows = by_name(record)
    assert [each.name for each in LADDERS[name].kernels] == [row for row in rows if "/" in row]
    assert any(row.startswith("NumPy") for row in rows)
    assert ("host program" in rows) == (name in ("tiles", "cpu", "tensor")), (
        "in `rows` it is a rung; a transpose has none"
    )
    for row in record.rows:
        if row.status not in ("refused", "not here"):
            assert row.status == "ok", f"{row.name} on {device.info.label}: {row.status}: {row.reason}"
            assert row.rate > 0, row
            assert row.samples.wall
            assert 0 <= row.worst_ratio <= 1
            assert row.lesson
        else:
            assert row.reason
    path = tmp_path / "record.json"
    save_record(record, path)
    assert load_record(path) == record
    assert record.environment.device == device.info
    assert record.peaks is not None
    assert record.peaks.gflops["float32"] > 0


def test_a_new_rung_is_one_file_and_one_line(device: Device, tmp_path: Path) -> None:
    (tmp_path / "01_naive.cl").write_text(NAIVE)
    ladder = Ladder("extra", "A ladder from a folder", "nowhere", (Kernel(tmp_path / "01_naive.cl", Square(8)),))
    record = run_ladder(ladder, device, [(48,), (40, 24, 56)], "int32", seconds=SECONDS, baselines=False)
    assert [(row.name, row.status, row.size) for row in record.rows] == [
        (f"{tmp_path.name}/01_naive", "ok", (48, 48, 48)),
        (f"{tmp_path.name}/01_naive", "ok", (40, 24, 56)),
    ]
    for row in record.rows:
        assert row.lesson == "One work-item per element of C, written for the tests."
        assert row.samples.times
        assert row.worst_ratio == 0.0


def test_a_group_that_is_too_large_is_cut_and_the_row_says_so(device: Device, tmp_path: Path) -> None:
    (tmp_path / "01_naive.cl").write_text(NAIVE)
    kernel = Kernel(tmp_path / "01_naive.cl", Square(512), smaller=(Square(4),))
    record = run_ladder(Ladder("l", "", "", (kernel,)), device, [(20,)], seconds=SECONDS, baselines=False)
    assert record.rows[0].status == "ok"
    assert says(record.rows[0].notes[0], "SIDE=512", "SIDE=4", "512x512", 262144)


def test_failures_are_rows_beside_the_ones_that_work(device: Device, tmp_path: Path) -> None:
    texts = {
        "01_naive": NAIVE,
        "02_broken": NAIVE.replace("REAL sum = 0;", "REAL sum = nowhere;"),
        "03_wrong": NAIVE.replace("k < K", "k < K - 1"),
        "04_outside": NAIVE.replace("= sum;", "= sum; if (row + column == 0) C[M * N] = 1;"),
        "05_picky": NAIVE.replace("__kernel", "__kernel __attribute__((reqd_work_group_size(2, 2, 1)))"),
        "06_float_only": NAIVE,
    }
    for stem, text in texts.items():
        (tmp_path / f"{stem}.cl").write_text(text)
    kernels = [Kernel(tmp_path / f"{stem}.cl", Square(4)) for stem in texts]
    kernels[-1] = replace(kernels[-1], dtypes=("float64",))
    record = run_ladder(Ladder("l", "", "", tuple(kernels)), device, [(16,)], seconds=SECONDS, baselines=False)
    statuses = ["ok", "build failed", "wrong", "wrong", "launch failed", "refused"]
    assert [row.status for row in record.rows] == statuses
    reasons = [row.reason for row in record.rows]
    assert f"{tmp_path.name}/02_broken.cl:" in reasons[1]
    assert reasons[2]
    assert says(reasons[3], "C")
    assert "INVALID_WORK_GROUP_SIZE" in reasons[4]
    assert says(reasons[5], "float32", "float64")
    for row in record.rows[1:]:
        assert not row.samples.times, f"{row.name} is {row.status} and was timed"
        assert row.rate == 0.0


def test_watchers_see_every_row_from_its_first_state_to_its_last(one_device: Device) -> None:
    seen: dict[int, Row] = {}
    rungs = ("rows/01_naive", "rows/03_private_sum")
    record = run_ladder(
        "rows",
        one_device,
        [(16,), (24,)],
        rungs=rungs,
        seconds=SECONDS,
        watch=lambda index, row: seen.update({index: row}),
    )
    assert [seen[index] for index in range(len(record.rows))] == list(record.rows)
    assert [row.size[0] for row in record.rows if row.name in rungs] == [16, 16, 24, 24]


def test_rungs_are_chosen_by_number_or_name_and_unknown_ones_are_told(one_device: Device) -> None:
    record = run_ladder("tiles", one_device, [(32,)], rungs=("2", "naive"), seconds=SECONDS, baselines=False)
    assert [row.name for row in record.rows] == ["tiles/02_tiled", "tiles/01_naive"]
    with pytest.raises(UnknownName, match="tiles/02_tiled"):
        run_ladder("tiles", one_device, [(32,)], rungs=("02_tield",))
    with pytest.raises(UnknownName, match=r"\btiles\b"):
        run_ladder("tile", one_device)
    with pytest.raises(UnknownName, match="float32"):
        run_ladder("tiles", one_device, dtype="float23")


def test_kernels_as_they_were_published_are_measured_where_they_are_asked_for(one_device: Device) -> None:
    record = run_ladder("tiles", one_device, [(128,)], rungs=("3",), seconds=SECONDS, baselines=False, published=True)
    names = ["tiles/03_more_work_per_item", "tiles/03_more_work_per_item[published]"]
    assert [row.name for row in record.rows] == names
    assert [row.published for row in record.rows] == [(), (("Tesla K40m", 689),)]
    record = run_ladder("tiles", one_device, [(100,)], rungs=("tiles/3[published]",), seconds=SECONDS, baselines=False)
    assert [row.status for row in record.rows] == ["refused"]
    assert "no guards" in record.rows[0].reason


def test_a_size_needs_as_many_numbers_as_the_problem(one_device: Device) -> None:
    with pytest.raises(InvalidInput, match=r"\b1\b.*\b3\b.*\b3x4\b"):
        run_ladder("tiles", one_device, [(3, 4)])


def test_cold_runs_are_measured_too(one_device: Device) -> None:
    record = run_ladder(
        "transpose", one_device, [(64,)], rungs=("4",), seconds=SECONDS, flush_cache=True, baselines=False
    )
    assert record.rows[0].status == "ok"
    assert record.rows[0].samples.times


def test_the_host_program_runs_on_as_many_rows_as_the_time_allows(
    one_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tilewright.measurement.cases.HOST_FLOPS", 2 * 32 * 32 * 5)
    record = run_ladder("tiles", one_device, [(32,)], rungs=("1",), seconds=SECONDS)
    row = by_name(record)["host program"]
    assert row.size == (5, 32, 32)
    assert row.status == "ok", row
    assert says(" ".join(row.notes), 5, 32, "C")


def test_one_kernel_is_verified_and_measured_beside_numpy(device: Device) -> None:
    record, verdict = run_kernel("tiles/02_tiled", (40, 50, 60), device, seconds=SECONDS)
    assert record.rows[0].name == "NumPy"
    assert record.rows[-1].name == "tiles/02_tiled"
    assert all(row.status == "ok" for row in record.rows)
    assert verdict is not None
    assert verdict.passed
    assert len(verdict.sample) == 10


def test_a_users_own_kernel_is_verified_and_measured(device: Device, tmp_path: Path) -> None:
    (tmp_path / "mine.cl").write_text(NAIVE.replace("naive", "mine").replace("REAL sum", "TYPE sum"))
    defines: dict[str, str | int] = {"TYPE": "REAL", "TS": 4}
    kernel = custom_kernel(tmp_path / "mine.cl", ("M", "N"), ("TS", "TS"), defines)
    record, verdict = run_kernel(kernel, (10, 11, 12), device, "int32", seconds=SECONDS)
    assert verdict is not None
    assert verdict.passed, verdict
    assert by_name(record)[kernel.name].status == "ok"


def test_a_users_wrong_kernel_is_not_timed(one_device: Device, tmp_path: Path) -> None:
    (tmp_path / "mine.cl").write_text(NAIVE.replace("k * N + column", "column * K + k"))
    kernel = custom_kernel(tmp_path / "mine.cl", ("M", "N"), ("4", "4"))
    record, verdict = run_kernel(kernel, (16,), one_device, seconds=SECONDS, baselines=False)
    assert verdict is not None
    assert not verdict.passed
    assert record.rows[-1].status == "wrong"
    assert not record.rows[-1].samples.times


def test_a_transpose_may_leave_out_columns(device: Device) -> None:
    record, verdict = run_kernel("transpose/05_tiled", (20, 30), device, "float32", 7, SECONDS)
    assert verdict is not None
    assert verdict.elements == 20 * 23
    assert all(row.status == "ok" for row in record.rows), record.rows


def test_names_of_rungs_are_found_by_parts() -> None:
    for name in ("tiles/02_tiled", "tiles/2", "tiles/02", "tiles/tiled", "02_tiled", "Tiles/2", "TILES/02_TILED"):
        assert find_kernel(name).name == "tiles/02_tiled"
    with pytest.raises(UnknownName, match="tiles/99_tiled"):
        find_kernel("tiles/99_tiled")


def test_a_ladder_is_not_a_rung_and_a_rung_is_not_a_ladder() -> None:
    assert find_ladder("TILES").name == "tiles"
    with pytest.raises(InvalidInput) as refusal:
        find_kernel("Tiles")
    assert says(str(refusal.value), "tiles/01_naive", "tiles/11_clblas_style")
    for name in ("6", "tiles/06"):
        with pytest.raises(InvalidInput) as refusal:
            find_ladder(name)
        assert says(str(refusal.value), "tiles/06_register_tile", "--rung")


def interrupted_when_measured(index: int, row: Row) -> None:
    if row.measured:
        raise KeyboardInterrupt


def test_who_ends_a_ladder_early_keeps_what_was_measured(one_device: Device) -> None:
    kept: list[Record] = []
    with pytest.raises(KeyboardInterrupt):
        run_ladder(
            "tiles", one_device, [(32,)], rungs=("1", "2"), seconds=SECONDS, baselines=False, keep=kept.append,
            watch=interrupted_when_measured,
        )  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        run_kernel("tiles/2", (32,), one_device, seconds=SECONDS, keep=kept.append, watch=interrupted_when_measured)
    assert [record.title for record in kept] == ["ladder tiles, ended early", "kernel tiles/02_tiled, ended early"]
    for record in kept:
        assert any(row.measured for row in record.rows)
        assert record.environment.device == one_device.info


def test_phases_are_announced_in_order(one_device: Device) -> None:
    words: list[str] = []
    run_ladder(
        "tiles", one_device, [(32,)], rungs=("1", "2"), seconds=SECONDS, baselines=False,
        announce=lambda phase: words.append(str(phase)),
    )  # fmt: skip
    building = [text for text in words if text.startswith("building")]
    assert [says(text, *values) for text, values in zip(building, ((1, 2), (2, 2)), strict=True)] == [True, True]
    assert words.index(building[-1]) < words.index("measuring")


@pytest.mark.parametrize(("size", "values"), [((0,), ("0x0x0",)), ((200_000,), ("480,000,000,000",))])
def test_sizes_that_cannot_be_are_refused_before_anything_is_allocated(
    size: tuple[int, ...], values: tuple[str, ...], one_device: Device
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        run_ladder("tiles", one_device, [(16,), size], watch=interrupted_when_measured)
    assert says(str(refusal.value), *values)


def test_rungs_that_do_not_fit_together_are_refused(one_device: Device) -> None:
    problems = [make_problem(kernel, (1000,)) for kernel in LADDERS["tiles"].kernels]
    small = replace(one_device.info, global_bytes=3 * 4 * 1000**2 * 5)
    with pytest.raises(InvalidInput) as refusal:
        check_together(problems, small, baselines=False)
    assert says(str(refusal.value), "11 rungs", "60,000,000")
    check_together(problems[:2], small, baselines=False)
