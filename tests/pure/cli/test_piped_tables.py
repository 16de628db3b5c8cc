"""Tables whose rows are printed as they come, because standard output is no terminal."""

import io
from argparse import Namespace
from csv import DictReader
from dataclasses import replace
from pathlib import Path

import pytest
from example_records import DEVICE, ENVIRONMENT, RECORD, row
from rich.console import Console

from tilewright.cli.fitting import UNLIMITED
from tilewright.cli.json_output import STDOUT
from tilewright.cli.live_accuracy import LiveAccuracy
from tilewright.cli.live_benchmark import LiveBenchmark
from tilewright.cli.live_table import LiveTable
from tilewright.cli.outputs import keep_so_far
from tilewright.core.records import Record, Role, Row, load_record
from tilewright.measurement.accuracy import DATA, AccuracyRecord, ErrorRow

SIZES = (8, 64, 4096)


class FakeDevice:
    info = DEVICE


class Piped(io.StringIO):
    """Standard output that is no terminal, and what was new in it since the last question."""

    def __init__(self) -> None:
        super().__init__()
        self.console = Console(file=self, width=UNLIMITED, color_system=None)
        self._seen = 0

    def new(self) -> list[str]:
        lines = self.getvalue()[self._seen :].splitlines()
        self._seen = len(self.getvalue())
        return lines


def problem_rows(size: int, other: str = "") -> tuple[Row, ...]:
    """A baseline, ours, and another library, of one problem."""
    baseline = row("NumPy", 0.002 * size, size, role=Role.BASELINE, backend="host")
    others = (row(other, 0.003, size, role=Role.BASELINE),) if other else ()
    return (baseline, row("tilewright", 0.001 * size, size), *others)


def column_ends(lines: list[str], names: list[str]) -> None:
    """Every cell of a right-aligned column ends where its heading does."""
    head, *rest = lines
    for name in names:
        end = head.index(name) + len(name)
        assert all(line[end - 1] != " " and line[end : end + 1] in ("", " ") for line in rest), (name, lines)


def benchmark(*problems: tuple[Row, ...]) -> Record:
    return Record("benchmark", "float32", ENVIRONMENT, None, tuple(each for rows in problems for each in rows))


def test_each_problem_of_a_benchmark_is_printed_once_when_it_is_done() -> None:
    piped, problems, table_lines = Piped(), [problem_rows(size) for size in SIZES], []
    names = [f"gemm {size}x{size}x{size} float32" for size in SIZES]
    with LiveBenchmark(piped.console, "a benchmark", False, max(map(len, names))) as table:
        for count in range(1, len(problems) + 1):
            table.so_far(benchmark(*problems[:count]))
            lines = piped.new()
            assert lines[-1].startswith(names[count - 1])
            assert len(lines) == (3 if count == 1 else 1)
            table_lines += lines[-2:]
        table.finish(benchmark(*problems))
    column_ends(table_lines, ["ours", "baseline", "median ratio", "p20 .. p80", "of the best"])
    rest = piped.new()
    assert not any(line.startswith(("gemm", "problem")) for line in rest)
    assert any("geometric mean over 3 problems" in line for line in rest)


def test_another_library_later_gets_a_heading_of_its_own() -> None:
    piped = Piped()
    first, second = problem_rows(8), problem_rows(64, "BLIS")
    with LiveBenchmark(piped.console, "a benchmark", False) as table:
        table.so_far(benchmark(first))
        assert "BLIS" not in "".join(piped.new())
        table.so_far(benchmark(first, second))
        head, line = piped.new()
        assert head.split()[-1] == "BLIS"
        assert line.startswith("gemm 64x64x64")
        table.finish(benchmark(first, second))


def test_a_benchmark_without_a_row_prints_nothing_and_one_that_ended_early_its_rows() -> None:
    empty = Piped()
    with LiveBenchmark(empty.console, "a benchmark", False):
        pass
    assert not empty.new()
    piped = Piped()
    table = LiveBenchmark(piped.console, "a benchmark", False)
    table.__enter__()
    table.finish(benchmark(problem_rows(8)))
    table.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert sum(line.startswith("gemm 8x8x8") for line in piped.new()) == 1


