"""What is not to be trusted has a mark, and no ratio is taken to it."""

import re
from dataclasses import replace

import pytest
from example_records import ENVIRONMENT, PEAKS, RECORD, row
from says import says

from tilewright.core.language import use_language
from tilewright.core.records import Environment, Role, Row, Samples
from tilewright.reports import benchmark_table
from tilewright.reports.table import cells, derive, header, markdown, peaks_line
from tilewright.reports.trust import MARK, is_busy, is_unsteady, warning

QUIET, BUSY = replace(ENVIRONMENT, others=0.1), replace(ENVIRONMENT, others=1.75)
WILD = Samples((), (0.0001, 0.0001, 0.001, 0.02, 0.02))


def numpy_row(samples: Samples) -> Row:
    return row("NumPy", 1.0, role=Role.BASELINE, backend="host", samples=samples)


PAIR = (numpy_row(Samples((), (0.001,) * 5)), row("tilewright", 0.01))


def over_numpy(numpy: Row, busy: bool = False) -> str:
    rows = [numpy, row("l/01_a", 0.01)]
    return dict(zip(header(rows), cells(derive(rows, None, busy)[1]), strict=True))["x NumPy"]


def test_nothing_is_a_multiple_of_a_baseline_that_varies_widely() -> None:
    steady = Samples((), (0.001,) * 5)
    assert over_numpy(numpy_row(steady)) == "0.1"
    assert over_numpy(numpy_row(WILD)) == ""
    assert over_numpy(numpy_row(steady), busy=True) == ""


@pytest.mark.parametrize(
    ("environment", "busy"),
    [
        (QUIET, False), (BUSY, True), (ENVIRONMENT, False),
        (replace(BUSY, device=replace(BUSY.device, kind="gpu")), False), (replace(BUSY, cores=64), False),
    ],
)  # fmt: skip
def test_a_machine_is_busy_by_the_work_of_others(environment: Environment, busy: bool) -> None:
    assert is_busy(environment) is busy
    assert bool(warning([], environment)) is busy
    if busy:
        assert says(warning([], environment), 1.75, 2)


def test_an_unsteady_row_has_a_mark_and_is_counted() -> None:
    rows = [row("l/01_a", 0.01), row("l/02_b", 0.01, samples=WILD)]
    assert [is_unsteady(each) for each in rows] == [False, True]
    first, second = (cells(line)[4] for line in derive(rows, None))
    assert not first.endswith(MARK)
    assert second.endswith(MARK)
    assert says(warning(rows, None), 1, 2, MARK)
    assert warning(rows[:1], QUIET) == ""


@pytest.mark.parametrize("language", ["zh", "ru"])
def test_a_warning_is_said_in_the_language_of_its_table(language: str) -> None:
    wild = [row("l/01_a", 0.01, samples=WILD)]
    english = benchmark_table.markdown(replace(RECORD, title="benchmark", rows=PAIR, environment=BUSY))
    assert "busy machine" in english
    use_language(language)
    assert not re.findall("[a-z]{2,}", warning(wild, BUSY))
    assert benchmark_table.markdown(replace(RECORD, title="benchmark", rows=PAIR, environment=BUSY)) == english


def test_a_page_has_the_warning_above_its_table() -> None:
    text = markdown(replace(RECORD, environment=BUSY))
    assert text.index("busy machine") < text.index("| rung |")
    assert "busy machine" not in markdown(RECORD)


def test_peaks_of_a_busy_machine_are_called_too_low() -> None:
    assert says(peaks_line(replace(PEAKS, quiet=False)), "too low")
    assert "too low" not in peaks_line(PEAKS)


def problem(numpy: Samples, ours: Samples, size: int = 100) -> benchmark_table.ProblemRows:
    return (
        row("NumPy", 1.0, size, role=Role.BASELINE, backend="host", samples=numpy),
        row("tilewright", 1.0, size, samples=ours),
    )


def test_geometric_means_leave_out_what_cannot_be_trusted_and_say_so() -> None:
    steady, faster = Samples((), (0.004,) * 5), Samples((), (0.002,) * 5)
    groups = [problem(steady, faster), problem(WILD, faster, 200)]
    assert says(benchmark_table.summary(groups), "over 1 problem", "1 left out", "2.00x")
    assert "left out" not in benchmark_table.summary(groups[:1])
    assert says(benchmark_table.summary(groups, busy=True), "no geometric mean", 2)
    trusted, wild = (benchmark_table.cells(group) for group in groups)
    assert (trusted[4], trusted[6]) == ("2.00", "2.00")
    assert (wild[4], wild[6]) == (MARK, MARK)


def test_a_benchmark_has_one_unit_and_no_powers_of_ten() -> None:
    fast, slow = Samples((), (1e-5,) * 3), Samples((), (1.0,) * 3)
    groups = [problem(fast, fast, 1000), problem(slow, slow, 10)]
    units = benchmark_table.units([each for group in groups for each in group])
    assert units == {"GFLOP/s": ("TFLOP/s", 1000.0)}
    first, second = (benchmark_table.cells(group, shown=units) for group in groups)
    assert first[1:4] == ("200", "200", "TFLOP/s")
    assert second[1] == "0.000000002"
