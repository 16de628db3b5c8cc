"""Records with several backends and libraries: told apart in tables, compared each with its own, side by side by size."""

from dataclasses import replace
from pathlib import Path

from devices import GPU

from tilewright.core.device import Peaks
from tilewright.core.records import Environment, Record, Role, Row, RowStatus, Samples, load_record, save_record
from tilewright.reports import benchmark_table, beside
from tilewright.reports.compare import compare
from tilewright.reports.table import cells, derive, header, markdown
from tools.pages.refresh import refresh


def row(name: str, seconds: float, size: int = 100, **fields: object) -> Row:
    problem = f"gemm {size}x{size}x{size} float32"
    made = Row(name, f"What {name} is.", problem, (size,) * 3, 2 * size**3, 1, samples=Samples((), (seconds,) * 3))
    return replace(made, **fields)  # type: ignore[arg-type]


REFUSED = row("l/02_b", 1.0, backend="cuda", status=RowStatus.REFUSED, reason="K=5 is odd", samples=Samples())
ROWS = (
    row("NumPy", 0.04, role=Role.BASELINE, backend="host"),
    row("cuBLAS", 0.0002, role=Role.BASELINE, backend="cuda"),
    row("CLBlast", 0.0005, role=Role.BASELINE),
    row("l/01_a", 0.004),
    row("l/01_a", 0.002, backend="cuda"),
    row("l/02_b", 0.001),
    REFUSED,
    row("l/01_a", 0.016, 200),
    row("l/01_a", 0.016, 200, backend="cuda"),
)
ENVIRONMENT = Environment(GPU, "2026-01-02", "3.11", "Linux", "Processor", 2, 0.5, {"NVIDIA CUDA": "CUDA 13"})
RECORD = Record("ladder l", "float32", ENVIRONMENT, Peaks({"float32": 2.0}, 10.0, 40.0), ROWS)


def table_of(text: str) -> dict[str, list[str]]:
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    return {line[0]: line[1:] for line in lines}


def test_a_backend_is_part_of_a_rows_label_and_of_what_it_is_compared_with() -> None:
    lines = derive(ROWS, RECORD.peaks)
    assert [cells(line)[0] for line in lines[3:6]] == ["l/01_a", "l/01_a (CUDA)", "l/02_b"]
    assert lines[4].over_previous is None, "the OpenCL row is another group"
    assert lines[5].over_previous == 4.0
    ratios = {
        each.name: each.ratio for each in compare(RECORD, replace(RECORD, rows=(row("l/01_a", 0.001, backend="cuda"),)))
    }
    assert ratios == {"l/01_a (CUDA)": 2.0}


def test_libraries_are_no_rungs() -> None:
    lines = derive(ROWS, None)
    assert all(line.over_first is None for line in lines[:3])
    assert lines[5].over_baseline == 0.2, "cuBLAS before NumPy"
    assert header(ROWS)[8] == "x cuBLAS"


def test_a_library_of_any_name_is_a_baseline_where_its_row_says_so() -> None:
    atlas = row("ATLAS", 0.0005, role=Role.BASELINE, backend="host")
    line, rung = derive((atlas, row("l/01_a", 0.001)), None)
    assert (line.over_baseline, rung.over_baseline) == (None, 0.5)
    assert header((atlas,))[8] == "x ATLAS"
    copied = replace(atlas, name="ATLAS copy", problem="copy 10x10 float32")
    assert (copied.library, atlas.library) == ("ATLAS", "ATLAS")
    cuda = replace(atlas, backend="cuda")
    assert (cuda.label, replace(cuda, role=Role.KERNEL).label) == ("ATLAS", "ATLAS (CUDA)")


def test_sizes_and_backends_stand_side_by_side() -> None:
    text = beside.markdown(RECORD)
    table = table_of(text)
    assert table["GFLOP/s"] == ["100 OpenCL", "100 CUDA", "200 OpenCL", "200 CUDA"]
    assert table["l/01_a"] == ["0.5", "1", "1", "1"]
    assert table["l/02_b"] == ["2", "refused", "", ""]
    assert table["cuBLAS"] == ["", "10", "", ""]
    assert table["CLBlast"] == ["4", "", "", ""]
    assert table["NumPy (on the host)"] == ["0.05", "", "", ""]
    assert list(table)[2:4] == ["l/01_a", "l/02_b"], "rungs come first"
    assert "- l/02_b (CUDA): refused: K=5 is odd (100)" in text
    assert "- CLBlast: What CLBlast is." in text
    assert "NVIDIA CUDA CUDA 13" in text


