"""Rows that ran once: their spread is unknown, and no table says that it is 0."""

from dataclasses import replace

import pytest
from example_records import ENVIRONMENT, RECORD, row

from tilewright.cli.live_benchmark import remarks
from tilewright.core.language import use_language
from tilewright.core.records import Record, Role, Row, Samples
from tilewright.reports.benchmark_table import ONE_RUN, by_problem
from tilewright.reports.benchmark_table import cells as benchmark_cells
from tilewright.reports.charts.ratios import ratio_of
from tilewright.reports.forms import own_table
from tilewright.reports.page.benchmark import problem_parts, ratio_bar
from tilewright.reports.page.rung import Rungs, numbers
from tilewright.reports.table import cells, derive, header, legend
from tilewright.reports.trust import SINGLE


def once(name: str, seconds: float, role: Role = Role.KERNEL) -> Row:
    return replace(row(name, seconds, role=role), samples=Samples((seconds,)))


ONCE = once("l/09_once", 0.5)
BENCHMARK = Record(
    "benchmark x", "float32", ENVIRONMENT, None, (once("NumPy", 0.2, Role.BASELINE), once("tilewright", 0.1))
)


def test_a_ladders_row_that_ran_once_has_no_spread_and_the_legend_says_so() -> None:
    place = header([ONCE]).index("± %")
    shown = [cells(line)[place] for line in derive([ONCE, row("l/01_a", 0.5)], None)]
    assert shown == ["", "15"]
    assert "rows without ± % ran once" in legend([ONCE], ("± %",))
    assert "ran once" not in legend([ONCE], ("ms",))
    assert "ran once" not in legend(RECORD.rows, ("± %",))


@pytest.mark.parametrize(("language", "words"), [("ru", "строки без ± %"), ("zh", "没有 ± % 的行")])
def test_the_legend_speaks_the_tables_language(language: str, words: str) -> None:
    use_language(language)
    assert words in legend([ONCE], ("± %",))


def test_a_benchmarks_ratio_of_single_runs_has_no_range() -> None:
    texts = benchmark_cells(BENCHMARK.rows)
    assert ONE_RUN in texts
    assert ".." not in "".join(texts)
    assert f"{ONE_RUN}: {SINGLE}" in remarks(BENCHMARK, False)
    assert own_table(BENCHMARK).count(SINGLE) == 1


def test_several_runs_have_a_range_and_no_remark() -> None:
    record = replace(BENCHMARK, rows=(row("NumPy", 0.2, role=Role.BASELINE), row("tilewright", 0.1)))
    assert ONE_RUN not in own_table(record)
    assert not any(SINGLE in text for text in remarks(record, False))


def test_pages_say_that_the_spread_is_unknown() -> None:
    (line,) = derive([ONCE], None)
    assert "one run, so its spread is unknown" in next(numbers(line, Rungs(evidence=None)))  # type: ignore[arg-type]
    (group,) = by_problem(BENCHMARK)
    bar = ratio_bar(group, busy=False)
    assert bar.hover == ""
    text = "".join(problem_parts(group, ratio_of(group)))
    assert "2.00 times NumPy&#x27;s speed in the only run" in text
    assert "most paired runs" not in text
