"""Published figures beside ours: their source, size and settings, and the ratios."""

from dataclasses import replace

import pytest
from example_records import ROWS, row
from says import says

from tilewright.core.records import Row, RowStatus, Samples
from tilewright.kernels import LADDERS, find_kernel
from tilewright.kernels.settings import with_settings
from tilewright.reports.published import COLUMNS, nearest, published

TILES = LADDERS["tiles"]


def rung(number: int, seconds: float, size: int = 64) -> Row:
    return row(TILES.kernels[number - 1].name, seconds, size)


def test_whose_figures_they_are_and_how_they_were_measured_is_said() -> None:
    facts = "\n".join(published(TILES, [rung(1, 0.1)]).facts)
    assert says(facts, "Nugteren", "SURFsara", 2014, "https://cnugteren.github.io/tutorial/pages/page1.html", "MIT")
    assert says(facts, "4096x4096x4096", "without transfers", "4,291")
    facts = "\n".join(published(LADDERS["rows"], []).facts)
    assert says(facts, "https://www.mql5.com/en/articles/407", "2000x2000x2000", "host memory", "MetaQuotes Ltd")
    facts = "\n".join(published(LADDERS["transpose"], []).facts)
    assert says(facts, "NVIDIA", "End User License Agreement", "2048x2048", "100 runs")


def test_each_figure_has_its_ratio_to_the_rung_before_there_and_here() -> None:
    found = published(TILES, [*ROWS[:2], rung(1, 0.1), rung(2, 0.025), rung(5, 0.05)])
    lines = {line[0]: line for line in found.lines}
    assert all(len(line) == len(COLUMNS) for line in found.lines)
    assert lines["tiles/01_naive"][2:4] == ("139", "")
    assert lines["tiles/02_tiled"][2:6] == ("373", "2.68", "0.021", "4")
    assert lines["tiles/05_transposed"][3] == "1.98", "over the rung before that has a row here"
    assert says(lines["tiles/05_transposed"][6], "64x64x32")
    assert lines["cuBLAS"][2] == "3,056"
    assert any(says(remark, "64x64x64", "4096x4096x4096") for remark in found.remarks)


def test_a_sweep_is_shown_once_at_the_nearest_size() -> None:
    rows = [rung(1, 0.1, size) for size in (64, 256, 512)]
    assert [each.size[0] for each in nearest(rows, (4096, 4096, 4096))] == [512]
    names = [line[0] for line in published(TILES, rows).lines]
    assert names.count("tiles/01_naive") == 1


def test_the_same_size_needs_no_remark() -> None:
    assert not published(TILES, [rung(1, 0.1, 4096)]).remarks


def test_a_rung_that_was_not_measured_has_its_status() -> None:
    wrong = replace(rung(2, 1.0), status=RowStatus.WRONG, samples=Samples())
    lines = {line[0]: line for line in published(TILES, [rung(1, 0.1), wrong]).lines}
    assert lines["tiles/02_tiled"][4:6] == ("wrong", "")


def test_claims_of_a_source_without_figures_are_said() -> None:
    found = published(LADDERS["transpose"], [row("transpose/04_naive", 0.1)])
    assert not found.lines
    assert any(says(remark, 11) for remark in found.remarks)


@pytest.mark.parametrize("name", ["cpu", "tensor"])
def test_a_ladder_without_a_publication_says_so(name: str) -> None:
    found = published(LADDERS[name], ROWS)
    assert (found.lines, found.remarks) == ((), ())
    assert says(found.facts[0], name)


def test_figures_are_not_of_other_settings() -> None:
    assert find_kernel("tiles/06").published
    assert with_settings(find_kernel("tiles/06"), {"BK": 8}).published == ()


def test_the_host_figure_stands_on_the_loop_order_of_the_source() -> None:
    kernels = {kernel.name: kernel for kernel in LADDERS["rows"].kernels}
    lines = published(LADDERS["rows"], [row(name, 0.1) for name in kernels]).lines
    assert [line[0] for line in lines if line[2] == "0.191"] == ["rows/00_sequential[r-k-c]"]