def test_a_record_of_one_backend_has_its_columns_alone() -> None:
    rows = tuple(each for each in ROWS if each.backend == "opencl" and each.name != "cuBLAS")
    assert table_of(beside.markdown(replace(RECORD, rows=rows)))["GFLOP/s"] == ["100 OpenCL", "200 OpenCL"]


def test_a_page_asks_for_it_by_a_word_in_the_mark(tmp_path: Path) -> None:
    save_record(RECORD, tmp_path / "one.json")
    assert load_record(tmp_path / "one.json") == RECORD
    page = tmp_path / "page.md"
    mark = "<!-- record: one.json{} -->\nold\n<!-- end record -->\n"
    page.write_text(mark.format(" beside") + mark.format(""), encoding="utf-8")
    assert refresh(page) == 2
    fresh = page.read_text(encoding="utf-8")
    assert fresh.index(beside.markdown(RECORD)) < fresh.index(markdown(RECORD))
    assert fresh.count("<!-- end record -->") == 2
    assert refresh(page) == 2
    assert page.read_text(encoding="utf-8") == fresh


def test_a_benchmark_shows_the_other_libraries_too() -> None:
    rows = [
        row("cuBLAS", 0.001),
        row("tilewright", 0.0005),
        row("CLBlast", 0.002),
        row("tilewright", 0.0004, backend="cuda"),
    ]
    small = [row("cuBLAS", 0.001, 50), row("tilewright", 0.001, 50)]
    record = replace(RECORD, title="benchmark squares", rows=(*rows, *small))
    by_problem = benchmark_table.by_problem(record)
    assert [len(group) for group in by_problem] == [4, 2]
    assert benchmark_table.others(by_problem) == ("CLBlast", "tilewright (CUDA)")
    table = table_of(benchmark_table.markdown(record))
    assert table["problem"][-2:] == ["CLBlast", "tilewright (CUDA)"]
    assert table["gemm 100x100x100 float32"] == ["4", "2", "GFLOP/s", "2.00", "2.00 .. 2.00", "2.00", "1", "5"]
    assert table["gemm 50x50x50 float32"][-2:] == ["", ""]
    assert "over 2 problems: 1.41x" in benchmark_table.summary(by_problem)


def test_without_a_baseline_there_still_is_a_rate() -> None:
    baseline = row("cuBLAS", 1.0, status=RowStatus.REFUSED, reason="no integers", samples=Samples())
    record = replace(RECORD, title="benchmark squares", rows=(baseline, row("tilewright", 0.001)))
    line = table_of(benchmark_table.markdown(record))["gemm 100x100x100 float32"]
    assert line == ["2", "-", "GFLOP/s", "-", "-", "refused: no integers"]


def test_of_a_long_benchmark_a_few_problems_stand_in_order_and_all_count() -> None:
    sizes = [1 + 7 * place % 251 for place in range(251)]
    rows = [each for size in sizes for each in (row("NumPy", float(size), size), row("tilewright", 1.0, size))]
    record = replace(RECORD, title="benchmark random", rows=tuple(rows))
    by_problem = benchmark_table.by_problem(record)
    few = benchmark_table.shown(by_problem)
    assert [group[0].size[0] for group in few][:: benchmark_table.STEPS] == [1, 251]
    assert [group[0].size[0] for group in few] == sorted(group[0].size[0] for group in few)
    page = benchmark_table.markdown(record)
    assert "Shown: 21 of 251 problems" in page
    assert benchmark_table.summary(by_problem) in page
    assert "over 251 problems" in benchmark_table.summary(by_problem)
    assert benchmark_table.shown(by_problem[: benchmark_table.LONGEST]) == by_problem[: benchmark_table.LONGEST]