def ladder_rows(size: int) -> tuple[Row, ...]:
    return tuple(row(f"l/0{place}_name", 0.5 / place / 10**6 * size**2, size) for place in (1, 2))


def test_the_rows_of_each_size_of_a_ladder_are_printed_once_when_the_size_is_done() -> None:
    piped = Piped()
    done: list[Row] = []
    table_lines: list[str] = []
    sizes = [(size,) for size in SIZES]
    with LiveTable(piped.console, "A ladder", FakeDevice(), "float32", sizes) as table:  # type: ignore[arg-type]
        for size in SIZES:
            done += ladder_rows(size)
            table.so_far(replace(RECORD, rows=tuple(done)))
            lines = piped.new()
            own = [line for line in lines if line.startswith("l/")]
            assert [line.split()[:2] for line in own] == [
                [f"l/0{place}_name", f"{size}x{size}x{size}"] for place in (1, 2)
            ]
            table_lines += [line for line in lines if line.startswith(("rung", "l/"))]
        table.finish(replace(RECORD, rows=tuple(done)))
    column_ends(table_lines, ["ms", "± %"])
    assert sum(line.startswith("rung") for line in table_lines) == 1
    assert not any("baseline" in line for line in table_lines)
    rest = piped.new()
    assert rest[0].startswith("measured peaks")
    assert not any(line.startswith("l/") for line in rest)


def test_one_size_of_a_ladder_is_one_table_at_its_end() -> None:
    piped = Piped()
    with LiveTable(piped.console, "A ladder", FakeDevice(), "float32", [(8,)]) as table:  # type: ignore[arg-type]
        table.so_far(replace(RECORD, rows=ladder_rows(8)))
        assert not piped.new()
        table.finish(replace(RECORD, rows=ladder_rows(8)))
    assert sum(line.startswith("l/01_name") for line in piped.new()) == 1


def test_each_kind_of_data_is_printed_once_when_all_its_precisions_are_known() -> None:
    piped, rows, table_lines = Piped(), [], []
    with LiveAccuracy(piped.console, "errors") as table:
        for place, data in enumerate(DATA):
            rows += [ErrorRow(data, mode, "us", 10.0 ** (place - 4), 1e-7) for mode in ("ieee", "fast")]
            for each in rows[-2:]:
                table.watch(each)
            assert not piped.new()
            table.so_far(AccuracyRecord((8, 8, 8), ENVIRONMENT, tuple(rows)))
            lines = piped.new()
            assert lines[-1].startswith(data)
            table_lines += lines[-2:]
    column_ends(table_lines, ["ieee, us", "fast, us"])
    assert not piped.new()


def test_what_a_sweep_has_is_in_its_files_but_not_twice_in_a_pipe(tmp_path: Path) -> None:
    json, csv = tmp_path / "record.json", tmp_path / "record.csv"
    keep_so_far(Namespace(json=json, csv=csv), RECORD, "tiles")
    assert load_record(tmp_path / "record-tiles.json").rows == RECORD.rows
    with (tmp_path / "record-tiles.csv").open(newline="") as file:
        assert [line["rung"] for line in DictReader(file)] == [each.name for each in RECORD.rows]
    keep_so_far(Namespace(json=STDOUT), RECORD)
    keep_so_far(Namespace(json=Path("/dev/stdout"), csv=None), RECORD)
    assert {each.name for each in tmp_path.iterdir()} == {"record-tiles.json", "record-tiles.csv"}


def test_a_file_that_cannot_be_written_does_not_end_a_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep_so_far(Namespace(json=tmp_path / "gone" / "record.json"), RECORD)
    shown = capsys.readouterr()
    assert "record.json cannot be written" in shown.err
    assert not shown.out
